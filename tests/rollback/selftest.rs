//! Whether the tools of these tests see what they are there to see.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::json;

use super::edits::conflict;
use super::expect::{assert_restored, displaced};
use super::photo::{Item, Photo};
use super::scene::Scene;
use super::support::TestRepo;

fn key(path: &str) -> Vec<u8> {
    path.as_bytes().to_vec()
}

fn file(text: &str) -> Item {
    Item::File {
        bytes: text.into(),
        mode: 0o644,
    }
}

/// Whether the rules are content with `after`.
fn accepts(target: &Photo, before: &Photo, after: &Photo) -> bool {
    catch_unwind(AssertUnwindSafe(|| {
        assert_restored(target, before, after, "");
    }))
    .is_ok()
}

#[test]
fn a_rollback_by_copying_is_accepted_and_any_fault_in_it_is_not() {
    let scene = Scene::lived_in();
    let (target, before) = (scene.at(1), scene.now());
    assert!(!accepts(target, &before, &before));
    // What is ignored stays as it is now.
    let mut good = target.clone();
    for path in before.ignored.iter().chain(&target.ignored) {
        match before.files.get(path) {
            Some(item) => _ = good.files.insert(path.clone(), item.clone()),
            None => _ = good.files.remove(path),
        }
    }
    assert!(accepts(target, &before, &good));
    assert!(before.ignored.contains(&key("build/out.o")));
    let put = |photo: &mut Photo, path: &str, item: Item| _ = photo.files.insert(key(path), item);
    let take = |photo: &mut Photo, path: &str| _ = photo.files.remove(&key(path));
    let dir = |mode| Item::Dir { mode };
    let spoils: [&dyn Fn(&mut Photo); 14] = [
        &|photo| put(photo, "src/lib.rs", file("other")),
        &|photo| take(photo, "src/lib.rs"),
        &|photo| put(photo, "fresh/work.txt", file("fresh work\n")),
        &|photo| put(photo, "run.sh", file("#!/bin/sh\n")),
        &|photo| put(photo, "link", Item::Link("elsewhere".into())),
        &|photo| take(photo, "empty"),
        &|photo| put(photo, "left", dir(0o755)),
        &|photo| put(photo, "src", dir(0o700)),
        &|photo| take(photo, "build/out.o"),
        &|photo| put(photo, "ignored.log", file("ignored at one\n")),
        &|photo| _ = photo.index.pop(),
        &|photo| photo.head = "ref: refs/heads/other".into(),
        &|photo| _ = photo.refs.insert("refs/heads/other".into(), "1".into()),
        &|photo| {
            photo
                .states
                .values_mut()
                .for_each(|state| state["n"] = json!(9));
        },
    ];
    for (nth, spoil) in spoils.iter().enumerate() {
        let mut bad = good.clone();
        spoil(&mut bad);
        assert!(!accepts(target, &before, &bad), "fault {nth} is not seen");
    }
}

#[test]
fn an_ignored_file_in_the_way_may_be_kept_or_replaced() {
    let mut scene = Scene::new();
    scene.repo.write("data", "captured\n");
    scene.take();
    scene.repo.write("data", "now ignored\n");
    scene.repo.write(".gitignore", "data\n");
    let (target, before) = (scene.at(1), scene.now());
    assert_eq!(displaced(target, &before), [key("data")].into());
    let mut kept = target.clone();
    assert!(accepts(target, &before, &kept));
    kept.files.insert(key("data"), file("now ignored\n"));
    assert!(accepts(target, &before, &kept));
    kept.files.insert(key("data"), file("neither\n"));
    assert!(!accepts(target, &before, &kept));
}

