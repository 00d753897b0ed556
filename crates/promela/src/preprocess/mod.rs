//! C's preprocessor, as SPIN uses it, without a C compiler.
//!
//! [`preprocess`] reads a model and what it includes, obeys the directives and replaces macros. What remains are tokens
//! that know their place in the user's files. The parts: `file` reads files and skips untaken branches, `directive`
//! obeys `#` lines, `condition` computes `#if`, `expand` replaces macros.
//!
//! SPIN runs the host's `cpp`; models rely on it for `#define`, `#if` and `#include`. Doing it here
//! removes the dependency and keeps the place of every token, but must agree with C where models
//! use it (C11, 6.10), and is deliberately silent about what they do not (`#pragma`, `#line`).

mod condition;
mod directive;
mod expand;
mod file;
mod substitute;

use crate::ast::Name;
use crate::diagnostic::Diagnostic;
use crate::lex::{self, Token, TokenKind};
use crate::parse::files::{HostFiles, ParseOptions, Reader};
use crate::source::{SourceMap, Span};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// Larger files are refused; the largest model we know of has 2 MiB.
const FILE_SIZE_MAX: usize = 16 << 20;
/// Bytes read in total, so that files that include each other cannot fill the memory.
const TOTAL_SIZE_MAX: usize = 64 << 20;
/// Tokens made by macros in total: what ends a macro bomb.
const MACRO_TOKENS_MAX: usize = 1_000_000;
/// Nested includes.
const INCLUDE_DEPTH_MAX: usize = 100;
/// Macro calls within arguments of macro calls.
const CALL_DEPTH_MAX: usize = 100;

/// The code of this module's messages.
const CODE: &str = "preprocessor";

/// A macro's definition.
#[derive(Clone, Debug)]
pub(crate) struct Macro {
    /// Its name.
    name: Name,
    /// The formal parameters; `None` for a macro without parentheses.
    params: Option<Vec<Name>>,
    /// The last parameter takes all further arguments.
    variadic: bool,
    /// The replacement.
    body: Vec<Token>,
    /// Where the name stands in the definition.
    span: Span,
}

/// The macros that are defined.
#[derive(Clone, Debug, Default)]
pub struct Macros {
    table: HashMap<Name, Arc<Macro>>,
}

/// A preprocessed model.
#[derive(Debug)]
pub struct Output {
    /// The last one is [`TokenKind::End`].
    pub tokens: Vec<Token>,
    /// The macros that are defined at the end of the model.
    pub macros: Macros,
    /// What `#warning` said and the like.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a model and replaces its macros.
///
/// # Errors
/// The first thing that is wrong with a file, a directive or a macro's use.
pub fn preprocess(
    path: &Path,
    reader: &dyn Reader,
    options: &ParseOptions,
    sources: &mut SourceMap,
) -> Result<Output, Diagnostic> {
    let mut state = Preprocessor::new(reader, options, sources);
    state.open(path, None)?;
    state.define_options(options)?;
    let tokens = state.run()?;
    Ok(Output { tokens, macros: state.macros, warnings: state.warnings })
}

/// Replaces a model's macros in a text given on its own; `file` is its place in `sources`.
///
/// # Errors
/// What is wrong with the text.
pub fn expand_text(tokens: Vec<Token>, macros: &Macros, sources: &mut SourceMap) -> Result<Vec<Token>, Diagnostic> {
    let options = ParseOptions::default();
    let mut state = Preprocessor::new(&HostFiles, &options, sources);
    state.macros = macros.clone();
    let end = tokens.last().cloned();
    let mut expanded = state.expand_list(tokens)?;
    if !expanded.last().is_some_and(|token| token.kind == TokenKind::End) {
        expanded.extend(end);
    }
    Ok(expanded)
}

/// Everything that changes while a model is read.
struct Preprocessor<'a> {
    reader: &'a dyn Reader,
    options: &'a ParseOptions,
    sources: &'a mut SourceMap,
    macros: Macros,
    warnings: Vec<Diagnostic>,
    /// Files being read, the innermost include last.
    frames: Vec<file::Frame>,
    /// Files that said `#pragma once`.
    once: HashSet<std::path::PathBuf>,
    /// Replacements being read, the innermost last.
    contexts: Vec<expand::Context>,
    /// Macros whose replacement is being read; they are not replaced again.
    active: HashSet<Name>,
    /// A line ended in something that left no token.
    newline: bool,
    bytes: usize,
    macro_tokens: usize,
    call_depth: usize,
}

impl<'a> Preprocessor<'a> {
    fn new(reader: &'a dyn Reader, options: &'a ParseOptions, sources: &'a mut SourceMap) -> Self {
        Preprocessor {
            reader,
            options,
            sources,
            macros: Macros::default(),
            warnings: Vec::new(),
            frames: Vec::new(),
            once: HashSet::new(),
            contexts: Vec::new(),
            active: HashSet::new(),
            newline: false,
            bytes: 0,
            macro_tokens: 0,
            call_depth: 0,
        }
    }

    fn run(&mut self) -> Result<Vec<Token>, Diagnostic> {
        let mut tokens = Vec::new();
        while let Some(token) = self.expanded()? {
            let done = token.kind == TokenKind::End;
            tokens.push(token);
            if done {
                break;
            }
        }
        Ok(tokens)
    }

    /// `-D` and `-U`.
    fn define_options(&mut self, options: &ParseOptions) -> Result<(), Diagnostic> {
        for (name, value) in &options.defines {
            let line = format!("{name} {}", value.as_deref().unwrap_or("1"));
            let file = self.sources.add_file("<command line>", line.clone());
            let tokens = lex::scan(&line, file)?;
            let end = tokens.len() - 1;
            self.define(&tokens[..end], tokens[0].span)?;
        }
        for name in &options.undefines {
            self.macros.table.remove(name.as_str());
        }
        Ok(())
    }
}

/// An error of this module.
fn error(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(CODE, span, message)
}

#[cfg(test)]
mod tests;
