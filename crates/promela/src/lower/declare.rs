//! Declarations: mtype lists, record types, variables.

use super::constant;
use super::names::{Field, GLOBAL, MtypeConstant, Names, Record, ScopeId, Symbol, SymbolId, Ty, Use};
use super::size_limit::{SIZE_MAX, too_large};
use crate::ast::{Expr, Ident, Initializer, MtypeDecl, Name, Type, TypeKind, Typedef, Var, VarDecl, Visibility};
use crate::diagnostic::Diagnostic;
use crate::ir::{Scalar, Shown};
use crate::source::Span;
use std::collections::HashMap;
use std::sync::Arc;

/// More elements than any sensible array; keeps sizes far from overflow.
const LENGTH_MAX: i32 = 1 << 20;

/// Names that mean something without being declared.
pub(super) const PREDEFINED: [&str; 6] = ["_", "_pid", "_nr_pr", "_last", "_priority", "_p"];

/// Enters the constants of an mtype list, numbered from its end.
///
/// "Numbered from its end" is SPIN's doing: `mtype = { a, b }` makes b 1 and a 2, and models
/// compare mtypes with numbers.
pub(super) fn mtype(
    names: &mut Names,
    counts: &mut HashMap<String, i32>,
    report: &mut Vec<Diagnostic>,
    list: &MtypeDecl,
) -> Vec<(String, String, i32)> {
    let set = list.set.as_ref().map_or(String::new(), |set| set.name.to_string());
    let count = counts.entry(set.clone()).or_insert(0);
    let mut entered = Vec::new();
    for ident in list.names.iter().rev() {
        *count += 1;
        if *count == 256 {
            let told = Diagnostic::error("mtype", ident.span, "more than 255 constants in one mtype");
            report.push(told.note("an mtype variable is one byte"));
        }
        let constant = MtypeConstant { set: set.clone(), value: *count, span: ident.span };
        let taken = names.find(&ident.name, everywhere(names, GLOBAL)).is_some();
        if taken || names.mtypes.insert(ident.name.clone(), constant).is_some() {
            report.push(redeclared(names, ident));
        }
        entered.push((set.clone(), ident.name.to_string(), *count));
    }
    entered
}

fn everywhere(names: &Names, scope: ScopeId) -> Use {
    Use { scope, order: names.symbols.len() }
}

fn redeclared(names: &Names, ident: &Ident) -> Diagnostic {
    let told = Diagnostic::error("redeclared", ident.span, format!("`{}` is declared already", ident.name));
    let known = names.mtypes.get(&ident.name).is_some_and(|constant| constant.span != ident.span);
    if known {
        told.note("as an mtype constant")
    } else {
        told.note("Promela has no shadowing: a name visible here cannot be declared again")
    }
}

/// Enters a record type.
pub(super) fn typedef(names: &mut Names, report: &mut Vec<Diagnostic>, definition: &Typedef) {
    let mut fields: Vec<Field> = Vec::new();
    let mut size = 0u32;
    for declaration in &definition.fields {
        for var in &declaration.vars {
            let Some(ty) = variable_type(names, report, &declaration.ty, var) else { continue };
            let length = bound(names, &[], report, var, everywhere(names, GLOBAL));
            if fields.iter().any(|field| field.name == var.name.name) {
                report.push(Diagnostic::error(
                    "redeclared",
                    var.name.span,
                    format!("field `{}` is declared twice", var.name.name),
                ));
            }
            let ty = element_type(ty, length);
            let bytes = names.size(&ty).saturating_mul(length.unwrap_or(1));
            fields.push(Field { name: var.name.name.clone(), ty, length, offset: size });
            size = size.saturating_add(bytes);
        }
    }
    if u64::from(size) > SIZE_MAX {
        report.push(too_large(definition.span));
        size = 0;
    }
    let name = definition.name.name.clone();
    if names.records.iter().any(|record| record.name == name) {
        report.push(Diagnostic::error("redeclared", definition.name.span, format!("type `{name}` is defined twice")));
    }
    names.records.push(Record { name, fields, size });
}

/// Elements of bit arrays are whole bytes in SPIN's verifier.
fn element_type(ty: Ty, length: Option<u32>) -> Ty {
    match ty {
        Ty::Scalar(Scalar::Bit, shown) if length.is_some() => Ty::Scalar(Scalar::Byte, shown),
        ty => ty,
    }
}

/// The type that a declaration gives a variable.
pub(super) fn variable_type(names: &Names, report: &mut Vec<Diagnostic>, ty: &Type, var: &Var) -> Option<Ty> {
    let Some(width) = &var.width else {
        if matches!(ty.kind, TypeKind::Unsigned) {
            let told = Diagnostic::error("type", var.span, format!("`unsigned {}` needs a width", var.name.name));
            report.push(told.help("write the number of bits: `unsigned x : 5`"));
            return None;
        }
        return resolve_type(names, report, ty);
    };
    let bits = constant::value(names, width).unwrap_or(0);
    if !matches!(ty.kind, TypeKind::Unsigned) || !(1..=31).contains(&bits) {
        report.push(Diagnostic::error("type", width.span, "only `unsigned` has a width, from 1 to 31 bits"));
        return None;
    }
    Some(Ty::Scalar(Scalar::Unsigned(bits as u8), Shown::Number))
}

