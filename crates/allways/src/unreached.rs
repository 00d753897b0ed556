//! Code of a model that no step reached, listed as SPIN lists it.

use promela::ir::{Action, ControlState, Edge, Proctype};
use promela::run::{ModelSystem, explain};
use report::{Statement, Unreached};
use std::collections::BTreeMap;

/// For each process type, the statements that were never executed; only types that have any.
pub fn unreached(system: &ModelSystem) -> Vec<Unreached> {
    let types = system.model.proctypes.iter().enumerate();
    let all = types.map(|(number, proctype)| of_type(system, number, proctype));
    all.filter(|unit| !unit.statements.is_empty()).collect()
}

fn of_type(system: &ModelSystem, number: usize, proctype: &Proctype) -> Unreached {
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

fn statement(system: &ModelSystem, state: &ControlState, edge: &Edge) -> Option<Statement> {
    let (span, text) = match edge.action {
        Action::Die => (edge.span, "-end-".to_owned()),
        Action::Else => (edge.span, "else".to_owned()),
        _ => (edge.span, explain::statement(&system.sources, edge)),
    };
    let place = explain::location(&system.sources, span).or_else(|| explain::location(&system.sources, state.span))?;
    Some(Statement { file: place.file, line: place.line, state: edge.spin_state, text })
}

fn unit(name: &str) -> String {
    if name == ":init:" { "init".to_owned() } else { format!("proctype {name}") }
}
