//! An imported session is as good as the one it came from: it validates to the last object, and rollback works there.

use std::fs;

use crate::place::{clone_of, export, import_ok, rich};
use crate::support::TestRepo;

/// What a checkpoint made now would record of files, index and HEAD.
fn picture(repo: &TestRepo, session: &str) -> Vec<serde_json::Value> {
    let made = repo
        .ok(&["cp-create", "--json", "--session", session])
        .json();
    let git = &made["data"]["record"]["git"];
    ["tree", "index_tree", "head"]
        .map(|field| git[field].clone())
        .to_vec()
}

fn session_of(repo: &TestRepo) -> String {
    let dir = repo.session_dir();
    dir.file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn it_validates_deeply_and_rolls_back() {
    for more in [&[][..], &["--as", "elsewhere"]] {
        let repo = rich();
        let file = export(&repo, &[]);
        for other in [clone_of(&repo), TestRepo::new()] {
            import_ok(&other, &file, more);
            let session = session_of(&other);
            let of_session = ["--session", session.as_str()];
            let run = |args: &[&str]| other.ok(&[args, &of_session].concat());
            let validated = run(&["cp-validate", "--deep", "--json"]).json();
            assert_eq!(validated["ok"], true, "{validated}");
            other.write("mine.txt", "not of the session\n");
            run(&["rollback", "3", "--yes"]);
            assert_eq!(fs::read(other.path("crlf.txt")).unwrap(), b"a\r\nb\r\n");
            assert!(other.path("empty").is_dir());
            assert!(!other.path("mine.txt").exists());
            let there = picture(&other, &session);
            let here = TestRepo::copy(&repo);
            here.ok(&["rollback", "3", "--yes"]);
            assert_eq!(there, picture(&here, &session_of(&here)));
            // Everything as it was before the rollback comes back as well.
            run(&["undo", "--yes"]);
            assert_eq!(
                fs::read(other.path("mine.txt")).unwrap(),
                b"not of the session\n"
            );
            let validated = run(&["cp-validate", "--deep", "--json"]).json();
            assert_eq!(validated["ok"], true, "{validated}");
        }
    }
}
