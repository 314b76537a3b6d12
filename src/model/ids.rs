//! Names that become paths and refs: sessions, checkpoints, rollbacks.
//!
//! Each is a type of its own that only parsing can build, so that whatever holds one is safe as a file name and as a
//! part of a ref, wherever the text came from.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::digest::DigestWriter;
use super::timestamp;

/// The longest id, in bytes.
pub const MAX_LEN: usize = 80;

const TOPIC_LEN: usize = 60;

/// Text that is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a {kind} id: {text:?}")]
pub struct IdError {
    /// What was asked for: `session`, `checkpoint`, `rollback`.
    pub kind: &'static str,
    /// The beginning of the text.
    pub text: String,
}

fn is_id(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (1..=MAX_LEN).contains(&text.len()) && !text.starts_with('-') && text.bytes().all(allowed)
}

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident, $kind:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Box<str>);

        impl $name {
            /// Parses `[a-z0-9][a-z0-9-]{0,79}`.
            ///
            /// # Errors
            /// For any other text.
            pub fn parse(text: &str) -> Result<Self, IdError> {
                if is_id(text) {
                    Ok(Self(text.into()))
                } else {
                    let text = text.chars().take(MAX_LEN).collect();
                    Err(IdError { kind: $kind, text })
                }
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::parse(text)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl serde::de::Visitor<'_> for Text {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str(concat!("a ", $kind, " id"))
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        $name::parse(text).map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }
    };
}

id_type!(
    /// The id of a session, such as `auth-system-1f3c`.
    SessionId,
    "session"
);
id_type!(
    /// The id of a checkpoint, such as `cp-02-requirements-20251228-211500`.
    CheckpointId,
    "checkpoint"
);
id_type!(
    /// The id of a rollback, such as `rb-20251228-211500`.
    RollbackId,
    "rollback"
);

impl SessionId {
    /// The id of a new session: its topic, and four digits that tell sessions of one topic apart.
    ///
    /// The same arguments give the same id; `attempt` counts up when an id is taken.
    #[must_use]
    pub fn compose(topic: &str, created_at: DateTime<Utc>, attempt: u32) -> Self {
        let mut hash = DigestWriter::new();
        hash.update(topic.as_bytes());
        hash.update(&[0]);
        hash.update(&created_at.timestamp().to_be_bytes());
        hash.update(&created_at.timestamp_subsec_nanos().to_be_bytes());
        hash.update(&attempt.to_be_bytes());
        let digest = hash.finish();
        let [first, second, ..] = digest.as_bytes();
        let text = slug(topic);
        let name = shorten(&text, TOPIC_LEN).unwrap_or("session");
        Self(format!("{name}-{first:02x}{second:02x}").into())
    }
}

impl CheckpointId {
    /// The id of a new checkpoint. `nth` is 1 for the first of its step, name and second, and appended from 2 on.
    #[must_use]
    pub fn compose(step: u32, name: &str, at: DateTime<Utc>, nth: u32) -> Self {
        let prefix = format!("cp-{step:02}-");
        let suffix = format!("-{}{}", timestamp::compact(at), counter(nth));
        let text = slug(name);
        let name = shorten(&text, MAX_LEN - prefix.len() - suffix.len()).unwrap_or("checkpoint");
        Self(format!("{prefix}{name}{suffix}").into())
    }
}

impl RollbackId {
    /// The id of a new rollback; `nth` as for checkpoints.
    #[must_use]
    pub fn compose(at: DateTime<Utc>, nth: u32) -> Self {
        Self(format!("rb-{}{}", timestamp::compact(at), counter(nth)).into())
    }
}

fn counter(nth: u32) -> String {
    if nth < 2 {
        String::new()
    } else {
        format!("-{nth}")
    }
}

