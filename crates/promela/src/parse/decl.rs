//! Declarations of variables.

use super::parser::{Parse, Parser};
use super::tokens::NameClass;
use crate::ast::{BinaryOp, Literal};
use crate::ast::{ChannelType, Expr, ExprKind, Initializer, Type, TypeKind, UnaryOp, Var, VarDecl, Visibility};
use crate::diagnostic::Diagnostic;
use crate::lex::TokenKind;

impl Parser<'_> {
    /// Whether the next token begins a declaration.
    pub fn at_declaration(&mut self) -> bool {
        let token = self.tokens.peek().clone();
        let words = ["hidden", "show", "local"];
        words.iter().any(|word| token.is(word)) || basic_type(&token.text).is_some() || self.at_record()
    }

    fn at_record(&mut self) -> bool {
        self.next_class() == Some(NameClass::Record)
    }

    /// `decl; decl; ..` up to `close`: parameters or fields.
    pub fn declarations(&mut self, close: &str) -> Parse<Vec<VarDecl>> {
        let mut all = Vec::new();
        loop {
            all.push(self.declaration()?);
            if self.eat(";").is_none() {
                return if self.at(close) { Ok(all) } else { Err(self.expected(&format!("`;` or `{close}`"))) };
            }
        }
    }

    /// `hidden byte a, b[3] = 1`.
    pub fn declaration(&mut self) -> Parse<VarDecl> {
        let start = self.tokens.peek().span;
        let visibility = self.visibility();
        if self.at("mtype") && self.at_mtype_list() {
            let span = self.tokens.peek().span;
            return self.error(span, "a list of mtype constants must stand at the outermost level, without a prefix");
        }
        let ty = self.variable_type()?;
        let vars = self.list(Self::variable)?;
        Ok(VarDecl { visibility, ty, vars, span: self.since(start) })
    }

    fn visibility(&mut self) -> Option<Visibility> {
        let found = match &*self.tokens.peek().text {
            "hidden" => Visibility::Hidden,
            "show" => Visibility::Show,
            "local" => Visibility::Local,
            _ => return None,
        };
        self.tokens.next();
        Some(found)
    }

    /// A type of a variable or of a message field.
    pub fn variable_type(&mut self) -> Parse<Type> {
        let token = self.tokens.peek().clone();
        if self.at_record() {
            let name = self.ident();
            return Ok(Type { kind: TypeKind::Record(name), span: token.span });
        }
        let Some(mut kind) = basic_type(&token.text) else { return Err(self.expected("a type")) };
        self.tokens.next();
        if let TypeKind::Mtype(set) = &mut kind
            && self.eat(":").is_some()
        {
            *set = Some(self.any_name("the name of a set of mtype constants")?);
        }
        Ok(Type { kind, span: self.since(token.span) })
    }

    fn variable(&mut self) -> Parse<Var> {
        let name = self.name("the name of a variable")?;
        let start = name.span;
        let width = if self.eat(":").is_some() { Some(self.constant("a number of bits")?) } else { None };
        let bound = if width.is_none() && self.at("[") { Some(self.bound()?) } else { None };
        let init = if self.eat("=").is_some() { Some(self.initialiser()?) } else { None };
        Ok(Var { name, width, bound, init, span: self.since(start) })
    }

    fn initialiser(&mut self) -> Parse<Initializer> {
        if self.at("[") {
            return self.channel_type().map(Initializer::Channel);
        }
        if self.eat("{").is_none() {
            return self.expr().map(Initializer::Value);
        }
        let list = self.list(|parser| parser.constant("a constant"))?;
        self.expect("}")?;
        Ok(Initializer::List(list))
    }

    fn channel_type(&mut self) -> Parse<ChannelType> {
        let start = self.tokens.peek().span;
        let capacity = self.bracketed()?;
        self.require_constant(&capacity, "a channel's capacity")?;
        self.expect("of")?;
        self.expect("{")?;
        let fields = self.list(Self::variable_type)?;
        self.expect("}")?;
        let span = self.since(start);
        let unsigned = fields.iter().find(|field| matches!(field.kind, TypeKind::Unsigned));
        match unsigned {
            Some(field) => self.error(field.span, "`unsigned` cannot be the type of a message's field"),
            None => Ok(ChannelType { capacity, fields, span }),
        }
    }

    fn bracketed(&mut self) -> Parse<Expr> {
        self.expect("[")?;
        let inner = self.expr()?;
        self.expect("]")?;
        Ok(inner)
    }

    /// `[N]` behind a variable's name or `active`: a constant expression or a name alone.
    pub fn bound(&mut self) -> Parse<Expr> {
        let inner = self.bracketed()?;
        let name = matches!(&inner.kind, ExprKind::Var(var) if var.as_name().is_some());
        if !name {
            self.require_constant(&inner, "this number")?;
        }
        Ok(inner)
    }

    fn require_constant(&self, expr: &Expr, what: &str) -> Parse<()> {
        if self.is_constant(expr) {
            return Ok(());
        }
        let told = Diagnostic::error("syntax", expr.span, format!("{what} must be known before the model runs"));
        Err(Box::new(
            told.help("numbers, mtype constants and + - * / % of them are allowed here; use #define for a name"),
        ))
    }

    fn is_constant(&self, expr: &Expr) -> bool {
        use BinaryOp::{Add, Divide, Multiply, Remainder, Subtract};
        match &expr.kind {
            ExprKind::Int(..) => true,
            ExprKind::Var(var) => var.as_name().is_some_and(|id| self.tokens.class(&id.name) == NameClass::Mtype),
            ExprKind::Unary(UnaryOp::Minus, inner) => self.is_constant(inner),
            ExprKind::Binary(Add | Subtract | Multiply | Divide | Remainder, a, b) => {
                self.is_constant(a) && self.is_constant(b)
            }
            _ => false,
        }
    }

    /// One number, character, `true`, `false`, `skip` or mtype constant.
    pub fn constant(&mut self, what: &str) -> Parse<Expr> {
        let token = self.tokens.peek().clone();
        let literal = matches!(&*token.text, "true" | "false" | "skip");
        let mtype = self.tokens.name_class(&token) == Some(NameClass::Mtype);
        if literal || mtype || matches!(token.kind, TokenKind::Number | TokenKind::Char) {
            return self.primary();
        }
        let mut told = self.expected(what);
        if token.is("-") {
            told.help = Some("SPIN allows no negative number here; assign it at the start of a process instead".into());
        }
        Err(told)
    }
}

/// The types that are words.
fn basic_type(word: &str) -> Option<TypeKind> {
    Some(match word {
        "bit" => TypeKind::Bit,
        "bool" => TypeKind::Bool,
        "byte" => TypeKind::Byte,
        "pid" => TypeKind::Pid,
        "short" => TypeKind::Short,
        "int" => TypeKind::Int,
        "unsigned" => TypeKind::Unsigned,
        "mtype" => TypeKind::Mtype(None),
        "chan" => TypeKind::Chan,
        _ => return None,
    })
}

/// The constants that are words.
pub(super) fn literal(word: &str) -> Option<(i32, Literal)> {
    match word {
        "true" => Some((1, Literal::True)),
        "false" => Some((0, Literal::False)),
        "skip" => Some((1, Literal::Skip)),
        _ => None,
    }
}
