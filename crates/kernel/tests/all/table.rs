//! The table of syscalls: what its rows promise each other.
//!
//! Here and not beside the table: whatever reaches a row reaches its function, so a unit test would compile the whole kernel once more.

use kernel::short_transfer;
use kernel::table::{Argument, FootprintRule, Row, Startup, footprint, rows};
use std::collections::BTreeSet;

/// `MSG_WAITALL`.
const WAIT_ALL: u64 = 0x100;

#[test]
fn every_row_has_its_own_number_and_name() {
    let names: BTreeSet<&str> = rows().map(|row| row.name).collect();
    assert_eq!(names.len(), rows().count());
}

#[test]
fn whoever_looks_a_path_up_at_startup_has_one() {
    let looks_up = |row: &&Row| row.startup == Startup::LooksUp;
    assert!(rows().filter(looks_up).all(|row| row.arguments.contains(&Argument::Path)));
}

#[test]
fn rules_speak_of_arguments_that_there_are() {
    let through = |row: &&Row| matches!(row.footprint, FootprintRule::Through(..));
    assert!(rows().filter(through).all(|row| row.arguments.first() == Some(&Argument::Fd)));
    let named = |row: &&Row| match row.footprint {
        FootprintRule::Names(usage) => usage != footprint::NameUse::Tell,
        _ => false,
    };
    assert!(rows().filter(named).all(|row| row.arguments.contains(&Argument::Path)));
}

#[test]
fn reads_of_bytes_may_be_short() {
    let is_read = |number, flags| short_transfer::is_read(number, &[0, 0, 0, flags, 0, 0]);
    let are_read = |flags| rows().filter(move |row| is_read(row.number, flags)).map(|row| row.name);
    assert_eq!(are_read(0).collect::<Vec<_>>(), ["read", "recvfrom"]);
    assert_eq!(are_read(WAIT_ALL).collect::<Vec<_>>(), ["read"]);
    let short = short_transfer::rows().map(|row| row.name);
    assert_eq!(short.collect::<Vec<_>>(), ["read", "write", "sendto", "recvfrom"]);
}
