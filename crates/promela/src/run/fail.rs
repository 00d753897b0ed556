//! What a model can do wrong while it runs, in one place so that messages stay alike.
//!
//! `fatal` failures end the run: nothing may come after the step. Assertions do not, so that one
//! search finds all of them.

use explore::Failure;
use trace::FailureKind;

fn runtime(message: String) -> Failure {
    Failure { kind: FailureKind::Runtime, message, fatal: true, property: None }
}

/// An array index out of bounds.
#[must_use]
pub fn index(value: i32, bound: u32) -> Failure {
    runtime(format!("array index {value} is outside 0 .. {}", i64::from(bound) - 1))
}

/// A division by zero.
#[must_use]
pub fn division() -> Failure {
    runtime("division by zero".to_owned())
}

/// A channel id that no channel has.
#[must_use]
pub fn channel(id: i32) -> Failure {
    runtime(if id == 0 {
        "use of a channel variable that holds no channel".to_owned()
    } else {
        format!("use of channel {id}, which does not exist (any more)")
    })
}

/// A poll on a rendezvous channel.
#[must_use]
pub fn poll_rendezvous(name: &str) -> Failure {
    runtime(format!("poll of rendezvous channel `{name}`: it never holds a message"))
}

/// A message with the wrong number of fields.
#[must_use]
pub fn fields(name: &str, has: usize, given: usize) -> Failure {
    runtime(format!("message with {given} fields for channel `{name}`, whose messages have {has}"))
}

/// `STDIN?x` where nobody types.
#[must_use]
pub fn no_input() -> Failure {
    runtime("`STDIN` is read, but a check has no input: only `allways run` has".to_owned())
}

/// More processes than a pid can tell apart.
#[must_use]
pub fn processes() -> Failure {
    runtime("too many processes: 255 exist already".to_owned())
}

/// More channels than a channel variable can tell apart.
#[must_use]
pub fn channels() -> Failure {
    runtime("too many channels: a channel variable tells 255 apart".to_owned())
}

/// A failed assertion; search goes on after it.
#[must_use]
pub fn assertion(text: &str) -> Failure {
    Failure { kind: FailureKind::Assert, message: format!("assertion violated {text}"), fatal: false, property: None }
}

/// A `d_step` that cannot go on.
#[must_use]
pub fn d_step_blocks() -> Failure {
    runtime("a statement inside d_step blocks: only the first one may".to_owned())
}

/// A rendezvous inside a `d_step`.
#[must_use]
pub fn d_step_rendezvous() -> Failure {
    runtime("rendezvous send inside d_step: another process would have to move".to_owned())
}

/// A sequence that never ends and never shows a state.
#[must_use]
pub fn endless(what: &str, statements: usize) -> Failure {
    runtime(format!("{what} went on for more than {statements} statements without an end"))
}

/// A `D_proctype` with a choice.
#[must_use]
pub fn not_deterministic(name: &str) -> Failure {
    runtime(format!("D_proctype `{name}` has more than one executable choice"))
}

/// An event that the `trace` automaton does not allow.
#[must_use]
pub fn event_not_allowed(channel: &str) -> Failure {
    Failure {
        kind: FailureKind::Trace,
        message: format!("event on `{channel}` does not match the trace assertion"),
        fatal: true,
        property: None,
    }
}

/// A `notrace` automaton that was matched.
#[must_use]
pub fn events_matched() -> Failure {
    Failure {
        kind: FailureKind::Trace,
        message: "the events match the notrace assertion".to_owned(),
        fatal: true,
        property: None,
    }
}

/// An `xr` or `xs` promise that another process breaks.
#[must_use]
pub fn promise(word: &str, channel: &str, owner: u32) -> Failure {
    Failure {
        kind: FailureKind::Exclusive,
        message: format!("`{word} {channel}` of process {owner} is broken: another process uses the channel"),
        fatal: false,
        property: None,
    }
}

/// An `xr` or `xs` promise about a rendezvous channel, which SPIN refuses: two processes move at once.
#[must_use]
pub fn promise_rendezvous(word: &str, channel: &str) -> Failure {
    Failure {
        kind: FailureKind::Exclusive,
        message: format!("`{word} {channel}`: a rendezvous channel cannot be promised to one process"),
        fatal: false,
        property: None,
    }
}

/// `enabled(p)` in a statement whose executability another `enabled()` asks for.
#[must_use]
pub fn circular_enabled() -> Failure {
    runtime("enabled() asks about a process whose next statement itself uses enabled()".to_owned())
}
