//! `[workflow.NAME]`: workflows of the user's own.

use std::path::PathBuf;

use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

use crate::model::workflow::{Definition, Flow, Workflow};

use super::file::{Document, expect_table};
use super::value::{Raw, SettingValue};
use super::{Config, ConfigError, Kind, nearest};

/// The section all workflows are in.
pub(super) const SECTION: &str = "workflow";

/// One key of a workflow's table.
pub(super) struct Field {
    pub name: &'static str,
    pub kind: Kind,
    pub doc: &'static str,
    pub example: &'static str,
    assign: fn(&mut Definition, &DeValue<'_>, &Document<'_>) -> Option<()>,
}

/// Every key of a workflow's table.
pub(super) const FIELDS: &[Field] = &[
    Field {
        name: "steps",
        kind: <Vec<String>>::KIND,
        doc: "The names of the steps, in order.",
        example: r#"["draft", "edit", "ship"]"#,
        assign: |definition, value, document| read(&mut definition.steps, value, document),
    },
    Field {
        name: "transitions",
        kind: <Vec<String>>::KIND,
        doc: "Which step may follow which; any may when unset.",
        example: r#"["draft -> edit -> ship", "edit -> draft"]"#,
        assign: |definition, value, document| read(&mut definition.transitions, value, document),
    },
    Field {
        name: "terminal",
        kind: <Vec<String>>::KIND,
        doc: "The steps after which the work is finished; those that no transition leaves when unset.",
        example: r#"["ship"]"#,
        assign: |definition, value, document| read(&mut definition.terminal, value, document),
    },
    Field {
        name: "schema",
        kind: PathBuf::KIND,
        doc: "A JSON Schema that the state must satisfy.",
        example: r#""state.schema.json""#,
        assign: |definition, value, document| read(&mut definition.schema, value, document),
    },
];

fn read<T: SettingValue>(
    place: &mut T,
    value: &DeValue<'_>,
    document: &Document<'_>,
) -> Option<()> {
    *place = T::read(Raw::Toml(value), document.base)?;
    Some(())
}

/// A workflow in the words of its table.
pub(super) fn show(workflow: &Workflow) -> Value {
    let name = |number: u32| workflow.step_name(number).unwrap_or_default();
    let steps = workflow.steps().iter();
    let steps: Vec<&str> = steps.map(|step| step.name.as_str()).collect();
    let terminal = workflow.steps().iter();
    let terminal = terminal.filter(|step| workflow.is_terminal(step.number));
    let terminal: Vec<&str> = terminal.map(|step| step.name.as_str()).collect();
    let mut fields = Map::new();
    fields.insert("steps".to_owned(), steps.into());
    if let Flow::Listed(transitions) = workflow.flow() {
        let transitions = transitions.iter();
        let transitions = transitions.map(|one| format!("{} -> {}", name(one.from), name(one.to)));
        fields.insert("transitions".to_owned(), transitions.collect());
    }
    fields.insert("terminal".to_owned(), terminal.into());
    if let Some(schema) = workflow.schema() {
        fields.insert("schema".to_owned(), schema.to_string_lossy().into());
    }
    Value::Object(fields)
}

/// Adds a file's workflows. One of a name that a lower layer defined takes its place as a whole.
pub(super) fn apply(
    config: &mut Config,
    document: &Document<'_>,
    workflows: &DeTable<'_>,
) -> Result<(), ConfigError> {
    for (name, keys) in workflows {
        let at = || document.at(name.span().start);
        let full = format!("{SECTION}.{}", name.get_ref());
        let keys = expect_table(keys.get_ref(), &full, at)?;
        let definition = define(document, &full, keys)?;
        let workflow = Workflow::define(name.get_ref(), &definition).map_err(|source| {
            ConfigError::Workflow {
                at: at(),
                name: name.get_ref().to_string(),
                source,
            }
        })?;
        config
            .settings
            .workflows
            .retain(|other| other.name() != workflow.name());
        config.settings.workflows.push(workflow);
        config.origins.insert(full, at());
    }
    config
        .settings
        .workflows
        .sort_by(|a, b| a.name().cmp(b.name()));
    Ok(())
}

fn define(
    document: &Document<'_>,
    workflow: &str,
    keys: &DeTable<'_>,
) -> Result<Definition, ConfigError> {
    let mut definition = Definition::default();
    for (key, value) in keys {
        let at = document.at(key.span().start);
        let name: &str = key.get_ref();
        let full = format!("{workflow}.{name}");
        let Some(field) = FIELDS.iter().find(|field| field.name == name) else {
            let near = nearest::nearest(name, FIELDS.iter().map(|field| field.name));
            return Err(ConfigError::UnknownKey {
                at,
                key: full,
                nearest: near.map(|near| format!("{workflow}.{near}")),
            });
        };
        let value = value.get_ref();
        (field.assign)(&mut definition, value, document).ok_or_else(|| {
            ConfigError::WrongValue {
                at,
                key: full,
                expected: field.kind,
                found: Raw::Toml(value).describe(),
            }
        })?;
    }
    Ok(definition)
}
