//! The parser's state and the small steps everything else is made of.
//!
//! A recursive descent over tokens that were preprocessed already, with a bound on nesting, so that
//! no input exhausts the stack.

use super::tokens::{NameClass, Tokens};
use super::trap;
use crate::ast::{Block, Expr, ExprKind, Ident, Item, Literal, Ltl, LtlBlock, Name, Program, VarPart, VarRef};
use crate::diagnostic::Diagnostic;
use crate::lex::{Token, TokenKind, is_keyword};
use crate::source::{SourceMap, Span};
use std::collections::HashMap;
use std::sync::Arc;

/// Nested blocks, parentheses and inlines, so that no input can overflow the stack.
const DEPTH_MAX: usize = 200;

/// A tree, or what is wrong with the model.
pub(super) type Parse<T> = Result<T, Box<Diagnostic>>;

/// An inline's definition.
pub(super) struct Inline {
    pub(super) params: Vec<Name>,
    /// With its braces.
    pub(super) body: Vec<Token>,
}

/// An inline being expanded.
pub(super) struct Call {
    pub(super) name: Name,
    /// The left side of `x = f(..)`.
    pub result: Option<VarRef>,
}

/// An `ltl` block, read last because it may name what is declared after it.
pub(super) struct DeferredLtl {
    /// Where it belongs among the items.
    pub position: usize,
    pub name: Option<Ident>,
    pub tokens: Vec<Token>,
    pub span: Span,
}

/// Reads one model.
pub(super) struct Parser<'a> {
    pub tokens: Tokens,
    pub sources: &'a mut SourceMap,
    pub warnings: Vec<Diagnostic>,
    /// Embedded C.
    pub unsupported: Vec<Diagnostic>,
    pub program: Program,
    pub inlines: HashMap<Name, Arc<Inline>>,
    /// Inlines being expanded, the innermost last.
    pub calls: Vec<Call>,
    /// Where the inline that was expanded last was called.
    pub last_call: Span,
    /// Tokens that came out of inlines so far.
    pub inlined_tokens: usize,
    pub deferred: Vec<DeferredLtl>,
    /// Loops around the present statement; `break` needs one.
    pub loops: usize,
    /// `G`, `F` and `R` are operators: in formulas that are not part of a model.
    pub short_operators: bool,
    /// A channel probe was seen in the present expression; see `probe.rs`.
    pub probe_seen: bool,
    depth: usize,
}

