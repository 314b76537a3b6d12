//! `go-team rollback`, `undo`, `redo`

use std::path::{Component, Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::Args;

use super::confirm::Answer;
use super::context::Context;
use super::{Exit, Failure};
use crate::engine::rollback::resume::{Ending, resume};
use crate::engine::rollback::{Forward, RollbackError, RollbackOptions, What, execute, prepare};
use crate::engine::{Error, Workspace};
use crate::render::{ConfirmView, PlanView, Render as _, ResumeView, RollbackView};

/// Go back to a checkpoint: files, staging, branch, HEAD and state
///
/// Everything as it is now goes into a safety checkpoint first, so `go-team undo` brings all of it back. Ignored files,
/// and files that could not be captured, are left alone. With --force, a checkpoint that the current one does not
/// descend from is taken too.
#[derive(Debug, Args)]
pub(super) struct RollbackArgs {
    /// Which checkpoint: a number, a step's name, an id or its beginning, latest, current
    #[arg(required_unless_present_any = ["resume", "abort"])]
    target: Option<String>,
    #[command(flatten)]
    how: HowArgs,
    /// Restore only this path and what is below it; can be given more than once
    #[arg(long = "path", value_name = "P")]
    paths: Vec<PathBuf>,
    /// Finish a rollback that was interrupted
    #[arg(long = "continue", conflicts_with_all = ["abort", "target", "dry_run", "paths"])]
    resume: bool,
    /// Put everything back as it was before a rollback that was interrupted
    #[arg(long, conflicts_with_all = ["target", "dry_run", "paths"])]
    abort: bool,
}

/// Bring everything back as it was before the last rollback
#[derive(Debug, Args)]
pub(super) struct UndoArgs {
    #[command(flatten)]
    how: HowArgs,
}

/// Do the rollback again that was undone last
#[derive(Debug, Args)]
pub(super) struct RedoArgs {
    #[command(flatten)]
    how: HowArgs,
}

#[derive(Debug, Args)]
struct HowArgs {
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// What you say about it
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    reason: String,
}

impl RollbackArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let workspace = context.open()?;
        if self.resume {
            return end(context, &workspace, Ending::Continue);
        }
        if self.abort {
            return end(context, &workspace, Ending::Abort);
        }
        let paths = self
            .paths
            .iter()
            .map(|path| inside(context, &workspace, path));
        let options = RollbackOptions {
            session: context.session.clone(),
            what: What::To(self.target.unwrap_or_default()),
            paths: paths.collect::<Result<_, Error>>()?,
            reason: self.how.reason.clone(),
            forward: if context.is_forced() {
                Forward::Accept
            } else {
                Forward::Refuse
            },
        };
        go(context, &workspace, &options, &self.how)
    }
}

impl UndoArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let workspace = context.open()?;
        go(
            context,
            &workspace,
            &back(context, What::Undo, &self.how),
            &self.how,
        )
    }
}

impl RedoArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let workspace = context.open()?;
        go(
            context,
            &workspace,
            &back(context, What::Redo, &self.how),
            &self.how,
        )
    }
}

fn back(context: &Context, what: What, how: &HowArgs) -> RollbackOptions {
    RollbackOptions {
        session: context.session.clone(),
        what,
        paths: Vec::new(),
        reason: how.reason.clone(),
        forward: Forward::Accept,
    }
}

/// Plans, asks, and does it.
fn go(
    context: &Context,
    workspace: &Workspace,
    options: &RollbackOptions,
    how: &HowArgs,
) -> Result<(), Failure> {
    let operation = match options.what {
        What::To(_) => "rollback",
        What::Undo => "undo",
        What::Redo => "redo",
    };
    if how.dry_run {
        let prepared = context.watch(|progress| prepare(workspace, options, progress));
        let prepared = context.logged(workspace, operation, None, prepared)?;
        return context.answer(&PlanView {
            session: &prepared.session,
            plan: &prepared.plan,
        });
    }
    let mut agreed = None;
    if !how.yes {
        if !context.may_ask() {
            let message = format!("{operation} changes your files and needs your yes");
            return Err(Failure::new("needs-confirmation", Exit::Cancelled, message)
                .hint(format!("go-team {operation} … --yes says it beforehand"))
                .hint(format!(
                    "go-team {operation} … --dry-run shows what would be done"
                )));
        }
        let prepared = context.watch(|progress| prepare(workspace, options, progress));
        let prepared = context.logged(workspace, operation, None, prepared)?;
        let view = ConfirmView {
            session: &prepared.session,
            plan: &prepared.plan,
        };
        let question = format!("{}Type 'yes' to go on: ", view.text(context.stderr()));
        if context.confirm(&question) != Answer::Confirmed {
            let message = format!("{operation} cancelled; nothing was changed");
            return Err(Failure::new("cancelled", Exit::Cancelled, message)
                .hint("only the whole word yes goes on; --yes says it beforehand"));
        }
        agreed = Some(prepared);
    }
    let marks = super::signals::watched();
    let result = context.watch_walk(marks, |progress| {
        execute(workspace, options, agreed.as_ref(), progress, marks)
    });
    let mut report = context.logged(workspace, operation, None, result)?;
    if marks.stop.load(Ordering::Relaxed) {
        let late = format!("the interruption came too late: the {operation} is complete");
        report.warnings.push(late);
    }
    context.answer(&RollbackView { report: &report })
}

fn end(context: &Context, workspace: &Workspace, ending: Ending) -> Result<(), Failure> {
    let marks = super::signals::watched();
    let session = context.session.as_ref();
    let result = context.watch_walk(marks, |progress| {
        resume(workspace, session, ending, progress, marks)
    });
    let report = context.logged(workspace, "rollback", None, result)?;
    context.answer(&ResumeView { report: &report })
}

/// A path as it is called from the top of the work tree. Links on the way are not followed.
fn inside(context: &Context, workspace: &Workspace, path: &Path) -> Result<Vec<u8>, Error> {
    use std::os::unix::ffi::OsStrExt as _;
    let outside = || RollbackError::Outside {
        path: path.to_owned(),
    };
    let top = &workspace.repo.work_dir;
    let here = context
        .start
        .canonicalize()
        .unwrap_or_else(|_| context.start.clone());
    let top = top.canonicalize().unwrap_or_else(|_| top.clone());
    let mut at = PathBuf::new();
    for part in here.join(path).components() {
        match part {
            Component::ParentDir => {
                at.pop();
            }
            Component::CurDir => {}
            part => at.push(part),
        }
    }
    let inside = at.strip_prefix(&top).map_err(|_| outside())?;
    Ok(inside.as_os_str().as_bytes().to_vec())
}
