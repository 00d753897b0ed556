//! Formulas of linear temporal logic over programs: searched in the explored graph, and judged again on executed runs.
//!
//! Atoms are propositions; their truth is kept with each state of the graph, and steps that change what they ask for are visible
//! (C2). So a reduced graph has every run up to stuttering; whether a run is fair, the order of independent steps decides, which only
//! the whole graph has.

use crate::system::formula::{Formula, Refutation};
use crate::system::never::named;
use crate::system::programs::Programs;
use explore::graph::{ExploredGraph, FootprintSystem};
use explore::{Bounds, Control, Fairness, Monitor, Options, find_cycle, search_monitored};
use proposition::Proposition;
use trace::Schedule;

impl Programs {
    /// Adds a formula that every run has to satisfy; `NAME := FORMULA` gives it a name.
    ///
    /// # Errors
    /// If it cannot be read, or one of its atoms names what is not there.
    pub fn add_formula(&mut self, text: &str) -> Result<(), String> {
        let (name, text) = named(text);
        let parsed = ltl::parse(text).map_err(|error| error.to_string())?;
        let bits: Vec<u32> = parsed.atoms.iter().map(|atom| self.observe(&atom.text)).collect::<Result<_, _>>()?;
        let automaton = ltl::translate(&parsed.formula.clone().not()).map_err(|error| error.to_string())?;
        let monitor = Monitor::observing(&automaton, |atom| bits[atom as usize]);
        let is_stutter_invariant = parsed.formula.is_stutter_invariant_syntactically();
        let trigger = |atom: u32| (bits[atom as usize], parsed.atoms[atom as usize].text.clone());
        let triggers = parsed.formula.negative_atoms().into_iter().map(trigger).collect();
        let (name, text) = (name.to_owned(), text.to_owned());
        self.workload.formulas.push(Formula { name, text, is_stutter_invariant, triggers, monitor });
        Ok(())
    }

    /// Adds a proposition whose truth is kept with each state; its bit.
    pub(crate) fn observe(&mut self, text: &str) -> Result<u32, String> {
        let told = |problem: proposition::Problem| problem.shown(text);
        let proposition = Proposition::parse(text).map_err(told)?;
        self.workload.facts(&self.state, |_, facts| proposition.verify(facts)).map_err(told)?;
        self.add_proposition(text, proposition).map_err(told)?;
        self.workload.forbidden.atoms += 1;
        Ok(self.workload.forbidden.all.len() as u32 - 1)
    }

    /// The formulas.
    #[must_use]
    pub fn formulas(&self) -> &[Formula] {
        &self.workload.formulas
    }

    /// A run of an explored graph that violates a formula; among the weakly fair ones, or all. The search ends with the budget.
    #[must_use]
    pub fn refutation(&self, formula: &Formula, graph: &ExploredGraph, fairness: Fairness) -> Refutation {
        let (time, bytes) = self.budget().left();
        let options = Options { bounds: Bounds { time, bytes, ..Bounds::default() }, ..Options::default() };
        let control = Control { interrupt: Some(self.budget().interrupt()), ..Control::default() };
        let (Formula { monitor, .. }, failure) = (formula, formula.failure());
        let outcome = match monitor.is_safety() {
            true => search_monitored(graph, monitor, 0, failure, &options, control).outcome,
            false => find_cycle(graph, monitor, 0, failure, fairness, &options, control).outcome,
        };
        match outcome.violations.first() {
            Some(violation) => Refutation::Found(graph.in_system_numbers(&violation.schedule)),
            None if outcome.complete() => Refutation::Impossible,
            None => Refutation::Cut,
        }
    }

    /// Whether a schedule, executed again, violates a formula: it comes back to where its cycle begins, or ends where nothing but
    /// faults can happen, and the truth of the propositions on the way is what the formula excludes.
    pub fn refutes(&mut self, formula: &Formula, schedule: &Schedule) -> bool {
        let mut reached = self.initial();
        let (mut valuations, mut states) = (vec![reached.valuation], vec![reached.fingerprint]);
        for choice in &schedule.choices {
            let Some(taken) = self.step(&reached.state, *choice) else { return false };
            reached = taken.reached;
            valuations.push(reached.valuation);
            states.push(reached.fingerprint);
        }
        if let Some(start) = schedule.cycle_start {
            let is_stutter = start + 1 >= states.len();
            let closes = if is_stutter { reached.is_end() } else { states[start] == reached.fingerprint };
            if !closes {
                return false;
            }
            if !is_stutter {
                valuations.pop();
            }
        }
        formula.monitor.accepts(&valuations, schedule.cycle_start)
    }
}
