//! Limits are kept in every phase, and surroundings may be hostile.
//!
//! Nothing here measures time: whoever is never asked whether to stop would not end at all, and a watchdog says so.

use crate::folder::{Folder, Told, says};
use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Long enough for any machine; a check that comes near it does not obey.
const WATCHDOG: Duration = Duration::from_secs(100);

pub fn ended(mut child: Child) -> Told {
    let begun = Instant::now();
    while child.try_wait().expect("can be asked").is_none() {
        if begun.elapsed() > WATCHDOG {
            child.kill().expect("can be killed");
            panic!("it goes on after its limit");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let status = child.wait().expect("has ended");
    let text = |stream: Option<&mut dyn Read>| {
        let mut text = String::new();
        stream.map(|stream| stream.read_to_string(&mut text));
        text
    };
    let out = text(child.stdout.as_mut().map(|stream| stream as &mut dyn Read));
    let err = text(child.stderr.as_mut().map(|stream| stream as &mut dyn Read));
    Told { code: status.code().or(status.signal().map(|signal| -signal)), out, err }
}

pub fn started(folder: &Folder, arguments: &[&str]) -> Child {
    let mut command = folder.command(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs")
}

const FOREVER: &str = "for (volatile int i = 0;; i++);";

#[test]
fn time_is_kept_before_main() {
    let folder = Folder::new("limits-start");
    folder.compile("start", &["-nostdlib", "-static"], &format!("void _start(void) {{ {FOREVER} }}\n"));
    let constructor =
        format!("__attribute__((constructor)) static void f(void) {{ {FOREVER} }}\nint main(void) {{ return 0; }}\n");
    folder.compile("constructor", &[], &constructor);
    for program in ["./start", "./constructor"] {
        let told = ended(started(&folder, &["check", "--time", "1s", "--", program]));
        says(&told, 3, &["no run came to its end in 1 s"]);
        assert!(!told.out.contains("holds"), "{}", told.out);
    }
}

/// What one step may be rolled back to is not kept by the next ones: it was a page for each operation.
#[test]
fn a_long_run_takes_no_memory_for_what_its_steps_could_go_back_to() {
    let folder = Folder::new("limits-yields");
    let text = "#include <sched.h>\nint main(void) { for (volatile int i = 0; i < 150000; i++) sched_yield(); }\n";
    folder.compile("yields", &[], text);
    says(&folder.run(&["check", "--mem", "400M", "--", "./yields"]), 0, &["holds: 6 of 6", "exhaustive"]);
}

/// Threads that count for ever, and take memory.
const ENDLESS: &str = "#include <pthread.h>\n#include <stdlib.h>\n#include <string.h>\nvolatile int a[8];\n\
    static void *t(void *p) { for (int i = 0;; i++) { __atomic_fetch_add(&a[(long)p], 1, 5); memset(malloc(1 << 20), i, 1 << 20); } }\n\
    int main(void) { pthread_t x[3]; for (long i = 0; i < 3; i++) pthread_create(x + i, 0, t, (void *)i);\n\
    for (int i = 0; i < 3; i++) pthread_join(x[i], 0); }\n";

#[test]
fn every_engine_keeps_time_and_memory_on_threads_that_never_end() {
    let folder = Folder::new("limits-endless");
    folder.compile("endless", &[], ENDLESS);
    let engines: [&[&str]; 4] = [&[], &["--engine", "dpor"], &["--sample"], &["--preemptions", "4294967295"]];
    for engine in engines {
        let timed = [&["check", "--time", "1s"], engine, &["--", "./endless"]].concat();
        says(&ended(started(&folder, &timed)), 3, &["no run came to its end"]);
        let bounded = [&["check", "--mem", "150M", "--time", "90s"], engine, &["--", "./endless"]].concat();
        says(&ended(started(&folder, &bounded)), 3, &["memory ran out", "--mem"]);
    }
}

/// The processor time that a process has used, in hundredths of a second (`proc_pid_stat(5)`).
pub fn used(child: &Child) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("it runs");
    let fields = stat.rsplit_once(')').expect("has a name").1.split_whitespace().skip(11);
    fields.take(2).map(|field| field.parse::<u64>().expect("is a number")).sum()
}

/// Interrupts a check that has worked for a while.
pub fn interrupted(folder: &Folder, arguments: &[&str]) -> Told {
    let child = started(folder, arguments);
    while used(&child) < 50 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    ended(child)
}

#[test]
fn the_first_interruption_ends_a_check_with_what_is_known() {
    let folder = Folder::new("limits-interrupt");
    folder.compile("start", &["-nostdlib", "-static"], &format!("void _start(void) {{ {FOREVER} }}\n"));
    says(&interrupted(&folder, &["check", "--", "./start"]), 130, &["interrupted"]);
    let found = ENDLESS.replace("memset(malloc", "if (p == 0) abort(); memset(malloc");
    folder.compile("found", &[], &found);
    let told = interrupted(&folder, &["check", "--keep-going", "--", "./found"]);
    says(&told, 1, &["error[", "violated"]);
}

#[test]
fn a_run_ends_with_its_limits_and_its_readers() {
    let folder = Folder::new("limits-run");
    let eats = "#define _GNU_SOURCE\n#include <unistd.h>\n#include <fcntl.h>\nint main(void) { static char b[65536];\n\
        for (;;) { int p[2]; if (pipe(p)) return 1; fcntl(p[1], F_SETPIPE_SZ, 1 << 20); fcntl(p[1], F_SETFL, O_NONBLOCK);\n\
        while (write(p[1], b, sizeof b) > 0); } }\n";
    // More descriptors than a process may have by default.
    let eats = eats.replace("int main(void) {", "#include <sys/resource.h>\nint main(void) { struct rlimit l = {1 << 20, 1 << 20}; setrlimit(RLIMIT_NOFILE, &l);");
    folder.compile("eats", &[], &eats);
    let told = ended(started(&folder, &["run", "--mem", "100M", "--time", "80s", "--", "./eats"]));
    says(&told, 3, &["out of memory", "--mem"]);
    // Little is printed: nobody reads it before the end.
    let endless = "echo y; echo y; while :; do :; done";
    let told = ended(started(&folder, &["run", "--time", "1s", "--", "sh", "-c", endless]));
    says(&told, 3, &["y\ny\n"]);
    // Nobody reads what is too much for a pipe.
    let told = ended(started(&folder, &["run", "--time", "1s", "--", "yes"]));
    says(&told, 3, &["y\ny\n", "the time is over"]);
    let mut piped = started(&folder, &["run", "--", "yes"]);
    drop(piped.stdout.take());
    says(&ended(piped), 141, &[]);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("is there");
    let mut command = folder.command(&["run", "--", "echo", "x"]);
    let told = ended(command.stdout(full).stderr(Stdio::piped()).spawn().expect("the binary runs"));
    says(&told, 74, &["cannot write"]);
}

#[test]
fn a_verdict_that_cannot_be_printed_is_an_exit_code_of_its_own() {
    let folder = Folder::with("limits-full", "hello.pml", "init { skip }\n");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("is there");
    let mut command = folder.command(&["check", "hello.pml"]);
    says(&ended(command.stdout(full).stderr(Stdio::piped()).spawn().expect("the binary runs")), 74, &["cannot print"]);
}

#[test]
fn a_sample_never_says_holds() {
    let folder = Folder::new("limits-sample");
    folder.compile("fine", &[], "int main(void) { return 0; }\n");
    let told = folder.run(&["check", "--sample", "--runs", "5", "--", "./fine"]);
    says(&told, 0, &["no violation found in 5 runs; not exhaustive"]);
    assert!(!told.out.contains("holds"), "{}", told.out);
    let json = folder.run(&["check", "--sample", "--runs", "5", "--format", "json", "--", "./fine"]);
    let read: serde_json::Value = serde_json::from_str(&json.out).expect("is JSON");
    assert_eq!((&read["verdict"], &read["complete"]), (&"not-found".into(), &false.into()));
    assert_eq!((&read["coverage"]["end"], &read["coverage"]["bound"]), (&"limit".into(), &"5 runs".into()));
    fs::write(folder.0.join("walk.pml"), "byte x; active proctype p() { do :: x++ od }\n").expect("can be written");
    let told = folder.run(&["check", "walk.pml", "--order", "random", "--check", "deadlock"]);
    says(&told, 0, &["no violation found in", "not exhaustive"]);
    assert!(!told.out.contains("holds"), "{}", told.out);
}

#[test]
fn a_counterexample_from_elsewhere_reads_nothing_that_nobody_named() {
    let folder = Folder::new("limits-hostile");
    says(&folder.run(&["check", "--", "false"]), 1, &["error[exit]"]);
    let id = fs::read_to_string(folder.0.join(".allways/latest")).expect("it was saved");
    let file = folder.0.join(format!(".allways/{}/counterexample.json", id.trim()));
    let text = fs::read_to_string(&file).expect("it was saved");
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("is JSON");
    value["programs"]["roots"].as_array_mut().expect("is a list").push("/proc".into());
    fs::write(folder.0.join("roots.json"), value.to_string()).expect("can be written");
    folder.run(&["replay", "roots.json"]).refused(2, &["/proc", "--root /proc"]);
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("is JSON");
    value["programs"]["files"][0]["path"] = "/dev/zero".into();
    fs::write(folder.0.join("zero.json"), value.to_string()).expect("can be written");
    folder.run(&["replay", "zero.json"]).refused(3, &["/dev/zero"]);
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("is JSON");
    let service = value["programs"]["services"][0].clone();
    value["programs"]["services"] = vec![service; 5000].into();
    fs::write(folder.0.join("many.json"), value.to_string()).expect("can be written");
    folder.run(&["replay", "many.json"]).refused(2, &["5000 programs"]);
    let made = Command::new("mkfifo").arg("fifo").current_dir(&folder.0).status().expect("mkfifo runs");
    assert!(made.success());
    folder.run(&["replay", "fifo"]).refused(2, &["not a regular file"]);
    folder.run(&["report", "/dev/zero"]).refused(2, &["not a regular file"]);
}

#[test]
fn what_is_saved_goes_through_no_link() {
    let folder = Folder::new("limits-links");
    let elsewhere = Folder::with("limits-elsewhere", "precious", "precious");
    fs::create_dir(folder.0.join(".allways")).expect("can be made");
    let link =
        |to: &str, at: &str| std::os::unix::fs::symlink(elsewhere.0.join(to), folder.0.join(at)).expect("can be made");
    link("precious", ".allways/latest");
    says(&folder.run(&["check", "--", "false"]), 1, &["error[exit]"]);
    assert_eq!(fs::read_to_string(elsewhere.0.join("precious")).expect("is there"), "precious");
    fs::remove_dir_all(folder.0.join(".allways")).expect("is there");
    link("", ".allways");
    says(&folder.run(&["check", "--", "false"]), 1, &["cannot save", "link"]);
    assert_eq!(fs::read_dir(&elsewhere.0).expect("is there").count(), 1);
}

#[test]
fn a_file_that_changes_meanwhile_is_refused_by_name() {
    let folder = Folder::with("limits-changes", "f.txt", "first");
    // Says when it has looked, and goes on for a while.
    let source = "#include <fcntl.h>\n#include <stdio.h>\n#include <sys/stat.h>\n#include <unistd.h>\n\
        int main(void) { struct stat s; stat(\"f.txt\", &s); write(1, \"looked\\n\", 7); for (volatile long i = 0; i < 60000000; i++);\n\
        char b[100]; int f = open(\"f.txt\", 0); printf(\"%d\\n\", (int)read(f, b, 99)); return 0; }\n";
    folder.compile("looks", &[], source);
    let mut child = started(&folder, &["run", "--", "./looks"]);
    let mut seen = [0; 7];
    child.stdout.as_mut().expect("is piped").read_exact(&mut seen).expect("it looks");
    fs::write(folder.0.join("f.txt"), "another, longer").expect("can be written");
    says(&ended(child), 3, &["changes while it is used", "f.txt"]);
}

#[test]
fn large_files_and_folders_of_the_host_take_neither_memory_nor_time() {
    let folder = Folder::new("limits-large");
    let sparse = fs::File::create(folder.0.join("large")).expect("can be made");
    // Not every file system has room for more; larger than the memory that is allowed is enough.
    sparse.set_len(3 << 30).expect("can be sparse");
    let source = "#include <fcntl.h>\n#include <stdio.h>\n#include <sys/mman.h>\n#include <unistd.h>\n\
        int main(void) { int f = open(\"large\", O_RDWR); char b[4096]; long n = pread(f, b, 4096, 2147483648);\n\
        char *p = mmap(0, 3221225472, 3, MAP_PRIVATE, f, 0); p[1000000000] = 1; long sum = p[1000000000] + p[2000000000];\n\
        pwrite(f, \"x\", 1, 3000000000); lseek(f, 3000000000, 0); long m = read(f, b, 1); printf(\"%ld %ld %ld %c\\n\", n, sum, m, b[0]); return 0; }\n";
    folder.compile("looks", &[], source);
    let told = ended(started(&folder, &["run", "--mem", "200M", "--", "./looks"]));
    says(&told, 0, &["4096 1 1 x"]);
}

#[test]
fn private_files_at_home_are_shown_only_if_they_are_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with("limits-home", "own", "private");
    fs::set_permissions(folder.0.join("own"), fs::Permissions::from_mode(0o600)).expect("can be set");
    fs::write(folder.0.join("open"), "public").expect("can be written");
    fs::create_dir(folder.0.join(".keys")).expect("can be made");
    fs::write(folder.0.join(".keys/key"), "secret").expect("can be written");
    let home = folder.0.canonicalize().expect("is there");
    let cat = |words: &[&str]| {
        let words = [&["run"], words, &["--", "cat", "own", "open", ".keys/key"]].concat();
        Told::new(folder.command(&words).env("HOME", &home).output().expect("the binary runs"))
    };
    let told = cat(&[]);
    assert_eq!(told.out, "public", "{}", told.err);
    assert!(told.err.contains("private files were not shown") && told.err.contains("--root"), "{}", told.err);
    assert_eq!(cat(&["--root", "."]).out, "privatepublicsecret");
}

#[test]
fn without_threads_and_with_odd_arguments_it_still_answers() {
    let folder = Folder::with(
        "limits-odd",
        "m.pml",
        "byte x; active [3] proctype p() { do :: x < 100 -> x++ :: x > 0 -> x-- od }\n",
    );
    let command = format!("ulimit -u 1; exec {} check m.pml -j 8", env!("CARGO_BIN_EXE_allways"));
    // Root is not bound by this limit; then there are threads, and the answer is the same.
    let told = Command::new("sh").args(["-c", &command]).current_dir(&folder.0).output().expect("sh runs");
    assert_eq!(told.status.code(), Some(0), "{}", String::from_utf8_lossy(&told.stderr));
    let odd = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xff\xfe");
    let told = folder.command(&["check", "--no-such-flag"]).arg(odd).output().expect("the binary runs");
    assert_eq!(told.status.code(), Some(2), "{}", String::from_utf8_lossy(&told.stderr));
    let toml = "[check.x.service.a]\ncommand = [\"true\"]\nreplicas = 4294967296\n";
    fs::write(folder.0.join("allways.toml"), toml).expect("can be written");
    folder.run(&["check", "x"]).refused(2, &["4294967296 replicas are too many"]);
}

#[test]
fn a_host_without_memory_is_an_exit_code() {
    let folder = Folder::new("limits-host");
    folder.compile("endless", &[], ENDLESS);
    let command = format!("ulimit -v 1000000; exec {} check -j 1 --mem 8G -- ./endless", env!("CARGO_BIN_EXE_allways"));
    let mut shell = Command::new("sh");
    let child = shell
        .args(["-c", &command])
        .current_dir(&folder.0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("sh runs");
    says(&ended(child), 3, &["memory"]);
}
