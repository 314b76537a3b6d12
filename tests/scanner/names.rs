//! Names that are hard to carry, and names that git refuses.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use go_team::git::skip::SkipReason;
use go_team::model::path_text::unquote_path;

use super::repo::{TestRepo, checkpoint};

#[test]
fn odd_names() {
    let repo = TestRepo::new();
    let long = "é".repeat(127);
    let names: Vec<Vec<u8>> = [
        "cafe\u{301}",
        "café",
        "Case",
        "case",
        "CASE",
        "new\nline",
        "tab\there",
        "quo\"te",
        "it's",
        "-dash",
        "--",
        "back\\slash",
        "trailing\\",
        " space ",
        "star*",
        "[br]",
        "?",
        ":colon",
        "~",
        "\u{1b}[31m",
        "\u{202e}rtl",
        "a.b",
        "a",
        "a0",
        "a-",
        "git~2",
        ".gi",
        "..x",
        "...",
        "x.",
        "x ",
        "CON",
        "nul.txt",
        "a:b",
        "<script>",
        "%f",
        "$HOME",
        "`x`",
        "\u{1}",
        "\u{7f}",
        &long,
        "#x",
        "!x",
        ".gitfoo",
        "git~",
        ".git-x",
        ".g\u{200c}it",
        ".gitmodulesx",
        "$(x)",
    ]
    .iter()
    .map(|name| name.as_bytes().to_vec())
    .chain([
        b"\xff\xfe".to_vec(),
        b"la\xe9t".to_vec(),
        vec![b'x'; 255],
        vec![0xe9; 255],
    ])
    .collect();
    for name in &names {
        repo.write_bytes(name, name);
        let dir = [b"dir/d-", &name[..name.len().min(250)], b"/f"].concat();
        repo.write_bytes(&dir, name);
    }
    repo.check_thrice();
    repo.commit_all();
    for name in names.iter().step_by(2) {
        repo.write_bytes(name, "changed");
    }
    repo.check_thrice();
    for name in names.iter().step_by(3) {
        repo.remove(OsStr::from_bytes(name));
    }
    repo.check();
}

/// `core.ignoreCase` where the file system does tell names apart, as in a repository that came from another system: git
/// then passes over a file whose twin it tracks, even one whose twin is deleted. A checkpoint keeps all of them.
#[test]
fn twins_in_case_are_all_kept() {
    let repo = TestRepo::new();
    repo.write("a", "1").write("d/x", "1").commit_all();
    repo.config("core.ignoreCase", "true");
    repo.write("A", "2").write("D/x", "3").write("D/y", "4");
    if std::fs::read(repo.path("a")).unwrap() == b"2" {
        return;
    }
    for _ in 0..2 {
        let report = checkpoint(&repo.workspace());
        let tree = report.record.git.tree.unwrap().to_string();
        let names = repo.git(["ls-tree", "-r", "--name-only", &tree]);
        assert_eq!(names, "A\nD/x\nD/y\na\nd/x");
    }
    repo.remove("a").remove("d");
    let report = checkpoint(&repo.workspace());
    let tree = report.record.git.tree.unwrap().to_string();
    let names = repo.git(["ls-tree", "-r", "--name-only", &tree]);
    assert_eq!(names, "A\nD/x\nD/y");
}

#[test]
fn directories_sort_with_a_slash() {
    let repo = TestRepo::new();
    for name in ["a/x", "a.c", "a-b/x", "a0", "ab", "a b/c", "a!"] {
        repo.write(name, name);
    }
    repo.check_thrice();
    repo.git(["add", "-A"]);
    repo.remove("a").write("a", "now a file");
    repo.check_thrice();
}

/// Whether git would take the name, asked of git itself.
fn git_takes(repo: &TestRepo, name: &str, mode: &str) -> bool {
    let blob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
    let arg = format!("{mode},{blob},{name}");
    let output = repo
        .command(&repo.root())
        .env("GIT_INDEX_FILE", repo.beside("scratch-index"))
        .args(["update-index", "--add", "--cacheinfo", &arg])
        .output()
        .unwrap();
    output.status.success()
}

