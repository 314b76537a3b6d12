//! Which scheme a place follows, and the documents that it holds.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::source::{Dir, Item};
use crate::plan::import_from::{
    self as plan, Document, FlatName, Numbered, Remark, Scheme, Understood,
};

/// The one file of the scheme that has one.
const SINGLE_FILE: &str = "impl-checkpoint.json";
/// What the lists of checkpoints are called.
const LISTS: [&str; 2] = ["index.yaml", "index.yml"];
/// Where runs that failed are kept.
const FAILED: &str = "failed";
/// What holds the numbered directories.
pub(super) const CHECKPOINTS: &str = "checkpoints";
/// What a numbered directory says about itself.
pub(super) const STATE: &str = "state.json";

/// The place that is imported from.
pub(super) struct Place {
    /// The directory, or that of the file.
    pub dir: Dir,
    /// The file, where one was named.
    pub file: Option<OsString>,
    /// What the directory is called.
    pub name: String,
    /// What the iteration is called, if it is one.
    pub iteration: String,
}

/// What was found at a place.
pub(super) struct Found {
    /// What the documents mean.
    pub understood: Understood,
    /// The directories whose files were copied, by the number that checkpoints name them with.
    pub dirs: Vec<Dir>,
}

/// Files that cannot be read, gathered on the way.
#[derive(Default)]
struct Reading {
    broken: Vec<Remark>,
    dirs: Vec<Dir>,
}

impl Place {
    /// Which schemes it could follow.
    pub fn schemes(&self) -> Vec<Scheme> {
        if let Some(file) = &self.file {
            return of_file(file);
        }
        let Ok(items) = self.dir.items() else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let below = |name: &OsStr| {
            self.dir
                .enter(name)
                .and_then(|dir| dir.items())
                .unwrap_or_default()
        };
        let has_checkpoints = |items: &[Item]| {
            items
                .iter()
                .any(|item| item.is_dir() && item.text() == CHECKPOINTS)
        };
        let dirs = || items.iter().filter(|item| item.is_dir());
        if has_checkpoints(&items)
            || self.is_checkpoints(&items)
            || dirs().any(|item| has_checkpoints(&below(&item.name)))
        {
            found.push(Scheme::Directory);
        }
        let is_single = |item: &Item| !item.is_dir() && item.text() == SINGLE_FILE;
        if items.iter().any(is_single) || dirs().any(|item| below(&item.name).iter().any(is_single))
        {
            found.push(Scheme::SingleFile);
        }
        let is_flat = |item: &Item| !item.is_dir() && FlatName::parse(item.text()).is_some();
        let failed = dirs().find(|item| item.text() == FAILED);
        if items.iter().any(is_flat)
            || failed.is_some_and(|item| below(&item.name).iter().any(is_flat))
        {
            found.push(Scheme::Flat);
        }
        if items
            .iter()
            .any(|item| LISTS.contains(&item.text()) || is_listed(item.text()))
        {
            found.push(Scheme::Index);
        }
        found
    }

    /// Whether it is itself a directory of numbered ones.
    fn is_checkpoints(&self, items: &[Item]) -> bool {
        self.name == CHECKPOINTS && items.iter().any(|item| number(item).is_some())
    }

    /// Reads it as a scheme.
    pub fn read(self, scheme: Scheme) -> Found {
        let mut reading = Reading::default();
        let mut understood = match scheme {
            Scheme::Directory => plan::directory(reading.iterations(&self)),
            Scheme::SingleFile => plan::single_file(reading.single_files(&self)),
            Scheme::Flat => plan::flat(reading.flat(&self)),
            Scheme::Index => {
                let (list, documents) = reading.indexed(&self);
                plan::index(&self.name, list.as_ref(), documents, &reading.broken)
            }
        };
        understood.broken.splice(0..0, reading.broken);
        Found {
            understood,
            dirs: reading.dirs,
        }
    }
}

/// Which schemes a file could be of.
fn of_file(file: &OsStr) -> Vec<Scheme> {
    let name = file.to_str().unwrap_or_default();
    if name == SINGLE_FILE {
        vec![Scheme::SingleFile]
    } else if FlatName::parse(name).is_some() {
        vec![Scheme::Flat]
    } else if LISTS.contains(&name) || is_listed(name) {
        vec![Scheme::Index]
    } else {
        Vec::new()
    }
}

fn is_listed(name: &str) -> bool {
    let is_yaml = Path::new(name)
        .extension()
        .is_some_and(|end| end == "yaml" || end == "yml");
    name.starts_with("CP-") && is_yaml
}

/// The number that a directory is called.
fn number(item: &Item) -> Option<u64> {
    let digits = item.text();
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number && item.is_dir())
}

impl Reading {
    fn refuse(&mut self, path: String, reason: &dyn std::fmt::Display) {
        let reason = reason.to_string();
        self.broken.push(Remark { path, reason });
    }

    fn items(&mut self, dir: &Dir) -> Vec<Item> {
        match dir.items() {
            Ok(items) => items,
            Err(error) => {
                self.refuse(dir.path.clone(), &error);
                Vec::new()
            }
        }
    }

    fn enter(&mut self, dir: &Dir, name: &OsStr) -> Option<Dir> {
        match dir.enter(name) {
            Ok(inner) => Some(inner),
            Err(error) => {
                self.refuse(dir.path_of(name), &error);
                None
            }
        }
    }

