//! Labels on a `goto` that are named elsewhere.

use super::element::{ElementId, Flow, Node};
use super::names::Names;
use super::{Body, visit};
use crate::ast::{self, ExprKind};

/// Fixes the labels that a statement names in other proctypes.
pub(super) fn fix_labelled_jumps(kind: &ast::StmtKind, names: &Names, bodies: &mut [Body<'_>], unique: &mut u32) {
    visit::statement(kind, &mut |expr| fix_labelled_jump(expr, names, bodies, unique));
}

/// A label on a `goto` that a remote reference names must be a state, so a skip is put before the jump.
pub(super) fn fix_labelled_jump(expr: &ast::Expr, names: &Names, bodies: &mut [Body<'_>], unique: &mut u32) {
    let ExprKind::RemoteLabel { proctype, label, .. } = &expr.kind else { return };
    let Some(number) = names.proctype(&proctype.name) else { return };
    let Some(body) = bodies.iter_mut().find(|body| body.kind.proctype() == Some(number)) else { return };
    let flow = &mut body.flow;
    let Some(found) = flow.labels.iter_mut().rev().find(|known| known.name == label.name) else { return };
    found.used = true;
    let element = found.element;
    split_jump(flow, element, unique);
}

/// Makes the jump a skip, with the jump as a new element behind it.
fn split_jump(flow: &mut Flow<'_>, element: ElementId, unique: &mut u32) {
    let old = flow.elements[element].clone();
    if !matches!(old.node, Node::Jump(_)) {
        return;
    }
    let jump = flow.make(old.node, unique, old.place, old.span);
    flow.elements[jump].next = old.next;
    flow.elements[jump].escapes = old.escapes;
    flow.elements[jump].d_step = old.d_step;
    flow.elements[jump].atomic = old.atomic;
    flow.elements[jump].atomic_last = old.atomic_last;
    flow.elements[element].node = Node::Skip;
    flow.elements[element].next = Some(jump);
    for sequence in &mut flow.sequences {
        for end in [&mut sequence.last, &mut sequence.extent] {
            if *end == Some(element) {
                *end = Some(jump);
            }
        }
    }
}
