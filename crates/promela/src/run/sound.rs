//! Whether bytes from a file are the vector of a state: native code takes that for granted.
//!
//! A journal is a file, and whoever changes it must get no further than a wrong verdict. The interpreter would panic at a control
//! state that does not exist; native code would read and write behind the vector. Steps lead from states to states, so
//! what a search begins with is all that has to be looked at.
//!
//! **Invariant:** every state that a search can meet is one for this module; a test asks it of all bundled models. Otherwise a
//! journal that is right would be refused.

use super::vector::{PROCESSES_MAX, load};
use crate::ir::{Channel, FRAME_PC, FRAME_PROCTYPE, Model, Proctype, Scalar, VECTOR_EVENT, VECTOR_PROCESSES, Variable};

/// Whether these bytes have the form of a state of the model: frames of its proctypes, control states that exist, channels that
/// hold no more than they can, values of their types. Not whether the state can be reached.
///
/// A store hands out vectors padded to the longest one, so zeros may follow.
pub fn is_state(model: &Model, bytes: &[u8]) -> bool {
    let globals = model.globals_size as usize;
    if bytes.len() < globals || !bytes.len().is_multiple_of(8) || !has_event_state(model, bytes) {
        return false;
    }
    let processes = usize::from(bytes[VECTOR_PROCESSES as usize]);
    let mut at = globals;
    for _ in 0..processes {
        let Some(size) = frame(model, &bytes[at..]) else { return false };
        at += size;
    }
    let rest = bytes[at..].iter().all(|byte| *byte == 0);
    processes <= PROCESSES_MAX && rest && are_values(&model.globals, bytes) && are_channels(&model.channels, bytes)
}

/// The size of the frame with which these bytes begin, if they begin with one.
fn frame(model: &Model, bytes: &[u8]) -> Option<usize> {
    let proctype = model.proctypes.get(usize::from(*bytes.get(FRAME_PROCTYPE as usize)?))?;
    let frame = bytes.get(..proctype.frame_size as usize)?;
    let sound = pc(proctype, frame)? < proctype.states.len()
        && are_values(&proctype.locals, frame)
        && are_channels(&proctype.channels, frame);
    sound.then_some(frame.len())
}

/// The control state of a frame, as [`super::vector::Work::pc`] reads it.
fn pc(proctype: &Proctype, frame: &[u8]) -> Option<usize> {
    let at = FRAME_PC as usize;
    let low = usize::from(*frame.get(at)?);
    if proctype.pc_size == 1 { Some(low) } else { Some(low | usize::from(*frame.get(at + 1)?) << 8) }
}

/// Whether the automaton of a `trace` is in a state that it has; models without one use these bytes for something else.
fn has_event_state(model: &Model, bytes: &[u8]) -> bool {
    let at = VECTOR_EVENT as usize;
    let state = || usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    model.event_trace.as_ref().is_none_or(|events| state() < events.states.len())
}

/// Whether variables have values of their types; offsets are from the start of `bytes`.
fn are_values(variables: &[Variable], bytes: &[u8]) -> bool {
    let elements = |variable: &Variable| {
        let (offset, stride, scalar) = (variable.offset, variable.stride, variable.scalar);
        (0..variable.length.unwrap_or(1)).map(move |index| ((offset + index * stride) as usize, scalar))
    };
    variables.iter().flat_map(elements).all(|(at, scalar)| is_value(bytes, at, scalar))
}

/// Whether a scalar has a value that storing it leaves as it is: a bit is 0 or 1.
fn is_value(bytes: &[u8], at: usize, scalar: Scalar) -> bool {
    at + scalar.size() as usize <= bytes.len() && {
        let value = load(bytes, at, scalar);
        scalar.cut(value) == value
    }
}

/// Whether all channels but rendezvous, which have no body, hold what they can.
fn are_channels(channels: &[Channel], bytes: &[u8]) -> bool {
    channels.iter().filter(|channel| channel.capacity > 0).all(|channel| is_channel(channel, bytes))
}

/// Slots behind the last message are zero: equal contents have equal bytes.
fn is_channel(channel: &Channel, bytes: &[u8]) -> bool {
    let start = channel.offset as usize;
    let Some(body) = bytes.get(start..start + channel.body_size() as usize) else { return false };
    let (length, size) = (u32::from(body[0]), channel.message_size() as usize);
    let used = 1 + length as usize * size;
    length <= channel.capacity
        && body[used..].iter().all(|byte| *byte == 0)
        && (0..length as usize).all(|message| is_message(channel, &body[1 + message * size..]))
}

/// Whether the fields of a message have values of their types.
fn is_message(channel: &Channel, bytes: &[u8]) -> bool {
    let mut at = 0;
    channel.fields.iter().all(|(scalar, _)| {
        let is_one = is_value(bytes, at, *scalar);
        at += scalar.size() as usize;
        is_one
    })
}
