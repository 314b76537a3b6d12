//! go-team's own rules on top of git's.

use go_team::engine::create::CreateReport;
use go_team::git::skip::SkipReason;

use super::repo::{TestRepo, checkpoint};

fn run(repo: &TestRepo, settings: &[(&str, &str)]) -> CreateReport {
    checkpoint(&repo.workspace_in(&repo.root(), settings))
}

fn names(repo: &TestRepo, report: &CreateReport) -> String {
    let tree = report.record.git.tree.unwrap().to_string();
    let names = repo.git(["ls-tree", "-r", "--name-only", &tree]);
    names.split('\n').collect::<Vec<_>>().join(" ")
}

#[test]
fn include() {
    let repo = TestRepo::new();
    repo.write(".gitignore", "out/\n*.log\n")
        .write("a.log", "a")
        .write("b.log", "b");
    repo.write("out/keep/x", "x")
        .write("out/y", "y")
        .write("out/deep/er/z.bin", "z");
    let plain = run(&repo, &[]);
    assert_eq!(names(&repo, &plain), ".gitignore");
    let include = [(
        "GO_TEAM_CAPTURE_INCLUDE",
        r#"["a.log", "out/keep/", "out/deep/**/*.bin"]"#,
    )];
    for _ in 0..2 {
        let report = run(&repo, &include);
        assert_eq!(
            names(&repo, &report),
            ".gitignore a.log out/deep/er/z.bin out/keep/x"
        );
    }
    repo.write("out/keep/new", "n").write("out/new", "n");
    let report = run(&repo, &include);
    assert_eq!(
        names(&repo, &report),
        ".gitignore a.log out/deep/er/z.bin out/keep/new out/keep/x"
    );
    assert_eq!(names(&repo, &run(&repo, &[])), ".gitignore");
}

#[test]
fn exclude() {
    let repo = TestRepo::new();
    repo.write("tracked.tmp", "1")
        .write("d/t.tmp", "1")
        .write("a", "a")
        .commit_all();
    repo.write("debug.jsonl", "{}");
    assert_eq!(
        names(&repo, &run(&repo, &[])),
        "a d/t.tmp tracked.tmp",
        "the default"
    );
    repo.write("tracked.tmp", "changed")
        .write("new.tmp", "n")
        .write("e/f.tmp", "f")
        .write("e/g", "g");
    let exclude = [("GO_TEAM_CAPTURE_EXCLUDE", r#"["*.tmp"]"#)];
    for _ in 0..2 {
        let report = run(&repo, &exclude);
        assert_eq!(
            names(&repo, &report),
            "a d/t.tmp debug.jsonl e/g tracked.tmp"
        );
        let tree = report.record.git.tree.unwrap().to_string();
        assert_eq!(
            repo.git(["show", &format!("{tree}:tracked.tmp")]),
            "1",
            "as the index has it"
        );
    }
    let report = run(&repo, &[("GO_TEAM_CAPTURE_EXCLUDE", r#"["e/", "/d"]"#)]);
    assert_eq!(
        names(&repo, &report),
        "a d/t.tmp debug.jsonl new.tmp tracked.tmp"
    );
    repo.remove("debug.jsonl");
    repo.check_thrice();
}

#[test]
fn size_limit() {
    let repo = TestRepo::new();
    repo.write("tracked", "small").commit_all();
    repo.write("tracked", vec![b'x'; 1_100_000])
        .write("d/new", vec![b'y'; 1_100_000]);
    repo.write("fits", vec![b'z'; 1 << 20]);
    let limit = [("GO_TEAM_CAPTURE_MAX_FILE_MB", "1")];
    for _ in 0..2 {
        let report = run(&repo, &limit);
        let said: Vec<_> = report
            .skipped
            .iter()
            .map(|s| (&*s.path, s.reason))
            .collect();
        assert_eq!(
            said,
            [
                ("tracked", SkipReason::TooLarge),
                ("d/new", SkipReason::TooLarge)
            ]
        );
        assert_eq!(names(&repo, &report), "fits tracked");
        let tree = report.record.git.tree.unwrap().to_string();
        assert_eq!(repo.git(["show", &format!("{tree}:tracked")]), "small");
    }
    repo.check();
    let report = run(&repo, &limit);
    assert_eq!(names(&repo, &report), "fits tracked");
    repo.write("tracked", "small again").remove("d");
    repo.check();
}
