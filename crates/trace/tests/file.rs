//! Counterexample files: what is written is read back, and nothing that anyone does to a file brings the reader down.
#![allow(clippy::disallowed_methods, reason = "tests use the host")]

use trace::*;

fn location(line: u32) -> Location {
    Location { file: "bank.pml".to_owned(), line, column: 5, width: 8 }
}

fn event(actor: u32, text: &str) -> Event {
    Event {
        actor,
        kind: EventKind::Statement,
        text: text.to_owned(),
        location: Some(location(7)),
        changes: vec![Change { name: "x".to_owned(), before: "0".to_owned(), after: "1".to_owned() }],
        message: Some(Message {
            channel: "ch".to_owned(),
            direction: Direction::Send,
            fields: vec!["ack".to_owned(), "3".to_owned()],
            partner: Some(1),
        }),
        output: Some("\"quoted\" \u{1f600}\n".to_owned()),
        failure: None,
        uninterrupted: false,
        is_local: false,
        created: Some(2),
    }
}

fn sample() -> Counterexample {
    let choices = vec![Choice { actor: 0, index: 0 }, Choice { actor: 1, index: 2 }, Choice { actor: 0, index: 1 }];
    let told =
        |choice: &Choice| TraceStep { choice: *choice, events: vec![event(choice.actor, "ch!ack(3)")], is_local: None };
    let mut sample = Counterexample {
        version: VERSION,
        id: String::new(),
        created: 1_700_000_000,
        tool: "allways 0.1.0".to_owned(),
        system: SystemRef { kind: "promela".to_owned(), file: "bank.pml".to_owned(), ..SystemRef::default() },
        property: PropertyRef { name: "live".to_owned(), kind: FailureKind::Ltl },
        message: "`[]<> x` does not hold".to_owned(),
        location: Some(location(3)),
        fairness: true,
        trace: Trace {
            actors: vec![ActorName { actor: 0, name: "main:0".to_owned() }],
            steps: choices.iter().map(told).collect(),
            cycle_start: Some(1),
        },
        schedule: Schedule { choices, cycle_start: Some(1) },
        final_state: vec![Variable { name: "x".to_owned(), value: "1".to_owned() }],
        wait_for: vec![Waiting {
            actor: 1,
            reason: WaitReason::Stated,
            text: "waits for room in ch".to_owned(),
            location: None,
        }],
        notes: Vec::new(),
        programs: None,
        is_driven: false,
    };
    sample.name_apart_from(|_| false);
    sample
}

fn refusal(text: &str) -> String {
    Counterexample::from_json(text.as_bytes()).expect_err("must be refused").to_string()
}

fn refused_after(edit: impl FnOnce(&mut Counterexample)) -> String {
    let mut edited = sample();
    edit(&mut edited);
    refusal(&edited.to_json())
}

#[test]
fn what_is_written_is_read_back() {
    let sample = sample();
    assert_eq!(Counterexample::read(sample.to_json().as_bytes()).expect("reads"), sample);
}

#[test]
fn a_file_without_told_steps_is_read() {
    let mut sample = sample();
    sample.trace.steps.clear();
    assert_eq!(Counterexample::from_json(sample.to_json().as_bytes()).expect("reads"), sample);
}

