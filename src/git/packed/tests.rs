//! What is read must be what git packed, whole or changed, and nothing that is damaged may pass.

use std::path::Path;
use std::process::Command;

use super::*;
use crate::git::hash::hash_object;

fn git(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    for role in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{role}_NAME"), "a")
            .env(format!("GIT_{role}_EMAIL"), "a@example.com");
    }
    let output = command
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .current_dir(dir)
        .args(args)
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A repository of many versions of a few files, some large, packed with deltas; and all ids in it.
fn packed() -> (tempfile::TempDir, Vec<ObjectId>) {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "-q", "-b", "main"]);
    let mut text: Vec<String> = (0..400).map(|line| format!("line {line}\n")).collect();
    let noise: Vec<u8> = (0..300_000_u32)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    std::fs::write(dir.path().join("noise"), noise).unwrap();
    std::fs::write(dir.path().join("empty"), "").unwrap();
    for version in 0..40 {
        text[version * 9] = format!("changed in {version}\n");
        std::fs::create_dir_all(dir.path().join(format!("d{}", version % 3))).unwrap();
        std::fs::write(dir.path().join("file"), text.concat()).unwrap();
        std::fs::write(
            dir.path().join(format!("d{}/f{version}", version % 3)),
            "x".repeat(version),
        )
        .unwrap();
        git(dir.path(), &["add", "-A"]);
        git(dir.path(), &["commit", "-q", "-m", "next"]);
    }
    git(dir.path(), &["tag", "-a", "-m", "tagged", "v1"]);
    git(
        dir.path(),
        &["repack", "-q", "-a", "-d", "-f", "--depth=30"],
    );
    git(dir.path(), &["prune-packed"]);
    let all = git(
        dir.path(),
        &[
            "cat-file",
            "--batch-all-objects",
            "--batch-check=%(objectname)",
        ],
    );
    let ids = all.lines().map(|line| ObjectId::parse(line).unwrap());
    (dir, ids.collect())
}

fn objects(dir: &Path) -> PackedObjects {
    PackedObjects::new(dir.join(".git/objects/pack"), ObjectFormat::Sha1)
}

#[test]
fn every_object_is_what_its_name_says() {
    let (dir, ids) = packed();
    assert!(ids.len() > 150);
    let packs = objects(dir.path());
    for id in &ids {
        let object = packs
            .read(id, Names::Trust)
            .expect("an object that git packed");
        let found = hash_object(ObjectFormat::Sha1, object.kind, &object.bytes).unwrap();
        assert_eq!(found, *id);
        assert_eq!(packs.read(id, Names::Check), Some(object));
    }
    let deltas = git(
        dir.path(),
        &[
            "cat-file",
            "--batch-all-objects",
            "--batch-check=%(deltabase)",
        ],
    );
    let deltas = deltas
        .lines()
        .filter(|base| !base.trim_matches('0').is_empty());
    assert!(deltas.count() > 30, "deltas are part of what was read");
    for byte in 0..=255 {
        assert_eq!(
            packs.read(&ObjectId::from_bytes(&[byte; 20]).unwrap(), Names::Trust),
            None
        );
    }
}

#[test]
fn a_large_index_is_looked_into_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "-q", "-b", "main"]);
    let mut input = String::new();
    for nth in 0..9000 {
        let content = format!("content {nth}\n");
        input.extend([
            format!("blob\ndata {}\n", content.len()),
            content,
            "\n".to_owned(),
        ]);
    }
    let script = dir.path().join("script");
    std::fs::write(&script, input).unwrap();
    let status = Command::new("git")
        .args(["fast-import", "--quiet"])
        .current_dir(dir.path())
        .stdin(std::fs::File::open(script).unwrap())
        .status()
        .unwrap();
    assert!(status.success());
    let packs = objects(dir.path());
    for nth in (0..9000).step_by(37) {
        let content = format!("content {nth}\n");
        let id = hash_object(ObjectFormat::Sha1, Kind::Blob, content.as_bytes()).unwrap();
        let object = packs.read(&id, Names::Check).unwrap();
        assert_eq!(object.bytes, content.as_bytes());
        let absent = hash_object(ObjectFormat::Sha1, Kind::Tree, content.as_bytes()).unwrap();
        assert_eq!(packs.read(&absent, Names::Check), None);
    }
}

/// Runs over damaged copies of the two files of a pack; nothing that is read may differ from what was packed.
#[test]
fn damage_is_found_or_does_not_matter() {
    let (dir, ids) = packed();
    let pack_dir = dir.path().join(".git/objects/pack");
    let whole = objects(dir.path());
    let expected: Vec<Object> = ids
        .iter()
        .map(|id| whole.read(id, Names::Check).unwrap())
        .collect();
    for extension in ["idx", "pack"] {
        let path = std::fs::read_dir(&pack_dir)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.extension().is_some_and(|found| found == extension))
            .unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let mut permissions = std::fs::metadata(&path).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o644);
        std::fs::set_permissions(&path, permissions).unwrap();
        let check = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let packs = objects(dir.path());
            for (id, expected) in ids.iter().zip(&expected).step_by(7) {
                if let Some(found) = packs.read(id, Names::Check) {
                    assert_eq!(found, *expected);
                }
                // Without a look at the name it may be another object, but never an endless one.
                let _ = packs.read(id, Names::Trust);
            }
        };
        for nth in 0..60 {
            let mut flipped = bytes.clone();
            let at = (nth * 7919 + nth * nth * 31) % bytes.len().min(12_000);
            flipped[at] ^= 1 << (nth % 8);
            check(&flipped);
            check(&bytes[..at]);
        }
        std::fs::write(&path, bytes).unwrap();
    }
}
