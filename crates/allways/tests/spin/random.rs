//! Random models, each put to SPIN and to us.
//!
//! `SPIN_MODELS=200 cargo nextest run -p allways --test spin random` looks further than CI does; a failure names the seed
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

/// Whether SPIN could look at the whole model; if so, whether we agree is checked.
fn same_counts(seed: u64) -> bool {
    let text = random_model(seed, Spice { ltl: 0, ..Spice::from_seed(seed) });
    let workshop = Workshop::new(&format!("counts-{seed}"), &text);
    workshop.build(&["-o1", "-o2", "-o3"], &["-DSAFETY", "-DNOREDUCE", "-DNOCLAIM"]);
    let spin = workshop.verify(&["-c0", "-m200000"]);
    if !spin.complete {
        return false;
    }
    let subject =
        Subject::native(&workshop.path("m.pml"), &[]).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
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

/// Whether SPIN looked at every property of a model; if so, whether we agree is checked.
fn same_formulas(seed: u64) -> bool {
    let text = random_model(seed, Spice { ltl: 2, ..Spice::from_seed(seed) });
    let workshop = Workshop::new(&format!("ltl-{seed}"), &text);
    workshop.build(&["-o1", "-o2", "-o3"], &["-DNOREDUCE"]);
    let mut subject =
        Subject::native(&workshop.path("m.pml"), &[]).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
    let mut complete = true;
    for name in ["p0", "p1"] {
        // -A: failed assertions of the model would end the search before its cycles.
        let spin = workshop.verify(&["-a", "-A", "-m200000", "-N", name]);
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
