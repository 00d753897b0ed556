//! Vector clocks: for each actor how many of its events are in a past.

/// A past: a set of events that is closed under happens-before.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Clock(Vec<u32>);

impl Clock {
    /// How many events of an actor are in the past.
    #[must_use]
    pub fn of(&self, actor: u32) -> u32 {
        self.0.get(actor as usize).copied().unwrap_or(0)
    }

    /// Puts events of an actor into the past.
    pub fn set(&mut self, actor: u32, events: u32) {
        let length = self.0.len().max(actor as usize + 1);
        self.0.resize(length, 0);
        self.0[actor as usize] = events;
    }

    /// Adds another past.
    pub fn join(&mut self, other: &Self) {
        let length = self.0.len().max(other.0.len());
        self.0.resize(length, 0);
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own = (*own).max(*other));
    }

    /// The counts by actor; actors without events may be missing at the end.
    #[must_use]
    pub fn counts(&self) -> &[u32] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_join_of_two_pasts_contains_both() {
        let (mut one, mut other) = (Clock::default(), Clock::default());
        one.set(0, 3);
        other.set(2, 5);
        other.set(0, 1);
        one.join(&other);
        assert_eq!((one.of(0), one.of(1), one.of(2), one.of(9)), (3, 0, 5, 0));
    }
}
