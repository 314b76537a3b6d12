//! Checkpointing touches nothing of the user's: not a byte, a time or a permission, and none of their programs runs.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use go_team::model::Sha256Digest;

use super::check;
use super::process;
use super::support::TestRepo;

/// Every hook that git knows.
const HOOKS: [&str; 28] = [
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "p4-prepare-changelist",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

/// What is known of a file or directory.
#[derive(Debug, PartialEq, Eq)]
struct Facts {
    mode: u32,
    inode: u64,
    /// Absent for the two directories in which go-team's own are made.
    modified: Option<(i64, i64)>,
    content: Content,
}

#[derive(Debug, PartialEq, Eq)]
enum Content {
    Directory,
    Link(PathBuf),
    File(String),
}

/// Everything of the user's, by path: the work tree, and git's directory without objects and what is go-team's.
fn photograph(repo: &TestRepo) -> BTreeMap<PathBuf, Facts> {
    let git_dir = repo.path(".git");
    let not_theirs = ["objects", "refs/go-team", "go-team"].map(|name| git_dir.join(name));
    let shared = [git_dir.clone(), git_dir.join("refs")];
    let mut photograph = BTreeMap::new();
    for path in check::below(&repo.root()) {
        if not_theirs.iter().any(|dir| path.starts_with(dir)) {
            continue;
        }
        let metadata = path.symlink_metadata().unwrap();
        let content = if metadata.is_dir() {
            Content::Directory
        } else if metadata.is_symlink() {
            Content::Link(fs::read_link(&path).unwrap())
        } else {
            Content::File(Sha256Digest::of(&fs::read(&path).unwrap()).to_string())
        };
        let modified = (!shared.contains(&path)).then(|| (metadata.mtime(), metadata.mtime_nsec()));
        let facts = Facts {
            mode: metadata.mode(),
            inode: metadata.ino(),
            modified,
            content,
        };
        photograph.insert(path, facts);
    }
    photograph
}

/// What git tells the user.
fn told_by_git(repo: &TestRepo) -> Vec<String> {
    let asked: [&[&str]; 6] = [
        &["status", "--porcelain=v2", "--branch", "--show-stash"],
        &["stash", "list"],
        &["log", "--exclude=refs/go-team/*", "--all", "--format=%H %d"],
        &["reflog", "--all", "--exclude=refs/go-team/*"],
        &["ls-files", "--stage", "--debug"],
        &["config", "--list", "--local"],
    ];
    let mut told: Vec<String> = asked.into_iter().map(|args| ask(repo, args)).collect();
    let refs = ask(repo, &["for-each-ref"]);
    let refs = refs.lines().filter(|line| !line.contains("refs/go-team/"));
    told.extend(refs.map(str::to_owned));
    told
}

/// Asks git in a way that changes nothing and runs nothing, whatever the configuration says.
fn ask(repo: &TestRepo, args: &[&str]) -> String {
    let mut command = process::git(repo, &repo.root());
    command.env("GIT_OPTIONAL_LOCKS", "0");
    for setting in ["core.fsmonitor=false", "core.hooksPath=/dev/null"] {
        command.args(["-c", setting]);
    }
    command.args(args);
    process::succeed(command)
}

/// Makes two checkpoints, the first with nothing to build on, and compares before and after.
fn assert_untouched(repo: &TestRepo) {
    let (files, told) = (photograph(repo), told_by_git(repo));
    for description in ["one", "two"] {
        repo.ok(&["cp-create", description]);
        assert_same(&files, &photograph(repo));
        assert_eq!(told, told_by_git(repo));
    }
    for args in [
        &["cp-list"][..],
        &["cp-show", "1"],
        &["status"],
        &["sessions"],
    ] {
        repo.ok(args);
    }
    assert_same(&files, &photograph(repo));
    ask(repo, &["fsck", "--strict", "--no-dangling"]);
}

fn assert_same(before: &BTreeMap<PathBuf, Facts>, after: &BTreeMap<PathBuf, Facts>) {
    for (path, facts) in before {
        assert_eq!(Some(facts), after.get(path), "{}", path.display());
    }
    let new: Vec<_> = after
        .keys()
        .filter(|path| !before.contains_key(*path))
        .collect();
    assert!(new.is_empty(), "new: {new:#?}");
}

/// A repository with a bit of everything: branches, a tag, a stash, a link, modes, ignored files.
fn lived_in() -> TestRepo {
    let repo = TestRepo::with_commit();
    repo.write(".gitignore", "*.log\n");
    for name in ["kept.txt", "changed.txt", "deleted.txt", "src/lib.rs"] {
        repo.write(name, format!("{name}\n"));
    }
    repo.write("run.sh", "#!/bin/sh\n");
    fs::set_permissions(repo.path("run.sh"), Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("kept.txt", repo.path("link")).unwrap();
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "second"]);
    repo.git(&["branch", "other", "HEAD~1"]);
    repo.git(&["tag", "-a", "-m", "a tag", "v1"]);
    repo.write("changed.txt", "for the stash\n");
    repo.git(&["stash"]);
    repo.write("ignored.log", "ignored\n");
    repo
}

