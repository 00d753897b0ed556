//! Random Promela models: small enough to be explored in milliseconds, mixed enough to find what reductions, stores,
//! workers and native code get wrong. The same seed gives the same text for ever.
//!
//! Models are generated from the grammar and not by mutation of known ones, so that nearly all of
//! them are valid: a model that is refused tests the parser only. Values stay below 3 and loops may
//! end at once, so a model has tens to some ten thousand states and can be held against the
//! enumeration of `oracle` and against SPIN.
//!
//! **Invariant:** the text is a function of seed and [`Spice`]. A draw of the dice that is added in
//! the middle changes all models of all seeds: recorded seeds of old failures then test something
//! else.

use explore::random::Random;
use std::fmt::Write;

/// What decides, the same for the same seed.
#[derive(Clone, Debug)]
pub struct Dice(Random);

impl Dice {
    /// Dice that always fall alike for the same seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u32) -> u32 {
        self.0.below(bound.max(1) as usize) as u32
    }

    /// True in `percent` of all cases.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len() as u32) as usize]
    }
}

/// What a random model may contain besides variables, conditions, selections and loops.
///
/// Each kind is switched as a whole: a model without rendezvous finds what reductions do when they
/// apply, one with everything mostly finds that they do not.
#[derive(Clone, Copy, Debug)]
pub struct Spice {
    /// Buffered channels.
    pub channels: bool,
    /// Rendezvous channels.
    pub rendezvous: bool,
    /// `atomic` and `d_step`.
    pub atomic: bool,
    /// `unless` and `timeout`.
    pub escapes: bool,
    /// `run`, `_pid`, `_nr_pr`.
    pub run: bool,
    /// `xs` and `xr` promises, with `nfull` and `nempty` by those who made them.
    pub promises: bool,
    /// Long atomic sequences, with loops inside.
    pub long: bool,
    /// `ltl` properties named `p0`, `p1`, ...
    pub ltl: u32,
}

impl Spice {
    /// A mix that depends on the seed.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        let mut dice = Dice::new(seed ^ 0x5EED);
        Self {
            channels: dice.chance(60),
            rendezvous: dice.chance(30),
            atomic: dice.chance(50),
            escapes: dice.chance(25),
            run: dice.chance(35),
            ltl: dice.below(3),
            promises: dice.chance(15),
            long: dice.chance(10),
        }
    }
}

/// The text of a random model.
#[must_use]
pub fn random_model(seed: u64, spice: Spice) -> String {
    let mut writer = Writer { dice: Dice::new(seed), spice, text: String::new(), label: 0, own_label: false };
    writer.model();
    writer.text
}

struct Writer {
    dice: Dice,
    spice: Spice,
    text: String,
    label: u32,
    own_label: bool,
}

const VARIABLES: [&str; 3] = ["x", "y", "z"];

