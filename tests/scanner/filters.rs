//! Filter programs: `clean`, `smudge`, `process`, required, failing, and the pointer files of large-file stores.

use go_team::git::skip::SkipReason;

use super::repo::{TestRepo, checkpoint, let_time_pass};

fn filtered(clean: &str, smudge: &str) -> TestRepo {
    let repo = TestRepo::new();
    repo.write(".gitattributes", "*.f filter=x\n");
    if !clean.is_empty() {
        repo.config("filter.x.clean", clean);
    }
    if !smudge.is_empty() {
        repo.config("filter.x.smudge", smudge);
    }
    repo.write("a.f", "hello\n")
        .write("d/b.f", "world\n")
        .write("c", "plain\n");
    repo
}

fn go_on(repo: &TestRepo) {
    repo.check_thrice();
    repo.commit_all();
    let_time_pass();
    repo.check();
    repo.write("a.f", "changed\n").write("new.f", "new\n");
    repo.check();
    repo.write(".gitattributes", "");
    repo.check();
    repo.write(".gitattributes", "*.f filter=x\n");
    repo.check();
}

#[test]
fn clean_and_smudge() {
    go_on(&filtered("sed s/h/H/", "sed s/H/h/"));
    go_on(&filtered("tr a-z A-Z", "cat"));
    go_on(&filtered("rev", "rev"));
    go_on(&filtered("tr a-z A-Z", ""));
    go_on(&filtered("", "tr a-z A-Z"));
    go_on(&filtered("", ""));
}

/// What the tree of a new checkpoint, which is git's, holds for `a.f`.
fn recorded(repo: &TestRepo) -> String {
    let report = repo.check_tree();
    let tree = report.record.git.tree.unwrap().to_string();
    repo.git(["show", &format!("{tree}:a.f")])
}

/// A filter that keeps the length, taken away before the first scan: stat data alone cannot show it.
fn without_its_filter(age: u64) -> TestRepo {
    let repo = filtered("tr a-z A-Z", "tr A-Z a-z");
    repo.age(age).commit_all();
    repo.git(["config", "--remove-section", "filter.x"]);
    repo
}

#[test]
fn a_filter_that_is_gone_shows_where_git_reads_the_file() {
    // In the second in which the index was written git trusts no time, and reads.
    for _ in 0..20 {
        let repo = without_its_filter(0);
        let index = repo.path(".git/index").metadata().unwrap();
        let file = repo.path("a.f").metadata().unwrap();
        let second = |meta: &std::fs::Metadata| std::os::unix::fs::MetadataExt::mtime(meta);
        if second(&index) == second(&file) {
            assert_eq!(recorded(&repo), "hello");
            repo.check_thrice();
            return;
        }
    }
    panic!("the clock's second ended in each of twenty attempts");
}

#[test]
fn a_filter_that_is_gone_is_not_seen_by_git_either_when_the_index_is_younger() {
    let repo = without_its_filter(120);
    assert_eq!(
        recorded(&repo),
        "HELLO",
        "neither git nor go-team reads the file"
    );
    repo.check_tree();
    // Once anything makes git look, both see it.
    repo.age(60);
    assert_eq!(recorded(&repo), "hello");
    repo.check_thrice();
}

#[test]
fn the_path_is_handed_over() {
    let repo = filtered("echo %f; cat", "sed 1d");
    repo.write("it's a \"name\".f", "x\n")
        .write("d/sp ace.f", "y\n")
        .write("$x`.f", "z\n");
    go_on(&repo);
}

#[test]
fn programs_run_at_the_top_of_the_work_tree() {
    let repo = filtered("./clean.sh", "cat");
    repo.write("clean.sh", "#!/bin/sh\ntr a-z A-Z\n")
        .chmod("clean.sh", 0o755);
    go_on(&repo);
}

#[test]
fn programs_that_do_not_read() {
    let repo = filtered("echo fixed", "cat");
    repo.write("big.f", vec![b'x'; 3_000_000]);
    go_on(&repo);
}

#[test]
fn large_content_through_a_program() {
    let repo = filtered("tr x y", "tr y x");
    repo.write("big.f", vec![b'x'; 6_000_000]);
    repo.check_thrice();
}

