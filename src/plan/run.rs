//! What the end of a command means: whether its step is complete, was interrupted, or failed.

use serde::Serialize;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum End {
    /// By itself, with an exit code.
    Exited {
        /// The code.
        code: u8,
    },
    /// By a signal.
    Killed {
        /// The signal.
        signal: u8,
    },
    /// It never began: there is no such program.
    NotFound,
    /// It never began: the program could not be executed.
    NotExecutable,
}

/// Which requests to end were heard while a command ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Heard {
    /// Ctrl-C, Ctrl-\ or a hang-up, which a command may have a use of its own for.
    pub interrupt: bool,
    /// SIGTERM, which has one meaning only.
    pub terminate: bool,
}

/// What the end of a command means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It did what it was to do.
    Complete,
    /// The user, or somebody in the user's place, ended it.
    Interrupted,
    /// It did not.
    Failed,
}

/// The signal of Ctrl-C, the same on every system.
const SIGINT: u8 = 2;

impl End {
    /// What a shell would say: the code itself, 128 and the signal, 127 and 126 for what never began.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Exited { code } => code,
            Self::Killed { signal } => 128_u8.wrapping_add(signal),
            Self::NotFound => 127,
            Self::NotExecutable => 126,
        }
    }
}

impl Heard {
    /// Nobody asked for anything.
    pub const NOTHING: Self = Self {
        interrupt: false,
        terminate: false,
    };
}

/// Says what the end of a command means.
///
/// A command that ends well although Ctrl-C was pressed has had a use of its own for it, as editors and shells do; so it
/// is complete. One that was told to terminate is not, however politely it went.
#[must_use]
pub fn outcome(end: End, heard: Heard) -> Outcome {
    match end {
        End::Exited { code: 0 } if heard.terminate => Outcome::Interrupted,
        End::Exited { code: 0 } => Outcome::Complete,
        End::Killed { signal: SIGINT } => Outcome::Interrupted,
        End::Exited { .. } | End::Killed { .. } if heard != Heard::NOTHING => Outcome::Interrupted,
        _ => Outcome::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_has_its_meaning() {
        use Outcome::{Complete, Failed, Interrupted};
        let heard = |interrupt, terminate| Heard {
            interrupt,
            terminate,
        };
        let exited = |code| End::Exited { code };
        let killed = |signal| End::Killed { signal };
        // The columns: nothing heard, Ctrl-C, SIGTERM, both.
        for (end, meanings) in [
            (exited(0), [Complete, Complete, Interrupted, Interrupted]),
            (exited(1), [Failed, Interrupted, Interrupted, Interrupted]),
            (exited(130), [Failed, Interrupted, Interrupted, Interrupted]),
            (killed(SIGINT), [Interrupted; 4]),
            (killed(15), [Failed, Interrupted, Interrupted, Interrupted]),
            (killed(9), [Failed, Interrupted, Interrupted, Interrupted]),
            (End::NotFound, [Failed; 4]),
            (End::NotExecutable, [Failed; 4]),
        ] {
            let cases = [(false, false), (true, false), (false, true), (true, true)];
            for ((interrupt, terminate), meaning) in cases.into_iter().zip(meanings) {
                let found = outcome(end, heard(interrupt, terminate));
                assert_eq!(found, meaning, "{end:?} {interrupt} {terminate}");
            }
        }
    }

    #[test]
    fn codes_are_those_of_a_shell() {
        assert_eq!(End::Exited { code: 255 }.code(), 255);
        assert_eq!(End::Killed { signal: 9 }.code(), 137);
        assert_eq!(End::Killed { signal: 15 }.code(), 143);
        assert_eq!(End::NotFound.code(), 127);
        assert_eq!(End::NotExecutable.code(), 126);
    }
}
