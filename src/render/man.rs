//! How manual pages are shown.

use serde::Serialize;

use super::Render;
use super::escape::escape;
use super::note::Note;
use super::show::count;
use super::style::{Mark, Reader, Role, Style, Verbosity};
use crate::engine::man::{Page, PagesReport};

/// One page.
#[derive(Debug, Serialize)]
pub struct PageView {
    #[serde(flatten)]
    page: Page,
}

impl From<Page> for PageView {
    fn from(page: Page) -> Self {
        Self { page }
    }
}

impl Render for PageView {
    fn text(&self, _: &Style) -> String {
        self.page.text.clone()
    }

    fn notes(&self, style: &Style) -> Vec<Note> {
        if style.reader == Reader::Program {
            return Vec::new();
        }
        let words = self.page.name.strip_prefix("go-team-");
        let words = words.map_or(String::new(), |words| format!(" {words}"));
        vec![Note::info(format!(
            "to read it: go-team man{words} | man -l -"
        ))]
    }
}

impl Render for PagesReport {
    fn text(&self, style: &Style) -> String {
        if style.verbosity == Verbosity::Quiet {
            return String::new();
        }
        let tick = style.paint(Role::Good, style.mark(Mark::Tick));
        let pages = count(self.files.len(), "page");
        let place = escape(&self.directory.to_string_lossy());
        format!("{tick} Written: {pages} in {place}\n")
    }

    fn notes(&self, _: &Style) -> Vec<Note> {
        Vec::new()
    }
}
