//! What a model means: control graphs whose edges are basic statements over a byte vector.
//!
//! Names, scopes, inlines, nested selections and structured control flow are gone; what is left is small enough that
//! the interpreter, the compiler to native code and the static analysis each handle every construct. All arithmetic is
//! C's 32-bit `int` with wrap-around.
//!
//! # The state vector
//! ```text
//! byte 0        number of processes
//! byte 1        exclusive bits that belong to no variable (last process to move, if the model asks for `_last`)
//! byte 2..      event automaton state (`trace`), if any; characters read from `STDIN`, if any are; then global variables
//!               and global channels
//! then          one frame for each process, oldest first
//! then          zero up to a multiple of eight
//! ```
//! A frame is `proctype (1 byte), pc (1 or 2 bytes), priority (1 byte, only if the model uses priorities), variables,
//! channels declared in the proctype`. Frames are stacked as SPIN does it: only the youngest process can disappear, so
//! where a frame starts follows from the proctypes of the older ones.
//!
//! **Why a byte vector.** States are compared, hashed and stored by the million. A flat vector of
//! bytes makes each of these one `memcmp`, one hash and one entry of the tree table (decision 2),
//! and unused bytes are always zero, so that equal states are equal bytes. The layout follows
//! SPIN's (`now`, a byte for `_nr_pr`, frames stacked in order of creation), which makes `pid` an
//! index of frames.
//!
//! **Invariant:** bytes behind the last frame are zero, as are unused slots of channels and dead
//! variables (`dead.rs`).

use crate::input::Input;
use crate::source::Span;

/// The index of a proctype in [`Model::proctypes`].
pub type ProctypeId = usize;
/// The index of a control state in [`Proctype::states`].
pub type Pc = usize;

/// A whole model, ready to be run.
///
/// Immutable while it is run. Searches run on a leaner one (`unread.rs`, `dead.rs`), replays on the
/// one as written; both have the same control states and edges, so a schedule of one is a schedule
/// of the other.
#[derive(Clone, Debug)]
pub struct Model {
    /// Proctypes, `init` among them, in declaration order.
    pub proctypes: Vec<Proctype>,
    /// What is started before the first step, in pid order.
    pub active: Vec<ProctypeId>,
    /// Global variables in declaration order.
    pub globals: Vec<Variable>,
    /// Channels that exist from the start; channel `i` has the id `i + 1`.
    pub channels: Vec<Channel>,
    /// Bytes up to the first frame.
    pub globals_size: u32,
    /// Assignments that give globals their first values, run once on the zero vector.
    pub initialisers: Vec<Assign>,
    /// Names of mtype constants: (set name, or empty for the plain set; constant name; value).
    pub mtypes: Vec<(String, String, i32)>,
    /// Never claims and LTL properties, in source order.
    pub claims: Vec<Claim>,
    /// The `trace` or `notrace` automaton.
    pub event_trace: Option<EventTrace>,
    /// What the model uses that changes how it is run.
    pub features: Features,
    /// What `STDIN` gives; a check has none.
    pub input: Option<Input>,
}

/// Constructs that change how a whole model is run.
///
/// Whatever is off costs nothing: no byte in the vector, no question in the inner loop, and, for
/// most of them, a reduction that can be kept on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Features {
    /// `timeout` occurs.
    pub timeout: bool,
    /// `_last` occurs: the vector holds it at byte 1.
    pub last: bool,
    /// Priorities occur (`priority`, `_priority`, `set_priority`, `get_priority`): frames hold one.
    pub priority: bool,
    /// A `provided` clause occurs.
    pub provided: bool,
    /// `unless` occurs.
    pub unless: bool,
    /// A rendezvous channel may exist.
    pub rendezvous: bool,
    /// `enabled()` occurs.
    pub enabled: bool,
    /// `np_` occurs in an expression.
    pub np: bool,
    /// `run` occurs.
    pub run: bool,
    /// `STDIN` is read: the vector holds how far.
    pub input: bool,
    /// Full channels lose messages (SPIN's `-m`).
    pub lossy: bool,
}

