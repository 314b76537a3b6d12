//! Attributes by git's rules: which lines match a path, and which of several files decides.

mod line;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use line::{Assignment, List, Source};

use super::controls::{self, ControlFile};
use super::hash::Kind;
use super::open::Repo;
use super::pattern::Target;
use super::tree;
use super::{Error, IoContext as _};
use crate::model::object_id::ObjectId;

/// The attributes that git brings along.
const BUILT_IN: &[u8] = b"[attr]binary -diff -merge -text";
/// Where attributes of the whole system are.
const SYSTEM: &str = "/etc/gitattributes";

/// What is said of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// `name`
    Set,
    /// `-name`
    Unset,
    /// `!name`, or nothing at all.
    Unspecified,
    /// `name=value`
    Value(Box<[u8]>),
}

/// Finds an attribute file that is not read from disk.
type Find<'f> = dyn Fn(&[u8]) -> Option<Vec<u8>> + 'f;

/// Where the attribute files inside the work tree are.
#[derive(Clone)]
enum Place {
    /// On disk; what is not there is looked for elsewhere.
    Disk(Arc<PathBuf>),
    /// Elsewhere only.
    Tree,
    /// In the tree that `attr.tree` names.
    Setting(ObjectId, Arc<dyn super::backend::Backend>),
}

/// The attribute files that hold for one directory, kept while paths of the same directory are asked for.
#[derive(Clone)]
pub struct Attributes {
    place: Place,
    outside: Arc<Outside>,
    fold: bool,
    stack: Vec<Level>,
}

/// The lists outside the work tree.
struct Outside {
    /// The weakest one first.
    weak: Vec<List>,
    /// `info/attributes`, which wins over all others.
    strong: List,
}

#[derive(Clone)]
struct Level {
    dir: Vec<u8>,
    list: Option<Arc<List>>,
}

impl Attributes {
    /// Reads the files that hold for all paths; others when a path needs them.
    ///
    /// # Errors
    /// When an attribute file cannot be read.
    pub fn new(repo: &Repo) -> Result<Self, Error> {
        Self::at(repo, Place::Disk(Arc::new(repo.work_dir.clone())))
    }

    /// The same with those inside the work tree from somewhere else, unless a setting says where they are.
    pub(super) fn of_tree(repo: &Repo) -> Result<Self, Error> {
        Self::at(repo, Place::Tree)
    }

    fn at(repo: &Repo, place: Place) -> Result<Self, Error> {
        let place = match repo.settings.attribute_tree {
            Some(tree) => Place::Setting(tree, repo.backend.clone()),
            None => place,
        };
        let [system, own, info] = outside_files(repo);
        let weak = [
            List::parse(&[], BUILT_IN, Source::File),
            list_of(system.as_deref())?,
            list_of(own.as_deref())?,
        ];
        let outside = Outside {
            weak: weak.into_iter().filter(|list| !list.is_empty()).collect(),
            strong: list_of(info.as_deref())?,
        };
        Ok(Self {
            place,
            outside: Arc::new(outside),
            fold: repo.settings.ignore_case,
            stack: Vec::new(),
        })
    }

    /// What is said of each of the names for a file.
    pub(super) fn of<const N: usize>(
        &mut self,
        path: &[u8],
        names: [&str; N],
        find: &Find<'_>,
    ) -> [&State; N] {
        let all = self.said(path, find);
        names.map(|name| {
            let found = all.iter().find(|said| *said.name == *name.as_bytes());
            found.map_or(&State::Unspecified, |said| &said.state)
        })
    }

    /// Every attribute that something is said of for a file of the work tree, by name.
    #[must_use]
    pub fn all(&mut self, path: &[u8]) -> Vec<(Vec<u8>, State)> {
        let said = self.said(path, &|_| None);
        let mut all: Vec<_> = said
            .into_iter()
            .filter(|said| said.state != State::Unspecified)
            .map(|said| (said.name.to_vec(), said.state.clone()))
            .collect();
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        all
    }

    /// For each attribute the line that decides.
    fn said(&mut self, path: &[u8], find: &Find<'_>) -> Vec<&Assignment> {
        let slash = path.iter().rposition(|byte| *byte == b'/');
        self.enter(&path[..slash.unwrap_or(0)], find);
        let target = Target::new(path, self.fold);
        let mut said = Vec::new();
        for list in self.lists() {
            for assignments in list.matching(target) {
                self.take(assignments, &mut said);
            }
        }
        said
    }

