//! What a proposition says about one state.
//!
//! A proposition has two truth values; a missing value is not a third one. Every comparison with it
//! is false, so `!(exited(a) == 0)` holds while `a` runs and `exited(a) != 0` does not: who writes
//! `--never "exited(a) != 0"` means a bad end, not a program that has not ended. Kleene's three
//! values were the alternative, and would have needed an answer to "unknown" in each state of a
//! path.
//!
//! **Invariant:** the answer depends on what `Facts` tells and on nothing else. What was written
//! and the last call are facts of the path; a search that merges equal states has to count output
//! as state if [`crate::Proposition::reads_output`].

use super::facts::{Datum, Facts};
use super::lex::is_word;
use super::pattern::{Pattern, Processes};
use super::problem::Problem;
use super::tree::{Comparison, Expression, Join, Kind};
use debuginfo::similar;
use debuginfo::{Kind as Meaning, Value};
use std::cmp::Ordering;

/// A question to facts.
///
/// Facts are borrowed mutably, for reading a variable may load debug information.
pub(super) struct Evaluation<'a> {
    pub(super) facts: &'a mut dyn Facts,
    /// Look at every part, also at those that do not matter.
    pub(super) is_complete: bool,
}

/// One value.
///
/// The values that debug information and literals have in common. Integers are wide enough for
/// `unsigned long` and for negative numbers at once: a comparison never wraps, unlike C's between
/// signed and unsigned.
#[derive(Clone, PartialEq, Debug)]
enum Operand {
    Number(i128),
    Float(f64),
    Text(String),
    Truth(bool),
}

/// The values of several processes, nothing for those that have none now.
struct Values {
    all: Vec<Option<Operand>>,
    /// Every one of them must do, not just one.
    every: bool,
}

impl Values {
    fn one(value: Option<Operand>) -> Self {
        Self { all: vec![value], every: false }
    }

    /// Whether one value, or every one, does.
    ///
    /// All values are asked before the quantifier is applied, so that a type error in the second
    /// process is found though the first decides. An absent value does not do: under `every`, one
    /// process without a value makes the whole false.
    fn hold(&self, mut does: impl FnMut(&Operand) -> Result<bool, Problem>) -> Result<bool, Problem> {
        let mut truths = Vec::new();
        for value in &self.all {
            truths.push(value.as_ref().map_or(Ok(false), &mut does)?);
        }
        Ok(if self.every { truths.into_iter().all(|truth| truth) } else { truths.into_iter().any(|truth| truth) })
    }
}

