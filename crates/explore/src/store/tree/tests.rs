//! The tree store gives back what it was given.

use super::*;
use std::collections::HashMap;

/// Growth is never refused, and shared by two.
const ENOUGH: Allowance = Allowance { bytes: u64::MAX, threads: 2 };

/// Inserts a vector, growing as needed.
fn insert<const L: usize>(tree: &mut Tree<L>, cursor: &mut TreeCursor<L>, vector: &[u8]) -> Visit {
    loop {
        let done = tree.ticket(cursor, Key::Vector(vector)).and_then(|ticket| tree.insert(cursor, &ticket, 0));
        match done {
            Ok(visit) => return visit,
            Err(need) => tree.grow(need, ENOUGH).unwrap(),
        }
    }
}

/// A vector of random length whose last chunk is not zero, mostly small numbers.
fn random_vector(random: &mut impl FnMut() -> u64, chunks_max: u64) -> Vec<u8> {
    let chunks = random() % chunks_max + 1;
    let mut words: Vec<u64> = (0..chunks).map(|_| random() % 4).collect();
    if let Some(last) = words.last_mut() {
        *last += 1;
    }
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}

fn generator(mut seed: u64) -> impl FnMut() -> u64 {
    move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed >> 33
    }
}

#[test]
fn vectors_of_growing_length_come_back_as_they_went_in() {
    come_back_as_they_went_in::<2>();
    come_back_as_they_went_in::<4>();
    come_back_as_they_went_in::<6>();
}

fn come_back_as_they_went_in<const L: usize>() {
    let mut random = generator(1);
    let (mut tree, mut cursor) = (Tree::<L>::new(&Sample::of_length(8), 2).unwrap(), TreeCursor::default());
    let mut known: HashMap<Vec<u8>, u32> = HashMap::new();
    for round in 0..30_000_u64 {
        let vector = random_vector(&mut random, 1 + round / 500);
        let visit = insert(&mut tree, &mut cursor, &vector);
        assert_eq!(visit.new, !known.contains_key(&vector));
        assert_eq!(*known.entry(vector).or_insert(visit.id), visit.id);
    }
    for (vector, id) in &known {
        assert!(tree.matches(&mut cursor, *id, Key::Vector(vector)));
        let loaded = tree.load(&mut cursor, *id);
        assert_eq!(&loaded[..vector.len()], vector);
        assert!(loaded[vector.len()..].iter().all(|byte| *byte == 0));
    }
}

#[test]
fn the_vector_of_zeros_is_a_state() {
    let (mut tree, mut cursor) = (Tree::<4>::new(&Sample::of_length(8), 2).unwrap(), TreeCursor::default());
    let zeros = insert(&mut tree, &mut cursor, &[0; 8]);
    assert_eq!(zeros, Visit { id: 1, new: true });
    assert!(insert(&mut tree, &mut cursor, &[1; 80]).new);
    assert_eq!(insert(&mut tree, &mut cursor, &[0; 8]), Visit { id: 1, new: false });
    assert!(tree.load(&mut cursor, 1).iter().all(|byte| *byte == 0));
}

#[test]
fn a_ticket_survives_a_taller_tree() {
    let (mut tree, mut cursor) = (Tree::<4>::new(&Sample::of_length(8), 2).unwrap(), TreeCursor::default());
    let early = tree.ticket(&mut cursor, Key::Vector(&[7; 16])).unwrap();
    let tall = insert(&mut tree, &mut cursor, &[9; 800]);
    let visit = tree.insert(&mut cursor, &early, 0).unwrap();
    assert!(tall.new && visit.new);
    assert!(tree.matches(&mut cursor, visit.id, Key::Vector(&[7; 16])));
    assert!(!tree.matches(&mut cursor, visit.id, Key::Vector(&[7; 8])));
    assert!(!insert(&mut tree, &mut cursor, &[7; 16]).new);
}

