//! Whether a monitor accepts a given run: confirms a lasso independently of the search that found it.

use super::Monitor;

/// A place on the run and a state of the monitor.
type Node = usize;

impl Monitor {
    /// Whether the monitor accepts the run whose states have these valuations.
    ///
    /// With `cycle_start` the run goes on for ever: after the last valuation it continues at that one. Without, only
    /// entering a violating state counts.
    #[must_use]
    pub fn accepts(&self, valuations: &[u64], cycle_start: Option<usize>) -> bool {
        let word = Word { monitor: self, valuations, cycle_start };
        let reached = word.reachable();
        let violates = |node: &Node| self.states[word.state(*node) as usize].violates;
        reached.iter().any(violates) || word.has_accepting_cycle(&reached)
    }
}

struct Word<'a> {
    monitor: &'a Monitor,
    valuations: &'a [u64],
    cycle_start: Option<usize>,
}

impl Word<'_> {
    fn node(&self, place: usize, state: u32) -> Node {
        place * self.monitor.states.len() + state as usize
    }

    fn state(&self, node: Node) -> u32 {
        (node % self.monitor.states.len()) as u32
    }

    /// Successors of a node, and the marks of the edges to them.
    fn next(&self, node: Node) -> impl Iterator<Item = (Node, u64)> + '_ {
        let place = node / self.monitor.states.len();
        let valuation = self.valuations.get(place).copied();
        let after = if place + 1 < self.valuations.len() { Some(place + 1) } else { self.cycle_start };
        // Past the end of a finite run the monitor has no edges.
        let after = after.unwrap_or(self.valuations.len());
        let edges = self.monitor.states[self.state(node) as usize].edges.iter();
        edges
            .filter(move |edge| valuation.is_some_and(|valuation| edge.admits(valuation)))
            .map(move |edge| (self.node(after, edge.to), edge.marks))
    }

    fn reachable(&self) -> Vec<Node> {
        let mut seen = vec![false; self.node(self.valuations.len() + 1, 0)];
        let mut open = vec![self.node(0, self.monitor.initial)];
        let mut found = Vec::new();
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                found.push(node);
                open.extend(self.next(node).map(|(next, _)| next));
            }
        }
        found
    }

    /// Whether some strongly connected component of the reachable nodes has all marks.
    fn has_accepting_cycle(&self, reached: &[Node]) -> bool {
        let Some(start) = self.cycle_start else { return false };
        let on_cycle: Vec<Node> = reached.iter().copied().filter(|node| *node >= self.node(start, 0)).collect();
        self.components(&on_cycle).into_iter().any(|component| {
            let inside = |node: Node| component.binary_search(&node).is_ok();
            let edges = component.iter().flat_map(|node| self.next(*node)).filter(|(next, _)| inside(*next));
            let (count, marks) = edges.fold((0, 0), |(count, all), (_, marks)| (count + 1, all | marks));
            count > 0 && marks & self.monitor.all_marks() == self.monitor.all_marks()
        })
    }

    /// Strongly connected components by two depth-first passes (Kosaraju).
    fn components(&self, nodes: &[Node]) -> Vec<Vec<Node>> {
        let size = self.node(self.valuations.len() + 1, 0);
        let (mut before, mut forward) = (vec![Vec::new(); size], vec![Vec::new(); size]);
        for &node in nodes {
            forward[node] = self.next(node).map(|(next, _)| next).collect();
            forward[node].iter().for_each(|next| before[*next].push(node));
        }
        let mut done = vec![false; size];
        let mut order = Vec::new();
        for &node in nodes {
            order.extend(finished(node, &forward, &mut done));
        }
        let mut done = vec![false; size];
        order
            .iter()
            .rev()
            .map(|node| finished(*node, &before, &mut done))
            .filter(|part| !part.is_empty())
            .map(sorted)
            .collect()
    }
}

/// Nodes found from `root`, each after everything found from it.
fn finished(root: Node, edges: &[Vec<Node>], done: &mut [bool]) -> Vec<Node> {
    let mut order = Vec::new();
    let mut open = vec![(root, false)];
    while let Some((node, left)) = open.pop() {
        if left {
            order.push(node);
        } else if !std::mem::replace(&mut done[node], true) {
            open.push((node, true));
            open.extend(edges[node].iter().map(|next| (*next, false)));
        }
    }
    order
}

fn sorted(mut nodes: Vec<Node>) -> Vec<Node> {
    nodes.sort_unstable();
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recurrence_is_judged_on_the_cycle_alone() {
        let again = Monitor::again_and_again(0);
        assert!(again.accepts(&[0, 1, 0], Some(1)));
        assert!(!again.accepts(&[1, 0, 0], Some(1)));
        assert!(!again.accepts(&[1, 1, 1], None), "a finite run is no cycle");
    }

    #[test]
    fn absence_from_some_point_on_needs_the_whole_cycle() {
        let never_again = Monitor::never_again(0);
        assert!(never_again.accepts(&[1, 0, 0], Some(1)));
        assert!(!never_again.accepts(&[0, 0, 1], Some(1)));
    }

    #[test]
    fn a_bad_prefix_counts_with_its_last_state() {
        let mut invariant = Monitor::fails_once(0);
        invariant.acceptance_sets = 1;
        assert!(invariant.accepts(&[1, 1, 0], None));
        assert!(!invariant.accepts(&[1, 1, 1], None));
    }
}
