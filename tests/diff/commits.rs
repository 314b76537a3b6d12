//! The user's commits between two points, against `git rev-list`.

use go_team::git::diff::commits::{Commit, between};
use go_team::model::ObjectId;

use crate::property::open;
use crate::support::TestRepo;

fn ids(commits: &[Commit]) -> Vec<String> {
    let mut ids: Vec<String> = commits.iter().map(|commit| commit.id.to_string()).collect();
    ids.sort();
    ids
}

#[test]
fn both_directions_are_those_of_git() {
    let repo = TestRepo::with_commit();
    let commit = |message: &str| {
        repo.git(&["commit", "-q", "--allow-empty", "-m", message]);
    };
    commit("second");
    repo.git(&["branch", "base"]);
    commit("left one");
    commit("left two");
    repo.git(&["checkout", "-q", "-b", "right", "base"]);
    commit("right one");
    repo.git(&["merge", "-q", "--no-ff", "-m", "merged", "main~1"]);
    commit("right two\n\nwith a body");
    repo.git(&["checkout", "-q", "--orphan", "other"]);
    commit("elsewhere");
    let opened = open(&repo.root());
    let backend = &*opened.backend;
    let names = ["main", "right", "base", "other", "main~3"];
    for a in names {
        for b in names {
            let id = |name: &str| {
                let id = repo.git(&["rev-parse", name]);
                ObjectId::parse(id.trim()).unwrap()
            };
            let listed = |range: String| {
                let listed = repo.git(&["rev-list", &range]);
                let mut ids: Vec<String> = listed.lines().map(str::to_owned).collect();
                ids.sort();
                ids
            };
            let found = between(backend, Some(id(a)), Some(id(b))).unwrap();
            assert_eq!(ids(&found.added), listed(format!("{a}..{b}")), "{a} {b}");
            assert_eq!(ids(&found.removed), listed(format!("{b}..{a}")), "{b} {a}");
        }
    }
    let id = |name: &str| ObjectId::parse(repo.git(&["rev-parse", name]).trim()).ok();
    let found = between(backend, id("base"), id("right")).unwrap();
    let subjects: Vec<&str> = found.added.iter().map(|one| one.subject.as_str()).collect();
    assert_eq!(subjects[..2], ["right two", "merged"], "newest first");
    assert_eq!(found.added[0].author, "Somebody");
    let all = between(backend, None, id("main")).unwrap();
    assert_eq!((all.added.len(), all.removed.len()), (4, 0));
    assert_eq!(between(backend, None, None).unwrap().added, []);
}