#[test]
fn a_tree_that_may_not_grow_says_so() {
    let (mut tree, mut cursor) = (Tree::<4>::new(&Sample::of_length(8), 2).unwrap(), TreeCursor::default());
    let bytes_max = tree.bytes() + 100_000;
    let refusal = (1_u64..).find_map(|word| {
        let vector = [word, word * 3, word * 5].map(u64::to_le_bytes).concat();
        loop {
            let done = tree.ticket(&mut cursor, Key::Vector(&vector)).and_then(|t| tree.insert(&mut cursor, &t, 0));
            match done.map_err(|need| tree.grow(need, Allowance { bytes: bytes_max, threads: 1 })) {
                Ok(_) => return None,
                Err(Ok(())) => {}
                Err(Err(refusal)) => return Some(refusal),
            }
        }
    });
    assert_eq!(refusal, Some(Exhausted::Memory));
    assert!(tree.bytes() <= bytes_max);
}

/// Words of a vector in which a step from `from` changed a few.
fn stepped(random: &mut impl FnMut() -> u64, from: &[u8]) -> Vec<u8> {
    let mut vector = from.to_vec();
    for _ in 0..random() % 3 {
        let at = (random() as usize % vector.len()).min(vector.len() - 1);
        vector[at] = (random() % 3) as u8;
    }
    vector
}

#[test]
fn batches_find_known_states_from_above_and_new_ones_from_below() {
    find_known_and_new_states::<4>(96);
    find_known_and_new_states::<6>(96);
    // Two leaves.
    find_known_and_new_states::<2>(32);
    find_known_and_new_states::<6>(80);
}

fn find_known_and_new_states<const L: usize>(bytes: usize) {
    let mut random = generator(5);
    let (mut tree, mut cursor) = (Tree::<L>::new(&Sample::of_length(bytes), 2).unwrap(), TreeCursor::default());
    let first = insert(&mut tree, &mut cursor, &vec![1; bytes]);
    let mut known: HashMap<Vec<u8>, u32> = HashMap::from([(vec![1; bytes], first.id)]);
    let mut ids = vec![first.id];
    for _ in 0..4000 {
        let from = tree.load(&mut cursor, ids[random() as usize % ids.len()]).to_vec();
        let vectors: Vec<_> = (0..16).map(|_| stepped(&mut random, &from)).collect();
        let tickets: Vec<_> =
            vectors.iter().map(|vector| tree.ticket(&mut cursor, Key::Vector(vector)).unwrap()).collect();
        let guesses: Vec<_> = tickets.iter().map(|ticket| tree.guess(&mut cursor, ticket)).collect();
        for (ticket, guess) in tickets.iter().zip(&guesses) {
            tree.fetch(&mut cursor, ticket, *guess);
            tree.approach(&mut cursor, ticket, *guess);
        }
        let mut grown = false;
        for ((vector, ticket), guess) in vectors.into_iter().zip(tickets).zip(guesses) {
            let visit = loop {
                match tree.insert(&mut cursor, &ticket, if grown { 0 } else { guess }) {
                    Ok(visit) => break visit,
                    Err(need) => tree.grow(need, ENOUGH).unwrap(),
                }
                grown = true;
            };
            assert_eq!(visit.new, !known.contains_key(&vector));
            assert_eq!(*known.entry(vector).or_insert(visit.id), visit.id);
            ids.extend(visit.new.then_some(visit.id));
        }
        tree.settled(&mut cursor);
    }
    assert!(known.len() > 10_000);
}

#[test]
fn a_state_with_the_same_tag_is_not_taken_for_another() {
    let mut random = generator(9);
    let (mut tree, mut cursor) = (Tree::<4>::new(&Sample::of_length(96), 2).unwrap(), TreeCursor::default());
    let from = insert(&mut tree, &mut cursor, &[1; 96]).id;
    for _ in 0..1000 {
        let vector = stepped(&mut random, &[1; 96]);
        insert(&mut tree, &mut cursor, &vector);
        tree.load(&mut cursor, from);
        let tickets = [vector, stepped(&mut random, &[1; 96])]
            .map(|vector| (tree.ticket(&mut cursor, Key::Vector(&vector)).unwrap(), vector));
        let [(one, first), (mut other, second)] = tickets;
        other.tag = one.tag;
        let guess = tree.guess(&mut cursor, &other);
        assert_eq!(guess & KNOWN > 0 && tree.is(&cursor.batch, &other, guess as u32), first == second);
        tree.settled(&mut cursor);
    }
}
