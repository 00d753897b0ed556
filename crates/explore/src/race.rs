//! Data races: two dependent accesses to a word, at least one of them plain, that no order separates.

use crate::footprint::{Access, common};

/// A data race: two accesses to one word that can happen next to each other, at least one of them a write and at least one
/// of them plain.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Race {
    /// The word.
    pub object: u64,
    /// Whether both accesses are plain; otherwise one synchronises, and the word may be meant to be used like that.
    pub plain: bool,
    /// One actor and whether it writes.
    pub one: (u32, bool),
    /// The other.
    pub other: (u32, bool),
}

impl Race {
    /// A race; the order in which the actors are given does not matter.
    #[must_use]
    pub fn new(object: u64, plain: bool, one: (u32, bool), other: (u32, bool)) -> Self {
        Self { object, plain, one: one.min(other), other: one.max(other) }
    }

    /// The same with other numbers for the actors.
    #[must_use]
    pub fn renumbered(self, number: impl Fn(u32) -> u32) -> Self {
        Self { one: (number(self.one.0), self.one.1), other: (number(self.other.0), self.other.1), ..self }
    }
}

/// Races of two steps, given by actor and normalised footprint, that can happen next to each other.
pub fn races_between<'a>(one: (u32, &'a [Access]), other: (u32, &'a [Access])) -> impl Iterator<Item = Race> + use<'a> {
    let racing = |(a, b): &(&Access, &Access)| (a.write || b.write) && (a.plain || b.plain);
    let race =
        move |(a, b): (&Access, &Access)| Race::new(a.object, a.plain && b.plain, (one.0, a.write), (other.0, b.write));
    common(one.1, other.1).filter(racing).map(race)
}
