//! Ctrl-C: once to stop and hear what was covered, twice to leave at once.

use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that becomes true when the user wants to stop.
pub fn on_interrupt() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Registered first, so it sees the flag as the signal before left it: only the second one ends the program.
        // Without handlers the signal ends the program anyway, so a failure to register them is no loss.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop));
        let _ = signal_hook::flag::register(signal, Arc::clone(&stop));
    }
    stop
}

/// Ctrl-C is for a program that we have started and that shares our terminal; it does nothing to us.
pub fn leave_to_others() {
    // Without the handler we would end with it, and it would tell its user.
    let _ = signal_hook::flag::register(SIGINT, Arc::default());
}
