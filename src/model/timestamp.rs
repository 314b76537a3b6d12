//! Points in time as text: UTC, exactly three fractional digits and `Z`, in every file and every answer.
//!
//! One spelling only, so that a checksum over the text is a checksum over the value. The parser and the printer are
//! written out because a long manifest holds tens of thousands of them.

use std::borrow::Cow;

use chrono::{DateTime, Datelike, NaiveDate, SubsecRound, Timelike, Utc};
use serde::{Deserialize, Deserializer, Serializer};

const LEN: usize = 24;

/// Cuts a time to the precision that is stored, so that a value equals itself after a round trip.
#[must_use]
pub fn to_millis(at: DateTime<Utc>) -> DateTime<Utc> {
    at.trunc_subsecs(3)
}

/// The stored text, such as `2025-12-28T21:15:00.123Z`.
#[must_use]
pub fn format(at: DateTime<Utc>) -> String {
    let mut buffer = [0; LEN];
    write(at, &mut buffer).to_owned()
}

/// The date and time as ids carry it: `20251228-211500`.
pub(super) fn compact(at: DateTime<Utc>) -> String {
    let [year, month, day] = date(at);
    format!(
        "{year:04}{month:02}{day:02}-{:02}{:02}{:02}",
        at.hour(),
        at.minute(),
        at.second()
    )
}

/// Parses the stored text; `None` for any other spelling, even of the same time.
#[must_use]
pub fn parse(text: &str) -> Option<DateTime<Utc>> {
    let text: &[u8; LEN] = text.as_bytes().try_into().ok()?;
    let number = |from: usize, to: usize| {
        text[from..to].iter().try_fold(0_u32, |sum, digit| {
            digit
                .is_ascii_digit()
                .then(|| sum * 10 + u32::from(digit - b'0'))
        })
    };
    let marks = [
        (4, b'-'),
        (7, b'-'),
        (10, b'T'),
        (13, b':'),
        (16, b':'),
        (19, b'.'),
        (23, b'Z'),
    ];
    if marks.iter().any(|&(at, mark)| text[at] != mark) {
        return None;
    }
    let year = i32::try_from(number(0, 4)?).ok()?;
    NaiveDate::from_ymd_opt(year, number(5, 7)?, number(8, 10)?)?
        .and_hms_milli_opt(
            number(11, 13)?,
            number(14, 16)?,
            number(17, 19)?,
            number(20, 23)?,
        )
        .map(|naive| naive.and_utc())
}

/// Year, month and day; a year outside of four digits (a clock gone mad) becomes the nearest that fits.
fn date(at: DateTime<Utc>) -> [u32; 3] {
    let year = u32::try_from(at.year().clamp(0, 9999)).expect("clamped to four digits");
    [year, at.month(), at.day()]
}

fn write(at: DateTime<Utc>, buffer: &mut [u8; LEN]) -> &str {
    *buffer = *b"0000-00-00T00:00:00.000Z";
    let mut put = |from: usize, to: usize, mut number: u32| {
        for slot in buffer[from..to].iter_mut().rev() {
            *slot = b'0' + u8::try_from(number % 10).expect("one digit");
            number /= 10;
        }
    };
    let [year, month, day] = date(at);
    put(0, 4, year);
    put(5, 7, month);
    put(8, 10, day);
    put(11, 13, at.hour());
    put(14, 16, at.minute());
    put(17, 19, at.second());
    put(20, 23, at.timestamp_subsec_millis().min(999));
    std::str::from_utf8(buffer).expect("digits and marks are ASCII")
}

/// For `#[serde(with = "timestamp")]`.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(at: &DateTime<Utc>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(write(*at, &mut [0; LEN]))
}

/// For `#[serde(with = "timestamp")]`.
///
/// # Errors
/// When the text is not spelt as this module spells it.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DateTime<Utc>, D::Error> {
    struct Text;
    impl serde::de::Visitor<'_> for Text {
        type Value = DateTime<Utc>;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a time such as 2025-12-28T21:15:00.123Z")
        }
        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
            parse(text).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
        }
    }
    deserializer.deserialize_str(Text)
}

/// The same for a time that may be absent.
pub mod option {
    use super::{Cow, DateTime, Deserialize, Deserializer, Serializer, Utc};

    /// For `#[serde(with = "timestamp::option")]`.
    ///
    /// # Errors
    /// Those of the serializer.
    #[allow(
        clippy::ref_option,
        reason = "serde's `with` passes the field by reference"
    )]
    pub fn serialize<S: Serializer>(
        at: &Option<DateTime<Utc>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match at {
            Some(at) => super::serialize(at, serializer),
            None => serializer.serialize_none(),
        }
    }

    /// For `#[serde(with = "timestamp::option")]`.
    ///
    /// # Errors
    /// When the text is not spelt as this module spells it.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<DateTime<Utc>>, D::Error> {
        Option::<Cow<'de, str>>::deserialize(deserializer)?
            .map(|text| {
                super::parse(&text)
                    .ok_or_else(|| serde::de::Error::custom(format!("not a time: {text:?}")))
            })
            .transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_one_spelling() {
        let text = "2025-12-28T21:15:00.007Z";
        let at = parse(text).unwrap();
        assert_eq!(format(at), text);
        assert_eq!(at.to_rfc3339(), "2025-12-28T21:15:00.007+00:00");
        for other in [
            "",
            "2025-12-28T21:15:00Z",
            "2025-12-28T21:15:00.1234Z",
            "2025-12-28t21:15:00.007z",
            "2025-12-28T21:15:00.007+00:00",
            "2025-02-30T21:15:00.007Z",
            "2025-12-28T24:15:00.007Z",
            "2025-12-28T21:15:+1.007Z",
            "２025-12-28T21:15:00.7Z",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    #[test]
    fn agrees_with_chrono_and_survives_a_mad_clock() {
        for seconds in [
            0,
            951_827_696,
            1_766_956_500,
            4_102_444_799,
            253_402_300_799,
        ] {
            let at = DateTime::from_timestamp(seconds, 987_654_321).unwrap();
            assert_eq!(format(at), at.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string());
            assert_eq!(parse(&format(at)), Some(to_millis(at)));
        }
        assert_eq!(&format(DateTime::<Utc>::MAX_UTC)[..5], "9999-");
        assert_eq!(&format(DateTime::<Utc>::MIN_UTC)[..5], "0000-");
    }
}