/// The same with staged, unstaged, untracked and deleted files.
fn dirty() -> TestRepo {
    let repo = lived_in();
    repo.write("changed.txt", "staged\n");
    repo.write("added.txt", "staged as new\n");
    repo.git(&["add", "changed.txt", "added.txt"]);
    repo.write("changed.txt", "changed again\n");
    repo.write("untracked/deep/file.txt", "untracked\n");
    repo.write("private.txt", "for the owner alone\n");
    fs::set_permissions(repo.path("private.txt"), Permissions::from_mode(0o600)).unwrap();
    fs::remove_file(repo.path("deleted.txt")).unwrap();
    fs::create_dir(repo.path("empty")).unwrap();
    repo
}

#[test]
fn a_clean_work_tree() {
    assert_untouched(&lived_in());
}

#[test]
fn a_dirty_work_tree() {
    assert_untouched(&dirty());
}

#[test]
fn an_index_whose_times_are_stale() {
    let repo = lived_in();
    // The content is the same, so that git would refresh the index if it were asked.
    repo.write("kept.txt", "kept.txt\n");
    assert_untouched(&repo);
}

#[test]
fn an_index_that_somebody_has_locked() {
    let repo = dirty();
    fs::write(repo.path(".git/index.lock"), b"").unwrap();
    assert_untouched(&repo);
}

#[test]
fn packed_refs_and_a_repository_after_gc() {
    let repo = dirty();
    repo.git(&["gc", "-q"]);
    assert_untouched(&repo);
}

/// A program that leaves a trace when anybody runs it.
fn trap(path: &Path, canary: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let script = format!("#!/bin/sh\n: > '{}'\nexit 0\n", canary.display());
    fs::write(path, script).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn hooks_of_every_kind() {
    let repo = dirty();
    let canary = repo.home().join("canary");
    for hook in HOOKS {
        trap(&repo.path(".git/hooks").join(hook), &canary);
    }
    assert_untouched(&repo);
    assert!(!canary.exists(), "a hook ran");
    repo.git(&["commit", "-q", "-m", "the trap works"]);
    assert!(canary.exists());
}

#[test]
fn a_configuration_that_is_hostile() {
    let repo = dirty();
    let canary = repo.home().join("canary");
    let program = repo.home().join("trap.sh");
    trap(&program, &canary);
    let hooks = repo.home().join("hooks");
    for hook in HOOKS {
        trap(&hooks.join(hook), &canary);
    }
    let program = program.to_str().unwrap();
    let shell = format!("!{program}");
    let mut settings = vec![("core.hooksPath", hooks.to_str().unwrap())];
    settings.extend(
        [
            "core.fsmonitor",
            "core.editor",
            "core.pager",
            "core.askPass",
            "core.sshCommand",
            "core.gitProxy",
            "core.alternateRefsCommand",
            "credential.helper",
            "diff.external",
            "gpg.program",
            "sequence.editor",
            "filter.unused.clean",
            "filter.unused.process",
            "filter.unused.smudge",
            "merge.unused.driver",
            "diff.unused.textconv",
            "uploadpack.packObjectsHook",
        ]
        .map(|key| (key, program)),
    );
    settings.extend(
        [
            "alias.status",
            "alias.add",
            "alias.commit-tree",
            "alias.update-ref",
            "alias.checkpoint",
        ]
        .map(|key| (key, shell.as_str())),
    );
    settings.extend([("commit.gpgSign", "true"), ("gc.auto", "1")]);
    for (key, value) in settings {
        repo.git(&["config", key, value]);
    }
    // Setting it up may have run what had been set before.
    let _ = fs::remove_file(&canary);
    assert_untouched(&repo);
    assert!(!canary.exists(), "a program of the configuration ran");
    let mut status = process::git(&repo, &repo.root());
    status.arg("status").stdout(Stdio::null());
    assert!(status.status().unwrap().success());
    assert!(canary.exists(), "the trap works");
}

#[test]
fn an_ended_checkpoint_is_not_seen_by_ordinary_commands() {
    let repo = dirty();
    let ask = |args: &[&str]| check::git(&repo, &repo.root(), args);
    let before = [ask(&["log", "--oneline"]), ask(&["branch", "-a"])];
    repo.ok(&["cp-create"]);
    assert_eq!(before, [ask(&["log", "--oneline"]), ask(&["branch", "-a"])]);
    assert_eq!(ask(&["tag"]), "v1\n");
}
