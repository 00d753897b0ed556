//! Constructors that simplify: the usual syntactic rules, each an equivalence of LTL.
//!
//! The rules stop short of anything that needs an automaton. `or` and `release` are the duals of `and` and `until`.
//!
//! Rules as in Somenzi and Bloem (CAV 2000) and Etessami and Holzmann (CONCUR 2000): eventual and
//! universal subformulas, implications that syntax shows. Each rule shrinks the formula or moves
//! next outwards, so rewriting ends.

use crate::normal::{Arena, FALSE, Id, Node, TRUE};

/// How deep syntactic implication looks; deeper, it answers "not known to imply".
///
/// The check branches at every level; beyond this it gives up with "not known", which is always
/// allowed.
const IMPLICATION_DEPTH_MAX: usize = 24;

impl Arena {
    pub(crate) fn or(&mut self, parts: Vec<Id>) -> Id {
        let negated = self.negate_all(&parts);
        let dual = self.and(negated);
        self.negate(dual)
    }

    pub(crate) fn release(&mut self, a: Id, b: Id) -> Id {
        let (not_a, not_b) = (self.negate(a), self.negate(b));
        let dual = self.until(not_a, not_b);
        self.negate(dual)
    }

    /// `X F G p` is `F G p`: a suspendable formula has the same truth value at every position of a
    /// word.
    pub(crate) fn next(&mut self, inner: Id) -> Id {
        // What only the infinite future decides, tomorrow knows as well as today.
        if self.is_suspendable(inner) { inner } else { self.intern(Node::Next(inner)) }
    }

    pub(crate) fn and(&mut self, parts: Vec<Id>) -> Id {
        let mut parts = self.flattened(parts);
        while let Some((i, j, merged)) = self.mergeable(&parts) {
            parts.remove(j.max(i));
            parts.remove(j.min(i));
            parts.push(merged);
            parts = self.flattened(parts);
        }
        match parts[..] {
            [] => TRUE,
            [only] => only,
            _ => self.intern(Node::And(parts)),
        }
    }

