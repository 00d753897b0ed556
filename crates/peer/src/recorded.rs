//! A peer from a record: it answers what it answered along a schedule, and nothing else.

use crate::hex::{from_hex, to_hex};
use crate::recorded_datagrams as flows;
use crate::{Address, End, Framing, Heard, Outside, Shape, Stream, Traffic, Trouble};
use kernel::Id;
use kernel::net::far::{Place, Said};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use trace::{HeardRef, PeerRef, PlaceRef, StreamRef};

/// A peer from a record.
pub struct Recorded {
    name: String,
    places: BTreeMap<u128, Arc<Heard>>,
    contradictions: BTreeMap<u128, String>,
    is_independent: bool,
    unordered: Option<Framing>,
}

impl Recorded {
    /// A peer that behaves as a record says.
    ///
    /// # Errors
    /// If the record contradicts itself.
    pub fn new(record: &PeerRef) -> Result<Self, Trouble> {
        let wrong = || Trouble::Fails(format!("the record of peer `{}` contradicts itself", record.name));
        let mut streams: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
        for StreamRef { connection, bytes } in &record.streams {
            streams.insert(*connection, from_hex(bytes).ok_or_else(wrong)?);
        }
        let datagrams = flows::read(&record.datagrams).ok_or_else(wrong)?;
        let (mut places, mut contradictions) = (BTreeMap::new(), BTreeMap::new());
        for PlaceRef { place, heard, datagrams: counts, opens, contradiction } in &record.places {
            let place = u128::from_str_radix(place, 16).map_err(|_| wrong())?;
            let heard = heard.iter().map(|heard| stream_of(heard, &streams)).collect::<Option<_>>();
            if !contradiction.is_empty() {
                contradictions.insert(place, contradiction.clone());
            }
            let (streams, opens) = (heard.ok_or_else(wrong)?, opens.iter().copied().map(Id).collect());
            let datagrams = flows::at_place(counts, &datagrams).ok_or_else(wrong)?;
            places.insert(place, Arc::new(Heard { opens, streams, datagrams, ended: None }));
        }
        let unordered = Some(record.unordered.as_str()).filter(|name| !name.is_empty());
        let unordered = unordered.map(|name| Framing::read(name).ok_or_else(wrong)).transpose()?;
        let (name, is_independent) = (record.name.clone(), record.independent);
        Ok(Self { name, places, contradictions, is_independent, unordered })
    }
}

fn stream_of(heard: &HeardRef, streams: &BTreeMap<u64, Vec<u8>>) -> Option<(Id, Stream)> {
    let bytes = streams.get(&heard.connection).map_or(&[][..], |bytes| bytes).get(..heard.length)?;
    let end = match heard.end.as_str() {
        "" => None,
        "finished" => Some(End::Finished),
        "closed" => Some(End::Closed),
        "reset" => Some(End::Reset),
        _ => return None,
    };
    Some((Id(heard.connection), Stream { bytes: bytes.into(), end }))
}

impl Outside for Recorded {
    fn name(&self) -> &str {
        &self.name
    }

    fn after(&self, place: Place, said: &Said) -> Place {
        place.after(said)
    }

    fn heard(&self, place: Place) -> Result<Arc<Heard>, Trouble> {
        let heard = self.places.get(&place.fingerprint()).cloned();
        heard.ok_or_else(|| Trouble::Fails("it was never told this".to_owned()).of(&self.name))
    }

    fn traffic(&self) -> Traffic {
        Traffic::default()
    }

    fn unordered(&self) -> Option<Framing> {
        self.unordered
    }

    fn is_independent(&self) -> bool {
        self.is_independent
    }

    fn contradiction(&self, place: Place) -> Option<String> {
        self.contradictions.get(&place.fingerprint()).cloned()
    }

    fn told(&self) -> String {
        "a record".to_owned()
    }
}

/// The record of a peer that was asked at these places.
#[must_use]
pub fn record(peer: &dyn Outside, shape: &Shape, places: &[(Place, Arc<Heard>)]) -> PeerRef {
    let mut longest: BTreeMap<Id, Arc<[u8]>> = BTreeMap::new();
    for (end, stream) in places.iter().flat_map(|(_, heard)| &heard.streams) {
        let known = longest.entry(*end).or_default();
        if stream.bytes.len() > known.len() {
            *known = Arc::clone(&stream.bytes);
        }
    }
    let streams = longest.iter().map(|(end, bytes)| StreamRef { connection: end.0, bytes: to_hex(bytes) });
    let datagrams = flows::written(places.iter().map(|(_, heard)| &**heard));
    let places = places.iter().map(|(place, heard)| PlaceRef {
        place: format!("{:032x}", place.fingerprint()),
        heard: heard.streams.iter().map(|(end, stream)| heard_ref(*end, stream)).collect(),
        datagrams: flows::counts(heard),
        opens: heard.opens.iter().map(|end| end.0).collect(),
        contradiction: peer.contradiction(*place).unwrap_or_default(),
    });
    let (name, independent) = (peer.name().to_owned(), peer.is_independent());
    let unordered = peer.unordered().map(|framing| framing.to_string()).unwrap_or_default();
    let (streams, places) = (streams.collect(), places.collect());
    PeerRef { name, independent, unordered, streams, datagrams, places, ..placed(shape) }
}

