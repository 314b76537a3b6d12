//! The settings of git's that decide what a work tree's files become in a tree.

use std::path::PathBuf;

use gix_filter::eol;

use super::Error;
use crate::model::object_id::ObjectId;

/// One `filter.<name>` section.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilterDriver {
    /// The name after `filter.`.
    pub name: String,
    /// The command that turns a file into what git stores.
    pub clean: Option<String>,
    /// The command that turns what git stores into a file.
    pub smudge: Option<String>,
    /// A long-running command that does both.
    pub process: Option<String>,
    /// Whether a failing filter is an error.
    pub required: bool,
}

/// Effective settings, read once when a repository is opened.
#[derive(Debug, Clone)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is one independent boolean setting of git's"
)]
pub struct Settings {
    /// `core.fileMode`: the executable bit on disk means something.
    pub file_mode: bool,
    /// `core.symlinks`: links on disk are links.
    pub symlinks: bool,
    /// `core.ignoreCase`.
    pub ignore_case: bool,
    /// `core.autocrlf` and `core.eol`.
    pub eol: eol::Configuration,
    /// `core.excludesFile` or its default place.
    pub excludes_file: Option<PathBuf>,
    /// `core.attributesFile` or its default place.
    pub attributes_file: Option<PathBuf>,
    /// The tree that `attr.tree` names, whose attribute files count in place of the work tree's.
    pub attribute_tree: Option<ObjectId>,
    /// `core.sparseCheckout`.
    pub sparse_checkout: bool,
    /// `sparse.expectFilesOutsideOfPatterns`: a file that is there though its entry is left out stays left out.
    pub expect_outside: bool,
    /// `core.protectHFS`, off but on macOS.
    pub protect_hfs: bool,
    /// `core.protectNTFS`, on everywhere.
    pub protect_ntfs: bool,
    /// `core.sharedRepository` as permission bits to add to files.
    pub shared_bits: u32,
    /// All filter drivers.
    pub filters: Vec<FilterDriver>,
    /// Whether objects may be missing because another repository has them.
    pub partial_clone: bool,
}

impl Settings {
    pub(super) fn read(
        config: &git2::Config,
        home: Option<PathBuf>,
        xdg: Option<PathBuf>,
    ) -> Result<Self, Error> {
        let xdg = xdg
            .or_else(|| home.map(|home| home.join(".config")))
            .map(|dir| dir.join("git"));
        let file = |key: &str, name: &str| {
            config
                .get_path(key)
                .ok()
                .or_else(|| xdg.as_ref().map(|dir| dir.join(name)))
        };
        let flag = |key: &str, default: bool| match config.get_bool(key) {
            Ok(value) => Ok(value),
            Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(default),
            Err(error) => Err(Error::git("read git's configuration", &error)),
        };
        let auto_crlf = match config.get_string("core.autocrlf") {
            Ok(value) if value.eq_ignore_ascii_case("input") => eol::AutoCrlf::Input,
            _ if flag("core.autocrlf", false)? => eol::AutoCrlf::Enabled,
            _ => eol::AutoCrlf::Disabled,
        };
        let eol = match config
            .get_string("core.eol")
            .map(|value| value.to_ascii_lowercase())
            .as_deref()
        {
            Ok("lf") => Some(eol::Mode::Lf),
            Ok("crlf") => Some(eol::Mode::CrLf),
            _ => None,
        };
        Ok(Self {
            file_mode: flag("core.filemode", true)?,
            symlinks: flag("core.symlinks", true)?,
            ignore_case: flag("core.ignorecase", false)?,
            eol: eol::Configuration { auto_crlf, eol },
            excludes_file: file("core.excludesfile", "ignore"),
            attributes_file: file("core.attributesfile", "attributes"),
            attribute_tree: None,
            sparse_checkout: flag("core.sparsecheckout", false)?,
            expect_outside: flag("sparse.expectfilesoutsideofpatterns", false)?,
            protect_hfs: flag("core.protecthfs", cfg!(target_os = "macos"))?,
            protect_ntfs: flag("core.protectntfs", true)?,
            shared_bits: shared_bits(config.get_string("core.sharedrepository").ok().as_deref()),
            filters: filters(config)?,
            partial_clone: config.get_string("extensions.partialclone").is_ok()
                || has_promisor(config),
        })
    }

    /// Whether any file could be stored other than byte for byte, attributes aside.
    #[must_use]
    pub fn converts_by_default(&self) -> bool {
        self.eol.auto_crlf != eol::AutoCrlf::Disabled
    }
}

/// What `core.sharedRepository` adds to the permissions of a file.
fn shared_bits(value: Option<&str>) -> u32 {
    match value {
        Some("group" | "true" | "1" | "yes" | "on") => 0o660,
        Some("all" | "world" | "everybody" | "2") => 0o664,
        Some(octal) if octal.starts_with('0') => u32::from_str_radix(octal, 8).unwrap_or(0) & 0o666,
        _ => 0,
    }
}

/// Whether a remote has promised to have what is missing, as newer versions of git note it.
fn has_promisor(config: &git2::Config) -> bool {
    let Ok(mut entries) = config.entries(Some(r"^remote\..*\.promisor$")) else {
        return false;
    };
    while let Some(entry) = entries.next() {
        let value = entry.as_ref().ok().and_then(|entry| entry.value().ok());
        if value.is_some_and(|value| value == "true") {
            return true;
        }
    }
    false
}

fn filters(config: &git2::Config) -> Result<Vec<FilterDriver>, Error> {
    let reading = |error: git2::Error| Error::git("read git's configuration", &error);
    let mut drivers: Vec<FilterDriver> = Vec::new();
    let mut entries = config.entries(Some(r"^filter\.")).map_err(reading)?;
    while let Some(entry) = entries.next() {
        let entry = entry.map_err(reading)?;
        let Ok(key) = entry.name() else { continue };
        let Some((name, variable)) = key
            .strip_prefix("filter.")
            .and_then(|rest| rest.rsplit_once('.'))
        else {
            continue;
        };
        let value = entry.value().ok().map(str::to_owned);
        let at = drivers
            .iter()
            .position(|driver| driver.name == name)
            .unwrap_or_else(|| {
                drivers.push(FilterDriver {
                    name: name.to_owned(),
                    ..FilterDriver::default()
                });
                drivers.len() - 1
            });
        let driver = &mut drivers[at];
        match variable {
            "clean" => driver.clean = value,
            "smudge" => driver.smudge = value,
            "process" => driver.process = value,
            "required" => driver.required = config.get_bool(key).unwrap_or(false),
            _ => {}
        }
    }
    Ok(drivers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_repositories_widen_permissions() {
        assert_eq!(shared_bits(None), 0);
        assert_eq!(shared_bits(Some("group")), 0o660);
        assert_eq!(shared_bits(Some("all")), 0o664);
        assert_eq!(shared_bits(Some("0640")), 0o640);
        assert_eq!(shared_bits(Some("false")), 0);
    }
}
