//! One run of a system, as an example of what it does.

use crate::run::introduce;
use crate::system::Replayable;
use trace::{Schedule, Trace, TraceStep};

/// A run with few context switches: whoever moves goes on until it cannot, and so do all others in turn. Ends after so many steps.
pub fn one_run<R: Replayable>(system: &mut R, most: usize) -> (Schedule, Trace) {
    let mut state = system.initial();
    let (mut trace, mut schedule) = (Trace::default(), Schedule::default());
    let mut last = 0;
    while trace.steps.len() < most {
        let enabled = system.enabled(&state);
        let next = enabled.iter().copied().find(|&actor| actor >= last).or_else(|| enabled.first().copied());
        let Some(choice) = next.and_then(|actor| system.choices(&state, actor).first().copied()) else { break };
        let Some(explained) = system.explain(&state, choice) else { break };
        let step = TraceStep { choice, events: explained.events, is_local: None };
        introduce(system, &mut trace.actors, &step, &state, &explained.state);
        trace.steps.push(step);
        schedule.choices.push(choice);
        (state, last) = (explained.state, choice.actor);
        if explained.failure.is_some_and(|failure| failure.fatal) {
            break;
        }
    }
    (schedule, trace)
}
