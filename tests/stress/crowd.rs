//! Many processes at once: everybody succeeds or is told why not, nothing is lost, and nobody sees half of anything.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use serde_json::Value;

use super::check;
use super::photo::Photo;
use super::process;
use super::support::TestRepo;

/// Runs go-team in a directory.
fn go_team(repo: &TestRepo, dir: &Path, args: &[&str]) -> Command {
    let mut command = process::go_team(repo, dir);
    command.args(args);
    command
}

/// Runs lists of commands side by side, each list one after another; all must go well.
fn all_at_once(lists: Vec<Vec<Command>>) {
    thread::scope(|scope| {
        for list in lists {
            scope.spawn(move || list.into_iter().for_each(|one| _ = process::succeed(one)));
        }
    });
}

/// Does some work while others go on and on; gives how often each of them came round.
fn beside(others: Vec<Box<dyn Fn() + Send + '_>>, work: impl FnOnce()) -> Vec<usize> {
    let is_over = AtomicBool::new(false);
    let rounds: Vec<AtomicUsize> = others.iter().map(|_| AtomicUsize::new(0)).collect();
    thread::scope(|scope| {
        let handles: Vec<_> = others
            .into_iter()
            .zip(&rounds)
            .map(|(other, rounds)| {
                let is_over = &is_over;
                scope.spawn(move || {
                    while !is_over.load(Ordering::Relaxed) {
                        other();
                        rounds.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        is_over.store(true, Ordering::Relaxed);
        for handle in handles {
            handle.join().unwrap();
        }
        done.unwrap();
    });
    rounds.into_iter().map(AtomicUsize::into_inner).collect()
}

fn linked(repo: &TestRepo, name: &str) -> PathBuf {
    let dir = repo.home().join(name);
    repo.git(&["worktree", "add", "-q", "-b", name, dir.to_str().unwrap()]);
    dir
}

#[test]
fn nasty_12_many_writers_in_many_sessions() {
    let repo = TestRepo::with_commit();
    let root = repo.root();
    let mut lists = Vec::new();
    for nth in 0..4 {
        let topic = format!("job {nth}");
        process::succeed(go_team(&repo, &root, &["start", &topic]));
        let session = repo.session_of(&topic);
        for writer in 0..2 {
            let text = format!("writer {writer}");
            let create = || go_team(&repo, &root, &["cp-create", "--session", &session, &text]);
            lists.push((0..5).map(|_| create()).collect());
        }
    }
    all_at_once(lists);
    let sessions = check::complete(&repo, &root);
    assert_eq!(sessions.len(), 4);
    for session in sessions {
        let seqs: Vec<u64> = session.records.iter().map(|record| record.seq).collect();
        assert_eq!(seqs, (1..=10).collect::<Vec<u64>>());
    }
    check::no_residue(&repo.path(".git"));
}

#[test]
fn nasty_36_many_writers_in_many_linked_work_trees() {
    let repo = TestRepo::with_commit();
    let mut dirs = vec![repo.root()];
    dirs.extend(["one", "two", "three"].map(|name| linked(&repo, name)));
    let mut lists = Vec::new();
    for (nth, dir) in dirs.iter().enumerate() {
        process::succeed(go_team(&repo, dir, &["start", &format!("tree {nth}")]));
        std::fs::write(dir.join("own.txt"), format!("{nth}\n")).unwrap();
        lists.push(
            (0..6)
                .map(|_| go_team(&repo, dir, &["cp-create"]))
                .collect(),
        );
    }
    all_at_once(lists);
    let sessions = check::complete(&repo, &repo.root());
    assert_eq!(sessions.len(), 4);
    for session in sessions {
        let topic = &session.manifest.topic;
        let own = topic.rsplit(' ').next().unwrap();
        assert_eq!(session.records.len(), 6, "{topic}");
        for record in &session.records {
            let file = format!("{}:own.txt", record.git.commit_hash.unwrap());
            let content = check::git(&repo, &repo.root(), &["show", &file]);
            assert_eq!(content.trim_end(), own, "each has its own files");
        }
    }
}

#[test]
fn readers_see_whole_answers_beside_writers() {
    let repo = TestRepo::with_commit();
    let root = repo.root();
    process::succeed(go_team(&repo, &root, &["cp-create", "the first"]));
    let commands: [&[&str]; 8] = [
        &["cp-list"],
        &["status"],
        &["sessions"],
        &["session-info"],
        &["cp-show", "latest"],
        &["cp-diff", "1"],
        &["state", "show"],
        &["cp-validate"],
    ];
    let most = AtomicUsize::new(0);
    let next = AtomicUsize::new(0);
    let places = [TestRepoRef::of(&repo), TestRepoRef::of(&repo)];
    let readers: Vec<Box<dyn Fn() + Send + '_>> = places
        .into_iter()
        .map(|place| {
            let (most, next) = (&most, &next);
            let read = move || {
                let nth = next.fetch_add(1, Ordering::Relaxed);
                let args = commands[nth % commands.len()];
                let known = most.load(Ordering::SeqCst);
                let answer = place.json(args);
                if args == ["cp-list"] {
                    let listed = answer["data"]["checkpoints"].as_array().unwrap();
                    let seqs: Vec<u64> = listed
                        .iter()
                        .map(|one| one["seq"].as_u64().unwrap())
                        .collect();
                    let mut sorted = seqs.clone();
                    sorted.sort_unstable();
                    sorted.dedup();
                    assert_eq!(sorted.len(), seqs.len(), "each once");
                    assert!(seqs.len() >= known, "none that was there is missing");
                    most.fetch_max(seqs.len(), Ordering::SeqCst);
                }
            };
            Box::new(read) as Box<dyn Fn() + Send + '_>
        })
        .collect();
    let writers = (0..2)
        .map(|writer| {
            let create = |nth| {
                let text = format!("{writer} made {nth}");
                go_team(&repo, &root, &["cp-create", &text])
            };
            (0..12).map(create).collect()
        })
        .collect();
    let rounds = beside(readers, || all_at_once(writers));
    assert!(rounds.iter().all(|rounds| *rounds > 0), "{rounds:?}");
    assert_eq!(check::complete_one(&repo, &root).records.len(), 25);
}

/// What a thread needs of a repository to read in it.
struct TestRepoRef {
    dir: PathBuf,
    home: PathBuf,
}

impl TestRepoRef {
    fn of(repo: &TestRepo) -> Self {
        Self {
            dir: repo.root(),
            home: repo.home(),
        }
    }

    fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.dir).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", &self.home).env("TZ", "UTC");
        for variable in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
            command.env(variable, "/dev/null");
        }
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Somebody");
            command.env(format!("GIT_{role}_EMAIL"), "somebody@example.org");
        }
        command.args(args);
        command
    }

    /// The answer of a command that must go well.
    fn json(&self, args: &[&str]) -> Value {
        let mut command = self.command(env!("CARGO_BIN_EXE_go-team"), args);
        command.arg("--json");
        let text = process::succeed(command);
        let answer: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("torn: {text}"));
        assert_eq!(answer["ok"], true, "{answer}");
        answer
    }

    fn git(&self, args: &[&str]) {
        process::succeed(self.command("git", args));
    }
}

