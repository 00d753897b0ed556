//! One run of programs in steps of the checker: the schedule of whoever only wants to look at a program.

use checker::Programs;
use checker::system::choice::TIME;
use explore::graph::{Actor, FootprintSystem};
use trace::Choice;

/// Steps of a run, at most: programs that never end are cut there.
const STEPS_MAX: usize = 100_000;

/// Steps that one thread takes before it is the next one's turn: others may wait for each other in loops.
const TURN: usize = 50;

/// Runs at most, until steps have shown all they can about which words matter.
const ROUNDS_MAX: usize = 16;

/// The choices of a run in which threads take turns, and how it ends.
///
/// What steps show refines where they begin and end, so that a schedule means something only once nothing new was shown.
pub fn one_run(programs: &mut Programs) -> (Vec<Choice>, String) {
    let mut run = attempt(programs);
    for _ in 1..ROUNDS_MAX {
        if !programs.promote(&[]) {
            break;
        }
        run = attempt(programs);
    }
    run
}

fn attempt(programs: &mut Programs) -> (Vec<Choice>, String) {
    let mut choices: Vec<Choice> = Vec::new();
    let mut reached = programs.initial();
    let (mut last, mut turn) = (TIME, 0);
    while choices.len() < STEPS_MAX {
        let Some(actor) = next(&reached.actors, last, turn < TURN) else {
            let stuck = reached.stuck.map(|failure| failure.message);
            return (choices, stuck.unwrap_or_else(|| "all programs have ended".to_owned()));
        };
        turn = if actor == last { turn + 1 } else { 0 };
        last = actor;
        let choice = Choice { actor, index: 0 };
        let Some(taken) = programs.step(&reached.state, choice) else {
            let why = programs.refusal.as_ref().map(ToString::to_string);
            return (choices, why.unwrap_or_else(|| "the next step is not possible".to_owned()));
        };
        choices.push(choice);
        if let Some(failure) = taken.failure.filter(|failure| failure.fatal) {
            return (choices, failure.message);
        }
        reached = taken.reached;
    }
    (choices, format!("still running after {STEPS_MAX} steps"))
}

/// Who moves next: the one who moved last while it is its turn, else the next one by number; time if nobody else can.
fn next(actors: &[Actor], last: u32, has_turn: bool) -> Option<u32> {
    let mut able: Vec<u32> =
        actors.iter().filter(|actor| actor.choices > 0 && !actor.is_fault).map(|actor| actor.number).collect();
    able.sort_unstable_by_key(|number| (*number == TIME, *number <= last, *number));
    let goes_on = Some(last).filter(|last| has_turn && *last != TIME && able.contains(last));
    goes_on.or_else(|| able.first().copied())
}
