//! Threads that help: a search goes on without them where the host gives none.

use std::thread::{Builder, Scope};

/// Lets another thread do some work as well; whether there is one. (`Scope::spawn` panics where there is none.)
pub fn help<'scope>(scope: &'scope Scope<'scope, '_>, work: impl FnOnce() + Send + 'scope) -> bool {
    Builder::new().spawn_scoped(scope, work).is_ok()
}
