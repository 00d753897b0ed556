//! Which elements are inside atomic sequences, and which can be interrupted by escapes.
//!
//! Which elements a process keeps the processor in. The last statement of a sequence gives it back,
//! so atomicity is a property of edges (`Edge::atomic`), not of states.

use super::element::{BlockKind, ElementId, Flow, Node, SequenceId};

impl Flow<'_> {
    /// Marks a sequence as atomic: all of it but its last step.
    pub(super) fn make_atomic(&mut self, sequence: SequenceId, d_step: bool) {
        self.mark_atomic(sequence, d_step);
        let Some(last) = self.sequences[sequence].last else { return };
        match self.elements[last].node {
            // The last step is that of the inner sequence.
            Node::Block(BlockKind::Plain | BlockKind::Atomic, inner) => self.make_atomic(inner, d_step),
            _ => {
                self.elements[last].atomic = false;
                self.elements[last].atomic_last = true;
            }
        }
    }

    fn mark_atomic(&mut self, sequence: SequenceId, d_step: bool) {
        for element in self.chain(sequence, self.sequences[sequence].last) {
            self.elements[element].atomic = true;
            if let Node::Block(kind, inner) = self.elements[element].node {
                // An atomic sequence inside another one means nothing of its own; nor does a d_step inside a d_step.
                if kind != BlockKind::DStep || d_step {
                    self.elements[element].node = Node::Block(BlockKind::Plain, inner);
                    self.mark_atomic(inner, d_step);
                }
            }
            for part in self.elements[element].parts.clone() {
                self.mark_atomic(part, d_step);
            }
        }
    }

    /// Lets `escape` interrupt every element of `sequence`, inner sequences included.
    pub(super) fn attach_escape(&mut self, sequence: SequenceId, escape: SequenceId) {
        for element in self.chain(sequence, self.sequences[sequence].extent) {
            self.escape_element(element, escape);
        }
    }

    fn escape_element(&mut self, element: ElementId, escape: SequenceId) {
        if self.elements[element].escapes.contains(&escape) {
            return;
        }
        // Inner escapes can be interrupted as well.
        for inner in self.elements[element].escapes.clone() {
            self.attach_escape(inner, escape);
        }
        self.elements[element].escapes.insert(0, escape);
        match self.elements[element].node {
            Node::Unless => self.attach_escape(self.elements[element].parts[0], escape),
            Node::Selection => {
                for part in self.elements[element].parts.clone() {
                    self.attach_escape(part, escape);
                }
            }
            Node::Block(BlockKind::Plain | BlockKind::Atomic, inner) => self.attach_escape(inner, escape),
            // A d_step is interrupted before its first statement only: as one element.
            _ => {}
        }
    }
}
