//! HEAD and branches, moved from one checkpoint's to another's.
//!
//! As with the index, nothing of git's is locked: a ref is compared, replaced by a rename, and compared again.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::git::backend::{Head, Sync};
use crate::git::open::Repo;
use crate::git::snapshot::Signature;
use crate::git::{Error, IoContext as _, sync_dir};
use crate::model::object_id::ObjectId;

/// A branch that moves; none where it does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchMove {
    /// The full name.
    pub name: String,
    /// Where it is.
    pub from: Option<ObjectId>,
    /// Where it goes.
    pub to: Option<ObjectId>,
}

/// Who moves refs, when and why, for git's reflogs.
#[derive(Debug, Clone)]
pub struct Signed<'a> {
    /// Who.
    pub signature: &'a Signature,
    /// When.
    pub at: chrono::DateTime<chrono::Utc>,
    /// Why.
    pub message: &'a str,
}

/// The other work tree that has a branch checked out, if one has.
#[must_use]
pub fn checked_out_elsewhere(repo: &Repo, branch: &str) -> Option<PathBuf> {
    let linked = fs::read_dir(repo.common_dir.join("worktrees"));
    let linked = linked.into_iter().flatten().flatten().map(|dir| dir.path());
    let mut all = linked.chain([repo.common_dir.clone()]);
    let same = |a: &Path| match (a.canonicalize(), repo.git_dir.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    };
    let wanted = format!("ref: {branch}");
    let is_bare = |dir: &Path| dir == repo.common_dir && is_bare(&repo.common_dir);
    let found = all.find(|dir| {
        let head = fs::read_to_string(dir.join("HEAD"));
        head.is_ok_and(|head| head.trim_end() == wanted) && !same(dir) && !is_bare(dir)
    })?;
    let work_dir = fs::read_to_string(found.join("gitdir")).ok();
    let work_dir = work_dir.and_then(|text| Some(Path::new(text.trim_end()).parent()?.to_owned()));
    Some(work_dir.unwrap_or_else(|| found.parent().map_or(found.clone(), Path::to_owned)))
}

fn is_bare(common_dir: &Path) -> bool {
    let config = git2::Config::open(&common_dir.join("config"));
    config.is_ok_and(|config| config.get_bool("core.bare").unwrap_or(false))
}

/// The ref whose name keeps a branch from being made: `a` for `a/b`, or the reverse.
///
/// # Errors
/// When refs cannot be read.
pub fn name_conflict(repo: &Repo, branch: &str) -> Result<Option<String>, Error> {
    for (at, _) in branch.match_indices('/').skip(2) {
        if repo.backend.reference(&branch[..at])?.is_some() {
            return Ok(Some(branch[..at].to_owned()));
        }
    }
    let below = repo.backend.references(&format!("{branch}/"))?;
    Ok(below.into_iter().next().map(|(name, _)| name))
}

/// Moves a branch. One that is there already is fine; one that is at neither end is not touched.
///
/// # Errors
/// [`Error::RefMoved`] when it is elsewhere; else when it cannot be written.
pub fn move_branch(
    repo: &Repo,
    branch: &BranchMove,
    signed: &Signed<'_>,
    sync: Sync,
) -> Result<(), Error> {
    let BranchMove { name, from, to } = branch;
    let moved = || Error::RefMoved { name: name.clone() };
    let now = repo.backend.reference(name)?;
    if now == *to {
        return Ok(());
    }
    if now != *from {
        return Err(moved());
    }
    let place = repo.common_dir.join(name);
    let lock = with_suffix(&place, ".lock");
    if lock.symlink_metadata().is_ok() {
        return Err(Error::Locked { path: lock });
    }
    if let Some(id) = to {
        put(repo, &place, &format!("{id}\n"), sync)?;
        log(&repo.common_dir, name, *from, *to, signed, sync)?;
    } else {
        let at = from.expect("it is there, and not where it goes");
        repo.backend.delete_reference(name, at)?;
    }
    if repo.backend.reference(name)? != *to {
        return Err(moved());
    }
    Ok(())
}

