//! Random servers and clients: a server is a peer in a world of its own, or searched like its clients.
//!
//! `PROGRAMS=500` tries so many.

use crate::inside;
use checker::{Engine, Expected, Fault, FaultPlan, Gate, Holes, Options, PeerStart, Programs, Service, search_by};
use explore::graph::{Limits, Mode};
use explore::random::Random;
use kernel::host::Host;
use peer::{Address, Runs, Shape, Terms};
use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use world::Command;
use world::host::{DeclaredRoots, SYSTEM_ROOTS};

/// Cases with more states, steps or schedules are left out.
const STATES_MAX: usize = 2_000;
const SCHEDULES_MAX: u64 = 1_000;

/// Cases that are tried if nothing is said.
const CASES: u64 = 16;

/// What server and clients do.
#[derive(Debug)]
struct Case {
    is_udp: bool,
    is_independent: bool,
    rules: String,
    scripts: [String; 2],
}

impl Case {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let is_udp = random.below(3) == 0;
        // Rules of which the answer depends on nothing but the connection, and others.
        let is_independent = random.below(4) == 0;
        let actions = if is_independent { &b"en"[..] } else { b"ecdlbn" };
        let rules = (0..3).map(|_| char::from(actions[random.below(actions.len())])).collect();
        let scripts = [(); 2].map(|()| script(&mut random, is_udp));
        Self { is_udp, is_independent, rules, scripts }
    }
}

/// A few messages, with reads behind some of them.
fn script(random: &mut Random, is_udp: bool) -> String {
    let steps = if is_udp { &b"abcrp"[..] } else { b"abcrpq" };
    let first = char::from(b"abc"[random.below(3)]);
    let count = 1 + random.below(2);
    let rest = (0..count).map(|_| char::from(steps[random.below(steps.len())]));
    std::iter::once(first).chain(rest).collect()
}

fn built(name: &str) -> PathBuf {
    let folder = inside::folder(name);
    std::fs::write(folder.join("program.c"), include_str!("program.c")).expect("the folder takes files");
    let mut gcc = std::process::Command::new("gcc");
    gcc.args(["-g", "-O1", "-pthread", "-o", "program", "program.c"]).current_dir(&folder);
    assert!(gcc.status().expect("gcc runs").success());
    folder
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    Command {
        arguments: ["./program"].iter().chain(arguments).map(|word| word.as_bytes().to_vec()).collect(),
        environment: vec![b"LD_BIND_NOW=1".to_vec()],
        directory: folder.as_os_str().as_bytes().to_vec(),
        user: None,
    }
}

fn host(folder: &Path) -> Host {
    let roots = SYSTEM_ROOTS.iter().map(Into::into).chain([folder.to_owned()]).collect();
    Host(Arc::new(DeclaredRoots::new(roots)))
}

/// The clients of a case, to be searched, with the server as a peer.
fn with_peer(folder: &Path, case: &Case, options: Options) -> Programs {
    let [one, two] = &case.scripts;
    let name = |kind: &str| format!("{}{kind}", if case.is_udp { "udp-" } else { "" });
    let client = Service::new(command(folder, &[&name("client"), one, two]));
    let client = Service { name: "client".to_owned(), expected: Expected::Success, ..client };
    let limit = memory::Limit::default();
    let mut programs = Programs::start_services(host(folder), limit, &[client], options).expect("it starts");
    let address = if case.is_udp { Address::Udp(Ipv4Addr::LOCALHOST, 7000) } else { Address::Port(7000) };
    let start = PeerStart {
        name: "server".to_owned(),
        shape: Shape::Listens(address),
        runs: Runs::World,
        command: command(folder, &[&name("server"), &case.rules]),
        host: host(folder),
        terms: Terms { is_independent: case.is_independent, ..Terms::default() },
    };
    programs.start_peer(&start).unwrap_or_else(|problem| panic!("{case:?}: {problem:?}"));
    programs
}

/// The same with the server searched as well.
fn with_service(folder: &Path, case: &Case, options: Options) -> Programs {
    let [one, two] = &case.scripts;
    let name = |kind: &str| format!("{}{kind}", if case.is_udp { "udp-" } else { "" });
    let server = command(folder, &[&name("server"), &case.rules]);
    let server = Service { name: "server".to_owned(), expected: Expected::Running, ..Service::new(server) };
    let client = Service::new(command(folder, &[&name("client"), one, two]));
    let gate = if case.is_udp { Gate::Bound(7000) } else { Gate::Listening(7000) };
    let client = Service { name: "client".to_owned(), after: vec![gate], ..client };
    let services = [server, client];
    Programs::start_services(host(folder), memory::Limit::default(), &services, options).expect("it starts")
}

