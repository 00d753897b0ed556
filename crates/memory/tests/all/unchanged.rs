//! Files that nobody has written to are known as such.

use memory::{Limit, Memory, ObjectId};
use std::sync::Arc;

#[test]
fn an_object_is_unchanged_until_it_is_written_or_cut() {
    let (mut memory, id) = (Memory::new(Limit::default()), ObjectId(1));
    let bytes: Arc<[u8]> = vec![7; 10_000].into();
    memory.create_object_over(id, Arc::clone(&bytes));
    assert!(memory.object_unchanged(id).is_some_and(|now| Arc::ptr_eq(now, &bytes)));
    let mark = memory.mark();
    memory.write_object(id, 5000, b"x").unwrap();
    assert_eq!(memory.object_unchanged(id), None);
    memory.undo_to(mark);
    assert!(memory.object_unchanged(id).is_some());
    memory.resize_object(id, 8192).unwrap();
    memory.resize_object(id, 10_000).unwrap();
    assert_eq!(memory.object_unchanged(id), None, "its end shows zeros now");
    memory.create_object(ObjectId(2), 10);
    assert_eq!(memory.object_unchanged(ObjectId(2)), None);
}