const LOOK_ALIKES: [&str; 26] = [
    ".GIT",
    ".Git",
    ".giT",
    "git~1",
    "GIT~1",
    ".git ",
    ".git.",
    ".git. . ",
    ".git...",
    ".git::$INDEX_ALLOCATION",
    ".git:x",
    "git~1:x",
    "git~1 ",
    ".git\\x",
    "git~1\\x",
    ".gitmodules",
    ".GITMODULES",
    ".gitmodules ",
    "gitmod~1",
    "gi7eba~1",
    ".gitignore",
    ".gitattributes",
    ".gitx",
    "git~10",
    "x\\.git",
    "x\\y",
];

#[test]
fn look_alikes_of_git() {
    for (hfs, ntfs) in [
        ("false", "true"),
        ("true", "true"),
        ("false", "false"),
        ("true", "false"),
    ] {
        for kind in ["file", "link", "directory"] {
            let repo = TestRepo::new();
            repo.config("core.protectHFS", hfs)
                .config("core.protectNTFS", ntfs);
            let (mut taken, mut refused) = (Vec::new(), Vec::new());
            for name in LOOK_ALIKES.into_iter().chain([
                ".g\u{200c}it",
                ".\u{feff}GIT",
                ".gitmodule\u{200c}s",
            ]) {
                let (mode, path) = match kind {
                    "file" => ("100644", name.to_owned()),
                    "link" => ("120000", name.to_owned()),
                    _ => ("100644", format!("{name}/x")),
                };
                let side = if git_takes(&repo, &path, mode) {
                    &mut taken
                } else {
                    &mut refused
                };
                side.push(name.as_bytes().to_vec());
                if kind == "link" {
                    repo.link("good", name);
                } else {
                    repo.write(&path, "bad");
                }
            }
            taken.sort();
            refused.sort();
            for _ in 0..2 {
                let report = checkpoint(&repo.workspace());
                let mut said: Vec<_> = report
                    .skipped
                    .iter()
                    .map(|s| unquote_path(&s.path).unwrap())
                    .collect();
                said.sort();
                let text = |names: &[Vec<u8>]| {
                    names
                        .iter()
                        .map(|n| String::from_utf8_lossy(n).into_owned())
                        .collect::<Vec<_>>()
                };
                assert_eq!(
                    text(&said),
                    text(&refused),
                    "{kind}, hfs {hfs}, ntfs {ntfs}"
                );
                assert!(
                    report
                        .skipped
                        .iter()
                        .all(|s| s.reason == SkipReason::InvalidName)
                );
                let tree = report.record.git.tree.unwrap().to_string();
                let names = repo.git(["ls-tree", "-z", "--name-only", &tree]);
                let mut names: Vec<_> = names
                    .split_terminator('\0')
                    .map(|n| n.as_bytes().to_vec())
                    .collect();
                names.sort();
                assert_eq!(text(&names), text(&taken), "{kind}, hfs {hfs}, ntfs {ntfs}");
            }
        }
    }
}

#[test]
fn an_ignored_look_alike_is_not_said() {
    let repo = TestRepo::new();
    repo.write(".gitignore", ".GIT\ngit~1\n")
        .write(".GIT/x", "x")
        .write("git~1", "x");
    let report = repo.check_thrice();
    assert!(report.skipped.is_empty(), "{:?}", report.skipped);
}

#[test]
fn look_alikes_below() {
    let repo = TestRepo::new();
    repo.write("a/b/.GIT/x", "x").write("a/b/y", "y");
    let report = checkpoint(&repo.workspace());
    assert_eq!(report.skipped.len(), 1);
    assert_eq!(report.skipped[0].path, "a/b/.GIT");
    let tree = report.record.git.tree.unwrap().to_string();
    assert_eq!(repo.git(["ls-tree", "-r", "--name-only", &tree]), "a/b/y");
    repo.remove("a/b/.GIT");
    repo.check();
}
