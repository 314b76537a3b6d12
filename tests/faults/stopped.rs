//! A holder of the lock that is stopped keeps it: nobody takes it away, and everybody is told who has it.

use super::check;
use super::stage::trace;
use super::support::{Output, TestRepo};
use super::tracer::Verdict;

#[test]
fn nasty_18_a_holder_that_is_stopped_keeps_its_lock() {
    let repo = TestRepo::with_checkpoints();
    let mut others: Vec<Output> = Vec::new();
    let mut read = None;
    let traced = trace(&repo, &["cp-create", "--quiet", "the holder"], |point| {
        // While this runs the holder stands still, in the midst of its work.
        if others.is_empty() && point.path.ends_with("journal.json") {
            for seconds in ["0", "1"] {
                let patience = [("GO_TEAM_LOCK_TIMEOUT_SECONDS", seconds)];
                others.push(repo.run_env(&patience, &["cp-create", "another"]));
            }
            read = Some(repo.run(&["cp-list"]));
        }
        Verdict::Go
    });
    assert_eq!(traced.code, Some(0), "{traced:#?}");
    assert_eq!(others.len(), 2, "the holder was never stopped");
    for other in &others {
        assert_eq!(other.code, Some(6), "{other}");
        let is_named = other.stderr.contains("(cp-create)") && other.stderr.contains("process ");
        assert!(is_named, "{other}");
    }
    assert_eq!(read.unwrap().code, Some(0), "reading needs no lock");
    repo.ok(&["cp-create", "another"]);
    assert_eq!(check::complete_one(&repo, &repo.root()).records.len(), 4);
    check::no_residue(&repo.path(".git"));
}
