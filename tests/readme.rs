//! The README says what is: its settings, commands and links are compared with the program.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;
use std::process::Command;

use go_team::cli::Exit;
use go_team::model::Trigger;

fn readme() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    fs::read_to_string(path).unwrap()
}

fn help(command: &[&str]) -> String {
    let mut run = Command::new(env!("CARGO_BIN_EXE_go-team"));
    let output = run.args(command).arg("--help").output().unwrap();
    assert!(output.status.success(), "{command:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The first word, without punctuation, of each line that is indented by `indent`.
fn words_indented_by(text: &str, indent: usize) -> Vec<&str> {
    let indent = " ".repeat(indent);
    let lines = text.lines().filter_map(|line| line.strip_prefix(&indent));
    let lines = lines.filter(|line| !line.starts_with(' '));
    let words = lines.filter_map(|line| line.split([' ', ',', '=']).next());
    words.filter(|word| !word.is_empty()).collect()
}

#[test]
fn the_settings_are_those_of_the_program() {
    let readme = readme();
    let between = readme.split("<!-- settings -->\n```toml\n").nth(1);
    let between = between.and_then(|rest| rest.split("```\n<!-- /settings -->").next());
    assert_eq!(between.unwrap(), go_team::config::reference());
}

#[test]
fn every_command_and_every_option_is_named() {
    let readme = readme();
    let general = help(&[]);
    let listed = general.split("\nCommands:\n").nth(1).unwrap();
    let listed = listed.split("\nOptions:").next().unwrap();
    let commands = words_indented_by(listed, 2);
    assert!(commands.len() >= 8, "{commands:?}");
    for command in commands.into_iter().filter(|command| *command != "help") {
        assert!(readme.contains(&format!("`{command}")), "{command}");
        let text = help(&[command]);
        let long = words_indented_by(&text, 6)
            .into_iter()
            .chain(words_indented_by(&text, 2));
        for option in long.filter(|word| word.starts_with("--") && *word != "--help") {
            assert!(
                readme.contains(&format!("`{option}")) || readme.contains(&format!(", `{option}")),
                "{command} {option}"
            );
        }
    }
}

#[test]
fn every_trigger_and_exit_code_is_named() {
    let readme = readme();
    for trigger in Trigger::ALL {
        assert!(readme.contains(&format!("`{trigger}`")), "{trigger}");
    }
    for exit in [
        Exit::Ok,
        Exit::Failure,
        Exit::Usage,
        Exit::Invalid,
        Exit::NotFound,
        Exit::Cancelled,
        Exit::Busy,
        Exit::Refused,
        Exit::Interrupted,
    ] {
        assert!(
            readme.contains(&format!("\n| {} | ", exit.code())),
            "{exit:?}"
        );
    }
}

#[test]
fn links_lead_somewhere() {
    let readme = readme();
    let anchor = |title: &str| title.to_lowercase().replace(' ', "-");
    let titles = readme.lines().filter(|line| line.starts_with('#'));
    let anchors: Vec<String> = titles
        .map(|line| anchor(line.trim_start_matches('#').trim()))
        .collect();
    let mut links = 0;
    for rest in readme.split("](").skip(1) {
        let target = rest.split(')').next().unwrap();
        let found = match target.strip_prefix('#') {
            Some(anchor) => anchors.iter().any(|known| known == anchor),
            None => Path::new(env!("CARGO_MANIFEST_DIR")).join(target).exists(),
        };
        assert!(found || target.starts_with("https://"), "{target}");
        links += 1;
    }
    assert!(links > 10);
}
