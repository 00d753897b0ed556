//! What the parser makes of every construct, in a compact notation: `(operator operand ..)`.

use promela::parse::{ParseOptions, Parsed, parse_expression, parse_ltl, parse_text};

fn parse(text: &str) -> Parsed {
    match parse_text("m.pml", text, &ParseOptions::default()) {
        Ok(parsed) => parsed,
        Err(failure) => panic!("{text}: {}", failure.diagnostics[0].message),
    }
}

/// Compares a whole model.
fn model(text: &str, expected: &str) {
    assert_eq!(crate::notation::program(&parse(text).program), expected, "{text}");
}

/// Compares the statements of one body.
fn body(text: &str, expected: &str) {
    let declared = "byte x, y; chan q = [1] of { byte }; proctype P(byte n) { skip }\n\
                    inline f(a, b) { a = b }\ninline g(a) { return a + 1 }\ninline h(a) { f(a, 1); L: f(x, a) }\n";
    let made = crate::notation::program(&parse(&format!("{declared}init {{ {text} }}")).program);
    let start = made.find("init[").expect("an init") + "init[".len();
    assert_eq!(&made[start..made.len() - 1], expected, "{text}");
}

#[test]
fn expressions_follow_spins_precedences() {
    for (text, expected) in [
        ("x + y * 2 == 3 && x || y", "(|| (&& (== (+ x (* y 2)) 3) x) y)"),
        ("x | y ^ 1 & 2 == 3", "(| x (^ y (& 1 (== 2 3))))"),
        ("x - 1 - 2", "(- (- x 1) 2)"),
        ("x << 1 + 2 < 3", "(< (<< x (+ 1 2)) 3)"),
        ("!x == -y", "(== (! x) (- y))"),
        ("~x % 2", "(% (~ x) 2)"),
        ("(x > 1 -> y : 2 + 3)", "(if (> x 1) y (+ 2 3))"),
        ("'a' + true", "(+ 'a'=97 true)"),
        ("x == 1 || q?[1] && q??[eval(x), _]", "(|| (== x 1) (&& (poll q 1) (poll?? q eval(x) _)))"),
        ("len(q) > 0", "(> (len q) 0)"),
        ("empty(q) || nfull(q) && x", "(|| (empty q) (&& (nfull q) x))"),
        ("run P(x + 1) priority 3", "(run P (+ x 1) priority 3)"),
        ("P[x]@L && P@L", "(&& P[x]@L P@L)"),
        ("P[1]:n == P:n", "(== P[1]:n P:n)"),
        (
            "timeout && np_ && enabled(x) && pc_value(1) > get_priority(2)",
            "(&& (&& (&& timeout np_) (enabled x)) (> (pc_value 1) (get_priority 2)))",
        ),
        ("x.y[3].z == _pid", "(== x.y[3].z _pid)"),
    ] {
        body(text, expected);
    }
}

#[test]
fn statements() {
    for (text, expected) in [
        ("x = 1; x++; y--", "x = 1; x++; y--"),
        ("skip; 1; true", "skip; 1; true"),
        ("q!1; q!1,2; q!1(2,3); q!!x", "q ! 1; q ! 1 2; q ! 1 2 3; q !! x"),
        (
            "q?x; q?1(x,-2); q??x,eval(y+1); q?<x>; q??<_>",
            "q ? x; q ? 1 x (- 2); q ?? x eval((+ y 1)); q ?< x; q ??< _",
        ),
        ("if :: x -> y = 1 :: else fi", "if{x; y = 1 | else}"),
        ("do :: x = 1 :: break od; y = 2", "do{x = 1 | break}; y = 2"),
        ("atomic { x = 1; y = 2 } d_step { x = 3 } { y = 4 }", "atomic{x = 1; y = 2}; d_step{x = 3}; {y = 4}"),
        ("{ x = 1 } unless { x == 2; y = 3 }", "({x = 1} unless {(== x 2); y = 3})"),
        ("L: x = 1 unless M: y", "(L: x = 1 unless M: y)"),
        ("for (x : 1 .. y + 1) { skip }", "for x 1..(+ y 1) {skip}"),
        ("for (x in q) { break }", "for x in q {break}"),
        ("select (x : 1 .. 3)", "select x 1..3"),
        ("L: M: x = 1; goto L; end: ", "L: M: x = 1; goto L; end: skip"),
        ("assert(x == 1); assert x", "assert (== x 1); assert x"),
        ("printf(\"%d\\n\", x, y + 1); printm(x)", "printf \"%d\\n\" x (+ y 1); printm x"),
        ("set_priority(_pid, 3); xr q; xs q, x", "set_priority _pid 3; xr q; xs q x"),
        ("byte z = 2, w[3]; z = 1", "byte z=2 w[3]; z = 1"),
        ("x = 1\ny = 2\nif\n:: x\n-> skip\n:: else\nfi\nx = 3", "x = 1; y = 2; if{x; skip | else}; x = 3"),
        ("STDIN?x", "STDIN ? x"),
    ] {
        body(text, expected);
    }
}

