//! The states' own rules: known fields, and the JSON Schema of the workflow where it names one.

use std::path::Path;

use serde_json::Value;

use crate::engine::Workspace;
use crate::engine::failure::error_chain;
use crate::engine::summary::path_text;
use crate::model::State;
use crate::model::finding::{Defect, Finding};
use crate::model::json::{self, Limits};
use crate::model::workflow::{self, Workflow};
use crate::plan::validate::state::{Misfit, misfits};
use crate::store::durable;

/// How many misfits are named for one state.
const NAMED: usize = 10;

/// What states are held to.
pub(super) struct Schema {
    workflow: Option<Workflow>,
    validator: Option<jsonschema::Validator>,
    /// The file that cannot be used, and why.
    unusable: Option<(String, String)>,
}

impl Schema {
    /// What the states of a workflow are held to.
    pub fn of(workspace: &Workspace, name: &str) -> Self {
        let own = &workspace.config.settings.workflows;
        let workflow = workflow::find(name, own).ok().cloned();
        let path = workflow.as_ref().and_then(Workflow::schema);
        let (validator, unusable) = match path.map(|path| (path, load(path))) {
            None => (None, None),
            Some((_, Ok(validator))) => (Some(validator), None),
            Some((path, Err(reason))) => (None, Some((path_text(path), reason))),
        };
        Self {
            workflow,
            validator,
            unusable,
        }
    }

    /// That the schema cannot be used.
    pub fn finding(&self) -> Option<Finding> {
        let (path, reason) = self.unusable.clone()?;
        Some(Finding::of_session(Defect::SchemaUnusable { path, reason }))
    }

    /// Where a state does not fit.
    pub fn misfits(&self, state: &State) -> Vec<Misfit> {
        let mut found = misfits(self.workflow.as_ref(), state);
        if let Some(validator) = &self.validator {
            // What go-team adds is no business of the user's schema.
            let mut own = state.as_map().clone();
            own.remove("checkpoint");
            let own = Value::Object(own);
            let errors = validator.iter_errors(&own).take(NAMED);
            found.extend(errors.map(|error| Misfit {
                path: dotted(&error.instance_path().to_string()),
                reason: error.to_string().chars().take(400).collect(),
            }));
        }
        found.truncate(NAMED);
        found
    }
}

/// A JSON pointer as a dotted path.
fn dotted(pointer: &str) -> String {
    let parts = pointer.split('/').filter(|part| !part.is_empty());
    let parts = parts.map(|part| part.replace("~1", "/").replace("~0", "~"));
    parts.collect::<Vec<_>>().join(".")
}

fn load(path: &Path) -> Result<jsonschema::Validator, String> {
    let limit = Limits::INPUT.bytes;
    let bytes = durable::read_limited(path, limit).map_err(|error| error_chain(&error))?;
    let bytes = bytes.ok_or_else(|| format!("it is larger than {limit} bytes"))?;
    let schema = json::parse_object(&bytes, Limits::INPUT).map_err(|error| error.to_string())?;
    jsonschema::validator_for(&Value::Object(schema)).map_err(|error| error.to_string())
}
