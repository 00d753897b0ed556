//! Random models, each put to SPIN and to us.
//!
//! `SPIN_MODELS=200 cargo nextest run -p promela spin::random` looks further than CI does; a failure names the seed
//! and prints the model.

use super::kinds::{Extent, agree, kinds};
use super::pan::Workshop;
use super::subject::Subject;
use explore::Fairness;
use testkit::random_model::{Spice, random_model};
use trace::FailureKind;

const STATES_MAX: u64 = 200_000;

fn seeds(default: u64) -> u64 {
    std::env::var("SPIN_MODELS").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A random model, in a workshop with the verifier and as a subject; nothing if SPIN refuses it. What SPIN takes, we take.
fn prepare(seed: u64, ltl: u32, gcc: &[&str]) -> Option<(String, Workshop, Subject)> {
    // A broken promise is a step of its own here; the test about promises has those.
    let spice = Spice { ltl, promises: false, ..Spice::from_seed(seed) };
    prepare_with(seed, &ltl.to_string(), spice, gcc)
}

fn prepare_with(seed: u64, name: &str, spice: Spice, gcc: &[&str]) -> Option<(String, Workshop, Subject)> {
    let text = random_model(seed, spice);
    let text = if spice.ltl > 0 { for_formulas(&text) } else { text };
    let workshop = Workshop::new(&format!("{name}-{seed}"), &text);
    workshop.build(&["-o1", "-o2", "-o3"], gcc).ok()?;
    let subject = Subject::native(&workshop.path("m.pml"), &[]);
    let subject = subject.unwrap_or_else(|why| panic!("seed {seed}: SPIN takes the model, we do not: {why}\n{text}"));
    Some((text, workshop, subject))
}

/// The model without what SPIN reports along with a formula: failed assertions (`-A` would also silence the claim's
/// own) and cycles through `accept` labels of processes.
fn for_formulas(text: &str) -> String {
    let keep =
        |line: &str| if line.trim_start().starts_with("assert(") { "skip;\n".to_owned() } else { format!("{line}\n") };
    text.replace("accept", "plain").lines().map(keep).collect()
}

/// Whether SPIN could look at the whole model; if so, whether we agree is checked.
fn same_counts(seed: u64) -> bool {
    let Some((text, workshop, subject)) = prepare(seed, 0, &["-DSAFETY", "-DNOREDUCE", "-DNOCLAIM"]) else {
        return false;
    };
    let Some(spin) = workshop.verify(&["-c0", "-m200000"]).filter(|report| report.complete) else { return false };
    let outcome = subject.count(STATES_MAX);
    let ours = outcome.violations.iter().map(|violation| violation.failure.kind).collect();
    assert_eq!(
        (spin.states, spin.transitions),
        (outcome.stats.states, outcome.stats.steps + 1),
        "seed {seed}: states and transitions of SPIN and of us\n{text}"
    );
    let theirs = kinds(&spin.kinds, None);
    assert!(agree(&theirs, &ours, Extent::All), "seed {seed}: SPIN finds {theirs:?}, we find {ours:?}\n{text}");
    true
}

#[test]
fn random_models_have_spins_counts_and_errors() {
    let count = seeds(12);
    let compared = (0..count).filter(|seed| same_counts(*seed)).count() as u64;
    assert!(compared * 4 >= count * 3, "only {compared} of {count} models could be compared");
}

/// Whether SPIN could look at the whole model; if so, whether we agree about promises is checked.
/// SPIN checks promises only where its reduction is compiled in.
fn same_promises(seed: u64) -> bool {
    let spice = Spice { promises: true, ltl: 0, ..Spice::from_seed(seed) };
    let Some((text, workshop, subject)) = prepare_with(seed, "promises", spice, &["-DSAFETY", "-DNOCLAIM"]) else {
        return false;
    };
    let Some(spin) = workshop.verify(&["-c0", "-m200000"]).filter(|report| report.complete) else { return false };
    let outcome = subject.count(STATES_MAX);
    let ours = outcome.violations.iter().any(|violation| violation.failure.kind == FailureKind::Exclusive);
    let theirs = kinds(&spin.kinds, None).contains(&FailureKind::Exclusive);
    // SPIN's reduction may leave out the interleaving that breaks a promise; what it finds, we must find.
    assert!(ours || !theirs, "seed {seed}: SPIN finds a broken promise, we do not\n{text}");
    let broken = text.contains("proctype T()") || text.contains("len(w)") || text.contains(" full(w)");
    let crossed = text.contains("xs w; nempty") || text.contains("xr w; nfull");
    assert!(!ours || broken || crossed, "seed {seed}: nobody breaks a promise\n{text}");
    true
}

#[test]
fn random_models_break_promises_where_spin_says_so() {
    let count = seeds(6);
    let compared = (2000..2000 + count).filter(|seed| same_promises(*seed)).count() as u64;
    assert!(compared * 2 >= count, "only {compared} of {count} models could be compared");
}

/// Whether SPIN looked at every property of a model; if so, whether we agree is checked.
fn same_formulas(seed: u64) -> bool {
    let Some((text, workshop, mut subject)) = prepare(seed, 2, &["-DNOREDUCE"]) else { return false };
    let mut complete = true;
    for name in ["p0", "p1"] {
        let Some(spin) = workshop.verify(&["-a", "-m200000", "-N", name]) else { return false };
        let theirs: Vec<FailureKind> = kinds(&spin.kinds, Some(FailureKind::Ltl)).into_iter().collect();
        if theirs.is_empty() && !spin.complete {
            complete = false;
            continue;
        }
        let property = subject.claim(Some(name)).expect("claim() checks the name");
        let ours: Vec<FailureKind> = subject.cycles(&property, Fairness::Off).into_iter().collect();
        assert_eq!(theirs, ours, "seed {seed}, {name}: SPIN's verdict and ours\n{text}");
    }
    complete
}

#[test]
fn random_models_have_spins_verdicts_on_formulas() {
    let count = seeds(6);
    let compared = (1000..1000 + count).filter(|seed| same_formulas(*seed)).count() as u64;
    assert!(compared * 4 >= count * 3, "only {compared} of {count} models could be compared");
}
