//! Sessions that cannot be read, interrupted operations, refs without a session, work trees that are gone.

use std::collections::BTreeSet;

use super::{Area, DoctorReport, Health, cannot_look};
use crate::engine::Workspace;
use crate::engine::failure::error_chain;
use crate::model::path_text::quote_path;
use crate::model::{Journal, SessionId};
use crate::store::SessionItem;

/// Looks at them.
pub(super) fn look(workspace: &Workspace, report: &mut DoctorReport) {
    let area = Area::Sessions;
    let listed = workspace.store.list_sessions();
    let listed = listed.and_then(|mut items| {
        items.extend(workspace.store.list_failed()?);
        Ok(items)
    });
    let items = match listed {
        Ok(items) => items,
        Err(error) => return cannot_look(report, area, error),
    };
    let mut known = BTreeSet::new();
    known.extend(look_for_change(workspace, report));
    let mut corrupt = 0;
    for SessionItem { name, manifest } in &items {
        let text = quote_path(name.as_encoded_bytes());
        let session = name.to_str().and_then(|name| SessionId::parse(name).ok());
        if let Some(session) = &session {
            known.insert(session.clone());
            look_for_journal(workspace, session, report);
        }
        match manifest {
            Ok(manifest) => {
                let entries = manifest.checkpoints().iter();
                corrupt += entries.filter(|entry| entry.corrupted_at.is_some()).count();
            }
            Err(error) => report.advise(
                area,
                Health::Bad,
                format!("session {text} cannot be read: {}", error_chain(error)),
                format!("go-team cp-rebuild --all --session {text}"),
            ),
        }
    }
    if corrupt > 0 {
        report.advise(
            area,
            Health::Warning,
            format!("{corrupt} checkpoints are marked as corrupt"),
            "go-team cp-validate says in what way, and what to do",
        );
    }
    look_for_lost_sessions(workspace, &known, report);
    look_at_pointer(workspace, report);
    if report.items.iter().all(|item| item.area != area) {
        let count = items.len();
        let plural = if count == 1 { "" } else { "s" };
        let text = format!("{count} session{plural}, each can be read and none was interrupted");
        report.add(area, Health::Ok, text);
    }
}

/// A change in a session's life that has not come to its end; gives the session, which needs nothing else.
fn look_for_change(workspace: &Workspace, report: &mut DoctorReport) -> Option<SessionId> {
    let area = Area::Sessions;
    match workspace.store.load_life_journal() {
        Ok(None) => None,
        Ok(Some(life)) => {
            report.advise(
                area,
                Health::Warning,
                format!(
                    "{}: an operation ({}) is under way or was interrupted",
                    life.session,
                    life.op()
                ),
                "the next command that writes finishes it, such as go-team start TOPIC",
            );
            Some(life.session)
        }
        Err(error) => {
            report.advise(
                area,
                Health::Bad,
                error_chain(&error),
                "the next command that writes keeps a damaged file aside, and goes on",
            );
            None
        }
    }
}

fn look_for_journal(workspace: &Workspace, session: &SessionId, report: &mut DoctorReport) {
    let area = Area::Sessions;
    match workspace.unfinished(session) {
        Ok(None) => {}
        Ok(Some(Journal::Rollback(_))) => report.advise(
            area,
            Health::Warning,
            format!("{session}: a rollback is under way or was interrupted"),
            format!("go-team rollback --continue --session {session} finishes it, --abort puts everything back"),
        ),
        Ok(Some(journal)) => report.advise(
            area,
            Health::Warning,
            format!("{session}: an operation ({}) is under way or was interrupted", journal.op()),
            format!("go-team cp-rebuild --all --session {session} finishes or undoes it, as the next command that writes does"),
        ),
        Err(error) => report.advise(
            area,
            Health::Bad,
            format!("{session}: {}", error_chain(&error)),
            format!("go-team cp-rebuild --all --session {session} keeps the damaged journal aside"),
        ),
    }
}

/// Refs of sessions that have no directory.
fn look_for_lost_sessions(
    workspace: &Workspace,
    known: &BTreeSet<SessionId>,
    report: &mut DoctorReport,
) {
    let area = Area::Sessions;
    let references = match workspace.repo.backend.references("refs/go-team/") {
        Ok(references) => references,
        Err(error) => return cannot_look(report, area, error),
    };
    let mut lost = BTreeSet::new();
    for (name, _) in references {
        let session = name
            .strip_prefix("refs/go-team/")
            .and_then(|name| name.split('/').next());
        if let Some(Ok(session)) = session.map(SessionId::parse)
            && !known.contains(&session)
        {
            lost.insert(session);
        }
    }
    for session in lost {
        report.advise(
            area,
            Health::Warning,
            format!("there are refs of session {session}, whose files are gone"),
            format!("go-team cp-rebuild --all --session {session}"),
        );
    }
}

fn look_at_pointer(workspace: &Workspace, report: &mut DoctorReport) {
    let area = Area::Sessions;
    match workspace.store.load_current(&workspace.worktree) {
        Ok(Some(current)) if !workspace.store.has_session(&current.session_id) => report.advise(
            area,
            Health::Warning,
            format!("this work tree is in session {}, which is not there", current.session_id),
            "go-team start TOPIC begins another one; go-team cp-rebuild --all brings it back if its refs are left",
        ),
        Ok(_) => {}
        Err(error) => report.advise(
            area,
            Health::Bad,
            error_chain(&error),
            "remove that file, and name the session with --session",
        ),
    }
}
