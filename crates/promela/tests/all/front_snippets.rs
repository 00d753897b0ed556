//! Small models, one for each corner of the grammar: ours and SPIN's parser must agree on every one.

use promela::parse::{FailureKind, ParseOptions, parse_text};
use std::path::Path;
use std::process::Command;

/// Models that are well-formed. Each line is one; `\n` is a line's end.
const ACCEPTED: &str = r##"
init { skip }
init { skip; }
init { skip;; }
init { skip -> -> skip }
active proctype P() { skip }
active [2] proctype P() { skip }
active [1+1] proctype P() { skip }
byte n = 2; active [n] proctype P() { skip }
D_proctype P() { skip } init { run P() }
active D_proctype P() { skip }
proctype P(byte a; byte b, c) { skip } init { run P(1,2,3) }
init priority 2 { skip }
byte a byte b init { skip }
byte a -> byte b; init { skip }
byte a, b = 2, c[3] = 1, d[2] = {1, 2}; init { skip }
bit a; bool b; byte c; pid d; short e; int f; unsigned g : 5; mtype h; chan i; init { skip }
hidden byte a; show byte b; local byte c; init { skip }
mtype = { a, b }; mtype = { c d }; mtype { e }; mtype x = a; init { skip }
mtype:fruit = { apple, pear }; mtype:fruit f = apple; init { skip }
mtype = {a,b,}; init { skip }
typedef T { byte a; byte b[2] } T t; init { t.a = t.b[1] }
typedef T { byte a\n byte b\n }\n T t; init { t.a = 1 }
typedef A { byte x }; typedef B { A a[2]; chan q }; B b; init { b.a[1].x = 3 }
chan q = [2] of { byte, mtype, chan }; init { skip }
chan q[3] = [0] of { byte }; init { skip }
chan q = [1+1] of { bit }; init { skip }
byte x; init { x = 1\nx = 2\n }
byte x; init { if :: x -> skip :: else fi }
byte x; init { if :: x -> skip :: else -> skip fi; x++ }
byte x; init { if :: x :: !x fi\nx-- }
byte x; init { do :: x == 3 -> break :: else x++ od }
byte x; init { do\n:: x == 3\n-> break\n:: else\n-> x++\nod\nx = 1 }
byte x; init { atomic { x = 1 } x = 2 }
byte x; init { d_step { x = 1; x = 2 }; { x = 3 } }
byte x; init { { x = 1 } unless { x == 2 } }
byte x; init { x = 1 unless x == 2 }
byte x; init { { x = 1 }\nunless { x == 2 } }
byte x; init { L: x = 1; goto L }
byte x; init { L: M: x = 1; goto L }
byte x; init { x = 1; end: }
byte x; init { x = 1; if :: x -> L: :: skip fi }
byte i; init { for (i : 1 .. 3) { skip } }
byte i; init { for (i : 1..3) { skip } }
byte i; init { for (i : 1 .. 3)\n{ skip }\n }
byte i; byte a[3]; init { for (i in a) { a[i] = i } }
typedef M { byte x } M m; chan q = [2] of { M }; init { for (m in q) { skip } }
byte i; init { select (i : 1 .. 3) }
byte i; init { do :: for (i : 1 .. 2) { break } :: break od }
byte in; init { in = 1 }
init { assert(true); assert true; assert 1 == 1 }
init { printf("a\n"); printf("%d %d\n", 1, 2) }
mtype = { a }; mtype m = a; init { printm(m); printm(a) }
chan q = [2] of { byte, byte }; byte x; init { q!1,2; q!1(2); q!!3,x; q?x,2; q?x(2); q??1,x; q?<x,2>; q??<x,_>; q?eval(x),-1 }
chan q = [2] of { byte, byte }; byte x; init { q?(x,2) }
chan q = [2] of { byte }; byte x; init { q?[x]; q??[1]; q?[x] && x == 1; (q?[eval(x)]) }
chan q = [2] of { byte }; init { full(q); empty(q) && nfull(q) || nempty(q); (full(q) || len(q) == 1) }
chan q = [2] of { byte }; bool b; init { b = full(q); assert(empty(q)) }
chan q = [2] of { byte }; init { xr q; xs q; q!1 }
byte x; init { x = (x > 1 -> 2 : 3); x = -x + ~x * !x; x = x << 1 >> 2 & 3 | 4 ^ 5 % 2 }
byte x; init { x == 1 && x != 2 || x <= 3 && x >= 4 && x < 5 && x > 6 }
byte x; init { (x == 1\n&& x == 2) }
byte x; init { x == 1 &&\nx == 2 }
byte x; init { timeout\nx = 1 }
byte x; init { timeout; timeout == 0; (timeout && x) }
init { enabled(0); pc_value(0) > 1; get_priority(0) == 1; set_priority(0, 2) }
init { _pid == 0; _nr_pr == 1 }
proctype P() { byte v; L: skip } init { P[1]@L; P@L; P[1]:v == 1; P:v == 1; run P() }
proctype P() { byte v[2]; skip } init { P[1]:v[1] == 1; run P() }
active proctype P() { L: skip } never { do :: P@L :: else od }
never { do :: skip od } init { skip }
never n { true } init { skip }
chan q = [1] of { byte }; trace { do :: q!_ :: q?_ od } init { q!1 }
chan q = [1] of { byte }; notrace { q!1; q?1 } init { q!1 }
byte x; ltl { [] (x == 0) } init { skip }
byte x; ltl p { <> x } ltl q { always eventually x } init { skip }
byte x; ltl p { (x U x) && (x V x) && (x W x) && (x until x) } init { skip }
byte x; ltl p { x -> <> x <-> x } init { skip }
byte x; ltl p { x implies x equivalent x weakuntil x release x stronguntil x } init { skip }
ltl p { [] P@L } active proctype P() { L: skip }
byte x; ltl p { [] (x == 0); } init { skip }
inline f() { skip } init { f() }
inline f(a, b) { a = b } byte x, y[2]; init { f(x, 3); f(y[1], x) }
inline g(b) { b = 1 } inline f(a) { g(a); g(a) } byte x; init { f(x)\nf(x) }
inline f(a) { g(a) } inline g(b) { b = 1 } byte x; init { f(x) }
inline f(a) { return a + 1 } byte x; init { x = f(2) }
inline f(a) { byte t; t = a; a = t } byte x; init { f(x); f(x) }
inline f(q, m) { q!m } chan c = [1] of { byte }; init { f(c, 'a') }
inline f(a)\n{\n a = 1\n a = 2\n}\nbyte x; init { f(x) unless x == 3 }
byte x; init { byte y = 2; x = y; byte z; { byte w = 3; x = w } }
byte x; init { x = 'a'; x = '\n'; x = '\\'; x = '\'' }
#define N 3\nbyte a[N]; init { a[N-1] = N }
#define g(x) (x > 0)\nbyte x; init { g(x) -> x = 1 }
#define SET(x) x = 1; x = 2\nbyte y; init { SET(y)\ny = 3 }
#define SEM byte\n#define P(s) atomic { s > 0 -> s-- }\nSEM s = 1; init { P(s) s++ }
init { skip } ;
byte x; init { do :: x = 1 :: x = 2; break od; skip }
byte x; init { if :: (x) :: (x == 1) -> x = 2 fi; (x) }
chan q = [0] of { byte }; active proctype A() { q!1 } active proctype B() { byte x; q?x }
byte x; init { goto L; x = 1; L: skip }
byte x; init { d_step { if :: x -> skip :: else fi } }
byte x; init { do :: { x = 1; break } unless { x == 2 } od }
byte x; init { if :: else -> x = 1 fi }
byte x = 300; init { x = 99999999 }
init { 1 }
init { run P() } proctype P() { skip }
pid p; proctype P() { skip } init { p = run P() }
byte b; init { b = b\n; b = 2 }
byte g; proctype P(byte a) priority 3 provided (g > 0) { skip } init { run P(1) priority 4 }
chan STDIN; byte x; init { STDIN?x }
byte x; init { if :: x -> fi }
byte x; init { else else }
byte a[3], b[3]; init { a[b[1]] = b[a[0]] }
byte x; inline f(a) { break } init { do :: f(x) od }
byte x; init { do :: skip unless break od }
byte x; init { x = (x == 1 -> (x -> 1 : 2) : 3) }
chan q = [1] of { mtype:foo }; init { skip }
"##;

