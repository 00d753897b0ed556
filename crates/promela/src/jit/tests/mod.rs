//! Native code against the interpreter.

mod model;
mod models;
mod random;
mod state;

use super::*;
use crate::ir::Action;
use crate::run::Interpreter;
use crate::run::act::Act;
use crate::run::vector::Work;
use explore::Failure;
use random::Random;

/// Everything that an executor can be seen to do.
#[derive(PartialEq, Eq, Debug)]
struct Seen {
    outcome: Outcome,
    work: Work,
    failures: Vec<Failure>,
    /// Only an offer leaves a message behind.
    offered: Option<Vec<i32>>,
}

fn execute(code: &impl Code, model: &Model, work: &Work, pid: u32, edge: usize, timeout: bool) -> Seen {
    let (mut work, mut failures, mut message) = (work.clone(), Vec::new(), Vec::new());
    let outcome = code.fast(&mut work, pid, timeout, edge, &mut message).unwrap_or_else(|| {
        let mut act = Act { model, timeout, depth: 0, failures: &mut failures, message: &mut message };
        act.execute(&mut work, pid, &model.proctypes[0].states[0].edges[edge].action)
    });
    let offered = matches!(outcome, Outcome::Offer(_)).then_some(message);
    Seen { outcome, work, failures, offered }
}

/// Runs random statements on random states both ways; returns how many edges had native code.
fn compare(seed: u64, actions: usize, action: impl Fn(&mut Random) -> Action) -> usize {
    let mut random = Random::new(seed);
    let actions: Vec<Action> = (0..actions).map(|_| action(&mut random)).collect();
    let model = model::with_actions(actions);
    let native = Native::compile(&model).expect("this host has native code");
    for edge in 0..model.proctypes[0].states[0].edges.len() {
        for _ in 0..24 {
            let work = state::random_work(&model, &mut random);
            let (pid, timeout) = (random.below(2) * 2, random.below(2) == 1);
            let expected = execute(&Interpreter, &model, &work, pid, edge, timeout);
            let got = execute(&native, &model, &work, pid, edge, timeout);
            let action = &model.proctypes[0].states[0].edges[edge].action;
            assert_eq!(got, expected, "seed {seed}, edge {edge}: {action:?}\non {work:?}");
        }
    }
    native.coverage().0
}

#[test]
fn random_expressions_have_the_same_value_as_in_the_interpreter() {
    let assign = |random: &mut Random| Action::Assign(model::into_result(random.expr(4)));
    let compiled: usize = (1..=30).map(|seed| compare(seed, 30, assign)).sum();
    assert!(compiled > 450, "only {compiled} of 900 expressions were compiled");
}

#[test]
fn random_conditions_and_assertions_agree() {
    let condition = |random: &mut Random| {
        let condition = random.expr(4);
        if random.below(2) == 0 {
            return Action::Condition(condition);
        }
        Action::Assert { condition, text: "(it)".to_owned() }
    };
    let compiled: usize = (100..=120).map(|seed| compare(seed, 30, condition)).sum();
    assert!(compiled > 300, "only {compiled} of 630 conditions were compiled");
}

#[test]
fn random_assignments_agree() {
    let assign = |random: &mut Random| {
        let (place, value) = (random.place(2), random.expr(3));
        Action::Assign(crate::ir::Assign { place, value })
    };
    let compiled: usize = (200..=220).map(|seed| compare(seed, 30, assign)).sum();
    assert!(compiled > 300, "only {compiled} of 630 assignments were compiled");
}

#[test]
fn random_sends_and_receives_agree() {
    let message = |random: &mut Random| {
        if random.below(2) == 0 { Action::Send(random.send()) } else { Action::Receive(random.receive()) }
    };
    let compiled: usize = (300..=340).map(|seed| compare(seed, 30, message)).sum();
    assert!(compiled > 350, "only {compiled} of 1230 were compiled");
}

#[test]
fn a_lossy_channel_forgets_messages_in_both() {
    let send = |random: &mut Random| Action::Send(random.send());
    let mut random = Random::new(7);
    let actions: Vec<Action> = (0..40).map(|_| send(&mut random)).collect();
    let mut model = model::with_actions(actions);
    model.features.lossy = true;
    let native = Native::compile(&model).expect("this host has native code");
    for edge in 0..40 {
        for _ in 0..20 {
            let work = state::random_work(&model, &mut random);
            let expected = execute(&Interpreter, &model, &work, 0, edge, false);
            assert_eq!(execute(&native, &model, &work, 0, edge, false), expected);
        }
    }
}

#[test]
fn a_vector_that_is_too_short_never_reaches_native_code() {
    let model = model::with_actions(vec![Action::Print(crate::ir::Print { pieces: vec![], values: vec![] })]);
    let native = Native::compile(&model).expect("this host has native code");
    let work = Work { bytes: vec![0; 8], frames: vec![0], end: 8 };
    assert_eq!(native.fast(&mut work.clone(), 0, false, 0, &mut vec![]), None);
    assert_eq!(native.fast(&mut work.clone(), 0, false, 99, &mut vec![]), None);
}
