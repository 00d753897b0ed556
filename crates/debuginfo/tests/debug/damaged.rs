//! Files come from outside: whatever is in their symbols and debug information, nothing panics and nothing hangs.

use crate::standing::build;
use debuginfo::DebugInfo;
use kernel::host::{Host, NoHost};
use memory::{Backing, Limit, Mapping, Name, ObjectId, Protection, Sharing, SpaceId};
use std::sync::Arc;
use world::World;
use world::load::elf::Elf;

const SOURCE: &str = r"
enum role { A, B }; struct part { struct part *next; int bits : 3; union { long x; char y[5]; }; };
struct part parts[3]; enum role role; static int grid[2][2]; int (*call)(int); __thread int mine;
static inline int twice(int n) { static int calls; calls++; return n * 2; }
int main(int count, char **words) { int local = twice(count); return local + grid[1][0] + (words == 0); }
";

const SPACE: SpaceId = SpaceId(1);

/// A world with the code of a file at the addresses that the file asks for.
fn mapped(bytes: &[u8]) -> Option<World> {
    let elf = Elf::parse(bytes).ok()?;
    let mut world = World::new(Host(Arc::new(NoHost)), 1, Limit::default());
    world.memory.create_space(SPACE);
    world.memory.create_object_over(ObjectId(1), bytes.into());
    for segment in elf.segments.iter().filter(|segment| segment.file_size > 0) {
        let (start, offset) = (segment.address & !0xfff, segment.offset & !0xfff);
        let protection = if segment.flags & 1 == 1 { Protection::READ_EXECUTE } else { Protection::READ_WRITE };
        let mapping = Mapping {
            start: start + 0x10000,
            len: segment.file_size + (segment.offset - offset),
            protection,
            backing: Backing::Object { id: ObjectId(1), offset },
            sharing: Sharing::Private,
            grows_down: false,
            name: Name::Path("/program".into()),
        };
        world.memory.map(SPACE, mapping).ok()?;
    }
    Some(world)
}

/// Asks everything that can be asked; how much was answered.
fn ask(world: &World) -> usize {
    let mut info = DebugInfo::new(world.kernel.host.clone());
    let memory = &world.memory;
    let mut answers = info.functions(memory, SPACE, &["main", "twice", "_start"]).len();
    for mapping in memory.mappings(SPACE) {
        for address in (mapping.start..mapping.end()).step_by(24) {
            answers += info.location(memory, SPACE, address).len();
            answers += usize::from(info.symbol(memory, SPACE, address).is_some());
            answers += info.variable_at(world, SPACE, address).map_or(0, |found| found.to_string().len());
        }
    }
    for path in ["role", "grid[1][1]", "parts[1].x", "parts[2].next->y", "parts[0].bits", "calls", "call", "mine"] {
        let place = info.global(memory, SPACE, path).ok().flatten();
        answers += usize::from(place.and_then(|place| place.read(memory, SPACE)).is_some());
    }
    answers + info.addresses_of_line(memory, SPACE, "program.c", 4).len()
}

/// The places of a file that hold symbols and debug information.
fn places(bytes: &[u8]) -> Vec<usize> {
    use object::{Object, ObjectSection};
    let file = object::File::parse(bytes).expect("it is whole");
    let wanted = [".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_rnglists", ".symtab", ".strtab"];
    let ranges = wanted.iter().filter_map(|name| file.section_by_name(name)?.file_range());
    ranges.flat_map(|(start, size)| start as usize..(start + size) as usize).collect()
}

#[test]
fn damaged_debug_information_is_survived() {
    let folder = build("damaged", "program.c", SOURCE, &["gcc", "-g", "-O1", "-nostartfiles"]);
    let whole = std::fs::read(folder.join("program")).expect("it was built");
    let whole_answers = ask(&mapped(&whole).expect("it is whole"));
    assert!(whole_answers > 100, "{whole_answers}");
    let places = places(&whole);
    let mut number = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (number >> 33) as usize % below
    };
    let mut differing = 0;
    for round in 0..400 {
        let mut bytes = whole.clone();
        for _ in 0..=round % 8 {
            bytes[places[random(places.len())]] = [0, 1, 0x7f, 0x80, 0xff, random(256) as u8][random(6)];
        }
        differing += usize::from(mapped(&bytes).is_some_and(|world| ask(&world) != whole_answers));
    }
    assert!(differing > 50, "damage must be noticed: {differing}");
}
