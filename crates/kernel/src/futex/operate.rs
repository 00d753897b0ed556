//! `FUTEX_WAKE_OP`.

use super::{ANY, key, wake_queue};
use crate::call::{Call, Stop};
use crate::errno::ENOSYS;

/// `FUTEX_WAKE_OP`: change a second word, wake waiters of the first, and of the second if its old value says so.
pub fn wake_op(
    call: &mut Call<'_>,
    first: u64,
    second: u64,
    is_private: bool,
    counts: [u32; 2],
    code: u32,
) -> Result<u64, Stop> {
    let (one, two) = (key(call, first, is_private)?, key(call, second, is_private)?);
    let old = call.load_u32(second)?;
    call.store_u32(second, operate(code, old)?)?;
    let mut woken = wake_queue(call.kernel, one, counts[0], ANY);
    if compare(code, old)? {
        woken += wake_queue(call.kernel, two, counts[1], ANY);
    }
    Ok(woken)
}

/// Twelve bits with a sign.
fn signed(bits: u32) -> u32 {
    ((bits << 20) as i32 >> 20) as u32
}

fn operate(code: u32, old: u32) -> Result<u32, Stop> {
    let argument = signed(code >> 12 & 0xfff);
    // The highest bit asks for a power of two (`FUTEX_OP_OPARG_SHIFT`); Linux takes its lowest five bits.
    let argument = if code >> 31 == 1 { 1 << (argument & 31) } else { argument };
    Ok(match code >> 28 & 7 {
        0 => argument,
        1 => old.wrapping_add(argument),
        2 => old | argument,
        3 => old & !argument,
        4 => old ^ argument,
        _ => return Err(ENOSYS.into()),
    })
}

fn compare(code: u32, old: u32) -> Result<bool, Stop> {
    let (old, argument) = (old as i32, signed(code & 0xfff) as i32);
    Ok(match code >> 24 & 0xf {
        0 => old == argument,
        1 => old != argument,
        2 => old < argument,
        3 => old <= argument,
        4 => old > argument,
        5 => old >= argument,
        _ => return Err(ENOSYS.into()),
    })
}