/// Two writers beside git, which does one list of commands after another in a thread of its own each, over and over.
fn writers_beside_git(lists: &[&[&[&str]]]) {
    let repo = TestRepo::with_commit();
    let root = repo.root();
    let other = TestRepo::with_commit();
    other.write("theirs.txt", "theirs\n");
    other.git(&["add", "."]);
    other.git(&["commit", "-q", "-m", "theirs"]);
    repo.git(&["remote", "add", "other", other.root().to_str().unwrap()]);
    let work = |list: &'_ [&'_ [&'_ str]]| {
        let place = TestRepoRef::of(&repo);
        let list: Vec<Vec<String>> = list
            .iter()
            .map(|args| args.iter().map(ToString::to_string).collect())
            .collect();
        let run = move || {
            for args in &list {
                place.git(&args.iter().map(String::as_str).collect::<Vec<_>>());
            }
        };
        Box::new(run) as Box<dyn Fn() + Send>
    };
    let rounds = beside(lists.iter().map(|list| work(list)).collect(), || {
        let writer = |writer: usize| {
            let create = |nth: usize| {
                let text = format!("{writer} made {nth}");
                go_team(&repo, &root, &["cp-create", &text])
            };
            (0..10).map(create).collect()
        };
        all_at_once((0..2).map(writer).collect());
    });
    assert!(rounds.iter().all(|rounds| *rounds > 0), "{rounds:?}");
    let session = check::complete_one(&repo, &root);
    assert_eq!(session.records.len(), 20);
    repo.ok(&["cp-validate", "--deep"]);
    repo.git(&["fsck", "--no-dangling"]);
    check::no_residue(&repo.path(".git"));
}

