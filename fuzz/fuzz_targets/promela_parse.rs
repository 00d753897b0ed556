//! Any bytes, read as a model: the parser must end, with a tree or with a message that names a place.
//!
//! `cargo +nightly fuzz run promela_parse -- -dict=promela.dict` in this folder; the models are good seeds:
//! `cargo +nightly fuzz run promela_parse corpus ../models/micro`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use promela::diagnostic::{Colour, render_all};
use promela::parse::{ParseOptions, Reader, parse_with};
use std::path::Path;

/// One file in memory; includes find nothing.
struct Bytes<'a>(&'a [u8]);

impl Reader for Bytes<'_> {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        match path == Path::new("fuzz.pml") {
            true => Ok(self.0.to_vec()),
            false => Err(std::io::ErrorKind::NotFound.into()),
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    match parse_with(Path::new("fuzz.pml"), &Bytes(bytes), &ParseOptions::default()) {
        Ok(parsed) => drop(render_all(&parsed.warnings, &parsed.sources, Colour::Never)),
        Err(failure) => {
            assert!(!failure.diagnostics.is_empty(), "a failure without a message");
            drop(render_all(&failure.diagnostics, &failure.sources, Colour::Never));
        }
    }
});
