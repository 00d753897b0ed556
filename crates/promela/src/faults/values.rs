//! The values that a model itself uses: what its variables may hold, what its messages may carry.
//!
//! A may-analysis by constants, copies and comparisons, flow-insensitive. It is used to choose
//! interesting values, never to leave out behaviour: missing a constant makes a fault less
//! inventive, not a verdict wrong.

use super::fault::Owner;
use super::walk::{self, Part};
use crate::ir::{
    Action, Assign, Binary, Expr, Field, Model, Place, ProctypeId, Receive, Scalar, Send, Shown, Space, Variable,
};
use std::collections::BTreeSet;

/// A variable of the model: whose, and its index there.
pub type Name = (Owner, usize);

/// The values that a model uses.
pub struct Values<'m> {
    model: &'m Model,
    /// Constants that are stored in, or compared with, each global variable and each proctype's locals.
    globals: Vec<Seen>,
    locals: Vec<Vec<Seen>>,
    /// Constants that each field of each global channel is sent or matched with.
    fields: Vec<Vec<BTreeSet<i32>>>,
    /// Messages that are sent on each global channel: the constants among their fields.
    sent: Vec<BTreeSet<Vec<Option<i32>>>>,
}

/// What is known about one variable.
#[derive(Clone, Default)]
struct Seen {
    constants: BTreeSet<i32>,
    /// Whether something else is stored in it as well.
    open: bool,
    /// Whether anything is stored in it.
    stored: bool,
    /// Variables whose value is stored in it.
    copies: BTreeSet<(Option<usize>, usize)>,
}

impl<'m> Values<'m> {
    /// Looks through a model.
    #[must_use]
    pub fn new(model: &'m Model) -> Self {
        let fields = |channel: &crate::ir::Channel| vec![BTreeSet::new(); channel.fields.len()];
        let mut values = Self {
            model,
            globals: vec![Seen::default(); model.globals.len()],
            locals: model.proctypes.iter().map(|proctype| vec![Seen::default(); proctype.locals.len()]).collect(),
            fields: model.channels.iter().map(fields).collect(),
            sent: vec![BTreeSet::new(); model.channels.len()],
        };
        values.first_values();
        for (number, proctype) in model.proctypes.iter().enumerate() {
            for edge in proctype.states.iter().flat_map(|state| &state.edges) {
                values.statement(&edge.action, number);
            }
        }
        values.compared();
        values.follow_copies();
        values
    }

    /// Zero, unless an initialiser says otherwise.
    fn first_values(&mut self) {
        let mut initialised = BTreeSet::new();
        for assign in &self.model.initialisers {
            initialised.extend(self.name(&assign.place, None));
            self.assign(assign, None, false);
        }
        for (number, proctype) in self.model.proctypes.iter().enumerate() {
            for assign in &proctype.initialisers {
                initialised.extend(self.name(&assign.place, Some(number)));
                self.assign(assign, Some(number), false);
            }
            for parameter in 0..proctype.parameters {
                self.locals[number][parameter].open = true;
            }
        }
        for index in (0..self.globals.len()).filter(|index| !initialised.contains(&(Owner::Model, *index))) {
            self.globals[index].constants.insert(0);
        }
    }

    fn statement(&mut self, action: &Action, home: ProctypeId) {
        match action {
            Action::Assign(assign) => self.assign(assign, Some(home), true),
            Action::Send(send) => self.send(send),
            Action::Receive(receive) => self.receive(receive, home),
            Action::ReadInput(read) => read.places.iter().for_each(|place| self.open(place, home)),
            _ => {}
        }
    }

    fn open(&mut self, place: &Place, home: ProctypeId) {
        if let Some(seen) = self.seen(place, Some(home)) {
            (seen.open, seen.stored) = (true, true);
        }
    }

    fn assign(&mut self, assign: &Assign, home: Option<ProctypeId>, stored: bool) {
        let copied = match &assign.value {
            Expr::Load(from) => self.name(from, home),
            _ => None,
        };
        let Some(seen) = self.seen(&assign.place, home) else { return };
        seen.stored |= stored;
        match (constants(&assign.value), copied) {
            (Some(constants), _) => {
                seen.constants.extend(constants.iter().map(|value| assign.place.scalar.cut(*value)));
            }
            (None, Some((owner, index))) => {
                seen.copies.insert((owner.proctype(), index));
            }
            (None, None) => seen.open = true,
        }
    }

    fn send(&mut self, send: &Send) {
        for channel in self.channels(&send.channel, send.values.len()) {
            let model = self.model;
            let cut = |(value, (scalar, _)): (&Expr, &(Scalar, Shown))| match value {
                Expr::Constant(value) => Some(scalar.cut(*value)),
                _ => None,
            };
            let pattern: Vec<Option<i32>> = send.values.iter().zip(&model.channels[channel].fields).map(cut).collect();
            for (known, value) in self.fields[channel].iter_mut().zip(&pattern) {
                known.extend(value);
            }
            self.sent[channel].insert(pattern);
        }
    }

    fn receive(&mut self, receive: &Receive, home: ProctypeId) {
        for channel in self.channels(&receive.channel, receive.fields.len()) {
            for (index, field) in receive.fields.iter().enumerate() {
                if let Field::Match(Expr::Constant(value)) = field {
                    self.fields[channel][index].insert(*value);
                }
            }
        }
        for field in &receive.fields {
            if let Field::Store(place) = field {
                self.open(place, home);
            }
        }
    }

