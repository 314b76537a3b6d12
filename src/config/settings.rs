//! The one table of all settings: key, type, what is built in, what it is for.
//!
//! The typed structs and [`SETTINGS`], which the known-key check, the listing and the reference page follow, come from
//! the same lines below, so a setting is added in one place.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::model::workflow::Workflow;

use super::Kind;
use super::value::{Raw, SettingValue};

/// What is known of one setting.
#[derive(Debug)]
pub struct Setting {
    /// The section it is in.
    pub section: &'static str,
    /// Its full key, `capture.max_file_mb`.
    pub key: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Whether it can be left unset, and unset again with `"none"`.
    pub optional: bool,
    /// What it is for.
    pub doc: &'static str,
    pub(super) assign: fn(&mut Settings, Raw<'_>, &Path) -> Option<()>,
    pub(super) show: fn(&Settings) -> Value,
}

impl Setting {
    /// Finds a setting by its full key.
    #[must_use]
    pub fn find(key: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.key == key)
    }

    /// The environment variable that sets it, `GO_TEAM_CAPTURE_MAX_FILE_MB`.
    #[must_use]
    pub fn variable(&self) -> String {
        format!(
            "GO_TEAM_{}",
            self.key.replace('.', "_").to_ascii_uppercase()
        )
    }

    /// The value in effect, as JSON; null when it is unset.
    #[must_use]
    pub fn show(&self, settings: &Settings) -> Value {
        (self.show)(settings)
    }
}

macro_rules! settings {
    ($(
        #[doc = $about:literal] $section:ident: $Section:ident {
            $( $(#[doc = $doc:literal])+ $field:ident: $type:ty = $built_in:expr; )+
        }
    )+) => {
        $(
            #[doc = $about]
            #[derive(Debug, Clone, PartialEq, Eq)]
            #[allow(clippy::struct_excessive_bools, reason = "each is a switch of its own that a user sets by name")]
            pub struct $Section {
                $( $(#[doc = $doc])+ pub $field: $type, )+
            }

            impl Default for $Section {
                fn default() -> Self {
                    Self { $( $field: $built_in, )+ }
                }
            }
        )+

        /// Every setting, with the value in effect.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct Settings {
            $( #[doc = $about] pub $section: $Section, )+
            /// The workflows that users defined, by name.
            pub workflows: Vec<Workflow>,
        }

        /// Every setting there is, `[workflow.NAME]` apart.
        pub const SETTINGS: &[Setting] = &[
            $($( Setting {
                section: stringify!($section),
                key: concat!(stringify!($section), ".", stringify!($field)),
                kind: <$type as SettingValue>::KIND,
                optional: <$type as SettingValue>::OPTIONAL,
                doc: concat!($($doc),+).trim_ascii_start(),
                assign: |settings, raw, base| {
                    settings.$section.$field = SettingValue::read(raw, base)?;
                    Some(())
                },
                show: |settings| settings.$section.$field.show(),
            }, )+)+
        ];

        /// Every section there is, with what it is for.
        pub const SECTIONS: &[(&str, &str)] = &[
            $( (stringify!($section), $about.trim_ascii_start()), )+
            ("workflow", "Workflows of your own, each in a table [workflow.NAME]."),
        ];
    };
}

settings! {
    /// Where go-team keeps its own files.
    storage: Storage {
        /// The directory; inside the git directory when unset.
        path: Option<PathBuf> = None;
    }

    /// What a checkpoint takes in.
    capture: Capture {
        /// Patterns of paths to take in although git ignores them.
        include: Vec<String> = Vec::new();
        /// Patterns of paths to leave out, and untouched at rollback.
        exclude: Vec<String> = vec!["debug.jsonl".to_owned()];
        /// Files larger than this many MiB are skipped, and reported.
        max_file_mb: NonZeroU64 = NonZeroU64::new(50).expect("50 is not 0");
        /// A JSONL file of the conversation, in which the turns of agents are counted.
        conversation: Option<PathBuf> = None;
    }

    /// Who the checkpoint commits are by.
    git: Git {
        /// The name of their author and committer.
        author_name: String = "go-team".to_owned();
        /// The address of their author and committer.
        author_email: String = "go-team@localhost".to_owned();
    }

    /// Which occasions make a checkpoint without being asked.
    triggers: Triggers {
        /// Routine checkpoints of an orchestrator.
        auto: bool = true;
        /// A step has been completed.
        step_complete: bool = true;
        /// The workflow has entered another phase.
        phase_transition: bool = true;
        /// A batch of work has been completed.
        batch_complete: bool = true;
        /// An agent has completed its work.
        agent_complete: bool = true;
        /// A conflict has come up.
        conflict_start: bool = true;
        /// A conflict has been resolved.
        conflict_resolved: bool = true;
        /// The user has interrupted the work.
        user_interrupt: bool = true;
        /// The session has ended.
        session_end: bool = true;
    }

    /// What is kept, and for how long.
    retention: Retention {
        /// Whether old checkpoints are removed after each new one.
        enabled: bool = true;
        /// How many `batch_complete` checkpoints are kept in each phase.
        keep_batch_complete: u64 = 3;
        /// How many `agent_complete` checkpoints are kept in each phase.
        keep_agent_complete: u64 = 1;
        /// How many `user_interrupt` checkpoints are kept.
        keep_user_interrupt: u64 = 1;
        /// How many `safety` checkpoints are kept.
        keep_safety: u64 = 10;
        /// How many `auto` checkpoints are kept.
        keep_auto: u64 = 50;
        /// Checkpoints older than this are removed.
        max_age_days: Option<NonZeroU64> = None;
        /// The oldest are removed when a session has more than this.
        max_checkpoints: Option<NonZeroU64> = None;
        /// The oldest are removed when the objects that only checkpoints hold take more than this many MiB.
        max_size_mb: Option<NonZeroU64> = None;
        /// How many days a completed session is kept.
        completed_days: u64 = 7;
        /// How many days a failed session is kept.
        failed_days: u64 = 30;
        /// How many days an abandoned session is kept.
        abandoned_days: u64 = 30;
    }

    /// The workflow's state.
    state: State {
        /// A JSON file of the orchestrator's: read at each checkpoint, written back at rollback.
        file: Option<PathBuf> = None;
    }

    /// Two commands at once.
    lock: Lock {
        /// How long a command waits for another one to finish.
        timeout_seconds: Duration = Duration::from_secs(30);
    }

    /// What a power cut may take.
    durability: Durability {
        /// Whether a checkpoint is on disk before it is said to be made.
        sync: bool = true;
    }
}

impl Capture {
    /// The largest file that is taken in, in bytes.
    #[must_use]
    pub fn max_file_bytes(&self) -> u64 {
        self.max_file_mb.get().saturating_mul(1 << 20)
    }
}

impl Retention {
    /// The largest size of a session, in bytes.
    #[must_use]
    pub fn max_size_bytes(&self) -> Option<u64> {
        self.max_size_mb
            .map(|size| size.get().saturating_mul(1 << 20))
    }
}
