//! Two steps that touch nothing in common lead to the same state in either order.

use checker::footprint::access::{Kind, kind};
use checker::system::choice::TIME;
use checker::{Programs, Snapshot};
use explore::graph::{Access, Actor, FootprintSystem, Reached, Taken};
use explore::random::Random;
use std::collections::BTreeSet;
use trace::Choice;

/// A step in the state where it was taken.
pub struct Step {
    pub choice: Choice,
    pub taken: Taken<Snapshot>,
}

/// Walks at random, and exchanges whatever can be exchanged on the way; what the exchanged steps touched, or what is wrong.
pub fn walk(programs: &mut Programs, seed: u64, length: usize) -> Result<BTreeSet<Kind>, String> {
    let mut random = Random::new(seed);
    let (mut reached, mut touched) = (programs.initial(), BTreeSet::new());
    for _ in 0..length {
        let mut steps = steps(programs, &reached);
        touched.extend(exchange_all(programs, &reached, &steps)?);
        steps.retain(|step| !is_fatal(step));
        if steps.is_empty() {
            break;
        }
        reached = steps.swap_remove(random.below(steps.len())).taken.reached;
    }
    Ok(touched)
}

/// Exchanges whatever can be exchanged of the steps of one state; what those touched, or what is wrong.
pub fn exchange_all(
    programs: &mut Programs,
    reached: &Reached<Snapshot>,
    steps: &[Step],
) -> Result<BTreeSet<Kind>, String> {
    let mut touched = BTreeSet::new();
    for (index, one) in steps.iter().enumerate() {
        let others = steps[index + 1..].iter().filter(|other| other.choice.actor != one.choice.actor);
        for other in others.filter(|other| is_independent(one, other)) {
            exchange(programs, one, other)?;
            let accesses = one.taken.accesses.iter().chain(&other.taken.accesses);
            touched.extend(accesses.map(|access| kind(access.object)));
        }
        let mut waiting = reached.actors.iter().filter(|actor| actor.choices == 0 && !actor.on_quiescence);
        waiting.try_for_each(|actor| stays(actor, one))?;
    }
    Ok(touched)
}

/// All steps of a state.
pub fn steps(programs: &mut Programs, reached: &Reached<Snapshot>) -> Vec<Step> {
    let mut steps = Vec::new();
    for actor in &reached.actors {
        for index in 0..actor.choices {
            let choice = Choice { actor: actor.number, index };
            steps.extend(programs.step(&reached.state, choice).map(|taken| Step { choice, taken }));
        }
    }
    steps
}

/// Whether nothing follows a step.
pub fn is_fatal(step: &Step) -> bool {
    step.taken.failure.as_ref().is_some_and(|failure| failure.fatal)
}

fn conflict(one: &[Access], other: &[Access]) -> bool {
    one.iter().any(|a| other.iter().any(|b| a.object == b.object && (a.write || b.write)))
}

/// Nobody moves after a fatal step, whatever it touches.
fn is_independent(one: &Step, other: &Step) -> bool {
    !is_fatal(one) && !is_fatal(other) && !conflict(&one.taken.accesses, &other.taken.accesses)
}

/// Alone in the world, a thread goes on until it is not: its step is longer there.
fn leaves_alone(step: &Step) -> bool {
    step.taken.reached.actors.iter().filter(|actor| actor.number != TIME).count() <= 1
}

fn exchange(programs: &mut Programs, one: &Step, other: &Step) -> Result<(), String> {
    if leaves_alone(one) || leaves_alone(other) {
        return Ok(());
    }
    let first = follow(programs, one, other)?;
    let second = follow(programs, other, one)?;
    if first.reached.fingerprint != second.reached.fingerprint {
        return Err(format!("{} lead to different states", pair(one, other)));
    }
    if first.reached.actors != second.reached.actors {
        return Err(format!("{} lead to different choices", pair(one, other)));
    }
    Ok(())
}

/// Takes a step behind another with which it has nothing in common: it is the same step there.
fn follow(programs: &mut Programs, first: &Step, then: &Step) -> Result<Taken<Snapshot>, String> {
    let Some(taken) = programs.step(&first.taken.reached.state, then.choice) else {
        return Err(format!("{}: the second cannot move any more", pair(first, then)));
    };
    if sorted(&taken.accesses) != sorted(&then.taken.accesses) {
        let now = sorted(&taken.accesses);
        return Err(format!("{}: the second touches something else: {now:x?}", pair(first, then)));
    }
    if taken.failure != then.taken.failure {
        return Err(format!("{}: the second fails otherwise", pair(first, then)));
    }
    Ok(taken)
}

/// Who closes one of many descriptors only counts them, as long as there are many; that counts as reading.
pub fn sorted(accesses: &[Access]) -> Vec<Access> {
    let mut accesses = accesses.to_vec();
    accesses.iter_mut().filter(|access| kind(access.object) == Kind::File).for_each(|access| access.write = true);
    accesses.sort_unstable();
    accesses.dedup();
    accesses
}

/// Somebody who waits goes on waiting until something is written that it waits for.
fn stays(waiting: &Actor, step: &Step) -> Result<(), String> {
    if is_fatal(step)
        || step.taken.accesses.iter().any(|access| access.write && waiting.awaits.contains(&access.object))
    {
        return Ok(());
    }
    let after = step.taken.reached.actors.iter().find(|actor| actor.number == waiting.number);
    match after {
        Some(after) if after.choices == 0 => Ok(()),
        _ => Err(format!("{:?} wakes {waiting:x?}, touching only {:x?}", step.choice, sorted(&step.taken.accesses))),
    }
}

fn pair(one: &Step, other: &Step) -> String {
    let told = |step: &Step| format!("{:?} touching {:x?}", step.choice, sorted(&step.taken.accesses));
    format!("{} and {}", told(one), told(other))
}

/// Walks until nothing new is learnt of what programs touch.
pub fn learn(programs: &mut Programs, walks: u64) {
    for seed in 0..walks {
        let mut random = Random::new(seed);
        let mut reached = programs.initial();
        loop {
            let mut steps = steps(programs, &reached);
            steps.retain(|step| !is_fatal(step));
            if steps.is_empty() {
                break;
            }
            reached = steps.swap_remove(random.below(steps.len())).taken.reached;
        }
        programs.promote(&[]);
    }
}
