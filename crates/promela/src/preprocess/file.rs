//! Files: opening them, including them, and leaving out what `#if` leaves out.

use super::{FILE_SIZE_MAX, INCLUDE_DEPTH_MAX, Preprocessor, TOTAL_SIZE_MAX, error};
use crate::diagnostic::Diagnostic;
use crate::lex::{self, Token, TokenKind};
use crate::source::Span;
use std::path::{Path, PathBuf};

/// A file being read.
pub(super) struct Frame {
    path: PathBuf,
    tokens: Vec<Token>,
    at: usize,
    pub(super) conditions: Vec<Branch>,
}

/// An `#if` that is not closed yet.
pub(super) struct Branch {
    /// Where it was opened.
    pub span: Span,
    /// The text is read now.
    pub reading: bool,
    /// No later branch may be read.
    pub done: bool,
    /// `#else` was seen.
    pub seen_else: bool,
}

impl Preprocessor<'_> {
    /// Begins to read a file, at `site`'s `#include` or as the model itself.
    pub(super) fn open(&mut self, path: &Path, site: Option<Span>) -> Result<(), Diagnostic> {
        let bytes = self.reader.read(path).map_err(|why| unreadable(path, site, &why.to_string()))?;
        self.push(path, bytes, site)
    }

    fn push(&mut self, path: &Path, bytes: Vec<u8>, site: Option<Span>) -> Result<(), Diagnostic> {
        self.bytes += bytes.len();
        if bytes.len() > FILE_SIZE_MAX || self.bytes > TOTAL_SIZE_MAX {
            let limit = if bytes.len() > FILE_SIZE_MAX { FILE_SIZE_MAX } else { TOTAL_SIZE_MAX } >> 20;
            return Err(unreadable(path, site, &format!("more than {limit} MiB")));
        }
        // Old models have Latin-1 comments. Replacing what is not UTF-8 keeps them readable; outside of comments and
        // strings the replacement character is a syntax error.
        let text = String::from_utf8_lossy(&bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_string();
        let file = self.sources.add_file(path, text.clone());
        let tokens = lex::scan(&text, file)?;
        self.frames.push(Frame { path: path.to_path_buf(), tokens, at: 0, conditions: Vec::new() });
        Ok(())
    }

    /// `#include "name"` or `<name>`: beside the including file first, then where the options say.
    pub(super) fn include(&mut self, name: &str, site: Span) -> Result<(), Diagnostic> {
        if self.frames.len() > INCLUDE_DEPTH_MAX {
            return Err(error(site, format!("includes are nested more than {INCLUDE_DEPTH_MAX} deep"))
                .help("does a file include itself? Guard it with #ifndef"));
        }
        let candidates = self.candidates(name);
        for path in &candidates {
            if let Ok(bytes) = self.reader.read(path) {
                return if self.once.contains(path) { Ok(()) } else { self.push(path, bytes, Some(site)) };
            }
        }
        let tried: Vec<String> = candidates.iter().map(|path| path.display().to_string()).collect();
        Err(Diagnostic::error("include", site, format!("cannot find the included file `{name}`"))
            .note(format!("looked for {}", tried.join(", "))))
    }

    fn candidates(&self, name: &str) -> Vec<PathBuf> {
        let beside = self.frames.last().and_then(|frame| frame.path.parent()).unwrap_or(Path::new(""));
        std::iter::once(beside)
            .chain(self.options.include_dirs.iter().map(PathBuf::as_path))
            .map(|d| d.join(name))
            .collect()
    }

    /// `#pragma once`.
    pub(super) fn mark_once(&mut self) {
        if let Some(frame) = self.frames.last() {
            self.once.insert(frame.path.clone());
        }
    }

    /// The next token of the files, after obeying the directives before it.
    pub(super) fn file_token(&mut self) -> Result<Token, Diagnostic> {
        loop {
            let reading = self.reading();
            let depth = self.frames.len();
            let Some(frame) = self.frames.last_mut() else { return Ok(Token::end(Span::default())) };
            let token = frame.tokens[frame.at].clone();
            if token.kind == TokenKind::End {
                if let Some(open) = frame.conditions.last() {
                    return Err(error(open.span, "this condition is not closed").help("add #endif"));
                }
                if depth == 1 {
                    return Ok(token);
                }
                self.frames.pop();
                self.newline = true;
                continue;
            }
            frame.at += 1;
            if token.newline && token.is("#") {
                let line = frame.rest_of_line();
                self.directive(&token, &line)?;
            } else if reading {
                return Ok(token);
            }
        }
    }

    /// Whether no open condition leaves out the present text.
    pub(super) fn reading(&self) -> bool {
        self.frames.last().is_none_or(|frame| frame.conditions.last().is_none_or(|branch| branch.reading))
    }

    /// The file's conditions.
    pub(super) fn branches(&mut self) -> Option<&mut Vec<Branch>> {
        self.frames.last_mut().map(|frame| &mut frame.conditions)
    }

    /// The name of the file being read.
    pub(super) fn file_name(&self) -> String {
        self.frames.last().map_or(String::new(), |frame| frame.path.display().to_string())
    }
}

impl Frame {
    fn rest_of_line(&mut self) -> Vec<Token> {
        let rest = &self.tokens[self.at..];
        let length = rest.iter().take_while(|token| !token.newline && token.kind != TokenKind::End).count();
        self.at += length;
        rest[..length].to_vec()
    }
}

fn unreadable(path: &Path, site: Option<Span>, why: &str) -> Diagnostic {
    // Without a site there is no text to point at yet; such a span belongs to no file.
    let nowhere = Span { file: crate::source::FileId(u32::MAX), ..Span::default() };
    Diagnostic::error("include", site.unwrap_or(nowhere), format!("cannot read `{}`: {why}", path.display()))
}
