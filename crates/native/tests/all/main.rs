//! Small servers on the host, driven over their connections.
#![allow(unsafe_code, reason = "a supervisor is this very executable, and has to become one before there are threads")]
#![allow(clippy::disallowed_methods, reason = "tests compile servers and look at processes")]

mod answers;
mod endings;
mod isolation;
mod load;
mod patience;
mod random;
mod server;
mod sleeps;
mod udp;
mod unix;

/// The loader calls this before `main`.
#[used]
#[unsafe(link_section = ".init_array")]
static BECOME_SUPERVISOR: extern "C" fn() = become_supervisor;

extern "C" fn become_supervisor() {
    native::supervise_if_asked();
}
