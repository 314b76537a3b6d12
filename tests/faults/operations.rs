//! The commands that change something, each in a repository where it has something to do.

use std::fs;
use std::path::Path;

use super::scene::Scene;
use super::support::TestRepo;

/// What of the user's a command may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Nothing: go-team's own files alone.
    Nothing,
    /// One file, in one step.
    File,
    /// Files, index, branch, HEAD and state.
    Everything,
}

/// A command and where it is run.
pub struct Operation {
    pub name: &'static str,
    pub build: fn() -> TestRepo,
    pub args: &'static [&'static str],
    pub reach: Reach,
    pub code: i32,
    /// What is typed next.
    pub next: &'static [&'static str],
    /// Whether something is damaged, and stays so.
    pub is_damaged: bool,
    /// Whether it goes on without what it could not do, and warns.
    pub goes_on: bool,
    /// What the same again may answer when only the first half was done, and the next command does the other.
    pub halfway: Option<i32>,
}

const NEXT: &[&str] = &["cp-create", "and on it goes"];

/// A command that leaves everything of the user's alone.
const fn quiet(
    name: &'static str,
    build: fn() -> TestRepo,
    args: &'static [&'static str],
) -> Operation {
    Operation {
        name,
        build,
        args,
        reach: Reach::Nothing,
        code: 0,
        next: NEXT,
        is_damaged: false,
        goes_on: false,
        halfway: None,
    }
}

/// A command that goes to another checkpoint.
const fn going(
    name: &'static str,
    build: fn() -> TestRepo,
    args: &'static [&'static str],
) -> Operation {
    Operation {
        reach: Reach::Everything,
        ..quiet(name, build, args)
    }
}

/// All of them.
pub const ALL: &[Operation] = &[
    quiet("start", TestRepo::with_commit, &["start", "auth system"]),
    quiet("start beside another", worked_in, &["start", "another job"]),
    quiet("cp-create, first", dirty, &["cp-create", "the first"]),
    quiet(
        "cp-create, later",
        worked_in,
        &["cp-create", "--metric", "test_coverage=81.5", "a later one"],
    ),
    quiet(
        "cp-create --no-git",
        worked_in,
        &["cp-create", "--no-git", "state alone"],
    ),
    quiet(
        "cp-create that prunes",
        prunable,
        &["cp-create", "--trigger", "auto"],
    ),
    quiet(
        "cp-create that merges packs",
        many_packs,
        &["cp-create", "the eighth"],
    ),
    quiet(
        "state set",
        worked_in,
        &["state", "set", "phase=late", "metrics.build_pass=true"],
    ),
    going("rollback", lived_in, &["rollback", "1", "--yes"]),
    going(
        "rollback --path",
        lived_in,
        &["rollback", "1", "--yes", "--path", "src", "--path", "notes"],
    ),
    going(
        "rollback with a linked state",
        linked_state,
        &["rollback", "1", "--yes"],
    ),
    going("undo", rolled_back, &["undo", "--yes"]),
    going("redo", undone, &["redo", "--yes"]),
    quiet("cp-delete", packed_refs, &["cp-delete", "1", "--yes"]),
    quiet("cp-prune", over_the_policy, &["cp-prune", "--yes"]),
    quiet("complete", TestRepo::with_checkpoints, &["complete"]),
    quiet(
        "complete --delete",
        packed_refs,
        &["complete", "--delete", "--yes"],
    ),
    quiet("fail", worked_in, &["fail", "no budget"]),
    quiet("abandon", worked_in, &["abandon", "--reason", "no need"]),
    quiet(
        "cleanup",
        failed_before,
        &["cleanup", "--older-than", "0", "--yes"],
    ),
    Operation {
        code: 3,
        is_damaged: true,
        ..quiet("cp-validate that marks", record_damaged, &["cp-validate"])
    },
    Operation {
        next: &["cp-rebuild", "1"],
        ..quiet("cp-rebuild N", record_damaged, &["cp-rebuild", "1"])
    },
    Operation {
        next: &["cp-rebuild", "--all"],
        ..quiet("cp-rebuild --all", manifest_gone, &["cp-rebuild", "--all"])
    },
    quiet("cp-export", worked_in, &["cp-export"]),
    quiet(
        "cp-import",
        beside_an_archive,
        &[
            "cp-import",
            "../home/session.tar.gz",
            "--as",
            "from-elsewhere",
        ],
    ),
    quiet(
        "import-from",
        beside_a_scheme,
        &["import-from", "../home/scheme"],
    ),
    quiet(
        "resume",
        given_up,
        &["resume", "auth-system-504f", "--resume"],
    ),
    Operation {
        // The old session is put away, and there is none yet to begin afresh from; a checkpoint begins one by itself.
        halfway: Some(4),
        ..quiet("resume --fresh", worked_in, &["resume", "--fresh"])
    },
    quiet(
        "resume --delete",
        packed_refs,
        &["resume", "--delete", "--yes"],
    ),
    Operation {
        goes_on: true,
        ..quiet("run", worked_in, &["run", "--step", "3", "--", "true"])
    },
    Operation {
        reach: Reach::File,
        ..quiet(
            "config set",
            prunable,
            &["config", "set", "retention.keep_auto", "7"],
        )
    },
];

