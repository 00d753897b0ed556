//! Peers on the host, asked as the search asks them.
#![allow(unsafe_code, reason = "the process between us and a peer is this very executable, before there are threads")]
#![allow(clippy::disallowed_methods, reason = "tests compile servers")]

mod native_peer;
mod same_answers;

/// The loader calls this before `main`.
#[used]
#[unsafe(link_section = ".init_array")]
static BECOME_KEEPER: extern "C" fn() = become_keeper;

extern "C" fn become_keeper() {
    native::keep_if_asked();
}
