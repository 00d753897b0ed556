//! One run: at random, by hand, or along a schedule.
//!
//! The state is that of a timeline: going back is a matter of moving its mark, and choosing
//! otherwise there cuts the rest off.

use explore::random::Random;
use explore::{Failure, Selection, TransitionSystem};
use replay::{Mismatch, ModelReplay, Replayable, Timeline, Told};
use std::borrow::Cow;
use std::io::BufRead;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use trace::{Choice, Event};

/// Who decides.
pub enum Guide {
    /// Chance, from a seed.
    Random(Random),
    /// A person, who reads and types.
    Hand(Box<dyn BufRead>),
    /// A schedule.
    Schedule(Vec<Choice>),
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// Nothing can move and everybody is where it may end.
    Ended,
    /// Something is wrong.
    Failed(Failure),
    /// The bound on steps.
    Bound,
    /// The schedule has no more choices.
    ScheduleEnds,
    /// The person who decides left.
    Left,
    /// Ctrl-C.
    Interrupted,
}

/// What the caller does with the run.
pub struct Watcher<'a> {
    /// Told about each step with its number.
    pub step: &'a mut dyn FnMut(usize, &str, &Event),
    /// Shows a question to the person who decides.
    pub ask: &'a mut dyn FnMut(&str),
    /// The run ends soon after this becomes true.
    pub stop: &'a AtomicBool,
}

/// Runs until something ends it. Gives the timeline at the end, to look at its state.
///
/// # Errors
/// If the schedule wants a choice that does not exist.
pub fn simulate<'s, 'm, S: TransitionSystem>(
    system: &'s mut ModelReplay<'m, S>,
    mut guide: Guide,
    bound: u64,
    watcher: &mut Watcher<'_>,
) -> Result<(Timeline<'s, ModelReplay<'m, S>>, Ending), Mismatch> {
    let choices = if let Guide::Schedule(choices) = &mut guide { std::mem::take(choices) } else { Vec::new() };
    let mut timeline = Timeline::new(system, choices);
    loop {
        if watcher.stop.load(Ordering::Relaxed) {
            return Ok((timeline, Ending::Interrupted));
        }
        let offered = offered(&mut timeline);
        if offered.is_empty() {
            let (system, state) = timeline.at_mark();
            let ending = system.stuck(state).map_or(Ending::Ended, Ending::Failed);
            return Ok((timeline, ending));
        }
        if timeline.mark() as u64 >= bound {
            return Ok((timeline, Ending::Bound));
        }
        let decided = match &mut guide {
            Guide::Random(random) => Decision::Take(offered[random.below(offered.len())]),
            Guide::Hand(input) => ask(&mut timeline, &offered, input.as_mut(), watcher),
            Guide::Schedule(_) => match timeline.choices().get(timeline.mark()) {
                Some(&choice) => Decision::Take(choice),
                None => Decision::End,
            },
        };
        match decided {
            Decision::Take(choice) => {
                let (system, state) = timeline.at_mark();
                let name = system.actor_name(state, choice.actor);
                let told = if let Guide::Schedule(_) = guide { timeline.forward()? } else { timeline.branch(choice) };
                if let Some(failure) = told.and_then(|told| tell(&timeline, &name, told, watcher)) {
                    return Ok((timeline, Ending::Failed(failure)));
                }
            }
            Decision::Back => drop(timeline.backward()),
            Decision::End if matches!(guide, Guide::Schedule(_)) => return Ok((timeline, Ending::ScheduleEnds)),
            Decision::End => return Ok((timeline, Ending::Left)),
        }
    }
}

/// What to do next.
enum Decision {
    Take(Choice),
    Back,
    End,
}

fn tell<R: Replayable>(
    timeline: &Timeline<'_, R>,
    name: &str,
    told: Told,
    watcher: &mut Watcher<'_>,
) -> Option<Failure> {
    for event in &told.step.events {
        (watcher.step)(timeline.mark(), name, event);
    }
    told.failure
}

/// The choices at the mark, one for each step: a step with several failures is offered once.
fn offered<S: TransitionSystem>(timeline: &mut Timeline<'_, ModelReplay<'_, S>>) -> Vec<Choice> {
    let (ModelReplay { system, scratch }, state) = timeline.at_mark();
    let mut offered = Vec::new();
    system.steps(scratch, state, Selection::All, &mut |step| {
        offered.push(step.choice);
        ControlFlow::Continue(())
    });
    offered
}

fn ask<R: Replayable>(
    timeline: &mut Timeline<'_, R>,
    offered: &[Choice],
    input: &mut dyn BufRead,
    watcher: &mut Watcher<'_>,
) -> Decision {
    let mut question = format!("after step {}:\n", timeline.mark());
    for (index, choice) in offered.iter().enumerate() {
        question += &format!("  {}  {}\n", index + 1, option(timeline, *choice));
    }
    loop {
        let range = if offered.len() == 1 { "1".to_owned() } else { format!("1-{}", offered.len()) };
        (watcher.ask)(&format!("{question}choose {range}, b to go back, q to leave: "));
        let mut line = String::new();
        if input.read_line(&mut line).unwrap_or(0) == 0 {
            return Decision::End;
        }
        match line.trim() {
            "q" => return Decision::End,
            "b" => return Decision::Back,
            number => match number.parse::<usize>().ok().and_then(|number| offered.get(number.wrapping_sub(1))) {
                Some(choice) => return Decision::Take(*choice),
                None => question = format!("`{number}` is not among the choices\n"),
            },
        }
    }
}

fn option<R: Replayable>(timeline: &mut Timeline<'_, R>, choice: Choice) -> String {
    let (system, state) = timeline.at_mark();
    let name = system.actor_name(state, choice.actor);
    let explained = system.explain(state, choice);
    let events = explained.map(|explained| explained.events).unwrap_or_default();
    let texts: Vec<Cow<'_, str>> = events.iter().map(report::event_text).collect();
    let place = events.first().and_then(|event| event.location.as_ref());
    let place = place.map(|place| format!("  {}:{}", place.file, place.line)).unwrap_or_default();
    format!("{name}  {}{place}", texts.join("; "))
}
