//! From references to places in the vector.
//!
//! A place is an offset in a space (the globals, the frame of the process itself or of another) and
//! a list of indices with strides: fields have been added to the offset, so an access is a sum and
//! needs no types at run time.

use super::lowering::Lowering;
use super::names::{Field, Leaf, Names, Symbol, Ty, Use};
use crate::ast::{VarPart, VarRef};
use crate::diagnostic::Diagnostic;
use crate::ir::{Expr, Index, Place, Scalar, Shown, Space};
use crate::source::Span;
use trace::similar::closest;

/// What a reference means.
///
/// **Invariant:** a channel variable that is never assigned has no bytes in the state; it is the
/// constant id of its channel. That saves a byte for each and, more important, lets footprints tell
/// channels apart.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub space: Space,
    pub offset: u32,
    pub indices: Vec<Index>,
    pub ty: Ty,
    /// Set for a channel variable that never changes.
    pub channel: Option<Expr>,
}

impl Target {
    /// The place of a scalar inside; `leaf` says which.
    pub(super) fn leaf(&self, leaf: &Leaf) -> Place {
        let offset = self.offset + leaf.offset;
        Place { space: self.space.clone(), offset, indices: self.indices.clone(), scalar: leaf.scalar }
    }

    /// The place, if it is a scalar.
    pub(super) fn scalar(&self) -> Option<(Place, &Shown)> {
        let Ty::Scalar(scalar, shown) = &self.ty else { return None };
        Some((self.place(*scalar), shown))
    }

    fn place(&self, scalar: Scalar) -> Place {
        Place { space: self.space.clone(), offset: self.offset, indices: self.indices.clone(), scalar }
    }
}

/// Type and length of what a reference names, its own indices aside; `None` if a name is unknown.
pub(super) fn type_of(names: &Names, var: &VarRef, place: Use) -> Option<(Ty, Option<u32>)> {
    let symbol = &names.symbols[names.find(&var.base().name, place)?];
    let mut found = (symbol.ty.clone(), symbol.length);
    for part in &var.parts[1..] {
        let Ty::Record(record) = found.0 else { return None };
        let field = names.records[record].fields.iter().find(|field| field.name == part.name.name)?;
        found = (field.ty.clone(), field.length);
    }
    let indexed = var.parts.last().is_some_and(|part| part.index.is_some());
    Some(if indexed { (found.0, None) } else { found })
}

impl Lowering<'_> {
    /// What a reference means; says so if it means nothing.
    pub(super) fn target(&mut self, var: &VarRef) -> Option<Target> {
        let base = &var.parts[0];
        let Some(symbol) = self.names.find(&base.name.name, self.place) else {
            self.undeclared(&base.name);
            return None;
        };
        let names = self.names;
        self.target_of(&names.symbols[symbol], base, &var.parts[1..], None, var.span)
    }

    /// As [`Self::target`], for a symbol that is already known; `space` is set for remote references.
    pub(super) fn target_of(
        &mut self,
        symbol: &Symbol,
        base: &VarPart,
        fields: &[VarPart],
        space: Option<Space>,
        span: Span,
    ) -> Option<Target> {
        let space = space.unwrap_or(if symbol.local { Space::Local } else { Space::Global });
        let mut target =
            Target { space, offset: symbol.offset, indices: Vec::new(), ty: symbol.ty.clone(), channel: None };
        let index = self.index(&mut target, base, symbol.length)?;
        if let Some(first) = symbol.channel {
            target.channel = Some(match index {
                Some(index) => Expr::ChannelOf { first, count: symbol.length.unwrap_or(1), index: Box::new(index) },
                None => Expr::Constant(first),
            });
        }
        for part in fields {
            self.field(&mut target, part, span)?;
        }
        Some(target)
    }

    fn field(&mut self, target: &mut Target, part: &VarPart, span: Span) -> Option<()> {
        let Ty::Record(record) = target.ty else {
            self.error("type", span, format!("`.{}`: what stands before it is no structure", part.name.name));
            return None;
        };
        let names = self.names;
        let record = &names.records[record];
        let Some(Field { ty, length, offset, .. }) = record.fields.iter().find(|field| field.name == part.name.name)
        else {
            let told = Diagnostic::error(
                "undeclared",
                part.name.span,
                format!("`{}` has no field `{}`", record.name, part.name.name),
            );
            let near = closest(&part.name.name, record.fields.iter().map(|field| &*field.name));
            self.report.push(near.into_iter().fold(told, |told, near| told.help(format!("did you mean `{near}`?"))));
            return None;
        };
        target.offset += offset;
        target.ty = ty.clone();
        self.index(target, part, *length)?;
        Some(())
    }

    /// Adds an index to a target; gives it back for channels that are constants.
    fn index(&mut self, target: &mut Target, part: &VarPart, length: Option<u32>) -> Option<Option<Expr>> {
        match (&part.index, length) {
            (None, None) => Some(None),
            (Some(index), Some(bound)) => {
                let value = self.expr(index);
                let stride = self.names.size(&target.ty);
                self.check_index(&value, bound, index.span);
                target.indices.push(Index { value: value.clone(), stride, bound });
                Some(Some(value))
            }
            (None, Some(_)) => {
                let told = Diagnostic::error(
                    "array",
                    part.name.span,
                    format!("`{}` is an array: its index is missing", part.name.name),
                );
                self.report.push(told);
                None
            }
            (Some(index), None) => {
                let message = format!("`{}` is no array; the index is ignored", part.name.name);
                self.report.push(Diagnostic::warning("array", index.span, message));
                Some(None)
            }
        }
    }

    /// Only a warning: the statement may be unreachable, and SPIN reports the index when it is
    /// evaluated.
    fn check_index(&mut self, value: &Expr, bound: u32, span: Span) {
        if let Expr::Constant(index) = value
            && !(0..i64::from(bound)).contains(&i64::from(*index))
        {
            let told =
                Diagnostic::warning("array", span, format!("index {index} is outside the array of {bound} elements"));
            self.report.push(told.note("the step that evaluates it fails"));
        }
    }
}
