//! Linux as a value: processes, threads, descriptors, files, sockets, futexes, signals, clocks; one table of syscalls.
//!
//! [`Kernel`] is plain data that can be cloned, compared and hashed; nothing in it is a callback or a handle of the host.
//! A syscall is a function of ([`Kernel`], [`memory::Memory`], thread, arguments) found in one table ([`table`]). It
//! returns a number, an errno, or a [`Wait`]: data that says *when to try again*, after which the call is redone from its
//! arguments. What the kernel does not model is [`Stop::Unsupported`], with a name, and never passes silently.
//!
//! The kernel knows no processor: what a call does to registers is a [`Control`] for the world to carry out.

pub mod call;
pub mod capability;
pub mod clock;
pub mod console;
pub mod credentials;
pub mod datagram;
pub mod descriptor;
pub mod errno;
pub mod event;
pub mod files;
pub mod futex;
pub mod guest;
pub mod host;
pub mod id;
pub mod ipc;
pub mod kernel;
pub mod lifecycle;
pub mod map;
pub mod mapping;
pub mod net;
pub mod pipe;
pub mod process;
pub mod shared;
pub mod short_transfer;
pub mod signal;
pub mod system;
pub mod table;
pub mod terminal;
pub mod thread;
pub mod time;
pub mod wait;
mod wide;

pub use call::{Call, Control, Outcome, Stop};
pub use errno::Errno;
pub use id::{Id, Pid, Tid};
pub use kernel::Kernel;
pub use process::Process;
pub use thread::Thread;
pub use wait::{Condition, Interruption, Wait};