/// Where a peer is, in a record of it.
fn placed(shape: &Shape) -> PeerRef {
    match shape {
        Shape::Connects(port) => PeerRef { port: *port, connects: true, ..PeerRef::default() },
        Shape::Listens(Address::Port(port)) => PeerRef { port: *port, ..PeerRef::default() },
        Shape::Listens(Address::Machine(machine, port)) => {
            PeerRef { port: *port, machine: machine.to_string(), ..PeerRef::default() }
        }
        Shape::Listens(Address::Udp(machine, port)) => {
            let machine = if machine.is_loopback() { String::new() } else { machine.to_string() };
            PeerRef { port: *port, machine, udp: true, ..PeerRef::default() }
        }
        Shape::Listens(Address::Path(path)) => PeerRef { path: path.clone(), ..PeerRef::default() },
    }
}

/// Where the peer of a record is.
///
/// # Errors
/// If the record names no place.
pub fn recorded_shape(record: &PeerRef) -> Result<Shape, Trouble> {
    let wrong = || Trouble::Fails(format!("the record of peer `{}` does not say where it is", record.name));
    if let (true, false, "") = (record.udp, record.connects, record.path.as_str()) {
        let machine = if record.machine.is_empty() { Ok(Ipv4Addr::LOCALHOST) } else { record.machine.parse() };
        return Ok(Shape::Listens(Address::Udp(machine.map_err(|_| wrong())?, record.port)));
    }
    match (record.connects, record.machine.as_str(), record.path.as_str()) {
        (true, "", "") => Ok(Shape::Connects(record.port)),
        (false, "", "") => Ok(Shape::Listens(Address::Port(record.port))),
        (false, machine, "") => {
            let machine = machine.parse().map_err(|_| wrong())?;
            Ok(Shape::Listens(Address::Machine(machine, record.port)))
        }
        (false, "", path) => Ok(Shape::Listens(Address::Path(path.to_owned()))),
        _ => Err(wrong()),
    }
}

fn heard_ref(end: Id, stream: &Stream) -> HeardRef {
    let how = match stream.end {
        None => "",
        Some(End::Finished) => "finished",
        Some(End::Closed) => "closed",
        Some(End::Reset) => "reset",
    };
    HeardRef { connection: end.0, length: stream.bytes.len(), end: how.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Datagram;
    use kernel::net::far::Saying;

    /// A peer that was asked nothing.
    fn nobody() -> Recorded {
        Recorded::new(&PeerRef { name: "db".into(), ..PeerRef::default() }).expect("a record")
    }

    #[test]
    fn a_record_answers_what_was_answered_and_nothing_else() {
        let said = |text: &str| Said { end: Id(7), what: Saying::Bytes(text.as_bytes().to_vec()) };
        let heard = |text: &str, end| {
            let streams = BTreeMap::from([(Id(7), Stream { bytes: text.as_bytes().into(), end })]);
            let datagrams =
                BTreeMap::from([(Id(8), vec![Datagram::Unreachable, Datagram::Bytes(text.as_bytes().into())])]);
            Arc::new(Heard { opens: vec![Id(7)], streams, datagrams, ended: None })
        };
        let start = Place::default();
        let (one, two) = (start.after(&said("a")), start.after(&said("ab")));
        let places = [(one, heard("yes", None)), (two, heard("yes", Some(End::Finished)))];
        let contradictions = BTreeMap::from([(two.fingerprint(), "inconsistent".to_owned())]);
        let asked = Recorded { contradictions, ..nobody() };
        let peer = Recorded::new(&record(&asked, &Shape::Listens(Address::Port(1)), &places)).expect("a record");
        assert_eq!((peer.contradiction(one), peer.contradiction(two)), (None, Some("inconsistent".to_owned())));
        assert_eq!(peer.heard(one), Ok(heard("yes", None)));
        assert_eq!(peer.heard(peer.after(one, &said("b"))), Ok(heard("yes", Some(End::Finished))));
        assert!(
            peer.heard(start.after(&said("c"))).is_err_and(|trouble| trouble.to_string().contains("never told this"))
        );
    }

    #[test]
    fn a_record_says_where_its_peer_is() {
        let machine = Address::Machine([10, 99, 0, 1].into(), 5432);
        let udp = [[127, 0, 0, 1], [10, 99, 0, 1]].map(|machine| Address::Udp(machine.into(), 53));
        let addresses = [Address::Port(7), machine, Address::Path("/run/db.sock".to_owned())].into_iter().chain(udp);
        for shape in addresses.map(Shape::Listens).chain([Shape::Connects(7)]) {
            assert_eq!(recorded_shape(&record(&nobody(), &shape, &[])), Ok(shape));
        }
        let wrong = PeerRef { machine: "db".into(), ..PeerRef::default() };
        assert!(recorded_shape(&wrong).is_err());
    }

    #[test]
    fn a_record_that_contradicts_itself_is_refused() {
        let place = PlaceRef {
            place: "0".into(),
            heard: vec![HeardRef { connection: 1, length: 3, end: String::new() }],
            ..PlaceRef::default()
        };
        for (bytes, place) in [("abc", PlaceRef::default()), ("zz", PlaceRef::default()), ("abcd", place)] {
            let streams = vec![StreamRef { connection: 1, bytes: bytes.into() }];
            let record = PeerRef { name: "db".into(), port: 1, streams, places: vec![place], ..PeerRef::default() };
            assert!(Recorded::new(&record).is_err(), "{bytes}");
        }
    }
}
