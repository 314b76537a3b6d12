//! Conflicts of every kind, made by real merges.

use super::repo::TestRepo;

/// Two branches that `ours` and `theirs` change, merged without an end.
fn merged(
    base: &dyn Fn(&TestRepo),
    ours: &dyn Fn(&TestRepo),
    theirs: &dyn Fn(&TestRepo),
) -> TestRepo {
    let repo = TestRepo::new();
    base(&repo);
    repo.write("same", "s").commit_all();
    repo.git(["checkout", "-q", "-b", "theirs"]);
    theirs(&repo);
    repo.commit_all();
    repo.git(["checkout", "-q", "main"]);
    ours(&repo);
    repo.commit_all();
    let merge = repo.try_git(["merge", "-q", "theirs"]);
    assert!(!merge.status.success(), "a conflict was wanted");
    repo
}

fn stages(repo: &TestRepo) -> String {
    let status = repo.git(["status", "--porcelain"]);
    let mut kinds: Vec<&str> = status.lines().map(|line| &line[..2]).collect();
    kinds.dedup();
    kinds.join(" ")
}

fn check(repo: &TestRepo) {
    let before = std::fs::read(repo.path(".git/index")).unwrap();
    let report = repo.check_thrice();
    assert_eq!(std::fs::read(repo.path(".git/index")).unwrap(), before);
    let commit = report.record.git.commit_hash.unwrap().to_string();
    let json = repo.git(["show", &format!("{commit}^2:index.json")]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let unmerged = repo.git(["ls-files", "-u"]).lines().count();
    assert_eq!(json["conflicts"].as_array().unwrap().len(), unmerged);
    repo.write("same", "changed").write("new", "n");
    repo.check();
    repo.git(["add", "-A"]);
    repo.check();
}

#[test]
fn both_modified() {
    let repo = merged(
        &|r| _ = r.write("f", "base").write("x", "base").chmod("x", 0o755),
        &|r| _ = r.write("f", "ours").write("x", "ours"),
        &|r| _ = r.write("f", "theirs").write("x", "theirs"),
    );
    assert!(stages(&repo).contains("UU"));
    repo.config("core.fileMode", "false");
    repo.chmod("x", 0o644);
    check(&repo);
}

#[test]
fn both_added() {
    let repo = merged(&|_| {}, &|r| _ = r.write("d/f", "ours"), &|r| {
        r.write("d/f", "theirs");
    });
    assert!(stages(&repo).contains("AA"));
    repo.remove("d/f");
    check(&repo);
}

#[test]
fn deleted_by_us_and_by_them() {
    let repo = merged(
        &|r| _ = r.write("u", "base").write("t", "base").write("d/x", "base"),
        &|r| _ = r.remove("u").write("t", "ours").remove("d"),
        &|r| _ = r.remove("t").write("u", "theirs").write("d/x", "theirs"),
    );
    let kinds = stages(&repo);
    assert!(kinds.contains("DU") && kinds.contains("UD"), "{kinds}");
    check(&repo);
}

#[test]
fn renamed_by_both() {
    let long = "a long text that git knows again\n".repeat(20);
    let repo = merged(
        &|r| _ = r.write("old", &long),
        &|r| _ = r.git(["mv", "old", "ours"]),
        &|r| _ = r.git(["mv", "old", "theirs"]),
    );
    let kinds = stages(&repo);
    for kind in ["DD", "AU", "UA"] {
        assert!(kinds.contains(kind), "{kinds}");
    }
    check(&repo);
}

#[test]
fn file_against_directory_and_link() {
    let repo = merged(
        &|r| _ = r.write("l", "base"),
        &|r| _ = r.write("p", "a file").remove("l").link("same", "l"),
        &|r| _ = r.write("p/q", "in a directory").write("l", "theirs"),
    );
    check(&repo);
}

#[test]
fn line_endings_of_a_conflict() {
    for (name, attributes) in [("f", "* text=auto\n"), ("f", "* text\n")] {
        let repo = merged(
            &|r| _ = r.write(name, "base\r\n"),
            &|r| _ = r.write(name, "ours\r\n"),
            &|r| _ = r.write(name, "theirs\r\n"),
        );
        repo.write(".gitattributes", attributes);
        repo.write(name, "merged\r\nby hand\r\n");
        check(&repo);
    }
    let repo = merged(
        &|r| _ = r.write("f", "base\r\n"),
        &|r| _ = r.remove("f"),
        &|r| _ = r.write("f", "theirs\r\n"),
    );
    repo.write(".gitattributes", "* text=auto\n");
    check(&repo);
}

#[test]
fn in_the_middle_of_a_rebase_and_a_pick() {
    let repo = TestRepo::new();
    repo.write("f", "base").commit_all();
    repo.git(["checkout", "-q", "-b", "side"]);
    repo.write("f", "side").commit_all();
    repo.git(["checkout", "-q", "main"]);
    repo.write("f", "main").commit_all();
    assert!(!repo.try_git(["cherry-pick", "side"]).status.success());
    repo.check_thrice();
    repo.git(["cherry-pick", "--abort"]);
    repo.check();
    assert!(!repo.try_git(["rebase", "side"]).status.success());
    repo.check_thrice();
    repo.git(["rebase", "--abort"]);
    repo.check();
}