/// A kind of process.
///
/// SPIN's limit of 255 processes holds: pids are bytes.
#[derive(Clone, Debug)]
pub struct Proctype {
    /// Its name; `:init:` for init.
    pub name: String,
    /// Whether it is `D_proctype`: at most one choice may ever be executable.
    pub deterministic: bool,
    /// Parameters first, then locals; offsets are from the start of the frame.
    pub locals: Vec<Variable>,
    /// How many of `locals` are parameters.
    pub parameters: usize,
    /// Channels that live and die with a process; their body offsets are from the start of the frame.
    pub channels: Vec<Channel>,
    /// Bytes of a frame.
    pub frame_size: u32,
    /// Bytes of the program counter in the frame: 1 or 2. It stands at offset 1.
    ///
    /// Two bytes from 257 control states on. Faults may widen it (`faults/prepare.rs`).
    pub pc_size: u32,
    /// Initial values of locals declared at the very start, run when the process is created (after the parameters are
    /// set and `channels` were created and stored in their variables).
    pub initialisers: Vec<Assign>,
    /// Control states. The process starts in `entry`.
    pub states: Vec<ControlState>,
    /// Where it starts.
    pub entry: Pc,
    /// Priority given in the declaration; 1 if none.
    pub priority: i32,
    /// `provided` clause.
    pub provided: Option<Expr>,
    /// Labels, for remote references and for people: name and control state.
    pub labels: Vec<(String, Pc)>,
    /// Channels promised by `xr`: only this process receives from them.
    pub exclusive_receive: Vec<Expr>,
    /// Channels promised by `xs`: only this process sends to them.
    pub exclusive_send: Vec<Expr>,
    /// Where it is declared.
    pub span: Span,
}

/// Offset of the proctype number in a frame.
pub const FRAME_PROCTYPE: u32 = 0;
/// Offset of the program counter in a frame.
pub const FRAME_PC: u32 = 1;
/// Offset of the number of processes in the vector.
pub const VECTOR_PROCESSES: u32 = 0;
/// Offset of `_last` in the vector.
pub const VECTOR_LAST: u32 = 1;
/// Offset of the state of the `trace` automaton in the vector (two bytes), if the model has one.
pub const VECTOR_EVENT: u32 = 2;

/// Where a process stands between two statements.
///
/// Control states are those of SPIN's automaton (`spin -a; ./pan -d`) with its numbers, so that
/// statistics and trails can be compared line by line.
#[derive(Clone, Debug, Default)]
pub struct ControlState {
    /// Edges in source order; escapes of `unless` come first, outermost first.
    pub edges: Vec<Edge>,
    /// Whether a process may end here (an `end` label, or the closing brace).
    pub end: bool,
    /// Whether it carries a `progress` label.
    pub progress: bool,
    /// Whether it carries an `accept` label.
    pub accept: bool,
    /// Bytes of the frame that hold nothing that anybody will read: a step that ends here makes them zero. None in a model
    /// as written.
    pub dead: Vec<std::ops::Range<u32>>,
    /// The number that SPIN gives this state, for `pc_value` and for the list of unreached states.
    pub spin_state: u32,
    /// The statement that starts here.
    pub span: Span,
}

/// A basic statement between two control states.
///
/// **Invariant:** the order of edges is the order of the source, with escapes first. It numbers the
/// choices of a process, so schedules depend on it.
#[derive(Clone, Debug)]
pub struct Edge {
    /// What it does.
    pub action: Action,
    /// Where it leads; meaningless after [`Action::Die`].
    pub target: Pc,
    /// Whether the process keeps the processor to itself in `target`, as long as it can move there.
    pub atomic: bool,
    /// 0 for an ordinary edge. Edges with the same number come from one escape of an `unless`; as soon as one edge of an
    /// escape is executable, the edges after that escape are not considered.
    ///
    /// SPIN's rule (manual page `unless`): guards of the escape are tried first at every statement
    /// of the main sequence; the main sequence moves only if no escape can.
    pub escape: u32,
    /// The statement.
    pub span: Span,
    /// SPIN's number of the statement in its trails.
    pub spin_id: u32,
    /// SPIN's state number of the statement (that of its element, also where it is an option of a selection).
    pub spin_state: u32,
}

impl Edge {
    /// Whether it is for the case that no other edge of its control state is executable: `else`, also as the first
    /// statement of a `d_step`. `states` are those of its proctype.
    #[must_use]
    pub fn is_else(&self, states: &[ControlState]) -> bool {
        match &self.action {
            Action::Else => true,
            Action::DStep { entry, .. } => {
                states.get(*entry).is_some_and(|first| matches!(&first.edges[..], [Edge { action: Action::Else, .. }]))
            }
            _ => false,
        }
    }
}

