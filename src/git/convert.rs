//! Content as git stores it: line endings, `ident`, encodings and filter programs, in git's order.
//!
//! The single steps are gitoxide's. They are put together here because git goes on where a filter that is not required
//! fails, and because encodings with byte order marks have rules of git's own.

use std::io::Read as _;

use gix_filter::driver::Operation;
use gix_filter::eol::{self, AttributesDigest, AutoCrlf};

use super::Error;
use super::attributes::State;
use super::encoding::Unicode;
use super::open::Repo;
use super::rules::{as_path, bstr};
use super::settings::FilterDriver;

/// What happens to a file's bytes on their way into git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Conversion {
    /// The filter program, by its place in the settings.
    program: Option<usize>,
    encoding: Option<Encoding>,
    lines: AttributesDigest,
    ident: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Encoding {
    Unicode(Unicode),
    Other(Vec<u8>),
    /// `working-tree-encoding` without a name, which git refuses.
    Nameless,
}

impl Conversion {
    /// The bytes are stored as they are.
    pub(super) const NONE: Self = Self {
        program: None,
        encoding: None,
        lines: AttributesDigest::Binary,
        ident: false,
    };

    /// Whether a filter program has a say.
    pub(super) fn has_program(&self) -> bool {
        self.program.is_some()
    }
}

/// Converts content; one per thread.
pub(super) struct Converter {
    programs: gix_filter::driver::State,
    drivers: Vec<gix_filter::Driver>,
    eol: eol::Configuration,
}

impl Clone for Converter {
    fn clone(&self) -> Self {
        Self {
            programs: gix_filter::driver::State::new(self.programs.context.clone()),
            drivers: self.drivers.clone(),
            eol: self.eol,
        }
    }
}

/// The attributes that decide, in the order in which [`Converter::conversion`] takes them.
pub(super) const NAMES: [&str; 6] = [
    "crlf",
    "ident",
    "filter",
    "eol",
    "text",
    "working-tree-encoding",
];

impl Converter {
    pub(super) fn new(repo: &Repo) -> Self {
        let context = gix_command::Context {
            git_dir: Some(repo.git_dir.clone()),
            worktree_dir: Some(repo.work_dir.clone()),
            ..gix_command::Context::default()
        };
        Self {
            programs: gix_filter::driver::State::new(context),
            drivers: repo.settings.filters.iter().map(driver).collect(),
            eol: repo.settings.eol,
        }
    }

    /// What the attributes of a path ask for: those of [`NAMES`].
    pub(super) fn conversion(&self, attributes: [&State; NAMES.len()]) -> Conversion {
        let [crlf, ident, filter, eol, text, encoding] = attributes;
        let program = match filter {
            State::Value(name) => self
                .drivers
                .iter()
                .position(|driver| driver.name == **name)
                .filter(|at| does_something(&self.drivers[*at])),
            _ => None,
        };
        let encoding = match encoding {
            State::Unspecified => None,
            State::Set | State::Unset => Some(Encoding::Nameless),
            State::Value(name) => encoding_of(name),
        };
        Conversion {
            program,
            encoding,
            lines: lines(self.eol, [text, crlf], eol),
            ident: *ident == State::Set,
        }
    }

    /// What git would store.
    pub(super) fn clean(
        &mut self,
        conversion: &Conversion,
        path: &[u8],
        bytes: &[u8],
        index_blob: &mut dyn FnMut(&mut Vec<u8>) -> Option<()>,
    ) -> Result<Vec<u8>, Error> {
        let failed = |message: String| Error::Convert {
            path: as_path(path).to_owned(),
            message,
        };
        let mut content = self
            .run(conversion, Operation::Clean, path, bytes)
            .map_err(failed)?
            .unwrap_or_else(|| bytes.to_vec());
        if let Some(encoding) = conversion.encoding.as_ref().filter(|_| !content.is_empty()) {
            content = decode(encoding, &content).map_err(failed)?;
        }
        let mut buffer = Vec::new();
        let options = eol::convert_to_git::Options {
            round_trip_check: None,
            config: self.eol,
        };
        let changed = eol::convert_to_git(
            &content,
            conversion.lines,
            &mut buffer,
            &mut |buffer| Ok(index_blob(buffer)),
            options,
        );
        if changed.map_err(|error| failed(error.to_string()))? {
            std::mem::swap(&mut content, &mut buffer);
        }
        if conversion.ident
            && gix_filter::ident::undo(&content, &mut buffer)
                .map_err(|error| failed(error.to_string()))?
        {
            content = buffer;
        }
        Ok(content)
    }

