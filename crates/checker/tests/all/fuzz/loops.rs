//! Random small C programs whose threads wait in loops, for several words at once and with what they have seen on the way.

use crate::fuzz::generate::Program;
use explore::random::Random;
use std::fmt::Write;

/// The program of a seed, with `number` in the names of its functions.
pub fn program(seed: u64, number: usize) -> Program {
    let mut writer = Writer(Random::new(seed.wrapping_mul(0x9e37_79b9)));
    let count = if writer.0.chance(1, 3) { 3 } else { 2 };
    let mut source = String::new();
    for part in 0..count {
        let length = 2 + writer.0.below(if count == 3 { 1 } else { 3 });
        let body: String = (0..length).map(|_| writer.statement()).collect();
        let _ = writeln!(source, "static unsigned p{number}_{part}(void) {{ unsigned r = 0; {body}return r; }}");
    }
    let seen = "s->out[0] + 5 * s->out[1] + 25 * s->out[2] + 3 * s->a[0] + 11 * s->a[1] + 59 * s->w[0]";
    let _ = writeln!(source, "static int p{number}_end(void) {{ return ({seen}) % 251; }}");
    let needs = if writer.0.chance(1, 4) { "PROCESSES" } else { "0" };
    let parts: Vec<String> = (0..count).map(|part| format!("p{number}_{part}")).collect();
    let row = format!("{{ {needs}, {count}, {{ {} }}, p{number}_end }},\n", parts.join(", "));
    Program { spins: true, ..Program::of(&source, &row) }
}

struct Writer(Random);

impl Writer {
    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.0.below(of.len())]
    }

    fn load(&mut self) -> &'static str {
        self.one(&["atomic_load(&s->a[0])", "atomic_load(&s->a[1])", "V(s->w[0])"])
    }

    fn condition(&mut self) -> String {
        let (load, value) = (self.load(), self.0.below(3));
        let compare = self.one(&["==", "!=", "<"]);
        format!("{load} {compare} {value}")
    }

    fn statement(&mut self) -> String {
        if self.0.chance(2, 5) { self.wait() } else { self.deed() }
    }

    fn deed(&mut self) -> String {
        let (number, value) = (self.0.below(2), self.0.below(3));
        match self.0.below(6) {
            0 | 1 => format!("atomic_store(&s->a[{number}], {value}); "),
            2 => format!("r = r * 3 + atomic_fetch_add(&s->a[{number}], {value}); "),
            3 => format!("V(s->w[0]) = {value}; "),
            4 => format!("r = r * 3 + {}; ", self.load()),
            _ => format!("r += cas(&s->a[{number}], {value}, {}); ", (value + 1) % 3),
        }
    }

    fn wait(&mut self) -> String {
        let (one, other, number) = (self.condition(), self.condition(), self.0.below(2));
        match self.0.below(12) {
            0..=2 => format!("while ({one} && {other}) {{ }} "),
            3 => format!("while ({one} || {other}) {{ }} "),
            4 => format!("while ({one}) {{ }} "),
            5 => format!("{{ unsigned n = 0; while ({one}) n = 1; r += n; }} "),
            6..=8 => {
                let (x, y, value) = (self.load(), self.load(), self.0.below(3));
                format!("{{ unsigned x, y; do {{ x = {x}; y = {y}; }} while (x + y == {value}); r += 2 * x + y; }} ")
            }
            9 => format!("while ({one} && {other}) r |= 1; "),
            10 => format!("while ({one}) handled = 1; r += handled; "),
            _ => format!("while (!cas(&s->a[{number}], 0, 1)) {{ }} r++; atomic_store(&s->a[{number}], 0); "),
        }
    }
}
