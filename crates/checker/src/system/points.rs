//! Variables that users name: those that identify states, and those whose values are shown.

/// Variables that users name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Points {
    /// States that agree in these variables and in the positions of all threads are identified. Empty: the whole state
    /// counts.
    pub matched: Vec<String>,
    /// Variables whose changes are shown.
    pub watched: Vec<String>,
}
