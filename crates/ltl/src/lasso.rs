//! Infinite words that end in a cycle, and what holds on them. The reference that automata are tested against.

use crate::formula::Formula;

/// The word `stem cycle cycle cycle ...`. Bit k of a letter is the truth of `Formula::Atom(k)`.
///
/// Two ω-regular languages that agree on all lassos are equal, so comparing formula and automaton
/// on random lassos tests the translation against the definition of truth.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lasso {
    letters: Vec<u64>,
    cycle_start: usize,
}

impl Lasso {
    /// A word from its two parts; `None` if the cycle is empty.
    pub fn new(stem: &[u64], cycle: &[u64]) -> Option<Lasso> {
        let letters = [stem, cycle].concat();
        (!cycle.is_empty()).then_some(Lasso { letters, cycle_start: stem.len() })
    }

    /// As `new`, for a cycle that is known to have a letter.
    pub(crate) fn around(stem: Vec<u64>, cycle: Vec<u64>) -> Lasso {
        debug_assert!(!cycle.is_empty());
        Lasso { cycle_start: stem.len(), letters: [stem, cycle].concat() }
    }

    /// Number of positions: the stem's and the cycle's.
    pub fn positions(&self) -> usize {
        self.letters.len()
    }

    /// The letter at a position.
    pub fn letter(&self, position: usize) -> u64 {
        self.letters[position]
    }

    /// The position read after this one.
    pub fn successor(&self, position: usize) -> usize {
        if position + 1 < self.letters.len() { position + 1 } else { self.cycle_start }
    }
}

/// Whether the word satisfies the formula, straight from the definition. Atoms from 64 on are false.
pub fn holds(formula: &Formula, lasso: &Lasso) -> bool {
    truth(formula, lasso)[0]
}

/// The truth of a formula at each position.
fn truth(formula: &Formula, lasso: &Lasso) -> Vec<bool> {
    let at_each = |value: &dyn Fn(usize) -> bool| -> Vec<bool> { (0..lasso.positions()).map(value).collect() };
    let parts: Vec<Vec<bool>> = formula.children().map(|child| truth(child, lasso)).collect();
    let a = |at: usize| parts[0][at];
    let b = |at: usize| parts[1][at];
    match formula {
        Formula::True => at_each(&|_| true),
        Formula::False => at_each(&|_| false),
        Formula::Atom(index) => at_each(&|at| *index < 64 && lasso.letter(at) >> index & 1 == 1),
        Formula::Not(_) => at_each(&|at| !a(at)),
        Formula::And(..) => at_each(&|at| a(at) && b(at)),
        Formula::Or(..) => at_each(&|at| a(at) || b(at)),
        Formula::Implies(..) => at_each(&|at| !a(at) || b(at)),
        Formula::Equiv(..) => at_each(&|at| a(at) == b(at)),
        Formula::Next(_) => at_each(&|at| a(lasso.successor(at))),
        Formula::Finally(_) => fixpoint(lasso, false, |at, later| a(at) || later),
        Formula::Globally(_) => fixpoint(lasso, true, |at, later| a(at) && later),
        Formula::Until(..) => fixpoint(lasso, false, |at, later| b(at) || a(at) && later),
        Formula::WeakUntil(..) => fixpoint(lasso, true, |at, later| b(at) || a(at) && later),
        Formula::Release(..) => fixpoint(lasso, true, |at, later| b(at) && (a(at) || later)),
    }
}

/// The least (from `false`) or greatest (from `true`) solution of "now = step(now, later)". Two rounds from the back settle
/// it: the first carries news around the cycle, the second to every position.
///
/// Until and its kin are least, weak until and release greatest fixpoints of their expansion laws;
/// on a lasso of n positions two sweeps from the back are enough.
fn fixpoint(lasso: &Lasso, from: bool, step: impl Fn(usize, bool) -> bool) -> Vec<bool> {
    let mut value = vec![from; lasso.positions()];
    for _ in 0..2 {
        for at in (0..lasso.positions()).rev() {
            value[at] = step(at, value[lasso.successor(at)]);
        }
    }
    value
}
