//! Mounting: the world has one tree, and nothing is mounted into it or taken away.

use crate::call::{Call, Stop};
use crate::capability::Capability;
use crate::errno::EPERM;

/// What the table says of these calls.
pub const NOTE: &str = "EPERM without privileges, refused with them";

/// `mount(2)`, `umount2(2)`, `pivot_root(2)`: only the superuser gets as far as being told that we do not model it.
pub fn refuse(call: &mut Call<'_>) -> Result<u64, Stop> {
    if !call.can(Capability::Admin) {
        return Err(EPERM.into());
    }
    call.unsupported("changes of what is mounted")
}
