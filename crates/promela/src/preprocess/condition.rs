//! The arithmetic of `#if`.
//!
//! `#if` expressions in 64-bit arithmetic with undefined names as 0, as C says. Division by zero is
//! an error where C leaves it undefined.

use super::{Preprocessor, error};
use crate::diagnostic::Diagnostic;
use crate::lex::{Token, TokenKind};
use crate::source::Span;

/// Nested parentheses and operators.
const DEPTH_MAX: usize = 200;

impl Preprocessor<'_> {
    /// Whether a condition holds.
    pub(super) fn condition(&mut self, span: Span, line: &[Token]) -> Result<bool, Diagnostic> {
        let line = self.replace_defined(line)?;
        let tokens = self.expand_list(line)?;
        let mut reader = Condition { tokens: &tokens, at: 0, span, depth: 0 };
        let value = reader.conditional(true)?;
        match reader.tokens.get(reader.at) {
            None => Ok(value != 0),
            Some(extra) => Err(error(extra.span, format!("`{}` does not belong in this condition", extra.text))),
        }
    }

    /// Replaces `defined X` and `defined(X)` by 1 or 0, before X could be expanded.
    ///
    /// Before expansion, because the operand of `defined` is not expanded (C11 6.10.1).
    fn replace_defined(&self, line: &[Token]) -> Result<Vec<Token>, Diagnostic> {
        let mut out = Vec::new();
        let mut at = 0;
        while let Some(token) = line.get(at) {
            at += 1;
            if !token.is("defined") {
                out.push(token.clone());
                continue;
            }
            let (name, length) = match &line[at..] {
                [open, name, close, ..] if open.is("(") && close.is(")") => (name, 3),
                [name, ..] => (name, 1),
                [] => (token, 1),
            };
            if name.kind != TokenKind::Word || name.is("defined") {
                return Err(error(token.span, "`defined` needs a name"));
            }
            at += length;
            let text = if self.is_defined(&name.text) { "1" } else { "0" };
            out.push(Token { kind: TokenKind::Number, text: text.into(), ..token.clone() });
        }
        Ok(out)
    }
}

/// Operators by level, loosest first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// Reads and computes a condition. `live` is false where the value is not needed, so that `0 && 1/0` is no error.
struct Condition<'a> {
    tokens: &'a [Token],
    at: usize,
    span: Span,
    depth: usize,
}

type Value = Result<i64, Diagnostic>;

impl Condition<'_> {
    fn conditional(&mut self, live: bool) -> Value {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(error(self.span, "this condition is nested too deeply"));
        }
        let test = self.binary(0, live)?;
        let value = if self.take("?") {
            let yes = self.conditional(live && test != 0)?;
            if !self.take(":") {
                return Err(self.missing("`:`"));
            }
            let no = self.conditional(live && test == 0)?;
            if test != 0 { yes } else { no }
        } else {
            test
        };
        self.depth -= 1;
        Ok(value)
    }

    /// Precedence climbing by table; all binary operators group to the left.
    fn binary(&mut self, level: usize, live: bool) -> Value {
        let Some(operators) = LEVELS.get(level) else { return self.unary(live) };
        let mut left = self.binary(level + 1, live)?;
        while let Some(operator) = operators.iter().find(|text| self.at_text(text)) {
            let span = self.tokens[self.at].span;
            self.at += 1;
            let needed = match *operator {
                "||" => left == 0,
                "&&" => left != 0,
                _ => true,
            };
            let right = self.binary(level + 1, live && needed)?;
            left = match compute(operator, left, right) {
                Some(value) => value,
                None if live => return Err(error(span, "division by zero in a condition")),
                None => 0,
            };
        }
        Ok(left)
    }

    fn unary(&mut self, live: bool) -> Value {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(error(self.span, "this condition is nested too deeply"));
        }
        let value = match self.tokens.get(self.at).map_or("", |token| &*token.text) {
            "!" => self.operand(live, |value| i64::from(value == 0)),
            "!!" => self.operand(live, |value| i64::from(value != 0)),
            "-" => self.operand(live, i64::wrapping_neg),
            "--" | "+" => self.operand(live, |value| value),
            "~" => self.operand(live, |value| !value),
            _ => self.primary(live),
        };
        self.depth -= 1;
        value
    }

    fn operand(&mut self, live: bool, apply: fn(i64) -> i64) -> Value {
        self.at += 1;
        self.unary(live).map(apply)
    }

    fn primary(&mut self, live: bool) -> Value {
        let Some(token) = self.tokens.get(self.at) else { return Err(self.missing("a value")) };
        self.at += 1;
        match token.kind {
            TokenKind::Number => number(&token.text).ok_or_else(|| error(token.span, "this is not an integer")),
            TokenKind::Char => Ok(character(&token.text)),
            // What is no macro counts as 0.
            TokenKind::Word => Ok(0),
            _ if token.is("(") => {
                let value = self.conditional(live)?;
                if self.take(")") { Ok(value) } else { Err(self.missing("`)`")) }
            }
            _ => Err(error(token.span, format!("`{}` does not belong in a condition", token.text))),
        }
    }

    fn at_text(&self, text: &str) -> bool {
        self.tokens.get(self.at).is_some_and(|token| token.is(text))
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.at_text(text);
        self.at += usize::from(found);
        found
    }

    fn missing(&self, what: &str) -> Diagnostic {
        let last = self.tokens.get(self.at).or(self.tokens.last()).map_or(self.span, |token| token.span);
        error(last, format!("expected {what} in this condition"))
    }
}

/// `None` is a division by zero.
fn compute(operator: &str, a: i64, b: i64) -> Option<i64> {
    let shift = (b & 63) as u32;
    Some(match operator {
        "||" => i64::from(a != 0 || b != 0),
        "&&" => i64::from(a != 0 && b != 0),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "==" => i64::from(a == b),
        "!=" => i64::from(a != b),
        "<" => i64::from(a < b),
        ">" => i64::from(a > b),
        "<=" => i64::from(a <= b),
        ">=" => i64::from(a >= b),
        "<<" => a.wrapping_shl(shift),
        ">>" => a.wrapping_shr(shift),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" if b != 0 => a.wrapping_div(b),
        "%" if b != 0 => a.wrapping_rem(b),
        _ => return None,
    })
}

/// Decimal, octal, hexadecimal or binary, with C's suffixes.
fn number(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = if let Some(rest) = lower.strip_prefix("0x") {
        (16, rest)
    } else if let Some(rest) = lower.strip_prefix("0b") {
        (2, rest)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (8, &lower[1..])
    } else {
        (10, &*lower)
    };
    u64::from_str_radix(digits, radix).ok().map(|value| value as i64)
}

fn character(text: &str) -> i64 {
    let inner = text.trim_matches('\'');
    let escaped = inner.strip_prefix('\\').and_then(|rest| rest.chars().next());
    let c = match escaped {
        Some('n') => '\n',
        Some('t') => '\t',
        Some('r') => '\r',
        Some('0') => '\0',
        Some(other) => other,
        None => inner.chars().next().unwrap_or('\0'),
    };
    i64::from(u32::from(c))
}
