//! Replacing macros.
//!
//! A replacement is read before the rest of its file; while it is read its macro is not replaced again, and a name
//! that was met in that time is painted: it stays as it is for ever (C's "blue paint").
//!
//! Expansion follows C's algorithm (Dave Prosser's, the basis of C89): arguments are expanded
//! before substitution unless `#` or `##` touches them, the result is scanned again, and a macro's
//! own name inside its expansion is painted.

use super::{CALL_DEPTH_MAX, MACRO_TOKENS_MAX, Macro, Preprocessor, error};
use crate::ast::Name;
use crate::diagnostic::Diagnostic;
use crate::lex::{Token, TokenKind};
use crate::source::Span;
use std::sync::Arc;

/// Tokens to be read before anything else.
pub(super) struct Context {
    tokens: std::vec::IntoIter<Token>,
    /// The macro that this replaces.
    name: Option<Name>,
    /// Nothing beyond these tokens may be read: they are an argument or a directive's line.
    closed: bool,
    /// A line ended within the macro's call.
    newline_after: bool,
}

impl Context {
    fn plain(tokens: Vec<Token>) -> Context {
        Context { tokens: tokens.into_iter(), name: None, closed: false, newline_after: false }
    }
}

/// The arguments of a call.
struct Arguments {
    list: Vec<Vec<Token>>,
    newline: bool,
    /// From the macro's name to the closing parenthesis.
    site: Span,
}

impl Preprocessor<'_> {
    /// The next token with macros replaced; `None` at the end of a closed context.
    pub(super) fn expanded(&mut self) -> Result<Option<Token>, Diagnostic> {
        loop {
            let Some(mut token) = self.read()? else { return Ok(None) };
            if token.kind != TokenKind::Word || token.painted {
                return Ok(Some(token));
            }
            if let Some(built_in) = self.built_in(&token) {
                return Ok(Some(built_in));
            }
            let Some(found) = self.macros.table.get(&token.text).cloned() else { return Ok(Some(token)) };
            if self.active.contains(&token.text) {
                token.painted = true;
                return Ok(Some(token));
            }
            if !self.replace(&token, &found)? {
                return Ok(Some(token));
            }
        }
    }

    /// Expands a list of tokens on its own.
    pub(super) fn expand_list(&mut self, tokens: Vec<Token>) -> Result<Vec<Token>, Diagnostic> {
        self.call_depth += 1;
        if self.call_depth > CALL_DEPTH_MAX {
            let span = tokens.first().map(|token| token.span).unwrap_or_default();
            return Err(error(span, format!("macro calls are nested more than {CALL_DEPTH_MAX} deep")));
        }
        self.contexts.push(Context { closed: true, ..Context::plain(tokens) });
        let mut out = Vec::new();
        while let Some(token) = self.expanded()? {
            out.push(token);
        }
        self.contexts.pop();
        self.call_depth -= 1;
        Ok(out)
    }

    /// The next token as it is.
    fn read(&mut self) -> Result<Option<Token>, Diagnostic> {
        while let Some(context) = self.contexts.last_mut() {
            if let Some(token) = context.tokens.next() {
                return Ok(Some(self.with_newline(token)));
            }
            if context.closed {
                return Ok(None);
            }
            self.leave();
        }
        let token = self.file_token()?;
        Ok(Some(self.with_newline(token)))
    }

    /// Drops the innermost context, which was read to its end.
    fn leave(&mut self) {
        let Some(context) = self.contexts.pop() else { return };
        self.newline |= context.newline_after;
        if let Some(name) = context.name {
            self.active.remove(&name);
        }
    }

    fn with_newline(&mut self, mut token: Token) -> Token {
        token.newline |= std::mem::take(&mut self.newline);
        token
    }

    /// Puts the replacement of a macro's use in front; false when the name stands without its arguments.
    fn replace(&mut self, token: &Token, found: &Arc<Macro>) -> Result<bool, Diagnostic> {
        let arguments = match &found.params {
            None => Arguments { list: Vec::new(), newline: false, site: token.span },
            Some(_) => match self.read()? {
                Some(open) if open.is("(") => self.arguments(token, found, open.newline)?,
                other => {
                    self.contexts.push(Context::plain(other.into_iter().collect()));
                    return Ok(false);
                }
            },
        };
        let site = Token { span: arguments.site, ..token.clone() };
        let body = self.substitute(&site, found, arguments.list)?;
        self.macro_tokens += body.len() + 1;
        if self.macro_tokens > MACRO_TOKENS_MAX {
            return Err(error(token.span, format!("macros grow to more than {MACRO_TOKENS_MAX} tokens"))
                .label(format!("while replacing `{}`", found.name)));
        }
        self.enter(token, found, body, arguments.newline);
        Ok(true)
    }

    fn enter(&mut self, token: &Token, found: &Macro, mut body: Vec<Token>, newline: bool) {
        match body.first_mut() {
            Some(first) => {
                first.newline = token.newline;
                first.space = token.space;
            }
            None => self.newline |= token.newline,
        }
        self.active.insert(found.name.clone());
        let name = Some(found.name.clone());
        self.contexts.push(Context { name, newline_after: newline, ..Context::plain(body) });
    }

    /// Reads the arguments of a call, the opening parenthesis being read already.
    fn arguments(&mut self, token: &Token, found: &Macro, newline: bool) -> Result<Arguments, Diagnostic> {
        let formals = found.params.as_ref().map_or(0, Vec::len);
        let mut made = Arguments { list: vec![Vec::new()], newline, site: token.span };
        let mut depth = 0usize;
        loop {
            let mut next = match self.read()? {
                Some(next) if next.kind != TokenKind::End => next,
                _ => return Err(unclosed(token)),
            };
            made.newline |= std::mem::take(&mut next.newline);
            match &*next.text {
                ")" if depth == 0 => {
                    made.site = token.span.to(next.span);
                    break;
                }
                ")" => depth -= 1,
                "(" => depth += 1,
                "," if depth == 0 && !(found.variadic && made.list.len() == formals) => {
                    made.list.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            next.painted |= self.active.contains(&next.text);
            if let Some(argument) = made.list.last_mut() {
                argument.push(next);
            }
        }
        check_count(token, found, &mut made.list)?;
        Ok(made)
    }

    /// `__LINE__` and `__FILE__`.
    fn built_in(&self, token: &Token) -> Option<Token> {
        let (kind, text) = match &*token.text {
            "__LINE__" => (TokenKind::Number, self.sources.locate(token.span)?.line.to_string()),
            "__FILE__" => (TokenKind::Text, format!("{:?}", self.file_name())),
            _ => return None,
        };
        Some(Token { kind, text: text.into(), ..token.clone() })
    }
}

fn unclosed(token: &Token) -> Diagnostic {
    error(token.span, format!("the arguments of macro `{}` are not closed", token.text)).help("add `)`")
}

/// Fits the arguments to the parameters; `M()` has none, or one that is empty.
fn check_count(token: &Token, found: &Macro, list: &mut Vec<Vec<Token>>) -> Result<(), Diagnostic> {
    let formals = found.params.as_ref().map_or(0, Vec::len);
    if formals == 0 && list.len() == 1 && list[0].is_empty() {
        list.clear();
    }
    if found.variadic && list.len() + 1 == formals {
        list.push(Vec::new());
    }
    if list.len() == formals {
        return Ok(());
    }
    let given = list.len();
    Err(error(token.span, format!("macro `{}` takes {formals} arguments, but {given} are given", found.name)))
}
