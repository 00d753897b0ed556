//! Instructions against the generic functions and the host's processor.
#![allow(clippy::disallowed_methods, reason = "tests use the host")]

mod agree;
mod cache;
mod host;
mod stops;
