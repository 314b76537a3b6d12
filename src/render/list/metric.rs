//! A metric over the checkpoints of a session.

use serde_json::Value;

use super::super::escape::escape;
use super::super::json;
use super::super::style::{Charset, Style};

/// Marks from low to high.
const UNICODE: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const ASCII: [char; 5] = ['_', '.', '-', '=', '#'];

/// A value in a few letters.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => escape(text),
        value => json::compact(value),
    }
}

/// A line with a mark for each checkpoint, and the first and the last value; a blank where there is none.
pub(super) fn trend(name: &str, values: &[Option<&Value>], style: &Style) -> String {
    let numbers: Vec<Option<f64>> = values.iter().map(|value| number((*value)?)).collect();
    let known: Vec<f64> = numbers.iter().copied().flatten().collect();
    let (Some(first), Some(last)) = (known.first(), known.last()) else {
        return format!("{}: no numbers\n", escape(name));
    };
    let low = known.iter().copied().fold(f64::INFINITY, f64::min);
    let high = known.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let marks: &[char] = match style.charset {
        Charset::Unicode => &UNICODE,
        Charset::Ascii => &ASCII,
    };
    let mark = |number: &Option<f64>| {
        let Some(number) = number else { return ' ' };
        let share = if high > low {
            (number - low) / (high - low)
        } else {
            0.5
        };
        let steps = u32::try_from(marks.len()).unwrap_or(1) - 1;
        let reaches = |nth: &u32| share * f64::from(steps) >= f64::from(*nth) - 0.5;
        let nth = (0..=steps).rev().find(reaches).unwrap_or(0);
        marks[nth as usize]
    };
    let delta = ((last - first) * 1e6).round() / 1e6;
    let name = escape(name);
    let room = style.width.saturating_sub(name.chars().count() + 40).max(8);
    // Of a long session the newest part.
    let line: String = numbers
        .iter()
        .skip(numbers.len().saturating_sub(room))
        .map(mark)
        .collect();
    format!("{name}: {line} {first} {} {last} ({delta:+})\n", style.to())
}

/// Yes counts as one, no as nothing.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(yes) => Some(f64::from(u8::from(*yes))),
        value => value.as_f64().filter(|number| number.is_finite()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::style::plain;
    use super::*;
    use serde_json::json;

    #[test]
    fn a_trend_has_a_mark_for_each_value() {
        let values = [json!(50), json!(75.5), json!("none"), json!(100)];
        let values: Vec<Option<&Value>> = values.iter().map(Some).chain([None]).collect();
        assert_eq!(
            trend("cov\u{1b}", &values, &plain(80)),
            "cov\\x1b: ▁▅ █  50 → 100 (+50)\n"
        );
        let ascii = Style {
            charset: Charset::Ascii,
            ..plain(80)
        };
        assert_eq!(
            trend("cov", &values, &ascii),
            "cov: _- #  50 -> 100 (+50)\n"
        );
        assert_eq!(trend("x", &[None], &ascii), "x: no numbers\n");
        let one = json!(true);
        assert_eq!(trend("x", &[Some(&one)], &ascii), "x: - 1 -> 1 (+0)\n");
        let many: Vec<Value> = (0..500).map(Value::from).collect();
        let many: Vec<Option<&Value>> = many.iter().map(Some).collect();
        assert!(trend("x", &many, &plain(60)).chars().count() <= 61);
    }
}
