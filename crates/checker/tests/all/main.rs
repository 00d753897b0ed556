//! Searches of programs: known answers, random programs, footprints of calls, generated documents.
#![allow(clippy::disallowed_methods, reason = "tests use the host")]

mod allocation;
mod check;
mod choices;
mod depths;
mod documents;
mod examples;
mod footprint;
mod fuzz;
#[path = "../../../world/tests/all/inside.rs"]
mod inside;
mod library;
mod livelock;
mod peer_fuzz;
mod peers;
mod replayed;
mod rounds;
mod start;
mod store_buffers;
mod trust;
mod waits;

/// What the binary uses: random programs take less time with it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
