//! Our control graphs against the state tables that SPIN's verifier prints (`pan -d`).
#![allow(clippy::disallowed_methods, reason = "tests use the host")]

use crate::ir::{Action, ClaimKind, ControlState, Model};
use crate::lower::lower;
use crate::parse::{ParseOptions, parse_file};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Models with everything that makes graphs differ from tables: escapes, lifted options, special labels, d_steps.
const MODELS: [&str; 12] = [
    "unless_nested",
    "unless_atomic",
    "unless_loopback",
    "unless_rvmain",
    "if_nested_guard",
    "np_cycle",
    "end_prefix",
    "atomic_goto",
    "dstep_guard",
    "goto_step2",
    "claim_atomic",
    "trace_ok",
];

/// The ways out of each state, in order.
type States = BTreeMap<u32, Vec<String>>;

fn run(program: &str, args: &[&str], folder: &Path) -> String {
    let output = Command::new(program).args(args).current_dir(folder).output();
    let output = output.unwrap_or_else(|error| panic!("this test needs the program `{program}`: {error}"));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What `pan -d` prints, by the name of the proctype or claim.
fn spin_graphs(model: &Path, folder: &Path) -> BTreeMap<String, States> {
    run("spin", &["-a", "-o1", "-o2", "-o3", &model.to_string_lossy()], folder);
    run("gcc", &["-O0", "-w", "-DNOREDUCE", "-o", "pan", "pan.c"], folder);
    let mut graphs: BTreeMap<String, States> = BTreeMap::new();
    let mut name = String::new();
    for line in run("./pan", &["-d"], folder).lines() {
        if let Some(step) = line.strip_prefix("\tstate ") {
            let (state, text) = read_step(step);
            graphs.entry(name.clone()).or_default().entry(state).or_default().push(text);
        } else if !line.trim().is_empty() {
            name = line.trim_start_matches("proctype ").trim_start_matches("claim ").to_string();
        }
    }
    graphs
}

/// `4 -(tr 1)-> state 6 [id 0 tp 2] [----L] file:3 => text`.
fn read_step(line: &str) -> (u32, String) {
    let number = |text: &str| text.trim().split(' ').next().and_then(|digits| digits.parse::<u32>().ok());
    let state = number(line).expect("a state");
    let target = line.split("-> state").nth(1).and_then(number).expect("a target");
    let id = line.split("[id").nth(1).and_then(number).expect("a statement");
    let flags = line.split("] [").nth(1).and_then(|rest| rest.split(']').next()).expect("flags");
    let atomic = if flags.starts_with('A') { "A" } else { "-" };
    (state, format!("{id}{atomic}{}>{target}", &flags[1..4]))
}

fn our_graphs(model: &Model) -> BTreeMap<String, States> {
    let mut graphs = BTreeMap::new();
    for proctype in &model.proctypes {
        let name = if proctype.name == ":init:" { "init" } else { &proctype.name };
        graphs.insert(name.to_string(), describe(&proctype.states));
    }
    for claim in &model.claims {
        if let ClaimKind::Never(never) = &claim.kind {
            graphs.insert(claim.name.clone(), describe(&never.states));
        }
    }
    graphs
}

fn describe(states: &[ControlState]) -> States {
    let edges = states.iter().flat_map(|state| &state.edges);
    let inside: BTreeSet<usize> = edges
        .filter_map(|edge| match &edge.action {
            Action::DStep { inside, .. } => Some(inside.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    let mark = |set: bool, mark: char| if set { mark } else { '-' };
    let mut found = States::new();
    for (_, state) in states.iter().enumerate().filter(|(pc, _)| !inside.contains(pc)) {
        for edge in &state.edges {
            let target = if matches!(edge.action, Action::Die) { 0 } else { states[edge.target].spin_state };
            let labels: String =
                [mark(state.accept, 'a'), mark(state.end, 'e'), mark(state.progress, 'p')].iter().collect();
            let atomic = mark(edge.atomic, 'A');
            found.entry(state.spin_state).or_default().push(format!("{}{atomic}{labels}>{target}", edge.spin_id));
        }
    }
    found
}

fn problems(path: &Path, folder: &Path) -> Vec<String> {
    let parsed = parse_file(path, &ParseOptions::default()).expect("a model that parses");
    let (model, _) =
        lower(&parsed.program, &parsed.sources).unwrap_or_else(|told| panic!("{}: {told:?}", path.display()));
    let theirs = spin_graphs(path, folder);
    let mut found = Vec::new();
    for (name, mut ours) in our_graphs(&model) {
        let Some(theirs) = theirs.get(&name) else {
            found.push(format!("{}: SPIN has no {name}", path.display()));
            continue;
        };
        // SPIN's claims end like processes; ours end where their closing brace is reached.
        if !model.proctypes.iter().any(|proctype| proctype.name == name || name == "init") {
            ours.extend(
                theirs
                    .iter()
                    .filter(|(_, steps)| steps.iter().all(|step| step.ends_with(">0")))
                    .map(|(state, steps)| (*state, steps.clone())),
            );
        }
        for state in ours.keys().chain(theirs.keys()).collect::<BTreeSet<_>>() {
            if ours.get(state) != theirs.get(state) {
                found.push(format!(
                    "{} {name} {state}: ours {:?}, SPIN's {:?}",
                    path.display(),
                    ours.get(state),
                    theirs.get(state)
                ));
            }
        }
    }
    found
}

#[test]
fn graphs_are_those_of_the_verifier() {
    let folder = std::env::temp_dir().join(format!("allways-graph-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for SPIN's output");
    let micro = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/micro");
    let models = MODELS.iter().map(|name| micro.join(name).with_extension("pml"));
    let found: Vec<String> = models.flat_map(|model| problems(&model, &folder)).collect();
    let _ = std::fs::remove_dir_all(&folder);
    assert!(found.is_empty(), "{}", found.join("\n"));
}
