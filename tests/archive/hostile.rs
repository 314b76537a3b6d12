//! Archives that somebody made to do harm, or that a disk has eaten: refused whole, with a reason, nothing written.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::forge::{Archive, Member, file, gzip};
use crate::place::{import, untouched};
use crate::support::{Output, TestRepo};

/// The one who is given the archive.
pub struct Victim {
    pub repo: TestRepo,
    /// With a session of its own, so that there is something to lose.
    pub archive: Archive,
}

impl Victim {
    pub fn new() -> Self {
        let source = TestRepo::with_checkpoints();
        let archive = Archive::of(&source);
        let repo = TestRepo::with_commit();
        repo.write("work.txt", "mine\n");
        repo.ok(&["cp-create", "mine"]);
        Self { repo, archive }
    }

    /// The archive's bytes are refused with these words, and nothing changes.
    fn refuses(&self, bytes: &[u8], words: &str) -> Output {
        let file = file(&self.repo, bytes);
        let output = untouched(&self.repo, || limited(&self.repo, &file));
        std::fs::remove_file(file).unwrap();
        assert_eq!(output.code, Some(3), "{words}: {output}");
        assert!(output.stderr.contains(words), "{words}: {output}");
        assert!(
            output.stderr.contains("nothing of it was written"),
            "{output}"
        );
        assert!(output.stderr.contains("hint: "), "{output}");
        output
    }

    /// The same of an archive that was changed.
    fn refuses_changed(&self, change: impl FnOnce(&mut Archive), words: &str) {
        let mut archive = self.archive.clone();
        change(&mut archive);
        self.refuses(&archive.gzip(), words);
    }

    /// The same, with a list of contents that was made to fit.
    pub fn refuses_relisted(&self, change: impl FnOnce(&mut Archive), words: &str) {
        let mut archive = self.archive.clone();
        change(&mut archive);
        archive.relist();
        self.refuses(&archive.gzip(), words);
    }
}

/// Imports with so little memory that nothing can be read that is as large as it claims to be.
pub fn limited(repo: &TestRepo, file: &Path) -> Output {
    let limit = |command: &mut Command| {
        let program = command.get_program().to_owned();
        let args: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -v 1000000; exec \"$0\" \"$@\""]);
        shell.arg(program).args(args);
        shell.current_dir(command.get_current_dir().unwrap());
        shell.env_clear();
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                shell.env(name, value);
            }
        }
        shell.process_group(0);
        *command = shell;
    };
    repo.run_with(&["cp-import", file.to_str().unwrap()], limit, "")
}

#[test]
fn the_archive_that_is_not_changed_comes_in() {
    let victim = Victim::new();
    let mut archive = victim.archive.clone();
    archive.relist();
    let file = file(&victim.repo, &archive.gzip());
    let output = limited(&victim.repo, &file);
    assert_eq!(output.code, Some(0), "{output}");
}

#[test]
fn names_that_lead_elsewhere() {
    let victim = Victim::new();
    let session = victim.archive.session();
    for name in [
        "../evil",
        "../../../../etc/cron.d/evil",
        "/etc/evil",
        &format!("{session}/../evil"),
        &format!("{session}/./state.json"),
        &format!("{session}//state.json"),
        &format!("{session}/sub/state.json"),
        &format!("{session}/STATE.JSON"),
        &format!("{session}/state.json "),
        "state.json",
        "",
    ] {
        victim.refuses_changed(
            |archive| archive.member("/state.json").name = name.to_owned(),
            "is where",
        );
    }
    for name in [
        "../contents.json",
        "/contents.json",
        "contents.json",
        "A/contents.json",
        "a.lock/contents.json",
        "-x/contents.json",
    ] {
        let words = "is not a name that an export has";
        victim.refuses_changed(|archive| archive.members[0].name = name.to_owned(), words);
    }
    for name in [
        "../evil.json",
        "/etc/evil",
        "cp-../x.json",
        "cp-01-A.json",
        ".git/config",
        "exports/x",
    ] {
        victim.refuses_changed(
            |archive| {
                let id = archive.record(0).name.split_once('/').unwrap().1.to_owned();
                archive.change("/contents.json", &id, name);
            },
            "a member called",
        );
    }
    // Escape sequences are not handed on.
    let output = victim.refuses(
        &{
            let mut archive = victim.archive.clone();
            archive.member("/state.json").name = format!("{session}/\u{1b}[2J\u{202e}x");
            archive.gzip()
        },
        "is where",
    );
    assert!(!output.stderr.contains('\u{1b}') && !output.stderr.contains('\u{202e}'));
}

