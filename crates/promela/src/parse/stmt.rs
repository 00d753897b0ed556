//! Statements and sequences of them.
//!
//! By hand instead of by a generator: SPIN's own grammar leans on its lexer, which looks ahead and
//! decides by context, and messages for people need to know what was being read.

use super::operator::LOOSEST;
use super::parser::{Parse, Parser, block};
use super::tokens::{NameClass, is_separator};
use super::trap;
use crate::ast::{Access, Block, Expr, ExprKind, ForRange, Ident, Literal, Stmt, StmtKind, VarRef};
use crate::diagnostic::Diagnostic;
use crate::lex::{Token, TokenKind};
use crate::source::Span;

impl Parser<'_> {
    /// The body of a process or claim.
    pub fn body(&mut self) -> Parse<Block> {
        self.loops = 0;
        self.braced()
    }

    /// `{ sequence }`.
    pub fn braced(&mut self) -> Parse<Block> {
        let open = self.expect("{")?;
        let mut made = self.sequence(&["}"])?;
        self.expect("}")?;
        made.span = self.since(open.span);
        Ok(made)
    }

    /// Statements up to, not including, one of `closers`.
    ///
    /// `->` and `;` are the same separator (Promela manual, "separators"); the arrow is kept only
    /// to warn about guards that assign.
    fn sequence(&mut self, closers: &[&str]) -> Parse<Block> {
        let start = self.tokens.peek().span;
        let mut stmts = Vec::new();
        let mut span = start;
        loop {
            let stmt = self.step(closers)?;
            span = span.to(stmt.span);
            stmts.push(stmt);
            let Some(separator) = self.separators() else { break };
            if stmts.len() == 1 && closers.contains(&"::") {
                self.check_guard(&stmts[0], &separator);
            }
            if closers.iter().any(|close| self.at(close)) {
                return Ok(block(stmts, span));
            }
        }
        if closers.iter().any(|close| self.at(close)) {
            return Ok(block(stmts, span));
        }
        Err(self.unseparated(closers))
    }

    fn unseparated(&mut self, closers: &[&str]) -> Box<Diagnostic> {
        let close = closers.last().copied().unwrap_or("}");
        self.expected(&format!("`;`, `->` or `{close}` after this statement"))
    }

    /// Takes all separators; returns the first.
    fn separators(&mut self) -> Option<Token> {
        let first = is_separator(self.tokens.peek()).then(|| self.tokens.next())?;
        while is_separator(self.tokens.peek()) {
            self.tokens.next();
        }
        Some(first)
    }

    /// `:: x = 1 -> ..` reads like a comparison; `:: x = 1; ..` is the common way to choose a value.
    fn check_guard(&mut self, guard: &Stmt, separator: &Token) {
        if let StmtKind::Assign { .. } = guard.kind
            && separator.is("->")
        {
            self.warn(
                Diagnostic::warning(
                    "assignment-guard",
                    guard.span,
                    "this guard is an assignment, which always succeeds",
                )
                .label("assigns")
                .help("to compare write `==`; if the assignment is meant, follow it by `;`"),
            );
        }
    }

    /// A declaration, `xr`/`xs`, or a statement with its `unless`.
    fn step(&mut self, closers: &[&str]) -> Parse<Stmt> {
        let start = self.tokens.peek().span;
        if self.at_declaration() {
            let decl = self.declaration()?;
            return Ok(Stmt { labels: Vec::new(), span: decl.span, kind: StmtKind::Declare(decl) });
        }
        if self.at("xr") || self.at("xs") {
            return self.exclusive();
        }
        if closers.iter().any(|close| self.at(close)) {
            let told = self.expected("a statement");
            return Err(Box::new(told.help("a sequence cannot be empty; write `skip`")));
        }
        let main = self.stmt()?;
        if self.eat("unless").is_none() {
            return Ok(main);
        }
        let escape = self.stmt()?;
        let span = start.to(main.span).to(escape.span);
        let kind = StmtKind::Unless { main: Box::new(main), escape: Box::new(escape) };
        Ok(Stmt { labels: Vec::new(), kind, span })
    }

    fn exclusive(&mut self) -> Parse<Stmt> {
        let word = self.tokens.next();
        let access = if word.is("xr") { Access::Receive } else { Access::Send };
        let channels = self.list(Self::varref)?;
        let kind = StmtKind::Exclusive { access, channels };
        Ok(Stmt { labels: Vec::new(), kind, span: self.since(word.span) })
    }

    /// A statement with its labels.
    fn stmt(&mut self) -> Parse<Stmt> {
        let labels = self.labels()?;
        let start = self.tokens.peek().span;
        if let Some(label) = labels.last()
            && self.at_statement_end()
        {
            // SPIN puts a `skip` behind a label that has no statement.
            let kind = StmtKind::Expr(Expr { kind: ExprKind::Int(1, Literal::Skip), span: label.span });
            return Ok(Stmt { span: label.span, labels, kind });
        }
        let kind = self.nested(Self::stmt_kind)?;
        let span = match kind {
            // The last token is the inline's, which stands elsewhere.
            StmtKind::Inlined { .. } => start.to(self.last_call),
            _ => self.since(start),
        };
        Ok(Stmt { labels, kind, span })
    }

    fn labels(&mut self) -> Parse<Vec<Ident>> {
        let mut labels = Vec::new();
        while self.next_class() == Some(NameClass::Plain) && self.tokens.peek_at(1).is(":") {
            labels.push(self.ident());
            self.tokens.next();
        }
        let declares = self.at_declaration() || self.at("xr") || self.at("xs");
        match labels.last() {
            Some(label) if declares => {
                let told = Diagnostic::error("syntax", label.span, "a declaration cannot have a label");
                Err(Box::new(told.help("move the label to the statement that follows")))
            }
            _ => Ok(labels),
        }
    }

    fn at_statement_end(&mut self) -> bool {
        let next = self.tokens.peek();
        let words = ["}", "::", "fi", "od", "unless"];
        is_separator(next) || next.kind == TokenKind::End || words.iter().any(|word| next.is(word))
    }

    fn stmt_kind(&mut self) -> Parse<StmtKind> {
        let token = self.tokens.peek().clone();
        match self.tokens.name_class(&token) {
            Some(NameClass::Plain | NameClass::Mtype) => return self.named(),
            Some(NameClass::Inline) => return self.inline_call(None),
            _ => {}
        }
        match &*token.text {
            "if" => self.options("fi").map(StmtKind::If),
            "do" => self.looped(|parser| parser.options("od")).map(StmtKind::Do),
            "for" => self.for_loop(),
            "select" => self.select(),
            "break" => self.break_out(),
            "goto" => {
                self.tokens.next();
                self.name("the name of a label").map(StmtKind::Goto)
            }
            "else" => {
                self.tokens.next();
                Ok(StmtKind::Else)
            }
            "atomic" => self.after_word(Self::braced).map(StmtKind::Atomic),
            "d_step" => self.after_word(Self::braced).map(StmtKind::DStep),
            "{" => self.braced().map(StmtKind::Block),
            "assert" => self.after_word(Self::full_expr).map(StmtKind::Assert),
            "printf" => self.printf(),
            "printm" => self.printm(),
            "set_priority" => self.set_priority(),
            "return" => self.return_statement(),
            "c_code" | "c_decl" => {
                let span = self.embedded_c()?;
                Ok(StmtKind::Expr(self.placeholder(span)))
            }
            _ => self.condition(&token),
        }
    }

    /// A statement that is an expression.
    fn condition(&mut self, token: &Token) -> Parse<StmtKind> {
        if !begins_expression(token) {
            return Err(self.expected("a statement"));
        }
        self.full_expr().map(StmtKind::Expr)
    }

    fn after_word<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.tokens.next();
        read(self)
    }

    fn looped<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.loops += 1;
        let made = read(self);
        self.loops -= 1;
        made
    }

    /// `:: .. :: ..` up to and with `close`; the opening word is next.
    fn options(&mut self, close: &str) -> Parse<Vec<Block>> {
        self.tokens.next();
        let mut options = Vec::new();
        while self.eat("::").is_some() {
            options.push(self.sequence(&["::", close])?);
        }
        if options.is_empty() {
            return Err(self.expected("`::`"));
        }
        self.expect(close)?;
        Ok(options)
    }

    fn break_out(&mut self) -> Parse<StmtKind> {
        let word = self.tokens.next();
        match self.loops {
            0 => self.error(word.span, "`break` stands outside of any loop"),
            _ => Ok(StmtKind::Break),
        }
    }

    /// What begins with a variable: assignment, channel operation or condition.
    ///
    /// Decided by the one token behind the variable: no backtracking.
    fn named(&mut self) -> Parse<StmtKind> {
        let var = self.varref()?;
        let next = self.tokens.peek().clone();
        match &*next.text {
            "=" => self.assignment(var),
            "++" => {
                self.tokens.next();
                Ok(StmtKind::Increment(var))
            }
            "--" => {
                self.tokens.next();
                Ok(StmtKind::Decrement(var))
            }
            "!" | "!!" => {
                self.tokens.next();
                let args = self.send_args()?;
                Ok(StmtKind::Send { channel: var, sorted: next.is("!!"), args })
            }
            "?" | "??" if !self.tokens.peek_at(1).is("[") => self.receive(var),
            _ => {
                let first = self.reference_after(var)?;
                self.full_expr_after(first).map(StmtKind::Expr)
            }
        }
    }

    fn full_expr_after(&mut self, first: Expr) -> Parse<Expr> {
        self.probe_seen = false;
        let expr = self.binary_after(first, LOOSEST)?;
        if std::mem::take(&mut self.probe_seen) {
            super::probe::check(&expr)?;
        }
        Ok(expr)
    }

    fn assignment(&mut self, target: VarRef) -> Parse<StmtKind> {
        self.tokens.next();
        if self.next_class() == Some(NameClass::Inline) {
            return self.inline_call(Some(target));
        }
        let value = self.full_expr()?;
        Ok(StmtKind::Assign { target, value })
    }

    fn receive(&mut self, channel: VarRef) -> Parse<StmtKind> {
        let random = self.tokens.next().is("??");
        let keep = self.eat("<").is_some();
        let args = self.receive_args()?;
        if keep {
            self.expect(">")?;
        }
        Ok(StmtKind::Receive { channel, random, keep, args })
    }

    fn for_loop(&mut self) -> Parse<StmtKind> {
        self.tokens.next();
        self.expect("(")?;
        let var = self.varref()?;
        let range = if self.eat(":").is_some() {
            let (from, to) = self.range()?;
            ForRange::Range { from, to }
        } else if self.eat("in").is_some() {
            ForRange::In(self.varref()?)
        } else {
            let told = self.expected("`:` or `in`");
            return Err(Box::new(told.help(trap::FOR)));
        };
        self.expect(")")?;
        self.eat(";");
        let body = self.looped(Self::braced)?;
        Ok(StmtKind::For { var, range, body })
    }

    fn range(&mut self) -> Parse<(Expr, Expr)> {
        let from = self.expr()?;
        self.expect("..")?;
        Ok((from, self.expr()?))
    }

    fn select(&mut self) -> Parse<StmtKind> {
        self.tokens.next();
        self.expect("(")?;
        let var = self.varref()?;
        self.expect(":")?;
        let (from, to) = self.range()?;
        self.expect(")")?;
        Ok(StmtKind::Select { var, from, to })
    }

    fn printf(&mut self) -> Parse<StmtKind> {
        self.tokens.next();
        self.expect("(")?;
        if self.tokens.peek().kind != TokenKind::Text {
            return Err(self.expected("a string"));
        }
        let text = self.tokens.next().text;
        let format = text[1..text.len() - 1].into();
        let args = if self.eat(",").is_some() { self.list(Self::expr)? } else { Vec::new() };
        self.expect(")")?;
        Ok(StmtKind::Printf { format, args })
    }

    fn printm(&mut self) -> Parse<StmtKind> {
        self.tokens.next();
        self.expect("(")?;
        let start: Span = self.tokens.peek().span;
        let what = match self.next_class() {
            Some(_) => {
                let var = self.varref()?;
                Expr { kind: ExprKind::Var(var), span: self.since(start) }
            }
            None => self.constant("a variable or a constant")?,
        };
        self.expect(")")?;
        Ok(StmtKind::Printm(what))
    }

    fn set_priority(&mut self) -> Parse<StmtKind> {
        self.tokens.next();
        self.expect("(")?;
        let pid = self.expr()?;
        self.expect(",")?;
        let priority = self.expr()?;
        self.expect(")")?;
        Ok(StmtKind::SetPriority { pid, priority })
    }
}

/// Whether an expression statement may begin with this token.
fn begins_expression(token: &Token) -> bool {
    const WORDS: [&str; 18] = [
        "(",
        "!",
        "-",
        "~",
        "run",
        "len",
        "enabled",
        "pc_value",
        "get_priority",
        "full",
        "nfull",
        "empty",
        "nempty",
        "timeout",
        "np_",
        "true",
        "false",
        "c_expr",
    ];
    let literal = matches!(token.kind, TokenKind::Number | TokenKind::Char) || token.is("skip");
    let name = token.kind == TokenKind::Word && !crate::lex::is_keyword(&token.text);
    literal || name || WORDS.iter().any(|word| token.is(word))
}
