//! From statements to elements.
//!
//! SPIN numbers its elements while it parses, inner ones first in some places and last in others,
//! and these numbers are what trails, `pc_value()` and `pan -d` show. So statements are read in
//! SPIN's order into *elements* (its `struct Element`) before anything is decided about control
//! flow; several oddities below (an escape before its main sequence, skips that vanish) exist only
//! to get the same numbers.

use super::Body;
use super::element::{BlockKind, Destination, ElementId, Flow, Node, Sequence, SequenceId, is_skip};
use super::names::{Names, ScopeId, SymbolId, Use};
use crate::ast::{self, Access, Block, Ident, Stmt, StmtKind, VarDecl, VarRef};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// A body that is being built.
///
/// One for each proctype, claim or trace. `earlier` is there because SPIN, on meeting `P@label`,
/// goes back and changes jumps at that label in bodies it has already read.
pub(super) struct Builder<'a, 'l> {
    pub names: &'l mut Names,
    /// SPIN's counter of elements over the whole model.
    pub unique: &'l mut u32,
    pub report: &'l mut Vec<Diagnostic>,
    /// What each symbol starts with, in step with [`Names::symbols`].
    pub initial: &'l mut Vec<Option<&'a ast::Initializer>>,
    /// Bodies that were built before: a remote reference to a label can change them.
    pub earlier: &'l mut [Body<'a>],
    pub flow: Flow<'a>,
    /// Channels promised by `xr` and `xs`.
    pub exclusive: Vec<(Access, &'a VarRef, Use)>,
    /// Locals that get their first value when the process is created.
    pub initialised: Vec<SymbolId>,
    /// All locals.
    pub locals: Vec<SymbolId>,
    /// Whether options lose redundant skips, as in processes but not in claims.
    pub prune: bool,
    pub scope: ScopeId,
    pub current: SequenceId,
    /// Loops around, innermost last.
    pub loops: Vec<usize>,
    d_step: Option<usize>,
    /// Still at the very start: declarations are initialisers.
    starting: bool,
}

/// A statement that was read, inner statements included, but has no element of its own yet.
///
/// SPIN makes the element of a statement after those inside of it; this is the statement in
/// between.
struct Pending<'a> {
    labels: Vec<&'a Ident>,
    shape: Shape<'a>,
    place: Use,
    span: Span,
}

pub(super) enum Shape<'a> {
    Node(Node<'a>),
    /// Options, and the loop's number if it is one.
    Selection(Vec<SequenceId>, Option<usize>),
    Unless(SequenceId, SequenceId),
}

/// Why a sequence is closed; it decides what SPIN says about a label on its first statement.
///
/// A label at the first statement of a nested sequence names a state that no process ever stands
/// in: SPIN warns or refuses, depending on where.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Closed {
    Option,
    Escape,
    Main,
    Block,
    Other,
}

