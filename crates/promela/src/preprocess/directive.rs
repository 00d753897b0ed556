//! Lines that begin with `#`.
//!
//! What `cpp` does, since SPIN runs it: models in the wild use conditionals, function-like macros
//! and `##`. Nothing of the host's compiler is needed, and spans lead into the files as they were
//! written.

use super::file::Branch;
use super::{Macro, Preprocessor, error};
use crate::ast::Name;
use crate::diagnostic::Diagnostic;
use crate::lex::{Token, TokenKind};
use crate::source::Span;
use std::sync::Arc;

type Done = Result<(), Diagnostic>;

impl Preprocessor<'_> {
    /// Obeys one line; `line` is what follows `hash`.
    pub(super) fn directive(&mut self, hash: &Token, line: &[Token]) -> Done {
        let Some((name, rest)) = line.split_first() else { return Ok(()) };
        let span = hash.span.to(name.span);
        match &*name.text {
            "if" => self.open_if(span, rest),
            "ifdef" => self.open_ifdef(span, rest, true),
            "ifndef" => self.open_ifdef(span, rest, false),
            "elif" => self.next_branch(span, Some(rest)),
            "else" => self.next_branch(span, None),
            "endif" => self.close_if(span),
            _ if !self.reading() => Ok(()),
            "define" => self.define(rest, span),
            "undef" => self.undefine(rest, span),
            "include" => self.include_line(rest, span),
            "error" => Err(error(span, format!("#error {}", self.line_text(rest)).trim_end())),
            "warning" => {
                let message = format!("#warning {}", self.line_text(rest));
                self.warnings.push(Diagnostic::warning(super::CODE, span, message));
                Ok(())
            }
            "pragma" => {
                if rest.first().is_some_and(|word| word.is("once")) {
                    self.mark_once();
                }
                Ok(())
            }
            // Our spans point into the files we read, so foreign line numbers are of no use.
            "line" | "ident" | "sccs" => Ok(()),
            _ if name.kind == TokenKind::Number => Ok(()),
            other => Err(error(span, format!("there is no directive `#{other}`"))),
        }
    }

    /// The rest of a line as written.
    fn line_text(&self, line: &[Token]) -> String {
        match (line.first(), line.last()) {
            (Some(first), Some(last)) => self.sources.text(first.span.to(last.span)).to_string(),
            _ => String::new(),
        }
    }

    fn open_if(&mut self, span: Span, rest: &[Token]) -> Done {
        let outer = self.reading();
        let holds = outer && self.condition(span, rest)?;
        self.open_branch(span, outer, holds);
        Ok(())
    }

    fn open_ifdef(&mut self, span: Span, rest: &[Token], defined: bool) -> Done {
        let outer = self.reading();
        let holds = match rest.first() {
            Some(name) if name.kind == TokenKind::Word => self.is_defined(&name.text) == defined,
            _ if !outer => false,
            _ => return Err(error(span.after(), "expected a macro's name")),
        };
        self.open_branch(span, outer, outer && holds);
        Ok(())
    }

    fn open_branch(&mut self, span: Span, outer: bool, holds: bool) {
        if let Some(branches) = self.branches() {
            branches.push(Branch { span, reading: holds, done: !outer || holds, seen_else: false });
        }
    }

    /// `#elif` with its condition or `#else` without.
    ///
    /// `done` says that a branch was taken, or that the whole conditional lies in text that is
    /// skipped: then no condition is evaluated, and its errors do not count.
    fn next_branch(&mut self, span: Span, condition: Option<&[Token]>) -> Done {
        let word = if condition.is_some() { "#elif" } else { "#else" };
        let Some(branch) = self.branches().and_then(|all| all.last_mut()) else {
            return Err(error(span, format!("{word} without #if")));
        };
        if branch.seen_else {
            return Err(error(span, format!("{word} after #else")));
        }
        branch.seen_else = condition.is_none();
        branch.reading = false;
        if branch.done {
            return Ok(());
        }
        let holds = condition.map_or(Ok(true), |rest| self.condition(span, rest))?;
        if let Some(branch) = self.branches().and_then(|all| all.last_mut()) {
            branch.reading = holds;
            branch.done = holds;
        }
        Ok(())
    }

    fn close_if(&mut self, span: Span) -> Done {
        match self.branches().and_then(Vec::pop) {
            Some(_) => Ok(()),
            None => Err(error(span, "#endif without #if")),
        }
    }

    fn undefine(&mut self, rest: &[Token], span: Span) -> Done {
        let name = macro_name(rest, span)?;
        self.macros.table.remove(&name.text);
        Ok(())
    }

    fn include_line(&mut self, rest: &[Token], span: Span) -> Done {
        let mut line = rest.to_vec();
        if line.first().is_some_and(|token| token.kind == TokenKind::Word) {
            line = self.expand_list(line)?;
        }
        let Some(name) = self.include_name(&line) else {
            return Err(error(span.after(), "expected \"file\" or <file> after #include"));
        };
        let site = line.iter().fold(line[0].span, |all, token| all.to(token.span));
        self.include(&name, site)
    }

    fn include_name(&self, line: &[Token]) -> Option<String> {
        let first = line.first()?;
        if first.kind == TokenKind::Text {
            return Some(first.text.trim_matches('"').to_string());
        }
        let close = line.iter().position(|token| token.is(">"))?;
        if !first.is("<") || close < 2 {
            return None;
        }
        let written = first.via.is_none();
        let joined = || line[1..close].iter().map(|token| &*token.text).collect();
        Some(if written { self.line_text(&line[1..close]) } else { joined() })
    }

    /// `#define`; `line` begins with the name.
    pub(super) fn define(&mut self, line: &[Token], span: Span) -> Done {
        let name = macro_name(line, span)?.clone();
        let mut rest = &line[1..];
        let mut made =
            Macro { name: name.text.clone(), params: None, variadic: false, body: Vec::new(), span: name.span };
        if rest.first().is_some_and(|open| open.is("(") && !open.space) {
            rest = parameters(&mut made, &rest[1..], name.span)?;
        }
        made.body = rest.to_vec();
        check_body(&made)?;
        self.insert(made);
        Ok(())
    }

    /// A second definition wins, with a warning unless it is the same (C11 6.10.3 makes a different
    /// one an error; `cpp` warns).
    fn insert(&mut self, made: Macro) {
        let Some(old) = self.macros.table.insert(made.name.clone(), Arc::new(made.clone())) else { return };
        if same_definition(&old, &made) {
            return;
        }
        let mut told = Diagnostic::warning(super::CODE, made.span, format!("macro `{}` is defined again", made.name));
        if let Some(place) = self.sources.locate(old.span) {
            told = told.note(format!("it was defined at {}:{}", place.path.display(), place.line));
        }
        self.warnings.push(told);
    }

    /// Whether a name is a macro, built-in ones included.
    pub(super) fn is_defined(&self, name: &str) -> bool {
        self.macros.table.contains_key(name) || matches!(name, "__FILE__" | "__LINE__")
    }
}

