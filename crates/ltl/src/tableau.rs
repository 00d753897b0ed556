//! Formula to transition-based generalised Buchi automaton.
//!
//! The method is Couvreur's tableau: a state is a set of formulas still to be satisfied; each formula unfolds into terms
//! "guard now, these formulas next, these untils put off", and a state's edges are the products of its formulas' terms.
//! An until's acceptance set holds the edges that do not put it off. Terms form antichains (a term with a stronger guard,
//! more left to do and more put off is dropped), which is where LTL2BA's small automata come from; the alternating
//! automaton of that method stays implicit. Chosen over classic GPVW because marks on edges need no extra states, and
//! over LTL2BA's explicit route because the promise of an until composes under products, so pruning can be done early.

use std::collections::HashMap;

use crate::automaton::{Automaton, Edge, State};
use crate::formula::{DEPTH_MAX, Formula};
use crate::guard::Guard;
use crate::normal::{Arena, Id, Node};
use crate::translate_error::{PROPOSITIONS_MAX, TranslateError};

/// Most terms of one formula or edges of one state.
const TERMS_MAX: usize = 4096;
/// Most states before reduction.
const STATES_MAX: usize = 2000;
/// Most edges before reduction.
const EDGES_MAX: usize = 50_000;
/// Most comparisons of terms: some tenths of a second.
const COMPARISONS_MAX: usize = 100_000_000;
/// Most formulas that can stand in states: the bits of a set.
const MEMBERS_MAX: usize = 128;
/// Most acceptance sets: the bits of an edge's marks.
const MARKS_MAX: usize = 64;

/// A set of formulas, by their member numbers.
type Set = u128;

/// One way to satisfy a formula now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Term {
    guard: Guard,
    next: Set,
    put_off: u64,
}

const NOTHING_TO_DO: Term = Term { guard: Guard::TRUE, next: 0, put_off: 0 };

impl Term {
    /// Whether the other term can do whatever this one can.
    fn is_dominated_by(&self, other: &Term) -> bool {
        other.next & !self.next == 0 && other.put_off & !self.put_off == 0 && self.guard.is_within(other.guard)
    }

    /// Number of literals, of formulas left to do and of untils put off.
    fn weight(&self) -> u32 {
        let literals = self.guard.positive.count_ones() + self.guard.negative.count_ones();
        literals + self.next.count_ones() + self.put_off.count_ones()
    }

    fn and(&self, other: &Term) -> Option<Term> {
        let guard = self.guard.and(other.guard)?;
        Some(Term { guard, next: self.next | other.next, put_off: self.put_off | other.put_off })
    }
}

/// The automaton of a formula, not yet reduced.
pub(crate) fn tableau(formula: &Formula) -> Result<Automaton, TranslateError> {
    if formula.is_deeper_than(DEPTH_MAX) {
        return Err(TranslateError::TooDeep { depth_max: DEPTH_MAX });
    }
    let mut arena = Arena::new();
    let root = arena.insert(formula);
    let propositions = arena.atoms(root);
    if propositions.len() > PROPOSITIONS_MAX {
        return Err(TranslateError::TooManyPropositions { count: propositions.len() });
    }
    let mut tableau = Tableau {
        arena,
        propositions,
        members: Vec::new(),
        member_of: HashMap::new(),
        mark_of: HashMap::new(),
        terms: HashMap::new(),
        comparisons: 0,
    };
    tableau.build(root)
}

struct Tableau {
    arena: Arena,
    propositions: Vec<u32>,
    members: Vec<Id>,
    member_of: HashMap<Id, usize>,
    mark_of: HashMap<Id, usize>,
    terms: HashMap<Id, Vec<Term>>,
    /// Spent so far, so that hopeless formulas are given up on every machine at the same point.
    comparisons: usize,
}

/// States found so far. Sets with equal edges share a state.
#[derive(Default)]
struct Found {
    state_of: HashMap<Set, usize>,
    by_terms: HashMap<Vec<Term>, usize>,
    terms: Vec<Vec<Term>>,
    edges: usize,
}

