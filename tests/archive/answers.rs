//! What a user sees of exports and imports, as text and as JSON.

use insta::assert_snapshot;

use crate::place::{clone_of, export, import, import_ok};
use crate::support::{Output, TestRepo};

/// Without what depends on how a library compresses.
fn steady(output: Output) -> Output {
    let mut stdout = String::new();
    for line in output.stdout.lines() {
        let kept = ["  Size: ", "  SHA-256: "]
            .iter()
            .find(|start| line.starts_with(**start));
        match (kept, line.rsplit_once(", ")) {
            (Some(start), _) => stdout += &format!("{start}…\n"),
            (None, Some((start, size))) if size.ends_with(" bytes") => {
                stdout += &format!("{start}, … bytes\n");
            }
            _ => stdout += &format!("{line}\n"),
        }
    }
    Output { stdout, ..output }
}

#[test]
fn cp_export_says_where_and_what() {
    let repo = TestRepo::with_checkpoints();
    assert_snapshot!(steady(repo.run(&["cp-export"])), @r"
    exit: 0
    --- stdout
    ✓ Session exported: auth-system-504f
      File: $TMP/work/.git/go-team/sessions/auth-system-504f/exports/checkpoint-export-20251228-210400.tar.gz
      Size: …
      SHA-256: …
      Contents:
        2 checkpoints, manifest and state
        0 rollbacks
        git bundle: 2 refs, 19 objects, … bytes
    Commands:
      go-team cp-import $TMP/work/.git/go-team/sessions/auth-system-504f/exports/checkpoint-export-20251228-210400.tar.gz
    --- stderr
    ---
    ");
    assert_snapshot!(steady(repo.run(&["cp-export", "1", "--no-git", "-o", "one.tar.gz"])), @r"
    exit: 0
    --- stdout
    ✓ Session exported: auth-system-504f
      File: $TMP/work/one.tar.gz
      Size: …
      SHA-256: …
      Contents:
        1 of 2 checkpoints, manifest and state
        0 rollbacks
        no git data
    Commands:
      go-team cp-import $TMP/work/one.tar.gz
    --- stderr
    warning: the archive has no git data: its checkpoints can be looked at elsewhere, not rolled back to
    ---
    ");
    let json = repo.ok(&["cp-export", "--json"]).json();
    let data = &json["data"];
    assert_eq!(data["session_id"], "auth-system-504f");
    assert_eq!(data["checkpoints"][1], "cp-02-requirements-20251228-210300");
    assert_eq!(data["bundle"]["refs"], 2);
    let objects = repo.git(&["rev-list", "--objects", "--glob=refs/go-team"]);
    assert_eq!(data["bundle"]["objects"], objects.lines().count());
    assert_eq!(data["contents"][0]["name"], "contents.json");
    assert_eq!(data["contents"][6]["name"], "checkpoints.bundle");
    assert_eq!(data["contents"][6]["size"], data["bundle"]["size"]);
    assert_eq!(data["left_out"], 0);
    let file = data["file"]
        .as_str()
        .unwrap()
        .replace("$TMP", repo.home().parent().unwrap().to_str().unwrap());
    let bytes = std::fs::read(file).unwrap();
    assert_eq!(data["size"], bytes.len());
    assert_eq!(
        data["sha256"],
        go_team::model::Sha256Digest::of(&bytes).to_string()
    );
}

#[test]
fn cp_import_says_what_came_in() {
    let repo = TestRepo::with_checkpoints();
    let file = export(&repo, &[]);
    let here = clone_of(&repo);
    let moved = here.home().join("auth.tar.gz");
    std::fs::copy(file, &moved).unwrap();
    assert_snapshot!(steady(import(&here, &moved, &["--dry-run"])), @r"
    exit: 0
    --- stdout
    Session that would be imported: auth-system-504f
      Topic: auth system
      Workflow: go-team
      Status: active
      File: $TMP/home/auth.tar.gz
      Size: …
      SHA-256: …
      Contents: 2 checkpoints, 19 git objects
      Refs: 2 new ones
    Commands:
      go-team cp-import $TMP/home/auth.tar.gz
    --- stderr
    ---
    ");
    assert_snapshot!(steady(import(&here, &moved, &[])), @r"
    exit: 0
    --- stdout
    ✓ Session imported: auth-system-504f
      Topic: auth system
      Workflow: go-team
      Status: active
      File: $TMP/home/auth.tar.gz
      Size: …
      SHA-256: …
      Contents: 2 checkpoints, 19 git objects
      Refs: 2 new ones
    Commands:
      go-team cp-list --session auth-system-504f   go-team cp-show latest --session auth-system-504f
    --- stderr
    ---
    ");
    assert_snapshot!(import(&here, &moved, &[]), @r"
    exit: 1
    --- stdout
    --- stderr
    error: there is a session auth-system-504f already
    hint: go-team cp-import FILE --as NAME brings it in under another name
    hint: go-team sessions lists what is there
    ---
    ");
    assert_eq!(
        import_ok(&here, &moved, &["--as", "copy", "-q"]).stdout,
        "copy\n"
    );
    let bytes = std::fs::read(&moved).unwrap();
    std::fs::write(&moved, &bytes[..bytes.len() / 2]).unwrap();
    assert_snapshot!(import(&here, &moved, &[]), @r"
    exit: 3
    --- stdout
    --- stderr
    error: $TMP/home/auth.tar.gz is refused, and nothing of it was written: it is cut short
    hint: export it again where it comes from: go-team cp-export
    ---
    ");
    assert_snapshot!(import(&here, &moved, &["--json"]).pretty(), @r#"
    {
      "command": "cp-import",
      "error": {
        "hints": [
          "export it again where it comes from: go-team cp-export"
        ],
        "kind": "archive-refused",
        "message": "$TMP/home/auth.tar.gz is refused, and nothing of it was written: it is cut short"
      },
      "ok": false,
      "schema_version": 1
    }
    "#);
}
