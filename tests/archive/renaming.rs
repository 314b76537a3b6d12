//! A session under another name: sealed anew, and as sound as before.

use std::collections::BTreeSet;

use go_team::model::SessionId;

use crate::check;
use crate::place::{clone_of, export, import, import_ok, listing, refs, rich, untouched};
use crate::support::TestRepo;

#[test]
fn records_commits_and_chain_carry_the_new_name() {
    let repo = rich();
    // The one without files has no ref, which the check of everything does not know.
    let file = export(&repo, &["1", "2", "3", "5"]);
    let other = clone_of(&repo);
    import_ok(&other, &file, &[]);
    import_ok(&other, &file, &["--as", "second-life"]);
    let sessions = check::complete(&other, &other.root());
    let [old, new] = &sessions[..] else { panic!() };
    assert_eq!(
        new.manifest.session_id,
        SessionId::parse("second-life").unwrap()
    );
    assert_eq!(old.manifest.topic, new.manifest.topic);
    for (old, new) in old.records.iter().zip(&new.records) {
        assert_eq!(new.session_id.as_str(), "second-life");
        assert_eq!((&old.id, old.seq), (&new.id, new.seq));
        assert_eq!(old.state, new.state);
        assert_eq!(old.git.tree, new.git.tree);
        assert_eq!(old.git.head, new.git.head);
        assert_ne!(old.git.commit_hash, new.git.commit_hash);
        let commit = new.git.commit_hash.unwrap().to_string();
        let message = other.git(&["log", "-1", "--format=%B", &commit]);
        assert!(message.contains("\nSession: second-life\n"), "{message}");
        let date = |commit: &str| other.git(&["log", "-1", "--format=%an %ae %ad %cd", commit]);
        assert_eq!(
            date(&commit),
            date(&old.git.commit_hash.unwrap().to_string())
        );
    }
    // The name may travel on.
    other.ok(&["cp-create", "--session", "second-life", "--step", "6"]);
    let onward = export(&other, &["--session", "second-life"]);
    let third = TestRepo::new();
    import_ok(&third, &onward, &[]);
    check::complete_one(&third, &third.root());
}

#[test]
fn a_name_that_is_taken_is_never_merged_into() {
    let repo = rich();
    let session = repo.session_of("auth system");
    let file = export(&repo, &[]);
    for more in [&[][..], &["--as", &session]] {
        let refused = untouched(&repo, || import(&repo, &file, more));
        assert_eq!(refused.code, Some(1), "{refused}");
        assert!(refused.stderr.contains("there is a session"), "{refused}");
        assert!(refused.stderr.contains("--as NAME"), "{refused}");
    }
    import_ok(&repo, &file, &["--as", "copy"]);
    let refused = untouched(&repo, || import(&repo, &file, &["--as", "copy"]));
    assert_eq!(refused.code, Some(1), "{refused}");
    // An archived session keeps its name, and so does a ref that nobody knows.
    let other = clone_of(&repo);
    std::fs::create_dir_all(other.store().join("failed/copy")).unwrap();
    let refused = untouched(&other, || import(&other, &file, &["--as", "copy"]));
    assert!(
        refused.stderr.contains("among the failed ones"),
        "{refused}"
    );
    for stray in [
        format!("refs/go-team/{session}/stray"),
        format!("refs/go-team/{session}"),
    ] {
        let other = clone_of(&repo);
        other.git(&["update-ref", &stray, "HEAD"]);
        let refused = untouched(&other, || import(&other, &file, &[]));
        assert_eq!(refused.code, Some(1), "{refused}");
        assert!(
            refused.stderr.contains("does not belong to the archive"),
            "{refused}"
        );
        other.git(&["update-ref", "-d", &stray]);
        import_ok(&other, &file, &[]);
        assert_eq!(
            refs(&other).lines().collect::<BTreeSet<_>>(),
            refs(&repo)
                .lines()
                .filter(|line| line.contains(&session))
                .collect()
        );
    }
}

#[test]
fn names_that_are_no_ids_are_refused() {
    let repo = rich();
    let file = export(&repo, &[]);
    let other = clone_of(&repo);
    let long = "a".repeat(10_000);
    for name in [
        "../x", "-x", "a.lock", "", "A", "a/b", "a b", "ä", ".", "..", &long,
    ] {
        let name = format!("--as={name}");
        let refused = untouched(&other, || import(&other, &file, &[&name]));
        assert_eq!(refused.code, Some(2), "{refused}");
        assert!(refused.stderr.contains("not a session id"), "{refused}");
    }
}

#[test]
fn without_git_data_a_copy_finds_its_commits_in_the_repository() {
    let repo = TestRepo::with_checkpoints();
    let file = export(&repo, &["--no-git"]);
    import_ok(&repo, &file, &["--as", "copy"]);
    check::complete(&repo, &repo.root());
    let elsewhere = TestRepo::new();
    let before = listing(&elsewhere).len();
    let imported = import_ok(&elsewhere, &file, &["--as", "copy", "--json"]).json();
    assert_eq!(imported["data"]["git_missing"].as_array().unwrap().len(), 2);
    assert!(listing(&elsewhere).len() > before);
    let shown = elsewhere
        .ok(&["cp-show", "2", "--json", "--session", "copy"])
        .json();
    assert_eq!(shown["data"]["record"]["session_id"], "copy");
    assert_eq!(shown["data"]["validation"][0]["result"], "ok");
    assert_eq!(shown["data"]["validation"][1]["result"], "ok");
}
