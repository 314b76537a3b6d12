//! A few points of each command, other ones each time.

use nix::errno::Errno;

use super::dice::{Dice, thinned};
use super::judge::{Finding, Remedy};
use super::operations::named;
use super::stage::{Fault, Stage};

/// Strikes at a few points, and deals with each by one remedy.
fn strike(stage: &Stage, fault: Fault, few: usize) -> Vec<Finding> {
    let points = stage.points_for(fault);
    let remedies = Remedy::of(stage.reach);
    thinned(points.len(), few)
        .into_iter()
        .take(few)
        .flat_map(|nth| {
            let remedy = remedies[nth % remedies.len()];
            stage.strike(fault, points[nth - 1]).judge(&[remedy])
        })
        .collect()
}

fn sweep(name: &str) {
    let stage = Stage::new(named(name));
    let mut findings = strike(&stage, Fault::Kill, 2);
    let mut dice = Dice::new();
    findings.extend(strike(&stage, Fault::Fail(Errno::EIO), 1));
    let errno = [Errno::ENOSPC, Errno::EDQUOT][dice.roll(2)];
    findings.extend(strike(&stage, Fault::Fail(errno), 1));
    let nth = 1 + dice.roll(stage.points.len());
    for interrupted in stage.interrupted(&[nth]) {
        let fault = Fault::ALL[dice.roll(2)];
        findings.extend(strike(&interrupted, fault, 1));
    }
    let texts: Vec<String> = findings
        .iter()
        .map(|(breach, text)| format!("{breach:?}: {text}"))
        .collect();
    assert!(texts.is_empty(), "{}", texts.join("\n\n"));
}

macro_rules! few {
    ($($test:ident: $name:literal;)*) => {
        $(#[test]
        fn $test() {
            sweep($name);
        })*

        #[test]
        fn every_command_is_among_them() {
            let names: Vec<&str> = super::operations::ALL.iter().map(|one| one.name).collect();
            assert_eq!(names, [$($name),*]);
        }
    };
}

few! {
    nasty_01_start: "start";
    nasty_01_start_beside_another: "start beside another";
    nasty_01_the_first_checkpoint: "cp-create, first";
    nasty_01_a_later_checkpoint: "cp-create, later";
    nasty_01_a_checkpoint_without_files: "cp-create --no-git";
    nasty_04_a_checkpoint_that_prunes: "cp-create that prunes";
    nasty_01_a_checkpoint_that_merges_packs: "cp-create that merges packs";
    nasty_06_state_set: "state set";
    nasty_02_rollback: "rollback";
    nasty_02_rollback_of_some_paths: "rollback --path";
    nasty_02_rollback_with_a_linked_state: "rollback with a linked state";
    nasty_02_undo: "undo";
    nasty_02_redo: "redo";
    nasty_04_delete: "cp-delete";
    nasty_04_prune: "cp-prune";
    nasty_04_complete: "complete";
    nasty_04_complete_and_delete: "complete --delete";
    nasty_04_fail: "fail";
    nasty_04_abandon: "abandon";
    nasty_04_cleanup: "cleanup";
    nasty_04_validate: "cp-validate that marks";
    nasty_04_rebuild_a_record: "cp-rebuild N";
    nasty_04_rebuild_all: "cp-rebuild --all";
    nasty_04_export: "cp-export";
    nasty_04_import: "cp-import";
    nasty_04_import_from: "import-from";
    nasty_04_resume: "resume";
    nasty_04_start_fresh: "resume --fresh";
    nasty_04_resume_and_delete: "resume --delete";
    nasty_01_run: "run";
    nasty_06_config_set: "config set";
}
