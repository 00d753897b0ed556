//! Which faults the user wants, from the command line to the model and into the counterexample's file and back.
//!
//! Saved in a counterexample as flags, since those are documented and a person can read and repeat
//! them; `from_options` of `options` is the same again.

use crate::fault_args::{FaultArgs, FaultCount};
use crate::load_error::{LoadError, paint};
use ltl::Formula;
use promela::diagnostic::render_all;
use promela::faults::{Class, Plan, Unfit};
use promela::ir::{Binary, ClaimKind, Expr, Unary};
use promela::lower::{Names, lower_ltl};
use promela::parse::{self, Parsed};
use report::Colour;

/// The faults that the user wants to happen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// How many in one run.
    pub budget: u32,
    class_budgets: Vec<(Class, u32)>,
    only: Vec<String>,
    except: Vec<String>,
    /// No fault before this has been true.
    pub after: Option<String>,
    heals: bool,
    reset: Vec<String>,
    /// Whether states remember which faults have happened: only a campaign needs that.
    remembers: bool,
}

impl Wanted {
    /// From flags; `None` if no fault is wanted.
    ///
    /// # Errors
    /// If there are flags about faults, but none may happen.
    pub fn new(counts: &[FaultCount], scope: &FaultArgs) -> Result<Option<Self>, String> {
        let scoped = !scope.only.is_empty()
            || !scope.except.is_empty()
            || !scope.reset.is_empty()
            || scope.after.is_some()
            || scope.heals;
        if counts.is_empty() {
            let help = "say how many faults may happen: --faults 1";
            return if scoped { Err(format!("no fault may happen yet\n  = help: {help}")) } else { Ok(None) };
        }
        let of_kinds: Vec<(Class, u32)> = counts.iter().filter_map(|count| Some((count.class?, count.count))).collect();
        let total = counts.iter().rev().find(|count| count.class.is_none()).map(|count| count.count);
        let most = promela::faults::BUDGET_MAX;
        // Kinds alone: nothing else may happen than what they say.
        let budget = total.unwrap_or_else(|| of_kinds.iter().map(|(_, count)| count).sum::<u32>().min(most));
        let mut only = scope.only.clone();
        if total.is_none() && only.is_empty() {
            only = of_kinds.iter().map(|(class, _)| class.name().to_owned()).collect();
        }
        Ok(Some(Self {
            budget,
            class_budgets: of_kinds,
            only,
            except: scope.except.clone(),
            after: scope.after.clone(),
            heals: scope.heals,
            reset: scope.reset.clone(),
            remembers: false,
        }))
    }

    /// The same, with states that remember which faults have happened.
    pub fn remembering(self) -> Self {
        Self { remembers: true, ..self }
    }

    /// As the model wants it.
    pub fn plan(&self, after: Option<Expr>) -> Plan {
        Plan {
            budget: self.budget,
            class_budgets: self.class_budgets.clone(),
            only: self.only.clone(),
            except: self.except.clone(),
            after,
            heals: self.heals,
            reset: self.reset.clone(),
            remembers: self.remembers,
        }
    }

    /// As a counterexample's file keeps it: flags, one for each value.
    pub fn options(&self) -> Vec<String> {
        let mut options = vec![format!("--faults={}", self.budget)];
        options.extend(self.class_budgets.iter().map(|(class, count)| format!("--faults={class}={count}")));
        options.extend(self.only.iter().map(|name| format!("--only={name}")));
        options.extend(self.except.iter().map(|name| format!("--except={name}")));
        options.extend(self.after.iter().map(|text| format!("--after={text}")));
        options.extend(self.heals.then(|| "--heals".to_owned()));
        options.extend(self.reset.iter().map(|name| format!("--reset={name}")));
        options
    }

    /// From a counterexample's file; `None` if no fault was allowed.
    pub fn from_options(options: &[String]) -> Option<Self> {
        let mut wanted = Self::default();
        let mut found = false;
        for option in options {
            let (flag, value) = option.split_once('=').unwrap_or((option, ""));
            match flag {
                "--faults" => found |= wanted.take_count(value),
                "--only" => wanted.only.push(value.to_owned()),
                "--except" => wanted.except.push(value.to_owned()),
                "--after" => wanted.after = Some(value.to_owned()),
                "--heals" => wanted.heals = true,
                "--reset" => wanted.reset.push(value.to_owned()),
                _ => {}
            }
        }
        found.then_some(wanted)
    }

