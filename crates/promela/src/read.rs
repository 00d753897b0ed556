//! Which bytes of a state some expression looks at.
//!
//! Shared by the two analyses that take bytes out of states (`dead.rs`, `unread.rs`). Everything
//! errs towards "read": an array that is too long counts as read as a whole, an index that is not
//! constant means every element.

use crate::ir::{
    Action, Assign, Binary, Claim, ClaimKind, ControlState, Expr, Field, Model, Place, Proctype, Receive, Space,
};

/// Elements of an array up to which it is looked at one by one; of a longer one every byte counts as read.
const ELEMENTS_MAX: usize = 4096;

/// Which bytes some expression looks at.
pub(crate) struct Read {
    globals: Vec<bool>,
    /// Of the frames of each proctype.
    locals: Vec<Vec<bool>>,
    /// The same, as far as it is not the process itself that looks.
    remote: Vec<Vec<bool>>,
}

impl Read {
    fn nothing(model: &Model) -> Self {
        let frame = |size: u32| vec![false; size as usize];
        let locals: Vec<_> = model.proctypes.iter().map(|proctype| frame(proctype.frame_size)).collect();
        Self { globals: frame(model.globals_size), remote: locals.clone(), locals }
    }

    /// The bytes of the frames that are looked at by others, or wherever a process stands.
    pub(crate) fn from_outside(model: &Model, claims: &[Claim]) -> Vec<Vec<bool>> {
        let mut always = Self::nothing(model);
        for (number, proctype) in model.proctypes.iter().enumerate() {
            always.standing(proctype, number);
        }
        let mut outside = Self::new(model, claims).remote;
        for (all, more) in outside.iter_mut().flatten().zip(always.locals.iter().flatten()) {
            *all |= more;
        }
        outside
    }

    /// The bytes of a process's own frame that its statement looks at.
    pub(crate) fn by_action(model: &Model, number: usize, action: &Action) -> Vec<bool> {
        let mut read = Self::nothing(model);
        read.action(action, number);
        if let Action::Assign(assign) = action {
            read.expr(&assign.value, number);
        }
        read.locals.swap_remove(number)
    }

    /// What is looked at wherever a process stands.
    fn standing(&mut self, proctype: &Proctype, number: usize) {
        let promised = proctype.exclusive_receive.iter().chain(&proctype.exclusive_send);
        promised.chain(&proctype.provided).for_each(|expr| self.expr(expr, number));
    }

    pub(crate) fn new(model: &Model, claims: &[Claim]) -> Self {
        let mut read = Self::nothing(model);
        for assign in &model.initialisers {
            read.assign(assign, 0);
        }
        for (number, proctype) in model.proctypes.iter().enumerate() {
            proctype.initialisers.iter().for_each(|assign| read.assign(assign, number));
            read.standing(proctype, number);
            read.states(&proctype.states, number);
        }
        for claim in model.claims.iter().chain(claims) {
            match &claim.kind {
                ClaimKind::Ltl { propositions, .. } => propositions.iter().for_each(|expr| read.expr(expr, 0)),
                ClaimKind::Never(never) => read.states(&never.states, 0),
            }
        }
        if let Some(events) = &model.event_trace {
            events.alphabet.iter().for_each(|(channel, _)| read.expr(channel, 0));
            read.states(&events.states, 0);
        }
        read
    }

    fn states(&mut self, states: &[ControlState], number: usize) {
        states.iter().flat_map(|state| &state.edges).for_each(|edge| self.action(&edge.action, number));
    }

    fn action(&mut self, action: &Action, number: usize) {
        match action {
            Action::Condition(condition) | Action::Assert { condition, .. } => self.expr(condition, number),
            Action::Assign(assign) => self.assign(assign, number),
            Action::Send(send) => {
                self.expr(&send.channel, number);
                send.values.iter().for_each(|value| self.expr(value, number));
            }
            Action::Receive(receive) => self.receive(receive, number),
            Action::SetPriority { pid, value } => {
                self.expr(pid, number);
                self.expr(value, number);
            }
            Action::ReadInput(read) => read.places.iter().for_each(|place| self.mark(place, number)),
            Action::Print(_) | Action::Else | Action::DStep { .. } | Action::Die => {}
        }
    }

