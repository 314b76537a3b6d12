//! `go-team man`

use std::path::PathBuf;

use clap::{Args, Command, CommandFactory as _};
use clap_mangen::Man;

use super::context::Context;
use super::{Cli, Exit, Failure};
use crate::engine::man::{Page, write_pages};
use crate::render::PageView;

/// Print a manual page, or write all of them
///
/// To read one: go-team man cp-create | man -l -
#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// The command, such as cp-create or state set; the page of go-team itself when absent
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    command: Vec<String>,
    /// Write the pages of all commands into this directory, over those that are there
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl ManArgs {
    pub(super) fn run(self, context: &Context) -> Result<(), Failure> {
        let mut root = Cli::command().disable_help_subcommand(true);
        root.build();
        if let Some(dir) = self.out {
            let mut pages = Vec::new();
            collect(&root, &[], &mut pages)?;
            return context.answer(&write_pages(&context.start.join(dir), pages)?);
        }
        let mut command = &root;
        let mut way: Vec<&str> = Vec::new();
        for word in &self.command {
            let found = command
                .find_subcommand(word)
                .filter(|one| !one.is_hide_set());
            command = found.ok_or_else(|| {
                let known = command.get_subcommands().filter(|one| !one.is_hide_set());
                let known: Vec<&str> = known.map(Command::get_name).collect();
                let message = format!("there is no command {:?}", join(&way, word).join(" "));
                let failure = Failure::new("unknown-command", Exit::NotFound, message);
                if known.is_empty() {
                    failure.hint(format!("go-team man {}", way.join(" ")))
                } else {
                    failure.hint(format!("there is: {}", known.join(", ")))
                }
            })?;
            way.push(command.get_name());
        }
        context.answer(&PageView::from(page(command, &way)?))
    }
}

fn join<'a>(way: &[&'a str], word: &'a str) -> Vec<&'a str> {
    way.iter().copied().chain([word]).collect()
}

/// The pages of a command and of those below it.
fn collect(command: &Command, way: &[&str], pages: &mut Vec<Page>) -> Result<(), Failure> {
    pages.push(page(command, way)?);
    for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        collect(one, &join(way, one.get_name()), pages)?;
    }
    Ok(())
}

/// The page of one command; its name is all the words that call it.
fn page(command: &Command, way: &[&str]) -> Result<Page, Failure> {
    let words = join(&["go-team"], "");
    let words: Vec<&str> = words
        .into_iter()
        .filter(|word| !word.is_empty())
        .chain(way.iter().copied())
        .collect();
    let name = words.join("-");
    let source = format!("go-team {}", env!("CARGO_PKG_VERSION"));
    let command = command
        .clone()
        .bin_name(words.join(" "))
        .display_name(&name);
    let man = Man::new(command)
        .title(&name)
        .source(source)
        .manual("go-team");
    let mut text = Vec::new();
    let rendered = man.render(&mut text);
    let text = rendered.ok().and_then(|()| String::from_utf8(text).ok());
    let text = text.ok_or_else(|| {
        let message = format!("the page of {name} could not be made");
        Failure::new("internal", Exit::Failure, message)
    })?;
    Ok(Page {
        file: format!("{name}.1"),
        name,
        text,
    })
}
