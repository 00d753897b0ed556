//! Which faults the user wants, and how many of them.

use super::catalogue::{catalogue, plain};
use super::class::Class;
use super::fault::Fault;
use crate::ir::{Expr, Model};
use trace::similar::closest;

/// Most faults that one run may meet: what has happened so far is part of each state.
///
/// Eight slots of 16 bits are one `u128`, which names a part of the state space.
pub const BUDGET_MAX: u32 = 8;

/// Which faults may happen, how many of them, and when.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// How many in one run, all kinds together; at most [`BUDGET_MAX`].
    pub budget: u32,
    /// How many of one kind.
    pub class_budgets: Vec<(Class, u32)>,
    /// Only these kinds, components or faults; all, if there are none.
    pub only: Vec<String>,
    /// None of these.
    pub except: Vec<String>,
    /// No fault before this has been true.
    pub after: Option<Expr>,
    /// Whether everything that lasts is repaired in the end.
    pub heals: bool,
    /// Global variables that a restart resets, too.
    pub reset: Vec<String>,
    /// Whether a state remembers which faults have happened, or only how many.
    pub remembers: bool,
}

/// Why a plan does not fit a model: a line, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unfit {
    /// What is wrong.
    pub problem: String,
    /// What helps, if anything is known to.
    pub help: Option<String>,
}

impl Plan {
    /// The faults of a model that the plan allows.
    ///
    /// # Errors
    /// If a name of the plan means nothing in this model, or nothing is left.
    pub fn select(&self, model: &Model) -> Result<Vec<Fault>, Unfit> {
        let all = catalogue(model);
        for pattern in self.only.iter().chain(&self.except) {
            known(pattern, &all, model)?;
        }
        // A whole name means that fault alone, although it may be the beginning of others.
        let exact = |pattern: &String| all.iter().any(|fault| fault.name == *pattern);
        let means = |pattern: &String, fault: &Fault| match exact(pattern) {
            true => fault.name == *pattern,
            false => matches(pattern, fault),
        };
        let asked = |fault: &Fault| match self.only.is_empty() {
            true => !fault.by_name,
            false => self.only.iter().any(|pattern| means(pattern, fault) && !(fault.by_name && is_class(pattern))),
        };
        let unwanted = |fault: &Fault| self.except.iter().any(|pattern| means(pattern, fault));
        let selected: Vec<Fault> = all.iter().filter(|fault| asked(fault) && !unwanted(fault)).cloned().collect();
        if selected.is_empty() {
            let problem = "no fault is left that can happen to this model".to_owned();
            return Err(Unfit { problem, help: Some("loosen --only and --except".to_owned()) });
        }
        Ok(selected)
    }
}

fn is_class(pattern: &str) -> bool {
    Class::named(pattern).is_some()
}

/// Whether a pattern means a fault: by kind, by component (arrays and processes also without their number), or whole.
fn matches(pattern: &str, fault: &Fault) -> bool {
    match pattern.split_once(':') {
        Some((class, component)) if is_class(class) => {
            fault.class.name() == class && means(component, fault.component())
        }
        _ if is_class(pattern) => fault.class.name() == pattern,
        _ => means(pattern, fault.component()),
    }
}

/// Whether a name means a component: the whole of it, or its beginning up to a separator.
fn means(name: &str, component: &str) -> bool {
    let rest = component.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '[', '@', '.']))
}

/// Whether a pattern means something.
fn known(pattern: &str, all: &[Fault], model: &Model) -> Result<(), Unfit> {
    if all.iter().any(|fault| matches(pattern, fault)) {
        return Ok(());
    }
    let (class, component) = match pattern.split_once(':') {
        Some((class, component)) if is_class(class) => (class, Some(component)),
        _ => (pattern, None),
    };
    match Class::named(class) {
        Some(class) if component.is_none() || !all.iter().any(|fault| fault.class == class) => {
            let problem = format!("`{pattern}` cannot happen to this model");
            Err(Unfit { problem, help: Some(format!("{class} needs {}", class.needs())) })
        }
        Some(class) => Err(unknown_component(pattern, class, component.unwrap_or_default(), all, model)),
        None => Err(unknown(pattern, all)),
    }
}

/// A kind that exists, with something that it cannot happen to.
fn unknown_component(pattern: &str, class: Class, component: &str, all: &[Fault], model: &Model) -> Unfit {
    let of_class: Vec<&str> = all.iter().filter(|fault| fault.class == class).map(Fault::component).collect();
    if let Some(near) = closest(component, of_class.iter().copied()) {
        return Unfit { problem: format!("there is no fault `{pattern}`"), help: Some(did_you_mean(class, near)) };
    }
    let names = named_things(model);
    let problem = match names.iter().any(|name| name == component) {
        true => format!("`{pattern}` cannot happen: {class} needs {}", class.needs()),
        false => format!("there is no fault `{pattern}`: the model has no `{component}`"),
    };
    Unfit { problem, help: Some(format!("{class} can happen to: {}", of_class.join(", "))) }
}

fn did_you_mean(class: Class, near: &str) -> String {
    format!("did you mean `{class}:{near}`?")
}

fn unknown(pattern: &str, all: &[Fault]) -> Unfit {
    let names = all.iter().flat_map(|fault| [fault.name.as_str(), fault.component()]);
    let names = names.chain(Class::ALL.map(Class::name));
    let help = match closest(pattern, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("kinds of fault: {}", Class::ALL.map(Class::name).join(", ")),
    };
    Unfit { problem: format!("`{pattern}` is neither a kind of fault nor a part of this model"), help: Some(help) }
}

/// Everything in a model that has a name.
fn named_things(model: &Model) -> Vec<String> {
    let channels = model.channels.iter().map(|channel| channel.name.clone());
    let globals = model.globals.iter().map(|variable| variable.name.clone());
    let proctypes = model.proctypes.iter().map(|proctype| plain(&proctype.name).to_owned());
    channels.chain(globals).chain(proctypes).collect()
}
