//! A macro's replacement with its arguments in place: `#` makes text, `##` joins.
//!
//! C11 6.10.3.1 to 6.10.3.3: an argument is fully expanded before it is put in, except beside `#`
//! and `##`, where it stands as written.

use super::{Macro, Preprocessor, error};
use crate::diagnostic::Diagnostic;
use crate::lex::{self, Token, TokenKind};
use crate::source::Span;

impl Preprocessor<'_> {
    /// The replacement for one use.
    pub(super) fn substitute(
        &mut self,
        site: &Token,
        found: &Macro,
        args: Vec<Vec<Token>>,
    ) -> Result<Vec<Token>, Diagnostic> {
        let mut made = Substitution { site, found, args, out: Vec::new() };
        let mut at = 0;
        while at < found.body.len() {
            at = self.substitute_at(&mut made, at)?;
        }
        made.out.retain(|token| !is_nothing(token));
        Ok(made.out)
    }

    /// Handles the body's token at `at`; returns where to go on.
    fn substitute_at(&mut self, made: &mut Substitution<'_>, at: usize) -> Result<usize, Diagnostic> {
        let body = &made.found.body;
        let token = &body[at];
        if token.is("##") && at > 0 {
            let (right, next) = made.operand(at + 1);
            made.paste(right, &body[at + 1])?;
            return Ok(next);
        }
        let joins = body.get(at + 1).is_some_and(|next| next.is("##"));
        match made.argument(token) {
            Some(index) if !joins => {
                let mut expanded = self.expand_list(made.args[index].clone())?;
                if let Some(first) = expanded.first_mut() {
                    first.space = token.space;
                }
                made.out.extend(expanded);
                Ok(at + 1)
            }
            _ => {
                let (tokens, next) = made.operand(at);
                made.out.extend(tokens);
                Ok(next)
            }
        }
    }
}

/// One use of one macro.
struct Substitution<'a> {
    site: &'a Token,
    found: &'a Macro,
    args: Vec<Vec<Token>>,
    out: Vec<Token>,
}

impl Substitution<'_> {
    /// Which argument a token of the body stands for.
    fn argument(&self, token: &Token) -> Option<usize> {
        let params = self.found.params.as_ref()?;
        params.iter().position(|param| token.kind == TokenKind::Word && *param == token.text)
    }

    /// The tokens at `at` without expansion, never none, and where the body goes on.
    fn operand(&self, at: usize) -> (Vec<Token>, usize) {
        let token = &self.found.body[at];
        if token.is("#")
            && let Some(index) = self.found.body.get(at + 1).and_then(|next| self.argument(next))
        {
            return (vec![self.place(self.stringify(index))], at + 2);
        }
        let tokens = match self.argument(token) {
            Some(index) if self.args[index].is_empty() => vec![self.nothing()],
            Some(index) => self.args[index].clone(),
            None => vec![self.place(token.clone())],
        };
        (tokens, at + 1)
    }

    /// A token of the body as it stands at the place of use.
    fn place(&self, token: Token) -> Token {
        Token { span: self.site.span, newline: false, via: Some(self.found.name.clone()), ..token }
    }

    /// What stands for an empty argument beside `##`.
    fn nothing(&self) -> Token {
        self.place(Token { kind: TokenKind::Other, text: "".into(), ..self.site.clone() })
    }

    fn stringify(&self, index: usize) -> Token {
        let mut text = String::from("\"");
        for (position, token) in self.args[index].iter().enumerate() {
            if token.space && position > 0 {
                text.push(' ');
            }
            let quoted = matches!(token.kind, TokenKind::Text | TokenKind::Char);
            for c in token.text.chars() {
                if quoted && matches!(c, '"' | '\\') {
                    text.push('\\');
                }
                text.push(c);
            }
        }
        text.push('"');
        Token { kind: TokenKind::Text, text: text.into(), ..self.site.clone() }
    }

    /// Joins the last token so far with the first of `right`, which stands for `written`.
    ///
    /// An empty argument is a token without text until everything is joined, which C calls a
    /// placemarker.
    fn paste(&mut self, right: Vec<Token>, written: &Token) -> Result<(), Diagnostic> {
        let Some(left) = self.out.pop() else {
            self.out.extend(right);
            return Ok(());
        };
        let mut right = right.into_iter();
        let Some(first) = right.next() else { return Ok(()) };
        let variadic = self.found.variadic && self.argument(written) == self.args.len().checked_sub(1);
        if left.is(",") && variadic {
            // GNU: `, ## __VA_ARGS__` drops the comma when there are no further arguments, and joins nothing otherwise.
            if !is_nothing(&first) {
                self.out.extend([left, first]);
            }
        } else {
            let joined = self.join(left, first)?;
            self.out.push(joined);
        }
        self.out.extend(right);
        Ok(())
    }

    fn join(&self, left: Token, right: Token) -> Result<Token, Diagnostic> {
        if is_nothing(&right) {
            return Ok(left);
        }
        if is_nothing(&left) {
            return Ok(Token { space: left.space, ..right });
        }
        let text = format!("{}{}", left.text, right.text);
        let scanned = lex::scan(&text, Span::default().file).unwrap_or_default();
        match scanned.as_slice() {
            [one, _end] => Ok(self.place(Token { kind: one.kind, text: one.text.clone(), painted: false, ..left })),
            _ => Err(error(
                self.site.span,
                format!("`##` joins `{}` and `{}`, which is not one token", left.text, right.text),
            )),
        }
    }
}

fn is_nothing(token: &Token) -> bool {
    token.kind == TokenKind::Other && token.text.is_empty()
}
