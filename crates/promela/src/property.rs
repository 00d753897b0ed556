//! Properties of whole runs, as monitors over propositions of the model.
//!
//! A property is checked as the *violations* that a monitor accepts: an LTL formula is negated and
//! translated, a never claim is taken as it is, progress and acceptance are fixed monitors. The
//! engine searches the product for an accepted run (decision 5).

use crate::ir::{Action, Claim, ClaimKind, Expr, Model, NeverClaim, Unary};
use explore::{Failure, Monitor, MonitorEdge, MonitorState};
use trace::FailureKind;

/// A property of whole runs, ready to be searched for a violation.
///
/// `stutters` decides whether the reduction may be on: properties without next-time cannot tell how
/// often a state is repeated (Peled and Wilke, 1997), so representatives of interleavings are
/// enough.
#[derive(Clone, Debug)]
pub struct RunProperty {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: FailureKind,
    /// Accepts the runs that violate it.
    pub monitor: Monitor,
    /// What the monitor reads: bit `i` of a valuation is `propositions[i]`.
    pub propositions: Vec<Expr>,
    /// Whether interleavings may be left out: the property cannot tell how often a state repeats.
    pub stutters: bool,
    /// Whether it is worth checking unasked: the model has the labels that it is about.
    pub expected: bool,
    /// Propositions that must become true somewhere for the property to say anything, with their texts.
    pub triggers: Vec<(u32, String)>,
}

impl RunProperty {
    /// Whether searching for violations looks at every state, so that what was not seen does not happen.
    ///
    /// A monitor that can always stay in its initial state keeps the whole state space in the
    /// product.
    #[must_use]
    pub fn sees_every_state(&self) -> bool {
        let initial = &self.monitor.states[self.monitor.initial as usize];
        let waits = |edge: &&MonitorEdge| edge.to == self.monitor.initial;
        // It waits in its initial state whatever it reads: for each way out there is a way to stay.
        initial.edges.iter().filter(waits).any(|edge| edge.must_hold == 0 && edge.must_fail == 0)
    }

    /// What a violation of it is called.
    #[must_use]
    pub fn failure(&self) -> Failure {
        let message = match self.kind {
            FailureKind::Accept => "acceptance cycle".to_owned(),
            FailureKind::Progress => "non-progress cycle".to_owned(),
            FailureKind::Never => "the claim is matched".to_owned(),
            _ => "the formula does not hold".to_owned(),
        };
        Failure { kind: self.kind, message, fatal: true, property: None }
    }
}

/// Why a claim cannot be checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported(
    /// The reason, for people.
    pub String,
);

/// Cycles through `accept` labels of processes; `None` if there are none.
///
/// SPIN's `-a`: a cycle through an accepting state is what must not happen.
#[must_use]
pub fn acceptance(model: &Model) -> Option<RunProperty> {
    labelled(model, |state| state.accept).then(|| RunProperty {
        name: FailureKind::Accept.to_string(),
        kind: FailureKind::Accept,
        // A run that ends with a process at such a label stays there for ever: SPIN's "accept stutter".
        monitor: Monitor::again_and_again(0),
        propositions: vec![Expr::Accepting],
        stutters: true,
        expected: true,
        triggers: Vec::new(),
    })
}

/// Cycles without progress. Without any `progress` label every cycle is one.
///
/// SPIN's `-l` and `np_`: an infinite run on which progress states occur only finitely often. Runs
/// that end are not infinite, hence `on_infinite_runs`.
#[must_use]
pub fn progress(model: &Model) -> RunProperty {
    RunProperty {
        name: FailureKind::Progress.to_string(),
        kind: FailureKind::Progress,
        monitor: Monitor::never_again(0).on_infinite_runs(),
        propositions: vec![Expr::Unary(Unary::Not, Box::new(Expr::NonProgress))],
        stutters: true,
        expected: labelled(model, |state| state.progress),
        triggers: Vec::new(),
    }
}

fn labelled(model: &Model, label: impl Fn(&crate::ir::ControlState) -> bool) -> bool {
    model.proctypes.iter().flat_map(|proctype| &proctype.states).any(label)
}

/// The property of an `ltl` block or a never claim.
///
/// # Errors
/// If it has too many propositions, or its automaton would be too large.
pub fn claim(claim: &Claim) -> Result<RunProperty, Unsupported> {
    match &claim.kind {
        ClaimKind::Ltl { formula, propositions, texts } => ltl(&claim.name, formula, propositions, texts),
        ClaimKind::Never(never) => self::never(&claim.name, never),
    }
}

