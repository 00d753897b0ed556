//! `allways debug` with gdb itself, in batch mode.

use crate::folder::{Folder, Told, says};
use std::path::Path;

/// Two threads that add to a variable without a lock: one addition is lost.
const LOST: &str = r#"
#include <assert.h>
#include <pthread.h>

static int counter;
static __thread int own;

static void *add(void *amount) {
    int by = *(int *)amount;
    int seen = counter;
    own = by;
    counter = seen + by;
    return 0;
}

int main(void) {
    pthread_t one, two;
    int a = 3, b = 4;
    pthread_create(&one, 0, add, &a);
    pthread_create(&two, 0, add, &b);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(counter == 7);
    return 0;
}
"#;

/// A parent that writes through a null pointer once its child has written to a pipe.
const PIPE: &str = r#"
#include <sys/wait.h>
#include <unistd.h>

static int *nowhere;

int main(void) {
    int pipes[2];
    char got = 0;
    if (pipe(pipes)) return 1;
    pid_t child = fork();
    if (!child) {
        char sent = 'x';
        write(pipes[1], &sent, 1);
        _exit(3);
    }
    read(pipes[0], &got, 1);
    if (got == 'x') *nowhere = 1;
    waitpid(child, 0, 0);
    return 0;
}
"#;

/// A folder of a test, with a counterexample of a program.
fn checked(test: &str, (name, source): (&str, &str), kind: &str) -> Folder {
    let folder = Folder::new(&format!("debug-{test}"));
    folder.compile(name, &["-O0"], source);
    says(&folder.run(&["check", "--check", kind, "--", &format!("./{name}")]), 1, &["violated"]);
    folder
}

/// gdb's words on these commands, one after the other.
fn gdb(folder: &Folder, flags: &[&str], commands: &[&str]) -> Told {
    let mut arguments = vec!["debug"];
    arguments.extend(flags);
    arguments.extend(["--", "-nx", "-batch"]);
    commands.iter().for_each(|command| arguments.extend(["-ex", command]));
    let told = folder.run(&arguments);
    assert_eq!(told.code, Some(0), "{}{}", told.out, told.err);
    told
}

/// Expects words of the stub (where we are, answers of `monitor`), which gdb prints to stderr.
fn monitored(told: &Told, words: &[&str]) {
    for word in words {
        assert!(told.err.contains(word), "`{word}` is missing in {}", told.err);
    }
}

/// Expects words of gdb in this order.
fn in_order(told: &Told, words: &[&str]) {
    let mut rest = told.out.as_str();
    for word in words {
        let at = rest.find(word).unwrap_or_else(|| panic!("`{word}` is not next in:\n{}\n{}", told.out, told.err));
        rest = &rest[at + word.len()..];
    }
}

#[test]
fn from_a_failed_assertion_back_to_the_write_that_caused_it() {
    let folder = checked("back", ("lost", LOST), "assert");
    let back = ["bt", "watch -l counter", "reverse-continue", "info locals", "print own", "reverse-continue", "bt 1"];
    let told = gdb(&folder, &[], &back);
    monitored(&told, &["the end: lost.c:23: main: assertion `counter == 7` failed"]);
    let story = [
        "__assert_fail",
        "main () at lost.c:23",
        "Old value = ",
        "add (amount=",
        "counter = seen + by;",
        "by = ",
        "seen = 0",
        "New value = 0",
        "add (amount=",
    ];
    in_order(&told, &story);
    // Deterministic to the last address.
    assert_eq!(told.out, gdb(&folder, &[], &back).out);
}

#[test]
fn stores_that_wait_in_store_buffers_are_shown() {
    let source = include_str!("../../../../programs/memory/sleeper.c");
    let folder = checked("stores", ("sleeper", source), "deadlock");
    let told = gdb(&folder, &[], &["monitor stores", "monitor step 7", "monitor stores", "print work", "print waits"]);
    monitored(&told, &["no store waits", "main             0x", "T1 worker        0x", " <- 1 (4 bytes)"]);
    in_order(&told, &["$1 = 0", "$2 = 0"]);
}

#[test]
fn forwards_from_the_first_step() {
    let folder = checked("forwards", ("lost", LOST), "assert");
    let told = gdb(
        &folder,
        &["-g", "1"],
        &["break add", "continue", "next", "print by", "info threads", "delete", "continue", "continue", "bt"],
    );
    monitored(&told, &["before step 1 of "]);
    let story = [
        "hit Breakpoint 1, add (amount=",
        "int seen = counter;",
        "\"main\"",
        "\"T1 add\"",
        "No more reverse-execution history",
        "No more reverse-execution history",
        "main () at lost.c:23",
    ];
    in_order(&told, &story);
}

#[test]
fn single_steps_go_there_and_back() {
    let folder = checked("single", ("lost", LOST), "assert");
    let told = gdb(
        &folder,
        &["-g", "1"],
        &[
            "break lost.c:12",
            "continue",
            "print seen",
            "stepi",
            "stepi",
            "reverse-stepi",
            "reverse-stepi",
            "reverse-step",
            "x/i $pc",
            "info registers rip eflags fs_base xmm0 st0 mxcsr",
        ],
    );
    in_order(&told, &["hit Breakpoint 1", "$1 = 0", "own = by;", "<add+", "rip", "fs_base", "xmm0", "st0", "mxcsr"]);
}

