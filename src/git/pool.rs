//! The threads that scans and comparisons run on. A directory is looked at on the stack of the one above it, so they have room for the
//! deepest path the operating system takes.
//!
//! Starting threads and handing work to them takes longer than looking at a small work tree. So one that was small the last
//! time is looked at by the thread that asks, [`alone`]; what turns out to be large or deep is handed to the others after all,
//! with [`widely`].

use std::cell::Cell;
use std::sync::OnceLock;

use rayon::prelude::*;

/// Reserved, not used: only the pages that are touched take memory.
const STACK: usize = 256 << 20;
/// The longest path of a directory that is looked at on a stack that may be small: at most fifty of them above each other.
const DEEP: usize = 100;

static POOL: OnceLock<Option<rayon::ThreadPool>> = OnceLock::new();

thread_local! {
    static ALONE: Cell<bool> = const { Cell::new(false) };
    static IS_OF_POOL: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` on the pool, or in place where no pool can be made.
pub fn run<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let make = || {
        let builder = rayon::ThreadPoolBuilder::new().stack_size(STACK);
        let builder = builder.start_handler(|_| IS_OF_POOL.set(true));
        builder.build().ok()
    };
    match POOL.get_or_init(make) {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// Runs `work` on this thread, which shares nothing of it with others unless it says so.
pub fn alone<T>(work: impl FnOnce() -> T) -> T {
    /// Puts back what was so before, whatever happens.
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            ALONE.set(self.0);
        }
    }
    let _before = Before(ALONE.replace(true));
    work()
}

/// Whether this thread works alone.
#[must_use]
pub fn is_alone() -> bool {
    ALONE.get()
}

/// Runs `work` on the pool, if this thread worked alone until now.
pub fn widely<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if is_alone() { run(work) } else { work() }
}

/// Runs `work` where there is room for it, when it has come this far below the top of a tree; else here. The stack of whoever
/// asks may be small.
pub fn with_room<T: Send>(path: &[u8], work: impl FnOnce() -> T + Send) -> T {
    if path.len() <= DEEP || IS_OF_POOL.get() {
        work()
    } else {
        run(work)
    }
}

/// What becomes of each item, in their order: shared among threads, unless this one works alone and there are few.
pub fn map<I: Send, T: Send>(
    items: Vec<I>,
    few: usize,
    work: impl Fn(I) -> T + Sync + Send,
) -> Vec<T> {
    if is_alone() && items.len() <= few {
        return items.into_iter().map(work).collect();
    }
    widely(|| items.into_par_iter().map(work).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_worked_on_here_and_many_by_others() {
        let here = std::thread::current().id();
        let strangers = |count: usize, few| {
            let items: Vec<usize> = (0..count).collect();
            let all = map(items, few, |nth| {
                (nth, std::thread::current().id(), is_alone())
            });
            assert!(all.iter().map(|(nth, ..)| *nth).eq(0..count));
            assert!(
                all.iter()
                    .all(|(_, thread, is_alone)| *is_alone == (*thread == here))
            );
            all.iter().filter(|(_, thread, _)| *thread != here).count()
        };
        assert!(!is_alone());
        alone(|| {
            assert_eq!(strangers(10, 10), 0);
            assert_eq!(strangers(11, 10), 11);
            alone(|| assert!(is_alone()));
            assert!(is_alone());
            assert!(!widely(is_alone));
        });
        assert!(!is_alone());
    }
}
