//! Formulas of linear temporal logic as plain immutable trees.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// A formula. Atoms are indices into a list the caller keeps: this crate never evaluates an atom.
///
/// Children are shared (`Arc`), so cloning is cheap and normal forms may share equal parts.
///
/// Immutable and shared: a walk that visits shared parts once must remember addresses, or nested
/// equivalences make it exponential (`is_deeper_than`, `Arena::insert`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Formula {
    /// Holds always.
    True,
    /// Never holds.
    False,
    /// The proposition with this index holds now.
    Atom(u32),
    /// Negation.
    Not(Arc<Formula>),
    /// Conjunction.
    And(Arc<Formula>, Arc<Formula>),
    /// Disjunction.
    Or(Arc<Formula>, Arc<Formula>),
    /// Implication.
    Implies(Arc<Formula>, Arc<Formula>),
    /// Equivalence.
    Equiv(Arc<Formula>, Arc<Formula>),
    /// In the next state.
    Next(Arc<Formula>),
    /// The left holds until the right does, and the right does at some point.
    Until(Arc<Formula>, Arc<Formula>),
    /// The right holds up to and including the point where the left does, or for ever (SPIN's `V`).
    Release(Arc<Formula>, Arc<Formula>),
    /// As until, but the right need never hold.
    WeakUntil(Arc<Formula>, Arc<Formula>),
    /// At some point from now on.
    Finally(Arc<Formula>),
    /// At every point from now on.
    Globally(Arc<Formula>),
}

use Formula::{And, Atom, Equiv, False, Finally, Globally, Implies, Next, Not, Or, Release, True, Until, WeakUntil};

/// Deepest formula that is parsed or translated; beyond it the recursive walks could exhaust the stack.
///
/// Recursive functions over formulas use some hundred bytes of stack for each level.
pub const DEPTH_MAX: usize = 1000;

/// Names follow the logic's own words; `not`, `and`... build, they do not simplify.
#[allow(clippy::should_implement_trait)]
impl Formula {
    /// `! self`
    pub fn not(self) -> Formula {
        Not(Arc::new(self))
    }

    /// `self && other`
    pub fn and(self, other: Formula) -> Formula {
        And(Arc::new(self), Arc::new(other))
    }

    /// `self || other`
    pub fn or(self, other: Formula) -> Formula {
        Or(Arc::new(self), Arc::new(other))
    }

    /// `self -> other`
    pub fn implies(self, other: Formula) -> Formula {
        Implies(Arc::new(self), Arc::new(other))
    }

    /// `self <-> other`
    pub fn equiv(self, other: Formula) -> Formula {
        Equiv(Arc::new(self), Arc::new(other))
    }

    /// `X self`
    pub fn next(self) -> Formula {
        Next(Arc::new(self))
    }

    /// `self U other`
    pub fn until(self, other: Formula) -> Formula {
        Until(Arc::new(self), Arc::new(other))
    }

    /// `self V other`
    pub fn release(self, other: Formula) -> Formula {
        Release(Arc::new(self), Arc::new(other))
    }

    /// `self W other`
    pub fn weak_until(self, other: Formula) -> Formula {
        WeakUntil(Arc::new(self), Arc::new(other))
    }

    /// `<> self`
    pub fn finally(self) -> Formula {
        Finally(Arc::new(self))
    }

    /// `[] self`
    pub fn globally(self) -> Formula {
        Globally(Arc::new(self))
    }

    /// The direct parts, left first.
    pub fn children(&self) -> impl Iterator<Item = &Formula> {
        let (left, right): (Option<&Formula>, Option<&Formula>) = match self {
            True | False | Atom(_) => (None, None),
            Not(f) | Next(f) | Finally(f) | Globally(f) => (Some(f), None),
            And(a, b) | Or(a, b) | Implies(a, b) | Equiv(a, b) | Until(a, b) | Release(a, b) | WeakUntil(a, b) => {
                (Some(a), Some(b))
            }
        };
        left.into_iter().chain(right)
    }

    /// Whether some path from the root is longer than `depth_max`. Walks without recursion, so it is safe on any formula.
    pub fn is_deeper_than(&self, depth_max: usize) -> bool {
        let mut seen: HashMap<*const Formula, usize> = HashMap::new();
        let mut frontier = vec![(self, 1)];
        while let Some((formula, depth)) = frontier.pop() {
            if depth > depth_max {
                return true;
            }
            // A shared part is walked again only if it lies deeper than before.
            let depth_seen = seen.entry(formula).or_insert(0);
            if depth > *depth_seen {
                *depth_seen = depth;
                frontier.extend(formula.children().map(|child| (child, depth + 1)));
            }
        }
        false
    }

    /// Number of operators and atoms, counting shared parts each time they occur.
    pub fn size(&self) -> usize {
        1 + self.children().map(Formula::size).sum::<usize>()
    }

    /// Whether the formula is free of `X`, and thus insensitive to stuttering.
    ///
    /// Partial-order reduction is sound for such formulas only. Some formulas with `X` are stutter-invariant as well;
    /// this check does not find them.
    ///
    /// Every LTL formula without next is stutter-invariant, and every stutter-invariant property
    /// has one (Peled and Wilke, 1997); deciding it for formulas with next is PSPACE-complete.
    pub fn is_stutter_invariant_syntactically(&self) -> bool {
        !matches!(self, Next(_)) && self.children().all(Formula::is_stutter_invariant_syntactically)
    }

    /// Indices of all atoms, ascending, each once.
    pub fn atoms(&self) -> Vec<u32> {
        fn collect(formula: &Formula, found: &mut Vec<u32>) {
            if let Atom(index) = formula {
                found.push(*index);
            }
            formula.children().for_each(|child| collect(child, found));
        }
        let mut found = Vec::new();
        collect(self, &mut found);
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Prints with a name for each atom; every compound part is in parentheses, so that any LTL tool reads it alike.
    pub fn display_with<'a, F: Fn(u32) -> String>(&'a self, name: &'a F) -> impl fmt::Display + 'a {
        Named { formula: self, name }
    }
}

struct Named<'a, F> {
    formula: &'a Formula,
    name: &'a F,
}

impl<F: Fn(u32) -> String> fmt::Display for Named<'_, F> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |formula| Named { formula, name: self.name };
        match self.formula {
            True => out.write_str("true"),
            False => out.write_str("false"),
            Atom(index) => out.write_str(&(self.name)(*index)),
            Not(f) => write!(out, "!{}", part(f)),
            Next(f) => write!(out, "X {}", part(f)),
            Finally(f) => write!(out, "<>{}", part(f)),
            Globally(f) => write!(out, "[]{}", part(f)),
            And(a, b) => write!(out, "({} && {})", part(a), part(b)),
            Or(a, b) => write!(out, "({} || {})", part(a), part(b)),
            Implies(a, b) => write!(out, "({} -> {})", part(a), part(b)),
            Equiv(a, b) => write!(out, "({} <-> {})", part(a), part(b)),
            Until(a, b) => write!(out, "({} U {})", part(a), part(b)),
            Release(a, b) => write!(out, "({} V {})", part(a), part(b)),
            WeakUntil(a, b) => write!(out, "({} W {})", part(a), part(b)),
        }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.display_with(&|index| format!("p{index}")).fmt(out)
    }
}
