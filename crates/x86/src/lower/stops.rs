//! Instructions before which a run is to stop.
//!
//! Everything else that can be seen by others is an access to memory, and memory stops it by
//! address (watchpoints); these are the operations that are visible whatever the address is.
//! Between two visible operations a thread is not interrupted: its accesses there are local, until
//! a race shows that they are not (decision 9).

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind};
use std::collections::BTreeSet;

/// Instructions before which a run is to stop: where one thread can be seen by another.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stops {
    /// Before `syscall`, before `mfence`, and before every instruction that locks memory: a `lock` prefix, or `xchg` with
    /// memory.
    pub synchronising: bool,
    /// Before the instructions at these addresses.
    ///
    /// Entries of library functions that are executed as one operation (decision 10), and the like.
    pub addresses: BTreeSet<u64>,
}

impl Stops {
    /// Whether a run stops before `i`.
    #[must_use]
    pub fn contains(&self, i: &Instruction) -> bool {
        self.synchronising && is_synchronising(i) || self.addresses.contains(&i.ip())
    }
}

/// Whether an instruction calls the kernel, locks memory or is a fence. These are the instructions that wait until all
/// stores of their thread have reached memory (SDM vol. 3, "Memory Ordering in P6 and More Recent Processor Families").
///
/// `xchg` with memory locks without a prefix (SDM vol. 2, XCHG). `sfence` and `lfence` are not among them: stores are in
/// order already, and so are loads.
#[must_use]
pub fn is_synchronising(i: &Instruction) -> bool {
    let has_memory = || (0..i.op_count()).any(|n| i.op_kind(n) == OpKind::Memory);
    matches!(i.mnemonic(), Mnemonic::Syscall | Mnemonic::Mfence)
        || i.has_lock_prefix()
        || i.mnemonic() == Mnemonic::Xchg && has_memory()
}

/// The same of the instruction that some bytes begin with.
#[must_use]
pub fn begins_synchronising(bytes: &[u8]) -> bool {
    is_synchronising(&Decoder::new(64, bytes, DecoderOptions::NONE).decode())
}
