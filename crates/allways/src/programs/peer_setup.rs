//! A peer that a check starts.

use crate::options::Spec;
use world::Command;

/// A peer that a check starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PeerSetup {
    /// As its user wrote it.
    pub spec: Spec,
    /// Where that is: a flag, or a section of the file.
    pub written: String,
    /// What is started.
    pub command: Command,
}
