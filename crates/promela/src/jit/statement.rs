//! Statements that are not about channels, and the choice between all of them.

use super::emit::Emitter;
use super::{BLOCKED, DONE};
use crate::ir::{Action, Assign};

impl Emitter<'_, '_> {
    /// The whole function for a statement.
    pub fn statement(&mut self, action: &Action) -> Option<()> {
        match action {
            Action::Condition(condition) => {
                let (done, blocked) = (self.exit(DONE), self.exit(BLOCKED));
                self.branch(condition, done, blocked)
            }
            Action::Assert { condition, .. } => {
                // The interpreter words the failure.
                let (done, ask) = (self.exit(DONE), self.ask());
                self.branch(condition, done, ask)
            }
            Action::Assign(assign) => self.assign(assign),
            Action::Print(_) => {
                self.answer(DONE);
                Some(())
            }
            Action::Send(send) => self.send(send),
            Action::Receive(receive) => self.receive(receive),
            Action::SetPriority { .. } | Action::ReadInput(_) => None,
            Action::Else | Action::DStep { .. } | Action::Die => None,
        }
    }

    fn assign(&mut self, assign: &Assign) -> Option<()> {
        let value = self.value(&assign.value)?;
        let at = self.address(&assign.place)?;
        self.store(at, assign.place.scalar, value);
        self.answer(DONE);
        Some(())
    }
}
