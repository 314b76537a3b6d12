//! What to type about what was found.

use std::collections::BTreeSet;

use crate::engine::show::Relative;
use crate::model::finding::{Finding, Remedy, Severity};

/// With more checkpoints than this to rebuild, all are rebuilt at once.
const MANY: usize = 5;

/// The commands that see to what was found, each once, the most useful first.
#[must_use]
pub fn commands_for(findings: &[Finding], last_valid: Option<&Relative>) -> Vec<String> {
    let mut rebuild = BTreeSet::new();
    let mut all = false;
    let mut objects = BTreeSet::new();
    let mut delete = BTreeSet::new();
    let mut other: Vec<String> = Vec::new();
    let mut say = |text: &str| {
        if other.iter().all(|known| known != text) {
            other.push(text.to_owned());
        }
    };
    for finding in findings {
        match &finding.remedy {
            Remedy::Rebuild { checkpoint } => {
                rebuild.insert(checkpoint);
            }
            Remedy::RebuildAll => all = true,
            Remedy::RestoreObjects { checkpoint } => {
                objects.insert(checkpoint);
            }
            Remedy::Delete { checkpoint } => {
                delete.insert(checkpoint);
            }
            Remedy::NewerGoTeam => {
                say("use the go-team that wrote it; it was left untouched");
            }
            Remedy::Finish => {
                say("go-team cp-rebuild --all finishes or undoes what was interrupted");
            }
            Remedy::EndRollback => {
                say("go-team rollback --continue finishes the interrupted rollback");
                say("go-team rollback --abort puts everything back as it was before it");
            }
            Remedy::RemoveFile { name } => {
                say(&format!(
                    "look at {name} in the session's directory, and remove it"
                ));
            }
            Remedy::Reindex { pack } => {
                say(&format!("git index-pack {pack} makes its index anew"));
            }
            Remedy::Repack => {
                say("git prune-packed; git repack -a -d -F writes every object anew");
            }
            Remedy::CorrectSchema => {
                say("correct the schema, or the workflow's `schema` in the configuration");
            }
            Remedy::CorrectState { checkpoint } => {
                say(&format!(
                    "go-team state set PATH=VALUE, then go-team cp-create; go-team cp-delete {checkpoint} \
                     lets go of the old one, since a record never changes"
                ));
            }
            Remedy::DeleteRef { reference } => {
                say(&format!("git update-ref -d {reference}"));
            }
        }
    }
    let mut commands = Vec::new();
    if all || rebuild.len() > MANY {
        commands.push("go-team cp-rebuild --all".to_owned());
    } else {
        commands.extend(rebuild.iter().map(|id| format!("go-team cp-rebuild {id}")));
    }
    if !objects.is_empty() {
        commands.push(
            "bring the objects back from a clone or a backup (git fetch, or its .git/objects), \
             then go-team cp-rebuild --all"
                .to_owned(),
        );
    }
    let gone: Vec<&str> = objects
        .iter()
        .chain(&delete)
        .map(|id| id.as_str())
        .collect();
    if !gone.is_empty() {
        commands.push(format!(
            "go-team cp-delete {} gives up on it",
            gone.join(" ")
        ));
    }
    commands.append(&mut other);
    let is_lost = findings
        .iter()
        .any(|finding| finding.severity == Severity::Corrupt);
    if let Some(last) = last_valid.filter(|_| is_lost) {
        commands.push(format!(
            "go-team rollback {} goes back to the last valid one",
            last.id
        ));
    }
    commands
}