#[test]
fn members_that_are_no_plain_files() {
    let victim = Victim::new();
    let name = format!("{}/state.json", victim.archive.session());
    let long = "x".repeat(300);
    for (kind, words) in [
        (b'1', "is a hard link"),
        (b'2', "is a symbolic link"),
        (b'3', "is a device"),
        (b'4', "is a device"),
        (b'5', "is a directory"),
        (b'6', "is a named pipe"),
        (b'7', "is a member of an unknown kind"),
        (b'L', "is a long name"),
        (b'K', "is a long name"),
        (b'x', "is a set of extended attributes"),
        (b'g', "is a set of extended attributes"),
        (b'S', "is a sparse file"),
        (b'V', "is a member of an unknown kind"),
    ] {
        let odd = Member::of_kind(kind, &name, "/etc/passwd", long.as_bytes());
        // In place of a member, before one, before all, after all.
        victim.refuses_changed(
            |archive| *archive.member("/state.json") = odd.clone(),
            words,
        );
        for at in [0, 1, 3, victim.archive.members.len()] {
            victim.refuses_changed(|archive| archive.members.insert(at, odd.clone()), words);
        }
    }
}

#[test]
fn twins_strangers_and_another_order() {
    let victim = Victim::new();
    let end = victim.archive.members.len();
    let session = victim.archive.session();
    for at in [2, 4, end] {
        let words = if at == end {
            "is not in its list"
        } else {
            "is where"
        };
        victim.refuses_changed(
            |archive| {
                let twin = archive.member("/state.json").clone();
                archive.members.insert(at, twin);
            },
            words,
        );
        let stranger = Member::new(&format!("{session}/stranger.json"), b"{}");
        victim.refuses_changed(|archive| archive.members.insert(at, stranger), words);
    }
    victim.refuses_relisted(
        |archive| {
            let twin = archive.record(0).clone();
            archive.members.insert(4, twin);
        },
        "is listed twice",
    );
    victim.refuses_changed(|archive| archive.members.swap(1, 3), "is where");
    victim.refuses_relisted(|archive| archive.members.swap(1, 3), "is out of order");
    victim.refuses_relisted(|archive| archive.members.swap(4, 5), "in its order");
    victim.refuses_relisted(
        |archive| {
            let bundle = archive.members.pop().unwrap();
            archive.members.insert(1, bundle);
        },
        "is out of order",
    );
    victim.refuses_changed(
        |archive| _ = archive.members.remove(0),
        "is not a name that an export has",
    );
    victim.refuses_changed(|archive| _ = archive.members.remove(3), "is where");
    victim.refuses_relisted(
        |archive| _ = archive.members.remove(3),
        "state.json is not listed",
    );
    victim.refuses_relisted(|archive| _ = archive.members.remove(4), "in its order");
    victim.refuses_relisted(
        |archive| {
            let mut record = archive.record(1).clone();
            record.name = format!("{session}/cp-09-more-20251228-210000.json");
            archive.members.insert(6, record);
        },
        "in its order",
    );
}