impl Evaluation<'_> {
    pub(super) fn truth(&mut self, expression: &Expression) -> Result<bool, Problem> {
        match &expression.kind {
            Kind::Not(inner) => self.truth(inner).map(|truth| !truth),
            Kind::Joined(join, left, right) => self.joined(*join, left, right),
            Kind::Compared(comparison, left, right) => self.compared(*comparison, left, right, expression.column),
            Kind::Matches { text, pattern, is_negated } => self.matches(text, pattern, *is_negated),
            Kind::Truth(truth) => Ok(*truth),
            Kind::Exists(path) => Ok(self.facts.exists(path)),
            Kind::Exited(_) | Kind::Crashed(_) => self.values(expression)?.hold(|_| Ok(true)),
            Kind::Number(_)
            | Kind::Float(_)
            | Kind::Text(_)
            | Kind::Output(..)
            | Kind::Content(_)
            | Kind::Size(_)
            | Kind::Lines(..) => {
                let message = format!("`{expression}` is neither true nor false: compare it with something");
                Err(Problem::new(expression.column, message))
            }
            Kind::Blocked(_) | Kind::Running(_) | Kind::Called(..) | Kind::Variable { .. } => {
                let column = expression.column;
                self.values(expression)?.hold(|value| is_true(value, column))
            }
        }
    }

    /// As in C, the right side is not looked at if the left decides, so `running(a) -> a:x == 1`
    /// may name what only a running process has. With `is_complete` both are looked at, for errors,
    /// and the answer is the same.
    fn joined(&mut self, join: Join, left: &Expression, right: &Expression) -> Result<bool, Problem> {
        let left = self.truth(left)?;
        let decided = match join {
            Join::And => !left,
            Join::Or => left,
            Join::Implies => !left,
        };
        if decided && !self.is_complete {
            return Ok(join != Join::And);
        }
        let right = self.truth(right)?;
        Ok(if decided { join != Join::And } else { right })
    }

    fn matches(&mut self, text: &Expression, pattern: &Pattern, is_negated: bool) -> Result<bool, Problem> {
        self.values(text)?.hold(|value| match value {
            Operand::Text(found) => Ok(pattern.is_in(found) != is_negated),
            _ => Err(Problem::new(text.column, format!("`{text}` is not a text, so no pattern matches it"))),
        })
    }

    /// With several processes on both sides the left quantifier is the outer one: for some (or
    /// every) left value there is some (or every) right one.
    fn compared(
        &mut self,
        comparison: Comparison,
        left: &Expression,
        right: &Expression,
        column: usize,
    ) -> Result<bool, Problem> {
        let (left, right) = self.pair(left, right)?;
        left.hold(|one| right.hold(|other| compare(comparison, one, other, column)))
    }

    /// The values of two sides. A name on one side may be an enumerator of the other's type.
    ///
    /// An enumerator is looked for on the right first: `state == LEADER` is how people write it.
    fn pair(&mut self, left: &Expression, right: &Expression) -> Result<(Values, Values), Problem> {
        if let Some(number) = self.enumerator(left, right)? {
            return Ok((self.values(left)?, Values::one(Some(Operand::Number(number)))));
        }
        if let Some(number) = self.enumerator(right, left)? {
            return Ok((Values::one(Some(Operand::Number(number))), self.values(right)?));
        }
        Ok((self.values(left)?, self.values(right)?))
    }

    /// The number of an enumerator, if one side is an enum and the other a name.
    ///
    /// The type decides, as in C++: the same word may be an enumerator of one enum and a variable
    /// of the program. An enumerator wins over a variable of that name.
    fn enumerator(&mut self, side: &Expression, name: &Expression) -> Result<Option<i128>, Problem> {
        let (Kind::Variable { process, path }, Kind::Variable { process: None, path: name_path }) =
            (&side.kind, &name.kind)
        else {
            return Ok(None);
        };
        if !name_path.chars().all(|letter| is_word(letter) || letter == ':') {
            return Ok(None);
        }
        // A side that cannot be read may be the enumerator itself; if not, whoever reads its value tells.
        let Ok((data, _)) = self.data(process.as_deref(), path, side.column) else { return Ok(None) };
        let meanings = data.into_iter().flatten().map(|datum| datum.kind);
        let Some(Meaning::Enum(names)) = meanings.into_iter().find(|kind| matches!(kind, Meaning::Enum(_))) else {
            return Ok(None);
        };
        let plain = name_path.rsplit("::").next().unwrap_or(name_path);
        if let Some((_, number)) = names.iter().find(|(known, _)| known == plain || known == name_path) {
            return Ok(Some(*number));
        }
        if self.data(None, name_path, name.column).is_ok() {
            return Ok(None);
        }
        let hint = match similar::hint(plain, names.iter().map(|(known, _)| known.as_str())) {
            hint if hint.is_empty() => {
                format!(": there are {}", names.iter().map(|(known, _)| known.as_str()).collect::<Vec<_>>().join(", "))
            }
            hint => hint,
        };
        Err(Problem::new(name.column, format!("`{side}` is never `{name_path}`{hint}")))
    }

    fn values(&mut self, expression: &Expression) -> Result<Values, Problem> {
        let column = expression.column;
        let values = match &expression.kind {
            Kind::Number(number) => Values::one(Some(Operand::Number(*number))),
            Kind::Float(number) => Values::one(Some(Operand::Float(*number))),
            Kind::Text(text) => Values::one(Some(Operand::Text(text.clone()))),
            Kind::Content(path) => Values::one(self.facts.content(path).map(|bytes| text(&bytes))),
            Kind::Size(path) => Values::one(self.facts.size(path).map(|size| Operand::Number(size.into()))),
            Kind::Lines(inner, pattern) => self.lines(inner, pattern.as_ref())?,
            Kind::Exited(processes) => self.each(processes, column, |facts, process| {
                Ok(facts.exited(process).map(|code| Operand::Number(code.into())))
            })?,
            Kind::Crashed(processes) => self.each(processes, column, |facts, process| {
                Ok(facts.crashed(process).map(|signal| Operand::Number(signal.into())))
            })?,
            Kind::Blocked(processes) => {
                self.each(processes, column, |facts, process| Ok(Some(Operand::Truth(facts.is_blocked(process)))))?
            }
            Kind::Running(processes) => {
                self.each(processes, column, |facts, process| Ok(Some(Operand::Truth(facts.is_running(process)))))?
            }
            Kind::Output(stream, processes) => {
                self.each(processes, column, |facts, process| Ok(Some(text(&facts.output(process, *stream)))))?
            }
            Kind::Called(processes, call) => self.each(processes, column, |facts, process| {
                facts.called(process, call).map(|truth| Some(Operand::Truth(truth)))
            })?,
            Kind::Variable { process, path } => {
                let (data, every) = self.data(process.as_deref(), path, column)?;
                Values { all: data.into_iter().map(|datum| datum.map(|datum| operand(datum.value))).collect(), every }
            }
            Kind::Truth(_)
            | Kind::Exists(_)
            | Kind::Not(_)
            | Kind::Joined(..)
            | Kind::Compared(..)
            | Kind::Matches { .. } => Values::one(Some(Operand::Truth(self.truth(expression)?))),
        };
        Ok(values)
    }

    /// What there is to say of each process that is meant.
    fn each(
        &mut self,
        processes: &Processes,
        column: usize,
        ask: impl Fn(&mut dyn Facts, &str) -> Result<Option<Operand>, String>,
    ) -> Result<Values, Problem> {
        let wrong = |why: String| Problem::new(column, why);
        let names = processes.among(&self.facts.processes()).map_err(wrong)?;
        let all: Result<Vec<_>, _> = names.iter().map(|name| ask(self.facts, name)).collect();
        Ok(Values { all: all.map_err(wrong)?, every: processes.every })
    }

    fn lines(&mut self, inner: &Expression, pattern: Option<&Pattern>) -> Result<Values, Problem> {
        let values = self.values(inner)?;
        let count = |value: Option<Operand>| match value {
            None => Ok(None),
            Some(Operand::Text(text)) => {
                let lines = text.lines().filter(|line| pattern.is_none_or(|pattern| pattern.is_in(line))).count();
                Ok(Some(Operand::Number(lines as i128)))
            }
            Some(_) => Err(Problem::new(inner.column, format!("`{inner}` is not a text, so it has no lines"))),
        };
        let all: Result<Vec<_>, _> = values.all.into_iter().map(count).collect();
        Ok(Values { all: all?, every: values.every })
    }

    /// The values of a variable in each process that is meant.
    ///
    /// Without a process the variable is that of the only process; with several, guessing one would
    /// make the proposition depend on their order. Variables have no `every`: the grammar has no
    /// place for it.
    fn data(
        &mut self,
        process: Option<&str>,
        path: &str,
        column: usize,
    ) -> Result<(Vec<Option<Datum>>, bool), Problem> {
        let wrong = |why: String| Problem::new(column, why);
        let names = self.facts.processes();
        let meant = match (process, names.as_slice()) {
            (Some(pattern), _) => {
                Processes { pattern: pattern.to_owned(), every: false }.among(&names).map_err(wrong)?
            }
            (None, [one]) => vec![one.clone()],
            (None, []) => return Err(wrong(format!("there is no process that could have `{path}`"))),
            (None, [first, ..]) => {
                return Err(wrong(format!("there are several processes: say which one's, as in `{first}:{path}`")));
            }
        };
        let data: Result<Vec<_>, _> = meant.iter().map(|name| self.facts.variable(name, path)).collect();
        data.map(|data| (data, false)).map_err(wrong)
    }
}

