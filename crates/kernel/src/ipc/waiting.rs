//! Who waits for what.

use crate::Kernel;
use crate::id::Tid;
use crate::wait::Condition;

/// Threads that wait for something, with what they wait for.
pub(super) fn waiting(kernel: &Kernel) -> impl Iterator<Item = (Tid, &Condition)> {
    kernel.threads.iter().flat_map(|(tid, thread)| {
        thread.wait.iter().flat_map(|wait| &wait.until).map(move |condition| (*tid, condition))
    })
}
