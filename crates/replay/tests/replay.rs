//! Replaying, confirming and shortening on a toy system.
#![allow(clippy::disallowed_methods, reason = "tests use the host")]

mod toy;

use explore::Failure;
use replay::{Budget, ModelReplay, Timeline, confirm, confirm_finite, fails_with, is_weakly_fair, run, shorten};
use toy::{Op, Toy, schedule};
use trace::{Choice, Counterexample, FailureKind, PropertyRef, Schedule, SystemRef, Trace, VERSION};

/// Two processes that take two locks in opposite order.
fn crossed_locks() -> Toy {
    use Op::{Lock, Unlock};
    Toy(vec![vec![Lock(0), Lock(1), Unlock(1), Unlock(0)], vec![Lock(1), Lock(0), Unlock(0), Unlock(1)]])
}

/// Two processes that run in circles without touching each other.
fn two_loops() -> Toy {
    Toy(vec![vec![Op::Add(0), Op::Unlock(0), Op::Goto(0)], vec![Op::Add(1), Op::Unlock(1), Op::Goto(0)]])
}

fn deadlock() -> Failure {
    Failure { kind: FailureKind::Deadlock, message: "invalid end state".to_owned(), fatal: true, property: None }
}

fn counterexample(schedule: Schedule, kind: FailureKind, message: &str) -> Counterexample {
    Counterexample {
        version: VERSION,
        id: "0".to_owned(),
        created: 0,
        tool: String::new(),
        system: SystemRef::default(),
        property: PropertyRef { name: kind.to_string(), kind },
        message: message.to_owned(),
        location: None,
        fairness: false,
        trace: Trace { cycle_start: schedule.cycle_start, ..Trace::default() },
        schedule,
        final_state: Vec::new(),
        wait_for: Vec::new(),
        notes: Vec::new(),
        programs: None,
        is_driven: false,
    }
}

fn of(system: &Toy) -> ModelReplay<'_, Toy> {
    ModelReplay::new(system)
}

fn refusal(system: &Toy, counterexample: &Counterexample) -> String {
    confirm(&mut of(system), counterexample, None).expect_err("must not be confirmed").to_string()
}

#[test]
fn a_run_tells_every_step_and_names_everyone() {
    let run = run(&mut of(&crossed_locks()), &schedule(&[0, 1])).expect("runs");
    assert_eq!((run.trace.steps.len(), run.states.len()), (2, 3));
    assert_eq!(run.trace.name(1), "p:1");
    assert_eq!(run.trace.steps[1].events[0].changes[0].name, "v1");
}

#[test]
fn a_deadlock_is_confirmed_and_a_false_one_is_not() {
    let system = crossed_locks();
    let told = counterexample(schedule(&[0, 1]), FailureKind::Deadlock, "invalid end state");
    assert_eq!(confirm(&mut of(&system), &told, None).expect("confirmed").steps.len(), 2);

    let early = counterexample(schedule(&[0]), FailureKind::Deadlock, "invalid end state");
    assert_eq!(refusal(&system, &early), "step 2: expected deadlock (invalid end state), but nothing is wrong here");
    let other = counterexample(schedule(&[0, 1]), FailureKind::Assert, "x");
    assert_eq!(refusal(&system, &other), "step 3: expected assert (x), found deadlock (invalid end state)");
    let impossible = counterexample(schedule(&[0, 1, 1]), FailureKind::Deadlock, "invalid end state");
    assert_eq!(refusal(&system, &impossible), "step 3: p:1 has no choice 0 in this state");
    assert!(confirm_finite(&mut of(&system), &schedule(&[1, 0]), &deadlock()).is_ok());
}

#[test]
fn a_run_that_ends_early_is_not_confirmed() {
    let system = Toy(vec![vec![Op::Assert(0, 1), Op::Add(0)]]);
    let told = counterexample(schedule(&[0, 0]), FailureKind::Deadlock, "invalid end state");
    assert_eq!(refusal(&system, &told), "step 1: the run ends here: assertion violated: (v0 == 1)");
}

