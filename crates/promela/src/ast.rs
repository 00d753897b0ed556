//! The tree that a model is parsed into.
//!
//! Macros, includes and inlines are gone (an inline's call is a [`StmtKind::Inlined`] block); names are not resolved:
//! whether `x` is a variable, an mtype constant or a predefined name such as `_pid` is decided by lowering.
//!
//! Spans are kept on every node, because every message names a place, and a place inside an inline
//! is shown with the call that led there. The tree is built once and never changed; lowering reads
//! it.

use crate::source::Span;
use std::sync::Arc;

/// The spelling of a name.
pub type Name = Arc<str>;

/// A name where it stands.
#[derive(Clone, Debug)]
pub struct Ident {
    /// Its spelling.
    pub name: Name,
    /// Its place.
    pub span: Span,
}

/// A whole model, in source order.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Declarations, processes, claims and properties.
    pub items: Vec<Item>,
    /// The inlines that were defined. Their calls are already expanded; this is for editors and messages.
    pub inlines: Vec<InlineDefinition>,
}

/// What can stand at the outermost level.
#[derive(Clone, Debug)]
pub enum Item {
    /// `mtype = { a, b }`, `mtype:fruit = { apple }`.
    Mtype(MtypeDecl),
    /// `typedef T { .. }`.
    Typedef(Typedef),
    /// Global variables.
    Variables(VarDecl),
    /// `proctype`, `D_proctype`, with or without `active`.
    Proctype(Box<Proctype>),
    /// `init { .. }`.
    Init(Init),
    /// `never { .. }`.
    Never(Never),
    /// `ltl name { formula }`.
    Ltl(LtlBlock),
    /// `trace { .. }` or `notrace { .. }`.
    Trace(Trace),
}

/// One list of mtype constants. They are numbered from the end of the list, after those of earlier lists of the same set.
///
/// The numbers count down along the list, as SPIN's do (`mtype = { a, b }` makes `a` 2 and `b` 1):
/// they show in `printf("%d")` and in trails.
#[derive(Clone, Debug)]
pub struct MtypeDecl {
    /// The named set, `None` for the plain one.
    pub set: Option<Ident>,
    /// The constants in source order.
    pub names: Vec<Ident>,
    /// The whole declaration.
    pub span: Span,
}

/// A record type.
#[derive(Clone, Debug)]
pub struct Typedef {
    /// Its name.
    pub name: Ident,
    /// Its fields.
    pub fields: Vec<VarDecl>,
    /// The whole definition.
    pub span: Span,
}

/// `hidden`, `show` or `local` before a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Not part of the state.
    Hidden,
    /// Tracked in message charts.
    Show,
    /// Promised to be used by one process only.
    ///
    /// SPIN believes it for its reduction without a check. Here it is parsed and not relied upon:
    /// what processes touch is computed from their statements (decision 1).
    Local,
}

/// One declaration of one or more variables: global, local, parameter or record field.
#[derive(Clone, Debug)]
pub struct VarDecl {
    /// `hidden`, `show`, `local`.
    pub visibility: Option<Visibility>,
    /// The type.
    pub ty: Type,
    /// The variables.
    pub vars: Vec<Var>,
    /// The whole declaration.
    pub span: Span,
}

/// A type where it stands.
#[derive(Clone, Debug)]
pub struct Type {
    /// Which one.
    pub kind: TypeKind,
    /// Its place.
    pub span: Span,
}

/// The types of Promela.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// 1 bit.
    Bit,
    /// 1 bit.
    Bool,
    /// 8 bits, unsigned.
    Byte,
    /// 8 bits, unsigned.
    Pid,
    /// 16 bits, signed.
    Short,
    /// 32 bits, signed.
    Int,
    /// As many bits as the variable's width says.
    Unsigned,
    /// A symbolic name, of a named set or the plain one.
    Mtype(Option<Ident>),
    /// A channel.
    Chan,
    /// A `typedef`.
    Record(Ident),
}

/// One declared variable.
#[derive(Clone, Debug)]
pub struct Var {
    /// Its name.
    pub name: Ident,
    /// `: N`, the bits of an `unsigned`.
    pub width: Option<Expr>,
    /// `[N]`: a constant expression, or the name of an initialised scalar (SPIN warns and takes its initial value).
    pub bound: Option<Expr>,
    /// What it starts with.
    pub init: Option<Initializer>,
    /// From the name to the end of the initialiser.
    pub span: Span,
}

