//! Alternate signal stacks, and the return from handlers.

use crate::call::{Call, Control, Stop};
use crate::errno::{EFAULT, EINVAL, ENOMEM, EPERM, Errno};
use crate::{Kernel, Thread, Tid};
use memory::Memory;

/// `SS_ONSTACK`: reported while the thread runs on it.
const SS_ONSTACK: u32 = 1;
/// `SS_DISABLE`: there is none.
pub const SS_DISABLE: u32 = 2;
/// `SS_AUTODISARM`: gone while a handler runs.
const SS_AUTODISARM: u32 = 1 << 31;

/// `SA_ONSTACK`.
const SA_ONSTACK: u64 = 0x0800_0000;

/// `MINSIGSTKSZ`.
const SIZE_MIN: u64 = 2048;

/// Registers are the world's: it restores them and reports to [`super::returned`].
pub fn rt_sigreturn(_: &mut Call<'_>) -> Result<u64, Stop> {
    Err(Control::SignalReturn.into())
}

/// The stack pointer is the world's: it calls [`set_alternate_stack`].
pub fn sigaltstack(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [new, old, ..] = call.args;
    Err(Control::SignalStack { new, old }.into())
}

/// `sigaltstack(2)` of a thread with this stack pointer; what it returns in `rax`.
pub fn set_alternate_stack(
    kernel: &mut Kernel,
    memory: &mut Memory,
    tid: Tid,
    pointer: u64,
    new: u64,
    old: u64,
) -> u64 {
    match change(kernel, memory, tid, pointer, new, old) {
        Ok(()) => 0,
        Err(errno) => errno.result(),
    }
}

fn change(kernel: &mut Kernel, memory: &mut Memory, tid: Tid, pointer: u64, new: u64, old: u64) -> Result<(), Errno> {
    let thread = kernel.threads.get_mut(&tid).expect("a caller is a thread");
    let space = kernel.processes.get(&thread.pid).expect("a thread has a process").space;
    let (base, size, flags) = thread.alternate_stack;
    let is_on = is_on_stack(thread.alternate_stack, pointer);
    if new != 0 {
        let mut bytes = [0; 24];
        memory.read(space, new, &mut bytes).map_err(|_| EFAULT)?;
        let number = |from: usize| u64::from_le_bytes(bytes[from..from + 8].try_into().expect("eight bytes"));
        if is_on {
            return Err(EPERM);
        }
        thread.alternate_stack = checked(number(0), number(16), number(8) as u32)?;
    }
    if old != 0 {
        let shown = flags & SS_AUTODISARM | if size == 0 { SS_DISABLE } else { u32::from(is_on) * SS_ONSTACK };
        let bytes = [base.to_le_bytes(), u64::from(shown).to_le_bytes(), size.to_le_bytes()].concat();
        memory.write(space, old, &bytes).map_err(|_| EFAULT)?;
    }
    Ok(())
}

/// A stack as `sigaltstack(2)` takes it.
fn checked(base: u64, size: u64, flags: u32) -> Result<(u64, u64, u32), Errno> {
    match flags & !SS_AUTODISARM {
        SS_DISABLE => Ok((0, 0, flags)),
        // `SS_ONSTACK` is accepted without meaning, for old programs.
        0 | SS_ONSTACK if size >= SIZE_MIN => Ok((base, size, flags)),
        0 | SS_ONSTACK => Err(ENOMEM),
        _ => Err(EINVAL),
    }
}

/// Whether a stack pointer lies on an alternate stack; never on one that disarms itself.
///
/// The lower bound is excluded and the upper included, because stacks grow down: an empty stack has
/// its pointer at the very end.
#[must_use]
pub fn is_on_stack((base, size, flags): (u64, u64, u32), pointer: u64) -> bool {
    flags & SS_AUTODISARM == 0 && size != 0 && pointer > base && pointer - base <= size
}

/// Where a handler's frame begins if it goes to the alternate stack: `SA_ONSTACK`, and the thread is not there already.
#[must_use]
pub fn alternate_top(delivery: &super::Delivery, pointer: u64) -> Option<u64> {
    let (base, size, _) = delivery.alternate_stack;
    let wanted = delivery.action.flags & SA_ONSTACK != 0 && size != 0;
    (wanted && !is_on_stack(delivery.alternate_stack, pointer)).then_some(base.wrapping_add(size))
}

/// A stack with `SS_AUTODISARM` is gone while a handler runs.
pub fn disarm(thread: &mut Thread) {
    if thread.alternate_stack.2 & SS_AUTODISARM != 0 {
        thread.alternate_stack = (0, 0, SS_DISABLE);
    }
}

/// `rt_sigreturn(2)` puts back the stack of the frame and ignores nonsense there.
pub fn restore(thread: &mut Thread, (base, size, flags): (u64, u64, u32)) {
    if let Ok(stack) = checked(base, size, flags) {
        thread.alternate_stack = stack;
    }
}
