//! For random pairs of trees: the paths, what happened to each, line counts and the patch are git's.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use go_team::git::diff::attributes::Attributes;
use go_team::git::diff::measure::{Contents, Measure};
use go_team::git::diff::rename::{Detect, Pair, Status, pairs};
use go_team::git::diff::source::Source;
use go_team::git::diff::{Threads, deltas};
use go_team::git::open::{OpenOptions, Repo};
use go_team::git::patch::{PatchWriter, drivers_of};
use go_team::model::ObjectId;
use proptest::prelude::*;

use crate::random::{Dice, Thing, Tree, trees};
use crate::support::TestRepo;

/// git in the repository, with nothing configured; its answer in bytes.
pub fn git(dir: &Path, args: &[&str], input: &[u8]) -> Vec<u8> {
    let mut command = Command::new("git");
    command
        .current_dir(dir)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", "/nonexistent")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("COLUMNS", "80")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "git {args:?}");
    output.stdout
}

/// Makes trees of a repository, each as the commit of a branch, and returns the trees' ids.
pub fn import(dir: &Path, all: &[Tree]) -> Vec<ObjectId> {
    let mut stream = Vec::new();
    for (nth, tree) in all.iter().enumerate() {
        writeln!(
            stream,
            "reset refs/heads/t{nth}\ncommit refs/heads/t{nth}\ncommitter A <a@example.org> 0 +0000\ndata 1\nx"
        )
        .unwrap();
        for (path, thing) in tree {
            let quoted = String::from_utf8(go_team::git::patch::quote::quoted(path)).unwrap();
            let quoted = if quoted.contains(' ') && !quoted.starts_with('"') {
                format!("\"{quoted}\"")
            } else {
                quoted
            };
            let (mode, bytes) = match thing {
                Thing::File(bytes) => ("100644", bytes),
                Thing::Executable(bytes) => ("100755", bytes),
                Thing::Link(target) => ("120000", target),
                Thing::Submodule(commit) => {
                    let id = format!("{commit:02x}").repeat(20);
                    writeln!(stream, "M 160000 {id} {quoted}").unwrap();
                    continue;
                }
            };
            writeln!(stream, "M {mode} inline {quoted}\ndata {}", bytes.len()).unwrap();
            stream.extend_from_slice(bytes);
            stream.push(b'\n');
        }
    }
    git(dir, &["fast-import", "--quiet", "--force"], &stream);
    let names: Vec<String> = (0..all.len())
        .map(|nth| format!("t{nth}^{{tree}}"))
        .collect();
    let mut args = vec!["rev-parse"];
    args.extend(names.iter().map(String::as_str));
    let ids = String::from_utf8(git(dir, &args, b"")).unwrap();
    ids.lines().map(|id| ObjectId::parse(id).unwrap()).collect()
}

pub fn open(dir: &Path) -> Repo {
    Repo::open(&OpenOptions {
        start: dir.to_owned(),
        home: None,
        xdg_config: None,
        allow_wide: false,
    })
    .unwrap()
}

fn compare(repo: &Repo, old: ObjectId, new: ObjectId, detect: Detect) -> Vec<Pair> {
    let source = Source::new(repo, None);
    let found = deltas(
        repo.backend.format(),
        &|id| source.tree(id),
        Threads::All,
        Some(old),
        Some(new),
    );
    let mut attributes = Attributes::new(repo).unwrap();
    pairs(&found.unwrap(), detect, &source, &mut attributes).unwrap()
}

/// The pairs as `git diff --name-status -z` prints them.
fn name_status(pairs: &[Pair]) -> Vec<u8> {
    let mut out = Vec::new();
    for pair in pairs {
        let mut word = pair.status.letter().to_string();
        if let Some(percent) = pair.similarity {
            write!(word, "{percent:03}").unwrap();
        }
        let mut fields = vec![word.into_bytes()];
        if matches!(pair.status, Status::Renamed | Status::Copied) {
            fields.push(pair.old.as_ref().unwrap().path.clone());
        }
        fields.push(pair.path().to_vec());
        for field in fields {
            out.extend(field);
            out.push(0);
        }
    }
    out
}

