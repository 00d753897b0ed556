//! One row of the table: all that there is to say about a syscall.

use super::footprint::FootprintRule;
use super::narration::{Called, Narration, ResultWords, Shown, Verb, Words};
use crate::call::{Call, Stop};

/// What carries out a syscall.
pub type Function = fn(&mut Call<'_>) -> Result<u64, Stop>;

/// One syscall.
#[derive(Clone, Copy)]
pub struct Row {
    /// Its number on x86-64.
    pub number: u64,
    /// Its name.
    pub name: &'static str,
    /// What carries it out.
    pub function: Function,
    /// What of it is modelled.
    pub support: Support,
    /// How its arguments read, for traces.
    pub arguments: &'static [Argument],
    /// Which objects it reads and writes.
    pub footprint: FootprintRule,
    /// Whether it may make pages executable.
    pub maps_code: bool,
    /// What it does to the mappings that the threads of a process share.
    pub remaps: Option<Remaps>,
    /// What it is before a program's own code.
    pub startup: Startup,
    /// How it is narrated.
    pub narration: Narration,
}

/// What a call does to mappings, by its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Remaps {
    /// Maps pages, perhaps over others (`mmap(2)`).
    Map,
    /// Unmaps pages.
    Unmap,
    /// Changes protections.
    Protect,
    /// Moves pages (`mremap(2)`).
    Move,
    /// May take the content of pages away (`madvise(2)`).
    Advise,
    /// Moves the end of the heap.
    Break,
    /// Unmaps the segment at an address (`shmdt(2)`).
    Detach,
}

/// What a call is before a program's own code: loading, or a step like any other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Startup {
    /// A step, unless it is local.
    Step,
    /// Loading.
    Loads,
    /// Loading, if its first path argument leads to a library, or to what says where libraries are.
    LooksUp,
    /// Loading, if argument 0 is no standard stream.
    Reads,
}

/// What of a syscall is modelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Support {
    /// Everything that a program can notice.
    Full,
    /// All but what the note says; the rest is refused by name when it is met.
    Partial(&'static str),
    /// Answers as a kernel that was built without it (the note says how, usually `ENOSYS`).
    Absent(&'static str),
}

/// How one argument reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Argument {
    /// A signed number.
    Int,
    /// An unsigned number.
    Size,
    /// Bits or an address.
    Hex,
    /// A descriptor.
    Fd,
    /// A directory descriptor, or `AT_FDCWD`.
    Dir,
    /// An octal mode.
    Mode,
    /// A path or other string that ends with a zero byte.
    Path,
    /// A list of such strings.
    Strings,
    /// Bytes read by the call; the argument with this index tells how many.
    In(u8),
    /// Bytes written by the call, as many as it returned.
    Out,
    /// A signal number.
    Signal,
    /// A clock's number.
    Clock,
    /// A `struct timespec` that the call reads.
    Time,
}

impl Row {
    /// A fully modelled call.
    ///
    /// The footprint has no default: a call that nobody has thought about says [`FootprintRule::Everything`].
    #[must_use]
    pub const fn full(
        number: u64,
        name: &'static str,
        function: Function,
        arguments: &'static [Argument],
        footprint: FootprintRule,
    ) -> Self {
        let (support, narration) = (Support::Full, Narration::of(footprint));
        let (maps_code, remaps, startup) = (false, None, Startup::Step);
        Self { number, name, function, support, arguments, footprint, maps_code, remaps, startup, narration }
    }

    /// A call of which something is left out; the note says what.
    #[must_use]
    pub const fn partial(mut self, note: &'static str) -> Self {
        self.support = Support::Partial(note);
        self
    }

    /// A call that answers as on a kernel built without it; the note says why that is right.
    #[must_use]
    pub const fn absent(number: u64, name: &'static str, note: &'static str) -> Self {
        let row = Self::full(number, name, no_such_call, &[], FootprintRule::Everything);
        Self { support: Support::Absent(note), ..row }
    }

    /// An absent call that libraries make before `main`: its answer never changes, so it touches nothing.
    #[must_use]
    pub const fn local(mut self) -> Self {
        self.footprint = FootprintRule::Local;
        self
    }

    /// A call that may make pages executable.
    #[must_use]
    pub const fn maps_code(mut self) -> Self {
        self.maps_code = true;
        self
    }

    /// A call that changes mappings.
    #[must_use]
    pub const fn remaps(mut self, remaps: Remaps) -> Self {
        self.remaps = Some(remaps);
        self
    }

    /// A call that loaders make.
    #[must_use]
    pub const fn at_startup(mut self, startup: Startup) -> Self {
        self.startup = startup;
        self
    }

    /// A call that says nothing about what a program is for.
    #[must_use]
    pub const fn silent(self) -> Self {
        self.shown(Shown::Never)
    }

    /// A call that is part of the narration only sometimes.
    #[must_use]
    pub const fn shown(mut self, shown: Shown) -> Self {
        self.narration.shown = shown;
        self
    }

    /// A call that people know by another name.
    #[must_use]
    pub const fn called(mut self, called: Called) -> Self {
        self.narration.called = called;
        self
    }

    /// A call whose arguments are narrated in this way.
    #[must_use]
    pub const fn says(mut self, words: Words) -> Self {
        self.narration.words = words;
        self
    }

    /// A call whose result is narrated in this way.
    #[must_use]
    pub const fn returns(mut self, result: ResultWords) -> Self {
        self.narration.result = result;
        self
    }

    /// A call that does this to names, which its footprint does not tell.
    #[must_use]
    pub const fn does(mut self, verb: Verb) -> Self {
        self.narration.verb = verb;
        self
    }
}

fn no_such_call(_: &mut Call<'_>) -> Result<u64, Stop> {
    Err(crate::errno::ENOSYS.into())
}
