//! From the number of a state back to a schedule that leads there.

use super::frontier::Sighting;
use super::merge::Merger;
use super::outcome::Violation;
use super::session::Session;
use super::shared::Shared;
use crate::store::Visited;
use crate::system::{Selection, TransitionSystem};
use std::ops::ControlFlow;
use trace::{Choice, Schedule};

/// The schedule of a sighting: follows parent pointers back, then executes from the initial state and finds in each state a
/// step to the next one. Works for every store that numbers its states.
///
/// `None` only if parents come from a journal that lies: steps depend on the state alone, so a state is reached again from its
/// parent.
pub fn retrace<S: TransitionSystem, V: Visited>(shared: &Shared<'_, S, V>, sighting: Sighting) -> Option<Violation> {
    let mut choices = path(shared, sighting.id)?;
    choices.extend(sighting.choice);
    let schedule = Schedule { choices, cycle_start: None };
    Some(Violation { failure: sighting.failure, part: sighting.part, schedule })
}

/// The choices from the initial state to the state with this number.
fn path<S: TransitionSystem, V: Visited>(shared: &Shared<'_, S, V>, id: u32) -> Option<Vec<Choice>> {
    let parents = std::iter::successors(Some(id), |id| Some(shared.parent(*id)).filter(|parent| *parent != 0));
    // Parents that a journal made up may go in a circle.
    let mut ids: Vec<u32> = parents.take(shared.slot.read().ids_end() as usize + 1).collect();
    ids.reverse();
    let mut session = Session::new(&shared.slot);
    let mut scratch = shared.system.scratch();
    let mut merger = Merger::new(shared.system, shared.options);
    let mut state = shared.system.initial(&mut scratch);
    let mut choices = Vec::with_capacity(ids.len());
    for child in &ids[1..] {
        let mut next = None;
        shared.system.steps(&mut scratch, &state, Selection::All, &mut |step| {
            if step.failure.is_some_and(|failure| failure.fatal) {
                return ControlFlow::Continue(());
            }
            let end = merger.as_mut().map_or(step.state, |merger| merger.follow(&step).0);
            if session.matches(*child, shared.system.key(end)) {
                next = Some(end.clone());
                choices.push(step.choice);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        choices.extend(merger.iter().flat_map(|merger| &merger.choices));
        state = next?;
    }
    Some(choices)
}
