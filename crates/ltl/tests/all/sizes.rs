//! Exact sizes and kinds for common formulas, bounds for hopeless ones, and what automata look like in print.

use ltl::{DEPTH_MAX, Formula, Kind, TranslateError, parse, to_hoa, to_never_claim, translate, translate_to_buchi};

fn formula(text: &str) -> Formula {
    parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).formula
}

/// States of the generalised automaton, states and edges of the Buchi automaton, and the kind of the latter.
#[track_caller]
fn check(text: &str, general: usize, states: usize, edges: usize, kind: Kind) {
    let found = translate(&formula(text)).unwrap_or_else(|error| panic!("{text}: {error}"));
    let buchi = found.degeneralised();
    let sizes = (found.states.len(), buchi.states.len(), buchi.edge_count(), buchi.kind());
    assert_eq!(sizes, (general, states, edges, kind), "{text}");
}

#[test]
fn basic_formulas_have_the_smallest_automata() {
    check("true", 1, 1, 1, Kind::Reachability);
    check("false", 1, 1, 0, Kind::Empty);
    check("p && !p", 1, 1, 0, Kind::Empty);
    check("[]p && <>!p", 1, 1, 0, Kind::Empty);
    check("p", 2, 2, 2, Kind::Reachability);
    check("[]p", 1, 1, 1, Kind::Weak);
    check("<>p", 2, 2, 3, Kind::Reachability);
    check("[]<>p", 1, 2, 4, Kind::General);
    check("<>[]p", 2, 2, 3, Kind::Weak);
    check("p U q", 2, 2, 3, Kind::Reachability);
    check("p V q", 2, 2, 3, Kind::Weak);
    check("p W q", 2, 2, 3, Kind::Weak);
    check("X p", 3, 3, 3, Kind::Reachability);
    check("[](p -> X q)", 2, 2, 4, Kind::Weak);
    check("[]<>p && []<>q", 1, 3, 8, Kind::General);
    check("[]<>p -> []<>q", 4, 5, 9, Kind::General);
    check("!([]<>p -> []<>q)", 2, 3, 6, Kind::General);
}

/// The specification patterns of Dwyer, Avrunin and Corbett, negated as a checker needs them.
#[test]
fn negated_patterns_have_small_automata() {
    check("!([]!p)", 2, 2, 3, Kind::Reachability);
    check("!(<>r -> (!p U r))", 3, 3, 5, Kind::Reachability);
    check("!([](q -> []!p))", 3, 3, 6, Kind::Reachability);
    check("!([]((q && !r && <>r) -> (!p U r)))", 4, 4, 8, Kind::Reachability);
    check("!([](q && !r -> (!p W r)))", 3, 3, 6, Kind::Reachability);
    check("!(!r W (p && !r))", 2, 2, 3, Kind::Reachability);
    check("!([]!q || <>(q && <>p))", 2, 2, 3, Kind::Weak);
    check("!(!p W s)", 2, 2, 3, Kind::Reachability);
    check("!([](p -> <>s))", 2, 2, 3, Kind::Weak);
    check("!(<>r -> (p -> (!r U (s && !r))) U r)", 3, 3, 5, Kind::Reachability);
    check("!([](q -> [](p -> <>s)))", 3, 3, 6, Kind::Weak);
    check("!(<>p -> (!p U (s && !p && (!p U t))))", 3, 3, 6, Kind::Reachability);
    check("!([](p -> <>(s && <>t)))", 3, 3, 6, Kind::Weak);
    check("!(([]<>p && []<>q) -> [](r -> <>s))", 2, 4, 10, Kind::General);
}

#[test]
fn ten_fairness_conditions_are_no_blow_up() {
    let conditions: Vec<String> = (0..10).map(|at| format!("[]<>p{at}")).collect();
    check(&conditions.join(" && "), 1, 11, 76, Kind::General);
}