/// How schedules end: kinds of failures, with exit codes; nothing if there are too many.
fn ends(engine: &Engine, mut programs: Programs, states: usize) -> Option<BTreeSet<String>> {
    let counts = matches!(engine, Engine::Classes { .. });
    let mut stop = |count: u64, _: u64| counts && count > SCHEDULES_MAX;
    let states = if counts { usize::MAX } else { states };
    let mut limits = Limits { states, failures: usize::MAX, stop: &mut stop };
    let report = search_by(engine, &mut programs, &mut limits).report;
    assert!(programs.refusal.is_none(), "{:?}", programs.refusal);
    let code = |message: &str| {
        message.rsplit("exit code ").next().filter(|_| message.contains("exit code ")).map(str::to_owned)
    };
    let end = |kind: String, message: &str| format!("{kind} {}", code(message).unwrap_or_default());
    let found = report.found.iter().map(|found| end(found.failure.kind.to_string(), &found.failure.message));
    report.complete.then(|| found.collect())
}

fn graph(mode: Mode, workers: usize) -> Engine {
    Engine::Graph { mode, workers, alone: 0 }
}

/// How many cases are tried.
fn cases() -> u64 {
    std::env::var("PROGRAMS").ok().and_then(|count| count.parse().ok()).unwrap_or(CASES)
}

#[test]
fn every_engine_and_a_searched_server_show_the_same_ends() {
    let folder = built("peer-fuzz-ends");
    let mut compared = [0; 3];
    for seed in 0..cases() {
        let case = Case::new(seed);
        let peer = |options: Options| with_peer(&folder, &case, options);
        let Some(full) = ends(&graph(Mode::Full, 1), peer(Options::default()), STATES_MAX) else { continue };
        compared[0] += 1;
        let audited = || Options { audit: Some(1), ..Options::default() };
        let looks = [
            ("reduced", graph(Mode::Reduced, 1), Options::default()),
            ("two workers", graph(Mode::Reduced, 2), Options::default()),
            ("audited", graph(Mode::Reduced, 1), audited()),
            ("classes", Engine::Classes { depth: 300 }, Options::default()),
        ];
        for (name, engine, options) in looks {
            let Some(seen) = ends(&engine, peer(options), STATES_MAX) else { continue };
            compared[1] += usize::from(name == "classes");
            assert_eq!(seen, full, "seed {seed}, {name}: {case:?}");
        }
        // Answers to datagrams overtake each other on their way from a peer, and not on the local machine.
        if !case.is_udp
            && let Some(searched) =
                ends(&graph(Mode::Reduced, 1), with_service(&folder, &case, Options::default()), 4 * STATES_MAX)
        {
            compared[2] += 1;
            // What a peer says until it rests comes at once; a program can look between two sends of a searched server.
            let is_same = if case.rules.contains('d') { full.is_subset(&searched) } else { full == searched };
            assert!(is_same, "seed {seed}: {case:?}: as a peer {full:?}, searched {searched:?}");
        }
    }
    assert!(compared.iter().all(|count| *count as u64 > cases() / 8), "too few are small enough: {compared:?}");
}

#[test]
fn any_number_of_workers_finds_the_same_states_failures_and_schedules() {
    let folder = built("peer-fuzz-workers");
    let mut compared = 0;
    for seed in 0..cases() {
        let case = Case::new(seed);
        let found = |workers: usize| {
            let mut programs = with_peer(&folder, &case, Options::default());
            let mut limits = Limits { states: STATES_MAX, failures: usize::MAX, stop: &mut |_, _| false };
            let report = search_by(&graph(Mode::Reduced, workers), &mut programs, &mut limits).report;
            assert!(programs.refusal.is_none(), "{:?}", programs.refusal);
            let failures: Vec<_> = report.found.into_iter().map(|found| (found.failure, found.schedule)).collect();
            report.complete.then_some((report.states, report.steps, report.ends, failures))
        };
        let alone = found(1);
        compared += u64::from(alone.is_some());
        for workers in [2, 3] {
            assert_eq!(found(workers), alone, "seed {seed}, {workers} workers: {case:?}");
        }
    }
    assert!(compared > cases() / 8, "too few are small enough: {compared}");
}

