//! The state vector: scalars in bytes, frames of processes, channel bodies.

use crate::ir::{Channel, FRAME_PC, FRAME_PROCTYPE, Model, Pc, ProctypeId, Scalar, VECTOR_PROCESSES};

/// Most processes that can exist at once; a pid is a byte.
pub const PROCESSES_MAX: usize = 255;

/// Reads a scalar.
#[inline]
#[must_use]
pub fn load(bytes: &[u8], at: usize, scalar: Scalar) -> i32 {
    match scalar.size() {
        1 => i32::from(bytes[at]),
        2 => {
            let raw = u16::from_le_bytes([bytes[at], bytes[at + 1]]);
            if scalar == Scalar::Short { i32::from(raw as i16) } else { i32::from(raw) }
        }
        _ => i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]),
    }
}

/// Writes a scalar, cut to its type.
#[inline]
pub fn store(bytes: &mut [u8], at: usize, scalar: Scalar, value: i32) {
    let raw = scalar.cut(value).to_le_bytes();
    let size = scalar.size() as usize;
    bytes[at..at + size].copy_from_slice(&raw[..size]);
}

/// A state vector with what follows from it: where each frame starts.
///
/// **Invariant:** `frames` and `end` follow from `bytes` and the model. `bytes.len()` is `end`
/// rounded up to eight, the rest is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// The vector; a multiple of eight bytes, zero after the last frame.
    pub bytes: Vec<u8>,
    /// Where the frame of each process starts.
    pub frames: Vec<u32>,
    /// Where the last frame ends.
    pub end: u32,
}

impl Work {
    /// Takes over a vector and finds its frames.
    pub fn load(&mut self, model: &Model, bytes: &[u8]) {
        let same = self.has_same_frames(bytes);
        if same && self.bytes.len() == bytes.len() {
            return self.bytes.copy_from_slice(bytes);
        }
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        if !same {
            self.find_frames(model);
        }
        // A store may hand out vectors padded to the longest one that it has seen.
        self.bytes.truncate((self.end as usize).next_multiple_of(8));
    }

    /// Whether a vector has the frames that this one has, which most do: looking is faster than adding up their sizes.
    #[inline]
    fn has_same_frames(&self, bytes: &[u8]) -> bool {
        let processes = VECTOR_PROCESSES as usize;
        let same = |frame: &u32| {
            let at = (frame + FRAME_PROCTYPE) as usize;
            bytes.get(at).is_some_and(|proctype| *proctype == self.bytes[at])
        };
        !self.frames.is_empty() && bytes[processes] == self.bytes[processes] && self.frames.iter().all(same)
    }

    fn find_frames(&mut self, model: &Model) {
        self.frames.clear();
        let mut at = model.globals_size;
        for _ in 0..self.bytes[VECTOR_PROCESSES as usize] {
            self.frames.push(at);
            at += model.proctypes[self.bytes[(at + FRAME_PROCTYPE) as usize] as usize].frame_size;
        }
        self.end = at;
    }

    /// Becomes a copy of `other` without giving up its own buffers.
    #[inline]
    pub fn copy_from(&mut self, other: &Self) {
        self.bytes.clear();
        self.bytes.extend_from_slice(&other.bytes);
        self.frames.clear();
        self.frames.extend_from_slice(&other.frames);
        self.end = other.end;
    }

    /// Becomes a copy of `other` again after one statement: unless that created or ended a process, frames are where
    /// they were.
    #[inline]
    pub fn restore(&mut self, other: &Self) {
        if self.bytes.len() == other.bytes.len() && self.frames.len() == other.frames.len() {
            self.bytes.copy_from_slice(&other.bytes);
        } else {
            self.copy_from(other);
        }
    }

    /// How many processes there are.
    #[inline]
    #[must_use]
    pub fn processes(&self) -> u32 {
        self.frames.len() as u32
    }

    /// Where the frame of a process starts.
    #[inline]
    #[must_use]
    pub fn frame(&self, pid: u32) -> usize {
        self.frames[pid as usize] as usize
    }

