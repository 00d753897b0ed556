//! Every supported instruction form against the host's own processor: registers, flags, memory, x87, SSE state, faults.
//!
//! A bounded number of cases runs with the other tests. More of them, other ones, or one form only:
//!
//! ```text
//! HOST_CASES=20000 cargo nextest run -p x86 host:: --cargo-profile release
//! HOST_SEED=7 HOST_FORM=Addps_xmm_xmmm128 cargo test -p x86 host::
//! ```
//!
//! A form that is supported but cannot be exercised must be named in `left_out.rs`, with the reason.

mod bench;
mod compare;
mod encode;
mod left_out;
mod numbers;
mod random;
mod state;

use std::fmt::Write as _;

use iced_x86::{Code, CpuidFeature};

use bench::{Bench, Report};
use hostcpu::Host;
use left_out::reason;
use random::Random;

/// Cases for each form where HOST_CASES does not say.
const CASES: u32 = 150;
/// Failures that are described; the rest is counted.
const SHOWN: usize = 12;

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Family {
    Integer,
    Vector,
    X87,
}

fn family(code: Code) -> Family {
    let features = code.cpuid_features();
    let has = |wanted: &[CpuidFeature]| features.iter().any(|feature| wanted.contains(feature));
    if has(&[CpuidFeature::FPU, CpuidFeature::FPU287, CpuidFeature::FPU387]) {
        return Family::X87;
    }
    let vector = [
        CpuidFeature::MMX,
        CpuidFeature::SSE,
        CpuidFeature::SSE2,
        CpuidFeature::SSE3,
        CpuidFeature::SSSE3,
        CpuidFeature::SSE4_1,
        CpuidFeature::SSE4_2,
        CpuidFeature::AES,
        CpuidFeature::PCLMULQDQ,
        CpuidFeature::FXSR,
    ];
    if has(&vector) { Family::Vector } else { Family::Integer }
}

/// Exercises all forms of a family and fails with a list of differences.
fn check(wanted: Family) {
    let host = Host::new();
    assert!(
        host.is_some() || !cfg!(all(target_arch = "x86_64", target_os = "linux")),
        "the host's processor is missing"
    );
    let Some(host) = host else { return };
    let mut bench = Bench::new(host);
    let cases = variable("HOST_CASES").unwrap_or(CASES.into()) as u32;
    let seed = variable("HOST_SEED").unwrap_or(1);
    let only = std::env::var("HOST_FORM").ok();
    let chosen = |code: &Code| only.as_ref().is_none_or(|form| format!("{code:?}").starts_with(form.as_str()));
    let forms = Code::values().filter(|&code| x86::supported(code) && family(code) == wanted && reason(code).is_none());
    let reports: Vec<(Code, Report)> = forms
        .filter(chosen)
        .map(|code| {
            let mut random = Random::new(seed.wrapping_mul(0x1_0001).wrapping_add(code as u64));
            (code, bench.exercise(code, cases, &mut random))
        })
        .collect();
    assert!(!reports.is_empty(), "no form of this family is supported");
    conclude(&reports);
}

fn conclude(reports: &[(Code, Report)]) {
    let idle: Vec<_> = reports.iter().filter(|(_, report)| report.agreed + report.differed == 0).map(|r| r.0).collect();
    let wrong: Vec<_> = reports.iter().filter(|(_, report)| report.differed > 0).collect();
    let mut text = String::new();
    for (code, report) in &wrong {
        let _ = writeln!(text, "{code:?}: {} of {} cases differ", report.differed, report.agreed + report.differed);
    }
    for (_, report) in wrong.iter().take(SHOWN) {
        text.push_str(report.first.as_deref().unwrap_or(""));
    }
    if !idle.is_empty() {
        let _ = writeln!(text, "supported, but no case could be built: {idle:?}");
    }
    assert!(text.is_empty(), "{} of {} forms differ from the host\n{text}", wrong.len(), reports.len());
}

#[test]
fn integer_forms_do_what_the_host_does() {
    check(Family::Integer);
}

#[test]
fn vector_forms_do_what_the_host_does() {
    check(Family::Vector);
}

#[test]
fn x87_forms_do_what_the_host_does() {
    check(Family::X87);
}

#[test]
fn every_form_that_is_left_out_is_supported() {
    for (code, _) in left_out::all() {
        assert!(x86::supported(code), "{code:?} is not supported, so it need not be left out");
    }
}