    /// A variable that is counted up or down reads itself only.
    ///
    /// A counter that is only ever counted would otherwise read itself and never be unread.
    fn assign(&mut self, assign: &Assign, number: usize) {
        self.indices(&assign.place, number);
        if !is_count(assign) {
            self.expr(&assign.value, number);
        }
    }

    fn receive(&mut self, receive: &Receive, number: usize) {
        self.expr(&receive.channel, number);
        for field in &receive.fields {
            match field {
                Field::Match(expected) => self.expr(expected, number),
                // Where a message goes may depend on the field before it.
                Field::Store(place) if !place.indices.is_empty() => self.mark(place, number),
                Field::Store(_) | Field::Ignore => {}
            }
        }
    }

    fn expr(&mut self, expr: &Expr, number: usize) {
        match expr {
            Expr::Load(place) => self.mark(place, number),
            Expr::ChannelOf { index: inner, .. } | Expr::Unary(_, inner) | Expr::Channel(_, inner) => {
                self.expr(inner, number);
            }
            Expr::Enabled(inner) | Expr::PcValue(inner) | Expr::Priority(inner) => self.expr(inner, number),
            Expr::Binary(_, a, b) | Expr::And(a, b) | Expr::Or(a, b) => {
                [a, b].into_iter().for_each(|part| self.expr(part, number));
            }
            Expr::If(a, b, c) => [a, b, c].into_iter().for_each(|part| self.expr(part, number)),
            Expr::Poll(receive) => self.receive(receive, number),
            Expr::At { pid, .. } => pid.iter().for_each(|pid| self.expr(pid, number)),
            Expr::Run(run) => run.arguments.iter().chain(&run.priority).for_each(|value| self.expr(value, number)),
            Expr::Constant(_) | Expr::Pid | Expr::Processes | Expr::Last => {}
            Expr::Timeout | Expr::NonProgress | Expr::Accepting => {}
        }
    }

    fn indices(&mut self, place: &Place, number: usize) {
        place.indices.iter().for_each(|index| self.expr(&index.value, number));
        if let Space::Remote(_, Some(pid)) = &place.space {
            self.expr(pid, number);
        }
    }

    fn mark(&mut self, place: &Place, number: usize) {
        self.indices(place, number);
        match &place.space {
            Space::Global => fill(&mut self.globals, place),
            Space::Local => fill(&mut self.locals[number], place),
            Space::Remote(proctype, _) => {
                fill(&mut self.locals[*proctype], place);
                fill(&mut self.remote[*proctype], place);
            }
        }
    }

    /// Whether somebody may look at what is stored in a place.
    ///
    /// `None` (too many possibilities) is needed.
    pub(crate) fn needed(&self, place: &Place, number: usize) -> bool {
        let bytes = match &place.space {
            Space::Global => &self.globals,
            Space::Local => &self.locals[number],
            Space::Remote(proctype, _) => &self.locals[*proctype],
        };
        let size = place.scalar.size() as usize;
        offsets(place).is_none_or(|offsets| offsets.iter().any(|at| bytes[*at..at + size].contains(&true)))
    }
}

/// Marks the bytes where a place may be.
fn fill(bytes: &mut [bool], place: &Place) {
    let size = place.scalar.size() as usize;
    match offsets(place) {
        Some(offsets) => offsets.iter().for_each(|at| bytes[*at..at + size].fill(true)),
        None => bytes.fill(true),
    }
}

/// `x = x + 1` and its kin.
pub(crate) fn is_count(assign: &Assign) -> bool {
    match &assign.value {
        Expr::Binary(Binary::Add | Binary::Subtract, left, right) => match (&**left, &**right) {
            (Expr::Load(place), Expr::Constant(_)) => format!("{place:?}") == format!("{:?}", assign.place),
            _ => false,
        },
        _ => false,
    }
}

/// Where a place may be, from the start of its space; `None` if there are too many possibilities.
fn offsets(place: &Place) -> Option<Vec<usize>> {
    let mut offsets = vec![place.offset as usize];
    for index in &place.indices {
        if offsets.len() * index.bound as usize > ELEMENTS_MAX {
            return None;
        }
        let elements =
            |at: &usize| (0..index.bound).map(|element| (element * index.stride) as usize + at).collect::<Vec<_>>();
        offsets = offsets.iter().flat_map(elements).collect();
    }
    Some(offsets)
}
