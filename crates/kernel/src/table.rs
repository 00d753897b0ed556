//! One table of syscalls: every row names a call, its function, what of it is modelled, and how its arguments read.
//!
//! `docs/syscalls.md` is generated from it, `--strace` prints by it, `doctor` looks into it.

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
    #[must_use]
    pub const fn full(number: u64, name: &'static str, function: Function, arguments: &'static [Argument]) -> Self {
        Self { number, name, function, support: Support::Full, arguments }
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
        Self { number, name, function: no_such_call, support: Support::Absent(note), arguments: &[] }
    }
}

fn no_such_call(_: &mut Call<'_>) -> Result<u64, Stop> {
    Err(crate::errno::ENOSYS.into())
}

/// The families, each with its own rows.
const FAMILIES: &[&[Row]] = &[
    crate::files::ROWS,
    crate::pipe::ROWS,
    crate::lifecycle::ROWS,
    crate::signal::ROWS,
    crate::futex::ROWS,
    crate::time::ROWS,
    crate::mapping::ROWS,
    crate::credentials::ROWS,
    crate::system::ROWS,
    crate::event::ROWS,
    crate::net::ROWS,
    crate::ipc::ROWS,
    crate::terminal::ROWS,
];

/// Numbers run below this on x86-64.
const NUMBERS: usize = 512;

/// Every row, by number.
static BY_NUMBER: std::sync::LazyLock<[Option<Row>; NUMBERS]> = std::sync::LazyLock::new(|| {
    let mut rows = [None; NUMBERS];
    for row in FAMILIES.iter().copied().flatten() {
        let place = &mut rows[row.number as usize];
        assert!(place.is_none(), "two rows for syscall {}", row.number);
        *place = Some(*row);
    }
    rows
});

/// The row of a syscall, if it is modelled.
#[must_use]
pub fn row(number: u64) -> Option<&'static Row> {
    BY_NUMBER.get(usize::try_from(number).ok()?)?.as_ref()
}

/// All rows, by number.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    BY_NUMBER.iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_its_own_number_and_name() {
        let names: std::collections::BTreeSet<&str> = rows().map(|row| row.name).collect();
        assert_eq!(names.len(), rows().count());
    }
}
