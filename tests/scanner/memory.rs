//! What a scan needs of memory: nodes for its files, never a large file's content.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::property::is_long_run;
use super::repo::TestRepo;

/// What the design allows for 100,000 files, in kB.
const MOST: u64 = 150 * 1024;

/// Makes a checkpoint in a process of its own; the most memory it had, in kB. Linux keeps count.
fn peak_of_checkpoint(repo: &TestRepo) -> u64 {
    let mut child = Command::new(env!("CARGO_BIN_EXE_go-team"))
        .args(["cp-create", "--json"])
        .current_dir(repo.root())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", repo.home())
        .env("GO_TEAM_DURABILITY_SYNC", "false")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let file = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        let text = fs::read_to_string(&file).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        peak = peak.max(number.unwrap_or(0));
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            return peak;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn assert_within(most: u64, peak: u64) {
    assert!(
        !cfg!(target_os = "linux") || peak > 0,
        "it was not measured"
    );
    assert!(peak < most, "{peak} kB");
}

#[test]
fn a_large_file_does_not_enter_memory() {
    let repo = TestRepo::new();
    let size = if is_long_run() { 2 << 30 } else { 400 << 20 };
    let file = fs::File::create(repo.path("large")).unwrap();
    file.set_len(size).unwrap();
    repo.write("go-team.toml", "[capture]\nmax_file_mb = 4096\n");
    repo.git(["config", "core.bigFileThreshold", "1m"]);
    assert_within(MOST, peak_of_checkpoint(&repo));
    let reference = repo.git(["for-each-ref", "--format=%(refname)", "refs/go-team"]);
    let found = repo.git(["cat-file", "-s", &format!("{reference}:large")]);
    assert_eq!(found, size.to_string());
}

/// A tenth of the files in a third of the memory, since the program itself needs some; in a long run all of them.
#[test]
fn a_hundred_thousand_files() {
    let (dirs, most) = if is_long_run() {
        (5_000, MOST)
    } else {
        (500, MOST / 3)
    };
    let repo = TestRepo::new();
    for dir in 0..dirs {
        let path = repo.path(format!("d{}/e{dir}", dir % 70));
        fs::create_dir_all(&path).unwrap();
        for nth in 0..20 {
            fs::write(
                path.join(format!("file-{nth}.txt")),
                format!("{dir} {nth}\n"),
            )
            .unwrap();
        }
    }
    // New, then tracked, then known: each way has other things to hold.
    assert_within(most, peak_of_checkpoint(&repo));
    repo.commit_all();
    assert_within(most, peak_of_checkpoint(&repo));
    fs::remove_file(repo.cache()).unwrap();
    assert_within(most, peak_of_checkpoint(&repo));
    repo.write("d0/e0/file-0.txt", "changed");
    assert_within(most, peak_of_checkpoint(&repo));
}
