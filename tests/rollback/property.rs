//! Random repositories, edits, checkpoints, rollbacks, undos and redos against a model that keeps full copies.
//!
//! `ROLLBACK_CASES=<n>` runs `n` cases instead of a few.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::check;
use super::edits::{Edit, apply, edit};
use super::expect::{assert_restored, displaced};
use super::ledger::Ledger;
use super::photo::Photo;
use super::scene::assert_refusal;
use super::support::{Output, TestRepo};

#[derive(Debug, Clone)]
enum Step {
    Edit(Edit),
    Take,
    RollBack(usize),
    Force(usize),
    Undo,
    Redo,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => edit().prop_map(Step::Edit),
        4 => Just(Step::Take),
        4 => (0..8usize).prop_map(Step::RollBack),
        1 => (0..8usize).prop_map(Step::Force),
        2 => Just(Step::Undo),
        2 => Just(Step::Redo),
    ]
}

/// What an undo or a redo has to bring back.
struct Saved {
    photo: Photo,
    validity: BTreeMap<String, bool>,
    standing: Option<String>,
    /// Refs that were moved, with what they were moved to.
    moved: BTreeMap<String, Option<String>>,
}

impl Saved {
    /// Of the moment before something is restored; `after` is the moment after.
    fn new(target: &Photo, before: Photo, after: &Photo, ledger: &Ledger) -> Self {
        let mut photo = before;
        // Ignored files that were replaced have to come back like those that are captured.
        for path in displaced(target, &photo) {
            if after.files.get(&path) != photo.files.get(&path) {
                photo.ignored.remove(&path);
                for above in super::photo::parents(&path) {
                    photo.ignored.remove(&above);
                }
            }
        }
        let names = photo.refs.keys().chain(after.refs.keys());
        let moved = names
            .filter(|name| photo.refs.get(*name) != after.refs.get(*name))
            .map(|name| (name.clone(), after.refs.get(name).cloned()))
            .collect();
        Self {
            validity: ledger.validity(),
            standing: ledger.standing(),
            photo,
            moved,
        }
    }

    /// What refs there must be when this is restored: those that were moved are moved back, unless somebody else has
    /// moved them since, which is for go-team to judge.
    fn base(&self, before: &Photo, after: &Photo) -> Photo {
        let mut base = before.clone();
        for (name, moved_to) in &self.moved {
            let old = self.photo.refs.get(name);
            let is_ours = before.refs.get(name) == moved_to.as_ref();
            if is_ours || after.refs.get(name) == old {
                match old {
                    Some(id) => _ = base.refs.insert(name.clone(), id.clone()),
                    None => _ = base.refs.remove(name),
                }
            }
        }
        base
    }
}

struct World {
    repo: TestRepo,
    taken: Vec<(String, Photo)>,
    undo: Vec<Saved>,
    redo: Vec<Saved>,
    /// Whether nothing happened since the last undo that could be a reason not to redo.
    redo_is_sure: bool,
}

impl World {
    fn new() -> Self {
        Self {
            repo: TestRepo::new(),
            taken: Vec::new(),
            undo: Vec::new(),
            redo: Vec::new(),
            redo_is_sure: true,
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Edit(edit) => {
                // There is a state to set only in a session.
                if !matches!(edit, Edit::State(_)) || !self.taken.is_empty() {
                    apply(&self.repo, edit);
                }
            }
            Step::Take => self.take(),
            _ if self.taken.is_empty() => {}
            Step::RollBack(nth) => self.roll_back(nth % self.taken.len(), false),
            Step::Force(nth) => self.roll_back(nth % self.taken.len(), true),
            Step::Undo => self.undo(),
            Step::Redo => self.redo(),
        }
    }

    fn take(&mut self) {
        let mut photo = Photo::of(&self.repo);
        let standing = (!self.taken.is_empty()).then(|| Ledger::of(&self.repo).current);
        let output = self.repo.ok(&["cp-create", "--json"]).json();
        let id = output["data"]["id"].as_str().unwrap().to_owned();
        if photo.states.is_empty() {
            photo.states = Photo::of(&self.repo).states;
        }
        photo.assert_same(&Photo::of(&self.repo), "a checkpoint touches nothing");
        let ledger = Ledger::of(&self.repo);
        assert_eq!(ledger.line(&id).parent, standing.flatten(), "the parent");
        assert_eq!(ledger.current.as_deref(), Some(&*id));
        self.taken.push((id, photo));
        self.redo_is_sure = false;
    }

