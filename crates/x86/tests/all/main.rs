//! Instructions against the generic functions and the host's processor.

mod agree;
mod cache;
mod host;
mod stops;
