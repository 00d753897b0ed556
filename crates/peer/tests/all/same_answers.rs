//! A server answers the same in a world of its own and on the host, whatever is said in whatever order.

use crate::native_peer::{LONG, Server};
use kernel::Id;
use kernel::host::Host;
use kernel::net::far::{Place, Said, Saying};
use peer::{Address, End, Heard, Outside, OwnWorld, Shape, Strategy, Terms, Trouble};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use world::host::{DeclaredRoots, SYSTEM_ROOTS};
use world::{Command, World};

/// What servers do with a byte: count, remember, close, keep silent, answer much,
/// sleep before they answer, close halfway, end.
const SERVERS: [&str; 9] = [
    "sprintf(text,\"%c%d \",byte,count)",
    "static char last='-';sprintf(text,\"%c\",last);last=byte",
    "if(byte=='c'){close(all[i].fd);all[i].fd=-1;continue;}sprintf(text,\"%d\",i)",
    "if(byte!='c')continue;sprintf(text,\"%d;\",count)",
    "memset(text,byte,63);text[63]=0",
    "usleep(20000);sprintf(text,\"%c%d \",byte,count)",
    "struct timeval t={0,20000};select(0,0,0,0,&t);sprintf(text,\"%d\",count)",
    "if(byte=='c'){close(all[i].fd);all[i].fd=-1;}if(byte=='a')shutdown(all[i].fd,1);continue",
    "if(count>5)_exit(0);if(byte=='a')shutdown(all[i].fd,1);continue",
];

fn own_world(server: &Server) -> OwnWorld {
    let roots = SYSTEM_ROOTS.iter().map(Into::into).chain([server.0.clone()]).collect();
    let host = Host(Arc::new(DeclaredRoots::new(roots)));
    let mut world = World::new(host, 1, memory::Limit::default());
    let program = server.0.join("server").as_os_str().as_bytes().to_vec();
    let (environment, directory) = (vec![b"LD_BIND_NOW=1".to_vec()], b"/".to_vec());
    world.start(&Command { arguments: vec![program], environment, directory, user: None }).expect("it starts");
    let terms = Terms { strategy: Strategy::Always, ..Terms::default() };
    OwnWorld::start("db", world, Shape::Listens(Address::Port(7000)), terms, Arc::new(|| false))
        .unwrap_or_else(|trouble| panic!("{trouble}"))
}

/// A sequence of numbers that is the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// Something that can be said with these connections open; nothing once all are closed.
fn saying(random: &mut Random, open: &mut Vec<Id>, opened: &mut u64) -> Option<Said> {
    let kind = if open.is_empty() { 0 } else { random.below(10) };
    if kind < 2 && *opened < 6 {
        *opened += 1;
        let end = Id(*opened * 7 % 11);
        open.push(end);
        return Some(Said { end, what: Saying::Open });
    }
    let index = (!open.is_empty()).then(|| random.below(open.len()))?;
    Some(match kind {
        9 => Said { end: open.remove(index), what: Saying::Finish },
        _ => Said { end: open[index], what: Saying::Bytes(vec![b'a' + random.below(3) as u8]) },
    })
}

#[test]
fn servers_answer_the_same_in_a_world_of_their_own_and_on_the_host() {
    for (index, say) in SERVERS.iter().enumerate() {
        let server = Server::new(&format!("same{index}"), say, "-1");
        let (inside, outside) = (own_world(&server), server.start(LONG).expect("it starts"));
        let mut random = Random(index as u64 + 1);
        for _ in 0..8 {
            let (mut place, mut open, mut opened) = (Place::default(), Vec::new(), 0);
            for _ in 0..12 {
                let Some(said) = saying(&mut random, &mut open, &mut opened) else { break };
                assert_eq!(inside.after(place, &said), outside.after(place, &said));
                place = place.after(&said);
                let (one, other) = (inside.heard(place), outside.heard(place));
                let streams = |heard: &Result<Arc<Heard>, Trouble>| heard.clone().map(|heard| heard.streams.clone());
                assert_eq!(streams(&one), streams(&other), "{say}: {said:?}");
                // Who got a reset can say no more.
                let heard = one.expect("an answer");
                open.retain(|end| heard.streams[end].end != Some(End::Reset));
            }
        }
    }
}
