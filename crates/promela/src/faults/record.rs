//! What a state remembers about faults: bytes after the model's own globals.
//!
//! ```text
//! slots         two bytes each, one for each fault that may still happen or has happened: 0, or what happened, sorted
//! armed         one byte, if no fault may happen before some condition was true
//! limbo         for each channel whose messages may be delayed: how many are (0 or 1), and the message
//! flags         one byte for each variable that may be stuck
//! ```

/// Where a state keeps what happened.
///
/// Sorted, so that the same faults in another order are one state.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The first slot.
    pub slots_at: usize,
    /// How many slots there are.
    pub slots: usize,
    /// Whether the condition was true, if there is one.
    pub armed_at: Option<usize>,
}

/// Bytes of a slot.
pub const SLOT: usize = 2;

impl Record {
    /// What has happened so far, in ascending order.
    pub fn happened<'b>(&self, bytes: &'b [u8]) -> impl Iterator<Item = u16> + use<'b> {
        let slots = &bytes[self.slots_at..self.slots_at + self.slots * SLOT];
        let all = slots.chunks_exact(SLOT).map(|slot| u16::from_le_bytes([slot[0], slot[1]]));
        all.take_while(|number| *number != 0).map(|number| number - 1)
    }

    /// Adds one more, in its place: the same faults in another order are the same state.
    pub fn add(&self, bytes: &mut [u8], number: u16) {
        let mut all: Vec<u16> = self.happened(bytes).collect();
        let at = all.partition_point(|other| *other <= number);
        all.insert(at, number);
        for (index, number) in all.iter().enumerate() {
            let at = self.slots_at + index * SLOT;
            bytes[at..at + SLOT].copy_from_slice(&(number + 1).to_le_bytes());
        }
    }

    /// What has happened so far as one number.
    #[must_use]
    pub fn part(&self, bytes: &[u8]) -> u128 {
        self.happened(bytes).fold(0, |part, number| part << 16 | u128::from(number + 1))
    }

    /// Whether faults may happen.
    #[must_use]
    pub fn is_armed(&self, bytes: &[u8]) -> bool {
        self.armed_at.is_none_or(|at| bytes[at] != 0)
    }
}

/// The faults that a part of the state space stands for.
#[must_use]
pub fn faults_of(part: u128) -> Vec<usize> {
    let numbers = (0..8).rev().map(|slot| (part >> (16 * slot)) as u16);
    numbers.filter(|number| *number != 0).map(|number| usize::from(number) - 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happened_is_remembered_whatever_its_order() {
        let record = Record { slots_at: 1, slots: 3, armed_at: None };
        let (mut one, mut other) = ([9; 8], [9; 8]);
        [&mut one, &mut other].into_iter().for_each(|bytes| bytes[1..7].fill(0));
        [4, 0, 4].into_iter().for_each(|number| record.add(&mut one, number));
        [4, 4, 0].into_iter().for_each(|number| record.add(&mut other, number));
        assert_eq!(one, other);
        assert_eq!((one[0], one[7]), (9, 9));
        assert_eq!(faults_of(record.part(&one)), [0, 4, 4]);
        assert_eq!(faults_of(0), [0; 0]);
    }
}
