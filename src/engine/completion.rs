//! Names for a shell to offer while somebody types. Reads only; whatever is wrong, there is just nothing to offer.

use super::Workspace;
use super::open::{OpenOptions, open};
use crate::model::selector::Numbers;
use crate::model::workflow;
use crate::model::{Manifest, SessionId};

/// At most so many of the newest checkpoints are offered: nobody reads more.
const MOST: usize = 200;

/// A word that can be typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The word.
    pub word: String,
    /// What it stands for.
    pub about: String,
}

impl Offer {
    fn new(word: impl Into<String>, about: impl Into<String>) -> Self {
        Self {
            word: word.into(),
            about: about.into(),
        }
    }
}

fn manifest(workspace: &Workspace, session: Option<&SessionId>) -> Option<Manifest> {
    let session = workspace.find_session(session).ok()?;
    workspace.store.load_manifest(&session).ok()
}

/// The checkpoints of a session as they can be named, the newest first: by number, by step, by id.
#[must_use]
pub fn checkpoints(options: OpenOptions, session: Option<&SessionId>) -> Option<Vec<Offer>> {
    let manifest = manifest(&open(options).ok()?, session)?;
    let numbers = Numbers::of(&manifest);
    let newest = || manifest.checkpoints().iter().rev().take(MOST);
    let mut offers: Vec<Offer> = Vec::new();
    for entry in newest() {
        offers.push(Offer::new(numbers.number(entry), entry.name.clone()));
    }
    for entry in newest().filter(|entry| !entry.is_safety()) {
        let is_new = !offers.iter().any(|offer| offer.word == entry.name);
        if is_new && entry.valid && !entry.name.starts_with(|c: char| c.is_ascii_digit()) {
            offers.push(Offer::new(
                entry.name.clone(),
                format!("step {}", entry.step),
            ));
        }
    }
    if !offers.is_empty() {
        offers.push(Offer::new(
            "current",
            "the one that the work tree descends from",
        ));
        offers.push(Offer::new("latest", "the newest valid one"));
    }
    offers.extend(newest().map(|entry| Offer::new(entry.id.as_str(), entry.name.clone())));
    Some(offers)
}

/// The steps of a session's workflow, by number.
#[must_use]
pub fn steps(options: OpenOptions, session: Option<&SessionId>) -> Option<Vec<Offer>> {
    let workspace = open(options).ok()?;
    let manifest = manifest(&workspace, session)?;
    let workflow = workspace.workflow(&manifest.workflow).ok()?;
    let steps = workflow.steps().iter();
    let offers = steps.map(|step| Offer::new(step.number.to_string(), step.name.clone()));
    Some(offers.collect())
}

/// The sessions there are, the one that changed last first.
#[must_use]
pub fn sessions(options: OpenOptions) -> Option<Vec<Offer>> {
    let workspace = open(options).ok()?;
    let items = workspace.store.list_sessions().ok()?;
    let mut found: Vec<Manifest> = items
        .into_iter()
        .filter_map(|one| one.manifest.ok())
        .collect();
    found.sort_by_key(|manifest| std::cmp::Reverse(manifest.updated_at));
    let offers = found.iter();
    let offers = offers.map(|one| Offer::new(one.session_id.as_str(), one.topic.clone()));
    Some(offers.collect())
}

/// The workflows there are.
#[must_use]
pub fn workflows(options: OpenOptions) -> Option<Vec<Offer>> {
    let built_in = workflow::built_in().iter();
    let mut offers: Vec<Offer> = built_in
        .map(|one| Offer::new(one.name(), "built in"))
        .collect();
    if let Ok(workspace) = open(options) {
        let own = workspace.config.settings.workflows.iter();
        offers.extend(own.map(|one| Offer::new(one.name(), "your own")));
    }
    Some(offers)
}
