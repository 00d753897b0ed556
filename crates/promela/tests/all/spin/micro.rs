//! One model for each rule of the language: `models/micro/spin.csv`.

use super::csv::{self, Row};
use super::kinds::{Extent, Kinds, agree, kinds};
use super::subject::Subject;
use super::{all_agree, repository};
use explore::{Fairness, Reduction};
use trace::FailureKind;

/// Rows that cannot be compared: they ask for something that we do not have. Model, run, reason.
const LEFT_OUT: [(&str, &str, &str); 22] = [
    ("atomic_loop", "m1000", DEPTH),
    ("atomic_loop", "o3 m1000", DEPTH),
    ("depth_exceed", "m50", DEPTH),
    ("depth_exceed", "m50 -b", DEPTH),
    ("unless_nested", "spin -J", "-J reverses the order of escapes"),
    ("unless_nested", "pan -J", "-J reverses the order of escapes"),
    ("send_full", "spin -m", "-m loses messages that a full channel has no room for"),
    ("local_reinit", "-O old scope", "-O asks for the scope rules of SPIN 5"),
    ("prio", "-o6 old", "-o6 asks for the priorities of SPIN 5"),
    ("semi_arrow", "-o7", "-o7 wants every semicolon written"),
    ("xs_viol", "XUSAFE", "-DXUSAFE trusts the promises that we always check"),
    ("local_kw", "safety", MERGED),
    ("local_kw", "safety+POR", MERGED),
    ("rv_fair_por", "POR -f", "pan refuses fairness with reduction; we switch the reduction off instead"),
    ("ltl_stutter", "p2 NOSTUTTER", "-DNOSTUTTER leaves out runs that end"),
    ("mtype_num", "sim -T", SIMULATION),
    ("mtype_sub", "sim -T", SIMULATION),
    ("field_trunc", "sim -T", SIMULATION),
    ("div_zero", "sim ", SIMULATION),
    ("local_reinit", "sim -p", SIMULATION),
    ("bit_array", "sim -T", SIMULATION),
    ("nr_pr_claim", "sim ", SIMULATION),
];

const DEPTH: &str = "a depth bound that cuts SPIN's search off";
const SIMULATION: &str = "a simulation, not a search";
const MERGED: &str = "SPIN believes `local`; the counts compare this model with merging off";

/// Rows on which SPIN and we differ on purpose. Model, run, what we find, reason.
const DIFFERENT: [(&str, &str, &[FailureKind], &str); 9] = [
    ("xs_viol", "safety", &[FailureKind::Exclusive], PROMISE),
    ("xr_poll", "safety", &[FailureKind::Exclusive], PROMISE),
    ("chan_uninit", "safety", &[FailureKind::Runtime], "SPIN counts the fields of a channel that is not there"),
    ("div_zero", "safety", &[FailureKind::Runtime], "pan dies of a division by zero"),
    ("ltl_ops", "e", &[], "SPIN compares the number of the token `<>` with 2; we compare the truth value"),
    ("claim_block", "accept", &[FailureKind::Assert], "assertions are checked where the claim does not go along, too"),
    ("prio_rv", "safety", &[], "pan does not compile with priorities and rendezvous"),
    ("nr_pr_claim", "accept", &[], "SPIN counts the claim in _nr_pr"),
    ("por_pid_bug", "safety+POR", &[FailureKind::Assert], "SPIN's reduction misses the error"),
];

const PROMISE: &str = "promises are checked always; SPIN checks them only when it reduces";

fn rows() -> Vec<Row> {
    csv::read(&repository("models/micro/spin.csv"))
}

fn is(row: &Row, id: &str, run: &str) -> bool {
    (row.get("id"), row.get("run")) == (id, run)
}

fn subject(row: &Row) -> Result<Subject, String> {
    Subject::interpreted(&repository(&format!("models/micro/{}.pml", row.get("id"))), &[])
}