#[test]
fn bytes_that_are_not_as_they_were() {
    let victim = Victim::new();
    for ending in [
        "/manifest.json",
        "/state.json",
        "/rollback-history.json",
        "/checkpoints.bundle",
    ] {
        victim.refuses_changed(
            |archive| archive.member(ending).bytes[40] ^= 1,
            "does not have the SHA-256",
        );
        victim.refuses_changed(
            |archive| archive.member(ending).bytes.push(b' '),
            "the list of contents says",
        );
    }
    victim.refuses_changed(
        |archive| archive.change("/contents.json", "\"sha256\":\"", "\"sha256\":\"00"),
        "contents.json is damaged",
    );
    let whole = victim.archive.gzip();
    for cut in (0..whole.len()).step_by(131) {
        victim.refuses(&whole[..cut], "is refused");
    }
    victim.refuses(&whole[..whole.len() - 1], "cut short");
    victim.refuses(b"", "cut short");
    victim.refuses(b"PK\x03\x04 not this", "no gzip file");
    victim.refuses(&victim.archive.tar(), "no gzip file");
    let mut sum = whole.clone();
    let at = sum.len() - 6;
    sum[at] ^= 1;
    victim.refuses(&sum, "damaged");
    let tar = victim.archive.tar();
    victim.refuses(&gzip(&tar[..tar.len() - 1024]), "cut short");
    victim.refuses(&gzip(&tar[..tar.len() - 512]), "cut short");
    victim.refuses(&[&whole[..], b"more"].concat(), "more after its end");
    victim.refuses(&[&whole[..], &whole[..]].concat(), "more after its end");
    victim.refuses(&gzip(&[&tar[..], &tar[..]].concat()), "more after its end");
    victim.refuses(
        &gzip(&[&tar[..], &vec![0; 1 << 20]].concat()),
        "more after its end",
    );
    let mut header = tar.clone();
    header[0] ^= 1;
    victim.refuses(&gzip(&header), "header of a member is damaged");
    let mut padding = tar;
    let at = 512 + victim.archive.members[0].bytes.len();
    padding[at] = b'x';
    victim.refuses(&gzip(&padding), "header of a member is damaged");
}

#[test]
fn sizes_and_numbers_beyond_all_measure() {
    let victim = Victim::new();
    for claim in [1 << 40, 1 << 62, u64::MAX] {
        victim.refuses_changed(
            |archive| archive.members[0].claims = Some(claim),
            "is refused",
        );
        victim.refuses_changed(
            |archive| archive.member("/state.json").claims = Some(claim),
            "is refused",
        );
        victim.refuses_changed(
            |archive| {
                archive.change(
                    "/contents.json",
                    "\"size\":81,",
                    &format!("\"size\":{claim},"),
                )
            },
            "is said to have",
        );
    }
    // Room for a petabyte is nowhere.
    let mut archive = victim.archive.clone();
    let size = archive.member(".bundle").bytes.len();
    archive.change(
        "/contents.json",
        &format!("\"size\":{size},"),
        "\"size\":1125899906842624,",
    );
    archive.member(".bundle").claims = Some(1 << 50);
    let forged = file(&victim.repo, &archive.gzip());
    let output = untouched(&victim.repo, || limited(&victim.repo, &forged));
    assert_eq!(output.code, Some(1), "{output}");
    assert!(
        output.stderr.contains("it says that it holds 1125899906"),
        "{output}"
    );
    let line = "{\"name\":\"cp-1.json\",\"size\":1,\"sha256\":\"\"},".repeat(600_000);
    let many = format!("{{\"version\":1,\"session_id\":\"x\",\"members\":[{line}]}}");
    victim.refuses_changed(
        |archive| archive.members[0].bytes = many.into_bytes(),
        "contents.json is damaged: more than 1048576 values",
    );
    let zeros = vec![b' '; 256 << 20];
    victim.refuses_changed(
        |archive| archive.members[0].bytes.clone_from(&zeros),
        "larger than",
    );
    victim.refuses_relisted(
        |archive| archive.member("/state.json").bytes.clone_from(&zeros),
        "is said to have",
    );
    victim.refuses_relisted(|archive| archive.record(0).bytes = zeros, "is said to have");
}

