//! The numbers of signals, what they do by default, and sets of them.

/// A set of signals: bit `n - 1` for signal `n`, as the kernel's `sigset_t`.
pub type Set = u64;

macro_rules! signals {
    ($(($name:ident, $number:literal, $default:ident),)*) => {
        $(#[doc = concat!("`", stringify!($name), "`, see `signal(7)`.")] pub const $name: u8 = $number;)*

        /// Names and default actions, by number.
        const ROWS: &[(u8, &str, Default)] = &[$(($number, stringify!($name), Default::$default),)*];
    };
}

/// What a signal does to a process that made no arrangement (`signal(7)`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Default {
    /// The process ends.
    Terminate,
    /// The process ends and says that it left a core file.
    Core,
    /// Nothing.
    Ignore,
    /// The process stops.
    Stop,
    /// It goes on if it was stopped.
    Continue,
}

signals! {
    (SIGHUP, 1, Terminate),
    (SIGINT, 2, Terminate),
    (SIGQUIT, 3, Core),
    (SIGILL, 4, Core),
    (SIGTRAP, 5, Core),
    (SIGABRT, 6, Core),
    (SIGBUS, 7, Core),
    (SIGFPE, 8, Core),
    (SIGKILL, 9, Terminate),
    (SIGUSR1, 10, Terminate),
    (SIGSEGV, 11, Core),
    (SIGUSR2, 12, Terminate),
    (SIGPIPE, 13, Terminate),
    (SIGALRM, 14, Terminate),
    (SIGTERM, 15, Terminate),
    (SIGSTKFLT, 16, Terminate),
    (SIGCHLD, 17, Ignore),
    (SIGCONT, 18, Continue),
    (SIGSTOP, 19, Stop),
    (SIGTSTP, 20, Stop),
    (SIGTTIN, 21, Stop),
    (SIGTTOU, 22, Stop),
    (SIGURG, 23, Ignore),
    (SIGXCPU, 24, Core),
    (SIGXFSZ, 25, Core),
    (SIGVTALRM, 26, Terminate),
    (SIGPROF, 27, Terminate),
    (SIGWINCH, 28, Ignore),
    (SIGIO, 29, Terminate),
    (SIGPWR, 30, Terminate),
    (SIGSYS, 31, Core),
}

/// The highest signal number.
pub const LAST: u8 = 64;

/// The first real-time signal: from here on signals queue, below they are counted once (`signal(7)`).
///
/// The C library keeps 32 and 33 for itself, so `SIGRTMIN` of programs is 34; to the kernel they
/// are like the others.
pub const FIRST_REAL_TIME: u8 = 32;

/// Signals that stop a process by default.
pub const STOPS: Set = bit(SIGSTOP) | bit(SIGTSTP) | bit(SIGTTIN) | bit(SIGTTOU);

/// Signals that nothing can block, catch or ignore.
pub const UNCATCHABLE: Set = bit(SIGKILL) | bit(SIGSTOP);

/// Signals that an instruction causes; they go before all others.
///
/// Otherwise a handler for an asynchronous signal would run on top of a fault whose registers it
/// cannot explain (`dequeue_synchronous_signal` in Linux).
pub const SYNCHRONOUS: Set = bit(SIGSEGV) | bit(SIGBUS) | bit(SIGILL) | bit(SIGTRAP) | bit(SIGFPE) | bit(SIGSYS);

/// The set of one signal.
#[must_use]
pub const fn bit(number: u8) -> Set {
    1 << (number - 1)
}

/// What a signal does by default; real-time signals terminate.
#[must_use]
pub fn default(number: u8) -> Default {
    ROWS.iter().find(|row| row.0 == number).map_or(Default::Terminate, |row| row.2)
}

/// The signal of a name, with or without `SIG`.
#[must_use]
pub fn named(name: &str) -> Option<u8> {
    let short = name.strip_prefix("SIG").unwrap_or(name);
    ROWS.iter().find(|row| row.1.strip_prefix("SIG") == Some(short)).map(|row| row.0)
}

/// All names, without `SIG`.
pub fn names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().filter_map(|row| row.1.strip_prefix("SIG"))
}

/// The name, such as `SIGHUP` or `SIGRT_3`.
#[must_use]
pub fn name(number: u8) -> String {
    match ROWS.iter().find(|row| row.0 == number) {
        Some(row) => row.1.to_owned(),
        None => format!("SIGRT_{}", i32::from(number) - i32::from(FIRST_REAL_TIME)),
    }
}
