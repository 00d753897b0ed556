//! Code that no step reached, as SPIN lists it.
//!
//! As `pan` prints it: a tab, the place, the state of the automaton, the statement. A statement
//! that no state executed is often the first sign that a model checks less than its author thinks.

use crate::Unreached;
use crate::fit::clean;
use std::fmt::Write as _;

/// `unreached in proctype A`, its statements and how many there are.
pub(crate) fn unreached_text(units: &[Unreached]) -> String {
    let mut out = String::new();
    for unit in units {
        let _ = writeln!(out, "unreached in {}", clean(&unit.unit));
        for statement in &unit.statements {
            let (file, text) = (clean(&statement.file), clean(&statement.text));
            let _ = writeln!(out, "\t{file}:{}, state {}, \"{text}\"", statement.line, statement.state);
        }
        let _ = writeln!(out, "\t({} of {} states)", unit.statements.len(), unit.total);
    }
    out
}
