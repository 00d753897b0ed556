//! The oracle executes what it is given and reports faults.
#![allow(clippy::disallowed_methods, reason = "tests use the host")]

use hostcpu::{CODE, Host, Outcome, State, WINDOW};

fn state() -> State {
    let mut fx = [0; 512];
    fx[..2].copy_from_slice(&0x37fu16.to_le_bytes());
    fx[24..28].copy_from_slice(&0x1f80u32.to_le_bytes());
    State { gpr: [0; 16], rflags: 0x202, rip: 0, fx }
}

/// The host; absent only where it must be.
fn host() -> Option<Host> {
    let host = Host::new();
    assert!(host.is_some() || !cfg!(all(target_arch = "x86_64", target_os = "linux")), "the oracle cannot start");
    host
}

fn run(code: &[u8], state: &mut State) -> Option<Outcome> {
    Some(host()?.run(code, state))
}

#[test]
fn an_addition_sets_register_and_flags() {
    let mut s = state();
    (s.gpr[0], s.gpr[3]) = (u64::MAX, 1);
    if let Some(outcome) = run(&[0x48, 0x01, 0xd8], &mut s) {
        assert_eq!(outcome, Outcome::Done);
        assert_eq!((s.gpr[0], s.rflags & 0x8d5, s.rip), (0, 0x55, CODE + 3));
    }
}

#[test]
fn a_store_outside_the_window_is_a_segmentation_fault_at_its_address() {
    let mut s = state();
    s.gpr[3] = WINDOW - 1;
    if let Some(outcome) = run(&[0x88, 0x03], &mut s) {
        assert_eq!(outcome, Outcome::Signal { number: 11, address: WINDOW - 1 });
        assert_eq!(s.rip, CODE);
    }
}

#[test]
fn a_jump_is_followed_and_division_by_zero_is_reported() {
    let Some(mut host) = host() else { return };
    let mut s = state();
    assert_eq!(host.run(&[0xeb, 0x10], &mut s), Outcome::Done);
    assert_eq!(s.rip, CODE + 0x12);
    assert!(matches!(host.run(&[0xf7, 0xf3], &mut state()), Outcome::Signal { number: 8, .. }));
    assert!(matches!(host.run(&[0x0f, 0x0b], &mut state()), Outcome::Signal { number: 4, .. }));
    assert!(matches!(host.run(&[0xcc], &mut state()), Outcome::Signal { number: 5, .. }));
}

#[test]
fn sse_and_x87_registers_go_in_and_out() {
    let Some(mut host) = host() else { return };
    let mut s = state();
    s.fx[160..164].copy_from_slice(&1.5f32.to_le_bytes());
    assert_eq!(host.run(&[0xf3, 0x0f, 0x58, 0xc0], &mut s), Outcome::Done); // addss xmm0, xmm0
    assert_eq!(s.fx[160..164], 3.0f32.to_le_bytes());
    assert_eq!(host.run(&[0xd9, 0xe8], &mut s), Outcome::Done); // fld1
    assert_eq!(s.fx[32..42], [0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f]);
    assert_eq!(s.fx[4], 0x80);
}
