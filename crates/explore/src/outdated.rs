//! When a search ends because races have shown that its abstraction is too coarse.

/// Effort behind the first such race, at least, whatever it is counted in.
const MORE: u64 = 20;

/// Whether a race needs a refinement, and since when.
///
/// Such a search restarts with the refinement, so nothing that it would still find is lost. It goes on for as long again as it
/// took to the race: then one refinement contains several races, and what is thrown away is at most twice what had to be done.
#[derive(Default)]
pub struct Outdated {
    /// Races that were looked at.
    races: usize,
    /// The effort at which one of them needed a refinement.
    since: Option<u64>,
}

impl Outdated {
    /// Whether the search may end, with so many races and after so much effort.
    pub fn is_over(&mut self, races: usize, effort: u64, needs_refinement: impl FnOnce() -> bool) -> bool {
        if self.since.is_none() && races > self.races {
            self.races = races;
            self.since = needs_refinement().then_some(effort);
        }
        self.since.is_some_and(|since| effort > 2 * since + MORE)
    }
}

#[cfg(test)]
mod tests {
    use super::Outdated;

    #[test]
    fn a_search_goes_on_for_as_long_again_as_a_race_took_that_needs_a_refinement() {
        let mut outdated = Outdated::default();
        assert!(!outdated.is_over(0, 50, || panic!("there is no race")));
        assert!(!outdated.is_over(1, 60, || false));
        assert!(!outdated.is_over(1, 90, || panic!("the race is known")));
        assert!(!outdated.is_over(2, 100, || true));
        assert!(!outdated.is_over(3, 220, || panic!("one is enough")));
        assert!(outdated.is_over(3, 221, || panic!("one is enough")));
    }
}
