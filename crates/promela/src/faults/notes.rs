//! What faults leave out, for people who read a report.

use super::{Alternatives, Class, Faults, Target, prepare};
use crate::ir::{Action, Model, Shown};
use std::collections::BTreeSet;

impl Faults {
    /// What was left out although somebody might expect it.
    #[must_use]
    pub fn notes(&self, model: &Model) -> Vec<String> {
        let mut notes = Vec::new();
        if self.corrupts_numbers(model) {
            notes.push(
                "numbers in messages are corrupted by flipping their last bit, and into the constants that the model \
                 itself uses there; not into every number"
                    .to_owned(),
            );
        }
        let hidden = self.hidden_handovers(model);
        if !hidden.is_empty() {
            let names: Vec<String> = hidden.into_iter().collect();
            notes.push(format!(
                "messages that are handed over in the middle of an atomic sequence meet no fault: {}",
                names.join(", ")
            ));
        }
        notes
    }

    fn corrupts_numbers(&self, model: &Model) -> bool {
        self.faults.iter().zip(&self.alternatives).any(|(fault, alternatives)| match (&fault.target, alternatives) {
            (Target::Channel(owner, index), Alternatives::Fields(fields)) => {
                let declared = &prepare::channel(model, *owner, *index).fields;
                let number = |(_, shown): &(crate::ir::Scalar, Shown)| *shown == Shown::Number;
                declared.iter().zip(fields).any(|(field, values)| values.is_some() && number(field))
            }
            _ => false,
        })
    }

    /// Proctypes that may hand over a message in a state that is never seen from outside.
    fn hidden_handovers(&self, model: &Model) -> BTreeSet<String> {
        let concerned = |fault: &super::Fault| {
            matches!(fault.class, Class::Loss | Class::Corrupt | Class::Wrong)
                && matches!(fault.target, Target::Channel(owner, index) if prepare::channel(model, owner, index).capacity == 0)
        };
        if !self.faults.iter().any(concerned) {
            return BTreeSet::new();
        }
        let rendezvous = model.channels.iter().chain(model.proctypes.iter().flat_map(|proctype| &proctype.channels));
        let all = rendezvous.clone().all(|channel| channel.capacity == 0);
        let mut found = BTreeSet::new();
        for proctype in &model.proctypes {
            let targets = proctype.states.iter().flat_map(|state| &state.edges).filter(|edge| edge.atomic);
            for target in targets.map(|edge| edge.target) {
                let sends = |edge: &&crate::ir::Edge| match &edge.action {
                    Action::Send(send) => all || may_hand_over(model, &send.channel),
                    _ => false,
                };
                if proctype.states[target].edges.iter().any(|edge| sends(&edge)) {
                    found.insert(super::catalogue::plain(&proctype.name).to_owned());
                }
            }
        }
        found
    }
}

/// Whether the channel that an expression means may hold no message.
fn may_hand_over(model: &Model, channel: &crate::ir::Expr) -> bool {
    use crate::ir::Expr;
    let empty = |id: usize| model.channels.get(id - 1).is_some_and(|channel| channel.capacity == 0);
    match channel {
        Expr::Constant(id) => *id > 0 && empty(*id as usize),
        Expr::ChannelOf { first, count, .. } => (*first as usize..*first as usize + *count as usize).any(empty),
        _ => true,
    }
}
