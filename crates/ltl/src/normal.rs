//! Negation normal form with shared nodes.
//!
//! Equal formulas get equal ids, so nested equivalences stay linear in size and rules compare by id. Each node is built by
//! a simplifying constructor in `rewrite`; only `and`, `until` and `next` have rules, `or` and `release` are their duals.

use std::collections::HashMap;
use std::sync::Arc;

use crate::formula::Formula;

/// Names a node of an [`Arena`].
pub(crate) type Id = u32;

/// A formula whose negations stand at atoms only. The parts of `And` and `Or` are sorted and differ.
///
/// Until and release are the only temporal operators besides next: `F a` is `true U a`, `G a` is
/// `false V a`, `a W b` is `b V (a || b)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    True,
    False,
    Literal { atom: u32, positive: bool },
    And(Vec<Id>),
    Or(Vec<Id>),
    Next(Id),
    Until(Id, Id),
    Release(Id, Id),
}

/// All nodes of one translation.
///
/// **Invariant:** nodes are hash-consed: equal ids if and only if equal nodes. Ids only grow, so
/// memo tables by id are never stale.
pub(crate) struct Arena {
    nodes: Vec<Node>,
    ids: HashMap<Node, Id>,
    negations: HashMap<Id, Id>,
    pub(crate) implications: HashMap<(Id, Id), bool>,
}

pub(crate) const FALSE: Id = 0;
pub(crate) const TRUE: Id = 1;

impl Arena {
    pub(crate) fn new() -> Arena {
        let mut arena =
            Arena { nodes: Vec::new(), ids: HashMap::new(), negations: HashMap::new(), implications: HashMap::new() };
        arena.intern(Node::False);
        arena.intern(Node::True);
        arena
    }

    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    /// The id of a node exactly as given, without simplification.
    pub(crate) fn intern(&mut self, node: Node) -> Id {
        if let Some(id) = self.ids.get(&node) {
            return *id;
        }
        let id = self.nodes.len() as Id;
        self.nodes.push(node.clone());
        self.ids.insert(node, id);
        id
    }

    /// The dual node. Simplified nodes have simplified duals, because the rules come in dual pairs.
    ///
    /// Linear, by duality; memoized in both directions.
    pub(crate) fn negate(&mut self, id: Id) -> Id {
        if let Some(known) = self.negations.get(&id) {
            return *known;
        }
        let node = match self.node(id).clone() {
            Node::True => Node::False,
            Node::False => Node::True,
            Node::Literal { atom, positive } => Node::Literal { atom, positive: !positive },
            Node::And(parts) => Node::Or(self.negate_all(&parts)),
            Node::Or(parts) => Node::And(self.negate_all(&parts)),
            Node::Next(inner) => Node::Next(self.negate(inner)),
            Node::Until(a, b) => Node::Release(self.negate(a), self.negate(b)),
            Node::Release(a, b) => Node::Until(self.negate(a), self.negate(b)),
        };
        let negation = self.intern(node);
        self.negations.insert(id, negation);
        self.negations.insert(negation, id);
        negation
    }

    pub(crate) fn negate_all(&mut self, parts: &[Id]) -> Vec<Id> {
        let mut negated: Vec<Id> = parts.iter().map(|part| self.negate(*part)).collect();
        negated.sort_unstable();
        negated
    }

    /// The simplified node of a formula.
    pub(crate) fn insert(&mut self, formula: &Formula) -> Id {
        self.insert_shared(formula, &mut HashMap::new())
    }

    /// Remembers by address: shared parts are inserted once.
    fn insert_shared(&mut self, formula: &Formula, known: &mut HashMap<*const Formula, Id>) -> Id {
        if let Some(id) = known.get(&std::ptr::from_ref(formula)) {
            return *id;
        }
        let parts: Vec<Id> = formula.children().map(|child| self.insert_shared(child, known)).collect();
        let id = self.combine(formula, &parts);
        known.insert(formula, id);
        id
    }

