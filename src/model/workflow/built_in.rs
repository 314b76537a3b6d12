//! The workflows that ship, and the look-up among them and a user's own.

use std::sync::LazyLock;

use super::{Definition, Unit, Workflow};

/// A name that no workflow has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no workflow is named {name:?}; known: {}", known.join(", "))]
pub struct UnknownWorkflow {
    /// The name.
    pub name: String,
    /// The names there are.
    pub known: Vec<String>,
}

static BUILT_IN: LazyLock<Vec<Workflow>> = LazyLock::new(|| {
    vec![
        closed(
            "go-team",
            "init requirements architecture implementation testing review optimization release synthesis",
            &[],
        ),
        closed(
            "impl",
            "impl review pr done rebase fatal",
            &[
                "impl -> review -> pr -> done",
                "review -> impl",
                "pr -> rebase -> impl",
                "rebase -> fatal",
            ],
        ),
        Workflow::open("phases", Unit::Phase),
        closed(
            "crunch",
            "enrich ready implementing validation docs",
            &["enrich -> ready -> implementing -> validation -> docs"],
        ),
        Workflow::open("free", Unit::Step),
    ]
});

/// The workflows that ship.
#[must_use]
pub fn built_in() -> &'static [Workflow] {
    &BUILT_IN
}

/// Finds a workflow by name, among the user's and the built-in ones. A built-in one that the user gave a schema is one
/// of the user's.
///
/// # Errors
/// When there is none of that name.
pub fn find<'a>(name: &str, user_defined: &'a [Workflow]) -> Result<&'a Workflow, UnknownWorkflow> {
    let own = user_defined.iter();
    let mut all = own.chain(built_in());
    all.find(|workflow| workflow.name == name)
        .ok_or_else(|| UnknownWorkflow {
            name: name.to_owned(),
            known: names(user_defined),
        })
}

/// The names there are: the built-in ones, then the user's.
fn names(user_defined: &[Workflow]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for workflow in built_in().iter().chain(user_defined) {
        if !names.contains(&workflow.name) {
            names.push(workflow.name.clone());
        }
    }
    names
}

fn closed(name: &str, steps: &str, transitions: &[&str]) -> Workflow {
    let definition = Definition {
        steps: steps.split(' ').map(str::to_owned).collect(),
        transitions: transitions.iter().map(|&chain| chain.to_owned()).collect(),
        ..Definition::default()
    };
    Workflow::assemble(name, &definition).expect("a test builds every workflow that ships")
}
