//! The audit: some of the results that were memoized or inherited are computed all the same and compared. Where debug
//! assertions are on one in `UNASKED` is, and a difference is a panic unless an audit was requested.

/// Of so many results one is audited where debug assertions are on and nobody said of how many.
///
/// Every search of every test then audits some. Those that are about the memo audit all (`audit: Some(1)`): random and known programs
/// of the fuzz in one of their looks, peers, rounds. To audit all results of all tests took seven of ten seconds of a large search.
pub(crate) const UNASKED: u32 = 8;

/// Counts of an audit.
///
/// `--audit` in a release build is the same check that tests make all the time, on one result in so
/// many: the answer to "how do you know that the memo is right on my program".
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Audited {
    /// Memoized and inherited results.
    pub results: u64,
    /// Those that were computed again.
    pub again: u64,
}

impl Audited {
    /// Adds the counts of another worker.
    pub(crate) fn add(&mut self, other: Self) {
        self.results += other.results;
        self.again += other.again;
    }

    /// Counts a result; whether it is to be computed again, where one in so many is.
    pub(crate) fn is_due(&mut self, one_in: u32) -> bool {
        // Scattered, so that results that recur with a fixed period are audited, too.
        let scattered = self.results.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        self.results += 1;
        let is_due = scattered.is_multiple_of(u64::from(one_in.max(1)));
        self.again += u64::from(is_due);
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_so_many_is_due_whatever_the_rhythm() {
        for stride in 1..=8 {
            let mut audited = Audited::default();
            let due = (0..8_000).filter(|_| audited.is_due(10)).count();
            assert!((700..900).contains(&due), "{due}");
            let mut audited = Audited::default();
            let due = (0..8_000u64).filter(|number| audited.is_due(10) && number.is_multiple_of(stride)).count() as u64;
            assert!((600 / stride..1_000 / stride).contains(&due), "{due} of every {stride}");
        }
        assert!((0..100).all(|_| Audited::default().is_due(1)));
    }
}
