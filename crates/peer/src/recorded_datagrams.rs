//! Answers to datagrams in the record of a peer.

use crate::hex::{from_hex, to_hex};
use crate::{Datagram, Heard};
use kernel::Id;
use std::collections::BTreeMap;
use trace::{CountRef, DatagramsRef};

/// Answers by flow.
type Flows = BTreeMap<Id, Vec<Datagram>>;

/// Answers to all flows, as a record has them; nothing if that cannot be read.
pub(crate) fn read(all: &[DatagramsRef]) -> Option<Flows> {
    let answer = |text: &Option<String>| match text {
        None => Some(Datagram::Unreachable),
        Some(text) => from_hex(text).map(|bytes| Datagram::Bytes(bytes.into())),
    };
    let flow = |of: &DatagramsRef| Some((Id(of.flow), of.answers.iter().map(answer).collect::<Option<_>>()?));
    all.iter().map(flow).collect()
}

/// What was answered at a place: so many of the answers to each flow.
pub(crate) fn at_place(counts: &[CountRef], all: &Flows) -> Option<Flows> {
    let flow = |CountRef { flow, count }: &CountRef| {
        let answers = all.get(&Id(*flow)).map_or(&[][..], |answers| answers);
        Some((Id(*flow), answers.get(..*count)?.to_vec()))
    };
    counts.iter().map(flow).collect()
}

/// How many answers to each flow were heard.
pub(crate) fn counts(heard: &Heard) -> Vec<CountRef> {
    heard.datagrams.iter().map(|(flow, answers)| CountRef { flow: flow.0, count: answers.len() }).collect()
}

/// All answers, for a record: along a schedule they only grow.
pub(crate) fn written<'a>(places: impl Iterator<Item = &'a Heard>) -> Vec<DatagramsRef> {
    let mut longest: BTreeMap<Id, &[Datagram]> = BTreeMap::new();
    for (flow, answers) in places.flat_map(|heard| &heard.datagrams) {
        let known = longest.entry(*flow).or_default();
        if answers.len() > known.len() {
            *known = answers;
        }
    }
    let answer = |answer: &Datagram| answer.bytes().map(to_hex);
    let flow = |(flow, answers): (Id, &[Datagram])| DatagramsRef {
        flow: flow.0,
        answers: answers.iter().map(answer).collect(),
    };
    longest.into_iter().map(flow).collect()
}