fn ltl(name: &str, formula: &ltl::Formula, all: &[Expr], texts: &[String]) -> Result<RunProperty, Unsupported> {
    let violations = formula.clone().not();
    let automaton = ltl::translate(&violations).map_err(|error| Unsupported(error.to_string()))?;
    let propositions = automaton.propositions.iter().map(|atom| all[*atom as usize].clone()).collect();
    let negative = formula.negative_atoms();
    let triggers = automaton
        .propositions
        .iter()
        .enumerate()
        .filter(|(_, atom)| negative.contains(atom))
        .map(|(bit, atom)| (bit as u32, texts[*atom as usize].clone()))
        .collect();
    Ok(RunProperty {
        name: name.to_owned(),
        kind: FailureKind::Ltl,
        monitor: Monitor::from(&automaton),
        propositions,
        stutters: formula.is_stutter_invariant_syntactically(),
        expected: true,
        triggers,
    })
}

/// SPIN's semantics: a claim is matched if it reaches its end, or accepts for ever. It moves before
/// the model does, on every state including the initial one.
fn never(name: &str, claim: &NeverClaim) -> Result<RunProperty, Unsupported> {
    let mut builder = NeverBuilder { propositions: Vec::new(), violation: claim.states.len() as u32 };
    let mut states = Vec::new();
    for (pc, state) in claim.states.iter().enumerate() {
        let edges = builder.edges(&state.edges)?;
        states.push(MonitorState { edges, violates: state.end || pc == claim.closing });
    }
    states.push(MonitorState { edges: Vec::new(), violates: true });
    let accepting: Vec<u32> =
        (0..claim.states.len()).filter(|pc| claim.states[*pc].accept).map(|pc| pc as u32).collect();
    let monitor = Monitor { states, initial: claim.entry as u32, acceptance_sets: 0, infinite_only: false };
    Ok(RunProperty {
        name: name.to_owned(),
        kind: FailureKind::Never,
        monitor: monitor.with_accepting_states(&accepting),
        propositions: builder.propositions,
        // Whoever writes a claim by hand may count steps.
        stutters: false,
        expected: true,
        triggers: Vec::new(),
    })
}

struct NeverBuilder {
    propositions: Vec<Expr>,
    violation: u32,
}

impl NeverBuilder {
    /// `else` of a claim is the conjunction of the negated siblings; an assertion in a claim is an
    /// edge to a violating state.
    fn edges(&mut self, edges: &[crate::ir::Edge]) -> Result<Vec<MonitorEdge>, Unsupported> {
        let mut found = Vec::new();
        let (mut siblings, mut always) = (0, false);
        for edge in edges {
            let to = edge.target as u32;
            match &edge.action {
                Action::Condition(Expr::Constant(0)) => {}
                Action::Condition(Expr::Constant(_)) | Action::Print(_) => {
                    always = true;
                    found.push(MonitorEdge { to, ..MonitorEdge::default() });
                }
                Action::Condition(condition) => {
                    let bit = self.proposition(condition)?;
                    siblings |= bit;
                    found.push(MonitorEdge { must_hold: bit, to, ..MonitorEdge::default() });
                }
                Action::Assert { condition, .. } => {
                    let bit = self.proposition(condition)?;
                    always = true;
                    found.push(MonitorEdge { must_hold: bit, to, ..MonitorEdge::default() });
                    found.push(MonitorEdge { must_fail: bit, to: self.violation, ..MonitorEdge::default() });
                }
                Action::Else if !always => {
                    found.push(MonitorEdge { must_fail: siblings, to, ..MonitorEdge::default() });
                }
                Action::Else | Action::Die => {}
                _ => return Err(Unsupported("a never claim with a statement that is not a condition".to_owned())),
            }
        }
        Ok(found)
    }

    fn proposition(&mut self, condition: &Expr) -> Result<u64, Unsupported> {
        let text = format!("{condition:?}");
        let known = self.propositions.iter().position(|known| format!("{known:?}") == text);
        let index = known.unwrap_or_else(|| {
            self.propositions.push(condition.clone());
            self.propositions.len() - 1
        });
        if index < 64 {
            Ok(1 << index)
        } else {
            Err(Unsupported("a never claim with more than 64 conditions".to_owned()))
        }
    }
}
