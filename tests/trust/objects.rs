//! Objects that are missing, damaged or hostile: found, told apart, and attributed to the checkpoints that need them.

use std::fs;
use std::path::PathBuf;

use go_team::model::{ObjectId, Record};
use serde_json::Value;

use crate::damage::{forge, ids, kinds, manifest_path, record_path, reference, relist, session};
use crate::support::TestRepo;

/// Turns all packs into loose objects.
fn loosen(repo: &TestRepo) {
    let dir = repo.path(".git/objects/pack");
    let aside = repo.home().join("packs");
    fs::rename(&dir, &aside).unwrap();
    fs::create_dir(&dir).unwrap();
    for entry in fs::read_dir(&aside).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "pack")
        {
            let command = format!("git unpack-objects -q < '{}'", path.display());
            let status = std::process::Command::new("sh")
                .args(["-c", &command])
                .current_dir(repo.root())
                .status();
            assert!(status.unwrap().success());
        }
    }
}

fn loose(repo: &TestRepo, id: &str) -> PathBuf {
    repo.path(".git/objects").join(&id[..2]).join(&id[2..])
}

fn rev(repo: &TestRepo, spec: &str) -> String {
    repo.git(&["rev-parse", spec]).trim().to_owned()
}

fn failed(answer: &Value) -> Vec<String> {
    let rows = answer["data"]["checkpoints"].as_array().unwrap();
    let failed = rows.iter().filter(|row| row["git"] == "failed");
    failed
        .map(|row| row["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_missing_blob_tells_which_checkpoints_need_it_and_where() {
    let repo = session();
    let ids = ids(&repo);
    loosen(&repo);
    // main.go as it was in the first checkpoint alone.
    let blob = rev(&repo, &format!("{}:main.go", reference(&repo, &ids[0])));
    fs::remove_file(loose(&repo, &blob)).unwrap();
    let found = repo.run(&["cp-validate", "--json"]);
    assert_eq!(
        (found.code, kinds(&found)),
        (Some(3), vec!["objects".to_owned()])
    );
    let answer = found.json();
    assert_eq!(failed(&answer), [ids[0].as_str()]);
    let object = &answer["data"]["findings"][0]["defect"]["objects"][0];
    assert_eq!(object["path"], "main.go");
    assert_eq!(object["flaw"], "missing");
    assert_eq!(answer["data"]["last_valid"]["id"], ids[2].as_str());
    repo.ok(&["cp-delete", &ids[0], "--yes"]);
    assert_eq!(repo.run(&["cp-validate", "--deep"]).code, Some(0));
}

#[test]
fn objects_that_are_brought_back_make_the_checkpoint_valid_again() {
    let repo = session();
    let ids = ids(&repo);
    loosen(&repo);
    let commit = reference(&repo, &ids[1]);
    for spec in [
        "",
        "^{tree}",
        "^2",
        "^2:record.json",
        "^2:extras.json",
        ":docs",
    ] {
        let id = rev(&repo, &format!("{commit}{spec}"));
        let path = loose(&repo, &id);
        let kept = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let found = repo.run(&["cp-validate", "--json"]);
        assert_eq!(found.code, Some(3), "{spec}: {found}");
        assert!(failed(&found.json()).contains(&ids[1]), "{spec}");
        fs::write(&path, kept).unwrap();
        let hints = found.json()["error"]["hints"].to_string();
        assert!(hints.contains("go-team cp-rebuild --all"), "{hints}");
        repo.ok(&["cp-rebuild", "--all"]);
        assert_eq!(repo.run(&["cp-validate", "--deep"]).code, Some(0), "{spec}");
    }
}

#[test]
fn damaged_content_is_found_by_reading_it() {
    let repo = session();
    let ids = ids(&repo);
    loosen(&repo);
    let blob = rev(
        &repo,
        &format!("{}:docs/plan.md", reference(&repo, &ids[2])),
    );
    let other = rev(&repo, &format!("{}:README.md", reference(&repo, &ids[2])));
    let path = loose(&repo, &blob);
    let kept = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, fs::read(loose(&repo, &other)).unwrap()).unwrap();
    assert_eq!(repo.run(&["cp-validate"]).code, Some(0), "it exists");
    let found = repo.run(&["cp-validate", "--deep", "--json"]);
    assert_eq!(
        (found.code, kinds(&found)),
        (Some(3), vec!["objects".to_owned()])
    );
    assert_eq!(failed(&found.json()), [ids[2].as_str()]);
    fs::write(&path, kept).unwrap();
    // It stays marked until somebody has read everything again.
    assert_eq!(
        kinds(&repo.run(&["cp-validate", "--json"])),
        ["marked-corrupt"]
    );
    repo.ok(&["cp-rebuild", &ids[2]]);
    assert_eq!(repo.run(&["cp-validate", "--deep"]).code, Some(0));
}

#[test]
fn a_damaged_second_copy_is_found_and_pruned() {
    let repo = session();
    let ids = ids(&repo);
    let blob = rev(&repo, &format!("{}:main.go", reference(&repo, &ids[0])));
    let path = loose(&repo, &blob);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, b"x\x9cnot zlib").unwrap();
    let found = repo.run(&["cp-validate", "--deep", "--json"]);
    assert_eq!(
        (found.code, kinds(&found)),
        (Some(3), vec!["repository-file".to_owned()]),
        "{found}"
    );
    assert!(
        found.json()["error"]["hints"]
            .to_string()
            .contains("git prune-packed")
    );
    repo.git(&["prune-packed"]);
    assert_eq!(
        kinds(&repo.ok(&["cp-validate", "--deep", "--json"])),
        [""; 0]
    );
}

