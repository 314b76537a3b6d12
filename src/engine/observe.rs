//! What an observer's prompt remembers.

use super::Workspace;

impl Workspace {
    /// What was typed at the prompt before, oldest first. A history that cannot be read is an empty one.
    #[must_use]
    pub fn typed(&self) -> Vec<String> {
        self.store.load_history().unwrap_or_default()
    }

    /// Remembers what was typed. Best effort: a repository that cannot be written can still be observed.
    pub fn note_typed(&self, line: &str) {
        if self.store.prepare().is_ok() {
            let _ = self.store.append_history(line);
        }
    }
}
