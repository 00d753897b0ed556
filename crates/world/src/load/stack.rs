//! What a new program finds on its stack: arguments, environment and the auxiliary vector (`getauxval(3)`).

/// The values of the auxiliary vector that depend on the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Auxiliary {
    /// Where the program headers are.
    pub headers: u64,
    /// How many.
    pub header_count: u64,
    /// Where the interpreter was loaded; 0 without one.
    pub interpreter_base: u64,
    /// Where the program itself starts.
    pub entry: u64,
    /// Real and effective user, real and effective group.
    pub ids: [u32; 4],
}

/// A stack ready to be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stack {
    /// What `rsp` is at the first instruction.
    pub pointer: u64,
    /// The bytes from `pointer` up.
    pub bytes: Vec<u8>,
    /// The auxiliary vector alone, for `/proc/self/auxv`.
    pub auxiliary: Vec<u8>,
}

/// `cpuid(1).edx` of the processor that programs see.
const HWCAP: u64 = 0x078b_fbff;

/// Ticks a second of `times(2)`.
const CLOCK_TICKS: u64 = 100;

/// Lays out a stack that ends at `top`.
///
/// There is no `AT_SYSINFO_EHDR`: without the kernel's shared library every clock is read by a syscall, which is where
/// virtual time comes in. `AT_RANDOM` is made from the seed, so that canaries are the same in every run.
#[must_use]
pub fn lay_out(
    top: u64,
    path: &[u8],
    arguments: &[Vec<u8>],
    environment: &[Vec<u8>],
    values: &Auxiliary,
    random: [u8; 16],
) -> Stack {
    let mut high = High { top, bytes: vec![0; 8] };
    let path_at = high.push_string(path);
    let environment_at: Vec<u64> = environment.iter().rev().map(|string| high.push_string(string)).collect();
    let arguments_at: Vec<u64> = arguments.iter().rev().map(|string| high.push_string(string)).collect();
    let platform_at = high.push_string(b"x86_64");
    let random_at = high.push(&random);
    let auxiliary = auxiliary(values, path_at, platform_at, random_at);
    let mut words = vec![arguments.len() as u64];
    words.extend(arguments_at.iter().rev());
    words.push(0);
    words.extend(environment_at.iter().rev());
    words.push(0);
    words.extend(auxiliary.iter().flat_map(|(kind, value)| [*kind, *value]));
    let pointer = (high.pointer() - 8 * words.len() as u64) & !15;
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.resize((high.pointer() - pointer) as usize, 0);
    bytes.extend(high.bytes.iter().rev());
    let auxiliary = auxiliary.iter().flat_map(|(kind, value)| [*kind, *value]).flat_map(u64::to_le_bytes).collect();
    Stack { pointer, bytes, auxiliary }
}

/// The part of the stack that grows down from the top; bytes are kept last first.
struct High {
    top: u64,
    bytes: Vec<u8>,
}

impl High {
    fn pointer(&self) -> u64 {
        self.top - self.bytes.len() as u64
    }

    fn push(&mut self, bytes: &[u8]) -> u64 {
        self.bytes.extend(bytes.iter().rev());
        self.pointer()
    }

    fn push_string(&mut self, string: &[u8]) -> u64 {
        self.bytes.push(0);
        self.push(string)
    }
}

/// Kind and value, in Linux's order.
fn auxiliary(values: &Auxiliary, path: u64, platform: u64, random: u64) -> Vec<(u64, u64)> {
    let [user, effective_user, group, effective_group] = values.ids.map(u64::from);
    vec![
        (16, HWCAP),
        (6, 4096),
        (17, CLOCK_TICKS),
        (3, values.headers),
        (4, 56),
        (5, values.header_count),
        (7, values.interpreter_base),
        (8, 0),
        (9, values.entry),
        (11, user),
        (12, effective_user),
        (13, group),
        (14, effective_group),
        (23, 0),
        (25, random),
        (26, 0),
        (31, path),
        (15, platform),
        (0, 0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: Auxiliary =
        Auxiliary { headers: 0x40_0040, header_count: 9, interpreter_base: 0, entry: 0x40_1000, ids: [0; 4] };

    fn word(stack: &Stack, index: usize) -> u64 {
        u64::from_le_bytes(stack.bytes[8 * index..8 * index + 8].try_into().unwrap())
    }

    fn string(stack: &Stack, address: u64) -> &[u8] {
        let from = (address - stack.pointer) as usize;
        let length = stack.bytes[from..].iter().position(|byte| *byte == 0).unwrap();
        &stack.bytes[from..from + length]
    }

    #[test]
    fn arguments_and_environment_are_found_where_the_abi_says() {
        let stack = lay_out(
            0x7fff_f000,
            b"/bin/echo",
            &[b"echo".to_vec(), b"hi".to_vec()],
            &[b"A=1".to_vec(), b"B=2".to_vec()],
            &VALUES,
            [7; 16],
        );
        assert_eq!(stack.pointer % 16, 0);
        assert_eq!(stack.pointer + stack.bytes.len() as u64, 0x7fff_f000);
        assert_eq!(word(&stack, 0), 2);
        assert_eq!(string(&stack, word(&stack, 1)), b"echo");
        assert_eq!(string(&stack, word(&stack, 2)), b"hi");
        assert_eq!(word(&stack, 3), 0);
        assert_eq!(string(&stack, word(&stack, 4)), b"A=1");
        assert_eq!(string(&stack, word(&stack, 5)), b"B=2");
        assert_eq!((word(&stack, 6), word(&stack, 7)), (0, 16));
    }

    #[test]
    fn the_auxiliary_vector_ends_with_a_null_entry() {
        let stack = lay_out(0x7fff_f000, b"x", &[], &[], &VALUES, [0; 16]);
        assert!(stack.auxiliary.ends_with(&[0; 16]));
        assert_eq!(word(&stack, 0), 0);
    }
}
