//! `docs/syscalls.md`, `docs/instructions.md` and `docs/libc.md` say what the tables say. `BLESS=1` writes them anew.

use checker::libc::FUNCTIONS;
use iced_x86::{Code, CpuidFeature};
use kernel::table::{self, Row, Support};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

fn keep(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, text).expect("docs can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "docs/{name} is stale: BLESS=1 cargo nextest run -p checker documents");
}

#[test]
fn the_list_of_syscalls_is_that_of_the_table() {
    let rows: Vec<&Row> = table::rows().collect();
    let count = |wanted: fn(&Support) -> bool| rows.iter().filter(|row| wanted(&row.support)).count();
    let mut text = format!(
        "# Syscalls\n\n\
         Generated from the kernel's table (`crates/kernel/src/table.rs`); a test fails when this file is stale.\n\n\
         {} of Linux's calls on x86-64 are modelled in full, {} in part, and {} answer as on a kernel that was built without them.\n\
         Any other call, and any flag or request that a note excludes, ends a run with its name, arguments and call stack\n\
         (exit code 3): nothing is guessed.\n\n\
         | number | call | modelled | note |\n|---:|---|---|---|\n",
        count(|support| *support == Support::Full),
        count(|support| matches!(support, Support::Partial(_))),
        count(|support| matches!(support, Support::Absent(_))),
    );
    for row in &rows {
        let (modelled, note) = match row.support {
            Support::Full => ("in full", ""),
            Support::Partial(note) => ("in part", note),
            Support::Absent(note) => ("absent", note),
        };
        writeln!(text, "| {} | `{}` | {modelled} | {} |", row.number, row.name, note.replace('|', "\\|"))
            .expect("text");
    }
    keep("syscalls.md", &text);
}

#[test]
fn the_list_of_library_functions_is_that_of_the_table() {
    let mut manners: Vec<(&str, Vec<String>)> = Vec::new();
    let named = FUNCTIONS.iter().flat_map(|row| row.names.iter().map(|name| (name, row.manner.text())));
    for (name, manner) in named {
        match manners.iter_mut().find(|(known, _)| *known == manner) {
            Some((_, names)) => names.push(format!("`{name}`")),
            None => manners.push((manner, vec![format!("`{name}`")])),
        }
    }
    let mut text = LIBRARY_HEAD.to_owned();
    for (manner, names) in manners {
        writeln!(text, "| {manner} | {} |", names.join(", ")).expect("text");
    }
    keep("libc.md", &(text + LIBRARY_TAIL));
}

const LIBRARY_HEAD: &str = "# Functions of libraries

Generated from the table in `crates/checker/src/libc/table.rs`; a test fails when this file is stale.

Where the symbols of glibc, musl or Rust's standard library are found, `allways check --libc summary` (the default) takes these functions at their word
([why](decisions/0010-the-c-library-in-two-depths.md)). With `--libc real`, and without symbols, every instruction is executed.

| how | functions |
|---|---|
";

const LIBRARY_TAIL: &str = "
C++ comes through these: `operator new` allocates, `std::mutex`, `std::condition_variable`, `std::call_once` and `std::thread` are POSIX's.
So do the rest of C11's threads (`thrd_create`, `mtx_unlock`, `cnd_wait`, `call_once`, ...).

## What is executed as it stands

| what | because | known to agree |
|---|---|---|
| robust mutexes, and those that inherit or protect priorities; condition variables while they are used with them | the kernel has a part in them | `locks_of_every_kind_do_what_they_should` |
| cancellation in syscalls (`read`, `pause`, ...), and asynchronous cancellation | it is done by a signal | `threads_are_cancelled_where_they_wait` |
| what unwinds a thread that is cancelled or calls `pthread_exit`; handlers of `pthread_cleanup_push` in C, destructors of `pthread_key_create` and of `thread_local` are steps of the program | | `what_a_program_does_when_a_thread_ends_is_a_part_of_it` |
| `sem_open`, `sem_getvalue`, attributes, thread-specific data, affinity, names, `pthread_kill` | they do not wait | |
| `RwLock`, `Condvar`, `Once`, `Barrier`, `thread::park` and channels of Rust's standard library; `parking_lot`'s mutex with a time limit | their code is a part of the program | |
| strings, sorting, files by descriptor, everything else | it is code like the program's own | |

