//! One table of syscalls. A row is all that there is to say about a call: its function, what of it is modelled, how its
//! arguments read, its footprint, how it is narrated.
//!
//! `docs/syscalls.md` is generated from it, `--strace` prints by it, `doctor` looks into it, the checker reduces and narrates by
//! it. A list of names elsewhere would be forgotten by whoever adds a call.
//!
//! A row without a footprint rule would have to be guessed at, so the default is
//! [`FootprintRule::Everything`]: it conflicts with all that any actor does, which costs
//! interleavings and never a verdict.

pub mod footprint;
pub mod narration;
pub(crate) mod syscall;

pub use footprint::FootprintRule;
pub use syscall::{Argument, Function, Remaps, Row, Startup, Support};

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
///
/// # Panics At first use if two families claim a number; tests look at the table, so that is before
/// any release.
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

/// The footprint of a syscall; everything, if it is not modelled.
#[must_use]
pub fn footprint(number: u64) -> FootprintRule {
    row(number).map_or(FootprintRule::Everything, |row| row.footprint)
}

/// All rows, by number.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    BY_NUMBER.iter().flatten()
}