#[test]
fn safety_is_told_from_liveness() {
    for text in ["[]p", "[](p -> X q)", "p W q", "[](p -> (q W r))", "[]!(p && q) && [](p -> X !r)", "true"] {
        let violations = translate_to_buchi(&formula(text).not()).unwrap();
        assert!(violations.is_safety_violation_only(), "{text}");
    }
    for text in ["<>p", "[](p -> <>q)", "[]<>p", "p U q", "<>[]p"] {
        let violations = translate_to_buchi(&formula(text).not()).unwrap();
        assert!(!violations.is_safety_violation_only(), "{text}");
    }
}

#[test]
fn blow_ups_are_refused_with_a_reason() {
    let chain = |count: usize, part: &str, join: &str| -> Formula {
        let parts: Vec<String> = (0..count).map(|at| part.replace('p', &format!("p{at}"))).collect();
        formula(&parts.join(join))
    };
    for (refused, word) in [
        (chain(20, "[]<>p", " && "), "edges of one state"),
        (chain(20, "<>p", " && "), "edges of one state"),
        (chain(30, "[](p -> <>pq)", " && "), "more than"),
        (chain(25, "p", " <-> "), "edges of one state"),
        (chain(20, "p", " U "), "more than"),
        (chain(65, "p", " && "), "65 atoms"),
    ] {
        let error = translate(&refused).expect_err("too large");
        assert!(error.to_string().contains(word), "{error}");
    }
    assert!(translate(&chain(64, "p", " && ")).is_ok());
    assert!(translate(&chain(64, "[]p", " && ")).is_ok());
}

#[test]
fn formulas_deeper_than_the_bound_are_refused() {
    let nested = |depth: usize| (1..depth).fold(Formula::Atom(0), |inner, _| inner.next());
    assert!(nested(DEPTH_MAX).normal_form().is_deeper_than(DEPTH_MAX - 1));
    let error = translate(&nested(DEPTH_MAX + 1)).unwrap_err();
    assert_eq!(error, TranslateError::TooDeep { depth_max: DEPTH_MAX });
    assert!(matches!(translate(&nested(DEPTH_MAX)), Err(TranslateError::TooLarge { .. })));
}

#[test]
fn nested_equivalences_stay_small_in_normal_form() {
    let deep = (1..400).fold(Formula::Atom(0), |inner, at| inner.equiv(Formula::Atom(at % 3).next()));
    // The tree has 2^400 leaves; only sharing lets this end.
    assert!(deep.normal_form().is_deeper_than(400));
}

#[test]
fn atoms_beyond_64_are_fine_if_there_are_few() {
    let automaton = translate(&Formula::Atom(1000).until(Formula::Atom(7))).unwrap();
    assert_eq!(automaton.propositions, [7, 1000]);
}

#[test]
fn a_never_claim_reads_as_spin_writes_it() {
    let names = ["x == 2", "y"];
    let buchi = translate_to_buchi(&formula("x == 2 U y")).unwrap();
    let claim = to_never_claim(&buchi, |atom| names[atom as usize].to_string()).unwrap();
    let expected = "never {
T0_init:
	do
	:: ((x == 2) && !(y)) -> goto T0_init
	:: ((y)) -> goto accept_all
	od;
accept_all:
	skip
}
";
    assert_eq!(claim, expected);
    assert_eq!(to_never_claim(&translate(&formula("[]<>p")).unwrap(), |_| String::new()), None);
}

#[test]
fn the_hanoi_format_is_written() {
    let text = to_hoa(&translate(&formula("[]<>p")).unwrap(), |_| "say \"p\"".to_string());
    let expected = r#"HOA: v1
States: 1
Start: 0
AP: 1 "say \"p\""
acc-name: generalized-Buchi 1
Acceptance: 1 Inf(0)
properties: trans-acc
--BODY--
State: 0
[!0] 0
[0] 0 {0}
--END--
"#;
    assert_eq!(text, expected);
    let text = to_hoa(&translate_to_buchi(&formula("[]p")).unwrap(), |_| "p".to_string());
    assert!(text.contains("State: 0 {0}\n[0] 0\n"), "{text}");
}
