//! What has a name in a state: processes, variables and channels, with their values as people read them.

use super::vector::{Work, load};
use crate::ir::{Channel, Model, Shown, Variable};

/// What a process is called: `client:2`.
#[must_use]
pub fn process_name(model: &Model, work: &Work, pid: u32) -> String {
    if pid >= work.processes() {
        return format!("process:{pid}");
    }
    format!("{}:{pid}", model.proctypes[work.proctype(pid)].name.trim_matches(':'))
}

pub(super) fn mtype(model: &Model, set: &str, value: i32) -> String {
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