#[test]
fn a_photograph_sees_every_kind_of_change() {
    let repo = TestRepo::with_commit();
    repo.write("dir/file", "text\n");
    repo.git(&["add", "."]);
    repo.ok(&["cp-create"]);
    let mut last = Photo::of(&repo);
    let changes: [&dyn Fn(); 12] = [
        &|| repo.write("dir/file", "other\n"),
        &|| repo.chmod("dir/file", 0o640),
        &|| repo.chmod("dir", 0o700),
        &|| _ = repo.git(&["add", "dir/file"]),
        &|| _ = repo.git(&["update-index", "--assume-unchanged", "dir/file"]),
        &|| _ = repo.git(&["update-index", "--skip-worktree", "README.md"]),
        &|| {
            repo.write("intended", "");
            repo.git(&["add", "-N", "intended"]);
        },
        &|| conflict(&repo, "dir/file"),
        &|| _ = repo.git(&["branch", "other"]),
        &|| _ = repo.git(&["symbolic-ref", "HEAD", "refs/heads/other"]),
        &|| _ = repo.ok(&["state", "set", "a=1"]),
        &|| repo.link("dir", "link"),
    ];
    for (nth, change) in changes.iter().enumerate() {
        change();
        let now = Photo::of(&repo);
        assert!(!last.differences(&now).is_empty(), "change {nth}");
        now.assert_same(&Photo::of(&repo), "looking changes nothing");
        now.assert_same(&Photo::of(&repo.copy()), "a copy is the same");
        last = now;
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod traced {
    use nix::errno::Errno;

    use super::super::recoverable::assert_recoverable;
    use super::super::sweep::trace;
    use super::super::tracer::Verdict;
    use super::*;

    #[test]
    fn a_command_is_killed_made_to_fail_and_kept_waiting() {
        let repo = TestRepo::with_checkpoints();
        let args = ["cp-create", "--quiet"];
        let whole = trace(&repo.copy(), &args, |_| Verdict::Go);
        assert_eq!(whole.code, Some(0), "{whole:#?}");
        let renames = |point: &&super::super::tracer::Point| {
            point.call == "rename" && point.path.ends_with("manifest.json")
        };
        let nth = whole.points.iter().find(renames).expect("a manifest").nth;
        let copy = repo.copy();
        let manifest = copy.session_dir().join("manifest.json");
        let old = std::fs::read(&manifest).unwrap();
        let at = |verdict: fn() -> Verdict| {
            move |point: &super::super::tracer::Point| {
                if point.call == "rename" && point.path.ends_with("manifest.json") {
                    verdict()
                } else {
                    Verdict::Go
                }
            }
        };
        let killed = trace(&copy, &args, at(|| Verdict::Kill));
        assert!(killed.is_killed(), "{killed:#?}");
        assert!(killed.points.len().abs_diff(nth) < 10, "{killed:#?}");
        assert_eq!(std::fs::read(&manifest).unwrap(), old, "not yet renamed");
        let failed = trace(&copy, &args, at(|| Verdict::Fail(Errno::EIO)));
        assert_eq!(failed.code, Some(1), "{failed:#?}");
        assert!(failed.stderr.contains("Input/output error"), "{failed:#?}");
        assert_eq!(std::fs::read(&manifest).unwrap(), old, "not renamed");
        let mut busy = None;
        let waited = trace(&copy, &args, |point| {
            if point.path.ends_with("manifest.json") {
                let at_once = [("GO_TEAM_LOCK_TIMEOUT_SECONDS", "0")];
                busy = copy.run_env(&at_once, &["cp-create"]).code;
            }
            Verdict::Go
        });
        assert_eq!((waited.code, busy), (Some(0), Some(6)));
    }

    #[test]
    fn content_that_is_nowhere_is_missed() {
        let repo = TestRepo::with_commit();
        repo.ok(&["cp-create"]);
        repo.write("only.txt", "the only copy\n");
        let before = Photo::of(&repo);
        assert_recoverable(&repo, &before, &before, "on disk");
        repo.remove("only.txt");
        let now = Photo::of(&repo);
        let is_missed = || {
            let check = || assert_recoverable(&repo, &before, &now, "");
            catch_unwind(AssertUnwindSafe(check)).is_err()
        };
        assert!(is_missed());
        repo.write("only.txt", "the only copy\n");
        repo.ok(&["cp-create"]);
        assert!(!is_missed());
    }
}
