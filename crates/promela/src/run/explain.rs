//! States and steps told for people: names, values, what changed.

use super::code::Code;
use super::for_loop::part_of_for;
use super::step::Micro;
use super::system::System;
use super::vector::{Work, load};
use super::{enabled, env, event};
use crate::ir::{Action, Channel, Edge, Expr, Format, Model, Print, Shown, Variable};
use crate::source::{SourceMap, Span};
use explore::Failure;
use trace::{Change, Direction, Event, FailureKind, Location, Message};

/// What a process is called: `client:2`.
#[must_use]
pub fn process_name(model: &Model, work: &Work, pid: u32) -> String {
    if pid >= work.processes() {
        return format!("process:{pid}");
    }
    format!("{}:{pid}", model.proctypes[work.proctype(pid)].name.trim_matches(':'))
}

/// The failure of a state in which nobody can move, unless everybody may end there.
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
        changes: super::change::changes(model, before, &micro.after),
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

fn mtype(model: &Model, set: &str, value: i32) -> String {
    let named = model.mtypes.iter().find(|(of, _, number)| of == set && *number == value);
    named.map_or_else(|| value.to_string(), |(_, name, _)| name.clone())
}

/// A value as people read it.
pub(crate) fn show(model: &Model, work: &Work, shown: &Shown, value: i32) -> String {
    match shown {
        Shown::Number | Shown::Bool => value.to_string(),
        Shown::Mtype(set) => mtype(model, set, value),
        Shown::Channel => {
            work.channel(model, value).map_or_else(|| value.to_string(), |(channel, _)| channel.name.clone())
        }
    }
}

/// Everything that has a name, with its value.
#[must_use]
pub fn variables(model: &Model, work: &Work) -> Vec<(String, String)> {
    let mut all = Vec::new();
    list(model, work, &model.globals, 0, "", &mut all);
    list_channels(model, work, &model.channels, 0, "", &mut all);
    for pid in 0..work.processes() {
        let proctype = &model.proctypes[work.proctype(pid)];
        let prefix = format!("{}:", process_name(model, work, pid));
        list(model, work, &proctype.locals, work.frame(pid), &prefix, &mut all);
        list_channels(model, work, &proctype.channels, work.frame(pid), &prefix, &mut all);
    }
    all
}

fn list(
    model: &Model,
    work: &Work,
    variables: &[Variable],
    base: usize,
    prefix: &str,
    all: &mut Vec<(String, String)>,
) {
    for variable in variables.iter().filter(|variable| !variable.hidden) {
        for index in 0..variable.length.unwrap_or(1) {
            let at = base + (variable.offset + index * variable.stride) as usize;
            let value = show(model, work, &variable.shown, load(&work.bytes, at, variable.scalar));
            let name = element_name(variable, index);
            if !tells_itself(variable, &name, &value) {
                all.push((format!("{prefix}{name}"), value));
            }
        }
    }
}

/// The name of an element of an array, or of a variable that is none.
pub(super) fn element_name(variable: &Variable, index: u32) -> String {
    match variable.length {
        Some(_) => format!("{}[{index}]", variable.name),
        None => variable.name.clone(),
    }
}

/// Whether a variable holds the channel of its own name, which is told by that channel's messages.
pub(super) fn tells_itself(variable: &Variable, name: &str, value: &str) -> bool {
    variable.shown == Shown::Channel && value == name
}

fn list_channels(
    model: &Model,
    work: &Work,
    channels: &[Channel],
    base: usize,
    prefix: &str,
    all: &mut Vec<(String, String)>,
) {
    for channel in channels.iter().filter(|channel| channel.capacity > 0) {
        let at = base + channel.offset as usize;
        let mut name = format!("{prefix}{}", channel.name);
        if all.iter().any(|(known, _)| *known == name) {
            name.push_str(" (first channel)");
        }
        all.push((name, contents(model, work, channel, at)));
    }
}

/// The messages in a channel whose body starts here.
pub(super) fn contents(model: &Model, work: &Work, channel: &Channel, at: usize) -> String {
    let mut field_at = at + 1;
    let messages: Vec<String> = (0..work.bytes[at])
        .map(|_| {
            let fields: Vec<String> = channel
                .fields
                .iter()
                .map(|(scalar, shown)| {
                    let value = load(&work.bytes, field_at, *scalar);
                    field_at += scalar.size() as usize;
                    show(model, work, shown, value)
                })
                .collect();
            fields.join(",")
        })
        .collect();
    format!("[{}]", messages.join("; "))
}

/// What is different from `state` in another state.
pub(crate) fn changed(model: &Model, state: &[u8], after: &Work) -> Vec<Change> {
    let mut before = Work::default();
    before.load(model, state);
    super::change::changes(model, &before, after)
}
