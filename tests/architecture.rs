//! Who may use whom, read off the source text: a wrong turn fails here, with the line that took it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};

/// The modules, and those that each may use. `cli` reads error types in its one funnel, below.
const USES: [(&str, &[&str]); 8] = [
    ("cli", &["engine", "render", "config", "model"]),
    ("render", &["engine", "config", "model", "git", "plan"]),
    ("engine", &["plan", "git", "store", "config", "model"]),
    ("git", &["model"]),
    ("store", &["model"]),
    ("plan", &["model"]),
    ("config", &["model"]),
    ("model", &[]),
];

/// The one place in `cli` that knows every error there is.
const FUNNEL: &str = "src/cli/error";

/// What `render` may name of `git` and `plan`: types of reports, nothing that does anything.
const REPORT_TYPES: [&str; 5] = [
    "git::sidecar::{NestedPath, SkippedPath}",
    "git::skip",
    "plan::graph::",
    "plan::lineage::Relation",
    "plan::rebuild::Proof",
];

/// The one file that starts a program by its name: the user's own command, which `run` is about. It is part of `cli`,
/// because what makes it hard is the terminal, the streams and the signals, and all of those are the command line's.
const STARTER: &str = "src/cli/run/child.rs";

/// The longest file, tests apart; most should be near 150 lines.
const LONGEST: usize = 400;

struct Source {
    path: String,
    /// The code before the tests of the file.
    lines: Vec<String>,
}

impl Source {
    fn module(&self) -> &str {
        let inside = self.path.strip_prefix("src/").unwrap();
        inside.split(['/', '.']).next().unwrap()
    }

    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.lines.iter().enumerate();
        let lines = lines.map(|(nth, line)| (nth + 1, line.trim()));
        lines.filter(|(_, line)| !line.starts_with("//"))
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut dirs = vec![root.join("src")];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                found.push(read(root, &path));
            }
        }
    }
    found.retain(|source| !source.path.ends_with("/tests.rs"));
    assert!(
        found.len() > 80,
        "the sources are where they are looked for"
    );
    found
}

fn read(root: &Path, path: &PathBuf) -> Source {
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    Source {
        path: path
            .strip_prefix(root)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned(),
        lines: code.lines().map(str::to_owned).collect(),
    }
}

/// The lines that hold any of these words, outside of the files that may.
fn lines_with(words: &[&str], modules: &[&str], excused: &[&str]) -> Vec<String> {
    let mut lines = Vec::new();
    for source in sources() {
        if !modules.contains(&source.module()) || excused.contains(&source.path.as_str()) {
            continue;
        }
        for (number, line) in source.code() {
            if words.iter().any(|word| line.contains(word)) {
                lines.push(format!("{}:{number}: {line}", source.path));
            }
        }
    }
    lines
}

const ALL: [&str; 10] = [
    "main", "lib", "cli", "render", "engine", "git", "store", "plan", "config", "model",
];

#[test]
fn modules_use_only_those_below_them() {
    let mut wrong = Vec::new();
    for source in sources() {
        let module = source.module();
        let Some((_, allowed)) = USES.iter().find(|(name, _)| *name == module) else {
            continue;
        };
        for (number, line) in source.code() {
            for (used, _) in USES {
                let names = line.contains(&format!("crate::{used}::"))
                    || line.contains(&format!("crate::{used};"))
                    || line.contains(&format!("crate::{used} "));
                let in_list = line.starts_with("use crate::{") && line.contains(used);
                let excused = source.path.starts_with(FUNNEL) && ["git", "store"].contains(&used);
                if (names || in_list) && used != module && !allowed.contains(&used) && !excused {
                    wrong.push(format!("{}:{number}: {line}", source.path));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rendering_knows_reports_and_nothing_that_acts() {
    let named = lines_with(
        &["crate::git", "crate::plan", "crate::store"],
        &["render"],
        &[],
    );
    let acts = |line: &&String| !REPORT_TYPES.iter().any(|allowed| line.contains(allowed));
    let wrong: Vec<_> = named.iter().filter(acts).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let touches = ["std::fs", "std::env", "std::process", "std::io", "Utc::now"];
    assert_eq!(lines_with(&touches, &["render"], &[]), [""; 0]);
}

#[test]
fn values_and_plans_touch_no_disk_clock_environment_or_process() {
    let touches = [
        "std::fs",
        "std::env",
        "std::process",
        "std::net",
        "std::thread",
        "SystemTime",
        "Instant",
        "Utc::now",
        "Local::now",
    ];
    assert_eq!(lines_with(&touches, &["model", "plan"], &[]), [""; 0]);
}

#[test]
fn the_environment_is_read_in_the_command_line_only() {
    let reads = ["env::var", "env::vars", "env::current_dir", "env::args"];
    let modules: Vec<&str> = ALL
        .into_iter()
        .filter(|name| !["cli", "main"].contains(name))
        .collect();
    assert_eq!(lines_with(&reads, &modules, &[]), [""; 0]);
}

#[test]
fn the_clock_is_read_in_one_file() {
    assert_eq!(
        lines_with(
            &["Utc::now", "SystemTime::now"],
            &ALL,
            &["src/engine/clock.rs"]
        ),
        [""; 0]
    );
}

#[test]
fn programs_are_run_from_one_file() {
    assert_eq!(lines_with(&["Command::new"], &ALL, &[STARTER]), [""; 0]);
}

#[test]
fn only_the_outer_modules_print() {
    let prints = [
        "println!",
        "eprintln!",
        "print!(",
        "eprint!(",
        "dbg!(",
        "io::stdout",
        "io::stderr",
    ];
    let modules: Vec<&str> = ALL
        .into_iter()
        .filter(|name| !["cli", "render", "main"].contains(name))
        .collect();
    assert_eq!(lines_with(&prints, &modules, &[]), [""; 0]);
}

#[test]
fn argument_types_stay_in_the_command_line() {
    let modules: Vec<&str> = ALL.into_iter().filter(|name| *name != "cli").collect();
    assert_eq!(lines_with(&["clap::", "use clap"], &modules, &[]), [""; 0]);
    let modules: Vec<&str> = ALL.into_iter().filter(|name| *name != "main").collect();
    assert_eq!(lines_with(&["color_eyre"], &modules, &[]), [""; 0]);
}

#[test]
fn every_file_says_what_it_owns_and_stays_readable() {
    let mut wrong = Vec::new();
    for source in sources() {
        if !source
            .lines
            .first()
            .is_some_and(|line| line.starts_with("//! "))
        {
            wrong.push(format!("{} does not say what it owns", source.path));
        }
        if source.lines.len() > LONGEST {
            wrong.push(format!("{} has {} lines", source.path, source.lines.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
