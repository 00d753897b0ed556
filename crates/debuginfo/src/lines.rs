//! Source lines: which line an address comes from, through calls that the compiler inlined; and the text of a line.

use super::{DebugInfo, Loaded};
use memory::{Memory, SpaceId};
use std::borrow::Cow;
use std::fmt;
use std::sync::PoisonError;

/// A function at work, as its source shows it.
///
/// Inlined calls are frames of their own, as debuggers show them: one address may be in several
/// functions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Frame {
    /// The function.
    pub function: Option<String>,
    /// Its source file, as the compiler was told; often not absolute.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
    /// Its code was put into the function that follows in the list.
    pub inlined: bool,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.function.as_deref().unwrap_or("?"))?;
        if let Some(file) = &self.file {
            write!(f, " at {file}")?;
        }
        let numbers = [self.line.filter(|_| self.file.is_some()), self.column.filter(|_| self.line.is_some())];
        numbers.into_iter().flatten().try_for_each(|number| write!(f, ":{number}"))
    }
}

impl DebugInfo {
    /// What the source calls an address of code, innermost function first. A call's return address lies behind the call:
    /// ask for the byte before it.
    ///
    /// Without debug information, the symbol; nothing where there is none either.
    ///
    /// With the symbol as a last resort for the outermost function, since stripped libraries have
    /// symbols and no lines.
    pub fn location(&mut self, memory: &Memory, space: SpaceId, address: u64) -> Vec<Frame> {
        let modules = self.modules(memory, space);
        let Some(loaded) = modules.at(address) else { return Vec::new() };
        let mut frames = frames(loaded, address.wrapping_sub(loaded.bias));
        let named = self.symbol(memory, space, address).map(|named| named.name);
        match (frames.last_mut(), named) {
            (None, Some(name)) => frames.push(symbol_only(name)),
            (Some(last), Some(name)) if last.function.as_deref().is_none_or(|own| is_alias(own, &name)) => {
                last.function = Some(name);
            }
            _ => {}
        }
        frames
    }

    /// The first place of a line that has code, in every module: where `--break file.c:42` stops. The file may be named
    /// by the end of its path. A line without code stands for the next one of the file that has.
    ///
    /// `is_stmt` rows only: the places where a debugger would stop.
    pub fn addresses_of_line(&mut self, memory: &Memory, space: SpaceId, file: &str, line: u32) -> Vec<u64> {
        let modules = self.modules(memory, space);
        let mut rows: Vec<(u32, u64)> = Vec::new();
        for loaded in &modules.loaded {
            rows.extend(rows_of(loaded, file).into_iter().filter(|(number, _)| *number >= line));
        }
        let Some(first) = rows.iter().map(|(number, _)| *number).min() else { return Vec::new() };
        let mut addresses: Vec<u64> =
            rows.into_iter().filter(|(row, _)| *row == first).map(|(_, place)| place).collect();
        addresses.sort_unstable();
        addresses.dedup();
        addresses
    }
}

/// Whether a library's source calls a function otherwise than its manual: `__GI___pthread_mutex_lock`.
///
/// glibc's internal names for functions that the manual calls otherwise.
fn is_alias(own: &str, name: &str) -> bool {
    let bare = |name: &str| name.trim_start_matches('_').trim_start_matches("GI_").trim_start_matches('_').to_owned();
    own != name && bare(own) == bare(name)
}

fn symbol_only(name: String) -> Frame {
    Frame { function: Some(name), file: None, line: None, column: None, inlined: false }
}

fn frames(loaded: &Loaded, place: u64) -> Vec<Frame> {
    let Some(dwarf) = loaded.module.dwarf() else { return Vec::new() };
    let lines = dwarf.lines.lock().unwrap_or_else(PoisonError::into_inner);
    let mut frames = Vec::new();
    if let Ok(mut found) = lines.find_frames(place).skip_all_loads() {
        while let Ok(Some(found)) = found.next() {
            let function = found.function.as_ref().and_then(|name| name.demangle().ok()).map(Cow::into_owned);
            let location = found.location.as_ref();
            frames.push(Frame {
                function,
                file: location.and_then(|location| location.file).map(str::to_owned),
                line: location.and_then(|location| location.line).filter(|line| *line > 0),
                column: location.and_then(|location| location.column).filter(|column| *column > 0),
                inlined: true,
            });
        }
    }
    if let Some(last) = frames.last_mut() {
        last.inlined = false;
    }
    frames
}

/// Lines of a file with the address of a statement that begins there.
fn rows_of(loaded: &Loaded, file: &str) -> Vec<(u32, u64)> {
    let Some(dwarf) = loaded.module.dwarf() else { return Vec::new() };
    let mut rows = Vec::new();
    for unit in dwarf.units() {
        let Some(program) = unit.line_program.clone() else { continue };
        let wanted = wanted_files(&dwarf.sections, unit, program.header(), file);
        if wanted.is_empty() {
            continue;
        }
        let mut last = None;
        let mut program = program.rows();
        while let Ok(Some((_, row))) = program.next_row() {
            let line = row.line().map_or(0, |line| line.get() as u32);
            let is_new = row.is_stmt() && !row.end_sequence() && last != Some((row.file_index(), line));
            last = (!row.end_sequence()).then_some((row.file_index(), line));
            if is_new && line > 0 && wanted.contains(&row.file_index()) {
                rows.push((line, loaded.bias.wrapping_add(row.address())));
            }
        }
    }
    rows
}

type Header = gimli::LineProgramHeader<super::dwarf::Reader>;

/// The numbers of the files in a line table whose path ends with a name.
fn wanted_files(
    sections: &gimli::Dwarf<super::dwarf::Reader>,
    unit: &super::dwarf::Unit,
    header: &Header,
    name: &str,
) -> Vec<u64> {
    let text = |value: super::dwarf::Value| {
        let bytes = sections.attr_string(unit, value).ok()?;
        gimli::Reader::to_string_lossy(&bytes).ok().map(Cow::into_owned)
    };
    // From version 5 on, files are counted from 0.
    let first = u64::from(header.version() < 5);
    let is_wanted = |file: &gimli::FileEntry<super::dwarf::Reader>| {
        let path = text(file.path_name()).unwrap_or_default();
        let folder = file.directory(header).and_then(text).unwrap_or_default();
        let whole = format!("/{folder}/{path}");
        whole.strip_suffix(name).is_some_and(|front| front.ends_with('/') || name.starts_with('/'))
    };
    let files = (first..).zip(header.file_names());
    files.filter(|(_, file)| is_wanted(file)).map(|(number, _)| number).collect()
}

/// The text of a line, without the space around it; `read` gets a path and gives the file, if there is one.
///
/// Compilers name files as they were told to, so a path that is not absolute is also tried in `folders`.
pub fn source_line(
    file: &str,
    line: u32,
    folders: &[&str],
    mut read: impl FnMut(&str) -> Option<Vec<u8>>,
) -> Option<String> {
    let bytes = read(file).or_else(|| {
        let folders = folders.iter().filter(|_| !file.starts_with('/'));
        folders.into_iter().find_map(|folder| read(&format!("{folder}/{file}")))
    })?;
    let index = usize::try_from(line).ok()?.checked_sub(1)?;
    let line = bytes.split(|byte| *byte == b'\n').nth(index)?;
    Some(String::from_utf8_lossy(line).trim_end().to_owned())
}
