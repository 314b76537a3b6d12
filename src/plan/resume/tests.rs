//! The decision over every combination of what can be found.

use super::*;
use crate::model::ObjectId;
use crate::model::files::FileTotals;
use crate::plan::freshness::{FilesNow, Issue, Now, Then, changes};

const SOUNDNESS: [Soundness; 5] = [
    Soundness::Sound,
    Soundness::Blemished { findings: 2 },
    Soundness::Unusable {
        can_be_mended: true,
    },
    Soundness::Unusable {
        can_be_mended: false,
    },
    Soundness::Newer,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Branch {
    Same,
    Switched,
    Gone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Head {
    Same,
    Moved(Way),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Files {
    Same,
    Changed,
    Unknown,
    NotRecorded,
}

/// What `--issue` says against the state, as bits; [`NO_SNAPSHOT`] when the state has nothing to compare it with.
const LABELS: u8 = 1;
const TITLE: u8 = 2;
const CLOSED: u8 = 4;
const BODY: u8 = 8;
const NO_SNAPSHOT: u8 = 16;

const HEADS: [Head; 5] = [
    Head::Same,
    Head::Moved(Way::Ahead { commits: 2 }),
    Head::Moved(Way::Behind { commits: 1 }),
    Head::Moved(Way::Diverged {
        ahead: 1,
        behind: 1,
    }),
    Head::Moved(Way::Unknown),
];

#[derive(Debug, Clone, Copy)]
struct Case {
    soundness: Soundness,
    status: Option<SessionStatus>,
    is_finished: bool,
    work_tree_missing: bool,
    branch: Branch,
    head: Head,
    files: Files,
    in_progress: bool,
    issue: u8,
}

impl Case {
    /// What is written down in the design, as a table: the first row that applies is the verdict.
    fn expected(&self) -> Verdict {
        let ended = self.status.is_some_and(|status| {
            [
                SessionStatus::Completed,
                SessionStatus::Failed,
                SessionStatus::Abandoned,
            ]
            .contains(&status)
        });
        let lost = SOUNDNESS[3];
        let rows = [
            (self.branch == Branch::Gone, Verdict::StartFresh),
            (ended, Verdict::StartFresh),
            (self.is_finished, Verdict::StartFresh),
            (self.soundness == lost, Verdict::StartFresh),
            (self.soundness == SOUNDNESS[2], Verdict::PromptUser),
            (self.soundness == Soundness::Newer, Verdict::PromptUser),
            (self.work_tree_missing, Verdict::PromptUser),
            (self.branch == Branch::Switched, Verdict::PromptUser),
            (HEADS[2..].contains(&self.head), Verdict::PromptUser),
            (self.issue & BODY != 0, Verdict::PromptUser),
            (self.issue & CLOSED != 0, Verdict::PromptUser),
            (self.issue != 0, Verdict::ProceedWithWarning),
            (self.head == HEADS[1], Verdict::ProceedWithWarning),
            (self.files == Files::Changed, Verdict::ProceedWithWarning),
            (self.files == Files::Unknown, Verdict::ProceedWithWarning),
            (self.in_progress, Verdict::ProceedWithWarning),
            (self.soundness == SOUNDNESS[1], Verdict::ProceedWithWarning),
        ];
        let found = rows.iter().find(|(applies, _)| *applies);
        found.map_or(Verdict::Resume, |(_, verdict)| *verdict)
    }

    fn facts(&self, issues: &[Vec<Change>]) -> Facts {
        let commit = |byte: u8| ObjectId::from_bytes(&[byte; 20]).ok();
        let then = Then {
            branch: Some("main".to_owned()),
            head: commit(1),
        };
        let totals = |modified| FileTotals {
            modified,
            ..FileTotals::default()
        };
        let now = Now {
            branch: Some(match self.branch {
                Branch::Same => "main".to_owned(),
                Branch::Switched | Branch::Gone => "other".to_owned(),
            }),
            head: match self.head {
                Head::Same => commit(1),
                Head::Moved(_) => commit(2),
            },
            has_old_branch: self.branch != Branch::Gone,
            way: match self.head {
                Head::Same => Way::Ahead { commits: 0 },
                Head::Moved(way) => way,
            },
            files: match self.files {
                Files::Same => FilesNow::Compared(totals(0)),
                Files::Changed => FilesNow::Compared(totals(3)),
                Files::NotRecorded => FilesNow::NotRecorded,
                Files::Unknown => FilesNow::Unknown {
                    reason: "x".to_owned(),
                },
            },
            missing_work_trees: self
                .work_tree_missing
                .then(|| "/gone".to_owned())
                .into_iter()
                .collect(),
            in_progress: self.in_progress.then(|| "merge".to_owned()),
        };
        let mut changes = changes(Some(&then), &now);
        changes.extend(issues[usize::from(self.issue)].iter().cloned());
        Facts {
            soundness: self.soundness,
            status: self.status,
            is_finished: self.is_finished,
            changes,
        }
    }
}

/// The changes of the issue for each combination of bits.
fn issues() -> Vec<Vec<Change>> {
    let issue = |bits: u8| {
        let pick = |bit: u8, then: &str, now: &str| {
            Some(if bits & bit == 0 { then } else { now }.to_owned())
        };
        Issue {
            number: Some("7".to_owned()),
            title: pick(TITLE, "a", "b"),
            body: pick(BODY, "a", "b"),
            state: pick(CLOSED, "open", "closed"),
            labels: pick(LABELS, "a", "b").map(|label| [label].into()),
        }
    };
    let mut all: Vec<Vec<Change>> = (0..NO_SNAPSHOT)
        .map(|bits| issue(0).changes(&issue(bits)))
        .collect();
    all.push(vec![Change::IssueUnknown]);
    all
}

fn every_case(mut look: impl FnMut(Case)) {
    let statuses = SessionStatus::ALL.map(Some).into_iter().chain([None]);
    let yes_no = [false, true];
    for status in statuses {
        for soundness in SOUNDNESS {
            for head in HEADS {
                for branch in [Branch::Same, Branch::Switched, Branch::Gone] {
                    for files in [
                        Files::Same,
                        Files::Changed,
                        Files::Unknown,
                        Files::NotRecorded,
                    ] {
                        for bits in 0..8_u8 {
                            for issue in 0..=NO_SNAPSHOT {
                                look(Case {
                                    soundness,
                                    status,
                                    is_finished: yes_no[usize::from(bits & 1)],
                                    work_tree_missing: yes_no[usize::from(bits >> 1 & 1)],
                                    branch,
                                    head,
                                    files,
                                    in_progress: yes_no[usize::from(bits >> 2 & 1)],
                                    issue,
                                });
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn every_combination_has_the_verdict_of_the_table() {
    let issues = issues();
    let mut count = [0; 4];
    every_case(|case| {
        let decision = decide(&case.facts(&issues));
        assert_eq!(decision.verdict, case.expected(), "{case:?}");
        count[case.expected() as usize] += 1;
        // The reasons bear the verdict out, and each of them is said.
        let gravest = decision.reasons.iter().map(|reason| reason.calls_for).max();
        assert_eq!(gravest.unwrap_or(Verdict::Resume), decision.verdict);
        let is_clean = decision.reasons.is_empty();
        assert_eq!(is_clean, decision.verdict == Verdict::Resume, "{case:?}");
    });
    // 6 statuses, 5 degrees of soundness, 5 heads, 3 branches, 4 answers about files, 8 × 17 combinations of the rest.
    assert_eq!(count.iter().sum::<usize>(), 6 * 5 * 5 * 3 * 4 * 8 * 17);
    assert!(count.iter().all(|count| *count > 0), "{count:?}");
}

#[test]
fn one_more_reason_never_makes_it_milder() {
    let issues = issues();
    let clean = Case {
        soundness: Soundness::Sound,
        status: Some(SessionStatus::Interrupted),
        is_finished: false,
        work_tree_missing: false,
        branch: Branch::Same,
        head: Head::Same,
        files: Files::Same,
        in_progress: false,
        issue: 0,
    };
    assert_eq!(decide(&clean.facts(&issues)).verdict, Verdict::Resume);
    every_case(|case| {
        if case.is_finished || case.soundness != Soundness::Sound {
            return;
        }
        let mut facts = case.facts(&issues);
        let before = decide(&facts).verdict;
        for change in issues[usize::from(LABELS | BODY)].iter().cloned() {
            facts.changes.push(change);
            assert!(decide(&facts).verdict >= before, "{case:?}");
        }
    });
}

#[test]
fn a_checkpoint_without_files_says_nothing_about_the_repository() {
    let now = Now {
        branch: Some("other".to_owned()),
        head: None,
        has_old_branch: false,
        way: Way::Unknown,
        files: FilesNow::NotRecorded,
        missing_work_trees: Vec::new(),
        in_progress: None,
    };
    assert_eq!(changes(None, &now), []);
    // HEAD that was detached has no branch that could be gone.
    let then = Then::default();
    let switched = Change::BranchSwitched {
        from: None,
        to: Some("other".to_owned()),
    };
    assert_eq!(changes(Some(&then), &now), [switched]);
}
