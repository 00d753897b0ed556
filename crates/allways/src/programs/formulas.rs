//! Formulas, judged by the explored graph: first by the reduced one, then by that of all schedules where the order of
//! independent steps matters.
//!
//! The reduction keeps every run up to stuttering, so a formula without `X` that no run of the reduced graph violates holds, and a
//! run that violates it is a run of the program. Weak fairness depends on the order of independent steps: that only unfair runs
//! violate a formula is known of the whole graph alone.

use checker::{Engine, Formula, Outcome, Programs, Refutation, search_by};
use explore::Fairness;
use explore::graph::{ExploredGraph, Limits, Mode};
use trace::Schedule;

/// What is known of a formula.
pub enum Judgement {
    /// No run violates it; no fair one, if only these count.
    Holds {
        /// A proposition that is never true, and without which it says nothing.
        vacuous: Option<String>,
    },
    /// This run does.
    Violated {
        /// The run.
        schedule: Schedule,
        /// Whether no fair run does.
        needs_fairness: bool,
    },
    /// A limit came first.
    Cut,
}

/// The same, where the reduced graph may not decide.
enum Finding {
    Known(Judgement),
    /// No fair run of the reduced graph violates it, but this one.
    Unfair(Schedule),
}

/// The engine for a search with formulas: one with the next-time operator tells steps apart that the reduction takes for one.
pub fn engine(programs: &Programs, engine: &Engine) -> Engine {
    match programs.formulas().iter().all(|formula| formula.is_stutter_invariant) {
        true => engine.clone(),
        false => engine.unreduced(),
    }
}

/// Judges all formulas by what a search has explored. Where that does not decide, everything is searched without reduction,
/// and the outcome and the engine are those of that search.
pub fn judge(
    programs: &mut Programs,
    is_fair: bool,
    (engine, outcome): (&mut Engine, &mut Outcome),
    limits: &mut Limits<'_>,
) -> Vec<Judgement> {
    let Some(graph) = &outcome.report.graph else { return Vec::new() };
    let is_reduced = matches!(engine, Engine::Graph { mode: Mode::Reduced, .. });
    let findings = find_all(programs, graph, is_fair, is_reduced);
    if findings.iter().all(|finding| matches!(finding, Finding::Known(_))) {
        return findings.into_iter().map(|finding| finding.cut(is_fair)).collect();
    }
    let (known, all) = (programs.learnt(), engine.unreduced());
    let whole = search_by(&all, programs, limits);
    let Some(graph) = &whole.report.graph else {
        // A schedule belongs to the refinement of its search.
        programs.know(&known);
        return findings.into_iter().map(|finding| finding.cut(is_fair)).collect();
    };
    let findings = find_all(programs, graph, is_fair, false);
    (*engine, *outcome) = (all, whole);
    findings.into_iter().map(|finding| finding.cut(is_fair)).collect()
}

fn find_all(programs: &Programs, graph: &ExploredGraph, is_fair: bool, is_reduced: bool) -> Vec<Finding> {
    programs.formulas().iter().map(|formula| find(programs, formula, graph, is_fair, is_reduced)).collect()
}

fn find(programs: &Programs, formula: &Formula, graph: &ExploredGraph, is_fair: bool, is_reduced: bool) -> Finding {
    let vacuous = || formula.never_triggered(graph.seen()).map(str::to_owned);
    let holds = || Finding::Known(Judgement::Holds { vacuous: vacuous() });
    let unfair = match programs.refutation(formula, graph, Fairness::Off) {
        Refutation::Found(schedule) => schedule,
        Refutation::Impossible => return holds(),
        Refutation::Cut => return Finding::Known(Judgement::Cut),
    };
    match programs.refutation(formula, graph, Fairness::Weak) {
        Refutation::Found(fair) => {
            let schedule = if is_fair { fair } else { unfair };
            Finding::Known(Judgement::Violated { schedule, needs_fairness: false })
        }
        Refutation::Impossible if is_reduced => Finding::Unfair(unfair),
        Refutation::Impossible if is_fair => holds(),
        Refutation::Impossible => Finding::Known(Judgement::Violated { schedule: unfair, needs_fairness: true }),
        Refutation::Cut => Finding::Known(Finding::Unfair(unfair).cut(is_fair)),
    }
}

impl Finding {
    /// What is known if nothing more is searched.
    fn cut(self, is_fair: bool) -> Judgement {
        match self {
            Self::Known(judgement) => judgement,
            Self::Unfair(_) if is_fair => Judgement::Cut,
            Self::Unfair(schedule) => Judgement::Violated { schedule, needs_fairness: false },
        }
    }
}
