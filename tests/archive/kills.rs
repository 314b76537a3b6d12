//! Killed at any instant: a session comes in whole or not at all, an archive is complete or not there, and doing it
//! again works.

use std::fs;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::check;
use crate::place::{clone_of, export, import_ok, refs};
use crate::process;
use crate::support::TestRepo;

/// A number that differs from run to run, and comes again when the seed that was printed is given.
fn seed() -> u64 {
    let given = std::env::var("PROMISES_SEED").ok();
    let given = given.map(|seed| seed.parse().expect("PROMISES_SEED is a number"));
    let fresh = || {
        let hasher = std::collections::hash_map::RandomState::new().build_hasher();
        hasher.finish() | 1
    };
    let seed = given.unwrap_or_else(fresh);
    println!("PROMISES_SEED={seed}");
    seed
}

/// A delay shorter than `limit`.
fn roll(dice: &mut u64, limit: Duration) -> Duration {
    *dice ^= *dice << 13;
    *dice ^= *dice >> 7;
    *dice ^= *dice << 17;
    let limit = u64::try_from(limit.as_micros()).unwrap().max(1);
    Duration::from_micros(*dice % limit)
}

fn rounds(default: u32) -> u32 {
    let asked = std::env::var("PROMISES_ROUNDS").ok();
    asked.map_or(default, |asked| asked.parse().expect("a number of rounds"))
}

/// Starts a command and kills it; says whether it had come to its end.
fn kill_after(mut command: Command, delay: Duration) -> bool {
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    thread::sleep(delay.saturating_sub(started.elapsed()));
    let _ = child.kill();
    child.wait().unwrap().success()
}

fn nothing_half_done(repo: &TestRepo) {
    check::no_residue(&repo.path(".git"));
    let left: Vec<PathBuf> = check::below(&repo.path(".git"))
        .into_iter()
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.contains("tmp-") || name == "import.json"
        })
        .collect();
    assert!(left.is_empty(), "left behind: {left:#?}");
}

#[test]
fn an_import_is_absent_or_complete() {
    let mut dice = seed();
    let source = TestRepo::with_checkpoints();
    let file = export(&source, &[]);
    let repo = clone_of(&source);
    repo.ok(&["start", "own work"]);
    let mut usual = Duration::from_millis(60);
    let (mut killed, mut came_in) = (0, 0);
    for round in 0..rounds(14) {
        let name = format!("life-{round}");
        let args = ["cp-import", file.to_str().unwrap(), "--as", &name];
        let mut command = process::go_team(&repo, &repo.root());
        command.args(args);
        let done = kill_after(command, roll(&mut dice, usual * 5 / 4));
        let dir = repo.store().join("sessions").join(&name);
        let was_there = dir.exists();
        if was_there {
            // Nobody ever sees half of a session, also before the next command cleans up.
            assert!(dir.join("manifest.json").exists() && dir.join("state.json").exists());
            let listed = process::git(&repo, &repo.root())
                .args(["for-each-ref", &format!("refs/go-team/{name}/")])
                .output()
                .unwrap();
            assert_eq!(String::from_utf8(listed.stdout).unwrap().lines().count(), 2);
        }
        assert!(was_there || !done, "what was acknowledged is there");
        killed += u32::from(!done);
        came_in += u32::from(was_there);
        if round % 2 == 0 {
            // Any command that writes clears away.
            let mut next = process::go_team(&repo, &repo.root());
            next.args(["cp-create", "--quiet", "--trigger", "auto"]);
            process::succeed(next);
            nothing_half_done(&repo);
            check::complete(&repo, &repo.root());
        }
        let mut again = process::go_team(&repo, &repo.root());
        again.args(args);
        let started = Instant::now();
        let output = again.output().unwrap();
        if was_there {
            assert_eq!(output.status.code(), Some(1), "{}", process::text(&output));
        } else {
            assert!(output.status.success(), "{}", process::text(&output));
            usual = started.elapsed().min(Duration::from_secs(1));
        }
        if was_there && !done {
            let mut next = process::go_team(&repo, &repo.root());
            next.args(["cp-create", "--quiet", "--trigger", "auto"]);
            process::succeed(next);
        }
        nothing_half_done(&repo);
        let sessions = check::complete(&repo, &repo.root());
        let imported = sessions
            .iter()
            .find(|one| one.manifest.session_id.as_str() == name);
        assert_eq!(imported.unwrap().records.len(), 2);
    }
    println!("{killed} killed, {came_in} came in all the same");
    assert!(killed > 0, "the delays are too long to kill anything");
}

