//! Any bytes as an executable file: loading, running, unwinding and `doctor` end, with an answer.
//!
//! `cargo +nightly fuzz run elf_load` in this folder; small programs are good seeds:
//! `cargo +nightly fuzz run elf_load corpus /usr/lib/x86_64-linux-gnu/gconv`.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/debuginfo/tests/debug/hostile/subject.rs"]
mod subject;

fuzz_target!(|bytes: &[u8]| {
    let _ = subject::survive(bytes);
});
