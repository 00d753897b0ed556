//! Independent jobs on several threads.
//!
//! Jobs are taken from a counter, so a long one delays nobody; a panic in a job ends the whole
//! program through the hook in `exit`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Does jobs on several threads; the answers come in the order of the jobs.
pub fn in_parallel<T: Send>(jobs: usize, threads: usize, job: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let answers = Mutex::new(Vec::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= jobs {
                return;
            }
            let answer = job(number);
            answers.lock().unwrap_or_else(PoisonError::into_inner).push((number, answer));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            explore::threads::help(scope, work);
        }
        work();
    });
    let mut answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
    answers.sort_by_key(|(number, _)| *number);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_answered_in_order() {
        assert_eq!(in_parallel(5, 3, |number| number * 2), [0, 2, 4, 6, 8]);
        assert_eq!(in_parallel(0, 3, |number| number), [0; 0]);
    }
}