#[test]
fn an_index_of_a_pack_that_is_damaged_where_nobody_looks_is_found_and_written_anew() {
    let repo = session();
    repo.git(&["repack", "-a", "-d", "-q"]);
    let packs = fs::read_dir(repo.path(".git/objects/pack")).unwrap();
    let index = packs.map(|entry| entry.unwrap().path());
    let index = index
        .into_iter()
        .find(|path| path.extension().is_some_and(|e| e == "idx"))
        .unwrap();
    let mut bytes = fs::read(&index).unwrap();
    let count = u32::from_be_bytes(bytes[8 + 255 * 4..8 + 256 * 4].try_into().unwrap()) as usize;
    let checksums = 8 + 1024 + count * 20;
    bytes[checksums] ^= 1;
    fs::set_permissions(&index, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    fs::write(&index, bytes).unwrap();
    let found = repo.run(&["cp-validate", "--json"]);
    assert_eq!(
        (found.code, kinds(&found)),
        (Some(3), vec!["repository-file".to_owned()]),
        "{found}"
    );
    let hints = found.json()["error"]["hints"].to_string();
    let pack = index.with_extension("pack");
    let name = pack.file_name().unwrap().to_str().unwrap();
    assert!(
        hints.contains("git index-pack") && hints.contains(name),
        "{hints}"
    );
    let refused = repo.run(&["cp-rebuild", "--all"]);
    assert_eq!(
        refused.code,
        Some(1),
        "nothing is read through it: {refused}"
    );
    repo.git(&["index-pack", pack.to_str().unwrap()]);
    assert_eq!(
        kinds(&repo.ok(&["cp-validate", "--deep", "--json"])),
        [""; 0]
    );
}

/// Puts a commit in the place of the newest checkpoint's, with a tree of somebody else's making.
fn replace_newest(repo: &TestRepo, tree: &str, record_says_so: bool) {
    let id = ids(repo).pop().unwrap();
    let commit = reference(repo, &id);
    let mut sidecar = rev(repo, &format!("{commit}^2"));
    if record_says_so {
        let old = rev(repo, &format!("{commit}^{{tree}}"));
        let text = repo.git(&["cat-file", "blob", &format!("{sidecar}:record.json")]);
        repo.write("record.json", text.replace(&old, tree));
        let blob = repo.git(&["hash-object", "-w", "--no-filters", "record.json"]);
        fs::remove_file(repo.path("record.json")).unwrap();
        let listing = repo.git(&["ls-tree", &sidecar]);
        let lines = listing.lines().map(|line| {
            let is_record = line.ends_with("\trecord.json");
            if is_record {
                format!("100644 blob {}\trecord.json\n", blob.trim())
            } else {
                format!("{line}\n")
            }
        });
        let tree = mktree(repo, &lines.collect::<String>());
        let made = repo.git(&["commit-tree", &tree, "-m", "sidecar"]);
        made.trim().clone_into(&mut sidecar);
    }
    let head = rev(repo, "HEAD");
    let forged = repo.git(&[
        "commit-tree",
        tree,
        "-p",
        &head,
        "-p",
        &sidecar,
        "-m",
        "forged",
    ]);
    repo.git(&["update-ref", &commit, forged.trim()]);
    let text = repo.git(&["cat-file", "blob", &format!("{sidecar}:record.json")]);
    let forged = ObjectId::parse(forged.trim()).unwrap();
    let record = Record::from_sidecar(text.as_bytes(), forged).unwrap();
    fs::write(record_path(repo, &id), record.to_file_bytes()).unwrap();
    relist(repo, &id);
}

fn mktree(repo: &TestRepo, lines: &str) -> String {
    repo.write("tree.txt", lines);
    let command = "git mktree --missing < tree.txt";
    let output = std::process::Command::new("sh")
        .args(["-c", command])
        .current_dir(repo.root())
        .output()
        .unwrap();
    fs::remove_file(repo.path("tree.txt")).unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_commit_that_holds_other_files_than_the_record_says() {
    let repo = session();
    let head = rev(&repo, "HEAD^{tree}");
    replace_newest(&repo, &head, false);
    let found = repo.run(&["cp-validate", "--json"]);
    assert_eq!(
        (found.code, kinds(&found)),
        (Some(3), vec!["commit-differs".to_owned()]),
        "{found}"
    );
    give_up_on_newest(&repo);
}

#[test]
fn a_tree_that_holds_git_variants_is_refused() {
    let blob = |repo: &TestRepo| rev(repo, "HEAD:README.md");
    for name in [".git", ".GIT", "git~1", "..", ".git ", "a\\.git"] {
        let repo = session();
        let blob = blob(&repo);
        let tree = mktree_raw(&repo, name, &blob);
        replace_newest(&repo, &tree, true);
        let found = repo.run(&["cp-validate", "--json"]);
        assert_eq!(
            (found.code, kinds(&found)),
            (Some(3), vec!["objects".to_owned()]),
            "{name}: {found}"
        );
        let object = &found.json()["data"]["findings"][0]["defect"]["objects"][0];
        assert_eq!(object["flaw"], "hostile_name", "{name}");
        give_up_on_newest(&repo);
    }
}

/// A tree that git itself would not make.
fn mktree_raw(repo: &TestRepo, name: &str, blob: &str) -> String {
    let mut bytes = format!("100644 {name}\0").into_bytes();
    bytes.extend_from_slice(ObjectId::parse(blob).unwrap().as_bytes());
    repo.write("tree.bin", bytes);
    let id = repo.git(&["hash-object", "-t", "tree", "-w", "--literally", "tree.bin"]);
    fs::remove_file(repo.path("tree.bin")).unwrap();
    id.trim().to_owned()
}

fn give_up_on_newest(repo: &TestRepo) {
    let id = ids(repo).pop().unwrap();
    assert_eq!(
        repo.run(&["cp-delete", &id, "--yes"]).code,
        Some(1),
        "it is the current one"
    );
    repo.ok(&["cp-create", "--step", "4"]);
    repo.ok(&["cp-delete", &id, "--yes"]);
    let after = repo.run(&["cp-validate", "--deep"]);
    assert_eq!(after.code, Some(0), "{after}");
}

#[test]
fn one_checkpoint_is_looked_at_without_the_others() {
    let repo = session();
    let ids = ids(&repo);
    fs::write(record_path(&repo, &ids[1]), "{}").unwrap();
    forge(&manifest_path(&repo), |_| ());
    assert_eq!(repo.run(&["cp-validate", "1", "3"]).code, Some(0));
    let found = repo.run(&["cp-validate", "2", "--json"]);
    assert_eq!(kinds(&found), ["record-damaged"]);
    assert_eq!(
        found.json()["data"]["checkpoints"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(repo.run(&["cp-validate", "7"]).code, Some(4));
}
