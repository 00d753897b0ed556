//! A fixed set of 256 small numbers: actors, or objects of a footprint.

/// Numbers that a [`Bits`] can hold: those below it.
pub const CAPACITY: u32 = 256;

/// A set of numbers below [`CAPACITY`].
///
/// Larger numbers are folded onto smaller ones by [`Bits::folded`], which is what footprints want (two objects that
/// share a bit count as one, which is sound); actors are never folded, they are refused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub struct Bits([u64; 4]);

/// The sets of one number. A table: every step needs one, and computing four words takes longer than to fetch them.
static ONES: [Bits; CAPACITY as usize] = {
    let mut ones = [Bits::EMPTY; CAPACITY as usize];
    let mut number = 0;
    while number < ones.len() {
        ones[number].0[number / 64] = 1 << (number % 64);
        number += 1;
    }
    ones
};

impl Bits {
    /// The empty set.
    pub const EMPTY: Self = Self([0; 4]);
    /// Every number.
    pub const ALL: Self = Self([u64::MAX; 4]);

    /// The set of one number.
    ///
    /// # Panics
    /// If `number` is not below [`CAPACITY`].
    #[inline]
    #[must_use]
    pub fn one(number: u32) -> Self {
        assert!(number < CAPACITY, "numbers are small");
        ONES[number as usize]
    }

    /// The set of one number, larger ones folded onto smaller ones.
    #[inline]
    #[must_use]
    pub fn folded(number: u32) -> Self {
        Self::one(number % CAPACITY)
    }

    /// Adds a number.
    ///
    /// # Panics
    /// If `number` is not below [`CAPACITY`].
    #[inline]
    pub fn insert(&mut self, number: u32) {
        self.0[(number / 64) as usize] |= 1 << (number % 64);
    }

    /// Takes a number out.
    #[inline]
    pub fn remove(&mut self, number: u32) {
        self.0[(number / 64) as usize] &= !(1 << (number % 64));
    }

    /// Whether a number is in.
    #[inline]
    #[must_use]
    pub fn contains(&self, number: u32) -> bool {
        number < CAPACITY && self.0[(number / 64) as usize] >> (number % 64) & 1 == 1
    }

    /// Whether no number is in.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// How many numbers are in.
    #[inline]
    #[must_use]
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether the two sets share a number.
    #[inline]
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        (0..4).any(|i| self.0[i] & other.0[i] != 0)
    }

    /// The union.
    #[inline]
    #[must_use]
    pub fn union(mut self, other: Self) -> Self {
        for i in 0..4 {
            self.0[i] |= other.0[i];
        }
        self
    }

    /// The intersection.
    #[inline]
    #[must_use]
    pub fn intersection(mut self, other: Self) -> Self {
        for i in 0..4 {
            self.0[i] &= other.0[i];
        }
        self
    }

    /// The difference.
    #[inline]
    #[must_use]
    pub fn minus(mut self, other: Self) -> Self {
        for i in 0..4 {
            self.0[i] &= !other.0[i];
        }
        self
    }

    /// The numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..4u32).flat_map(|i| {
            let mut word = self.0[i as usize];
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros();
                word &= word.wrapping_sub(1);
                (bit < 64).then_some(i * 64 + bit)
            })
        })
    }
}

impl FromIterator<u32> for Bits {
    fn from_iter<T: IntoIterator<Item = u32>>(numbers: T) -> Self {
        numbers.into_iter().fold(Self::EMPTY, |bits, number| bits.union(Self::one(number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_gives_back_its_numbers_in_order() {
        let numbers = [0, 5, 63, 64, 190, 255];
        let bits: Bits = numbers.into_iter().collect();
        assert_eq!(bits.iter().collect::<Vec<_>>(), numbers);
        assert_eq!(bits.len(), 6);
    }

    #[test]
    fn set_operations_agree_with_their_names() {
        let (a, b): (Bits, Bits) = ([1, 2, 200].into_iter().collect(), [2, 3].into_iter().collect());
        assert!(a.meets(&b) && !a.minus(b).meets(&b));
        assert_eq!(a.intersection(b), Bits::one(2));
        assert_eq!(a.union(b).len(), 4);
        assert_eq!(Bits::folded(258), Bits::one(2));
    }
}
