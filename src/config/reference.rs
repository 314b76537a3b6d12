//! The reference page: every setting as a commented configuration file.

use std::fmt::Write as _;

use serde_json::Value;

use super::Settings;
use super::settings::{SECTIONS, SETTINGS};
use super::workflow::{FIELDS, SECTION};

/// What a generated file begins with.
const HEADING: &str = "\
# The settings of go-team. Lines that begin with a # have no effect: they say what is built in.
# `go-team config list` shows what is in effect, and where it comes from.

";

/// The file that `config init` writes: [`reference()`] with a heading.
#[must_use]
pub fn generated() -> String {
    format!("{HEADING}{}", reference())
}

/// A configuration file that says what there is and sets nothing.
#[must_use]
pub fn reference() -> String {
    let built_in = Settings::default();
    let mut page = String::new();
    for (section, about) in SECTIONS {
        let gap = if page.is_empty() { "" } else { "\n" };
        let _ = writeln!(page, "{gap}# {about}");
        if *section == SECTION {
            let _ = writeln!(page, "# [{section}.NAME]");
            for field in FIELDS {
                let _ = writeln!(
                    page,
                    "## {}\n# {} = {}",
                    field.doc, field.name, field.example
                );
            }
            continue;
        }
        let _ = writeln!(page, "[{section}]");
        for setting in SETTINGS
            .iter()
            .filter(|setting| setting.section == *section)
        {
            let name = setting
                .key
                .trim_start_matches(section)
                .trim_start_matches('.');
            let none = if setting.optional {
                ", or \"none\""
            } else {
                ""
            };
            let value = match setting.show(&built_in) {
                Value::Null => Value::from("none"),
                value => value,
            };
            let _ = writeln!(
                page,
                "## {} Takes {}{none}.\n# {name} = {value}",
                setting.doc, setting.kind
            );
        }
    }
    page
}
