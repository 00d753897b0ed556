//! The oracle itself: assembly that loads and leaves, and a signal handler that takes the registers from the signal's frame.
#![allow(unsafe_code)]

use std::arch::global_asm;
use std::marker::PhantomData;
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{CODE, INSTRUCTION_MAX, Outcome, PAGE, State, WINDOW, WINDOW_LEN, WRITABLE};

/// What can come out of one instruction.
const SIGNALS: [i32; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP];
/// Room for the frame with the largest register state (AMX tiles take 8 KiB).
const SIGNAL_STACK: usize = 128 * 1024;
const INT3: u8 = 0xcc;

/// A run in progress: the state, and the stack to come back to.
#[repr(C, align(16))]
struct Run {
    state: State,
    saved_rsp: u64,
    signal: i32,
    address: u64,
}

/// The run that the handler belongs to; null in between.
static CURRENT: AtomicPtr<Run> = AtomicPtr::new(ptr::null_mut());
/// The fixed addresses and the handlers exist once in a process.
static ONE: Mutex<()> = Mutex::new(());

// Offsets in `Run`: gpr 0, rflags 128, rip 136, fx 144, saved_rsp 656.
global_asm!(
    ".globl allways_hostcpu_enter",
    "allways_hostcpu_enter:",
    "push rbx; push rbp; push r12; push r13; push r14; push r15",
    "mov [rdi + 656], rsp",
    "fxrstor64 [rdi + 144]",
    "push qword ptr [rdi + 128]",
    "popfq",
    "mov rax, [rdi]; mov rcx, [rdi + 8]; mov rdx, [rdi + 16]; mov rbx, [rdi + 24]",
    "mov rsp, [rdi + 32]; mov rbp, [rdi + 40]; mov rsi, [rdi + 48]",
    "mov r8, [rdi + 64]; mov r9, [rdi + 72]; mov r10, [rdi + 80]; mov r11, [rdi + 88]",
    "mov r12, [rdi + 96]; mov r13, [rdi + 104]; mov r14, [rdi + 112]; mov r15, [rdi + 120]",
    "mov rdi, [rdi + 56]",
    "jmp qword ptr [rip + 2f]",
    "2: .quad {code}",
    ".globl allways_hostcpu_leave",
    "allways_hostcpu_leave:",
    "mov rsp, [rdi + 656]",
    "pop r15; pop r14; pop r13; pop r12; pop rbp; pop rbx",
    "cld",
    "ret",
    code = const CODE,
);

unsafe extern "C" {
    fn allways_hostcpu_enter(run: *mut Run);
    fn allways_hostcpu_leave(run: *mut Run) -> !;
}

/// The host's processor, for the thread that made it.
#[derive(Debug)]
pub struct Host {
    stack: Vec<u8>,
    old_stack: libc::stack_t,
    old_actions: Vec<libc::sigaction>,
    _one: MutexGuard<'static, ()>,
    _thread: PhantomData<*mut ()>,
}

impl Host {
    /// Maps the pages and installs the handlers; nothing if the addresses are taken or execution is forbidden.
    pub fn new() -> Option<Self> {
        const { assert!(mem::offset_of!(Run, saved_rsp) == 656 && mem::offset_of!(State, fx) == 144) };
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let all = libc::PROT_READ | libc::PROT_WRITE;
        map(CODE & !(PAGE - 1), PAGE as usize, all | libc::PROT_EXEC)?;
        map(WINDOW, WINDOW_LEN, all)?;
        // SAFETY: the code page was just mapped writable.
        unsafe { ptr::write_bytes((CODE & !(PAGE - 1)) as *mut u8, INT3, PAGE as usize) };
        let mut stack = vec![0; SIGNAL_STACK];
        let old_stack =
            set_stack(libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: SIGNAL_STACK });
        let old_actions = SIGNALS.iter().map(|&signal| set_action(signal, &own_action())).collect();
        Some(Self { stack, old_stack, old_actions, _one: one, _thread: PhantomData })
    }

    /// The window's bytes: the last page too, which instructions can only read.
    pub fn window(&mut self) -> &mut [u8] {
        protect_last(libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: mapped in `new` and unmapped in `drop`; the slice borrows `self`, so no instruction runs meanwhile.
        unsafe { std::slice::from_raw_parts_mut(WINDOW as *mut u8, WINDOW_LEN) }
    }

    /// The part of the window that can be written, which is cheaper to reach.
    pub fn writable(&mut self) -> &mut [u8] {
        // SAFETY: as in `window`; this part is always writable.
        unsafe { std::slice::from_raw_parts_mut(WINDOW as *mut u8, WRITABLE) }
    }

    /// Makes the last page read-only, which calls of `window` undo.
    pub fn seal(&mut self) {
        protect_last(libc::PROT_READ);
    }

    /// Executes `code` once.
    pub fn run(&mut self, code: &[u8], state: &mut State) -> Outcome {
        assert!(code.len() <= INSTRUCTION_MAX, "an instruction has at most 15 bytes");
        assert!(!self.stack.is_empty() && mxcsr_of(state) >> 16 == 0, "MXCSR has 16 bits");
        place(code);
        let mut run = Run { state: state.clone(), saved_rsp: 0, signal: 0, address: 0 };
        let pointer = &raw mut run;
        CURRENT.store(pointer, Ordering::SeqCst);
        // SAFETY: `enter` comes back through `leave`, called by the handler of the signal that ends every run: the page around
        // the code is full of `int3`. Callee-saved registers are on the stack that `saved_rsp` remembers.
        unsafe { allways_hostcpu_enter(pointer) };
        CURRENT.store(ptr::null_mut(), Ordering::SeqCst);
        // SAFETY: read afresh, as the handler has written through the pointer.
        let run = unsafe { ptr::read_volatile(pointer) };
        *state = run.state;
        classify(run.signal, run.address, state)
    }
}

