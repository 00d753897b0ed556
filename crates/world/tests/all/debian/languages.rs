//! Programs as other compilers make them: static musl, Go, Rust with tokio.

use super::{demand, prepare};
use crate::inside;
use std::path::{Path, PathBuf};
use std::process::Command;

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/languages").join(name)
}

fn build(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_static_musl_program_with_threads_runs() {
    demand(&["musl-gcc"]);
    let folder = prepare("musl");
    build(
        Command::new("musl-gcc")
            .args(["-static", "-O2", "-pthread", "-o"])
            .arg(folder.join("threads"))
            .arg(source("threads.c")),
    );
    inside::same(&["./threads", "4"], &folder);
}

#[test]
fn a_static_position_independent_program_runs() {
    let folder = prepare("static-pie");
    build(
        Command::new("gcc")
            .args(["-static-pie", "-O2", "-pthread", "-o"])
            .arg(folder.join("threads"))
            .arg(source("threads.c")),
    );
    inside::same(&["./threads", "3"], &folder);
}

#[test]
fn a_go_program_with_goroutines_and_sockets_runs() {
    demand(&["go"]);
    let folder = prepare("go");
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-cache");
    build(
        Command::new("go")
            .args(["build", "-o"])
            .arg(folder.join("echo"))
            .arg(source("echo.go"))
            .env("GOCACHE", cache)
            .env("GOFLAGS", "-mod=mod")
            .env("GO111MODULE", "off"),
    );
    inside::same(&["./echo", "5"], &folder);
}

#[test]
fn a_rust_program_on_tokio_runs() {
    let folder = prepare("tokio");
    let here = std::env::current_exe().expect("this test is a file");
    let example = here.ancestors().nth(2).expect("it lies in deps").join("examples/tokio_echo");
    let copied = std::fs::copy(&example, folder.join("echo"));
    copied.unwrap_or_else(|error| panic!("{}: {error}; cargo build -p world --examples", example.display()));
    inside::same(
        &[
            "/bin/dash",
            "-c",
            "./echo serve 6 > port & until [ -s port ]; do sleep 0.1; done; ./echo ask $(cat port) 6; wait $!; echo $?",
        ],
        &folder,
    );
}
