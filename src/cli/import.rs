//! `go-team cp-import`

use std::io;
use std::path::PathBuf;

use clap::Args;

use super::context::{Context, show};
use super::{Exit, Failure};
use crate::engine::import::{ImportOptions, Mode, import};
use crate::model::{SessionId, Sha256Digest};

/// Bring a session in from a file that cp-export wrote
///
/// All of it is checked before anything is written. The work tree stays in its own session.
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The session's name here, instead of its own
    #[arg(long = "as", value_name = "NAME")]
    rename: Option<String>,
    /// The digest that cp-export printed; a file with another one is refused
    #[arg(long, value_name = "DIGEST", value_parser = Sha256Digest::parse)]
    sha256: Option<Sha256Digest>,
    /// Check the file and say what would happen
    #[arg(long)]
    dry_run: bool,
}

impl ImportArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let rename = self.rename.as_deref().map(SessionId::parse).transpose()?;
        let file = context.start.join(&self.file);
        let found = file.metadata().map_err(|error| {
            let (kind, exit) = match error.kind() {
                io::ErrorKind::NotFound => ("no-such-file", Exit::NotFound),
                _ => ("unreadable-input", Exit::Failure),
            };
            let message = format!("cannot read {}: {error}", show(&self.file));
            Failure::new(kind, exit, message)
                .hint("cp-import takes a file that go-team cp-export wrote")
        })?;
        if !found.is_file() {
            let message = format!("{} is no file", show(&self.file));
            return Err(Failure::new("unreadable-input", Exit::Usage, message)
                .hint("cp-import takes a file that go-team cp-export wrote"));
        }
        let options = ImportOptions {
            file: file.canonicalize().unwrap_or(file),
            rename,
            sha256: self.sha256,
            mode: if self.dry_run {
                Mode::DryRun
            } else {
                Mode::Import
            },
        };
        let workspace = context.open()?;
        context.answer(&import(&workspace, &options)?)
    }
}
