//! The workflows that ship, and the look-up among them and a user's own.

use std::sync::LazyLock;

use super::{Definition, Workflow};

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
        Workflow::open("phases"),
        closed(
            "crunch",
            "enrich ready implementing validation docs",
            &["enrich -> ready -> implementing -> validation -> docs"],
        ),
        Workflow::open("free"),
    ]
});

/// The workflows that ship.
#[must_use]
pub fn built_in() -> &'static [Workflow] {
    &BUILT_IN
}

/// Finds a workflow by name, among the built-in ones and the user's.
///
/// # Errors
/// When there is none of that name.
pub fn find<'a>(name: &str, user_defined: &'a [Workflow]) -> Result<&'a Workflow, UnknownWorkflow> {
    let all = || built_in().iter().chain(user_defined);
    all()
        .find(|workflow| workflow.name == name)
        .ok_or_else(|| UnknownWorkflow {
            name: name.to_owned(),
            known: all().map(|workflow| workflow.name.clone()).collect(),
        })
}

fn closed(name: &str, steps: &str, transitions: &[&str]) -> Workflow {
    let definition = Definition {
        steps: steps.split(' ').map(str::to_owned).collect(),
        transitions: transitions.iter().map(|&chain| chain.to_owned()).collect(),
        ..Definition::default()
    };
    Workflow::assemble(name, &definition).expect("a test builds every workflow that ships")
}
