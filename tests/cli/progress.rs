//! Signs of life while a scan takes long: on a terminal, after half a second, gone when it is over. The scan takes as
//! long as the test wants, since a filter program waits for it.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use super::pty::Terminal;
use super::support::TestRepo;

const BAR: &str = "files looked at";

/// Longer than the patience of whoever watches, by far.
const LONG: Duration = Duration::from_millis(1500);

/// Runs go-team on a terminal on which a line can be cleared.
fn run(repo: &TestRepo, args: &[&str]) -> Terminal {
    let go_team = repo.go_team();
    Terminal::start(repo, go_team.get_program(), args, "xterm")
}

/// A file whose filter says that it began, and waits until it is told to go on.
fn held_up() -> TestRepo {
    let repo = TestRepo::with_commit();
    repo.write(".gitattributes", "*.slow filter=slow\n");
    repo.write("a.slow", "slow\n");
    let wait = ">.git/began; while test ! -e .git/go-on; do sleep 0.05; done; cat";
    repo.git(&["config", "filter.slow.clean", wait]);
    repo
}

/// Lets the scan take long from where it is held up.
fn release(repo: &TestRepo) {
    let limit = Instant::now() + Duration::from_secs(30);
    while !repo.path(".git/began").exists() {
        assert!(Instant::now() < limit, "the filter does not begin");
        thread::sleep(Duration::from_millis(10));
    }
    thread::sleep(LONG);
    fs::write(repo.path(".git/go-on"), "").unwrap();
}

#[test]
fn a_long_scan_shows_how_far_it_is_and_leaves_nothing_behind() {
    let repo = held_up();
    let mut terminal = run(&repo, &["cp-create"]);
    release(&repo);
    assert!(terminal.end().success(), "{}", terminal.shown);
    let shown = &terminal.shown;
    let (_, after) = shown.rsplit_once(BAR).expect(shown);
    let (cleared, answer) = after.split_once("Checkpoint created").expect(shown);
    assert!(cleared.contains("\u{1b}[2K"), "{shown:?}");
    assert!(answer.contains("Commit:"), "{shown:?}");
}

#[test]
fn a_terminal_that_cannot_clear_a_line_gets_none() {
    let repo = held_up();
    let mut terminal = Terminal::run(&repo, &["cp-create"]);
    release(&repo);
    assert!(terminal.end().success(), "{}", terminal.shown);
    let shown = &terminal.shown;
    assert!(
        !shown.contains(BAR) && !shown.contains('\u{1b}'),
        "{shown:?}"
    );
}

#[test]
fn a_short_scan_shows_nothing() {
    for _ in 0..20 {
        let repo = TestRepo::with_commit();
        let began = Instant::now();
        let mut terminal = run(&repo, &["cp-create"]);
        assert!(terminal.end().success(), "{}", terminal.shown);
        // On a busy machine a short scan may be a long one: then it proves nothing.
        if began.elapsed() < Duration::from_millis(500) {
            assert!(!terminal.shown.contains(BAR), "{:?}", terminal.shown);
            return;
        }
    }
    panic!("each of twenty scans of a few files took half a second");
}

#[test]
fn without_a_terminal_or_when_asked_for_quiet_nothing_is_shown() {
    for args in [&["cp-create"][..], &["cp-create", "--json"]] {
        let repo = held_up();
        let mut command = repo.go_team();
        command.args(args);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = child.stdin(Stdio::null()).spawn().unwrap();
        release(&repo);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        for stream in [output.stdout, output.stderr] {
            let text = String::from_utf8(stream).unwrap();
            assert!(!text.contains(BAR) && !text.contains('\u{1b}'), "{text:?}");
        }
    }
    for flag in ["-q", "--json"] {
        let repo = held_up();
        let mut terminal = run(&repo, &["cp-create", flag]);
        release(&repo);
        assert!(terminal.end().success(), "{}", terminal.shown);
        assert!(!terminal.shown.contains(BAR), "{:?}", terminal.shown);
    }
}
