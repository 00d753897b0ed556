//! The table gives back what it was given.

use super::grow::{larger, values_for};
use super::*;

fn insert(table: &mut PairTable, block: &mut Block, value: u64) -> (u32, bool) {
    loop {
        match table.insert(block, [value]) {
            Ok(found) => return found,
            Err(Full) => assert!(table.grow(3)),
        }
    }
}

#[test]
fn references_are_dense_and_survive_growth() {
    let (mut table, mut block) = (PairTable::new(4).unwrap(), Block::default());
    for value in 1..=100_000_u64 {
        assert_eq!(insert(&mut table, &mut block, value * 3), (value as u32, true));
    }
    for value in 1..=100_000_u64 {
        assert_eq!(insert(&mut table, &mut block, value * 3), (value as u32, false));
        assert_eq!(table.get(value as u32), [value * 3]);
    }
    assert_eq!(table.find([7]), None);
    assert_eq!(table.find([9]), Some(3));
}

#[test]
fn threads_agree_on_the_reference_of_each_value() {
    let mut table = PairTable::new(4).unwrap();
    while table.capacity() < 60_000 {
        table.lines = larger(table.lines);
        table.index = Pages::zeroed(table.lines as usize * LINE).unwrap();
        table.values = values_for::<1>(table.lines).unwrap();
    }
    let table = &table;
    let runs: Vec<Vec<(u32, bool)>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut block = Block::default();
                    (1..=50_000).map(|value| table.insert(&mut block, [value]).unwrap()).collect()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for value in 0..50_000 {
        let found: Vec<_> = runs.iter().map(|run| run[value]).collect();
        assert!(found.iter().all(|(reference, _)| *reference == found[0].0));
        assert_eq!(found.iter().filter(|(_, new)| *new).count(), 1);
        assert_eq!(table.get(found[0].0), [value as u64 + 1]);
    }
}

#[test]
fn renaming_keeps_the_references() {
    let (mut table, mut block) = (PairTable::new(4).unwrap(), Block::default());
    for value in 1..=10_000 {
        insert(&mut table, &mut block, value);
    }
    let renamed = table.renamed(|reference| [u64::from(reference) << 32]).unwrap();
    assert_eq!(renamed.insert_tagged(&mut block, [5 << 32], tag([5])), Ok((5, false)));
    assert_eq!(renamed.references_end(), table.references_end());
}
