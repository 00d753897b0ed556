//! Programs in Rust, as `rustc` makes them: with two threads they are decided, and told by their author's lines.

use crate::folder::{Folder, Told, says};
use std::path::Path;
use std::process::Command;

/// Checks a program of `programs/languages`, built for debugging or optimised.
fn checked(name: &str, flags: &[&str]) -> Told {
    let folder = Folder::new(&format!("rust-{name}-{}", flags.len()));
    let source = format!("{name}.rs");
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/languages");
    std::fs::copy(bundled.join(&source), folder.0.join(&source)).expect("the program is there");
    let rustc =
        Command::new("rustc").args(["--edition=2021", "-g"]).args(flags).arg(&source).current_dir(&folder.0).output();
    let output = rustc.expect("rustc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder.run(&["check", "--time", "300", "--", &format!("./{name}")])
}

#[test]
fn two_threads_that_count_under_a_mutex_hold() {
    for flags in [&[][..], &["-O"]] {
        says(&checked("counter", flags), 0, &["holds: 6 of 6", "exhaustive", "summary (glibc, Rust)"]);
    }
}

#[test]
fn a_lost_hit_is_found_and_told_by_its_lines() {
    says(&checked("hits", &[]), 1, &["error[exit]", "hits.rs", ":8", "exhaustive", "confirmed by replay"]);
}

#[test]
fn two_mutexes_in_both_orders_are_a_deadlock() {
    says(&checked("transfer", &[]), 1, &["error[deadlock]", "transfer.rs:9", "let mut to", "exhaustive"]);
}
