//! Reads the text of a never claim, as SPIN's translator and ours write it, into an automaton over `p0 p1 p2`.

use std::collections::HashMap;

use ltl::{Automaton, Edge, Guard, State};

const ATOMS: u32 = 3;
const EVERYTHING: &str = "accept_all";

/// A state as written: its labels, and for each step the guard and where it goes.
#[derive(Default)]
struct Written {
    labels: Vec<String>,
    steps: Vec<(String, String)>,
}

/// The automaton of a claim. Panics on anything it does not know: a test must not guess.
pub fn read(text: &str) -> Automaton {
    let states = written(text);
    let number: HashMap<&str, u32> = states
        .iter()
        .enumerate()
        .flat_map(|(at, state)| state.labels.iter().map(move |label| (label.as_str(), at as u32)))
        .collect();
    let states: Vec<State> = states.iter().map(|state| built(state, &number)).collect();
    Automaton { states, initial: 0, acceptance_sets: 1, state_based: true, propositions: (0..ATOMS).collect() }
}

fn built(state: &Written, number: &HashMap<&str, u32>) -> State {
    let accepting = state.labels.iter().any(|label| label.starts_with("accept"));
    let mut edges = Vec::new();
    for (guard, target) in &state.steps {
        let to = *number.get(target.as_str()).unwrap_or_else(|| panic!("no label {target}"));
        let full = |valuation: u64| Guard { positive: valuation, negative: !valuation & ((1 << ATOMS) - 1) };
        let admitted = (0..1 << ATOMS).filter(|valuation| evaluated(guard, *valuation)).map(full);
        edges.extend(admitted.map(|guard| Edge { guard, to, marks: u64::from(accepting) }));
    }
    State { edges, accepting, universal: false }
}

fn written(text: &str) -> Vec<Written> {
    let mut states: Vec<Written> = Vec::new();
    let mut in_labels = false;
    for line in text.lines().map(str::trim) {
        if let Some(label) = line.strip_suffix(':') {
            if !in_labels {
                states.push(Written::default());
            }
            in_labels = true;
            states.last_mut().expect("just pushed").labels.push(label.to_string());
            continue;
        }
        in_labels = false;
        if let Some(step) = step(line, states.last()) {
            states.last_mut().expect("a label comes first").steps.push(step);
        }
    }
    states
}

/// The guard and target of a line, `None` for lines that only give structure.
fn step(line: &str, state: Option<&Written>) -> Option<(String, String)> {
    if let Some(option) = line.strip_prefix(":: atomic {") {
        // A claim that can assert the opposite of what it just saw fails there: everything is accepted.
        let (guard, _) = option.split_once("-> assert").expect("an assertion");
        return Some((guard.to_string(), EVERYTHING.to_string()));
    }
    match line {
        "skip" => {
            let label = &state.expect("a label comes first").labels[0];
            Some(("1".to_string(), label.clone()))
        }
        "do" | "od;" | "if" | "fi;" | "}" | ":: false" | "false;" | "0;" => None,
        _ if line.starts_with("never") => None,
        _ => {
            let option = line.strip_prefix("::").and_then(|option| option.split_once("-> goto"));
            let (guard, target) = option.unwrap_or_else(|| panic!("unknown line in a never claim: {line}"));
            Some((guard.to_string(), target.trim().to_string()))
        }
    }
}

/// The truth of an expression of `! && || ( ) 1 true false p0 p1 p2`.
fn evaluated(guard: &str, valuation: u64) -> bool {
    let mut reader = Reader { rest: guard.trim(), valuation };
    let value = reader.or();
    assert_eq!(reader.rest, "", "rest of {guard}");
    value
}

struct Reader<'t> {
    rest: &'t str,
    valuation: u64,
}

impl Reader<'_> {
    fn eat(&mut self, word: &str) -> bool {
        let rest = self.rest.strip_prefix(word);
        self.rest = rest.map_or(self.rest, str::trim_start);
        rest.is_some()
    }

    fn or(&mut self) -> bool {
        let mut value = self.and();
        while self.eat("||") {
            value |= self.and();
        }
        value
    }

    fn and(&mut self) -> bool {
        let mut value = self.not();
        while self.eat("&&") {
            value &= self.not();
        }
        value
    }

    fn not(&mut self) -> bool {
        if self.eat("!") {
            return !self.not();
        }
        if self.eat("(") {
            let value = self.or();
            assert!(self.eat(")"), "unclosed bracket before {}", self.rest);
            return value;
        }
        self.word()
    }

    fn word(&mut self) -> bool {
        for atom in 0..ATOMS {
            if self.eat(&format!("p{atom}")) {
                return self.valuation >> atom & 1 == 1;
            }
        }
        if self.eat("1") || self.eat("true") {
            return true;
        }
        assert!(self.eat("false") || self.eat("0"), "unknown word at {}", self.rest);
        false
    }
}
