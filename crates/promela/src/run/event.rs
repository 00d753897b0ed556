//! `trace` and `notrace`: an automaton that watches sends and receives.
//!
//! A `trace` runs in the state (two bytes of the vector), because whether a run obeys it depends on
//! the events so far. The first edge that fits is taken, so one control state is enough.

use super::eval::Env;
use super::fail;
use super::vector::Work;
use crate::ir::{Action, ControlState, EventTrace, Field, Model, Pc, VECTOR_EVENT};
use explore::Failure;

const AT: usize = VECTOR_EVENT as usize;

/// The automaton's control state in a vector.
#[must_use]
pub fn state(work: &Work) -> Pc {
    usize::from(u16::from_le_bytes([work.bytes[AT], work.bytes[AT + 1]]))
}

/// Puts the automaton into a control state.
pub fn set_state(work: &mut Work, pc: Pc) {
    work.bytes[AT..AT + 2].copy_from_slice(&(pc as u16).to_le_bytes());
}

/// Moves the automaton by one send or receive.
pub fn happened(
    model: &Model,
    work: &mut Work,
    pid: u32,
    sent: bool,
    id: i32,
    message: &[i32],
    failures: &mut Vec<Failure>,
) {
    let Some(events) = &model.event_trace else { return };
    if !watched(model, work, pid, events, sent, id, failures) {
        return;
    }
    let here = &events.states[state(work)];
    let target = (0..here.edges.len())
        .find(|edge| fits(model, work, pid, here, *edge, (sent, id, message), failures))
        .map(|edge| here.edges[edge].target);
    match target {
        Some(target) => arrive(work, events, target, failures),
        // Leaving a `notrace` automaton without a match means that it can never be matched: it stays at its closing
        // brace's twin, one past the last state.
        None if events.negated => set_state(work, events.states.len()),
        None => failures.push(fail::event_not_allowed(&channel_name(model, work, id))),
    }
}

fn arrive(work: &mut Work, events: &EventTrace, target: Pc, failures: &mut Vec<Failure>) {
    set_state(work, target);
    if events.negated && target == events.closing {
        failures.push(fail::events_matched());
    }
}

fn watched(
    model: &Model,
    work: &Work,
    pid: u32,
    events: &EventTrace,
    sent: bool,
    id: i32,
    failures: &mut Vec<Failure>,
) -> bool {
    state(work) < events.states.len()
        && events.alphabet.iter().any(|(channel, is_send)| {
            *is_send == sent && Env { model, work, pid, timeout: false, ran: 0, depth: 0, failures }.eval(channel) == id
        })
}

fn fits(
    model: &Model,
    work: &Work,
    pid: u32,
    here: &ControlState,
    edge: usize,
    (sent, id, message): (bool, i32, &[i32]),
    failures: &mut Vec<Failure>,
) -> bool {
    let mut env = Env { model, work, pid, timeout: false, ran: 0, depth: 0, failures };
    match &here.edges[edge].action {
        // A pattern for either direction; `keep` is set for a send.
        Action::Receive(receive) => {
            receive.keep == sent
                && env.eval(&receive.channel) == id
                && receive.fields.iter().zip(message).all(|(field, value)| match field {
                    Field::Match(expected) => env.eval(expected) == *value,
                    Field::Store(_) | Field::Ignore => true,
                })
        }
        Action::Condition(condition) => env.truth(condition),
        _ => true,
    }
}

fn channel_name(model: &Model, work: &Work, id: i32) -> String {
    work.channel(model, id).map_or_else(|| id.to_string(), |(channel, _)| channel.name.clone())
}
