//! Edits that no time stamp shows, and files that change while they are read.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use go_team::git::skip::SkipReason;

use super::repo::{TestRepo, checkpoint, let_time_pass};

fn recorded(repo: &TestRepo, path: &str) -> String {
    let report = checkpoint(&repo.workspace());
    let tree = report.record.git.tree.unwrap().to_string();
    repo.git(["show", &format!("{tree}:{path}")])
}

#[test]
fn an_edit_of_the_same_size_in_the_same_tick() {
    let repo = TestRepo::new();
    repo.write("f", "0000").write("g", "g");
    for nth in 0..60 {
        repo.write("f", format!("{nth:04}"));
        if nth % 3 == 0 {
            repo.git(["add", "f"]);
            repo.write("f", format!("{:04}", nth + 1000));
            assert_eq!(recorded(&repo, "f"), format!("{:04}", nth + 1000));
        }
        repo.write("f", format!("{nth:04}"));
        assert_eq!(recorded(&repo, "f"), format!("{nth:04}"));
    }
}

#[test]
fn names_that_come_and_go_in_the_same_tick() {
    let repo = TestRepo::new();
    repo.write("d/a", "a");
    for nth in 0..40 {
        let name = format!("d/n{nth}");
        repo.write(&name, "n");
        repo.check_tree();
        fs::rename(repo.path(&name), repo.path("d/moved")).unwrap();
        repo.check_tree();
        repo.remove("d/moved");
    }
    repo.check();
}

#[test]
fn a_time_set_back() {
    let repo = TestRepo::new();
    repo.write("f", "aaaa");
    repo.age(1000).commit_all();
    let time = repo.path("f").metadata().unwrap().modified().unwrap();
    for content in ["bbbb", "cccc", "dddd"] {
        let_time_pass();
        checkpoint(&repo.workspace());
        repo.write("f", content);
        fs::File::options()
            .write(true)
            .open(repo.path("f"))
            .unwrap()
            .set_modified(time)
            .unwrap();
        assert_eq!(recorded(&repo, "f"), content);
    }
}

#[test]
fn a_file_replaced_by_one_of_the_same_size_and_time() {
    let repo = TestRepo::new();
    repo.write("f", "aaaa").write("g", "bbbb");
    repo.age(1000).commit_all();
    std::thread::sleep(Duration::from_millis(15));
    repo.check();
    fs::rename(repo.path("g"), repo.path("f")).unwrap();
    assert_eq!(recorded(&repo, "f"), "bbbb");
}

/// Runs `write` over and over while checkpoints are made, and hands each checkpoint to `judge`.
fn while_written(repo: &TestRepo, write: &(dyn Fn(u64) + Sync), judge: &dyn Fn(Option<Vec<u8>>)) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut nth = 0;
            while !done.load(Ordering::Relaxed) {
                write(nth);
                nth += 1;
            }
        });
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(1200) {
            let report = checkpoint(&repo.workspace());
            let tree = report.record.git.tree.unwrap().to_string();
            let skipped = report
                .skipped
                .iter()
                .any(|s| s.path == "f" && s.reason == SkipReason::Unstable);
            let found = repo
                .command(&repo.root())
                .args(["show", &format!("{tree}:f")])
                .output()
                .unwrap();
            judge((found.status.success() && !skipped).then_some(found.stdout));
        }
        done.store(true, Ordering::Relaxed);
    });
}

fn assert_whole(bytes: &[u8], size: usize) {
    assert!(
        bytes.len() == size && bytes.windows(2).all(|pair| pair[0] == pair[1]),
        "a torn file"
    );
}

#[test]
fn a_file_rewritten_in_place_is_never_torn() {
    for size in [200_000, 5_000_000] {
        let repo = TestRepo::new();
        repo.write("f", vec![b'a'; size]);
        let path = repo.path("f");
        let write = |nth: u64| {
            use std::os::unix::fs::FileExt as _;
            let file = fs::File::options().write(true).open(&path).unwrap();
            let byte = b'a' + u8::try_from(nth % 20).unwrap();
            for chunk in 0..10 {
                file.write_all_at(&vec![byte; size / 10], (chunk * size / 10) as u64)
                    .unwrap();
            }
            // Rest, so that some reads meet a whole version.
            std::thread::sleep(Duration::from_millis(nth % 40));
        };
        // In the middle of a rewrite the file holds two versions, for any reader at any instant.
        let judge = |bytes: Option<Vec<u8>>| {
            if let Some(bytes) = bytes {
                let turns = bytes.windows(2).filter(|pair| pair[0] != pair[1]).count();
                assert!(
                    bytes.len() == size && turns <= 1,
                    "{turns} turns: no instant of the file"
                );
            }
        };
        while_written(&repo, &write, &judge);
    }
}

#[test]
fn a_file_replaced_again_and_again_is_never_torn() {
    let repo = TestRepo::new();
    repo.write("f", vec![b'a'; 300_000]);
    let write = |nth: u64| {
        let byte = b'a' + u8::try_from(nth % 20).unwrap();
        fs::write(repo.beside("next"), vec![byte; 300_000]).unwrap();
        fs::rename(repo.beside("next"), repo.path("f")).unwrap();
    };
    while_written(&repo, &write, &|bytes| {
        if let Some(bytes) = bytes {
            assert_whole(&bytes, 300_000);
        }
    });
}

#[test]
fn a_directory_swapped_with_a_link_is_never_followed() {
    let repo = TestRepo::new();
    repo.write("d/f", "inside").write("f", "f");
    let outside = repo.beside("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("f"), "secret").unwrap();
    fs::write(outside.join("g"), "secret").unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                fs::rename(repo.path("d"), repo.beside("aside")).unwrap();
                repo.link("../outside", "d");
                repo.remove("d");
                fs::rename(repo.beside("aside"), repo.path("d")).unwrap();
            }
        });
        for _ in 0..60 {
            let report = checkpoint(&repo.workspace());
            let tree = report.record.git.tree.unwrap().to_string();
            let list = repo.git(["ls-tree", "-r", "--name-only", &tree]);
            for name in list.lines().filter(|name| name.starts_with("d/")) {
                let content = repo.git(["show", &format!("{tree}:{name}")]);
                assert_eq!(content, "inside", "{name}");
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    repo.check();
}