fn macro_name(line: &[Token], span: Span) -> Result<&Token, Diagnostic> {
    match line.first() {
        Some(name) if name.is("defined") => Err(error(name.span, "`defined` cannot be a macro's name")),
        Some(name) if name.kind == TokenKind::Word => Ok(name),
        Some(other) => Err(error(other.span, "expected a macro's name")),
        None => Err(error(span.after(), "expected a macro's name")),
    }
}

/// Reads `a, b, ...)`; returns what follows.
fn parameters<'t>(made: &mut Macro, line: &'t [Token], span: Span) -> Result<&'t [Token], Diagnostic> {
    let mut params: Vec<Name> = Vec::new();
    let mut at = 0;
    let wrong = |at: usize| {
        let place = line.get(at).map_or(span, |token| token.span);
        error(place, format!("the parameters of macro `{}` are not a list of names", made.name))
    };
    if line.first().is_some_and(|close| close.is(")")) {
        made.params = Some(params);
        return Ok(&line[1..]);
    }
    loop {
        let token = line.get(at).ok_or_else(|| wrong(at))?;
        at += 1;
        if token.kind == TokenKind::Word {
            params.push(token.text.clone());
        }
        // `...` is read as `..` and `.`.
        let dots = at - usize::from(token.kind != TokenKind::Word);
        if line.get(dots).is_some_and(|t| t.is("..")) && line.get(dots + 1).is_some_and(|t| t.is(".")) {
            made.variadic = true;
            if token.kind != TokenKind::Word {
                params.push(Name::from("__VA_ARGS__"));
            }
            at = dots + 2;
        } else if token.kind != TokenKind::Word {
            return Err(wrong(at - 1));
        }
        match line.get(at) {
            Some(next) if next.is(")") => break,
            Some(next) if next.is(",") && !made.variadic => at += 1,
            _ => return Err(wrong(at)),
        }
    }
    made.params = Some(params);
    Ok(&line[at + 1..])
}

fn check_body(made: &Macro) -> Done {
    let ends = [made.body.first(), made.body.last()];
    if let Some(paste) = ends.into_iter().flatten().find(|token| token.is("##")) {
        return Err(error(paste.span, "`##` needs something on both sides"));
    }
    let Some(params) = &made.params else { return Ok(()) };
    let bare = |pair: &[Token]| pair[0].is("#") && !params.contains(&pair[1].text);
    let last = made.body.last().filter(|token| token.is("#"));
    match made.body.windows(2).find(|pair| bare(pair)).map(|pair| &pair[0]).or(last) {
        Some(hash) => Err(error(hash.span, "`#` must stand before a parameter of the macro")),
        None => Ok(()),
    }
}

fn same_definition(a: &Macro, b: &Macro) -> bool {
    let texts = |one: &Macro| one.body.iter().map(|token| token.text.clone()).collect::<Vec<_>>();
    a.params == b.params && texts(a) == texts(b)
}
