//! Calls about the machine: uname, sysinfo, limits, random numbers, scheduling.

mod control;
mod io_priority;
mod limits;
pub(crate) mod machine;
mod random;
mod schedule;

pub use machine::{MEMORY, RELEASE, System, VERSION};
pub use random::{random, random_bytes};

use crate::call::{Call, Control, Stop};
use crate::capability::Capability;
use crate::errno::{EINVAL, ENODEV, EPERM};
use crate::table::footprint::Changers::Anybody;
use crate::table::footprint::FootprintRule::{Asks, ChangesProcess, Everything, Local};
use crate::table::footprint::Subject::{Caller, GivenThread, Limits};
use crate::table::syscall::Startup;
use crate::table::syscall::{Argument::*, Row};
use crate::time::SECOND;

/// The calls of this family.
pub const ROWS: &[Row] = &[
    Row::full(24, "sched_yield", schedule::sched_yield, &[], Local).silent(),
    Row::full(63, "uname", uname, &[Hex], Asks(Anybody, Caller)).at_startup(Startup::Loads).silent(),
    Row::full(97, "getrlimit", limits::getrlimit, &[Int, Hex], Asks(Anybody, Caller)).silent(),
    Row::full(99, "sysinfo", sysinfo, &[Hex], Everything).silent(),
    Row::full(101, "ptrace", refused, &[Int, Int, Hex, Hex], Everything).partial(REFUSED),
    Row::full(103, "syslog", syslog, &[Int, Hex, Int], Everything).partial("the kernel has nothing to say"),
    Row::full(135, "personality", personality, &[Hex], Everything)
        .partial("only asking, and the switch for randomised addresses"),
    Row::full(140, "getpriority", schedule::getpriority, &[Int, Int], Everything),
    Row::full(141, "setpriority", schedule::setpriority, &[Int, Int, Int], Everything),
    Row::full(142, "sched_setparam", schedule::sched_setparam, &[Int, Hex], Everything).partial(schedule::NOTE),
    Row::full(143, "sched_getparam", schedule::sched_getparam, &[Int, Hex], Everything),
    Row::full(144, "sched_setscheduler", schedule::sched_setscheduler, &[Int, Int, Hex], Everything)
        .partial(schedule::NOTE),
    Row::full(145, "sched_getscheduler", schedule::sched_getscheduler, &[Int], Everything),
    Row::full(146, "sched_get_priority_max", schedule::sched_get_priority_max, &[Int], Everything),
    Row::full(147, "sched_get_priority_min", schedule::sched_get_priority_min, &[Int], Everything),
    Row::full(148, "sched_rr_get_interval", schedule::sched_rr_get_interval, &[Int, Hex], Everything),
    Row::absent(154, "modify_ldt", "ENOSYS: a kernel without 16-bit segments"),
    Row::full(157, "prctl", control::prctl, &[Int, Hex, Hex, Hex, Hex], ChangesProcess)
        .partial("the options that programs use")
        .silent(),
    Row::full(158, "arch_prctl", arch_prctl, &[Hex, Hex], Local).silent(),
    Row::full(159, "adjtimex", refused, &[Hex], Everything).partial(REFUSED),
    Row::full(160, "setrlimit", limits::setrlimit, &[Int, Hex], Everything),
    Row::full(169, "reboot", refused, &[Hex, Hex, Hex, Hex], Everything).partial(REFUSED),
    Row::full(170, "sethostname", sethostname, &[Hex, Size], Everything),
    Row::full(171, "setdomainname", setdomainname, &[Hex, Size], Everything),
    Row::full(172, "iopl", refused, &[Int], Everything).partial(REFUSED),
    Row::full(173, "ioperm", refused, &[Hex, Hex, Int], Everything).partial(REFUSED),
    Row::full(203, "sched_setaffinity", schedule::sched_setaffinity, &[Int, Size, Hex], Everything)
        .partial("there is one processor"),
    Row::full(204, "sched_getaffinity", schedule::sched_getaffinity, &[Int, Size, Hex], Asks(Anybody, GivenThread))
        .at_startup(Startup::Loads)
        .silent(),
    Row::full(219, "restart_syscall", restart_syscall, &[], Everything),
    Row::full(251, "ioprio_set", io_priority::ioprio_set, &[Int, Int, Hex], Everything),
    Row::full(252, "ioprio_get", io_priority::ioprio_get, &[Int, Int], Everything),
    Row::full(272, "unshare", unshare, &[Hex], Everything).partial("no namespaces"),
    Row::full(302, "prlimit64", limits::prlimit64, &[Int, Int, Hex, Hex], Asks(Anybody, Limits))
        .at_startup(Startup::Loads)
        .silent(),
    Row::full(305, "clock_adjtime", refused, &[Clock, Hex], Everything).partial(REFUSED),
    Row::full(308, "setns", refused, &[Fd, Hex], Everything).partial(REFUSED),
    Row::full(309, "getcpu", schedule::getcpu, &[Hex, Hex, Hex], Local),
    Row::absent(298, "perf_event_open", "ENOSYS: a kernel built without it"),
    Row::absent(317, "seccomp", "ENOSYS: a kernel built without it"),
    Row::full(318, "getrandom", random::getrandom, &[Hex, Size, Hex], Local).silent(),
    Row::absent(321, "bpf", "ENOSYS: a kernel built without it"),
    Row::absent(334, "rseq", "ENOSYS: as before Linux 4.18; libraries do without").silent().local(),
    Row::absent(425, "io_uring_setup", "ENOSYS: a kernel built without it"),
    Row::absent(426, "io_uring_enter", "ENOSYS: a kernel built without it"),
    Row::absent(427, "io_uring_register", "ENOSYS: a kernel built without it"),
    Row::absent(444, "landlock_create_ruleset", "ENOSYS: a kernel built without it"),
    Row::absent(445, "landlock_add_rule", "ENOSYS: a kernel built without it"),
    Row::absent(446, "landlock_restrict_self", "ENOSYS: a kernel built without it"),
];

