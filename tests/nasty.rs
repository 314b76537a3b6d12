//! What a checkpoint engine meets in real life, and the tests that put go-team to it.
//!
//! The right outcome in each row, beside what its tests say: the exit code is not 0 on failure; the user's index, HEAD and
//! files are untouched unless they are meant; `git fsck` is content; no lock is left that blocks git. The test below reads
//! this table and the sources, so that a row without a test, or a test that is gone, is seen.
//!
//! | # | case | tests |
//! |---|---|---|
//! | 1 | killed at every call of a checkpoint | `nasty_01_the_first_checkpoint`, `nasty_01_a_later_checkpoint`, `nasty_01_a_checkpoint_that_merges_packs`, `killed_at_random_instants` |
//! | 2 | killed at every call of a rollback, of an undo | `nasty_02_rollback_is_killed_at_any_call`, `nasty_02_undo_is_killed_at_any_call`, `nasty_02_redo_is_killed_at_any_call`, `nasty_02_rollback_of_some_paths`, `nasty_02_rollback_with_a_linked_state` |
//! | 3 | killed during that recovery | `nasty_03_continue_is_killed_at_any_call`, `nasty_03_abort_is_killed_at_any_call`, `nasty_03_the_next_command_is_killed_at_any_call` |
//! | 4 | killed in import, export, prune, rebuild, delete, validate | `nasty_04_import`, `nasty_04_export`, `nasty_04_a_checkpoint_that_prunes`, `nasty_04_rebuild_a_record`, `nasty_04_rebuild_all`, `nasty_04_delete`, `nasty_04_validate`, `an_import_is_absent_or_complete`, `an_export_is_absent_or_complete` |
//! | 5 | power cut right after "ok", and at any other instant | needs root and loop devices: `tests/powercut/run.sh`; without them `a_journal_that_a_power_cut_brings_back_changes_nothing` |
//! | 6 | ENOSPC, EIO, EDQUOT once at every call | `nasty_06_state_set` and all others of the faults, `nasty_06_an_input_output_error_at_any_call_of_a_rollback`, `nasty_06_no_space_or_quota_at_any_call_of_a_rollback`, `nasty_06_an_error_at_any_call_of_an_undo_or_a_redo`, `nasty_06_an_error_while_an_interruption_is_dealt_with` |
//! | 7 | disk full for good, then a rollback | `nasty_07_a_disk_that_is_full_for_good_refuses_before_the_first_deletion`, `nasty_07_a_disk_that_fills_up_at_any_call_loses_nothing`, `nasty_07_a_small_disk_that_is_really_full` |
//! | 8 | inodes used up; file size limit | `nasty_08_no_more_inodes`, `nasty_08_a_limit_on_the_size_of_files` |
//! | 9 | read-only repository | `a_read_only_repository_can_be_read`, `a_read_only_repository_is_validated_and_marking_is_said_to_be_impossible`, `a_repository_that_may_not_be_written` |
//! | 10 | unwritable directory in a rollback | `nasty_10_an_unwritable_directory` |
//! | 11 | SIGINT, SIGTERM in mid-rollback | `nasty_11_interrupt_and_terminate_finish_or_undo_it_and_say_which` |
//! | 12 | 8 processes × 20 checkpoints | `eight_processes_make_twenty_checkpoints_each`, `nasty_12_many_writers_in_many_sessions` |
//! | 13 | checkpoint while a rollback runs | `nasty_13_a_checkpoint_while_a_rollback_runs`, `nasty_13_a_checkpoint_waits_for_a_rollback`, `nasty_13_a_checkpoint_and_a_rollback_at_once` |
//! | 14 | the user's `git commit` runs during a checkpoint | `commits_and_checkpoints_do_not_disturb_each_other`, `nasty_19_git_commits_collects_packs_and_fetches_beside_writers` |
//! | 15 | `index.lock` already there | `nasty_15_index_lock_is_kept`, `an_index_that_is_locked`, `an_index_that_somebody_has_locked` |
//! | 16 | a file edited between confirmation and reset | `nasty_16_a_file_edited_between_confirmation_and_reset`, `nasty_16_a_new_file_between_confirmation_and_reset`, `nasty_16_a_commit_or_staging_between_confirmation_and_reset` |
//! | 17 | a file that changes during the snapshot | `nasty_17_a_file_that_changes_during_the_snapshot_is_never_torn`, `a_file_rewritten_in_place_is_never_torn`, `a_file_replaced_again_and_again_is_never_torn` |
//! | 18 | lock holder stopped | `nasty_18_a_holder_that_is_stopped_keeps_its_lock`, `another_command_is_at_work` |
//! | 19 | `git gc --prune=now` in parallel and afterwards | `nasty_19_git_commits_collects_packs_and_fetches_beside_writers`, `checkpoints_are_made_while_garbage_is_collected`, `checkpoints_outlive_everything_that_cleans_up`, `afterwards_and_in_parallel` |
//! | 20 | clock set back 20 years | `a_clock_set_back_by_twenty_years_changes_no_order` |
//! | 21 | one bit flipped in record, manifest, loose object, pack | `of_the_manifest_and_of_records`, `of_loose_objects`, `of_packs_and_their_indexes`, `of_a_ref` |
//! | 22 | manifest truncated, empty, missing | `the_manifest_is_truncated_empty_or_changed`, `the_manifest_is_missing`, `a_lost_manifest_comes_back_as_it_was_but_for_what_nothing_tells` |
//! | 23 | record edited, checksum recomputed | `a_record_that_was_made_to_fit_breaks_the_chain`, `a_record_was_edited_and_sealed_again` |
//! | 24 | ref deleted but record kept, and the reverse | `a_ref_is_missing_elsewhere_or_unreadable`, `a_record_is_missing_or_damaged`, `a_foreign_ref_lies_among_the_checkpoints` |
//! | 25 | a newer format version | `what_a_newer_version_wrote_is_left_untouched`, `a_manifest_of_a_newer_version`, `files_that_are_damaged_or_newer`, `a_newer_format_is_told_apart` |
//! | 26 | 1 GB or 200,000-deep JSON as state, record or input | `huge_and_deep_files_are_refused_fast_and_in_little_memory`, `input_that_is_too_large_is_refused_without_reading_it`, `json_that_goes_too_deep` |
//! | 27 | ids `../x`, `-x`, `a.lock`, empty, 10 kB, NUL, an uppercase twin | `refuses_what_is_unsafe_as_a_path_or_a_ref`, `names_that_are_no_ids_are_refused` |
//! | 28 | step name or file name with ESC, newline, RTL mark, `<script>` | `hostile_text_is_stored_exactly_and_shown_escaped`, `a_branch_name_is_hostile_too` |
//! | 29 | import archive with `..`, absolute path, symlink, hardlink, device, duplicate, bomb, truncation, wrong hash | `names_that_lead_elsewhere`, `members_that_are_no_plain_files`, `twins_strangers_and_another_order`, `sizes_and_numbers_beyond_all_measure`, `bytes_that_are_not_as_they_were`, `a_changed_archive_comes_in_whole_or_leaves_no_trace` |
//! | 30 | import of a session id that exists | `a_name_that_is_taken_is_never_merged_into` |
//! | 31 | a tree that holds `.git` variants | `nasty_31_a_tree_that_holds_variants_of_git`, `a_tree_that_holds_git_variants_is_refused`, `look_alikes_of_git`, `trees_with_names_that_must_never_be_written` |
//! | 32 | a tracked directory replaced by a symlink out of the tree, then rollback | `nasty_32_a_tracked_directory_replaced_by_a_link_out_of_the_tree`, `nasty_32_a_deeper_directory_replaced_by_a_link`, `nasty_32_a_link_out_of_the_tree_that_became_a_directory` |
//! | 33 | hostile fsmonitor, hooks, aliases in the repository's config | `a_configuration_that_is_hostile`, `hooks_of_every_kind` |
//! | 34 | repository owned by another user | `a_repository_of_somebody_else_is_refused` |
//! | 35 | unborn, detached, bare, mid-merge, mid-rebase, conflicted index | `nasty_35_a_branch_without_a_commit`, `nasty_35_a_detached_head_then_and_now`, `nasty_35_a_conflicted_index_comes_back_stage_for_stage`, `repositories_that_are_refused`, `a_merge_with_conflicts`, `in_the_middle_of_a_rebase_and_a_pick` |
//! | 36 | linked work trees, two branches, two sessions at once | `nasty_36_linked_work_trees_have_their_own_rollbacks`, `nasty_36_many_writers_in_many_linked_work_trees`, `two_work_trees_with_a_session_each` |
//! | 37 | submodule, nested repository with and without commits | `submodules`, `nested_repositories`, `without_a_commit` |
//! | 38 | sparse checkout, split index, LFS or other filters, shallow, partial | `sparse_index`, `cone`, `split`, `clean_and_smudge`, `pointers`, `shallow`, `into_shallow_and_partial_clones` |
//! | 39 | line endings, names, modes, links, empty directories, swaps | `nasty_39_line_endings_are_kept_byte_for_byte`, `nasty_39_names_of_every_kind`, `nasty_39_modes_links_and_empty_directories`, `nasty_39_files_directories_and_links_change_places`, `nasty_39_filters_give_the_same_bytes` |
//! | 40 | ignored files, `.gitignore` changed since, ignored now but captured then, and the reverse | `nasty_40_ignored_files_stay`, `nasty_40_a_file_that_is_ignored_now_but_was_captured`, `nasty_40_a_file_that_was_ignored_and_is_captured_now`, `nasty_40_an_ignored_file_in_the_way_of_a_directory` |
//! | 41 | FIFO, socket, device, unreadable file, file over the cap | `nasty_41_what_cannot_be_captured_is_left_alone`, `special_files_are_skipped_and_said`, `unreadable_files_and_directories` |
//! | 42 | 10,000 checkpoints in a session; 100,000 files in a tree | takes minutes: `benches/long_session.rs` and `benches/against_git.rs` make and measure them |
//! | 43 | an hour of random operations with random kills | `nasty_43_soak`, for as many minutes as `GO_TEAM_SOAK` says |

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const ROWS: usize = 43;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The names of all tests.
fn tests() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut dirs: Vec<PathBuf> = ["src", "tests"].map(|dir| root().join(dir)).into();
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                found.extend(tests_in(&fs::read_to_string(path).unwrap()));
            }
        }
    }
    found
}