/// Models that are not.
const REFUSED: &str = r##"
init { }
init { ; skip }
init { skip
init skip
init { skip } }
proctype { skip }
proctype P { skip } init { skip }
proctype P(byte a;) { skip } init { skip }
proctype P(byte a, byte b) { skip } init { skip }
active [ ] proctype P() { skip }
byte x = 0x10; init { skip }
byte ; init { skip }
byte if; init { skip }
int x y; init { skip }
byte a[2] = {-1, 2}; init { skip }
byte a[] = {1, 2}; init { skip }
byte[2] a; init { skip }
chan a = [1] of {byte}, b = [1] of {byte}; init { skip }
chan q = [1] of { }; init { skip }
chan q = [1]; init { skip }
chan q = of { byte }; init { skip }
mtype = { }; init { skip }
mtype = { , a }; init { skip }
mtype = { a, a }; mtype = { a }; init { skip }
typedef T { }; init { skip }
typedef T { byte a byte b }; init { skip }
byte x; init { x = 1 x = 2 }
byte x; init { if fi }
byte x; init { if :: fi }
byte x; init { if :: x = 1 fi x = 2 }
byte x; init { do od }
byte x; init { if (x) { x = 1 } }
byte x; init { while (x) { x = 1 } }
byte x; init { x += 1 }
byte x; init { x = 1\n+ 2 }
byte x; init { x\n== 1 }
byte x; init { x == }
byte x; init { (x == 1 }
byte x; init { x = (x = 1) }
byte x; init { !!x }
byte x; init { (x ? 1 : 2) }
byte x; init { x = x++ }
byte x; init { skip unless skip unless skip }
byte x; init { L: byte y; skip }
byte x; init { for (x = 0; x < 3; x++) { skip } }
byte x; init { for (x : 1 .. ) { skip } }
byte x; init { for (x : 1 .. 2) skip }
byte x; init { select (x : 1) }
byte x; init { atomic x = 1 }
byte x; init { atomic { } }
byte x; init { printf() }
byte x; init { printf(x) }
byte x; init { printf("a" "b") }
byte x; init { goto }
byte x; init { goto 3 }
chan q = [2] of { byte }; byte x; init { q! }
chan q = [2] of { byte }; byte x; init { q? }
chan q = [2] of { byte }; byte x; init { q?x+1 }
chan q = [2] of { byte }; byte x; init { q?<x }
chan q = [2] of { byte }; byte x; init { q?[x }
chan q = [2] of { byte }; byte x; init { q?<x>\nx = 1 }
chan q = [2] of { byte }; byte x; init { q!(x, x) }
chan q = [2] of { byte }; init { !full(q) }
chan q = [2] of { byte }; init { full(q) == 1 }
chan q = [2] of { byte }; byte x; init { x = 1 + full(q) }
chan q = [2] of { byte }; ltl { [] empty(q) } init { skip }
byte x; ltl { [] } init { skip }
byte x; ltl { x U } init { skip }
byte x; ltl { (x } init { skip }
byte x; ltl p q { x } init { skip }
ltl p { [] (x == 0) x } byte x; init { skip }
inline f() { } init { f() }
inline f { skip } init { f() }
proctype P() { skip } active proctype Q() { P: skip }
byte x; init { x = run }
byte x; init { run (1) }
byte x; init { assert() }
byte x; init { x = timeout timeout }
never { } init { skip }
never a b { skip } init { skip }
init { skip } fi
byte x; init { x = 1, x = 2 }
byte x; init { x.= 1 }
byte x; init { [x] }
byte x; init { x[ = 1 }
byte x; init { eval(x) }
byte x; init { $x }
byte x; init { x = 'ab' }
byte x; init { x = 12ab }
byte x; init { unless skip }
byte x; init { :: x }
byte x; inline f(a) { a = 1 } init { x = 1 + f(x) }
byte x; init { break }
byte x; init { d_step { skip; break } }
inline f(a) { a = 1 } inline f(b) { b = 2 } byte x; init { f(x) }
inline f(a) { a = 1 } byte x; init { f(x, x) }
inline f(a) { f(a) } byte x; init { f(x) }
inline f(a) { a = 1 } byte x; init { f(-x) }
inline f(a) { return a } byte x; init { f(x) }
inline f(a) { skip } byte f; init { skip }
mtype = { a }; typedef T { byte a }; init { skip }
proctype P(int x = 3) { skip } init { skip }
byte x; ltl p { (x -> x : x) } init { skip }
byte x; init { "abc" }
byte x; init { return x }
"##;

fn lines(table: &str) -> impl Iterator<Item = String> {
    table.lines().filter(|line| !line.is_empty()).map(unescape)
}

/// `\n` outside of quotes is a line's end.
fn unescape(line: &str) -> String {
    let mut out = String::new();
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        quoted ^= c == '"';
        if c == '\\' && !quoted && chars.peek() == Some(&'n') && !out.ends_with('\'') {
            chars.next();
            out.push('\n');
        } else {
            out.push(c);
        }
    }
    out + "\n"
}

/// Whether we parse it; a model that is only unsupported is parsed.
fn ours(text: &str) -> Result<(), String> {
    match parse_text("snippet.pml", text, &ParseOptions::default()) {
        Ok(_) => Ok(()),
        Err(failure) if failure.kind == FailureKind::Unsupported => Ok(()),
        Err(failure) => Err(failure.diagnostics[0].message.clone()),
    }
}

fn spin_accepts(text: &str, folder: &Path) -> bool {
    std::fs::write(folder.join("snippet.pml"), text).expect("writable");
    let run = Command::new("spin").args(["-a", "snippet.pml"]).current_dir(folder).output();
    run.expect("spin must be installed: apt-get install spin").status.success()
}

fn compare(table: &str, accepted: bool) {
    let folder = std::env::temp_dir().join(format!("promela-snippets-{}-{accepted}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for spin's files");
    let mut wrong = Vec::new();
    for text in lines(table) {
        match ours(&text) {
            Ok(()) if !accepted => wrong.push(format!("we accept {text}")),
            Err(why) if accepted => wrong.push(format!("we refuse {text}  {why}")),
            _ => {}
        }
        if spin_accepts(&text, &folder) != accepted {
            wrong.push(format!("spin does not agree with the table: {text}"));
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_spin_accepts_is_accepted() {
    compare(ACCEPTED, true);
}

#[test]
fn what_spin_refuses_is_refused() {
    compare(REFUSED, false);
}