#[test]
fn a_failing_program_that_is_not_required() {
    let repo = filtered("sed s/h/H/; exit 1", "cat");
    repo.check_thrice();
    repo.config("filter.x.clean", "no-such-program-anywhere");
    repo.check_thrice();
    repo.config("filter.x.clean", "");
    repo.check_thrice();
}

#[test]
fn a_failing_program_that_is_required() {
    let repo = filtered("cat", "cat");
    repo.age(120).commit_all();
    repo.config("filter.x.required", "true")
        .config("filter.x.clean", "false");
    repo.write("a.f", "changed\n").write("new.f", "new\n");
    for _ in 0..2 {
        let report = checkpoint(&repo.workspace());
        let said: Vec<_> = report
            .skipped
            .iter()
            .map(|s| (&*s.path, s.reason))
            .collect();
        let reason = SkipReason::ConversionFailed;
        assert_eq!(said, [("a.f", reason), ("new.f", reason)]);
        let head = repo.git(["rev-parse", "HEAD^{tree}"]);
        assert_eq!(report.record.git.tree.unwrap().to_string(), head);
    }
    repo.git(["config", "--unset", "filter.x.clean"]);
    let report = checkpoint(&repo.workspace());
    assert_eq!(report.skipped.len(), 2, "required and not there");
    repo.config("filter.x.clean", "cat");
    repo.check_thrice();
}

#[test]
fn pointers() {
    let store = "tee /dev/null | sha256sum | (read h _; echo version 1; echo oid $h)";
    let repo = filtered(store, "cat");
    repo.write("big.f", vec![7; 100_000]);
    go_on(&repo);
}

#[test]
fn together_with_line_endings() {
    let repo = filtered("sed s/h/H/", "sed s/H/h/");
    repo.write(".gitattributes", "*.f filter=x text eol=crlf ident\n");
    repo.write("a.f", "hello\r\n$Id: x $\r\n")
        .write("lf.f", "hello\nh\n");
    repo.check_thrice();
    repo.commit_all();
    repo.write("a.f", "hello\r\nagain\r\n");
    repo.check_thrice();
}

/// A program that speaks the long-running protocol, written in Perl, which git brings along.
const PROCESS: &str = r#"
use strict; binmode STDIN; binmode STDOUT; $| = 1;
sub get { my $n; return undef if read(STDIN, $n, 4) != 4; $n = hex $n; return '' if $n == 0;
  my $b = ''; read(STDIN, $b, $n - 4); return $b; }
sub put { my $b = shift; printf STDOUT "%04x%s", length($b) + 4, $b; }
sub flush { print STDOUT "0000"; }
while (my $l = get()) { }
put("git-filter-server\n"); put("version=2\n"); flush();
while (my $l = get()) { }
put("capability=clean\n"); put("capability=smudge\n"); flush();
while (1) {
  my %h; my $first = get(); exit 0 unless defined $first;
  for (my $l = $first; $l ne ''; $l = get()) { chomp $l; my ($k, $v) = split /=/, $l, 2; $h{$k} = $v; }
  my $body = ''; while ((my $l = get()) ne '') { $body .= $l; }
  if ($h{pathname} =~ /bad/) { put("status=error\n"); flush(); next; }
  if ($h{command} eq 'clean') { $body =~ tr/a-z/A-Z/ } else { $body =~ tr/A-Z/a-z/ }
  put("status=success\n"); flush();
  while (length $body) { put(substr($body, 0, 60000, '')); }
  flush(); flush();
}
"#;

#[test]
fn long_running_process() {
    let perl = std::process::Command::new("perl").arg("-v").output();
    if !perl.is_ok_and(|output| output.status.success()) {
        return;
    }
    let repo = filtered("", "");
    let script = repo.beside("filter.pl");
    std::fs::write(&script, PROCESS).unwrap();
    let command = format!("perl '{}'", script.display());
    repo.config("filter.x.process", &command);
    repo.write("big.f", "abc".repeat(100_000))
        .write("empty.f", "")
        .write("bad.f", "bad\n");
    repo.check_thrice();
    repo.commit_all();
    repo.write("a.f", "changed\n").write("new.f", "new\n");
    repo.check_thrice();
    repo.config("filter.x.required", "true");
    repo.write("bad.f", "worse\n");
    let report = checkpoint(&repo.workspace());
    assert_eq!(report.skipped.len(), 1, "{:?}", report.skipped);
}