/// The counts as `git diff --numstat -z` prints them.
fn numstat(repo: &Repo, pairs: &[Pair]) -> Vec<u8> {
    let source = Source::new(repo, None);
    let mut attributes = Attributes::new(repo).unwrap();
    let mut out = Vec::new();
    for pair in pairs {
        let [old, new] = drivers_of(&mut attributes, pair);
        match Contents::read(&source, pair)
            .unwrap()
            .measure([&old, &new])
            .unwrap()
        {
            Measure::Binary { .. } => out.extend_from_slice(b"-\t-\t"),
            Measure::Lines(counts) => {
                write!(out, "{}\t{}\t", counts.added, counts.removed).unwrap();
            }
        }
        if let (Some(_), Some(from)) = (pair.similarity, &pair.old) {
            out.push(0);
            out.extend_from_slice(&from.path);
            out.push(0);
        }
        out.extend_from_slice(pair.path());
        out.push(0);
    }
    out
}

fn patch(repo: &Repo, pairs: &[Pair]) -> Vec<u8> {
    let source = Source::new(repo, None);
    let writer = PatchWriter::new(&source).unwrap();
    let mut attributes = Attributes::new(repo).unwrap();
    let mut out = Vec::new();
    for pair in pairs {
        let [old, new] = drivers_of(&mut attributes, pair);
        writer.write(pair, [&old, &new], &mut out).unwrap();
    }
    out
}

fn shown(bytes: &[u8]) -> String {
    bytes
        .escape_ascii()
        .to_string()
        .replace("\\n", "\n")
        .replace("\\x00", "\n")
}

fn check(repo: &Repo, old: ObjectId, new: ObjectId, seed: u64) {
    let dir = &repo.work_dir;
    let (a, b) = (old.to_string(), new.to_string());
    let of_git = |options: &[&str]| {
        let mut args = vec!["diff"];
        args.extend(options);
        args.extend([a.as_str(), b.as_str()]);
        git(dir, &args, b"")
    };
    let renamed = compare(repo, old, new, Detect::Renames);
    let copied = compare(repo, old, new, Detect::Copies);
    for (what, ours, gits) in [
        (
            "name-status",
            name_status(&renamed),
            of_git(&["--name-status", "-z"]),
        ),
        (
            "copies",
            name_status(&copied),
            of_git(&["-C", "--name-status", "-z"]),
        ),
        (
            "numstat",
            numstat(repo, &renamed),
            of_git(&["--numstat", "-z"]),
        ),
        ("patch", patch(repo, &renamed), of_git(&[])),
        ("patch with copies", patch(repo, &copied), of_git(&["-C"])),
    ] {
        assert!(
            ours == gits,
            "seed {seed}: {what}\n=== go-team\n{}\n=== git\n{}",
            shown(&ours),
            shown(&gits)
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 12,
        // A seed says nothing about how large a tree is: there is nothing to shrink.
        max_shrink_iters: 0,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn trees_are_compared_as_git_compares_them(seed: u64) {
        let repo = TestRepo::new();
        let seeds: Vec<u64> = (0..10).map(|nth| seed.wrapping_add(nth)).collect();
        let all: Vec<Tree> = seeds
            .iter()
            .flat_map(|seed| {
                let (old, new) = trees(&mut Dice::new(*seed));
                [old, new]
            })
            .collect();
        if seed % 3 == 0 {
            repo.write(".gitattributes", "*.md -diff\nx.bin* diff\nsrc/* binary\n");
        }
        let ids = import(&repo.root(), &all);
        if seed % 2 == 0 {
            git(&repo.root(), &["repack", "-adq"], b"");
        }
        let opened = open(&repo.root());
        for (pair, seed) in ids.chunks(2).zip(seeds) {
            check(&opened, pair[0], pair[1], seed);
        }
    }
}
