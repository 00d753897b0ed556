//! The same command twice gives the same world after every thousandth instruction, and with both interpreters after every few.

use crate::inside;
use kernel::{Tid, event, time};
use std::path::Path;
use std::process::Command;
use world::World;
use world::step::Blind;
use x86::Code;

/// Between two looks at two runs that are alike.
const INSTRUCTIONS: u64 = 1000;
/// Between two looks at two interpreters: they stop in the middle of everything.
const FEW: u64 = 23;

/// Runs commands until nothing moves any more; fingerprints after every so many instructions of a thread's turn.
fn fingerprints(arguments: &[&str], directory: &Path, mut code: Code, turn: u64) -> Vec<u128> {
    let mut world = inside::world(directory);
    let mut seen = Seen { turn, fingerprints: Vec::new() };
    for command in inside::commands(arguments, directory) {
        settle(&mut world, &mut code, &mut seen);
        world.start(&command).expect("it starts");
    }
    while !world.kernel.threads.is_empty() {
        settle(&mut world, &mut code, &mut seen);
        if !pass_time(&mut world) {
            break;
        }
    }
    seen.fingerprints
}

/// What was seen, and how many instructions lie between.
struct Seen {
    turn: u64,
    fingerprints: Vec<u128>,
}

/// Lets everybody go on until all wait.
fn settle(world: &mut World, code: &mut Code, seen: &mut Seen) {
    loop {
        let tids: Vec<Tid> = world.kernel.threads.keys().copied().filter(|tid| world.can_move(*tid)).collect();
        if tids.is_empty() {
            return;
        }
        for tid in tids {
            let turn = world.advance(tid, code, seen.turn, &mut Blind).unwrap_or_else(|refusal| panic!("{refusal}"));
            time::expire(&mut world.kernel, &mut world.memory);
            if turn.executed > 0 {
                seen.fingerprints.push(world.fingerprint());
            }
        }
    }
}

fn pass_time(world: &mut World) -> bool {
    let deadlines = [time::next_deadline(&world.kernel), event::next_deadline(&world.kernel)];
    let Some(next) = deadlines.into_iter().flatten().min() else { return false };
    world.kernel.clock.advance_to(next);
    time::expire(&mut world.kernel, &mut world.memory);
    true
}

/// Both runs see the same, each with a code cache of its own and on a thread of its own.
fn same(arguments: &'static [&'static str], directory: &Path, least: usize) {
    compare(arguments, directory, least, [Code::default(), Code::default()], INSTRUCTIONS);
}

/// The lowered interpreter does what the reference does, at every stop.
fn same_in_both_interpreters(arguments: &'static [&'static str], directory: &Path, least: usize) {
    compare(arguments, directory, least, [Code::default(), Code::reference()], FEW);
}

fn compare(arguments: &'static [&'static str], directory: &Path, least: usize, codes: [Code; 2], turn: u64) {
    let run = |code: Code| {
        let directory = directory.to_owned();
        std::thread::spawn(move || fingerprints(arguments, &directory, code, turn))
    };
    let [first, second] = codes.map(run).map(|run| run.join().expect("it runs"));
    let differs = first.iter().zip(&second).position(|(first, second)| first != second);
    assert_eq!(differs, None, "{arguments:?}: the runs part after this many times {turn} instructions");
    assert_eq!(first.len(), second.len());
    assert!(first.len() >= least, "only {} fingerprints were compared", first.len());
}

#[test]
fn python_runs_the_same_way_twice() {
    const SCRIPT: &str =
        "import random, time, os; print(hash('a'), random.random(), id(object()), time.time(), os.getpid())";
    same(&["/usr/bin/python3", "-S", "-c", SCRIPT], &inside::folder("determinism-python"), 1000);
}

#[test]
fn threads_run_the_same_way_twice() {
    let folder = inside::folder("determinism-threads");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/languages/threads.c");
    let status = Command::new("gcc").args(["-O1", "-pthread", "-o"]).arg(folder.join("threads")).arg(source).status();
    assert!(status.expect("gcc runs").success());
    same(&["./threads", "8"], &folder, 100);
}

#[test]
fn a_server_and_its_client_run_the_same_way_twice() {
    const COMMAND: &[&str] = &[
        "/usr/bin/redis-server",
        "--port",
        "7000",
        "--save",
        "",
        "+",
        "/bin/dash",
        "-c",
        "redis-cli -p 7000 set k v; redis-cli -p 7000 time; redis-cli -p 7000 shutdown nosave",
    ];
    same(COMMAND, &inside::folder("determinism-redis"), 1000);
}

#[test]
fn both_interpreters_run_echo_the_same_way() {
    same_in_both_interpreters(&["/bin/echo", "one", "two"], &inside::folder("interpreters-echo"), 3000);
}

#[test]
fn both_interpreters_run_a_shell_script_the_same_way() {
    const SCRIPT: &str = "i=0; while [ $i -lt 40 ]; do i=$((i+1)); x=${x}$i; done; echo ${#x} | cat; (exit 3); echo $?";
    same_in_both_interpreters(&["/bin/dash", "-c", SCRIPT], &inside::folder("interpreters-dash"), 10000);
}

#[test]
fn both_interpreters_run_arithmetic_and_sorting_the_same_way() {
    const SCRIPT: &str =
        "busybox awk 'BEGIN { for (i = 1; i < 60; i++) print sin(i) * i / 7, log(i), i % 5 }' | sort -g | head -3";
    same_in_both_interpreters(&["/bin/dash", "-c", SCRIPT], &inside::folder("interpreters-awk"), 10000);
}
