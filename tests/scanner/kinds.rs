//! Links, permissions, swaps of kind, special files, empty directories, many and large files.

use std::fs;
use std::os::unix::net::UnixListener;

use go_team::git::skip::SkipReason;

use super::repo::{TestRepo, checkpoint, let_time_pass};

fn mkfifo(repo: &TestRepo, path: &str) {
    let status = std::process::Command::new("mkfifo")
        .arg(repo.path(path))
        .status();
    assert!(status.unwrap().success());
}

#[test]
fn links() {
    let repo = TestRepo::new();
    repo.write("dir/file", "f").write("file", "f");
    repo.link("file", "to-file")
        .link("dir", "to-dir")
        .link("nowhere", "dangling")
        .link("loop-b", "loop-a")
        .link("loop-a", "loop-b")
        .link(".", "dir/self")
        .link("/etc/hostname", "absolute")
        .link("../../outside", "dir/outside")
        .link(".git/config", "into-git")
        .link("new\nline", "odd");
    repo.check_thrice();
    repo.commit_all();
    repo.check();
    repo.remove("to-file").link("dir/file", "to-file");
    repo.remove("dangling").write("dangling", "nowhere");
    repo.check_thrice();
}

#[test]
fn modes() {
    let repo = TestRepo::new();
    for (nth, mode) in [
        0o644, 0o600, 0o640, 0o755, 0o700, 0o750, 0o664, 0o611, 0o4755, 0o645,
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("f{nth}");
        repo.write(&name, &name).chmod(&name, mode);
        let dir = format!("d{nth}");
        repo.write(format!("{dir}/x"), "x")
            .chmod(&dir, mode | 0o700);
    }
    repo.check_thrice();
    repo.commit_all();
    repo.chmod("f0", 0o755)
        .chmod("f3", 0o644)
        .chmod("f1", 0o640);
    repo.chmod("d0", 0o711);
    repo.check_thrice();
}

/// Each kind put in the place of each other kind, tracked and untracked.
#[test]
fn swaps() {
    type Make = fn(&TestRepo, &str);
    let kinds: [Make; 6] = [
        |r, x| _ = r.write(x, "file"),
        |r, x| {
            _ = r
                .write(format!("{x}/y/z"), "z")
                .write(format!("{x}/w"), "w");
        },
        |r, x| _ = r.link("other", x),
        |r, x| _ = r.link("dir", x),
        |r, x| _ = r.link("..", x),
        |r, x| fs::create_dir(r.path(x)).unwrap(),
    ];
    let repo = TestRepo::new();
    repo.write("other", "o").write("dir/y/z", "elsewhere");
    let each = |side: &str, work: &dyn Fn(&str, usize, usize)| {
        for from in 0..kinds.len() {
            for to in 0..kinds.len() {
                work(&format!("{side}{from}{to}"), from, to);
            }
        }
    };
    each("tracked", &|name, from, _| kinds[from](&repo, name));
    repo.git(["add", "-A"]);
    each("new", &|name, from, _| kinds[from](&repo, name));
    repo.check();
    let_time_pass();
    for side in ["tracked", "new"] {
        each(side, &|name, _, to| {
            repo.remove(name);
            kinds[to](&repo, name);
            repo.check_tree();
        });
    }
    repo.check_thrice();
}

#[test]
fn a_tracked_directory_becomes_a_link_out_of_the_tree() {
    let repo = TestRepo::new();
    repo.write("d/a", "a").write("d/e/b", "b").commit_all();
    repo.check_thrice();
    fs::rename(repo.path("d"), repo.beside("moved")).unwrap();
    repo.link("../moved", "d");
    repo.check_thrice();
    fs::write(repo.beside("moved/a"), "changed").unwrap();
    repo.check();
    repo.remove("d");
    fs::rename(repo.beside("moved"), repo.path("d")).unwrap();
    repo.check_thrice();
}

