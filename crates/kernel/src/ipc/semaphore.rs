//! Sets of System V semaphores.

use super::access::{Access, Object};
use crate::id::Pid;
use std::collections::BTreeMap;

/// `SEMVMX`.
pub const VALUE_MAX: i32 = 32767;
/// `SEM_UNDO`.
const UNDO: u16 = 0x1000;

/// A set of semaphores.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Set {
    /// Who may do what.
    pub access: Access,
    /// The semaphores.
    pub semaphores: Vec<Semaphore>,
    /// Last operation and last change, seconds since 1970.
    pub times: (u64, u64),
}

/// One semaphore.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Semaphore {
    /// Its value.
    pub value: i32,
    /// Who changed it last.
    pub pid: u32,
}

/// What is added to semaphores when a process ends, by set and semaphore.
pub type Undo = BTreeMap<(i32, u16), i32>;

/// One operation (`struct sembuf`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Operation {
    /// Which semaphore.
    pub semaphore: u16,
    /// What to add; 0 waits for zero.
    pub add: i16,
    /// `IPC_NOWAIT`, `SEM_UNDO`.
    pub flags: u16,
}

/// Semaphore operations that a thread waits for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SemaphoreRequest {
    /// The set.
    pub set: i32,
    /// All or none of these.
    pub operations: Vec<Operation>,
    /// Who asks.
    pub pid: Pid,
}

impl Object for Set {
    fn access(&self) -> &Access {
        &self.access
    }
}

impl Operation {
    /// Whether it is undone at the end of the process.
    pub(super) fn is_undone(self) -> bool {
        self.flags & UNDO != 0
    }
}
