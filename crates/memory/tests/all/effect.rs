//! Steps that are done again without being executed do what they did.

use memory::{Effect, Limit, Mapping, Memory, PAGE_SIZE, Protection, SpaceId};

const SPACE: SpaceId = SpaceId(1);
const OTHER: SpaceId = SpaceId(2);
const START: u64 = 0x10_0000;
const PAGES: u64 = 40;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// An address of one of a few words in one of many pages.
    fn word(&mut self) -> u64 {
        self.page() + self.below(6) * 8
    }

    fn page(&mut self) -> u64 {
        START + self.below(PAGES) * PAGE_SIZE
    }
}

fn memory() -> Memory {
    let mut memory = Memory::new(Limit::pages(10_000));
    for space in [SPACE, OTHER] {
        memory.create_space(space);
        memory.map(space, Mapping::anonymous(START, PAGES * PAGE_SIZE, Protection::READ_WRITE)).unwrap();
    }
    memory.log_accesses(true);
    memory
}

/// Reads a few words and writes what depends on them; what was written last.
fn step(memory: &mut Memory, mut way: Random) -> u64 {
    memory.enter(SPACE);
    let mut sum = 0u64;
    for _ in 0..1 + way.below(6) {
        let mut bytes = [0; 8];
        match way.below(8) {
            0 => memory.store_u64(way.word(), sum % 3).unwrap(),
            1 => memory.store_u8(way.word() + way.below(8), sum as u8 % 3).unwrap(),
            2 => memory.peek(SPACE, way.word(), &mut bytes).unwrap(),
            3 => memory.discard(SPACE, way.page(), PAGE_SIZE).unwrap(),
            4 => memory.map(SPACE, Mapping::anonymous(way.page(), PAGE_SIZE, Protection::READ_WRITE)).unwrap(),
            _ => bytes = memory.load_u64(way.word()).unwrap().to_le_bytes(),
        }
        // Not zero at first: pages that differ are needed.
        sum = sum.wrapping_mul(31).wrapping_add(u64::from_le_bytes(bytes)).wrapping_add(1);
    }
    sum
}

#[test]
fn a_step_that_finds_the_same_does_the_same() {
    let mut random = Random(1);
    let mut memory = memory();
    let mut states = vec![memory.snapshot()];
    let mut known: Vec<(Effect, u64, u128, u64)> = Vec::new();
    let mut redone = 0;
    for round in 0..20_000 {
        let way = random.below(12);
        let at = random.below(states.len() as u64) as usize;
        let before = states[at].clone();
        memory.restore(&before);
        memory.record_reads();
        let result = step(&mut memory, Random(way));
        memory.stop_recording();
        let after = memory.snapshot();
        memory.check_invariants();
        for (effect, _, change, first) in known.iter().filter(|(_, other, ..)| *other == way) {
            if !before.satisfies(effect) {
                continue;
            }
            redone += 1;
            assert_eq!(result, *first, "its read set is the same");
            let applied = memory.apply(&before, effect);
            assert_eq!(
                (applied.fingerprint(), applied.layout_fingerprint()),
                (after.fingerprint(), after.layout_fingerprint())
            );
            assert_eq!(before.fingerprint().wrapping_add(*change), after.fingerprint());
            memory.restore(&applied);
            memory.check_invariants();
            assert_eq!(memory.snapshot().satisfies(effect), after.satisfies(effect));
        }
        let change = after.fingerprint().wrapping_sub(before.fingerprint());
        known.extend(memory.effect(SPACE, &before, &after).map(|effect| (effect, way, change, result)));
        match states.len() < 50 {
            true => states.push(after),
            false => states[at] = after,
        }
        if round % 500 == 0 {
            (known, states) = (Vec::new(), vec![states.swap_remove(0)]);
        }
    }
    assert!(redone > 20_000, "{redone}");
}

#[test]
fn more_than_words_of_one_space_is_not_remembered() {
    let mut memory = memory();
    memory.write(OTHER, START, b"there").unwrap();
    let before = memory.snapshot();
    let mut effect_of = |step: fn(&mut Memory)| {
        memory.restore(&before);
        memory.enter(SPACE);
        memory.record_reads();
        step(&mut memory);
        memory.stop_recording();
        let after = memory.snapshot();
        memory.effect(SPACE, &before, &after).is_some()
    };
    assert!(effect_of(|memory| memory.store_u64(START, 1).unwrap()));
    assert!(!effect_of(|memory| memory.write(OTHER, START, b"x").unwrap()));
    assert!(!effect_of(|memory| memory.peek(OTHER, START, &mut [0]).unwrap()));
    assert!(!effect_of(|memory| memory.read(OTHER, START, &mut [0]).unwrap()));
    assert!(!effect_of(|memory| memory.protect(SPACE, START, PAGE_SIZE, Protection::READ).unwrap()));
    assert!(!effect_of(|memory| memory.create_object(memory::ObjectId(3), 1)));
    assert!(!effect_of(|memory| memory.drop_space(OTHER)));
}
