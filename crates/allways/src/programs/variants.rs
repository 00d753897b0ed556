//! Both schedules of a contradiction: two that say something different to a strict peer.
//!
//! The search meets one of them when the other one has passed without a failure. So it is repeated, and whatever is said where
//! schedules differ is a failure.

use checker::Outcome;
use checker::{Engine, Programs, STRICT, search_by};
use explore::Budget;
use explore::graph::{Found, Limits};

/// Searches again, if schedules contradict each other; two that do, instead of what was found before. None if the time is over before both were found.
pub fn find(programs: &mut Programs, engine: &Engine, budget: &Budget, outcome: &mut Outcome) -> Vec<Found> {
    if budget.is_spent() || programs.refusal.is_some() || !outcome.report.found.iter().any(is_strict) {
        return Vec::new();
    }
    let known = programs.learnt();
    refuse_all(programs, true);
    let steps_max = 2 * outcome.executed;
    let mut stop = |_, steps| steps > steps_max || budget.is_spent();
    let mut limits = Limits { states: usize::MAX, failures: usize::MAX, stop: &mut stop };
    let found = search_by(engine, programs, &mut limits).report.found;
    refuse_all(programs, false);
    programs.refusal = None;
    // Where steps begin and end decides what a schedule means: with another refinement, what the first search found could
    // not be shown any more.
    if programs.learnt() != known {
        programs.know(&known);
        return Vec::new();
    }
    let pair = shortest_pair(programs, &found);
    if !pair.is_empty() {
        outcome.report.found.retain(|found| !is_strict(found));
    }
    pair
}

/// Whether all that schedules say where they differ is a failure, or only what was not said first.
pub fn refuse_all(programs: &Programs, is_all: bool) {
    programs.peers().iter().for_each(|peer| peer.refuse_all_variants(is_all));
}

fn is_strict(found: &Found) -> bool {
    found.failure.property.as_deref() == Some(STRICT)
}

/// The shortest schedules of a pair of contradictions; of the pair whose longer one is shortest.
///
/// Which of several schedules comes first in a list depends on the workers, so the least one is taken in every respect.
fn shortest_pair(programs: &Programs, found: &[Found]) -> Vec<Found> {
    let shortest = |message: &String| {
        let same = found.iter().filter(|found| is_strict(found) && found.failure.message == *message);
        same.min_by_key(|found| (found.schedule.len(), found.schedule.clone()))
    };
    let pairs = programs.peers().iter().flat_map(|peer| peer.variants());
    let pairs = pairs.filter_map(|[one, other]| Some([shortest(&one)?, shortest(&other)?]));
    let length = |pair: &[&Found; 2]| pair.map(|found| found.schedule.len()).into_iter().max();
    let least = pairs.min_by(|one, other| {
        let messages = |pair: &[&Found; 2]| pair.map(|found| found.failure.message.clone());
        length(one).cmp(&length(other)).then_with(|| messages(one).cmp(&messages(other)))
    });
    least.into_iter().flatten().cloned().collect()
}
