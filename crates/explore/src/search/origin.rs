//! The parent of a new state, also while several workers share a level.
//!
//! Which worker reaches a state first is chance, but the schedule that leads there must not be. So in a shared
//! level a state belongs to the first state of the level, in its order, that leads to it, and the next level has the order
//! that one worker would have given it. Until the level is done, parents are places in it instead of numbers of states.

/// Numbers from here on are places in a level: there are never so many states, nor such a level.
const INDEX: u32 = 1 << 31;

/// From where a state was reached: the number of a state, or a place in the level. Of two places the larger value is the
/// earlier one, and each is larger than any number, so that the maximum is what counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin(pub u32);

impl Origin {
    /// Whether it is a place in the level.
    #[inline]
    pub fn is_index(self) -> bool {
        self.0 >= INDEX
    }

    /// The place.
    #[inline]
    pub fn index(self) -> usize {
        (u32::MAX - self.0) as usize
    }
}

/// A state of a level.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Its number.
    pub id: u32,
    /// Its place.
    pub index: usize,
    /// Whether several workers share the level.
    pub is_shared: bool,
}

impl Member {
    /// A state that one worker expands in order.
    pub fn alone(id: u32, index: usize) -> Self {
        Self { id, index, is_shared: false }
    }

    /// What its successors note.
    #[inline]
    pub fn origin(self) -> Origin {
        if self.is_shared { Origin(u32::MAX - self.index as u32) } else { Origin(self.id) }
    }
}

/// Whether places in a level of this size can be distinguished from numbers below `ids_end`.
pub fn can_share(level: usize, ids_end: u32) -> bool {
    level < INDEX as usize && ids_end < INDEX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_places_win_and_places_win_over_numbers() {
        let at = |index| Member { id: 7, index, is_shared: true }.origin();
        assert!(at(3).0 > at(4).0 && at(4).is_index());
        assert!(at(INDEX as usize - 1).0 > Member::alone(INDEX - 1, 0).origin().0);
        assert!(!can_share(INDEX as usize, 5) && can_share(5, 5));
    }
}
