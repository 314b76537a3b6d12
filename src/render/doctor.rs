//! How an examination is shown.

use std::fmt::Write as _;

use super::Render;
use super::escape::escape;
use super::layout::title;
use super::note::Note;
use super::style::{Mark, Role, Style, Verbosity};
use crate::engine::doctor::{Area, DoctorReport, Health};

impl Render for DoctorReport {
    fn text(&self, style: &Style) -> String {
        let is_quiet = style.verbosity == Verbosity::Quiet;
        let mut out = if is_quiet {
            String::new()
        } else {
            title(style, "IS THIS REPOSITORY SAFE TO USE")
        };
        let mut last = None;
        for item in &self.items {
            if is_quiet && item.level < Health::Warning {
                continue;
            }
            if last != Some(item.area) {
                let name = match item.area {
                    Area::Repository => "Repository",
                    Area::Storage => "Storage",
                    Area::Disk => "Disk",
                    Area::Locks => "Locks",
                    Area::Leftovers => "Leftovers",
                    Area::Sessions => "Sessions",
                    Area::Config => "Configuration",
                };
                let _ = writeln!(out, "{}", style.paint(Role::Title, name));
                last = Some(item.area);
            }
            let (role, mark) = match item.level {
                Health::Ok => (Role::Good, style.mark(Mark::Tick)),
                Health::Note => (Role::Faint, style.mark(Mark::Dash)),
                Health::Warning => (Role::Warning, "!"),
                Health::Bad => (Role::Bad, style.mark(Mark::Cross)),
            };
            let _ = writeln!(out, "  {} {}", style.paint(role, mark), escape(&item.text));
            if let Some(remedy) = &item.remedy {
                let _ = writeln!(out, "    {}", escape(remedy));
            }
        }
        let warnings = self
            .items
            .iter()
            .filter(|item| item.level == Health::Warning);
        let (role, text) = match (self.is_safe(), warnings.count()) {
            (true, 0) => (Role::Good, "Safe to use".to_owned()),
            (true, count) => (Role::Warning, format!("Safe to use; {count} to see to")),
            (false, _) => (
                Role::Bad,
                "Not safe to use before that is seen to".to_owned(),
            ),
        };
        let _ = writeln!(out, "{}", style.paint(role, &text));
        out
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        Vec::new()
    }
}
