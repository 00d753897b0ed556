//! A model with every type of variable and several shapes of channels, by hand.

use crate::ir::{
    Action, Assign, Channel, ControlState, Edge, Expr, Features, Model, Place, Proctype, Scalar, Shown, Space,
};
use crate::source::Span;

/// Offset, type, and (bound, stride) of each dimension.
pub type Declared = (u32, Scalar, &'static [(u32, u32)]);

pub const PLACES: &[Declared] = &[
    (4, Scalar::Bit, &[]),
    (5, Scalar::Byte, &[]),
    (6, Scalar::Short, &[]),
    (8, Scalar::Int, &[]),
    (12, Scalar::Unsigned(3), &[]),
    (14, Scalar::Unsigned(12), &[]),
    (16, Scalar::Unsigned(20), &[]),
    (20, Scalar::Byte, &[(4, 1)]),
    (24, Scalar::Int, &[(3, 4)]),
    (36, Scalar::Short, &[(2, 6), (3, 2)]),
];
/// Locals of proctype 0.
pub const LOCALS: &[Declared] =
    &[(2, Scalar::Byte, &[]), (4, Scalar::Short, &[]), (8, Scalar::Int, &[]), (12, Scalar::Byte, &[(4, 1)])];
/// Locals of proctype 1.
pub const OWN: &[Declared] = &[(3, Scalar::Byte, &[])];

/// Where the value of an expression under test goes.
const RESULT: u32 = 84;
pub const GLOBALS_SIZE: u32 = 88;

/// Stores a value where no expression reads it.
pub fn into_result(value: Expr) -> Assign {
    Assign { place: Place { space: Space::Global, offset: RESULT, indices: vec![], scalar: Scalar::Int }, value }
}

fn channel(name: &str, capacity: u32, fields: &[Scalar], offset: u32) -> Channel {
    let fields = fields.iter().map(|scalar| (*scalar, Shown::Number)).collect();
    Channel { name: name.to_owned(), capacity, fields, offset, variable: None, span: Span::default() }
}

fn proctype(name: &str, frame_size: u32, pc_size: u32, channels: Vec<Channel>, actions: Vec<Action>) -> Proctype {
    let edge =
        |action| Edge { action, target: 0, atomic: false, escape: 0, span: Span::default(), spin_id: 0, spin_state: 0 };
    let mut states = vec![ControlState::default(); 4];
    states[0].edges = actions.into_iter().map(edge).collect();
    states[2].progress = true;
    states[3].spin_state = 3;
    Proctype {
        name: name.to_owned(),
        deterministic: false,
        locals: vec![],
        parameters: 0,
        channels,
        frame_size,
        pc_size,
        initialisers: vec![],
        states,
        entry: 0,
        priority: 1,
        provided: None,
        labels: vec![],
        exclusive_receive: vec![],
        exclusive_send: vec![],
        span: Span::default(),
    }
}

/// The model, with these statements in the first control state of proctype 0.
pub fn with_actions(actions: Vec<Action>) -> Model {
    let pair = [Scalar::Byte, Scalar::Short];
    let own = vec![channel("own", 2, &pair, 4), channel("single", 1, &[Scalar::Int], 11)];
    Model {
        proctypes: vec![proctype("P", 18, 1, vec![], actions), proctype("Q", 16, 2, own, vec![])],
        active: vec![0, 1, 0],
        globals: vec![],
        channels: vec![
            channel("a", 2, &pair, 48),
            channel("b", 2, &pair, 55),
            channel("c", 3, &[Scalar::Bit, Scalar::Int, Scalar::Unsigned(5)], 62),
            channel("d", 0, &pair, 0),
            channel("e", 1, &[Scalar::Byte], 81),
        ],
        globals_size: GLOBALS_SIZE,
        initialisers: vec![],
        mtypes: vec![],
        claims: vec![],
        event_trace: None,
        features: Features { rendezvous: true, timeout: true, last: true, ..Features::default() },
        input: None,
    }
}
