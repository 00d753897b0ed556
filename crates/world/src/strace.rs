//! One line for each syscall, as strace(1) prints them.
//!
//! The format is strace's, since people and scripts know it. Arguments are described by the
//! kernel's table, so a new call prints without a line here.

use kernel::errno::Errno;
use kernel::table::{Argument, Row};
use memory::{Memory, SpaceId};
use std::fmt::Write;

/// How much of a string is shown.
const STRING_MAX: usize = 32;
/// How many strings of a list are shown.
const STRINGS_MAX: u64 = 8;

/// What a call looked like when it began: paths and buffers may be gone when it ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Begun {
    row: &'static str,
    /// Each argument as text, or the address of a buffer that the call fills.
    arguments: Vec<Text>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Text {
    Known(String),
    Filled(u64),
}

/// Describes the arguments of a call that begins.
#[must_use]
pub fn begin(row: &Row, args: &[u64; 6], memory: &mut Memory, space: SpaceId) -> Begun {
    let describe = |(index, argument): (usize, &Argument)| match argument {
        Argument::Out => Text::Filled(args[index]),
        argument => Text::Known(known(*argument, args[index], args, memory, space)),
    };
    Begun { row: row.name, arguments: row.arguments.iter().enumerate().map(describe).collect() }
}

impl Begun {
    /// The whole line of a call that has returned.
    #[must_use]
    pub fn end(&self, result: u64, memory: &mut Memory, space: SpaceId) -> String {
        let filled = |text: &Text| match text {
            Text::Known(text) => text.clone(),
            Text::Filled(address) => match i64::try_from(result) {
                Ok(length) if length > 0 => bytes(*address, result, memory, space),
                _ => address_text(*address),
            },
        };
        let arguments: Vec<String> = self.arguments.iter().map(filled).collect();
        format!("{}({}) = {}", self.row, arguments.join(", "), result_text(result))
    }

    /// The line of a call that has not returned.
    #[must_use]
    pub fn unfinished(&self) -> String {
        format!("{}({} <unfinished ...>", self.row, self.shown())
    }

    /// Name and arguments alone.
    #[must_use]
    pub fn call(&self) -> String {
        format!("{}({})", self.row, self.shown())
    }

    fn shown(&self) -> String {
        let shown = |text: &Text| match text {
            Text::Known(text) => text.clone(),
            Text::Filled(address) => address_text(*address),
        };
        let arguments: Vec<String> = self.arguments.iter().map(shown).collect();
        arguments.join(", ")
    }
}

fn result_text(result: u64) -> String {
    let signed = result as i64;
    if (-4095..0).contains(&signed) {
        let errno = Errno((-signed) as u16);
        return format!("-1 {} ({})", errno.name(), errno.text());
    }
    if result > 0xffff_ffff { format!("{result:#x}") } else { signed.to_string() }
}

fn address_text(address: u64) -> String {
    if address == 0 { "NULL".into() } else { format!("{address:#x}") }
}

fn known(argument: Argument, value: u64, args: &[u64; 6], memory: &mut Memory, space: SpaceId) -> String {
    const AT_FDCWD: i32 = -100;
    match argument {
        Argument::Int | Argument::Fd | Argument::Clock => (value as i32).to_string(),
        Argument::Size => value.to_string(),
        Argument::Hex | Argument::Out => address_text(value).replace("NULL", "0"),
        Argument::Dir if value as i32 == AT_FDCWD => "AT_FDCWD".into(),
        Argument::Dir => (value as i32).to_string(),
        Argument::Mode => format!("0{value:o}"),
        Argument::Path => path(value, memory, space),
        Argument::Strings => strings(value, memory, space),
        Argument::In(length) => bytes(value, args[usize::from(length)], memory, space),
        Argument::Signal => signal_name(value),
        Argument::Time => time(value, memory, space),
    }
}

fn path(address: u64, memory: &mut Memory, space: SpaceId) -> String {
    match memory.read_until_nul(space, address, 4096) {
        Ok(bytes) => quote(&bytes, false),
        Err(_) => address_text(address),
    }
}

fn strings(address: u64, memory: &mut Memory, space: SpaceId) -> String {
    let mut shown = Vec::new();
    for index in 0..=STRINGS_MAX {
        let mut pointer = [0; 8];
        let read = memory.read(space, address.wrapping_add(8 * index), &mut pointer);
        let pointer = u64::from_le_bytes(pointer);
        if read.is_err() || pointer == 0 {
            break;
        }
        shown.push(if index == STRINGS_MAX { "...".into() } else { path(pointer, memory, space) });
    }
    format!("[{}]", shown.join(", "))
}

fn bytes(address: u64, length: u64, memory: &mut Memory, space: SpaceId) -> String {
    let mut shown = vec![0; length.min(STRING_MAX as u64) as usize];
    match memory.read(space, address, &mut shown) {
        Ok(()) => quote(&shown, length > STRING_MAX as u64),
        Err(_) => address_text(address),
    }
}

fn time(address: u64, memory: &mut Memory, space: SpaceId) -> String {
    let mut value = [0; 16];
    if address == 0 || memory.read(space, address, &mut value).is_err() {
        return address_text(address);
    }
    let (seconds, nanoseconds) = value.split_at(8);
    let number = |half: &[u8]| i64::from_le_bytes(half.try_into().expect("eight bytes"));
    format!("{{tv_sec={}, tv_nsec={}}}", number(seconds), number(nanoseconds))
}

/// A string as C writes it.
fn quote(bytes: &[u8], longer: bool) -> String {
    let mut text = String::from("\"");
    for byte in bytes {
        match byte {
            b'"' => text.push_str("\\\""),
            b'\\' => text.push_str("\\\\"),
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            0x20..0x7f => text.push(char::from(*byte)),
            other => write!(text, "\\x{other:02x}").expect("strings take everything"),
        }
    }
    text.push('"');
    if longer {
        text.push_str("...");
    }
    text
}

/// The name of a signal, such as `SIGTERM`; a number that is none stays one.
#[must_use]
pub fn signal_name(number: u64) -> String {
    use kernel::signal::number::{LAST, name};
    let known = u8::try_from(number).ok().filter(|number| (1..=LAST).contains(number));
    known.map_or_else(|| number.to_string(), name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_read_as_strace_prints_them() {
        assert_eq!(result_text(3), "3");
        assert_eq!(result_text(-2i64 as u64), "-1 ENOENT (No such file or directory)");
        assert_eq!(result_text(0x7fff_f7dc_0000), "0x7ffff7dc0000");
    }

    #[test]
    fn strings_are_quoted_as_c_does() {
        assert_eq!(quote(b"a\"b\n\x01", false), r#""a\"b\n\x01""#);
        assert_eq!(quote(b"abc", true), r#""abc"..."#);
    }

    #[test]
    fn signals_have_names() {
        assert_eq!([1, 15, 31, 34, 99].map(signal_name), ["SIGHUP", "SIGTERM", "SIGSYS", "SIGRT_2", "99"]);
    }
}
