//! Code of a model that no step reached, listed as SPIN lists it.

use crate::model::System;
use promela::ir::{Action, Assign, ControlState, Edge, Expr, Place, Proctype};
use promela::run::explain;
use report::{Statement, Unreached};
use std::collections::BTreeMap;

/// For each process type, the statements that were never executed; only types that have any.
pub fn unreached(system: &System) -> Vec<Unreached> {
    let types = system.model.proctypes.iter().enumerate();
    let all = types.map(|(number, proctype)| of_type(system, number, proctype));
    all.filter(|unit| !unit.statements.is_empty()).collect()
}

fn of_type(system: &System, number: usize, proctype: &Proctype) -> Unreached {
    // A statement may be an edge of several control states (a loop's option, say): one execution is enough.
    let mut statements: BTreeMap<u32, (bool, Option<Statement>)> = BTreeMap::new();
    for (pc, state) in proctype.states.iter().enumerate() {
        for (index, edge) in state.edges.iter().enumerate() {
            let known = statements.entry(edge.spin_state).or_insert_with(|| (false, statement(system, state, edge)));
            known.0 |= system.coverage.reached(number, pc, index);
        }
    }
    let total = statements.len();
    let missed = statements.into_values().filter(|(reached, _)| !reached).filter_map(|(_, statement)| statement);
    Unreached { unit: unit(&proctype.name), statements: missed.collect(), total }
}

fn statement(system: &System, state: &ControlState, edge: &Edge) -> Option<Statement> {
    let (span, text) = match edge.action {
        Action::Die => (edge.span, "-end-".to_owned()),
        Action::Else => (edge.span, "else".to_owned()),
        _ => {
            let text = explain::statement(&system.sources, edge.span);
            (edge.span, part_of_for(&text, &edge.action).unwrap_or(text))
        }
    };
    let place = explain::location(&system.sources, span).or_else(|| explain::location(&system.sources, state.span))?;
    Some(Statement { file: place.file, line: place.line, state: edge.spin_state, text })
}

/// What a statement that a `for` stands for does: `i = 0`, `i <= 3`, `i++`. All of them have its head as their text.
fn part_of_for(head: &str, action: &Action) -> Option<String> {
    let inside = head.strip_prefix("for")?.trim_start().strip_prefix('(')?.trim_end().strip_suffix(')')?;
    let is_next = |assign: &Assign| matches!(&assign.value, Expr::Binary(_, left, _) if reads(left, &assign.place));
    if let Some((variable, range)) = inside.split_once(':') {
        let (variable, (from, to)) = (variable.trim(), range.split_once("..")?);
        return match action {
            Action::Condition(_) => Some(format!("{variable} <= {}", to.trim())),
            Action::Assign(assign) if is_next(assign) => Some(format!("{variable}++")),
            Action::Assign(_) => Some(format!("{variable} = {}", from.trim())),
            _ => None,
        };
    }
    let part = match action {
        Action::Condition(_) => "is there another",
        Action::Assign(assign) if is_next(assign) => "next",
        Action::Assign(_) => "first",
        Action::Receive(_) => "take it out",
        Action::Send(_) => "put it back",
        _ => return None,
    };
    Some(format!("{head}: {part}"))
}

fn reads(expr: &Expr, place: &Place) -> bool {
    matches!(expr, Expr::Load(read) if read.offset == place.offset)
}

fn unit(name: &str) -> String {
    if name == ":init:" { "init".to_owned() } else { format!("proctype {name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use promela::ir::{Binary, Scalar, Space};

    #[test]
    fn the_statements_of_a_for_are_told_apart() {
        let place = Place { space: Space::Global, offset: 4, indices: Vec::new(), scalar: Scalar::Byte };
        let assign = |value| Action::Assign(Assign { place: place.clone(), value });
        let counted = Expr::Binary(Binary::Add, Box::new(Expr::Load(place.clone())), Box::new(Expr::Constant(1)));
        let cases = [
            ("for (i : 0 .. N-1)", assign(Expr::Constant(0)), Some("i = 0")),
            ("for (i : 0 .. N-1)", Action::Condition(Expr::Constant(1)), Some("i <= N-1")),
            ("for (i : 0 .. N-1)", assign(counted.clone()), Some("i++")),
            ("for (i in a)", assign(counted), Some("for (i in a): next")),
            ("forks = 2", assign(Expr::Constant(2)), None),
        ];
        for (head, action, expected) in cases {
            assert_eq!(part_of_for(head, &action).as_deref(), expected, "{head}");
        }
    }
}
