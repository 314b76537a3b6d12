//! Star commands from stdin, a line each.

use std::io::{self, BufRead, Read as _};

use super::{Flow, Observer};
use crate::cli::{Exit, Failure};
use crate::model::star::LONGEST;

/// Does what each line says; empty lines, and those that begin with `#`, say nothing.
pub(super) fn read(observer: &mut Observer) -> Result<(), Failure> {
    for number in 1.. {
        // The lock is not kept: nothing that a line asks for may wait for it.
        let line = next(&mut io::stdin().lock()).map_err(|error| {
            let message = format!("line {number}: cannot read stdin: {error}");
            Failure::new("unreadable-input", Exit::Failure, message)
        })?;
        let Some(line) = line else {
            break;
        };
        let text = line.trim_ascii();
        if text.is_empty() || text.starts_with(b"#") {
            continue;
        }
        if observer.obey(&line, Some(number)) == Flow::Leave {
            break;
        }
    }
    Ok(())
}

/// The next line without its end; of one that is too long, just so much that this can be seen.
fn next(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let most = LONGEST as u64 + 2;
    if input.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > LONGEST {
        input.skip_until(b'\n')?;
    }
    Ok(Some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_where_they_end_and_long_ones_are_passed_over() {
        let long = "x".repeat(3 * LONGEST);
        let text = format!("a\n\n{long}\nb\r\n{long}");
        let mut input = io::BufReader::with_capacity(7, text.as_bytes());
        let mut lengths = Vec::new();
        while let Some(line) = next(&mut input).unwrap() {
            lengths.push(line.len());
        }
        assert_eq!(lengths, [1, 0, LONGEST + 2, 2, LONGEST + 2]);
    }
}
