//! What a processor's trap becomes: a signal, as Linux's `arch/x86/kernel/traps.c` decides.
//!
//! Trap numbers are those of the processor (SDM volume 3A, table "Exceptions and Interrupts"): 0
//! divide error, 3 breakpoint, 6 invalid opcode, 12 stack, 13 general protection, 14 page fault, 16
//! x87, 17 alignment, 19 SIMD. Handlers see them in `uc_mcontext`, and runtimes (Go, Java,
//! sanitizers) decide by them.

use kernel::process::SignalInfo;
use memory::{AccessKind, Cause, Fault};
use x86::{Cpu, Trap};

/// A signal that an instruction caused, and what the frame tells about the trap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Raised {
    /// The signal.
    pub info: SignalInfo,
    /// Trap number, error code and faulting address, as in `struct sigcontext`.
    pub trap: (u64, u64, u64),
}

const SIGILL: u8 = 4;
const SIGTRAP: u8 = 5;
const SIGBUS: u8 = 7;
const SIGFPE: u8 = 8;
const SIGSEGV: u8 = 11;
/// `si_code` of a signal that the kernel sends without more to say.
const SI_KERNEL: i32 = 0x80;
/// `si_code` of a misaligned access.
const BUS_ADRALN: i32 = 1;

/// The signal of a trap; nothing for traps that are no fault of the guest's.
#[must_use]
pub fn raised(trap: &Trap, cpu: &Cpu) -> Option<Raised> {
    let (rip, mxcsr) = (cpu.rip, cpu.mxcsr);
    let plain = |number, code, trap| Some(Raised { info: info(number, code, rip), trap: (trap, 0, 0) });
    match trap {
        Trap::Memory(memory::Halt::Fault(fault)) => page_fault(fault),
        Trap::DivideError => plain(SIGFPE, 1, 0),
        Trap::InvalidOpcode => plain(SIGILL, 2, 6),
        Trap::Breakpoint => Some(Raised { info: info(SIGTRAP, SI_KERNEL, 0), trap: (3, 0, 0) }),
        Trap::SimdException => plain(SIGFPE, float_code(mxcsr, mxcsr >> 7), 19),
        Trap::X87Exception => plain(SIGFPE, float_code(cpu.x87.status().into(), cpu.x87.control.into()), 16),
        Trap::StackFault => Some(Raised { info: info(SIGBUS, SI_KERNEL, 0), trap: (12, 0, 0) }),
        Trap::AlignmentCheck => Some(Raised { info: info(SIGBUS, BUS_ADRALN, 0), trap: (17, 0, 0) }),
        Trap::GeneralProtection | Trap::Privileged | Trap::Interrupt(_) => {
            Some(Raised { info: info(SIGSEGV, SI_KERNEL, 0), trap: (13, 0, 0) })
        }
        Trap::Memory(memory::Halt::Visible(_)) | Trap::Unsupported | Trap::Syscall | Trap::Stop => None,
    }
}

fn info(number: u8, code: i32, address: u64) -> SignalInfo {
    SignalInfo { number, code, address, ..SignalInfo::default() }
}

/// Error code: bit 0 the page was present, bit 1 a write, bit 2 from user mode, bit 4 an
/// instruction fetch.
fn page_fault(fault: &Fault) -> Option<Raised> {
    let (number, code, present) = match fault.cause {
        Cause::Unmapped => (SIGSEGV, 1, 0),
        Cause::Protected => (SIGSEGV, 2, 1),
        Cause::BeyondEnd => (SIGBUS, 2, 0),
        Cause::NoMemory => return None,
    };
    let access = match fault.access {
        AccessKind::Read => 0,
        AccessKind::Write => 2,
        AccessKind::Execute => 16,
    };
    const FROM_USER: u64 = 4;
    Some(Raised { info: info(number, code, fault.addr), trap: (14, FROM_USER | access | present, fault.addr) })
}

/// `si_code` of the first exception that is raised and not masked, in Linux's order.
///
/// Invalid before division by zero before overflow before underflow (with denormal operands) before
/// inexact.
fn float_code(raised: u32, masks: u32) -> i32 {
    const ORDER: [(u32, i32); 6] = [(1, 7), (4, 3), (8, 4), (2, 5), (16, 5), (32, 6)];
    let unmasked = raised & !masks;
    ORDER.into_iter().find(|(bit, _)| unmasked & bit != 0).map_or(0, |(_, code)| code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_to_a_read_only_page_is_a_protection_error() {
        let fault = Fault { addr: 0x1000, access: AccessKind::Write, cause: Cause::Protected };
        let raised = page_fault(&fault).unwrap();
        assert_eq!((raised.info.number, raised.info.code, raised.trap), (SIGSEGV, 2, (14, 7, 0x1000)));
    }

    #[test]
    fn dividing_by_zero_is_a_floating_point_signal() {
        let raised = raised(&Trap::DivideError, &Cpu { rip: 0x40_1000, ..Cpu::default() }).unwrap();
        assert_eq!((raised.info.number, raised.info.code, raised.info.address), (SIGFPE, 1, 0x40_1000));
    }

    #[test]
    fn an_x87_exception_says_which() {
        let mut cpu = Cpu::default();
        cpu.x87.set_control(0x37f & !4);
        cpu.x87.raise(4);
        assert_eq!(raised(&Trap::X87Exception, &cpu).map(|raised| raised.info.code), Some(3));
    }

    #[test]
    fn running_out_of_memory_is_not_the_guests_fault() {
        let fault = Fault { addr: 0x1000, access: AccessKind::Write, cause: Cause::NoMemory };
        assert_eq!(page_fault(&fault), None);
    }
}
