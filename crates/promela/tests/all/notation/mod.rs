//! A compact notation of trees, for tests.

use promela::ast::*;
use promela::source::{Origin, SourceMap, Span};

fn joined<T>(list: &[T], between: &str, show: impl Fn(&T) -> String) -> String {
    list.iter().map(show).collect::<Vec<_>>().join(between)
}

/// A whole model.
pub fn program(program: &Program) -> String {
    joined(&program.items, "; ", item)
}

fn item(item: &Item) -> String {
    match item {
        Item::Mtype(list) => {
            let set = list.set.as_ref().map_or(String::new(), |set| format!(":{}", set.name));
            format!("mtype{set}{{{}}}", joined(&list.names, " ", |id| id.name.to_string()))
        }
        Item::Typedef(record) => format!("typedef {}{{{}}}", record.name.name, joined(&record.fields, "; ", decl)),
        Item::Variables(vars) => decl(vars),
        Item::Proctype(process) => proctype(process),
        Item::Init(init) => format!("init{}[{}]", priority(&init.priority), block(&init.body)),
        Item::Never(never) => {
            format!(
                "never{}[{}]",
                never.name.as_ref().map_or(String::new(), |id| format!(" {}", id.name)),
                block(&never.body)
            )
        }
        Item::Trace(trace) => format!("{}[{}]", if trace.negated { "notrace" } else { "trace" }, block(&trace.body)),
        Item::Ltl(one) => {
            format!("ltl {} {}", one.name.as_ref().map_or("", |id| &*id.name), ltl(&one.formula))
        }
    }
}

fn proctype(process: &Proctype) -> String {
    let active = match &process.active {
        None => String::new(),
        Some(Active { count: None, .. }) => "active ".into(),
        Some(Active { count: Some(count), .. }) => format!("active[{}] ", expr(count)),
    };
    let word = if process.deterministic { "D_proctype" } else { "proctype" };
    let provided =
        process.provided.as_ref().map_or(String::new(), |condition| format!(" provided {}", expr(condition)));
    format!(
        "{active}{word} {}({}){}{provided} [{}]",
        process.name.name,
        joined(&process.params, "; ", decl),
        priority(&process.priority),
        block(&process.body)
    )
}

fn priority(priority: &Option<Expr>) -> String {
    priority.as_ref().map_or(String::new(), |value| format!(" priority {}", expr(value)))
}

fn decl(decl: &VarDecl) -> String {
    let prefix = match decl.visibility {
        None => "",
        Some(Visibility::Hidden) => "hidden ",
        Some(Visibility::Show) => "show ",
        Some(Visibility::Local) => "local ",
    };
    format!("{prefix}{} {}", ty(&decl.ty), joined(&decl.vars, " ", var))
}

fn ty(ty: &Type) -> String {
    match &ty.kind {
        TypeKind::Bit => "bit".into(),
        TypeKind::Bool => "bool".into(),
        TypeKind::Byte => "byte".into(),
        TypeKind::Pid => "pid".into(),
        TypeKind::Short => "short".into(),
        TypeKind::Int => "int".into(),
        TypeKind::Unsigned => "unsigned".into(),
        TypeKind::Mtype(None) => "mtype".into(),
        TypeKind::Mtype(Some(set)) => format!("mtype:{}", set.name),
        TypeKind::Chan => "chan".into(),
        TypeKind::Record(name) => name.name.to_string(),
    }
}

fn var(var: &Var) -> String {
    let mut text = var.name.name.to_string();
    if let Some(width) = &var.width {
        text += &format!(":{}", expr(width));
    }
    if let Some(bound) = &var.bound {
        text += &format!("[{}]", expr(bound));
    }
    match &var.init {
        None => {}
        Some(Initializer::Value(value)) => text += &format!("={}", expr(value)),
        Some(Initializer::List(list)) => text += &format!("={{{}}}", joined(list, " ", expr)),
        Some(Initializer::Channel(chan)) => {
            text += &format!("=[{}]{{{}}}", expr(&chan.capacity), joined(&chan.fields, " ", ty));
        }
    }
    text
}

