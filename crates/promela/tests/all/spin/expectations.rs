//! The `expect` lines in the heads of our models; `models/README.md` explains them.

use super::kinds::Kinds;
use super::subject::Subject;
use super::{all_agree, repository};
use explore::Fairness;
use std::path::{Path, PathBuf};
use trace::FailureKind;

/// State spaces beyond this are left to the benchmark, as are lines with `size=bench`.
const STATES_MAX: u64 = 150_000;

/// Lines whose steps are counted differently. Model, defines, reason.
const OTHER_STEPS: [(&str, &[&str], &str); 2] = [
    ("leader.pml", &[], "paths through a long atomic sequence that meet inside it are followed once"),
    ("coherence.pml", &["-DN=2", "-DFORGETFUL"], "a step in which two assertions fail is two choices"),
];

/// One `expect` line.
struct Expectation<'t> {
    defines: Vec<&'t str>,
    holds: bool,
    properties: Vec<&'t str>,
    keys: Vec<(&'t str, &'t str)>,
}

impl<'t> Expectation<'t> {
    fn read(line: &'t str) -> Option<Self> {
        let words = line.strip_prefix("// expect: ").or_else(|| line.strip_prefix("// expect-with: "))?;
        let (defines, mut rest): (Vec<&str>, Vec<&str>) =
            words.split_whitespace().partition(|word| word.starts_with("-D"));
        let keys = rest.split_off(2).into_iter().map(|word| word.split_once('=').expect("KEY=VALUE")).collect();
        assert!(["holds", "violated"].contains(&rest[0]), "{line}");
        Some(Self { defines, holds: rest[0] == "holds", properties: rest[1].split(',').collect(), keys })
    }

    fn key(&self, wanted: &str) -> Option<&str> {
        self.keys.iter().find(|(key, _)| *key == wanted).map(|(_, value)| *value)
    }

    fn number(&self, wanted: &str) -> Option<u64> {
        self.key(wanted).map(|value| value.parse().expect("a number"))
    }

    fn is_large(&self) -> bool {
        self.key("size") == Some("bench") || self.number("states").is_some_and(|states| states > STATES_MAX)
    }

    fn fairness(&self) -> Fairness {
        if self.key("fair") == Some("weak") { Fairness::Weak } else { Fairness::Off }
    }

    /// What is wrong with our answer.
    fn difference(&self, path: &Path, subject: &mut Subject) -> Option<String> {
        match self.properties[0] {
            "deadlock" | "assert" => self.safety(path, subject),
            "accept" => self.cycles(subject.acceptance(self.fairness())),
            "progress" => self.cycles(subject.progress(self.fairness())),
            name => {
                let name = name.strip_prefix("ltl:").expect("deadlock, assert, accept, progress or ltl:NAME");
                let property = subject.claim(Some(name)).expect("claim() checks the name");
                self.cycles(subject.cycles(&property, self.fairness()))
            }
        }
    }

    fn counts_other_steps(&self, path: &Path) -> bool {
        OTHER_STEPS.iter().any(|(model, defines, _)| path.ends_with(model) && self.defines == *defines)
    }

    fn safety(&self, path: &Path, subject: &Subject) -> Option<String> {
        let outcome = subject.count(2 * STATES_MAX);
        let found: Kinds = outcome.violations.iter().map(|violation| violation.failure.kind).collect();
        let named: Kinds = self.properties.iter().map(|name| name.parse::<FailureKind>().expect("a kind")).collect();
        let expected = if self.holds { Kinds::new() } else { named };
        let counts = (outcome.stats.states, outcome.stats.steps + 1);
        let same = self.number("states").is_none_or(|states| states == counts.0)
            && (self.counts_other_steps(path) || self.number("transitions").is_none_or(|steps| steps == counts.1));
        (found != expected || !same || !outcome.complete()).then(|| format!("found {found:?}, counted {counts:?}"))
    }

    fn cycles(&self, found: Kinds) -> Option<String> {
        (found.is_empty() != self.holds).then(|| format!("found {found:?}"))
    }
}

fn models(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(repository(folder)).expect("the folder is there");
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    found.sort();
    found
}

fn check(path: &Path) -> (usize, usize, Vec<String>) {
    let text = std::fs::read_to_string(path).expect("a model");
    let (mut checked, mut large, mut differences) = (0, 0, Vec::new());
    for (line, expectation) in text.lines().filter_map(|line| Some((line, Expectation::read(line)?))) {
        if expectation.is_large() {
            large += 1;
            continue;
        }
        checked += 1;
        let subject = Subject::native(path, &expectation.defines);
        let mut subject = subject.unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        let difference = expectation.difference(path, &mut subject);
        differences.extend(difference.map(|found| format!("{}: {line}: {found}", path.display())));
    }
    (checked, large, differences)
}

fn compare(folder: &str, expected: (usize, usize)) {
    let (mut checked, mut large, mut differences) = (0, 0, Vec::new());
    for path in models(folder) {
        let of_model = check(&path);
        (checked, large) = (checked + of_model.0, large + of_model.1);
        differences.extend(of_model.2);
    }
    all_agree(&differences);
    assert_eq!((checked, large), expected, "lines checked, lines left to the benchmark");
}

#[test]
fn examples_keep_their_promises() {
    compare("models/examples", (35, 0));
}

#[test]
fn scalable_models_keep_their_promises() {
    compare("models/scalable", (29, 8));
}

#[test]
fn models_that_spin_gets_wrong_keep_their_promises() {
    compare("models/spin-defects", (8, 1));
}

#[test]
fn models_that_went_wrong_once_keep_their_promises() {
    compare("models/found", (9, 2));
}