#[test]
fn json_that_goes_too_deep() {
    let victim = Victim::new();
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000)).into_bytes();
    let object = format!(
        "{{\"version\":1,\"a\":{}}}",
        String::from_utf8(deep.clone()).unwrap()
    );
    for bytes in [deep, object.into_bytes()] {
        victim.refuses_changed(
            |archive| archive.members[0].bytes.clone_from(&bytes),
            "is damaged",
        );
        for ending in ["/manifest.json", "/state.json", "/rollback-history.json"] {
            victim.refuses_relisted(
                |archive| archive.member(ending).bytes.clone_from(&bytes),
                "is damaged",
            );
        }
        victim.refuses_relisted(
            |archive| archive.record(0).bytes.clone_from(&bytes),
            "is damaged",
        );
    }
}

#[test]
fn members_that_do_not_fit_each_other() {
    let victim = Victim::new();
    let reseal = |member: &mut Member, change: &dyn Fn(&mut Value)| {
        let mut value: Value = serde_json::from_slice(&member.bytes).unwrap();
        change(&mut value);
        value.as_object_mut().unwrap().remove("checksum");
        let canonical = go_team::model::json::canonical(&value);
        value["checksum"] = go_team::model::Sha256Digest::of(&canonical)
            .to_string()
            .into();
        member.bytes = serde_json::to_vec(&value).unwrap();
    };
    let text = |text: &'static str| Value::from(text);
    victim.refuses_relisted(
        |archive| {
            reseal(archive.member("/manifest.json"), &|value| {
                value["session_id"] = text("other")
            })
        },
        "the manifest is that of session other",
    );
    victim.refuses_relisted(
        |archive| {
            reseal(archive.member("/manifest.json"), &|value| {
                value["current_checkpoint"] = text("cp-09")
            })
        },
        "the current checkpoint is not listed",
    );
    victim.refuses_relisted(
        |archive| {
            reseal(archive.member("/manifest.json"), &|value| {
                value["topic"] = Value::from(1)
            })
        },
        "manifest.json is damaged",
    );
    victim.refuses_relisted(
        |archive| archive.change("/manifest.json", "auth system", "other system"),
        "manifest.json is damaged: checksum",
    );
    victim.refuses_relisted(
        |archive| {
            reseal(archive.record(0), &|value| {
                value["description"] = text("edited")
            })
        },
        "is not the record that the manifest lists",
    );
    victim.refuses_relisted(
        |archive| {
            reseal(archive.record(0), &|value| {
                value["session_id"] = text("../x")
            })
        },
        "is damaged",
    );
    // Edited and sealed again, the manifest made to fit: the chain finds it, or else the commit.
    for (nth, words) in [
        (0, "the chain of records does not hold"),
        (1, "tells of another record"),
    ] {
        victim.refuses_relisted(
            |archive| {
                let record = archive.record(nth);
                let mut was: Value = serde_json::from_slice(&record.bytes).unwrap();
                reseal(record, &|value| value["description"] = text("edited"));
                let now: Value = serde_json::from_slice(&record.bytes).unwrap();
                let (was, now) = (was["checksum"].take(), now["checksum"].clone());
                let manifest = archive.member("/manifest.json");
                reseal(manifest, &|value| {
                    for entry in value["checkpoints"].as_array_mut().unwrap() {
                        if entry["checksum"] == was {
                            entry["checksum"] = now.clone();
                        }
                    }
                });
            },
            words,
        );
    }
    victim.refuses_relisted(
        |archive| archive.change("/rollback-history.json", "[]", "[{}]"),
        "rollback-history.json is damaged",
    );
    victim.refuses_relisted(
        |archive| archive.change("/rollback-history.json", "auth-system", "other-system"),
        "the rollbacks are not those",
    );
}

#[test]
fn a_newer_format_is_told_apart() {
    let victim = Victim::new();
    let mut archive = victim.archive.clone();
    archive.change("/contents.json", "\"version\": 1", "\"version\": 2");
    let forged = file(&victim.repo, &archive.gzip());
    let output = untouched(&victim.repo, || import(&victim.repo, &forged, &[]));
    assert_eq!(output.code, Some(1), "{output}");
    assert!(
        output.stderr.contains("format version 2 is not known"),
        "{output}"
    );
    assert!(
        output.stderr.contains("a newer go-team wrote it"),
        "{output}"
    );
}
