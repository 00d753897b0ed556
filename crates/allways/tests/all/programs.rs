//! `allways run -- CMD` and `allways doctor CMD` as their users meet them, with good programs and with bad input.

use crate::folder::{Folder, Told};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

fn run(folder: &Folder, arguments: &[&str]) -> Told {
    let mut all = vec!["run", "--"];
    all.extend(arguments);
    folder.run(&all)
}

/// Writes a file that may be executed.
fn executable(folder: &Folder, name: &str, content: impl AsRef<[u8]>) {
    let path = folder.0.join(name);
    fs::write(&path, content).expect("can write a file");
    fs::set_permissions(path, Permissions::from_mode(0o755)).expect("can change it");
}

fn compile(folder: &Folder, name: &str, source: &str, flags: &[&str]) {
    let text = folder.0.join(name).with_extension("c");
    fs::write(&text, source).expect("can write a file");
    let output =
        Command::new("gcc").args(["-O1", "-g", "-o", name]).arg(&text).args(flags).current_dir(&folder.0).output();
    let output = output.expect("gcc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn exits(told: &Told, code: i32, out: &str) {
    assert_eq!((told.code, told.out.as_str()), (Some(code), out), "{}", told.err);
}

#[test]
fn output_and_exit_code_are_the_guests() {
    let folder = Folder::with("guest", "words", "b\na\n");
    exits(&run(&folder, &["sh", "-c", "sort words; echo wrong >&2; exit 7"]), 7, "a\nb\n");
    exits(&run(&folder, &["true"]), 0, "");
    let killed = run(&folder, &["sh", "-c", "kill -TERM $$"]);
    exits(&killed, 128 + 15, "");
    assert!(killed.err.contains("SIGTERM"), "{}", killed.err);
}

#[test]
fn input_environment_and_roots_are_what_was_declared() {
    let folder = Folder::with("declared", "text", "from a file\n");
    exits(&folder.run(&["run", "--stdin", "text", "--", "cat"]), 0, "from a file\n");
    exits(&run(&folder, &["cat"]), 0, "");
    exits(&folder.run(&["run", "--env", "A=1", "--env", "HOME=/x", "--", "sh", "-c", "echo $A $HOME"]), 0, "1 /x\n");
    let other = Folder::with("declared-other", "text", "elsewhere\n");
    let path = other.0.join("text");
    let path = path.to_str().expect("UTF-8");
    assert_eq!(run(&folder, &["cat", path]).code, Some(1));
    let root = other.0.to_str().expect("UTF-8");
    exits(&folder.run(&["run", "--root", root, "--", "cat", path]), 0, "elsewhere\n");
    folder.run(&["run", "--root", "/no/such/folder", "--", "true"]).refused(2, &["/no/such/folder"]);
    folder.run(&["run", "--env", "A", "--", "true"]).refused(2, &["--env A", "NAME=VALUE"]);
    folder.run(&["run", "--stdin", "missing", "--", "true"]).refused(2, &["missing"]);
}

#[test]
fn programs_run_together() {
    let folder = Folder::new("together");
    let server = "printf 'hello\\n' | nc -l -N 127.0.0.1 7000";
    exits(&run(&folder, &["sh", "-c", server, "+", "nc", "-d", "127.0.0.1", "7000"]), 0, "hello\n");
    run(&folder, &["true", "+"]).refused(2, &["a command is missing"]);
}

#[test]
fn a_deadlock_is_told_with_what_everybody_waits_for() {
    let told = run(&Folder::new("deadlock"), &["perl", "-e", "pipe(R, W); <R>"]);
    told.refused(1, &["deadlock", "perl", "read("]);
}

#[test]
fn syscalls_are_printed_as_strace_does() {
    let folder = Folder::with("strace", "words", "a\n");
    let told = folder.run(&["run", "--strace", "--", "cat", "words", "missing"]);
    exits(&told, 1, "a\n");
    for line in
        ["openat(AT_FDCWD, \"words\"", "read(3, \"a\\n\"", "= -1 ENOENT (No such file or directory)", "exit_group(1"]
    {
        assert!(told.err.contains(line), "`{line}` is missing in: {}", told.err);
    }
}

#[test]
fn what_cannot_be_started_is_told_with_the_reason() {
    let folder = Folder::with("start", "plain", "#!/bin/sh\n");
    run(&folder, &["no-such-program"]).refused(2, &["no-such-program", "PATH"]);
    run(&folder, &["./missing"]).refused(2, &["./missing", "No such file"]);
    run(&folder, &["./plain"]).refused(2, &["./plain", "Permission denied"]);
    run(&folder, &["/usr/bin"]).refused(2, &["/usr/bin", "it is a directory"]);
    run(&folder, &["./plain/below"]).refused(2, &["Not a directory"]);
    run(&folder, &[""]).refused(2, &["a command is missing"]);
}

#[test]
fn what_is_no_program_for_this_machine_is_told_with_the_reason() {
    let folder = Folder::new("no-elf");
    let true_program = fs::read("/bin/true").expect("it is there");
    executable(&folder, "text", "just words\n");
    run(&folder, &["./text"]).refused(2, &["./text", "not an ELF file"]);
    executable(&folder, "empty", "");
    run(&folder, &["./empty"]).refused(2, &["./empty", "not an ELF file"]);
    executable(&folder, "cut", &true_program[..100]);
    run(&folder, &["./cut"]).refused(2, &["./cut", "damaged"]);
    let mut arm = true_program.clone();
    arm[18] = 183;
    executable(&folder, "arm", arm);
    run(&folder, &["./arm"]).refused(2, &["./arm", "64-bit ARM", "x86-64"]);
    let mut narrow = true_program;
    narrow[4] = 1;
    executable(&folder, "narrow", narrow);
    run(&folder, &["./narrow"]).refused(2, &["32-bit"]);
    executable(&folder, "script", "#!/no/such/interpreter\n");
    run(&folder, &["./script"]).refused(2, &["/no/such/interpreter", "No such file"]);
    executable(&folder, "loop", "#!./loop\n");
    run(&folder, &["./loop"]).refused(2, &["./loop"]);
    folder.run(&["doctor", "./text"]).refused(2, &["./text", "not an ELF file"]);
    folder.run(&["doctor", "no-such-program"]).refused(2, &["no-such-program"]);
}

const HELLO: &str = "#include <stdio.h>\nint main(void) { puts(\"hello\"); }\n";

#[test]
fn a_missing_interpreter_or_library_is_named() {
    let folder = Folder::new("missing-parts");
    compile(&folder, "strange", HELLO, &["-Wl,--dynamic-linker=/lib/ld-strange.so"]);
    run(&folder, &["./strange"]).refused(2, &["./strange", "/lib/ld-strange.so"]);
    compile(&folder, "libgone.so", "int gone(void) { return 1; }\n", &["-shared", "-fPIC"]);
    compile(&folder, "needs", "int gone(void);\nint main(void) { return gone(); }\n", &["-L.", "-lgone"]);
    fs::remove_file(folder.0.join("libgone.so")).expect("it was made");
    let told = run(&folder, &["./needs"]);
    told.refused(127, &["libgone.so", "cannot open shared object file"]);
}

const CALLS: &str = "#define _GNU_SOURCE\n#include <unistd.h>\n#include <stdlib.h>\n#include <sys/syscall.h>\n\
    __attribute__((noinline)) long ask(long number) { long result = syscall(number, 1, 2, 3); return result + 1; }\n\
    int main(int count, char **words) { return ask(atol(words[1])) == 0; }\n";

#[test]
fn what_is_not_modelled_ends_the_run_with_its_name_and_call_stack() {
    let folder = Folder::new("unmodelled");
    compile(&folder, "calls", CALLS, &[]);
    run(&folder, &["./calls", "246"])
        .refused(3, &["not modelled", "kexec_load(0x1, 0x2, 0x3", "calls", "ask+", "main+"]);
    run(&folder, &["./calls", "999"]).refused(3, &["not modelled", "syscall_999", "ask+"]);
    let flag = "#define _GNU_SOURCE\n#include <stdio.h>\nint main(void) { return renameat2(-100, \"a\", -100, \"b\", 4) < 0; }\n";
    compile(&folder, "flag", flag, &[]);
    run(&folder, &["./flag"])
        .refused(3, &["not modelled", "flags 0x4", "renameat2(AT_FDCWD, \"a\", AT_FDCWD, \"b\", ", "main+"]);
    let request = "#include <sys/ioctl.h>\n#include <sys/socket.h>\nint main(void) { return ioctl(socket(2, 1, 0), 0x89a0, 0) < 0; }\n";
    compile(&folder, "request", request, &[]);
    run(&folder, &["./request"]).refused(3, &["not modelled", "request 0x89a0", "ioctl(3, ", "main+"]);
    let vector = "__attribute__((noinline)) void add(void) { __asm__ volatile(\"vpaddd %ymm0, %ymm1, %ymm2\"); }\nint main(void) { add(); }\n";
    compile(&folder, "vector", vector, &[]);
    run(&folder, &["./vector"]).refused(3, &["not modelled", "vpaddd", "add+", "main+"]);
}

#[test]
fn a_small_limit_of_memory_ends_a_run_with_a_message() {
    let folder = Folder::new("limit");
    let told = folder.run(&["run", "--mem", "40M", "--", "perl", "-e", "$x .= 'x' x 1000000 while 1"]);
    assert!(told.err.contains("memory"), "{}", told.err);
    assert!(matches!(told.code, Some(1 | 3)), "{:?}: {}", told.code, told.err);
}

#[test]
fn doctor_knows_the_libraries_of_a_program() {
    let folder = Folder::new("doctor");
    let told = folder.run(&["doctor", "cat"]);
    assert_eq!(told.code, Some(0), "{}{}", told.out, told.err);
    assert!(told.out.contains("libc.so.6") && told.out.contains("forms modelled"), "{}", told.out);
    let calls = "int main(void) { long result; __asm__ volatile(\"mov $246, %%eax; syscall\" : \"=a\"(result) :: \"rcx\", \"r11\"); return result; }\n";
    compile(&folder, "rare", calls, &[]);
    let told = folder.run(&["doctor", "./rare"]);
    assert_eq!(told.code, Some(3), "{}", told.out);
    assert!(told.out.contains("kexec_load (246): not modelled"), "{}", told.out);
}

#[test]
fn the_same_run_twice_prints_the_same() {
    let folder = Folder::new("twice");
    let script =
        "date +%N; cat /proc/sys/kernel/random/uuid /proc/self/maps; head -c 8 /dev/urandom | od -x; echo $$; ls -i";
    let (first, second) = (run(&folder, &["bash", "-c", script]), run(&folder, &["bash", "-c", script]));
    assert!(first.out.lines().count() > 5, "{}", first.out);
    assert_eq!(first.out, second.out);
}

#[test]
fn standard_input_is_passed_on_if_that_is_wanted() {
    let folder = Folder::with("run-stdin", "words", "one\ntwo\n");
    let mut command = folder.command(&["run", "--stdin", "-", "--", "cat"]);
    let file = fs::File::open(folder.0.join("words")).expect("it was written");
    exits(&Told::new(command.stdin(file).output().expect("the binary runs")), 0, "one\ntwo\n");
}

#[test]
fn a_wrong_file_leads_to_a_command_that_works() {
    let folder = Folder::new("run-wrong");
    compile(&folder, "bank", "int main(void) { return 0; }\n", &[]);
    for verb in ["run", "check"] {
        folder.run(&[verb, "bank"]).refused(2, &["is a program, not a model", "allways run -- ./bank"]);
        folder.run(&[verb, "bank.c"]).refused(2, &["is a program in C", "gcc -g -pthread -o bank bank.c"]);
        folder.run(&[verb, "--", "/tmp"]).refused(2, &["`/tmp`: it is a directory"]);
    }
    fs::write(folder.0.join("allways.toml"), "[check.bank.service.program]\ncommand = [\"./bank\"]\n")
        .expect("written");
    assert_eq!(folder.run(&["check", "bank"]).code, Some(0), "a check is found beside a file of its name");
    folder.run(&["check", "./bank"]).refused(2, &["is a program, not a model"]);
}
