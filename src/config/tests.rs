//! Layers, origins, and every way a file can be wrong.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;

use super::settings::{SECTIONS, SETTINGS, Setting};
use super::*;

/// A work tree, a home, and the files in them.
struct Place {
    dir: tempfile::TempDir,
    environment: Vec<(OsString, OsString)>,
    flags: Vec<Flag>,
}

impl Place {
    fn new(project: &str) -> Self {
        let place = Self {
            dir: tempfile::tempdir().expect("a directory"),
            environment: Vec::new(),
            flags: Vec::new(),
        };
        fs::create_dir_all(place.root()).expect("the work tree");
        fs::create_dir_all(place.user().parent().expect("a directory")).expect("the home");
        fs::write(place.project(), project).expect("the project's file");
        place
    }

    fn with_user(self, text: &str) -> Self {
        fs::write(self.user(), text).expect("the user's file");
        self
    }

    fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    fn with_flag(mut self, key: &str, value: &str) -> Self {
        self.flags.push(Flag {
            flag: "--set".to_owned(),
            key: key.to_owned(),
            value: value.into(),
        });
        self
    }

    fn root(&self) -> std::path::PathBuf {
        self.dir.path().join("work")
    }

    fn project(&self) -> std::path::PathBuf {
        self.root().join(PROJECT_FILE)
    }

    fn user(&self) -> std::path::PathBuf {
        self.dir.path().join("home/go-team/config.toml")
    }

    fn load(&self) -> Result<Config, ConfigError> {
        let (root, user) = (self.root(), self.user());
        let sources = Sources {
            work_tree: Some(&root),
            user_file: Some(&user),
            current_dir: self.dir.path(),
        };
        load(sources, self.environment.clone(), &self.flags)
    }

    /// The error's message, with the place's own path left out.
    fn refusal(&self) -> String {
        let message = self.load().expect_err("refused").to_string();
        message.replace(&format!("{}/", self.dir.path().display()), "")
    }
}

fn refusal(project: &str) -> String {
    Place::new(project).refusal()
}

#[test]
fn without_files_everything_is_built_in() {
    let sources = Sources {
        work_tree: None,
        user_file: None,
        current_dir: Path::new("/"),
    };
    let config = load(sources, [], &[]).expect("nothing to go wrong");
    assert_eq!(config.settings, Settings::default());
    assert!(
        config
            .entries()
            .all(|entry| entry.origin == &Origin::BuiltIn)
    );
    assert_eq!(config.entries().count(), SETTINGS.len());
    let settings = config.settings;
    assert_eq!(settings.capture.exclude, ["debug.jsonl"]);
    assert_eq!(settings.capture.max_file_bytes(), 50 << 20);
    assert_eq!(settings.retention.keep_auto, 50);
    assert!(settings.durability.sync && settings.triggers.auto);
}

#[test]
fn each_layer_goes_before_the_one_below() {
    let project =
        "[lock]\ntimeout_seconds = 2\n[git]\nauthor_name = 'project'\n[retention]\nkeep_auto = 2";
    let user = "lock.timeout_seconds = 1\ngit.author_name = 'user'\ngit.author_email = 'u@x'\n[retention]\nkeep_auto = 1";
    let place = Place::new(project)
        .with_user(user)
        .with_variable("GO_TEAM_LOCK_TIMEOUT_SECONDS", "3.5")
        .with_variable("GO_TEAM_RETENTION_KEEP_AUTO", "3")
        .with_flag("retention.keep_auto", "4");
    let config = place.load().expect("valid");
    assert_eq!(config.settings.retention.keep_auto, 4);
    assert_eq!(
        config.settings.lock.timeout_seconds,
        Duration::from_millis(3_500)
    );
    assert_eq!(config.settings.git.author_name, "project");
    assert_eq!(config.settings.git.author_email, "u@x");
    assert_eq!(
        config.origin("retention.keep_auto"),
        &Origin::Flag {
            flag: "--set".to_owned()
        }
    );
    let variable = "GO_TEAM_LOCK_TIMEOUT_SECONDS".to_owned();
    assert_eq!(
        config.origin("lock.timeout_seconds"),
        &Origin::Environment { variable }
    );
    assert_eq!(
        config.origin("git.author_name"),
        &Origin::Project {
            path: place.project(),
            line: 4
        }
    );
    assert_eq!(
        config.origin("git.author_email"),
        &Origin::User {
            path: place.user(),
            line: 3
        }
    );
    assert_eq!(config.origin("durability.sync"), &Origin::BuiltIn);
}

