//! Writing a bundle.

use std::io::Write;
use std::path::Path;

use super::collect::Collected;
use super::header::{self, BundleRef};
use crate::git::open::Repo;
use crate::git::{Error, IoContext as _};

/// Writes a bundle of refs and all that was collected for them. `path` names the place in errors.
///
/// # Errors
/// When an object cannot be read or the bundle cannot be written.
pub fn write(
    repo: &Repo,
    refs: &[BundleRef],
    objects: &Collected,
    out: &mut dyn Write,
    path: &Path,
) -> Result<(), Error> {
    out.write_all(&header::encode(refs)).at("write", path)?;
    let mut put = |part: &[u8]| out.write_all(part).at("write", path);
    repo.backend.stream_pack(&mut objects.named(), &mut put)
}