const COMMIT: &[&str] = &["commit", "-q", "--allow-empty", "-m", "work"];
const FETCH: &[&str] = &["fetch", "-q", "other"];
const REPACK: &[&str] = &["repack", "-q", "-a", "-d"];
const PACK_REFS: &[&str] = &["pack-refs", "--all"];

#[test]
fn nasty_19_git_commits_collects_packs_and_fetches_beside_writers() {
    writers_beside_git(&[&[COMMIT], &[&["gc", "-q"], FETCH, REPACK, PACK_REFS]]);
}

/// Pruning at once. git's commits take turns with it: git itself, with nobody beside it, prunes the commit that HEAD is about
/// to name within some twenty commits.
#[test]
fn nasty_19_git_prunes_at_once_beside_writers() {
    let prune: &[&str] = &["gc", "-q", "--prune=now"];
    writers_beside_git(&[&[COMMIT, prune, FETCH, REPACK, PACK_REFS]]);
}

/// Three checkpoints with a file each that tells them apart, and what there was at each.
fn three() -> (TestRepo, Vec<Photo>) {
    let repo = TestRepo::with_commit();
    let mut photos = Vec::new();
    for nth in 1..=3 {
        for file in 0..20 {
            repo.write(format!("dir/{file}.txt"), format!("{nth} {file}\n"));
        }
        repo.ok(&["cp-create"]);
        photos.push(Photo::of(&repo));
    }
    (repo, photos)
}

/// Runs two commands at the same time.
fn race(repo: &TestRepo, one: &[&str], other: &[&str]) -> [std::process::Output; 2] {
    let commands = [one, other].map(|args| go_team(repo, &repo.root(), args));
    let handles = commands.map(|mut command| thread::spawn(move || command.output().unwrap()));
    handles.map(|handle| handle.join().unwrap())
}

#[test]
fn two_rollbacks_at_once() {
    for _ in 0..3 {
        let (repo, photos) = three();
        let outputs = race(
            &repo,
            &["rollback", "1", "--yes"],
            &["rollback", "2", "--yes"],
        );
        // One sees what the other has done and stops, or both come to their ends one after the other.
        let done: Vec<bool> = outputs
            .iter()
            .map(|output| output.status.success())
            .collect();
        assert!(done.contains(&true), "{outputs:?}");
        for output in &outputs {
            let code = output.status.code();
            assert!([Some(0), Some(1), Some(6)].contains(&code), "{output:?}");
        }
        let now = Photo::of(&repo);
        let is_at = |nth: usize| now.files == photos[nth].files && now.index == photos[nth].index;
        assert!(
            (done[0] && is_at(0)) || (done[1] && is_at(1)),
            "{outputs:?}"
        );
        check::complete_one(&repo, &repo.root());
        repo.ok(&["undo", "--yes"]);
        check::no_residue(&repo.path(".git"));
    }
}

#[test]
fn nasty_13_a_checkpoint_and_a_rollback_at_once() {
    for _ in 0..4 {
        let (repo, photos) = three();
        let [rollback, create] = race(
            &repo,
            &["rollback", "1", "--yes"],
            &["cp-create", "--quiet", "beside it"],
        );
        assert!(create.status.success(), "{}", process::text(&create));
        let id = String::from_utf8(create.stdout).unwrap();
        let record = repo.ok(&["cp-show", id.trim_end(), "--json"]).json();
        let tree = record["data"]["record"]["git"]["tree"].as_str().unwrap();
        let trees = [1, 3].map(|nth: usize| {
            let shown = repo.ok(&["cp-list", "--json"]).json();
            let listed = shown["data"]["checkpoints"].as_array().unwrap();
            let seq = |one: &&Value| one["seq"] == nth;
            let commit = listed.iter().find(seq).unwrap()["commit_hash"].clone();
            let spec = format!("{}^{{tree}}", commit.as_str().unwrap());
            repo.git(&["rev-parse", &spec]).trim_end().to_owned()
        });
        assert!(
            trees.iter().any(|one| one == tree),
            "the checkpoint is torn"
        );
        let now = Photo::of(&repo);
        let expected = if rollback.status.success() { 0 } else { 2 };
        assert!(now.files == photos[expected].files, "{rollback:?}");
        check::complete_one(&repo, &repo.root());
    }
}
