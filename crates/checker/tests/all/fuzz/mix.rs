//! Random programs that mix one to three families of [`crate::table`], and how they are made smaller.

use crate::fuzz::generate::Program;
use crate::fuzz::table::{FAMILIES, Family, MEMORY, Traits};
use explore::random::Random;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A program as statements, so that some can be left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mix {
    /// What is set up, and how main behaves.
    pub needs: BTreeSet<String>,
    /// Statements of each thread or process.
    pub parts: Vec<Vec<String>>,
    /// Names of its families.
    pub families: Vec<&'static str>,
    /// What searches must know of it.
    pub traits: Traits,
}

/// The program of a seed.
pub fn of_seed(seed: u64) -> Mix {
    let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9) ^ 0x006d_6978);
    let families: Vec<&Family> = (0..1 + random.below(3)).map(|_| &FAMILIES[random.below(FAMILIES.len())]).collect();
    of_families(random, families)
}

/// A program of one family.
pub fn of_family(family: &'static Family, seed: u64) -> Mix {
    of_families(Random::new(seed.wrapping_mul(0x9e37_79b9)), vec![family])
}

fn of_families(random: Random, families: Vec<&'static Family>) -> Mix {
    let mut writer = Writer { random, families };
    let count = if writer.random.chance(1, 4) { 3 } else { 2 };
    let parts = (0..count).map(|_| writer.part(if count == 3 { 2 } else { 3 })).collect();
    let needs = writer.needs();
    let names = writer.families.iter().map(|family| family.name).collect();
    Mix { needs, parts, traits: traits(&writer.families), families: names }
}

fn traits(families: &[&Family]) -> Traits {
    let any = |of: fn(&Traits) -> bool| families.iter().any(|family| of(&family.traits));
    Traits { times: any(|of| of.times), loops: any(|of| of.loops), undefined: any(|of| of.undefined) }
}

struct Writer {
    random: Random,
    families: Vec<&'static Family>,
}

impl Writer {
    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.random.below(of.len())]
    }

    fn part(&mut self, length: usize) -> Vec<String> {
        let length = 1 + self.random.below(length);
        (0..length).map(|_| self.statement(2)).collect()
    }

    /// A third of all is about memory.
    fn statement(&mut self, deep: usize) -> String {
        let plain = deep == 0 || self.random.chance(1, 3);
        let family = if plain { &MEMORY } else { self.families[self.random.below(self.families.len())] };
        let line = self.one(family.lines);
        self.fill(line, deep)
    }

    fn fill(&mut self, line: &str, deep: usize) -> String {
        let mut text = line.to_owned();
        for letter in ["{v}", "{n}", "{o}", "{x}", "{c}", "{B}"] {
            while text.contains(letter) {
                let filling = self.filling(letter, deep);
                text = text.replacen(letter, &filling, 1);
            }
        }
        text
    }

    fn filling(&mut self, letter: &str, deep: usize) -> String {
        match letter {
            "{v}" => (1 + self.random.below(3)).to_string(),
            "{n}" => self.random.below(2).to_string(),
            "{o}" => self.random.below(3).to_string(),
            "{x}" => self.one(&["s->w[0]", "s->w[0]", "V(s->w[0])", "V(s->w[1])"]).to_owned(),
            "{c}" => self.one(&["V(s->w[0])", "!atomic_load(&s->a[0])", "atomic_load(&s->a[1])", "r"]).to_owned(),
            _ => self.statement(deep - 1),
        }
    }

    fn needs(&mut self) -> BTreeSet<String> {
        let mut needs: BTreeSet<String> = BTreeSet::new();
        for family in self.families.clone() {
            needs.extend(family.needs.iter().map(|need| (*need).to_owned()));
            if !family.one_of.is_empty() {
                needs.insert(self.one(family.one_of).to_owned());
            }
        }
        let drawn = [("PROCESSES", 3), ("MAIN_WORKS", 2), ("RETURNS", 6), ("ENDS", 12), ("DETACHED", 0)];
        for (need, in_so_many) in drawn {
            let is_drawn = in_so_many > 0 && self.random.chance(1, in_so_many);
            // Nobody joins a thread that is detached.
            let is_free = (needs.contains("RETURNS") || needs.contains("ENDS")) && !needs.contains("PROCESSES");
            if is_drawn || need == "DETACHED" && is_free && self.random.chance(1, 2) {
                needs.insert(need.to_owned());
            }
        }
        needs
    }
}

impl Mix {
    /// Whether a statement contains a text.
    pub fn says(&self, text: &str) -> bool {
        self.parts.iter().flatten().any(|line| line.contains(text))
    }

    /// Its text, with `number` in the names of its functions.
    pub fn program(&self, number: usize) -> Program {
        let mut source = String::new();
        for (part, statements) in self.parts.iter().enumerate() {
            let body = statements.concat();
            let _ = writeln!(source, "static unsigned p{number}_{part}(void) {{ unsigned r = 0; {body}return r; }}");
        }
        let parts: Vec<String> = (0..self.parts.len()).map(|part| format!("p{number}_{part}")).collect();
        let needs: String = self.needs.iter().map(|need| format!("{need} | ")).collect();
        let row = format!("{{ {needs}0, {}, {{ {} }}, seen }},\n", self.parts.len(), parts.join(", "));
        Program { spin_locks: self.traits.loops, times: self.traits.times, ..Program::of(&source, &row) }
    }

    /// Everything that is this with a little less.
    pub fn smaller(&self) -> Vec<Self> {
        let mut smaller = Vec::new();
        let last = self.parts.len() - 1;
        if last > 1 {
            smaller.push(Self { parts: self.parts[..last].to_vec(), ..self.clone() });
        }
        for part in 0..self.parts.len() {
            for statement in 0..self.parts[part].len() {
                let mut less = self.clone();
                less.parts[part].remove(statement);
                smaller.push(less);
            }
        }
        for need in &self.needs {
            let mut less = self.clone();
            less.needs.remove(need);
            smaller.push(less);
        }
        smaller
    }
}
