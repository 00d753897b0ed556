//! From text to tree.
//!
//! A hand-written parser of SPIN 6.5.2's grammar. `tokens` implies SPIN's semicolons, `item`, `decl`, `stmt`, `expr` and
//! `ltl` follow the grammar's parts, `inline` replaces calls by bodies, and `trap` words the errors.

mod decl;
mod expr;
pub(crate) mod files;
mod inline;
mod item;
mod ltl;
mod names;
mod operator;
mod parser;
mod probe;
mod stmt;
mod tokens;
mod trap;

pub use files::{HostFiles, ParseOptions, Reader};

use crate::ast::{Expr, Ltl, Program};
use crate::diagnostic::Diagnostic;
use crate::lex;
use crate::preprocess::{self, Macros};
use crate::source::SourceMap;
use parser::Parser;
use std::path::Path;

/// A model that was read.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The tree.
    pub program: Program,
    /// The files its spans point into.
    pub sources: SourceMap,
    /// What looks wrong but is legal.
    pub warnings: Vec<Diagnostic>,
    /// The macros that are defined at the end of the model, for properties given on their own.
    pub macros: Macros,
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
    let mut sources = SourceMap::default();
    let output = match preprocess::preprocess(path, reader, options, &mut sources) {
        Ok(output) => output,
        Err(told) => return Err(Failure::input(told, Vec::new(), sources)),
    };
    let mut parser = Parser::new(output.tokens, &mut sources);
    parser.warnings = output.warnings;
    if let Err(told) = parser.items() {
        let warnings = parser.warnings;
        return Err(Failure::input(*told, warnings, sources));
    }
    match parser.finish() {
        Err(told) => Err(Failure::input(*told, Vec::new(), sources)),
        Ok((program, warnings, unsupported)) if unsupported.is_empty() => {
            Ok(Parsed { program, sources, warnings, macros: output.macros })
        }
        Ok((_, warnings, mut diagnostics)) => {
            diagnostics.extend(warnings);
            Err(Failure { diagnostics, sources, kind: FailureKind::Unsupported })
        }
    }
}

/// Reads a condition on states given on its own, such as on a command line. The model's macros may be used.
///
/// # Errors
/// Says what is wrong with it.
pub fn parse_expression(text: &str, model: &Parsed) -> Result<ParsedProperty<Expr>, Failure> {
    property(text, model, |parser, tokens| {
        parser.tokens.restart(tokens);
        let expr = parser.full_expr()?;
        match parser.tokens.peek().kind {
            lex::TokenKind::End => Ok(expr),
            _ => Err(parser.expected("an operator or the end of the expression")),
        }
    })
}

/// Reads a formula given on its own: the operators of `ltl` blocks, and `G`, `F`, `R` where the model has no such
/// global name. The model's macros may be used.
///
/// # Errors
/// Says what is wrong with it.
pub fn parse_ltl(text: &str, model: &Parsed) -> Result<ParsedProperty<Ltl>, Failure> {
    let taken = names::globals(&model.program);
    let short = !["G", "F", "R"].iter().any(|name| taken.contains(*name));
    property(text, model, |parser, tokens| {
        parser.short_operators = short;
        parser.ltl_formula(tokens, "")
    })
}

/// Reads a text with the names and macros of a model; its spans point into the model's files and one more.
fn property<T>(
    text: &str,
    model: &Parsed,
    read: impl FnOnce(&mut Parser<'_>, Vec<lex::Token>) -> parser::Parse<T>,
) -> Result<ParsedProperty<T>, Failure> {
    let mut sources = model.sources.clone();
    let file = sources.add_file("<property>", text);
    let scanned = lex::scan(text, file).and_then(|tokens| preprocess::expand_text(tokens, &model.macros, &mut sources));
    let tokens = match scanned {
        Ok(tokens) => tokens,
        Err(told) => return Err(Failure::input(told, Vec::new(), sources)),
    };
    let mut parser = Parser::new(Vec::new(), &mut sources);
    names::declare(&mut parser, &model.program);
    let made = read(&mut parser, tokens);
    let (warnings, unsupported) = (parser.warnings, parser.unsupported);
    match made {
        Err(told) => Err(Failure::input(*told, warnings, sources)),
        Ok(value) if unsupported.is_empty() => Ok(ParsedProperty { value, sources, warnings }),
        Ok(_) => Err(Failure { diagnostics: unsupported, sources, kind: FailureKind::Unsupported }),
    }
}

impl Failure {
    fn input(error: Diagnostic, warnings: Vec<Diagnostic>, sources: SourceMap) -> Failure {
        let diagnostics = std::iter::once(error).chain(warnings).collect();
        Failure { diagnostics, sources, kind: FailureKind::Input }
    }
}
