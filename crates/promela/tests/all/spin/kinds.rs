//! SPIN's words for errors, in ours.

use std::collections::BTreeSet;
use trace::FailureKind;

/// Kinds of failure.
pub type Kinds = BTreeSet<FailureKind>;

/// What pan words so that it must be told from the run whether a claim is meant.
const OF_CLAIMS: [&str; 3] = ["acceptance cycle", "end state in claim reached", "assertion violated !("];

const OTHERS: [(&str, FailureKind); 18] = [
    ("invalid end state", FailureKind::Deadlock),
    ("assertion violated", FailureKind::Assert),
    ("accept stutter", FailureKind::Accept),
    ("non-progress cycle", FailureKind::Progress),
    ("event_trace error", FailureKind::Trace),
    ("error, partial order reduction invalid", FailureKind::Exclusive),
    ("bad queue", FailureKind::Runtime),
    ("qrecv bad queue", FailureKind::Runtime),
    ("too few parameters", FailureKind::Runtime),
    ("too many processes", FailureKind::Runtime),
    ("invalid array index", FailureKind::Runtime),
    ("error to poll rendezvous channel", FailureKind::Runtime),
    ("rv-attempt in d_step", FailureKind::Runtime),
    ("block in step sequence", FailureKind::Runtime),
    ("block in d_step seq", FailureKind::Runtime),
    ("ref to uninitialized chan", FailureKind::Runtime),
    ("VECTORSZ is too small", FailureKind::Runtime),
    ("aborting", FailureKind::Runtime),
];

/// The kinds in a list such as `invalid end state ; acceptance cycle`; `claim` is the kind of the claim in use.
pub fn kinds(list: &str, claim: Option<FailureKind>) -> Kinds {
    list.split(" ; ").map(str::trim).filter(|words| !words.is_empty()).map(|words| kind(words, claim)).collect()
}

fn kind(words: &str, claim: Option<FailureKind>) -> FailureKind {
    let words = words.replace("  ", " ");
    match claim {
        Some(claim) if OF_CLAIMS.iter().any(|start| words.starts_with(start)) => return claim,
        None if words.starts_with("acceptance cycle") => return FailureKind::Accept,
        _ => {}
    }
    let known = OTHERS.iter().find(|(start, _)| words.starts_with(start));
    known.unwrap_or_else(|| panic!("pan says `{words}`, which is not in the table")).1
}

/// How much of the errors SPIN was asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// All of them.
    All,
    /// It stopped at the first.
    First,
}

/// Whether what SPIN found and what we found are the same.
pub fn agree(spin: &Kinds, ours: &Kinds, extent: Extent) -> bool {
    match extent {
        Extent::All => spin == ours,
        Extent::First => spin.is_subset(ours) && spin.is_empty() == ours.is_empty(),
    }
}

#[test]
fn an_assertion_of_a_claim_is_told_from_one_of_the_model() {
    let list = "assertion violated  !( !((x<3))) ; assertion violated (x==0)";
    assert_eq!(kinds(list, Some(FailureKind::Ltl)), [FailureKind::Ltl, FailureKind::Assert].into());
    assert_eq!(kinds("acceptance cycle", None), [FailureKind::Accept].into());
    assert_eq!(kinds("", None), Kinds::new());
}
