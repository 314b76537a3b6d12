//! What happened between two checkpoints, as a user sees it.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use go_team::model::manifest::RollbackRecord;
use go_team::model::{RollbackId, SessionId};
use go_team::store::{Durability, Store};
use insta::assert_snapshot;

use crate::support::TestRepo;

const FIRST_STATE: &str = r#"{"phase": "requirements", "iteration_count": 1, "current_agent": "analyst",
    "metrics": {"build_pass": false, "test_coverage": 71.5, "notes": ["a"]}, "history": [{"stage": "init", "ok": true}],
    "limits": {"tokens": 1000, "gone": null}}"#;
const SECOND_STATE: &str = r#"{"phase": "implementation", "iteration_count": 3, "current_agent": "coder",
    "metrics": {"build_pass": true, "test_coverage": 82, "lint_clean": true, "speed": 7, "notes": ["a", "b"]},
    "history": [{"stage": "init", "ok": false}, {"stage": "impl"}], "limits": {"tokens": 2000, "new.one": {}}}"#;
const FIRST_OUTPUTS: &str = r#"{"spec": "one\ntwo\n", "architecture": "docs/arch.md", "code_files": ["a.go", "b.go"],
    "score": 1, "gone": "x"}"#;
const SECOND_OUTPUTS: &str = r#"{"spec": "one\n2\nthree\n", "architecture": "docs/arch.md",
    "code_files": ["b.go", "c.go", "d.go"], "score": 2, "extra": {"a": [1]}}"#;

fn lines(from: u32, to: u32) -> String {
    let lines: Vec<String> = (from..=to).map(|line| format!("line {line}\n")).collect();
    lines.concat()
}

/// A session with a checkpoint of step 2 and one of step 4, between which everything changed.
fn eventful() -> TestRepo {
    let repo = TestRepo::with_commit();
    repo.ok(&["start", "auth system", "--workflow", "go-team"]);
    repo.write("main.go", lines(1, 20));
    repo.write("moved.go", lines(100, 140));
    repo.write("gone.txt", "bye\n");
    repo.write("docs/arch.md", "# Arch\n");
    repo.write("run.sh", "#!/bin/sh\n");
    repo.write("data.bin", b"\0\x01\x02");
    repo.write("was-file", "content\n");
    std::os::unix::fs::symlink("main.go", repo.path("link")).unwrap();
    repo.write("state.json", FIRST_STATE);
    repo.write("outputs.json", FIRST_OUTPUTS);
    std::fs::write(repo.path(".git/info/exclude"), "state.json\noutputs.json\n").unwrap();
    let make = |step: &str| {
        repo.ok(&[
            "cp-create",
            "--step",
            step,
            "--state",
            "state.json",
            "--outputs",
            "outputs.json",
        ]);
    };
    make("2");
    repo.write("main.go", lines(1, 10) + "changed\n" + &lines(12, 22));
    repo.git(&["add", "main.go"]);
    repo.git(&["commit", "-q", "-m", "Write the main \u{1b}[31mprogram"]);
    std::fs::rename(repo.path("moved.go"), repo.path("new-place.go")).unwrap();
    repo.write("new-place.go", lines(100, 141));
    repo.write("copy.go", lines(1, 20));
    std::fs::remove_file(repo.path("gone.txt")).unwrap();
    repo.write("docs/arch.md", "# Arch\n\nThree services.\n");
    repo.write("data.bin", b"\0\x01\x02\x03\x04");
    std::fs::set_permissions(repo.path("run.sh"), Permissions::from_mode(0o755)).unwrap();
    std::fs::remove_file(repo.path("was-file")).unwrap();
    std::os::unix::fs::symlink("docs", repo.path("was-file")).unwrap();
    std::fs::remove_file(repo.path("link")).unwrap();
    std::os::unix::fs::symlink("copy.go", repo.path("link")).unwrap();
    repo.write("new/file.txt", "hello\nworld");
    repo.write("state.json", SECOND_STATE);
    repo.write("outputs.json", SECOND_OUTPUTS);
    make("4");
    repo
}

fn refs(repo: &TestRepo) -> (String, String) {
    let listed = repo.git(&["for-each-ref", "--format=%(refname)", "refs/go-team/"]);
    let mut names = listed.lines().map(str::to_owned);
    (names.next().unwrap(), names.next().unwrap())
}

