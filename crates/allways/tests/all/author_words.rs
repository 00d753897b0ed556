//! Reports of programs in several languages, as whole texts (`tests/golden`): they name the author's files, variables and threads, and
//! nothing of a library. `BLESS=1` writes them anew, as another compiler may ask for.

use crate::folder::Folder;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Words of libraries, compilers and machines that no author has written.
const OF_LIBRARIES: [&str; 7] = ["0x", "/rustc/", "/usr/include", ".cargo/registry", "_M_", "std::__", "core::ptr"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder with copies of bundled programs, and what a shell does in it.
fn prepared(name: &str, sources: &[&str], script: &str) -> Folder {
    let folder = Folder::new(&format!("golden-{name}"));
    for source in sources {
        let file = Path::new(source).file_name().expect("a file");
        std::fs::copy(root().join("programs").join(source), folder.0.join(file)).expect("it is bundled");
    }
    let output = Command::new("sh").args(["-e", "-c", script]).current_dir(&folder.0).output().expect("a shell runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

/// The counterexample of a report, without what depends on the machine: the rest is numbers of the search.
fn counterexample(report: &str) -> String {
    let told = report.split("\nproperty  ").next().unwrap_or(report);
    let is_steady = |line: &&str| !line.starts_with("replay  ") && !line.is_empty();
    told.lines().map(str::trim_end).filter(is_steady).map(|line| format!("{line}\n")).collect()
}

/// Checks what a shell has prepared, and compares what is said about it.
fn golden(name: &str, sources: &[&str], script: &str, check: &[&str]) {
    let folder = prepared(name, sources, script);
    let told = folder.run(&[&["check", "-j1", "--no-save", "--color", "never"], check].concat());
    assert_eq!(told.code, Some(1), "{}{}", told.out, told.err);
    let text = counterexample(&told.out);
    let foreign: Vec<&&str> = OF_LIBRARIES.iter().filter(|word| text.contains(**word)).collect();
    assert!(foreign.is_empty(), "{name} names {foreign:?}: {text}");
    let file = root().join(format!("crates/allways/tests/golden/{name}.txt"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &text).expect("the file can be written");
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(text, expected, "{} differs; BLESS=1 accepts it", file.display());
}

/// Checks a script. How many steps an interpreter takes to start depends on the machine, so numbers of steps do: parts are compared.
fn tells(folder: &Folder, check: &[&str], parts: &[&str]) {
    let told = folder.run(&[&["check", "-j1", "--no-save", "--color", "never"], check].concat());
    let text = counterexample(&told.out);
    let missing: Vec<_> = parts.iter().filter(|part| !text.contains(**part)).collect();
    assert!(told.code == Some(1) && missing.is_empty(), "{missing:?} is not in: {}{}", told.out, told.err);
}

const CPP: &str = "g++ -g -std=c++20 -pthread -o program *.cpp";
const RUST: &str = "rustc --edition=2021 -g -o program *.rs";

#[test]
fn mutexes_of_cpp_in_both_orders() {
    golden("cpp_mutex", &["languages/transfer.cpp"], CPP, &["--", "./program"]);
}

#[test]
fn a_wait_of_a_cpp_atomic_for_what_is_there() {
    golden("cpp_wait", &["languages/wait.cpp"], CPP, &["--", "./program"]);
}

#[test]
fn an_uncaught_exception() {
    golden("cpp_exception", &["languages/exception.cpp"], CPP, &["--", "./program"]);
}

#[test]
fn mutexes_of_rust_in_both_orders() {
    golden("rust_mutex", &["languages/transfer.rs"], RUST, &["--", "./program"]);
}

#[test]
fn a_lost_update_of_a_rust_atomic() {
    golden("rust_atomic", &["languages/hits.rs"], RUST, &["--", "./program"]);
}

#[test]
fn a_panic() {
    golden("rust_panic", &["languages/panic.rs"], RUST, &["--", "./program"]);
}

#[test]
fn children_of_a_perl_script() {
    let folder = prepared("perl_fork", &["reach/counter.pl"], "true");
    tells(&folder, &["--", "perl", "counter.pl"], &["opened \"number\"", "number: perl>1's -> perl>2's"]);
}

#[test]
fn a_child_of_a_python_script() {
    let folder = prepared("python_fork", &["languages/fork.py"], "echo 0 > number");
    let command = ["--", "/usr/bin/python3", "-S", "-E", "-P", "fork.py"];
    tells(&folder, &command, &["opened \"number\"", "starts python3>1", "standard error: an addition is lost"]);
}

#[test]
fn two_shell_scripts() {
    let lost = "lost := exited(every sh.*) == 0 && content(\"number\") != \"2\\n\"";
    let check = ["--never", lost, "--", "sh", "add.sh", "+", "sh", "add.sh"];
    golden("shell", &["reach/add.sh"], "echo 0 > number", &check);
}

#[test]
fn a_server_in_c_with_a_thread_for_each_client() {
    let build = "gcc -g -pthread -DTHREADS -DCROSSED -o server server.c && gcc -g -o client client.c";
    let check = ["--", "./server", "7000", "+", "./client", "7000", "+", "./client", "7000"];
    golden("c_server", &["server.c", "client.c"], build, &check);
}