The names in the last column are tests of `crates/checker/tests/all/library.rs`: each compares the functions of this page in both depths, reduced and
not, with glibc and musl, and with the host where the outcome is one.

Known limits: destructors of C++ objects on the stack of a thread that is cancelled or calls `pthread_exit` belong to the step in which
it ends. `mallopt` and `malloc_trim` have no effect. A program that maps memory at addresses of its own choice from 16 to 65 TiB may get in the
way of arenas: then it is refused.
";

/// The group of instructions that a form is told in.
fn group(code: Code) -> &'static str {
    use CpuidFeature as F;
    match code.cpuid_features().first() {
        Some(F::FPU | F::FPU287 | F::FPU387) => "x87",
        Some(F::MMX) => "MMX",
        Some(F::SSE) => "SSE",
        Some(F::SSE2) => "SSE2",
        Some(F::SSE3) => "SSE3",
        Some(F::SSSE3) => "SSSE3",
        Some(F::SSE4_1) => "SSE4.1",
        Some(F::SSE4_2) => "SSE4.2",
        _ => "general",
    }
}

fn name(code: Code) -> String {
    format!("{:?}", code.mnemonic()).to_lowercase()
}

/// Forms that a program in user mode can execute.
fn user_forms() -> impl Iterator<Item = Code> {
    Code::values().filter(|code| {
        let about = code.op_code();
        about.is_instruction() && about.mode64() && !about.must_be_cpl0() && !about.is_reserved_nop() && !about.fwait()
    })
}

#[test]
fn the_list_of_instructions_is_that_of_the_processor() {
    let mut modelled: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
    let (mut texts, mut missing) = (BTreeSet::new(), BTreeSet::new());
    let mut forms = 0;
    for code in user_forms() {
        let text = code.op_code().instruction_string().to_lowercase();
        if x86::supported(code) {
            forms += 1;
            texts.insert(text);
            *modelled.entry(group(code)).or_default().entry(name(code)).or_default() += 1;
        } else if world::doctor::feature(code).is_none() {
            missing.insert(text);
        }
    }
    let mut text = format!(
        "# Instructions\n\n\
         Generated from the processor's tables (`crates/x86/src/generic.rs`); a test fails when this file is stale.\n\n\
         Programs see an x86-64-v2 processor: `cpuid` announces SSE to SSE4.2, POPCNT, CMPXCHG16B, BMI1 and LZCNT, not AVX. {forms} instruction forms\n\
         are modelled, each held against the host's processor by `cargo nextest run -p x86 host::`. A form that is not listed\n\
         ends a run with its name and call stack (exit code 3).\n\n\
         A number behind a name says how many forms it has.\n"
    );
    for (group, names) in &modelled {
        let list: Vec<String> = names
            .iter()
            .map(|(name, forms)| if *forms > 1 { format!("{name} {forms}") } else { name.clone() })
            .collect();
        writeln!(text, "\n## {group}\n\n{}", wrapped(&list)).expect("text");
    }
    // Branches with a needless operand-size prefix read as the branch itself.
    let missing: Vec<String> = missing.difference(&texts).map(|form| format!("`{form}`")).collect();
    writeln!(text, "\n## Of the baseline, not modelled\n\n{}", wrapped(&missing)).expect("text");
    keep("instructions.md", &text);
}

/// Items with commas, in lines that can be read.
fn wrapped(items: &[String]) -> String {
    let mut lines = vec![String::new()];
    for (index, item) in items.iter().enumerate() {
        let item = if index + 1 < items.len() { format!("{item},") } else { item.clone() };
        let line = lines.last_mut().expect("there is one");
        if !line.is_empty() && line.len() + item.len() > 110 {
            lines.push(item);
        } else {
            let gap = if line.is_empty() { "" } else { " " };
            line.push_str(gap);
            line.push_str(&item);
        }
    }
    lines.join("\n")
}
