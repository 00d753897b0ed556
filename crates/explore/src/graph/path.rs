//! The way to a state with the fewest switches between actors, then the fewest steps.

use super::node::Node;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use trace::Choice;

/// Where a way stands: state and who moved last.
type Place = (u32, u32);

/// Nobody moved yet.
const NOBODY: u32 = u32::MAX;

/// Choices that lead from the start to `goal`.
pub fn fewest_switches<S>(nodes: &[Node<S>], goal: u32) -> Vec<Choice> {
    let mut best: HashMap<Place, (u32, u32)> = HashMap::from([((0, NOBODY), (0, 0))]);
    let mut came: HashMap<Place, (Place, Choice)> = HashMap::new();
    let mut open = BinaryHeap::from([Reverse(((0, 0), (0, NOBODY)))]);
    while let Some(Reverse((cost, place))) = open.pop() {
        if place.0 == goal {
            return walk_back(&came, place);
        }
        if best[&place] < cost {
            continue;
        }
        for edge in &nodes[place.0 as usize].edges {
            let switches = u32::from(place.1 != NOBODY && place.1 != edge.actor);
            let next = (edge.to, edge.actor);
            let cost = (cost.0 + switches, cost.1 + 1);
            if best.get(&next).is_none_or(|known| cost < *known) {
                best.insert(next, cost);
                came.insert(next, (place, edge.choice));
                open.push(Reverse((cost, next)));
            }
        }
    }
    Vec::new()
}

fn walk_back(came: &HashMap<Place, (Place, Choice)>, mut place: Place) -> Vec<Choice> {
    let mut choices = Vec::new();
    while let Some((before, choice)) = came.get(&place) {
        choices.push(*choice);
        place = *before;
    }
    choices.reverse();
    choices
}

/// One state of each cycle that consists of partly expanded states only.
pub fn cycles<S>(nodes: &[Node<S>]) -> Vec<u32> {
    let mut tarjan = Tarjan::new(nodes);
    for node in 0..nodes.len() as u32 {
        if nodes[node as usize].is_partial() && tarjan.index[node as usize] == 0 {
            tarjan.visit(node);
        }
    }
    tarjan.found
}

/// Strongly connected components, without recursion: ways are long.
struct Tarjan<'a, S> {
    nodes: &'a [Node<S>],
    index: Vec<u32>,
    low: Vec<u32>,
    next: u32,
    stack: Vec<u32>,
    on_stack: Vec<bool>,
    found: Vec<u32>,
}

impl<'a, S> Tarjan<'a, S> {
    fn new(nodes: &'a [Node<S>]) -> Self {
        Self {
            nodes,
            index: vec![0; nodes.len()],
            low: vec![0; nodes.len()],
            next: 1,
            stack: Vec::new(),
            on_stack: vec![false; nodes.len()],
            found: Vec::new(),
        }
    }

    fn enter(&mut self, node: u32) {
        self.index[node as usize] = self.next;
        self.low[node as usize] = self.next;
        self.next += 1;
        self.stack.push(node);
        self.on_stack[node as usize] = true;
    }

    fn visit(&mut self, root: u32) {
        let mut way = vec![(root, 0)];
        self.enter(root);
        while let Some((node, edge)) = way.last_mut() {
            let node = *node;
            let Some(next) = self.nodes[node as usize].edges.get(*edge).map(|edge| edge.to) else {
                way.pop();
                if let Some((before, _)) = way.last() {
                    let low = self.low[node as usize];
                    self.low[*before as usize] = self.low[*before as usize].min(low);
                }
                self.leave(node);
                continue;
            };
            *edge += 1;
            if !self.nodes[next as usize].is_partial() {
                continue;
            }
            if self.index[next as usize] == 0 {
                self.enter(next);
                way.push((next, 0));
            } else if self.on_stack[next as usize] {
                self.low[node as usize] = self.low[node as usize].min(self.index[next as usize]);
            }
        }
    }

    fn leave(&mut self, node: u32) {
        if self.low[node as usize] != self.index[node as usize] {
            return;
        }
        let place = self.stack.iter().rposition(|member| *member == node).expect("its root is on the stack");
        let component = self.stack.split_off(place);
        component.iter().for_each(|member| self.on_stack[*member as usize] = false);
        let loops = |member: &u32| self.nodes[*member as usize].edges.iter().any(|edge| edge.to == *member);
        if component.len() > 1 || component.iter().any(loops) {
            self.found.push(node);
        }
    }
}