/// The one of this name.
pub fn named(name: &str) -> &'static Operation {
    let found = ALL.iter().find(|operation| operation.name == name);
    found.unwrap_or_else(|| panic!("there is no operation {name}"))
}

/// Staged, unstaged, untracked and ignored work that no checkpoint holds.
fn soil(repo: &TestRepo) {
    repo.write(".gitignore", "*.log\n");
    repo.write("staged.go", "package staged\n");
    repo.git(&["add", "staged.go"]);
    repo.write("staged.go", "package unstaged\n");
    repo.write("deep/er/new.go", "package new\n");
    repo.write("run.log", "ignored\n");
    repo.write("README.md", "changed\n");
}

fn dirty() -> TestRepo {
    let repo = TestRepo::with_commit();
    soil(&repo);
    repo
}

fn worked_in() -> TestRepo {
    let repo = TestRepo::with_checkpoints();
    soil(&repo);
    repo
}

fn prunable() -> TestRepo {
    let repo = TestRepo::with_commit();
    repo.write("go-team.toml", "[retention]\nkeep_auto = 2\n");
    for nth in 0..2 {
        repo.write("file.txt", format!("{nth}\n"));
        repo.ok(&["cp-create", "--trigger", "auto"]);
    }
    // One ref is loose, one packed: they are taken away in different ways.
    repo.git(&["pack-refs", "--all"]);
    soil(&repo);
    repo
}

fn over_the_policy() -> TestRepo {
    let repo = TestRepo::with_commit();
    repo.write("go-team.toml", "[retention]\nenabled = false\n");
    for nth in 0..4 {
        repo.write("file.txt", format!("{nth}\n"));
        repo.ok(&["cp-create", "--trigger", "auto"]);
        if nth == 0 {
            repo.git(&["pack-refs", "--all"]);
        }
    }
    repo.write(
        "go-team.toml",
        "[retention]\nenabled = false\nkeep_auto = 2\n",
    );
    repo
}

fn failed_before() -> TestRepo {
    let repo = packed_refs();
    repo.ok(&["fail"]);
    repo.ok(&["start", "another job"]);
    repo.ok(&["cp-create"]);
    repo
}

fn many_packs() -> TestRepo {
    let repo = TestRepo::with_commit();
    for nth in 1..8 {
        repo.write("file.txt", format!("{nth}\n"));
        repo.ok(&["cp-create"]);
    }
    soil(&repo);
    repo
}

fn lived_in() -> TestRepo {
    Scene::lived_in().repo
}

/// The file of the orchestrator's in which the state is.
pub const LINKED_STATE: &str = "agents.json";

fn linked_state() -> TestRepo {
    let repo = TestRepo::with_commit();
    repo.write("go-team.toml", "[state]\nfile = \"agents.json\"\n");
    repo.write(".gitignore", "agents.json\n");
    for nth in 1..4 {
        repo.write(
            LINKED_STATE,
            format!("{{\n  \"phase\": \"phase {nth}\"\n}}\n"),
        );
        repo.write("file.txt", format!("{nth}\n"));
        repo.ok(&["cp-create"]);
    }
    repo
}

fn rolled_back() -> TestRepo {
    let scene = Scene::lived_in();
    scene.roll_back("1");
    scene.repo.write("src/lib.rs", "work after the rollback\n");
    scene.repo.write("more/work.txt", "more\n");
    scene.repo.git(&["add", "more"]);
    scene.repo
}

fn undone() -> TestRepo {
    let scene = Scene::lived_in();
    scene.roll_back("1");
    scene.repo.write("src/lib.rs", "work after the rollback\n");
    scene.undo();
    scene.repo.write("more/work.txt", "more\n");
    scene.repo
}

fn packed_refs() -> TestRepo {
    let repo = TestRepo::with_checkpoints();
    repo.git(&["pack-refs", "--all"]);
    soil(&repo);
    repo
}

fn record_damaged() -> TestRepo {
    let repo = worked_in();
    let record = fs::read_dir(repo.session_dir()).unwrap();
    let record = record.map(|entry| entry.unwrap().path()).find(|path| {
        path.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("cp-01")
    });
    fs::write(record.unwrap(), b"{\"version\": 1").unwrap();
    repo
}

fn manifest_gone() -> TestRepo {
    let repo = worked_in();
    fs::remove_file(repo.session_dir().join("manifest.json")).unwrap();
    repo
}

fn beside_an_archive() -> TestRepo {
    let repo = worked_in();
    repo.ok(&["cp-export", "-o", "../home/session.tar.gz"]);
    repo
}

/// Checkpoints of another program, with files: one session, since each of several comes in as a whole and on its own.
fn beside_a_scheme() -> TestRepo {
    let repo = worked_in();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/schemes/directory/2");
    copy(&sample, &repo.home().join("scheme/2"));
    repo
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let from = entry.unwrap().path();
        let to = to.join(from.file_name().unwrap());
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap();
        }
    }
}

fn given_up() -> TestRepo {
    let repo = worked_in();
    repo.ok(&["abandon"]);
    repo
}
