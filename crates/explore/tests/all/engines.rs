//! Random programs through every engine: what the reductions leave out cannot matter.

use crate::toy::code::{Op, Value};
use crate::toy::{Machine, Program, generate};
use explore::graph::{
    Actor, Counts, Filter, FootprintSystem, Limits, Mode, Options, Parts, Reached, Report, Step, StepContext, Taken,
    search, search_with_many,
};
use explore::happens_before::Execution;
use explore::stateless;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;
use trace::Choice;

/// Programs with more states are left out.
const STATES_MAX: usize = 4_000;

fn graph(program: &Program, mode: Mode) -> Option<Report> {
    let mut stop = |_: u64, _: u64| false;
    let mut limits = Limits { states: STATES_MAX, failures: usize::MAX, stop: &mut stop };
    let report = search(&mut Machine::new(program.clone()), mode, &mut limits);
    report.complete.then_some(report)
}

/// Programs to try: `PROGRAMS` of them.
pub fn count(default: u64) -> u64 {
    std::env::var("PROGRAMS").ok().and_then(|count| count.parse().ok()).unwrap_or(default)
}

/// What no reduction may change.
#[derive(PartialEq, Eq, Debug)]
struct Seen {
    failures: BTreeSet<String>,
    ends: Vec<u128>,
    raced: BTreeSet<(u64, bool)>,
}

fn seen(report: &Report) -> Seen {
    let failures = report.found.iter().map(|found| format!("{:?}", found.failure)).collect();
    let raced = report.races.iter().map(|race| (race.object, race.plain)).collect();
    Seen { failures, ends: report.ends.clone(), raced }
}

/// What a search without memory sees; nothing if that takes too long.
fn stateless(program: &Program) -> Option<stateless::Report> {
    stateless_of(&mut Machine::new(program.clone()))
}

fn stateless_of(machine: &mut Machine) -> Option<stateless::Report> {
    let mut stop = |_: u64, _: u64| false;
    let mut limits = stateless::Limits { depth: 200, executions: 20_000, failures: usize::MAX, stop: &mut stop };
    let report = stateless::search(machine, &mut limits);
    report.complete.then_some(report)
}

#[test]
fn searches_without_memory_see_what_full_ones_see() {
    for seed in 0..count(2500) {
        let (program, ends) = generate::program(seed);
        let Some(full) = ends.then(|| graph(&program, Mode::Full)).flatten() else { continue };
        let Some(report) = stateless(&program) else { continue };
        let failures: BTreeSet<String> = report.found.iter().map(|found| format!("{:?}", found.failure)).collect();
        assert_eq!((failures, &report.ends), (seen(&full).failures, &full.ends), "program {seed}: {program:?}");
        // Which words it is on can differ: of two runs of plain accesses the second may take another turn.
        assert_eq!(report.races.is_empty(), full.races.is_empty(), "program {seed}");
    }
}

/// The receiver waits when the signal comes; the message that ends its wait is sent behind that, and could be sent before it.
#[test]
fn what_ends_a_wait_may_come_before_the_signal_that_interrupts_it() {
    let store = Op::Store { var: 0, value: Value::Of(0) };
    let receiver = vec![Op::Receive { channel: 0, into: 0 }, store, Op::Load { var: 1, into: 1 }, Op::End];
    let sender = vec![Op::Send { channel: 0, value: Value::Is(1) }, Op::End];
    let threads = vec![vec![Op::Interrupt(1), Op::End], receiver, sender];
    let program = Program { threads, born: 3, vars: vec![0, 0], channels: 1, capacity: 1, ..Program::default() };
    let full = graph(&program, Mode::Full).expect("it is small");
    assert_eq!(full.ends.len(), 2, "the handler writes before and after the receiver");
    assert_eq!(stateless(&program).expect("it is small").ends, full.ends);
}

/// Classes of all schedules, one by one; nothing if they are too many, or if one fails and hides what others do.
fn classes(program: &Program) -> Option<u64> {
    let mut machine = Machine::new(program.clone());
    let (mut run, mut classes, mut left) = (Execution::default(), BTreeSet::new(), 4_000);
    let initial = machine.initial();
    enumerate(&mut machine, &mut run, &[], &initial, &mut classes, &mut left)?;
    Some(classes.len() as u64)
}

