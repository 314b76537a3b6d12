//! Content as git stores it: line endings, `ident`, encodings and filter programs.

use std::io::Read as _;

use gix_attributes::StateRef;
use gix_attributes::search::Outcome;
use gix_filter::pipeline::{CrlfRoundTripCheck, Options, convert};

use gix_worktree::object::bstr::BStr;

use super::Error;
use super::open::Repo;
use super::rules::{as_path, bstr};
use super::settings::{FilterDriver, Settings};

/// What happens to a file's bytes on their way into git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conversion {
    /// They are stored as they are.
    None,
    /// Line endings, `ident` or an encoding may change them.
    Text,
    /// A filter program changes them.
    Program,
}

/// Converts content; one per thread.
#[derive(Clone)]
pub(super) struct Converter {
    outcome: Outcome,
    pipeline: gix_filter::Pipeline,
    by_default: bool,
    programs: Vec<Vec<u8>>,
}

const NAMES: [&str; 6] = [
    "crlf",
    "ident",
    "filter",
    "eol",
    "text",
    "working-tree-encoding",
];

type Attributes<'a> = dyn FnMut(&mut Outcome) -> Result<(), Error> + 'a;

impl Converter {
    pub(super) fn new(repo: &Repo) -> Self {
        let mut outcome = Outcome::default();
        outcome.initialize_with_selection(
            &gix_attributes::search::MetadataCollection::default(),
            NAMES,
        );
        let context = gix_command::Context {
            git_dir: Some(repo.git_dir.clone()),
            worktree_dir: Some(repo.work_dir.clone()),
            ..gix_command::Context::default()
        };
        let Settings { eol, filters, .. } = &repo.settings;
        let options = Options {
            drivers: filters.iter().map(driver).collect(),
            eol_config: *eol,
            crlf_roundtrip_check: CrlfRoundTripCheck::Skip,
            encodings_with_roundtrip_check: Vec::new(),
        };
        let active = |filter: &&FilterDriver| {
            filter.clean.is_some() || filter.smudge.is_some() || filter.process.is_some()
        };
        Self {
            outcome,
            pipeline: gix_filter::Pipeline::new(context, gix_hash::Kind::Sha1, options),
            by_default: repo.settings.converts_by_default(),
            programs: filters
                .iter()
                .filter(active)
                .map(|filter| filter.name.clone().into_bytes())
                .collect(),
        }
    }

    pub(super) fn conversion(
        &mut self,
        attributes: &mut Attributes<'_>,
    ) -> Result<Conversion, Error> {
        attributes(&mut self.outcome)?;
        let mut states = self
            .outcome
            .iter_selected()
            .map(|found| found.assignment.state);
        let mut next = || states.next().unwrap_or(StateRef::Unspecified);
        let (crlf, ident, filter, eol, text, encoding) =
            (next(), next(), next(), next(), next(), next());
        if let StateRef::Value(name) = filter
            && self
                .programs
                .iter()
                .any(|program| program == name.as_bstr().as_ref() as &[u8])
        {
            return Ok(Conversion::Program);
        }
        let text = if text == StateRef::Unspecified {
            crlf
        } else {
            text
        };
        let plain = match text {
            StateRef::Unset => true,
            StateRef::Unspecified => eol == StateRef::Unspecified && !self.by_default,
            _ => false,
        };
        let keeps = plain && ident != StateRef::Set && encoding == StateRef::Unspecified;
        Ok(if keeps {
            Conversion::None
        } else {
            Conversion::Text
        })
    }

    pub(super) fn to_git(
        &mut self,
        path: &[u8],
        bytes: &[u8],
        attributes: &mut Attributes<'_>,
        index_blob: &mut dyn FnMut(&mut Vec<u8>) -> Option<()>,
    ) -> Result<Vec<u8>, Error> {
        let failed = |message: String| Error::Convert {
            path: as_path(path).to_owned(),
            message,
        };
        let mut attribute_error = None;
        let mut select =
            |_: &BStr, outcome: &mut Outcome| attribute_error = attributes(outcome).err();
        let result =
            self.pipeline
                .convert_to_git(bytes, as_path(path), &mut select, &mut |buffer| {
                    Ok(index_blob(buffer))
                });
        let converted = result.map_err(|error| failed(error.to_string()))?;
        let stored = match converted {
            convert::ToGitOutcome::Unchanged(bytes) => bytes.to_vec(),
            convert::ToGitOutcome::Buffer(bytes) => bytes.to_vec(),
            convert::ToGitOutcome::Process(mut output) => {
                let mut stored = Vec::new();
                output
                    .read_to_end(&mut stored)
                    .map_err(|error| failed(error.to_string()))?;
                stored
            }
        };
        attribute_error.map_or(Ok(stored), Err)
    }

    pub(super) fn to_worktree(
        &mut self,
        path: &[u8],
        blob: &[u8],
        attributes: &mut Attributes<'_>,
    ) -> Result<Vec<u8>, Error> {
        let failed = |message: String| Error::Convert {
            path: as_path(path).to_owned(),
            message,
        };
        let mut attribute_error = None;
        let mut select =
            |_: &BStr, outcome: &mut Outcome| attribute_error = attributes(outcome).err();
        let options = convert::to_worktree::Options {
            can_delay: gix_filter::driver::apply::Delay::Forbid,
            unknown_encoding: convert::to_worktree::UnknownEncoding::Fail,
        };
        let result = self
            .pipeline
            .convert_to_worktree(blob, bstr(path), &mut select, options);
        let mut converted = result.map_err(|error| failed(error.to_string()))?;
        let mut file = Vec::with_capacity(blob.len());
        converted
            .read_to_end(&mut file)
            .map_err(|error| failed(error.to_string()))?;
        drop(converted);
        attribute_error.map_or(Ok(file), Err)
    }
}

fn driver(filter: &FilterDriver) -> gix_filter::Driver {
    let command = |text: &Option<String>| text.as_ref().map(|text| text.as_str().into());
    gix_filter::Driver {
        name: filter.name.as_str().into(),
        clean: command(&filter.clean),
        smudge: command(&filter.smudge),
        process: command(&filter.process),
        required: filter.required,
    }
}