impl Tableau {
    fn build(&mut self, root: Id) -> Result<Automaton, TranslateError> {
        let initial = self.set_of(root)?;
        let mut found = Found::default();
        let mut frontier = vec![initial];
        while let Some(set) = frontier.pop() {
            if !found.state_of.contains_key(&set) {
                let terms = self.edges_of(set)?;
                frontier.extend(terms.iter().rev().map(|term| term.next));
                found.insert(set, terms)?;
            }
        }
        Ok(self.automaton(initial, &found))
    }

    fn automaton(&self, initial: Set, found: &Found) -> Automaton {
        let all = if self.mark_of.len() == MARKS_MAX { u64::MAX } else { (1 << self.mark_of.len()) - 1 };
        let edge =
            |term: &Term| Edge { guard: term.guard, to: found.state_of[&term.next] as u32, marks: all & !term.put_off };
        let state = |terms: &Vec<Term>| State { edges: terms.iter().map(edge).collect(), ..State::default() };
        Automaton {
            states: found.terms.iter().map(state).collect(),
            initial: found.state_of[&initial] as u32,
            acceptance_sets: self.mark_of.len() as u32,
            state_based: false,
            propositions: self.propositions.clone(),
        }
    }

    fn edges_of(&mut self, set: Set) -> Result<Vec<Term>, TranslateError> {
        let mut edges = vec![NOTHING_TO_DO];
        for member in bits(set) {
            let terms = self.terms_of(self.members[member])?;
            edges = self.product(&edges, &terms)?;
        }
        for edge in &mut edges {
            edge.next = self.without_covered(edge.next);
        }
        let mut edges = self.antichain(edges)?;
        edges.sort_unstable();
        Ok(edges)
    }

    /// The ways to satisfy a formula now.
    fn terms_of(&mut self, id: Id) -> Result<Vec<Term>, TranslateError> {
        if let Some(known) = self.terms.get(&id) {
            return Ok(known.clone());
        }
        let terms = match self.arena.node(id).clone() {
            Node::True => vec![NOTHING_TO_DO],
            Node::False => vec![],
            Node::Literal { atom, positive } => vec![self.literal(atom, positive)],
            Node::And(parts) => self.all_of(&parts)?,
            Node::Or(parts) => self.any_of(&parts)?,
            Node::Next(inner) => vec![Term { next: self.set_of(inner)?, ..NOTHING_TO_DO }],
            Node::Until(a, b) => self.until(id, a, b)?,
            Node::Release(a, b) => self.release(id, a, b)?,
        };
        self.terms.insert(id, terms.clone());
        Ok(terms)
    }

    fn literal(&self, atom: u32, positive: bool) -> Term {
        let bit = self.propositions.partition_point(|known| *known < atom);
        Term { guard: Guard::literal(bit as u32, positive), ..NOTHING_TO_DO }
    }

    fn all_of(&mut self, parts: &[Id]) -> Result<Vec<Term>, TranslateError> {
        let mut terms = vec![NOTHING_TO_DO];
        for part in parts {
            let more = self.terms_of(*part)?;
            terms = self.product(&terms, &more)?;
        }
        Ok(terms)
    }

    fn any_of(&mut self, parts: &[Id]) -> Result<Vec<Term>, TranslateError> {
        let mut terms = Vec::new();
        for part in parts {
            terms.extend(self.terms_of(*part)?);
        }
        self.antichain(terms)
    }

    /// Either `b` now, or `a` now and the until put off.
    fn until(&mut self, id: Id, a: Id, b: Id) -> Result<Vec<Term>, TranslateError> {
        let put_off = 1 << self.mark(id)?;
        let later = Term { guard: Guard::TRUE, next: self.set_of(id)?, put_off };
        let now = self.terms_of(a)?;
        let mut terms = self.product(&now, &[later])?;
        terms.extend(self.terms_of(b)?);
        self.antichain(terms)
    }

    /// `b` now, and either `a` now or the same again.
    fn release(&mut self, id: Id, a: Id, b: Id) -> Result<Vec<Term>, TranslateError> {
        let again = Term { next: self.set_of(id)?, ..NOTHING_TO_DO };
        let mut terms = self.terms_of(a)?;
        terms.push(again);
        let now = self.terms_of(b)?;
        self.product(&now, &terms)
    }

