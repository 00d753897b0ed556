//! Expressions, with the precedences of SPIN's grammar.

use super::decl::literal;
use super::operator::{LOOSEST, operator};
use super::parser::{Parse, Parser, var_part};
use super::tokens::NameClass;
use crate::ast::{Expr, ExprKind, Ident, Literal, Probe, RecvArg, UnaryOp, VarPart, VarRef};
use crate::diagnostic::Diagnostic;
use crate::lex::{Token, TokenKind};

/// Operands in one chain such as `a || b || ..`: the tree leans to the left, and whoever walks it does so recursively.
const CHAIN_MAX: usize = 1000;

impl Parser<'_> {
    /// An expression in which channel probes may be joined by `&&` and `||`: SPIN's `full_expr`.
    pub fn full_expr(&mut self) -> Parse<Expr> {
        let before = std::mem::take(&mut self.probe_seen);
        let expr = self.binary(LOOSEST)?;
        if std::mem::replace(&mut self.probe_seen, before) {
            super::probe::check(&expr)?;
        }
        Ok(expr)
    }

    /// An expression without channel probes.
    pub fn expr(&mut self) -> Parse<Expr> {
        let before = std::mem::take(&mut self.probe_seen);
        let expr = self.binary(LOOSEST)?;
        if std::mem::replace(&mut self.probe_seen, before) {
            super::probe::refuse(&expr)?;
        }
        Ok(expr)
    }

    /// An expression of operators at `level` and tighter.
    pub fn binary(&mut self, level: u8) -> Parse<Expr> {
        let left = self.unary()?;
        self.binary_after(left, level)
    }

    /// What follows a first operand.
    ///
    /// Precedence climbing: a right operand binds one level tighter, so chains group to the left.
    /// Only the depth to the right recurses, and `nested` bounds it.
    pub fn binary_after(&mut self, mut left: Expr, level: u8) -> Parse<Expr> {
        let mut length = 0;
        while let Some((op, found)) = operator(self.tokens.peek()).filter(|&(_, found)| found >= level) {
            let token = self.tokens.next();
            length += 1;
            if length > CHAIN_MAX {
                return self.error(token.span, format!("more than {CHAIN_MAX} operands in a row"));
            }
            let right = self.nested(|parser| parser.binary(found + 1))?;
            let span = left.span.to(right.span);
            left = Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parse<Expr> {
        let token = self.tokens.peek().clone();
        let op = match &*token.text {
            "!" => UnaryOp::Not,
            "-" => UnaryOp::Minus,
            "~" => UnaryOp::Complement,
            _ => return self.primary(),
        };
        self.tokens.next();
        let inner = self.nested(Self::unary)?;
        let span = token.span.to(inner.span);
        Ok(Expr { kind: ExprKind::Unary(op, Box::new(inner)), span })
    }

    /// An operand.
    pub fn primary(&mut self) -> Parse<Expr> {
        let token = self.tokens.peek().clone();
        match token.kind {
            TokenKind::Number => self.number(),
            TokenKind::Char => self.character(),
            TokenKind::Word => self.word(&token),
            TokenKind::Punct if token.is("(") => self.nested(Self::parenthesised),
            _ => Err(self.expected("an expression")),
        }
    }

    fn word(&mut self, token: &Token) -> Parse<Expr> {
        match self.tokens.name_class(token) {
            Some(NameClass::Plain | NameClass::Mtype) => self.reference(),
            Some(NameClass::Proctype) => self.remote(),
            Some(class) => Err(Box::new(super::trap::not_a_value(token, class))),
            None => self.keyword(token),
        }
    }

    fn keyword(&mut self, token: &Token) -> Parse<Expr> {
        let start = token.span;
        let kind = match &*token.text {
            "run" => return self.run(),
            "c_expr" => {
                let span = self.embedded_c()?;
                return Ok(self.placeholder(span));
            }
            "timeout" => self.alone(ExprKind::Timeout),
            "np_" => self.alone(ExprKind::NonProgress),
            "len" => ExprKind::Len(self.argument(Self::varref)?),
            "enabled" => ExprKind::Enabled(Box::new(self.argument(Self::expr)?)),
            "pc_value" => ExprKind::PcValue(Box::new(self.argument(Self::expr)?)),
            "get_priority" => ExprKind::GetPriority(Box::new(self.argument(Self::expr)?)),
            "full" => self.probe(Probe::Full)?,
            "nfull" => self.probe(Probe::NotFull)?,
            "empty" => self.probe(Probe::Empty)?,
            "nempty" => self.probe(Probe::NotEmpty)?,
            word => match literal(word) {
                Some((value, form)) => self.alone(ExprKind::Int(value, form)),
                None => return Err(self.expected("an expression")),
            },
        };
        Ok(Expr { kind, span: self.since(start) })
    }

    fn alone(&mut self, kind: ExprKind) -> ExprKind {
        self.tokens.next();
        kind
    }

    /// `word ( one )`, the word being next.
    fn argument<T>(&mut self, one: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.tokens.next();
        self.expect("(")?;
        let made = self.nested(one)?;
        self.expect(")")?;
        Ok(made)
    }

    fn probe(&mut self, probe: Probe) -> Parse<ExprKind> {
        let channel = self.argument(Self::varref)?;
        self.probe_seen = true;
        Ok(ExprKind::Probe(probe, channel))
    }

    /// `(e)` or `(c -> a : b)`.
    ///
    /// The arrow makes a conditional expression only in parentheses; elsewhere it separates
    /// statements.
    fn parenthesised(&mut self) -> Parse<Expr> {
        let open = self.expect("(")?;
        let first = self.binary(LOOSEST)?;
        let kind = if self.eat("->").is_some() {
            let yes = self.binary(LOOSEST)?;
            self.expect(":")?;
            let no = self.binary(LOOSEST)?;
            ExprKind::Conditional(Box::new(first), Box::new(yes), Box::new(no))
        } else {
            first.kind
        };
        self.expect(")")?;
        Ok(Expr { kind, span: self.since(open.span) })
    }

    fn run(&mut self) -> Parse<Expr> {
        let start = self.tokens.next().span;
        let proctype = self.any_name("the name of a proctype")?;
        self.expect("(")?;
        let args = self.nested(|parser| parser.arguments(")"))?;
        self.expect(")")?;
        let priority = self.priority()?.map(Box::new);
        Ok(Expr { kind: ExprKind::Run { proctype, args, priority }, span: self.since(start) })
    }

    /// Expressions up to `close`, maybe none.
    fn arguments(&mut self, close: &str) -> Parse<Vec<Expr>> {
        if self.at(close) { Ok(Vec::new()) } else { self.list(Self::expr) }
    }

    /// A variable, a poll of a channel, or a remote reference to a proctype that comes later.
    fn reference(&mut self) -> Parse<Expr> {
        let var = self.varref()?;
        self.reference_after(var)
    }

    /// What may follow a variable inside an expression.
    pub fn reference_after(&mut self, mut var: VarRef) -> Parse<Expr> {
        let start = var.span;
        let next = self.tokens.peek().clone();
        let kind = if next.is("@") && var.parts.len() == 1 {
            self.tokens.next();
            let VarPart { name, index } = var.parts.remove(0);
            let label = self.any_name("the name of a label")?;
            ExprKind::RemoteLabel { proctype: name, pid: index.map(Box::new), label }
        } else if (next.is("?") || next.is("??")) && self.tokens.peek_at(1).is("[") {
            self.tokens.next();
            self.tokens.next();
            let args = self.receive_args()?;
            self.expect("]")?;
            ExprKind::Poll { channel: var, random: next.is("??"), args }
        } else {
            ExprKind::Var(var)
        };
        Ok(Expr { kind, span: self.since(start) })
    }

    /// `P[e]@L`, `P@L`, `P[e]:v`, `P:v`.
    fn remote(&mut self) -> Parse<Expr> {
        let proctype = self.ident();
        let start = proctype.span;
        let pid = self.index()?.map(Box::new);
        let kind = if self.eat("@").is_some() {
            ExprKind::RemoteLabel { proctype, pid, label: self.any_name("the name of a label")? }
        } else if self.eat(":").is_some() {
            ExprKind::RemoteVar { proctype, pid, var: Box::new(self.var_part()?) }
        } else {
            return Err(Box::new(super::trap::bare_proctype(&proctype)));
        };
        Ok(Expr { kind, span: self.since(start) })
    }

    fn index(&mut self) -> Parse<Option<Expr>> {
        if self.eat("[").is_none() {
            return Ok(None);
        }
        let index = self.nested(Self::expr)?;
        self.expect("]")?;
        Ok(Some(index))
    }

    fn var_part(&mut self) -> Parse<VarPart> {
        let name = self.name("the name of a variable")?;
        Ok(VarPart { index: self.index()?, ..var_part(name) })
    }

    /// `a[i].b.c[j]`.
    pub fn varref(&mut self) -> Parse<VarRef> {
        let name = match self.next_class() {
            Some(NameClass::Mtype) => self.ident(),
            _ => self.name("the name of a variable")?,
        };
        self.varref_after(name)
    }

    /// The rest of a reference whose first name is taken.
    pub fn varref_after(&mut self, name: Ident) -> Parse<VarRef> {
        let start = name.span;
        let mut parts = vec![VarPart { index: self.index()?, ..var_part(name) }];
        while self.eat(".").is_some() {
            // A field may have any name, even that of a proctype.
            let field = self.any_name("the name of a field")?;
            parts.push(VarPart { index: self.index()?, ..var_part(field) });
        }
        Ok(VarRef { parts, span: self.since(start) })
    }

    /// The fields of a receive: `a, b`, `a(b, c)`, `(a, b)` are the same.
    pub fn receive_args(&mut self) -> Parse<Vec<RecvArg>> {
        if self.eat("(").is_some() {
            let inner = self.nested(Self::receive_args)?;
            self.expect(")")?;
            return Ok(inner);
        }
        let mut args = vec![self.receive_arg()?];
        loop {
            if self.at("(") {
                args.extend(self.nested(Self::receive_args)?);
                return Ok(args);
            }
            if self.eat(",").is_none() {
                return Ok(args);
            }
            if self.at("(") {
                args.extend(self.nested(Self::receive_args)?);
                return Ok(args);
            }
            args.push(self.receive_arg()?);
        }
    }

    fn receive_arg(&mut self) -> Parse<RecvArg> {
        let token = self.tokens.peek().clone();
        let plain = matches!(self.tokens.name_class(&token), Some(NameClass::Plain | NameClass::Mtype));
        if plain {
            return self.varref().map(RecvArg::Var);
        }
        if token.is("eval") {
            return self.argument(Self::expr).map(RecvArg::Eval);
        }
        if token.is("-") && self.tokens.peek_at(1).kind == TokenKind::Number {
            return self.unary().map(RecvArg::Const);
        }
        let literal = literal(&token.text).is_some();
        if literal || matches!(token.kind, TokenKind::Number | TokenKind::Char) {
            return self.primary().map(RecvArg::Const);
        }
        let mut told = self.expected("a variable, a constant or eval(..)");
        if told.help.is_none() {
            told.help = Some("to match the value of an expression write eval(expression)".into());
        }
        Err(told)
    }

    /// The message of a send: `a, b` or `a(b, c)`.
    pub fn send_args(&mut self) -> Parse<Vec<Expr>> {
        let mut args = vec![self.expr()?];
        if self.eat("(").is_some() {
            args.extend(self.nested(|parser| parser.list(Self::expr))?);
            self.expect(")")?;
            return Ok(args);
        }
        while self.eat(",").is_some() {
            args.push(self.expr()?);
        }
        Ok(args)
    }

    fn number(&mut self) -> Parse<Expr> {
        let token = self.tokens.next();
        if !token.text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Box::new(super::trap::bad_number(&token)));
        }
        let wide = token.text.parse::<i64>().unwrap_or(i64::MAX);
        let value = wide as i32;
        if i64::from(value) != wide {
            let message = format!("{} does not fit into 32 bits and is read as {value}", token.text);
            self.warn(Diagnostic::warning("number", token.span, message));
        }
        Ok(Expr { kind: ExprKind::Int(value, Literal::Number), span: token.span })
    }

    /// SPIN knows `\n`, `\r`, `\t` and `\f`; any other escaped character is itself.
    fn character(&mut self) -> Parse<Expr> {
        let token = self.tokens.next();
        let inner: Vec<char> = token.text.chars().skip(1).take(token.text.chars().count() - 2).collect();
        let c = match inner.as_slice() {
            ['\\', 'n'] => '\n',
            ['\\', 'r'] => '\r',
            ['\\', 't'] => '\t',
            ['\\', 'f'] => '\u{c}',
            ['\\', other] => *other,
            [c] => *c,
            _ => return self.error(token.span, "a character constant holds one character"),
        };
        let value = u32::from(c) as i32;
        Ok(Expr { kind: ExprKind::Int(value, Literal::Char), span: token.span })
    }
}
