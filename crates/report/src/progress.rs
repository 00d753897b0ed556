//! The line that shows that work goes on.

use crate::number::{bytes, short_count};

/// How far a search is.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Progress {
    /// States met, repeated ones too.
    pub met: u64,
    /// Distinct states.
    pub states: u64,
    /// States still to expand.
    pub frontier: u64,
    /// The deepest so far.
    pub depth: u64,
    /// Distinct states a second, lately.
    pub rate: f64,
    /// Memory in use.
    pub memory_bytes: u64,
    /// The part of the work that is done, where there is a basis for saying so.
    pub done: Option<f64>,
    /// Since the start.
    pub seconds: f64,
}

/// `1.2 M states . 402 k distinct . 31 k frontier . depth 44 . 88 k/s . 1.9 GB . about 40 % . 0:14`
#[must_use]
pub fn progress_line(progress: &Progress) -> String {
    let mut parts = vec![
        format!("{} states", short_count(progress.met)),
        format!("{} distinct", short_count(progress.states)),
        format!("{} frontier", short_count(progress.frontier)),
        format!("depth {}", progress.depth),
        format!("{}/s", short_count(progress.rate as u64)),
        bytes(progress.memory_bytes),
    ];
    parts.extend(progress.done.map(|done| format!("about {:.0} %", (done * 100.0).clamp(0.0, 99.0))));
    parts.push(clock(progress.seconds as u64));
    parts.join(" . ")
}

fn clock(seconds: u64) -> String {
    match seconds {
        0..3600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_reads_as_promised() {
        let progress = Progress {
            met: 1_210_000,
            states: 402_000,
            frontier: 31_000,
            depth: 44,
            rate: 88_000.0,
            memory_bytes: 2_040_109_465,
            done: Some(0.4),
            seconds: 14.3,
        };
        let line = "1.2 M states . 402 k distinct . 31 k frontier . depth 44 . 88 k/s . 1.9 GB . about 40 % . 0:14";
        assert_eq!(progress_line(&progress), line);
        let unknown = Progress { done: None, seconds: 3725.0, ..progress };
        assert!(progress_line(&unknown).ends_with("1.9 GB . 1:02:05"));
    }
}
