//! The search for what new paths came from.

use std::collections::HashMap;

use super::super::attributes::Attributes;
use super::super::similarity::{DEFAULT_SCORE, MAX_SCORE, NAMESAKE_SCORE, Pieces, can_reach};
use super::super::source::Source;
use super::super::{Delta, Item};
use super::{Detect, is_other_type};
use crate::git::Error;
use crate::model::object_id::ObjectId;

/// More comparisons than the square of this are not made.
const LIMIT: usize = 1000;
/// How many equal contents are looked through for the best one.
const PATIENCE: usize = 100;
/// How many sources are remembered for each new path.
const CANDIDATES: usize = 4;

/// A path that something may have come from.
pub(super) struct Origin {
    pub delta: usize,
    /// Who claims it, the path itself included when it stays.
    pub uses: usize,
    /// Whether something did come from it.
    pub used: bool,
}

/// A new path.
pub(super) struct Target {
    pub delta: usize,
    pub found: Option<(usize, u32)>,
}

/// How well an origin fits a target.
#[derive(Clone, Copy)]
struct Fit {
    origin: usize,
    target: usize,
    score: u32,
    same_name: bool,
}

impl Fit {
    fn key(&self) -> (u32, bool) {
        (self.score, self.same_name)
    }
}

pub(super) struct Search<'a> {
    deltas: &'a [Delta],
    detect: Detect,
    source: &'a Source<'a>,
    attributes: &'a mut Attributes,
    pub sources: Vec<Origin>,
    pub targets: Vec<Target>,
    pieces: HashMap<(bool, usize), Pieces>,
    sizes: HashMap<(bool, usize), Option<u64>>,
}

impl<'a> Search<'a> {
    pub fn new(
        deltas: &'a [Delta],
        detect: Detect,
        source: &'a Source<'a>,
        attributes: &'a mut Attributes,
    ) -> Self {
        let (mut sources, mut targets) = (Vec::new(), Vec::new());
        for (nth, delta) in deltas.iter().enumerate() {
            let stays = usize::from(delta.new.is_some());
            if delta.old.is_none() {
                targets.push(Target {
                    delta: nth,
                    found: None,
                });
            } else if stays == 0 || detect == Detect::Copies {
                sources.push(Origin {
                    delta: nth,
                    uses: stays,
                    used: false,
                });
            }
        }
        Self {
            deltas,
            detect,
            source,
            attributes,
            sources,
            targets,
            pieces: HashMap::new(),
            sizes: HashMap::new(),
        }
    }

    pub fn run(&mut self) -> Result<(), Error> {
        self.equal_contents();
        if self.detect == Detect::Renames {
            self.namesakes()?;
        }
        let targets: Vec<usize> = self.open_targets();
        let origins: Vec<usize> = self.open_origins();
        if targets.len().saturating_mul(origins.len()) > LIMIT * LIMIT {
            return Ok(());
        }
        self.similar(&targets, &origins)
    }

    fn old(&self, origin: usize) -> (&'a [u8], Item) {
        let delta = &self.deltas[self.sources[origin].delta];
        (&delta.path, delta.old.expect("an origin has an old side"))
    }

    fn new_side(&self, target: usize) -> (&'a [u8], Item) {
        let delta = &self.deltas[self.targets[target].delta];
        (&delta.path, delta.new.expect("a target has a new side"))
    }

    fn join(&mut self, target: usize, origin: usize, score: u32) {
        self.targets[target].found = Some((origin, score));
        self.sources[origin].uses += 1;
        self.sources[origin].used = true;
    }

    fn open_targets(&self) -> Vec<usize> {
        let open = |target: &usize| self.targets[*target].found.is_none();
        (0..self.targets.len()).filter(open).collect()
    }

    /// Where something may still come from: anything when copies count, else what is not taken.
    fn open_origins(&self) -> Vec<usize> {
        let open =
            |origin: &usize| self.detect == Detect::Copies || self.sources[*origin].uses == 0;
        (0..self.sources.len()).filter(open).collect()
    }

    fn equal_contents(&mut self) {
        let mut by_id: HashMap<ObjectId, Vec<usize>> = HashMap::new();
        for origin in 0..self.sources.len() {
            by_id.entry(self.old(origin).1.id).or_default().push(origin);
        }
        for target in 0..self.targets.len() {
            let (path, item) = self.new_side(target);
            let Some(equal) = by_id.get(&item.id) else {
                continue;
            };
            let mut best: Option<(u8, usize)> = None;
            let mut looked_at = 0;
            for &origin in equal {
                let (old_path, old) = self.old(origin);
                if is_other_type(&old, &item) {
                    continue;
                }
                let taken = self.sources[origin].uses > 0;
                if taken && self.detect != Detect::Copies {
                    continue;
                }
                let score = u8::from(!taken) + u8::from(is_same_name(old_path, path));
                if best.is_none_or(|(least, _)| score > least) {
                    best = Some((score, origin));
                    if score == 2 {
                        break;
                    }
                }
                looked_at += 1;
                if looked_at == PATIENCE {
                    break;
                }
            }
            if let Some((_, origin)) = best {
                self.join(target, origin, MAX_SCORE);
            }
        }
    }

