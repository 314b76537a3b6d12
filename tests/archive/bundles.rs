//! Git bundles that somebody made to do harm: objects that lead into `.git` or out of the tree, packs that claim what
//! they do not have, deltas that never end.

use crate::forge::{commit, entry, git_pipe, object, pack, pack_of, tree, zlib};
use crate::hostile::Victim;
use crate::support::TestRepo;

/// Where forged objects are made.
struct Forger {
    victim: Victim,
    repo: TestRepo,
}

const BLOB: &str = "ce013625030ba8dba906f756967f9e9ca394464a";

impl Forger {
    fn new() -> Self {
        let repo = TestRepo::with_commit();
        assert_eq!(object(&repo, "blob", b"hello\n"), BLOB);
        Self {
            victim: Victim::new(),
            repo,
        }
    }

    /// The archive with these bytes as its bundle is refused.
    fn refuses(&self, bundle: &[u8], words: &str) {
        self.victim.refuses_relisted(
            |archive| archive.member(".bundle").bytes = bundle.to_vec(),
            words,
        );
    }

    /// The same with a bundle of one commit.
    fn refuses_pack(&self, head: &str, pack: &[u8], words: &str) {
        let header = format!("# v2 git bundle\n{head} HEAD\n\n");
        self.refuses(&[header.as_bytes(), pack].concat(), words);
    }

    /// The same with a commit of this tree.
    fn refuses_tree(&self, tree: &str, more: &[&str], words: &str) {
        let head = commit(&self.repo, tree, &[]);
        let mut ids = vec![head.as_str(), tree];
        ids.extend(more);
        self.refuses_pack(&head, &pack(&self.repo, &ids), words);
    }

    fn bundle(&self) -> Vec<u8> {
        let mut archive = self.victim.archive.clone();
        archive.member(".bundle").bytes.clone()
    }

    /// The true header and pack.
    fn parts(&self) -> (String, Vec<u8>) {
        let bundle = self.bundle();
        let at = bundle.windows(2).position(|pair| pair == b"\n\n").unwrap() + 2;
        let header = String::from_utf8(bundle[..at].to_vec()).unwrap();
        (header, bundle[at..].to_vec())
    }
}

#[test]
fn trees_with_names_that_must_never_be_written() {
    let forger = Forger::new();
    let words = "which must never be in a work tree";
    for name in [
        &b".git"[..],
        b".GIT",
        b".gIt",
        b"git~1",
        b".git ",
        b".git.",
        b".git::$INDEX_ALLOCATION",
        ".g\u{200c}it".as_bytes(),
        b"..",
        b".",
        b"../evil",
        b"/etc/evil",
        b"a/b",
        b"",
    ] {
        let evil = tree(&forger.repo, &[("100644", name, BLOB)]);
        forger.refuses_tree(&evil, &[BLOB], words);
        // As a directory, a link and a nested repository, and below another tree.
        let below = tree(&forger.repo, &[("100644", b"config", BLOB)]);
        let dir = tree(&forger.repo, &[("40000", name, &below)]);
        let outer = tree(&forger.repo, &[("40000", b"fine", &dir)]);
        forger.refuses_tree(&outer, &[&dir, &below, BLOB], words);
        for mode in ["120000", "160000"] {
            let evil = tree(&forger.repo, &[(mode, name, BLOB)]);
            forger.refuses_tree(&evil, &[BLOB], words);
        }
    }
}

#[test]
fn trees_and_commits_that_are_none() {
    let forger = Forger::new();
    let repo = &forger.repo;
    let sub = tree(repo, &[]);
    let twins = tree(repo, &[("100644", b"a", BLOB), ("100644", b"a", BLOB)]);
    forger.refuses_tree(&twins, &[BLOB], "not in order");
    let unsorted = tree(repo, &[("100644", b"b", BLOB), ("100644", b"a", BLOB)]);
    forger.refuses_tree(&unsorted, &[BLOB], "not in order");
    let both = tree(
        repo,
        &[
            ("120000", b"a", BLOB),
            ("100644", b"a-b", BLOB),
            ("40000", b"a", &sub),
        ],
    );
    forger.refuses_tree(&both, &[BLOB, &sub], "two entries of one name");
    let odd_mode = tree(repo, &[("170000", b"a", BLOB)]);
    forger.refuses_tree(&odd_mode, &[BLOB], "its entries cannot be read");
    let cut = object(repo, "tree", b"100644 a\0short");
    forger.refuses_tree(&cut, &[], "its entries cannot be read");
    let lacking = tree(repo, &[("100644", b"a", BLOB)]);
    forger.refuses_tree(&lacking, &[], "lacks the blob");
    let wrong_kind = tree(repo, &[("40000", b"a", BLOB)]);
    forger.refuses_tree(&wrong_kind, &[BLOB], "lacks the tree");
    let no_tree = commit(repo, BLOB, &[]);
    forger.refuses_pack(&no_tree, &pack(repo, &[&no_tree, BLOB]), "lacks the tree");
    let odd = object(repo, "commit", b"tree me\n\n");
    forger.refuses_pack(&odd, &pack(repo, &[&odd]), "its header cannot be read");
    let good = commit(repo, &sub, &[]);
    let orphan = commit(repo, &sub, &[&"1".repeat(40)]);
    forger.refuses_pack(&orphan, &pack(repo, &[&orphan, &sub]), "lacks the commit");
    forger.refuses_pack(BLOB, &pack(repo, &[&good, &sub, BLOB]), "lacks the commit");
    let tag = format!("object {good}\ntype commit\ntag x\ntagger A <a@b> 0 +0000\n\nx\n");
    let tag = object(repo, "tag", tag.as_bytes());
    forger.refuses_pack(&good, &pack(repo, &[&good, &sub, &tag]), "it holds a tag");
}

