//! Where a peer runs.

/// Where a peer runs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Runs {
    /// In a world of its own.
    #[default]
    World,
    /// On the host.
    Native,
    /// Where somebody else has started it: the name or address of the machine, and the port.
    Remote(String, u16),
}