/// Turns free text into a part of an id: lower-case ASCII letters and digits, everything else one `-`.
///
/// Letters outside of ASCII are dropped rather than made a `-`. The result may be empty and neither starts nor ends
/// with `-`.
#[must_use]
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    let mut gap = false;
    for letter in text.chars() {
        if letter.is_ascii_alphanumeric() {
            if gap && !slug.is_empty() {
                slug.push('-');
            }
            gap = false;
            slug.push(letter.to_ascii_lowercase());
        } else if letter.is_ascii() || !letter.is_alphanumeric() {
            gap = true;
        }
        if slug.len() > 2 * MAX_LEN {
            break;
        }
    }
    slug
}

/// The beginning of a slug that fits, without a `-` at its end; `None` when nothing is left.
fn shorten(slug: &str, max: usize) -> Option<&str> {
    let cut = slug.get(..max).unwrap_or(slug).trim_end_matches('-');
    (!cut.is_empty()).then_some(cut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at() -> DateTime<Utc> {
        timestamp::parse("2025-12-28T21:15:00.123Z").unwrap()
    }

    #[test]
    fn refuses_what_is_unsafe_as_a_path_or_a_ref() {
        let long = "a".repeat(MAX_LEN + 1);
        let huge = "a".repeat(10_000);
        for text in [
            "",
            "-x",
            "../x",
            "a.lock",
            "a/b",
            "a\0",
            "A",
            "cp-01-Init",
            "a b",
            "ä",
            "a\n",
            ".",
            "..",
            "@",
            "a_b",
            &long,
            &huge,
        ] {
            let error = SessionId::parse(text).unwrap_err();
            assert!(error.text.len() <= MAX_LEN, "{text:?}");
            assert!(CheckpointId::parse(text).is_err(), "{text:?}");
            let json = serde_json::to_string(text).unwrap();
            assert!(
                serde_json::from_str::<CheckpointId>(&json).is_err(),
                "{text:?}"
            );
        }
        for text in [
            "a",
            "0",
            "a-",
            "cp-02-requirements-20251228-211500",
            &"a".repeat(MAX_LEN),
        ] {
            let id = CheckpointId::parse(text).unwrap();
            let json = serde_json::to_string(&id).unwrap();
            assert_eq!(serde_json::from_str::<CheckpointId>(&json).unwrap(), id);
        }
    }

    #[test]
    fn a_checkpoint_id_names_step_name_and_second() {
        let id = |step, name, nth| CheckpointId::compose(step, name, at(), nth).to_string();
        assert_eq!(
            id(2, "requirements", 1),
            "cp-02-requirements-20251228-211500"
        );
        assert_eq!(
            id(2, "requirements", 3),
            "cp-02-requirements-20251228-211500-3"
        );
        assert_eq!(
            id(123, "Füll it / up!", 0),
            "cp-123-fll-it-up-20251228-211500"
        );
        assert_eq!(id(1, "日本", 1), "cp-01-checkpoint-20251228-211500");
        assert_eq!(
            RollbackId::compose(at(), 2).as_str(),
            "rb-20251228-211500-2"
        );
    }

    #[test]
    fn a_session_id_is_the_same_under_the_same_clock() {
        let id = SessionId::compose("Auth system", at(), 0);
        assert_eq!(id, SessionId::compose("Auth system", at(), 0));
        assert_ne!(id, SessionId::compose("Auth system", at(), 1));
        assert!(id.as_str().starts_with("auth-system-"));
        assert_eq!(id.as_str().len(), "auth-system-".len() + 4);
        assert!(
            SessionId::compose("…", at(), 0)
                .as_str()
                .starts_with("session-")
        );
    }

    proptest! {
        #[test]
        fn composed_ids_are_ids(step: u32, name: String, nth: u32, seconds in -62_000_000_000_i64..400_000_000_000) {
            let at = DateTime::from_timestamp(seconds, 5).unwrap();
            for text in [
                CheckpointId::compose(step, &name, at, nth).to_string(),
                SessionId::compose(&name.repeat(9), at, nth).to_string(),
                RollbackId::compose(at, nth).to_string(),
            ] {
                prop_assert!(is_id(&text), "{}", text);
            }
            let slug = slug(&name);
            prop_assert!(!slug.starts_with('-') && !slug.ends_with('-') && !slug.contains("--"), "{}", slug);
        }
    }
}