#[test]
fn inlines_are_replaced_by_their_bodies() {
    body("f(x, y + 1)", "f(){x = (+ y 1)}");
    body("f(x.y[2], 3); f(y, 'a')", "f(){x.y[2] = 3}; f(){y = 'a'=97}");
    body("x = g(2 * y)", "g(){x = (+ (* 2 y) 1)}");
    body("h(y)", "h(){f(){y = 1}; L: f(){x = y}}");
    // Textual, as in SPIN: no parentheses are put around a parameter.
    model("byte x; inline f(a) { x = a * 2 } init { f(1 + 2) }", "byte x; init[f(){x = (+ 1 (* 2 2))}]");
    // Names of mtype constants are never parameters.
    model("mtype = { a }; byte x; inline f(a) { x = a } init { f(1) }", "mtype{a}; byte x; init[f(){x = a}]");
}

#[test]
fn declarations() {
    model(
        "hidden byte a, b = 1, c[3] = 2; show bit d; local bool e",
        "hidden byte a b=1 c[3]=2; show bit d; local bool e",
    );
    model("int a[2] = {1, 'a'}; unsigned u : 5 = 3", "int a[2]={1 'a'=97}; unsigned u:5=3");
    model(
        "mtype = { a b, c } mtype:f = { d }; mtype x = a; mtype:f y",
        "mtype{a b c}; mtype:f{d}; mtype x=a; mtype:f y",
    );
    model("chan q = [2 + 1] of { byte, mtype:f, chan }; chan r", "chan q=[(+ 2 1)]{byte mtype:f chan}; chan r");
    model("typedef T { byte a; chan q[2] } T t[3]", "typedef T{byte a; chan q[2]}; T t[3]");
    model(
        "active [2] proctype P(byte a, b; chan c) priority 3 provided (a > 1) { skip }",
        "active[2] proctype P(byte a b; chan c) priority 3 provided (> a 1) [skip]",
    );
    model("D_proctype P() { skip } active proctype Q() { skip }", "D_proctype P() [skip]; active proctype Q() [skip]");
    model(
        "init priority 2 { skip } never n { true } trace { q!_ } notrace { q?1 }",
        "init priority 2[skip]; never n[true]; trace[q ! _]; notrace[q ? 1]",
    );
}

#[test]
fn formulas_follow_spins_precedences() {
    for (text, expected) in [
        ("[] x -> <> y", "(-> ([] x) (<> y))"),
        ("a U b U c", "(U (U a b) c)"),
        ("a -> b -> c", "(-> (-> a b) c)"),
        ("a && b || c U d", "(|| {(&& a b)} (U c d))"),
        ("! [] a && ! b", "(&& (! ([] a)) {(! b)})"),
        ("[] (a == 1 && b > 2)", "([] {(&& (== a 1) (> b 2))})"),
        ("[]<>!a", "([] (<> {(! a)}))"),
        ("always eventually a implies next b", "(-> ([] (<> a)) (X b))"),
        ("a weakuntil b release c <-> d", "(<-> (V (W a b) c) d)"),
        ("a U b == 2", "(U a {(== b 2)})"),
        ("(a /\\ b) \\/ X c", "(|| {(&& a b)} (X c))"),
        ("[] P@L", "([] {P@L})"),
        ("<> a == 2", "(<> {(== a 2)})"),
        ("[] <> a + 1 > 2 && b", "(&& ([] (<> {(> (+ a 1) 2)})) b)"),
    ] {
        let made = parse(&format!("ltl p {{ {text} }} proctype P() {{ L: skip }}"));
        let shown = crate::notation::program(&made.program);
        assert!(shown.starts_with(&format!("ltl p {expected};")), "{text}: {shown}, expected {expected}");
    }
}

#[test]
fn the_trap_of_unary_operators_is_told() {
    let made = parse("byte x; ltl p { <> x == 2 }");
    assert_eq!(made.warnings.len(), 1);
    assert_eq!(made.warnings[0].code, "ltl-precedence");
    assert_eq!(made.warnings[0].help.as_deref(), Some("write `<> (x == 2)`"));
}

#[test]
fn properties_are_read_on_their_own_with_the_models_macros() {
    let model = parse("#define up (x > 0)\nbyte x; mtype = { a }; proctype P() { L: skip }");
    let formula = |text: &str| crate::notation::ltl(&parse_ltl(text, &model).expect(text).value);
    assert_eq!(formula("G (up -> F P@L)"), "([] (-> {(> x 0)} (<> {P@L})))");
    assert_eq!(formula("a R x"), "(V a x)");
    let taken = parse("byte G; init { skip }");
    assert_eq!(crate::notation::ltl(&parse_ltl("[] G", &taken).expect("a name").value), "([] G)");
    assert_eq!(
        crate::notation::expr(&parse_expression("up && x == 1", &model).expect("fine").value),
        "(&& (> x 0) (== x 1))"
    );
    assert!(parse_ltl("[] (", &model).is_err());
    assert!(parse_expression("x = 1", &model).is_err());
}

#[test]
fn places_are_those_of_the_users_text() {
    let made = parse("#define INC(v) v = v + 1\nbyte x;\ninline f(a) {\n  a = 2\n}\ninit {\n  INC(x);\n  f(x)\n}\n");
    let spans = crate::notation::statement_places(&made.program, &made.sources);
    assert_eq!(spans, ["7:3 `INC(x)`", "8:3 `f(x)`", "4:3 `a = 2`, called at 8:3"]);
}
