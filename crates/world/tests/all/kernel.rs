//! The kernel against the host's: every program under `programs/kernel` prints what it observes, natively and inside.

use crate::inside;
use std::path::{Path, PathBuf};
use std::process::Command;

fn sources() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/kernel");
    let entries = std::fs::read_dir(folder).expect("programs/kernel is there").flatten();
    let mut sources: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|name| name == "c")).collect();
    sources.sort();
    sources.retain(|source| is_root() || !needs_root(source));
    sources
}

/// Inside, programs begin as root: those that are about what root may do can be compared with root only.
fn needs_root(source: &Path) -> bool {
    let text = std::fs::read_to_string(source).expect("a program can be read");
    text.lines().next().is_some_and(|line| line.ends_with("Needs root on the host."))
}

fn is_root() -> bool {
    let user = Command::new("id").arg("-u").output().expect("id runs");
    user.stdout == b"0\n"
}

fn compile(source: &Path, to: &Path) {
    let arguments = ["-O1", "-pthread", "-D_GNU_SOURCE", "-w", "-o"];
    let status = Command::new("gcc").args(arguments).arg(to).arg(source).arg("-lrt").status().expect("gcc runs");
    assert!(status.success(), "{} does not compile", source.display());
}

/// Compiles and compares one program; gives back how many lines both sides printed.
fn compare(source: &Path) -> Result<usize, String> {
    let name = source.file_stem().expect("a name").to_string_lossy().into_owned();
    let folder = inside::folder(&format!("kernel-{name}"));
    compile(source, &folder.join(&name));
    let command = format!("./{name}");
    let inside = std::panic::catch_unwind(|| inside::inside(&[&command], &folder));
    let inside = inside.map_err(|_| format!("{name}: does not run inside"))?;
    let mut last = String::new();
    // A program that is kept from running for long may show another order of its processes: it is asked again.
    for _ in 0..NATIVE_RUNS {
        let native = inside::native(&[&command], &folder);
        if inside == native {
            return Ok(native.output.iter().filter(|byte| **byte == b'\n').count());
        }
        last = difference(&inside, &native);
        compile(source, &inside::folder(&format!("kernel-{name}")).join(&name));
    }
    Err(format!("{name}: {last}"))
}

/// How often the host may show what it does.
const NATIVE_RUNS: usize = 5;

fn difference(inside: &inside::Seen, native: &inside::Seen) -> String {
    let (ours, theirs) = (String::from_utf8_lossy(&inside.output), String::from_utf8_lossy(&native.output));
    let differs = ours.lines().zip(theirs.lines()).find(|(ours, theirs)| ours != theirs);
    match differs {
        Some((ours, theirs)) => format!("inside `{ours}`, native `{theirs}`"),
        None => format!("inside {inside:?}\nnative {native:?}"),
    }
}

#[test]
fn every_observation_of_the_kernel_is_the_hosts() {
    let results: Vec<Result<usize, String>> = sources().iter().map(|source| compare(source)).collect();
    let failures: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(failures.is_empty(), "{} programs differ:\n{failures:#?}", failures.len());
    let lines: usize = results.iter().flatten().sum();
    assert!(lines >= 200, "only {lines} checks were compared");
}

/// Two processes that say a letter each and let the other go first.
const YIELDING: &str = r#"
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    const char *letter = fork() ? "a" : "b";
    usleep(1000);
    for (int i = 0; i < 10; i++) {
        write(1, letter, 1);
        sched_yield();
    }
    wait(NULL);
}
"#;

#[test]
fn a_process_that_yields_lets_the_other_go_first() {
    let folder = inside::folder("yielding");
    let source = folder.join("yielding.c");
    std::fs::write(&source, YIELDING).expect("the folder is there");
    compile(&source, &folder.join("yielding"));
    let said = inside::inside(&["./yielding"], &folder).output;
    assert!(said.len() == 20 && said.windows(2).all(|pair| pair[0] != pair[1]), "{}", String::from_utf8_lossy(&said));
}