/// What a variable starts with.
#[derive(Clone, Debug)]
pub enum Initializer {
    /// `= e`; for an array, every element.
    Value(Expr),
    /// `= { c, c }`, constants only.
    List(Vec<Expr>),
    /// `= [N] of { types }`.
    Channel(ChannelType),
}

/// Capacity and message fields of a channel.
#[derive(Clone, Debug)]
pub struct ChannelType {
    /// A constant expression; 0 is rendezvous.
    pub capacity: Expr,
    /// The message's fields.
    pub fields: Vec<Type>,
    /// From `[` to `}`.
    pub span: Span,
}

/// A process type.
#[derive(Clone, Debug)]
pub struct Proctype {
    /// `D_proctype`: choices must be deterministic.
    pub deterministic: bool,
    /// `active`.
    pub active: Option<Active>,
    /// Its name.
    pub name: Ident,
    /// Its parameters.
    pub params: Vec<VarDecl>,
    /// `priority N`, a constant.
    pub priority: Option<Expr>,
    /// `provided (e)`.
    pub provided: Option<Expr>,
    /// What it does.
    pub body: Block,
    /// The head, from `active` or `proctype` to `)` and its clauses.
    pub span: Span,
}

/// `active` or `active [N]`.
#[derive(Clone, Debug)]
pub struct Active {
    /// How many: a constant expression or the name of an initialised scalar; `None` is one.
    pub count: Option<Expr>,
    /// Its place.
    pub span: Span,
}

/// `init`.
#[derive(Clone, Debug)]
pub struct Init {
    /// `priority N`, a constant.
    pub priority: Option<Expr>,
    /// What it does.
    pub body: Block,
    /// The keyword.
    pub span: Span,
}

/// A never claim.
#[derive(Clone, Debug)]
pub struct Never {
    /// Its name; unnamed claims are SPIN's `never_0`, `never_1`, ...
    pub name: Option<Ident>,
    /// The claim.
    pub body: Block,
    /// The keyword.
    pub span: Span,
}

/// An event claim.
#[derive(Clone, Debug)]
pub struct Trace {
    /// `notrace`: the events must not match completely.
    pub negated: bool,
    /// The events.
    pub body: Block,
    /// The keyword.
    pub span: Span,
}

/// A property in temporal logic; it must hold (SPIN negates it itself).
#[derive(Clone, Debug)]
pub struct LtlBlock {
    /// Its name; unnamed ones are SPIN's `ltl_0`, `ltl_1`, ...
    pub name: Option<Ident>,
    /// What must hold.
    pub formula: Ltl,
    /// The whole block.
    pub span: Span,
}

/// A formula of linear temporal logic over states.
#[derive(Clone, Debug)]
pub struct Ltl {
    /// Operator or atom.
    pub kind: LtlKind,
    /// Its place.
    pub span: Span,
}

/// Operators of temporal logic. Boolean operators over atoms alone are inside the atom's expression.
#[derive(Clone, Debug)]
pub enum LtlKind {
    /// A condition on one state.
    Atom(Expr),
    /// `!`.
    Not(Box<Ltl>),
    /// `&&`, `/\`.
    And(Box<Ltl>, Box<Ltl>),
    /// `||`, `\/`.
    Or(Box<Ltl>, Box<Ltl>),
    /// `->`, `implies`.
    Implies(Box<Ltl>, Box<Ltl>),
    /// `<->`, `equivalent`.
    Equivalent(Box<Ltl>, Box<Ltl>),
    /// `U`, `until`, `stronguntil`.
    ///
    /// Strong: the right side must come true at some time.
    Until(Box<Ltl>, Box<Ltl>),
    /// `W`, `weakuntil`.
    WeakUntil(Box<Ltl>, Box<Ltl>),
    /// `V`, `release`.
    Release(Box<Ltl>, Box<Ltl>),
    /// `X`, `next`. Not stutter-invariant; Debian's SPIN refuses it.
    Next(Box<Ltl>),
    /// `[]`, `always`.
    Always(Box<Ltl>),
    /// `<>`, `eventually`.
    Eventually(Box<Ltl>),
}

/// An inline's head.
#[derive(Clone, Debug)]
pub struct InlineDefinition {
    /// Its name.
    pub name: Ident,
    /// Its formal parameters.
    pub params: Vec<Ident>,
    /// From `inline` to the closing brace.
    pub span: Span,
}

/// A sequence of statements and declarations.
#[derive(Clone, Debug)]
pub struct Block {
    /// In order; never empty.
    pub stmts: Vec<Stmt>,
    /// With its braces, if it has any.
    pub span: Span,
}

