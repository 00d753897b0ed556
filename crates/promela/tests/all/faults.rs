//! Faults against plain means: one search for all sets against one search for each, reduced against unreduced, native
//! against interpreted, and models in which the fault is written by hand.
//!
//! `MODELS=20000 cargo nextest run -p promela faults::` looks further than CI does.

use explore::{AfterViolation, Bounds, Control, Fairness, Options, Outcome, Reduction, TransitionSystem};
use promela::engines::{find_cycle, search};
use promela::faults::{Plan, faults_of, prepare};
use promela::parse::{ParseOptions, parse_text};
use promela::property;
use promela::run::{Backend, ModelSystem};
use std::collections::BTreeSet;
use std::fmt::Write;
use testkit::random_model::{Dice, Spice, random_model};
use trace::FailureKind;

/// Larger state spaces are left out.
const STATES_MAX: u64 = 6_000;

fn models(default: u64) -> u64 {
    std::env::var("MODELS").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn load(text: &str, plan: Option<Plan>, code: impl FnOnce(&promela::ir::Model) -> Backend) -> Option<ModelSystem> {
    let parsed = parse_text("random.pml", text, &ParseOptions::default())
        .unwrap_or_else(|failure| panic!("{}\n{text}", failure.diagnostics[0].message));
    let (mut model, _) = promela::lower::lower(&parsed.program, &parsed.sources)
        .unwrap_or_else(|errors| panic!("{}\n{text}", errors[0].message));
    let faults = match plan {
        Some(plan) => Some(prepare(&mut model, &mut [], plan).ok()?),
        None => None,
    };
    let code = code(&model);
    let mut system = ModelSystem::new(model, parsed.sources, code);
    system.faults = faults;
    Some(system)
}

fn interpreted(text: &str, plan: Option<Plan>) -> Option<ModelSystem> {
    load(text, plan, |_| Backend::Interpreter)
}

fn plan(budget: u32, only: &[&str]) -> Plan {
    Plan { budget, only: only.iter().map(|name| (*name).to_owned()).collect(), remembers: true, ..Plan::default() }
}

fn options(reduction: Reduction) -> Options {
    let bounds = Bounds { states: Some(STATES_MAX), ..Bounds::default() };
    Options { reduction, bounds, after_violation: AfterViolation::EachPart, ..Options::default() }
}

/// A violation: what, and after which faults, by name.
type Broken = BTreeSet<(FailureKind, String, Vec<String>)>;

fn broken(system: &ModelSystem, outcome: &Outcome) -> Broken {
    let faults = &system.faults.as_ref().expect("faults may happen").faults;
    let names = |part| faults_of(part).into_iter().map(|fault| faults[fault].name.clone()).collect();
    let told = |violation: &explore::Violation| {
        (violation.failure.kind, violation.failure.message.clone(), names(violation.part))
    };
    outcome.violations.iter().map(told).collect()
}

fn searched(system: &ModelSystem, reduction: Reduction) -> Option<Outcome> {
    let outcome = search(system, &options(reduction), Control::default());
    outcome.complete().then_some(outcome)
}

#[test]
fn reduction_and_native_code_keep_every_violation_of_every_set_of_faults() {
    let (mut compared, mut violations, mut reduced) = (0, 0, 0);
    for seed in 0..models(50) {
        let text = random_model(seed, Spice { ltl: 0, ..Spice::from_seed(seed) });
        let wanted = plan(1 + (seed % 2) as u32, &[]);
        let Some(system) = interpreted(&text, Some(wanted.clone())) else { continue };
        let Some(full) = searched(&system, Reduction::Off) else { continue };
        let expected = broken(&system, &full);
        let less = searched(&system, Reduction::Safety).expect("no more states than without");
        assert_eq!(broken(&system, &less), expected, "seed {seed}\n{text}");
        #[cfg(feature = "native")]
        {
            let compile =
                |model: &promela::ir::Model| Backend::compiled(model).expect("this host has a code generator");
            let native = load(&text, Some(wanted), compile).expect("it fitted before");
            let outcome = searched(&native, Reduction::Off).expect("as many states");
            assert_eq!(broken(&native, &outcome), expected, "seed {seed}\n{text}");
            assert_eq!(outcome.stats.states, full.stats.states, "seed {seed}\n{text}");
        }
        for violation in &full.violations {
            assert!(replays(&system, violation), "seed {seed} {violation:?}\n{text}");
        }
        compared += 1;
        violations += expected.len();
        reduced += full.stats.states - less.stats.states;
    }
    assert!(compared > 5 && violations > 20 && reduced > 0, "{compared} {violations} {reduced}");
}

/// Whether a schedule, told step by step, ends in the part of the state space that it should.
fn replays(system: &ModelSystem, violation: &explore::Violation) -> bool {
    let mut scratch = system.scratch();
    let mut state = system.initial(&mut scratch);
    violation.schedule.choices.iter().all(|choice| match system.explain(&mut scratch, &state, *choice) {
        Some(explained) => {
            state = explained.state;
            true
        }
        None => false,
    }) && system.part(&state) == violation.part
}

/// The sets of at most one fault that break each claim, by one search each for all of them.
fn claims_broken(
    text: &str,
    plan: Plan,
    fairness: Fairness,
    reduction: Reduction,
) -> Option<Vec<BTreeSet<Vec<String>>>> {
    let mut system = interpreted(text, Some(plan))?;
    let mut found = Vec::new();
    for claim in system.model.claims.clone() {
        let property = property::claim(&claim).expect("small formulas translate");
        let observer = system.add_observer(property.propositions.clone());
        let failure = property.failure();
        let options = options(reduction);
        let watched = find_cycle(&system, &property.monitor, observer, failure, fairness, &options, Control::default());
        watched.outcome.complete().then_some(())?;
        let sets = broken(&system, &watched.outcome);
        found.push(sets.into_iter().filter(|(kind, ..)| *kind == FailureKind::Ltl).map(|(.., set)| set).collect());
    }
    Some(found)
}

#[test]
fn one_search_for_all_faults_gives_what_one_search_for_each_gives() {
    let (mut compared, mut violated) = (0, 0);
    for seed in 0..models(16) {
        let text = random_model(seed, Spice { ltl: 2, ..Spice::from_seed(seed) });
        for fairness in [Fairness::Off, Fairness::Weak] {
            let Some(all) = claims_broken(&text, plan(1, &[]), fairness, Reduction::Off) else { continue };
            let reduced = claims_broken(&text, plan(1, &[]), fairness, Reduction::Safety);
            assert_eq!(reduced.as_ref(), Some(&all), "seed {seed} {fairness:?}\n{text}");
            let names: Vec<String> = {
                let system = interpreted(&text, Some(plan(1, &[]))).expect("it fitted before");
                system.faults.iter().flat_map(|faults| &faults.faults).map(|fault| fault.name.clone()).collect()
            };
            for name in names {
                let alone = claims_broken(&text, plan(1, &[&name]), fairness, Reduction::Off).expect("fewer states");
                for (claim, sets) in all.iter().enumerate() {
                    let mine = |set: &&Vec<String>| set.iter().all(|other| *other == name);
                    let expected: BTreeSet<Vec<String>> = sets.iter().filter(mine).cloned().collect();
                    assert_eq!(alone[claim], expected, "seed {seed} {name} {fairness:?}\n{text}");
                    compared += 1;
                    violated += expected.len();
                }
            }
        }
    }
    assert!(compared > 30 && violated > 10, "{compared} {violated}");
}

/// A fault as somebody would write it into a model: a process that does it once, or not at all.
fn by_hand(fault: &str, number: usize, capacity: u32) -> String {
    let head = format!("active proctype F{number}() {{ byte v; bit w;\n if\n");
    let body = match (fault, capacity) {
        ("loss:q", 1) => ":: d_step { len(q) > 0 -> q?v,w }",
        ("loss:q", _) => ":: d_step { len(q) > 0 -> q?v,w }\n :: d_step { len(q) == 2 -> q?v,w; q?_,_; q!v,w }",
        ("loss:r", _) => ":: d_step { len(r) > 0 -> r?v }",
        ("duplicate:q", _) => ":: d_step { len(q) == 1 -> q?v,w; q!v,w; q!v,w }",
        ("reorder:q", _) => ":: d_step { len(q) == 2 -> q?v,w; q!v,w }",
        ("flip:x", _) => {
            ":: x = x ^ 1\n :: x = x ^ 2\n :: x = x ^ 4\n :: x = x ^ 8\n :: x = x ^ 16\n :: x = x ^ 32\n :: x = x ^ 64\n :: x = x ^ 128"
        }
        ("stop:P0", _) => ":: stopped = 1",
        other => panic!("{other:?}"),
    };
    format!("{head} {body}\n :: skip\n fi }}\n")
}

fn edited(text: &str, set: &[&str], capacity: u32) -> String {
    let mut edited = String::from(text);
    if set.contains(&"stop:P0") {
        edited = edited.replacen("active proctype P0() {", "active proctype P0() provided (stopped == 0) {", 1);
        edited.insert_str(0, "bit stopped;\n");
    }
    for (number, fault) in set.iter().enumerate() {
        let _ = write!(edited, "{}", by_hand(fault, number, capacity));
    }
    edited
}

/// Which kinds of failure a model without any fault of ours has.
fn kinds(text: &str) -> Option<BTreeSet<FailureKind>> {
    let system = interpreted(text, None)?;
    let bounds = Bounds { states: Some(200_000), ..Bounds::default() };
    let options = Options { bounds, after_violation: AfterViolation::Continue { states: None }, ..Options::default() };
    let outcome = search(&system, &options, Control::default());
    outcome.complete().then(|| outcome.violations.iter().map(|violation| violation.failure.kind).collect())
}

/// Sets of numbers below `count` with at most two members, which may be the same.
fn sets(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    all.extend((0..count).map(|one| vec![one]));
    all.extend((0..count).flat_map(|one| (one..count).map(move |other| vec![one, other])));
    all
}

/// What has no smaller set among them.
fn minimal(sets: &BTreeSet<Vec<String>>) -> BTreeSet<Vec<String>> {
    let count = |list: &[String], name: &String| list.iter().filter(|other| *other == name).count();
    let part = |a: &[String], b: &[String]| a.iter().all(|name| count(a, name) <= count(b, name));
    let smaller = |set: &Vec<String>| sets.iter().any(|other| other != set && part(other, set));
    sets.iter().filter(|set| !smaller(set)).cloned().collect()
}

/// Only if both messages are lost, or only if one is doubled and `x` flips, something goes wrong.
const TWICE: &str = "byte x, y, z;
chan q = [2] of { byte, bit };
chan r = [1] of { byte };
active [1] proctype P0() { q!1,1; q!1,1 }
active proctype P1() { byte l; q?l,_; if :: len(q) == 2 -> assert(x == 0) :: else fi }
";

#[test]
fn minimal_sets_are_those_of_models_with_faults_written_by_hand() {
    let (mut compared, mut pairs) = (0, 0);
    for seed in 0..models(30) {
        let mut dice = Dice::new(seed);
        let spice = Spice {
            channels: seed == 0 || dice.chance(85),
            rendezvous: false,
            atomic: dice.chance(50),
            escapes: false,
            run: false,
            promises: false,
            long: false,
            ltl: 0,
        };
        let text = if seed == 0 { TWICE.to_owned() } else { random_model(seed, spice) };
        let capacity = if text.contains("chan q = [2]") { 2 } else { 1 };
        let mut faults = vec!["flip:x"];
        if spice.channels {
            faults.extend(["loss:q", "loss:r"]);
        }
        if spice.channels && capacity == 2 {
            faults.extend(["duplicate:q", "reorder:q"]);
        }
        if text.contains("\nactive proctype P0() {") {
            faults.push("stop:P0");
        }
        let Some(system) = interpreted(&text, Some(plan(2, &faults))) else { continue };
        let Some(outcome) = searched(&system, Reduction::Safety) else { continue };
        let ours = broken(&system, &outcome);
        let mut by_kind: Vec<(FailureKind, BTreeSet<Vec<String>>)> =
            [FailureKind::Deadlock, FailureKind::Assert].map(|kind| (kind, BTreeSet::new())).to_vec();
        for set in sets(faults.len()) {
            let names: Vec<&str> = set.iter().map(|fault| faults[*fault]).collect();
            let Some(found) = kinds(&edited(&text, &names, capacity)) else { continue };
            let mut named: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            named.sort();
            for (kind, sets) in by_kind.iter_mut().filter(|(kind, _)| found.contains(kind)) {
                // Written by hand, a process that is stopped looks like one that waits.
                if *kind == FailureKind::Assert || !names.contains(&"stop:P0") {
                    sets.insert(named.clone());
                }
            }
        }
        for (kind, sets) in by_kind {
            let stops = |set: &Vec<String>| kind == FailureKind::Deadlock && set.contains(&"stop:P0".to_owned());
            let found = ours.iter().filter(|(of, ..)| *of == kind).map(|(.., set)| {
                let mut set = set.clone();
                set.sort();
                set
            });
            let found: BTreeSet<Vec<String>> = found.filter(|set| !stops(set)).collect();
            assert_eq!(minimal(&found), minimal(&sets), "seed {seed} {kind}\n{text}");
            compared += 1;
            pairs += minimal(&sets).iter().filter(|set| set.len() == 2).count();
        }
    }
    assert!(compared > 20 && pairs > 0, "{compared} {pairs}");
}

/// Small models whose assertion holds until the one fault happens.
const DEEDS: [(&str, &str); 20] = [
    (
        "loss:q",
        "chan q = [1] of { byte }; active proctype S() { q!1 } active proctype R() { end: if :: q?_ :: timeout -> assert(false) fi }",
    ),
    (
        "loss:s",
        "chan s = [0] of { byte }; bit got; active proctype S() { s!1; assert(got) } active proctype R() { end: atomic { s?_; got = 1 } }",
    ),
    (
        "corrupt:s",
        "chan s = [0] of { bit }; active proctype S() { s!1 } active proctype R() { bit x; end: s?x; assert(x) }",
    ),
    (
        "wrong:s",
        "mtype = { a, b }; chan s = [0] of { mtype }; active proctype S() { s!a; s!b } active proctype R() { mtype x; end: s?x; assert(x == a); s?x }",
    ),
    // What arrives in another shape than anybody waits for is gone.
    (
        "corrupt:s",
        "mtype = { a, b }; chan s = [0] of { mtype }; bit got; active proctype S() { s!a; assert(got) } active proctype R() { end: atomic { s?a; got = 1 } }",
    ),
    (
        "wrong:q",
        "mtype = { a, b }; chan q = [1] of { mtype }; active proctype S() { mtype x = a; q!x; q!b } active proctype R() { mtype x; end: q?x; assert(x == a); q?x }",
    ),
    (
        "duplicate:q",
        "chan q = [2] of { byte }; byte n; active proctype S() { q!1 } active proctype R() { end: do :: q?_ -> n++; assert(n < 2) od }",
    ),
    (
        "reorder:q",
        "chan q = [2] of { byte }; active proctype S() { q!1; q!2 } active proctype R() { byte x; end: q?x; assert(x == 1) }",
    ),
    (
        "corrupt:q",
        "chan q = [1] of { mtype }; mtype = { a, b }; active proctype S() { q!a } active proctype R() { mtype x; end: q?x; assert(x == a) }",
    ),
    (
        "delay:q",
        "chan q = [1] of { byte }; active proctype S() { q!1 } active proctype R() { end: if :: q?_ :: timeout -> assert(false) fi }",
    ),
    ("stop:P", "byte x; active proctype P() { x = 1; x = 2 } active proctype Q() { timeout -> assert(x == 2) }"),
    ("pause:P", "byte x; active proctype P() { x = 1; x = 2 } active proctype Q() { timeout -> assert(x == 2) }"),
    ("restart:P", "byte n; active proctype P() { byte l = 1; l++; n++; assert(l == 2 && n < 2) }"),
    ("irregular:x", "byte x = 1; active proctype P() { x = 2; x = 3; assert(x == 3) }"),
    ("irregular:P@A", "byte x; active proctype P() { skip; if :: x == 1 -> skip; A: assert(false) :: else fi }"),
    ("flip:b", "bit b = 1; active proctype P() { skip; assert(b) }"),
    ("stuck:b", "bit b; active proctype P() { skip; b = 1; assert(b) }"),
    ("stuck:P:b", "chan q = [1] of { bit }; active proctype P() { bit b; q!1; q?b; assert(b) }"),
    ("stuck:p", "byte p, n; proctype C() { n = 1 } active proctype P() { p = run C(); n == 1; assert(p != 0) }"),
    (
        "early:P",
        "byte x; active proctype P() { if :: timeout -> assert(false) :: x == 1 fi } active proctype Q() { x = 1 }",
    ),
];

#[test]
fn every_kind_of_fault_does_what_it_says() {
    for (fault, text) in DEEDS {
        let system = interpreted(text, Some(plan(1, &[fault]))).unwrap_or_else(|| panic!("{fault} does not fit"));
        let outcome = searched(&system, Reduction::Off).expect("a small model");
        let sets: BTreeSet<Vec<String>> = broken(&system, &outcome)
            .into_iter()
            .filter(|(kind, ..)| *kind == FailureKind::Assert)
            .map(|(.., set)| set)
            .collect();
        assert_eq!(sets, BTreeSet::from([vec![fault.to_owned()]]), "{fault}: {text}");
    }
}

/// Faults of the other kinds, and the same written by hand: models on which SPIN gives the same verdicts for the latter.
const BY_HAND: [(&str, &str, &str); 7] = [
    (
        "loss:c",
        "chan c = [0] of { bit }; chan d = [0] of { bit }; byte n;
         active proctype A() { do :: n < 3 -> c!1; d?_; n++ :: else -> break od }
         active proctype B() { end: do :: c?_ -> d!1 od }",
        "chan c = [0] of { bit }; chan d = [0] of { bit }; byte n, left = 1; bit ready = 1;
         active proctype A() { do :: n < 3 -> if :: c!1 :: atomic { left > 0 && ready -> left = 0 } fi; d?_; n++ :: else -> break od }
         active proctype B() { end: do :: atomic { c?_; ready = 0 }; atomic { d!1; ready = 1 } od }",
    ),
    (
        "corrupt:d",
        "mtype = { yes, no, other }; chan d = [0] of { mtype }; byte n;
         active proctype A() { do :: n < 3 -> if :: d?yes -> n++ :: d?no -> assert(n != 1) fi :: else -> break od }
         active proctype B() { end: do :: d!yes od }",
        "mtype = { yes, no, other }; chan d = [0] of { mtype }; byte n;
         active proctype A() { do :: n < 3 -> if :: d?yes -> n++ :: d?no -> assert(n != 1) fi :: else -> break od }
         active proctype B() { end: do :: d!yes :: d!no -> break od; end1: do :: d!yes od }",
    ),
    (
        "restart:W",
        "byte g; active proctype W() { byte l; do :: l < 2 -> l++; g++ :: else -> break od; assert(g <= 3) }",
        "byte g; bit again;
         active proctype W() { byte l; S: l = 0; { do :: l < 2 -> l++; g++ :: else -> break od; assert(g <= 3) } unless { atomic { again -> again = 0; goto S } } }
         active proctype F() { if :: again = 1 :: skip fi }",
    ),
    (
        "stuck:b",
        "bit b; byte x; active proctype P() { do :: x < 3 -> b = 1; x++; b = 0 :: else -> break od; assert(b == 0) }
         active proctype Q() { end: b == 1 }",
        "bit b, stuck; byte x;
         active proctype P() { do :: x < 3 -> d_step { if :: stuck :: else -> b = 1 fi }; x++; d_step { if :: stuck :: else -> b = 0 fi } :: else -> break od; assert(b == 0) }
         active proctype Q() { end: b == 1 }
         active proctype F() { if :: stuck = 1 :: skip fi }",
    ),
    (
        "irregular:s",
        "mtype = { idle, busy, over }; mtype s = idle; byte k;
         active proctype P() { do :: s == idle -> s = busy :: s == busy -> s = over :: s == over -> k++; break od }
         active proctype M() { end: s == over; end1: s == busy -> assert(false) }",
        "mtype = { idle, busy, over }; mtype s = idle; byte k;
         active proctype P() { do :: s == idle -> s = busy :: s == busy -> s = over :: s == over -> k++; break od }
         active proctype M() { end: s == over; end1: s == busy -> assert(false) }
         active proctype F() { if :: s = idle :: s = busy :: s = over :: skip fi }",
    ),
    (
        "early:R",
        "chan q = [1] of { byte }; bit gave; active proctype S() { q!1 }
         active proctype R() { if :: q?_ :: timeout -> gave = 1 fi; assert(!gave) }",
        "chan q = [1] of { byte }; bit gave; active proctype S() { q!1 }
         active proctype R() { if :: q?_ :: skip -> gave = 1 fi; assert(!gave) }",
    ),
    (
        "irregular:P@C",
        "byte x; active proctype P() { x = 1; x = 2; x = 3; C: if :: x == 2 -> assert(false) :: else fi }",
        "byte x; bit jump; active proctype P() { { x = 1; x = 2; x = 3; goto C } unless { jump -> goto C }; C: if :: x == 2 -> assert(false) :: else fi }
         active proctype F() { if :: jump = 1 :: skip fi }",
    ),
];

#[test]
fn every_other_kind_breaks_what_it_breaks_when_written_by_hand() {
    for (fault, plain, by_hand) in BY_HAND {
        let system = interpreted(plain, Some(plan(1, &[fault]))).unwrap_or_else(|| panic!("{fault} does not fit"));
        let outcome = searched(&system, Reduction::Safety).expect("a small model");
        let ours: BTreeSet<FailureKind> = outcome.violations.iter().map(|violation| violation.failure.kind).collect();
        assert_eq!(kinds(plain), Some(BTreeSet::new()), "{fault}: nothing is wrong without it");
        assert_eq!(Some(ours), kinds(by_hand), "{fault}: {plain}");
    }
}

#[test]
fn a_restart_resets_the_globals_that_it_is_told_to_reset() {
    let text = "byte n; active proctype P() { n++; assert(n < 2) }";
    let asserts = |reset: &[&str]| {
        let wanted = Plan { reset: reset.iter().map(|name| (*name).to_owned()).collect(), ..plan(1, &["restart"]) };
        let system = interpreted(text, Some(wanted)).expect("it fits");
        broken(&system, &searched(&system, Reduction::Off).expect("small")).len()
    };
    assert_eq!((asserts(&[]), asserts(&["n"])), (1, 0));
}

#[test]
fn a_process_that_has_ended_does_not_start_again() {
    // P is never removed, because Q was started later and does not end.
    let text = "byte n; active proctype P() { n++ } active proctype Q() { n == 2 -> assert(false) }";
    let system = interpreted(text, Some(plan(1, &["restart:P"]))).expect("it fits");
    let outcome = searched(&system, Reduction::Off).expect("small");
    assert!(broken(&system, &outcome).iter().all(|(kind, ..)| *kind != FailureKind::Assert));
    assert!(!system.faults.expect("prepared").was_met(0), "there was no occasion");
}

#[test]
fn a_process_that_stops_at_an_accept_label_is_there_for_ever() {
    let text = "byte x; active proctype P() { x = 1; accept: x = 2 } active proctype Q() { do :: x = 3 :: x = 4 od }";
    let mut system = interpreted(text, Some(plan(1, &["stop:P", "pause:P"]))).expect("it fits");
    let property = property::acceptance(&system.model).expect("there is a label");
    let observer = system.add_observer(property.propositions.clone());
    let (failure, options) = (property.failure(), options(Reduction::Off));
    let watched =
        find_cycle(&system, &property.monitor, observer, failure, Fairness::Weak, &options, Control::default());
    let sets: Vec<Vec<String>> = broken(&system, &watched.outcome).into_iter().map(|(.., set)| set).collect();
    assert_eq!(sets, [["stop:P"]], "a pause ends on every fair run");
}

#[test]
fn without_a_fault_a_prepared_model_has_the_states_that_it_had() {
    // More control states than a byte can count once each has two twins.
    let long: String = (0..120).map(|number| format!("x = {}; l = x; ", number % 3)).collect();
    let long = format!(
        "byte x; proctype P(byte p) {{ byte l = 2; chan c = [1] of {{ byte }}; {long} c!l; c?x; assert(p == 7 && x == l) }}\ninit {{ run P(7) }}"
    );
    let random = (0..models(30)).map(|seed| random_model(seed, Spice { ltl: 0, ..Spice::from_seed(seed) }));
    for text in std::iter::once(long).chain(random) {
        let plain = interpreted(&text, None).expect("it parses");
        let mut prepared = interpreted(&text, Some(plan(2, &[]))).expect("some fault always fits");
        prepared.faults.as_mut().expect("prepared").budget = 0;
        for reduction in [Reduction::Off, Reduction::Safety] {
            // Where a fault could happen no steps are merged.
            let search = |system: &_| {
                let outcome = search(system, &Options { merging: false, ..options(reduction) }, Control::default());
                outcome.complete().then_some(outcome)
            };
            let (Some(one), Some(other)) = (search(&plain), search(&prepared)) else { continue };
            let counts = |outcome: &Outcome| (outcome.stats.states, outcome.stats.steps, outcome.violations.len());
            assert_eq!(counts(&one), counts(&other), "{text}");
        }
    }
}

#[test]
fn faults_have_stable_names_of_kind_and_component() {
    let text = "mtype = { up, down }; mtype state = up; chan q[2] = [2] of { byte }; bit b;
        active proctype P() { state = down; q[0]!1; again: b = 1; goto again }
        active [2] proctype C() { byte n; q[1]?n; n = n + 1 }";
    let system = interpreted(text, Some(plan(1, &[]))).expect("it fits");
    let names: Vec<&str> =
        system.faults.iter().flat_map(|faults| &faults.faults).map(|fault| fault.name.as_str()).collect();
    let expected = "loss:q[0] loss:q[1] duplicate:q[0] duplicate:q[1] reorder:q[0] reorder:q[1] corrupt:q[0] corrupt:q[1] \
        delay:q[0] delay:q[1] stop:P stop:C:1 stop:C:2 pause:P pause:C:1 pause:C:2 restart:P restart:C:1 restart:C:2 \
        irregular:state irregular:P@again flip:b stuck:state stuck:b";
    assert_eq!(names, expected.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn no_two_faults_have_the_same_name() {
    let text = "byte x; inline f() { goto L; x = 9; L: x++ }
        active proctype P() { { bit b; b = 1; f() } { bit b; b = 1; f() } }";
    let system = interpreted(text, Some(plan(1, &[]))).expect("it fits");
    let names: Vec<&str> =
        system.faults.iter().flat_map(|faults| &faults.faults).map(|fault| fault.name.as_str()).collect();
    let distinct: BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(names.len(), distinct.len(), "{names:?}");
    for name in ["irregular:P@L", "irregular:P@L.2"] {
        assert!(distinct.contains(name), "{names:?}");
    }
}
