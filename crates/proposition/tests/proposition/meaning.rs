//! What propositions mean.

use crate::told::Told;
use proposition::Proposition;

fn holds(text: &str) -> bool {
    let proposition = Proposition::parse(text).unwrap_or_else(|problem| panic!("{}", problem.shown(text)));
    let first = proposition.holds(&mut Told).unwrap_or_else(|problem| panic!("{}", problem.shown(text)));
    let printed = proposition.to_string();
    let again = Proposition::parse(&printed).unwrap_or_else(|problem| panic!("{}", problem.shown(&printed)));
    assert_eq!(again, proposition, "{printed} is printed for {text}");
    first
}

const TRUE: &[&str] = &[
    "exited(client.1) == 0 && crashed(client.2) == 11",
    "exited(client.1)",
    "exited(client)",
    "exited(client.*) == 0",
    "exited(some client.*) == 0",
    "crashed(*)",
    "blocked(client.3) && running(client.3)",
    "running(my-proxy) && running(\"my-proxy\") && running(my*)",
    "running(server.1)",
    "stdout(client.*) =~ \"ACK\"",
    "stdout(client.1) =~ \"^ACK \\d$\"",
    "stdout(client.1) !~ \"^CK\"",
    "stdout(client.1) == \"hello\\nACK 1\\nACK 2\\n\"",
    "stderr(server) =~ \"\\\"no\\\"\"",
    "lines(stdout(client.1)) == 3",
    "lines(stdout(client.1), \"ACK\") > 1",
    "lines(content(\"mbox\"), \"^From \") == 2",
    "exists(\"x.lock\") && content(\"mbox\") =~ \"From a\"",
    "server:state.role == LEADER",
    "LEADER == server:state.role",
    "server:state.role == Role::LEADER && server:state.role != FOLLOWER",
    "server:state.role == 4 && server:state.role > FOLLOWER",
    "server:count > 3 && server:count <= 5 && server:low == -5 && server:low < 0",
    "server:count == server:count && server:count != server:low",
    "server:count == 0x5 && server:count < 1_000",
    "server:on && server:on == true && server:count",
    "server:half == 0.5 && server:half < 1 && server:half > -0.5",
    "server:name == \"bob\" && server:name =~ \"^b.b$\" && server:name > \"alice\"",
    "server:net::slots[1].id == 7 && server:net::slots[ 1 ].id == 7",
    "\"my-proxy\":count == 5",
    "client.*:count == 5 && *:count == 5",
    "server:head->count == 9",
    "server:count == 6 -> server:count == 7",
    "server:count==6->server:count==7",
    "server:count > 7 -> server:null->count == 1",
    "true && !false",
    "!!true",
    "!(exited(server) == 0)",
    "false -> true -> false",
    "false && false || true",
    "true || false && false",
    "(exited(client.1) == 0) == true",
    "syscall(client.*, \"write\") && !syscall(server, \"write\")",
    "server:count == 'x' || server:count == '\\n' || 'a' == 97",
];

const FALSE: &[&str] = &[
    "exited(server)",
    "exited(server) == 0",
    "exited(server) != 0",
    "exited(every client.*) == 0",
    "stdout(every client) =~ \"ACK\"",
    "content(\"none\") =~ \"\"",
    "content(\"none\") !~ \"x\"",
    "lines(content(\"none\")) == 0",
    "server:null->count == 0 || server:null->count != 0 || server:null->count",
    "true -> false",
    "!exists(\"x.lock\")",
    "running(every *)",
    "stdout(client.1) =~ \"hello.ACK\"",
];

#[test]
fn true_ones_hold() {
    TRUE.iter().for_each(|text| assert!(holds(text), "{text}"));
}

#[test]
fn false_ones_do_not() {
    FALSE.iter().for_each(|text| assert!(!holds(text), "{text}"));
}

#[test]
fn odd_names_of_processes_are_printed_so_that_they_are_read_again() {
    for name in
        ["a.1x", "a.1.5", "1a", ".a", "a..b", "*.1", "every", "true", "a b", "", "a-b", "a.*", "_x.12", "é*", "a\\\"b"]
    {
        for text in [format!("exited(\"{name}\")"), format!("\"{name}\":x > 1")] {
            let proposition = Proposition::parse(&text).expect(&text);
            let printed = proposition.to_string();
            assert_eq!(Proposition::parse(&printed).as_ref(), Ok(&proposition), "{text} printed as {printed}");
        }
    }
}

#[test]
fn the_variables_that_are_read_are_known() {
    let proposition = Proposition::parse("server:a.b == LEADER && lines(stdout(x)) > c[1]").unwrap();
    let expected = [(Some("server"), "a.b"), (None, "LEADER"), (None, "c[1]")];
    let expected = expected.map(|(process, path)| (process.map(str::to_owned), path.to_owned()));
    assert_eq!(proposition.variables(), expected);
}

/// A generator of numbers that is the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Changes a text: cuts a piece, doubles one, swaps in one of another text, or puts a stray character.
fn mutate(random: &mut Random, text: &str, other: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let others: Vec<char> = other.chars().collect();
    let (a, b) = (random.below(letters.len() + 1), random.below(letters.len() + 1));
    let (from, to) = (a.min(b), a.max(b));
    let stray: Vec<char> = "()[]!&|=<>~-.:*\"'\\ \t\u{e9}\u{0}0x9ae->".chars().collect();
    let middle: Vec<char> = match random.below(4) {
        0 => Vec::new(),
        1 => [&letters[from..to], &letters[from..to]].concat(),
        2 => others[random.below(others.len() + 1)..].to_vec(),
        _ => vec![stray[random.below(stray.len())]],
    };
    let behind = if random.below(2) == 0 { to } else { from };
    letters[..from].iter().chain(&middle).chain(&letters[behind..]).collect()
}

#[test]
fn no_text_makes_it_panic_and_what_is_printed_is_read_again() {
    let known: Vec<&str> = TRUE.iter().chain(FALSE).copied().collect();
    let mut random = Random(7);
    let mut read = 0;
    for _ in 0..40_000 {
        let mut text = known[random.below(known.len())].to_owned();
        for _ in 0..=random.below(3) {
            let other = known[random.below(known.len())];
            text = mutate(&mut random, &text, other);
        }
        match Proposition::parse(&text) {
            Ok(proposition) => {
                read += 1;
                let _ = proposition.holds(&mut Told).map_err(|problem| problem.shown(&text));
                let printed = proposition.to_string();
                assert_eq!(Proposition::parse(&printed).as_ref(), Ok(&proposition), "{text:?} printed as {printed:?}");
            }
            Err(problem) => {
                assert!((1..=text.chars().count() + 1).contains(&problem.column), "{problem} in {text:?}");
                assert!(problem.shown(&text).contains('^'));
            }
        }
    }
    assert!(read > 1000, "most mutations must not be refused at once: {read}");
}

#[test]
fn huge_texts_are_refused_or_read_without_harm() {
    for piece in ["(", "!", "lines(", "true -> ", "a.", "a[0]", "\"", "[", "-", "((", "!("] {
        let _ = Proposition::parse(&piece.repeat(20_000));
    }
    let many = vec!["true"; 1000].join(" && ");
    assert_eq!(Proposition::parse(&many).unwrap().holds(&mut Told), Ok(true));
    assert!(Proposition::parse(&vec!["true"; 100_000].join(" || ")).is_err());
}
