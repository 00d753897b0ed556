//! Instructions before which a run is to stop.

use iced_x86::{Instruction, Mnemonic, OpKind};
use std::collections::BTreeSet;

/// Instructions before which a run is to stop: where one thread can be seen by another.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stops {
    /// Before `syscall`, and before every instruction that locks memory: a `lock` prefix, or `xchg` with memory.
    pub synchronising: bool,
    /// Before the instructions at these addresses.
    pub addresses: BTreeSet<u64>,
}

impl Stops {
    /// Whether a run stops before `i`.
    #[must_use]
    pub fn contains(&self, i: &Instruction) -> bool {
        self.synchronising && is_synchronising(i) || self.addresses.contains(&i.ip())
    }
}

/// Whether an instruction calls the kernel or locks memory.
#[must_use]
pub fn is_synchronising(i: &Instruction) -> bool {
    let has_memory = || (0..i.op_count()).any(|n| i.op_kind(n) == OpKind::Memory);
    i.mnemonic() == Mnemonic::Syscall || i.has_lock_prefix() || i.mnemonic() == Mnemonic::Xchg && has_memory()
}