    /// A name that only one path has lost and only one path has got.
    fn namesakes(&mut self) -> Result<(), Error> {
        let mut lost: HashMap<&[u8], Option<usize>> = HashMap::new();
        let mut got: HashMap<&[u8], Option<usize>> = HashMap::new();
        let origins = self.open_origins();
        for &origin in &origins {
            let name = name_of(self.old(origin).0);
            lost.entry(name)
                .and_modify(|only| *only = None)
                .or_insert(Some(origin));
        }
        for target in self.open_targets() {
            let name = name_of(self.new_side(target).0);
            got.entry(name)
                .and_modify(|only| *only = None)
                .or_insert(Some(target));
        }
        for origin in origins {
            let name = name_of(self.old(origin).0);
            let only = (lost.get(name).copied(), got.get(name).copied());
            let (Some(Some(_)), Some(Some(target))) = only else {
                continue;
            };
            let score = self.score(origin, target, NAMESAKE_SCORE)?;
            if score >= NAMESAKE_SCORE {
                self.join(target, origin, score);
            }
        }
        Ok(())
    }

    fn similar(&mut self, targets: &[usize], origins: &[usize]) -> Result<(), Error> {
        let mut fits: Vec<Fit> = Vec::new();
        for &target in targets {
            let mut best: Vec<Fit> = Vec::with_capacity(CANDIDATES);
            for &origin in origins {
                let fit = Fit {
                    origin,
                    target,
                    score: self.score(origin, target, DEFAULT_SCORE)?,
                    same_name: is_same_name(self.old(origin).0, self.new_side(target).0),
                };
                if best.len() < CANDIDATES {
                    best.push(fit);
                    continue;
                }
                let mut worst = 0;
                for nth in 1..CANDIDATES {
                    if best[nth].key() < best[worst].key() {
                        worst = nth;
                    }
                }
                if fit.key() > best[worst].key() {
                    best[worst] = fit;
                }
            }
            self.pieces.remove(&(true, target));
            fits.extend(best);
        }
        // Stable: of equal fits the first one wins, as in git.
        fits.sort_by_key(|fit| std::cmp::Reverse(fit.key()));
        let rounds: &[bool] = match self.detect {
            Detect::Renames => &[false],
            Detect::Copies => &[false, true],
        };
        for &takes_used in rounds {
            for fit in fits.iter().take_while(|fit| fit.score >= DEFAULT_SCORE) {
                let is_free = takes_used || self.sources[fit.origin].uses == 0;
                if self.targets[fit.target].found.is_none() && is_free {
                    self.join(fit.target, fit.origin, fit.score);
                }
            }
        }
        Ok(())
    }

    /// How similar they are; 0 when they cannot be similar enough.
    fn score(&mut self, origin: usize, target: usize, least: u32) -> Result<u32, Error> {
        let (old, new) = (self.old(origin), self.new_side(target));
        if !old.1.mode.is_regular() || !new.1.mode.is_regular() {
            return Ok(0);
        }
        let sizes = (
            self.size((false, origin), old),
            self.size((true, target), new),
        );
        let (Some(a), Some(b)) = sizes else {
            return Ok(0);
        };
        if !can_reach(least, a, b) {
            return Ok(0);
        }
        self.cut((false, origin), old)?;
        self.cut((true, target), new)?;
        let pieces = |key| self.pieces.get(&key);
        let pair = (pieces((false, origin)), pieces((true, target)));
        let (Some(old), Some(new)) = pair else {
            return Ok(0);
        };
        Ok(old.score(new))
    }

    fn size(&mut self, key: (bool, usize), (path, item): (&[u8], Item)) -> Option<u64> {
        let source = self.source;
        *self
            .sizes
            .entry(key)
            .or_insert_with(|| source.size(path, &item))
    }

    fn cut(&mut self, key: (bool, usize), (path, item): (&[u8], Item)) -> Result<(), Error> {
        if self.pieces.contains_key(&key) {
            return Ok(());
        }
        let content = self.source.content(path, &item)?;
        let is_text = !self.attributes.of(path, item.mode).is_binary(&content);
        self.pieces.insert(key, Pieces::of(&content, is_text));
        Ok(())
    }
}

fn name_of(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

fn is_same_name(a: &[u8], b: &[u8]) -> bool {
    name_of(a) == name_of(b)
}
