//! `struct timeval`.

use super::SECOND;
use crate::call::{Call, Stop};
use crate::errno::EINVAL;

/// A `struct timeval` in nanoseconds; `EINVAL` if it is none.
pub fn load_timeval(call: &mut Call<'_>, address: u64) -> Result<u64, Stop> {
    let seconds = call.load_u64(address)? as i64;
    let micro = call.load_u64(address.wrapping_add(8))? as i64;
    if seconds < 0 || !(0..1_000_000).contains(&micro) {
        return Err(EINVAL.into());
    }
    Ok((seconds as u64).saturating_mul(SECOND).saturating_add(micro as u64 * 1000))
}

/// Writes nanoseconds as a `struct timeval`.
pub fn store_timeval(call: &mut Call<'_>, address: u64, nanoseconds: u64) -> Result<(), Stop> {
    call.store_u64(address, nanoseconds / SECOND)?;
    call.store_u64(address.wrapping_add(8), nanoseconds % SECOND / 1000)
}