#[test]
fn a_deadlock_is_seen_by_all_its_threads() {
    let folder = checked("deadlock", ("phil", "programs/phil.c"), "deadlock");
    let told = gdb(
        &folder,
        &[],
        &[
            "info threads",
            "thread apply all bt 2",
            "break pthread_mutex_lock",
            "reverse-continue",
            "bt 2",
            "continue",
            "continue",
            "continue",
        ],
    );
    for word in ["\"main\"", "\"T1 philosopher\"", "\"T2 philosopher\"", "\"T3 philosopher\"", "pthread_mutex_lock"] {
        assert!(told.out.contains(word), "{word} is missing in {}", told.out);
    }
    in_order(&told, &["hit Breakpoint 1", "philosopher (arg=", "No more reverse-execution history"]);
}

#[test]
fn each_process_has_its_own_debugger() {
    let folder = checked("processes", ("pipe", PIPE), "crash");
    // Where it is about to be ended by the signal.
    let parent = gdb(&folder, &[], &["print got", "monitor who", "watch -l got", "reverse-continue"]);
    in_order(&parent, &["*nowhere = 1", "'x'", "Old value = 120 'x'", "New value = 0"]);
    monitored(&parent, &["-p 'pipe>1'", "this one", "is ended by SIGSEGV"]);
    let child = gdb(&folder, &["-p", "pipe>1"], &["bt", "up", "print sent"]);
    in_order(&child, &["_exit (status=3)", "main () at pipe.c", "'x'"]);
    let missing = folder.run(&["debug", "-p", "nobody", "--", "-batch"]);
    missing.refused(2, &["`nobody`", "pipe>1", "allways debug"]);
}

#[test]
fn monitor_commands_say_where_we_are_and_go_elsewhere() {
    let folder = checked("monitor", ("lost", LOST), "assert");
    let told = gdb(
        &folder,
        &[],
        &["monitor step 1", "bt", "monitor schedule", "monitor step 999", "monitor help", "monitor nonsense"],
    );
    in_order(&told, &["__assert_fail", "main () at lost.c:16"]);
    let story = [
        "before step 1 of ",
        ">    1  main",
        "create a thread for add",
        "T1 add",
        "step 999 does not exist: there are steps 1 to ",
        "monitor step N",
        "no such command: `nonsense`",
    ];
    monitored(&told, &story);
    folder.run(&["debug", "-g", "999", "--", "-batch"]).refused(2, &["step 999 does not exist"]);
}

#[test]
fn the_past_cannot_be_changed() {
    let folder = checked("written", ("lost", LOST), "assert");
    let told = gdb(&folder, &[], &["print counter = 99", "print $rax = 1", "print add(0)", "print counter"]);
    for word in ["Writing to memory is not allowed", "the past cannot be changed"] {
        assert!(told.err.contains(word), "`{word}` is missing in {}", told.err);
    }
    assert!(!told.out.contains("= 99"), "{}", told.out);
}

#[test]
fn what_is_missing_is_said_with_a_command_that_helps() {
    let empty = Folder::new("debug-nothing");
    empty.run(&["debug"]).refused(2, &["allways check"]);
    let folder = checked("missing", ("lost", LOST), "assert");
    let mut without = folder.command(&["debug"]);
    let told = Told::new(without.env("PATH", "/nowhere").output().expect("the binary runs"));
    told.refused(2, &["gdb is not installed", "apt install gdb", "--listen"]);
    for address in ["1.2.3.4:1234", "x", "70000"] {
        let told = folder.run(&["debug", "--listen", address]);
        assert!(told.code == Some(2) && told.err.contains("port of this machine"), "{}", told.err);
    }
}

#[test]
fn another_debugger_finds_the_port_and_the_files() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let folder = checked("listen", ("lost", LOST), "assert");
    let mut served = folder.command(&["debug", "--listen", "0"]);
    let mut served = served.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary runs");
    let mut line = String::new();
    BufReader::new(served.stdout.take().expect("piped")).read_line(&mut line).expect("it says where");
    let address = line.trim().trim_end_matches('\'').rsplit(' ').next().expect("an address").to_owned();
    assert!(address.starts_with("127.0.0.1:"), "{line}");
    // Files come from the guest: gdb is not told where they are.
    let connect = format!("target remote {address}");
    let output = Command::new("gdb").args(["-nx", "-batch", "-ex", &connect, "-ex", "bt"]).output().expect("gdb runs");
    let told = Told::new(output);
    in_order(&told, &["__assert_fail", "main () at lost.c:23"]);
    assert!(served.wait().expect("it ends").success());
}