impl<'a, 'l> Builder<'a, 'l> {
    pub(super) fn new(
        names: &'l mut Names,
        unique: &'l mut u32,
        report: &'l mut Vec<Diagnostic>,
        initial: &'l mut Vec<Option<&'a ast::Initializer>>,
        earlier: &'l mut [Body<'a>],
        scope: ScopeId,
    ) -> Builder<'a, 'l> {
        let mut flow = Flow::new();
        let current = flow.open();
        flow.top = current;
        Builder {
            names,
            unique,
            report,
            initial,
            earlier,
            flow,
            exclusive: Vec::new(),
            initialised: Vec::new(),
            locals: Vec::new(),
            prune: true,
            scope,
            current,
            loops: Vec::new(),
            d_step: None,
            starting: true,
        }
    }

    /// Builds a whole body.
    pub(super) fn body(&mut self, block: &'a Block) {
        self.statements(block);
        let end = self.make(Node::End, block.span.after());
        self.flow.append(end, self.current);
        self.flow.sequences[self.current].extent = Some(end);
    }

    pub(super) fn here(&self) -> Use {
        Use { scope: self.scope, order: self.names.symbols.len() }
    }

    pub(super) fn make(&mut self, node: Node<'a>, span: Span) -> ElementId {
        let place = self.here();
        self.make_at(node, place, span)
    }

    pub(super) fn make_at(&mut self, node: Node<'a>, place: Use, span: Span) -> ElementId {
        let made = self.flow.make(node, self.unique, place, span);
        self.flow.elements[made].d_step = self.d_step;
        made
    }

    pub(super) fn statements(&mut self, block: &'a Block) {
        for stmt in &block.stmts {
            match &stmt.kind {
                StmtKind::Declare(declaration) => {
                    self.refuse_labels(stmt, "a declaration");
                    self.declare(declaration);
                }
                StmtKind::Exclusive { access, channels } => {
                    self.refuse_labels(stmt, "xr or xs");
                    let place = self.here();
                    self.exclusive.extend(channels.iter().map(|channel| (*access, channel, place)));
                }
                _ => {
                    let pending = self.read(stmt);
                    self.add(pending);
                    self.starting = false;
                }
            }
        }
    }

    fn refuse_labels(&mut self, stmt: &Stmt, what: &str) {
        if let Some(label) = stmt.labels.first() {
            let told = Diagnostic::error("label", label.span, format!("label `{}` stands before {what}", label.name));
            self.report.push(told.help("put the label before a statement"));
        }
    }

    /// Declarations at the start of a body are initialisers of the frame; later ones are
    /// assignments that are executed, as in SPIN 6.
    fn declare(&mut self, declaration: &'a VarDecl) {
        for var in &declaration.vars {
            let Some(symbol) =
                super::declare::variable(self.names, self.initial, self.report, declaration, var, Some(self.scope))
            else {
                continue;
            };
            self.locals.push(symbol);
            if self.starting {
                self.initialised.push(symbol);
                continue;
            }
            match &var.init {
                Some(ast::Initializer::Channel(_)) => {
                    let told = Diagnostic::error(
                        "channel",
                        var.span,
                        format!("channel `{}` is created in the middle of a body", var.name.name),
                    );
                    self.report.push(told.help("declare it before the first statement of the proctype"));
                }
                Some(ast::Initializer::List(_)) => {
                    let told = Diagnostic::error(
                        "initialiser",
                        var.span,
                        "a list can initialise an array only at the start of a proctype",
                    );
                    self.report.push(told.help("assign the elements one by one"));
                }
                _ => {
                    // The declared name itself is visible to its own initialiser, as in SPIN.
                    let element = self.make(Node::Declare(symbol), var.span);
                    self.flow.append(element, self.current);
                }
            }
        }
    }

    /// Opens a sequence, runs `fill` in it and closes it.
    pub(super) fn nested(&mut self, closed: Closed, fill: impl FnOnce(&mut Self)) -> SequenceId {
        let sequence = self.flow.open();
        let outer = std::mem::replace(&mut self.current, sequence);
        self.starting = false;
        fill(self);
        self.current = outer;
        self.flow.sequences[sequence].extent = self.flow.sequences[sequence].last;
        self.check_first_label(sequence, closed);
        if self.flow.sequences[sequence].first.is_none() {
            self.fill_empty(sequence);
        }
        sequence
    }

    /// A sequence of declarations only has nothing to execute; SPIN refuses it.
    ///
    /// A block of declarations only.
    fn fill_empty(&mut self, sequence: SequenceId) {
        let skip = self.make(Node::Skip, Span::default());
        self.flow.append(skip, sequence);
        self.flow.sequences[sequence].extent = Some(skip);
    }

    fn check_first_label(&mut self, sequence: SequenceId, closed: Closed) {
        let Some(first) = self.flow.sequences[sequence].first else { return };
        let Some(label) = self.flow.labels_of(first).next() else { return };
        let (name, span) = (label.name.clone(), label.span);
        let message = format!("label `{name}` is placed incorrectly");
        let told = match closed {
            Closed::Option => Diagnostic::warning("label", span, message)
                .note("a process never stands at the first statement of an option: it stands at the whole `do` or `if`")
                .help(format!("write `{name}:` before the `do` or `if`")),
            Closed::Escape => {
                Diagnostic::error("label", span, message).note("the guard of an escape is not a state of its own")
            }
            Closed::Main => {
                Diagnostic::error("label", span, message).help(format!("write `{name}: {{ .. }} unless ..`"))
            }
            Closed::Block => {
                Diagnostic::error("label", span, message).help(format!("write `{name}:` before the braces"))
            }
            Closed::Other => return,
        };
        self.report.push(told);
    }

    /// Runs `fill` in a block scope of its own.
    pub(super) fn scoped(&mut self, fill: impl FnOnce(&mut Self)) {
        let inner = self.names.open(self.scope);
        let outer = std::mem::replace(&mut self.scope, inner);
        fill(self);
        self.scope = outer;
    }

    fn braces(&mut self, block: &'a Block) -> SequenceId {
        self.nested(Closed::Block, |this| this.scoped(|this| this.statements(block)))
    }

    fn read(&mut self, stmt: &'a Stmt) -> Pending<'a> {
        if let StmtKind::Unless { main, escape } = &stmt.kind {
            return self.unless(main, escape, &stmt.labels);
        }
        let shape = self.shape(stmt);
        Pending { labels: stmt.labels.iter().collect(), shape, place: self.here(), span: stmt.span }
    }

    fn shape(&mut self, stmt: &'a Stmt) -> Shape<'a> {
        match &stmt.kind {
            StmtKind::If(options) => {
                let options = self.options(options);
                Shape::Selection(options, None)
            }
            StmtKind::Do(options) => {
                let number = self.open_loop();
                let options = self.options(options);
                self.loops.pop();
                Shape::Selection(options, Some(number))
            }
            StmtKind::For { var, range, body } => self.for_loop(var, range, body, stmt.span),
            StmtKind::Select { var, from, to } => self.select(var, from, to, stmt.span),
            StmtKind::Atomic(block) => {
                let sequence = self.braces(block);
                self.flow.make_atomic(sequence, false);
                Shape::Node(Node::Block(BlockKind::Atomic, sequence))
            }
            StmtKind::DStep(block) => self.d_step(block),
            StmtKind::Block(block) | StmtKind::Inlined { body: block, .. } => {
                let sequence = self.braces(block);
                Shape::Node(Node::Block(BlockKind::Plain, sequence))
            }
            StmtKind::Goto(label) => Shape::Node(Node::Jump(Destination::Label(label.name.clone()))),
            StmtKind::Break => self.leave_loop(stmt.span),
            StmtKind::Else => Shape::Node(Node::Else),
            kind => {
                super::labelled_jump::fix_labelled_jumps(kind, self.names, self.earlier, self.unique);
                Shape::Node(Node::Basic(kind))
            }
        }
    }

    fn leave_loop(&mut self, span: Span) -> Shape<'a> {
        match self.loops.last() {
            Some(&number) => Shape::Node(Node::Jump(Destination::Loop(number))),
            None => {
                self.report.push(Diagnostic::error("break", span, "`break` outside a loop"));
                Shape::Node(Node::Skip)
            }
        }
    }

    pub(super) fn open_loop(&mut self) -> usize {
        self.flow.loops.push(None);
        self.loops.push(self.flow.loops.len() - 1);
        self.flow.loops.len() - 1
    }

    fn options(&mut self, options: &'a [Block]) -> Vec<SequenceId> {
        let sequences: Vec<SequenceId> =
            options.iter().map(|option| self.nested(Closed::Option, |this| this.statements(option))).collect();
        if self.prune {
            for &sequence in &sequences {
                self.drop_redundant_skips(sequence);
            }
        }
        sequences
    }

    /// SPIN leaves out the second of two skips in a row inside an option.
    ///
    /// Only inside options and never the first or last statement: exactly SPIN's rule, since it
    /// changes state numbers.
    fn drop_redundant_skips(&mut self, sequence: SequenceId) {
        let mut run = 0;
        let mut before = None;
        for element in self.flow.chain(sequence, self.flow.sequences[sequence].last) {
            let prints = self.flow.elements[element].node.statement().is_some_and(is_print);
            let labelled = self.flow.labels_of(element).next().is_some();
            let skips = prints || is_skip(&self.flow.elements[element].node);
            run = if skips && !labelled { run + 1 } else { 0 };
            let Sequence { first, last, .. } = self.flow.sequences[sequence].clone();
            let at_edge = Some(element) == first || Some(element) == last;
            if let (true, false, Some(before)) = (run > 1 && !prints, at_edge, before) {
                self.flow.elements[element].done = true;
                let next = self.flow.elements[element].next;
                let before: ElementId = before;
                self.flow.elements[before].next = next;
            } else {
                before = Some(element);
            }
        }
    }

    fn d_step(&mut self, block: &'a Block) -> Shape<'a> {
        let outer = self.d_step;
        self.d_step = outer.or(Some(self.flow.sequences.len()));
        let sequence = self.braces(block);
        self.d_step = outer;
        self.flow.make_atomic(sequence, true);
        Shape::Node(Node::Block(BlockKind::DStep, sequence))
    }

    /// `main unless escape`. SPIN reads both, then makes elements for the escape first.
    fn unless(&mut self, main: &'a Stmt, escape: &'a Stmt, outer: &'a [Ident]) -> Pending<'a> {
        let mut read = self.read(main);
        read.labels.splice(0..0, outer);
        let escape_read = self.read(escape);
        let escape = self.as_sequence(escape_read, Closed::Escape);
        let (place, span) = (read.place, read.span);
        let (labels, shape) = match (&read.shape, read.labels.len()) {
            (&Shape::Node(Node::Block(kind, main)), 1) => {
                // `L: { main } unless escape`: the label goes before both, on a block of its own.
                let shape = Shape::Unless(main, escape);
                let inner = Pending { labels: Vec::new(), shape, place, span };
                let wrapper = self.nested(Closed::Other, |this| this.add(inner));
                (read.labels, Shape::Node(Node::Block(kind, wrapper)))
            }
            _ => {
                let main = self.as_sequence(read, Closed::Main);
                (Vec::new(), Shape::Unless(main, escape))
            }
        };
        Pending { labels, shape, place, span }
    }

    fn as_sequence(&mut self, read: Pending<'a>, closed: Closed) -> SequenceId {
        match read.shape {
            Shape::Node(Node::Block(BlockKind::Plain, sequence)) if read.labels.is_empty() => sequence,
            _ => self.nested(closed, |this| {
                this.add(read);
            }),
        }
    }

    /// Makes the element of a statement and adds it to the current sequence.
    fn add(&mut self, pending: Pending<'a>) {
        let Pending { labels, shape, place, span } = pending;
        let (element, append) = match shape {
            Shape::Node(node) => (self.make_at(node, place, span), true),
            Shape::Selection(options, number) => (self.add_selection(options, number, place, span), false),
            Shape::Unless(main, escape) => (self.add_unless(main, escape, place, span), false),
        };
        for label in labels.into_iter().rev() {
            self.set_label(label, element);
        }
        if append {
            self.append(element);
        }
    }
}

fn is_print(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::Printf { .. } | StmtKind::Printm(_))
}
