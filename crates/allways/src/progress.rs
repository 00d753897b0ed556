//! The progress line: redrawn on a terminal, a line every half minute elsewhere.

use crate::output::stderr;
use report::{Progress, progress_line};
use std::io::IsTerminal;
use std::sync::Mutex;

/// Seconds between two lines in a log.
const LOG_SECONDS: f64 = 30.0;
/// Seconds before the first line on a terminal: a quick check shows none.
const FIRST_SECONDS: f64 = 0.5;

/// A search that took fewer seconds is not followed by a line about what comes next.
const PHASE_SECONDS: f64 = 2.0;

/// Shows how far a search is.
pub struct ProgressLine {
    is_terminal: bool,
    is_quiet: bool,
    /// Columns of the terminal: a longer line would be wrapped, and could not be drawn over.
    columns: usize,
    shown: Mutex<Shown>,
}

#[derive(Default)]
struct Shown {
    /// When the last line was printed, in seconds since the start.
    at: f64,
    /// Columns that the line on the screen takes.
    width: usize,
}

impl ProgressLine {
    /// Nothing is shown yet.
    pub fn new(is_quiet: bool, columns: usize) -> Self {
        Self { is_terminal: std::io::stderr().is_terminal(), is_quiet, columns, shown: Mutex::default() }
    }

    /// Shows progress if it is time to.
    pub fn show(&self, progress: &Progress) {
        self.show_line(progress.seconds, || progress_line(progress));
    }

    /// Shows what is done now, if what came before took long.
    pub fn show_phase(&self, seconds: f64, line: impl FnOnce() -> String) {
        if seconds >= PHASE_SECONDS {
            self.draw(seconds, line());
        }
    }

    /// Shows a line if it is time to, so many seconds after the start.
    pub fn show_line(&self, seconds: f64, line: impl FnOnce() -> String) {
        let Ok(last) = self.shown.lock().map(|shown| shown.at) else { return };
        if is_due(self.is_terminal, last, seconds) {
            self.draw(seconds, line());
        }
    }

    fn draw(&self, seconds: f64, mut line: String) {
        let Ok(mut shown) = self.shown.lock() else { return };
        if self.is_quiet {
            return;
        }
        if self.is_terminal {
            line = line.chars().take(self.columns.saturating_sub(1)).collect();
        }
        let text = if self.is_terminal { format!("\r{line:width$}", width = shown.width) } else { format!("{line}\n") };
        stderr(&text);
        *shown = Shown { at: seconds, width: line.len() };
    }

    /// Takes the line off the screen.
    pub fn clear(&self) {
        let Ok(mut shown) = self.shown.lock() else { return };
        if self.is_terminal && shown.width > 0 {
            stderr(&format!("\r{:width$}\r", "", width = shown.width));
        }
        shown.width = 0;
    }
}

fn is_due(is_terminal: bool, last: f64, now: f64) -> bool {
    if is_terminal { now >= FIRST_SECONDS } else { now - last >= LOG_SECONDS }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_gets_a_line_every_half_minute_and_a_terminal_every_time() {
        assert!(!is_due(false, 0.0, 29.9) && is_due(false, 0.0, 30.0) && !is_due(false, 30.0, 45.0));
        assert!(!is_due(true, 0.0, 0.2) && is_due(true, 0.6, 0.8));
    }
}
