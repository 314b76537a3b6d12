//! Content that git converts: line endings, `ident`, encodings; and attributes that change.

use std::fs;

use super::repo::{TestRepo, let_time_pass};

const MIXED: &str = "one\r\ntwo\nthree\r\n";
const CRLF: &str = "one\r\ntwo\r\n";
const LF: &str = "one\ntwo\n";

/// Files of every kind of line ending.
fn texts(repo: &TestRepo, ending: &str) {
    repo.write(format!("lf.{ending}"), LF)
        .write(format!("crlf.{ending}"), CRLF)
        .write(format!("mixed.{ending}"), MIXED)
        .write(format!("bare.{ending}"), "one\rtwo\r")
        .write(format!("none.{ending}"), "no line end")
        .write(format!("binary.{ending}"), b"a\r\n\0b\r\n")
        .write(format!("eof.{ending}"), b"a\r\n\x1a")
        .write(format!("empty.{ending}"), "")
        .write(
            format!("id.{ending}"),
            "$Id$ $Id: old $ $Id:x$ $Ident$ $Id\r\n",
        );
}

/// All kinds of files under one line of attributes, untracked, tracked and changed.
fn with_attributes(attributes: &str, settings: &[(&str, &str)]) {
    let repo = TestRepo::new();
    texts(&repo, "txt");
    repo.git(["add", "-A"]);
    for (key, value) in settings {
        repo.config(key, value);
    }
    repo.write(".gitattributes", attributes);
    texts(&repo, "new");
    texts(&repo, "sub");
    fs::create_dir(repo.path("d")).unwrap();
    fs::rename(repo.path("mixed.sub"), repo.path("d/mixed.sub")).unwrap();
    repo.check_thrice();
    for name in ["lf.txt", "crlf.txt", "mixed.txt"] {
        repo.write(name, format!("{MIXED}{name}"));
    }
    repo.check();
    repo.git(["add", "-A"]);
    repo.check_tree();
    repo.git(["commit", "-qm", "c"]);
    let_time_pass();
    repo.write(".gitattributes", "* -text\n");
    repo.check();
    repo.write(".gitattributes", "* text\n*.new -text\n");
    repo.check_tree();
    repo.write("d/.gitattributes", "* eol=crlf\n");
    repo.check();
    repo.remove(".gitattributes");
    repo.check_tree();
    repo.remove("d/.gitattributes");
    repo.check_thrice();
}

#[test]
fn text() {
    with_attributes("* text\n", &[]);
    with_attributes("* text=auto\n", &[]);
    with_attributes("* -text\n", &[("core.autocrlf", "true")]);
    with_attributes("* !text\n", &[("core.autocrlf", "input")]);
}

#[test]
fn eol() {
    with_attributes("* eol=crlf\n", &[]);
    with_attributes("* eol=lf\n", &[]);
    with_attributes("* text=auto eol=crlf\n", &[]);
    with_attributes("* text\n", &[("core.eol", "crlf")]);
}

#[test]
fn autocrlf() {
    with_attributes("", &[("core.autocrlf", "true")]);
    with_attributes("", &[("core.autocrlf", "input")]);
    with_attributes("*.txt text=auto\n", &[("core.autocrlf", "true")]);
}

#[test]
fn ident_and_the_old_name() {
    with_attributes("* ident\n", &[]);
    with_attributes("* ident text eol=crlf\n", &[]);
    with_attributes("* crlf\n", &[]);
    with_attributes("* crlf=input\n*.new -crlf\n", &[]);
    with_attributes("* binary\n*.sub !text\n", &[("core.autocrlf", "true")]);
}

#[test]
fn macros_and_precedence() {
    with_attributes("[attr]win text eol=crlf\n*.txt win\nlf.* -win\n", &[]);
    with_attributes("*.new text=auto\n/crlf.new -text\nd/** text\n", &[]);
}

#[test]
fn encodings() {
    let utf16 = |bom: bool, big: bool| {
        let mut bytes = Vec::new();
        let mark = if bom { Some(0xfeff) } else { None };
        for unit in mark.into_iter().chain("grüß\r\nz𝄞\n".encode_utf16()) {
            let pair = if big {
                unit.to_be_bytes()
            } else {
                unit.to_le_bytes()
            };
            bytes.extend(pair);
        }
        bytes
    };
    let repo = TestRepo::new();
    repo.write(
        ".gitattributes",
        "*.u16 text working-tree-encoding=UTF-16\n*.le working-tree-encoding=UTF-16LE\n\
         *.be working-tree-encoding=utf-16be\n*.lebom text working-tree-encoding=UTF-16LE-BOM\n\
         *.latin working-tree-encoding=ISO-8859-1\n*.sjis working-tree-encoding=SHIFT-JIS\n\
         *.u8 working-tree-encoding=UTF-8\n*.u32 working-tree-encoding=UTF-32\n",
    );
    repo.write("a.u16", utf16(true, false))
        .write("b.u16", utf16(true, true))
        .write("c.le", utf16(false, false))
        .write("d.be", utf16(false, true))
        .write("e.lebom", utf16(true, false))
        .write("f.latin", b"gr\xfc\xdf\r\n")
        .write("g.u8", "grüß")
        .write("h.sjis", b"\x93\xfa\x96\x7b\n")
        .write("i.u16", "")
        .write("j.u32", b"\xff\xfe\0\0a\0\0\0");
    repo.check_thrice();
    repo.write("a.u16", utf16(true, true));
    repo.write("f.latin", b"gr\xfc\xdfe\r\n");
    repo.check();
    repo.commit_all();
    repo.check_thrice();
    repo.write(".gitattributes", "");
    repo.check();
}

