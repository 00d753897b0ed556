//! How a vector is cut into leaves, and which leaves are paired.

use super::batch::salt;
use super::sample::Sample;

/// Longer ranges are cut in the middle: trying every cut would take longer than it saves.
///
/// Choosing cuts is O(words^2 * sample) for each range.
const WORDS_TRIED: usize = 32;

/// A subtree. Children come before their parents, the root comes last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node {
    /// Some words of the vector.
    Leaf {
        /// The first.
        start: usize,
        /// One after the last.
        end: usize,
    },
    /// Two subtrees.
    Pair {
        /// Position of the left one among the nodes.
        left: usize,
        /// Position of the right one.
        right: usize,
        /// The table that interns these pairs.
        table: usize,
    },
}

/// A leaf.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeafPlace {
    /// Its position among the nodes.
    pub node: usize,
    /// Its first word.
    pub start: usize,
    /// One after its last word.
    pub end: usize,
    /// See [`super::batch::mix`].
    pub salt: u64,
}

/// A pair below the root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inner {
    /// Its position among the nodes.
    pub node: usize,
    /// Position of its left subtree.
    pub left: usize,
    /// Position of its right one.
    pub right: usize,
    /// The table that interns it.
    pub table: usize,
}

/// The shape of all trees of a store.
///
/// Where a vector is cut decides what the store costs. Cut so that one half follows from the other, and there are as
/// many left halves as there are states; cut between things that move independently, and there are few of either. So
/// the cuts are chosen from a sample of vectors.
///
/// Example: two processes, each a word for its control state and one for its counter. Cut in the
/// middle (process 1 | process 2), n states of each give n + n halves and up to n^2 pairs, 8 bytes
/// a state. Cut across (both control states | both counters), halves are correlated, and there may
/// be n^2 of each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The subtrees.
    pub nodes: Vec<Node>,
    /// The leaves among them.
    pub leaves: Vec<LeafPlace>,
    /// The pairs among them but the root, children before their parents.
    pub inner: Vec<Inner>,
    /// For each node, its position among the leaves if it is one.
    pub ordinals: Vec<usize>,
    /// Words of a vector.
    pub words: usize,
    /// Words of the widest leaf.
    leaf: usize,
}

impl Plan {
    /// A plan for vectors like those of the sample, with leaves of at most `leaf` words. Inner pairs get table 0, the pair at
    /// the root table 1.
    pub fn new(sample: &Sample, leaf: usize) -> Self {
        let words = sample.words().max(2);
        let mut plan =
            Self { nodes: Vec::new(), leaves: Vec::new(), inner: Vec::new(), ordinals: Vec::new(), words, leaf };
        let cut = plan.best_cut(sample, 0, words);
        plan.add_pair(sample, 0, cut, words, 1);
        plan.sort();
        plan
    }

    /// The plan with these nodes and leaves of at most `leaf` words; `None` if they are no tree, as a file may have it.
    ///
    /// Nodes come in the order in which [`Plan::new`] and [`Plan::widen`] make them: each pair right after its right half.
    pub fn of(nodes: Vec<Node>, leaf: usize) -> Option<Self> {
        let (mut open, mut words) = (Vec::new(), 0);
        for (at, node) in nodes.iter().enumerate() {
            let fits = match *node {
                Node::Leaf { start, end } => {
                    start == std::mem::replace(&mut words, end) && end > start && end - start <= leaf
                }
                Node::Pair { left, right, .. } => (open.pop(), open.pop()) == (Some(right), Some(left)),
            };
            if !fits {
                return None;
            }
            open.push(at);
        }
        if open.len() != 1 || !matches!(nodes.last(), Some(Node::Pair { .. })) {
            return None;
        }
        let (leaves, inner, ordinals) = (Vec::new(), Vec::new(), Vec::new());
        let mut plan = Self { nodes, leaves, inner, ordinals, words, leaf };
        plan.sort();
        Some(plan)
    }

    /// The same with room for as many words again, or for `words` if that is more; the root's pairs get `table`.
    pub fn widen(&mut self, words: usize, table: usize) {
        let (left, start) = (self.nodes.len() - 1, self.words);
        self.words = words.max(2 * start);
        let right = self.add(&Sample::default(), start, self.words);
        self.nodes.push(Node::Pair { left, right, table });
        self.sort();
    }