#[test]
fn a_program_can_be_debugged_without_a_counterexample() {
    let folder = Folder::new("debug-run");
    folder.compile("lost", &["-O0"], LOST);
    let mut arguments = vec!["debug", "--run", "./lost", "-g", "1", "--", "-nx", "-batch"];
    arguments.extend(["-ex", "break lost.c:19", "-ex", "continue", "-ex", "info locals"]);
    let told = folder.run(&arguments);
    assert_eq!(told.code, Some(0), "{}", told.err);
    in_order(&told, &["Breakpoint 1, main () at lost.c:19", "a = 3"]);
    monitored(&told, &["before step 1 of "]);
    folder.run(&["debug", "--run", "'./lost"]).refused(2, &["quote"]);
    folder.run(&["debug", "--run", "./missing"]).refused(2, &["./missing"]);
}

/// A thread per connection, which others write to before it has set up its writer: from the null pointer back to where the worker
/// was registered without one.
#[test]
fn a_server_goes_back_to_the_write_that_came_too_early() {
    let folder = Folder::new("debug-chat");
    folder.compile("chat", &["-O0", "-DCLIENTS=2", "-DBUG_INIT"], "programs/chat.c");
    says(&folder.run(&["check", "--check", "assert", "--", "./chat"]), 1, &["violated"]);
    let back = ["up", "info locals", "print *workers[i]", "watch -l workers[i]", "reverse-continue", "info locals"];
    let told = gdb(&folder, &[], &back);
    let null = "New value = (struct worker *) 0x0";
    in_order(&told, &["send_all (line=", "i = 1", "id = 1, out = 0x0", null, "server_main (listener=", "i = 1"]);
    assert!(told.out.contains("workers[i] = &slots[i];"), "{}", told.out);
}

/// Debian's `lockfile`, without debug information: each of the two goes back to the call by which it got the lock.
#[test]
fn stock_programs_go_back_to_the_call_that_mattered() {
    let folder = Folder::new("debug-lockfile");
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/lockfile/allways.toml");
    std::fs::copy(bundled, folder.0.join("allways.toml")).expect("it is bundled");
    says(&folder.run(&["check", "stale"]), 1, &["`both` became true"]);
    for process in ["lockfile.1", "lockfile.2"] {
        let commands = ["info inferiors", "break link", "reverse-continue", "x/s $rsi", "monitor where"];
        let told = gdb(&folder, &["-p", process], &commands);
        in_order(&told, &["/usr/bin/lockfile", "Breakpoint 1", "link", "\"x.lock\""]);
        monitored(&told, &[&format!("`{process}` at instruction")]);
    }
}

/// Compiles a text with another compiler than C's.
fn built(folder: &Folder, compiler: &str, file: &str, source: &str) {
    std::fs::write(folder.0.join(file), source).expect("can write a file");
    let output =
        std::process::Command::new(compiler).args(["-g", "-o", "program", file]).current_dir(&folder.0).output();
    let output = output.expect("the compiler runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn objects_of_cpp_are_shown() {
    let source = r#"
#include <cassert>
#include <mutex>
#include <thread>
struct Account { int balance = 0; };
static Account account;
static std::mutex guard;
static void pay(int amount) {
    int seen;
    { std::lock_guard<std::mutex> held(guard); seen = account.balance; }
    { std::lock_guard<std::mutex> held(guard); account.balance = seen + amount; }
}
int main() {
    std::thread one(pay, 5), two(pay, 6);
    one.join();
    two.join();
    assert(account.balance == 11);
}
"#;
    let folder = Folder::new("debug-cpp");
    built(&folder, "g++", "program.cc", source);
    says(&folder.run(&["check", "--check", "assert", "--", "./program"]), 1, &["violated"]);
    let told = gdb(&folder, &[], &["print account", "watch -l account.balance", "reverse-continue", "info locals"]);
    in_order(&told, &["$1 = {balance = ", "Old value = ", "pay (amount=", "seen = 0"]);
}

#[test]
fn threads_of_rust_are_shown() {
    let source = "
use std::sync::{Arc, Mutex};
fn main() {
    let (a, b) = (Arc::new(Mutex::new(1)), Arc::new(Mutex::new(2)));
    let (c, d) = (a.clone(), b.clone());
    let other = std::thread::spawn(move || {
        let one = c.lock().unwrap();
        let two = d.lock().unwrap();
        assert!(*one + *two == 3);
    });
    let two = b.lock().unwrap();
    let one = a.lock().unwrap();
    assert!(*one + *two == 3);
    drop((one, two));
    other.join().unwrap();
}
";
    let folder = Folder::new("debug-rust");
    built(&folder, "rustc", "program.rs", source);
    says(&folder.run(&["check", "--check", "deadlock", "--", "./program"]), 1, &["violated"]);
    let told = gdb(&folder, &[], &["info threads", "thread apply all bt 6", "break program.rs:8", "reverse-continue"]);
    in_order(
        &told,
        &["\"main\"", "\"T1 ", "program::main::{closure#0} () at program.rs:8", "program::main () at program.rs:12"],
    );
    in_order(&told, &["Breakpoint 1", "program.rs:8"]);
}
