//! `siginfo_t` as bytes.
//!
//! Offsets are those of the x86-64 `siginfo_t`: number at 0, `si_errno` at 4 (always 0), `si_code`
//! at 8, and from 16 on a union whose members `si_code` selects. A handler may look at members that
//! its signal does not fill: they are zero, as Linux clears them.

use super::number::{SIGBUS, SIGCHLD, SIGFPE, SIGILL, SIGIO, SIGSEGV, SIGTRAP};
use crate::process::SignalInfo;

/// Size of `siginfo_t`.
pub const SIZE: usize = 128;

/// Sent by `kill(2)`.
pub const SI_USER: i32 = 0;
/// Sent by the kernel.
pub const SI_KERNEL: i32 = 0x80;
/// Sent by `sigqueue(3)`.
pub const SI_QUEUE: i32 = -1;
/// Sent by a POSIX timer.
pub const SI_TIMER: i32 = -2;
/// Sent by `tkill(2)`.
pub const SI_TKILL: i32 = -6;

/// Which members of the union a signal fills.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Kill,
    Timer,
    Value,
    Child,
    Fault,
    Poll,
}

impl SignalInfo {
    /// A signal sent by the kernel itself.
    #[must_use]
    pub fn kernel(number: u8) -> Self {
        Self { number, code: SI_KERNEL, ..Self::default() }
    }

    /// A signal that an instruction causes, with `si_code` and `si_addr`.
    #[must_use]
    pub fn fault(number: u8, code: i32, address: u64) -> Self {
        Self { number, code, address, ..Self::default() }
    }

    fn layout(&self) -> Layout {
        match (self.code, self.number) {
            (SI_TIMER, _) => Layout::Timer,
            (code, _) if code < 0 => Layout::Value,
            (SI_USER | SI_KERNEL, _) => Layout::Kill,
            (_, SIGCHLD) => Layout::Child,
            (_, SIGIO) => Layout::Poll,
            (_, SIGSEGV | SIGBUS | SIGILL | SIGFPE | SIGTRAP) => Layout::Fault,
            _ => Layout::Kill,
        }
    }

    /// `siginfo_t` as a handler finds it.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        let mut put = |offset: usize, value: &[u8]| bytes[offset..offset + value.len()].copy_from_slice(value);
        put(0, &i32::from(self.number).to_le_bytes());
        put(8, &self.code.to_le_bytes());
        if self.layout() == Layout::Fault {
            put(16, &self.address.to_le_bytes());
            return bytes;
        }
        put(16, &self.pid.to_le_bytes());
        put(20, &self.uid.to_le_bytes());
        match self.layout() {
            Layout::Timer | Layout::Value => put(24, &self.value.to_le_bytes()),
            Layout::Child => {
                put(24, &self.status.to_le_bytes());
                // `si_utime`: clock ticks; all processor time counts as user time.
                put(32, &self.value.to_le_bytes());
            }
            Layout::Poll => {
                put(16, &self.value.to_le_bytes());
                put(24, &self.status.to_le_bytes());
            }
            Layout::Kill | Layout::Fault => {}
        }
        bytes
    }

    /// What a program hands to `rt_sigqueueinfo(2)`; the number is given apart.
    #[must_use]
    pub fn from_bytes(number: u8, bytes: &[u8; SIZE]) -> Self {
        let word = |offset: usize| u32::from_le_bytes(bytes[offset..offset + 4].try_into().expect("four bytes"));
        let value = u64::from_le_bytes(bytes[24..32].try_into().expect("eight bytes"));
        Self { number, code: word(8) as i32, pid: word(16), uid: word(20), value, ..Self::default() }
    }
}
