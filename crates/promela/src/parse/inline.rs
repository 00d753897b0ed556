//! Inlines: their definitions, and their calls, which are replaced by their bodies.
//!
//! As in SPIN the replacement is textual: the tokens of the actual parameter stand where the formal one stood, without
//! parentheses of their own, whatever the formal's name is the name of.
//!
//! An inline is a macro with parameters, expanded while its call is parsed, as in SPIN. Tokens of
//! the body get an origin that leads back to the call, so that messages can name both places. An
//! inline that calls itself is refused.

use super::parser::{Call, Inline, Parse, Parser};
use super::tokens::NameClass;
use crate::ast::{Ident, InlineDefinition, StmtKind, VarRef};
use crate::diagnostic::Diagnostic;
use crate::lex::{Token, TokenKind};
use crate::source::{Origin, OriginId, Span};
use std::sync::Arc;

/// What inlines may grow to in total: inlines that call each other twice are as good a bomb as macros.
const INLINED_TOKENS_MAX: usize = 1_000_000;

impl Parser<'_> {
    /// `inline f(a, b) { .. }`.
    pub fn inline_definition(&mut self) -> Parse<()> {
        let start = self.tokens.next().span;
        let name = self.name("the name of the inline")?;
        self.expect("(")?;
        let params = if self.at(")") { Vec::new() } else { self.list(|parser| parser.any_name("a parameter"))? };
        self.expect(")")?;
        let mut body = self.raw_block("inline")?;
        self.tokens.resume(false);
        // Between `)` and `{` no statement can end.
        body[0].newline = false;
        self.tokens.declare(&name.name, NameClass::Inline);
        let formals = params.iter().map(|param| param.name.clone()).collect();
        self.inlines.insert(name.name.clone(), Arc::new(Inline { params: formals, body }));
        self.program.inlines.push(InlineDefinition { name, params, span: self.since(start) });
        Ok(())
    }

    /// `f(a, b)` with the name next; `result` is what `return` assigns to.
    pub fn inline_call(&mut self, result: Option<VarRef>) -> Parse<StmtKind> {
        let name = self.ident();
        self.expect("(")?;
        let actuals = self.actuals()?;
        let site = self.since(name.span);
        let inline = self.callee(&name, actuals.len())?;
        let arguments = inline.params.iter().zip(&actuals).map(|(param, actual)| ((**param).into(), spelt(actual)));
        let arguments = arguments.collect();
        let origin = self.sources.add_origin(Origin::Inline { name: name.name.to_string(), site, arguments });
        let tokens = self.instantiate(&inline, &actuals, origin);
        self.count(tokens.len(), site)?;
        self.tokens.push(tokens);
        self.calls.push(Call { name: name.name.clone(), result });
        let body = self.nested(Self::braced)?;
        self.calls.pop();
        self.last_call = site;
        Ok(StmtKind::Inlined { name, body })
    }

    /// Calls are expanded while they are parsed, so the open calls are a stack, and recursion is a
    /// name that is on it.
    fn callee(&self, name: &Ident, given: usize) -> Parse<Arc<Inline>> {
        let Some(inline) = self.inlines.get(&name.name) else {
            return self.error(name.span, format!("there is no inline `{}`", name.name));
        };
        if self.calls.iter().any(|call| call.name == name.name) {
            let told = Diagnostic::error("inline", name.span, format!("inline `{}` calls itself", name.name));
            return Err(Box::new(told.note("an inline is replaced by its body, so this would never end")));
        }
        let wanted = inline.params.len();
        if given != wanted {
            let message = format!("inline `{}` has {wanted} parameters, but {given} are given", name.name);
            return Err(Box::new(Diagnostic::error("inline", name.span, message)));
        }
        Ok(inline.clone())
    }

    /// The actual parameters, up to and with the closing parenthesis; nothing beyond it is looked at.
    fn actuals(&mut self) -> Parse<Vec<Vec<Token>>> {
        let mut list = vec![Vec::new()];
        let mut depth = 0usize;
        loop {
            let token = self.tokens.next();
            match &*token.text {
                _ if token.kind == TokenKind::End => return Err(self.expected("`)`")),
                ")" if depth == 0 => break,
                "(" | "[" => depth += 1,
                ")" | "]" => depth = depth.saturating_sub(1),
                "," if depth == 0 => {
                    list.push(Vec::new());
                    continue;
                }
                ";" | "{" | "}" | "::" => {
                    return self
                        .error(token.span, format!("`{}` cannot stand in a parameter of an inline", token.text));
                }
                _ => {}
            }
            if let Some(actual) = list.last_mut() {
                actual.push(token);
            }
        }
        if list.len() == 1 && list[0].is_empty() {
            list.clear();
        }
        match list.iter().any(Vec::is_empty) {
            true => self.error(self.tokens.last.span, "a parameter is missing"),
            false => Ok(list),
        }
    }

    /// The body with the actual parameters in place.
    fn instantiate(&self, inline: &Inline, actuals: &[Vec<Token>], origin: OriginId) -> Vec<Token> {
        let mut tokens = Vec::with_capacity(inline.body.len());
        for token in &inline.body {
            let span = Span { origin, ..token.span };
            match self.formal(inline, token) {
                Some(index) => tokens.extend(actuals[index].iter().enumerate().map(|(position, actual)| Token {
                    span,
                    newline: position == 0 && token.newline,
                    ..actual.clone()
                })),
                None => tokens.push(Token { span, ..token.clone() }),
            }
        }
        tokens
    }

    /// Which formal parameter a token of the body is. The names of mtype constants come first, as in SPIN.
    fn formal(&self, inline: &Inline, token: &Token) -> Option<usize> {
        let class = self.tokens.name_class(token)?;
        if class == NameClass::Mtype {
            return None;
        }
        inline.params.iter().position(|param| *param == token.text)
    }

    fn count(&mut self, tokens: usize, site: Span) -> Parse<()> {
        self.inlined_tokens += tokens;
        if self.inlined_tokens > INLINED_TOKENS_MAX {
            return self.error(site, format!("inlines grow to more than {INLINED_TOKENS_MAX} tokens"));
        }
        Ok(())
    }

    /// `return e` in the body of an inline called as `x = f(..)` is `x = e`.
    pub fn return_statement(&mut self) -> Parse<StmtKind> {
        let word = self.tokens.next();
        let Some(call) = self.calls.last() else {
            let told = Diagnostic::error("syntax", word.span, "`return` can only stand in an inline");
            return Err(Box::new(told.help("a process ends at its closing brace; use `goto` to get there")));
        };
        let Some(target) = call.result.clone() else {
            let message = format!("inline `{}` returns a value, but this call has no place for it", call.name);
            let told = Diagnostic::error("inline", word.span, message);
            return Err(Box::new(told.help(format!("call it as `x = {}(..)`", call.name))));
        };
        let value = self.full_expr()?;
        Ok(StmtKind::Assign { target, value })
    }
}

/// Tokens as text; words do not run together.
fn spelt(tokens: &[Token]) -> Box<str> {
    let mut text = String::new();
    for token in tokens {
        let joins = |char: char| char.is_ascii_alphanumeric() || char == '_';
        if text.ends_with(joins) && token.text.starts_with(joins) {
            text.push(' ');
        }
        text.push_str(&token.text);
    }
    text.into()
}
