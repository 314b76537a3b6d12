//! What `stat` says of a file, and when that may be trusted as a sign that nothing changed.

use rustix::fs::{FileType, Stat};

/// The fields of `stat` that change when a file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stamp {
    /// Last modification of the content.
    pub mtime: i64,
    /// Last change of the inode; no program can set it back.
    pub ctime: i64,
    /// Device and inode, mixed: a file put in another's place differs.
    pub ino: u64,
    /// Size in bytes.
    pub size: u64,
    /// Type and permission bits.
    pub mode: u32,
}

/// Seconds and nanoseconds as one number; the range of `i64` nanoseconds ends in the year 2262.
#[allow(
    clippy::useless_conversion,
    reason = "the width of these fields differs between platforms"
)]
fn nanos(seconds: i64, fraction: impl TryInto<i64>) -> i64 {
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(fraction.try_into().unwrap_or(0))
}

impl Stamp {
    /// Takes the fields over.
    #[must_use]
    #[allow(
        clippy::useless_conversion,
        clippy::cast_sign_loss,
        reason = "field widths differ between platforms"
    )]
    pub fn of(stat: &Stat) -> Self {
        Self {
            mtime: nanos(stat.st_mtime, stat.st_mtime_nsec),
            ctime: nanos(stat.st_ctime, stat.st_ctime_nsec),
            ino: u64::from(stat.st_ino) ^ u64::from(stat.st_dev).rotate_left(48),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            mode: u32::from(stat.st_mode),
        }
    }

    /// Whether both times lie before `clock`: a later change would have to show a later time, so that an equal stamp
    /// means equal content.
    #[must_use]
    pub fn is_older_than(&self, clock: i64) -> bool {
        self.mtime < clock && self.ctime < clock
    }

    /// What kind of file it is.
    #[must_use]
    pub fn file_type(&self) -> FileType {
        FileType::from_raw_mode(self.mode)
    }

    /// The nine permission bits and the three special ones.
    #[must_use]
    pub fn permissions(&self) -> u32 {
        self.mode & 0o7777
    }
}
