//! What go-team says there is: sessions, checkpoints, states, archives, and the refs and records behind them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::check;
use super::support::TestRepo;

/// Each thing that can change, with its value. Names begin with the kind of the thing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account(BTreeMap<String, String>);

/// Kinds of things that any checkpoint changes: they say nothing about the operation before it.
const MOVING: [&str; 1] = ["current "];

/// Kinds of things that may wait for the next command to be taken away, if that is said.
const BEHIND: [&str; 2] = ["ref ", "record "];

impl Account {
    /// Asks go-team and git.
    pub fn of(repo: &TestRepo) -> Self {
        let mut this = Self::default();
        this.sessions(repo);
        let refs = ["for-each-ref", "--format=ref %(refname) %(objectname)"];
        let listed = check::git(repo, &repo.root(), &[refs[0], refs[1], "refs/go-team/"]);
        for line in listed.lines() {
            let (name, id) = line.rsplit_once(' ').unwrap();
            this.note(name.to_owned(), id);
        }
        for place in ["sessions", "failed"] {
            this.files(&repo.store().join(place), place);
        }
        for entry in fs::read_dir(repo.store().join("worktrees"))
            .into_iter()
            .flatten()
        {
            let dir = entry.unwrap().path();
            let pointer = fs::read(dir.join("current")).ok();
            let pointer: Option<Value> = pointer.map(|text| serde_json::from_slice(&text).unwrap());
            if let Some(pointer) = pointer {
                let name = dir.file_name().unwrap().to_string_lossy();
                this.note(
                    format!("work tree {name}"),
                    pointer["session_id"].to_string(),
                );
            }
        }
        this
    }

    fn note(&mut self, name: String, value: impl Into<String>) {
        self.0.insert(name, value.into());
    }

    /// What the commands that read say.
    fn sessions(&mut self, repo: &TestRepo) {
        let listed = repo.ok(&["sessions", "--json"]);
        let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
        for session in listed["data"]["sessions"].as_array().unwrap() {
            let id = session["session_id"].as_str().unwrap();
            self.note(format!("status {id}"), session["status"].to_string());
            let list = repo.run(&["cp-list", "--json", "--session", id]);
            if list.code != Some(0) {
                self.note(format!("list {id}"), "unreadable");
                continue;
            }
            let list: Value = serde_json::from_str(&list.stdout).unwrap();
            self.note(format!("list {id}"), "readable");
            let data = &list["data"];
            self.note(
                format!("current {id}"),
                data["current_checkpoint"].to_string(),
            );
            for entry in data["checkpoints"].as_array().unwrap() {
                let name = entry["id"].as_str().unwrap();
                let told = [&entry["valid"], &entry["commit_hash"]];
                self.note(
                    format!("checkpoint {id} {name}"),
                    told.map(ToString::to_string).join(" "),
                );
            }
        }
    }

    /// Records, states and archives.
    fn files(&mut self, dir: &Path, place: &str) {
        for session in fs::read_dir(dir).into_iter().flatten() {
            let dir = session.unwrap().path();
            let session = dir.file_name().unwrap().to_string_lossy().into_owned();
            for file in fs::read_dir(&dir).into_iter().flatten() {
                let file = file.unwrap();
                let name = file.file_name().to_string_lossy().into_owned();
                if name.starts_with("cp-") {
                    let digest = digest(&fs::read(file.path()).unwrap());
                    self.note(format!("record {place} {session} {name}"), digest);
                }
            }
            for file in fs::read_dir(dir.join("exports")).into_iter().flatten() {
                let file = file.unwrap();
                let name = file.file_name().to_string_lossy().into_owned();
                if !name.starts_with('.') {
                    let digest = digest(&fs::read(file.path()).unwrap());
                    self.note(format!("export {session} {name}"), digest);
                }
            }
            if let Ok(text) = fs::read(dir.join("state.json")) {
                let mut state: Value = serde_json::from_slice(&text).unwrap_or_default();
                if let Some(state) = state.as_object_mut() {
                    state.remove("checkpoint");
                    state.remove("recovered");
                }
                self.note(format!("state {place} {session}"), state.to_string());
            }
        }
    }

    /// The names of what differs between this and what an operation makes of it.
    pub fn delta(&self, after: &Self) -> Vec<String> {
        let names = self.0.keys().chain(after.0.keys());
        let mut delta: Vec<String> = names
            // Made on the way, whether the way is gone to its end or back.
            .filter(|name| !name.contains("-safety-"))
            .filter(|name| self.0.get(*name) != after.0.get(*name))
            .filter(|name| !MOVING.iter().any(|kind| name.starts_with(kind)))
            .cloned()
            .collect();
        delta.sort();
        delta.dedup();
        delta
    }

    /// Of these things, those that are not as in `other`.
    pub fn unlike(&self, other: &Self, names: &[String]) -> Vec<String> {
        let differs = |name: &&String| self.0.get(*name) != other.0.get(*name);
        names.iter().filter(differs).cloned().collect()
    }

    /// Whether a thing is not there any more, and may stay behind until the next command.
    pub fn is_behind(&self, name: &str) -> bool {
        !self.0.contains_key(name) && BEHIND.iter().any(|kind| name.starts_with(kind))
    }

    /// Whether a thing tells of a session that is not there yet, and not of its checkpoints.
    pub fn is_of_new_session(&self, name: &str) -> bool {
        let kinds = ["status ", "list ", "state ", "work tree "];
        let is_session = kinds.iter().any(|kind| name.starts_with(kind));
        is_session && (name.starts_with("work tree ") || !self.0.contains_key(name))
    }

    /// Checkpoints, with their commits, that are in both: whatever happens, they must stay.
    pub fn kept(&self, after: &Self) -> Vec<String> {
        let refs = self.0.iter().filter(|(name, _)| name.starts_with("ref "));
        refs.filter(|(name, id)| after.0.get(*name) == Some(id))
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// The sessions that can be listed.
    pub fn sessions_listed(&self) -> Vec<String> {
        let lists = self.0.iter();
        lists
            .filter(|(_, value)| *value == "readable")
            .filter_map(|(name, _)| name.strip_prefix("list ").map(str::to_owned))
            .collect()
    }
}

fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
