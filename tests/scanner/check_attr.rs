//! Attribute files at random, against `git check-attr`: every attribute of every path.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use go_team::git::attributes::{Attributes, State};
use go_team::git::open::{OpenOptions, Repo};
use proptest::prelude::*;

use super::property::cases;
use super::repo::TestRepo;

/// What git says of the paths: path, attribute and state in git's words, sorted.
fn by_git(repo: &TestRepo, paths: &[String]) -> Vec<(String, Vec<u8>, Vec<u8>)> {
    let mut child = repo
        .command(&repo.root())
        .args(["check-attr", "-z", "--stdin", "--all"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let text = paths.join("\0") + "\0";
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    let words: Vec<&[u8]> = output.stdout.split(|byte| *byte == 0).collect();
    let (triples, rest) = words.as_chunks::<3>();
    assert_eq!(rest, [b""]);
    let mut said: Vec<_> = triples
        .iter()
        .map(|[path, name, state]| {
            let path = String::from_utf8(path.to_vec()).unwrap();
            (path, name.to_vec(), state.to_vec())
        })
        .collect();
    said.sort();
    said
}

fn by_go_team(repo: &TestRepo, paths: &[String]) -> Vec<(String, Vec<u8>, Vec<u8>)> {
    let options = OpenOptions {
        start: repo.root(),
        home: Some(repo.home()),
        ..OpenOptions::default()
    };
    let mut attributes = Attributes::new(&Repo::open(&options).unwrap()).unwrap();
    let mut said = Vec::new();
    for path in paths {
        for (name, state) in attributes.all(path.as_bytes()) {
            let state = match state {
                State::Set => b"set".to_vec(),
                State::Unset => b"unset".to_vec(),
                State::Unspecified => b"unspecified".to_vec(),
                State::Value(value) => value.to_vec(),
            };
            said.push((path.clone(), name, state));
        }
    }
    said.sort();
    said
}

fn assert_same(repo: &TestRepo, paths: &[String]) {
    assert_eq!(by_go_team(repo, paths), by_git(repo, paths));
}

fn words(max: usize, words: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(words), 1..max).prop_map(|words| words.concat())
}

/// A pattern as it stands in a file, in quotes or not, or something that git does not take for one.
fn pattern() -> impl Strategy<Value = String> {
    const PARTS: &[&str] = &[
        "a",
        "b",
        "A",
        "ab",
        ".c",
        "*",
        "**",
        "***",
        "/",
        "/",
        "?",
        "[ab]",
        "[!a]",
        "[A-b]",
        "[[:upper:]]",
        "[a-",
        "\\a",
        "\\*",
        "\\",
        "/**",
        "**/",
        "/a",
        "b/",
        "a**",
        "**b",
        "é",
        "*.c",
        "#",
        "!",
        "-",
        "[attr]",
        "=",
        "{a,b}",
        "a/b",
        "a/**/b",
        "/a**",
        "[]a]",
        "[^B-a]",
    ];
    const QUOTED: &[&str] = &[
        "a",
        "b",
        "A",
        "*",
        "/",
        " ",
        "\\t",
        "\\\"",
        "\\\\",
        "\\141",
        "\\303\\251",
        "\\000",
        "\\8",
        "\\q",
        "**",
        "!",
        "#",
        "?",
        "[ab]",
        ".c",
        "\\a",
    ];
    prop_oneof![
        8 => words(5, PARTS),
        1 => words(5, QUOTED).prop_map(|text| format!("\"{text}\"")),
        1 => words(3, QUOTED).prop_map(|text| format!("\"{text}")),
    ]
}

fn assignments() -> impl Strategy<Value = String> {
    const WORDS: &[&str] = &[
        "text",
        "-text",
        "!text",
        "text=auto",
        "eol=lf",
        "-eol",
        "binary",
        "-binary",
        "!binary",
        "binary=x",
        "diff",
        "-diff",
        "!diff",
        "merge=union",
        "m",
        "-m",
        "!m",
        "n",
        "-n",
        "m=1",
        "x=",
        "x==",
        "-x=1",
        "!x=1",
        "y.z_1-2",
        "Text",
    ];
    const ODD: &[&str] = &[
        "-",
        "--x",
        "a*b",
        "=",
        "é",
        "builtin_x",
        "!",
        "-!x",
        "\"x\"",
    ];
    let word = prop_oneof![30 => prop::sample::select(WORDS), 1 => prop::sample::select(ODD)];
    let blank = prop::sample::select(&[" ", "  ", "\t", " \r", "\x0b"][..]);
    let blank = prop_oneof![20 => Just(" "), 1 => blank];
    prop::collection::vec((blank, word), 0..4).prop_map(|words| {
        let parts = words.iter().flat_map(|(blank, word)| [*blank, *word]);
        parts.collect::<String>()
    })
}

fn line() -> impl Strategy<Value = String> {
    let name = prop::sample::select(&["m", "n", "binary", "text", "o", "m*", "-m", " m", ""][..]);
    let before =
        prop_oneof![20 => Just(""), 1 => Just(" "), 1 => Just("\t"), 1 => Just("\u{feff}")];
    let end =
        prop_oneof![10 => Just("\n"), 1 => Just("\r\n"), 1 => Just(" \n"), 1 => Just("\0x\n")];
    let what = prop_oneof![
        8 => pattern(),
        2 => name.prop_map(|name| format!("[attr]{name}")),
        1 => Just("# a".to_owned()),
    ];
    (before, what, assignments(), end)
        .prop_map(|(before, what, assignments, end)| format!("{before}{what}{assignments}{end}"))
}

fn file() -> impl Strategy<Value = String> {
    let mark = prop_oneof![12 => Just(""), 1 => Just("\u{feff}")];
    (mark, prop::collection::vec(line(), 0..6))
        .prop_map(|(mark, lines)| mark.to_owned() + &lines.concat())
}

/// All paths of up to three parts.
fn paths() -> Vec<String> {
    let parts = [
        "a", "b", "A", "ab", "a.c", "B", "é", "a b", "*", "\\a", "[attr]", "\"a", "#", "!a",
    ];
    let dirs = ["", "a/", "A/", "a/b/", "b/", "ab/a/", "é/", "a/a/b/b/"];
    let all = dirs
        .iter()
        .flat_map(|dir| parts.iter().map(move |part| format!("{dir}{part}")));
    all.collect()
}

fn settings() -> ProptestConfig {
    ProptestConfig {
        cases: cases(120),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn every_attribute_of_every_path(
        root in file(),
        below in file(),
        deep in file(),
        info in file(),
        own in file(),
        fold in prop::bool::weighted(0.3),
    ) {
        let repo = TestRepo::new();
        repo.config("core.ignoreCase", if fold { "true" } else { "false" });
        repo.write(".gitattributes", root).write("a/.gitattributes", below).write("a/b/.gitattributes", deep);
        repo.write(".git/info/attributes", info);
        fs::write(repo.home().join("attributes"), own).unwrap();
        assert_same(&repo, &paths());
    }
}

#[test]
fn lines_and_files_that_are_too_long() {
    let repo = TestRepo::new();
    let padded = |length: usize| format!("a{}text\n", " ".repeat(length - 5));
    for end in ["\n", "\r\n"] {
        for length in [2046, 2047, 2048, 2049] {
            repo.write(".gitattributes", padded(length).replace('\n', end));
            assert_same(&repo, &paths());
        }
    }
    repo.write(".gitattributes", "a text\n");
    for size in [(100 << 20) - 1, 100 << 20] {
        let file = fs::File::options()
            .write(true)
            .open(repo.path(".gitattributes"));
        file.unwrap().set_len(size).unwrap();
        assert_same(&repo, &paths());
    }
}

#[test]
fn macros_within_macros() {
    let repo = TestRepo::new();
    repo.write(
        ".gitattributes",
        "[attr]m n -text\n[attr]n m diff=x\n[attr]o !m n\na m\nb o\nab -m n\na.c m !n\n[attr]binary text\nB binary\n",
    );
    repo.write("a/.gitattributes", "[attr]m eol=lf\n* m\n");
    assert_same(&repo, &paths());
    repo.write(".git/info/attributes", "[attr]m inside\nB m\n");
    assert_same(&repo, &paths());
}

#[test]
fn attributes_of_a_tree() {
    let repo = TestRepo::new();
    repo.write(".gitattributes", "* text\n")
        .write("a/.gitattributes", "\u{feff}* -text\n* eol=lf\0\n* x\n");
    repo.commit_all();
    repo.write(".gitattributes", "* -text\n")
        .write("b/.gitattributes", "* x\n");
    assert_same(&repo, &paths());
    for name in [
        "HEAD",
        "main",
        "HEAD^{tree}",
        "HEAD:a",
        "HEAD:a/.gitattributes",
        "nonsense",
        "",
    ] {
        repo.config("attr.tree", name);
        assert_same(&repo, &paths());
    }
}
