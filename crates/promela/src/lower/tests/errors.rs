//! What the user is told about models that are wrong or look wrong.

use crate::diagnostic::Severity;
use crate::lower::lower;
use crate::parse::{ParseOptions, parse_text};

/// All messages of one severity about a model, each with the text it points at.
fn told(text: &str, severity: Severity) -> Vec<String> {
    let parsed = match parse_text("m.pml", text, &ParseOptions::default()) {
        Ok(parsed) => parsed,
        Err(failure) => return vec![format!("the parser refuses it: {}", failure.diagnostics[0].message)],
    };
    let all = match lower(&parsed.program, &parsed.sources) {
        Ok((_, warnings)) => warnings,
        Err(errors) => errors,
    };
    let line = |one: &crate::diagnostic::Diagnostic| {
        let help = one.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
        format!("{}: {} @ {}{help}", one.code, one.message, parsed.sources.text(one.span))
    };
    all.iter().filter(|one| one.severity == severity).map(line).collect()
}

fn check(severity: Severity, cases: &[(&str, &str)]) {
    let mut missing = Vec::new();
    for (text, expected) in cases {
        let found = told(text, severity);
        if !found.iter().any(|one| one.starts_with(expected)) {
            missing.push(format!("{text}\n  expected {expected}\n  found {found:?}"));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn wrong_models_are_refused_with_a_reason() {
    let cases = [
        ("byte turn; init { tun = 1 }", "undeclared: `tun` is not declared @ tun (did you mean `turn`?)"),
        ("init { x = 1; int x }", "undeclared: `x` is not declared @ x"),
        ("int x; init { int x; x = 1 }", "redeclared: `x` is declared already @ x"),
        (
            "init { again: skip; goto agian }",
            "label: there is no label `agian` here @ goto agian (did you mean `again`?)",
        ),
        ("init { goto Lost; Last: skip }", "label: there is no label `Lost` here @ goto Lost (did you mean `Last`?)"),
        ("init { L: skip; L: skip }", "label: label `L` is defined twice @ L"),
        ("init { atomic { L: skip; skip } }", "label: label `L` is placed incorrectly @ L"),
        ("init { goto L; d_step { skip; L: skip } }", "d_step: a jump into a d_step @ goto L"),
        ("init { d_step { skip; goto L }; L: skip }", "d_step: a jump out of a d_step @ goto L"),
        ("init { L: goto L }", "goto: an infinite loop of jumps without a statement"),
        ("int x; init { if :: if :: x -> skip :: else fi :: else fi }", "else: this `else` and another one belong"),
        ("init { atomic { do :: skip od } }", "loop: an endless loop inside atomic"),
        ("int a[2]; init { a = 1 }", "array: `a` is an array: its index is missing @ a"),
        ("typedef R { int x }; R r, s; init { r = s }", "type: a structure cannot be assigned as a whole @ r"),
        ("typedef R { int x }; R r; init { r.y = 1 }", "undeclared: `R` has no field `y` @ y"),
        ("init { run Q(1) }", "undeclared: there is no proctype `Q` @ Q"),
        ("proctype P(int a) { skip } init { run P() }", "run: `P` has 1 parameters, but 0 arguments are given"),
        ("proctype P() { skip } init { (run P()) && (1) }", "run: `run` inside `&&`, `||` or a conditional"),
        ("proctype P() { skip } init { d_step { run P() } }", "run: `run` inside a d_step; use atomic"),
        ("chan q = [1] of { byte }; init { q!1,2 }", "message: 2 fields are sent, but `q` has messages of 1"),
        ("int q; init { q!1 }", "type: this is no channel @ q"),
        ("chan q = [1] of { byte }; init { q++ }", "type: arithmetic on a channel @ q"),
        ("init { np_ }", "np_: `np_` can be used in claims only"),
        ("int a[1000000]; int b[1000000]; init { skip }", "size: the variables and channels take more than 1 MiB"),
        ("proctype P() { skip }", "process: nothing runs"),
        ("int x; init { skip } never { x = 1 }", "claim: a never claim must not change the state @ x = 1"),
        ("int x; init { skip; chan c = [1] of { byte } }", "channel: channel `c` is created in the middle of a body"),
        ("chan STDIN; init { STDIN?65 }", "input: `STDIN` gives characters to variables only @ 65"),
        ("byte x; init { STDIN?x }", "undeclared: `STDIN` is not declared @ STDIN"),
        ("init { skip } ltl p { [] (P@L) } proctype P() { M: goto M2; M2: skip }", "label: `P` has no label `L` @ L"),
    ];
    check(Severity::Error, &cases);
}

#[test]
fn dubious_models_are_accepted_with_a_warning() {
    let cases = [
        ("bit b = 2; init { skip }", "truncated: 2 does not fit: 0 is stored @ 2"),
        ("byte x; init { x = 300 }", "truncated: 300 does not fit: 44 is stored @ 300"),
        ("init { L: skip }", "unused: label `L` is never used @ L"),
        (
            "int x; init { do :: x = 1 :: progress: x = 2 od }",
            "label: label `progress` is placed incorrectly @ progress",
        ),
        ("int x; init { goto L; x = 1; L: skip }", "unreachable: no path leads to this statement @ x = 1"),
        ("chan q = [1] of { byte }; byte x; init { if :: q?x :: else fi }", "else: `else` beside channel operations"),
        ("hidden int h; init { h = 1 }", "hidden: `h` is kept in the state although it is `hidden` @ h"),
        ("int n = 3; int a[n]; init { a[0] = 1 }", "array: the length of `a` is fixed at 3 @ n"),
        ("int a[2]; init { a[2] = 1 }", "array: index 2 is outside the array of 2 elements @ 2"),
        ("init { do :: skip od }", "loop: a loop that does nothing @ skip"),
        ("chan q = [1] of { byte, byte }; init { q!1 }", "message: 1 field is sent, but `q` has messages of 2"),
        ("init { printf(\"x\\n\", 1) }", "printf: more values are given than printed"),
    ];
    check(Severity::Warning, &cases);
}