impl Writer {
    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "  ".repeat(depth));
    }

    fn model(&mut self) {
        self.line(0, "byte x, y, z;");
        self.line(0, "byte a[2];");
        if self.spice.channels {
            let capacity = 1 + self.dice.below(2);
            self.line(0, &format!("chan q = [{capacity}] of {{ byte, bit }};"));
            self.line(0, "chan r = [1] of { byte };");
        }
        if self.spice.rendezvous {
            self.line(0, "chan s = [0] of { byte };");
        }
        if self.spice.promises {
            self.line(0, "chan w = [1] of { byte };");
        }
        for property in 0..self.spice.ltl {
            let formula = self.formula();
            self.line(0, &format!("ltl p{property} {{ {formula} }}"));
        }
        let proctypes = 2 + self.dice.below(2);
        for index in 0..proctypes {
            self.proctype(index);
        }
        if self.spice.promises {
            self.promising();
        }
        if self.spice.run {
            self.init(proctypes);
        }
    }

    /// Two processes that promise to be the only ones at their end of a channel, and sometimes one that breaks it.
    fn promising(&mut self) {
        let guard = *self.dice.pick(&["nfull(w)", "nfull(w)", "nempty(w)", "len(w) < 1"]);
        let value = *self.dice.pick(&["x", "y", "1", "2"]);
        self.line(0, &format!("active proctype S() {{ xs w; {guard} -> w!({value} % 3); w!1 }}"));
        let guard = *self.dice.pick(&["nempty(w)", "nempty(w)", "nfull(w)", "full(w)"]);
        self.line(0, &format!("active proctype R() {{ byte l; xr w; {guard} -> w?l; w?l; z = l % 3 }}"));
        if self.dice.chance(40) {
            let step = *self.dice.pick(&["nfull(w)", "nempty(w)", "w!2", "w?_", "empty(w)", "w?[1]"]);
            self.line(0, &format!("active proctype T() {{ {step} }}"));
        }
    }

    fn proctype(&mut self, index: u32) {
        let started = self.spice.run && index > 0 && self.dice.chance(50);
        let active = match (started, self.dice.chance(25)) {
            (true, _) => "",
            (false, true) => "active [2] ",
            (false, false) => "active ",
        };
        self.line(0, &format!("{active}proctype P{index}() {{"));
        self.line(1, if self.spice.long { "byte l, k;" } else { "byte l;" });
        self.own_label = self.dice.chance(30);
        if self.own_label {
            self.label += 1;
            let word = *self.dice.pick(&["L", "end", "progress", "accept"]);
            let line = format!("{word}{index}: skip;");
            self.line(1, &line);
        }
        let statements = 1 + self.dice.below(4);
        self.sequence(1, statements, Inside::Process);
        self.line(0, "}");
    }

    fn init(&mut self, proctypes: u32) {
        self.line(0, "init {");
        let runs = 1 + self.dice.below(2);
        for _ in 0..runs {
            let which = self.dice.below(proctypes);
            self.line(1, &format!("run P{which}();"));
        }
        if self.dice.chance(30) {
            self.line(1, "(_nr_pr <= 3);");
        }
        if self.dice.chance(30) {
            self.line(1, "x = _nr_pr % 3;");
        }
        self.line(0, "}");
    }

    fn sequence(&mut self, depth: usize, statements: u32, inside: Inside) {
        for _ in 0..statements {
            self.statement(depth, inside);
        }
    }

    /// Weights are chosen so that about a third of all statements are assignments; blocking ones
    /// are rare inside `d_step`, where SPIN makes them an error.
    fn statement(&mut self, depth: usize, inside: Inside) {
        let deep = depth > 3;
        match self.dice.below(20) {
            0..=5 => {
                let text = self.assignment();
                self.line(depth, &format!("{text};"));
            }
            6 if !inside.d_step() => {
                let condition = self.condition();
                self.line(depth, &format!("({condition});"));
            }
            7 | 8 if !inside.d_step() => {
                let text = self.communication(inside);
                self.line(depth, &format!("{text};"));
            }
            9 if self.dice.chance(60) => {
                let condition = self.condition();
                self.line(depth, &format!("assert({condition});"));
            }
            10..=12 if !deep => self.selection(depth, inside, false),
            13 | 14 if !deep && !inside.d_step() => self.selection(depth, inside, true),
            15 if self.spice.long && inside != Inside::DStep => self.long_sequence(depth, inside),
            16 if self.spice.atomic && !deep && inside == Inside::Process && self.dice.chance(40) => {
                self.else_in_block(depth);
            }
            15 | 16 if self.spice.atomic && inside == Inside::Process => self.block(depth, "atomic {", Inside::Atomic),
            17 if self.spice.atomic && inside != Inside::DStep => self.block(depth, "d_step {", Inside::DStep),
            18 if self.spice.escapes && !deep && inside == Inside::Process => self.unless(depth),
            _ => self.line(depth, "skip;"),
        }
    }

    fn block(&mut self, depth: usize, open: &str, inside: Inside) {
        self.line(depth, open);
        let statements = 1 + self.dice.below(3);
        if inside == Inside::DStep {
            self.line(depth + 1, "skip;");
        }
        self.sequence(depth + 1, statements, inside);
        self.line(depth, "};");
    }

    /// A selection whose `else` is the first statement of a block. The option is the last one: SPIN 6.5.2 takes it too
    /// early if others follow.
    fn else_in_block(&mut self, depth: usize) {
        let repeats = self.dice.chance(30);
        self.line(depth, if repeats { "do" } else { "if" });
        for _ in 0..1 + self.dice.below(2) {
            let (condition, statement) = (self.condition(), self.assignment());
            let option = match self.dice.below(3) {
                0 => format!(":: d_step {{ ({condition}) -> {statement} }}"),
                1 => format!(":: atomic {{ ({condition}) -> {statement} }}"),
                _ => format!(":: ({condition}) -> {statement}"),
            };
            self.line(depth, &option);
            if repeats {
                self.line(depth, ":: break");
            }
        }
        let (block, statement) = (*self.dice.pick(&["d_step", "d_step", "atomic"]), self.assignment());
        let close = if repeats { "; break" } else { "" };
        self.line(depth, &format!(":: {block} {{ else -> {statement} }}{close}"));
        self.line(depth, if repeats { "od;" } else { "fi;" });
    }

    /// An atomic sequence of some hundred statements, with a choice inside now and then.
    fn long_sequence(&mut self, depth: usize, inside: Inside) {
        let rounds = 30 + self.dice.below(60);
        let (condition, statement, other) = (self.condition(), self.assignment(), self.assignment());
        if inside == Inside::Process {
            self.line(depth, "atomic {");
        }
        self.line(depth, "k = 0;");
        self.line(depth, "do");
        self.line(depth, &format!(":: k < {rounds} -> k++; if :: ({condition}) -> {statement} :: else -> skip fi"));
        if self.dice.chance(30) {
            self.line(depth, &format!(":: k == {} -> {other}; k++", rounds / 2));
        }
        self.line(depth, ":: else -> break");
        self.line(depth, "od;");
        self.line(depth, "k = 0;");
        if inside == Inside::Process {
            self.line(depth, "};");
        }
    }

    fn unless(&mut self, depth: usize) {
        self.line(depth, "{");
        let statements = 1 + self.dice.below(2);
        self.sequence(depth + 1, statements, Inside::Process);
        let condition = self.condition();
        let escape = self.assignment();
        self.line(depth, &format!("}} unless {{ ({condition}); {escape} }};"));
    }

    fn selection(&mut self, depth: usize, inside: Inside, repeats: bool) {
        self.line(depth, if repeats { "do" } else { "if" });
        for _ in 0..1 + self.dice.below(3) {
            let guard = self.guard(inside);
            self.line(depth, &format!(":: {guard} ->"));
            let statements = 1 + self.dice.below(2);
            self.sequence(depth + 1, statements, inside);
        }
        if inside.d_step() || self.dice.chance(40) {
            self.line(depth, if repeats { ":: else -> break" } else { ":: else -> skip" });
        } else if repeats {
            self.line(depth, ":: break");
        }
        if repeats
            && self.spice.escapes
            && self.dice.chance(15)
            && !inside.d_step()
            && !self.text.ends_with("else -> break\n")
        {
            self.line(depth, ":: timeout -> break");
        }
        self.line(depth, if repeats { "od;" } else { "fi;" });
    }

    fn guard(&mut self, inside: Inside) -> String {
        if !inside.d_step() && self.dice.chance(30) && (self.spice.channels || self.spice.rendezvous) {
            return self.communication(inside);
        }
        format!("({})", self.condition())
    }

    fn variable(&mut self) -> String {
        match self.dice.below(8) {
            0 => "a[0]".to_owned(),
            1 => "a[1]".to_owned(),
            2 => format!("a[{} % 2]", self.dice.pick(&["x", "l", "_pid"])),
            3 => "l".to_owned(),
            _ => (*self.dice.pick(&VARIABLES)).to_owned(),
        }
    }

    fn value(&mut self) -> String {
        match self.dice.below(6) {
            0 | 1 => self.dice.below(3).to_string(),
            2 if self.spice.run => "(_pid % 3)".to_owned(),
            3 if self.spice.channels => "len(q)".to_owned(),
            _ => self.variable(),
        }
    }

    /// Every assignment keeps values below three, so that state spaces stay small.
    fn assignment(&mut self) -> String {
        let (target, value) = (self.variable(), self.value());
        let addend = self.dice.below(3);
        format!("{target} = ({value} + {addend}) % 3")
    }

    fn condition(&mut self) -> String {
        let (a, b) = (self.value(), self.value());
        let operator = *self.dice.pick(&["==", "!=", "<", "<=", ">"]);
        let simple = format!("{a} {operator} {b}");
        match self.dice.below(8) {
            0 => format!("!({simple})"),
            1 => format!("{simple} && {} != 2", self.variable()),
            2 => format!("{simple} || {} == 1", self.variable()),
            3 if self.spice.channels => {
                (*self.dice.pick(&["nempty(q)", "nfull(q)", "empty(r)", "q?[1, _]"])).to_owned()
            }
            _ => simple,
        }
    }

    fn communication(&mut self, inside: Inside) -> String {
        let mut forms: Vec<String> = Vec::new();
        let (value, variable) = (self.value(), self.variable());
        if self.spice.channels {
            forms.extend([
                format!("q!({value} % 3), 1"),
                format!("q!({value} % 3), 0"),
                format!("q?{variable}, _"),
                "q?1, _".to_owned(),
                format!("q??eval({value}), _"),
                format!("q!!({value} % 3), 1"),
                format!("r!({value} % 3)"),
                format!("r?{variable}"),
                format!("r?<{variable}>"),
            ]);
        }
        if self.spice.rendezvous && inside != Inside::Atomic {
            forms.extend([format!("s!({value} % 3)"), format!("s?{variable}"), "s?0".to_owned()]);
            forms.extend([format!("s!({value} % 3)"), format!("s?{variable}")]);
        }
        if forms.is_empty() {
            return format!("({})", self.condition());
        }
        self.dice.pick(&forms).clone()
    }

    /// Manna and Pnueli's classes: safety, guarantee, recurrence, persistence, response, and a
    /// reactivity formula last.
    fn formula(&mut self) -> String {
        let (p, q) = (self.proposition(), self.proposition());
        match self.dice.below(8) {
            0 => format!("[] ({p})"),
            1 => format!("<> ({p})"),
            2 => format!("[] <> ({p})"),
            3 => format!("<> [] ({p})"),
            4 => format!("[] (({p}) -> <> ({q}))"),
            5 => format!("({p}) U ({q})"),
            6 => format!("[] (({p}) || <> ({q}))"),
            _ => format!("(<> [] ({p})) -> ([] <> ({q}))"),
        }
    }

    fn proposition(&mut self) -> String {
        let variable = *self.dice.pick(&["x", "y", "z", "a[0]", "a[1]"]);
        let operator = *self.dice.pick(&["==", "!=", "<"]);
        let value = 1 + self.dice.below(2);
        format!("{variable} {operator} {value}")
    }
}

/// Where a statement stands: what may block, and what may be nested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Inside {
    Process,
    Atomic,
    DStep,
}

impl Inside {
    fn d_step(self) -> bool {
        self == Self::DStep
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_model() {
        let spice = Spice::from_seed(7);
        assert_eq!(random_model(7, spice), random_model(7, spice));
        assert_ne!(random_model(7, spice), random_model(8, spice));
    }
}