    fn roll_back(&mut self, nth: usize, force: bool) {
        let (id, target) = self.taken[nth].clone();
        let (before, old) = (Photo::of(&self.repo), Ledger::of(&self.repo));
        let mut args = vec!["rollback", &id, "--yes", "--json", "--reason", "because"];
        args.extend(force.then_some("--force"));
        let output = self.repo.run(&args);
        let (after, new) = (Photo::of(&self.repo), Ledger::of(&self.repo));
        let is_behind = old.current_line().contains(&id);
        if output.code != Some(0) {
            let may_refuse = !displaced(&target, &before).is_empty()
                || !old.line(&id).is_valid
                || (!is_behind && !force);
            assert!(may_refuse, "{output}");
            assert_refusal(&output);
            unchanged((&before, &old), (&after, &new), &output);
            return;
        }
        assert!(is_behind || force, "it went forward: {output}");
        assert_restored(&target, &before, &after, &output);
        let rollback = output.json()["data"]["rollback"].clone();
        assert_eq!(rollback["to_checkpoint"], *id);
        assert_eq!(rollback["from_checkpoint"].as_str(), old.current.as_deref());
        assert_eq!(rollback["reason"], "because");
        assert_eq!(rollback["safety_checkpoint"], *new.safety().id);
        assert_eq!(new.rollbacks.len(), old.rollbacks.len() + 1);
        assert_eq!(new.current.as_deref(), Some(&*id));
        assert!(new.lines.len() > old.lines.len(), "a safety checkpoint");
        if is_behind {
            let left: Vec<String> = old.current_line();
            let left = left.iter().take_while(|other| **other != id);
            let mut expected = old.validity();
            for other in left.filter(|other| !old.line(other).is_safety) {
                expected.insert(other.clone(), false);
                if old.line(other).is_valid {
                    let by = new.line(other).invalidated_by.as_deref();
                    assert_eq!(by, rollback["id"].as_str(), "{other}");
                }
            }
            assert_eq!(new.validity(), expected, "{output}");
        }
        self.undo.push(Saved::new(&target, before, &after, &old));
        self.redo.clear();
    }

    fn undo(&mut self) {
        let Some(saved) = self.undo.pop() else {
            return self.refuses("undo");
        };
        let saved = self.bring_back("undo", &saved, true);
        self.redo.extend(saved);
        self.redo_is_sure = true;
    }

    fn redo(&mut self) {
        let Some(saved) = self.redo.pop() else {
            return self.refuses("redo");
        };
        match self.bring_back("redo", &saved, self.redo_is_sure) {
            Some(saved) => self.undo.push(saved),
            None => self.redo.clear(),
        }
    }

    /// Undoes or redoes; what it takes to reverse that in turn.
    fn bring_back(&self, command: &str, saved: &Saved, is_sure: bool) -> Option<Saved> {
        let (before, old) = (Photo::of(&self.repo), Ledger::of(&self.repo));
        let output = self.repo.run(&[command, "--yes", "--json"]);
        let (after, new) = (Photo::of(&self.repo), Ledger::of(&self.repo));
        if output.code != Some(0) {
            let may_refuse = !is_sure || !displaced(&saved.photo, &before).is_empty();
            assert!(may_refuse, "{command}: {output}");
            assert_refusal(&output);
            unchanged((&before, &old), (&after, &new), &output);
            return None;
        }
        let base = saved.base(&before, &after);
        let what = format!("{command}: {output}");
        assert_restored(&saved.photo, &base, &after, &what);
        let mut validity = new.validity();
        validity.retain(|id, _| saved.validity.contains_key(id));
        assert_eq!(validity, saved.validity, "{what}");
        assert_eq!(new.standing(), saved.standing, "{what}");
        Some(Saved::new(&saved.photo, before, &after, &old))
    }

    /// There is nothing to undo or redo.
    fn refuses(&self, command: &str) {
        let (before, old) = (Photo::of(&self.repo), Ledger::of(&self.repo));
        let output = self.repo.run(&[command, "--yes"]);
        assert_refusal(&output);
        let (after, new) = (Photo::of(&self.repo), Ledger::of(&self.repo));
        unchanged((&before, &old), (&after, &new), &output);
    }
}

fn unchanged(before: (&Photo, &Ledger), after: (&Photo, &Ledger), output: &Output) {
    before.0.assert_same(after.0, output);
    assert_eq!(before.1.validity(), after.1.validity(), "{output}");
    assert_eq!(before.1.current, after.1.current, "{output}");
}

fn settings() -> ProptestConfig {
    let asked = std::env::var("ROLLBACK_CASES").ok();
    let cases = asked.map_or(4, |text| text.parse().expect("a number of cases"));
    ProptestConfig {
        cases,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    }
}

/// Some edits, a checkpoint, and more of it.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    let first = prop::collection::vec(edit().prop_map(Step::Edit), 1..5);
    let rest = prop::collection::vec(step(), 6..26);
    (first, rest).prop_map(|(first, rest)| {
        let take = std::iter::once(Step::Take);
        first.into_iter().chain(take).chain(rest).collect()
    })
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn everything_comes_back(steps in steps()) {
        let mut world = World::new();
        for step in &steps {
            world.step(step);
        }
        check::complete_one(&world.repo, &world.repo.root());
        check::no_residue(&world.repo.path(".git"));
    }
}