#[test]
fn headers_that_say_something_else() {
    let forger = Forger::new();
    let (header, pack) = forger.parts();
    let refuses = |header: &str, words: &str| {
        forger.refuses(&[header.as_bytes(), &pack].concat(), words);
    };
    refuses(&header.replace("# v2", "# v3"), "no bundle of version 2");
    refuses("", "no bundle of version 2");
    let needs = format!("# v2 git bundle\n-{} needed\n", "1".repeat(40));
    refuses(
        &header.replace("# v2 git bundle\n", &needs),
        "needs commits",
    );
    refuses(
        &header.replace(" HEAD\n", " refs/heads/main\n"),
        "is not one that the manifest lists",
    );
    let lines: Vec<&str> = header.lines().collect();
    let without_last = header.replace(&format!("{}\n", lines[3]), "");
    refuses(&without_last, "the bundle lacks refs/go-team/");
    refuses(
        &header.replace(lines[3], lines[2]),
        "is not one that the manifest lists",
    );
    let swapped = header.replace(&lines[2][..40], &lines[3][..40]);
    refuses(&swapped, "is not one that the manifest lists");
    let more = format!("{}\n{} refs/go-team/x/y\n", lines[3], &lines[3][..40]);
    refuses(
        &header.replace(&format!("{}\n", lines[3]), &more),
        "too many refs",
    );
    refuses(
        &header.replace(" HEAD\n", " HEAD\0\n"),
        "is not one that the manifest lists",
    );
    refuses(
        &format!("# v2 git bundle\n{}", "x".repeat(100_000)),
        "a line is too long",
    );
    refuses(
        &header.replace("HEAD\n", "HEAD\nx\n"),
        "not an id and a ref",
    );
}

#[test]
fn packs_that_are_damaged() {
    let forger = Forger::new();
    let bundle = forger.bundle();
    for cut in (0..bundle.len()).step_by(61) {
        forger.refuses(&bundle[..cut], "the bundle");
    }
    for at in (0..bundle.len()).step_by(97) {
        let mut flipped = bundle.clone();
        flipped[at] ^= 0x10;
        forger.refuses(&flipped, "the bundle");
    }
    forger.refuses(&[&bundle[..], b"more"].concat(), "more after its end");
    let (_, pack) = forger.parts();
    let head = &"1".repeat(40);
    forger.refuses_pack(
        head,
        &[b"JUNK", &pack[4..]].concat(),
        "no pack of version 2",
    );
    let claims = [&pack[..8], &u32::MAX.to_be_bytes(), &pack[12..]].concat();
    forger.refuses_pack(head, &claims, "more objects than it has room for");
    forger.refuses_pack(head, &pack_of(0, b""), "lacks the commit");
}

