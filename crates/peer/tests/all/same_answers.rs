//! A server answers the same in a world of its own and on the host, whatever is said in whatever order: over TCP, over a Unix socket,
//! and in datagrams.

use crate::native_peer::Server;
use kernel::Id;
use kernel::host::Host;
use kernel::net::far::{Place, Said, Saying};
use peer::{Address, End, Heard, Native, Outside, OwnWorld, Shape, Strategy, Terms};
use std::cell::RefCell;
use std::collections::BTreeMap;
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

fn own_world(server: &Server, address: Address) -> OwnWorld {
    let roots = SYSTEM_ROOTS.iter().map(Into::into).chain([server.0.clone()]).collect();
    let host = Host(Arc::new(DeclaredRoots::new(roots)));
    let mut world = World::new(host, 1, memory::Limit::default());
    if let Address::Path(path) = &address {
        kernel::files::create_folders(&mut world.kernel, path.as_bytes(), (0, 0)).expect("folders");
    }
    let program = server.0.join("server").as_os_str().as_bytes().to_vec();
    let (environment, directory) = (vec![b"LD_BIND_NOW=1".to_vec()], b"/".to_vec());
    world.start(&Command { arguments: vec![program], environment, directory, user: None }).expect("it starts");
    let terms = Terms { strategy: Strategy::Always, ..Terms::default() };
    OwnWorld::start("db", world, Shape::Listens(address), terms, Arc::new(|| false))
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

/// Both peers answer a conversation alike, which `next` goes on with by what was heard; `told` says what of an answer counts.
fn converse(
    (inside, outside): (&OwnWorld, &Native),
    mut next: impl FnMut(&Heard) -> Option<Said>,
    told: impl Fn(&Heard) -> Heard,
) {
    let (mut place, mut heard) = (Place::default(), Heard::default());
    for _ in 0..12 {
        let Some(said) = next(&heard) else { break };
        assert_eq!(inside.after(place, &said), outside.after(place, &said));
        place = place.after(&said);
        let answer = |peer: &dyn Outside| peer.heard(place).map(|heard| told(&heard));
        let (one, other) = (answer(inside), answer(outside));
        assert_eq!(one, other, "{said:?}");
        heard = one.expect("an answer");
    }
}

/// What can still be seen of an answer: nothing of connections that the search has closed; and where it has finished, an end of what is
/// said and a close are the same.
fn seen(heard: &Heard, ended: &BTreeMap<Id, Saying>) -> Heard {
    let mut streams = heard.streams.clone();
    streams.retain(|id, _| ended.get(id) != Some(&Saying::Close));
    for (id, stream) in &mut streams {
        let is_alike = ended.contains_key(id) && stream.end == Some(End::Closed);
        stream.end = if is_alike { Some(End::Finished) } else { stream.end };
    }
    Heard { streams, ..Heard::default() }
}

/// Random words over streams, each of which ends in one of these ways. Who got a reset can say no more.
fn converse_over_streams(peers: (&OwnWorld, &Native), random: &mut Random, ends: &[Saying]) {
    let (mut open, mut opened, ended) = (Vec::new(), 0, RefCell::new(BTreeMap::new()));
    let next = |heard: &Heard| {
        open.retain(|end| !heard.streams.get(end).is_some_and(|stream| stream.end == Some(End::Reset)));
        let said = saying(random, &mut open, &mut opened)?;
        if said.what != Saying::Finish {
            return Some(said);
        }
        let what = ends[random.below(ends.len())].clone();
        ended.borrow_mut().insert(said.end, what.clone());
        Some(Said { what, ..said })
    };
    converse(peers, next, |heard| seen(heard, &ended.borrow()));
}

#[test]
fn servers_answer_the_same_in_a_world_of_their_own_and_on_the_host() {
    for (index, say) in SERVERS.iter().enumerate() {
        let server = Server::new(&format!("same{index}"), say, "-1");
        let address = Address::Port(7000);
        let peers = (own_world(&server, address.clone()), server.start_at(address));
        let mut random = Random(index as u64 + 1);
        for _ in 0..8 {
            converse_over_streams((&peers.0, &peers.1), &mut random, &[Saying::Finish]);
        }
    }
}

#[test]
fn servers_behind_unix_sockets_answer_the_same_and_end_the_same() {
    let path = "/run/allways-test-of-peers/same.sock";
    for (index, say) in SERVERS.iter().enumerate() {
        let server = Server::new_at(&format!("same-unix{index}"), say, "-1", Some(path));
        let address = Address::Path(path.to_owned());
        let peers = (own_world(&server, address.clone()), server.start_at(address));
        let mut random = Random(index as u64 + 1);
        for _ in 0..8 {
            converse_over_streams((&peers.0, &peers.1), &mut random, &[Saying::Close, Saying::Finish]);
        }
    }
}

/// What UDP servers do with a datagram: count, remember who asked, answer twice or not at all, sleep, leave.
const UDP_SERVERS: [&str; 5] = [
    "sprintf(text,\"%c%d:%d\",byte,count,ntohs(from.sin_port))",
    "static struct sockaddr_in last;struct sockaddr_in now=from;if(count>1)from=last;last=now;sprintf(text,\"%c\",byte)",
    "if(byte=='a')continue;sprintf(text,\"%c\",byte);if(byte=='b')sendto(fd,text,0,0,(void*)&from,sizeof from)",
    "usleep(20000);sprintf(text,\"%d\",count)",
    "if(count==4)close(fd),fd=-1;if(fd<0)pause();sprintf(text,\"%d\",count)",
];

const UDP_SERVER: &str = r#"
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void) {
    int fd = socket(AF_INET, SOCK_DGRAM, 0), count = 0;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(5300)}, from;
    if (bind(fd, (void *)&at, sizeof at)) return 1;
    for (;;) {
        char byte, text[64];
        socklen_t length = sizeof from;
        if (recvfrom(fd, &byte, 1, 0, (void *)&from, &length) != 1) return 2;
        count++;
        SAY;
        sendto(fd, text, strlen(text), 0, (void *)&from, sizeof from);
    }
}
"#;

#[test]
fn datagrams_are_answered_the_same_to_the_same_flow() {
    let address = Address::Udp(std::net::Ipv4Addr::LOCALHOST, 5300);
    for (index, say) in UDP_SERVERS.iter().enumerate() {
        let server = Server::of(&format!("same-udp{index}"), UDP_SERVER, &[format!("-DSAY={say}")]);
        let peers = (own_world(&server, address.clone()), server.start_at(address.clone()));
        let mut random = Random(index as u64 + 1);
        for _ in 0..8 {
            let next = |_: &Heard| {
                let (end, byte) = (Id(3 + random.below(3) as u64), b'a' + random.below(3) as u8);
                Some(Said { end, what: Saying::Datagram { from: end.0 as u16, bytes: vec![byte] } })
            };
            let datagrams = |heard: &Heard| Heard { datagrams: heard.datagrams.clone(), ..Heard::default() };
            converse((&peers.0, &peers.1), next, datagrams);
        }
    }
}
