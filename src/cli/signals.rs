//! Ctrl-C and SIGTERM while files are being changed: a request to stop at the next safe place, not an end in the middle.

use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use crate::engine::Marks;

static MARKS: OnceLock<Marks> = OnceLock::new();

/// Marks whose `stop` is set when the user or the system asks to stop. From here on such a request does not kill the
/// process.
pub(super) fn watched() -> &'static Marks {
    MARKS.get_or_init(|| {
        // Where that cannot be arranged, a signal kills as it always did, and the journal says what to finish.
        let _ = ctrlc::set_handler(|| {
            if let Some(marks) = MARKS.get() {
                marks.stop.store(true, Ordering::Relaxed);
            }
        });
        Marks::default()
    })
}
