//! Our automata against SPIN's: the same words are accepted, in no more states.
//!
//! SPIN is asked for the never claim of a formula (`spin -f`), the claim's text is read back into an automaton here.

use std::process::Command;

use ltl::random::{self, Options, Random};
use ltl::{Automaton, Formula, Lasso, parse, to_never_claim, translate_to_buchi};

const ATOMS: u32 = 3;
const FORMULAS: usize = 600;

/// SPIN's automaton, or `None` if SPIN needs more than two seconds.
fn of_spin(formula: &Formula) -> Option<Automaton> {
    let text = without_weak_until(formula).to_string();
    let output = Command::new("timeout")
        .args(["2", "spin", "-f", &text])
        .current_dir(std::env::temp_dir())
        .output()
        .expect("the command `timeout` runs");
    match output.status.code() {
        Some(0) => Some(crate::claim::read(&String::from_utf8_lossy(&output.stdout))),
        Some(124) => None,
        Some(126 | 127) => panic!("spin is not installed: apt-get install spin"),
        _ => panic!("spin -f '{text}' failed:\n{}", String::from_utf8_lossy(&output.stdout)),
    }
}

/// `spin -f` does not know `W`.
fn without_weak_until(formula: &Formula) -> Formula {
    let mut parts = formula.children().map(without_weak_until);
    let mut part = || parts.next().expect("operators have parts");
    match formula {
        Formula::True | Formula::False | Formula::Atom(_) => formula.clone(),
        Formula::Not(_) => part().not(),
        Formula::Next(_) => part().next(),
        Formula::Finally(_) => part().finally(),
        Formula::Globally(_) => part().globally(),
        Formula::And(..) => part().and(part()),
        Formula::Or(..) => part().or(part()),
        Formula::Implies(..) => part().implies(part()),
        Formula::Equiv(..) => part().equiv(part()),
        Formula::Until(..) => part().until(part()),
        Formula::Release(..) => part().release(part()),
        Formula::WeakUntil(..) => {
            let (left, right) = (part(), part());
            left.clone().globally().or(left.until(right))
        }
    }
}

/// A word and the same word with letters repeated.
fn words(random: &mut Random) -> [Lasso; 2] {
    let letters = |random: &mut Random, least: usize| -> Vec<u64> {
        let length = least + random.below(4);
        (0..length).map(|_| random.below(1 << ATOMS) as u64).collect()
    };
    let (stem, cycle) = (letters(random, 0), letters(random, 1));
    let mut stutter =
        |part: &[u64]| -> Vec<u64> { part.iter().flat_map(|letter| vec![*letter; 1 + random.below(3)]).collect() };
    let stuttered = Lasso::new(&stutter(&stem), &stutter(&cycle));
    [Lasso::new(&stem, &cycle), stuttered].map(|lasso| lasso.expect("the cycle has a letter"))
}

#[test]
fn spin_accepts_the_same_words_in_no_fewer_states() {
    let mut random = Random::new(9);
    let (mut compared, mut accepted, mut ours_total, mut spin_total, mut larger) = (0, 0, 0, 0, Vec::new());
    while compared < FORMULAS {
        let size = 2 + random.below(9);
        let formula = random::formula(&mut random, Options { size, atoms: ATOMS, next: false });
        let ours = translate_to_buchi(&formula).unwrap_or_else(|error| panic!("{formula}: {error}"));
        let Some(theirs) = of_spin(&formula) else { continue };
        for _ in 0..40 {
            for lasso in words(&mut random) {
                let expected = theirs.accepts(&lasso);
                assert_eq!(ours.accepts(&lasso), expected, "{formula}\n{lasso:?}\nSPIN: {theirs:?}");
                accepted += usize::from(expected);
            }
        }
        compared += 1;
        ours_total += ours.states.len();
        spin_total += theirs.states.len();
        if ours.states.len() > theirs.states.len() {
            larger.push(format!("{formula}: {} > {}", ours.states.len(), theirs.states.len()));
        }
    }
    assert!(accepted > 10_000, "only {accepted} words were accepted: the test is too weak");
    assert!(ours_total * 3 < spin_total * 2, "{ours_total} states of ours, {spin_total} of SPIN's");
    assert_eq!(larger, Vec::<String>::new(), "SPIN is smaller here");
}

