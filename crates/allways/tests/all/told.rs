//! What a counterexample says, statement by statement.

use crate::folder::Folder;

/// What `check` prints about a model, with further flags.
fn told(name: &str, model: &str, flags: &[&str]) -> String {
    let folder = Folder::with(name, "m.pml", model);
    let told = folder.run(&[&["check", "m.pml"], flags].concat());
    assert_eq!(told.code, Some(1), "{}{}", told.out, told.err);
    told.out
}

fn says(name: &str, model: &str, words: &[&str]) {
    let text = told(name, model, &["-v"]);
    for word in words {
        assert!(text.contains(word), "`{word}` is missing in: {text}");
    }
}

#[test]
fn a_deadlock_right_after_a_failed_assertion_is_shown() {
    let model = "byte x; active proctype P() { assert(x == 1) } active proctype Q() { x == 1 }";
    says("after-assert", model, &["error[deadlock]: ", "waits for `x == 1`"]);
}

/// Depths that pan prints, with merging and reduction off.
#[test]
fn depths_in_spins_format_are_those_of_spins_trails() {
    let channel = "chan q = [0] of { byte }; byte x, y;";
    let cases = [
        ("byte x; init { x = 1; x = 2; assert(x == 1); x = 3 }", "assertion violated (x==1) (at depth 2)"),
        ("byte x; init { x = 1; x = 2; x == 5 }", "invalid end state (at depth 1)"),
        ("byte x; init { x = 1; atomic { x = 2; x = 4; assert(x == 1); x = 3 } }", "(x==1) (at depth 3)"),
        ("byte x; init { x = 1; d_step { x = 2; x = 4; assert(x == 1); x = 3 } }", "(x==1) (at depth 1)"),
        (&format!("{channel} init {{ x = 1; q!2; x == 5 }} active proctype Q() {{ q?y; x == 6 }}"), "(at depth 2)"),
        ("byte x; init { x = 1; x = 2; accept: do :: x = 1; x = 2 od }", "acceptance cycle (at depth 2)"),
        ("byte x; init { x = 1; x = 2; do :: x = 1; x = 2 od } ltl p { <> (x == 5) }", "acceptance cycle (at depth 4)"),
        ("byte x; init { x = 1; x = 2 } ltl p { [] (x != 2) }", "end state in claim reached"),
    ];
    for (number, (model, line)) in cases.iter().enumerate() {
        let text = told(&format!("depth{number}"), model, &["--format", "spin"]);
        assert!(text.contains(line), "{model}: {text}");
    }
}

#[test]
fn an_assertion_inside_an_atomic_sequence_is_what_the_report_points_at() {
    let model = "byte x;\ninit { x = 1;\n  atomic { x = 2;\n    assert(x == 1);\n    x = 3 } }\n";
    says("atomic", model, &["m.pml:4:5", "at the end  x = 2"]);
    assert!(!told("atomic2", model, &["-v"]).contains("2 -> 3"));
}

#[test]
fn what_fails_changes_nothing() {
    let text = told("index", "byte a[2], x = 2, y = 7; init { a[x] = 1 }", &[]);
    assert!(text.contains("at the end  a[0] = 0, a[1] = 0"), "{text}");
    let text = told("zero", "byte x = 7, y; init { x = x / y }", &[]);
    assert!(text.contains("at the end  x = 7, y = 0"), "{text}");
}

#[test]
fn loops_are_told_by_their_head_and_inlines_with_their_arguments() {
    let model = "byte x, a[2];
inline outer(p) { inner(p, 2) }
inline inner(to, amount) { to = to + amount }
init { byte i; for (i : 0 .. 1) { a[i] = i }; outer(a[1]); assert(a[1] == 0) }
";
    says("texts", model, &["i <= 1", "i++", "a[1] = a[1] + 2", "i: 0 -> 1"]);
}

#[test]
fn a_model_without_assertions_has_no_row_about_them() {
    let text = told("rows", "byte x; init { x == 1 }", &[]);
    assert!(!text.contains("assert"), "{text}");
    let folder = Folder::with("asked", "m.pml", "byte x; init { x = 1 }");
    let asked = folder.run(&["check", "m.pml", "--check", "assert"]);
    assert_eq!(asked.code, Some(4), "{}", asked.out);
    assert!(asked.out.contains("--check assert: the model has no `assert` statement"), "{}", asked.out);
}

#[test]
fn counters_that_nobody_reads_take_no_states_and_are_told_all_the_same() {
    let model = "int n; bool b; init { do :: n++; b = !b od }\nltl p { <> [] b }";
    let folder = Folder::with("unread", "m.pml", model);
    let told = folder.run(&["check", "m.pml", "-v"]);
    assert_eq!(told.code, Some(1), "{}", told.err);
    assert!(told.out.contains("n: 0 -> 1") && told.out.contains("end of cycle"), "{}", told.out);
    assert!(told.out.contains("3 states"), "{}", told.out);
    let replayed = folder.run(&["replay"]);
    assert!(replayed.code == Some(1) && replayed.out.contains("n: 0 -> 1"), "{}{}", replayed.out, replayed.err);
    let bounded = folder.run(&["check", "m.pml", "--reduction", "off", "--depth", "50", "--check", "deadlock"]);
    assert!(bounded.out.contains("bound depth 50"), "{}", bounded.out);
}

#[test]
fn a_cycle_that_is_fair_as_it_is_ends_the_search_for_fair_ones() {
    let model = "bool x; byte n; active proctype P() { do :: x = !x od } active proctype Q() { do :: n < 9 -> n++ :: n == 9 -> n = 0 od }";
    let text = told("fair", model, &["--check", "progress"]);
    assert!(text.contains("progress  progress  violated"), "{text}");
    let unfair =
        "bool x, y; active proctype P() { do :: x = !x od } active proctype Q() { do :: y = !y; progress: skip od }";
    let text = told("unfair", unfair, &[]);
    assert!(text.contains("progress  progress  needs fairness"), "{text}");
}
