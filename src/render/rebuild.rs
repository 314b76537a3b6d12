//! How a rebuild is shown.

use std::fmt::Write as _;

use super::Render;
use super::escape::escape;
use super::layout::commands;
use super::note::{self, Note};
use super::remedy::commands_for;
use super::style::{Mark, Role, Style};
use super::validate::findings;
use crate::engine::rebuild::RebuildReport;
use crate::plan::rebuild::Proof;

impl Render for RebuildReport {
    fn text(&self, style: &Style) -> String {
        let mut out = String::new();
        let tick = style.paint(Role::Good, style.mark(Mark::Tick));
        let cross = style.paint(Role::Bad, style.mark(Mark::Cross));
        for record in &self.records {
            let proof = match record.proof {
                Proof::Linked => "proven by the record after it",
                Proof::Listed => "proven by the manifest",
                Proof::Agreed => "its file and its commit agree",
                Proof::None => "nothing is left to prove it by",
            };
            let _ = writeln!(out, "{tick} Record rebuilt: {} ({proof})", record.id);
        }
        for reference in &self.refs {
            let _ = writeln!(out, "{tick} Ref put back: {}", escape(reference));
        }
        if self.manifest_rebuilt {
            let plural = if self.checked == 1 { "" } else { "s" };
            let _ = writeln!(
                out,
                "{tick} Manifest rebuilt from {} checkpoint{plural}",
                self.checked
            );
        }
        if self.state_rebuilt {
            let _ = writeln!(out, "{tick} Live state taken from the current checkpoint");
        }
        for id in &self.restored {
            let _ = writeln!(out, "{tick} Valid again: {id}");
        }
        for path in &self.set_aside {
            let _ = writeln!(out, "  Damaged file kept: {}", escape(path));
        }
        if !self.changed_anything() && self.is_valid() {
            let _ = writeln!(out, "{tick} Nothing is damaged; nothing was changed");
        }
        if !self.losses.is_empty() {
            let _ = writeln!(out, "{}", style.paint(Role::Title, "Not recovered:"));
        }
        for loss in &self.losses {
            let _ = writeln!(out, "  {}", escape(&loss.to_string()));
        }
        if !self.is_valid() {
            let _ = writeln!(out, "{cross} Not everything could be rebuilt");
        }
        if !self.findings.is_empty() {
            out.push_str(&findings(&self.findings, style));
        }
        for command in commands_for(&self.findings, None) {
            let _ = writeln!(out, "  {}", escape(&command));
        }
        out.push_str(&commands(&["cp-validate", "cp-list"], style));
        out
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        note::recovered(&self.recovered).collect()
    }
}
