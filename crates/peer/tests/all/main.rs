//! Peers on the host, asked as the search asks them.
#![allow(unsafe_code, reason = "the process between us and a peer is this very executable, before there are threads")]
#![allow(clippy::disallowed_methods, reason = "tests compile servers")]

mod native_peer;
mod same_answers;

/// The loader calls this before `main`.
#[used]
#[unsafe(link_section = ".init_array")]
static BECOME_SUPERVISOR: extern "C" fn() = become_supervisor;

extern "C" fn become_supervisor() {
    native::supervise_if_asked();
}
