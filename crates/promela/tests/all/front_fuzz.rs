//! No input makes the parser panic, overflow the stack or run for ever.

use promela::diagnostic::{Colour, render_all};
use promela::parse::{ParseOptions, parse_text};
use std::path::Path;

/// A small generator of numbers (xorshift); the same seed gives the same inputs for ever.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

const PIECES: [&str; 76] = [
    "proctype",
    "init",
    "never",
    "ltl",
    "inline",
    "typedef",
    "mtype",
    "chan",
    "byte",
    "unsigned",
    "active",
    "if",
    "fi",
    "do",
    "od",
    "::",
    "->",
    ";",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "goto",
    "L",
    ":",
    "else",
    "break",
    "atomic",
    "d_step",
    "unless",
    "for",
    "select",
    "in",
    "..",
    "run",
    "q",
    "!",
    "!!",
    "?",
    "??",
    "<",
    ">",
    "eval",
    "_",
    ",",
    "=",
    "==",
    "x",
    "y",
    ".",
    "@",
    "0",
    "1",
    "99999999999999999999",
    "'a'",
    "\"s\"",
    "assert",
    "printf",
    "timeout",
    "full",
    "len",
    "\n",
    "[]",
    "<>",
    "U",
    "V",
    "#define M(x) x x\n",
    "M(",
    "\n#if 1\n",
    "\n#endif\n",
    "f(",
    "return",
    "c_code",
    "\0",
];

fn seeds() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/micro");
    let mut paths: Vec<_> = std::fs::read_dir(folder).expect("models").flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "pml"));
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("readable")).collect()
}

fn mutate(text: &str, seeds: &[String], random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(6) {
        let at = random.below(bytes.len());
        let end = (at + random.below(20)).min(bytes.len());
        match random.below(6) {
            0 => drop(bytes.drain(at..end)),
            1 => drop(bytes.splice(at..at, format!(" {} ", random.pick(&PIECES)).into_bytes())),
            2 => drop(bytes.splice(at..at, [random.next() as u8])),
            3 => {
                let copy = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, copy));
            }
            4 => {
                let other = random.pick(seeds).as_bytes();
                let from = random.below(other.len());
                let to = (from + random.below(80)).min(other.len());
                drop(bytes.splice(at..end, other[from..to].iter().copied()));
            }
            _ => bytes.truncate(end),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Parses and renders whatever is said about it; returns whether it was accepted.
fn survive(text: &str) -> bool {
    match parse_text("/nowhere/fuzz.pml", text, &ParseOptions::default()) {
        Ok(parsed) => {
            let _ = render_all(&parsed.warnings, &parsed.sources, Colour::Never);
            true
        }
        Err(failure) => {
            assert!(!failure.diagnostics.is_empty(), "a failure without a message for {text:?}");
            let shown = render_all(&failure.diagnostics, &failure.sources, Colour::Never);
            assert!(shown.contains("/nowhere/fuzz.pml:"), "no place in {shown:?} for {text:?}");
            false
        }
    }
}

#[test]
fn mutated_models_are_survived() {
    let seeds = seeds();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut accepted = 0;
    for _ in 0..6000 {
        let seed = random.below(seeds.len());
        accepted += usize::from(survive(&mutate(&seeds[seed], &seeds, &mut random)));
    }
    assert!(accepted > 100, "the mutations are too wild to reach deep: {accepted}");
}

#[test]
fn random_tokens_are_survived() {
    let mut random = Random(42);
    for _ in 0..6000 {
        let length = random.below(60);
        let words: Vec<&str> = (0..length).map(|_| *random.pick(&PIECES)).collect();
        survive(&format!(
            "byte x, y; chan q = [1] of {{ byte }}; inline f(a) {{ a = 1 }} init {{ {} }}",
            words.join(" ")
        ));
    }
}

#[test]
fn deep_and_long_models_are_survived() {
    let many = 20_000;
    for (open, close) in [
        ("(", ")"),
        ("{", "}"),
        ("!", ""),
        ("-", ""),
        ("if :: ", " fi"),
        ("do :: ", " od"),
        ("atomic { ", "}"),
        ("a[", "]"),
        ("L: ", ""),
        ("x + ", ""),
        ("x == ", ""),
        ("x -> ", ""),
        ("q?", ""),
        ("q?x(", ")"),
        ("q?(", ")"),
        ("q!x(", ")"),
        ("run P(", ")"),
        ("(1 -> 2 : ", ")"),
        ("for (i : 1 .. 2) {", "}"),
        ("x.", ""),
        ("skip unless ", ""),
    ] {
        let text = format!("init {{ {}x{} }}", open.repeat(many), close.repeat(many));
        survive(&text);
    }
    for open in ["[] ", "<> ", "! ", "(", "x U ", "x -> ", "x && "] {
        survive(&format!(
            "ltl {{ {}x{} }}",
            open.repeat(many),
            if open == "(" { ")".repeat(many) } else { String::new() }
        ));
    }
}

#[test]
fn inlines_cannot_grow_without_end() {
    let mut text = String::from("byte x; inline f0(a) { a = 1 }\n");
    for n in 1..40 {
        text += &format!("inline f{n}(a) {{ f{0}(a); f{0}(a) }}\n", n - 1);
    }
    assert!(!survive(&(text + "init { f39(x) }")));
}

#[test]
fn odd_files_are_survived() {
    assert!(survive(""));
    assert!(survive("\n\n"));
    assert!(survive("\u{feff}init { skip }"));
    assert!(survive("/* \u{e9} */ init { skip }"));
    assert!(!survive("\0"));
    assert!(!survive("init { \u{e9} }"));
    assert!(!survive("/*"));
    assert!(!survive("\""));
}

#[test]
fn a_file_beyond_all_measure_is_refused() {
    let text = " ".repeat((16 << 20) + 1);
    let failure = parse_text("large.pml", &text, &ParseOptions::default()).expect_err("too large");
    assert_eq!(failure.diagnostics[0].message, "cannot read `large.pml`: more than 16 MiB");
}
