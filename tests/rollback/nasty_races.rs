//! Others at work while a rollback is: it is kept waiting at one of its calls, and something else happens.

use std::fs;
use std::process::Command;

use super::kills;
use super::photo::Photo;
use super::recoverable::assert_recoverable;
use super::scene::Scene;
use super::support::Output;
use super::sweep::trace;
use super::tracer::{Point, Verdict};

/// Runs a rollback, and something else when the middle of its work on files is reached.
fn amid(scene: &Scene, mut meanwhile: impl FnMut()) -> super::tracer::Traced {
    let in_work_tree = |point: &Point| !point.path.iter().any(|part| part == ".git");
    let count = trace(&scene.repo.copy(), &["rollback", "1", "--yes"], |_| {
        Verdict::Go
    });
    let count = count
        .points
        .iter()
        .filter(|point| in_work_tree(point))
        .count();
    assert!(count > 4, "a rollback that writes files");
    let mut seen = 0;
    let traced = trace(&scene.repo, &["rollback", "1", "--yes"], |point| {
        if in_work_tree(point) {
            seen += 1;
            if seen == count / 2 {
                meanwhile();
            }
        }
        Verdict::Go
    });
    assert!(seen >= count / 2);
    traced
}

#[test]
fn nasty_13_a_checkpoint_while_a_rollback_runs() {
    let scene = Scene::lived_in();
    let golden = scene.repo.copy();
    golden.ok(&["rollback", "1", "--yes"]);
    let lines = scene.ledger().lines.len();
    let mut outputs: Vec<Output> = Vec::new();
    let traced = amid(&scene, || {
        let at_once = [("GO_TEAM_LOCK_TIMEOUT_SECONDS", "0")];
        for args in [
            &["cp-create", "meanwhile"][..],
            &["rollback", "2", "--yes"],
            &["undo", "--yes"],
            &["rollback", "--abort"],
            &["rollback", "--continue"],
            &["state", "set", "a=1"],
        ] {
            outputs.push(scene.repo.run_env(&at_once, args));
        }
        for args in [&["status"][..], &["cp-list"]] {
            let output = scene.repo.run(args);
            assert_eq!(output.code, Some(0), "{output}");
        }
    });
    assert_eq!(traced.code, Some(0), "{traced:#?}");
    for output in &outputs {
        assert_eq!(output.code, Some(6), "{output}");
    }
    assert_eq!(outputs.len(), 6);
    Photo::of(&golden).assert_same(&scene.now(), "nobody was disturbed");
    assert_eq!(
        scene.ledger().lines.len(),
        lines + 1,
        "the safety checkpoint"
    );
}

#[test]
fn nasty_13_a_checkpoint_waits_for_a_rollback() {
    let scene = Scene::lived_in();
    let mut waiting = None;
    let traced = amid(&scene, || {
        let mut command = scene.repo.go_team();
        command.args(["cp-create", "--quiet", "after it"]);
        let command = command.stdout(std::process::Stdio::piped());
        waiting = Some(command.spawn().unwrap());
        std::thread::sleep(std::time::Duration::from_millis(200));
    });
    assert_eq!(traced.code, Some(0), "{traced:#?}");
    let output = waiting.unwrap().wait_with_output().unwrap();
    assert!(output.status.success());
    let id = String::from_utf8(output.stdout).unwrap();
    let ledger = scene.ledger();
    assert_eq!(
        ledger.line(id.trim_end()).parent.as_deref(),
        Some(scene.id(1))
    );
}

#[test]
fn nasty_16_a_file_edited_while_others_are_written_is_not_lost() {
    // Files that are rewritten, deleted, and not touched by the rollback at all.
    for path in [
        "src/lib.rs",
        "fresh/work.txt",
        "notes/untracked.txt",
        "README.md",
        "brand-new.txt",
    ] {
        let stage = kills::rollback();
        let mut is_done = false;
        let text = format!("edited meanwhile: {path}\n");
        let first = stage.work_tree_points()[0];
        let traced = trace(&stage.repo, &["rollback", "1", "--yes"], |point| {
            // The last moment at which nothing of the work tree has changed.
            if point.nth == first && !is_done {
                is_done = true;
                stage.repo.write(path, &text);
            }
            Verdict::Go
        });
        assert!(is_done);
        let mut edited = stage.before.clone();
        let item = super::photo::Item::File {
            bytes: text.into_bytes(),
            mode: 0o644,
        };
        edited.files.insert(path.as_bytes().to_vec(), item);
        let now = Photo::of(&stage.repo);
        let what = format!(
            "{path}: {:?}\n{}{}",
            traced.code, traced.stdout, traced.stderr
        );
        assert_recoverable(&stage.repo, &edited, &now, &what);
        // And the next command is not blocked.
        let next = stage.repo.run(&["cp-create"]);
        assert_eq!(next.code, Some(0), "{what}\n{next}");
        assert_recoverable(&stage.repo, &edited, &Photo::of(&stage.repo), &what);
    }
}

