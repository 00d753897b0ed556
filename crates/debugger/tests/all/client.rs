//! Clients that do not speak the protocol, or speak it with bad intent: the session goes on.

use crate::start::{programs, schedule, target};
use debugger::{Connection, serve};
use std::cell::RefCell;
use std::io::{self, Cursor, Read, Write};
use std::rc::Rc;

/// A client that says everything at once.
struct Script {
    said: Cursor<Vec<u8>>,
    heard: Rc<RefCell<Vec<u8>>>,
}

impl Read for Script {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.said.read(buffer)
    }
}

impl Write for Script {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.heard.borrow_mut().extend(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Connection for Script {
    fn has_interrupt(&self) -> bool {
        false
    }
}

fn packet(data: &[u8]) -> Vec<u8> {
    let sum = data.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
    [b"$", data, format!("#{sum:02x}").as_bytes()].concat()
}

/// Packets that are wrong in one way each.
const BAD: &[&[u8]] = &[
    b"",
    b"\x00\xff\xfe",
    b"g;;;",
    b"p",
    b"pffffffffffffffff",
    b"m",
    b"m,",
    b"m0,ffffffffffffffff",
    b"mffffffffffffffff,ffffffffffffffff",
    b"m7fffffffffff,8",
    b"M0,4:00000000",
    b"X0,4:\x00\x00",
    b"G00",
    b"P0=00",
    b"H",
    b"Hg",
    b"Hgp.",
    b"Hgp1.zz",
    b"Hgffffffffffffffffff",
    b"Hq1",
    b"T",
    b"Tp1.99999999",
    b"vCont",
    b"vCont;",
    b"vCont;x",
    b"vCont;s:p1.77777:3",
    b"vCont;s:-1;c:p.0",
    b"vCont;r1,2:1",
    b"Z",
    b"Z0",
    b"Z0,zz,1",
    b"Z9,0,1",
    b"Z2,ffffffffffffffff,8",
    b"Z2,0,ffffffffffffffff",
    b"Z4,0,0",
    b"Z0,\xff,1;X3",
    b"z7,1,1",
    b"qXfer:features:read:target.xml:zz",
    b"qXfer:features:read:other.xml:0,10",
    b"qXfer:auxv:read::ffffffffffffffff,ffffffffffffffff",
    b"qXfer:auxv:write::0:00",
    b"qXfer:exec-file:read:",
    b"qRcmd,",
    b"qRcmd,7",
    b"qRcmd,zz",
    b"qRcmd,73746570202d31",
    b"qRcmd,7363686564756c6520393939393939393939393939393939393939393939",
    b"qGetTLSAddr:",
    b"qGetTLSAddr:p1.1,ffffffffffffffff,ffffffffffffffff",
    b"qThreadExtraInfo,zz",
    b"vFile:open:2f6574632f706173737764,0,0",
    b"vFile:open:zz",
    b"vFile:pread:3,ffffffffffffffff,ffffffffffffffff",
    b"vFile:pread:",
    b"vFile:fstat:99",
    b"vFile:close:zz",
    b"vFile:unlink:2f746d70",
    b"vRun;2f62696e2f7368",
    b"vAttach;1",
    b"bs",
    b"bc",
    b"s",
    b"c",
    b"sfffffffffff",
    b"cfffffffffff",
];

/// What a client hears that says all this.
fn heard(name: &str, said: Vec<u8>) -> String {
    let mut programs = programs(name);
    let choices = schedule(&mut programs, 1);
    let (mut target, _) = target(&mut programs, &choices);
    let heard = Rc::new(RefCell::new(Vec::new()));
    let _ = serve(Script { said: Cursor::new(said), heard: Rc::clone(&heard) }, &mut target);
    let bytes = heard.borrow().clone();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn bad_packets_are_answered_and_the_session_goes_on() {
    let mut said = Vec::new();
    BAD.iter().for_each(|bad| said.extend(packet(bad)));
    said.extend(packet(b"qAttached"));
    let heard = heard("bad", said);
    assert!(heard.ends_with("$1#31"), "{}", &heard[heard.len().saturating_sub(200)..]);
    // One answer for each.
    assert_eq!(heard.matches('$').count(), BAD.len() + 1);
    assert!(heard.contains("$E.the past cannot be changed#"));
    assert!(!heard.contains("root:"), "no other file of the host is shown");
}

#[test]
fn noise_is_no_session() {
    const LETTERS: &[u8] = b"$#+-}*:;,0123456789abcdefgGmMvqQZzHT\x03\xff";
    let mut seed = 7_u32;
    let mut noise = |_| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        LETTERS[(seed >> 16) as usize % LETTERS.len()]
    };
    let mut said: Vec<u8> = (0..20_000).map(&mut noise).collect();
    said.extend(b"#00");
    said.extend(packet(b"qAttached"));
    assert!(heard("noise", said).ends_with("$1#31"));
}
