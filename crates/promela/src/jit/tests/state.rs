//! Random states of the model of `model`.

use super::model::GLOBALS_SIZE;
use super::random::Random;
use crate::ir::{Channel, Model};
use crate::run::vector::Work;

/// A state with random values everywhere: processes 0 and 2 are `P`, 1 is `Q`; channels hold random messages.
pub fn random_work(model: &Model, random: &mut Random) -> Work {
    let mut bytes: Vec<u8> = (0..GLOBALS_SIZE).map(|_| random_byte(random)).collect();
    bytes[0] = 3;
    for channel in &model.channels {
        fill(&mut bytes, 0, channel, random);
    }
    let mut frames = Vec::new();
    for number in [0, 1, 0] {
        let frame = bytes.len();
        frames.push(frame as u32);
        let declared = &model.proctypes[number];
        bytes.extend((0..declared.frame_size).map(|_| random_byte(random)));
        bytes[frame] = number as u8;
        bytes[frame + 1] = random.below(4) as u8;
        if declared.pc_size == 2 {
            bytes[frame + 2] = 0;
        }
        declared.channels.iter().for_each(|channel| fill(&mut bytes, frame, channel, random));
    }
    // The channel variable of process 0 holds something sensible, most of the time.
    bytes[frames[0] as usize + 16] = random.below(9) as u8;
    let end = bytes.len() as u32;
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    Work { bytes, frames, end }
}

/// Small numbers and the largest ones, so that indices and matches succeed now and then.
fn random_byte(random: &mut Random) -> u8 {
    match random.below(4) {
        0 => random.next() as u8,
        1 => 255,
        _ => random.below(3) as u8,
    }
}

fn fill(bytes: &mut [u8], base: usize, channel: &Channel, random: &mut Random) {
    if channel.capacity == 0 {
        return;
    }
    let at = base + channel.offset as usize;
    let length = random.below(channel.capacity + 1);
    let used = 1 + (length * channel.message_size()) as usize;
    bytes[at] = length as u8;
    bytes[at + 1..at + used].iter_mut().for_each(|byte| *byte = random_byte(random));
    bytes[at + used..at + channel.body_size() as usize].fill(0);
}