    /// The strongest list first.
    fn lists(&self) -> impl Iterator<Item = &List> {
        let own = self.stack.iter().rev();
        std::iter::once(&self.outside.strong)
            .chain(own.filter_map(|level| level.list.as_deref()))
            .chain(self.outside.weak.iter().rev())
    }

    /// Takes what nothing stronger has been said of, with what a macro stands for.
    fn take<'s>(&'s self, assignments: &'s [Assignment], said: &mut Vec<&'s Assignment>) {
        for assignment in assignments.iter().rev() {
            if said.iter().any(|other| other.name == assignment.name) {
                continue;
            }
            said.push(assignment);
            if assignment.state == State::Set {
                let expansion = self
                    .lists()
                    .find_map(|list| list.expansion(&assignment.name));
                self.take(expansion.unwrap_or_default(), said);
            }
        }
    }

    fn enter(&mut self, dir: &[u8], find: &Find<'_>) {
        let holds = |level: &Level| {
            level.dir.is_empty()
                || (dir.starts_with(&level.dir)
                    && matches!(dir.get(level.dir.len()), None | Some(b'/')))
        };
        while self.stack.last().is_some_and(|level| !holds(level)) {
            self.stack.pop();
        }
        if self.stack.is_empty() {
            self.push(&[], find);
        }
        while let Some(above) = self.stack.last().map(|level| level.dir.len())
            && above < dir.len()
        {
            let from = above + usize::from(above > 0);
            let next = dir[from..].iter().position(|byte| *byte == b'/');
            self.push(&dir[..next.map_or(dir.len(), |next| from + next)], find);
        }
    }

    fn push(&mut self, dir: &[u8], find: &Find<'_>) {
        let list = self.read(dir, find).filter(|list| !list.is_empty());
        self.stack.push(Level {
            dir: dir.to_vec(),
            list: list.map(Arc::new),
        });
    }

    /// The attribute file of a directory.
    fn read(&self, dir: &[u8], find: &Find<'_>) -> Option<List> {
        let path = super::node::join(dir, controls::CONTROLS[1]);
        let (bytes, source) = match &self.place {
            Place::Disk(work_dir) => match controls::read(work_dir, &path) {
                ControlFile::Text(bytes) if (bytes.len() as u64) < controls::MAX_FILE => {
                    (bytes, Source::File)
                }
                ControlFile::Unusable => return None,
                _ => (find(&path)?, Source::Object),
            },
            // They are those of a work tree as it was.
            Place::Tree => (find(&path)?, Source::File),
            Place::Setting(tree, backend) => {
                let bytes = in_tree(&**backend, *tree, &path)?;
                (bytes, Source::Object)
            }
        };
        Some(List::parse(dir, &bytes, source))
    }
}

/// The attribute files outside the work tree that are there: of the system, of the user, of the repository.
pub(super) fn outside_files(repo: &Repo) -> [Option<PathBuf>; 3] {
    let own = repo.settings.attributes_file.as_ref();
    // A relative name is meant from the top of the work tree.
    let own = own.map(|file| repo.work_dir.join(file));
    let info = repo.common_dir.join("info/attributes");
    [Some(SYSTEM.into()), own, Some(info)]
        .map(|file: Option<PathBuf>| file.filter(|file| file.is_file()))
}

fn list_of(file: Option<&Path>) -> Result<List, Error> {
    let Some(file) = file else {
        return Ok(List::default());
    };
    let bytes = std::fs::read(file).at("read", file)?;
    Ok(List::parse(&[], &bytes, Source::File))
}

/// The content of a file in a tree.
fn in_tree(backend: &dyn super::backend::Backend, tree: ObjectId, path: &[u8]) -> Option<Vec<u8>> {
    let mut id = tree;
    for part in path.split(|byte| *byte == b'/') {
        let object = backend.read(&id).ok()??;
        if object.kind != Kind::Tree {
            return None;
        }
        let entries = tree::decode(backend.format(), &object.bytes).ok()?;
        id = entries.iter().find(|entry| entry.name == part)?.id;
    }
    let object = backend.read(&id).ok()??;
    (object.kind == Kind::Blob).then_some(object.bytes)
}
