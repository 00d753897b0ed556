//! Searches that were stopped anywhere and go on from their journal end as if nobody had stopped them; and whatever is in a
//! journal, they end.

use explore::journal::{Broken, Journal, Reader, Writer};
use explore::{
    AfterViolation, Bounds, Control, Incomplete, Options, Order, Outcome, Reduction, StoreKind, TransitionSystem,
    search,
};
use std::io::{self, Cursor};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use testkit::{Counters, Erased, Philosophers};
use twox_hash::XxHash3_128;

/// A journal in memory.
#[derive(Default)]
struct Kept {
    /// What is gone on from.
    begin: Mutex<Option<Vec<u8>>>,
    /// All that was written since.
    written: Mutex<Vec<Vec<u8>>>,
    /// How often it is due: once in so many questions; 0 for never.
    every: u64,
    asked: AtomicU64,
    refused: Mutex<Option<String>>,
}

impl Journal for Kept {
    fn is_due(&self) -> bool {
        self.every > 0 && self.asked.fetch_add(1, Relaxed) % self.every == self.every - 1
    }

    fn keep(&self, write: &mut dyn FnMut(&mut Writer<'_>) -> io::Result<()>) {
        let mut bytes = Vec::new();
        let mut to = Writer::new(&mut bytes);
        write(&mut to).and_then(|()| to.finish()).expect("memory takes everything");
        self.written.lock().unwrap().push(bytes);
    }

    fn take_kept(&self) -> Option<Reader> {
        let bytes = self.begin.lock().unwrap().take()?;
        let length = bytes.len() as u64;
        Some(Reader::new(Box::new(Cursor::new(bytes)), length))
    }

    fn refuse(&self, why: &Broken) {
        *self.refused.lock().unwrap() = Some(why.to_string());
    }
}

fn kept(begin: Option<Vec<u8>>, every: u64) -> Kept {
    Kept { begin: Mutex::new(begin), every, ..Kept::default() }
}

/// Searches until it has polled its bounds so often.
fn search_until<S>(system: &S, options: &Options, journal: &Kept, polls: u64) -> Outcome
where
    S: TransitionSystem<State = Vec<u8>, Scratch = Vec<u8>>,
{
    let (interrupt, polled) = (Arc::new(AtomicBool::new(false)), AtomicU64::new(0));
    let pause = || interrupt.store(polled.fetch_add(1, Relaxed) >= polls, Relaxed);
    let control =
        Control { interrupt: Some(&interrupt), pause: Some(&pause), journal: Some(journal), ..Control::default() };
    let outcome = search(&Erased::new(system), options, control);
    assert_eq!(*journal.refused.lock().unwrap(), None);
    outcome
}

/// What must not depend on interruptions.
fn essence(outcome: &Outcome) -> impl PartialEq + std::fmt::Debug + use<> {
    let stats = outcome.stats;
    let counts = (stats.states, stats.steps, stats.matched, stats.reduced, stats.depth_max, stats.frontier_max);
    (counts, outcome.incomplete.clone(), outcome.violations.clone())
}

/// Searches in pieces until one ends by itself; gives its outcome and the number of pieces. What was written last is lost in one
/// of three: the process was killed.
fn in_pieces<S>(system: &S, options: impl Fn(u64) -> Options) -> (Outcome, u64)
where
    S: TransitionSystem<State = Vec<u8>, Scratch = Vec<u8>>,
{
    let (mut begin, mut pieces) = (None, 0);
    loop {
        let journal = kept(begin.clone(), 5);
        let outcome = search_until(system, &options(pieces), &journal, 3 + pieces % 11 * 4);
        pieces += 1;
        assert!(pieces < 3_000, "it does not come to its end");
        if !outcome.incomplete.contains(&Incomplete::Interrupted) {
            return (outcome, pieces);
        }
        let mut written = journal.written.into_inner().unwrap();
        if pieces % 3 == 0 && written.len() > 1 {
            written.pop();
        }
        begin = written.pop().or(begin);
    }
}

const STORES: [StoreKind; 3] = [StoreKind::Tree, StoreKind::Fingerprint64, StoreKind::Fingerprint128];

fn whole<S>(system: &S, options: &Options) -> Outcome
where
    S: TransitionSystem<State = Vec<u8>, Scratch = Vec<u8>>,
{
    search(&Erased::new(system), options, Control::default())
}

#[test]
fn a_search_by_breadth_in_pieces_ends_as_one_that_nobody_stopped_with_any_workers() {
    let system = Counters { stride: 5, forbidden: Some(4), may_end: false, ..Counters::new(5, 6) };
    let after_violation = AfterViolation::Continue { states: None };
    for store in STORES {
        let options = Options { store, after_violation, ..Options::default() };
        let expected = whole(&system, &options);
        assert_eq!(expected.violations.len(), 2);
        for workers in [[1, 1], [2, 2], [1, 4]] {
            let of = |piece: u64| Options { workers: workers[piece as usize % 2], ..options.clone() };
            let (outcome, pieces) = in_pieces(&system, of);
            assert!(pieces > 5, "{pieces} pieces");
            assert_eq!(essence(&outcome), essence(&expected), "{store:?} {workers:?}");
        }
    }
}

#[test]
fn a_search_by_depth_in_pieces_ends_as_one_that_nobody_stopped() {
    let system = Counters { forbidden: Some(4), may_end: false, ..Counters::new(5, 6) };
    for (store, depth) in
        [(StoreKind::Tree, None), (StoreKind::Fingerprint128, Some(20)), (StoreKind::Fingerprint64, None)]
    {
        let bounds = Bounds { depth, ..Bounds::default() };
        let after_violation = AfterViolation::Continue { states: None };
        let options =
            Options { order: Order::Depth { seed: None }, store, bounds, after_violation, ..Options::default() };
        let (outcome, pieces) = in_pieces(&system, |_| options.clone());
        assert!(pieces > 5, "{pieces} pieces");
        assert_eq!(essence(&outcome), essence(&whole(&system, &options)), "{store:?}");
    }
}

#[test]
fn bits_are_kept_too() {
    let bounds = Bounds { bytes: Some(1 << 20), ..Bounds::default() };
    let store = StoreKind::Bitstate { hashes: 3 };
    let options = Options { store, bounds, ..Options::default() };
    let system = Counters::new(5, 6);
    let (outcome, pieces) = in_pieces(&system, |_| options.clone());
    assert!(pieces > 5, "{pieces} pieces");
    assert_eq!(essence(&outcome), essence(&whole(&system, &options)));
}

#[test]
fn the_first_violation_is_the_same_and_so_is_what_reduction_leaves_out() {
    let counters = Counters { forbidden: Some(3), ..Counters::new(6, 5) };
    let (outcome, _) = in_pieces(&counters, |_| Options::default());
    assert_eq!(essence(&outcome), essence(&whole(&counters, &Options::default())));
    assert_eq!(outcome.incomplete, [Incomplete::StoppedAtViolation]);
    let philosophers = Philosophers { count: 9, polite: false };
    let options = Options {
        reduction: Reduction::Safety,
        after_violation: AfterViolation::Continue { states: None },
        ..Options::default()
    };
    let (outcome, _) = in_pieces(&philosophers, |_| options.clone());
    assert_eq!(essence(&outcome), essence(&whole(&philosophers, &options)));
    assert!(!outcome.violations.is_empty());
}

#[test]
fn a_search_that_ran_out_of_memory_goes_on_with_more() {
    let system = Counters { stride: 8, ..Counters::new(6, 5) };
    let expected = whole(&system, &Options::default());
    for order in [Order::Breadth, Order::Depth { seed: None }] {
        let expected = whole(&system, &Options { order, ..Options::default() });
        let (mut begin, mut stopped) = (None, 0);
        for bytes in [400_000, 900_000, 1_500_000, 1 << 30] {
            let bounds = Bounds { bytes: Some(bytes), ..Bounds::default() };
            let journal = kept(begin.clone(), 0);
            let options = Options { order, workers: 2, bounds, ..Options::default() };
            let outcome = search_until(&system, &options, &journal, u64::MAX);
            if outcome.incomplete == [Incomplete::Memory] {
                stopped += 1;
                begin = journal.written.into_inner().unwrap().pop();
                assert!(begin.is_some(), "{order:?}: nothing was kept");
            } else {
                assert_eq!(essence(&outcome), essence(&expected), "{order:?}");
            }
        }
        assert!(stopped >= 2, "{order:?}: memory was enough");
    }
    assert!(expected.complete());
}

/// Some journals of both orders, in the middle.
fn samples() -> Vec<(Options, Vec<u8>)> {
    let system = sample_system();
    let options = |order, store| Options {
        order,
        store,
        after_violation: AfterViolation::Continue { states: None },
        ..Options::default()
    };
    let mut samples = Vec::new();
    for order in [Order::Breadth, Order::Depth { seed: None }] {
        for store in STORES {
            let (options, journal) = (options(order, store), kept(None, 0));
            search_until(&system, &options, &journal, if order == Order::Breadth { 25 } else { 8 });
            samples.push((options, journal.written.into_inner().unwrap().pop().expect("it was stopped")));
        }
    }
    samples
}

fn sample_system() -> Counters {
    Counters { stride: 9, forbidden: Some(1), may_end: false, ..Counters::new(4, 5) }
}

/// Bytes of a checksum, and of the length before it.
const FRAME: usize = 4 + 16;

fn unframed(mut bytes: &[u8]) -> Vec<u8> {
    let mut payload = Vec::new();
    while !bytes.is_empty() {
        let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        payload.extend_from_slice(&bytes[FRAME..FRAME + length]);
        bytes = &bytes[FRAME + length..];
    }
    payload
}

fn framed(payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (number, block) in payload.chunks(1 << 16).chain([&[][..]]).enumerate() {
        bytes.extend((block.len() as u32).to_le_bytes());
        bytes.extend(XxHash3_128::oneshot_with_seed(number as u64, block).to_le_bytes());
        bytes.extend(block);
    }
    bytes
}

/// Changes some values of a journal into ones that break arithmetic, or cuts it.
fn mutated(payload: &[u8], mut below: impl FnMut(usize) -> usize) -> Vec<u8> {
    const EDGES: [u64; 9] = [0, 1, 2, 255, 0xffff_ffff, 1 << 31, 1 << 32, 1 << 63, u64::MAX];
    let mut payload = payload.to_vec();
    for _ in 0..=below(3) {
        let at = below(payload.len() - 8);
        match below(8) {
            0 => payload.truncate(at + 8),
            1 => drop(payload.drain(at..at + 1 + below(8))),
            2 => payload[at] ^= 1 << below(8),
            3 => payload[at..at + 4].copy_from_slice(&(EDGES[below(EDGES.len())] as u32).to_le_bytes()),
            4 => payload.splice(at..at, [0; 8]).for_each(drop),
            _ => payload[at..at + 8].copy_from_slice(&EDGES[below(EDGES.len())].to_le_bytes()),
        }
        if payload.len() <= 16 {
            break;
        }
    }
    payload
}

#[test]
fn whatever_is_in_a_journal_a_search_ends() {
    let system = sample_system();
    let (mut refused, mut taken) = (0, 0);
    for (options, bytes) in samples() {
        assert_eq!(framed(&unframed(&bytes)), bytes, "the test knows the format");
        let payload = unframed(&bytes);
        let mut seed = 88_172_645_463_325_252_u64;
        let cases = std::env::var("JOURNALS").ok().and_then(|text| text.parse().ok()).unwrap_or(400);
        for case in 0..cases {
            let below = |bound: usize| {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                (seed % bound.max(1) as u64) as usize
            };
            // Where numbers are that lead to others: most bytes are those of the store.
            let changed = if case % 4 == 0 { mutated(&payload[..], below) } else { near_the_end(&payload, below) };
            let journal = kept(Some(framed(&changed)), 0);
            let bounds = Bounds { states: Some(100_000), bytes: Some(64 << 20), ..Bounds::default() };
            let options = Options { bounds, ..options.clone() };
            let outcome =
                search(&Erased::new(&system), &options, Control { journal: Some(&journal), ..Control::default() });
            let why = journal.refused.into_inner().unwrap();
            assert_eq!(
                why.is_some(),
                outcome.stats.states == 0 && outcome.incomplete == [Incomplete::Journal],
                "{why:?}"
            );
            if why.is_some() { refused += 1 } else { taken += 1 }
        }
    }
    assert!(refused > 200 && taken > 50, "{refused} refused, {taken} taken");
}

/// The same for what comes after the store.
fn near_the_end(payload: &[u8], below: impl FnMut(usize) -> usize) -> Vec<u8> {
    let (start, end) = payload.split_at(payload.len() - payload.len().min(600));
    [start, &mutated(end, below)].concat()
}