#[test]
fn an_encoding_that_git_refuses_is_skipped() {
    let repo = TestRepo::new();
    repo.write(".gitattributes", "*.u16 working-tree-encoding=UTF-16\n");
    repo.write("a.u16", b"\xff\xfea\0").commit_all();
    // No byte order mark, and an odd number of bytes.
    repo.write("a.u16", b"abc").write("b.u16", b"abc");
    let report = super::repo::checkpoint(&repo.workspace());
    let skipped: Vec<_> = report.skipped.iter().map(|s| &*s.path).collect();
    assert_eq!(skipped, ["a.u16", "b.u16"]);
    let head = repo.git(["rev-parse", "HEAD^{tree}"]);
    assert_eq!(report.record.git.tree.unwrap().to_string(), head);
}

#[test]
fn attributes_outside_the_work_tree() {
    let repo = TestRepo::new();
    texts(&repo, "txt");
    repo.commit_all();
    texts(&repo, "new");
    repo.write(".git/info/attributes", "*.new text\n");
    repo.check_thrice();
    fs::write(repo.home().join("attributes"), "*.txt text\n").unwrap();
    repo.check();
    repo.write("crlf.txt", "x\r\n");
    repo.check();
    repo.remove(".git/info/attributes");
    repo.check();
    fs::remove_file(repo.home().join("attributes")).unwrap();
    repo.check_thrice();
}

#[test]
fn clean_entries_are_kept_when_attributes_change() {
    let repo = TestRepo::new();
    texts(&repo, "txt");
    repo.age(120);
    repo.git(["add", "-A"]);
    repo.git(["commit", "-qm", "c"]);
    let_time_pass();
    repo.check();
    repo.write(".gitattributes", "* text\n");
    let report = repo.check();
    let tree = report.record.git.tree.unwrap().to_string();
    let blob = repo.git(["cat-file", "-s", &format!("{tree}:crlf.txt")]);
    assert_eq!(
        blob,
        CRLF.len().to_string(),
        "git does not look at a clean file"
    );
    repo.check_thrice();
    // The index forgets what it knew of the files: now git converts.
    repo.git(["read-tree", "HEAD"]);
    let report = repo.check();
    let tree = report.record.git.tree.unwrap().to_string();
    let blob = repo.git(["cat-file", "-s", &format!("{tree}:crlf.txt")]);
    assert_eq!(blob, LF.len().to_string());
    repo.remove(".gitattributes");
    repo.git(["update-index", "--refresh"]);
    repo.write(".gitattributes", "* text\n");
    repo.check();
}

#[test]
fn settings_of_one_command_refresh_the_index() {
    let repo = TestRepo::new();
    repo.write("a", CRLF).age(120);
    repo.git(["add", "-A"]);
    repo.config("core.autocrlf", "input");
    repo.git(["read-tree", &repo.git(["write-tree"])]);
    let_time_pass();
    repo.check_thrice();
    repo.git(["-c", "core.autocrlf=false", "update-index", "--refresh"]);
    repo.check();
    let_time_pass();
    repo.check();
    repo.git(["read-tree", &repo.git(["write-tree"])]);
    repo.check();
}

#[test]
fn a_deleted_attribute_file_counts_while_it_is_in_the_index() {
    let repo = TestRepo::new();
    texts(&repo, "txt");
    repo.write("d/.gitattributes", "* text\n");
    repo.git(["add", "d"]);
    texts(&repo, "new");
    repo.write("d/a.txt", CRLF);
    repo.remove("d/.gitattributes");
    repo.check_tree();
    repo.check_tree();
    let_time_pass();
    repo.check_tree();
    repo.git(["rm", "-q", "--cached", "d/.gitattributes"]);
    repo.check_tree();
    repo.write("other", "* text\n");
    let id = repo.git(["hash-object", "-w", "other"]);
    repo.git([
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("100644,{id},.gitattributes"),
    ]);
    repo.check_tree();
    repo.check_tree();
    repo.write("other", "* -text\n");
    let id = repo.git(["hash-object", "-w", "other"]);
    repo.git([
        "update-index",
        "--cacheinfo",
        &format!("100644,{id},.gitattributes"),
    ]);
    repo.check_tree();
}

#[test]
fn attributes_in_an_ignored_directory() {
    let repo = TestRepo::new();
    repo.write(".gitignore", "out/\n").write("out/a", LF);
    repo.git(["add", "-f", ".gitignore", "out/a"]);
    repo.write("out/a", CRLF);
    repo.check_thrice();
    let_time_pass();
    repo.write("out/.gitattributes", "* text\n");
    repo.check_tree();
    repo.write("out/.gitattributes", "* -text\n");
    repo.check_tree();
    repo.check_tree();
}

#[test]
fn an_attribute_file_that_is_no_file() {
    let repo = TestRepo::new();
    texts(&repo, "txt");
    fs::write(repo.beside("attributes"), "* text\n").unwrap();
    repo.link("../attributes", ".gitattributes");
    repo.check_thrice();
    repo.remove(".gitattributes");
    fs::create_dir(repo.path(".gitattributes")).unwrap();
    repo.write(".gitattributes/x", CRLF);
    repo.check_thrice();
}

#[test]
fn changed_attributes_of_the_same_size_and_tick() {
    let repo = TestRepo::new();
    repo.write("x", CRLF);
    for nth in 0..30 {
        repo.write(
            ".gitattributes",
            if nth % 2 == 0 {
                "x  text\n"
            } else {
                "x -text\n"
            },
        );
        let report = super::repo::checkpoint(&repo.workspace());
        let tree = report.record.git.tree.unwrap().to_string();
        let size = repo.git(["cat-file", "-s", &format!("{tree}:x")]);
        let expected = if nth % 2 == 0 { LF.len() } else { CRLF.len() };
        assert_eq!(size, expected.to_string(), "round {nth}");
    }
    repo.check();
}
