//! A peer that a check starts.

use crate::options::Spec;
use ::peer::Shape;
use world::Command;

/// A peer that a check starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PeerSetup {
    /// As its user wrote it.
    pub spec: Spec,
    /// Where that is: a flag, or a section of the file.
    pub written: String,
    /// Where programs find it, or where it finds them.
    pub shape: Shape,
    /// What is started.
    pub command: Command,
}
