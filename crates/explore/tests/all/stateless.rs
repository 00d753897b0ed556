//! Classes of schedules, counted exactly: the numbers are those of independent enumerations.

use crate::toy::classics::{self, Buffer};
use crate::toy::code::Op;
use crate::toy::{Machine, Program};
use explore::graph::{FootprintSystem, Stopped};
use explore::stateless::{Limits, Report, search};
use trace::FailureKind;

fn stateless(program: &Program) -> Report {
    let mut stop = |_: u64, _: u64| false;
    let mut limits = Limits { depth: 1000, executions: u64::MAX, failures: usize::MAX, stop: &mut stop };
    let report = search(&mut Machine::new(program.clone()), &mut limits);
    assert!(report.complete);
    report
}

/// Classes, those that end stuck, those that fail.
fn counts(program: &Program) -> (u64, u64, u64) {
    let report = stateless(program);
    (report.traces, report.stuck, report.failed)
}

#[test]
fn philosophers_have_as_many_classes_as_orientations_of_their_table() {
    for count in 2..=8 {
        let all = 1 << count;
        assert_eq!(counts(&classics::philosophers(count, false)), (all - 1, 1, 0));
        assert_eq!(counts(&classics::philosophers(count, true)), (all - 2, 0, 0));
    }
}

#[test]
fn the_remote_agent_has_four_classes_a_round_and_half_of_them_deadlock_when_it_looks_outside() {
    for rounds in 1..=3 {
        let all = 4_u64.pow(rounds as u32);
        assert_eq!(counts(&classics::remote_agent(rounds, false)), (all, 0, 0));
        assert_eq!(counts(&classics::remote_agent(rounds, true)), (2 * all - 1, all - 1, 0));
    }
}

#[test]
fn a_bounded_buffer_has_eight_classes_for_one_producer_and_one_consumer() {
    for variant in [Buffer::Right, Buffer::If, Buffer::Signal, Buffer::Broadcast] {
        assert_eq!(counts(&classics::buffer(variant, 1, 2)), (8, 0, 0), "{variant:?}");
    }
}

#[test]
fn a_bounded_buffer_for_two_of_each_fails_in_as_many_classes_as_it_should() {
    assert_eq!(counts(&classics::buffer(Buffer::Right, 2, 1)), (64, 0, 0));
    assert_eq!(counts(&classics::buffer(Buffer::If, 2, 1)), (64, 0, 8));
    assert_eq!(counts(&classics::buffer(Buffer::Signal, 2, 1)), (80, 8, 0));
    assert_eq!(counts(&classics::buffer(Buffer::Broadcast, 2, 1)), (80, 0, 0));
}

#[test]
fn treibers_stack_store_buffering_and_petersons_lock_are_counted_exactly() {
    assert_eq!(counts(&classics::treiber(1)), (80, 0, 0));
    assert_eq!(counts(&classics::store_buffering()), (3, 0, 0));
    for (rounds, complete) in [(1, 4), (2, 48), (3, 588)] {
        let (all, stuck, failed) = counts(&classics::peterson(rounds));
        assert_eq!((all - stuck, failed), (complete, 0));
    }
}

#[test]
fn larger_ones_are_counted_exactly() {
    assert_eq!(counts(&classics::treiber(2)), (16_588, 0, 0));
    assert_eq!(counts(&classics::buffer(Buffer::If, 2, 2)), (53_396, 0, 11_672));
}

#[test]
fn what_a_search_without_memory_finds_leads_where_it_says() {
    let program = classics::buffer(Buffer::If, 2, 1);
    let report = stateless(&program);
    let [found] = &report.found[..] else { panic!("{:?}", report.found) };
    assert_eq!(found.failure.kind, FailureKind::Assert);
    let mut machine = Machine::new(program);
    let mut reached = machine.initial();
    for choice in &found.schedule {
        reached = machine.step(&reached.state, *choice).expect("it was a step").reached;
    }
    assert_eq!(reached.fingerprint, found.fingerprint);
}

#[test]
fn an_endless_program_is_cut_and_that_is_said() {
    let program = Program {
        threads: vec![vec![Op::Add { var: 0, value: 1, old: 0 }, Op::Jump(0)]],
        born: 1,
        vars: vec![0],
        ..Program::default()
    };
    let mut stop = |_: u64, _: u64| false;
    let mut limits = Limits { depth: 50, executions: u64::MAX, failures: usize::MAX, stop: &mut stop };
    let report = search(&mut Machine::new(program), &mut limits);
    assert_eq!((report.cut, report.depth_max, report.complete), (1, 50, false));
    assert_eq!(report.stopped, Some(Stopped::Depth));
}
