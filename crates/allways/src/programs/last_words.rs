//! What the runtime of a language says before it ends a program: a panic of Rust, an uncaught exception of C++.
//!
//! The program's own words say more than the exit code or the signal that follows them.

use std::ops::Range;
use trace::{FailureKind, Location};

/// What a runtime said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LastWords {
    /// In one line.
    pub message: String,
    /// The author's line that it names, if it names one.
    pub location: Option<Location>,
    /// The lines of standard error that say it.
    pub lines: Range<usize>,
}

impl LastWords {
    /// What ended a program that failed so, by what programs wrote to standard error.
    pub fn of(kind: FailureKind, complaints: &[String]) -> Option<Self> {
        match kind {
            FailureKind::Exit => panic(complaints),
            FailureKind::Assert => exception(complaints),
            _ => None,
        }
    }
}

/// The first panic: those after it are often of threads that found the first one gone.
fn panic(complaints: &[String]) -> Option<LastWords> {
    const AT: &str = " panicked at ";
    let first = complaints.iter().position(|line| line.contains("thread '") && line.contains(AT))?;
    let (who, place) = complaints[first].split_once(AT)?;
    let is_said = |line: &&String| !line.is_empty() && !line.contains("RUST_BACKTRACE") && !line.contains(AT);
    let said: Vec<&str> = complaints[first + 1..].iter().take_while(is_said).map(|line| line.trim()).collect();
    let has_note = complaints.get(first + 1 + said.len()).is_some_and(|line| line.contains("RUST_BACKTRACE"));
    let lines = first..first + 1 + said.len() + usize::from(has_note);
    let message = format!("{} panicked: {}", without_number(who), said.join(", "));
    Some(LastWords { message, location: location(place), lines })
}

/// `thread 'main' (4711)` without the number of the thread.
fn without_number(who: &str) -> &str {
    who.rfind("' (").map_or(who, |end| &who[..=end])
}

/// `src/main.rs:12:10:`
fn location(place: &str) -> Option<Location> {
    let mut parts = place.trim_end_matches(':').rsplitn(3, ':');
    let (column, line) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(Location { file: parts.next()?.to_owned(), line, column, width: 0 })
}

/// What libstdc++ says before it aborts.
fn exception(complaints: &[String]) -> Option<LastWords> {
    const THROWN: &str = "terminate called after throwing an instance of '";
    let first = complaints.iter().position(|line| line.contains(THROWN))?;
    let (_, name) = complaints[first].split_once(THROWN)?;
    let what = complaints.get(first + 1).and_then(|line| line.split_once("what():")).map(|(_, what)| what.trim());
    let name = name.trim_end_matches('\'');
    let message = what.map_or_else(|| format!("uncaught {name}"), |what| format!("uncaught {name}: {what}"));
    Some(LastWords { message, location: None, lines: first..first + 1 + usize::from(what.is_some()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message, the file and line, and the lines of standard error.
    type Said = (String, Option<(String, u32)>, Range<usize>);

    fn said(kind: FailureKind, text: &str) -> Option<Said> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let said = LastWords::of(kind, &lines)?;
        Some((said.message, said.location.map(|location| (location.file, location.line)), said.lines))
    }

    #[test]
    fn a_panic_is_told_by_its_message_and_its_line() {
        let text =
            "\nthread 'main' (49230) panicked at src/a.rs:12:10:\noversold\nnote: run with `RUST_BACKTRACE=1` ...";
        let expected = ("thread 'main' panicked: oversold".to_owned(), Some(("src/a.rs".to_owned(), 12)), 1..4);
        assert_eq!(said(FailureKind::Exit, text), Some(expected));
        let text = "thread 'w' panicked at a.rs:1:2:\nassertion `left == right` failed\n  left: 1\n right: 2";
        let message = "thread 'w' panicked: assertion `left == right` failed, left: 1, right: 2";
        assert_eq!(said(FailureKind::Exit, text).map(|said| said.0), Some(message.to_owned()));
    }

    #[test]
    fn an_exception_is_told_by_its_type_and_what_it_says() {
        let text = "hello\nterminate called after throwing an instance of 'std::runtime_error'\n  what():  oversold\n";
        let expected = ("uncaught std::runtime_error: oversold".to_owned(), None, 1..3);
        assert_eq!(said(FailureKind::Assert, text), Some(expected));
        let text = "terminate called after throwing an instance of 'int'";
        assert_eq!(said(FailureKind::Assert, text), Some(("uncaught int".to_owned(), None, 0..1)));
    }

    #[test]
    fn other_programs_have_no_last_words() {
        assert_eq!(said(FailureKind::Exit, "an addition is lost"), None);
        assert_eq!(said(FailureKind::Deadlock, "thread 'main' panicked at a.rs:1:2:\nx"), None);
    }
}
