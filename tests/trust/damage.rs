//! Damaging a session on purpose, and asking what validation says.

use std::fs;
use std::path::PathBuf;

use go_team::engine::open::{OpenOptions, WideWorkTree, open};
use go_team::engine::validate::{Depth, Marking, ValidateOptions, ValidateReport, validate};
use go_team::engine::{Clock, Error, Tally};
use go_team::model::{Record, Sha256Digest, json};
use serde_json::Value;

use crate::support::{Output, TestRepo};

/// A session with three checkpoints of which the third is the current one.
pub fn session() -> TestRepo {
    let repo = TestRepo::with_checkpoints();
    repo.write("docs/plan.md", "# Plan\n");
    repo.ok(&["cp-create", "--step", "3", "three services"]);
    repo
}

/// The ids of the session's checkpoints.
pub fn ids(repo: &TestRepo) -> Vec<String> {
    let listed = repo.ok(&["cp-list", "--json"]).json();
    let listed = listed["data"]["checkpoints"].as_array().unwrap().clone();
    listed
        .iter()
        .map(|item| item["id"].as_str().unwrap().to_owned())
        .collect()
}

pub fn session_id(repo: &TestRepo) -> String {
    repo.session_dir()
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned()
}

pub fn reference(repo: &TestRepo, id: &str) -> String {
    format!("refs/go-team/{}/{id}", session_id(repo))
}

pub fn manifest_path(repo: &TestRepo) -> PathBuf {
    repo.session_dir().join("manifest.json")
}

pub fn record_path(repo: &TestRepo, id: &str) -> PathBuf {
    repo.session_dir().join(format!("{id}.json"))
}

/// Changes a file of JSON and gives it the checksum that fits.
pub fn forge(path: &std::path::Path, change: impl FnOnce(&mut Value)) -> String {
    let mut value: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    change(&mut value);
    value.as_object_mut().unwrap().remove("checksum");
    let checksum = Sha256Digest::of(&json::canonical(&value)).to_string();
    value["checksum"] = checksum.clone().into();
    fs::write(path, serde_json::to_vec_pretty(&value).unwrap()).unwrap();
    checksum
}

/// Makes the manifest list what a record's file says now.
pub fn relist(repo: &TestRepo, id: &str) {
    let bytes = fs::read(record_path(repo, id)).unwrap();
    let record = Record::from_file_bytes(&bytes).unwrap();
    forge(&manifest_path(repo), |manifest| {
        let entries = manifest["checkpoints"].as_array_mut().unwrap();
        let entry = entries.iter_mut().find(|entry| entry["id"] == id).unwrap();
        entry["checksum"] = record.checksum().to_string().into();
        entry["commit_hash"] = serde_json::to_value(record.git.commit_hash).unwrap();
    });
}

/// What `cp-validate` finds: the kinds of defects, in order.
pub fn kinds(output: &Output) -> Vec<String> {
    let answer = output.json();
    let findings = answer["data"]["findings"].as_array().unwrap().clone();
    let kinds = findings
        .iter()
        .map(|finding| finding["defect"]["kind"].as_str().unwrap());
    kinds.map(str::to_owned).collect()
}

/// Validates in this process, and changes nothing.
pub fn look(repo: &std::path::Path, depth: Depth) -> Result<ValidateReport, Error> {
    let workspace = open(OpenOptions {
        start: repo.to_owned(),
        home: None,
        xdg_config_home: None,
        environment: Vec::new(),
        wide: WideWorkTree::Refuse,
        clock: Clock::System,
    })?;
    let options = ValidateOptions {
        depth,
        marking: Marking::Never,
        ..ValidateOptions::default()
    };
    validate(&workspace, &options, &Tally::default())
}

/// Copies a directory.
pub fn copy(from: &std::path::Path, to: &std::path::Path) {
    let status = std::process::Command::new("cp")
        .arg("-a")
        .arg(from)
        .arg(to)
        .status();
    assert!(status.unwrap().success());
}