/// Where a session's directory is kept while it is not there.
fn hide(repo: &TestRepo, name: &str) -> (PathBuf, PathBuf) {
    let dir = repo.store().join("sessions").join(name);
    (dir, repo.home().join("hidden"))
}

/// The journal of an import of everything below a session's refs.
fn journal(repo: &TestRepo, name: &str, keep: &Path) -> String {
    let format = "--format=\"%(refname:lstrip=3)\": \"%(objectname)\"";
    let refs = repo.git(&["for-each-ref", format, &format!("refs/go-team/{name}/")]);
    let refs = refs.trim_end().replace('\n', ",");
    let keep = keep.file_stem().unwrap().to_str().unwrap();
    format!(
        "{{\"version\": 1, \"session\": \"{name}\", \"started_at\": \"2025-12-28T21:00:00.000Z\", \
         \"keep\": [\"{keep}\"], \"refs\": {{{refs}}}}}\n"
    )
}

#[test]
fn what_a_cut_short_import_left_is_taken_back_or_finished() {
    let source = TestRepo::with_checkpoints();
    let file = export(&source, &[]);
    let repo = clone_of(&source);
    import_ok(&repo, &file, &[]);
    let name = repo.session_of("auth system");
    let complete = refs(&repo);
    let packs = fs::read_dir(repo.path(".git/objects/pack")).unwrap();
    let pack = packs
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().unwrap() == "pack");
    let keep = pack.unwrap().with_extension("keep");
    let left = journal(&repo, &name, &keep);
    let (dir, hidden) = hide(&repo, &name);
    // Refs without a session: the instant before the last step.
    fs::rename(&dir, &hidden).unwrap();
    fs::write(repo.store().join("import.json"), &left).unwrap();
    fs::write(&keep, b"").unwrap();
    let made = repo.ok(&["cp-create", "own"]);
    assert!(
        made.stderr
            .contains(&format!("before its session {name} was there")),
        "{made}"
    );
    assert!(!refs(&repo).contains(&name), "{}", refs(&repo));
    nothing_half_done(&repo);
    // The same again, and the import itself clears away.
    import_ok(&repo, &file, &[]);
    let (dir, hidden) = (dir, repo.home().join("hidden-2"));
    fs::rename(&dir, &hidden).unwrap();
    fs::write(repo.store().join("import.json"), &left).unwrap();
    let again = import_ok(&repo, &file, &[]);
    assert!(
        again.stderr.contains("what it left is cleared away"),
        "{again}"
    );
    nothing_half_done(&repo);
    // A ref that is not the journal's stays, whoever made it.
    fs::rename(&dir, repo.home().join("hidden-3")).unwrap();
    fs::write(repo.store().join("import.json"), &left).unwrap();
    let foreign = format!("refs/go-team/{name}/foreign");
    repo.git(&["update-ref", &foreign, "HEAD"]);
    repo.ok(&["cp-create"]);
    assert!(refs(&repo).contains(&foreign));
    repo.git(&["update-ref", "-d", &foreign]);
    import_ok(&repo, &file, &[]);
    // The session is there: the instant after the last step.
    fs::write(repo.store().join("import.json"), &left).unwrap();
    fs::write(&keep, b"").unwrap();
    let made = repo.ok(&["cp-create"]);
    assert!(
        made.stderr
            .contains(&format!("its session {name} is complete")),
        "{made}"
    );
    for line in complete.lines() {
        assert!(refs(&repo).contains(line));
    }
    nothing_half_done(&repo);
}

#[test]
fn an_export_is_absent_or_complete() {
    let mut dice = seed();
    let repo = TestRepo::with_checkpoints();
    let other = clone_of(&repo);
    let exports = repo.session_dir().join("exports");
    let mut usual = Duration::from_millis(40);
    let mut killed = 0;
    for _ in 0..rounds(14) {
        let mut command = process::go_team(&repo, &repo.root());
        command.arg("cp-export");
        killed += u32::from(!kill_after(command, roll(&mut dice, usual * 5 / 4)));
        let started = Instant::now();
        let mut again = process::go_team(&repo, &repo.root());
        again.args(["cp-export", "--quiet"]);
        process::succeed(again);
        usual = started.elapsed().min(Duration::from_secs(1));
        nothing_half_done(&repo);
        for entry in fs::read_dir(&exports).unwrap() {
            let mut look = process::go_team(&other, &other.root());
            look.arg("cp-import")
                .arg(entry.unwrap().path())
                .arg("--dry-run");
            process::succeed(look);
        }
        fs::remove_dir_all(&exports).unwrap();
    }
    assert!(killed > 0, "the delays are too long to kill anything");
}
