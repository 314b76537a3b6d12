//! Hostile text made harmless: what could move the cursor, hide, or reorder is shown by its code.

use std::fmt::Write as _;

/// Whether a character shows as itself and nothing else.
#[must_use]
pub fn is_harmless(letter: char) -> bool {
    let hides = matches!(
        letter,
        // soft hyphen, combining grapheme joiner, letter mark, fillers, vowel separator
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{3164}' | '\u{ffa0}'
        // zero width, direction marks, line and paragraph separators, embeddings, isolates, invisible operators
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        // byte order mark, annotations, tags
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
    );
    !letter.is_control() && !hides
}

/// Shows what is not harmless as an escape: `\n`, `\x1b`, `\u{202e}`.
#[must_use]
pub fn escape(text: &str) -> String {
    if text.chars().all(is_harmless) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            letter if is_harmless(letter) => out.push(letter),
            letter if (letter as u32) < 0x100 => {
                let _ = write!(out, "\\x{:02x}", letter as u32);
            }
            letter => {
                let _ = write!(out, "\\u{{{:x}}}", letter as u32);
            }
        }
    }
    out
}

/// As [`escape`], but line breaks stay: for text that is laid out in lines.
#[must_use]
pub fn escape_lines(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(escape).collect();
    lines.join("\n")
}

/// JSON text with what is not harmless as `\u202e`: the same JSON, since such characters only occur in strings.
#[must_use]
pub fn escape_json(json: &str) -> String {
    let stays = |letter: char| is_harmless(letter) || letter == '\n';
    if json.chars().all(stays) {
        return json.to_owned();
    }
    let mut out = String::with_capacity(json.len() + 16);
    for letter in json.chars() {
        if stays(letter) {
            out.push(letter);
        } else {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_what_would_hide_move_or_reorder() {
        assert_eq!(
            escape("plain – ünï 日本 \\ \" 🚀"),
            "plain – ünï 日本 \\ \" 🚀"
        );
        assert_eq!(escape("a\nb\r\tc"), "a\\nb\\r\\tc");
        assert_eq!(escape("\u{1b}[31mred\u{7}"), "\\x1b[31mred\\x07");
        assert_eq!(escape("\u{9b}31m\u{7f}"), "\\x9b31m\\x7f");
        assert_eq!(escape("exe.\u{202e}txt"), "exe.\\u{202e}txt");
        assert_eq!(escape("a\u{200b}b\u{2066}"), "a\\u{200b}b\\u{2066}");
        assert_eq!(escape("\u{e0041}"), "\\u{e0041}");
        assert_eq!(escape_lines("a\n\u{1b}"), "a\n\\x1b");
    }

    #[test]
    fn json_stays_the_same_json() {
        let value = serde_json::json!({"k\u{202e}": "\u{1b}\n\u{7f}\u{e0041}"});
        let text = escape_json(&serde_json::to_string(&value).unwrap());
        assert_eq!(text, r#"{"k\u202e":"\u001b\n\u007f\udb40\udc41"}"#);
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            value
        );
    }
}
