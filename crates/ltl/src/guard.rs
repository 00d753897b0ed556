//! Guards: conjunctions of propositions and negated propositions, as two bit masks.

use std::fmt;

/// A cube over at most 64 propositions. The default guard is true.
///
/// Two masks make conjunction, implication and evaluation two or three machine operations, which is
/// why propositions are limited to 64. `positive & negative` is always empty: a contradiction is
/// `None`, not a guard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Guard {
    /// Propositions that must hold.
    pub positive: u64,
    /// Propositions that must not hold.
    pub negative: u64,
}

impl Guard {
    /// The guard that lets everything pass.
    pub const TRUE: Guard = Guard { positive: 0, negative: 0 };

    /// A single proposition or its negation.
    pub fn literal(bit: u32, positive: bool) -> Guard {
        let mask = 1 << bit;
        if positive { Guard { positive: mask, negative: 0 } } else { Guard { positive: 0, negative: mask } }
    }

    /// Whether a valuation (bit k set: proposition k holds) passes.
    #[inline]
    pub fn admits(self, valuation: u64) -> bool {
        valuation & self.positive == self.positive && valuation & self.negative == 0
    }

    /// Whether every valuation passes.
    pub fn is_true(self) -> bool {
        self == Guard::TRUE
    }

    /// Both guards at once, or `None` if they exclude each other.
    pub fn and(self, other: Guard) -> Option<Guard> {
        let both = Guard { positive: self.positive | other.positive, negative: self.negative | other.negative };
        (both.positive & both.negative == 0).then_some(both)
    }

    /// Whether every valuation that passes `self` passes `other`.
    pub fn is_within(self, other: Guard) -> bool {
        other.positive & !self.positive == 0 && other.negative & !self.negative == 0
    }

    /// Whether every valuation that passes `self` passes one of `others`.
    ///
    /// Shannon expansion on a proposition that one of the others speaks about. Exponential in the
    /// worst case, hence the limits of the callers.
    pub fn is_covered_by(self, others: &[Guard]) -> bool {
        if others.iter().any(|other| self.is_within(*other)) {
            return true;
        }
        let near: Vec<Guard> = others.iter().copied().filter(|other| self.and(*other).is_some()).collect();
        let Some(first) = near.first() else { return false };
        let bit = first.without(self.positive | self.negative).lowest();
        let halves = [Guard::literal(bit, true), Guard::literal(bit, false)];
        halves.into_iter().filter_map(|half| self.and(half)).all(|half| half.is_covered_by(&near))
    }

    /// What passes `self` but not `other`, as guards that exclude each other.
    pub fn minus(self, other: Guard) -> Vec<Guard> {
        if self.and(other).is_none() {
            return vec![self];
        }
        let mut kept = self;
        let mut left = Vec::new();
        for literal in other.without(self.positive | self.negative).literals() {
            left.extend(kept.and(literal.flipped()));
            kept = kept.and(literal).unwrap_or(kept);
        }
        left
    }

    /// Each literal as a guard of its own.
    pub fn literals(self) -> impl Iterator<Item = Guard> {
        let of = |mask: u64, positive| {
            (0..64).filter(move |bit| mask >> bit & 1 == 1).map(move |bit| Guard::literal(bit, positive))
        };
        of(self.positive, true).chain(of(self.negative, false))
    }

    /// The guard without any word about the propositions in `mask`.
    pub(crate) fn without(self, mask: u64) -> Guard {
        Guard { positive: self.positive & !mask, negative: self.negative & !mask }
    }

    /// All literals negated; the complement only if there is just one.
    pub(crate) fn flipped(self) -> Guard {
        Guard { positive: self.negative, negative: self.positive }
    }

    /// The lowest proposition spoken about; 63 if there is none.
    fn lowest(self) -> u32 {
        (self.positive | self.negative).trailing_zeros().min(63)
    }

    /// Prints with a name for each proposition, e.g. `a && !b`; the true guard prints as `otherwise`.
    pub(crate) fn text(self, otherwise: &str, not: &str, and: &str, name: impl Fn(u32) -> String) -> String {
        let word = |bit: u32| -> Option<String> {
            let positive = self.positive >> bit & 1 == 1;
            let negative = self.negative >> bit & 1 == 1;
            (positive || negative).then(|| format!("{}{}", if positive { "" } else { not }, name(bit)))
        };
        let words: Vec<String> = (0..64).filter_map(word).collect();
        if words.is_empty() { otherwise.to_string() } else { words.join(and) }
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text("true", "!", " && ", |bit| format!("p{bit}")))
    }
}

/// Longer lists are compared guard by guard only: finding out what guards cover together may take exponential time.
const COVER_MAX: usize = 100;

/// Fewer and wider guards with the same union.
///
/// Not minimal (that is NP-hard): widening and dropping until neither applies, in the manner of
/// espresso.
pub(crate) fn minimised(guards: Vec<Guard>) -> Vec<Guard> {
    let mut guards = without_contained(guards);
    while guards.len() > COVER_MAX {
        let before = guards.len();
        widen(&mut guards, |added, guards| guards.iter().any(|guard| added.is_within(*guard)));
        guards = without_contained(guards);
        if guards.len() == before {
            return guards;
        }
    }
    widen(&mut guards, Guard::is_covered_by);
    drop_covered(&mut guards);
    guards.sort_unstable();
    guards
}

/// The guards that lie within no other, each once.
fn without_contained(mut guards: Vec<Guard>) -> Vec<Guard> {
    // A containing guard has fewer literals, so it comes first.
    guards.sort_unstable_by_key(|guard| (guard.positive.count_ones() + guard.negative.count_ones(), *guard));
    let mut kept: Vec<Guard> = Vec::new();
    for guard in guards {
        if !kept.iter().any(|other| guard.is_within(*other)) {
            kept.push(guard);
        }
    }
    kept
}

/// Drops each literal whose opposite the union admits as well.
fn widen(guards: &mut [Guard], admits: impl Fn(Guard, &[Guard]) -> bool) {
    for at in 0..guards.len() {
        for literal in guards[at].literals().collect::<Vec<_>>() {
            let wide = guards[at].without(literal.positive | literal.negative);
            let added = wide.and(literal.flipped()).unwrap_or(wide);
            if admits(added, guards) {
                guards[at] = wide;
            }
        }
    }
}

/// Drops each guard that the others cover together.
fn drop_covered(guards: &mut Vec<Guard>) {
    let mut at = 0;
    while at < guards.len() {
        let guard = guards.remove(at);
        if !guard.is_covered_by(guards) {
            guards.insert(at, guard);
            at += 1;
        }
    }
}
