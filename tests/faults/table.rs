//! What was found, counted.

use std::collections::BTreeMap;
use std::fmt;

use super::judge::{Breach, Finding};

/// One operation under one fault.
#[derive(Debug, Default)]
pub struct Row {
    pub operation: String,
    pub fault: String,
    pub points: usize,
    /// At how many points a promise was broken, by which one.
    breaches: BTreeMap<Breach, usize>,
    pub texts: Vec<String>,
}

impl Row {
    pub fn new(operation: &str, fault: impl fmt::Display) -> Self {
        Self {
            operation: operation.to_owned(),
            fault: fault.to_string(),
            ..Self::default()
        }
    }

    /// Counts a point; each kind of breach once.
    pub fn add(&mut self, mut findings: Vec<Finding>) {
        self.points += 1;
        findings.sort_by_key(|(breach, _)| *breach);
        findings.dedup_by_key(|(breach, _)| *breach);
        for (breach, text) in findings {
            *self.breaches.entry(breach).or_default() += 1;
            self.texts.push(format!("{breach:?}: {text}"));
        }
    }

    pub fn is_clean(&self) -> bool {
        self.breaches.is_empty()
    }
}

/// All of it, as Markdown.
pub struct Table(pub Vec<Row>);

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| operation | fault | points | false answers | lost | mixed | blocked | manual repairs |"
        )?;
        writeln!(f, "|---|---|---:|---:|---:|---:|---:|---:|")?;
        let mut total = Row::new("all", "all");
        for row in &self.0 {
            write!(f, "| {} | {} | {} |", row.operation, row.fault, row.points)?;
            total.points += row.points;
            for breach in Breach::ALL {
                let count = row.breaches.get(&breach).copied().unwrap_or_default();
                *total.breaches.entry(breach).or_default() += count;
                write!(f, " {count} |")?;
            }
            writeln!(f)?;
        }
        write!(f, "| **all** | | {} |", total.points)?;
        for breach in Breach::ALL {
            write!(f, " {} |", total.breaches[&breach])?;
        }
        writeln!(f)
    }
}