/// The functions behind a `#[test]`, and those that a macro makes of a name.
fn tests_in(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_test = false;
    for line in source.lines().map(str::trim) {
        if line == "#[test]" {
            is_test = true;
        } else if let Some(rest) = line.strip_prefix("fn ").filter(|_| is_test) {
            found.extend(rest.split('(').next().map(str::to_owned));
            is_test = false;
        } else if let Some((name, rest)) = line.split_once(": \"")
            && rest.ends_with("\";")
        {
            found.push(name.to_owned());
        }
    }
    found
}

/// The rows of the table above: what stands in the first and in the last column.
fn rows() -> Vec<(usize, String)> {
    let lines = include_str!("nasty.rs").lines();
    let rows = lines.filter_map(|line| line.strip_prefix("//! | "));
    rows.filter_map(|row| {
        let columns: Vec<&str> = row.trim_end_matches(" |").split(" | ").collect();
        let number = columns[0].parse().ok()?;
        Some((number, (*columns.last()?).to_owned()))
    })
    .collect()
}

#[test]
fn every_case_has_a_test() {
    let rows = rows();
    let numbers: Vec<usize> = rows.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (1..=ROWS).collect::<Vec<_>>());
    let tests = tests();
    for (number, told) in rows {
        let names: Vec<&str> = told.split('`').skip(1).step_by(2).collect();
        let (files, names): (Vec<&str>, Vec<&str>) =
            names.iter().partition(|name| name.contains('/'));
        assert!(
            !files.is_empty() || !names.is_empty(),
            "case {number} has no test"
        );
        for file in files {
            assert!(
                root().join(file).is_file(),
                "case {number}: there is no {file}"
            );
        }
        for name in names
            .iter()
            .filter(|name| name.starts_with(char::is_lowercase))
        {
            assert!(
                tests.contains(*name),
                "case {number}: there is no test {name}"
            );
        }
    }
}

#[test]
fn every_test_that_names_a_case_is_in_its_row() {
    let rows = rows();
    for name in tests() {
        let Some(rest) = name.strip_prefix("nasty_") else {
            continue;
        };
        let number: usize = rest[..2].parse().unwrap();
        let is_known = (1..=ROWS).contains(&number) && rows[number - 1].0 == number;
        assert!(is_known, "{name} names a case that there is not");
    }
}
