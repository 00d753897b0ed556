//! Executable files that were damaged, at random but always in the same way: nothing panics.

mod subject;

use std::path::{Path, PathBuf};
use std::process::Command;
use subject::{Fate, survive};

/// A small static program, as a linker makes it.
fn program() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile");
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let (source, to): (PathBuf, PathBuf) = (folder.join("small.c"), folder.join("small"));
    let text = "static int zeros[5000]; void _start(void) { for (;;) __asm__ volatile(\"syscall\" :: \"a\"(39) : \"rcx\", \"r11\"); (void)zeros; }";
    std::fs::write(&source, text).expect("the folder takes files");
    let status = Command::new("gcc").args(["-static", "-nostdlib", "-g", "-o"]).arg(&to).arg(&source).status();
    assert!(status.expect("gcc runs").success());
    std::fs::read(to).expect("it was made")
}

/// The generator of these tests: the same numbers on every machine (`xorshift64`).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    /// Values that break arithmetic.
    fn value(&mut self) -> u64 {
        const EDGES: [u64; 12] = [
            0,
            1,
            0x7f,
            0xff,
            0xfff,
            0x1000,
            0xffff_ffff,
            0x7fff_ffff_f000,
            0x8000_0000_0000_0000,
            u64::MAX - 0xfff,
            u64::MAX - 1,
            u64::MAX,
        ];
        if self.below(4) == 0 { self.0 } else { EDGES[self.below(EDGES.len())] }
    }
}

#[test]
fn the_program_runs_when_it_is_whole() {
    assert_eq!(survive(&program()), Fate::Ran);
}

#[test]
fn no_beginning_of_a_program_panics() {
    let whole = program();
    let lengths = (0..600).chain((600..whole.len()).step_by(211));
    let fates: Vec<Fate> = lengths.map(|length| survive(&whole[..length])).collect();
    assert_eq!(fates[0], Fate::Refused);
}

#[test]
fn no_damage_to_the_headers_panics() {
    let whole = program();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let headers = 64 + 56 * usize::from(whole[56]);
    let mut ran = 0;
    for _ in 0..1500 {
        let mut damaged = whole.clone();
        for _ in 0..=numbers.below(3) {
            let (place, width) = (numbers.below(headers - 8), [1, 2, 4, 8][numbers.below(4)]);
            let value = numbers.value().to_le_bytes();
            damaged[place..place + width].copy_from_slice(&value[..width]);
        }
        ran += usize::from(survive(&damaged) == Fate::Ran);
    }
    assert!(ran > 50 && ran < 1450, "damage that always or never matters tests nothing: {ran} ran");
}

#[test]
fn no_damage_to_code_sections_and_symbols_panics() {
    let whole = program();
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    for _ in 0..500 {
        let mut damaged = whole.clone();
        for _ in 0..=numbers.below(16) {
            let place = numbers.below(damaged.len() - 8);
            let value = numbers.value().to_le_bytes();
            damaged[place..place + 8].copy_from_slice(&value);
        }
        let _ = survive(&damaged);
    }
}