#[test]
fn relative_paths_belong_to_their_layer() {
    let place = Place::new("[state]\nfile = 'run/state.json'\n[storage]\npath = '/var/x'")
        .with_user("[capture]\nconversation = 'talk.jsonl'\n[storage]\npath = 'store'");
    let settings = place.load().expect("valid").settings;
    assert_eq!(
        settings.state.file,
        Some(place.root().join("run/state.json"))
    );
    assert_eq!(settings.storage.path.as_deref(), Some(Path::new("/var/x")));
    assert_eq!(
        settings.capture.conversation,
        Some(place.user().with_file_name("talk.jsonl"))
    );
    let place = place
        .with_variable("GO_TEAM_STORAGE_PATH", "here")
        .with_variable("GO_TEAM_STATE_FILE", "none");
    let settings = place.load().expect("valid").settings;
    assert_eq!(settings.storage.path, Some(place.dir.path().join("here")));
    assert_eq!(settings.state.file, None);
}

#[test]
fn a_key_that_is_not_known_names_its_place_and_the_nearest() {
    insta::assert_snapshot!(refusal("\n[capture]\nmax_file_mbs = 3"), @r#"work/go-team.toml:3: unknown key "capture.max_file_mbs", the nearest is "capture.max_file_mb""#);
    insta::assert_snapshot!(refusal("[captures]\ninclude = []"), @r#"work/go-team.toml:1: unknown key "captures", the nearest is "capture""#);
    insta::assert_snapshot!(refusal("max_file_mb = 3"), @r#"work/go-team.toml:1: unknown key "max_file_mb", the nearest is "capture.max_file_mb""#);
    insta::assert_snapshot!(refusal("[capture]\n\ncolour = 'red'"), @r#"work/go-team.toml:3: unknown key "capture.colour""#);
    insta::assert_snapshot!(refusal("[workflow.mine]\nstep = ['a']"), @r#"work/go-team.toml:2: unknown key "workflow.mine.step", the nearest is "workflow.mine.steps""#);
    let misspelt = Place::new("").with_variable("GO_TEAM_CAPTURE_MAX_FILES_MB", "3");
    insta::assert_snapshot!(misspelt.refusal(), @r#"unknown variable GO_TEAM_CAPTURE_MAX_FILES_MB, the nearest is GO_TEAM_CAPTURE_MAX_FILE_MB"#);
    insta::assert_snapshot!(Place::new("").with_flag("lock.timeout", "3").refusal(), @r#"--set: unknown key "lock.timeout", the nearest is "lock.timeout_seconds""#);
}

#[test]
fn a_value_of_another_type_names_its_place_and_what_is_expected() {
    insta::assert_snapshot!(refusal("[capture]\nmax_file_mb = 'big'"), @r#"work/go-team.toml:2: capture.max_file_mb takes a whole number of at least 1, not "big""#);
    insta::assert_snapshot!(refusal("[capture]\nmax_file_mb = 0"), @"work/go-team.toml:2: capture.max_file_mb takes a whole number of at least 1, not 0");
    insta::assert_snapshot!(refusal("[capture]\ninclude = ['a', 3]"), @"work/go-team.toml:2: capture.include takes a list of texts, not a list with 3 in it");
    insta::assert_snapshot!(refusal("[retention]\nkeep_auto = -1"), @"work/go-team.toml:2: retention.keep_auto takes a whole number of at least 0, not -1");
    insta::assert_snapshot!(refusal("[durability]\nsync = 1"), @"work/go-team.toml:2: durability.sync takes true or false, not 1");
    insta::assert_snapshot!(refusal("[lock]\ntimeout_seconds = nan"), @"work/go-team.toml:2: lock.timeout_seconds takes a number of seconds, not nan");
    insta::assert_snapshot!(refusal("[git]\nauthor_name = 'a <b>'"), @r#"work/go-team.toml:2: git.author_name takes one line of text without < and >, not "a <b>""#);
    insta::assert_snapshot!(refusal("capture = 3"), @"work/go-team.toml:1: capture takes a table, not 3");
    insta::assert_snapshot!(refusal("[workflow]\nmine = 3"), @"work/go-team.toml:2: workflow.mine takes a table, not 3");
    insta::assert_snapshot!(refusal("[workflow.mine]\nsteps = 'a'"), @r#"work/go-team.toml:2: workflow.mine.steps takes a list of texts, not "a""#);
    insta::assert_snapshot!(Place::new("").with_variable("GO_TEAM_DURABILITY_SYNC", "maybe").refusal(), @r#"GO_TEAM_DURABILITY_SYNC: durability.sync takes true or false, not "maybe""#);
    insta::assert_snapshot!(refusal("[lock]\ntimeout_seconds = "), @"work/go-team.toml:2: string values must be quoted, expected literal string");
}

#[test]
fn files_that_cannot_be_read_are_said_and_missing_ones_are_fine() {
    let place = Place::new("");
    fs::remove_file(place.project()).expect("removed");
    assert_eq!(
        place.load().expect("nothing there").settings,
        Settings::default()
    );
    fs::create_dir(place.project()).expect("a directory");
    insta::assert_snapshot!(place.refusal(), @"cannot read work/go-team.toml: it is not a regular file");
    fs::remove_dir(place.project()).expect("removed");
    fs::write(place.project(), b"\xff").expect("written");
    insta::assert_snapshot!(place.refusal(), @"cannot read work/go-team.toml: stream did not contain valid UTF-8");
    let limit = usize::try_from(file::MAX_BYTES).expect("small");
    fs::write(place.project(), "#".repeat(limit)).expect("written");
    assert!(place.load().is_ok());
    fs::write(place.project(), "#".repeat(limit + 1)).expect("written");
    insta::assert_snapshot!(place.refusal(), @"work/go-team.toml is larger than 1048576 bytes");
}

#[test]
fn a_project_cannot_have_another_file_written_over() {
    let outside = [
        "/etc/passwd",
        "../x.json",
        "a/../../x.json",
        ".git/config",
        "a/.GIT/x",
        ".",
        "..",
    ];
    for path in outside {
        let message = refusal(&format!("[state]\nfile = '{path}'"));
        assert!(
            message.starts_with("work/go-team.toml:2: state.file points out of the work tree: "),
            "{message}"
        );
    }
    let user = Place::new("").with_user("[state]\nfile = '/run/state.json'");
    assert!(user.load().is_ok(), "the user's own file may name any");
}

#[test]
fn variables_of_other_parts_of_the_program_are_passed_over() {
    let place = Place::new("")
        .with_variable("GO_TEAM_SESSION", "auth-1f3c")
        .with_variable("GO_TEAM_CAPTURE_INCLUDE", "")
        .with_variable("HOME", "/root")
        .with_variable("GO_TEAM_CAPTURE_EXCLUDE", "a, b,,c");
    let config = place.load().expect("valid");
    assert_eq!(config.settings.capture.exclude, ["a", "b", "c"]);
    assert_eq!(config.origin("capture.include"), &Origin::BuiltIn);
    let toml = Place::new("")
        .with_variable("GO_TEAM_CAPTURE_EXCLUDE", "['a,b']")
        .load()
        .expect("valid");
    assert_eq!(toml.settings.capture.exclude, ["a,b"]);
}

#[test]
fn workflows_are_read_and_the_project_goes_first() {
    let place = Place::new(
        "[workflow.mine]\nsteps = ['a', 'b']\ntransitions = ['a -> b']\nschema = 's.json'",
    )
    .with_user("[workflow.mine]\nsteps = ['x']\nterminal = ['x']\n[workflow.also]\nsteps = ['y']");
    let config = place.load().expect("valid");
    let names: Vec<_> = config
        .settings
        .workflows
        .iter()
        .map(crate::model::workflow::Workflow::name)
        .collect();
    assert_eq!(names, ["also", "mine"]);
    let mine = &config.settings.workflows[1];
    assert_eq!(mine.step_number("b"), Some(2));
    assert_eq!(mine.schema(), Some(place.root().join("s.json").as_path()));
    assert_eq!(
        config.origin("workflow.mine"),
        &Origin::Project {
            path: place.project(),
            line: 1
        }
    );
    assert_eq!(config.entries().last().expect("mine").key, "workflow.mine");
    insta::assert_snapshot!(refusal("\n[workflow.impl]\nsteps = ['a']"), @r#"work/go-team.toml:2: workflow impl: the workflow "impl" is built in and cannot be defined anew; only a schema can be added"#);
    insta::assert_snapshot!(refusal("[workflow.mine]\nsteps = ['a']\nterminal = ['b']"), @r#"work/go-team.toml:1: workflow mine: "b" is not one of the steps"#);
}

#[test]
fn the_users_file_is_where_xdg_says() {
    let find = |xdg: Option<&str>, home: Option<&str>| {
        let path = user_file(xdg.map(str::as_ref), home.map(str::as_ref));
        path.map(|path| path.display().to_string())
    };
    assert_eq!(
        find(Some("/x"), Some("/h")).as_deref(),
        Some("/x/go-team/config.toml")
    );
    assert_eq!(
        find(None, Some("/h")).as_deref(),
        Some("/h/.config/go-team/config.toml")
    );
    assert_eq!(
        find(Some(""), Some("/h")).as_deref(),
        Some("/h/.config/go-team/config.toml")
    );
    assert_eq!(find(None, None), None);
}

#[test]
fn the_reference_is_a_file_that_sets_what_is_built_in() {
    let page = reference();
    assert_eq!(
        Place::new(&page)
            .load()
            .expect("only comments")
            .origins
            .len(),
        0
    );
    let set = |line: &str| {
        line.strip_prefix("# ")
            .filter(|rest| rest.contains(" = "))
            .unwrap_or(line)
            .to_owned()
    };
    let settings_only = page.split("# Workflows").next().expect("the settings");
    let effective: Vec<String> = settings_only.lines().map(set).collect();
    let config = Place::new(&effective.join("\n")).load().expect("valid");
    assert_eq!(config.settings, Settings::default());
    assert_eq!(
        config.origins.len(),
        SETTINGS.len(),
        "every setting is in it"
    );
    let mut parts = page.split("# [workflow.NAME]");
    let example: Vec<String> = parts
        .nth(1)
        .expect("the workflow")
        .lines()
        .map(set)
        .collect();
    let config = Place::new(&format!("[workflow.mine]\n{}", example.join("\n")))
        .load()
        .expect("valid");
    assert_eq!(config.settings.workflows.len(), 1);
}

#[test]
fn keys_and_variables_are_unique() {
    let mut variables: Vec<String> = SETTINGS.iter().map(Setting::variable).collect();
    variables.sort();
    variables.dedup();
    assert_eq!(variables.len(), SETTINGS.len());
    assert!(variables.contains(&"GO_TEAM_CAPTURE_MAX_FILE_MB".to_owned()));
    assert!(SETTINGS.iter().all(|setting| {
        SECTIONS
            .iter()
            .any(|(section, _)| *section == setting.section)
    }));
}