/// Points HEAD. Where it points already is fine.
///
/// # Errors
/// When HEAD points at neither, or cannot be written.
pub fn move_head(repo: &Repo, from: &Head, to: &Head, sync: Sync) -> Result<(), Error> {
    let now = repo.backend.head()?;
    if same_place(&now, to) {
        return Ok(());
    }
    if !same_place(&now, from) {
        return Err(Error::RefMoved {
            name: "HEAD".to_owned(),
        });
    }
    let text = match to {
        Head::Branch { name, .. } => [b"ref: ", name.as_slice(), b"\n"].concat(),
        Head::Detached { commit } => format!("{commit}\n").into_bytes(),
    };
    put_bytes(repo, &repo.git_dir.join("HEAD"), &text, sync)
}

/// Notes in HEAD's log that it moved.
///
/// # Errors
/// When the log cannot be written.
pub fn log_head(
    repo: &Repo,
    from: Option<ObjectId>,
    to: Option<ObjectId>,
    signed: &Signed<'_>,
    sync: Sync,
) -> Result<(), Error> {
    log(&repo.git_dir, "HEAD", from, to, signed, sync)
}

/// Whether two values of HEAD name the same branch, or the same commit.
#[must_use]
pub fn same_place(a: &Head, b: &Head) -> bool {
    match (a, b) {
        (Head::Branch { name, .. }, Head::Branch { name: other, .. }) => name == other,
        (Head::Detached { commit }, Head::Detached { commit: other }) => commit == other,
        _ => false,
    }
}

fn put(repo: &Repo, place: &Path, text: &str, sync: Sync) -> Result<(), Error> {
    put_bytes(repo, place, text.as_bytes(), sync)
}

/// Puts a small file of git's in its place in one step.
fn put_bytes(repo: &Repo, place: &Path, text: &[u8], sync: Sync) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt as _;
    // Inside go-team's own directory: what a kill leaves there is swept by its name.
    let scratch = repo.common_dir.join("go-team");
    fs::create_dir_all(&scratch).at("create directory", &scratch)?;
    let mut file = tempfile::Builder::new()
        .prefix(".tmp-ref-")
        .tempfile_in(&scratch)
        .at("create temporary file in", &scratch)?;
    file.write_all(text).at("write", file.path())?;
    file.as_file()
        .set_permissions(fs::Permissions::from_mode(0o644))
        .at("set permissions of", file.path())?;
    if sync == Sync::Durable {
        file.as_file().sync_all().at("sync", file.path())?;
    }
    let dir = place.parent().expect("a ref lies in a directory");
    fs::create_dir_all(dir).at("create directory", dir)?;
    // Deleting branches leaves empty directories behind.
    if place.is_dir() {
        remove_empty(place).at("remove directory", place)?;
    }
    file.persist(place)
        .map_err(|failed| failed.error)
        .at("write", place)?;
    if sync == Sync::Durable {
        for dir in dir.ancestors().take_while(|dir| *dir != repo.common_dir) {
            sync_dir(dir)?;
        }
        sync_dir(&repo.common_dir)?;
    }
    Ok(())
}

fn remove_empty(dir: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_empty(&entry.path())?;
        }
    }
    fs::remove_dir(dir)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut text = path.as_os_str().to_owned();
    text.push(suffix);
    text.into()
}

/// Adds a line to a ref's log, where git would: there is a log, or it is a branch or HEAD and logs are not switched off.
fn log(
    git_dir: &Path,
    name: &str,
    from: Option<ObjectId>,
    to: Option<ObjectId>,
    signed: &Signed<'_>,
    sync: Sync,
) -> Result<(), Error> {
    let place = git_dir.join("logs").join(name);
    let zero = "0".repeat(40);
    let text = |id: Option<ObjectId>| id.map_or_else(|| zero.clone(), |id| id.to_string());
    let (from, to) = (text(from), text(to));
    if from == to {
        return Ok(());
    }
    let Signed {
        signature,
        at,
        message,
    } = signed;
    let line = format!(
        "{from} {to} {} <{}> {} +0000\t{message}\n",
        signature.name,
        signature.email,
        at.timestamp().max(0)
    );
    // Said twice when a killed move is finished, it is said once.
    if fs::read(&place).is_ok_and(|text| text.ends_with(line.as_bytes())) {
        return Ok(());
    }
    if let Some(dir) = place.parent() {
        fs::create_dir_all(dir).at("create directory", dir)?;
    }
    let file = fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(&place);
    let mut file = file.at("open", &place)?;
    file.write_all(line.as_bytes()).at("write", &place)?;
    if sync == Sync::Durable {
        file.sync_all().at("sync", &place)?;
    }
    Ok(())
}
