//! How a script for a shell is shown: as it is.

use serde::Serialize;

use super::Render;
use super::note::Note;
use super::style::{Reader, Style};

/// A script that lets a shell complete.
#[derive(Debug, Serialize)]
pub struct ScriptView {
    /// The shell's name.
    pub shell: &'static str,
    /// The script.
    pub script: String,
}

impl Render for ScriptView {
    fn text(&self, _: &Style) -> String {
        format!("{}\n", self.script.trim())
    }

    fn notes(&self, style: &Style) -> Vec<Note> {
        if style.reader == Reader::Program {
            return Vec::new();
        }
        let how = match self.shell {
            "fish" => "go-team completions fish | source".to_owned(),
            "elvish" => "eval (go-team completions elvish | slurp)".to_owned(),
            "powershell" => {
                "go-team completions powershell | Out-String | Invoke-Expression".to_owned()
            }
            shell => format!("eval \"$(go-team completions {shell})\""),
        };
        vec![Note::info(format!("to use it in this shell: {how}"))]
    }
}