#[test]
fn refusals_say_what_is_wrong() {
    assert_eq!(refusal(" \n"), "the file is empty");
    assert_eq!(refusal(r#"{"version": 1"#), "the file ends in the middle");
    assert_eq!(refusal(r#"{"version": 99}"#), "format version 99; this program reads version 1");
    assert!(refusal("{}").contains("missing field `version`"));
    assert!(refusal(r#"{"version": 1}"#).contains("missing field `id`"));
    assert!(refusal(&"[".repeat(1_000_000)).contains("not a counterexample"));
    let nested = format!(r#"{{"version": 1, "extra": {}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    assert!(refusal(&nested).contains("missing field `id`"));
}

#[test]
fn contradictions_are_refused() {
    assert!(refused_after(|cx| cx.id = "../../etc".to_owned()).contains("not a hexadecimal number"));
    assert!(refused_after(|cx| cx.schedule.cycle_start = Some(4)).contains("after the last step"));
    assert!(refused_after(|cx| cx.schedule.cycle_start = None).contains("disagree about the cycle"));
    assert!(refused_after(|cx| cx.schedule.choices[0].index = 9).contains("disagree about the choices"));
    assert!(refused_after(|cx| drop(cx.trace.steps.pop())).contains("disagree about the choices"));
}

#[test]
fn every_truncation_is_an_error() {
    let text = sample().to_json();
    for length in 0..text.trim_end().len() {
        assert!(Counterexample::from_json(&text.as_bytes()[..length]).is_err(), "first {length} bytes");
    }
}

#[test]
fn mutated_files_never_panic_and_what_is_accepted_is_consistent() {
    let original = sample().to_json().into_bytes();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = |bound: usize| {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (random >> 33) as usize % bound
    };
    let mut accepted = 0;
    for _ in 0..20_000 {
        let mut bytes = original.clone();
        for _ in 0..=draw(3) {
            let at = draw(bytes.len());
            match draw(4) {
                0 => bytes[at] = draw(256) as u8,
                1 => bytes[at] = b"{}[]\",:0-9e"[draw(11)],
                2 => drop(bytes.remove(at)),
                _ => bytes.insert(at, b"{}[]\",:0-9e"[draw(11)]),
            }
        }
        if let Ok(read) = Counterexample::from_json(&bytes) {
            accepted += 1;
            assert_eq!(Counterexample::from_json(read.to_json().as_bytes()).expect("reads again"), read);
        }
    }
    // Most mutations hit a text, where they do no harm: the loop above must not be vacuous.
    assert!(accepted > 1_000, "{accepted} of the mutated files were accepted");
}

#[test]
fn an_id_depends_on_content_only_and_grows_on_a_clash() {
    let (first, mut again) = (sample(), sample());
    again.created += 5;
    again.tool = "allways 9.9.9".to_owned();
    again.name_apart_from(|_| false);
    assert_eq!((first.id.len(), &first.id), (4, &again.id));
    again.name_apart_from(|id| id.len() < 6);
    assert_eq!(again.id.len(), 6);
    again.schedule.choices[0].index = 1;
    again.name_apart_from(|_| false);
    assert_ne!(first.id, again.id);
}

#[test]
fn kinds_are_named_as_the_check_flag_names_them() {
    for kind in FailureKind::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
        assert_eq!(serde_json::to_string(&kind).expect("serialises"), format!("\"{kind}\""));
    }
    assert!("liveness".parse::<FailureKind>().is_err());
}

#[test]
fn context_switches_are_counted() {
    let choices = [0, 0, 1, 1, 0].map(|actor| Choice { actor, index: 0 }).to_vec();
    assert_eq!(Schedule { choices, cycle_start: None }.context_switches(), 2);
}

/// A file of today in which one event and one wait are as older versions wrote them.
fn with_older(kind: &str) -> Counterexample {
    let mut file: serde_json::Value = serde_json::from_str(&sample().to_json()).expect("it is JSON");
    file["trace"]["steps"][0]["events"][0]["kind"] = serde_json::from_str(kind).expect("it is JSON");
    file["trace"]["steps"][0]["events"][0]["text"] = "as it was told".into();
    file["wait_for"][0]["reason"] = serde_json::from_str(kind).expect("it is JSON");
    Counterexample::from_json(file.to_string().as_bytes()).expect("it is read")
}

#[test]
fn kinds_of_other_versions_are_read_and_told_by_their_texts() {
    let older = [r#""sleep""#, r#""print""#, r#""operation""#, r#"{"call": {"name": "read", "error": "EAGAIN"}}"#];
    for kind in older.into_iter().chain([r#"{"of_a_later_version": [1]}"#, "7", "null"]) {
        let read = with_older(kind);
        let event = &read.trace.steps[0].events[0];
        assert_eq!((&event.kind, event.text.as_str()), (&EventKind::Statement, "as it was told"), "{kind}");
        assert_eq!(read.wait_for[0].reason, WaitReason::Stated, "{kind}");
    }
}

#[test]
fn what_an_event_is_comes_back_from_a_file() {
    let call = Call {
        name: "read".to_owned(),
        purpose: Purpose::Plain,
        arguments: vec![
            Argument::Descriptor { fd: 0, file: FileKind::Stream(Stream::Input) },
            Argument::Semaphores { set: 1, operations: vec![(0, -1)] },
        ],
        progress: Progress::Returned(Returned::EndOfInput),
        fault: Some("loss".to_owned()),
        passage: Some(Passage {
            channel: "pipe 1".to_owned(),
            direction: Direction::Send,
            bytes: 3,
            is_message: false,
        }),
    };
    assert!(call.is_end_of_input());
    let holder = ThreadRef { actor: 2, name: "T2".to_owned() };
    let object = Some("m".to_owned());
    let kinds = [
        EventKind::Call(call.clone()),
        EventKind::Call(Call { purpose: Purpose::Sleeps(Some(5)), progress: Progress::Waits, ..call }),
        EventKind::Operation(Operation { verb: Verb::Lock, object, has_time_limit: true }),
        EventKind::Time { nanoseconds: 7, slow: vec![holder.clone()] },
        EventKind::End(Ending::Killed("SIGSEGV".to_owned())),
        EventKind::Delivery { answer: Some(Bytes::unreadable(3)), end: Some(ConnectionEnd::Reset), is_client: true },
        EventKind::Local,
    ];
    for kind in kinds {
        let mut sample = sample();
        sample.trace.steps[0].events[0].kind = kind;
        sample.wait_for[0].reason = WaitReason::Lock { name: "m".to_owned(), holder: holder.clone(), since: Some(4) };
        assert_eq!(Counterexample::from_json(sample.to_json().as_bytes()).expect("reads"), sample);
    }
}
