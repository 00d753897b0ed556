//! Which items of a growing list were taken, in whatever order.

/// Which items of a growing list were taken. Equal sets are equal values, in whatever order they came about.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Taken {
    /// All before this one were.
    first: usize,
    /// So were these beyond it, in order.
    later: Vec<usize>,
}

impl Taken {
    /// Whether an item was taken.
    #[must_use]
    pub fn contains(&self, index: usize) -> bool {
        index < self.first || self.later.binary_search(&index).is_ok()
    }

    /// Takes an item.
    pub fn take(&mut self, index: usize) {
        if !self.contains(index) {
            self.later.push(index);
            self.later.sort_unstable();
        }
        while self.later.first() == Some(&self.first) {
            self.later.remove(0);
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_taking_does_not_matter() {
        let taken = |order: &[usize]| {
            let mut taken = Taken::default();
            order.iter().for_each(|index| taken.take(*index));
            taken
        };
        assert_eq!(taken(&[2, 0, 1]), taken(&[0, 1, 2]));
        assert_eq!(taken(&[3, 1, 1]), taken(&[1, 3]));
        assert_ne!(taken(&[0]), taken(&[1]));
        let some = taken(&[0, 2]);
        assert_eq!([0, 1, 2, 3].map(|index| some.contains(index)), [true, false, true, false]);
    }
}
