//! Every fault that can happen to a model.
//!
//! The catalogue is generated from the model, so that nobody has to name what could go wrong. Which
//! faults are left out unless asked for by name (`by_name`) is a matter of noise: a flipped bit in
//! a counter says little about a protocol.

use super::class::Class;
use super::fault::{Fault, Owner, Target, Who};
use super::values::{Values, variables};
use super::walk::{self, Part};
use crate::footprint::stable::Assigned;
use crate::ir::{Action, Channel, Expr, Model, Pc, ProctypeId, Scalar, Shown, Variable};
use std::collections::BTreeMap;

/// Values of a variable beyond which "another of its values" is no state any more.
///
/// Beyond it a variable is a number, not a state of a state machine.
const VALUES_MAX: usize = 16;

/// Every fault that can happen to a model, kind by kind.
#[must_use]
pub fn catalogue(model: &Model) -> Vec<Fault> {
    let values = Values::new(model);
    let mut found = Vec::new();
    for class in Class::ALL {
        let targets = match class {
            Class::Loss | Class::Duplicate | Class::Reorder | Class::Corrupt | Class::Wrong | Class::Delay => {
                channels(model, &values, class)
            }
            Class::Stop | Class::Pause | Class::Restart | Class::Early => processes(model, class),
            Class::Irregular => {
                let mut all = irregular_variables(model, &values);
                all.extend(jumps(model));
                all
            }
            Class::Flip | Class::Stuck => data(model, &values, class),
        };
        found.extend(targets.into_iter().map(|(component, target, by_name)| Fault {
            name: format!("{class}:{component}"),
            class,
            target,
            by_name,
        }));
    }
    tell_apart(&mut found);
    found
}

/// Numbers faults of the same name: a label of an inline that is used twice, a variable that several blocks declare.
fn tell_apart(faults: &mut [Fault]) {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for fault in faults {
        let count = seen.entry(fault.name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            fault.name = format!("{}.{count}", fault.name);
        }
    }
}

/// A component's name, what it is, and whether it takes part only by name.
type Candidate = (String, Target, bool);

fn channels(model: &Model, values: &Values<'_>, class: Class) -> Vec<Candidate> {
    let global = model.channels.iter().enumerate().filter(|(index, channel)| match class {
        Class::Wrong => values.kinds_sent(*index) > 1 && !values.sent(*index).is_empty(),
        _ => applies(class, channel),
    });
    let mut found: Vec<Candidate> =
        global.map(|(index, channel)| (channel.name.clone(), Target::Channel(Owner::Model, index), false)).collect();
    for (number, proctype) in model.proctypes.iter().enumerate() {
        // What is sent on such a channel is known only while it exists, and what waits has no place to wait.
        let usable = |channel: &Channel| !matches!(class, Class::Wrong | Class::Delay) && applies(class, channel);
        for (index, channel) in proctype.channels.iter().enumerate().filter(|(_, channel)| usable(channel)) {
            let name = format!("{}:{}", plain(&proctype.name), channel.name);
            found.push((name, Target::Channel(Owner::Proctype(number), index), false));
        }
    }
    found
}

fn applies(class: Class, channel: &Channel) -> bool {
    match class {
        Class::Duplicate | Class::Reorder => channel.capacity > 1,
        Class::Delay => channel.capacity > 0,
        Class::Corrupt => channel.fields.iter().any(|(_, shown)| *shown != Shown::Channel),
        _ => true,
    }
}

fn processes(model: &Model, class: Class) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (number, proctype) in model.proctypes.iter().enumerate() {
        let applies = match class {
            Class::Restart => restarts(model, number),
            Class::Early => waits_for_timeout(model, number),
            _ => true,
        };
        if applies {
            let named = who(model, number).into_iter();
            found.extend(named.map(|(name, who)| (name, Target::Process(who), false)));
        }
        debug_assert!(!proctype.states.is_empty(), "a process stands somewhere");
    }
    found
}

/// The processes of a proctype by name: those that exist from the start one by one, all others together.
fn who(model: &Model, proctype: ProctypeId) -> Vec<(String, Who)> {
    let name = plain(&model.proctypes[proctype].name);
    let pids: Vec<u32> = (0..).zip(&model.active).filter(|(_, of)| **of == proctype).map(|(pid, _)| pid).collect();
    let started = model.features.run && is_started(model, proctype);
    let single = |pid: &u32| {
        let alone = pids.len() == 1 && !started;
        (if alone { name.to_owned() } else { format!("{name}:{pid}") }, Who { proctype, pid: Some(*pid) })
    };
    let mut found: Vec<(String, Who)> = pids.iter().map(single).collect();
    if started {
        found.push((name.to_owned(), Who { proctype, pid: None }));
    }
    found
}