#[test]
fn a_lasso_must_close_and_be_fair_if_it_says_so() {
    let system = two_loops();
    let lasso = |actors: &[u32], start, fairness| {
        let schedule = Schedule { cycle_start: Some(start), ..schedule(actors) };
        Counterexample { fairness, ..counterexample(schedule, FailureKind::Ltl, "p") }
    };
    let agrees = &mut |_: &mut ModelReplay<'_, Toy>, _: &[toy::State], _: Option<usize>| Ok(());
    assert!(confirm(&mut of(&system), &lasso(&[1, 0, 0, 0], 1, false), Some(agrees)).is_ok());
    assert!(refusal(&system, &lasso(&[1, 0, 0, 0], 1, false)).contains("a cycle is no proof"), "without a witness");
    assert!(refusal(&system, &lasso(&[0, 0], 0, false)).contains("does not close"));
    assert!(refusal(&system, &lasso(&[0, 0, 0], 0, true)).contains("not weakly fair"));
    assert!(confirm(&mut of(&system), &lasso(&[0, 0, 0, 1, 1, 1], 0, true), Some(agrees)).is_ok());
    assert!(refusal(&system, &lasso(&[0], 1, false)).contains("could go on"));
    let ended = Toy(vec![vec![Op::Add(0)]]);
    assert!(confirm(&mut of(&ended), &lasso(&[0], 1, true), Some(agrees)).is_ok());
}

#[test]
fn a_witness_has_the_last_word() {
    let system = two_loops();
    let told = counterexample(schedule(&[0]), FailureKind::Never, "claim matched");
    let mut judge = |_: &mut ModelReplay<'_, Toy>, states: &[toy::State], _: Option<usize>| {
        if states.len() == 2 && states[1][8] == 1 { Ok(()) } else { Err("the claim is not matched".to_owned()) }
    };
    assert!(confirm(&mut of(&system), &told, Some(&mut judge)).is_ok());
    let other = counterexample(schedule(&[1]), FailureKind::Never, "claim matched");
    let refused = confirm(&mut of(&system), &other, Some(&mut judge)).expect_err("refused");
    assert_eq!(refused.why, "the claim is not matched");
}

#[test]
fn a_timeline_goes_back_to_exactly_the_states_it_came_from() {
    let system = two_loops();
    let mut system = of(&system);
    let choices = (0..500).map(|n| Choice { actor: u32::from(n % 3 == 0), index: 0 }).collect();
    let mut timeline = Timeline::new(&mut system, choices);
    let mut states = vec![*timeline.state()];
    while timeline.forward().expect("possible").is_some() {
        states.push(*timeline.state());
    }
    for mark in [0, 499, 64, 63, 65, 128, 500, 1] {
        assert_eq!(timeline.go_to(mark), Ok(mark));
        assert_eq!(timeline.state(), &states[mark]);
    }
    assert_eq!(timeline.go_to(9_999), Ok(500));
    for mark in (0..500).rev() {
        assert!(timeline.backward());
        assert_eq!(timeline.state(), &states[mark]);
    }
    assert!(!timeline.backward());
}

#[test]
fn a_branch_gives_up_the_future_and_an_impossible_one_changes_nothing() {
    let system = Toy(vec![vec![Op::Maybe(2), Op::Add(0), Op::Add(1)]]);
    let mut system = of(&system);
    let mut timeline = Timeline::new(&mut system, schedule(&[0, 0, 0]).choices);
    timeline.go_to(3).expect("possible");
    timeline.go_to(0).expect("possible");
    assert!(timeline.branch(Choice { actor: 0, index: 7 }).is_none());
    assert_eq!(timeline.len(), 3);
    assert!(timeline.branch(Choice { actor: 0, index: 1 }).is_some());
    assert_eq!((timeline.len(), timeline.mark(), timeline.state()[0]), (1, 1, 2));
}