    /// Each term of one side with each of the other.
    fn product(&mut self, left: &[Term], right: &[Term]) -> Result<Vec<Term>, TranslateError> {
        let too_large = Err(TranslateError::TooLarge { what: "edges of one state", bound: TERMS_MAX });
        if left.len() * right.len() > 4 * TERMS_MAX {
            return too_large;
        }
        let terms = self.antichain(left.iter().flat_map(|a| right.iter().filter_map(|b| a.and(b))).collect())?;
        if terms.len() > TERMS_MAX { too_large } else { Ok(terms) }
    }

    /// The terms that no other dominates, each once.
    fn antichain(&mut self, mut terms: Vec<Term>) -> Result<Vec<Term>, TranslateError> {
        // A dominating term is lighter, so after sorting by weight only earlier ones can dominate.
        terms.sort_unstable_by_key(|term| (term.weight(), *term));
        let mut kept: Vec<Term> = Vec::new();
        for term in terms {
            self.comparisons += kept.len();
            if !kept.iter().any(|other| term.is_dominated_by(other)) {
                kept.push(term);
            }
        }
        if self.comparisons > COMPARISONS_MAX {
            return Err(TranslateError::TooLarge { what: "comparisons to build", bound: COMPARISONS_MAX });
        }
        Ok(kept)
    }

    fn mark(&mut self, until: Id) -> Result<usize, TranslateError> {
        let fresh = self.mark_of.len();
        let mark = *self.mark_of.entry(until).or_insert(fresh);
        if mark < MARKS_MAX { Ok(mark) } else { Err(TranslateError::TooLarge { what: "untils", bound: MARKS_MAX }) }
    }

    /// The conjuncts of a formula as a set.
    fn set_of(&mut self, id: Id) -> Result<Set, TranslateError> {
        match self.arena.node(id).clone() {
            Node::True => Ok(0),
            Node::And(parts) => {
                let sets: Result<Vec<Set>, _> = parts.iter().map(|part| self.set_of(*part)).collect();
                sets.map(|sets| sets.into_iter().fold(0, |all, set| all | set))
            }
            _ => self.member(id).map(|member| 1 << member),
        }
    }

    fn member(&mut self, id: Id) -> Result<usize, TranslateError> {
        if let Some(member) = self.member_of.get(&id) {
            return Ok(*member);
        }
        if self.members.len() == MEMBERS_MAX {
            return Err(TranslateError::TooLarge { what: "temporal operators", bound: MEMBERS_MAX });
        }
        self.member_of.insert(id, self.members.len());
        self.members.push(id);
        Ok(self.members.len() - 1)
    }

    /// Drops members that another one unfolds anyway: `[]<>p` unfolds `<>p` at each step.
    ///
    /// Dropping everything implied would be wrong: an until could be put off for ever by turns.
    fn without_covered(&self, set: Set) -> Set {
        bits(set).fold(set, |kept, member| kept & !self.covered_by(self.members[member]))
    }

    /// The members that unfold whenever this release does: the conjuncts of its right side.
    fn covered_by(&self, id: Id) -> Set {
        let Node::Release(_, right) = self.arena.node(id) else { return 0 };
        let conjuncts = match self.arena.node(*right) {
            Node::And(parts) => parts.clone(),
            _ => vec![*right],
        };
        let bit = |id: &Id| self.member_of.get(id).map_or(0, |member| 1 << member);
        conjuncts.iter().fold(0, |all, part| all | bit(part) | self.covered_by(*part))
    }
}

impl Found {
    fn insert(&mut self, set: Set, terms: Vec<Term>) -> Result<(), TranslateError> {
        let fresh = self.terms.len();
        let state = *self.by_terms.entry(terms.clone()).or_insert(fresh);
        self.state_of.insert(set, state);
        if state == fresh {
            self.edges += terms.len();
            self.terms.push(terms);
        }
        if self.state_of.len() > STATES_MAX {
            return Err(TranslateError::TooLarge { what: "states", bound: STATES_MAX });
        }
        if self.edges > EDGES_MAX {
            return Err(TranslateError::TooLarge { what: "edges", bound: EDGES_MAX });
        }
        Ok(())
    }
}

fn bits(set: Set) -> impl Iterator<Item = usize> {
    (0..MEMBERS_MAX).filter(move |bit| set >> bit & 1 == 1)
}
