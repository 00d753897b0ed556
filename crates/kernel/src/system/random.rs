//! Random numbers: the same in every run with the same seed, whatever other threads do.

use crate::Kernel;
use crate::call::{Call, Stop};
use crate::errno::EINVAL;
use crate::id::{Id, Tid};

/// What `getrandom(2)` gives at once, at most.
const COUNT_MAX: u64 = 33_554_431;

/// Random bytes of a thread.
pub fn random(kernel: &mut Kernel, tid: Tid, len: usize) -> Vec<u8> {
    let thread = kernel.threads.get_mut(&tid).expect("a thread that asks exists");
    thread.randoms += 1;
    let stream = thread.path.child(u64::MAX).child(thread.randoms);
    let seed = Id(stream.0 ^ kernel.seed);
    let words = (0..).flat_map(|count| seed.child(count).0.to_le_bytes());
    words.take(len).collect()
}

/// Sixteen random bytes of a thread, as a new program gets them (`AT_RANDOM` of `getauxval(3)`).
pub fn random_bytes(kernel: &mut Kernel, tid: Tid) -> [u8; 16] {
    random(kernel, tid, 16).try_into().expect("sixteen bytes")
}

/// `getrandom(2)`.
pub fn getrandom(call: &mut Call<'_>) -> Result<u64, Stop> {
    const RANDOM: u64 = 2;
    const INSECURE: u64 = 4;
    let [address, length, flags, ..] = call.args;
    if flags & !7 != 0 || flags & (RANDOM | INSECURE) == RANDOM | INSECURE {
        return Err(EINVAL.into());
    }
    let length = length.min(COUNT_MAX);
    let bytes = random(call.kernel, call.tid, length as usize);
    call.store(address, &bytes)?;
    Ok(length)
}