#[test]
fn a_commit_of_the_users_while_a_rollback_runs_is_not_lost() {
    let scene = Scene::lived_in();
    let mut commit = None;
    let traced = amid(&scene, || {
        let mut command = super::process::git(&scene.repo, &scene.repo.root());
        command.args(["commit", "-q", "--allow-empty", "-m", "meanwhile"]);
        // An index that is locked makes git refuse, which is as good.
        if command.output().unwrap().status.success() {
            commit = Some(scene.repo.git(&["rev-parse", "HEAD"]));
        }
    });
    let Some(commit) = commit else {
        assert_eq!(traced.code, Some(0), "{traced:#?}");
        return;
    };
    // The branch is not where the plan was made for: it is not moved over the commit.
    assert!(traced.code.is_some_and(|code| code != 0), "{traced:#?}");
    let held = scene.repo.git(&["rev-list", "--all"]);
    assert!(held.contains(commit.trim_end()), "{traced:#?}");
    let next = scene.repo.run(&["cp-create"]);
    assert_eq!(next.code, Some(0), "{next}");
    let held = scene.repo.git(&["rev-list", "--all"]);
    assert!(held.contains(commit.trim_end()), "{next}");
}

/// A small disk of its own, where the kernel lets somebody without privileges mount one.
const SMALL_DISK: &str = r#"
set -e
mount -t tmpfs -o size=6m,nr_inodes=20k small "$DISK"
cd "$DISK"
git init -q -b main work; cd work
git config user.name s; git config user.email s@example.org
echo one > file; head -c 600000 /dev/urandom > large
"$GO_TEAM" cp-create -q
rm large; echo two > file; mkdir dir; echo work > dir/work
git add file; git commit -q -m two
# Leave less room than the large file needs.
room=$(df --output=avail -B1 . | tail -1)
head -c $((room - 200000)) /dev/zero > ../ballast
list() { find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum; git rev-parse HEAD; git ls-files -s; }
list > /dev/shm/go-team-before.$$
code=0; "$GO_TEAM" rollback 1 --yes > /dev/shm/go-team-said.$$ 2>&1 || code=$?
list > /dev/shm/go-team-after.$$
echo "code $code"; cat /dev/shm/go-team-said.$$
cmp /dev/shm/go-team-before.$$ /dev/shm/go-team-after.$$ && echo unchanged
rm ../ballast
"$GO_TEAM" rollback 1 --yes -q && echo "works with room"
cat file; wc -c < large
rm -f /dev/shm/go-team-*.$$
"#;

#[test]
fn nasty_07_a_small_disk_that_is_really_full() {
    let dir = tempfile::tempdir().unwrap();
    let disk = dir.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount"]);
    command.args(["sh", "-c", SMALL_DISK]);
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap());
    command.env("HOME", dir.path()).env("DISK", &disk);
    command.env("GO_TEAM", env!("CARGO_BIN_EXE_go-team"));
    command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null");
    let Ok(output) = command.output() else {
        eprintln!("skipped: there is no unshare here");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.contains("unshare failed")
        || errors.contains("mount:")
        || errors.contains("Operation not permitted")
    {
        eprintln!("skipped: no disk of its own without privileges here: {errors}");
        return;
    }
    assert!(output.status.success(), "{said}\n{errors}");
    assert!(!said.contains("code 0"), "{said}");
    assert!(
        said.contains("unchanged"),
        "refused before the first deletion: {said}"
    );
    assert!(
        said.ends_with("works with room\none\n600000\n"),
        "{said}\n{errors}"
    );
}

#[test]
fn nasty_07_the_plan_tells_how_much_room_is_needed() {
    let mut scene = Scene::new();
    scene.repo.write("large.bin", vec![7; 3_000_000]);
    scene.take();
    scene.repo.remove("large.bin");
    let told = scene
        .repo
        .ok(&["rollback", "1", "--dry-run", "--json"])
        .json();
    let needed = told["data"]["plan"]["bytes_needed"].as_u64().unwrap();
    assert!((3_000_000..6_000_000).contains(&needed), "{needed}");
}
