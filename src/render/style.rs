//! How text looks: width, colour, characters, how much of it.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Effects};
use unicode_width::UnicodeWidthStr as _;

/// How text looks on one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// How many columns there are.
    pub width: usize,
    /// Whether escape codes are used.
    pub colour: Colour,
    /// Which characters lines and marks are drawn with.
    pub charset: Charset,
    /// How much is said.
    pub verbosity: Verbosity,
    /// Who reads it.
    pub reader: Reader,
}

/// Whether escape codes are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Plain text.
    Off,
    /// With colours.
    On,
}

/// Which characters lines and marks are drawn with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charset {
    /// Any.
    Unicode,
    /// Those that every terminal has.
    Ascii,
}

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// The answer in its shortest form.
    Quiet,
    /// What most readers want.
    Normal,
    /// Everything.
    Verbose,
}

/// Who reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// Somebody at a terminal, which hostile text could attack.
    Terminal,
    /// A program or a file, which wants exact bytes where a value is asked for.
    Program,
}

/// What a piece of text stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// As it should be.
    Good,
    /// Not as it should be.
    Bad,
    /// Worth a look.
    Warning,
    /// Where one is.
    Here,
    /// A heading.
    Title,
    /// Less important than the rest.
    Faint,
}

/// A mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It went well.
    Tick,
    /// It did not.
    Cross,
    /// Here one is.
    Arrow,
    /// From one to the other.
    To,
    /// Text was cut.
    Ellipsis,
    /// Nothing was checked.
    Dash,
}

impl Style {
    /// Gives text the colour of its role.
    #[must_use]
    pub fn paint(&self, role: Role, text: &str) -> String {
        if self.colour == Colour::Off || text.is_empty() {
            return text.to_owned();
        }
        let plain = anstyle::Style::new();
        let style = match role {
            Role::Good => AnsiColor::Green.on_default(),
            Role::Bad => AnsiColor::Red.on_default(),
            Role::Warning => AnsiColor::Yellow.on_default(),
            Role::Here => AnsiColor::Cyan.on_default().effects(Effects::BOLD),
            Role::Title => plain.effects(Effects::BOLD),
            Role::Faint => plain.effects(Effects::DIMMED),
        };
        let mut out = String::new();
        let _ = write!(out, "{style}{text}{style:#}");
        out
    }

    /// A mark in this style's characters.
    #[must_use]
    pub const fn mark(&self, mark: Mark) -> &'static str {
        match (self.charset, mark) {
            (Charset::Unicode, Mark::Tick) => "✓",
            (Charset::Unicode, Mark::Cross) => "✗",
            (Charset::Unicode, Mark::Arrow) => "←",
            (Charset::Unicode, Mark::To) => "→",
            (Charset::Unicode, Mark::Ellipsis) => "…",
            (Charset::Unicode, Mark::Dash) => "–",
            (Charset::Ascii, Mark::Tick) => "ok",
            (Charset::Ascii, Mark::Cross) => "x",
            (Charset::Ascii, Mark::Arrow) => "<-",
            (Charset::Ascii, Mark::To) => "->",
            (Charset::Ascii, Mark::Ellipsis) => "..",
            (Charset::Ascii, Mark::Dash) => "-",
        }
    }

    /// What stands between what was and what is.
    #[must_use]
    pub const fn to(&self) -> &'static str {
        match self.charset {
            Charset::Unicode => "→",
            Charset::Ascii => "->",
        }
    }

    /// Cuts text to a number of columns; what was cut off is marked.
    #[must_use]
    pub fn cut(&self, text: &str, width: usize) -> String {
        if text.width() <= width {
            return text.to_owned();
        }
        let mark = self.mark(Mark::Ellipsis);
        let room = width.saturating_sub(mark.width());
        let mut out = String::new();
        let mut used = 0;
        for letter in text.chars() {
            let columns = unicode_width::UnicodeWidthChar::width(letter).unwrap_or(0);
            if used + columns > room {
                break;
            }
            used += columns;
            out.push(letter);
        }
        out.push_str(mark);
        out
    }
}

#[cfg(test)]
pub(super) fn plain(width: usize) -> Style {
    Style {
        width,
        colour: Colour::Off,
        charset: Charset::Unicode,
        verbosity: Verbosity::Normal,
        reader: Reader::Program,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_by_columns_not_by_letters() {
        let style = plain(80);
        assert_eq!(style.cut("abcdef", 6), "abcdef");
        assert_eq!(style.cut("abcdef", 4), "abc…");
        assert_eq!(style.cut("日本語", 4), "日…");
        assert_eq!(style.cut("abc", 0), "…");
    }

    #[test]
    fn paints_only_when_asked() {
        let mut style = plain(80);
        assert_eq!(style.paint(Role::Good, "x"), "x");
        style.colour = Colour::On;
        assert_eq!(style.paint(Role::Good, "x"), "\u{1b}[32mx\u{1b}[0m");
    }
}
