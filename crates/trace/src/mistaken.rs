//! A file that was not what somebody took it for.

use crate::ThreadRef;
use serde::{Deserialize, Serialize};

/// What was done with a name of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileVerb {
    /// It was looked at.
    LookedAt,
    /// Nothing was there.
    LookedFor,
    /// It was opened.
    Opened,
    /// It was to be made, and was there already.
    Found,
    /// It was made.
    Made,
    /// It was removed.
    Removed,
    /// It stands for another file now.
    Replaced,
    /// What it stands for was changed.
    Changed,
    /// It was used through a descriptor.
    Used,
}

/// Something that was done with a file, and when.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileDeed {
    /// Who.
    pub who: ThreadRef,
    /// What.
    pub verb: FileVerb,
    /// In which step.
    pub step: usize,
}

/// Somebody acted upon another file than it had looked at: what a name stands for has changed between.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MistakenFile {
    /// The name.
    pub name: String,
    /// The look.
    pub look: FileDeed,
    /// What was done then, by the same one.
    pub deed: FileDeed,
    /// What others did to the name between the two.
    pub between: Vec<FileDeed>,
}
