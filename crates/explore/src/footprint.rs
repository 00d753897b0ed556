//! Accesses and footprints: on them rests which steps are independent. Every engine for programs compares footprints here.
//!
//! **Invariant:** a normalised footprint is sorted by object and has one access for each object, the strongest one.

/// An access of a step to an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Access {
    /// The object: a word of memory, a pipe, a lock.
    pub object: u64,
    /// Whether the step may change it.
    pub write: bool,
    /// Whether it is a plain (not atomic) access to memory, which races with concurrent ones.
    pub plain: bool,
}

/// Normalises a footprint.
pub fn normalise(accesses: &mut Vec<Access>) {
    accesses.sort_unstable();
    accesses.dedup_by(|later, earlier| {
        let same = later.object == earlier.object;
        if same {
            earlier.write |= later.write;
            earlier.plain |= later.plain;
        }
        same
    });
}

/// The normalised footprint of a blocked actor: it reads the objects that it waits for.
pub fn awaited(objects: &[u64]) -> Vec<Access> {
    let mut accesses = objects.iter().map(|object| Access { object: *object, write: false, plain: false }).collect();
    normalise(&mut accesses);
    accesses
}

/// Whether steps of different actors with these normalised footprints are dependent: a common object, and one of them
/// writes it.
pub fn conflict(one: &[Access], other: &[Access]) -> bool {
    common(one, other).any(|(a, b)| a.write || b.write)
}

/// Pairs of accesses of two normalised footprints to the same object.
pub fn common<'a>(one: &'a [Access], other: &'a [Access]) -> impl Iterator<Item = (&'a Access, &'a Access)> {
    let (mut left, mut right) = (0, 0);
    std::iter::from_fn(move || {
        while let (Some(a), Some(b)) = (one.get(left), other.get(right)) {
            left += usize::from(a.object <= b.object);
            right += usize::from(b.object <= a.object);
            if a.object == b.object {
                return Some((a, b));
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(object: u64, write: bool) -> Access {
        Access { object, write, plain: false }
    }

    #[test]
    fn a_normalised_footprint_has_the_strongest_access_to_each_object() {
        let mut accesses = vec![access(2, false), access(1, false), access(2, true)];
        normalise(&mut accesses);
        assert_eq!(accesses, [access(1, false), access(2, true)]);
    }

    #[test]
    fn steps_conflict_if_one_writes_a_common_object() {
        let reader = [access(1, false), access(5, false)];
        assert!(!conflict(&reader, &[access(1, false), access(3, true)]));
        assert!(conflict(&reader, &[access(0, true), access(5, true)]));
    }
}