    fn combine(&mut self, formula: &Formula, parts: &[Id]) -> Id {
        match (formula, parts) {
            (Formula::True, _) => TRUE,
            (Formula::Atom(atom), _) => self.intern(Node::Literal { atom: *atom, positive: true }),
            (Formula::Not(_), [a]) => self.negate(*a),
            (Formula::Next(_), [a]) => self.next(*a),
            (Formula::Finally(_), [a]) => self.until(TRUE, *a),
            (Formula::Globally(_), [a]) => self.release(FALSE, *a),
            (Formula::And(..), [a, b]) => self.and(vec![*a, *b]),
            (Formula::Or(..), [a, b]) => self.or(vec![*a, *b]),
            (Formula::Implies(..), [a, b]) => self.implication(*a, *b),
            (Formula::Equiv(..), [a, b]) => self.equivalence(*a, *b),
            (Formula::Until(..), [a, b]) => self.until(*a, *b),
            (Formula::Release(..), [a, b]) => self.release(*a, *b),
            (Formula::WeakUntil(..), [a, b]) => self.weak_until(*a, *b),
            _ => FALSE,
        }
    }

    fn implication(&mut self, a: Id, b: Id) -> Id {
        let not_a = self.negate(a);
        self.or(vec![not_a, b])
    }

    fn equivalence(&mut self, a: Id, b: Id) -> Id {
        let (not_a, not_b) = (self.negate(a), self.negate(b));
        let both = self.and(vec![a, b]);
        let neither = self.and(vec![not_a, not_b]);
        self.or(vec![both, neither])
    }

    fn weak_until(&mut self, a: Id, b: Id) -> Id {
        let either = self.or(vec![a, b]);
        self.release(b, either)
    }

    /// Atoms below a node, ascending, each once.
    pub(crate) fn atoms(&self, root: Id) -> Vec<u32> {
        let mut seen = vec![false; self.nodes.len()];
        let mut found = Vec::new();
        let mut frontier = vec![root];
        while let Some(id) = frontier.pop() {
            if std::mem::replace(&mut seen[id as usize], true) {
                continue;
            }
            match self.node(id) {
                Node::True | Node::False => {}
                Node::Literal { atom, .. } => found.push(*atom),
                Node::And(parts) | Node::Or(parts) => frontier.extend(parts),
                Node::Next(inner) => frontier.push(*inner),
                Node::Until(a, b) | Node::Release(a, b) => frontier.extend([*a, *b]),
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The node as a formula; parts that occur often are shared.
    pub(crate) fn formula(&self, id: Id) -> Formula {
        (*self.shared_formula(id, &mut HashMap::new())).clone()
    }

    fn shared_formula(&self, id: Id, known: &mut HashMap<Id, Arc<Formula>>) -> Arc<Formula> {
        if let Some(formula) = known.get(&id) {
            return formula.clone();
        }
        let mut part = |id: Id| self.shared_formula(id, known);
        let formula = match self.node(id) {
            Node::True => Formula::True,
            Node::False => Formula::False,
            Node::Literal { atom, positive: true } => Formula::Atom(*atom),
            Node::Literal { atom, positive: false } => Formula::Atom(*atom).not(),
            Node::And(parts) => joined(parts.iter().map(|id| part(*id)), Formula::And),
            Node::Or(parts) => joined(parts.iter().map(|id| part(*id)), Formula::Or),
            Node::Next(a) => Formula::Next(part(*a)),
            Node::Until(TRUE, b) => Formula::Finally(part(*b)),
            Node::Release(FALSE, b) => Formula::Globally(part(*b)),
            Node::Until(a, b) => Formula::Until(part(*a), part(*b)),
            Node::Release(a, b) => Formula::Release(part(*a), part(*b)),
        };
        let shared = Arc::new(formula);
        known.insert(id, shared.clone());
        shared
    }
}

fn joined(parts: impl Iterator<Item = Arc<Formula>>, join: fn(Arc<Formula>, Arc<Formula>) -> Formula) -> Formula {
    let all = parts.reduce(|left, right| Arc::new(join(left, right)));
    all.map_or(Formula::True, |formula| (*formula).clone())
}

impl Formula {
    /// An equivalent formula in negation normal form (`!` at atoms only; `-> <-> W` gone), simplified by syntactic rules.
    pub fn normal_form(&self) -> Formula {
        let mut arena = Arena::new();
        let id = arena.insert(self);
        arena.formula(id)
    }
}