#[test]
fn every_section_says_what_changed() {
    let repo = eventful();
    assert_snapshot!(repo.run(&["cp-diff", "2", "4"]), @r#"
    exit: 0
    --- stdout
    =================================================
    DIFF - 2 → 4
    =================================================
    Old: cp-02-requirements-20251228-210200 (requirements, 2025-12-28 21:02:00)
    New: cp-04-implementation-20251228-210300 (implementation, 2025-12-28 21:03:00)
    STATE CHANGES
      Phase:     requirements → implementation
      Step:      2 - requirements → 4 - implementation
      Iteration: 1 → 3
      ~ current_agent: "analyst" → "coder"
      ~ history.0.ok: true → false
      + history.1: {"stage":"impl"}
      - limits.gone: null
      + limits."new.one": {}
      ~ limits.tokens: 1000 → 2000
    METRICS CHANGES
      Build passes: no → yes
      Lint clean: none → yes
      notes.1: none → "b"
      speed: none → 7
      Coverage: 71.5 % → 82 % (+10.5)
    OUTPUT CHANGES
      ~ architecture: docs/arch.md +2
      ~ code_files: +2 -1
          + c.go
          + d.go
          - a.go
      + extra: {"a":[1]}
      - gone: "x"
      ~ score: 1 → 2
      ~ spec: +2 -1 lines
    FILE CHANGES
      + copy.go (copy of main.go)
      ~ data.bin  binary, 3 → 5 bytes
      ~ docs/arch.md  +2
      - gone.txt  -1
      ~ link  +1 -1, symlink
      ~ main.go  +3 -1
      ~ moved.go → new-place.go  +1, 97 % the same
      + new/file.txt  +2
      ~ run.sh  mode 100644 → 100755
      ~ was-file  +1 -1, file → symlink
      10 changed: 2 created, 6 modified, 1 deleted, 1 renamed; +10 -4 lines, 1 binary
    GIT COMMITS
      + 06029c43ff 2025-12-28 Write the main \x1b[31mprogram (Somebody)
    Commands:
      go-team cp-diff 2 4 --patch   go-team cp-show 2   go-team rollback 2
    --- stderr
    ---
    "#);
    assert_snapshot!(repo.run(&["cp-diff", "4", "2", "-q"]), @r#"
    exit: 0
    --- stdout
    STATE CHANGES
      Phase:     implementation → requirements
      Step:      4 - implementation → 2 - requirements
      Iteration: 3 → 1
      ~ current_agent: "coder" → "analyst"
      ~ history.0.ok: false → true
      - history.1: {"stage":"impl"}
      + limits.gone: null
      - limits."new.one": {}
      ~ limits.tokens: 2000 → 1000
    METRICS CHANGES
      Build passes: yes → no
      Lint clean: yes → none
      notes.1: "b" → none
      speed: 7 → none
      Coverage: 82 % → 71.5 % (-10.5)
    OUTPUT CHANGES
      ~ architecture: docs/arch.md -2
      ~ code_files: +1 -2
          + a.go
          - c.go
          - d.go
      - extra: {"a":[1]}
      + gone: "x"
      ~ score: 2 → 1
      ~ spec: +1 -2 lines
    FILE CHANGES
      - copy.go  -20
      ~ data.bin  binary, 5 → 3 bytes
      ~ docs/arch.md  -2
      + gone.txt  +1
      ~ link  +1 -1, symlink
      ~ main.go  +1 -3
      ~ new-place.go → moved.go  -1, 97 % the same
      - new/file.txt  -2
      ~ run.sh  mode 100755 → 100644
      ~ was-file  +1 -1, symlink → file
      10 changed: 1 created, 6 modified, 2 deleted, 1 renamed; +4 -30 lines, 1 binary
    GIT COMMITS
      - 06029c43ff 2025-12-28 Write the main \x1b[31mprogram (Somebody)  (only in the old one)
    --- stderr
    ---
    "#);
    assert_snapshot!(repo.run(&["cp-diff", "2", "2"]), @r"
    exit: 0
    --- stdout
    =================================================
    DIFF - 2 → 2
    =================================================
    Old: cp-02-requirements-20251228-210200 (requirements, 2025-12-28 21:02:00)
    New: cp-02-requirements-20251228-210200 (requirements, 2025-12-28 21:02:00)
    Both are the same checkpoint.
    STATE CHANGES
      none
    METRICS CHANGES
      none
    OUTPUT CHANGES
      none
    FILE CHANGES
      none
    GIT COMMITS
      none
    Commands:
      go-team cp-diff 2 2 --patch   go-team cp-show 2   go-team rollback 2
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["cp-diff", "2", "4", "--state"]), @r#"
    exit: 0
    --- stdout
    =================================================
    DIFF - 2 → 4
    =================================================
    Old: cp-02-requirements-20251228-210200 (requirements, 2025-12-28 21:02:00)
    New: cp-04-implementation-20251228-210300 (implementation, 2025-12-28 21:03:00)
    STATE CHANGES
      Phase:     requirements → implementation
      Step:      2 - requirements → 4 - implementation
      Iteration: 1 → 3
      ~ current_agent: "analyst" → "coder"
      ~ history.0.ok: true → false
      + history.1: {"stage":"impl"}
      - limits.gone: null
      + limits."new.one": {}
      ~ limits.tokens: 1000 → 2000
    METRICS CHANGES
      Build passes: no → yes
      Lint clean: none → yes
      notes.1: none → "b"
      speed: none → 7
      Coverage: 71.5 % → 82 % (+10.5)
    Commands:
      go-team cp-diff 2 4 --patch   go-team cp-show 2   go-team rollback 2
    --- stderr
    ---
    "#);
    assert_snapshot!(repo.run(&["cp-diff", "2", "4", "-v", "--", "docs", "*.bin"]), @r#"
    exit: 0
    --- stdout
    =================================================
    DIFF - 2 → 4
    =================================================
    Old: cp-02-requirements-20251228-210200 (requirements, 2025-12-28 21:02:00)
    New: cp-04-implementation-20251228-210300 (implementation, 2025-12-28 21:03:00)
    STATE CHANGES
      Phase:     requirements → implementation
      Step:      2 - requirements → 4 - implementation
      Iteration: 1 → 3
      ~ current_agent: "analyst" → "coder"
      ~ history.0.ok: true → false
      + history.1: {"stage":"impl"}
      - limits.gone: null
      + limits."new.one": {}
      ~ limits.tokens: 1000 → 2000
    METRICS CHANGES
      Build passes: no → yes
      Lint clean: none → yes
      notes.1: none → "b"
      speed: none → 7
      Coverage: 71.5 % → 82 % (+10.5)
    OUTPUT CHANGES
      ~ architecture: docs/arch.md +2
      ~ code_files: +2 -1
          + c.go
          + d.go
          - a.go
      + extra: {"a":[1]}
      - gone: "x"
      ~ score: 1 → 2
      ~ spec: +2 -1 lines
    FILE CHANGES
      ~ data.bin  binary, 3 → 5 bytes
      ~ docs/arch.md  +2
      2 changed: 2 modified; +2 -0 lines, 1 binary
    GIT COMMITS
      + 06029c43ff 2025-12-28 Write the main \x1b[31mprogram (Somebody)
    Commands:
      go-team cp-diff 2 4 --patch   go-team cp-show 2   go-team rollback 2
    --- stderr
    ---
    "#);
}

#[test]
fn json_has_all_of_it() {
    let repo = eventful();
    assert_snapshot!(repo.run(&["cp-diff", "2", "4", "--json", "--", "main.go", "run.sh"]).pretty(), @r#"
    {
      "command": "cp-diff",
      "data": {
        "commits": {
          "added": [
            {
              "at": "2025-12-28T21:02:00.000Z",
              "author": "Somebody",
              "id": "06029c43ff93cb9ed60e6f51cc3de9851d2ad025",
              "subject": "Write the main \u001b[31mprogram"
            }
          ],
          "new_head": "06029c43ff93cb9ed60e6f51cc3de9851d2ad025",
          "old_head": "af432a220c878bc3085aaf52dbe5b4ceb0136180",
          "removed": []
        },
        "files": {
          "files": [
            {
              "added": 3,
              "new": {
                "id": "21cc57e507d01f5b2e0a91acdfcd55885dd01d75",
                "kind": "file",
                "mode": "100644"
              },
              "old": {
                "id": "c4352f8b46de5cdb88d0cc96958316db42dd2398",
                "kind": "file",
                "mode": "100644"
              },
              "path": "main.go",
              "removed": 1,
              "status": "modified"
            },
            {
              "added": 0,
              "new": {
                "id": "1a2485251c33a70432394c93fb89330ef214bfc9",
                "kind": "executable",
                "mode": "100755"
              },
              "old": {
                "id": "1a2485251c33a70432394c93fb89330ef214bfc9",
                "kind": "file",
                "mode": "100644"
              },
              "path": "run.sh",
              "removed": 0,
              "status": "modified"
            }
          ],
          "totals": {
            "added_lines": 3,
            "binary": 0,
            "copied": 0,
            "created": 0,
            "deleted": 0,
            "modified": 2,
            "removed_lines": 1,
            "renamed": 0
          }
        },
        "lineage": {
          "relation": {
            "kind": "descends"
          },
          "rollbacks": []
        },
        "metrics": [
          {
            "delta": null,
            "kind": "boolean",
            "name": "build_pass",
            "new": true,
            "old": false
          },
          {
            "delta": null,
            "kind": "boolean",
            "name": "lint_clean",
            "new": true,
            "old": null
          },
          {
            "delta": null,
            "kind": "other",
            "name": "notes.1",
            "new": "b",
            "old": null
          },
          {
            "delta": null,
            "kind": "number",
            "name": "speed",
            "new": 7,
            "old": null
          },
          {
            "delta": 10.5,
            "kind": "percentage",
            "name": "test_coverage",
            "new": 82,
            "old": 71.5
          }
        ],
        "new": {
          "id": "cp-04-implementation-20251228-210300",
          "kind": "checkpoint",
          "name": "implementation",
          "number": "4",
          "phase": "implementation",
          "ref": "refs/go-team/auth-system-504f/cp-04-implementation-20251228-210300",
          "step": 4,
          "timestamp": "2025-12-28T21:03:00.000Z",
          "tree": "aaa3d458538bbc9298e7914aad1216e8c1571c9d",
          "valid": true
        },
        "old": {
          "id": "cp-02-requirements-20251228-210200",
          "kind": "checkpoint",
          "name": "requirements",
          "number": "2",
          "phase": "requirements",
          "ref": "refs/go-team/auth-system-504f/cp-02-requirements-20251228-210200",
          "step": 2,
          "timestamp": "2025-12-28T21:02:00.000Z",
          "tree": "a79b2dd84405b7475d572fbb0ef8baa41a834f15",
          "valid": true
        },
        "outputs": [
          {
            "added": [
              "c.go",
              "d.go"
            ],
            "change": "changed",
            "kind": "list",
            "name": "code_files",
            "removed": [
              "a.go"
            ]
          },
          {
            "change": "added",
            "changes": [
              {
                "change": "added",
                "new": {
                  "a": [
                    1
                  ]
                },
                "path": []
              }
            ],
            "kind": "value",
            "name": "extra"
          },
          {
            "change": "removed",
            "changes": [
              {
                "change": "removed",
                "old": "x",
                "path": []
              }
            ],
            "kind": "value",
            "name": "gone"
          },
          {
            "change": "changed",
            "changes": [
              {
                "change": "changed",
                "new": 2,
                "old": 1,
                "path": []
              }
            ],
            "kind": "value",
            "name": "score"
          },
          {
            "change": "changed",
            "kind": "text",
            "lines": {
              "added": 2,
              "removed": 1
            },
            "name": "spec"
          }
        ],
        "session_id": "auth-system-504f",
        "state": {
          "changes": [
            {
              "at": "current_agent",
              "change": "changed",
              "new": "coder",
              "old": "analyst",
              "path": [
                "current_agent"
              ]
            },
            {
              "at": "history.0.ok",
              "change": "changed",
              "new": false,
              "old": true,
              "path": [
                "history",
                0,
                "ok"
              ]
            },
            {
              "at": "history.1",
              "change": "added",
              "new": {
                "stage": "impl"
              },
              "path": [
                "history",
                1
              ]
            },
            {
              "at": "iteration_count",
              "change": "changed",
              "new": 3,
              "old": 1,
              "path": [
                "iteration_count"
              ]
            },
            {
              "at": "limits.gone",
              "change": "removed",
              "old": null,
              "path": [
                "limits",
                "gone"
              ]
            },
            {
              "at": "limits.\"new.one\"",
              "change": "added",
              "new": {},
              "path": [
                "limits",
                "new.one"
              ]
            },
            {
              "at": "limits.tokens",
              "change": "changed",
              "new": 2000,
              "old": 1000,
              "path": [
                "limits",
                "tokens"
              ]
            },
            {
              "at": "metrics.build_pass",
              "change": "changed",
              "new": true,
              "old": false,
              "path": [
                "metrics",
                "build_pass"
              ]
            },
            {
              "at": "metrics.lint_clean",
              "change": "added",
              "new": true,
              "path": [
                "metrics",
                "lint_clean"
              ]
            },
            {
              "at": "metrics.notes.1",
              "change": "added",
              "new": "b",
              "path": [
                "metrics",
                "notes",
                1
              ]
            },
            {
              "at": "metrics.speed",
              "change": "added",
              "new": 7,
              "path": [
                "metrics",
                "speed"
              ]
            },
            {
              "at": "metrics.test_coverage",
              "change": "changed",
              "new": 82,
              "old": 71.5,
              "path": [
                "metrics",
                "test_coverage"
              ]
            },
            {
              "at": "phase",
              "change": "changed",
              "new": "implementation",
              "old": "requirements",
              "path": [
                "phase"
              ]
            }
          ],
          "iteration": {
            "new": 3,
            "old": 1
          },
          "phase": {
            "new": "implementation",
            "old": "requirements"
          },
          "step": {
            "new": {
              "name": "implementation",
              "step": 4
            },
            "old": {
              "name": "requirements",
              "step": 2
            }
          }
        },
        "unfinished": null,
        "warnings": []
      },
      "ok": true,
      "schema_version": 1
    }
    "#);
}

#[test]
fn the_forms_of_git_are_those_of_git() {
    let repo = eventful();
    let (old, new) = refs(&repo);
    for form in ["--stat", "--name-only", "--name-status", "--patch"] {
        for paths in [&[][..], &["docs", "*.go"]] {
            for columns in ["80", "40", "200"] {
                let mut ours = vec!["cp-diff", "2", "4", form, "--"];
                ours.extend(paths);
                let ours = repo.run_env(&[("COLUMNS", columns)], &ours);
                let stat = format!("--stat={columns}");
                let form = if form == "--stat" { &stat } else { form };
                let mut gits = vec!["diff", form, &old, &new, "--"];
                gits.extend(paths);
                assert_eq!(ours.stdout, repo.git(&gits), "{form} {paths:?}");
                assert_eq!((ours.stderr.as_str(), ours.code), ("", Some(0)));
            }
        }
    }
    assert_snapshot!(repo.run_env(&[("COLUMNS", "60")], &["cp-diff", "2", "4", "--stat"]), @r"
    exit: 0
    --- stdout
     copy.go                  |  20 ++++++++++++++++++++
     data.bin                 | Bin 3 -> 5 bytes
     docs/arch.md             |   2 ++
     gone.txt                 |   1 -
     link                     |   2 +-
     main.go                  |   4 +++-
     moved.go => new-place.go |   1 +
     new/file.txt             |   2 ++
     run.sh                   |   0
     was-file                 |   2 +-
     10 files changed, 30 insertions(+), 4 deletions(-)
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["cp-diff", "2", "4", "--name-status"]), @r"
    exit: 0
    --- stdout
    A	copy.go
    M	data.bin
    M	docs/arch.md
    D	gone.txt
    M	link
    M	main.go
    R097	moved.go	new-place.go
    A	new/file.txt
    M	run.sh
    T	was-file
    --- stderr
    ---
    ");
    assert_snapshot!(repo.run(&["cp-diff", "2", "4", "--name-only", "--", "docs"]), @r"
    exit: 0
    --- stdout
    docs/arch.md
    --- stderr
    ---
    ");
}

#[test]
fn git_apply_takes_the_patch() {
    let repo = eventful();
    let (old, new) = refs(&repo);
    // What has no lines is not in such a patch, as with git.
    let patch = repo.ok(&[
        "cp-diff", "2", "4", "--patch", "--", "*.go", "docs", "new", "was-file",
    ]);
    let other = TestRepo::with_commit();
    let place = other.root();
    let listed = repo.git(&["archive", "--format=tar", "-o", "../old.tar", &old]);
    assert_eq!(listed, "");
    let tar = repo.root().join("../old.tar");
    other.git(&["init", "-q"]);
    let unpacked = std::process::Command::new("tar")
        .arg("-xf")
        .arg(tar)
        .current_dir(&place)
        .status();
    assert!(unpacked.unwrap().success());
    std::fs::write(place.join("../change.patch"), &patch.stdout).unwrap();
    other.git(&["apply", "../change.patch"]);
    for path in [
        "main.go",
        "new-place.go",
        "copy.go",
        "docs/arch.md",
        "new/file.txt",
    ] {
        let expected = repo.git(&["show", &format!("{new}:{path}")]);
        assert_eq!(
            std::fs::read_to_string(place.join(path)).unwrap(),
            expected,
            "{path}"
        );
    }
    assert!(!place.join("moved.go").exists());
    assert_eq!(
        std::fs::read_link(place.join("was-file")).unwrap().to_str(),
        Some("docs")
    );
}

#[test]
fn the_work_tree_is_compared_as_it_is_and_nothing_is_written() {
    let repo = eventful();
    repo.write("untracked.txt", "new\n");
    repo.write("main.go", lines(1, 5));
    repo.write("converted.txt", "a\r\nb\r\n");
    repo.write(".gitattributes", "converted.txt text\n");
    std::fs::remove_file(repo.path("run.sh")).unwrap();
    repo.ok(&["state", "set", "metrics.test_coverage=90", "current_step=5"]);
    let objects = repo.git(&["count-objects", "-v"]);
    let before = repo.ok(&["cp-list", "--json"]).stdout;
    assert_snapshot!(repo.run(&["cp-diff", "4"]), @r"
    exit: 0
    --- stdout
    =================================================
    DIFF - 4 → work tree
    =================================================
    Old: cp-04-implementation-20251228-210300 (implementation, 2025-12-28 21:03:00)
    New: the work tree as it is now (branch main, since cp-04-implementation-20251228-210300)
    STATE CHANGES
      Step:      4 - implementation → 5
      + current_step: 5
    METRICS CHANGES
      Coverage: 82 % → 90 % (+8)
    OUTPUT CHANGES
      none
    FILE CHANGES
      + .gitattributes  +1
      + converted.txt  +2
      ~ main.go  -17
      - run.sh  -1, executable
      + untracked.txt  +1
      5 changed: 3 created, 1 modified, 1 deleted; +4 -18 lines
    GIT COMMITS
      none
    Commands:
      go-team cp-diff 4 --patch   go-team cp-show 4   go-team rollback 4
    --- stderr
    ---
    ");
    let patch = repo.run(&["cp-diff", "current", "--patch"]);
    assert_snapshot!(patch, @r"
    exit: 0
    --- stdout
    diff --git a/.gitattributes b/.gitattributes
    new file mode 100644
    index 0000000..0ab7574
    --- /dev/null
    +++ b/.gitattributes
    @@ -0,0 +1 @@
    +converted.txt text
    diff --git a/converted.txt b/converted.txt
    new file mode 100644
    index 0000000..422c2b7
    --- /dev/null
    +++ b/converted.txt
    @@ -0,0 +1,2 @@
    +a
    +b
    diff --git a/main.go b/main.go
    index 21cc57e..94c99a3 100644
    --- a/main.go
    +++ b/main.go
    @@ -3,20 +3,3 @@ line 2
     line 3
     line 4
     line 5
    -line 6
    -line 7
    -line 8
    -line 9
    -line 10
    -changed
    -line 12
    -line 13
    -line 14
    -line 15
    -line 16
    -line 17
    -line 18
    -line 19
    -line 20
    -line 21
    -line 22
    diff --git a/run.sh b/run.sh
    deleted file mode 100755
    index 1a24852..0000000
    --- a/run.sh
    +++ /dev/null
    @@ -1 +0,0 @@
    -#!/bin/sh
    diff --git a/untracked.txt b/untracked.txt
    new file mode 100644
    index 0000000..3e75765
    --- /dev/null
    +++ b/untracked.txt
    @@ -0,0 +1 @@
    +new
    --- stderr
    ---
    ");
    let stat = repo.run(&["cp-diff", "4", "--stat"]).stdout;
    assert_eq!(repo.git(&["count-objects", "-v"]), objects);
    assert_eq!(repo.ok(&["cp-list", "--json"]).stdout, before);
    // A checkpoint made now gives the same.
    repo.ok(&["cp-create", "--step", "5"]);
    assert_eq!(
        repo.run(&["cp-diff", "4", "5", "--patch"]).stdout,
        patch.stdout
    );
    assert_eq!(repo.run(&["cp-diff", "4", "5", "--stat"]).stdout, stat);
}

#[test]
fn a_large_difference_is_bounded_for_people_and_whole_for_programs() {
    let repo = TestRepo::with_commit();
    repo.ok(&["cp-create"]);
    for nth in 0..10_000 {
        let path = repo.path(format!("d{}", nth / 1000));
        if nth % 1000 == 0 {
            std::fs::create_dir(&path).unwrap();
        }
        std::fs::write(path.join(format!("f{nth:05}")), format!("{nth}\n")).unwrap();
    }
    repo.ok(&["cp-create"]);
    let shown = repo.ok(&["cp-diff", "1", "2"]).stdout;
    let files: Vec<&str> = shown
        .lines()
        .filter(|line| line.starts_with("  + d"))
        .collect();
    assert_eq!(files.len(), 50);
    assert!(
        shown.contains("  … and 9950 more (-v shows all)\n"),
        "{shown}"
    );
    assert!(
        shown.contains("  10000 changed: 10000 created; +10000 -0 lines\n"),
        "{shown}"
    );
    let json = repo.ok(&["cp-diff", "1", "2", "--json"]).json();
    assert_eq!(
        json["data"]["files"]["files"].as_array().unwrap().len(),
        10_000
    );
    assert_eq!(
        repo.ok(&["cp-diff", "1", "2", "-v"])
            .stdout
            .matches("  + d")
            .count(),
        10_000
    );
    assert_eq!(
        repo.ok(&["cp-diff", "1", "2", "--name-only"])
            .stdout
            .lines()
            .count(),
        10_000
    );
}

#[test]
fn hostile_names_are_harmless_on_every_page() {
    let repo = TestRepo::with_commit();
    let name = "a\u{1b}[31m\nb\u{202e}c";
    repo.ok(&["cp-create"]);
    repo.write(name, "x\n");
    let value = serde_json::json!({ name: name, "metrics": { name: 1 } }).to_string();
    repo.run_with_input(&["cp-create", "--state", "-"], &value);
    assert_snapshot!(repo.run(&["cp-diff", "1", "2"]), @r#"
    exit: 0
    --- stdout
    =================================================
    DIFF - 1 → 2
    =================================================
    Old: cp-01-checkpoint-20251228-210100 (checkpoint, 2025-12-28 21:01:00)
    New: cp-02-checkpoint-20251228-210200 (checkpoint, 2025-12-28 21:02:00)
    STATE CHANGES
      Step:      1 - checkpoint → 2 - checkpoint
      + a\x1b[31m\nb\u{202e}c: "a\u001b[31m\nb\u202ec"
      - topic: "main"
    METRICS CHANGES
      a\x1b[31m\nb\u{202e}c: none → 1
    OUTPUT CHANGES
      none
    FILE CHANGES
      + "a\033[31m\nb\u{202e}c"  +1
      1 changed: 1 created; +1 -0 lines
    GIT COMMITS
      none
    Commands:
      go-team cp-diff 1 2 --patch   go-team cp-show 1   go-team rollback 1
    --- stderr
    ---
    "#);
    for form in [
        "--stat",
        "--name-only",
        "--name-status",
        "--patch",
        "--json",
        "--state",
    ] {
        let output = repo.run(&["cp-diff", "1", "2", form]);
        let is_bad = |letter: char| (letter.is_control() && letter != '\n') || letter == '\u{202e}';
        let text = output.stdout.replace('\t', " ");
        assert!(!text.contains(is_bad), "{form}: {output}");
    }
}

#[test]
fn narrow_and_wide_terminals() {
    let repo = eventful();
    assert_snapshot!(repo.run_env(&[("COLUMNS", "40")], &["cp-diff", "2", "4"]), @r#"
    exit: 0
    --- stdout
    ========================================
    DIFF - 2 → 4
    ========================================
    Old: cp-02-requirements-20251228-210200…
    New: cp-04-implementation-20251228-2103…
    STATE CHANGES
      Phase:     requirements → implementat…
      Step:      2 - requirements → 4 - imp…
      Iteration: 1 → 3
      ~ current_agent: "analyst" → "coder"
      ~ history.0.ok: true → false
      + history.1: {"stage":"impl"}
      - limits.gone: null
      + limits."new.one": {}
      ~ limits.tokens: 1000 → 2000
    METRICS CHANGES
      Build passes: no → yes
      Lint clean: none → yes
      notes.1: none → "b"
      speed: none → 7
      Coverage: 71.5 % → 82 % (+10.5)
    OUTPUT CHANGES
      ~ architecture: docs/arch.md +2
      ~ code_files: +2 -1
          + c.go
          + d.go
          - a.go
      + extra: {"a":[1]}
      - gone: "x"
      ~ score: 1 → 2
      ~ spec: +2 -1 lines
    FILE CHANGES
      + copy.go (copy of main.go)
      ~ data.bin  binary, 3 → 5 bytes
      ~ docs/arch.md  +2
      - gone.txt  -1
      ~ link  +1 -1, symlink
      ~ main.go  +3 -1
      ~ moved.go → new-p…  +1, 97 % the same
      + new/file.txt  +2
      ~ run.sh  mode 100644 → 100755
      ~ was-file  +1 -1, file → symlink
      10 changed: 2 created, 6 modified, 1 …
    GIT COMMITS
      + 06029c43ff 2025-12-28 Write the mai…
    Commands:
      go-team cp-diff 2 4 --patch
      go-team cp-show 2
      go-team rollback 2
    --- stderr
    ---
    "#);
    let wide = repo
        .run_env(&[("COLUMNS", "200")], &["cp-diff", "2", "4"])
        .stdout;
    assert_eq!(
        wide,
        repo.ok(&["cp-diff", "2", "4"]).stdout,
        "nothing needs more room"
    );
    assert_snapshot!(repo.run_env(&[("COLUMNS", "60"), ("LC_ALL", "C.ISO-8859-1")], &["cp-diff", "2", "4", "--", "docs"]), @r#"
    exit: 0
    --- stdout
    =================================================
    DIFF - 2 -> 4
    =================================================
    Old: cp-02-requirements-20251228-210200 (requirements, 202..
    New: cp-04-implementation-20251228-210300 (implementation,..
    STATE CHANGES
      Phase:     requirements -> implementation
      Step:      2 - requirements -> 4 - implementation
      Iteration: 1 -> 3
      ~ current_agent: "analyst" -> "coder"
      ~ history.0.ok: true -> false
      + history.1: {"stage":"impl"}
      - limits.gone: null
      + limits."new.one": {}
      ~ limits.tokens: 1000 -> 2000
    METRICS CHANGES
      Build passes: no -> yes
      Lint clean: none -> yes
      notes.1: none -> "b"
      speed: none -> 7
      Coverage: 71.5 % -> 82 % (+10.5)
    OUTPUT CHANGES
      ~ architecture: docs/arch.md +2
      ~ code_files: +2 -1
          + c.go
          + d.go
          - a.go
      + extra: {"a":[1]}
      - gone: "x"
      ~ score: 1 -> 2
      ~ spec: +2 -1 lines
    FILE CHANGES
      ~ docs/arch.md  +2
      1 changed: 1 modified; +2 -0 lines
    GIT COMMITS
      + 06029c43ff 2025-12-28 Write the main \x1b[31mprogram (..
    Commands:
      go-team cp-diff 2 4 --patch
      go-team cp-show 2
      go-team rollback 2
    --- stderr
    ---
    "#);
}

/// Makes the session look as if it had been rolled back from step 4 to step 2, with a safety checkpoint in between.
fn roll_back(repo: &TestRepo) {
    repo.ok(&["cp-create", "--step", "4", "stands for a safety checkpoint"]);
    let store = Store::new(repo.store(), Durability::None);
    let name = repo
        .session_dir()
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    let mut manifest = store
        .load_manifest(&SessionId::parse(&name).unwrap())
        .unwrap();
    let ids: Vec<_> = manifest
        .checkpoints()
        .iter()
        .map(|entry| entry.id.clone())
        .collect();
    let id = RollbackId::parse("rb-20251228-230000").unwrap();
    manifest.mark(|checkpoint, validity| {
        if *checkpoint == ids[1] {
            validity.valid = false;
            validity.invalidated_by = Some(id.clone());
        }
    });
    manifest.rollback_history.push(RollbackRecord {
        branches: Vec::new(),
        kind: go_team::model::RollbackKind::Rollback,
        paths: Vec::new(),
        reverses: None,
        from_checkpoint: Some(ids[1].clone()),
        from_step: Some(4),
        id,
        reason: "wrong way".to_owned(),
        safety_checkpoint: ids[2].clone(),
        timestamp: manifest.updated_at,
        to_checkpoint: ids[0].clone(),
        to_step: 2,
        undone_at: None,
    });
    manifest.current_checkpoint = Some(ids[0].clone());
    store.stage_manifest(&manifest).unwrap().publish().unwrap();
}

#[test]
fn across_a_rollback_it_says_so() {
    let repo = eventful();
    roll_back(&repo);
    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    repo.write("second.txt", "another try\n");
    repo.git(&["add", "second.txt"]);
    repo.git(&["commit", "-q", "-m", "Try again"]);
    repo.ok(&["cp-create", "--step", "3"]);
    let head = |output: &str| {
        let kept = |line: &&str| {
            !line.starts_with("  ") || line.contains("20251228") || line.contains("2025-12-28")
        };
        output.lines().filter(kept).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(head(&repo.run(&["cp-diff", "4.1", "3"]).stdout), @r"
    =================================================
    DIFF - 4.1 → 3
    =================================================
    Old: cp-04-implementation-20251228-210300 (implementation, 2025-12-28 21:03:00, invalid)
    New: cp-03-architecture-20251228-210500 (architecture, 2025-12-28 21:05:00)
    They are on different branches, which part at cp-02-requirements-20251228-210200 (2).
    Across rollback rb-20251228-230000 (2025-12-28 21:04:00): from step 4 back to step 2: wrong way
    STATE CHANGES
    METRICS CHANGES
    OUTPUT CHANGES
    FILE CHANGES
    GIT COMMITS
      + 64749d68dc 2025-12-28 Try again (Somebody)
      - 06029c43ff 2025-12-28 Write the main \x1b[31mprogram (Somebody)  (rolled away)
    Commands:
    ");
    assert_snapshot!(head(&repo.run(&["cp-diff", "2", "3"]).stdout), @r"
    =================================================
    DIFF - 2 → 3
    =================================================
    Old: cp-02-requirements-20251228-210200 (requirements, 2025-12-28 21:02:00)
    New: cp-03-architecture-20251228-210500 (architecture, 2025-12-28 21:05:00)
    Across rollback rb-20251228-230000 (2025-12-28 21:04:00): from step 4 back to step 2: wrong way
    STATE CHANGES
    METRICS CHANGES
    OUTPUT CHANGES
    FILE CHANGES
    GIT COMMITS
      + 64749d68dc 2025-12-28 Try again (Somebody)
      - 06029c43ff 2025-12-28 Write the main \x1b[31mprogram (Somebody)  (rolled away)
    Commands:
    ");
    assert_snapshot!(head(&repo.run(&["cp-show", "4.1"]).stdout), @r"
    =================================================
    CHECKPOINT - cp-04-implementation-20251228-210300
    =================================================
    Step:        4 - implementation
    Number:      4.1 (seq 2)
    Status:      ✗ invalid
                 left behind by rb-20251228-230000 (2025-12-28 21:04:00, from step 4 back to step 2: wrong way)
    Phase:       implementation
    Trigger:     manual
    Created:     2025-12-28 21:03:00
    Session:     auth-system-504f
    Parent:      cp-02-requirements-20251228-210200 (2)
    Children:    cp-04-implementation-20251228-210400 (4)
    State
    Outputs
    Files
    Git
    Resume
    Validation
    With git
      git show refs/go-team/auth-system-504f/cp-04-implementation-20251228-210300:copy.go
      git diff refs/go-team/auth-system-504f/cp-02-requirements-20251228-210200 refs/go-team/auth-system-504f/cp-04-implementation-20251228-210300
      git diff refs/go-team/auth-system-504f/cp-04-implementation-20251228-210300
    ");
    let json = repo.ok(&["cp-diff", "4.1", "3", "--json"]).json();
    let lineage = &json["data"]["lineage"];
    assert_eq!(lineage["relation"]["kind"], "branches");
    assert_eq!(lineage["branch_number"], "2");
    assert_eq!(lineage["rollbacks"][0]["id"], "rb-20251228-230000");
}

#[test]
fn mistakes_say_what_to_type() {
    let repo = eventful();
    assert_snapshot!(repo.run(&["cp-diff", "2", "9"]), @r"
    exit: 4
    --- stdout
    --- stderr
    error: no checkpoint is meant by 9
    hint: there is: 4 (cp-04-implementation-20251228-210300), 2 (cp-02-requirements-20251228-210200)
    hint: go-team cp-list
    ---
    ");
    assert_snapshot!(repo.run(&["cp-diff", "2", "4", "--", "../x"]), @r#"
    exit: 2
    --- stdout
    --- stderr
    error: "../x" is outside of the work tree
    hint: paths after -- are files, directories or patterns such as 'src/*.go', within the work tree
    ---
    "#);
    assert_snapshot!(repo.run(&["cp-diff", "2", "4", "--stat", "--patch"]), @r"
    exit: 2
    --- stdout
    --- stderr
    error: the argument '--stat' cannot be used with '--patch'

    Usage: go-team cp-diff --stat <A> <B> [-- <PATH>...]

    For more information, try '--help'.
    ---
    ");
    repo.ok(&["cp-create", "--step", "5", "--no-git"]);
    assert_snapshot!(repo.run(&["cp-diff", "4", "5", "-q"]), @r"
    exit: 0
    --- stdout
    STATE CHANGES
      Phase:     implementation → testing
      Step:      4 - implementation → 5 - testing
    METRICS CHANGES
      none
    OUTPUT CHANGES
      none
    FILE CHANGES
      not captured
    GIT COMMITS
      not known
    --- stderr
    warning: cp-05-testing-20251228-210700 has no files to compare
    ---
    ");
    std::fs::write(
        repo.session_dir()
            .join("cp-04-implementation-20251228-210300.json"),
        "{",
    )
    .unwrap();
    assert_snapshot!(repo.run(&["cp-diff", "2", "4", "-q", "--", "docs"]), @r"
    exit: 0
    --- stdout
    STATE CHANGES
      not known
    METRICS CHANGES
      not known
    OUTPUT CHANGES
      not known
    FILE CHANGES
      ~ docs/arch.md  +2
      1 changed: 1 modified; +2 -0 lines
    GIT COMMITS
      not known
    --- stderr
    warning: $TMP/work/.git/go-team/sessions/auth-system-504f/cp-04-implementation-20251228-210300.json is damaged: unexpected end at line 1 column 2
    ---
    ");
}