    /// The proctype of a process.
    #[inline]
    #[must_use]
    pub fn proctype(&self, pid: u32) -> ProctypeId {
        usize::from(self.bytes[self.frame(pid) + FRAME_PROCTYPE as usize])
    }

    /// Where a process stands.
    #[inline]
    #[must_use]
    pub fn pc(&self, model: &Model, pid: u32) -> Pc {
        let at = self.frame(pid) + FRAME_PC as usize;
        match model.proctypes[self.proctype(pid)].pc_size {
            1 => usize::from(self.bytes[at]),
            _ => usize::from(u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]])),
        }
    }

    /// Moves a process to another control state.
    #[inline]
    pub fn set_pc(&mut self, model: &Model, pid: u32, pc: Pc) {
        let at = self.frame(pid) + FRAME_PC as usize;
        let raw = (pc as u16).to_le_bytes();
        let size = model.proctypes[self.proctype(pid)].pc_size as usize;
        self.bytes[at..at + size].copy_from_slice(&raw[..size]);
    }

    /// Adds a zeroed frame; `None` if there are too many processes already.
    pub fn push_process(&mut self, model: &Model, proctype: ProctypeId) -> Option<u32> {
        if self.frames.len() >= PROCESSES_MAX {
            return None;
        }
        let pid = self.processes();
        let start = self.end;
        self.frames.push(start);
        self.end += model.proctypes[proctype].frame_size;
        self.bytes.resize((self.end as usize).next_multiple_of(8), 0);
        self.bytes[VECTOR_PROCESSES as usize] = self.frames.len() as u8;
        self.bytes[(start + FRAME_PROCTYPE) as usize] = proctype as u8;
        Some(pid)
    }

    /// Removes the youngest process.
    pub fn pop_process(&mut self) {
        let start = self.frames.pop().expect("a process that dies exists") as usize;
        self.bytes[start..].fill(0);
        self.end = start as u32;
        self.bytes.truncate(start.next_multiple_of(8));
        self.bytes[VECTOR_PROCESSES as usize] = self.frames.len() as u8;
    }

    /// The channel with an id (counted from 1), and where its body starts; `None` if there is no such channel.
    ///
    /// Ids of a process's own channels depend on the older processes, which cannot end before it
    /// does: an id stays valid as long as its channel exists.
    #[must_use]
    pub fn channel<'m>(&self, model: &'m Model, id: i32) -> Option<(&'m Channel, usize)> {
        let index = usize::try_from(id.checked_sub(1)?).ok()?;
        if let Some(channel) = model.channels.get(index) {
            return Some((channel, channel.offset as usize));
        }
        let mut index = index - model.channels.len();
        for pid in 0..self.processes() {
            let own = &model.proctypes[self.proctype(pid)].channels;
            if let Some(channel) = own.get(index) {
                return Some((channel, self.frame(pid) + channel.offset as usize));
            }
            index -= own.len();
        }
        None
    }

    /// The id that the first channel of a process has.
    #[must_use]
    pub fn first_channel(&self, model: &Model, pid: u32) -> i32 {
        let older: usize = (0..pid).map(|other| model.proctypes[self.proctype(other)].channels.len()).sum();
        (model.channels.len() + older + 1) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_scalar_is_cut_to_its_type() {
        let cases = [
            (Scalar::Bit, 3, 1),
            (Scalar::Byte, 257, 1),
            (Scalar::Byte, -1, 255),
            (Scalar::Short, 40_000, 40_000 - 65_536),
            (Scalar::Int, -7, -7),
            (Scalar::Unsigned(3), 13, 5),
            (Scalar::Unsigned(12), -1, 4095),
            (Scalar::Unsigned(31), -1, i32::MAX),
        ];
        for (scalar, value, expected) in cases {
            let mut bytes = [0; 8];
            store(&mut bytes, 2, scalar, value);
            assert_eq!(load(&bytes, 2, scalar), expected, "{scalar:?} {value}");
        }
    }
}
