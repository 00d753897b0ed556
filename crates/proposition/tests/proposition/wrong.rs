//! What is said about wrong propositions.

use crate::told::Told;
use proposition::Proposition;

/// Text, column, message.
const UNREADABLE: &[(&str, usize, &str)] = &[
    ("", 1, "expected a question like `exited(a)`, a variable, a number or a text, found the end"),
    ("exited(a) = 0", 11, "`=` does not compare: write `==`"),
    ("exited(a) == 0 & true", 16, "write `&&`"),
    ("exited(a) == ", 14, "expected a question like `exited(a)`, a variable, a number or a text, found the end"),
    ("exited(a == 0", 10, "expected `)`, found `==`"),
    ("exited()", 8, "expected the name of a process, found `)`"),
    ("exitd(a)", 1, "nothing is called `exitd`: did you mean `exited`?"),
    (
        "banana(a)",
        1,
        "nothing is called `banana`: there are exited, crashed, blocked, running, stdout, stderr, syscall, exists, content, size, lines",
    ),
    ("exists(x)", 8, "expected a path in quotes, found `x`"),
    ("stdout(a) =~ ACK", 14, "expected a pattern in quotes, found `ACK`"),
    ("exists(\"x)", 8, "this \" has no end"),
    ("exited(a) exited(b)", 11, "expected `&&`, `||`, `->` or the end, found `exited`"),
    ("1 < x < 3", 7, "comparisons do not follow each other: join them with `&&`"),
    ("x + 1 == 2", 3, "there is no arithmetic: compare with a number"),
    ("x[y] == 2", 3, "expected a number, found `y`"),
    ("x. == 2", 4, "expected a name, found `==`"),
    ("server: == 2", 9, "expected a name, found `==`"),
    ("x == 12ab", 6, "`12ab` is not a number"),
    ("x == 'ab'", 6, "one character belongs between these; texts have double quotes"),
    ("é == #", 6, "`#` means nothing here"),
    ("syscall(a)", 10, "expected `,`, found `)`"),
    ("x == -y", 7, "expected a number, found `y`"),
];

/// Text, column, message.
const SENSELESS: &[(&str, usize, &str)] = &[
    ("exited(sevrer) == 0", 1, "there is no process `sevrer`: did you mean `server`?"),
    ("exited(clint.1) == 0", 1, "there is no process `clint.1`: did you mean `client.1`?"),
    (
        "true && running(banana)",
        9,
        "there is no process `banana`: there are `server`, `client.1`, `client.2`, `client.3`, `my-proxy`",
    ),
    ("count > 3", 1, "there are several processes: say which one's, as in `server:count`"),
    ("server:cont > 3", 1, "`server` has no global variable `cont`"),
    ("server:state.role == LEADR", 22, "`server:state.role` is never `LEADR`: did you mean `LEADER`?"),
    ("server:state.role == KING", 22, "`server:state.role` is never `KING`: there are FOLLOWER, LEADER"),
    ("exited(client.1) == \"x\"", 18, "a text can only be compared with a text"),
    ("exited(client.1) =~ \"0\"", 1, "`exited(client.1)` is not a text, so no pattern matches it"),
    ("stdout(client.1)", 1, "`stdout(client.1)` is neither true nor false: compare it with something"),
    ("!3", 2, "`3` is neither true nor false: compare it with something"),
    ("server:name", 1, "a text is neither true nor false: compare it with something"),
    ("lines(exited(client.1)) > 1", 7, "`exited(client.1)` is not a text, so it has no lines"),
];

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    for (text, column, message) in UNREADABLE {
        let problem = Proposition::parse(text).expect_err(text);
        assert_eq!((problem.column, problem.message.as_str()), (*column, *message), "{text}");
    }
    let problem = Proposition::parse("stdout(a) =~ \"(\"").unwrap_err();
    assert_eq!(problem.column, 14, "{problem}");
}

#[test]
fn what_makes_no_sense_is_told_with_its_place() {
    for (text, column, message) in SENSELESS {
        let proposition = Proposition::parse(text).expect(text);
        let problem = proposition.holds(&mut Told).expect_err(text);
        assert_eq!((problem.column, problem.message.as_str()), (*column, *message), "{text}");
    }
}

#[test]
fn parts_that_do_not_matter_now_are_verified() {
    let proposition = Proposition::parse("false && exited(nobody)").unwrap();
    assert_eq!(proposition.holds(&mut Told), Ok(false));
    assert!(proposition.verify(&mut Told).is_err());
    for text in ["false && true", "true || false", "false -> true"] {
        assert_eq!(Proposition::parse(text).unwrap().verify(&mut Told), Ok(()));
    }
}

#[test]
fn a_mark_shows_the_place() {
    let text = "exited(a) = 0";
    let shown = Proposition::parse(text).unwrap_err().shown(text);
    assert_eq!(shown, "exited(a) = 0\n          ^ `=` does not compare: write `==`");
}