/// What a basic statement does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Executable if the value is not zero. Changes nothing, unless the expression contains [`Expr::Run`].
    Condition(Expr),
    /// Executable if no other edge of the same control state is (escapes and `else` itself left out).
    Else,
    /// An assignment.
    Assign(Assign),
    /// Fails if the value is zero; always executable.
    Assert {
        /// What should hold.
        condition: Expr,
        /// The condition as the user wrote it, in SPIN's spelling: `(x==1)`.
        text: String,
    },
    /// Output; no effect on the state.
    Print(Print),
    /// `q!a,b` and `q!!a,b`.
    Send(Send),
    /// `q?a,b` in all its forms.
    Receive(Receive),
    /// `STDIN?x,y`: simulation only.
    ReadInput(ReadInput),
    /// A `d_step`: runs its own control states, starting with `entry`, until an edge leads to a state that is not
    /// part of it; takes the first executable edge each time. Executable if `entry` has an executable edge.
    ///
    /// One step for everything inside (decision 3). Nondeterminism inside is resolved to the first
    /// executable option, as SPIN does; blocking inside is an error.
    DStep {
        /// Its first control state.
        entry: Pc,
        /// All control states that belong to it.
        inside: Vec<Pc>,
    },
    /// `set_priority(pid, value)`.
    SetPriority {
        /// The process.
        pid: Expr,
        /// Its new priority.
        value: Expr,
    },
    /// The process disappears; executable if it is the youngest.
    ///
    /// A process disappears only when all younger ones have, as in SPIN: frames are a stack.
    Die,
}

/// `place = value`, truncated to the place's type.
#[derive(Clone, Debug)]
pub struct Assign {
    /// Where to.
    pub place: Place,
    /// What.
    pub value: Expr,
}

/// Output of `printf` and `printm`.
#[derive(Clone, Debug)]
pub struct Print {
    /// Text between the values: always one more than `values`.
    pub pieces: Vec<String>,
    /// The values.
    pub values: Vec<(Format, Expr)>,
}

/// How a value is printed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Format {
    /// `%d`.
    Decimal,
    /// `%u`.
    Unsigned,
    /// `%x`.
    Hex,
    /// `%o`.
    Octal,
    /// `%c`.
    Char,
    /// `%e`: the name of an mtype constant of this set (empty: the plain set).
    Mtype(String),
}

/// `q!a,b`.
#[derive(Clone, Debug)]
pub struct Send {
    /// The channel id.
    pub channel: Expr,
    /// The fields.
    pub values: Vec<Expr>,
    /// `!!`: before the first message that is larger.
    pub sorted: bool,
}

/// `q?a,b`.
///
/// `?` and `??` differ in where a message is looked for, `<>` in whether it is taken out; a poll
/// `?[...]` is an expression and uses the same fields without storing.
#[derive(Clone, Debug)]
pub struct Receive {
    /// The channel id.
    pub channel: Expr,
    /// What is done with each field.
    pub fields: Vec<Field>,
    /// `??`: the oldest message that matches, not only the head.
    pub anywhere: bool,
    /// `?<...>`: the message stays.
    pub keep: bool,
}

/// `STDIN?x,y`.
#[derive(Clone, Debug)]
pub struct ReadInput {
    /// Where the characters go, one each.
    pub places: Vec<Place>,
    /// Where the state keeps how many characters were read.
    pub position: Place,
}

/// What a receive does with one field of the message.
///
/// Evaluated in two passes, as SPIN does: all matches first, then stores from left to right. So
/// `q?x,eval(x)` compares with the old `x`.
#[derive(Clone, Debug)]
pub enum Field {
    /// Stores it. The place's indices are evaluated after earlier fields were stored.
    Store(Place),
    /// Wants it to equal this value, evaluated before anything is stored.
    Match(Expr),
    /// `_`.
    Ignore,
}