impl<'a> Parser<'a> {
    pub fn new(tokens: Vec<Token>, sources: &'a mut SourceMap) -> Parser<'a> {
        Parser {
            tokens: Tokens::new(tokens),
            sources,
            warnings: Vec::new(),
            unsupported: Vec::new(),
            program: Program::default(),
            inlines: HashMap::new(),
            calls: Vec::new(),
            last_call: Span::default(),
            inlined_tokens: 0,
            deferred: Vec::new(),
            loops: 0,
            short_operators: false,
            probe_seen: false,
            depth: 0,
        }
    }

    /// Whether the next token is this operator or keyword.
    pub fn at(&mut self, text: &str) -> bool {
        self.tokens.peek().is(text)
    }

    /// Takes the next token if it is this one.
    pub fn eat(&mut self, text: &str) -> Option<Token> {
        self.at(text).then(|| self.tokens.next())
    }

    /// Takes the next token, which must be this one.
    pub fn expect(&mut self, text: &str) -> Parse<Token> {
        match self.eat(text) {
            Some(token) => Ok(token),
            None => Err(self.expected(&format!("`{text}`"))),
        }
    }

    /// Takes a name that means nothing else yet: of a variable, a label, a new declaration.
    pub fn name(&mut self, what: &str) -> Parse<Ident> {
        let token = self.tokens.peek().clone();
        match self.tokens.name_class(&token) {
            Some(NameClass::Plain) => Ok(self.ident()),
            Some(class) => Err(Box::new(trap::taken_name(&token, what, class))),
            None if is_word(&token) => Err(Box::new(trap::keyword_as_name(&token, what))),
            None => Err(self.expected(what)),
        }
    }

    /// Takes a name, whatever it was declared as.
    pub fn any_name(&mut self, what: &str) -> Parse<Ident> {
        if self.tokens.peek().kind == TokenKind::Word && !is_keyword(&self.tokens.peek().text) {
            return Ok(self.ident());
        }
        self.name(what)
    }

    /// Takes the next token, which is known to be a word.
    pub fn ident(&mut self) -> Ident {
        let token = self.tokens.next();
        Ident { name: token.text, span: token.span }
    }

    /// The class of the next token if it is a name.
    pub fn next_class(&mut self) -> Option<NameClass> {
        let token = self.tokens.peek().clone();
        self.tokens.name_class(&token)
    }

    /// "Expected `what`, found ..." at the next token.
    pub fn expected(&mut self, what: &str) -> Box<Diagnostic> {
        let before = self.tokens.last_written.clone();
        let found = self.tokens.peek().clone();
        let after = self.tokens.peek_at(1).clone();
        Box::new(trap::expected(what, &before, &found, &after))
    }

    /// A syntax error at a place.
    pub fn error<T>(&self, span: Span, message: impl Into<String>) -> Parse<T> {
        Err(Box::new(Diagnostic::error("syntax", span, message)))
    }

    /// Counts one level of nesting around `read`.
    pub fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let span = self.tokens.peek().span;
            return self.error(span, format!("this is nested more than {DEPTH_MAX} deep"));
        }
        let made = read(self);
        self.depth -= 1;
        made
    }

    /// A list `one, one, ..`.
    pub fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut all = vec![one(self)?];
        while self.eat(",").is_some() {
            all.push(one(self)?);
        }
        Ok(all)
    }

    /// From `start` to the last token taken.
    pub fn since(&self, start: Span) -> Span {
        start.to(self.tokens.last.span)
    }

    pub fn warn(&mut self, warning: Diagnostic) {
        self.warnings.push(warning);
    }

    /// Takes everything up to the brace that closes the next one, both included.
    pub fn raw_block(&mut self, what: &str) -> Parse<Vec<Token>> {
        let open = self.tokens.next_raw();
        if !open.is("{") {
            return Err(Box::new(trap::expected("`{`", &open, &open, &open)));
        }
        let span = open.span;
        let mut tokens = vec![open];
        let mut depth = 1usize;
        while depth > 0 {
            let token = self.tokens.next_raw();
            match &*token.text {
                _ if token.kind == TokenKind::End => {
                    return Err(Box::new(
                        Diagnostic::error("syntax", span, format!("the body of this {what} is not closed"))
                            .help("add `}`"),
                    ));
                }
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            tokens.push(token);
        }
        Ok(tokens)
    }

    /// A place in the tree for what is not supported; it is never looked at.
    pub fn placeholder(&self, span: Span) -> Expr {
        Expr { kind: ExprKind::Int(1, Literal::Skip), span }
    }

    /// Puts the `ltl` blocks where they belong, now that all names are known.
    pub fn finish(mut self) -> Parse<(Program, Vec<Diagnostic>, Vec<Diagnostic>)> {
        let deferred = std::mem::take(&mut self.deferred);
        let mut blocks = Vec::new();
        for one in deferred {
            let formula: Ltl = self.ltl_formula(one.tokens, "}")?;
            blocks.push((one.position, LtlBlock { name: one.name, formula, span: one.span }));
        }
        for (position, block) in blocks.into_iter().rev() {
            self.program.items.insert(position, Item::Ltl(block));
        }
        Ok((self.program, self.warnings, self.unsupported))
    }
}

/// The expression a name is.
pub(super) fn var_part(name: Ident) -> VarPart {
    VarPart { name, index: None }
}

/// A block that stands for one place.
pub(super) fn block(stmts: Vec<crate::ast::Stmt>, span: Span) -> Block {
    Block { stmts, span }
}

fn is_word(token: &Token) -> bool {
    token.kind == TokenKind::Word
}
