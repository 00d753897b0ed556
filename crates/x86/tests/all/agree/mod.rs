//! The lowered interpreter does what the reference does, at every step.

mod generate;
mod guest;

use generate::{Kind, Random, program};
use x86::{Code, Stop};

/// Runs both interpreters side by side in pieces of random length and compares everything at each stop.
fn check(seed: u64, kind: Kind, code: &mut Code) -> u64 {
    let mut random = Random::new(seed);
    let start = program(&mut random, kind);
    let (mut lowered, mut reference) = (start.build(), start.build());
    let mut done = 0;
    while done < 400 {
        let piece = random.piece();
        let stop = lowered.run(code, piece);
        let expected = reference.step_many(piece, code);
        assert_eq!(stop, expected, "seed {seed} {kind:?} after {done} instructions\n{}", start.listing());
        reference.assert_same(&mut lowered, || {
            format!("seed {seed} {kind:?} at {done} + {}\n{}", stop.executed, start.listing())
        });
        done += stop.executed;
        if stop.trap.is_some() {
            break;
        }
    }
    done
}

fn check_many(kind: Kind, seeds: std::ops::Range<u64>) {
    let mut code = Code::new();
    let executed: u64 = seeds.clone().map(|seed| check(seed, kind, &mut code)).sum();
    assert!(executed > 3 * (seeds.end - seeds.start), "programs end too early to say anything: {executed}");
}

/// How many random programs; `X86_CASES` asks for more.
fn cases() -> u64 {
    std::env::var("X86_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1500)
}

#[test]
fn random_integer_code_means_the_same_lowered() {
    check_many(Kind::Integer, 0..cases());
}

#[test]
fn random_integer_code_with_branches_means_the_same_lowered() {
    check_many(Kind::Branches, 0..cases());
}

#[test]
fn random_vector_code_means_the_same_lowered() {
    check_many(Kind::Vector, 0..cases());
}

#[test]
fn random_bytes_mean_the_same_lowered() {
    let mut code = Code::new();
    (0..cases()).for_each(|seed| {
        check(seed, Kind::Bytes, &mut code);
    });
}

#[test]
fn code_that_rewrites_itself_means_the_same_lowered() {
    check_many(Kind::Rewriting, 0..cases());
}

#[test]
fn a_run_of_n_and_one_of_m_is_a_run_of_n_plus_m() {
    let mut code = Code::new();
    for seed in 0..300 {
        let start = program(&mut Random::new(seed), Kind::Branches);
        let (mut whole, mut parts) = (start.build(), start.build());
        let all = whole.run(&mut code, 200);
        let mut executed = 0;
        let mut trap = None;
        let mut random = Random::new(!seed);
        while executed < 200 && trap.is_none() {
            let stop = parts.run(&mut code, random.piece().min(200 - executed));
            executed += stop.executed;
            trap = stop.trap;
        }
        assert_eq!(all, Stop { executed, trap }, "seed {seed}");
        whole.assert_same(&mut parts, || format!("seed {seed}"));
    }
}

#[test]
fn an_empty_cache_changes_nothing() {
    let mut warm = Code::new();
    for seed in 0..300 {
        let start = program(&mut Random::new(seed), Kind::Branches);
        let (mut one, mut other) = (start.build(), start.build());
        assert_eq!(one.run(&mut warm, 150), other.run(&mut Code::new(), 150), "seed {seed}");
        one.assert_same(&mut other, || format!("seed {seed}"));
    }
}

/// A program that toggles the alignment and identification flags, as those do that look what processor they run on, and then
/// loads four bytes from an odd address.
#[test]
fn alignment_is_checked_while_its_flag_is_set() {
    // pushfq; xor qword [rsp], AC | ID; popfq; pushfq; pop rcx; mov eax, [rbx]; mov eax, [rbx + 1]
    let bytes = b"\x9c\x48\x81\x34\x24\x00\x00\x24\x00\x9d\x9c\x59\x8b\x03\x8b\x43\x01";
    let mut cpu = x86::Cpu { rip: guest::CODE, ..x86::Cpu::default() };
    cpu.gpr[3] = guest::DATA;
    cpu.gpr[4] = guest::STACK + 0x1000;
    let start = guest::Start { code: bytes.to_vec(), data: vec![7; 64], cpu, writable: false };
    let (mut lowered, mut reference, mut code) = (start.build(), start.build(), Code::new());
    let expected = Stop { executed: 6, trap: Some(x86::Trap::AlignmentCheck) };
    assert_eq!(lowered.run(&mut code, 100), expected);
    assert_eq!(reference.step_many(100, &mut code), expected);
    assert_eq!((lowered.cpu.gpr[1] & 0x24_0000, lowered.cpu.gpr[0]), (0x24_0000, 0x0707_0707));
    reference.assert_same(&mut lowered, String::new);
}

/// Rust does not promise that a call in tail position is a jump; release builds count on it for speed. Programs that loop would
/// show a handler that returns.
#[cfg(not(debug_assertions))]
#[test]
fn no_handler_leaves_anything_on_the_stack_of_the_host() {
    let mut code = Code::new();
    for kind in [Kind::Integer, Kind::Branches, Kind::Vector] {
        for seed in 0..cases() {
            let start = program(&mut Random::new(seed), kind);
            start.build().run(&mut code, 50_000);
            assert_eq!(code.bounces(), 0, "seed {seed} {kind:?}\n{}", start.listing());
        }
    }
}
