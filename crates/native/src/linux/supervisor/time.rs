//! The time that a program sees: it stands still while threads run, and passes while they sleep.

/// Nanoseconds since the program was started.
pub(super) type Moment = u64;

/// The date: 2035-01-01. Waits for something until an absolute time are the kernel's, who knows another one: in the future they
/// do not end at once, again and again.
const DATE: i64 = 2_051_222_400;
/// Time since the machine was started: more than any machine has been up.
const UPTIME: i64 = 100_000_000;

/// What a clock said when the program was started, in seconds; processor time stands still.
fn seconds(clock: i32) -> Option<i64> {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_REALTIME_ALARM | libc::CLOCK_TAI => Some(DATE),
        libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID | ..0 => None,
        _ => Some(UPTIME),
    }
}

/// What a clock said when the program was started, in nanoseconds; nothing for clocks of processor time.
pub(super) fn since_start(clock: i32) -> Option<Moment> {
    seconds(clock).map(|seconds| seconds as u64 * 1_000_000_000)
}

/// What a clock says: seconds, and nanoseconds.
pub(super) fn clock(clock: i32, now: Moment) -> (i64, i64) {
    let said = since_start(clock).map_or(0, |start| start + now);
    ((said / 1_000_000_000) as i64, (said % 1_000_000_000) as i64)
}

/// Two words as they lie in memory.
pub(super) fn words(first: i64, second: i64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&first.to_le_bytes());
    bytes[8..].copy_from_slice(&second.to_le_bytes());
    bytes
}

/// Bytes in the memory of another process; nothing if they cannot be read.
pub(super) fn read_bytes<const N: usize>(process: libc::pid_t, address: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let own = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: N };
    let other = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: N };
    // SAFETY: room for the bytes; the other side is memory of another process.
    let read = unsafe { libc::process_vm_readv(process, &own, 1, &other, 1, 0) };
    (read == N as isize).then_some(bytes)
}

/// A word in the memory of another process; nothing if it cannot be read.
pub(super) fn read_word(process: libc::pid_t, address: u64) -> Option<i64> {
    read_bytes(process, address).map(i64::from_le_bytes)
}

/// Seconds and a smaller unit, of so many nanoseconds, in another process; nothing if that cannot be read or is no time.
pub(super) fn read_time(process: libc::pid_t, address: u64, unit: u64) -> Option<Moment> {
    let (seconds, part) = (read_word(process, address)?, read_word(process, address.wrapping_add(8))?);
    let seconds = u64::try_from(seconds).ok()?;
    let part = u64::try_from(part).ok().filter(|part| *part < 1_000_000_000 / unit)?;
    Some(seconds.saturating_mul(1_000_000_000).saturating_add(part * unit))
}
