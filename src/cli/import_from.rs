//! `go-team import-from`

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::context::Context;
use super::{Exit, Failure};
use crate::engine::import_from::{ImportFromOptions, Mode, Scheme, import_from};
use crate::model::SessionId;

/// Bring checkpoints in that another program made, as sessions of their own
///
/// Nothing of PATH is changed, and the work tree, the index and HEAD stay as they are. Broken files are reported one by
/// one, and the rest is imported.
#[derive(Debug, Args)]
pub(super) struct ImportFromArgs {
    /// The directory or file
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// How PATH keeps its checkpoints, instead of finding out
    #[arg(long, value_name = "SCHEME")]
    scheme: Option<SchemeName>,
    /// The session's name here; NAME-1, NAME-2 and so on when there are several
    #[arg(long = "as", value_name = "NAME")]
    rename: Option<String>,
    /// Say what would happen
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SchemeName {
    /// <iteration>/checkpoints/<n>/ with copied files and state.json
    Directory,
    /// impl-checkpoint.json
    SingleFile,
    /// {type}_{project}_{YYYYMMDD_HHMMSS}.json, and failed/
    Flat,
    /// index.yaml and CP-*.yaml
    Index,
}

impl From<SchemeName> for Scheme {
    fn from(name: SchemeName) -> Self {
        match name {
            SchemeName::Directory => Self::Directory,
            SchemeName::SingleFile => Self::SingleFile,
            SchemeName::Flat => Self::Flat,
            SchemeName::Index => Self::Index,
        }
    }
}

impl ImportFromArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let rename = self.rename.as_deref().map(SessionId::parse).transpose()?;
        let options = ImportFromOptions {
            path: context.start.join(&self.path),
            scheme: self.scheme.map(Scheme::from),
            rename,
            mode: if self.dry_run {
                Mode::DryRun
            } else {
                Mode::Import
            },
        };
        let workspace = context.open()?;
        let report = import_from(&workspace, &options)?;
        if report.broken.is_empty() {
            return context.answer(&report);
        }
        let came = match (report.sessions.is_empty(), self.dry_run) {
            (true, _) => "nothing of the rest could be imported",
            (false, true) => "the rest would be imported",
            (false, false) => "the rest was imported",
        };
        let count = report.broken.len();
        let files = if count == 1 {
            "1 file".to_owned()
        } else {
            format!("{count} files")
        };
        let message = format!("{files} could not be imported; {came}");
        let failure = Failure::new("import-incomplete", Exit::Invalid, message)
            .hint("mend them, and import again with --as NAME to have all of it");
        context.answer_invalid(&report, failure)
    }
}