/// Whether SPIN refused the model instead of checking it.
fn refused(row: &Row) -> bool {
    row.number("errors").is_none() || row.get("note").contains("Error: syntax error")
}

fn fairness(row: &Row) -> Fairness {
    if row.has("pan_opts", "-f") { Fairness::Weak } else { Fairness::Off }
}

/// The claim that a run is about.
fn claim_name(row: &Row) -> Option<&str> {
    let mut options = row.get("pan_opts").split_whitespace();
    options.find(|option| *option == "-N")?;
    options.next()
}

/// What we find when asked what SPIN was asked, and the kind of the claim in use.
fn ours(row: &Row, subject: &mut Subject) -> (Kinds, Option<FailureKind>) {
    let reduction = if row.has("cc_opts", "-DNOREDUCE") { Reduction::Off } else { Reduction::Safety };
    if row.has("pan_opts", "-l") {
        return (subject.progress(fairness(row)), None);
    }
    let claim = if row.has("cc_opts", "-DNOCLAIM") { None } else { subject.claim(claim_name(row)) };
    let mut found = subject.safety(reduction);
    let Some(property) = claim else {
        if row.has("pan_opts", "-a") {
            found.extend(subject.acceptance(fairness(row)));
        }
        return (found, None);
    };
    // Under a claim SPIN calls no state stuck, and stops at failed steps only where the claim goes along.
    found.remove(&FailureKind::Deadlock);
    found.extend(subject.prefixes(&property));
    if row.has("pan_opts", "-a") {
        found.extend(subject.cycles(&property, fairness(row)));
    }
    if row.has("pan_opts", "-A") {
        found.remove(&FailureKind::Assert);
    }
    (found, Some(property.kind))
}

fn difference(row: &Row) -> Option<String> {
    let name = format!("{} ({})", row.get("id"), row.get("run"));
    let different = DIFFERENT.iter().find(|(id, run, ..)| is(row, id, run));
    let mut subject = match (refused(row) && different.is_none(), subject(row)) {
        (true, Err(_)) => return None,
        (true, Ok(_)) => return Some(format!("{name}: SPIN refuses the model, we do not")),
        (false, Err(why)) => return Some(format!("{name}: we refuse the model, SPIN does not: {why}")),
        (false, Ok(subject)) => subject,
    };
    let (ours, claim) = ours(row, &mut subject);
    if let Some((_, _, expected, _)) = different {
        let expected: Kinds = expected.iter().copied().collect();
        return (ours != expected).then(|| format!("{name}: expected {expected:?}, found {ours:?}"));
    }
    let spin = kinds(row.get("kinds"), claim);
    assert_eq!(spin.is_empty(), row.number("errors") == Some(0), "{name}: the table contradicts itself");
    let all = row.has("pan_opts", "-c0") && !row.get("note").contains("Search not completed");
    let extent = if all { Extent::All } else { Extent::First };
    (!agree(&spin, &ours, extent)).then(|| format!("{name}: SPIN finds {spin:?}, we find {ours:?}"))
}

#[test]
fn every_rule_of_the_language_has_spins_verdict() {
    let rows = rows();
    let left_out = |row: &&Row| LEFT_OUT.iter().any(|(id, run, _)| is(row, id, run));
    let compared: Vec<&Row> = rows.iter().filter(|row| !left_out(row)).collect();
    let differences: Vec<String> = compared.iter().filter_map(|row| difference(row)).collect();
    all_agree(&differences);
    assert_eq!((rows.len(), compared.len()), (191, 191 - LEFT_OUT.len()));
}

#[test]
fn every_exception_is_about_a_row_that_exists() {
    let rows = rows();
    let named = LEFT_OUT.iter().map(|(id, run, _)| (id, run)).chain(DIFFERENT.iter().map(|(id, run, ..)| (id, run)));
    for (id, run) in named {
        assert!(rows.iter().any(|row| is(row, id, run)), "no row {id} ({run})");
    }
}