#[test]
fn our_claims_read_back_as_they_were() {
    let mut random = Random::new(10);
    for _ in 0..500 {
        let size = 1 + random.below(10);
        let formula = random::formula(&mut random, Options { size, atoms: ATOMS, next: true });
        let ours = translate_to_buchi(&formula).unwrap_or_else(|error| panic!("{formula}: {error}"));
        let text = to_never_claim(&ours, |atom| format!("p{atom}")).expect("state-based");
        let back = crate::claim::read(&text);
        for _ in 0..30 {
            let lasso = random::lasso(&mut random, ATOMS, 3, 3);
            assert_eq!(ours.accepts(&lasso), back.accepts(&lasso), "{formula}\n{text}\n{lasso:?}");
        }
    }
}

#[test]
fn spin_accepts_the_text_of_our_claims() {
    let mut random = Random::new(11);
    let directory = std::env::temp_dir().join(format!("ltl-claims-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory for SPIN's files");
    for round in 0..30 {
        let formula = random::formula(&mut random, Options { size: 2 + round % 9, atoms: ATOMS, next: true });
        let ours = translate_to_buchi(&formula).unwrap_or_else(|error| panic!("{formula}: {error}"));
        let text = to_never_claim(&ours, |atom| format!("p{atom}")).expect("state-based");
        let model = format!("bool p0, p1, p2;\nactive proctype P() {{ do :: p0 = !p0 :: p1 = !p1 od }}\n{text}");
        std::fs::write(directory.join("claim.pml"), &model).expect("the model is written");
        let output = Command::new("timeout").args(["20", "spin", "-a", "claim.pml"]).current_dir(&directory).output();
        let output = output.expect("the command `timeout` runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !said.contains("Error"), "apt-get install spin? {said}\n{model}");
    }
    std::fs::remove_dir_all(&directory).expect("SPIN's files are removed");
}

#[test]
fn spins_own_precedence_in_ltl_blocks_is_ours() {
    for (text, grouped) in [
        ("[] p0 U p1", "([] p0) U p1"),
        ("p0 U p1 U p2", "(p0 U p1) U p2"),
        ("p0 -> p1 -> p2", "(p0 -> p1) -> p2"),
        ("p0 || p1 && p2", "p0 || (p1 && p2)"),
        ("p0 && p1 U p2", "p0 && (p1 U p2)"),
        ("! p0 U p1", "(! p0) U p1"),
        ("p0 W p1 U p2", "(p0 W p1) U p2"),
    ] {
        assert_eq!(parse(text).unwrap().formula, parse(grouped).unwrap().formula, "{text}");
        assert_eq!(echoed_by_spin(text), echoed_by_spin(grouped), "{text}");
    }
}

/// SPIN prints each `ltl` block back, fully grouped.
fn echoed_by_spin(formula: &str) -> String {
    let directory = std::env::temp_dir().join(format!("ltl-echo-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory for SPIN's files");
    let model = format!("bool p0, p1, p2; active proctype P() {{ skip }} ltl f {{ {formula} }}");
    std::fs::write(directory.join("echo.pml"), model).expect("the model is written");
    let output = Command::new("timeout").args(["20", "spin", "-a", "echo.pml"]).current_dir(&directory).output();
    let said = String::from_utf8_lossy(&output.expect("the command `timeout` runs").stdout).into_owned();
    std::fs::remove_dir_all(&directory).expect("SPIN's files are removed");
    let line = said.lines().find(|line| line.starts_with("ltl f:"));
    line.unwrap_or_else(|| panic!("apt-get install spin? {said}")).to_string()
}
