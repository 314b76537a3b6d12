//! What to say about sessions that cannot be brought in.

use super::{Exit, Failure, of_io};
use crate::engine::import::Defect;
use crate::engine::import_from::{ImportFromError, Scheme};
use crate::git;
use crate::git::bundle::BundleError;
use crate::model::format::FormatError;
use crate::store::archive::ArchiveError;

/// The failure of an archive that is refused.
pub(super) fn of_defect(defect: &Defect, message: String) -> Failure {
    match defect {
        Defect::Archive(ArchiveError::Io(error)) => of_io(error, message),
        Defect::Bundle(BundleError::Git(git::Error::Io { source, .. })) => of_io(source, message),
        Defect::Archive(ArchiveError::Member {
            source: FormatError::UnknownVersion { .. },
            ..
        }) => Failure::new("newer-version", Exit::Failure, message)
            .hint("a newer go-team wrote it, so use that one"),
        Defect::NoRoom { .. } => Failure::new("disk-full", Exit::Failure, message)
            .hint("free some space and run the command again"),
        Defect::Digest { .. } => Failure::new("archive-refused", Exit::Invalid, message)
            .hint("get the file again from where it was exported"),
        _ => Failure::new("archive-refused", Exit::Invalid, message)
            .hint("export it again where it comes from: go-team cp-export"),
    }
}

/// The failure of an import from another program.
pub(super) fn of_import_from(error: &ImportFromError, message: &str) -> Failure {
    let fail = |kind, exit| Failure::new(kind, exit, message);
    let known = || {
        let known = Scheme::ALL.iter();
        let known = known.map(|scheme| format!("{scheme} ({})", scheme.looks_like()));
        format!("known are: {}", known.collect::<Vec<_>>().join(", "))
    };
    match error {
        ImportFromError::Unreadable { source, .. } => match source.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                fail("no-such-file", Exit::NotFound)
                    .hint("import-from takes the directory or file that holds the checkpoints")
            }
            _ => fail("unreadable-input", Exit::Failure),
        },
        ImportFromError::Unknown { .. } => fail("unknown-scheme", Exit::NotFound)
            .hint(known())
            .hint("--scheme SCHEME reads it as one of them"),
        ImportFromError::Ambiguous { .. } => {
            fail("ambiguous-scheme", Exit::Usage).hint("--scheme SCHEME says which is meant")
        }
        ImportFromError::Empty { .. } => fail("nothing-to-import", Exit::NotFound).hint(known()),
        ImportFromError::AllPresent { .. } => fail("session-exists", Exit::Failure)
            .hint("go-team sessions lists what is there")
            .hint("--as NAME brings it in once more, under another name"),
        ImportFromError::LongName { .. } => {
            fail("bad-id", Exit::Usage).hint("ids have at most 80 characters")
        }
    }
}
