//! From elements to SPIN's transition tables: what leads from which state to which.
//!
//! States are elements. A basic statement leads from its own element to the element where control goes on; jumps, joins
//! and ends of loops are passed without a step, except where that would leave an atomic sequence.

use super::element::{BlockKind, Destination, ElementId, Flow, Node, SequenceId};
use super::names::ScopeId;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use trace::similar::closest;

/// What leaves a state.
///
/// Indexed by SPIN's number of the element; most elements inside structures are no states and stay
/// `None`.
#[derive(Clone, Debug)]
pub(super) enum Row {
    /// The element is no state.
    None,
    /// A selection or a block: the states of its options' first statements.
    Choice(Vec<u32>),
    /// Statements in the order in which they are tried.
    Steps(Vec<Step>),
}

/// One way out of a state.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub element: ElementId,
    /// Number of the state it leads to; 0 after the end.
    pub target: u32,
    pub atomic: bool,
    /// States of the escapes that interrupt it, outermost first.
    pub escapes: Vec<u32>,
    /// The escape that it comes from; 0 for an ordinary step.
    pub escape: u32,
}

/// The rows of one body, by state number.
pub(super) struct Table<'f, 'a> {
    pub flow: &'f mut Flow<'a>,
    pub rows: Vec<Row>,
    parents: &'f dyn Fn(ScopeId) -> Option<ScopeId>,
    report: &'f mut Vec<Diagnostic>,
    inside_d_step: bool,
}

impl<'f, 'a> Table<'f, 'a> {
    /// Fills the table.
    pub(super) fn build(
        flow: &'f mut Flow<'a>,
        parents: &'f dyn Fn(ScopeId) -> Option<ScopeId>,
        report: &'f mut Vec<Diagnostic>,
    ) -> Table<'f, 'a> {
        let rows = vec![Row::None; flow.count as usize + 1];
        let mut table = Table { flow, rows, parents, report, inside_d_step: false };
        table.tie_loose_ends();
        table.sequence(table.flow.top);
        table
    }

    /// The state in which a process starts.
    pub(super) fn entry(&mut self) -> u32 {
        let first = self.flow.sequences[self.flow.top].first;
        first.map_or(0, |first| {
            let state = self.settle(first, self.flow.elements[first].atomic);
            self.flow.elements[state].number
        })
    }

    /// Lets the last element of a block go on where the block does.
    fn tie_loose_ends(&mut self) {
        for element in (0..self.flow.elements.len()).rev() {
            let (Node::Block(_, inner), Some(mut next)) =
                (&self.flow.elements[element].node, self.flow.elements[element].next)
            else {
                continue;
            };
            while let (Node::Join, Some(after)) = (&self.flow.elements[next].node, self.flow.elements[next].next) {
                next = after;
            }
            if let Some(last) = self.flow.sequences[*inner].last.filter(|&last| self.flow.elements[last].next.is_none())
            {
                self.flow.elements[last].next = Some(next);
            }
        }
    }

    fn sequence(&mut self, sequence: SequenceId) {
        let last = self.flow.sequences[sequence].last;
        let mut at = self.flow.sequences[sequence].first;
        while let Some(element) = at {
            if !self.flow.elements[element].done {
                self.flow.elements[element].done = true;
                self.element(element);
            }
            if at == last {
                break;
            }
            at = self.flow.elements[element].next;
        }
    }

    fn element(&mut self, element: ElementId) {
        match self.flow.elements[element].node {
            Node::Unless => self.sequence(self.flow.elements[element].parts[0]),
            Node::Selection => self.selection(element),
            Node::Block(BlockKind::DStep, inner) => self.d_step(element, inner),
            Node::Block(_, inner) => self.block(element, inner),
            _ => self.basic(element),
        }
    }

    fn set(&mut self, element: ElementId, row: Row) {
        let number = self.flow.elements[element].number as usize;
        if self.rows.len() <= number {
            self.rows.resize(number + 1, Row::None);
        }
        self.rows[number] = row;
    }

    fn selection(&mut self, element: ElementId) {
        let parts = self.flow.elements[element].parts.clone();
        let mut options = Vec::new();
        for &part in &parts {
            let Some(first) = self.flow.sequences[part].first else { continue };
            let start = self.start(first);
            // An option that is the constant 0 can never be taken.
            let dead = super::element::constant(&self.flow.elements[start].node) == Some(0);
            if !dead || !self.flow.elements[start].escapes.is_empty() {
                options.push(self.flow.elements[start].number);
            }
        }
        self.set(element, Row::Choice(options));
        for part in parts {
            self.sequence(part);
        }
    }

    fn block(&mut self, element: ElementId, inner: SequenceId) {
        self.patch_jumps(inner);
        let Some(first) = self.flow.sequences[inner].first else { return };
        let start = self.start(first);
        self.continue_after(inner, element);
        self.set(element, Row::Choice(vec![self.flow.elements[start].number]));
        self.sequence(inner);
    }

    fn continue_after(&mut self, inner: SequenceId, block: ElementId) {
        if let Some(last) = self.flow.sequences[inner].last {
            self.flow.elements[last].next = self.flow.elements[block].next;
        }
    }

    fn d_step(&mut self, element: ElementId, inner: SequenceId) {
        self.patch_jumps(inner);
        self.continue_after(inner, element);
        let target = self.after(element);
        let outer = std::mem::replace(&mut self.inside_d_step, true);
        self.sequence(inner);
        self.inside_d_step = outer;
        self.step(element, target);
    }

