//! A counter that can be waited for (`eventfd(2)`).

/// The largest value that the counter can have by writing.
pub(super) const MAX: u64 = u64::MAX - 1;

/// A counter that can be waited for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Counter {
    pub(super) value: u64,
    /// Reading takes one rather than all (`EFD_SEMAPHORE`).
    pub(super) semaphore: bool,
}
