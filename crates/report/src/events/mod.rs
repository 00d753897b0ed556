//! Events in words: the one place where what happened becomes text.
//!
//! **Invariant:** words are made of the data of an event alone, so a saved counterexample reads as it did when it was found. Only
//! a statement of a model, and an event of a file of another version, is told by the text that came with it.
//!
//! Whoever records a trace records data ([`trace::EventKind`]), not sentences; so a better wording
//! reaches counterexamples that were saved before it.

mod calls;
mod disk;
mod files;
mod operations;
mod values;
mod waits;

pub use disk::disk_notes;
pub use files::mistaken_notes;
pub(crate) use values::bytes as bytes_text;
pub use waits::waiting_text;

use calls::call;
use operations::operation;
use std::borrow::Cow;
use trace::{Bytes, ConnectionEnd, Counterexample, Ending, Event, EventKind, FaultEvent, ThreadRef};
use values::{bytes, nanoseconds};

/// What an event says: `lock forks[0]`, `read fd 4 (socket) -> 2 bytes`.
#[must_use]
pub fn event_text(event: &Event) -> Cow<'_, str> {
    let words = match &event.kind {
        EventKind::Statement => return Cow::Borrowed(&event.text),
        EventKind::Local => "runs on (nothing visible to others)".to_owned(),
        EventKind::Call(made) => call(made),
        EventKind::CreateThread { routine } => format!("create a thread for {routine}"),
        EventKind::Assertion => "the assertion fails".to_owned(),
        EventKind::Operation(done) => operation(done),
        EventKind::ExitThread => "end the thread".to_owned(),
        EventKind::ExitProcess { status } => format!("exit({status})"),
        EventKind::Access { name, is_buffered: true, .. } => format!("writes {name}, into its store buffer"),
        EventKind::Access { name, is_write, .. } => format!("{} {name}", if *is_write { "writes" } else { "reads" }),
        EventKind::Drain { name } => format!("its write of {name} leaves the store buffer"),
        EventKind::Signal { signal } => format!("gets {signal}"),
        EventKind::End(how) => ending(how),
        EventKind::Time { nanoseconds, slow } => time(*nanoseconds, slow),
        EventKind::Fault(happens) => fault(happens),
        EventKind::Connection { port } => format!("connects to port {port}"),
        EventKind::Delivery { answer, end, is_client } => delivery(answer.as_ref(), *end, *is_client),
    };
    Cow::Owned(words)
}

/// A counterexample with all words filled in, as its file has them.
pub(crate) fn worded(counterexample: &Counterexample) -> Counterexample {
    let mut worded = counterexample.clone();
    for event in worded.trace.steps.iter_mut().flat_map(|step| &mut step.events) {
        event.text = event_text(event).into_owned();
    }
    for waiting in &mut worded.wait_for {
        waiting.text = waiting_text(waiting).into_owned();
    }
    worded
}

fn fault(happens: &FaultEvent) -> String {
    match happens {
        FaultEvent::Kill(program) => format!("kill {program}"),
        FaultEvent::Restart(program) => format!("kill {program} and start it again"),
        FaultEvent::Pause(program) => format!("pause {program}"),
        FaultEvent::Resume(program) => format!("{program} goes on"),
        FaultEvent::Partition(program) => format!("cut {program} off from the network"),
        FaultEvent::Reconnect(program) => format!("the network of {program} is up again"),
        FaultEvent::Signal { signal, program } => format!("{signal} is sent to {program}"),
        FaultEvent::Reset([one, other]) => format!("reset the connection of {one} and {other}"),
        FaultEvent::Arrival(said) => format!("a delayed datagram arrives: {}", bytes(said)),
        FaultEvent::Early(passed) => format!("time passes early: {}", nanoseconds(*passed)),
        FaultEvent::Clock(by) => {
            let direction = if *by < 0 { "back" } else { "forward" };
            format!("the real-time clock is set {direction} by {}", nanoseconds(by.unsigned_abs()))
        }
        FaultEvent::PowerLoss => "power fails".to_owned(),
        FaultEvent::Disk(found) => disk::found(found),
    }
}

fn ending(how: &Ending) -> String {
    match how {
        Ending::Ended => "has ended".to_owned(),
        Ending::Exited(code) => format!("has ended: exit code {code}"),
        Ending::Killed(signal) => format!("is ended by {signal}"),
    }
}

fn time(passed: u64, slow: &[ThreadRef]) -> String {
    let passed = nanoseconds(passed);
    let names: Vec<&str> = slow.iter().map(|thread| thread.name.as_str()).collect();
    match names.as_slice() {
        [] => format!("time passes: {passed}"),
        [only] => format!("time passes: {passed}; {only} is slow"),
        several => format!("time passes: {passed}; {} are slow", several.join(" and ")),
    }
}

fn delivery(answer: Option<&Bytes>, end: Option<ConnectionEnd>, is_client: bool) -> String {
    let verb = if is_client { "sends" } else { "answers" };
    let answer = answer.map(|answer| format!("{verb} {}", bytes(answer)));
    let end = end.map(|end| match end {
        ConnectionEnd::Closed => "closes the connection".to_owned(),
        ConnectionEnd::Reset => "breaks the connection off".to_owned(),
        ConnectionEnd::Unreachable => "is not there: port unreachable".to_owned(),
    });
    answer.into_iter().chain(end).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_names_who_is_slow() {
        let slow = |names: &[&str]| {
            let thread = |name: &&str| ThreadRef { actor: 1, name: (*name).to_owned() };
            time(2_000_000, &names.iter().map(thread).collect::<Vec<_>>())
        };
        assert_eq!(slow(&[]), "time passes: 2 ms");
        assert_eq!(slow(&["main"]), "time passes: 2 ms; main is slow");
        assert_eq!(slow(&["main", "T1"]), "time passes: 2 ms; main and T1 are slow");
    }

    #[test]
    fn an_answer_and_the_end_of_a_connection_are_one_delivery() {
        let answer = Bytes::beginning_with(b"+OK\r\n", 5);
        assert_eq!(delivery(Some(&answer), None, false), r#"answers "+OK\r\n""#);
        assert_eq!(delivery(Some(&answer), None, true), r#"sends "+OK\r\n""#);
        assert_eq!(
            delivery(Some(&answer), Some(ConnectionEnd::Closed), false),
            r#"answers "+OK\r\n" and closes the connection"#
        );
        assert_eq!(delivery(None, Some(ConnectionEnd::Reset), false), "breaks the connection off");
    }
}
