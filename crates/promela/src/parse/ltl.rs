//! Formulas of `ltl` blocks, with the precedences of SPIN's grammar.
//!
//! From loose to tight: `->` `<->`, `||`, `&&`, `U` `W` `V`, then arithmetic, and tightest the unary operators. All
//! binary ones associate to the left. One deviation, told to the user: SPIN reads `<> x == 2` as `(<> x) == 2`, which
//! means nothing; here it is `<> (x == 2)`.
//!
//! Inside `ltl { }` SPIN switches to another lexer, in which `U`, `V`, `W` and `X` are operators;
//! the atoms between them are Promela expressions again.

use super::operator::{ARITHMETIC, operator};
use super::parser::{Parse, Parser};
use super::probe;
use crate::ast::{BinaryOp, Expr, ExprKind, Ltl, LtlKind, UnaryOp};
use crate::diagnostic::Diagnostic;
use crate::lex::{Token, TokenKind};
use crate::source::Span;

/// Operators in a row; see the same bound of expressions.
const CHAIN_MAX: usize = 1000;

/// A formula, or what may still become a part of an expression.
enum Node {
    State(Expr),
    Temporal(Ltl),
}

/// Binary operators of temporal logic.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Connective {
    Implies,
    Equivalent,
    Or,
    And,
    Until,
    WeakUntil,
    Release,
    Arithmetic(BinaryOp),
}

type Pair = fn(Box<Ltl>, Box<Ltl>) -> LtlKind;

/// The level of the loosest arithmetic operator, where those of expressions are put on top.
const ARITHMETIC_LEVEL: u8 = 5;

impl Parser<'_> {
    /// A formula that is all of `tokens` up to `close`.
    pub fn ltl_formula(&mut self, tokens: Vec<Token>, close: &str) -> Parse<Ltl> {
        let mut tokens = merge(tokens);
        let end = tokens.last().map(|token| token.span.after()).unwrap_or_default();
        if !tokens.last().is_some_and(|token| token.kind == TokenKind::End) {
            tokens.push(Token::end(end));
        }
        self.tokens.restart(tokens);
        let node = self.ltl_binary(1)?;
        self.eat(";");
        if !close.is_empty() {
            self.expect(close)?;
        }
        if self.tokens.peek().kind != TokenKind::End {
            return Err(self.expected("an operator or the end of the formula"));
        }
        match node {
            Node::Temporal(formula) => Ok(formula),
            Node::State(expr) => {
                probe::check(&expr)?;
                Ok(Ltl { span: expr.span, kind: LtlKind::Atom(expr) })
            }
        }
    }

    fn ltl_binary(&mut self, level: u8) -> Parse<Node> {
        let mut left = self.ltl_unary()?;
        let mut length = 0;
        loop {
            let token = self.tokens.peek().clone();
            let Some((op, found)) = self.connective(&token).filter(|&(_, found)| found >= level) else {
                return Ok(left);
            };
            self.tokens.next();
            length += 1;
            if length > CHAIN_MAX {
                return self.error(token.span, format!("more than {CHAIN_MAX} operands in a row"));
            }
            let right = self.nested(|parser| parser.ltl_binary(found + 1))?;
            left = self.combine(op, left, right, &token)?;
        }
    }

    fn connective(&self, token: &Token) -> Option<(Connective, u8)> {
        let found = match &*token.text {
            _ if !matches!(token.kind, TokenKind::Word | TokenKind::Punct) => return None,
            "->" | "implies" => (Connective::Implies, 1),
            "<->" | "equivalent" => (Connective::Equivalent, 1),
            "||" | "\\/" => (Connective::Or, 2),
            "&&" | "/\\" => (Connective::And, 3),
            "U" | "until" | "stronguntil" => (Connective::Until, 4),
            "W" | "weakuntil" => (Connective::WeakUntil, 4),
            "V" | "release" => (Connective::Release, 4),
            "R" if self.short_operators => (Connective::Release, 4),
            _ => {
                let (op, level) = operator(token)?;
                (Connective::Arithmetic(op), level - ARITHMETIC + ARITHMETIC_LEVEL)
            }
        };
        Some(found)
    }

    fn ltl_unary(&mut self) -> Parse<Node> {
        let token = self.tokens.peek().clone();
        if let Some(kind) = self.temporal(&token) {
            return self.ltl_prefix(&token, kind);
        }
        if token.is("!") {
            self.tokens.next();
            let inner = self.nested(Self::ltl_unary)?;
            return Ok(negate(token.span, inner));
        }
        if token.is("(") {
            return self.nested(Self::ltl_parenthesised);
        }
        if self.connective(&token).is_some() && !token.is("-") {
            return Err(self.expected("a formula"));
        }
        // The arithmetic level: operands and signs, no binary operator.
        self.binary(u8::MAX).map(Node::State)
    }

    fn temporal(&self, token: &Token) -> Option<fn(Box<Ltl>) -> LtlKind> {
        Some(match &*token.text {
            _ if !matches!(token.kind, TokenKind::Word | TokenKind::Punct) => return None,
            "[]" | "always" => LtlKind::Always,
            "<>" | "eventually" => LtlKind::Eventually,
            "X" | "next" => LtlKind::Next,
            "G" if self.short_operators => LtlKind::Always,
            "F" if self.short_operators => LtlKind::Eventually,
            _ => return None,
        })
    }

    /// `<> f`, the operator being next.
    fn ltl_prefix(&mut self, token: &Token, kind: fn(Box<Ltl>) -> LtlKind) -> Parse<Node> {
        self.tokens.next();
        let mut inner = self.nested(Self::ltl_unary)?;
        if let Node::State(operand) = inner {
            inner = Node::State(self.widen(token, operand)?);
        }
        let inner = formula(inner)?;
        let span = token.span.to(inner.span);
        Ok(Node::Temporal(Ltl { kind: kind(Box::new(inner)), span }))
    }

    /// Takes the rest of a comparison into the scope of the temporal operator before it.
    fn widen(&mut self, token: &Token, operand: Expr) -> Parse<Expr> {
        let next = self.tokens.peek().clone();
        if operator(&next).is_none_or(|(_, level)| level < ARITHMETIC) {
            return Ok(operand);
        }
        let whole = self.binary_after(operand, ARITHMETIC)?;
        let text = self.sources.text(whole.span).to_string();
        let message = format!("`{}` is applied to the whole of `{text}`", token.text);
        self.warn(
            Diagnostic::warning("ltl-precedence", token.span.to(whole.span), message)
                .note(format!("SPIN applies it to the first operand of `{}` only, which means nothing", next.text))
                .help(format!("write `{} ({text})`", token.text)),
        );
        Ok(whole)
    }

    fn ltl_parenthesised(&mut self) -> Parse<Node> {
        let open = self.expect("(")?;
        let inner = self.ltl_binary(1)?;
        self.expect(")")?;
        let span = self.since(open.span);
        Ok(match inner {
            Node::State(expr) => Node::State(Expr { span, ..expr }),
            Node::Temporal(formula) => Node::Temporal(Ltl { span, ..formula }),
        })
    }

    fn combine(&self, op: Connective, left: Node, right: Node, token: &Token) -> Parse<Node> {
        let state = match op {
            Connective::And => Some(BinaryOp::And),
            Connective::Or => Some(BinaryOp::Or),
            Connective::Arithmetic(op) => Some(op),
            _ => None,
        };
        let (left, right) = match (left, right, state) {
            (Node::State(a), Node::State(b), Some(op)) => return Ok(Node::State(binary(op, a, b))),
            (left, right, _) => (left, right),
        };
        let pair: Pair = match op {
            Connective::Implies => LtlKind::Implies,
            Connective::Equivalent => LtlKind::Equivalent,
            Connective::Or => LtlKind::Or,
            Connective::And => LtlKind::And,
            Connective::Until => LtlKind::Until,
            Connective::WeakUntil => LtlKind::WeakUntil,
            Connective::Release => LtlKind::Release,
            Connective::Arithmetic(_) => return Err(Box::new(not_a_number(token))),
        };
        let (left, right) = (formula(left)?, formula(right)?);
        let span = left.span.to(right.span);
        Ok(Node::Temporal(Ltl { kind: pair(Box::new(left), Box::new(right)), span }))
    }
}

fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    let span = a.span.to(b.span);
    Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), span }
}

fn negate(start: Span, inner: Node) -> Node {
    match inner {
        Node::State(expr) => {
            let span = start.to(expr.span);
            Node::State(Expr { kind: ExprKind::Unary(UnaryOp::Not, Box::new(expr)), span })
        }
        Node::Temporal(formula) => {
            let span = start.to(formula.span);
            Node::Temporal(Ltl { kind: LtlKind::Not(Box::new(formula)), span })
        }
    }
}

/// A node as a formula; channel probes cannot be part of one.
fn formula(node: Node) -> Parse<Ltl> {
    match node {
        Node::Temporal(formula) => Ok(formula),
        Node::State(expr) => {
            probe::refuse(&expr)?;
            Ok(Ltl { span: expr.span, kind: LtlKind::Atom(expr) })
        }
    }
}

fn not_a_number(token: &Token) -> Diagnostic {
    Diagnostic::error("ltl", token.span, format!("`{}` cannot be applied to a temporal formula", token.text))
        .help("temporal formulas are joined by && || -> <-> U W V; put the comparison inside: <> (x == 2)")
}

/// Joins the operators that only formulas have.
fn merge(tokens: Vec<Token>) -> Vec<Token> {
    let mut merged: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let joined = merged.last().filter(|_| !token.space && !token.newline).and_then(|last| pair(last, &token));
        match (joined, merged.last_mut()) {
            (Some(text), Some(last)) => {
                last.text = text.into();
                last.span = last.span.to(token.span);
            }
            _ => merged.push(token),
        }
    }
    merged
}

fn pair(first: &Token, second: &Token) -> Option<&'static str> {
    Some(match (&*first.text, &*second.text) {
        ("[", "]") => "[]",
        ("<", ">") => "<>",
        ("<", "->") => "<->",
        ("/", "\\") => "/\\",
        ("\\", "/") => "\\/",
        _ => return None,
    })
}