/// A statement with its labels.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// `a: b: stmt`, outermost first.
    pub labels: Vec<Ident>,
    /// What it does.
    pub kind: StmtKind,
    /// Without its labels.
    pub span: Span,
}

/// What a statement does.
///
/// Statements that are only sugar (`for`, `select`, `x++`) are still here, so that messages can
/// speak of what was written; lowering takes them apart.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// A declaration. Unless at the very start of a proctype, it is an executed assignment (`= 0` without initialiser).
    Declare(VarDecl),
    /// `xr q, r` or `xs q, r`.
    Exclusive {
        /// Which promise.
        access: Access,
        /// The channels.
        channels: Vec<VarRef>,
    },
    /// A condition; also `skip` and `run`. A label without a statement has an implied `skip` here.
    Expr(Expr),
    /// `else`.
    Else,
    /// `x = e`; also what `return e` became in `x = f(..)`.
    Assign {
        /// The left side.
        target: VarRef,
        /// The right side.
        value: Expr,
    },
    /// `x++`.
    Increment(VarRef),
    /// `x--`.
    Decrement(VarRef),
    /// `assert(e)`.
    Assert(Expr),
    /// `printf("..", e, ..)`.
    Printf {
        /// The format as written between the quotes, escapes not replaced.
        format: Name,
        /// Its arguments.
        args: Vec<Expr>,
    },
    /// `printm(e)`: a variable or a constant.
    Printm(Expr),
    /// `q!e,..`, `q!!e,..`; `q!m(e,..)` is `q!m,e,..`.
    Send {
        /// The channel.
        channel: VarRef,
        /// `!!`.
        sorted: bool,
        /// The message.
        args: Vec<Expr>,
    },
    /// `q?a,..`, `q??a,..`, `q?<a,..>`, `q??<a,..>`; `q?m(a,..)` is `q?m,a,..`.
    Receive {
        /// The channel; `STDIN` reads from the user.
        channel: VarRef,
        /// `??`: the oldest message that matches, not just the first.
        random: bool,
        /// `<..>`: the message stays in the channel.
        keep: bool,
        /// What must match and what is bound.
        args: Vec<RecvArg>,
    },
    /// `if .. fi`; every option is a sequence.
    If(Vec<Block>),
    /// `do .. od`; every option is a sequence.
    Do(Vec<Block>),
    /// `for (x : a .. b) { .. }`, `for (x in y) { .. }`.
    For {
        /// The running variable.
        var: VarRef,
        /// What it runs over.
        range: ForRange,
        /// What is repeated.
        body: Block,
    },
    /// `select (x : a .. b)`.
    ///
    /// SPIN's own expansion lets the value stop anywhere in the range, by a loop that may go on or
    /// leave: each value is one outcome of as many steps.
    Select {
        /// The variable.
        var: VarRef,
        /// Smallest value.
        from: Expr,
        /// Largest value.
        to: Expr,
    },
    /// `break`.
    Break,
    /// `goto L`.
    Goto(Ident),
    /// `atomic { .. }`.
    Atomic(Block),
    /// `d_step { .. }`.
    DStep(Block),
    /// `{ .. }`.
    Block(Block),
    /// A call of an inline: its body with the actual parameters in place, in a scope of its own.
    Inlined {
        /// The inline's name at the call.
        name: Ident,
        /// Its body.
        body: Block,
    },
    /// `main unless escape`.
    Unless {
        /// What is done.
        main: Box<Stmt>,
        /// What interrupts it.
        escape: Box<Stmt>,
    },
    /// `set_priority(pid, n)`.
    SetPriority {
        /// The process.
        pid: Expr,
        /// Its new priority.
        priority: Expr,
    },
}

/// What `xr` and `xs` promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `xr`: no other process receives.
    Receive,
    /// `xs`: no other process sends.
    Send,
}

/// What a `for` runs over.
#[derive(Clone, Debug)]
pub enum ForRange {
    /// `a .. b`, both included.
    Range {
        /// First value.
        from: Expr,
        /// Last value.
        to: Expr,
    },
    /// `in y`: the indices of an array or the messages of a channel.
    In(VarRef),
}

/// One field of a receive or a poll.
#[derive(Clone, Debug)]
pub enum RecvArg {
    /// A variable to bind, `_`, or the name of an mtype constant to match.
    Var(VarRef),
    /// A number to match.
    Const(Expr),
    /// `eval(e)`: a value to match.
    Eval(Expr),
}

