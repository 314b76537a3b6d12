//! States: known fields, and the JSON Schema of a workflow.

use crate::damage::{ids, kinds};
use crate::support::TestRepo;

#[test]
fn a_state_that_does_not_fit_is_not_valid_and_not_corrupt() {
    let repo = TestRepo::with_commit();
    let state = r#"{"phase": 7, "metrics": {"build_pass": "yes"}}"#;
    let made = repo.run_with_input(&["cp-create", "--state", "-"], state);
    assert_eq!(made.code, Some(0), "{made}");
    let found = repo.run(&["cp-validate", "--json"]);
    assert_eq!(
        (found.code, kinds(&found)),
        (Some(3), vec!["state-misfit".to_owned(); 2])
    );
    let answer = found.json();
    assert_eq!(answer["data"]["marked"], serde_json::json!([]));
    assert_eq!(answer["data"]["checkpoints"][0]["state"], "failed");
    assert_eq!(answer["data"]["checkpoints"][0]["valid"], true);
    repo.ok(&["state", "set", "phase=design", "metrics.build_pass=true"]);
    repo.ok(&["cp-create"]);
    let old = ids(&repo).remove(0);
    let hints = answer["error"]["hints"].to_string();
    assert!(
        hints.contains("go-team state set") && hints.contains(&format!("cp-delete {old}")),
        "{hints}"
    );
    repo.ok(&["cp-delete", &old, "--yes"]);
    assert_eq!(repo.run(&["cp-validate"]).code, Some(0));
}

#[test]
fn a_state_is_held_to_the_schema_of_its_workflow() {
    let repo = TestRepo::with_commit();
    repo.write(
        "go-team.toml",
        "[workflow.press]\nsteps = ['draft', 'ship']\nschema = 'state.schema.json'\n",
    );
    let schema = r#"{"type": "object", "required": ["pages"], "additionalProperties": false,
        "properties": {"topic": {}, "phase": {"enum": ["draft", "ship"]}, "pages": {"type": "integer", "minimum": 1}}}"#;
    repo.write("state.schema.json", schema);
    repo.ok(&["start", "book", "--workflow", "press"]);
    repo.ok(&["state", "set", "pages=3", "phase=draft"]);
    repo.ok(&["cp-create", "--step", "1"]);
    repo.ok(&["cp-create", "--step", "1"]);
    let valid = repo.run(&["cp-validate"]);
    assert_eq!(valid.code, Some(0), "{valid}");
    repo.ok(&["state", "set", "pages=0", "phase=burn"]);
    repo.ok(&["cp-create", "--step", "2"]);
    let found = repo.run(&["cp-validate", "--json"]);
    assert_eq!(
        (found.code, kinds(&found)),
        (Some(3), vec!["state-misfit".to_owned(); 2]),
        "{found}"
    );
    let findings = found.json()["data"]["findings"].to_string();
    assert!(
        findings.contains("\"path\":\"pages\"") && findings.contains("\"path\":\"phase\""),
        "{findings}"
    );
}

#[test]
fn a_schema_that_cannot_be_used_is_said() {
    let repo = TestRepo::with_commit();
    repo.write(
        "go-team.toml",
        "[workflow.press]\nsteps = ['draft']\nschema = 's.json'\n",
    );
    repo.ok(&["start", "book", "--workflow", "press"]);
    repo.ok(&["cp-create", "--step", "1"]);
    for content in [
        None,
        Some("{"),
        Some(r#"{"type": "nothing"}"#),
        Some(r#"{"$ref": "https://example.org/s.json"}"#),
    ] {
        if let Some(content) = content {
            repo.write("s.json", content);
        }
        let found = repo.run(&["cp-validate", "--json"]);
        assert_eq!(
            (found.code, kinds(&found)),
            (Some(3), vec!["schema-unusable".to_owned()]),
            "{found}"
        );
    }
    repo.write("s.json", "{}");
    assert_eq!(repo.run(&["cp-validate"]).code, Some(0));
}
