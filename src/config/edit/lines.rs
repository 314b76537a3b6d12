//! Where keys are in the text of a file, and lines put in or taken out.

use std::ops::Range;

use serde_json::Value as Json;
use toml::de::{DeTable, DeValue};
use toml_edit::Value;

use super::Key;

/// The file with the value in a line of its own behind the commented one that describes it, as generated files have.
pub(super) fn beside_its_description(text: &str, key: &Key<'_>, value: &Value) -> Option<String> {
    let parts: Vec<&str> = key.tables.iter().copied().chain([key.name]).collect();
    if find(text, &parts).is_some() {
        return None;
    }
    let header = format!("[{}]", key.tables.join("."));
    let comment = format!("# {} = ", key.name);
    let mut is_inside = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        if line.starts_with('[') {
            is_inside = line.trim_end() == header;
        }
        if is_inside && line.starts_with(&comment) && line.ends_with('\n') {
            let edited = format!("{}{} = {value}\n{}", &text[..at], key.name, &text[at..]);
            // A line of a long text may look the same.
            return find(&edited, &parts).map(|_| edited);
        }
    }
    None
}

/// The file with a new table at its end, where there is no such table yet.
pub(super) fn in_a_new_table(text: &str, key: &Key<'_>, value: &Value) -> Option<String> {
    if find(text, &key.tables).is_some() {
        return None;
    }
    let gap = match text {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let (header, name) = (key.tables.join("."), key.name);
    let edited = format!("{text}{gap}[{header}]\n{name} = {value}\n");
    // A table above it may be written in one line, or a name may need quotes.
    let parts: Vec<&str> = key.tables.iter().copied().chain([key.name]).collect();
    find(&edited, &parts).map(|_| edited)
}

/// Where a key is in a text, and what it says.
pub(super) fn find(text: &str, parts: &[&str]) -> Option<(Range<usize>, Json)> {
    let table = DeTable::parse(text).ok()?;
    let (last, way) = parts.split_last()?;
    let mut table = table.get_ref();
    for name in way {
        table = entry(table, name)?.1.as_table()?;
    }
    let (key, value) = entry(table, last)?;
    Some((key, json(value)))
}

fn entry<'t, 'i>(table: &'t DeTable<'i>, name: &str) -> Option<(Range<usize>, &'t DeValue<'i>)> {
    let mut entries = table.iter();
    let (key, value) = entries.find(|(key, _)| key.get_ref() == name)?;
    Some((key.span().start..value.span().end, value.get_ref()))
}

fn json(value: &DeValue<'_>) -> Json {
    match value {
        DeValue::String(text) => Json::from(text.as_ref()),
        DeValue::Boolean(switch) => Json::from(*switch),
        DeValue::Array(list) => list.iter().map(|item| json(item.get_ref())).collect(),
        DeValue::Table(table) => {
            let fields = table.iter();
            let fields =
                fields.map(|(key, value)| (key.get_ref().to_string(), json(value.get_ref())));
            Json::Object(fields.collect())
        }
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| Json::from(number.to_string()), Json::from),
        DeValue::Float(number) => {
            let number: Option<f64> = number.as_str().parse().ok();
            number.map_or(Json::Null, Json::from)
        }
        DeValue::Datetime(date) => Json::from(date.to_string()),
    }
}

/// The lines that hold one key, its value, and nothing else but a remark behind it.
pub(super) fn lines_of(text: &str, parts: &[&str]) -> Option<Range<usize>> {
    let (span, value) = find(text, parts)?;
    if value.is_object() {
        return None;
    }
    let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[span.end..].find('\n');
    let end = end.map_or(text.len(), |at| span.end + at + 1);
    let before = &text[start..span.start];
    let after = text[span.end..end].trim();
    // Tables that a dotted key names stand before it on the line.
    let is_alone = !before.contains(['{', ',', '=', '"', '\''])
        && (after.is_empty() || after.starts_with('#'));
    is_alone.then_some(start..end)
}
