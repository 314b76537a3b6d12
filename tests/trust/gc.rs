//! `git gc --prune=now`, afterwards and at the same time: every checkpoint validates deeply.

use std::sync::atomic::{AtomicBool, Ordering};

use go_team::engine::validate::Depth;

use crate::damage::look;
use crate::support::TestRepo;

#[test]
fn afterwards_and_in_parallel() {
    let repo = TestRepo::with_commit();
    let root = repo.root();
    for nth in 0..6 {
        repo.write(
            format!("src/{}/file.txt", nth % 3),
            format!("{nth}\n").repeat(50),
        );
        repo.ok(&["cp-create"]);
    }
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let gc = scope.spawn(|| {
            let mut rounds = 0;
            while !ended.load(Ordering::Relaxed) {
                let status = std::process::Command::new("git")
                    .args(["-c", "gc.auto=0", "gc", "--prune=now", "-q"])
                    .current_dir(&root)
                    .status();
                assert!(status.unwrap().success());
                rounds += 1;
            }
            rounds
        });
        for nth in 0..15 {
            repo.write("src/0/file.txt", format!("round {nth}\n"));
            repo.ok(&["cp-create"]);
            let report = look(&root, Depth::Deep).unwrap();
            if !report.is_valid() {
                ended.store(true, Ordering::Relaxed);
                panic!("{:#?}", report.findings);
            }
        }
        ended.store(true, Ordering::Relaxed);
        assert!(gc.join().unwrap() > 2);
    });
    repo.git(&["gc", "--prune=now", "-q"]);
    let after = repo.run(&["cp-validate", "--deep"]);
    assert_eq!(after.code, Some(0), "{after}");
    assert!(after.stdout.contains("21 checkpoints valid"), "{after}");
}