    fn take_count(&mut self, text: &str) -> bool {
        let most = promela::faults::BUDGET_MAX;
        match text.split_once('=') {
            Some((class, count)) => {
                let read = Class::named(class).zip(count.parse().ok());
                self.class_budgets.extend(read);
                read.is_some()
            }
            None => {
                let read = text.parse().ok().filter(|count| *count <= most);
                self.budget = read.unwrap_or(self.budget);
                read.is_some()
            }
        }
    }
}

/// A plan that does not fit, told.
pub fn unfit(unfit: Unfit) -> LoadError {
    let help = unfit.help.map(|help| format!("  = help: {help}\n")).unwrap_or_default();
    LoadError::Input(format!("error: {}\n{help}", unfit.problem))
}

/// The condition of `--after`, as the model reads it.
///
/// # Errors
/// If it is no condition.
pub fn condition(text: &str, parsed: &Parsed, names: &Names, colour: Colour) -> Result<Expr, LoadError> {
    let formula = parse::parse_ltl(text, parsed)
        .map_err(|failure| LoadError::Input(render_all(&failure.diagnostics, &failure.sources, paint(colour))))?;
    let kind = lower_ltl(names, &formula.value)
        .map_err(|diagnostics| LoadError::Input(render_all(&diagnostics, &formula.sources, paint(colour))))?;
    let expr = match &kind {
        ClaimKind::Ltl { formula, propositions, .. } => expression(formula, propositions),
        ClaimKind::Never(_) => None,
    };
    expr.ok_or_else(|| {
        let help = "  = help: name a label (server@ready) or a condition (up == 3)\n";
        LoadError::Input(format!("error: --after `{text}` speaks of more than one state\n{help}"))
    })
}

/// A formula without time as an expression.
fn expression(formula: &Formula, propositions: &[Expr]) -> Option<Expr> {
    let inner = |formula: &Formula| expression(formula, propositions).map(Box::new);
    let not = |inner| Box::new(Expr::Unary(Unary::Not, inner));
    Some(match formula {
        Formula::True => Expr::Constant(1),
        Formula::False => Expr::Constant(0),
        Formula::Atom(number) => propositions.get(*number as usize)?.clone(),
        Formula::Not(a) => Expr::Unary(Unary::Not, inner(a)?),
        Formula::And(a, b) => Expr::And(inner(a)?, inner(b)?),
        Formula::Or(a, b) => Expr::Or(inner(a)?, inner(b)?),
        Formula::Implies(a, b) => Expr::Or(not(inner(a)?), inner(b)?),
        Formula::Equiv(a, b) => Expr::Binary(Binary::Equal, not(inner(a)?), not(inner(b)?)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_wanted_is_read_again_from_a_counterexample() {
        let scope = FaultArgs {
            only: vec!["loss".to_owned(), "stop:P".to_owned()],
            except: vec!["q[1]".to_owned()],
            after: Some("x == 1".to_owned()),
            heals: true,
            reset: vec!["y".to_owned()],
            recover: Vec::new(),
        };
        let counts = [FaultCount { class: None, count: 3 }, FaultCount { class: Some(Class::Stop), count: 1 }];
        let wanted = Wanted::new(&counts, &scope).expect("fits").expect("faults are wanted");
        assert_eq!(Wanted::from_options(&wanted.options()), Some(wanted));
        assert_eq!(Wanted::from_options(&["-Ux".to_owned()]), None);
        assert_eq!(Wanted::from_options(&["--faults=many".to_owned()]), None);
    }

    #[test]
    fn kinds_with_a_number_are_all_that_happens() {
        let counts = [FaultCount { class: Some(Class::Loss), count: 2 }];
        let wanted = Wanted::new(&counts, &FaultArgs::default()).expect("fits").expect("faults are wanted");
        assert_eq!((wanted.budget, wanted.only), (2, vec!["loss".to_owned()]));
    }

    #[test]
    fn a_scope_without_a_number_is_refused() {
        let scope = FaultArgs { heals: true, ..FaultArgs::default() };
        assert!(Wanted::new(&[], &scope).is_err());
        assert_eq!(Wanted::new(&[], &FaultArgs::default()), Ok(None));
    }
}