fn enumerate(
    machine: &mut Machine,
    run: &mut Execution,
    before: &[(u32, Actor)],
    reached: &Reached<crate::toy::machine::State>,
    classes: &mut BTreeSet<u128>,
    left: &mut u32,
) -> Option<()> {
    let dense = |actor: &Actor| if actor.number == crate::toy::machine::TIME { 9 } else { actor.number };
    let now: Vec<_> = reached.actors.iter().map(|actor| (dense(actor), actor.clone())).collect();
    run.reach(before, &now);
    for (actor, index) in now.iter().flat_map(|(_, actor)| (0..actor.choices).map(move |index| (actor, index))) {
        *left = left.checked_sub(1)?;
        let taken = machine.step(&reached.state, Choice { actor: actor.number, index }).expect("it can move");
        if taken.failure.is_some() {
            return None;
        }
        run.take(dense(actor), index, taken.accesses);
        enumerate(machine, run, &now, &taken.reached, classes, left)?;
        run.pop();
    }
    if now.iter().all(|(_, actor)| actor.choices == 0) {
        classes.insert(run.class());
    }
    Some(())
}

#[test]
fn searches_without_memory_execute_exactly_one_schedule_of_each_class() {
    let mut compared = 0;
    for seed in 0..count(600) {
        let (program, ends) = generate::program(seed);
        let Some(classes) = ends.then(|| classes(&program)).flatten() else { continue };
        let report = stateless(&program).expect("fewer classes than schedules");
        assert_eq!(report.traces, classes, "program {seed}: {program:?}");
        compared += 1;
    }
    assert!(compared > 20, "{compared} programs were small enough");
}

/// Programs that a mode gets wrong.
fn differences(programs: u64, mode: Mode) -> impl Iterator<Item = u64> {
    let differs = move |seed: &u64| {
        let (program, _) = generate::program(*seed);
        let Some(full) = graph(&program, Mode::Full) else { return false };
        let reduced = graph(&program, mode).expect("no more states than without reduction");
        seen(&full) != seen(&reduced)
    };
    (0..programs).filter(differs)
}

#[test]
fn reduced_searches_see_what_full_ones_see() {
    assert_eq!(differences(count(400), Mode::Reduced).next(), None);
}

#[test]
fn reduced_searches_that_know_nothing_of_locks_see_what_full_ones_see() {
    let mode = Mode::Partly(Parts { locks: Filter::Off, ..Parts::ALL });
    assert_eq!(differences(count(300), mode).next(), None);
}

/// The comparison is worth something only if it notices when a part is missing.
fn is_noticed(parts: Parts) -> bool {
    differences(1000, Mode::Partly(parts)).next().is_some()
}

#[test]
fn it_is_noticed_when_conflicts_are_not_looked_for() {
    assert!(is_noticed(Parts { conflicts: false, ..Parts::ALL }));
}

#[test]
fn it_is_noticed_when_who_is_ended_has_no_next_step() {
    assert!(is_noticed(Parts { ends: false, ..Parts::ALL }));
}

#[test]
fn it_is_noticed_when_cycles_are_not_broken() {
    assert!(is_noticed(Parts { cycles: false, ..Parts::ALL }));
}

#[test]
fn it_is_noticed_when_a_lock_counts_before_it_is_held() {
    assert!(is_noticed(Parts { locks: Filter::Broken, ..Parts::ALL }));
}

#[test]
fn it_is_noticed_when_a_lock_that_others_free_counts_as_held() {
    let is_lost = |seed| {
        let (program, _) = generate::program(seed);
        let mut machine = Machine::new(program.clone());
        if !machine.kept.contains(&false) {
            return false;
        }
        let Some(full) = graph(&program, Mode::Full) else { return false };
        machine.kept.fill(true);
        let mut stop = |_: u64, _: u64| false;
        let mut limits = Limits { states: STATES_MAX, failures: usize::MAX, stop: &mut stop };
        seen(&search(&mut machine, Mode::Reduced, &mut limits)) != seen(&full)
    };
    assert!((0..2000).any(is_lost));
}

