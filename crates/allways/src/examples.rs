//! The end of each verb's help: commands that work, and what exit codes mean.
//!
//! People copy an example before they read a flag. So each verb has some, for the uses that are asked for most, and every one can be
//! pasted once its names are replaced. Flags are explained above them, where clap prints them; words are not repeated here.

/// Of `check`.
pub const CHECK: &str = "\
Examples:
  allways check -- ./bank                                  threads of one program
  allways check -- ./server 7000 + ./client a + ./client b several programs; what listens is a service
  allways check --never 'counter > 2' -- ./counter         a proposition on variables (docs/propositions.md)
  allways check --faults 1 --only 'kill:server' -- ./server 7000 + ./client
  allways check --time 10m --report html=bug.html -- ./big bounded, with a page of what was found
  allways check model.pml --ltl p --fair weak              a model
  allways check kv                                         [check.kv] of allways.toml

Exit codes: 0 everything holds, 1 a counterexample, 2 wrong usage or input, 3 inconclusive, \
4 nothing to check, 70 a bug in allways, 130 interrupted";

/// Of `test`.
pub const TEST: &str = "\
Examples:
  export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER='allways test --time 60s'
  cargo test                                               also: cargo nextest run
  go test -exec 'allways test --time 60s'
  cmake -DCMAKE_CROSSCOMPILING_EMULATOR='allways;test;--time;60s'
  meson test --wrapper 'allways test --time 60s'

Each test of a Rust or Go program is checked by itself, in schedules with at most one preemption unless \
--preemptions N or another engine is chosen; a program without such a harness is one test, in all schedules. \
Whoever asks for a list of tests (--list) gets it. More: docs/runners.md";

/// Of `run`.
pub const RUN: &str = "\
Examples:
  allways run -- python3 script.py                         the same run each time
  allways run --strace -- ./server 7000 + ./client         with every syscall
  allways run model.pml --seed 42 -p                       a model, with every step

Exit codes of `run -- CMD`: the guest's own (128 and the signal if one ended it); 1 also for a deadlock, \
2 if a command cannot be started, 3 if something is not modelled, 130 interrupted";

/// Of `doctor`.
pub const DOCTOR: &str = "\
Examples:
  allways doctor ./server
  allways doctor                                           what native peers need";

/// Of `replay`.
pub const REPLAY: &str = "\
Examples:
  allways replay                                           the latest counterexample
  allways replay 7f3a --to 25                              up to step 25, with all variables there";

/// Of `debug`.
pub const DEBUG: &str = "\
Examples:
  allways debug                                            gdb at the end of the latest counterexample
  allways debug 7f3a -p server -g 25                       another process, at step 25
  allways debug -- -batch -ex 'info threads'               what follows -- is for gdb
  allways debug --run './program argument'                 a run without a counterexample";

/// Of `report`.
pub const REPORT: &str = "\
Examples:
  allways report 7f3a --format html -o bug.html            a page with lanes, messages and sources
  allways report --format perfetto -o bug.json             for ui.perfetto.dev";

/// Of `explore`.
pub const EXPLORE: &str = "\
Examples:
  allways explore 7f3a                                     a counterexample, from its end
  allways explore -- ./phil                                programs
  allways explore model.pml --port 8000";

/// Of `init`.
pub const INIT: &str = "\
Examples:
  allways init && $EDITOR allways.toml && allways check main";

/// Of `ls`.
pub const LS: &str = "\
Examples:
  allways ls
  allways ls --format json";

/// Of `rm`.
pub const RM: &str = "\
Examples:
  allways rm 7f3a
  allways rm --all";

/// Of `completions`.
pub const COMPLETIONS: &str = "\
Examples:
  allways completions bash > ~/.local/share/bash-completion/completions/allways";

/// Of `man`.
pub const MAN: &str = "\
Examples:
  allways man check | man -l -
  allways man --all /usr/local/share/man/man1              all pages, for man(1)";
