//! What a program finds on its first stack is made the same each time: no code of the kernel that tells the time (the vDSO), and
//! constant bytes for random ones. A process is traced from before it executes another program until it has.

/// Ends of the auxiliary vector, `getauxval(3)`.
const AT_NULL: u64 = 0;
const AT_IGNORE: u64 = 1;
/// The bytes that the C library makes its secrets of.
const RANDOM: [u64; 2] = [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210];
/// Words of a first stack before the auxiliary vector, at most.
const WORDS_MAX: u64 = 1 << 18;
/// The code segment of programs for 64 bits.
const CODE_64: u64 = 0x33;

/// Traces a thread that is about to execute another program.
pub(super) fn follow(thread: libc::pid_t) {
    // SAFETY: numbers only. If it is not allowed the program keeps what the kernel gives it.
    unsafe { libc::ptrace(libc::PTRACE_SEIZE, thread, 0, libc::PTRACE_O_TRACEEXEC) };
}

/// A traced thread has stopped: at its new program, or for a signal.
pub(super) fn stopped(thread: libc::pid_t, status: i32, hides_time: bool) {
    let (signal, event) = (libc::WSTOPSIG(status), status >> 16);
    match event {
        libc::PTRACE_EVENT_EXEC => {
            change_first_stack(thread, hides_time);
            trace(libc::PTRACE_DETACH, thread, 0, 0);
        }
        libc::PTRACE_EVENT_STOP if signal != libc::SIGTRAP => drop(trace(libc::PTRACE_LISTEN, thread, 0, 0)),
        libc::PTRACE_EVENT_STOP => drop(trace(libc::PTRACE_CONT, thread, 0, 0)),
        _ => drop(trace(libc::PTRACE_CONT, thread, 0, signal as u64)),
    }
}

fn trace(request: libc::c_uint, thread: libc::pid_t, address: u64, data: u64) -> i64 {
    // SAFETY: these requests take numbers; addresses are those of the traced process.
    unsafe { libc::ptrace(request, thread, address, data) }
}

/// A word of a traced process.
fn word(thread: libc::pid_t, address: u64) -> u64 {
    trace(libc::PTRACE_PEEKDATA, thread, address, 0) as u64
}

fn set_word(thread: libc::pid_t, address: u64, value: u64) {
    trace(libc::PTRACE_POKEDATA, thread, address, value);
}

fn change_first_stack(thread: libc::pid_t, hides_time: bool) {
    // SAFETY: plain data.
    let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
    // SAFETY: room for the registers.
    unsafe { libc::ptrace(libc::PTRACE_GETREGS, thread, 0, &raw mut registers) };
    if registers.cs != CODE_64 {
        return;
    }
    let mut at = auxiliary_vector(thread, registers.rsp);
    loop {
        match word(thread, at) {
            AT_NULL | u64::MAX => return,
            libc::AT_SYSINFO_EHDR if hides_time => set_word(thread, at, AT_IGNORE),
            libc::AT_RANDOM => {
                let bytes = word(thread, at + 8);
                set_word(thread, bytes, RANDOM[0]);
                set_word(thread, bytes + 8, RANDOM[1]);
            }
            _ => {}
        }
        at += 16;
    }
}

/// Where the auxiliary vector is: behind the count of arguments, the arguments and the environment.
fn auxiliary_vector(thread: libc::pid_t, stack: u64) -> u64 {
    let environment = stack + 8 * (word(thread, stack).min(WORDS_MAX) + 2);
    let end = (0..WORDS_MAX).find(|index| word(thread, environment + 8 * index) == 0).unwrap_or(0);
    environment + 8 * (end + 1)
}
