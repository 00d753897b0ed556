//! Packets of gdb's remote protocol: `$data#checksum`, with acknowledgements until they are switched off.

use std::io::{self, BufRead, BufReader, Read, Write};

/// Bytes of a packet at most, as `qSupported` tells.
pub const PACKET_MAX: usize = 0x4000;

/// What came in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Incoming {
    /// A packet with a right checksum.
    Packet(Vec<u8>),
    /// Ctrl-C: stop what is under way.
    Interrupt,
}

/// A connection to gdb.
pub struct Wire<S> {
    stream: BufReader<S>,
    is_acknowledged: bool,
    last: Vec<u8>,
}

/// The byte behind `}` is the meant one with this bit flipped.
const ESCAPED: u8 = 0x20;

impl<S: Read + Write> Wire<S> {
    /// A new connection.
    pub fn new(stream: S) -> Self {
        Self { stream: BufReader::new(stream), is_acknowledged: true, last: Vec::new() }
    }

    /// Sends no acknowledgements any more, and awaits none.
    pub fn stop_acknowledging(&mut self) {
        self.is_acknowledged = false;
    }

    /// The connection itself.
    pub fn stream(&self) -> &S {
        self.stream.get_ref()
    }

    /// Bytes that have come in and were not looked at.
    pub fn buffered(&self) -> &[u8] {
        self.stream.buffer()
    }

    /// The next packet, or Ctrl-C; nothing at the end of the connection.
    ///
    /// # Errors
    /// If the connection breaks.
    pub fn read(&mut self) -> io::Result<Option<Incoming>> {
        loop {
            let Some(byte) = self.byte()? else { return Ok(None) };
            match byte {
                0x03 => return Ok(Some(Incoming::Interrupt)),
                b'-' => self.send_again()?,
                b'$' => match self.packet()? {
                    Some(data) => {
                        self.acknowledge(b'+')?;
                        return Ok(Some(Incoming::Packet(data)));
                    }
                    None => self.acknowledge(b'-')?,
                },
                // Acknowledgements, and noise between packets.
                _ => {}
            }
        }
    }

    /// The next byte; nothing at the end of the connection.
    fn byte(&mut self) -> io::Result<Option<u8>> {
        let byte = self.stream.fill_buf()?.first().copied();
        if byte.is_some() {
            self.stream.consume(1);
        }
        Ok(byte)
    }

    /// The data of a packet up to its checksum; nothing if that is wrong, or if the packet is too long.
    fn packet(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut raw = Vec::new();
        loop {
            match self.byte()? {
                None => return Ok(None),
                Some(b'#') => break,
                // A new packet begins: the old one was torn.
                Some(b'$') => raw.clear(),
                Some(byte) if raw.len() <= PACKET_MAX => raw.push(byte),
                Some(_) => {}
            }
        }
        let digits = [self.byte()?, self.byte()?].map(|byte| byte.and_then(|byte| (byte as char).to_digit(16)));
        let [Some(high), Some(low)] = digits else { return Ok(None) };
        let is_right = (high << 4 | low) as u8 == checksum(&raw) || !self.is_acknowledged;
        Ok((is_right && raw.len() <= PACKET_MAX).then(|| unescaped(&raw)))
    }

    /// Says whether a packet was understood, until both sides have agreed to do without.
    fn acknowledge(&mut self, sign: u8) -> io::Result<()> {
        if self.is_acknowledged { self.stream.get_mut().write_all(&[sign]) } else { Ok(()) }
    }

    /// The other side did not understand the last packet.
    fn send_again(&mut self) -> io::Result<()> {
        if self.is_acknowledged { self.stream.get_mut().write_all(&self.last) } else { Ok(()) }
    }

    /// Sends a packet.
    ///
    /// # Errors
    /// If the connection breaks.
    pub fn send(&mut self, data: &[u8]) -> io::Result<()> {
        let data = escaped(data);
        let mut packet = vec![b'$'];
        packet.extend(&data);
        packet.extend(format!("#{:02x}", checksum(&data)).bytes());
        self.last = packet;
        let stream = self.stream.get_mut();
        stream.write_all(&self.last)?;
        stream.flush()
    }
}

/// The sum of all bytes, modulo 256.
fn checksum(data: &[u8]) -> u8 {
    data.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte))
}

/// `}` and a byte stand for that byte, changed by `ESCAPED`.
fn unescaped(raw: &[u8]) -> Vec<u8> {
    let (mut data, mut bytes) = (Vec::with_capacity(raw.len()), raw.iter());
    while let Some(byte) = bytes.next() {
        match byte {
            b'}' => data.extend(bytes.next().map(|byte| byte ^ ESCAPED)),
            byte => data.push(*byte),
        }
    }
    data
}

/// Bytes that mean something to the protocol are escaped; `*` would be a run length.
fn escaped(data: &[u8]) -> Vec<u8> {
    let escape = |byte: u8| match byte {
        b'$' | b'#' | b'}' | b'*' => vec![b'}', byte ^ ESCAPED],
        byte => vec![byte],
    };
    data.iter().copied().flat_map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// A connection with a fixed input; the output is dropped.
    struct Fixed(Cursor<Vec<u8>>, Vec<u8>);

    impl Read for Fixed {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(buffer)
        }
    }

    impl Write for Fixed {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1.extend(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn all(input: &[u8]) -> (Vec<Incoming>, Vec<u8>) {
        let mut wire = Wire::new(Fixed(Cursor::new(input.to_vec()), Vec::new()));
        let mut found = Vec::new();
        while let Some(incoming) = wire.read().expect("no file breaks") {
            found.push(incoming);
        }
        (found, wire.stream.get_ref().1.clone())
    }

    #[test]
    fn packets_are_taken_apart_and_bad_ones_refused() {
        let packet = |data: &[u8]| Incoming::Packet(data.to_vec());
        let long = [b"$".to_vec(), vec![b'x'; PACKET_MAX + 9], b"#00".to_vec()].concat();
        let cases: &[(&[u8], Vec<Incoming>, &[u8])] = &[
            (b"$g#67", vec![packet(b"g")], b"+"),
            (b"+$g#67+", vec![packet(b"g")], b"+"),
            (b"$g#68", vec![], b"-"),
            (b"$g#zz$g#67", vec![packet(b"g")], b"-+"),
            (b"\x03$g#67", vec![Incoming::Interrupt, packet(b"g")], b"+"),
            (b"$X}\x03#d8", vec![packet(b"X#")], b"+"),
            (b"$ab$g#67", vec![packet(b"g")], b"+"),
            (b"$half", vec![], b"-"),
            (b"$}#7d", vec![packet(b"")], b"+"),
            (&long, vec![], b"-"),
        ];
        for (input, expected, answer) in cases {
            assert_eq!(all(input), (expected.clone(), answer.to_vec()), "{:?}", String::from_utf8_lossy(input));
        }
    }

    #[test]
    fn what_is_sent_can_be_read() {
        let mut wire = Wire::new(Fixed(Cursor::new(Vec::new()), Vec::new()));
        wire.send(b"a$#}*z").expect("written");
        let sent = wire.stream.get_ref().1.clone();
        assert_eq!(all(&sent).0, [Incoming::Packet(b"a$#}*z".to_vec())]);
    }
}
