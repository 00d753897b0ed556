//! What files of each kind can do, as Linux's `struct file_operations`.

use crate::Kernel;
use crate::call::{Call, Stop};
use crate::id::Id;
use memory::Memory;

/// Where a read or write takes place: at the description's offset, or at a given one (`pread(2)`).
pub type At = Option<u64>;

/// What a read gives.
pub type Received = Result<Vec<u8>, Stop>;

/// What a kind of file can do: one row for each kind, as Linux's `struct file_operations`.
///
/// A function that does not apply is one of [`refuse`]'s, which give the errno that Linux gives.
///
/// `read` and `write` work on bytes that the caller copies from and to the guest: a function cannot
/// fault half way. `At` is an explicit offset (`pread(2)`); `None` is the description's own, which
/// the function advances itself.
pub struct Operations {
    /// Up to `len` bytes; empty at the end. Waits if there is nothing and the description blocks.
    pub read: fn(&mut Call<'_>, Id, usize, At) -> Received,
    /// Writes, giving back how many bytes were taken.
    pub write: fn(&mut Call<'_>, Id, &[u8], At) -> Result<usize, Stop>,
    /// The `poll(2)` events that hold now. The argument is the description.
    ///
    /// Must agree with `read` and `write`: if it says `POLLIN`, a read returns something (data, end
    /// of file or an error) without waiting. [`crate::Condition::Poll`] relies on it to tell
    /// deadlocks.
    pub poll: fn(&Kernel, &Memory, Id) -> u16,
    /// `ioctl(2)`: request and argument.
    pub ioctl: fn(&mut Call<'_>, Id, u64, u64) -> Result<u64, Stop>,
    /// The last reference is gone.
    pub close: fn(&mut Kernel, &mut Memory, Id),
    /// `lseek(2)`: offset and whence.
    pub seek: fn(&mut Call<'_>, Id, i64, u32) -> Result<u64, Stop>,
}

/// `lseek(2)` that does nothing and says so (Linux's `noop_llseek`).
pub fn noop_seek(_: &mut Call<'_>, _: Id, _: i64, _: u32) -> Result<u64, Stop> {
    Ok(0)
}

/// Functions for what a kind of file cannot do.
pub mod refuse {
    use super::{At, Operations};
    use crate::Kernel;
    use crate::call::{Call, Stop};
    use crate::descriptor::{POLLIN, POLLOUT, POLLRDNORM, POLLWRNORM};
    use crate::errno::{EINVAL, ENOTTY, ESPIPE};
    use crate::id::Id;
    use memory::Memory;

    /// A file that can do nothing.
    pub static NOTHING: Operations = Operations { read, write, poll, ioctl, close, seek };

    /// `EINVAL`.
    pub fn read(_: &mut Call<'_>, _: Id, _: usize, _: At) -> Result<Vec<u8>, Stop> {
        Err(EINVAL.into())
    }

    /// `EINVAL`.
    pub fn write(_: &mut Call<'_>, _: Id, _: &[u8], _: At) -> Result<usize, Stop> {
        Err(EINVAL.into())
    }

    /// Always ready, as files that do not implement it are.
    #[must_use]
    pub fn poll(_: &Kernel, _: &Memory, _: Id) -> u16 {
        POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM
    }

    /// `ENOTTY`.
    pub fn ioctl(_: &mut Call<'_>, _: Id, _: u64, _: u64) -> Result<u64, Stop> {
        Err(ENOTTY.into())
    }

    /// Nothing to do.
    pub fn close(_: &mut Kernel, _: &mut Memory, _: Id) {}

    /// `ESPIPE`.
    pub fn seek(_: &mut Call<'_>, _: Id, _: i64, _: u32) -> Result<u64, Stop> {
        Err(ESPIPE.into())
    }
}