#[test]
fn packs_that_claim_and_deltas_that_explode() {
    let forger = Forger::new();
    let head = &"1".repeat(40);
    let refuses = |count: u32, entries: &[Vec<u8>], words: &str| {
        forger.refuses_pack(head, &pack_of(count, &entries.concat()), words);
    };
    let whole =
        |number: u8, bytes: &[u8]| [entry(number, bytes.len() as u64), zlib(bytes)].concat();
    let filler = whole(
        3,
        &vec![7; 4096]
            .iter()
            .enumerate()
            .map(|(n, _)| u8::try_from(n * n % 251).unwrap())
            .collect::<Vec<u8>>(),
    );
    for (number, size) in [(1, 1 << 30), (2, 1 << 30), (6, 1 << 40)] {
        let mut claim = entry(number, size);
        if number == 6 {
            claim.push(1);
        }
        refuses(1, &[claim, zlib(b"x")], "is the most for one of its kind");
    }
    refuses(
        1,
        &[entry(3, 1 << 50), zlib(b"x")],
        "does not have the size that it claims",
    );
    refuses(
        1,
        &[entry(3, 1), zlib(&vec![0; 64 << 20])],
        "does not have the size that it claims",
    );
    refuses(1, &[entry(5, 1), zlib(b"x")], "unknown kind");
    refuses(1, &[vec![0xb0; 20], zlib(b"x")], "beyond all limits");
    refuses(2, &[whole(3, b"x"), whole(3, b"x")], "an object twice");
    // A base that is not there, is the delta itself, or lies before the beginning.
    let by_id = |id: &str| {
        [
            entry(7, 4),
            hex::decode(id).unwrap(),
            zlib(&[1, 1, 1, b'x']),
        ]
        .concat()
    };
    refuses(1, &[by_id(&"2".repeat(40))], "base is not in it");
    refuses(
        1,
        &[[entry(6, 4), vec![0], zlib(&[1, 1, 1, b'x'])].concat()],
        "outside of it",
    );
    refuses(
        1,
        &[[entry(6, 4), vec![0x7f], zlib(&[1, 1, 1, b'x'])].concat()],
        "outside of it",
    );
    refuses(
        2,
        &[
            filler.clone(),
            [entry(6, 4), vec![3], zlib(&[1, 1, 1, b'x'])].concat(),
        ],
        "base is not in it",
    );
    // A few bytes that ask for half a terabyte: by a claim, and by copying again and again.
    let base = vec![b'z'; 60_000];
    let start = |delta: Vec<u8>| {
        let whole = whole(3, &base);
        let back = u64::try_from(whole.len()).unwrap();
        let mut distance = vec![u8::try_from(back & 0x7f).unwrap()];
        let mut rest = back >> 7;
        while rest > 0 {
            rest -= 1;
            distance.insert(0, 0x80 | u8::try_from(rest & 0x7f).unwrap());
            rest >>= 7;
        }
        [whole, entry(6, delta.len() as u64), distance, zlib(&delta)].concat()
    };
    let sizes = |result: u64| {
        let mut bytes = Vec::new();
        for mut size in [base.len() as u64, result] {
            while size >= 0x80 {
                bytes.push(0x80 | u8::try_from(size & 0x7f).unwrap());
                size >>= 7;
            }
            bytes.push(u8::try_from(size).unwrap());
        }
        bytes
    };
    refuses(
        2,
        &[start(sizes(1 << 39))],
        "is the most for one of its kind",
    );
    let copy = [0xb0, 0x60, 0xea];
    let again = [sizes(1 << 20), copy.repeat(1 << 20)].concat();
    refuses(2, &[start(again)], "a delta is damaged");
    refuses(
        2,
        &[start([sizes(1 << 29), copy.to_vec()].concat())],
        "a delta is damaged",
    );
    // A chain without end.
    let mut chain = whole(3, b"0");
    let mut last = chain.len();
    for nth in 0..400_u32 {
        let text = nth.to_string();
        let base = if nth == 0 {
            1
        } else {
            (nth - 1).to_string().len()
        };
        let mut delta = vec![
            u8::try_from(base).unwrap(),
            u8::try_from(text.len() + 1).unwrap(),
        ];
        delta.push(u8::try_from(text.len() + 1).unwrap());
        delta.extend(text.as_bytes());
        delta.push(b'!');
        if nth > 0 {
            delta[0] += 1;
        }
        let link = [
            entry(6, delta.len() as u64),
            vec![u8::try_from(last).unwrap()],
            zlib(&delta),
        ]
        .concat();
        last = link.len();
        chain.extend(link);
    }
    refuses(401, &[chain], "a chain of deltas is too long");
}

#[test]
fn a_bundle_that_git_itself_packed_comes_in() {
    let forger = Forger::new();
    let source = TestRepo::with_checkpoints();
    let ids = source.git(&["rev-list", "--objects", "--glob=refs/go-team"]);
    let ids: Vec<&str> = ids.lines().map(|line| &line[..40]).collect();
    let offsets = [
        "pack-objects",
        "-q",
        "--stdout",
        "--delta-base-offset",
        "--depth=50",
    ];
    let packed = git_pipe(&source, &offsets, (ids.join("\n") + "\n").as_bytes());
    let (header, _) = forger.parts();
    let mut archive = forger.victim.archive.clone();
    archive.member(".bundle").bytes = [header.as_bytes(), &packed].concat();
    archive.relist();
    let file = crate::forge::file(&forger.victim.repo, &archive.gzip());
    crate::place::import_ok(&forger.victim.repo, &file, &[]);
    crate::check::complete(&forger.victim.repo, &forger.victim.repo.root());
}
