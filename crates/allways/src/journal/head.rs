//! How a journal begins: what it is, who wrote it, and of what.

use crate::report_files::VERSION;
use explore::journal::{Broken, Reader, Writer};
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use trace::Fingerprint;

/// The first bytes of every journal.
const MAGIC: &[u8; 16] = b"allways journal\n";
/// Of the format: another number, another format.
const FORMAT: u32 = 1;
/// Bytes of both.
pub const START: u64 = MAGIC.len() as u64 + 4;

/// What a journal is of.
///
/// The command is kept as words and read again by the parser of the command line: so there is one place that knows what a flag means,
/// and flags about what is printed are there to be ignored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Head {
    /// The program that wrote it. Another version may number states in another way, so it does not go on.
    pub tool: String,
    /// The command, without the name of the program.
    pub command: Vec<OsString>,
    /// Of what is checked.
    pub subject: String,
}

/// The bytes before everything that has checksums.
pub fn start() -> Vec<u8> {
    [&MAGIC[..], &FORMAT.to_le_bytes()].concat()
}

/// Reads them; says what else the file is.
pub fn read_start(from: &mut impl Read) -> Result<(), String> {
    let mut there = [0; START as usize];
    let is_whole = from.read_exact(&mut there).is_ok();
    let (magic, format) = there.split_at(MAGIC.len());
    if !is_whole || magic != MAGIC {
        return Err("it is no journal of allways".to_owned());
    }
    let format = u32::from_le_bytes(format.try_into().expect("four bytes are left"));
    match format == FORMAT {
        true => Ok(()),
        false => Err(format!(
            "another version of allways wrote it: it has format {format}, and this is {VERSION} with format {FORMAT}"
        )),
    }
}

impl Head {
    /// Of this process.
    pub fn new(command: Vec<OsString>) -> Self {
        Self { tool: VERSION.to_owned(), command, subject: String::new() }
    }

    /// Writes it.
    pub fn write(&self, to: &mut Writer<'_>) -> io::Result<()> {
        to.text(&self.tool)?;
        to.text(&self.subject)?;
        to.u64(self.command.len() as u64)?;
        self.command.iter().try_for_each(|word| to.list(word.as_bytes()))
    }

    /// Reads it.
    pub fn read(from: &mut Reader) -> Result<Self, Broken> {
        let (tool, subject) = (from.text()?, from.text()?);
        let count = from.count(8)?;
        let command = (0..count).map(|_| from.list().map(OsString::from_vec)).collect::<Result<_, _>>()?;
        Ok(Self { tool, command, subject })
    }

    /// The command, for people.
    pub fn told(&self) -> String {
        let words = self.command.iter().map(|word| word.to_string_lossy());
        let words: String = words.flat_map(|word| [" ".to_owned(), word.into_owned()]).collect();
        format!("allways{}", words.replace(|c: char| c.is_control(), "?"))
    }
}

/// A fingerprint of what decides a check.
pub fn fingerprint(parts: &[&str]) -> String {
    parts.iter().fold(Fingerprint::new(), |sum, part| sum.with(part.as_bytes())).to_string()
}
