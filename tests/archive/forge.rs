//! Archives taken apart and put together again, with whatever a forger would change.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::{GzEncoder, ZlibEncoder};
use go_team::model::Sha256Digest;
use serde_json::json;

use crate::place::{export, unused};
use crate::process;
use crate::support::TestRepo;

/// A member of an archive: a tar header's fields and what follows it.
#[derive(Clone)]
pub struct Member {
    pub name: String,
    pub kind: u8,
    pub link: String,
    pub bytes: Vec<u8>,
    /// The size that the header claims, where it is not the true one.
    pub claims: Option<u64>,
}

impl Member {
    pub fn new(name: &str, bytes: &[u8]) -> Self {
        Self {
            name: name.to_owned(),
            kind: b'0',
            link: String::new(),
            bytes: bytes.to_vec(),
            claims: None,
        }
    }

    pub fn of_kind(kind: u8, name: &str, link: &str, bytes: &[u8]) -> Self {
        Self {
            kind,
            link: link.to_owned(),
            ..Self::new(name, bytes)
        }
    }

    fn append(&self, tar: &mut Vec<u8>) {
        let mut block = [0; 512];
        let (prefix, name) = match self.name.rsplit_once('/') {
            Some((prefix, name)) if self.name.len() > 100 => (prefix, name),
            _ => ("", self.name.as_str()),
        };
        let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, name.as_bytes());
        put(100, b"0000644\0");
        put(108, b"0000000\0");
        put(116, b"0000000\0");
        let size = self.claims.unwrap_or(self.bytes.len() as u64);
        if size < 1 << 33 {
            put(124, format!("{size:011o}\0").as_bytes());
        } else {
            put(124, &[0x80, 0, 0, 0]);
            put(128, &size.to_be_bytes());
        }
        put(136, b"00000000000\0");
        put(148, b"        ");
        put(156, &[self.kind]);
        put(157, self.link.as_bytes());
        put(257, b"ustar\0\x30\x30");
        put(345, prefix.as_bytes());
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        tar.extend_from_slice(&block);
        tar.extend_from_slice(&self.bytes);
        tar.resize(tar.len().next_multiple_of(512), 0);
    }
}

/// An archive in parts.
#[derive(Clone)]
pub struct Archive {
    pub members: Vec<Member>,
}

impl Archive {
    /// What `cp-export` wrote.
    pub fn of(repo: &TestRepo) -> Self {
        Self::read(&export(repo, &[]))
    }

    pub fn read(file: &Path) -> Self {
        let mut tar = Vec::new();
        let gzip = fs::File::open(file).unwrap();
        GzDecoder::new(gzip).read_to_end(&mut tar).unwrap();
        let mut members = Vec::new();
        let mut archive = tar::Archive::new(tar.as_slice());
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let name = entry.path().unwrap().to_str().unwrap().to_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            members.push(Member::new(&name, &bytes));
        }
        Self { members }
    }

    pub fn session(&self) -> String {
        let (session, _) = self.members[0].name.split_once('/').unwrap();
        session.to_owned()
    }

    /// The member whose name ends so.
    pub fn member(&mut self, ending: &str) -> &mut Member {
        let found = self
            .members
            .iter_mut()
            .find(|member| member.name.ends_with(ending));
        found.unwrap()
    }

    /// The record of the nth checkpoint, from 0.
    pub fn record(&mut self, nth: usize) -> &mut Member {
        let mut records = self
            .members
            .iter_mut()
            .filter(|member| member.name.contains("/cp-"));
        records.nth(nth).unwrap()
    }

    /// Changes text in a member.
    pub fn change(&mut self, ending: &str, from: &str, to: &str) {
        let member = self.member(ending);
        let text = String::from_utf8(member.bytes.clone()).unwrap();
        assert!(text.contains(from), "{from}");
        member.bytes = text.replace(from, to).into_bytes();
    }

    /// Makes the list of contents say what is there, so that something else must find the forgery.
    pub fn relist(&mut self) {
        let members: Vec<_> = self.members[1..]
            .iter()
            .map(|member| {
                let name = member.name.split_once('/').unwrap().1;
                let sha256 = Sha256Digest::of(&member.bytes);
                json!({"name": name, "size": member.bytes.len(), "sha256": sha256})
            })
            .collect();
        let contents = json!({"version": 1, "session_id": self.session(), "members": members});
        self.members[0].bytes = serde_json::to_vec(&contents).unwrap();
    }

    pub fn tar(&self) -> Vec<u8> {
        let mut tar = Vec::new();
        for member in &self.members {
            member.append(&mut tar);
        }
        tar.resize(tar.len() + 1024, 0);
        tar
    }

    pub fn gzip(&self) -> Vec<u8> {
        gzip(&self.tar())
    }
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Puts bytes into a file of its own.
pub fn file(repo: &TestRepo, bytes: &[u8]) -> PathBuf {
    let file = unused(repo, "forged");
    fs::write(&file, bytes).unwrap();
    file
}

/// Runs git in a repository with bytes on stdin, and gives the bytes that it wrote.
pub fn git_pipe(repo: &TestRepo, args: &[&str], input: &[u8]) -> Vec<u8> {
    let mut command = process::git(repo, &repo.root());
    command.args(args);
    command.stdin(std::process::Stdio::piped());
    command.stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{args:?}");
    output.stdout
}

/// Writes an object of any content, and gives its id.
pub fn object(repo: &TestRepo, kind: &str, bytes: &[u8]) -> String {
    let args = ["hash-object", "-w", "--literally", "-t", kind, "--stdin"];
    let id = git_pipe(repo, &args, bytes);
    String::from_utf8(id).unwrap().trim_end().to_owned()
}

/// A tree with these entries, in this order, whatever git thinks of them.
pub fn tree(repo: &TestRepo, entries: &[(&str, &[u8], &str)]) -> String {
    let mut bytes = Vec::new();
    for (mode, name, id) in entries {
        bytes.extend_from_slice(mode.as_bytes());
        bytes.push(b' ');
        bytes.extend_from_slice(name);
        bytes.push(0);
        bytes.extend_from_slice(&hex::decode(id).unwrap());
    }
    object(repo, "tree", &bytes)
}

/// A commit of a tree.
pub fn commit(repo: &TestRepo, tree: &str, parents: &[&str]) -> String {
    let mut text = format!("tree {tree}\n");
    for parent in parents {
        text += &format!("parent {parent}\n");
    }
    text += "author A <a@b> 0 +0000\ncommitter A <a@b> 0 +0000\n\nforged\n";
    object(repo, "commit", text.as_bytes())
}

/// A pack of exactly these objects.
pub fn pack(repo: &TestRepo, ids: &[&str]) -> Vec<u8> {
    let ids = ids.join("\n") + "\n";
    git_pipe(repo, &["pack-objects", "-q", "--stdout"], ids.as_bytes())
}

/// A pack of entries that were made by hand, with a right checksum.
pub fn pack_of(count: u32, entries: &[u8]) -> Vec<u8> {
    use sha1::Digest as _;
    let mut pack = b"PACK\0\0\0\x02".to_vec();
    pack.extend(count.to_be_bytes());
    pack.extend(entries);
    let sum = sha1::Sha1::digest(&pack);
    pack.extend(sum);
    pack
}

/// A pack entry's type and size.
pub fn entry(number: u8, size: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut byte = number << 4 | u8::try_from(size & 0x0f).unwrap();
    let mut rest = size >> 4;
    while rest > 0 {
        bytes.push(byte | 0x80);
        byte = u8::try_from(rest & 0x7f).unwrap();
        rest >>= 7;
    }
    bytes.push(byte);
    bytes
}
