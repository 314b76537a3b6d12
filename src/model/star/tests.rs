//! What is typed, and what it means.

use proptest::prelude::*;

use super::*;

fn words(line: &str) -> String {
    let command = StarCommand::parse(line.as_bytes()).unwrap();
    command
        .words()
        .map_or("-".to_owned(), |words| words.join(" "))
}

fn error(line: &str) -> String {
    StarCommand::parse(line.as_bytes()).unwrap_err().to_string()
}

#[test]
fn every_command_of_the_observer_is_understood() {
    for (line, meant) in [
        ("*checkpoints", "cp-list"),
        ("*cp-list", "cp-list"),
        ("*cp-show:2", "cp-show 2"),
        ("*cp-show:2:docs/a b.md", "cp-show 2:docs/a b.md"),
        ("*cp-diff:2", "cp-diff 2"),
        ("*cp-diff:2:4", "cp-diff 2 4"),
        ("*cp-diff 2 latest~1", "cp-diff 2 latest~1"),
        ("*rollback:2", "rollback 2"),
        ("*rollback:6.2", "rollback 6.2"),
        (
            "*rollback:cp-02-requirements-20251228-211500",
            "rollback cp-02-requirements-20251228-211500",
        ),
        ("  *Rollback 2\r", "rollback 2"),
        ("* rollback : my step", "rollback my step"),
        ("*undo", "undo"),
        ("*redo", "redo"),
        ("*cp-validate", "cp-validate"),
        ("*cp-validate:3", "cp-validate 3"),
        ("*cp-export", "cp-export"),
        ("*cp-rebuild:3", "cp-rebuild 3"),
        ("*sessions", "sessions"),
        ("*session-info", "session-info"),
        ("*session-info:auth-1f3c", "session-info auth-1f3c"),
        ("*resume", "resume"),
        ("*resume:", "resume"),
        ("*resume:auth-1f3c", "resume auth-1f3c"),
        ("*abandon:auth-1f3c", "abandon auth-1f3c"),
        ("*cleanup", "cleanup"),
        ("*status", "status"),
        ("*help", "-"),
        ("*quit", "-"),
        ("*exit", "-"),
    ] {
        assert_eq!(words(line), meant, "{line}");
    }
    for form in FORMS {
        let mentioned = form.form.trim_start_matches('*');
        assert!(mentioned.starts_with(form.name), "{form:?}");
    }
}

#[test]
fn what_is_wrong_is_said_with_what_may_have_been_meant() {
    let nearest = |line: &str| match StarCommand::parse(line.as_bytes()).unwrap_err() {
        StarError::NoStar { nearest, .. } | StarError::Unknown { nearest, .. } => nearest,
        other => panic!("{line}: {other:?}"),
    };
    assert_eq!(nearest("*rolback:2"), Some("*rollback:N"));
    assert_eq!(nearest("*cp-dif:2"), Some("*cp-diff:A[:B]"));
    assert_eq!(nearest("*cplist"), Some("*cp-list"));
    assert_eq!(nearest("rollback:2"), Some("*rollback:N"));
    assert_eq!(nearest("*supercalifragilistic"), None);
    assert_eq!(nearest("*"), None);
    assert_eq!(nearest("please, could you go back"), None);
    assert_eq!(error("*rolback:2"), "there is no star command *rolback");
    assert_eq!(
        error("go"),
        "a star command begins with *, and \"go\" does not"
    );
    for line in ["*rollback", "*rollback:", "*rollback:2:3", "*rollback 2 3"] {
        assert_eq!(error(line), "*rollback is typed as *rollback:N", "{line}");
    }
    assert_eq!(
        error("*cp-diff:1:2:3"),
        "*cp-diff is typed as *cp-diff:A[:B]"
    );
    assert_eq!(error("*undo:2"), "*undo is typed as *undo");
    assert_eq!(error("*abandon"), "*abandon is typed as *abandon:ID");
    assert_eq!(
        error("*cp-diff:--patch"),
        "\"--patch\" begins with -, which no name of a star command does"
    );
    assert_eq!(error("*cp-diff:2:"), "not a name of a checkpoint: \"\"");
    assert_eq!(
        error("*rollback:latest~x"),
        "not a name of a checkpoint: \"latest~x\""
    );
    assert_eq!(error("*abandon:../x"), "not a session id: \"../x\"");
    assert_eq!(StarCommand::parse(b"*\xff"), Err(StarError::NotText));
    let long = [b"*rollback:".as_slice(), &[b'x'; LONGEST]].concat();
    assert_eq!(StarCommand::parse(&long), Err(StarError::TooLong));
}

/// Bytes that are more often nearly right than not.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let names = prop::sample::select(FORMS.map(|form| form.name).to_vec());
    let near = (
        r"\*? ?",
        names,
        "[: ]?",
        r"[-a-z0-9~.:* \t/\x00-\x1f]{0,20}",
    );
    let near = near.prop_map(|(star, name, separator, rest)| {
        format!("{star}{name}{separator}{rest}").into_bytes()
    });
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        ".{0,100}".prop_map(String::into_bytes),
        near,
    ]
}

proptest! {
    /// Whatever is typed, nothing panics; what is understood is one command with plain arguments, none of them an option;
    /// what is not understood is said in few words.
    #[test]
    fn any_bytes_are_understood_or_refused(line in line()) {
        match StarCommand::parse(&line) {
            Ok(command) => {
                let text = String::from_utf8(line).unwrap();
                prop_assert!(text.trim().starts_with('*'));
                if let Some(words) = command.words() {
                    prop_assert!(FORMS.iter().any(|form| form.name == words[0]));
                    prop_assert!(words.iter().all(|word| !word.is_empty() && !word.starts_with('-')));
                    prop_assert!(words.len() <= 3);
                }
            }
            Err(error) => prop_assert!(error.to_string().chars().count() < 1000),
        }
    }

    /// What is understood is understood again from how it is written.
    #[test]
    fn what_is_shown_can_be_typed(line in line()) {
        if let Ok(command) = StarCommand::parse(&line) {
            let shown = command.to_string();
            prop_assert_eq!(StarCommand::parse(shown.as_bytes()), Ok(command), "{}", shown);
        }
    }
}