#[test]
fn special_files_are_skipped_and_said() {
    let repo = TestRepo::new();
    repo.write("a", "a")
        .write("d/e", "e")
        .write("s", "s")
        .commit_all();
    mkfifo(&repo, "pipe");
    let _socket = UnixListener::bind(repo.path("socket")).unwrap();
    let report = repo.check_thrice();
    let said = |report: &go_team::engine::create::CreateReport| {
        let mut said: Vec<_> = report
            .skipped
            .iter()
            .map(|s| (s.path.clone(), s.reason))
            .collect();
        said.sort();
        said
    };
    let pipe = ("pipe".to_owned(), SkipReason::Fifo);
    let socket = ("socket".to_owned(), SkipReason::Socket);
    assert_eq!(said(&report), [pipe.clone(), socket.clone()]);
    // A directory's place: git drops what was below.
    repo.remove("d");
    mkfifo(&repo, "d");
    let report = repo.check_thrice();
    let in_dir = ("d".to_owned(), SkipReason::Fifo);
    assert_eq!(
        said(&report),
        [in_dir.clone(), pipe.clone(), socket.clone()]
    );
    // A tracked file's place: git fails; the entry is kept.
    repo.remove("d").remove("a").remove("s");
    mkfifo(&repo, "a");
    let _other = UnixListener::bind(repo.path("s")).unwrap();
    for _ in 0..2 {
        let report = checkpoint(&repo.workspace());
        let in_place = ("a".to_owned(), SkipReason::Fifo);
        let other = ("s".to_owned(), SkipReason::Socket);
        assert_eq!(
            said(&report),
            [in_place, pipe.clone(), other, socket.clone()]
        );
        let tree = report.record.git.tree.unwrap().to_string();
        assert_eq!(repo.git(["ls-tree", "-r", "--name-only", &tree]), "a\ns");
        super::restore::assert_exact(&repo, &report);
    }
    repo.remove("a").write("a", "back").remove("s");
    repo.check();
}

#[test]
fn an_ignored_special_file_is_not_said() {
    let repo = TestRepo::new();
    repo.write(".gitignore", "pipe\n");
    mkfifo(&repo, "pipe");
    let report = repo.check_thrice();
    assert!(report.skipped.is_empty());
}

#[test]
fn unreadable_files_and_directories() {
    let repo = TestRepo::new();
    repo.write("a", "a")
        .write("d/e/f", "f")
        .write("g/h", "h")
        .commit_all();
    repo.write("a", "changed")
        .write("new", "n")
        .write("g/new", "n");
    repo.chmod("a", 0o000)
        .chmod("new", 0o000)
        .chmod("d", 0o000)
        .chmod("g", 0o600);
    let is_root = fs::read(repo.path("a")).is_ok();
    let report = checkpoint(&repo.workspace());
    let again = checkpoint(&repo.workspace());
    assert_eq!(report.record.git.tree, again.record.git.tree);
    if !is_root {
        let mut said: Vec<_> = report.skipped.iter().map(|s| s.path.as_str()).collect();
        said.sort_unstable();
        for path in ["a", "d", "new"] {
            assert!(said.contains(&path), "{said:?}");
        }
        let head = repo.git(["rev-parse", "HEAD^{tree}"]);
        assert_eq!(report.record.git.tree.unwrap().to_string(), head);
    }
    repo.chmod("a", 0o644)
        .chmod("new", 0o644)
        .chmod("d", 0o755)
        .chmod("g", 0o755);
    repo.check_thrice();
}