    fn document(&mut self, dir: &Dir, name: &OsStr) -> Option<Document> {
        match dir.document(name) {
            Ok(document) => Some(document),
            Err(error) => {
                self.refuse(dir.path_of(name), &error);
                None
            }
        }
    }

    fn iterations(&mut self, place: &Place) -> Vec<(String, Vec<Numbered>)> {
        let items = self.items(&place.dir);
        if place.is_checkpoints(&items) {
            let numbered = self.numbered(&place.dir, &items);
            return vec![(place.iteration.clone(), numbered)];
        }
        if items.iter().any(|item| item.text() == CHECKPOINTS) {
            let numbered = self.checkpoints(&place.dir);
            return vec![(place.name.clone(), numbered)];
        }
        let mut iterations = Vec::new();
        for item in items.iter().filter(|item| item.is_dir()) {
            let Some(dir) = self.enter(&place.dir, &item.name) else {
                continue;
            };
            let inner = self.items(&dir);
            if inner.iter().any(|item| item.text() == CHECKPOINTS) {
                let name = item.name.to_string_lossy().into_owned();
                iterations.push((name, self.checkpoints(&dir)));
            }
        }
        iterations
    }

    fn checkpoints(&mut self, iteration: &Dir) -> Vec<Numbered> {
        let Some(dir) = self.enter(iteration, OsStr::new(CHECKPOINTS)) else {
            return Vec::new();
        };
        let items = self.items(&dir);
        self.numbered(&dir, &items)
    }

    fn numbered(&mut self, dir: &Dir, items: &[Item]) -> Vec<Numbered> {
        let mut found = Vec::new();
        for item in items {
            let path = dir.path_of(&item.name);
            let Some(number) = number(item) else {
                self.refuse(path, &"is no directory with a number for a name");
                continue;
            };
            let Some(inner) = self.enter(dir, &item.name) else {
                continue;
            };
            let Some(document) = self.document(&inner, OsStr::new(STATE)) else {
                continue;
            };
            found.push(Numbered {
                number,
                document,
                files: self.dirs.len(),
            });
            self.dirs.push(inner);
        }
        found
    }

    fn single_files(&mut self, place: &Place) -> Vec<Document> {
        if let Some(file) = &place.file {
            return self.document(&place.dir, file).into_iter().collect();
        }
        let items = self.items(&place.dir);
        let mut found = Vec::new();
        if items.iter().any(|item| item.text() == SINGLE_FILE) {
            found.extend(self.document(&place.dir, OsStr::new(SINGLE_FILE)));
        }
        for item in items.iter().filter(|item| item.is_dir()) {
            let Ok(dir) = place.dir.enter(&item.name) else {
                continue;
            };
            let inner = dir.items().unwrap_or_default();
            if inner.iter().any(|item| item.text() == SINGLE_FILE) {
                found.extend(self.document(&dir, OsStr::new(SINGLE_FILE)));
            }
        }
        found
    }

    fn flat(&mut self, place: &Place) -> Vec<(Option<FlatName>, bool, Document)> {
        if let Some(file) = &place.file {
            let name = FlatName::parse(file.to_str().unwrap_or_default());
            let failed = place.name == FAILED;
            let document = self.document(&place.dir, file);
            return document
                .into_iter()
                .map(|one| (name.clone(), failed, one))
                .collect();
        }
        let items = self.items(&place.dir);
        let mut found = self.flat_files(&place.dir, &items, place.name == FAILED);
        if items.iter().any(|item| item.text() == FAILED)
            && let Some(dir) = self.enter(&place.dir, OsStr::new(FAILED))
        {
            let items = self.items(&dir);
            found.extend(self.flat_files(&dir, &items, true));
        }
        found
    }

    fn flat_files(
        &mut self,
        dir: &Dir,
        items: &[Item],
        failed: bool,
    ) -> Vec<(Option<FlatName>, bool, Document)> {
        let mut found = Vec::new();
        for item in items.iter().filter(|item| !item.is_dir()) {
            let Some(name) = FlatName::parse(item.text()) else {
                // What is no JSON is no checkpoint; what is, was meant to be one.
                if Path::new(&item.name)
                    .extension()
                    .is_some_and(|end| end == "json")
                {
                    let reason = format!("is not named {}", Scheme::Flat.looks_like());
                    self.refuse(dir.path_of(&item.name), &reason);
                }
                continue;
            };
            let document = self.document(dir, &item.name);
            found.extend(document.map(|document| (Some(name), failed, document)));
        }
        found
    }

    fn indexed(&mut self, place: &Place) -> (Option<Document>, Vec<Document>) {
        let one = place.file.as_ref().and_then(|file| file.to_str());
        if let Some(file) = one.filter(|file| !LISTS.contains(file)) {
            let document = self.document(&place.dir, OsStr::new(file));
            return (None, document.into_iter().collect());
        }
        let items = self.items(&place.dir);
        let list = items.iter().find(|item| LISTS.contains(&item.text()));
        let list = if let Some(item) = list {
            self.document(&place.dir, &item.name)
        } else {
            self.refuse(LISTS[0].to_owned(), &"is not there");
            None
        };
        let files = items.iter().filter(|item| is_listed(item.text()));
        let documents = files.filter_map(|item| self.document(&place.dir, &item.name));
        (list, documents.collect())
    }
}
