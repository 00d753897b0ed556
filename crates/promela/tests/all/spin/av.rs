//! The audio-video appliance: each property, with and without weak fairness.

use super::csv::{self, Row};
use super::kinds::{Extent, agree, kinds};
use super::subject::Subject;
use super::{all_agree, repository};
use explore::{Fairness, Reduction};
use trace::FailureKind;

fn difference(row: &Row) -> Option<String> {
    let path = repository(&format!("models/av/{}.pml", row.get("model")));
    let mut subject = Subject::interpreted(&path, &[]).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let fairness = if row.get("fair") == "weak" { Fairness::Weak } else { Fairness::Off };
    let (claim, ours) = match row.get("property") {
        // The paper's properties 8 and 9 are no formulas: no deadlock, and progress.
        "p8" => (None, subject.safety(Reduction::Off)),
        "p9" => (None, subject.progress(fairness)),
        name => {
            let property = subject.claim(Some(name)).expect("claim() checked the name");
            (Some(FailureKind::Ltl), subject.cycles(&property, fairness))
        }
    };
    let spin = kinds(row.get("kind"), claim);
    let name = format!("{} {} fair={}", row.get("model"), row.get("property"), row.get("fair"));
    (!agree(&spin, &ours, Extent::First)).then(|| format!("{name}: SPIN finds {spin:?}, we find {ours:?}"))
}

fn compare(part: usize) {
    let rows = csv::read(&repository("models/av/spin.csv"));
    assert_eq!(rows.len(), 224);
    let differences: Vec<String> = rows.iter().skip(part).step_by(2).filter_map(difference).collect();
    all_agree(&differences);
}

#[test]
fn the_appliance_has_spins_verdicts_in_even_rows() {
    compare(0);
}

#[test]
fn the_appliance_has_spins_verdicts_in_odd_rows() {
    compare(1);
}