/// A type of its own: of a variable or of a message field.
pub(super) fn resolve_type(names: &Names, report: &mut Vec<Diagnostic>, ty: &Type) -> Option<Ty> {
    let (scalar, shown) = match &ty.kind {
        TypeKind::Bit => (Scalar::Bit, Shown::Number),
        TypeKind::Bool => (Scalar::Bit, Shown::Bool),
        TypeKind::Byte | TypeKind::Pid => (Scalar::Byte, Shown::Number),
        TypeKind::Short => (Scalar::Short, Shown::Number),
        TypeKind::Int => (Scalar::Int, Shown::Number),
        TypeKind::Mtype(set) => {
            (Scalar::Byte, Shown::Mtype(set.as_ref().map_or(String::new(), |set| set.name.to_string())))
        }
        TypeKind::Chan => (Scalar::Byte, Shown::Channel),
        TypeKind::Unsigned => {
            report.push(Diagnostic::error("type", ty.span, "`unsigned` cannot be a message field"));
            return None;
        }
        TypeKind::Record(name) => {
            let found = names.records.iter().position(|record| record.name == name.name);
            if found.is_none() {
                report.push(Diagnostic::error("undeclared", name.span, format!("there is no type `{}`", name.name)));
            }
            return found.map(Ty::Record);
        }
    };
    Some(Ty::Scalar(scalar, shown))
}

/// The number of elements that a declaration asks for.
///
/// SPIN takes the initial value of a variable for a bound without a word; hence the warning.
fn bound(
    names: &Names,
    initial: &[Option<&Initializer>],
    report: &mut Vec<Diagnostic>,
    var: &Var,
    place: Use,
) -> Option<u32> {
    let expr = var.bound.as_ref()?;
    let Some((length, named)) = constant::value_or_initial(names, initial, expr, place) else {
        report.push(Diagnostic::error("array", expr.span, "the length of an array must be a constant"));
        return Some(1);
    };
    // SPIN takes 8 when the variable starts with nothing.
    let length = if named && length <= 0 { 8 } else { length };
    if named {
        let told =
            Diagnostic::warning("array", expr.span, format!("the length of `{}` is fixed at {length}", var.name.name));
        report.push(told.note("it is the initial value of the variable, whatever is assigned to it later"));
    }
    if !(1..=LENGTH_MAX).contains(&length) {
        report.push(Diagnostic::error("array", expr.span, format!("an array cannot have {length} elements")));
        return Some(1);
    }
    Some(length as u32)
}

/// Enters one variable into a scope; `None` for the global one.
///
/// `hidden` variables are kept: SPIN leaves them out of the state and trusts the author that they
/// do not matter.
pub(super) fn variable<'a>(
    names: &mut Names,
    initial: &mut Vec<Option<&'a Initializer>>,
    report: &mut Vec<Diagnostic>,
    declaration: &VarDecl,
    var: &'a Var,
    scope: Option<ScopeId>,
) -> Option<SymbolId> {
    let place = everywhere(names, scope.unwrap_or(GLOBAL));
    let ident = &var.name;
    let predefined = PREDEFINED.contains(&&*ident.name);
    let taken = names.find(&ident.name, place).is_some() || names.proctype(&ident.name).is_some();
    if predefined || taken || names.mtypes.contains_key(&ident.name) {
        report.push(redeclared(names, ident));
        return None;
    }
    let ty = variable_type(names, report, &declaration.ty, var)?;
    let length = bound(names, initial, report, var, place);
    if let (Some(Initializer::List(_)), None) = (&var.init, length) {
        report.push(Diagnostic::error(
            "initialiser",
            var.span,
            format!("`{}` is no array, so it cannot start with a list", ident.name),
        ));
    }
    if declaration.visibility == Some(Visibility::Hidden) {
        let told = Diagnostic::warning(
            "hidden",
            ident.span,
            format!("`{}` is kept in the state although it is `hidden`", ident.name),
        );
        report.push(told.note("leaving it out can make a search miss states"));
    }
    let ty = element_type(ty, length);
    // Checked before anything walks over the elements.
    if u64::from(names.size(&ty)) * u64::from(length.unwrap_or(1)) > SIZE_MAX {
        report.push(too_large(var.span));
        return None;
    }
    let symbol = Symbol {
        name: ident.name.clone(),
        span: var.span,
        ty,
        length,
        order: names.symbols.len(),
        local: scope.is_some(),
        hidden: declaration.visibility == Some(Visibility::Hidden),
        offset: 0,
        channel: None,
    };
    initial.push(var.init.as_ref());
    Some(enter(names, scope.unwrap_or(GLOBAL), symbol))
}

fn enter(names: &mut Names, scope: ScopeId, symbol: Symbol) -> SymbolId {
    let id = names.symbols.len();
    names.scopes[scope].names.insert(symbol.name.clone(), id);
    names.symbols.push(symbol);
    id
}

/// A counter of our own for `for (m in q)`.
pub(super) fn temporary(
    names: &mut Names,
    initial: &mut Vec<Option<&Initializer>>,
    scope: ScopeId,
    span: Span,
) -> SymbolId {
    let order = names.symbols.len();
    // A name that no user can write.
    let name: Name = Arc::from(format!("for {order}"));
    initial.push(None);
    let ty = Ty::Scalar(Scalar::Short, Shown::Number);
    enter(
        names,
        scope,
        Symbol { name, span, ty, length: None, order, local: true, hidden: true, offset: 0, channel: None },
    )
}

/// A constant that must lie in a range, for priorities and the like.
pub(super) fn constant_in(
    names: &Names,
    report: &mut Vec<Diagnostic>,
    expr: &Expr,
    range: std::ops::RangeInclusive<i32>,
    what: &str,
) -> i32 {
    match constant::value(names, expr) {
        Some(value) if range.contains(&value) => value,
        _ => {
            let (low, high) = (range.start(), range.end());
            report.push(Diagnostic::error(
                "constant",
                expr.span,
                format!("{what} must be a constant from {low} to {high}"),
            ));
            *range.start()
        }
    }
}
