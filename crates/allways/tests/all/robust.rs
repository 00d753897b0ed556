//! Whatever comes in, the program ends with an answer: no panic, no abort, no hang.
//!
//! Guests that make random system calls; counterexamples, configurations, executables and models that were changed at random,
//! by their grammar, so that most get past the parsers. `ROBUST=5000 cargo nextest run -p allways robust::` tries more.

use crate::folder::Folder;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Every case has limits of its own, far below this.
const WATCHDOG: Duration = Duration::from_secs(60);

/// How many cases of each sort are tried; the first is `SEED`, if that is given.
fn cases(usual: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("SEED").unwrap_or(1);
    first..first + number("ROBUST").unwrap_or(usual)
}

/// The same numbers on every machine (`xorshift64`).
struct Numbers(u64);

impl Numbers {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Values that break arithmetic.
const EDGES: [u64; 10] = [0, 1, 2, 0x7f, 0xfff, 0xffff_ffff, 1 << 32, 1 << 63, u64::MAX - 1, u64::MAX];

/// Runs the binary; it must end by itself, not by a signal, and not with the exit code of a bug.
fn survives(folder: &Folder, arguments: &[&str], what: &str) -> i32 {
    let mut command = folder.command(arguments);
    let log = fs::File::create(folder.0.join("log")).expect("can be made");
    let mut child = command.stdout(Stdio::null()).stderr(log).spawn().expect("the binary runs");
    let begun = Instant::now();
    let status: ExitStatus = loop {
        if let Some(status) = child.try_wait().expect("can be asked") {
            break status;
        }
        if begun.elapsed() > WATCHDOG {
            child.kill().expect("can be killed");
            panic!("{what} hangs: {arguments:?}");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let told = || String::from_utf8_lossy(&fs::read(folder.0.join("log")).unwrap_or_default()).into_owned();
    assert_eq!(status.signal(), None, "{what} is killed: {arguments:?}\n{}", told());
    let code = status.code().expect("no signal");
    // A guest of `run` chooses the exit code itself.
    let is_ours = arguments[0] != "run" && matches!(code, 70 | 101);
    let is_bug = is_ours || told().contains("internal error") || told().contains("panicked at");
    assert!(!is_bug, "{what} shows a bug: {arguments:?}\n{}", told());
    code
}

#[test]
fn random_system_calls_end_with_an_answer() {
    let folder = Folder::new("robust-calls");
    folder.compile("syscalls", &["-w"], "programs/limits/syscalls.c");
    let limits = ["--mem", "300M", "--time", "10s"];
    let mut codes = std::collections::BTreeMap::<i32, u64>::new();
    for seed in cases(40) {
        let seed = seed.to_string();
        let code = survives(&folder, &[&["run"], &limits[..], &["--", "./syscalls", &seed]].concat(), "a run");
        *codes.entry(code).or_default() += 1;
        if seed.ends_with('0') {
            let check = [&["check", "--no-save"], &limits[..], &["--", "./syscalls", &seed, "60"]].concat();
            survives(&folder, &check, "a check");
        }
    }
    // Refusals, and guests that end as they wish.
    assert!(codes.contains_key(&3) || codes.contains_key(&0), "{codes:?}");
}

fn saved(folder: &Folder) -> String {
    let id = fs::read_to_string(folder.0.join(".allways/latest")).expect("it was saved");
    fs::read_to_string(folder.0.join(format!(".allways/{}/counterexample.json", id.trim()))).expect("it was saved")
}

/// Changes a value somewhere inside, most often into another of its own type.
fn change(value: &mut serde_json::Value, numbers: &mut Numbers) {
    use serde_json::Value;
    match value {
        Value::Object(fields) if !fields.is_empty() && numbers.below(12) > 0 => {
            let name = fields.keys().nth(numbers.below(fields.len())).expect("there is one").clone();
            match numbers.below(30) {
                0 => drop(fields.remove(&name)),
                _ => change(&mut fields[&name], numbers),
            }
        }
        Value::Array(all) if !all.is_empty() && numbers.below(6) > 0 => {
            let at = numbers.below(all.len());
            match numbers.below(8) {
                0 => drop(all.remove(at)),
                1 => all.insert(at, all[at].clone()),
                2 => all.swap(0, at),
                _ => change(&mut all[at], numbers),
            }
        }
        Value::Number(_) => *value = (*numbers.pick(&EDGES)).into(),
        Value::Bool(flag) => *flag = !*flag,
        Value::String(text) => {
            let odd = ["", "x", "../..", "/dev/zero", "0x0", "\u{1b}[31m", "%s%n", "deadlock", "race", "running", "-1"];
            *text =
                if numbers.below(3) == 0 { text.repeat(numbers.below(4)) } else { (*numbers.pick(&odd)).to_owned() };
        }
        other => *other = [Value::Null, 0.into(), "".into(), Value::Array(Vec::new())][numbers.below(4)].clone(),
    }
}

#[test]
fn changed_counterexamples_end_with_an_answer() {
    let folder = Folder::new("robust-counterexamples");
    folder.compile("phil", &["-DN=2"], "programs/phil.c");
    survives(&folder, &["check", "--", "./phil"], "a check");
    let program = saved(&folder);
    fs::write(folder.0.join("m.pml"), "byte x; active [2] proctype p() { x++; assert(x < 2) }\n")
        .expect("can be written");
    survives(&folder, &["check", "m.pml"], "a check");
    let texts = [program, saved(&folder)];
    let mut read = 0;
    for seed in cases(60) {
        let mut numbers = Numbers::new(seed);
        let mut value: serde_json::Value = serde_json::from_str(numbers.pick::<String>(&texts)).expect("is JSON");
        for _ in 0..=numbers.below(3) {
            change(&mut value, &mut numbers);
        }
        fs::write(folder.0.join("cx.json"), value.to_string()).expect("can be written");
        let code = survives(&folder, &["replay", "cx.json"], &format!("counterexample {seed}"));
        read += u64::from(code != 2);
        survives(&folder, &["report", "cx.json"], &format!("counterexample {seed}"));
    }
    assert!(read > 0, "no change gets past the parser");
}

#[test]
fn random_configurations_end_with_an_answer() {
    let folder = Folder::new("robust-toml");
    fs::write(folder.0.join("m.pml"), "active proctype p() { skip }\n").expect("can be written");
    let values = [
        "true",
        "[\"true\"]",
        "\"true\"",
        "[\"cat\", \"/etc/passwd\"]",
        "0",
        "1",
        "2",
        "-1",
        "4294967296",
        "\"1s\"",
        "\"64M\"",
        "\"running\"",
        "\"exited\"",
        "[]",
        "{}",
        "[\"a\"]",
        "{ a = { condition = \"service_completed_successfully\" } }",
        "{ test = \"listening:7\" }",
        "\"graph\"",
        "\"dpor\"",
        "\"m.pml\"",
        "\"exited(a) == 0\"",
        "[\"x := exited(a) == 1\"]",
        "\"summary\"",
    ];
    let keys = [
        "check",
        "model",
        "never",
        "files",
        "time",
        "mem",
        "libc",
        "timeouts",
        "engine",
        "reads",
        "wakes",
        "preemptions",
    ];
    let own = [
        "command",
        "replicas",
        "environment",
        "working_dir",
        "stdin",
        "depends_on",
        "healthcheck",
        "expected_final_state",
    ];
    for seed in cases(60) {
        let mut numbers = Numbers::new(seed);
        let mut text = String::from("[check.x]\ntime = \"2s\"\n");
        for key in keys.iter().filter(|key| **key != "time") {
            if numbers.below(8) == 0 {
                text += &format!("{key} = {}\n", numbers.pick(&values));
            }
        }
        for name in ["a", "b"] {
            text += &format!("[check.x.service.{name}]\ncommand = [\"true\"]\n");
            for key in &own[1..] {
                if numbers.below(5) == 0 {
                    text += &format!("{key} = {}\n", numbers.pick(&values));
                }
            }
        }
        fs::write(folder.0.join("allways.toml"), text).expect("can be written");
        survives(&folder, &["check", "x", "--no-save", "--mem", "300M"], &format!("configuration {seed}"));
    }
}

#[test]
fn changed_executables_end_with_an_answer() {
    let folder = Folder::new("robust-elf");
    folder.compile("whole", &[], "#include <stdio.h>\nint main(void) { puts(\"x\"); return 0; }\n");
    let whole = fs::read(folder.0.join("whole")).expect("it was made");
    let mut ran = 0;
    for seed in cases(60) {
        let mut numbers = Numbers::new(seed);
        let mut bytes = whole.clone();
        for _ in 0..=numbers.below(4) {
            // Headers, dynamic section and code are what is looked at.
            let most = if numbers.below(2) == 0 { 1024 } else { bytes.len() - 8 };
            let (place, width) = (numbers.below(most), *numbers.pick(&[1, 2, 4, 8]));
            let value = numbers.pick(&EDGES).to_le_bytes();
            bytes[place..place + width].copy_from_slice(&value[..width]);
        }
        let path = folder.0.join("changed");
        fs::write(&path, bytes).expect("can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("can be set");
        let limits = ["--time", "5s", "--mem", "300M", "--", "./changed"];
        let code = survives(&folder, &[&["run"], &limits[..]].concat(), &format!("executable {seed}"));
        ran += u64::from(code == 0);
        if seed % 4 == 0 {
            survives(&folder, &[&["check", "--no-save"], &limits[..]].concat(), &format!("executable {seed}"));
            survives(&folder, &["doctor", "./changed"], &format!("executable {seed}"));
        }
    }
    assert!(ran > 0, "no change is harmless");
}

fn models() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let folders = ["examples", "micro", "faults"].map(|name| folder.join(name));
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    all.retain(|path| path.extension().is_some_and(|ending| ending == "pml"));
    all.sort();
    all
}

/// Words of a model, with what is between them.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let kind = |c: char| {
        if c.is_alphanumeric() || c == '_' {
            0
        } else if c.is_whitespace() {
            1
        } else {
            2
        }
    };
    for c in text.chars() {
        match words.last_mut().filter(|word| word.ends_with(|last| kind(last) == kind(c) && kind(c) < 2)) {
            Some(word) => word.push(c),
            None => words.push(c.to_string()),
        }
    }
    words
}

#[test]
fn changed_models_end_with_an_answer() {
    let folder = Folder::new("robust-models");
    let models = models();
    let texts: Vec<Vec<String>> =
        models.iter().map(|path| words(&String::from_utf8_lossy(&fs::read(path).expect("is there")))).collect();
    let odd = [
        "0",
        "-1",
        "255",
        "65536",
        "2147483647",
        "4294967296",
        "skip",
        "else",
        "atomic",
        "d_step",
        "[255]",
        "_pid",
        "timeout",
        "{",
        "}",
    ];
    let mut read = 0;
    for seed in cases(60) {
        let mut numbers = Numbers::new(seed);
        let mut text = numbers.pick(&texts).clone();
        for _ in 0..=numbers.below(3) {
            let (at, from) = (numbers.below(text.len()), numbers.below(text.len()));
            match numbers.below(5) {
                0 => drop(text.remove(at)),
                1 => text[at] = (*numbers.pick(&odd)).to_owned(),
                2 => text.swap(at, from),
                _ => text[at] = text[from].clone(),
            }
            if text.is_empty() {
                text.push(String::new());
            }
        }
        fs::write(folder.0.join("m.pml"), text.concat()).expect("can be written");
        let check = ["check", "m.pml", "--no-save", "--time", "2s", "--mem", "300M"];
        let code = survives(&folder, &check, &format!("model {seed}"));
        read += u64::from(code != 2);
    }
    assert!(read > 0, "no change gets past the parser");
}