    fn basic(&mut self, element: ElementId) {
        let target = match self.flow.elements[element].node.clone() {
            Node::Jump(jump) => match self.jump(element, &jump) {
                Some(to) => {
                    let settled = self.settle(to, self.flow.elements[element].atomic);
                    self.flow.elements[settled].number
                }
                None => 0,
            },
            _ => self.after(element),
        };
        self.step(element, target);
    }

    /// The state that is reached after an element.
    fn after(&mut self, element: ElementId) -> u32 {
        let Element { next, atomic, .. } = self.flow.elements[element];
        next.map_or(0, |next| {
            let settled = self.settle(next, atomic);
            self.flow.elements[settled].number
        })
    }

    fn step(&mut self, element: ElementId, target: u32) {
        let atomic = self.flow.elements[element].atomic;
        let escapes = self.flow.elements[element].escapes.clone();
        let escapes = if self.inside_d_step || matches!(self.flow.elements[element].node, Node::Join) {
            Vec::new()
        } else {
            escapes
        };
        let states = escapes.iter().filter_map(|&escape| {
            let first = self.flow.sequences[escape].first?;
            let settled = self.settle(first, atomic);
            Some(self.flow.elements[settled].number)
        });
        let states: Vec<u32> = states.collect();
        self.set(element, Row::Steps(vec![Step { element, target, atomic, escapes: states, escape: 0 }]));
        for escape in escapes {
            self.sequence(escape);
        }
    }

    /// Where an option or a block really starts.
    fn start(&self, mut at: ElementId) -> ElementId {
        for _ in 0..=self.flow.elements.len() {
            let element = &self.flow.elements[at];
            at = match (&element.node, element.next) {
                (Node::Join, Some(next)) => next,
                (Node::Unless, _) => match self.flow.sequences[element.parts[0]].first {
                    Some(first) => first,
                    None => return at,
                },
                _ => return at,
            };
        }
        at
    }

    /// Passes everything that takes no step. An atomic sequence is only left by a step, so that it ends visibly.
    ///
    /// Bounded by the number of elements: `L: goto L` would go on for ever, and is reported.
    fn settle(&mut self, from: ElementId, atomic: bool) -> ElementId {
        let mut at = from;
        for _ in 0..=self.flow.elements.len() {
            let next = match self.flow.elements[at].node.clone() {
                Node::Jump(jump) => self.jump(at, &jump),
                Node::Join | Node::LoopEnd => self.flow.elements[at].next,
                Node::Unless => {
                    let first = self.flow.sequences[self.flow.elements[at].parts[0]].first;
                    first.map(|first| self.settle(first, atomic))
                }
                _ => None,
            };
            match next {
                Some(next) if !atomic || self.flow.elements[next].atomic => at = next,
                _ => return at,
            }
        }
        let told =
            Diagnostic::error("goto", self.flow.elements[from].span, "an infinite loop of jumps without a statement");
        self.report_once(told);
        from
    }

    /// Where a jump leads; says so if it leads nowhere or through the walls of a `d_step`.
    fn jump(&mut self, from: ElementId, jump: &Destination) -> Option<ElementId> {
        let element = &self.flow.elements[from];
        let (scope, span, inside) = (element.place.scope, element.span, element.d_step);
        if let Destination::Label(name) = jump {
            match self.flow.label(name, scope, self.parents) {
                Some(label) => self.flow.labels[label].used = true,
                None => return self.unknown_label(name, span),
            }
        }
        let to = self.flow.destination(jump, scope, self.parents)?;
        let target = self.flow.elements[to].d_step;
        if inside != target {
            let message = if inside.is_some() { "a jump out of a d_step" } else { "a jump into a d_step" };
            let told = Diagnostic::error("d_step", span, message);
            self.report_once(
                told.note("a d_step is one indivisible statement: it is entered at its start and left at its end"),
            );
        }
        Some(to)
    }

    fn unknown_label(&mut self, name: &str, span: Span) -> Option<ElementId> {
        let mut told = Diagnostic::error("label", span, format!("there is no label `{name}` here"));
        let known: Vec<String> = self.flow.labels.iter().map(|label| label.name.to_string()).collect();
        if let Some(near) = closest(name, known.iter().map(String::as_str)) {
            told = told.help(format!("did you mean `{near}`?"));
        }
        self.report_once(told);
        None
    }

    fn report_once(&mut self, told: Diagnostic) {
        let known = self.report.iter().any(|known| known.span == told.span && known.message == told.message);
        if !known {
            self.report.push(told);
        }
    }

    /// A jump at the end of an atomic sequence that leads into an atomic sequence keeps the process in it; a jump out of
    /// one ends it.
    ///
    /// SPIN's rule for atomicity across jumps: it holds along a jump only if both ends are atomic.
    fn patch_jumps(&mut self, sequence: SequenceId) {
        for element in self.flow.chain(sequence, self.flow.sequences[sequence].extent) {
            if let Node::Jump(jump) = self.flow.elements[element].node.clone() {
                let Some(to) = self.jump(element, &jump) else { continue };
                let inside = self.flow.elements[to].atomic || self.flow.elements[to].atomic_last;
                let from = &mut self.flow.elements[element];
                if (from.atomic || from.atomic_last) && !inside {
                    from.atomic = false;
                    from.atomic_last = true;
                } else if from.atomic_last && inside {
                    from.atomic_last = false;
                    from.atomic = true;
                }
                continue;
            }
            for part in self.flow.elements[element].parts.clone() {
                self.patch_jumps(part);
            }
        }
    }
}

use super::element::Element;
