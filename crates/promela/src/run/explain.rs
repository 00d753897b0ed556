//! Steps told for people: statements, messages, what changed.

use super::code::Code;
use super::course::Micro;
use super::for_loop::part_of_for;
use super::named::{mtype, show};
use super::system::System;
use super::vector::Work;
use super::{change, enabled, env, event};
use crate::ir::{Action, Edge, Expr, Format, Model, Print};
use crate::source::{SourceMap, Span};
use explore::Failure;
use trace::{Change, Direction, Event, FailureKind, Location, Message};

pub use super::named::{process_name, variables};

/// The failure of a state in which nobody can move, unless everybody may end there.
///
/// SPIN's "invalid end state": nobody can move, and somebody is neither at an `end` label nor at
/// its closing brace.
#[must_use]
pub fn stuck(model: &Model, work: &Work) -> Option<Failure> {
    // With nobody left nobody is stuck; SPIN does not ask how far a `trace` has come either.
    if work.processes() == 0 {
        return None;
    }
    let ends = |pid| model.proctypes[work.proctype(pid)].states[work.pc(model, pid)].end;
    let events_done = model.event_trace.as_ref().is_none_or(|events| {
        let state = event::state(work);
        events.negated || events.states.get(state).is_none_or(|state| state.end)
    });
    if events_done && (0..work.processes()).all(ends) {
        return None;
    }
    // An atomic sequence that loops for ever shows no next state, but it is no deadlock.
    if (0..work.processes()).any(|pid| enabled::can_move(model, work, pid, true, 0)) {
        return None;
    }
    Some(Failure { kind: FailureKind::Deadlock, message: "invalid end state".to_owned(), fatal: true, property: None })
}

/// A place in the sources, for people.
#[must_use]
pub fn location(sources: &SourceMap, span: Span) -> Option<Location> {
    let at = sources.locate(span)?;
    let text = sources.text(span);
    let width = text.lines().next().unwrap_or_default().trim_end().chars().count().max(1);
    Some(Location { file: at.path.display().to_string(), line: at.line, column: at.column, width: width as u32 })
}

/// The text of a statement on one line.
#[must_use]
pub fn statement(sources: &SourceMap, edge: &Edge) -> String {
    let text = sources.executed(edge.span).split_whitespace().collect::<Vec<_>>().join(" ");
    part_of_for(&text, &edge.action).unwrap_or(text)
}

/// The events of one step that started in `state`.
pub fn events<C: Code>(system: &System<C>, state: &[u8], told: &[Micro]) -> Vec<Event> {
    let mut before = Work::default();
    before.load(&system.model, state);
    let mut events = Vec::new();
    for (index, micro) in told.iter().enumerate() {
        let mut event = event(system, &before, micro);
        event.uninterrupted = index + 1 < told.len();
        events.push(event);
        before.copy_from(&micro.after);
    }
    events
}

fn event<C: Code>(system: &System<C>, before: &Work, micro: &Micro) -> Event {
    let (model, sources) = (&system.model, &system.sources);
    let (proctype, pc, edge) = micro.at;
    let edge = &model.proctypes[proctype].states[pc].edges[edge];
    let text = match &edge.action {
        Action::Die => "(ends)".to_owned(),
        Action::Else => "else".to_owned(),
        _ => statement(sources, edge),
    };
    let created = (micro.after.processes() > before.processes()).then(|| micro.after.processes() - 1);
    Event {
        actor: micro.pid,
        kind: trace::EventKind::Statement,
        text,
        location: location(sources, edge.span),
        changes: change::changes(model, before, &micro.after),
        message: message(model, before, micro, &edge.action),
        output: output(model, before, micro.pid, &edge.action),
        failure: failed_assertion(model, before, micro),
        uninterrupted: false,
        is_local: false,
        created,
    }
}

/// What an assertion that fails says; the run goes on after it.
fn failed_assertion(model: &Model, before: &Work, micro: &Micro) -> Option<String> {
    let (proctype, pc, edge) = micro.at;
    match &model.proctypes[proctype].states[pc].edges[edge].action {
        Action::Assert { condition, text } if value(model, before, micro.pid, condition) == 0 => {
            Some(super::fail::assertion(text).message)
        }
        _ => None,
    }
}

/// The first statement of a step from `state` that is an assertion and fails.
#[must_use]
pub fn first_failed(model: &Model, state: &[u8], told: &[Micro]) -> Option<usize> {
    let mut start = Work::default();
    start.load(model, state);
    let before = std::iter::once(&start).chain(told.iter().map(|micro| &micro.after));
    told.iter().zip(before).position(|(micro, before)| failed_assertion(model, before, micro).is_some())
}

fn message(model: &Model, before: &Work, micro: &Micro, action: &Action) -> Option<Message> {
    let (channel, direction) = match action {
        Action::Send(send) => (&send.channel, Direction::Send),
        Action::Receive(receive) => (&receive.channel, Direction::Receive),
        _ => return None,
    };
    let id = value(model, before, micro.pid, channel);
    let (channel, _) = before.channel(model, id)?;
    let values = micro.message.as_ref()?;
    let fields =
        channel.fields.iter().zip(values).map(|((_, shown), value)| show(model, before, shown, *value)).collect();
    Some(Message { channel: channel.name.clone(), direction, fields, partner: micro.partner })
}

fn value(model: &Model, work: &Work, pid: u32, expr: &Expr) -> i32 {
    env(model, work, pid, false, &mut Vec::new()).eval(expr)
}

fn output(model: &Model, before: &Work, pid: u32, action: &Action) -> Option<String> {
    match action {
        Action::Print(print) => Some(printed(model, before, pid, print)),
        _ => None,
    }
}

/// What a `printf` prints.
#[must_use]
pub fn printed(model: &Model, work: &Work, pid: u32, print: &Print) -> String {
    let mut text = String::new();
    for (index, piece) in print.pieces.iter().enumerate() {
        text.push_str(piece);
        if let Some((format, expr)) = print.values.get(index) {
            text.push_str(&formatted(model, format, value(model, work, pid, expr)));
        }
    }
    text
}

fn formatted(model: &Model, format: &Format, value: i32) -> String {
    match format {
        Format::Decimal => value.to_string(),
        Format::Unsigned => (value as u32).to_string(),
        Format::Hex => format!("{value:x}"),
        Format::Octal => format!("{value:o}"),
        Format::Char => char::from(value as u8).to_string(),
        Format::Mtype(set) => mtype(model, set, value),
    }
}

/// What is different from `state` in another state.
pub(crate) fn changed(model: &Model, state: &[u8], after: &Work) -> Vec<Change> {
    let mut before = Work::default();
    before.load(model, state);
    change::changes(model, &before, after)
}
