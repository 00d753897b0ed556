//! From text to tree.

use crate::ast::{Expr, Ltl, Program};
use crate::diagnostic::Diagnostic;
use crate::source::SourceMap;
use std::path::{Path, PathBuf};

/// What is given beside the file.
#[derive(Clone, Debug, Default)]
pub struct ParseOptions {
    /// `-DNAME` or `-DNAME=value`: the name and its value (without one it is `1`).
    pub defines: Vec<(String, Option<String>)>,
    /// `-UNAME`.
    pub undefines: Vec<String>,
    /// Where `#include` looks after the including file's folder.
    pub include_dirs: Vec<PathBuf>,
}

/// A model that was read.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The tree.
    pub program: Program,
    /// The files its spans point into.
    pub sources: SourceMap,
    /// What looks wrong but is legal.
    pub warnings: Vec<Diagnostic>,
}

/// Why a model was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The input is wrong.
    Input,
    /// The input is fine but uses what we do not support (embedded C).
    Unsupported,
}

/// A model that was not read.
#[derive(Clone, Debug)]
pub struct Failure {
    /// At least one error, then warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// The files its spans point into.
    pub sources: SourceMap,
    /// Whose fault it is.
    pub kind: FailureKind,
}

/// A value parsed from a property given on its own, such as on the command line.
#[derive(Clone, Debug)]
pub struct ParsedProperty<T> {
    /// The tree.
    pub value: T,
    /// The one text its spans point into.
    pub sources: SourceMap,
    /// What looks wrong but is legal.
    pub warnings: Vec<Diagnostic>,
}

/// Where included files come from; tests supply them from memory.
pub trait Reader {
    /// The bytes of a file.
    ///
    /// # Errors
    /// When there is no such file or it cannot be read.
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>>;
}

/// Reads files from the host.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostFiles;

impl Reader for HostFiles {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        std::fs::read(path)
    }
}

/// Reads a model from a file.
///
/// # Errors
/// Says what is wrong with the model, or what in it is not supported.
pub fn parse_file(path: &Path, options: &ParseOptions) -> Result<Parsed, Failure> {
    parse_with(path, &HostFiles, options)
}

/// Reads a model from memory; its includes come from the host, relative to `name`.
///
/// # Errors
/// Says what is wrong with the model, or what in it is not supported.
pub fn parse_text(name: &str, text: &str, options: &ParseOptions) -> Result<Parsed, Failure> {
    struct Text<'a>(&'a Path, &'a str);
    impl Reader for Text<'_> {
        fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
            if path == self.0 { Ok(self.1.as_bytes().to_vec()) } else { HostFiles.read(path) }
        }
    }
    let path = Path::new(name);
    parse_with(path, &Text(path, text), options)
}

/// Reads a model from wherever `reader` has it.
///
/// # Errors
/// Says what is wrong with the model, or what in it is not supported.
pub fn parse_with(path: &Path, reader: &dyn Reader, options: &ParseOptions) -> Result<Parsed, Failure> {
    let _ = (reader, options);
    let mut sources = SourceMap::default();
    sources.add_file(path, "");
    let diagnostics = vec![Diagnostic::error("parser", crate::source::Span::default(), "the parser is being written")];
    Err(Failure { diagnostics, sources, kind: FailureKind::Input })
}

/// Reads a condition on states given on its own.
///
/// # Errors
/// Says what is wrong with it.
pub fn parse_expression(text: &str, program: &Program) -> Result<ParsedProperty<Expr>, Failure> {
    let _ = program;
    parse_with(Path::new(text), &HostFiles, &ParseOptions::default()).map(|_| unreachable_property(text))
}

/// Reads a formula given on its own: the operators of `ltl` blocks, and `G`, `F`, `R` where the model declares no such name.
///
/// # Errors
/// Says what is wrong with it.
pub fn parse_ltl(text: &str, program: &Program) -> Result<ParsedProperty<Ltl>, Failure> {
    let _ = program;
    parse_with(Path::new(text), &HostFiles, &ParseOptions::default()).map(|_| unreachable_property(text))
}

fn unreachable_property<T>(_: &str) -> T {
    unreachable!("no property is parsed yet")
}
