//! Operations of the C library in words: `lock forks[0]`.

use trace::{Operation, Verb};

/// What is said of a thread that has ended and is known by no name.
pub(super) const NAMELESS: &str = "a thread that has ended";

/// An operation.
pub(super) fn operation(operation: &Operation) -> String {
    let object = operation.object.as_deref().unwrap_or(NAMELESS);
    let limit = if operation.has_time_limit && tells_limit(operation.verb) { ", with a time limit" } else { "" };
    let (before, after) = words(operation.verb);
    format!("{before} {object}{after}{limit}")
}

/// Whether it is told that an operation gives up at a certain time.
fn tells_limit(verb: Verb) -> bool {
    matches!(verb, Verb::Lock | Verb::Join)
}

/// The words before and behind what is operated on.
fn words(verb: Verb) -> (&'static str, &'static str) {
    match verb {
        Verb::Lock => ("lock", ""),
        Verb::TryLock => ("try to lock", ""),
        Verb::ReadLock => ("lock", " for reading"),
        Verb::TryReadLock => ("try to lock", " for reading"),
        Verb::WriteLock => ("lock", " for writing"),
        Verb::TryWriteLock => ("try to lock", " for writing"),
        Verb::Unlock => ("unlock", ""),
        Verb::Destroy => ("destroy", ""),
        Verb::Sleep => ("wait on", ""),
        Verb::WakeUp => ("wake up at", ""),
        Verb::Signal => ("signal", ""),
        Verb::Broadcast => ("wake all at", ""),
        Verb::Arrive => ("come to barrier", ""),
        Verb::Take => ("take semaphore", ""),
        Verb::TryTake => ("try to take semaphore", ""),
        Verb::Give => ("give semaphore", ""),
        Verb::Join => ("join", ""),
        Verb::TryJoin => ("try to join", ""),
        Verb::Once => ("once", " (one-time initialisation)"),
        Verb::Cancel => ("cancel", ""),
        Verb::Detach => ("detach", ""),
        Verb::Free => ("free", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_names_its_object_and_its_limit() {
        let told = |verb, object: Option<&str>, has_time_limit| {
            operation(&Operation { verb, object: object.map(str::to_owned), has_time_limit })
        };
        assert_eq!(told(Verb::Lock, Some("m"), true), "lock m, with a time limit");
        assert_eq!(told(Verb::ReadLock, Some("m"), true), "lock m for reading");
        assert_eq!(told(Verb::Join, None, false), "join a thread that has ended");
        assert_eq!(told(Verb::Once, Some("o"), false), "once o (one-time initialisation)");
    }
}