fn block(block: &Block) -> String {
    joined(&block.stmts, "; ", stmt)
}

fn stmt(stmt: &Stmt) -> String {
    let labels: String = stmt.labels.iter().map(|label| format!("{}: ", label.name)).collect();
    labels + &kind(&stmt.kind)
}

fn options(word: &str, options: &[Block]) -> String {
    format!("{word}{{{}}}", joined(options, " | ", block))
}

fn kind(kind: &StmtKind) -> String {
    match kind {
        StmtKind::Declare(vars) => decl(vars),
        StmtKind::Exclusive { access, channels } => {
            format!("{} {}", if *access == Access::Receive { "xr" } else { "xs" }, joined(channels, " ", varref))
        }
        StmtKind::Expr(e) => expr(e),
        StmtKind::Else => "else".into(),
        StmtKind::Assign { target, value } => format!("{} = {}", varref(target), expr(value)),
        StmtKind::Increment(target) => format!("{}++", varref(target)),
        StmtKind::Decrement(target) => format!("{}--", varref(target)),
        StmtKind::Assert(e) => format!("assert {}", expr(e)),
        StmtKind::Printf { format, args } => format!("printf \"{format}\" {}", joined(args, " ", expr)),
        StmtKind::Printm(e) => format!("printm {}", expr(e)),
        StmtKind::Send { channel, sorted, args } => {
            format!("{} {} {}", varref(channel), if *sorted { "!!" } else { "!" }, joined(args, " ", expr))
        }
        StmtKind::Receive { channel, random, keep, args } => format!(
            "{} {}{} {}",
            varref(channel),
            if *random { "??" } else { "?" },
            if *keep { "<" } else { "" },
            joined(args, " ", recv)
        ),
        StmtKind::If(list) => options("if", list),
        StmtKind::Do(list) => options("do", list),
        StmtKind::For { var, range: ForRange::Range { from, to }, body } => {
            format!("for {} {}..{} {{{}}}", varref(var), expr(from), expr(to), block(body))
        }
        StmtKind::For { var, range: ForRange::In(over), body } => {
            format!("for {} in {} {{{}}}", varref(var), varref(over), block(body))
        }
        StmtKind::Select { var, from, to } => format!("select {} {}..{}", varref(var), expr(from), expr(to)),
        StmtKind::Break => "break".into(),
        StmtKind::Goto(label) => format!("goto {}", label.name),
        StmtKind::Atomic(body) => format!("atomic{{{}}}", block(body)),
        StmtKind::DStep(body) => format!("d_step{{{}}}", block(body)),
        StmtKind::Block(body) => format!("{{{}}}", block(body)),
        StmtKind::Inlined { name, body } => format!("{}(){{{}}}", name.name, block(body)),
        StmtKind::Unless { main, escape } => format!("({} unless {})", stmt(main), stmt(escape)),
        StmtKind::SetPriority { pid, priority } => format!("set_priority {} {}", expr(pid), expr(priority)),
    }
}

fn recv(arg: &RecvArg) -> String {
    match arg {
        RecvArg::Var(var) => varref(var),
        RecvArg::Const(value) => expr(value),
        RecvArg::Eval(value) => format!("eval({})", expr(value)),
    }
}

fn varref(var: &VarRef) -> String {
    joined(&var.parts, ".", part)
}

fn part(part: &VarPart) -> String {
    part.name.name.to_string() + &part.index.as_ref().map_or(String::new(), |index| format!("[{}]", expr(index)))
}

