//! Automata accept exactly the words on which their formula holds.

use ltl::random::{self, Options, Random};
use ltl::{Automaton, Formula, Guard, Lasso, TranslateError, holds, translate};

const ATOMS: u32 = 3;

fn sample(random: &mut Random, size_max: usize) -> Formula {
    let size = 1 + random.below(size_max);
    random::formula(random, Options { size, atoms: ATOMS, next: true })
}

/// Both automata of a formula; `None` if it is refused as too large.
fn automata(formula: &Formula) -> Option<[Automaton; 2]> {
    match translate(formula) {
        Ok(general) => Some([general.degeneralised(), general]),
        Err(TranslateError::TooLarge { .. }) => None,
        Err(error) => panic!("{formula}: {error}"),
    }
}

#[test]
fn membership_agrees_with_the_definition_of_truth() {
    let mut random = Random::new(3);
    let (mut words, mut refused) = (0, 0);
    for _ in 0..4000 {
        let formula = sample(&mut random, 14);
        let Some(automata) = automata(&formula) else {
            refused += 1;
            continue;
        };
        for _ in 0..40 {
            let lasso = random::lasso(&mut random, ATOMS, 4, 4);
            for automaton in &automata {
                let expected = holds(&formula, &lasso);
                assert_eq!(automaton.accepts(&lasso), expected, "{formula}\n{lasso:?}\n{automaton:?}");
                words += usize::from(expected);
            }
        }
    }
    assert!(words > 50_000, "only {words} words were accepted: the test is too weak");
    assert!(refused < 40, "{refused} formulas were refused as too large");
}

#[test]
fn normal_forms_mean_the_same() {
    let mut random = Random::new(4);
    for _ in 0..5000 {
        let formula = sample(&mut random, 20);
        let normal = formula.normal_form();
        for _ in 0..20 {
            let lasso = random::lasso(&mut random, ATOMS, 3, 4);
            assert_eq!(holds(&formula, &lasso), holds(&normal, &lasso), "{formula}\n{normal}\n{lasso:?}");
        }
    }
}

#[test]
fn a_formula_and_its_negation_share_no_word() {
    let mut random = Random::new(5);
    for _ in 0..1500 {
        let formula = sample(&mut random, 10);
        let (Some(yes), Some(no)) = (automata(&formula), automata(&formula.clone().not())) else { continue };
        for (yes, no) in yes.iter().zip(&no) {
            let both = yes.intersection(no).expect("few propositions");
            assert!(both.is_empty(), "{formula}");
            assert_eq!(yes.intersection(yes).expect("few propositions").is_empty(), yes.is_empty(), "{formula}");
        }
    }
}

#[test]
fn universal_states_accept_every_word() {
    let mut random = Random::new(6);
    let mut seen = 0;
    for _ in 0..2000 {
        let formula = sample(&mut random, 10);
        for automaton in automata(&formula).into_iter().flatten() {
            let universal = (0..automaton.states.len()).filter(|state| automaton.states[*state].universal);
            for state in universal.collect::<Vec<_>>() {
                seen += 1;
                let from_here = Automaton { initial: state as u32, ..automaton.clone() };
                let lasso = random::lasso(&mut random, ATOMS, 3, 3);
                assert!(from_here.accepts(&lasso), "{formula} {state} {lasso:?}");
            }
        }
    }
    assert!(seen > 500, "only {seen} universal states");
}

#[test]
fn in_a_reachability_automaton_acceptance_is_reaching_a_universal_state() {
    let mut random = Random::new(7);
    let mut seen = 0;
    for _ in 0..2000 {
        let formula = sample(&mut random, 10);
        let Some([automaton, _]) = automata(&formula) else { continue };
        if !automaton.is_safety_violation_only() {
            continue;
        }
        seen += 1;
        for _ in 0..10 {
            let lasso = random::lasso(&mut random, ATOMS, 3, 3);
            assert_eq!(reaches_universal(&automaton, &lasso), holds(&formula, &lasso), "{formula} {lasso:?}");
        }
    }
    assert!(seen > 300, "only {seen} reachability automata");
}

/// Follows all runs for as many letters as there are pairs of state and position.
fn reaches_universal(automaton: &Automaton, lasso: &Lasso) -> bool {
    let mut current = vec![automaton.initial];
    let mut position = 0;
    for _ in 0..automaton.states.len() * lasso.positions() + 1 {
        if current.iter().any(|state| automaton.states[*state as usize].universal) {
            return true;
        }
        let valuation = automaton
            .propositions
            .iter()
            .enumerate()
            .fold(0, |all, (bit, atom)| all | (lasso.letter(position) >> atom & 1) << bit);
        let mut next: Vec<u32> =
            current.iter().flat_map(|state| automaton.enabled(*state, valuation).map(|edge| edge.to)).collect();
        next.sort_unstable();
        next.dedup();
        current = next;
        position = lasso.successor(position);
    }
    false
}

#[test]
fn turns_of_putting_off_are_not_accepted() {
    // Two untils, one inside the other, under `[]`: each could be put off while the other is not.
    let [x, z, p] = [0, 1, 2].map(Formula::Atom);
    let formula = x.until(z.and(p.finally())).globally();
    let lasso = Lasso::new(&[], &[0b010, 0b001]).unwrap();
    for automaton in automata(&formula).unwrap() {
        assert!(!automaton.accepts(&lasso));
    }
}

#[test]
fn covering_of_guards_agrees_with_all_valuations() {
    let mut random = Random::new(8);
    let guard = |random: &mut Random| {
        let (positive, negative) = (random.bits() & random.bits() & 15, random.bits() & random.bits() & 15);
        Guard { positive, negative: negative & !positive }
    };
    for _ in 0..5000 {
        let one = guard(&mut random);
        let others: Vec<Guard> = (0..random.below(6)).map(|_| guard(&mut random)).collect();
        let by_hand = (0..16).filter(|v| one.admits(*v)).all(|v| others.iter().any(|other| other.admits(v)));
        assert_eq!(one.is_covered_by(&others), by_hand, "{one} {others:?}");
        for other in others {
            let rest = one.minus(other);
            for v in 0..16 {
                let count = rest.iter().filter(|piece| piece.admits(v)).count();
                assert_eq!(count, usize::from(one.admits(v) && !other.admits(v)), "{one} minus {other} at {v}");
            }
        }
    }
}
