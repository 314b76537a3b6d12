//! Whether a checkpoint holds all that is on disk: its tree is checked out by git into an empty directory, what the
//! sidecar says is laid over it, and the result is compared with the work tree, byte for byte and mode for mode.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

use go_team::engine::create::CreateReport;
use go_team::git::sidecar::Extras;
use go_team::model::path_text::unquote_path;

use super::repo::TestRepo;

#[derive(Debug, PartialEq, Eq)]
enum Item {
    File { bytes: Vec<u8>, mode: u32 },
    Link(Vec<u8>),
    Dir { mode: u32 },
}

pub fn assert_exact(repo: &TestRepo, report: &CreateReport) {
    let commit = report.record.git.commit_hash.unwrap().to_string();
    let nth = if report.record.git.head.is_some() {
        2
    } else {
        1
    };
    let sidecar = format!("{commit}^{nth}");
    let held = repo.objects(&[format!("{sidecar}:extras.json"), format!("{sidecar}:raw")]);
    let extras: Extras = serde_json::from_slice(held[0].as_ref().unwrap()).unwrap();

    let place = tempfile::tempdir_in(repo.beside("")).unwrap();
    let out = place.path().join("out");
    fs::create_dir(&out).unwrap();
    check_out(repo, &commit, &out);
    if held[1].is_some() {
        lay_raw(repo, &format!("{sidecar}:raw"), &out);
    }
    for path in &extras.absent {
        let path = out.join(path_of(path));
        let _ = fs::remove_dir_all(&path);
        let _ = fs::remove_file(&path);
        for above in path.ancestors().skip(1).take_while(|dir| *dir != out) {
            let _ = fs::remove_dir(above);
        }
    }
    for path in &extras.empty_directories {
        fs::create_dir_all(out.join(path_of(path))).unwrap();
    }
    let mut restored = read(&out, &BTreeSet::new());
    for (path, item) in &mut restored {
        let other = extras
            .permissions
            .other
            .iter()
            .find(|(name, _)| unquote_path(name).unwrap() == *path);
        let bits = |text: &str| u32::from_str_radix(text, 8).unwrap();
        match item {
            Item::File { mode, .. } => {
                let common = if *mode & 0o100 == 0 {
                    &extras.permissions.file
                } else {
                    &extras.permissions.executable
                };
                *mode = bits(other.map_or(common, |(_, text)| text));
            }
            Item::Dir { mode } => {
                *mode = bits(other.map_or(&extras.permissions.directory, |(_, text)| text));
            }
            Item::Link(_) => {}
        }
    }
    let left_out = |path: &str| unquote_path(path).unwrap();
    let skip: BTreeSet<Vec<u8>> = extras
        .skipped
        .iter()
        .map(|s| left_out(&s.path))
        .chain(extras.nested.iter().map(|n| left_out(&n.path)))
        .collect();
    let mut actual = read(&repo.root(), &skip);
    remove_ignored(repo, &mut actual, &restored);
    for path in &skip {
        let below = [path.as_slice(), b"/"].concat();
        restored.retain(|key, _| key != path && !key.starts_with(&below));
        actual.remove(path);
    }
    for (path, item) in &actual {
        let name = String::from_utf8_lossy(path);
        match (item, restored.get(path)) {
            (_, Some(other)) => assert!(
                item == other,
                "{name} is {item:?} on disk, {other:?} in the checkpoint"
            ),
            (_, None) => panic!("{name} is on disk and not in the checkpoint"),
        }
    }
    for path in restored.keys() {
        assert!(
            actual.contains_key(path),
            "{} is in the checkpoint and not on disk",
            String::from_utf8_lossy(path)
        );
    }
}