/// An expression.
pub fn expr(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Int(value, Literal::Number) => value.to_string(),
        ExprKind::Int(value, Literal::Char) => format!("{:?}={value}", char::from(*value as u8)),
        ExprKind::Int(_, literal) => format!("{literal:?}").to_lowercase(),
        ExprKind::Var(var) => varref(var),
        ExprKind::Unary(op, a) => format!("({} {})", op.sign(), expr(a)),
        ExprKind::Binary(op, a, b) => format!("({} {} {})", op.sign(), expr(a), expr(b)),
        ExprKind::Conditional(c, a, b) => format!("(if {} {} {})", expr(c), expr(a), expr(b)),
        ExprKind::Run { proctype, args, priority: level } => {
            let level = level.as_ref().map_or(String::new(), |value| format!(" priority {}", expr(value)));
            format!("(run {} {}{level})", proctype.name, joined(args, " ", expr))
        }
        ExprKind::Len(q) => format!("(len {})", varref(q)),
        ExprKind::Probe(probe, q) => {
            let word = match probe {
                Probe::Full => "full",
                Probe::NotFull => "nfull",
                Probe::Empty => "empty",
                Probe::NotEmpty => "nempty",
            };
            format!("({word} {})", varref(q))
        }
        ExprKind::Poll { channel, random, args } => {
            format!("(poll{} {} {})", if *random { "??" } else { "" }, varref(channel), joined(args, " ", recv))
        }
        ExprKind::Timeout => "timeout".into(),
        ExprKind::NonProgress => "np_".into(),
        ExprKind::Enabled(p) => format!("(enabled {})", expr(p)),
        ExprKind::PcValue(p) => format!("(pc_value {})", expr(p)),
        ExprKind::GetPriority(p) => format!("(get_priority {})", expr(p)),
        ExprKind::RemoteLabel { proctype, pid, label } => format!("{}{}@{}", proctype.name, instance(pid), label.name),
        ExprKind::RemoteVar { proctype, pid, var } => format!("{}{}:{}", proctype.name, instance(pid), part(var)),
    }
}

fn instance(pid: &Option<Box<Expr>>) -> String {
    pid.as_ref().map_or(String::new(), |pid| format!("[{}]", expr(pid)))
}

/// A formula; atoms that are more than a name stand in braces.
pub fn ltl(formula: &Ltl) -> String {
    let two = |word: &str, a: &Ltl, b: &Ltl| format!("({word} {} {})", ltl(a), ltl(b));
    match &formula.kind {
        LtlKind::Atom(Expr { kind: ExprKind::Var(var), .. }) => varref(var),
        LtlKind::Atom(e) => format!("{{{}}}", expr(e)),
        LtlKind::Not(a) => format!("(! {})", ltl(a)),
        LtlKind::And(a, b) => two("&&", a, b),
        LtlKind::Or(a, b) => two("||", a, b),
        LtlKind::Implies(a, b) => two("->", a, b),
        LtlKind::Equivalent(a, b) => two("<->", a, b),
        LtlKind::Until(a, b) => two("U", a, b),
        LtlKind::WeakUntil(a, b) => two("W", a, b),
        LtlKind::Release(a, b) => two("V", a, b),
        LtlKind::Next(a) => format!("(X {})", ltl(a)),
        LtlKind::Always(a) => format!("([] {})", ltl(a)),
        LtlKind::Eventually(a) => format!("(<> {})", ltl(a)),
    }
}

/// Line, column and text of every statement of the first `init`, inlines included.
pub fn statement_places(program: &Program, sources: &SourceMap) -> Vec<String> {
    let mut out = Vec::new();
    for item in &program.items {
        if let Item::Init(init) = item {
            places(&init.body, sources, &mut out);
        }
    }
    out
}

fn places(block: &Block, sources: &SourceMap, out: &mut Vec<String>) {
    for stmt in &block.stmts {
        let call = match sources.origins(stmt.span).first() {
            Some(Origin::Inline { site, .. }) => format!(", called at {}", place(*site, sources)),
            _ => String::new(),
        };
        out.push(format!("{} `{}`{call}", place(stmt.span, sources), sources.text(stmt.span)));
        if let StmtKind::Inlined { body, .. } = &stmt.kind {
            places(body, sources, out);
        }
    }
}

fn place(span: Span, sources: &SourceMap) -> String {
    let at = sources.locate(span).expect("in a file");
    format!("{}:{}", at.line, at.column)
}
