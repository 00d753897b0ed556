//! Trails: SPIN follows ours, we follow SPIN's.

use super::pan::Workshop;
use super::repository;
use super::subject::Subject;
use explore::{Control, Explained, Options, TransitionSystem};
use promela::engines::search;
use promela::run::ModelSystem;
use promela::trail;
use trace::{FailureKind, Schedule};

fn workshop(name: &str, file: &str) -> Workshop {
    let text = std::fs::read_to_string(repository(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    Workshop::new(name, &text)
}

fn system(workshop: &Workshop) -> ModelSystem {
    Subject::interpreted(&workshop.path("m.pml"), &[]).unwrap_or_else(|why| panic!("{why}")).system
}

/// Models with an error, its kind, and what SPIN says at the end of the trail.
const VIOLATED: [(&str, FailureKind, &str); 8] = [
    ("models/examples/mutex_naive.pml", FailureKind::Assert, "text of failed assertion: assert((inside==1))"),
    ("models/examples/bank_transfer.pml", FailureKind::Assert, "text of failed assertion"),
    ("models/examples/double_checked.pml", FailureKind::Assert, "text of failed assertion"),
    ("models/examples/producer_consumer.pml", FailureKind::Assert, "text of failed assertion"),
    ("models/examples/alternating_bit.pml", FailureKind::Assert, "text of failed assertion"),
    ("models/examples/needham_schroeder.pml", FailureKind::Assert, "text of failed assertion"),
    ("models/examples/philosophers_deadlock.pml", FailureKind::Deadlock, "#processes: "),
    ("models/examples/lost_wakeup.pml", FailureKind::Deadlock, "#processes: "),
];

#[test]
fn spin_follows_our_trails_to_the_error() {
    for (file, kind, words) in VIOLATED {
        let workshop = workshop("ours", file);
        let system = system(&workshop);
        let outcome = search(&system, &Options::default(), Control::default());
        let violation = &outcome.violations[0];
        assert_eq!(violation.failure.kind, kind, "{file}");
        let text = trail::write(&system, &violation.schedule).expect("the schedule fits its own model");
        workshop.write("m.pml.trail", &text);
        let said = workshop.run("spin", &["-t", "-p", "m.pml"]);
        assert!(said.contains("spin: trail ends after") && said.contains(words), "{file}: {said}\n{text}");
    }
}

/// Executes a schedule; the failure of its last step, or of the state that it ends in.
fn failure_of(system: &ModelSystem, schedule: &Schedule) -> Option<FailureKind> {
    let mut scratch = system.scratch();
    let mut state = system.initial(&mut scratch);
    let mut failure = None;
    for choice in &schedule.choices {
        let explained: Explained<Vec<u8>> = system.explain(&mut scratch, &state, *choice)?;
        (state, failure) = (explained.state, explained.failure);
    }
    let failure = failure.or_else(|| system.stuck(&mut scratch, &state));
    failure.map(|failure| failure.kind)
}

#[test]
fn we_follow_spins_trails_to_the_error() {
    for (file, kind, _) in VIOLATED {
        // With SPIN's merging of statements, and without.
        for options in [&[][..], &["-o1", "-o2", "-o3"]] {
            let workshop = workshop("theirs", file);
            workshop.build(options, &["-DSAFETY", "-DNOCLAIM"]).expect("SPIN takes the model");
            workshop.verify(&["-m100000"]).expect("pan comes to an end");
            let text = std::fs::read_to_string(workshop.path("m.pml.trail")).expect("pan writes a trail");
            let system = system(&workshop);
            let schedule =
                trail::read(&system, &text).unwrap_or_else(|error| panic!("{file} {options:?}: {error}\n{text}"));
            assert_eq!(failure_of(&system, &schedule), Some(kind), "{file} {options:?}\n{text}");
        }
    }
}
