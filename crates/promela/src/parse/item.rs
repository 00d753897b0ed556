//! What stands at the outermost level.

use super::parser::{DeferredLtl, Parse, Parser};
use super::tokens::NameClass;
use crate::ast::{Active, Expr, Init, Item, MtypeDecl, Never, Proctype, Trace, Typedef, VarDecl};
use crate::diagnostic::Diagnostic;
use crate::lex::TokenKind;
use crate::source::Span;

impl Parser<'_> {
    /// The whole model.
    pub fn items(&mut self) -> Parse<()> {
        while self.tokens.peek().kind != TokenKind::End {
            self.item()?;
        }
        Ok(())
    }

    fn item(&mut self) -> Parse<()> {
        let word = self.tokens.peek().text.clone();
        let item = match &*word {
            ";" | "->" => {
                self.tokens.next();
                return Ok(());
            }
            "active" | "proctype" | "D_proctype" => self.proctype()?,
            "init" => self.init()?,
            "never" => self.never()?,
            "trace" | "notrace" => self.trace(&word)?,
            "typedef" => self.typedef()?,
            "inline" => return self.inline_definition(),
            "ltl" => return self.ltl_block(),
            "c_code" | "c_decl" | "c_expr" => return self.embedded_c().map(drop),
            "c_state" | "c_track" => return self.c_state(),
            "mtype" if self.at_mtype_list() => Item::Mtype(self.mtype_list()?),
            _ if self.at_declaration() => Item::Variables(self.declaration()?),
            _ => return Err(self.expected("a declaration, a proctype, init, never or ltl")),
        };
        self.program.items.push(item);
        Ok(())
    }

    fn proctype(&mut self) -> Parse<Item> {
        let start = self.tokens.peek().span;
        let active = self.active()?;
        let deterministic = self.at("D_proctype");
        if self.eat("proctype").or_else(|| self.eat("D_proctype")).is_none() {
            return Err(self.expected("`proctype`"));
        }
        let name = self.name("the name of the proctype")?;
        self.tokens.declare(&name.name, NameClass::Proctype);
        self.expect("(")?;
        let params = if self.at(")") { Vec::new() } else { self.declarations(")")? };
        self.expect(")")?;
        self.refuse_initialisers(&params)?;
        let priority = self.priority()?;
        let provided = self.provided()?;
        let span = self.since(start);
        let body = self.body()?;
        let made = Proctype { deterministic, active, name, params, priority, provided, body, span };
        Ok(Item::Proctype(Box::new(made)))
    }

    fn active(&mut self) -> Parse<Option<Active>> {
        let Some(word) = self.eat("active") else { return Ok(None) };
        let count = if self.at("[") { Some(self.bound()?) } else { None };
        Ok(Some(Active { count, span: self.since(word.span) }))
    }

    fn refuse_initialisers(&self, params: &[VarDecl]) -> Parse<()> {
        match params.iter().flat_map(|decl| &decl.vars).find(|var| var.init.is_some()) {
            Some(var) => self.error(var.span, "a parameter cannot have an initial value"),
            None => Ok(()),
        }
    }

    /// `priority N`.
    pub fn priority(&mut self) -> Parse<Option<Expr>> {
        if self.eat("priority").is_none() {
            return Ok(None);
        }
        self.constant("a number").map(Some)
    }

    fn provided(&mut self) -> Parse<Option<Expr>> {
        if self.eat("provided").is_none() {
            return Ok(None);
        }
        self.expect("(")?;
        let condition = self.full_expr()?;
        self.expect(")")?;
        Ok(Some(condition))
    }

    fn init(&mut self) -> Parse<Item> {
        let span = self.tokens.next().span;
        let priority = self.priority()?;
        let body = self.body()?;
        Ok(Item::Init(Init { priority, body, span }))
    }

    fn never(&mut self) -> Parse<Item> {
        let span = self.tokens.next().span;
        let name = if self.at("{") { None } else { Some(self.name("a name or `{`")?) };
        let body = self.body()?;
        Ok(Item::Never(Never { name, body, span }))
    }

    fn trace(&mut self, word: &str) -> Parse<Item> {
        let span = self.tokens.next().span;
        let body = self.body()?;
        Ok(Item::Trace(Trace { negated: word == "notrace", body, span }))
    }

    fn typedef(&mut self) -> Parse<Item> {
        let start = self.tokens.next().span;
        let name = self.name("the name of the new type")?;
        self.expect("{")?;
        let fields = self.declarations("}")?;
        self.expect("}")?;
        self.tokens.declare(&name.name, NameClass::Record);
        Ok(Item::Typedef(Typedef { name, fields, span: self.since(start) }))
    }

    /// `mtype = {`, `mtype {` and `mtype:name = {` are lists of constants; the rest declares variables.
    pub fn at_mtype_list(&mut self) -> bool {
        let mut next = |distance: usize, text: &str| self.tokens.peek_at(distance).is(text);
        next(1, "{") || next(1, "=") || (next(1, ":") && next(3, "="))
    }

    fn mtype_list(&mut self) -> Parse<MtypeDecl> {
        let start = self.tokens.next().span;
        let set = if self.eat(":").is_some() { Some(self.any_name("the name of the set")?) } else { None };
        self.eat("=");
        self.expect("{")?;
        let mut names = Vec::new();
        while !self.at("}") {
            // Commas are optional, but not before the first name.
            if !names.is_empty() && self.eat(",").is_some() {
                continue;
            }
            names.push(self.name("the name of a constant")?);
        }
        if names.is_empty() {
            return Err(self.expected("the name of a constant"));
        }
        self.expect("}")?;
        for name in &names {
            self.tokens.declare(&name.name, NameClass::Mtype);
        }
        Ok(MtypeDecl { set, names, span: self.since(start) })
    }

    /// Puts an `ltl` block aside until all names are known.
    fn ltl_block(&mut self) -> Parse<()> {
        let start = self.tokens.next().span;
        let mut first = self.tokens.next_raw();
        let mut name = None;
        if first.kind == TokenKind::Word {
            name = Some(crate::ast::Ident { name: first.text.clone(), span: first.span });
            first = self.tokens.next_raw();
        }
        if !first.is("{") {
            let told = Diagnostic::error("syntax", first.span, format!("expected `{{`, found `{}`", first.text));
            return Err(Box::new(told.help("a property is written: ltl name { formula }")));
        }
        self.tokens.push(vec![first]);
        let mut tokens = self.raw_block("ltl formula")?;
        tokens.remove(0);
        self.tokens.resume(false);
        let span = self.since(start);
        let position = self.program.items.len();
        self.deferred.push(DeferredLtl { position, name, tokens, span });
        Ok(())
    }

    /// `c_code`, `c_decl`, `c_expr` with their blocks: read over and remembered as not supported.
    pub fn embedded_c(&mut self) -> Parse<Span> {
        let word = self.tokens.next();
        let mut next = self.tokens.next_raw();
        if next.is("[") {
            while !next.is("]") && next.kind != TokenKind::End {
                next = self.tokens.next_raw();
            }
            next = self.tokens.next_raw();
        }
        self.tokens.push(vec![next]);
        self.raw_block(&word.text)?;
        self.tokens.resume(true);
        self.refuse_c(&word.text, word.span);
        Ok(self.since(word.span))
    }

    fn c_state(&mut self) -> Parse<()> {
        let word = self.tokens.next();
        let mut texts = 0;
        while self.tokens.peek().kind == TokenKind::Text && texts < 3 {
            self.tokens.next();
            texts += 1;
        }
        if texts < 2 {
            return Err(self.expected("a string"));
        }
        self.refuse_c(&word.text, word.span);
        Ok(())
    }

    fn refuse_c(&mut self, word: &str, span: Span) {
        let told = Diagnostic::error("unsupported", span, format!("embedded C (`{word}`) is not supported"));
        self.unsupported.push(told.note("the model itself is well-formed as far as it was read"));
    }
}