/// What may happen between a server and its client.
const FAULTS: [&[&str]; 5] = [
    &["partition"],
    &["early"],
    &["partition:client", "early"],
    &["partition:server", "reset"],
    &["pause:server", "partition:client"],
];

/// A small case, for all schedules; where another only looks, it waits for a second.
fn small(seed: u64) -> Case {
    let mut case = Case::new(seed);
    let short = |script: String, length: usize| script.replace('p', "t").chars().take(length).collect();
    let [one, other] = case.scripts;
    case.scripts = [short(one, 1 + seed as usize % 3), short(other, seed as usize / 3 % 2)];
    case
}

fn plan(faults: &[&str]) -> FaultPlan {
    let faults = faults.iter().map(|text| Fault::parse(text).expect("it is known")).collect();
    FaultPlan { budget: 1, faults, as_listed: false }
}

/// What all engines see of programs that are started with an audit, or none; nothing if there is too much. Counts how often graphs and
/// classes were compared.
fn agreed(about: &str, start: &dyn Fn(Option<u32>) -> Programs, compared: &mut [u64; 2]) -> Option<BTreeSet<String>> {
    let full = ends(&graph(Mode::Full, 1), start(None), 10 * STATES_MAX)?;
    let looks = [
        ("reduced", graph(Mode::Reduced, 1), None),
        ("two workers", graph(Mode::Reduced, 2), None),
        ("audited", graph(Mode::Reduced, 1), Some(1)),
        ("classes", Engine::Classes { depth: 300 }, None),
    ];
    for (name, engine, audit) in looks {
        let Some(seen) = ends(&engine, start(audit), 10 * STATES_MAX) else { continue };
        compared[usize::from(name == "classes")] += 1;
        assert_eq!(seen, full, "{name}: {about}");
    }
    Some(full)
}

#[test]
fn every_engine_sees_what_faults_between_programs_lead_to() {
    let folder = built("peer-fuzz-faults");
    let mut compared = [0; 2];
    for seed in 0..cases() / 3 {
        let (case, faults) = (small(seed), plan(FAULTS[seed as usize % FAULTS.len()]));
        let start =
            |audit| with_service(&folder, &case, Options { faults: faults.clone(), audit, ..Options::default() });
        agreed(&format!("seed {seed}: {case:?} with {faults:?}"), &start, &mut compared);
    }
    let [graphs, classes] = compared;
    assert!(graphs > cases() / 3 && classes > 0, "too few are small enough: {compared:?}");
}

/// What may happen to a program that talks to a peer.
const FAULTS_BESIDE: [&[&str]; 4] =
    [&["kill:client"], &["restart:client"], &["signal:TERM:client"], &["kill:client", "pause:client"]];

#[test]
fn every_engine_sees_what_becomes_of_programs_that_talk_to_peers() {
    let folder = built("peer-fuzz-kills");
    let (mut compared, mut searched) = ([0; 2], 0);
    for seed in 0..cases() {
        let (case, faults) = (small(seed), plan(FAULTS_BESIDE[seed as usize % FAULTS_BESIDE.len()]));
        let options = |audit| Options { faults: faults.clone(), audit, ..Options::default() };
        let about = format!("seed {seed}: {case:?} with {faults:?}");
        let Some(seen) = agreed(&about, &|audit| with_peer(&folder, &case, options(audit)), &mut compared) else {
            continue;
        };
        if case.is_udp || case.rules.contains('d') {
            continue;
        }
        let server = ends(&graph(Mode::Reduced, 1), with_service(&folder, &case, options(None)), 10 * STATES_MAX);
        if let Some(server) = server {
            searched += 1;
            assert_eq!(seen, server, "as a peer, and searched: {about}");
        }
    }
    let [graphs, classes] = compared;
    assert!(graphs > cases() && classes > 0 && searched > cases() / 8, "too few are small: {compared:?}, {searched}");
}

#[test]
fn it_is_noticed_when_what_is_said_is_left_out_of_footprints() {
    let folder = built("peer-fuzz-hole");
    let is_noticed = |seed: u64| {
        let case = Case { is_independent: false, ..Case::new(seed) };
        let hole = Options { holes: Holes { said: true, ..Holes::default() }, ..Options::default() };
        let full = ends(&graph(Mode::Full, 1), with_peer(&folder, &case, Options::default()), STATES_MAX);
        let holed = ends(&graph(Mode::Reduced, 1), with_peer(&folder, &case, hole), STATES_MAX);
        full.is_some() && holed.is_some() && full != holed
    };
    assert!((0..cases()).any(is_noticed), "nobody notices");
}
