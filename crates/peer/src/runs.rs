//! Where a peer runs.

/// Where a peer runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Runs {
    /// In a world of its own.
    #[default]
    World,
    /// On the host.
    Native,
}
