//! How far a session can be relied on, and what stands in the way of taking it up.

use super::report::{Problem, ProblemKind};
use crate::engine::validate::ValidateReport;
use crate::model::finding::{Defect, Finding, Remedy, Severity};
use crate::plan::resume::Soundness;

/// How far the session can be relied on, by what validation found.
pub(super) fn soundness(validated: &ValidateReport) -> Soundness {
    let found = &validated.findings;
    if found.iter().any(|finding| is_newer(validated, finding)) {
        return Soundness::Newer;
    }
    if found.iter().any(|finding| is_fatal(validated, finding)) {
        let can_be_rebuilt = found.iter().any(|finding| {
            let is_it = is_fatal(validated, finding);
            is_it && matches!(finding.remedy, Remedy::Rebuild { .. } | Remedy::RebuildAll)
        });
        return Soundness::Unusable {
            can_be_mended: validated.last_valid.is_some() || can_be_rebuilt,
        };
    }
    // An operation that was cut short is finished before the session is taken up.
    let counts = |finding: &&Finding| {
        let is_cut_short = matches!(finding.defect, Defect::Interrupted { .. });
        finding.severity > Severity::Notice && !is_cut_short
    };
    match found.iter().filter(counts).count() {
        0 => Soundness::Sound,
        findings => Soundness::Blemished { findings },
    }
}

fn is_current(validated: &ValidateReport, finding: &Finding) -> bool {
    let summary = validated.session.as_ref();
    let current = summary.and_then(|summary| summary.current_checkpoint.as_ref());
    finding.checkpoint.is_some() && finding.checkpoint.as_ref() == current
}

fn is_newer(validated: &ValidateReport, finding: &Finding) -> bool {
    match finding.defect {
        Defect::ManifestNewer { .. } => true,
        Defect::RecordNewer { .. } => is_current(validated, finding),
        _ => false,
    }
}

/// Whether a finding stands in the way of taking the session up.
fn is_fatal(validated: &ValidateReport, finding: &Finding) -> bool {
    match finding.defect {
        Defect::ManifestMissing
        | Defect::ManifestDamaged { .. }
        | Defect::CurrentUnlisted { .. }
        | Defect::LiveStateDamaged { .. } => true,
        _ => finding.severity == Severity::Corrupt && is_current(validated, finding),
    }
}

/// Why the session cannot be taken up.
pub(super) fn problem(soundness: Soundness, validated: &ValidateReport) -> Option<Problem> {
    let (about, newer): (fn(&ValidateReport, &Finding) -> bool, bool) = match soundness {
        Soundness::Sound | Soundness::Blemished { .. } => return None,
        Soundness::Newer => (is_newer, true),
        Soundness::Unusable { .. } => (is_fatal, false),
    };
    let found = validated.findings.iter();
    let found: Vec<&Finding> = found.filter(|finding| about(validated, finding)).collect();
    let is_missing = |finding: &&Finding| {
        matches!(
            finding.defect,
            Defect::RecordMissing | Defect::RefMissing { .. }
        )
    };
    let kind = if newer {
        ProblemKind::NewerVersion
    } else if found.iter().any(|finding| finding.checkpoint.is_none()) {
        ProblemKind::SessionDamaged
    } else if found.iter().all(is_missing) {
        ProblemKind::CheckpointIncomplete
    } else {
        ProblemKind::CheckpointCorrupt
    };
    let details = found.iter().map(|finding| match &finding.checkpoint {
        Some(id) => format!("{id}: {}", finding.defect),
        None => finding.defect.to_string(),
    });
    Some(Problem {
        kind,
        details: details.collect(),
    })
}
