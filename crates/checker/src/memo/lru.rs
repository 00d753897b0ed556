//! Ways in which something went in the same place before. What came lately comes again soonest.

use std::sync::Arc;

/// More ways than this are not looked through: it would take as long as going.
const WAYS_MAX: usize = 24;

/// The ways of one place, the one that was met last first.
pub(crate) struct Ways<T>(Vec<Arc<T>>);

impl<T> Default for Ways<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Ways<T> {
    /// A way that fits.
    pub fn find(&mut self, fits: impl Fn(&T) -> bool) -> Option<&Arc<T>> {
        let at = self.0.iter().position(|way| fits(way))?;
        self.0[..=at].rotate_right(1);
        self.0.first()
    }

    /// Whether there is room for no more.
    pub fn is_full(&self) -> bool {
        self.0.len() >= WAYS_MAX
    }

    /// Adds one, in the place of the one that was met longest ago if there are many; how many more there are now.
    pub fn add(&mut self, way: T) -> usize {
        let dropped = if self.is_full() { self.0.pop() } else { None };
        self.0.insert(0, Arc::new(way));
        usize::from(dropped.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_met_longest_ago_is_forgotten_first() {
        let mut ways = Ways::default();
        let added: usize = (0..WAYS_MAX).map(|way| ways.add(way)).sum();
        assert!(added == WAYS_MAX && ways.is_full());
        assert_eq!(ways.find(|way| *way == 0).map(|way| **way), Some(0));
        assert_eq!(ways.add(WAYS_MAX), 0);
        assert!(ways.find(|way| *way == 1).is_none());
        assert!(ways.find(|way| *way == 0).is_some() && ways.find(|way| *way == WAYS_MAX).is_some());
    }
}
