//! `go-team cp-export`

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;

use super::context::Context;
use super::{Exit, Failure};
use crate::engine::export::{ExportOptions, GitData, Place, export};
use crate::model::{Selector, SelectorError};

/// Write a session to one file that another clone, or plain git, can have it back from
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// The checkpoints, named as for cp-show; all of them when absent
    #[arg(value_name = "N")]
    checkpoints: Vec<String>,
    /// The file, which must not exist, or a directory; - is stdout; the session's exports when absent
    #[arg(short, long, value_name = "FILE|-")]
    output: Option<PathBuf>,
    /// Leave commits and files out: records, manifest and state alone
    #[arg(long)]
    no_git: bool,
}

impl ExportArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let selectors = self.checkpoints.iter().map(|text| Selector::parse(text));
        let options = ExportOptions {
            session: context.session.clone(),
            checkpoints: selectors.collect::<Result<_, SelectorError>>()?,
            git: if self.no_git {
                GitData::LeaveOut
            } else {
                GitData::Include
            },
        };
        let is_stream = self.output.as_deref() == Some(Path::new("-"));
        if is_stream && (context.is_json() || context.answers_a_terminal()) {
            let message = "with -o - the archive itself goes to stdout";
            return Err(Failure::new("usage", Exit::Usage, message)
                .hint("without --json, into a pipe or a file: go-team cp-export -o - > FILE")
                .hint("go-team cp-export -o FILE writes it safely"));
        }
        let workspace = context.open()?;
        if is_stream {
            let mut stdout = io::stdout().lock();
            let report = export(&workspace, &options, Place::Stream(&mut stdout))?;
            context.remark(&report);
            return Ok(());
        }
        let place = match self.output {
            Some(path) => Place::Path(context.start.join(path)),
            None => Place::Session,
        };
        let report = export(&workspace, &options, place);
        let session = context.logged(&workspace, "cp-export", None, report)?;
        context.answer(&session)
    }
}
