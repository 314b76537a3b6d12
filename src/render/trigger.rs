//! How it is shown that a checkpoint was not made.

use super::Render;
use super::note::Note;
use super::style::Style;
use crate::engine::trigger::SwitchedOff;

impl Render for SwitchedOff {
    fn text(&self, _: &Style) -> String {
        String::new()
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        vec![Note::info(format!(
            "No checkpoint made: {} checkpoints are switched off ({} = false)",
            self.trigger, self.setting
        ))]
    }
}
