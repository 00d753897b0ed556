//! Deeds told for people.
//!
//! Told before it is done: names and values are those of the state in which the fault strikes.

use super::fault_effect::{Deed, peek};
use super::{Faults, Stance};
use crate::ir::{Model, Shown};
use crate::run::named::{process_name, show};
use crate::run::vector::Work;

impl Faults {
    /// One line about a deed, before it is done. `number` is the fault; `None` for a repair.
    #[must_use]
    pub fn tell(&self, model: &Model, work: &Work, number: Option<usize>, deed: &Deed) -> String {
        let what = self.what(model, work, deed);
        match number {
            Some(number) => format!("{}: {what}", self.faults[number].name),
            None => format!("healed: {what}"),
        }
    }

    fn what(&self, model: &Model, work: &Work, deed: &Deed) -> String {
        let message = |id: i32, slot: usize| message_text(model, work, id, &peek(model, work, id, slot));
        match deed {
            Deed::Lose { id, slot } => format!("{} is lost", message(*id, *slot)),
            Deed::Double { id, slot } => format!("{} is doubled", message(*id, *slot)),
            Deed::Overtake { id, slot } => {
                format!("{} overtakes {}", message(*id, *slot), message(*id, *slot - 1))
            }
            Deed::Become { id, slot, message: other } => {
                format!("{} becomes {}", message(*id, *slot), message_text(model, work, *id, other))
            }
            Deed::Hold { id, slot, .. } => format!("{} is held back", message(*id, *slot)),
            Deed::Arrive { .. } => "a message that was held back arrives".to_owned(),
            Deed::Put { pid, pc, stance } => self.put(model, work, *pid, *pc, *stance),
            Deed::Restart { pid } => format!("{} starts again", process_name(model, work, *pid)),
            Deed::Store { value, name, shown, .. } => format!("{name} becomes {}", show(model, work, shown, *value)),
            Deed::Stick { sticks: true, name, .. } => format!("{name} is stuck"),
            Deed::Stick { name, .. } => format!("{name} is loose again"),
        }
    }

    fn put(&self, model: &Model, work: &Work, pid: u32, pc: usize, stance: Stance) -> String {
        let name = process_name(model, work, pid);
        match (stance, self.stance(model, work, pid).0) {
            (Stance::Stopped, _) => format!("{name} stops"),
            (Stance::Paused, _) => format!("{name} stands still"),
            (Stance::Up, Stance::Up) => {
                let labels = &model.proctypes[work.proctype(pid)].labels;
                let label = labels.iter().find(|(_, at)| *at == pc).map_or("elsewhere", |(label, _)| label);
                format!("{name} jumps to {label}")
            }
            (Stance::Up, _) => format!("{name} goes on"),
        }
    }

    /// One line about a fault of a message that is handed over.
    #[must_use]
    pub fn tell_handover(&self, model: &Model, work: &Work, number: usize, id: i32, messages: [&[i32]; 2]) -> String {
        let [sent, arrives] = messages.map(|message| message_text(model, work, id, message));
        let name = &self.faults[number].name;
        if arrives.is_empty() { format!("{name}: {sent} is lost") } else { format!("{name}: {sent} becomes {arrives}") }
    }
}

/// A message as people read it: `(data,1)`.
fn message_text(model: &Model, work: &Work, id: i32, message: &[i32]) -> String {
    let Some((channel, _)) = work.channel(model, id) else { return String::new() };
    let text = |(value, (_, shown)): (&i32, &(crate::ir::Scalar, Shown))| show(model, work, shown, *value);
    let fields: Vec<String> = message.iter().zip(&channel.fields).map(text).collect();
    if fields.is_empty() { String::new() } else { format!("`{}`", fields.join(",")) }
}
