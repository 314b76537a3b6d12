//! A single flipped bit, anywhere: deep validation finds it, and nothing panics.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use go_team::engine::validate::Depth;

use crate::damage::{copy, ids, look, manifest_path, record_path, reference};
use crate::support::TestRepo;

/// Whether flipping a bit is found; the file is as it was afterwards.
fn is_found(repo: &Path, file: &Path, at: usize, bit: u8) -> bool {
    let whole = fs::read(file).unwrap();
    let mut flipped = whole.clone();
    flipped[at] ^= 1 << bit;
    fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(file, &flipped).unwrap();
    // A check that cannot be made is no "valid" either.
    let found = look(repo, Depth::Deep).map_or(true, |report| !report.is_valid());
    fs::write(file, &whole).unwrap();
    found
}

/// Flips bits of a file in two copies of the repository at once; gives those that were not found.
fn missed(repo: &TestRepo, file: &Path, places: &[(usize, u8)]) -> Vec<(usize, u8)> {
    let inside = file.strip_prefix(repo.root()).unwrap();
    let origin = repo.root();
    let halves: Vec<&[(usize, u8)]> = places.chunks(places.len().div_ceil(2)).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = halves
            .iter()
            .map(|half| {
                scope.spawn(|| {
                    let temp = tempfile::tempdir().unwrap();
                    copy(&origin, &temp.path().join("work"));
                    let root = temp.path().join("work");
                    let file = root.join(inside);
                    let missed = half
                        .iter()
                        .filter(|(at, bit)| !is_found(&root, &file, *at, *bit));
                    missed.copied().collect::<Vec<_>>()
                })
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    })
}

fn every_byte(file: &Path) -> Vec<(usize, u8)> {
    let length = fs::metadata(file).unwrap().len();
    let length = usize::try_from(length).unwrap();
    (0..length)
        .map(|at| (at, u8::try_from(at % 8).unwrap()))
        .collect()
}

fn sample(file: &Path, count: usize) -> Vec<(usize, u8)> {
    let all = every_byte(file);
    let step = (all.len() / count).max(1);
    all.into_iter().step_by(step).collect()
}

fn small_session() -> TestRepo {
    let repo = TestRepo::with_commit();
    repo.write("a.txt", "a\n");
    repo.ok(&["cp-create"]);
    repo.write("a.txt", "b\n".repeat(300));
    repo.ok(&["cp-create"]);
    repo
}

#[test]
fn of_the_manifest_and_of_records() {
    let repo = small_session();
    let records = ids(&repo);
    let records = records.iter().map(|id| record_path(&repo, id));
    for file in records.chain([manifest_path(&repo)]) {
        assert_eq!(
            missed(&repo, &file, &every_byte(&file)),
            [],
            "{}",
            file.display()
        );
    }
}

#[test]
fn of_a_ref() {
    let repo = small_session();
    let first = ids(&repo).remove(0);
    let file = repo.path(".git").join(reference(&repo, &first));
    let missed = missed(&repo, &file, &every_byte(&file));
    // What comes after the id is not looked at by git either, nor whether its letters are capitals.
    let text = fs::read(&file).unwrap();
    for (at, bit) in missed {
        let is_capital = bit == 5 && text[at].is_ascii_alphabetic();
        assert!(at >= 40 || is_capital, "bit {bit} of byte {at}");
    }
}

fn files_below(dir: &Path, wanted: impl Fn(&Path) -> bool + Copy) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path, wanted));
        } else if wanted(&path) {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn of_packs_and_their_indexes() {
    let repo = small_session();
    repo.git(&["repack", "-a", "-d", "-q"]);
    let dir = repo.path(".git/objects/pack");
    let is_pack = |path: &Path| path.extension().is_some_and(|e| e == "pack" || e == "idx");
    let files = files_below(&dir, is_pack);
    assert_eq!(files.len(), 2);
    for file in files {
        assert_eq!(
            missed(&repo, &file, &sample(&file, 250)),
            [],
            "{}",
            file.display()
        );
    }
}

#[test]
fn of_loose_objects() {
    let repo = small_session();
    let aside = repo.home().join("packs");
    fs::rename(repo.path(".git/objects/pack"), &aside).unwrap();
    fs::create_dir(repo.path(".git/objects/pack")).unwrap();
    let unpack = format!(
        "for pack in '{}'/*.pack; do git unpack-objects -q < \"$pack\" || exit 1; done",
        aside.display()
    );
    let status = std::process::Command::new("sh")
        .args(["-c", &unpack])
        .current_dir(repo.root())
        .status();
    assert!(status.unwrap().success());
    let is_loose = |path: &Path| path.file_name().is_some_and(|name| name.len() == 38);
    let files = files_below(&repo.path(".git/objects"), is_loose);
    assert!(files.len() > 10);
    for file in files.into_iter().step_by(3) {
        for (at, bit) in missed(&repo, &file, &sample(&file, 10)) {
            // A bit that zlib does not use: every reader gets the same bytes.
            let whole = fs::read(&file).unwrap();
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << bit;
            assert_eq!(
                inflate(&flipped),
                inflate(&whole),
                "bit {bit} of byte {at} of {}",
                file.display()
            );
        }
    }
}

fn inflate(bytes: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    flate2::read::ZlibDecoder::new(bytes)
        .read_to_end(&mut content)
        .unwrap();
    content
}