    /// Constants that variables are compared with.
    fn compared(&mut self) {
        let mut found = Vec::new();
        walk::model(&mut self.model.clone(), &mut |home, part| {
            let Part::Expr(Expr::Binary(Binary::Equal | Binary::NotEqual, a, b)) = part else { return };
            match (&**a, &**b) {
                (Expr::Load(place), Expr::Constant(value)) | (Expr::Constant(value), Expr::Load(place)) => {
                    found.push((home, place.clone(), *value));
                }
                _ => {}
            }
        });
        for (home, place, value) in found {
            if let Some(seen) = self.seen(&place, home) {
                seen.constants.insert(place.scalar.cut(value));
            }
        }
    }

    /// What is copied from one variable to another.
    fn follow_copies(&mut self) {
        loop {
            let mut changed = false;
            let all: Vec<(Owner, usize)> = self.names().collect();
            for name in &all {
                for from in self.of(*name).copies.clone() {
                    let source = self.of((Owner::of(from.0), from.1)).clone();
                    let seen = self.of_mut(*name);
                    let before = (seen.constants.len(), seen.open);
                    seen.constants.extend(source.constants);
                    seen.open |= source.open;
                    changed |= before != (seen.constants.len(), seen.open);
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn names(&self) -> impl Iterator<Item = Name> + use<'m> {
        let model = self.model;
        let globals = (0..model.globals.len()).map(|index| (Owner::Model, index));
        let locals = model.proctypes.iter().enumerate();
        globals.chain(locals.flat_map(|(number, declared)| {
            (0..declared.locals.len()).map(move |index| (Owner::Proctype(number), index))
        }))
    }

    fn of(&self, (owner, index): Name) -> &Seen {
        match owner {
            Owner::Model => &self.globals[index],
            Owner::Proctype(number) => &self.locals[number][index],
        }
    }

    fn of_mut(&mut self, (owner, index): Name) -> &mut Seen {
        match owner {
            Owner::Model => &mut self.globals[index],
            Owner::Proctype(number) => &mut self.locals[number][index],
        }
    }

    fn seen(&mut self, place: &Place, home: Option<ProctypeId>) -> Option<&mut Seen> {
        let name = self.name(place, home)?;
        Some(self.of_mut(name))
    }

    /// The variable that a place belongs to.
    fn name(&self, place: &Place, home: Option<ProctypeId>) -> Option<Name> {
        let owner = match &place.space {
            Space::Global => Owner::Model,
            Space::Local => Owner::Proctype(home?),
            Space::Remote(number, _) => Owner::Proctype(*number),
        };
        let index = variables(self.model, owner).iter().position(|variable| covers(variable, place.offset))?;
        Some((owner, index))
    }

    /// The global channels that an expression may mean.
    fn channels(&self, channel: &Expr, fields: usize) -> Vec<usize> {
        let fits = |index: &usize| self.model.channels.get(*index).is_some_and(|known| known.fields.len() == fields);
        let all = match channel {
            Expr::Constant(id) => (*id as usize).wrapping_sub(1)..*id as usize,
            Expr::ChannelOf { first, count, .. } => *first as usize - 1..*first as usize - 1 + *count as usize,
            _ => 0..self.model.channels.len(),
        };
        all.filter(fits).collect()
    }

    /// The values that a variable may hold, if constants are all that is ever stored in it.
    #[must_use]
    pub fn enumerated(&self, name: Name) -> Option<Vec<i32>> {
        let seen = self.of(name);
        (!seen.open && seen.stored && seen.constants.len() > 1).then(|| self.known(name))
    }

    /// The constants that the model stores in a variable or compares it with.
    #[must_use]
    pub fn known(&self, name: Name) -> Vec<i32> {
        self.of(name).constants.iter().copied().collect()
    }

    /// Whether anything is ever stored in a variable.
    #[must_use]
    pub fn is_stored(&self, name: Name) -> bool {
        self.of(name).stored
    }

    /// The constants that a field of a global channel is sent or matched with.
    #[must_use]
    pub fn field(&self, channel: usize, field: usize) -> Vec<i32> {
        self.fields[channel][field].iter().copied().collect()
    }

    /// How many different messages are sent on a global channel, as far as the model tells them apart.
    #[must_use]
    pub fn kinds_sent(&self, channel: usize) -> usize {
        self.sent[channel].len()
    }

    /// The messages that are sent on a global channel: constants where they are, `None` where anything may stand.
    #[must_use]
    pub fn sent(&self, channel: usize) -> Vec<Vec<Option<i32>>> {
        self.sent[channel].iter().filter(|pattern| pattern.iter().any(Option::is_some)).cloned().collect()
    }
}

/// The variables of an owner.
#[must_use]
pub fn variables(model: &Model, owner: Owner) -> &[Variable] {
    match owner {
        Owner::Model => &model.globals,
        Owner::Proctype(number) => &model.proctypes[number].locals,
    }
}

/// Whether a place that starts at `offset` lies in a variable.
#[must_use]
pub fn covers(variable: &Variable, offset: u32) -> bool {
    let size = variable.length.unwrap_or(1).saturating_sub(1) * variable.stride + variable.scalar.size();
    (variable.offset..variable.offset + size).contains(&offset)
}

/// The constants that an expression chooses from, if it does nothing else.
fn constants(expr: &Expr) -> Option<Vec<i32>> {
    match expr {
        Expr::Constant(value) => Some(vec![*value]),
        Expr::If(_, yes, no) => {
            let mut all = constants(yes)?;
            all.extend(constants(no)?);
            Some(all)
        }
        _ => None,
    }
}
