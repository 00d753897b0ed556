//! Every position is what it is, whichever way one comes to it.

use crate::start::{programs, schedule, target};
use checker::system::probe::{Watch, WatchKind};
use debugger::travel::{Direction, Why};
use debugger::{Past, Position, Target};
use kernel::Tid;
use x86::Cpu;

const SEEDS: [u32; 4] = [1, 2, 3, 4];

/// Positions of a target, some of each step.
fn positions(target: &Target<'_>) -> Vec<Position> {
    let (first, last) = target.span();
    let of_step = |step: usize| {
        let ticks = target.past().ticks(step).max(1);
        let some = [0, 1, 2, ticks / 3, ticks / 2, ticks.saturating_sub(2), ticks - 1];
        some.into_iter().filter(move |tick| *tick < ticks).map(move |tick| Position { step, tick })
    };
    let mut all: Vec<Position> = (first.step..=last.step).flat_map(of_step).filter(|at| *at <= last).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn registers(target: &Target<'_>) -> Vec<(Tid, Cpu)> {
    target.threads().into_iter().filter_map(|tid| Some((tid, target.registers(tid)?.clone()))).collect()
}

fn travel(target: &mut Target<'_>, direction: Direction, single: Option<Tid>) -> Why {
    target.travel(direction, single, &mut || false);
    target.stopped.why.clone()
}

#[test]
fn a_schedule_that_is_looked_into_ends_where_it_does_otherwise() {
    let mut programs = programs("same");
    for seed in SEEDS {
        let choices = schedule(&mut programs, seed);
        let (_, plain) = programs.replayed(&choices).expect("its own schedule");
        let past = Past::record(&mut programs, &choices).expect("its own schedule");
        assert_eq!(past.end(), plain, "seed {seed}");
        assert!((0..past.len()).map(|step| past.ticks(step)).sum::<u64>() > 1_000, "seed {seed}");
    }
}

#[test]
fn one_tick_forwards_and_one_backwards_is_where_one_was() {
    let mut programs = programs("ticks");
    let choices = schedule(&mut programs, SEEDS[0]);
    let (mut target, pid) = target(&mut programs, &choices);
    let mut tried = 0;
    for position in positions(&target) {
        let Some((tid, own)) = target.past().mover(position.step) else { continue };
        target.go_to(position);
        if own != pid || position == target.span().1 {
            continue;
        }
        let before = registers(&target);
        assert_eq!(travel(&mut target, Direction::Forwards, Some(tid)), Why::Stepped, "{position:?}");
        let behind = target.past().here();
        let is_next = behind == Position { tick: position.tick + 1, ..position };
        assert!(is_next || behind == Position { step: position.step + 1, tick: 0 }, "{position:?} {behind:?}");
        let after = registers(&target);
        target.go_to(behind);
        assert_eq!(registers(&target), after, "{position:?}: straight there");
        // Backwards it is the same thread's turn.
        assert_eq!(travel(&mut target, Direction::Backwards, Some(tid)), Why::Stepped, "{position:?}");
        assert_eq!((target.past().here(), registers(&target)), (position, before));
        tried += 1;
    }
    assert!(tried > 50, "{tried}");
}

#[test]
fn breakpoints_are_met_in_the_same_places_forwards_and_backwards() {
    let mut programs = programs("breaks");
    for seed in SEEDS {
        let choices = schedule(&mut programs, seed);
        let (mut target, _) = target(&mut programs, &choices);
        // Instructions that some thread executes.
        for position in positions(&target).into_iter().step_by(3) {
            target.go_to(position);
            let found: Vec<u64> = registers(&target).into_iter().map(|(_, cpu)| cpu.rip).collect();
            target.points.breakpoints.extend(found);
        }
        let (forwards, mut backwards) = both_ways(&mut target);
        backwards.reverse();
        // The first instruction is where one comes from, forwards.
        backwards.retain(|(position, _)| *position != target.span().0);
        assert!(forwards.len() > 20, "seed {seed}: {}", forwards.len());
        assert_eq!(forwards, backwards, "seed {seed}");
    }
}

/// Where time stood still, and why.
type Stops = Vec<(Position, Why)>;

/// All stops from the beginning to the end, and from the end to the beginning.
fn both_ways(target: &mut Target<'_>) -> (Stops, Stops) {
    let (first, last) = target.span();
    target.go_to(first);
    let (mut forwards, mut backwards) = (Vec::new(), Vec::new());
    while travel(target, Direction::Forwards, None) != Why::End {
        forwards.push((target.past().here(), target.stopped.why.clone()));
    }
    assert_eq!(target.past().here(), last);
    while travel(target, Direction::Backwards, None) != Why::Beginning {
        backwards.push((target.past().here(), target.stopped.why.clone()));
    }
    assert_eq!(target.past().here(), first);
    (forwards, backwards)
}

#[test]
fn watchpoints_find_every_write_forwards_and_backwards() {
    let mut programs = programs("watches");
    for seed in SEEDS {
        let choices = schedule(&mut programs, seed);
        let (mut target, _) = target(&mut programs, &choices);
        // `total` is 0, then the first number, then the sum.
        let address = total(&target);
        let value = |target: &Target<'_>| target.memory(address, 4)[0];
        target.points.watches.insert(Watch { kind: WatchKind::Write, start: address, end: address + 4 });
        let (first, _) = target.span();
        target.go_to(first);
        let mut values = vec![value(&target)];
        while travel(&mut target, Direction::Forwards, None) != Why::End {
            values.push(value(&target));
        }
        assert_eq!((values.len(), values[0], values[2]), (3, 0, 7), "seed {seed}");
        let mut back = vec![value(&target)];
        while travel(&mut target, Direction::Backwards, None) != Why::Beginning {
            back.push(value(&target));
        }
        back.reverse();
        assert_eq!(values, back, "seed {seed}");
    }
}

/// Where the variable is: the executable is loaded at its usual address, and `nm` says the rest.
fn total(target: &Target<'_>) -> u64 {
    const LOADED_AT: u64 = 0x5555_5555_4000;
    let path = String::from_utf8(target.executable()).expect("UTF-8");
    let output = std::process::Command::new("nm").arg(path).output().expect("nm runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let line = text.lines().find(|line| line.ends_with(" total")).expect("it has the variable");
    LOADED_AT + u64::from_str_radix(line.split(' ').next().expect("an address"), 16).expect("a number")
}