/// Branches end at an `int3` or at an address that cannot be fetched; both mean that the instruction itself completed.
fn classify(signal: i32, address: u64, state: &mut State) -> Outcome {
    if signal == libc::SIGTRAP && state.rip != CODE + 1 {
        state.rip -= 1;
        return Outcome::Done;
    }
    let went = state.rip != CODE && signal != libc::SIGTRAP;
    if went { Outcome::Done } else { Outcome::Signal { number: signal, address } }
}

fn mxcsr_of(state: &State) -> u32 {
    u32::from_le_bytes([state.fx[24], state.fx[25], state.fx[26], state.fx[27]])
}

/// Writes the instruction, and `int3` after it, if it is not there yet.
fn place(code: &[u8]) {
    // SAFETY: the code page is mapped writable and nothing executes in it now; nobody else has a reference to it.
    let page = unsafe { std::slice::from_raw_parts_mut(CODE as *mut u8, INSTRUCTION_MAX + 1) };
    if !page.starts_with(code) || page[code.len()..].iter().any(|&byte| byte != INT3) {
        page.fill(INT3);
        page[..code.len()].copy_from_slice(code);
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        for (&signal, action) in SIGNALS.iter().zip(&self.old_actions) {
            set_action(signal, action);
        }
        set_stack(self.old_stack);
        // SAFETY: both ranges were mapped in `new`, and no reference to them is left.
        unsafe {
            libc::munmap((CODE & !(PAGE - 1)) as *mut libc::c_void, PAGE as usize);
            libc::munmap(WINDOW as *mut libc::c_void, WINDOW_LEN);
        }
    }
}

fn map(addr: u64, len: usize, protection: i32) -> Option<()> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: MAP_FIXED_NOREPLACE takes nothing away from anybody.
    let got = unsafe { libc::mmap(addr as *mut libc::c_void, len, protection, flags, -1, 0) };
    (got as u64 == addr).then_some(())
}

fn protect_last(protection: i32) {
    let last = WINDOW + WRITABLE as u64;
    // SAFETY: our own page; no instruction runs meanwhile.
    let failed = unsafe { libc::mprotect(last as *mut libc::c_void, PAGE as usize, protection) };
    assert_eq!(failed, 0, "mprotect of our own page");
}

fn own_action() -> libc::sigaction {
    // SAFETY: all zeros is a valid sigaction.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    // The handler never returns, so the signal must not stay blocked.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
    action
}

fn set_action(signal: i32, action: &libc::sigaction) -> libc::sigaction {
    // SAFETY: both pointers are to valid structures, the handler is async-signal-safe.
    unsafe {
        let mut old = mem::zeroed();
        libc::sigaction(signal, action, &mut old);
        old
    }
}

fn set_stack(stack: libc::stack_t) -> libc::stack_t {
    // SAFETY: the new stack lives in `Host` until the old one is set again.
    unsafe {
        let mut old = mem::zeroed();
        libc::sigaltstack(&stack, &mut old);
        old
    }
}

/// Takes the registers from the frame and goes back behind `enter`.
extern "C" fn handler(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let run = CURRENT.swap(ptr::null_mut(), Ordering::SeqCst);
    if run.is_null() {
        // A fault of our own: let it happen again without us.
        // SAFETY: signal(2) is async-signal-safe.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
        return;
    }
    // SAFETY: the kernel passes valid pointers; `run` is on the stack below the interrupted code, which waits for us.
    unsafe {
        let context = &*context.cast::<libc::ucontext_t>();
        copy_registers(&context.uc_mcontext, &mut (*run).state);
        (*run).signal = signal;
        (*run).address = (*info).si_addr() as u64;
        allways_hostcpu_leave(run)
    }
}

/// # Safety
/// `context.fpregs` points to an image of `fxsave64`.
unsafe fn copy_registers(context: &libc::mcontext_t, state: &mut State) {
    const ORDER: [i32; 16] = [
        libc::REG_RAX,
        libc::REG_RCX,
        libc::REG_RDX,
        libc::REG_RBX,
        libc::REG_RSP,
        libc::REG_RBP,
        libc::REG_RSI,
        libc::REG_RDI,
        libc::REG_R8,
        libc::REG_R9,
        libc::REG_R10,
        libc::REG_R11,
        libc::REG_R12,
        libc::REG_R13,
        libc::REG_R14,
        libc::REG_R15,
    ];
    for (register, index) in state.gpr.iter_mut().zip(ORDER) {
        *register = context.gregs[index as usize] as u64;
    }
    state.rflags = context.gregs[libc::REG_EFL as usize] as u64;
    state.rip = context.gregs[libc::REG_RIP as usize] as u64;
    // SAFETY: promised by the caller.
    unsafe { ptr::copy_nonoverlapping(context.fpregs.cast::<u8>(), state.fx.as_mut_ptr(), 512) };
}
