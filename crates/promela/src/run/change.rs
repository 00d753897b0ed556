//! What a statement changed, by the names that people know.
//!
//! A statement changes a variable or two out of hundreds, and a long counterexample is told statement by statement many
//! times while it is being shortened: so values are compared before anything gets a name.

use super::named::{contents, element_name, process_name, show, tells_itself, variables};
use super::vector::{Work, load};
use crate::ir::{Channel, Model, Variable};
use std::collections::HashMap;
use trace::Change;

/// What differs between two states.
///
/// O(variables) comparisons of bytes, and names only for what differs.
pub fn changes(model: &Model, before: &Work, after: &Work) -> Vec<Change> {
    let same_kinds = || (0..before.processes()).all(|pid| before.proctype(pid) == after.proctype(pid));
    if before.frames != after.frames || !same_kinds() {
        return changes_by_name(model, before, after);
    }
    let mut compare = Compare { model, before, after, changes: Vec::new() };
    compare.scope(&model.globals, &model.channels, 0, &String::new);
    for pid in 0..after.processes() {
        let proctype = &model.proctypes[after.proctype(pid)];
        let prefix = || format!("{}:", process_name(model, after, pid));
        compare.scope(&proctype.locals, &proctype.channels, after.frame(pid), &prefix);
    }
    compare.changes
}

/// The same for states with different processes: only names tell what is what.
fn changes_by_name(model: &Model, before: &Work, after: &Work) -> Vec<Change> {
    let old: HashMap<String, String> = variables(model, before).into_iter().collect();
    let changed = |(name, after): (String, String)| {
        let before = old.get(&name)?;
        (*before != after).then(|| Change { before: before.clone(), name, after })
    };
    variables(model, after).into_iter().filter_map(changed).collect()
}

/// Two states with the same processes.
struct Compare<'a> {
    model: &'a Model,
    before: &'a Work,
    after: &'a Work,
    changes: Vec<Change>,
}

impl Compare<'_> {
    fn scope(&mut self, variables: &[Variable], channels: &[Channel], base: usize, prefix: &dyn Fn() -> String) {
        for variable in variables.iter().filter(|variable| !variable.hidden) {
            for index in 0..variable.length.unwrap_or(1) {
                self.element(variable, index, base, prefix);
            }
        }
        for (number, channel) in channels.iter().enumerate().filter(|(_, channel)| channel.capacity > 0) {
            let at = base + channel.offset as usize;
            let body = at..at + channel.body_size() as usize;
            if self.before.bytes[body.clone()] != self.after.bytes[body] {
                self.channel(variables, &channels[..number], (channel, base), prefix);
            }
        }
    }

    fn element(&mut self, variable: &Variable, index: u32, base: usize, prefix: &dyn Fn() -> String) {
        let at = base + (variable.offset + index * variable.stride) as usize;
        let value = |work: &Work| load(&work.bytes, at, variable.scalar);
        if value(self.before) == value(self.after) {
            return;
        }
        let name = element_name(variable, index);
        let [before, after] =
            [self.before, self.after].map(|work| show(self.model, work, &variable.shown, value(work)));
        if before != after && !tells_itself(variable, &name, &before) && !tells_itself(variable, &name, &after) {
            self.changes.push(Change { name: format!("{}{name}", prefix()), before, after });
        }
    }

    fn channel(
        &mut self,
        variables: &[Variable],
        earlier: &[Channel],
        (channel, base): (&Channel, usize),
        prefix: &dyn Fn() -> String,
    ) {
        let at = base + channel.offset as usize;
        let mut name = format!("{}{}", prefix(), channel.name);
        if earlier.iter().any(|other| other.capacity > 0 && other.name == channel.name)
            || self.is_listed(variables, base, &channel.name)
        {
            name.push_str(" (first channel)");
        }
        let [before, after] = [self.before, self.after].map(|work| contents(self.model, work, channel, at));
        if before != after {
            self.changes.push(Change { name, before, after });
        }
    }

    /// Whether a variable of this name is among those that are told.
    fn is_listed(&self, variables: &[Variable], base: usize, name: &str) -> bool {
        variables.iter().filter(|variable| !variable.hidden && name.starts_with(&*variable.name)).any(|variable| {
            (0..variable.length.unwrap_or(1)).any(|index| {
                let at = base + (variable.offset + index * variable.stride) as usize;
                let value = load(&self.after.bytes, at, variable.scalar);
                let shown = show(self.model, self.after, &variable.shown, value);
                let own = element_name(variable, index);
                own == name && !tells_itself(variable, &own, &shown)
            })
        })
    }
}