#[test]
fn a_detour_is_cut_out_of_a_finite_counterexample() {
    let mut system = crossed_locks();
    system.0.push([Op::Add(5); 40].to_vec());
    system.0.push(vec![Op::Goto(0)]);
    // Process 3 runs for ever, so nothing deadlocks: an assertion is what can fail.
    system.0[1].insert(1, Op::Assert(0, 1));
    let noise: Vec<u32> = (0..90).map(|n| if n % 2 == 0 { 3 } else { 2 }).take(80).chain([1, 3, 1]).collect();
    let failure = run(&mut of(&system), &schedule(&noise)).expect("runs").failure.expect("fails");
    let short = shorten(&mut of(&system), &schedule(&noise), Budget { work: 100_000 }, &mut fails_with(&failure));
    assert_eq!(short, schedule(&[1, 1]));
}

#[test]
fn context_switches_are_joined_when_no_step_can_go() {
    let system = Toy(vec![vec![Op::Add(0), Op::Add(0), Op::Add(0), Op::Add(0)], vec![Op::Add(1), Op::Add(1)]]);
    let mut shows = |_: &mut ModelReplay<'_, Toy>, candidate: &replay::Candidate<'_, toy::State>| {
        candidate.states.last().is_some_and(|state| (state[8], state[9]) == (3, 2))
    };
    let short = shorten(&mut of(&system), &schedule(&[0, 1, 0, 1, 0]), Budget { work: 10_000 }, &mut shows);
    assert_eq!((short.choices.len(), short.context_switches()), (5, 1));
}

#[test]
fn a_choice_that_is_renumbered_is_found_again_by_what_it_does() {
    // Without the detour of process 0 its `Maybe` is still the same step.
    let system = Toy(vec![vec![Op::Maybe(0), Op::Maybe(3), Op::Add(0), Op::Assert(0, 1)]]);
    let choices = [1, 1, 1, 0, 1, 0].map(|index| Choice { actor: 0, index }).to_vec();
    let long = Schedule { choices, cycle_start: None };
    let failure = run(&mut of(&system), &long).expect("runs").failure.expect("fails");
    let short = shorten(&mut of(&system), &long, Budget { work: 10_000 }, &mut fails_with(&failure));
    assert_eq!(short.choices, [0, 1, 0].map(|index| Choice { actor: 0, index }));
}

#[test]
fn a_lasso_keeps_its_cycle_and_loses_its_stem() {
    let system = two_loops();
    let actors = [1, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1, 0];
    let long = Schedule { cycle_start: Some(6), ..schedule(&actors) };
    let mut both_move = |system: &mut ModelReplay<'_, Toy>, candidate: &replay::Candidate<'_, toy::State>| {
        candidate.cycle_start.is_some_and(|start| is_weakly_fair(system, candidate.states, candidate.choices, start))
    };
    let short = shorten(&mut of(&system), &long, Budget { work: 10_000 }, &mut both_move);
    assert_eq!((short.choices.len(), short.cycle_start, short.context_switches()), (6, Some(0), 1));
}

/// Forty steps that must stay, then two that need not: what comes before them is executed once.
#[test]
fn what_candidates_have_in_common_is_executed_once() {
    let needed = [Op::Add(0); 40].into_iter().chain([Op::Assert(0, 0)]).collect();
    let system = Toy(vec![needed, vec![Op::Add(1), Op::Add(1)]]);
    let long: Vec<u32> = [0; 40].into_iter().chain([1, 1, 0]).collect();
    let failure = run(&mut of(&system), &schedule(&long)).expect("runs").failure.expect("fails");
    let short = shorten(&mut of(&system), &schedule(&long), Budget { work: 1_000 }, &mut fails_with(&failure));
    assert_eq!(short, schedule(&[0; 41]));
}

#[test]
fn no_budget_gives_the_schedule_back() {
    let system = crossed_locks();
    let failure = deadlock();
    let short = shorten(&mut of(&system), &schedule(&[0, 1]), Budget { work: 0 }, &mut fails_with(&failure));
    assert_eq!(short, schedule(&[0, 1]));
}
