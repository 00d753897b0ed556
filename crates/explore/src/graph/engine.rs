//! Entry points.

use super::job::{Board, Known, Workers};
use super::lookahead::look_ahead;
use super::options::{Limits, Mode, Options};
use super::report::Report;
use super::search::Search;
use super::{bounded, graph_report};
use crate::footprint_system::FootprintSystem;
use crate::threads;
use std::sync::mpsc::channel;

/// Searches until nothing is left, or a limit is reached.
pub fn search<T: FootprintSystem>(system: &mut T, mode: Mode, limits: &mut Limits<'_>) -> Report {
    search_with(system, Options::new(mode), limits)
}

/// The same with options.
pub fn search_with<T: FootprintSystem>(system: &mut T, options: Options, limits: &mut Limits<'_>) -> Report {
    run(system, options, limits, None)
}

/// The same with workers: systems that are equal to the owner's, so that states of one are states of all. The report does
/// not depend on them.
///
/// If the host gives no more threads, the search runs with fewer workers: `help` says whether one
/// started.
pub fn search_with_many<T>(owner: &mut T, others: &mut [T], options: Options, limits: &mut Limits<'_>) -> Report
where
    T: FootprintSystem + Send,
    T::State: Send,
{
    let (known, board) = (Known::default(), Board::new());
    std::thread::scope(|scope| {
        let (outbox, outcomes) = channel();
        let mut size = 0;
        for system in others {
            let (outbox, board, known) = (outbox.clone(), &board, &known);
            let has_thread = threads::help(scope, move || {
                while let Some(job) = board.take()
                    && outbox.send(look_ahead(system, job, known)).is_ok()
                {}
            });
            size += usize::from(has_thread);
        }
        let workers = Workers { board: &board, outcomes, known: &known, size };
        run(owner, options, limits, Some(workers))
    })
}

fn run<'s, T: FootprintSystem>(
    system: &'s mut T,
    options: Options,
    limits: &mut Limits<'_>,
    workers: Option<Workers<'s, T::State>>,
) -> Report {
    let mut search = Search::new(system, options, workers);
    let stopped = match options.mode {
        Mode::Bounded(bound) => bounded::run(&mut search, bound, limits),
        _ => search.run(limits),
    };
    graph_report::report(&search, stopped)
}
