//! Additional threads: a search goes on without them where the host gives none.

use std::thread::{Builder, Scope};

/// Runs some work on another thread; whether there is one. (`Scope::spawn` panics where there is none.)
pub fn help<'scope>(scope: &'scope Scope<'scope, '_>, work: impl FnOnce() + Send + 'scope) -> bool {
    Builder::new().spawn_scoped(scope, work).is_ok()
}
