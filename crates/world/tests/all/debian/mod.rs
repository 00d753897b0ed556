//! Stock Debian programs: output and exit code inside are byte for byte those of the host.
//!
//! A case whose program is not installed fails and says so: nothing is skipped silently. `scripts/test` installs them all.

mod commands;
mod languages;
mod servers;

use crate::inside;
use std::path::{Path, PathBuf};

const WORDS: &str = "pear\napple\nfig\napple\nbanana\n";

/// A folder with a small text, `words`, and a larger file of bytes, `data`.
fn prepare(name: &str) -> PathBuf {
    let folder = inside::folder(&format!("debian-{name}"));
    std::fs::write(folder.join("words"), WORDS).expect("the folder takes files");
    let data: Vec<u8> = (0..100_000u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    std::fs::write(folder.join("data"), data).expect("the folder takes files");
    folder
}

/// Fails with a way out if a program is not there.
fn demand(programs: &[&str]) {
    for program in programs {
        let found = ["/usr/bin", "/bin", "/usr/sbin"].iter().any(|folder| Path::new(folder).join(program).exists());
        assert!(found, "`{program}` is not installed; scripts/test installs what is needed");
    }
}
