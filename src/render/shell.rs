//! Words of a command line as a shell takes them.

use std::ffi::OsStr;

/// Words that can be typed again as they are; a word with anything special in it goes between single quotes.
#[must_use]
pub fn shell_line<S: AsRef<OsStr>>(words: &[S]) -> String {
    let quoted = words
        .iter()
        .map(|word| quote(&word.as_ref().to_string_lossy()));
    quoted.collect::<Vec<_>>().join(" ")
}

fn quote(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "@%+=:,./-_".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_change_them() {
        assert_eq!(shell_line(&["make", "-j2", "A=b"]), "make -j2 A=b");
        assert_eq!(
            shell_line(&["sh", "-c", "echo $x", "", "it's", "*"]),
            r"sh -c 'echo $x' '' 'it'\''s' '*'"
        );
    }
}