/// Whoever is interrupted where it waits does next what it does behind the signal, so behind what it waits for.
#[test]
fn it_is_noticed_when_waits_that_are_interrupted_are_not_reversed() {
    let is_lost = |seed| {
        let (program, ends) = generate::program(seed);
        let mut machine = Machine::new(program.clone());
        machine.tells_interrupts = false;
        let Some(full) = ends.then(|| graph(&program, Mode::Full)).flatten() else { return false };
        let report = stateless_of(&mut machine);
        report.is_some_and(|report| report.ends != full.ends)
    };
    assert!((0..2000).any(is_lost));
}

#[test]
fn it_is_noticed_when_a_fatal_step_hides_what_others_do() {
    assert!(is_noticed(Parts { fatal: false, ..Parts::ALL }));
}

/// A machine that leaves open where steps lead that are only tried.
struct Late(Machine);

impl FootprintSystem for Late {
    type State = crate::toy::machine::State;

    fn initial(&mut self) -> Reached<Self::State> {
        self.0.initial()
    }

    fn step(&mut self, state: &Self::State, choice: Choice) -> Option<Taken<Self::State>> {
        self.0.step(state, choice)
    }

    fn step_with(
        &mut self,
        state: &Self::State,
        choice: Choice,
        around: &mut dyn StepContext,
    ) -> Option<Step<Self::State>> {
        let mut taken = self.0.step_with(state, choice, around)?;
        if around.is_trial() {
            taken.reached = Reached::known(taken.reached.fingerprint);
        }
        Some(taken)
    }
}

#[test]
fn steps_that_are_only_tried_need_not_lead_anywhere_and_count_once() {
    let mut compared = 0;
    for seed in 0..count(300) {
        let (program, _) = generate::program(seed);
        let Some(report) = graph(&program, Mode::Reduced) else { continue };
        let mut stop = |_: u64, _: u64| false;
        let mut limits = Limits { states: STATES_MAX, failures: usize::MAX, stop: &mut stop };
        let late = search(&mut Late(Machine::new(program)), Mode::Reduced, &mut limits);
        assert_eq!(seen(&late), seen(&report), "program {seed}");
        let counts = |report: &Report| (report.states, report.steps, report.executed, report.counts.tried);
        assert_eq!(counts(&late), counts(&report), "program {seed}");
        compared += 1;
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn several_workers_see_the_same_graph_as_one_and_what_a_full_search_sees() {
    for seed in 0..count(150) {
        let (program, _) = generate::program(seed);
        let Some(full) = graph(&program, Mode::Full) else { continue };
        let reports = [1, 2, 3].map(|workers| {
            let mut stop = |_: u64, _: u64| false;
            let mut limits = Limits { states: usize::MAX, failures: usize::MAX, stop: &mut stop };
            let mut machines: Vec<Machine> = (0..workers).map(|_| Machine::new(program.clone())).collect();
            let report = with_many(&mut machines, &mut limits);
            // How many trials are unused depends on the speed of the workers.
            Report { executed: 0, counts: Counts { tried: 0, ..report.counts }, ..report }
        });
        assert_eq!(seen(&reports[0]), seen(&full), "program {seed}");
        let alone = graph(&program, Mode::Reduced).expect("it is smaller");
        let alone = Report { executed: 0, counts: Counts { tried: 0, ..alone.counts }, ..alone };
        assert!(reports.iter().all(|report| report == &alone), "program {seed}");
    }
}

#[test]
fn others_take_steps_for_the_owner_of_the_graph() {
    let program = crate::toy::classics::philosophers(6, false);
    let mut machines = [Machine::new(program.clone()), Machine::new(program)];
    let theirs = Arc::clone(&machines[1].executed);
    let started = Instant::now();
    let mut stop = |states: u64, _: u64| {
        // Where the owner would be done before they begin it waits for them; there is plenty to do by then.
        while states > 500 && theirs.load(Relaxed) == 0 && started.elapsed().as_secs() < 60 {
            std::thread::yield_now();
        }
        false
    };
    let mut limits = Limits { states: usize::MAX, failures: usize::MAX, stop: &mut stop };
    assert!(with_many(&mut machines, &mut limits).complete);
    assert!(theirs.load(Relaxed) > 0);
}

fn with_many<T>(machines: &mut [T], limits: &mut Limits<'_>) -> Report
where
    T: FootprintSystem + Send,
    T::State: Send,
{
    let (owner, others) = machines.split_first_mut().expect("there is one");
    search_with_many(owner, others, Options::new(Mode::Reduced), limits)
}