/// A variable, an element, a field of a record: `a[i].b.c[j]`.
#[derive(Clone, Debug)]
pub struct VarRef {
    /// Base first, then fields; never empty.
    pub parts: Vec<VarPart>,
    /// The whole reference.
    pub span: Span,
}

/// One name of a reference, with its index.
#[derive(Clone, Debug)]
pub struct VarPart {
    /// The name.
    pub name: Ident,
    /// `[e]`.
    pub index: Option<Expr>,
}

impl VarRef {
    /// The first name.
    #[must_use]
    pub fn base(&self) -> &Ident {
        &self.parts[0].name
    }

    /// The name, when there is neither index nor field.
    #[must_use]
    pub fn as_name(&self) -> Option<&Ident> {
        match self.parts.as_slice() {
            [VarPart { name, index: None }] => Some(name),
            _ => None,
        }
    }
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// Its place.
    pub span: Span,
}

/// How a constant was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Literal {
    /// `17`.
    Number,
    /// `'a'`.
    Char,
    /// `true`.
    True,
    /// `false`.
    False,
    /// `skip`.
    Skip,
}

/// What an expression computes.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A constant.
    Int(i32, Literal),
    /// A variable, an mtype constant, or `_pid`, `_nr_pr`, `_last`, `_priority`, `_`.
    Var(VarRef),
    /// `!e`, `-e`, `~e`.
    Unary(UnaryOp, Box<Expr>),
    /// `a op b`.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `(c -> a : b)`.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `run P(e, ..)`.
    Run {
        /// The process type.
        proctype: Ident,
        /// Its arguments.
        args: Vec<Expr>,
        /// `priority N`, a constant.
        priority: Option<Box<Expr>>,
    },
    /// `len(q)`.
    Len(VarRef),
    /// `empty(q)` and its kin.
    Probe(Probe, VarRef),
    /// `q?[a, ..]`, `q??[a, ..]`.
    Poll {
        /// The channel.
        channel: VarRef,
        /// `??`.
        random: bool,
        /// What must match; variables match anything.
        args: Vec<RecvArg>,
    },
    /// `timeout`.
    Timeout,
    /// `np_`.
    NonProgress,
    /// `enabled(p)`.
    Enabled(Box<Expr>),
    /// `pc_value(p)`.
    PcValue(Box<Expr>),
    /// `get_priority(p)`.
    GetPriority(Box<Expr>),
    /// `P[e]@L`, `P@L`.
    RemoteLabel {
        /// The process type.
        proctype: Ident,
        /// Which process of it.
        pid: Option<Box<Expr>>,
        /// The label.
        label: Ident,
    },
    /// `P[e]:v`, `P:v`, `P[e]:v[i]`.
    RemoteVar {
        /// The process type.
        proctype: Ident,
        /// Which process of it.
        pid: Option<Box<Expr>>,
        /// The local variable, with its index.
        var: Box<VarPart>,
    },
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `!`.
    Not,
    /// `-`.
    Minus,
    /// `~`.
    Complement,
}

impl UnaryOp {
    /// As it is written.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::Not => "!",
            Self::Minus => "-",
            Self::Complement => "~",
        }
    }
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `||`.
    Or,
    /// `&&`.
    And,
    /// `|`.
    BitOr,
    /// `^`.
    BitXor,
    /// `&`.
    BitAnd,
    /// `==`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `<`.
    Less,
    /// `>`.
    Greater,
    /// `<=`.
    LessEqual,
    /// `>=`.
    GreaterEqual,
    /// `<<`.
    ShiftLeft,
    /// `>>`.
    ShiftRight,
    /// `+`.
    Add,
    /// `-`.
    Subtract,
    /// `*`.
    Multiply,
    /// `/`.
    Divide,
    /// `%`.
    Remainder,
}

impl BinaryOp {
    /// As it is written.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::Or => "||",
            Self::And => "&&",
            Self::BitOr => "|",
            Self::BitXor => "^",
            Self::BitAnd => "&",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::Greater => ">",
            Self::LessEqual => "<=",
            Self::GreaterEqual => ">=",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
        }
    }
}

/// Questions to a channel. SPIN forbids to negate them; every one has its opposite.
///
/// Negation is forbidden because `!full(q)` would let a reduction that knows `nfull` miss a
/// dependence; the opposite probes exist so that it is never needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Probe {
    /// `full(q)`.
    Full,
    /// `nfull(q)`.
    NotFull,
    /// `empty(q)`.
    Empty,
    /// `nempty(q)`.
    NotEmpty,
}
