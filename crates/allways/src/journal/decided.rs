//! Searches that have been decided.

use explore::Outcome;
use explore::journal::{Broken, Reader, Writer};
use explore::search::{read_outcome, write_outcome};
use std::io;

/// A search that has been decided.
pub struct Decided {
    /// What it was for.
    pub name: String,
    /// What it has found.
    pub outcome: Outcome,
    /// What the system noted meanwhile.
    pub marks: Vec<u8>,
}

/// Writes them.
pub fn write(to: &mut Writer<'_>, all: &[Decided]) -> io::Result<()> {
    to.u64(all.len() as u64)?;
    for Decided { name, outcome, marks } in all {
        to.text(name)?;
        write_outcome(to, outcome)?;
        to.list(marks)?;
    }
    Ok(())
}

/// Reads them.
pub fn read(from: &mut Reader) -> Result<Vec<Decided>, Broken> {
    let count = from.count(16)?;
    let one = |_| Ok(Decided { name: from.text()?, outcome: read_outcome(from)?, marks: from.list()? });
    (0..count).map(one).collect()
}
