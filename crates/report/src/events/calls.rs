//! Syscalls in words: `read fd 4 (socket) -> 2 bytes`, `connect fd 3 (socket) to 127.0.0.1:7000`.

use super::values::{bytes, descriptor, nanoseconds, path, stream_name};
use trace::{Argument, Call, LockMode, Progress, Purpose, Returned};

/// How much of a path is shown.
const PATH_MAX: usize = 28;
/// How much of the first of two.
const FIRST_PATH_MAX: usize = 15;
/// A file that was changed more recently is not told by its age.
const JUST_NOW: u64 = 1_000_000_000;

/// A call, and what it has come to.
///
/// A call has up to three events in a trace: begun, waits, returned. Each is told in full, since
/// other threads' rows stand between them.
pub(super) fn call(call: &Call) -> String {
    match call.fault.as_deref() {
        None => told(call),
        Some("") => told(call) + " (fault)",
        Some(word) => format!("({word}) {}", told(call)),
    }
}

fn told(call: &Call) -> String {
    match (&call.purpose, &call.progress) {
        (_, Progress::Returned(Returned::Child(child))) => format!("wait for {}", child.name),
        (Purpose::Sleeps(_), Progress::Returned(result)) => format!("wake up{}", returned(result)),
        // That a sleep, and a parent until its child runs another program, wait goes without saying.
        (Purpose::Sleeps(_) | Purpose::Forks, Progress::Waits) => begun(call),
        (_, Progress::Waits) => format!("{}: waits", begun(call)),
        (_, Progress::Begun) => begun(call),
        (_, Progress::Returned(result)) => format!("{}{}", begun(call), returned(result)),
    }
}

/// A call, whatever it comes to.
pub(super) fn begun(call: &Call) -> String {
    match (&call.purpose, call.arguments.first()) {
        (Purpose::Prints(stream), _) => format!("write to {}", stream_name(*stream)),
        (Purpose::Sleeps(Some(span)), _) => format!("sleep {}", nanoseconds(*span)),
        (Purpose::Locks(mode), Some(file)) => format!("{} {} ({})", lock(*mode), argument(file), call.name),
        _ => {
            let words = call.arguments.iter().map(argument);
            std::iter::once(call.name.clone()).chain(words).collect::<Vec<_>>().join(" ")
        }
    }
}

fn lock(mode: LockMode) -> &'static str {
    match mode {
        LockMode::Shared => "lock for reading",
        LockMode::Exclusive => "lock",
        LockMode::Unlock => "unlock",
    }
}

fn argument(argument: &Argument) -> String {
    match argument {
        Argument::Descriptor { fd, file } => descriptor(*fd, file),
        Argument::Path(name) => path(name, PATH_MAX),
        Argument::OldName(name) => path(name, FIRST_PATH_MAX),
        Argument::NewName(name) => format!("as {}", path(name, PATH_MAX)),
        Argument::Bytes(sent) => bytes(sent),
        Argument::Signal(name) => name.clone(),
        Argument::Number(number) => number.to_string(),
        Argument::PeerAddress(address) => format!("to {address}"),
        Argument::OwnAddress(address) => format!("as {address}"),
        Argument::Semaphores { set, operations } => {
            let told = operations.iter().map(|(number, change)| format!("#{number} {change:+}"));
            format!("{} of set {set}", told.collect::<Vec<_>>().join(", "))
        }
    }
}

fn returned(result: &Returned) -> String {
    match result {
        Returned::Nothing => String::new(),
        Returned::Error(name) => format!(" -> {name}"),
        Returned::EndOfInput => " -> end of input".to_owned(),
        Returned::Bytes(read) => format!(" -> {}", bytes(read)),
        Returned::Age(0..JUST_NOW) => " -> just changed".to_owned(),
        Returned::Age(age) => format!(" -> {} old", nanoseconds(*age)),
        Returned::Descriptor(fd) => format!(" -> fd {fd}"),
        Returned::Number(number) => format!(" -> {number}"),
        Returned::Ready(count) => format!(" -> {count} ready"),
        Returned::Child(child) => format!(" -> {}", child.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::{Bytes, FileKind, Stream, ThreadRef};

    fn made(name: &str, purpose: Purpose, arguments: Vec<Argument>) -> Call {
        Call { name: name.to_owned(), purpose, arguments, progress: Progress::Begun, fault: None, passage: None }
    }

    /// A call as it begins, waits and returns.
    fn told(begun: &Call, result: Returned) -> [String; 3] {
        let at = |progress| call(&Call { progress, ..begun.clone() });
        [at(Progress::Begun), at(Progress::Waits), at(Progress::Returned(result))]
    }

    fn fd(fd: i32, file: FileKind) -> Argument {
        Argument::Descriptor { fd, file }
    }

    #[test]
    fn a_call_is_told_with_its_arguments_and_its_result() {
        let read = made("read", Purpose::Plain, vec![fd(4, FileKind::Socket)]);
        let [begun, waits, returned] = told(&read, Returned::Bytes(Bytes::beginning_with(b"hi", 2)));
        assert_eq!((begun.as_str(), waits.as_str()), ("read fd 4 (socket)", "read fd 4 (socket): waits"));
        assert_eq!(returned, "read fd 4 (socket) -> \"hi\"");
        let names = [Argument::OldName("a".to_owned()), Argument::NewName("b".to_owned())];
        let rename = made("rename", Purpose::Plain, names.to_vec());
        assert_eq!(told(&rename, Returned::Error("ENOENT".to_owned()))[2], "rename \"a\" as \"b\" -> ENOENT");
        let operations = vec![(1, -1), (0, 2)];
        let semop = made("semop", Purpose::Plain, vec![Argument::Semaphores { set: 3, operations }]);
        assert_eq!(told(&semop, Returned::Nothing)[2], "semop #1 -1, #0 +2 of set 3");
    }

    #[test]
    fn a_purpose_says_more_than_a_name() {
        let sleep = made("nanosleep", Purpose::Sleeps(Some(5_000_000)), Vec::new());
        assert_eq!(told(&sleep, Returned::Nothing), ["sleep 5 ms", "sleep 5 ms", "wake up"]);
        let print = made("writev", Purpose::Prints(Stream::Output), Vec::new());
        assert_eq!(told(&print, Returned::Error("EPIPE".to_owned()))[2], "write to standard output -> EPIPE");
        let file = FileKind::File(Some("log".to_owned()));
        let lock = made("flock", Purpose::Locks(LockMode::Exclusive), vec![fd(3, file)]);
        assert_eq!(told(&lock, Returned::Nothing)[1], "lock fd 3 (log) (flock): waits");
        let fork = made("vfork", Purpose::Forks, Vec::new());
        assert_eq!(told(&fork, Returned::Number(7)), ["vfork", "vfork", "vfork -> 7"]);
        let wait = made("wait4", Purpose::Plain, Vec::new());
        let child = Returned::Child(ThreadRef { actor: 7, name: "sh>1".to_owned() });
        assert_eq!(told(&wait, child)[2], "wait for sh>1");
    }
}
