//! Feedback vertex sets: control states that close cycles.
//!
//! Condition C3 of partial-order reduction (Clarke, Grumberg and Peled, *Model Checking*, chapter
//! on partial order reduction): on every cycle of states somebody must be expanded fully, or a
//! process could be put off for ever. A cycle of states contains a cycle of control of every
//! process in it; so it is enough to mark, in each control graph, a set of vertices that meets all
//! cycles, and never to take a step from a marked vertex alone.
//!
//! A *minimum* feedback vertex set is NP-hard (Karp 1972); any will do, a smaller one reduces more.
//! Greedy: cut the cheapest vertex of each strongly connected component, again and again.

/// Rounds after which whatever is left on a cycle is cut: control graphs are seldom nested deeper.
const ROUNDS_MAX: usize = 64;

/// A choice of vertices such that every cycle of the graph leads through one of them: cheap ones first, and among
/// equally cheap ones those with the most edges, which lie on the most cycles.
///
/// O(rounds * edges). After [`ROUNDS_MAX`] rounds everything that is left on cycles is cut, which
/// is right and reduces less.
pub fn cut(successors: &[Vec<usize>], cost: impl Fn(usize) -> u32) -> Vec<bool> {
    let mut is_cut = vec![false; successors.len()];
    for round in 0..=ROUNDS_MAX {
        let loops = components(successors, &is_cut);
        if loops.is_empty() {
            break;
        }
        for vertices in loops {
            let edges = |vertex: usize| successors[vertex].iter().filter(|next| vertices.contains(next)).count();
            let best = vertices.iter().min_by_key(|vertex| (cost(**vertex), usize::MAX - edges(**vertex), **vertex));
            let all = vertices.iter().filter(|_| round == ROUNDS_MAX);
            best.into_iter().chain(all).for_each(|vertex| is_cut[*vertex] = true);
        }
    }
    is_cut
}

/// The strongly connected components of what is not cut, without single vertices that have no edge to themselves.
fn components(successors: &[Vec<usize>], is_cut: &[bool]) -> Vec<Vec<usize>> {
    let mut search = Search { order: vec![0; successors.len()], next: 1, open: Vec::new(), found: Vec::new() };
    let kept = |vertex: &usize| !is_cut[*vertex];
    let edges = |vertex: usize| successors[vertex].iter().copied().filter(kept).collect();
    for root in (0..successors.len()).filter(kept) {
        if search.order[root] == 0 {
            search.run(root, &edges);
        }
    }
    search.found.retain(|vertices| vertices.len() > 1 || successors[vertices[0]].contains(&vertices[0]));
    search.found
}

/// Marks vertices of finished components.
const DONE: u32 = u32::MAX;

/// Tarjan's algorithm with its own stack.
struct Search {
    /// When a vertex was reached, from 1; 0 if it was not.
    order: Vec<u32>,
    next: u32,
    /// Vertices whose component is not complete yet.
    open: Vec<usize>,
    found: Vec<Vec<usize>>,
}

/// A vertex on the search path: its edges that are left, and the earliest vertex known to be reachable from it.
struct Frame {
    vertex: usize,
    left: Vec<usize>,
    low: u32,
}

impl Search {
    fn run(&mut self, root: usize, edges: &impl Fn(usize) -> Vec<usize>) {
        let mut path = vec![self.enter(root, edges)];
        while let Some(frame) = path.last_mut() {
            match frame.left.pop() {
                Some(next) if self.order[next] == 0 => path.push(self.enter(next, edges)),
                Some(next) if self.order[next] != DONE => frame.low = frame.low.min(self.order[next]),
                Some(_) => {}
                None => {
                    let Frame { vertex, low, .. } = path.pop().expect("the frame at hand");
                    self.leave(vertex, low);
                    if let Some(parent) = path.last_mut() {
                        parent.low = parent.low.min(low);
                    }
                }
            }
        }
    }

    fn enter(&mut self, vertex: usize, edges: &impl Fn(usize) -> Vec<usize>) -> Frame {
        self.order[vertex] = self.next;
        self.next += 1;
        self.open.push(vertex);
        Frame { vertex, left: edges(vertex), low: self.order[vertex] }
    }

    fn leave(&mut self, vertex: usize, low: u32) {
        if low != self.order[vertex] {
            return;
        }
        let start = self.open.iter().rposition(|open| *open == vertex).expect("it is open until it is left");
        let component = self.open.split_off(start);
        component.iter().for_each(|vertex| self.order[*vertex] = DONE);
        self.found.push(component);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cycle_is_cut_where_it_costs_least() {
        // A loop of four with a shortcut, and a vertex with an edge to itself behind it.
        let graph = [vec![1], vec![2, 0], vec![3], vec![0, 4], vec![4]];
        let cheap = |free: usize| move |vertex: usize| u32::from(vertex != free);
        assert_eq!(cut(&graph, cheap(0)), [true, false, false, false, true]);
        assert_eq!(cut(&graph, cheap(1)), [false, true, false, false, true]);
        // What is cheap does not cut both loops, so a second one is needed: either of two that cost the same.
        let both = cut(&graph, cheap(2));
        assert!(both[2] && both[4] && !both[3] && both[0] != both[1], "{both:?}");
    }

    #[test]
    fn what_has_no_cycle_is_not_cut() {
        assert_eq!(cut(&[vec![1, 2], vec![2], vec![]], |_| 0), [false; 3]);
    }
}
