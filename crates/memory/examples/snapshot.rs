//! What a step of the search costs in memory: mark, dirty some pages, fingerprint, undo; and the guest's loads and stores
//! against a plain slice. `cargo run --release -p memory --example snapshot`
#![allow(clippy::disallowed_methods, reason = "examples use the host")]
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;

use memory::{Limit, Mapping, Memory, PAGE_SIZE, Protection, SpaceId};

const SPACE: SpaceId = SpaceId(1);
const START: u64 = 0x10_0000_0000;
const ROUNDS: usize = 20_001;

/// A space in which all pages hold something.
fn filled(pages: u64) -> Memory {
    let mut memory = Memory::new(Limit::pages(1 << 20));
    memory.create_space(SPACE);
    let mapping = Mapping::anonymous(START, pages * PAGE_SIZE, Protection::READ_WRITE);
    memory.map(SPACE, mapping).expect("the range is free");
    memory.enter(SPACE);
    for page in 0..pages {
        memory.store_u64(START + page * PAGE_SIZE, page + 1).expect("it is mapped");
    }
    memory.fingerprint();
    memory
}

fn median(mut nanoseconds: Vec<u64>) -> u64 {
    nanoseconds.sort_unstable();
    nanoseconds[nanoseconds.len() / 2]
}

/// Median nanoseconds of the parts: mark, stores, fingerprint, undo.
fn cycle(pages: u64, dirty: u64) -> [u64; 5] {
    let mut memory = filled(pages);
    let mut times: [Vec<u64>; 5] = Default::default();
    let mut at = 1u64;
    for round in 0..ROUNDS {
        let start = Instant::now();
        let mark = memory.mark();
        let marked = Instant::now();
        for _ in 0..dirty {
            at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let addr = START + (at >> 33) % pages * PAGE_SIZE;
            memory.store_u64(addr + 64, round as u64 + 7).expect("it is mapped");
        }
        let stored = Instant::now();
        black_box(memory.fingerprint());
        let counted = Instant::now();
        memory.undo_to(mark);
        let undone = Instant::now();
        memory.forget_marks();
        let points = [start, marked, stored, counted, undone];
        for (time, pair) in times.iter_mut().zip(points.windows(2)) {
            time.push((pair[1] - pair[0]).as_nanos() as u64);
        }
        times[4].push((undone - start).as_nanos() as u64);
    }
    times.map(median)
}

/// Best nanoseconds per access over some runs of `f`, which makes `count` accesses.
fn per_access(count: u64, mut f: impl FnMut()) -> f64 {
    let run = |_| {
        let start = Instant::now();
        f();
        start.elapsed().as_nanos() as f64 / count as f64
    };
    (0..15).map(run).fold(f64::MAX, f64::min)
}

const WORDS: u64 = 64 * 512;

/// Loads and stores of 64 pages, eight bytes each, in the memory and in a slice.
fn accesses() {
    let mut memory = filled(64);
    let mut slice = vec![0u64; WORDS as usize];
    // Odd and prime to the number of words: every word once, in no simple order.
    let order = |index: u64| index.wrapping_mul(12_345) % WORDS;
    let guest_load = per_access(WORDS, || {
        let mut sum = 0u64;
        for index in 0..WORDS {
            sum = sum.wrapping_add(memory.fast_load::<u64>(START + order(index) * 8).unwrap_or(0));
        }
        black_box(sum);
    });
    let guest_store = per_access(WORDS, || {
        for index in 0..WORDS {
            let _ = black_box(memory.fast_store::<u64>(START + order(index) * 8, index));
        }
    });
    memory.log_accesses(true);
    let logged_load = per_access(WORDS, || {
        for index in 0..WORDS {
            let _ = black_box(memory.fast_load::<u64>(START + order(index) * 8));
        }
        memory.take_log();
    });
    let slice_load = per_access(WORDS, || {
        let mut sum = 0u64;
        for index in 0..WORDS {
            sum = sum.wrapping_add(black_box(&slice)[order(index) as usize]);
        }
        black_box(sum);
    });
    let slice_store = per_access(WORDS, || {
        for index in 0..WORDS {
            black_box(&mut slice)[order(index) as usize] = index;
        }
    });
    println!("| access | guest ns | slice ns | ratio |\n|---|---|---|---|");
    println!("| load | {guest_load:.2} | {slice_load:.2} | {:.2} |", guest_load / slice_load);
    println!("| store | {guest_store:.2} | {slice_store:.2} | {:.2} |", guest_store / slice_store);
    println!("| load, logged | {logged_load:.2} | {slice_load:.2} | {:.2} |", logged_load / slice_load);
}

/// Parking and restoring with some dirty pages in between, median nanoseconds of each.
fn parking(pages: u64, dirty: u64) -> (u64, u64) {
    let mut memory = filled(pages);
    let first = memory.snapshot();
    let (mut snapshots, mut restores) = (Vec::new(), Vec::new());
    for round in 0..2001 {
        memory.enter(SPACE);
        for page in 0..dirty {
            let addr = START + (page * 37 + round) % pages * PAGE_SIZE;
            memory.store_u64(addr + 8, round).expect("it is mapped");
        }
        memory.fingerprint();
        let start = Instant::now();
        black_box(memory.snapshot());
        let taken = Instant::now();
        memory.restore(&first);
        snapshots.push((taken - start).as_nanos() as u64);
        restores.push(taken.elapsed().as_nanos() as u64);
    }
    (median(snapshots), median(restores))
}

fn main() {
    println!("| pages | dirty | mark | stores | fingerprint | undo | whole cycle, ns | park | restore |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for pages in [256, 65_536] {
        for dirty in [1, 2, 10] {
            let [mark, stores, fingerprint, undo, whole] = cycle(pages, dirty);
            let (park, restore) = parking(pages, dirty);
            println!(
                "| {pages} | {dirty} | {mark} | {stores} | {fingerprint} | {undo} | {whole} | {park} | {restore} |"
            );
        }
    }
    println!();
    accesses();
}
