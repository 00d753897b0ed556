//! What native code may assume about a vector, checked once for the model instead of at every access.
//!
//! Offsets are constants of the model, and indices are compared with their bounds in the code
//! itself.

use super::NotAvailable;
use crate::ir::{Channel, Model, Scalar};

/// Sizes and tables that the code was made for.
#[derive(Debug)]
pub struct Layout {
    /// Bytes up to the first frame.
    pub globals_size: u32,
    /// Bytes of a frame, for each proctype.
    pub frame_sizes: Vec<u32>,
    /// Channels that exist from the start, by id - 1; the code reads this table.
    pub channels: Vec<ChannelEntry>,
    /// Channels of each proctype.
    pub own_channels: Vec<Vec<ChannelEntry>>,
    /// One channel of each shape.
    pub shapes: Vec<Channel>,
}

/// Where a channel is, and its shape.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ChannelEntry {
    /// Offset of the body.
    pub offset: u32,
    /// Index into [`Layout::shapes`].
    pub shape: u32,
}

impl Layout {
    /// The layout of a model, or what is wrong with it.
    pub fn new(model: &Model) -> Result<Self, NotAvailable> {
        let mut shapes = Vec::new();
        let channels = entries(&model.channels, model.globals_size, &mut shapes)?;
        let own = |proctype: &crate::ir::Proctype| entries(&proctype.channels, proctype.frame_size, &mut shapes);
        let own_channels = model.proctypes.iter().map(own).collect::<Result<_, _>>()?;
        let frame_sizes = model.proctypes.iter().map(|proctype| proctype.frame_size).collect();
        Ok(Self { globals_size: model.globals_size, frame_sizes, channels, own_channels, shapes })
    }

    /// Whether globals and a frame of this size are inside the vector.
    #[inline]
    pub fn fits(&self, frame_size: u32, frame: usize, bytes: &[u8]) -> bool {
        frame + frame_size as usize <= bytes.len() && self.globals_size as usize <= bytes.len()
    }
}

fn entries(channels: &[Channel], limit: u32, shapes: &mut Vec<Channel>) -> Result<Vec<ChannelEntry>, NotAvailable> {
    let entry = |channel: &Channel| {
        if channel.offset + channel.body_size() > limit || channel.capacity > 255 {
            return Err(NotAvailable(format!("channel `{}` does not fit", channel.name)));
        }
        Ok(ChannelEntry { offset: channel.offset, shape: shape_of(channel, shapes) })
    };
    channels.iter().map(entry).collect()
}

fn shape_of(channel: &Channel, shapes: &mut Vec<Channel>) -> u32 {
    let scalars = |channel: &Channel| channel.fields.iter().map(|(scalar, _)| *scalar).collect::<Vec<Scalar>>();
    let alike = |other: &Channel| other.capacity == channel.capacity && scalars(other) == scalars(channel);
    let found = shapes.iter().position(alike).unwrap_or_else(|| {
        shapes.push(channel.clone());
        shapes.len() - 1
    });
    found as u32
}

/// Finds a channel of a process for native code: offset in the low half, shape in the high half, all ones if there is
/// no such channel. `index` counts from the first channel that is not global.
///
/// # Safety
/// `layout` is valid; `vector` and `frames` are as long as `who` says.
pub unsafe extern "C" fn find_channel(
    layout: *const Layout,
    vector: *const u8,
    who: u64,
    frames: *const u32,
    index: u32,
) -> u64 {
    // SAFETY: the caller promises just this.
    let (layout, bytes, frames) = unsafe {
        let length = (who >> 32) as usize;
        let processes = usize::from((who >> 16) as u16);
        (&*layout, std::slice::from_raw_parts(vector, length), std::slice::from_raw_parts(frames, processes))
    };
    own_channel(layout, bytes, frames, index as usize)
        .map_or(u64::MAX, |entry| u64::from(entry.offset) | u64::from(entry.shape) << 32)
}

fn own_channel(layout: &Layout, bytes: &[u8], frames: &[u32], mut index: usize) -> Option<ChannelEntry> {
    for frame in frames {
        let proctype = usize::from(*bytes.get(*frame as usize)?);
        let own = layout.own_channels.get(proctype)?;
        if let Some(entry) = own.get(index) {
            return layout
                .fits(*layout.frame_sizes.get(proctype)?, *frame as usize, bytes)
                .then(|| ChannelEntry { offset: frame + entry.offset, shape: entry.shape });
        }
        index -= own.len();
    }
    None
}