    /// Sorted conjuncts without nesting, repetition and what others imply; just `FALSE` on a contradiction.
    fn flattened(&mut self, parts: Vec<Id>) -> Vec<Id> {
        let mut flat = Vec::new();
        for part in parts {
            match self.node(part) {
                Node::And(inner) => flat.extend(inner),
                _ => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        if self.contradict(&flat) { vec![FALSE] } else { self.without_implied(flat) }
    }

    fn contradict(&mut self, parts: &[Id]) -> bool {
        parts.contains(&FALSE)
            || parts.iter().enumerate().any(|(i, a)| {
                parts[i + 1..].iter().any(|b| {
                    let not_b = self.negate(*b);
                    self.is_implied(*a, not_b, 0)
                })
            })
    }

    fn without_implied(&mut self, mut parts: Vec<Id>) -> Vec<Id> {
        let mut at = 0;
        while at < parts.len() {
            let part = parts[at];
            if parts.iter().any(|other| *other != part && self.is_implied(*other, part, 0)) {
                parts.remove(at);
            } else {
                at += 1;
            }
        }
        parts
    }

    /// Two conjuncts that are equivalent to one formula.
    fn mergeable(&mut self, parts: &[Id]) -> Option<(usize, usize, Id)> {
        for i in 0..parts.len() {
            for j in 0..parts.len() {
                if i != j
                    && let Some(merged) = self.merged(parts[i], parts[j])
                {
                    return Some((i, j, merged));
                }
            }
        }
        None
    }

    fn merged(&mut self, left: Id, right: Id) -> Option<Id> {
        match (self.node(left).clone(), self.node(right).clone()) {
            (Node::Next(a), Node::Next(b)) => {
                let both = self.and(vec![a, b]);
                Some(self.next(both))
            }
            (Node::Release(a, b), Node::Release(c, d)) if a == c => {
                let both = self.and(vec![b, d]);
                Some(self.release(a, both))
            }
            (Node::Until(TRUE, b), Node::Until(TRUE, d)) => self.merged_persistence(b, d),
            (Node::Until(a, b), Node::Until(c, d)) if b == d => {
                let both = self.and(vec![a, c]);
                Some(self.until(both, b))
            }
            // <>x && (x V y) is the strong release: y holds up to and including an x that does come.
            (Node::Until(TRUE, b), Node::Release(c, d)) if b == c => {
                let both = self.and(vec![c, d]);
                Some(self.until(d, both))
            }
            _ => None,
        }
    }

    /// <>[]a && <>[]b is <>[](a && b).
    fn merged_persistence(&mut self, left: Id, right: Id) -> Option<Id> {
        match (self.node(left), self.node(right)) {
            (Node::Release(FALSE, _), Node::Release(FALSE, _)) => {
                let both = self.and(vec![left, right]);
                Some(self.until(TRUE, both))
            }
            _ => None,
        }
    }

    pub(crate) fn until(&mut self, a: Id, b: Id) -> Id {
        let not_a = self.negate(a);
        if a == FALSE || b == TRUE || b == FALSE || self.is_eventual(b) || self.is_implied(a, b, 0) {
            return b;
        }
        if a != TRUE && self.is_implied(not_a, b, 0) {
            return self.until(TRUE, b);
        }
        match (self.node(a).clone(), self.node(b).clone()) {
            (Node::Next(x), Node::Next(y)) => {
                let inner = self.until(x, y);
                self.next(inner)
            }
            (Node::True, Node::Next(y)) => {
                let inner = self.until(TRUE, y);
                self.next(inner)
            }
            (Node::True, Node::Until(_, y)) => self.until(TRUE, y),
            (_, Node::Until(x, _)) if self.is_implied(a, x, 0) => b,
            (Node::True, Node::And(parts)) => self.finally_all(b, &parts),
            (Node::True, Node::Or(parts)) => self.finally_any(b, &parts),
            _ => self.intern(Node::Until(a, b)),
        }
    }

    /// `<>(x && s)` is `<>x && s` where s does not care when.
    fn finally_all(&mut self, whole: Id, parts: &[Id]) -> Id {
        let (mut timeless, timed): (Vec<Id>, Vec<Id>) = parts.iter().partition(|part| self.is_suspendable(**part));
        if timeless.is_empty() {
            return self.intern(Node::Until(TRUE, whole));
        }
        let timed = self.and(timed);
        timeless.push(self.until(TRUE, timed));
        self.and(timeless)
    }

    /// `<>(x || (y U z) || s)` is `<>(x || z) || s` where s is an eventuality itself.
    fn finally_any(&mut self, whole: Id, parts: &[Id]) -> Id {
        let (mut timeless, timed): (Vec<Id>, Vec<Id>) = parts.iter().partition(|part| self.is_suspendable(**part));
        let ends: Vec<Id> = timed.iter().map(|part| self.until_end(*part)).collect();
        if timeless.is_empty() && ends == timed {
            return self.intern(Node::Until(TRUE, whole));
        }
        let ends = self.or(ends);
        timeless.push(self.until(TRUE, ends));
        self.or(timeless)
    }

    fn until_end(&self, id: Id) -> Id {
        if let Node::Until(_, end) = self.node(id) { *end } else { id }
    }

    /// Whether it can be seen that the formula holds whenever it holds later.
    fn is_eventual(&self, id: Id) -> bool {
        match self.node(id) {
            Node::True | Node::False | Node::Until(TRUE, _) => true,
            Node::Literal { .. } | Node::Until(..) => false,
            Node::And(parts) | Node::Or(parts) => parts.iter().all(|part| self.is_eventual(*part)),
            Node::Next(inner) => self.is_eventual(*inner),
            Node::Release(a, b) => self.is_eventual(*a) && self.is_eventual(*b),
        }
    }

    /// Whether it can be seen that the formula holds later whenever it holds.
    fn is_universal(&self, id: Id) -> bool {
        match self.node(id) {
            Node::True | Node::False | Node::Release(FALSE, _) => true,
            Node::Literal { .. } | Node::Release(..) => false,
            Node::And(parts) | Node::Or(parts) => parts.iter().all(|part| self.is_universal(*part)),
            Node::Next(inner) => self.is_universal(*inner),
            Node::Until(a, b) => self.is_universal(*a) && self.is_universal(*b),
        }
    }

    /// Whether the formula only speaks about the infinite future, as `[]<>p` does.
    fn is_suspendable(&self, id: Id) -> bool {
        self.is_eventual(id) && self.is_universal(id)
    }

    /// Whether `a` implies `b` by rules on the syntax; `false` means "not seen".
    pub(crate) fn is_implied(&mut self, a: Id, b: Id, depth: usize) -> bool {
        if a == b || a == FALSE || b == TRUE {
            return true;
        }
        if depth > IMPLICATION_DEPTH_MAX {
            return false;
        }
        if let Some(known) = self.implications.get(&(a, b)) {
            return *known;
        }
        let implied = self.is_implied_by_left(a, b, depth + 1) || self.is_implied_by_right(a, b, depth + 1);
        self.implications.insert((a, b), implied);
        implied
    }

    fn is_implied_by_left(&mut self, a: Id, b: Id, depth: usize) -> bool {
        match self.node(a).clone() {
            Node::And(parts) => parts.iter().any(|part| self.is_implied(*part, b, depth)),
            Node::Or(parts) => parts.iter().all(|part| self.is_implied(*part, b, depth)),
            Node::Until(x, y) => self.is_implied(y, b, depth) && self.is_implied(x, b, depth),
            Node::Release(_, y) => self.is_implied(y, b, depth),
            Node::Next(x) => self.is_eventual(b) && self.is_implied(x, b, depth),
            _ => false,
        }
    }

    fn is_implied_by_right(&mut self, a: Id, b: Id, depth: usize) -> bool {
        match (self.node(a).clone(), self.node(b).clone()) {
            (_, Node::And(parts)) => parts.iter().all(|part| self.is_implied(a, *part, depth)),
            (_, Node::Or(parts)) => parts.iter().any(|part| self.is_implied(a, *part, depth)),
            (Node::Until(x, y), Node::Until(u, v)) => {
                self.is_implied(a, v, depth) || (self.is_implied(x, u, depth) && self.is_implied(y, v, depth))
            }
            (Node::Release(x, y), Node::Release(u, v)) => {
                (self.is_implied(x, u, depth) && self.is_implied(y, v, depth))
                    || (self.is_implied(a, u, depth) && self.is_implied(a, v, depth))
            }
            (_, Node::Until(_, v)) => self.is_implied(a, v, depth),
            (_, Node::Release(u, v)) => self.is_implied(a, u, depth) && self.is_implied(a, v, depth),
            (Node::Next(x), Node::Next(u)) => self.is_implied(x, u, depth),
            (_, Node::Next(u)) => self.is_universal(a) && self.is_implied(a, u, depth),
            _ => false,
        }
    }
}