#[test]
fn unreadable_rules() {
    let repo = TestRepo::new();
    repo.write("d/.gitattributes", "* text\n")
        .write("d/.gitignore", "*.o\n")
        .write("d/a", "a")
        .commit_all();
    repo.check();
    repo.write("d/a", "b\r\n").write("d/x.o", "o");
    repo.chmod("d/.gitattributes", 0o000)
        .chmod("d/.gitignore", 0o000);
    let is_root = fs::read(repo.path("d/.gitignore")).is_ok();
    for _ in 0..2 {
        let report = checkpoint(&repo.workspace());
        if !is_root {
            let tree = report.record.git.tree.unwrap().to_string();
            let names = repo.git(["ls-tree", "-r", "--name-only", &tree]);
            assert_eq!(names, "d/.gitattributes\nd/.gitignore\nd/a\nd/x.o");
            assert_eq!(report.skipped.len(), 2, "{:?}", report.skipped);
        }
    }
    repo.chmod("d/.gitattributes", 0o644)
        .chmod("d/.gitignore", 0o644);
    repo.check_thrice();
}

#[test]
fn empty_directories() {
    let repo = TestRepo::new();
    repo.write(".gitignore", "ignored\n*.o\n")
        .write("full/ignored", "i");
    for dir in ["e", "n/e/s/t", "full", "ignored/e", "n/f"] {
        fs::create_dir_all(repo.path(dir)).unwrap();
    }
    repo.write("objects/a.o", "o")
        .write("objects/deep/b.o", "o");
    repo.chmod("e", 0o700);
    repo.check_thrice();
    repo.remove("n/e").write("e/now", "full");
    repo.check();
    repo.remove("e/now");
    repo.check();
    repo.write("t/x", "x").commit_all().remove("t/x");
    repo.check_thrice();
    repo.remove("t");
    repo.check();
}

#[test]
fn nothing_and_much() {
    let repo = TestRepo::new();
    repo.write("zero", "").write("deep/zero", "");
    let large: Vec<u8> = (0..20u32 << 20)
        .map(|n| (n.wrapping_mul(n >> 3) >> 5).to_le_bytes()[0])
        .collect();
    repo.write("large", &large);
    repo.check_thrice();
    repo.git(["add", "-A"]);
    repo.write("large", &large[1..]).write("zero", "x");
    repo.check();
    repo.write("large", "").write("zero", "");
    repo.check_thrice();
}

#[test]
fn many_files_in_one_directory() {
    let repo = TestRepo::new();
    for nth in 0..5000 {
        repo.write(format!("many/f{nth:05}"), format!("{nth}"));
    }
    repo.check_tree();
    repo.git(["add", "-A"]);
    for nth in (0..5000).step_by(7) {
        repo.remove(format!("many/f{nth:05}"));
    }
    repo.write("many/f00001", "changed").write("many/f", "new");
    repo.check_tree();
    let_time_pass();
    repo.write("many/f00002", "changed");
    repo.check_tree();
}

#[test]
fn deep_paths() {
    let repo = TestRepo::new();
    let deep = "d/".repeat(400);
    repo.write(format!("{deep}file"), "x");
    repo.check_thrice();
    repo.write(format!("{deep}file"), "y")
        .write(format!("{deep}new"), "z");
    repo.check();
}

#[test]
fn paths_longer_than_the_system_takes() {
    let repo = TestRepo::new();
    repo.write("a", "a");
    let name = "n".repeat(250);
    let mut dir = fs::File::open(repo.root()).unwrap();
    for _ in 0..20 {
        rustix::fs::mkdirat(&dir, &*name, rustix::fs::Mode::RWXU).unwrap();
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY;
        let below = rustix::fs::openat(&dir, &*name, flags, rustix::fs::Mode::empty());
        dir = below.unwrap().into();
    }
    rustix::fs::mkdirat(&dir, "file", rustix::fs::Mode::RWXU).unwrap();
    for _ in 0..2 {
        let report = checkpoint(&repo.workspace());
        assert_eq!(report.skipped.len(), 1, "{:?}", report.skipped);
        let tree = report.record.git.tree.unwrap().to_string();
        assert_eq!(repo.git(["ls-tree", "-r", "--name-only", &tree]), "a");
    }
    let removed = std::process::Command::new("rm")
        .arg("-rf")
        .arg(repo.path(&name))
        .status();
    assert!(removed.unwrap().success());
    repo.check();
}