/// What the table says about calls that end the run when a program makes them.
const REFUSED: &str = "refused when it is called";

/// A call that has a name, but no model.
fn refused(call: &mut Call<'_>) -> Result<u64, Stop> {
    call.unsupported("not modelled")
}

/// `uname(2)`.
fn uname(call: &mut Call<'_>) -> Result<u64, Stop> {
    const FIELD: usize = 65;
    let System { host, domain } = call.kernel.system.clone();
    let fields: [&[u8]; 6] = [b"Linux", &host, RELEASE.as_bytes(), VERSION.as_bytes(), b"x86_64", &domain];
    let mut bytes = [0; 6 * FIELD];
    for (place, field) in bytes.chunks_mut(FIELD).zip(fields) {
        place[..field.len()].copy_from_slice(field);
    }
    call.store(call.args[0], &bytes)?;
    Ok(0)
}

/// A name of up to 64 bytes that only the superuser may set.
fn load_name(call: &mut Call<'_>) -> Result<Vec<u8>, Stop> {
    let [address, length, ..] = call.args;
    if !call.can(Capability::Admin) {
        return Err(EPERM.into());
    }
    if length > 64 {
        return Err(EINVAL.into());
    }
    call.load_bytes(address, length as usize)
}

fn sethostname(call: &mut Call<'_>) -> Result<u64, Stop> {
    call.kernel.system.host = load_name(call)?;
    Ok(0)
}

fn setdomainname(call: &mut Call<'_>) -> Result<u64, Stop> {
    call.kernel.system.domain = load_name(call)?;
    Ok(0)
}

/// `sysinfo(2)`.
fn sysinfo(call: &mut Call<'_>) -> Result<u64, Stop> {
    // How much is in use depends on how pages are kept, which is no part of the state.
    const FREE: u64 = MEMORY / 2;
    let words = [call.kernel.clock.now() / SECOND, 0, 0, 0, MEMORY, FREE, 0, 0, 0, 0];
    let mut bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
    bytes.extend((call.kernel.threads.len() as u64).to_le_bytes());
    bytes.extend([0; 16]);
    bytes.extend(1u64.to_le_bytes());
    call.store(call.args[0], &bytes)?;
    Ok(0)
}

/// `syslog(2)`.
fn syslog(call: &mut Call<'_>) -> Result<u64, Stop> {
    let is_superuser = call.can(Capability::Log) || call.can(Capability::Admin);
    match call.int(0) {
        // Reading all, and the sizes, are for everybody.
        3 | 9 => Ok(0),
        10 => Ok(1 << 18),
        0..=8 if !is_superuser => Err(EPERM.into()),
        0 | 1 | 4..=8 => Ok(0),
        2 => call.unsupported("waiting for messages of the kernel"),
        _ => Err(EINVAL.into()),
    }
}

/// `personality(2)`.
fn personality(call: &mut Call<'_>) -> Result<u64, Stop> {
    const ASK: u32 = u32::MAX;
    const NO_RANDOMISATION: u32 = 0x0004_0000;
    let wanted = call.args[0] as u32;
    let old = call.process().controls.personality;
    if wanted != ASK {
        call.only_flags(u64::from(wanted), u64::from(NO_RANDOMISATION), "personality")?;
        call.process_mut().controls.personality = wanted;
    }
    Ok(u64::from(old))
}

/// `arch_prctl(2)`.
fn arch_prctl(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [code, address, ..] = call.args;
    let is_user = address < memory::USER_END;
    match code {
        0x1001 | 0x1002 if !is_user => Err(EPERM.into()),
        0x1001 => Err(Control::SetGsBase(address).into()),
        0x1002 => Err(Control::SetFsBase(address).into()),
        0x1003 => Err(Control::StoreBase { gs: false, address }.into()),
        0x1004 => Err(Control::StoreBase { gs: true, address }.into()),
        // ARCH_GET_CPUID: allowed; ARCH_SET_CPUID: the processor cannot fault on it.
        0x1011 => Ok(1),
        0x1012 => Err(ENODEV.into()),
        // Shadow stacks, larger registers: as on processors without them.
        _ => Err(EINVAL.into()),
    }
}

/// `restart_syscall(2)`: Linux makes programs call it after a signal; here the wait itself goes on.
fn restart_syscall(_: &mut Call<'_>) -> Result<u64, Stop> {
    Err(crate::errno::EINTR.into())
}

/// `unshare(2)`: what nobody shares is already one's own.
fn unshare(call: &mut Call<'_>) -> Result<u64, Stop> {
    const FILES_AND_DIRECTORIES: u64 = 0x200 | 0x400 | 0x4_0000;
    let flags = call.args[0];
    if flags != 0 && call.process().threads.len() > 1 {
        return call.unsupported("threads that share less than everything");
    }
    call.only_flags(flags, FILES_AND_DIRECTORIES, "flags")?;
    Ok(0)
}
