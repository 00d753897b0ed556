//! A tree store on its way to a journal and back.

use super::super::plan::{Node, Plan};
use super::super::table::{PairTable, Table};
use super::{Tree, ZEROS};
use crate::journal::{Broken, Reader, Writer};
use crate::store::LeftOut;
use std::io;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// In a file: what follows is a leaf, a pair.
const LEAF: u32 = 0;
const PAIR: u32 = 1;

impl<const L: usize> Tree<L> {
    /// Writes the plan and all tables. Leaves and pairs of states that are left out stay: they are nobody's state, and cost a few
    /// bytes.
    pub(super) fn write_all(&self, to: &mut Writer<'_>, left_out: &LeftOut) -> io::Result<()> {
        to.u32(self.longest.load(Relaxed))?;
        write_nodes(to, &self.plan.nodes)?;
        self.leaves.write(to, &LeftOut::Nothing)?;
        to.u64(self.pairs.len() as u64)?;
        self.pairs.iter().try_for_each(|table| table.write(to, &LeftOut::Nothing))?;
        self.top.write(to, left_out)
    }

    /// A store that was written.
    pub(super) fn read_all(from: &mut Reader, workers: usize) -> Result<Self, Broken> {
        let longest = from.u32()?;
        let nodes = nodes(from)?;
        let plan = Plan::of(nodes, L).ok_or(Broken::Contradictory("no tree has this shape"))?;
        let leaves = Table::read(from, workers)?;
        let count = from.count(12)?;
        let pairs = (0..count).map(|_| PairTable::read(from, workers)).collect::<Result<Vec<_>, _>>()?;
        let top = PairTable::read(from, workers)?;
        let tree = Self { plan, leaves, pairs, top, longest: AtomicU32::new(longest) };
        if longest as usize > tree.plan.words * 8 || !longest.is_multiple_of(8) || !tree.is_sound() {
            return Err(Broken::Contradictory("its states are none"));
        }
        Ok(tree)
    }

    /// Whether every pair has its table, and whatever a pair refers to can be looked up.
    fn is_sound(&self) -> bool {
        let Node::Pair { table: root, .. } = self.plan.nodes[self.plan.root()] else { return false };
        let tables = || self.pairs.iter().chain([&self.top]);
        let room = tables().map(PairTable::room).chain([self.leaves.room()]).min().unwrap_or(0);
        let refers = |pair: u64| pair == ZEROS || pair >> 32 < room && u64::from(pair as u32) < room;
        root == self.last()
            && self.plan.inner.iter().all(|inner| inner.table < self.last())
            && tables().all(|table| (0..table.references_end()).all(|reference| refers(table.get(reference)[0])))
    }
}

fn write_nodes(to: &mut Writer<'_>, nodes: &[Node]) -> io::Result<()> {
    to.u64(nodes.len() as u64)?;
    for node in nodes {
        let numbers = match *node {
            Node::Leaf { start, end } => [LEAF, start as u32, end as u32, 0],
            Node::Pair { left, right, table } => [PAIR, left as u32, right as u32, table as u32],
        };
        numbers.into_iter().try_for_each(|number| to.u32(number))?;
    }
    Ok(())
}

fn nodes(from: &mut Reader) -> Result<Vec<Node>, Broken> {
    let count = from.count(16)?;
    let node = |_| {
        let kind = from.u32()?;
        let (one, other, table) = (from.u32()? as usize, from.u32()? as usize, from.u32()? as usize);
        match kind {
            LEAF => Ok(Node::Leaf { start: one, end: other }),
            PAIR => Ok(Node::Pair { left: one, right: other, table }),
            _ => Err(Broken::Contradictory("neither leaf nor pair")),
        }
    };
    (0..count).map(node).collect()
}