fn text(bytes: &[u8]) -> Operand {
    Operand::Text(String::from_utf8_lossy(bytes).into_owned())
}

fn operand(value: Value) -> Operand {
    match value {
        Value::Number(number, _) => Operand::Number(number),
        Value::Float(number) => Operand::Float(number),
        Value::Text(text) => Operand::Text(text),
    }
}

/// As in C, a number is true unless it is 0.
fn is_true(value: &Operand, column: usize) -> Result<bool, Problem> {
    match value {
        Operand::Truth(truth) => Ok(*truth),
        Operand::Number(number) => Ok(*number != 0),
        Operand::Float(number) => Ok(*number != 0.0),
        Operand::Text(_) => Err(Problem::new(column, "a text is neither true nor false: compare it with something")),
    }
}

/// Texts by bytes, numbers exactly; as soon as one side is a float both are, as in C.
fn compare(comparison: Comparison, one: &Operand, other: &Operand, column: usize) -> Result<bool, Problem> {
    let order = match (one, other) {
        (Operand::Text(one), Operand::Text(other)) => Some(one.cmp(other)),
        (Operand::Text(_), _) | (_, Operand::Text(_)) => {
            return Err(Problem::new(column, "a text can only be compared with a text"));
        }
        (Operand::Float(_), _) | (_, Operand::Float(_)) => float(one).partial_cmp(&float(other)),
        _ => Some(whole(one).cmp(&whole(other))),
    };
    // What is not a number is different from everything.
    Ok(order.map_or(comparison == Comparison::Different, |order: Ordering| comparison.accepts(order)))
}

fn float(value: &Operand) -> f64 {
    match value {
        Operand::Float(number) => *number,
        other => whole(other) as f64,
    }
}

fn whole(value: &Operand) -> i128 {
    match value {
        Operand::Number(number) => *number,
        Operand::Truth(truth) => i128::from(*truth),
        Operand::Float(_) | Operand::Text(_) => 0,
    }
}