/// Checks a tree out with the work tree's own configuration and attributes.
fn check_out(repo: &TestRepo, commit: &str, out: &Path) {
    let index = out.with_file_name("index");
    let run = |args: &[&str]| {
        let mut command = repo.command(&repo.root());
        command
            .env("GIT_INDEX_FILE", &index)
            .env("GIT_WORK_TREE", out)
            .env("GIT_DIR", repo.path(".git"));
        let output = command
            .args(["-c", "core.sparseCheckout=false"])
            .args(args)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    run(&["read-tree", &format!("{commit}^{{tree}}")]);
    run(&["checkout-index", "-a", "-q", "-f"]);
}

fn lay_raw(repo: &TestRepo, tree: &str, out: &Path) {
    let list = repo
        .command(&repo.root())
        .args(["ls-tree", "-r", "-z", tree])
        .output()
        .unwrap()
        .stdout;
    let lines: Vec<_> = list
        .split(|byte| *byte == 0)
        .filter(|line| !line.is_empty())
        .map(|line| {
            let tab = line.iter().position(|byte| *byte == b'\t').unwrap();
            let meta = String::from_utf8(line[..tab].to_vec()).unwrap();
            let fields: Vec<String> = meta.split(' ').map(str::to_owned).collect();
            (fields, &line[tab + 1..])
        })
        .collect();
    let ids: Vec<String> = lines.iter().map(|(fields, _)| fields[2].clone()).collect();
    for ((fields, name), bytes) in lines.iter().zip(repo.objects(&ids)) {
        let bytes = bytes.unwrap();
        let path = out.join(Path::new(std::ffi::OsStr::from_bytes(name)));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_file(&path);
        if fields[0] == "120000" {
            std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(&bytes), &path).unwrap();
        } else {
            fs::write(&path, bytes).unwrap();
            let mode = if fields[0] == "100755" { 0o755 } else { 0o644 };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
    }
}

fn path_of(quoted: &str) -> std::path::PathBuf {
    std::ffi::OsString::from(std::ffi::OsStr::from_bytes(&unquote_path(quoted).unwrap())).into()
}

fn read(root: &Path, skip: &BTreeSet<Vec<u8>>) -> BTreeMap<Vec<u8>, Item> {
    let mut items = BTreeMap::new();
    read_below(root, root, skip, &mut items);
    items
}

fn read_below(
    root: &Path,
    dir: &Path,
    skip: &BTreeSet<Vec<u8>>,
    items: &mut BTreeMap<Vec<u8>, Item>,
) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let key = path
            .strip_prefix(root)
            .unwrap()
            .as_os_str()
            .as_bytes()
            .to_vec();
        if path.file_name().unwrap() == ".git" || skip.contains(&key) {
            continue;
        }
        let meta = path.symlink_metadata().unwrap();
        let mode = meta.permissions().mode() & 0o7777;
        if meta.is_symlink() {
            items.insert(
                key,
                Item::Link(
                    fs::read_link(&path)
                        .unwrap()
                        .as_os_str()
                        .as_bytes()
                        .to_vec(),
                ),
            );
        } else if meta.is_dir() {
            items.insert(key, Item::Dir { mode });
            read_below(root, &path, skip, items);
        } else if meta.is_file() {
            items.insert(
                key,
                Item::File {
                    bytes: fs::read(&path).unwrap(),
                    mode,
                },
            );
        }
    }
}

/// Takes out what git ignores and the checkpoint does not have.
fn remove_ignored(
    repo: &TestRepo,
    items: &mut BTreeMap<Vec<u8>, Item>,
    restored: &BTreeMap<Vec<u8>, Item>,
) {
    // Of an ignored directory, tracked files count, but not the directory itself.
    for (is_dir, options) in [(false, "-z"), (true, "--no-index")] {
        let unknown: Vec<u8> = items
            .iter()
            .filter(|(path, item)| {
                !restored.contains_key(*path) && matches!(item, Item::Dir { .. }) == is_dir
            })
            .flat_map(|(path, _)| path.iter().copied().chain([0]))
            .collect();
        if unknown.is_empty() {
            continue;
        }
        let mut command = repo.command(&repo.root());
        command.args(["check-ignore", "-z", "--stdin", options]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let writer = std::thread::spawn(move || input.write_all(&unknown).unwrap());
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        for path in output.stdout.split(|byte| *byte == 0) {
            items.remove(path);
        }
    }
}
