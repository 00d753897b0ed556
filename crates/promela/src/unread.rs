//! Values that nobody reads, left out of the state: SPIN's "hide write-only variables" (`spin -o2` turns it off).
//!
//! A counter that is only ever counted up tells states apart that nothing else can. Assignments to bytes that no
//! expression looks at are made to store nothing; every step, every failure and every choice stays where it was, so a
//! schedule found in such a model is one of the model as written. What `printf` prints does not count as read: a search
//! prints nothing.

use crate::dead::mark_dead;
use crate::ir::{Action, Assign, Binary, Claim, Expr, Field, Model, Place};
use crate::read::{Read, is_count};

/// The model with fewer states to tell apart: without what is stored and never read, and with dead variables made zero;
/// `None` if it would be the same.
#[must_use]
pub fn lean(model: &Model, claims: &[Claim]) -> Option<Model> {
    let unread = without_unread(model, claims);
    let dropped = unread.is_some();
    let mut lean = unread.unwrap_or_else(|| model.clone());
    (mark_dead(&mut lean, claims) || dropped).then_some(lean)
}

/// The model without what is stored and never read, by its own claims or by further ones; `None` if that is nothing.
///
/// `Multiply by zero` keeps what can fail or start a process: the store becomes that of a constant,
/// the evaluation stays.
#[must_use]
pub fn without_unread(model: &Model, claims: &[Claim]) -> Option<Model> {
    let read = Read::new(model, claims);
    let mut leaner = model.clone();
    let mut dropped = false;
    leaner.initialisers.retain(|assign| read.needed(&assign.place, 0) || !is_plain(assign));
    for (number, proctype) in leaner.proctypes.iter_mut().enumerate() {
        proctype.initialisers.retain(|assign| read.needed(&assign.place, number) || !is_plain(assign));
        for edge in proctype.states.iter_mut().flat_map(|state| &mut state.edges) {
            dropped |= read.drop_store(&mut edge.action, number);
        }
    }
    dropped.then_some(leaner)
}

/// Whether an assignment does nothing but store: no index and no operator in it can fail.
fn is_plain(assign: &Assign) -> bool {
    let value = match &assign.value {
        Expr::Constant(_) => true,
        Expr::Load(place) => place.indices.is_empty(),
        _ => is_count(assign),
    };
    value && assign.place.indices.is_empty()
}

impl Read {
    /// Makes a statement store nothing where nobody looks; says whether it did.
    fn drop_store(&self, action: &mut Action, number: usize) -> bool {
        match action {
            Action::Assign(assign) if !self.needed(&assign.place, number) => {
                if is_plain(assign) {
                    *action = Action::Condition(Expr::Constant(1));
                } else {
                    // It may still fail, or start a process.
                    let value = std::mem::replace(&mut assign.value, Expr::Constant(0));
                    assign.value = Expr::Binary(Binary::Multiply, Box::new(value), Box::new(Expr::Constant(0)));
                }
                true
            }
            Action::Receive(receive) => {
                let unread = |place: &Place| place.indices.is_empty() && !self.needed(place, number);
                let stores = |field: &&mut Field| matches!(field, Field::Store(place) if unread(place));
                receive.fields.iter_mut().filter(stores).map(|field| *field = Field::Ignore).count() > 0
            }
            _ => false,
        }
    }
}
