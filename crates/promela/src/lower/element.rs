//! Statements as SPIN keeps them: numbered elements, chained into sequences.
//!
//! The numbers are those of SPIN's tables and trail files, so elements must be created in the order in which SPIN's
//! parser creates them: inner statements first, then the element of the enclosing construct.
//!
//! Elements refer to each other by index into one arena: SPIN's are linked lists with back
//! pointers, and are changed after the fact in the same ways.

use super::names::{ScopeId, SymbolId, Use};
use crate::ast::{Expr, ExprKind, Name, StmtKind};
use crate::source::Span;

/// Index into [`Flow::elements`].
pub(super) type ElementId = usize;
/// Index into [`Flow::sequences`].
pub(super) type SequenceId = usize;

/// What an element is.
#[derive(Clone, Debug)]
pub(super) enum Node<'a> {
    /// A basic statement of the tree.
    Basic(&'a StmtKind),
    /// A basic statement that a construct of the tree stands for.
    Made(Box<StmtKind>),
    /// A declaration that is executed: its variable gets its initial value.
    Declare(SymbolId),
    /// A skip that stands for nothing the user wrote.
    Skip,
    /// `else`.
    Else,
    /// `goto` and `break`.
    Jump(Destination),
    /// Where the options of a selection or the parts of an `unless` meet again.
    Join,
    /// Where `break` leads.
    LoopEnd,
    /// `if` or `do`; the options are in [`Element::parts`].
    Selection,
    /// `unless`: main part and escape are in [`Element::parts`].
    Unless,
    /// A sequence in braces.
    Block(BlockKind, SequenceId),
    /// The closing brace of a body.
    End,
}

impl Node<'_> {
    /// The basic statement, if it is one.
    pub(super) fn statement(&self) -> Option<&StmtKind> {
        match self {
            Node::Basic(kind) => Some(kind),
            Node::Made(kind) => Some(kind),
            _ => None,
        }
    }
}

/// Where a jump leads.
#[derive(Clone, Debug)]
pub(super) enum Destination {
    /// A label the user wrote; resolved when all labels are known.
    Label(Name),
    /// The end of the loop with this number.
    Loop(usize),
}

/// What the braces mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BlockKind {
    Plain,
    Atomic,
    DStep,
}

/// A statement, or a point where control flow meets.
#[derive(Clone, Debug)]
pub(super) struct Element<'a> {
    pub node: Node<'a>,
    /// SPIN's number within the proctype.
    pub number: u32,
    /// SPIN's number within the model.
    pub id: u32,
    pub next: Option<ElementId>,
    pub parts: Vec<SequenceId>,
    /// Escapes that interrupt it, outermost first.
    pub escapes: Vec<SequenceId>,
    /// In the middle of an atomic sequence: the process stays in it afterwards.
    pub atomic: bool,
    /// The end of an atomic sequence.
    pub atomic_last: bool,
    /// The `d_step` it is in.
    pub d_step: Option<usize>,
    /// Already entered into the table.
    pub done: bool,
    pub place: Use,
    pub span: Span,
}

/// Elements one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequence {
    pub first: Option<ElementId>,
    /// The last element, the join behind it included.
    pub last: Option<ElementId>,
    /// The last element of its own.
    pub extent: Option<ElementId>,
}

/// A label, where it stands.
#[derive(Clone, Debug)]
pub(super) struct Label {
    pub name: Name,
    pub element: ElementId,
    pub scope: ScopeId,
    pub span: Span,
    pub used: bool,
}

/// The body of a proctype or a claim as elements.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow<'a> {
    pub elements: Vec<Element<'a>>,
    pub sequences: Vec<Sequence>,
    /// In the order in which SPIN defines them.
    pub labels: Vec<Label>,
    /// Ends of loops, by loop number.
    pub loops: Vec<Option<ElementId>>,
    /// The whole body.
    pub top: SequenceId,
    /// Next free number within the body.
    pub count: u32,
}

impl<'a> Flow<'a> {
    pub(super) fn new() -> Flow<'a> {
        Flow { count: 1, ..Flow::default() }
    }

    pub(super) fn open(&mut self) -> SequenceId {
        self.sequences.push(Sequence::default());
        self.sequences.len() - 1
    }

    /// Makes an element without adding it to a sequence.
    pub(super) fn make(&mut self, node: Node<'a>, unique: &mut u32, place: Use, span: Span) -> ElementId {
        self.elements.push(Element {
            node,
            number: self.count,
            id: *unique,
            next: None,
            parts: Vec::new(),
            escapes: Vec::new(),
            atomic: false,
            atomic_last: false,
            d_step: None,
            done: false,
            place,
            span,
        });
        self.count += 1;
        *unique += 1;
        self.elements.len() - 1
    }

    /// Chains an element to the end of a sequence.
    pub(super) fn append(&mut self, element: ElementId, sequence: SequenceId) {
        match self.sequences[sequence].last {
            Some(last) => self.elements[last].next = Some(element),
            None => self.sequences[sequence].first = Some(element),
        }
        self.sequences[sequence].last = Some(element);
    }

    /// Elements from the first of a sequence to `end`, both included.
    pub(super) fn chain(&self, sequence: SequenceId, end: Option<ElementId>) -> Vec<ElementId> {
        let mut found = Vec::new();
        let mut at = self.sequences[sequence].first;
        while let Some(element) = at {
            found.push(element);
            // A chain is never longer than all elements; the bound guards against a cycle in a malformed one.
            if Some(element) == end || found.len() > self.elements.len() {
                break;
            }
            at = self.elements[element].next;
        }
        found
    }

    /// The labels of an element, the one defined last first.
    pub(super) fn labels_of(&self, element: ElementId) -> impl Iterator<Item = &Label> {
        self.labels.iter().rev().filter(move |label| label.element == element)
    }

    /// Where a jump leads, if its label exists.
    pub(super) fn destination(
        &self,
        jump: &Destination,
        from: ScopeId,
        parents: &dyn Fn(ScopeId) -> Option<ScopeId>,
    ) -> Option<ElementId> {
        match jump {
            Destination::Loop(number) => self.loops[*number],
            Destination::Label(name) => self.label(name, from, parents).map(|label| self.labels[label].element),
        }
    }

    /// The label meant by a `goto` in block `from`: in the nearest enclosing block, else the last one anywhere.
    pub(super) fn label(
        &self,
        name: &str,
        from: ScopeId,
        parents: &dyn Fn(ScopeId) -> Option<ScopeId>,
    ) -> Option<usize> {
        let mut scope = Some(from);
        while let Some(at) = scope {
            let found = self.labels.iter().rposition(|label| &*label.name == name && label.scope == at);
            if found.is_some() {
                return found;
            }
            scope = parents(at);
        }
        self.labels.iter().rposition(|label| &*label.name == name)
    }
}

/// Whether a label ends what SPIN looks for: invalid end states, acceptance or non-progress cycles.
pub(super) fn is_special(name: &str) -> bool {
    ["accept", "end", "progress"].iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a node is a plain skip: a condition that is the constant 1.
pub(super) fn is_skip(node: &Node<'_>) -> bool {
    constant(node) == Some(1)
}

/// The value of a condition that is a constant.
pub(super) fn constant(node: &Node<'_>) -> Option<i32> {
    match (node, node.statement()) {
        (Node::Skip, _) => Some(1),
        (_, Some(StmtKind::Expr(Expr { kind: ExprKind::Int(value, _), .. }))) => Some(*value),
        _ => None,
    }
}