/// An expression; every value is a 32-bit `int`.
///
/// Total but for division, indices and channel ids, which fail as run-time errors with a place.
/// `Run` is the only expression with an effect, and lowering admits at most one in a statement.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A number.
    Constant(i32),
    /// The value of a variable.
    Load(Place),
    /// One of the channels `first .. first + count`, by index: a channel variable or array that is never assigned to.
    ChannelOf {
        /// Id of the first channel of the array.
        first: i32,
        /// Length of the array.
        count: u32,
        /// Index into it.
        index: Box<Expr>,
    },
    /// An operator with one operand.
    Unary(Unary, Box<Expr>),
    /// An operator with two operands, both evaluated.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `a && b`, 0 or 1; `b` only if `a`.
    And(Box<Expr>, Box<Expr>),
    /// `a || b`, 0 or 1; `b` only if not `a`.
    Or(Box<Expr>, Box<Expr>),
    /// `(a -> b : c)`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A question about a channel.
    Channel(ChannelQuery, Box<Expr>),
    /// `q?[a,b]` and `q??[a,b]`: whether such a receive is possible; [`Field::Store`] counts as `_` here.
    Poll(Box<Receive>),
    /// `_pid` of the process that evaluates.
    Pid,
    /// `_nr_pr`.
    Processes,
    /// `_last`.
    Last,
    /// `timeout`.
    ///
    /// True only in states where no process can move. The engine asks for moves twice: once with it
    /// false, and again if there were none.
    Timeout,
    /// `np_`: no process is at a progress label.
    NonProgress,
    /// Some process is at an accept label.
    Accepting,
    /// `enabled(pid)`.
    Enabled(Box<Expr>),
    /// `pc_value(pid)`: SPIN's state number.
    PcValue(Box<Expr>),
    /// `get_priority(pid)`, and `_priority` with [`Expr::Pid`].
    Priority(Box<Expr>),
    /// `P[pid]@label`: process `pid` exists, is a `proctype` and stands in one of `states`.
    At {
        /// The proctype named.
        proctype: ProctypeId,
        /// Which process; `None` for `P@label`: the lowest pid of that proctype.
        pid: Option<Box<Expr>>,
        /// The control states that carry the label.
        states: Vec<Pc>,
    },
    /// `run P(args)`: the new pid. At most one in a statement, never under `&&`, `||` or `->`.
    Run(Box<Run>),
}

/// `run P(args) priority n`.
#[derive(Clone, Debug)]
pub struct Run {
    /// What is started.
    pub proctype: ProctypeId,
    /// Its arguments: one for each parameter scalar (structures are flattened).
    pub arguments: Vec<Expr>,
    /// Priority, if given here.
    pub priority: Option<Expr>,
}

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unary {
    /// `-`.
    Negate,
    /// `!`.
    Not,
    /// `~`.
    Complement,
}

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    /// Fails at run time if the divisor is zero.
    Divide,
    /// Fails at run time if the divisor is zero.
    Remainder,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// Questions about a channel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ChannelQuery {
    /// `len(q)`.
    Length,
    /// `full(q)`.
    Full,
    /// `empty(q)`.
    Empty,
    /// `nfull(q)`.
    NotFull,
    /// `nempty(q)`.
    NotEmpty,
}

/// A scalar in the vector.
///
/// Offsets are final: no name, no scope. An index out of bounds is a run-time error, also in
/// guards.
#[derive(Clone, Debug)]
pub struct Place {
    /// Where `offset` counts from.
    pub space: Space,
    /// Offset of the scalar if all indices are zero.
    pub offset: u32,
    /// Indices, outermost first; each adds `index * stride` and fails at run time unless `0 <= index < bound`.
    pub indices: Vec<Index>,
    /// Its type.
    pub scalar: Scalar,
}

/// One index of a [`Place`].
#[derive(Clone, Debug)]
pub struct Index {
    /// The index.
    pub value: Expr,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// Number of elements.
    pub bound: u32,
}

/// Where a place's offset counts from.
#[derive(Clone, Debug)]
pub enum Space {
    /// The start of the vector.
    Global,
    /// The frame of the process that evaluates.
    Local,
    /// The frame of another process, `P[pid]:x`; 0 if there is no such process. `None`: lowest pid of that proctype.
    Remote(ProctypeId, Option<Box<Expr>>),
}

/// The type of a scalar: how many bytes, and what an assignment cuts off.
///
/// Arithmetic is in 32-bit ints; a store cuts. `byte x = 256` is therefore 0, and SPIN's "value
/// truncated" is a warning here as well.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scalar {
    /// 1 byte, cut to one bit. (Elements of bit arrays and bit fields of messages are `Byte`, as in SPIN's verifier.)
    Bit,
    /// 1 byte, unsigned: byte, pid, mtype, chan.
    Byte,
    /// 2 bytes, signed.
    Short,
    /// 4 bytes, signed.
    Int,
    /// `unsigned x : n`: the fewest bytes, cut to `n` bits.
    Unsigned(u8),
}

impl Scalar {
    /// Bytes in the vector.
    #[must_use]
    pub fn size(self) -> u32 {
        match self {
            Self::Bit | Self::Byte => 1,
            Self::Short => 2,
            Self::Int => 4,
            Self::Unsigned(bits) => match bits {
                0..=8 => 1,
                9..=16 => 2,
                _ => 4,
            },
        }
    }

