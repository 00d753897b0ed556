//! The same command twice gives the same world after every thousandth instruction.

mod inside;

use kernel::{Tid, event, time};
use std::path::Path;
use std::process::Command;
use world::World;
use world::step::Blind;
use x86::Code;

/// Between two looks.
const INSTRUCTIONS: u64 = 1000;

/// Runs commands until nothing moves any more; fingerprints after every thousandth instruction of a thread's turn.
fn fingerprints(arguments: &[&str], directory: &Path) -> Vec<u128> {
    let mut world = inside::world(directory);
    let mut code = Code::default();
    let mut seen = Vec::new();
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
    seen
}

/// Lets everybody go on until all wait.
fn settle(world: &mut World, code: &mut Code, seen: &mut Vec<u128>) {
    loop {
        let tids: Vec<Tid> = world.kernel.threads.keys().copied().filter(|tid| world.can_move(*tid)).collect();
        if tids.is_empty() {
            return;
        }
        for tid in tids {
            let turn = world.advance(tid, code, INSTRUCTIONS, &mut Blind).unwrap_or_else(|refusal| panic!("{refusal}"));
            time::expire(&mut world.kernel, &mut world.memory);
            if turn.executed > 0 {
                seen.push(world.fingerprint());
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
    let run = |directory: std::path::PathBuf| std::thread::spawn(move || fingerprints(arguments, &directory));
    let (first, second) = (run(directory.to_owned()), run(directory.to_owned()));
    let (first, second) = (first.join().expect("it runs"), second.join().expect("it runs"));
    let differs = first.iter().zip(&second).position(|(first, second)| first != second);
    assert_eq!(differs, None, "{arguments:?}: the runs part after this many thousand instructions");
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