fn is_started(model: &Model, proctype: ProctypeId) -> bool {
    let mut found = false;
    walk::model(&mut model.clone(), &mut |_, part| {
        found |= matches!(part, Part::Expr(Expr::Run(run)) if run.proctype == proctype);
    });
    found
}

/// Whether the first values of a process's parameters are still there when it starts again.
///
/// A restart resets variables to their first values; a parameter that was overwritten has none any
/// more.
fn restarts(model: &Model, proctype: ProctypeId) -> bool {
    let assigned = Assigned::new(model);
    let declared = &model.proctypes[proctype];
    declared.locals[..declared.parameters].iter().all(|parameter| !assigned.contains(proctype, parameter.offset))
}

/// Whether a proctype waits for `timeout` somewhere.
fn waits_for_timeout(model: &Model, proctype: ProctypeId) -> bool {
    (0..model.proctypes[proctype].states.len()).any(|pc| asks_for_timeout(model, proctype, pc))
}

/// Whether a statement that may come next in a control state reads `timeout`.
#[must_use]
pub fn asks_for_timeout(model: &Model, proctype: ProctypeId, pc: Pc) -> bool {
    let states = &model.proctypes[proctype].states;
    let mut found = false;
    for edge in &states[pc].edges {
        let first = match &edge.action {
            Action::DStep { entry, .. } => states[*entry].edges.iter().collect(),
            _ => vec![edge],
        };
        for edge in first {
            walk::action(&mut edge.action.clone(), None, &mut |_, part| {
                found |= matches!(part, Part::Expr(Expr::Timeout));
            });
        }
    }
    found
}

fn irregular_variables(model: &Model, values: &Values<'_>) -> Vec<Candidate> {
    let fits = |owner, index, variable: &Variable| {
        let name = (owner, index);
        match &variable.shown {
            Shown::Mtype(_) => Some(values.known(name).len() < 2),
            Shown::Number if variable.scalar != Scalar::Bit => {
                let few = values.enumerated(name).is_some_and(|values| values.len() <= VALUES_MAX);
                (values.known(name).len() > 1).then_some(!few)
            }
            _ => None,
        }
    };
    by_variable(model, fits)
}

fn data(model: &Model, values: &Values<'_>, class: Class) -> Vec<Candidate> {
    by_variable(model, |owner, index, variable| match class {
        Class::Flip => Some(variable.scalar != Scalar::Bit).filter(|_| variable.shown != Shown::Channel),
        _ => {
            let kept = variable.shown != Shown::Channel && values.is_stored((owner, index));
            kept.then_some(!matches!(variable.shown, Shown::Mtype(_)) && variable.scalar != Scalar::Bit)
        }
    })
}

/// The variables for which `fits` has an answer: whether they take part only by name.
fn by_variable(model: &Model, fits: impl Fn(Owner, usize, &Variable) -> Option<bool>) -> Vec<Candidate> {
    let owners = std::iter::once(Owner::Model).chain((0..model.proctypes.len()).map(Owner::Proctype));
    let mut found = Vec::new();
    for owner in owners {
        let shown = variables(model, owner).iter().enumerate().filter(|(_, variable)| !variable.hidden);
        for (index, variable) in shown {
            let Some(by_name) = fits(owner, index, variable) else { continue };
            let name = match owner {
                Owner::Model => variable.name.clone(),
                Owner::Proctype(number) => format!("{}:{}", plain(&model.proctypes[number].name), variable.name),
            };
            found.push((name, Target::Variable(owner, index), by_name));
        }
    }
    found
}

/// Jumps to labels. Labels that speak to the checker (`end`, `progress`, `accept`) are no points of the model.
fn jumps(model: &Model) -> Vec<Candidate> {
    let speaks = |label: &str| ["end", "progress", "accept"].iter().any(|prefix| label.starts_with(prefix));
    let mut found = Vec::new();
    for (number, proctype) in model.proctypes.iter().enumerate() {
        let inside = inside_d_steps(model, number);
        for (label, pc) in proctype.labels.iter().filter(|(label, pc)| !speaks(label) && !inside.contains(pc)) {
            for (name, who) in who(model, number) {
                found.push((format!("{name}@{label}"), Target::Label(who, *pc), false));
            }
        }
    }
    found
}

/// Control states in which no process ever stands.
fn inside_d_steps(model: &Model, proctype: ProctypeId) -> Vec<Pc> {
    let edges = model.proctypes[proctype].states.iter().flat_map(|state| &state.edges);
    let inside = edges.filter_map(|edge| match &edge.action {
        Action::DStep { inside, .. } => Some(inside),
        _ => None,
    });
    inside.flatten().copied().collect()
}

/// A name without the colons of `:init:`.
#[must_use]
pub fn plain(name: &str) -> &str {
    name.trim_matches(':')
}
