//! Names of things in the kernel: creation paths, never counters that two processes share.
//!
//! Two independent processes that both create something must do so in either order with the same outcome, bit for bit;
//! a global counter would tell the order. So an [`Id`] is made from who creates and how much it created before.

use std::fmt;

/// A process, as `getpid(2)` gives it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pid(pub u32);

/// A thread, as `gettid(2)` gives it; the first thread of a process has the process's number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tid(pub u32);

/// Anything else: an open file description, an inode, a pipe, a socket, a memory object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(pub u64);

impl Id {
    /// The id of the `count`-th thing that `self` creates.
    #[must_use]
    pub fn child(self, count: u64) -> Self {
        Self(mix(mix(self.0).wrapping_add(count)))
    }

    /// A fixed id for something that exists from the start, found by its name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self(name.bytes().fold(0x9e37_79b9_7f4a_7c15, |hash, byte| mix(hash ^ u64::from(byte))))
    }
}

/// A permutation of 64-bit numbers that spreads every bit (the finaliser of `SplitMix64`).
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

impl fmt::Debug for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pid {}", self.0)
    }
}

impl fmt::Debug for Tid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tid {}", self.0)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:016x}", self.0)
    }
}
