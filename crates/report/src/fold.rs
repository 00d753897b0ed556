//! Which rows of a trace are worth showing.
//!
//! Folding hides and never reorders or renumbers, and what is hidden is counted in a remark. In a
//! counterexample of thousands of steps the last hundred matter most, so the tail is longer than
//! the head. Faults are always kept: they are few, and usually the cause.

use trace::{Event, Trace, TraceStep};

/// The name of the actor whose steps are what happens to a system: faults, and their repairs.
const FAULTS: &str = "faults";

/// Steps in a row that one actor takes by itself, from which on their middle is folded.
const RUN_MIN: usize = 4;
/// Rows of a long trace that are shown at its beginning and at its end.
const HEAD: usize = 20;
const TAIL: usize = 120;

/// Something to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// The step with this index.
    Step(usize),
    /// So many steps that only one actor could see.
    Local(usize),
    /// So many steps of a trace too long to show.
    Middle(usize),
}

/// Whether an actor is no process, but what happens to them.
pub(crate) fn is_fault(trace: &Trace, actor: u32) -> bool {
    trace.name(actor) == FAULTS
}

/// Every step.
pub(crate) fn unfolded(trace: &Trace) -> Vec<Part> {
    (0..trace.steps.len()).map(Part::Step).collect()
}

/// Steps with the inner part of local runs folded, and the middle left out if that is still too long.
///
/// Steps that are known to be local are counted together in one remark at the end.
pub(crate) fn folded(trace: &Trace) -> Vec<Part> {
    let mut parts = Vec::new();
    let (mut at, mut local) = (0, 0);
    while at < trace.steps.len() {
        // Whoever knows that a step is local knows that nobody wants to see it.
        if trace.steps[at].is_local == Some(true) {
            local += 1;
            at += 1;
            continue;
        }
        let end = run_end(trace, at);
        if end - at >= RUN_MIN {
            parts.extend([Part::Step(at), Part::Local(end - at - 2), Part::Step(end - 1)]);
        } else {
            parts.extend((at..end).map(Part::Step));
        }
        at = end;
    }
    if local > 0 {
        parts.push(Part::Local(local));
    }
    without_middle(parts, trace.cycle_start, &|index| is_fault(trace, trace.steps[index].choice.actor))
}

/// Which steps only their actor can see, but for the ends of a run of them: what is folded, each where it stands.
pub(crate) fn quiet_steps(trace: &Trace) -> Vec<bool> {
    let mut quiet: Vec<bool> = trace.steps.iter().map(|step| step.is_local == Some(true)).collect();
    let mut at = 0;
    while at < trace.steps.len() {
        let end = if quiet[at] { at + 1 } else { run_end(trace, at) };
        if end - at >= RUN_MIN {
            quiet[at + 1..end - 1].fill(true);
        }
        at = end;
    }
    quiet
}

/// Which events of a step are folded although the step is not.
pub(crate) fn quiet_events(events: &[Event]) -> Vec<bool> {
    let first = events.iter().position(|event| !event.is_local).unwrap_or(0);
    let mut quiet: Vec<bool> = events.iter().enumerate().map(|(at, event)| at != first && event.is_local).collect();
    for at in 0..events.len() {
        let inner = quiet_run(events, at);
        quiet[at..at + inner].fill(true);
    }
    quiet
}

/// Where the run of local steps by the same actor ends; a cycle's start ends a run.
///
/// The start of a cycle is never folded away, since the row that says so stands before it.
fn run_end(trace: &Trace, at: usize) -> usize {
    let actor = trace.steps[at].choice.actor;
    let same = |index: usize| {
        let step = &trace.steps[index];
        step.choice.actor == actor && trace.cycle_start != Some(index) && is_local_step(step)
    };
    if is_fault(trace, actor) || !is_local_step(&trace.steps[at]) {
        return at + 1;
    }
    (at + 1..trace.steps.len()).find(|&index| !same(index)).unwrap_or(trace.steps.len())
}

/// How many events to leave out from `at` on: the inner part of a long run of local statements in one atomic sequence.
pub(crate) fn quiet_run(events: &[Event], at: usize) -> usize {
    if !events[at].uninterrupted {
        return 0;
    }
    let is_quiet = |event: &Event| is_local(event) && Some(event.actor) == events.get(at).map(|first| first.actor);
    let before = events[..at].iter().rev().take_while(|event| is_quiet(event)).count();
    let after = events[at..].iter().take_while(|event| is_quiet(event)).count();
    // Only the second of a run is asked about the whole: its first and its last are shown.
    if before == 1 && before + after >= RUN_MIN { after - 1 } else { 0 }
}

fn is_local_step(step: &TraceStep) -> bool {
    step.is_local.unwrap_or_else(|| step.events.iter().all(is_local))
}

/// Whether nobody else can notice an event: no message, no output, no new actor, nothing changed but the actor's own
/// variables, whose names carry their owner before a colon.
///
/// Judged from what an event reports, for traces of models say nothing about locality.
fn is_local(event: &Event) -> bool {
    let silent = event.message.is_none() && event.output.is_none() && event.created.is_none();
    silent && event.changes.iter().all(|change| change.name.contains(':'))
}

/// Cuts the middle out of what comes before the cycle, and out of the cycle; steps that matter are kept.
fn without_middle(parts: Vec<Part>, cycle_start: Option<usize>, matters: &dyn Fn(usize) -> bool) -> Vec<Part> {
    let is_start = |part: &Part| matches!(part, Part::Step(index) if Some(*index) == cycle_start);
    let start = parts.iter().position(is_start).unwrap_or(parts.len());
    let (stem, cycle) = parts.split_at(start);
    cut(stem, matters).into_iter().chain(cut(cycle, matters)).collect()
}

fn cut(parts: &[Part], matters: &dyn Fn(usize) -> bool) -> Vec<Part> {
    if parts.len() <= HEAD + TAIL + 1 {
        return parts.to_vec();
    }
    let (head, rest) = parts.split_at(HEAD);
    let (middle, tail) = rest.split_at(rest.len() - TAIL);
    let mut kept = Vec::new();
    for part in middle {
        match (*part, kept.last_mut()) {
            (Part::Step(index), _) if matters(index) => kept.push(*part),
            (_, Some(Part::Middle(left_out))) => *left_out += steps(*part),
            _ => kept.push(Part::Middle(steps(*part))),
        }
    }
    [head, &kept, tail].concat()
}

fn steps(part: Part) -> usize {
    match part {
        Part::Step(_) => 1,
        Part::Local(count) | Part::Middle(count) => count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_trace_keeps_its_ends_and_counts_what_is_left_out() {
        let parts: Vec<Part> = (0..1000).map(Part::Step).collect();
        let shown = without_middle(parts.clone(), None, &|_| false);
        assert_eq!((shown.len(), shown[HEAD]), (HEAD + 1 + TAIL, Part::Middle(1000 - HEAD - TAIL)));
        let lasso = without_middle(parts.clone(), Some(900), &|_| false);
        assert!(lasso.contains(&Part::Step(900)) && lasso.contains(&Part::Step(999)));
        assert!(lasso.contains(&Part::Middle(900 - HEAD - TAIL)));
        let fault = without_middle(parts, None, &|index| index == 500);
        let around = [Part::Middle(500 - HEAD), Part::Step(500), Part::Middle(1000 - TAIL - 501)];
        assert_eq!(fault[HEAD..HEAD + 3], around, "what happens to a system is never left out");
    }
}
