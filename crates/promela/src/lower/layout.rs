//! Where everything stands in the vector, and what it starts with.
//!
//! Globals come in order of declaration, with channel bodies behind them, and frames follow the
//! same rule. No alignment: the vector is read byte by byte, and shorter vectors make more leaves
//! equal in the tree store.

use super::declare;
use super::lowering::Lowering;
use super::names::{Names, Symbol, SymbolId, Ty};
use super::size_limit::{SIZE_MAX, too_large};
use crate::ast::{self, ChannelType, Initializer};
use crate::diagnostic::Diagnostic;
use crate::ir::{Assign, Channel, Expr, Place, Scalar, Space, Variable};

/// The place of a scalar of a symbol, by its distance from the symbol's start.
pub(super) fn symbol_place(symbol: &Symbol, distance: u32, scalar: Scalar) -> Place {
    let space = if symbol.local { Space::Local } else { Space::Global };
    Place { space, offset: symbol.offset + distance, indices: Vec::new(), scalar }
}

/// A scalar of a variable that starts with something.
pub(super) struct Start<'a> {
    /// `.a[1]`: which scalar of the variable.
    pub path: String,
    pub distance: u32,
    pub scalar: Scalar,
    pub from: From<'a>,
}

/// What a scalar starts with.
#[derive(Clone, Copy)]
pub(super) enum From<'a> {
    Value(&'a ast::Expr),
    Channel(&'a ChannelType),
}

/// Initial values of the fields of record types.
pub(super) type FieldStarts<'a> = Vec<Vec<Option<&'a Initializer>>>;

/// All scalars of a variable that start with something, in order.
pub(super) fn starts<'a>(
    names: &Names,
    fields: &FieldStarts<'a>,
    symbol: &Symbol,
    init: Option<&'a Initializer>,
) -> Vec<Start<'a>> {
    let mut found = Vec::new();
    collect(names, fields, &symbol.ty, symbol.length, init, ("", 0), &mut found);
    found
}

fn collect<'a>(
    names: &Names,
    fields: &FieldStarts<'a>,
    ty: &Ty,
    length: Option<u32>,
    init: Option<&'a Initializer>,
    (path, distance): (&str, u32),
    found: &mut Vec<Start<'a>>,
) {
    let stride = names.size(ty);
    for index in 0..length.unwrap_or(1) {
        let path = if length.is_some() { format!("{path}[{index}]") } else { path.to_string() };
        let distance = distance + index * stride;
        match ty {
            Ty::Scalar(scalar, _) => {
                let from = match init {
                    Some(Initializer::Value(value)) => From::Value(value),
                    Some(Initializer::Channel(channel)) => From::Channel(channel),
                    // Elements beyond the end of the list start with its last value.
                    Some(Initializer::List(list)) => match list.get(index as usize).or(list.last()) {
                        Some(value) => From::Value(value),
                        None => continue,
                    },
                    None => continue,
                };
                found.push(Start { path, distance, scalar: *scalar, from });
            }
            Ty::Record(record) => {
                for (field, init) in names.records[*record].fields.iter().zip(&fields[*record]) {
                    let path = format!("{path}.{}", field.name);
                    collect(names, fields, &field.ty, field.length, *init, (&path, distance + field.offset), found);
                }
            }
        }
    }
}

/// Bytes of a whole variable.
pub(super) fn variable_size(names: &Names, symbol: &Symbol) -> u64 {
    if symbol.channel.is_some() { 0 } else { u64::from(names.size(&symbol.ty)) * u64::from(symbol.length.unwrap_or(1)) }
}

/// Gives symbols their offsets, one after the other; gives the end back.
pub(super) fn place_symbols(names: &mut Names, symbols: &[SymbolId], start: u32, report: &mut Vec<Diagnostic>) -> u32 {
    let mut offset = u64::from(start);
    for &symbol in symbols {
        names.symbols[symbol].offset = offset as u32;
        offset += variable_size(names, &names.symbols[symbol]);
        if offset > SIZE_MAX {
            report.push(too_large(names.symbols[symbol].span));
            return start;
        }
    }
    offset as u32
}

/// Gives channels their bodies, one after the other; gives the end back.
///
/// A buffered channel is a count and room for its capacity, oldest message first; a rendezvous
/// channel has no body, since no message ever stays in it.
pub(super) fn place_channels(channels: &mut [Channel], start: u32, report: &mut Vec<Diagnostic>) -> u32 {
    let mut offset = u64::from(start);
    for channel in channels {
        channel.offset = offset as u32;
        let message: u64 = channel.fields.iter().map(|(scalar, _)| u64::from(scalar.size())).sum();
        offset += if channel.capacity == 0 { 0 } else { 1 + u64::from(channel.capacity) * message };
        if offset > SIZE_MAX {
            report.push(too_large(channel.span));
            return start;
        }
    }
    offset as u32
}

/// A channel as declared; its body has no place yet.
pub(super) fn channel(names: &Names, report: &mut Vec<Diagnostic>, name: String, ty: &ChannelType) -> Channel {
    let capacity = declare::constant_in(names, report, &ty.capacity, 0..=255, "the capacity of a channel") as u32;
    let mut fields = Vec::new();
    for field in &ty.fields {
        let Some(resolved) = declare::resolve_type(names, report, field) else { continue };
        for leaf in names.leaves(&resolved) {
            // Bit fields of messages are whole bytes in SPIN's verifier.
            let scalar = if leaf.scalar == Scalar::Bit { Scalar::Byte } else { leaf.scalar };
            fields.push((scalar, leaf.shown));
        }
    }
    Channel { name, capacity, fields, offset: 0, variable: None, span: ty.span }
}

impl Lowering<'_> {
    /// The assignment that gives a scalar its initial value.
    pub(super) fn start(&mut self, place: Place, value: &ast::Expr) -> Assign {
        self.refuse_run(value);
        if let Some(given) = super::constant::value(self.names, value)
            && place.scalar.cut(given) != given
        {
            let kept = place.scalar.cut(given);
            self.warning("truncated", value.span, format!("{given} does not fit: {kept} is stored"));
        }
        Assign { place, value: self.expr(value) }
    }
}

/// The initial id of a channel that a variable keeps.
pub(super) fn channel_id(place: Place, id: i32) -> Assign {
    Assign { place, value: Expr::Constant(id) }
}

/// A symbol for people: one entry for each scalar field or array of scalars.
pub(super) fn variables(names: &Names, symbol: &Symbol) -> Vec<Variable> {
    let mut found = Vec::new();
    if symbol.channel.is_none() {
        describe(names, symbol, &symbol.ty, symbol.length, (symbol.name.to_string(), symbol.offset), &mut found);
    }
    found
}

fn describe(
    names: &Names,
    symbol: &Symbol,
    ty: &Ty,
    length: Option<u32>,
    (name, offset): (String, u32),
    found: &mut Vec<Variable>,
) {
    let stride = names.size(ty);
    match ty {
        Ty::Scalar(scalar, shown) => found.push(Variable {
            name,
            offset,
            length,
            stride,
            scalar: *scalar,
            shown: shown.clone(),
            hidden: symbol.hidden,
            span: symbol.span,
        }),
        Ty::Record(record) => {
            for index in 0..length.unwrap_or(1) {
                let name = if length.is_some() { format!("{name}[{index}]") } else { name.clone() };
                for field in &names.records[*record].fields {
                    let place = (format!("{name}.{}", field.name), offset + index * stride + field.offset);
                    describe(names, symbol, &field.ty, field.length, place, found);
                }
            }
        }
    }
}