    /// What git would check out. Where that cannot be told, an error: the exact bytes are kept aside then.
    pub(super) fn smudge(
        &mut self,
        conversion: &Conversion,
        path: &[u8],
        blob: &[u8],
    ) -> Result<Vec<u8>, Error> {
        let failed = |message: String| Error::Convert {
            path: as_path(path).to_owned(),
            message,
        };
        let mut content = blob.to_vec();
        let mut buffer = Vec::new();
        if conversion.ident
            && gix_filter::ident::apply(&content, gix_hash::Kind::Sha1, &mut buffer)
                .map_err(|error| failed(error.to_string()))?
        {
            std::mem::swap(&mut content, &mut buffer);
        }
        if eol::convert_to_worktree(&content, conversion.lines, &mut buffer, self.eol)
            .map_err(|error| failed(error.to_string()))?
        {
            std::mem::swap(&mut content, &mut buffer);
        }
        if conversion.encoding.is_some() && !content.is_empty() {
            return Err(failed("encoders differ between systems".into()));
        }
        let filtered = self
            .run(conversion, Operation::Smudge, path, &content)
            .map_err(failed)?;
        Ok(filtered.unwrap_or(content))
    }

    /// Runs the filter program; none when there is none, or when it failed and need not succeed.
    fn run(
        &mut self,
        conversion: &Conversion,
        operation: Operation,
        path: &[u8],
        bytes: &[u8],
    ) -> Result<Option<Vec<u8>>, String> {
        let Some(driver) = conversion.program.map(|at| &self.drivers[at]) else {
            return Ok(None);
        };
        let context = gix_filter::driver::apply::Context {
            rela_path: bstr(path),
            ref_name: None,
            treeish: None,
            blob: None,
        };
        let output = match self
            .programs
            .apply(driver, &mut &*bytes, operation, context)
        {
            Ok(Some(mut output)) => {
                let mut filtered = Vec::new();
                let read = output.read_to_end(&mut filtered);
                read.map(|_| filtered).map_err(|error| error.to_string())
            }
            Ok(None) => Err("the filter has no such command".into()),
            Err(error) => Err(error.to_string()),
        };
        match output {
            Ok(filtered) => Ok(Some(filtered)),
            Err(_) if !driver.required => Ok(None),
            Err(message) => Err(message),
        }
    }
}

/// What the attributes and settings make of line endings, by git's table.
fn lines(config: eol::Configuration, text: [&State; 2], eol: &State) -> AttributesDigest {
    let of_text = |state: &&State| match state {
        State::Set => Some(AttributesDigest::Text),
        State::Unset => Some(AttributesDigest::Binary),
        State::Value(value) if **value == *b"input" => Some(AttributesDigest::TextInput),
        State::Value(value) if **value == *b"auto" => Some(AttributesDigest::TextAuto),
        _ => None,
    };
    let digest = text.iter().find_map(of_text);
    let is = |name: &str| matches!(eol, State::Value(value) if **value == *name.as_bytes());
    let digest = match digest {
        Some(AttributesDigest::Binary) => digest,
        Some(AttributesDigest::TextAuto) if is("lf") => Some(AttributesDigest::TextAutoInput),
        Some(AttributesDigest::TextAuto) if is("crlf") => Some(AttributesDigest::TextAutoCrlf),
        _ if is("lf") => Some(AttributesDigest::TextInput),
        _ if is("crlf") => Some(AttributesDigest::TextCrlf),
        _ => digest,
    };
    match digest {
        None => match config.auto_crlf {
            AutoCrlf::Disabled => AttributesDigest::Binary,
            AutoCrlf::Enabled => AttributesDigest::TextAutoCrlf,
            AutoCrlf::Input => AttributesDigest::TextAutoInput,
        },
        Some(AttributesDigest::Text) => config.to_eol().into(),
        Some(digest) => digest,
    }
}

/// The encoding of a name; none for git's own.
fn encoding_of(name: &[u8]) -> Option<Encoding> {
    if name.eq_ignore_ascii_case(b"utf-8") || name.eq_ignore_ascii_case(b"utf8") {
        return None;
    }
    Some(Unicode::named(name).map_or_else(|| Encoding::Other(name.to_vec()), Encoding::Unicode))
}

fn decode(encoding: &Encoding, bytes: &[u8]) -> Result<Vec<u8>, String> {
    match encoding {
        Encoding::Nameless => Err("an encoding needs a name".into()),
        Encoding::Unicode(unicode) => unicode
            .decode(bytes)
            .ok_or_else(|| format!("not {unicode:?}")),
        Encoding::Other(name) => {
            let encoding = gix_filter::worktree::encoding::for_label(bstr(name))
                .map_err(|error| error.to_string())?;
            let mut content = Vec::new();
            let check = gix_filter::worktree::encode_to_git::RoundTripCheck::Skip;
            gix_filter::worktree::encode_to_git(bytes, encoding, &mut content, check)
                .map_err(|error| error.to_string())?;
            Ok(content)
        }
    }
}

fn does_something(driver: &gix_filter::Driver) -> bool {
    let commands = [&driver.clean, &driver.smudge, &driver.process];
    driver.required || commands.iter().any(|command| command.is_some())
}

fn driver(filter: &FilterDriver) -> gix_filter::Driver {
    let command = |text: &Option<String>| {
        let text = text.as_deref().filter(|text| !text.is_empty());
        text.map(Into::into)
    };
    gix_filter::Driver {
        name: filter.name.as_str().into(),
        clean: command(&filter.clean),
        smudge: command(&filter.smudge),
        process: command(&filter.process),
        required: filter.required,
    }
}
