//! Strongly connected components of small graphs given by a successor function.

/// The components of the reachable part of a graph.
#[derive(Clone, Debug)]
pub(crate) struct Components {
    /// Number of components. A component's successors have smaller numbers.
    pub count: usize,
    /// The component of each vertex; `None` if it is not reachable.
    pub of: Vec<Option<usize>>,
}

impl Components {
    /// The component that both vertices are in, if they are in one.
    pub(crate) fn shared(&self, a: usize, b: usize) -> Option<usize> {
        self.of[a].filter(|component| self.of[b] == Some(*component))
    }
}

/// Tarjan's algorithm with its own stack: automata of ten thousand states must not exhaust ours.
pub(crate) fn components(
    vertices: usize,
    roots: &[usize],
    successors: impl Fn(usize, &mut dyn FnMut(usize)),
) -> Components {
    let mut search = Search { order: vec![0; vertices], low: vec![0; vertices], next: 1, open: Vec::new() };
    let mut found = Components { count: 0, of: vec![None; vertices] };
    for root in roots {
        if search.order[*root] == 0 {
            search.run(*root, &successors, &mut found);
        }
    }
    found
}

struct Search {
    /// When a vertex was first met, from 1; 0 if it was not.
    order: Vec<u32>,
    low: Vec<u32>,
    next: u32,
    /// Vertices whose component is not complete yet.
    open: Vec<usize>,
}

impl Search {
    fn run(&mut self, root: usize, successors: &impl Fn(usize, &mut dyn FnMut(usize)), found: &mut Components) {
        let mut path = vec![(root, self.enter(root, successors))];
        while let Some((vertex, pending)) = path.last_mut() {
            let vertex = *vertex;
            match pending.pop() {
                Some(next) if self.order[next] == 0 => path.push((next, self.enter(next, successors))),
                Some(next) if found.of[next].is_none() => self.low[vertex] = self.low[vertex].min(self.order[next]),
                Some(_) => {}
                None => {
                    path.pop();
                    self.leave(vertex, path.last().map(|(parent, _)| *parent), found);
                }
            }
        }
    }

    /// Numbers a new vertex and returns its successors.
    fn enter(&mut self, vertex: usize, successors: &impl Fn(usize, &mut dyn FnMut(usize))) -> Vec<usize> {
        self.order[vertex] = self.next;
        self.low[vertex] = self.next;
        self.next += 1;
        self.open.push(vertex);
        let mut pending = Vec::new();
        successors(vertex, &mut |next| pending.push(next));
        pending
    }

    /// Closes the component of a vertex whose low link is its own number, else hands the low link to the parent.
    fn leave(&mut self, vertex: usize, parent: Option<usize>, found: &mut Components) {
        if self.low[vertex] == self.order[vertex] {
            while let Some(member) = self.open.pop() {
                found.of[member] = Some(found.count);
                if member == vertex {
                    break;
                }
            }
            found.count += 1;
        }
        if let Some(parent) = parent {
            self.low[parent] = self.low[parent].min(self.low[vertex]);
        }
    }
}
