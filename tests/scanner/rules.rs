//! Ignore patterns, attributes and contents at random: matching and conversion against git's.

use proptest::prelude::*;

use super::property::{cases, settle};
use super::repo::TestRepo;

/// Words that make up patterns, and some that do not belong in one.
fn pattern() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "a",
        "b",
        "ab",
        "A",
        "*",
        "**",
        "/",
        "/",
        "?",
        "[ab]",
        "[!a]",
        "[^b]",
        "[a-",
        "[]a]",
        "[[:alpha:]]",
        "\\a",
        "\\*",
        "\\",
        "*b",
        "a*",
        " ",
        "\\ ",
        ".",
        "/**",
        "**/",
        "!",
        "#",
        "x",
        "\\!",
        "\t",
        "\r",
        "[a\\]b]",
        "[b-a]",
        "[A-b]",
        "[[:upper:]]",
        "[[:x:]]",
        "[[:",
        "a/b",
        "/a",
        "b/",
        "***",
        "{a,b}",
        "é",
    ]);
    (
        prop::bool::weighted(0.25),
        prop::collection::vec(word, 1..5),
    )
        .prop_map(|(negated, words)| {
            format!("{}{}", if negated { "!" } else { "" }, words.concat())
        })
}

const NAMES: [&str; 16] = [
    "a", "b", "ab", "A", "ba", "x", "a b", "b ", "!a", "#b", ".a", "\\a", "[a]", "*", "aa", "é",
];

fn settings() -> ProptestConfig {
    ProptestConfig {
        cases: cases(24),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn ignore_patterns(
        root in prop::collection::vec(pattern(), 1..4),
        nested in prop::collection::vec(pattern(), 0..3),
        deep in prop::collection::vec(pattern(), 0..3),
        exclude in prop::collection::vec(pattern(), 0..2),
        fold in prop::bool::weighted(0.2),
        tracked in prop::collection::vec((0usize..16, 0usize..16), 0..4),
    ) {
        let repo = TestRepo::new();
        if fold {
            repo.config("core.ignoreCase", "true");
        }
        for (nth, name) in NAMES.iter().enumerate() {
            // Twins in case are another matter.
            if fold && *name == "A" {
                continue;
            }
            if nth % 2 == 0 {
                repo.write(name, name);
                repo.write(format!("a_/{name}"), name);
                repo.write(format!("b_/b/{name}"), name);
            } else {
                repo.write(format!("{name}/ab"), name);
                repo.write(format!("{name}/b/x"), name);
                repo.write(format!("a_/{name}/a/b"), name);
            }
        }
        for (first, second) in tracked {
            let path = format!("t/{}/{}", NAMES[first], NAMES[second]);
            if !fold {
                repo.write(&path, "tracked");
                repo.git(["add", "-f", "--", &path]);
            }
        }
        repo.write(".gitignore", root.join("\n") + "\n");
        repo.write("a_/.gitignore", nested.join("\n"));
        repo.write("b_/b/.gitignore", deep.join("\n"));
        repo.write(".git/info/exclude", exclude.join("\n"));
        repo.check_tree();
        repo.write(".gitignore", nested.join("\n"));
        repo.write("b/new", "n");
        repo.check_tree();
    }

    #[test]
    fn attribute_patterns(
        root in prop::collection::vec(pattern(), 1..5),
        nested in prop::collection::vec(pattern(), 0..3),
    ) {
        let repo = TestRepo::new();
        for name in NAMES {
            for path in [name.to_owned(), format!("a_/{name}"), format!("a_/c_/{name}"), format!("x_/{name}/ab")] {
                repo.write(path, "one\r\ntwo\r\n");
            }
        }
        let lines = |patterns: &[String]| {
            let words = |(nth, pattern): (usize, &String)| format!("{pattern} {}text\n", if nth % 2 == 0 { "" } else { "-" });
            patterns.iter().enumerate().map(words).collect::<String>()
        };
        repo.write(".gitattributes", lines(&root));
        repo.write("a_/.gitattributes", lines(&nested));
        repo.check_tree();
    }

    #[test]
    fn conversions(
        contents in prop::collection::vec(content(), 12),
        attributes in prop::collection::vec(attribute(), 12),
        autocrlf in prop::sample::select(vec!["false", "true", "input"]),
        eol in prop::sample::select(vec!["native", "lf", "crlf"]),
        staged in prop::collection::vec(content(), 12),
    ) {
        let repo = TestRepo::new();
        for (nth, content) in staged.iter().enumerate().filter(|(nth, _)| nth % 2 == 0) {
            repo.write(format!("f{nth}"), content);
        }
        repo.git(["add", "-A"]);
        repo.config("core.autocrlf", autocrlf).config("core.eol", eol);
        let lines = attributes.iter().enumerate();
        let lines: Vec<_> = lines.map(|(nth, words)| format!("f{nth} {words}")).collect();
        repo.write(".gitattributes", lines.join("\n"));
        for (nth, content) in contents.iter().enumerate() {
            repo.write(format!("f{nth}"), content);
        }
        repo.check();
        settle();
        repo.check();
    }
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    let part = prop::sample::select(vec![
        &b"a"[..],
        b"b",
        b"\r\n",
        b"\n",
        b"\r\n",
        b"\n",
        b"\r",
        b"\0",
        b"\x1a",
        b"\x08",
        b"\xe9",
        b"$Id$",
        b"$Id: x $",
        b"$Id: x y $",
        b"$Id:",
        b"$",
        b"$Id: a\n$",
        "é".as_bytes(),
    ]);
    let rare = prop::sample::select(vec![&b""[..], b"\x1a", b"\r", b"\0"]);
    (prop::collection::vec(part, 0..9), rare).prop_map(|(parts, end)| {
        let mut bytes = parts.concat();
        bytes.extend_from_slice(end);
        bytes
    })
}

fn attribute() -> impl Strategy<Value = String> {
    let one = prop::sample::select(vec![
        "text",
        "-text",
        "!text",
        "text=auto",
        "eol=lf",
        "eol=crlf",
        "-eol",
        "ident",
        "-ident",
        "crlf",
        "-crlf",
        "crlf=input",
        "crlf=auto",
        "binary",
        "text=x",
        "eol=x",
        "ident=x",
        "eol",
        "text=input",
        "-filter",
        "filter",
    ]);
    prop::collection::vec(one, 0..3).prop_map(|words| words.join(" "))
}
