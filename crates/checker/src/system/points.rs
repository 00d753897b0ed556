//! Points that users place: where threads stop besides, and what tells states apart.

/// What users want to be looked at, beside what the search finds by itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Points {
    /// States in which these variables agree, and the places of all threads, are taken for one. Empty: everything counts.
    pub matched: Vec<String>,
    /// Variables whose values are told.
    pub watched: Vec<String>,
}