    /// What is left of a value when it is stored.
    #[must_use]
    pub fn cut(self, value: i32) -> i32 {
        match self {
            Self::Bit => value & 1,
            Self::Byte => value & 255,
            Self::Short => i32::from(value as i16),
            Self::Int => value,
            Self::Unsigned(bits) => value & ((1u32 << bits.min(31)) - 1) as i32,
        }
    }
}

/// How a value is shown to people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shown {
    /// As a number.
    Number,
    /// `true`/`false` are not used by SPIN; bits are shown as numbers too, but may be named in reports.
    Bool,
    /// As the name of an mtype constant of this set (empty: the plain set).
    Mtype(String),
    /// As a channel's name.
    Channel,
}

/// A named scalar or array of scalars, for people; structures are flattened into one variable for each scalar field.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name as the user knows it, with array bounds of enclosing structures spelt out: `x`, `point.x`, `a[1].b`.
    pub name: String,
    /// Offset of the first element.
    pub offset: u32,
    /// Number of elements; `None` if it is not an array.
    pub length: Option<u32>,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// Type of an element.
    pub scalar: Scalar,
    /// How an element is shown.
    pub shown: Shown,
    /// Whether it was declared `hidden` or is a compiler's temporary: kept in the state, left out of reports.
    pub hidden: bool,
    /// Where it is declared.
    pub span: Span,
}

/// A channel.
///
/// Messages are moved, not indexed: the oldest is first and slots behind the last are zero. Taking
/// one costs a copy of the rest, and makes equal contents equal bytes.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Its name as the user knows it: `q`, `q[1]`.
    pub name: String,
    /// Messages it holds; 0 for rendezvous.
    pub capacity: u32,
    /// Types of the fields of a message.
    pub fields: Vec<(Scalar, Shown)>,
    /// Offset of its body: one byte for the length, then the messages, oldest first, unused slots zero. A rendezvous
    /// channel has no body.
    pub offset: u32,
    /// For channels of a proctype: where the frame keeps its id, run as an initialiser; `None` if no variable does.
    pub variable: Option<Place>,
    /// Where it is declared.
    pub span: Span,
}

impl Channel {
    /// Bytes of one message.
    #[must_use]
    pub fn message_size(&self) -> u32 {
        self.fields.iter().map(|(scalar, _)| scalar.size()).sum()
    }

    /// Bytes of the whole body.
    #[must_use]
    pub fn body_size(&self) -> u32 {
        if self.capacity == 0 { 0 } else { 1 + self.capacity * self.message_size() }
    }
}

/// Something over runs: a never claim or an LTL property.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name; `never_0` for a nameless claim.
    pub name: String,
    /// What it is.
    pub kind: ClaimKind,
    /// Where it is written.
    pub span: Span,
}

/// The two ways to say something over runs.
#[derive(Clone, Debug)]
pub enum ClaimKind {
    /// `ltl name { formula }`: the formula, *not* negated; proposition `i` is true where `propositions[i]` is not zero.
    Ltl {
        /// The formula over proposition numbers.
        formula: ltl::Formula,
        /// The propositions.
        propositions: Vec<Expr>,
        /// The propositions as the user wrote them.
        texts: Vec<String>,
    },
    /// `never { ... }`: a control graph of conditions (and assertions), matched against runs.
    Never(NeverClaim),
}

/// A never claim.
#[derive(Clone, Debug)]
pub struct NeverClaim {
    /// Control states; edges are [`Action::Condition`], [`Action::Else`] or [`Action::Assert`].
    pub states: Vec<ControlState>,
    /// Where it starts.
    pub entry: Pc,
    /// The closing brace: reaching it is a violation.
    pub closing: Pc,
}

/// A `trace` or `notrace` automaton over send and receive events.
///
/// `trace` is the one claim that looks at events instead of states: it synchronises with every send
/// and receive on its channels. Models with one are not reduced, for the order of independent
/// events matters to it.
#[derive(Clone, Debug)]
pub struct EventTrace {
    /// Whether matching it is the violation (`notrace`).
    pub negated: bool,
    /// Control states; edges are [`Action::Receive`] patterns for sends (`keep` is set) and receives (`keep` is not set),
    /// with `Match` and `Ignore` fields only, or [`Action::Else`], or `Condition(1)`.
    pub states: Vec<ControlState>,
    /// Where it starts.
    pub entry: Pc,
    /// The closing brace.
    pub closing: Pc,
    /// Channels and directions that the automaton speaks about: (channel expression, is send).
    pub alphabet: Vec<(Expr, bool)>,
}
