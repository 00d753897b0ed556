//! The names that a model declares at its outermost level.

use super::parser::Parser;
use super::tokens::NameClass;
use crate::ast::{Item, Name, Program};
use std::collections::HashSet;

/// Makes a model's names known to a parser that reads a property of it.
pub(super) fn declare(parser: &mut Parser<'_>, program: &Program) {
    for item in &program.items {
        match item {
            Item::Mtype(list) => {
                for name in &list.names {
                    parser.tokens.declare(&name.name, NameClass::Mtype);
                }
            }
            Item::Typedef(record) => parser.tokens.declare(&record.name.name, NameClass::Record),
            Item::Proctype(process) => parser.tokens.declare(&process.name.name, NameClass::Proctype),
            _ => {}
        }
    }
    for inline in &program.inlines {
        parser.tokens.declare(&inline.name.name, NameClass::Inline);
    }
}

/// All global names.
pub(super) fn globals(program: &Program) -> HashSet<Name> {
    let mut names = HashSet::new();
    for item in &program.items {
        match item {
            Item::Mtype(list) => names.extend(list.names.iter().map(|id| id.name.clone())),
            Item::Typedef(record) => names.extend([record.name.name.clone()]),
            Item::Proctype(process) => names.extend([process.name.name.clone()]),
            Item::Variables(decl) => names.extend(decl.vars.iter().map(|var| var.name.name.clone())),
            _ => {}
        }
    }
    names
}
