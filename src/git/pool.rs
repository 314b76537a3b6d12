//! The threads that scans and comparisons run on. A directory is looked at on the stack of the one above it, so they have room for the
//! deepest path the operating system takes.

use std::sync::OnceLock;

/// Reserved, not used: only the pages that are touched take memory.
const STACK: usize = 256 << 20;

static POOL: OnceLock<Option<rayon::ThreadPool>> = OnceLock::new();

/// Runs `work` on the pool, or in place where no pool can be made.
pub fn run<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let make = || {
        let builder = rayon::ThreadPoolBuilder::new().stack_size(STACK);
        builder.build().ok()
    };
    match POOL.get_or_init(make) {
        Some(pool) => pool.install(work),
        None => work(),
    }
}