    /// Sorts the nodes into leaves and inner pairs.
    fn sort(&mut self) {
        self.leaves.clear();
        self.inner.clear();
        self.ordinals.clear();
        for (node, kind) in self.nodes[..self.root()].iter().enumerate() {
            self.ordinals.push(self.leaves.len());
            match *kind {
                Node::Leaf { start, end } => self.leaves.push(LeafPlace { node, start, end, salt: salt(start) }),
                Node::Pair { left, right, table } => self.inner.push(Inner { node, left, right, table }),
            }
        }
    }

    /// The two subtrees of the root of a plan whose root was, or is, at this position.
    #[inline]
    pub fn halves(&self, root: usize) -> (usize, usize) {
        let Node::Pair { left, right, .. } = self.nodes[root] else { unreachable!("the root is a pair") };
        (left, right)
    }

    /// Position of the root.
    #[inline]
    pub fn root(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Adds the subtree of a range of words and gives its position.
    fn add(&mut self, sample: &Sample, start: usize, end: usize) -> usize {
        if end - start > self.leaf {
            let cut = self.best_cut(sample, start, end);
            return self.add_pair(sample, start, cut, end, 0);
        }
        self.nodes.push(Node::Leaf { start, end });
        self.root()
    }

    fn add_pair(&mut self, sample: &Sample, start: usize, cut: usize, end: usize, table: usize) -> usize {
        let left = self.add(sample, start, cut);
        let right = self.add(sample, cut, end);
        self.nodes.push(Node::Pair { left, right, table });
        self.root()
    }

    /// The cut with the fewest leaves that leaves the fewest different halves.
    fn best_cut(&self, sample: &Sample, start: usize, end: usize) -> usize {
        let middle = usize::midpoint(start, end);
        if sample.is_empty() || end - start > WORDS_TRIED {
            return middle;
        }
        let cost = |cut: usize| {
            let leaves = (cut - start).div_ceil(self.leaf) + (end - cut).div_ceil(self.leaf);
            // Another leaf makes every step slower, so it must save something.
            let halves = sample.variety(start, cut) + sample.variety(cut, end);
            (halves * leaves as f64, cut.abs_diff(middle))
        };
        let by_cost = |a: &usize, b: &usize| cost(*a).partial_cmp(&cost(*b)).expect("costs are numbers");
        (start + 1..end).min_by(by_cost).unwrap_or(middle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_sample_ranges_are_halved() {
        let plan = Plan::new(&Sample::of_length(40), 4);
        let nodes = [
            Node::Leaf { start: 0, end: 2 },
            Node::Leaf { start: 2, end: 5 },
            Node::Pair { left: 0, right: 1, table: 1 },
        ];
        assert_eq!(plan.nodes, nodes);
    }

    #[test]
    fn the_cut_goes_between_what_moves_independently() {
        let mut sample = Sample::of_length(40);
        for state in 0..400_u64 {
            let (a, b) = (state % 20, state / 20);
            sample.add(&[a, a + 1, a + 7, a * 2, b + 1].map(u64::to_le_bytes).concat());
        }
        assert_eq!(Plan::new(&sample, 4).nodes[0], Node::Leaf { start: 0, end: 4 });
    }

    #[test]
    fn a_plan_is_known_by_its_nodes_and_nothing_else_is_one() {
        let mut plan = Plan::new(&Sample::of_length(200), 4);
        plan.widen(3, 2);
        assert_eq!(Plan::of(plan.nodes.clone(), 4), Some(plan.clone()));
        for at in 0..plan.nodes.len() {
            let mut less = plan.nodes.clone();
            less.remove(at);
            assert_eq!(Plan::of(less, 4), None, "{at}");
        }
        assert_eq!(Plan::of(vec![Node::Leaf { start: 0, end: 2 }], 4), None);
        assert_eq!(Plan::of(plan.nodes, 1), None, "leaves are too wide");
    }

    #[test]
    fn a_wider_plan_keeps_the_old_one_as_its_left_half() {
        let mut plan = Plan::new(&Sample::of_length(16), 4);
        let old = plan.clone();
        plan.widen(3, 2);
        assert_eq!(plan.nodes[..3], old.nodes);
        assert_eq!(plan.nodes[3..], [Node::Leaf { start: 2, end: 4 }, Node::Pair { left: 2, right: 3, table: 2 }]);
    }
}
