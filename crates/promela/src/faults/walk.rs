//! A walk over every expression and every place of a model, to look at them or to change them.

use crate::ir::{
    Action, Assign, Claim, ClaimKind, ControlState, Expr, Field, Model, Place, ProctypeId, Receive, Space,
};

/// Something met on the way, before what is inside it.
pub enum Part<'a> {
    /// An expression.
    Expr(&'a mut Expr),
    /// A place that is read or written.
    Place(&'a mut Place),
}

/// Called for each part with the proctype that it belongs to, if it belongs to one.
pub type See<'s> = dyn FnMut(Option<ProctypeId>, Part<'_>) + 's;

/// Everything in a model, its claims included.
pub fn model(model: &mut Model, see: &mut See<'_>) {
    model.initialisers.iter_mut().for_each(|assign| self::assign(assign, None, see));
    for (number, proctype) in model.proctypes.iter_mut().enumerate() {
        let home = Some(number);
        proctype.initialisers.iter_mut().for_each(|assign| self::assign(assign, home, see));
        for channel in &mut proctype.channels {
            channel.variable.iter_mut().for_each(|variable| place(variable, home, see));
        }
        let promised = proctype.exclusive_receive.iter_mut().chain(&mut proctype.exclusive_send);
        promised.chain(&mut proctype.provided).for_each(|inner| expr(inner, home, see));
        states(&mut proctype.states, home, see);
    }
    model.claims.iter_mut().for_each(|claim| self::claim(claim, see));
    if let Some(events) = &mut model.event_trace {
        events.alphabet.iter_mut().for_each(|(channel, _)| expr(channel, None, see));
        states(&mut events.states, None, see);
    }
}

/// Everything in a claim.
pub fn claim(claim: &mut Claim, see: &mut See<'_>) {
    match &mut claim.kind {
        ClaimKind::Ltl { propositions, .. } => propositions.iter_mut().for_each(|inner| expr(inner, None, see)),
        ClaimKind::Never(never) => states(&mut never.states, None, see),
    }
}

fn states(states: &mut [ControlState], home: Option<ProctypeId>, see: &mut See<'_>) {
    states.iter_mut().flat_map(|state| &mut state.edges).for_each(|edge| action(&mut edge.action, home, see));
}

/// Everything in a statement.
pub fn action(action: &mut Action, home: Option<ProctypeId>, see: &mut See<'_>) {
    match action {
        Action::Condition(condition) | Action::Assert { condition, .. } => expr(condition, home, see),
        Action::Assign(assign) => self::assign(assign, home, see),
        Action::Print(print) => print.values.iter_mut().for_each(|(_, value)| expr(value, home, see)),
        Action::Send(send) => {
            expr(&mut send.channel, home, see);
            send.values.iter_mut().for_each(|value| expr(value, home, see));
        }
        Action::Receive(receive) => self::receive(receive, home, see),
        Action::ReadInput(read) => {
            read.places.iter_mut().for_each(|inner| place(inner, home, see));
            place(&mut read.position, home, see);
        }
        Action::SetPriority { pid, value } => {
            expr(pid, home, see);
            expr(value, home, see);
        }
        Action::Else | Action::DStep { .. } | Action::Die => {}
    }
}

fn assign(assign: &mut Assign, home: Option<ProctypeId>, see: &mut See<'_>) {
    place(&mut assign.place, home, see);
    expr(&mut assign.value, home, see);
}

fn receive(receive: &mut Receive, home: Option<ProctypeId>, see: &mut See<'_>) {
    expr(&mut receive.channel, home, see);
    for field in &mut receive.fields {
        match field {
            Field::Store(inner) => place(inner, home, see),
            Field::Match(inner) => expr(inner, home, see),
            Field::Ignore => {}
        }
    }
}

/// Everything in a place.
fn place(place: &mut Place, home: Option<ProctypeId>, see: &mut See<'_>) {
    see(home, Part::Place(place));
    if let Space::Remote(_, Some(pid)) = &mut place.space {
        expr(pid, home, see);
    }
    place.indices.iter_mut().for_each(|index| expr(&mut index.value, home, see));
}

/// Everything in an expression.
pub fn expr(expr: &mut Expr, home: Option<ProctypeId>, see: &mut See<'_>) {
    see(home, Part::Expr(expr));
    match expr {
        Expr::Load(inner) => place(inner, home, see),
        Expr::ChannelOf { index: inner, .. }
        | Expr::Unary(_, inner)
        | Expr::Channel(_, inner)
        | Expr::Enabled(inner)
        | Expr::PcValue(inner)
        | Expr::Priority(inner) => self::expr(inner, home, see),
        Expr::Binary(_, a, b) | Expr::And(a, b) | Expr::Or(a, b) => {
            [a, b].into_iter().for_each(|part| self::expr(part, home, see));
        }
        Expr::If(a, b, c) => [a, b, c].into_iter().for_each(|part| self::expr(part, home, see)),
        Expr::Poll(inner) => receive(inner, home, see),
        Expr::At { pid, .. } => pid.iter_mut().for_each(|pid| self::expr(pid, home, see)),
        Expr::Run(run) => {
            run.arguments.iter_mut().chain(&mut run.priority).for_each(|value| self::expr(value, home, see));
        }
        Expr::Constant(_) | Expr::Pid | Expr::Processes | Expr::Last => {}
        Expr::Timeout | Expr::NonProgress | Expr::Accepting => {}
    }
}
