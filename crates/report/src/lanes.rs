//! The lane table: one column for each actor, time downwards, messages between lanes, only what changed.
//!
//! A message sequence chart turned into text: processes are columns, as in Promela's tradition
//! (`spin -c`, XSPIN), and not indentation, because a switch between two threads is what the reader
//! looks for.
//!
//! ```text
//!   step | main    | T1      | changed
//!      1 | lock m  |         |
//! !    2 |         | lock n  |
//! !    3 | x = 1   |         | x: 0 -> 1
//! ```
//! `!` marks a context switch. The layout is made in two passes: all cells first, to know how wide
//! they want to be, then the widths, then the text; nothing is drawn that has to be moved.

use crate::events::event_text;
use crate::fit::{clean, cut, cut_name, pad, width};
use crate::fold::{Part, folded, is_fault, quiet_run, unfolded};
use crate::table::share;
use crate::{Detail, Layout, Paint, Role, Signs};
use std::fmt::Write as _;
use trace::{Direction, Event, Trace};

/// The narrowest lane in which a statement can still be read; below that, everyone shares one.
const LANE_MIN: usize = 16;
/// Of so many cells one may be cut off before everyone shares one lane.
const CUT_MAX: usize = 6;
/// The narrowest column of the shared lane, where there is nothing else to give way to.
const COLUMN_MIN: usize = 9;
/// The widest share of "changed".
const CHANGED_MAX: usize = 48;

/// Draws the steps of a trace. Falls back to one lane for all where lanes would get too narrow to read.
pub(crate) fn lanes(trace: &Trace, layout: &Layout) -> String {
    let parts = if layout.detail == Detail::Full { unfolded(trace) } else { folded(trace) };
    let mut table = Table::new(trace, &parts, *layout);
    if let Some(widths) = fit(&table.natural(), table.room(), LANE_MIN).filter(|widths| table.is_readable(widths)) {
        return table.draw(&widths);
    }
    table.one_lane();
    let natural = table.natural();
    let widths = fit(&natural, table.room(), COLUMN_MIN);
    table.draw(&widths.unwrap_or_else(|| vec![COLUMN_MIN; natural.len()]))
}

/// Lanes give way before "changed", which is what people look for, unless that takes more than a third.
///
/// `None` if not even the narrowest lanes fit.
fn fit(natural: &[usize], room: usize, least: usize) -> Option<Vec<usize>> {
    let (changed, lanes) = natural.split_last()?;
    let left = room.saturating_sub(lanes.iter().sum());
    let changed = (*changed).min(left.max(room / 3));
    let mut widths = share(lanes, room.saturating_sub(changed), least)?;
    widths.push(changed);
    Some(widths)
}

/// One line below the head.
///
/// **Invariant:** lines are in the order of the trace, so two rows of one step stay together.
enum Line {
    Step(Row),
    /// What happens to everybody, across all columns.
    Fault {
        head: Head,
        text: String,
    },
    /// A remark across all columns.
    Remark {
        text: String,
        in_cycle: bool,
    },
}

/// What stands before the columns.
///
/// **Invariant:** `number` counts from 1, as the notes of a counterexample do, over all steps of
/// the trace, shown or not.
struct Head {
    /// The step's number, on its first row.
    number: Option<usize>,
    switch: bool,
    in_cycle: bool,
}

/// An event, or a rendezvous of two.
struct Row {
    head: Head,
    /// The lane that a message leaves and the lane it reaches, if both are known.
    arrow: Option<(usize, usize)>,
    cells: Vec<(usize, Cell)>,
    changed: String,
}

/// What stands in a lane.
struct Cell {
    text: String,
    place: String,
    /// Which way an asynchronous message goes.
    message: Option<Direction>,
}

/// The table while it is made: rows are complete before a width is known, because lanes get as much room as they need.
struct Table {
    layout: Layout,
    actors: Vec<u32>,
    heads: Vec<String>,
    lines: Vec<Line>,
    digits: usize,
    has_cycle: bool,
}

impl Table {
    /// Everybody who appears has a lane, in the order of their numbers; "changed" is the last column.
    fn new(trace: &Trace, parts: &[Part], layout: Layout) -> Self {
        let actors = actors(trace, parts);
        let mut heads: Vec<String> = actors.iter().map(|&actor| head(trace, actor)).collect();
        heads.push("changed".to_owned());
        let digits = trace.steps.len().to_string().len().max(4);
        let has_cycle = trace.cycle_start.is_some_and(|start| start < trace.steps.len());
        let mut table = Self { layout, actors, heads, lines: Vec::new(), digits, has_cycle };
        table.fill(trace, parts);
        table
    }

    /// A row for each event of each part, and a remark for what is left out.
    fn fill(&mut self, trace: &Trace, parts: &[Part]) {
        let mut last = None;
        let mut next = 0;
        for part in parts {
            let in_cycle = self.has_cycle && trace.cycle_start.is_some_and(|start| next >= start);
            match *part {
                Part::Step(index) => {
                    self.step(trace, index, &mut last);
                    next = index + 1;
                }
                Part::Local(count) => self.left_out(count, "local steps folded", in_cycle),
                Part::Middle(count) => self.left_out(count, "steps left out", in_cycle),
            }
        }
        self.ending(trace);
    }

    /// A line that belongs to no step.
    fn remark(&mut self, text: &str) {
        self.lines.push(Line::Remark { text: text.to_owned(), in_cycle: false });
    }

    /// Says how much is not shown, and how to see it: nothing vanishes silently.
    fn left_out(&mut self, count: usize, what: &str, in_cycle: bool) {
        let text = match count {
            1 => format!(
                "... 1 {} (-v shows it)",
                what.replacen("steps", "step", 1).replacen("statements", "statement", 1)
            ),
            _ => format!("... {count} {what} (-v shows them)"),
        };
        self.lines.push(Line::Remark { text, in_cycle });
    }

    /// A lasso says where it goes back to.
    fn ending(&mut self, trace: &Trace) {
        match trace.cycle_start {
            Some(start) if start == trace.steps.len() => {
                self.remark("<<<<< the run ends here; the last state is repeated for ever");
            }
            Some(start) => self.remark(&format!("<<<<< end of cycle, back to step {}", start + 1)),
            None => {}
        }
    }

    /// A step may have several events (an atomic sequence, both sides of a rendezvous); only its
    /// first row has the number. A step in which nothing would be shown still shows its first
    /// event: a number must not vanish.
    fn step(&mut self, trace: &Trace, index: usize, last: &mut Option<u32>) {
        if self.has_cycle && trace.cycle_start == Some(index) {
            self.remark("<<<<< start of cycle: what follows is repeated for ever");
        }
        let in_cycle = trace.cycle_start.is_some_and(|start| index >= start);
        let events = &trace.steps[index].events;
        let first = events.iter().position(|event| self.is_shown(event)).unwrap_or(0);
        let mut at = first;
        while at < events.len() {
            if !self.is_shown(&events[at]) && at > first {
                at += 1;
                continue;
            }
            let folded = if self.layout.detail == Detail::Full { 0 } else { quiet_run(events, at) };
            if folded > 0 {
                self.left_out(folded, "statements folded", in_cycle && self.has_cycle);
                at += folded;
                continue;
            }
            let pair = events.get(at + 1).filter(|next| is_rendezvous(&events[at], next));
            let switch = at == first && last.is_some_and(|last| last != trace.steps[index].choice.actor);
            let head = Head { number: (at == first).then_some(index + 1), switch, in_cycle };
            self.lines.push(match is_fault(trace, events[at].actor) {
                true => Line::Fault { head, text: fault(trace, &events[at]) },
                false => Line::Step(self.row(trace, head, &events[at], pair)),
            });
            at += if pair.is_some() { 2 } else { 1 };
        }
        *last = Some(trace.steps[index].choice.actor);
    }

    /// Local events are for those who ask.
    fn is_shown(&self, event: &Event) -> bool {
        self.layout.detail == Detail::Full || !event.is_local
    }

    /// An event that knows its partner, while the partner's own event is not told, gets the other
    /// side made up from the message: the arrow must end somewhere.
    fn row(&self, trace: &Trace, head: Head, event: &Event, pair: Option<&Event>) -> Row {
        let lane = |actor: u32| self.actors.iter().position(|&known| known == actor).unwrap_or(0);
        let mut cells = vec![(lane(event.actor), cell(event))];
        let partner = event.message.as_ref().and_then(|message| Some((message, message.partner?)));
        if let Some(second) = pair {
            cells.push((lane(second.actor), cell(second)));
        } else if let Some((message, partner)) = partner {
            let sign = if message.direction == Direction::Send { "?" } else { "!" };
            let text = format!("{}{sign}{}", message.channel, message.fields.join(","));
            cells.push((lane(partner), Cell { text: clean(&text), place: String::new(), message: None }));
        }
        let arrow = partner.map(|(message, partner)| match message.direction {
            Direction::Send => (lane(event.actor), lane(partner)),
            Direction::Receive => (lane(partner), lane(event.actor)),
        });
        if arrow.is_some() {
            cells.iter_mut().for_each(|(_, cell)| cell.message = None);
        }
        let changed = [Some(event), pair].into_iter().flatten().map(|event| changed(trace, event));
        let changed = changed.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
        Row { head, arrow, cells, changed }
    }

    /// Puts everyone into one lane, with a column for the names.
    fn one_lane(&mut self) {
        let arrow = if self.layout.signs == Signs::Ascii { "->" } else { "▶" };
        let heads = &self.heads;
        for line in &mut self.lines {
            let Line::Step(row) = line else { continue };
            // A rendezvous is told from the sender's side.
            let sender = row.arrow.map(|(from, _)| from);
            row.cells.sort_by_key(|(lane, _)| Some(*lane) != sender);
            let mut cells = std::mem::take(&mut row.cells).into_iter();
            let Some((lane, mut does)) = cells.next() else { continue };
            for (partner, cell) in cells {
                does.text = format!("{} {arrow} {}  {}", does.text, heads[partner], cell.text);
            }
            let who = Cell { text: heads[lane].clone(), place: String::new(), message: None };
            row.arrow = None;
            row.cells = vec![(0, who), (1, does)];
        }
        self.heads = ["who", "does what", "changed"].map(str::to_owned).to_vec();
    }

    /// Columns that the lanes and "changed" share.
    fn room(&self) -> usize {
        self.layout.width.saturating_sub(self.margin() + 3 * self.heads.len())
    }

    /// Columns before the first lane.
    fn margin(&self) -> usize {
        self.digits + 3 + if self.has_cycle { 2 } else { 0 }
    }

    /// The width that each column would like to have.
    fn natural(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.heads.iter().map(|head| width(head)).collect();
        let changed = widths.len() - 1;
        for line in &self.lines {
            let Line::Step(row) = line else { continue };
            for (lane, cell) in &row.cells {
                widths[*lane] = widths[*lane].max(cell.natural());
            }
            widths[changed] = widths[changed].max(width(&row.changed)).min(CHANGED_MAX);
        }
        widths
    }

    /// Whether most of what stands in the lanes fits into them.
    ///
    /// Judged by what would be cut, not by the width: many lanes of short words are fine.
    fn is_readable(&self, widths: &[usize]) -> bool {
        let rows = self.lines.iter().filter_map(|line| match line {
            Line::Step(row) => Some(row),
            Line::Fault { .. } | Line::Remark { .. } => None,
        });
        let cells: Vec<bool> =
            rows.flat_map(|row| &row.cells).map(|(lane, cell)| width(&cell.text) > widths[*lane]).collect();
        cells.iter().filter(|is_cut| **is_cut).count() * CUT_MAX <= cells.len()
    }

    /// The text, with columns of these widths.
    fn draw(&self, widths: &[usize]) -> String {
        let paint = Paint(self.layout.colour);
        let brace = if self.has_cycle { "  " } else { "" };
        let heads = self.heads.iter().zip(widths);
        let heads: Vec<String> =
            heads.map(|(head, &room)| pad(&cut_name(head, room, self.layout.signs), room)).collect();
        let head = format!("{brace}  {:>digits$} | {}", "step", heads.join(" | "), digits = self.digits);
        let mut out = paint.paint(Role::Strong, head.trim_end()) + "\n";
        for line in &self.lines {
            let text = match line {
                Line::Step(row) => self.draw_row(row, widths),
                Line::Fault { head, text } => self.draw_fault(head, text),
                Line::Remark { text, in_cycle } => {
                    let brace = if *in_cycle { self.bar() } else { brace };
                    format!("{}{}", paint.paint(Role::Frame, brace), paint.paint(Role::Dim, &format!("  {text}")))
                }
            };
            let _ = writeln!(out, "{}", text.trim_end());
        }
        out
    }

    /// What stands before the lanes: the cycle, whether another actor moves, the number of the step.
    fn draw_head(&self, head: &Head) -> String {
        let paint = Paint(self.layout.colour);
        let brace = match (self.has_cycle, head.in_cycle) {
            (false, _) => "",
            (true, false) => "  ",
            (true, true) => self.bar(),
        };
        let switch = if head.switch { "!" } else { " " };
        let number = head.number.map(|number| number.to_string()).unwrap_or_default();
        let text = format!("{switch} {number:>digits$}", digits = self.digits);
        let role = if head.switch { Role::Warning } else { Role::Dim };
        format!("{}{}", paint.paint(Role::Frame, brace), paint.paint(role, &text))
    }

    /// A fault goes over all lanes: it happens to the system, not to an actor.
    fn draw_fault(&self, head: &Head, text: &str) -> String {
        let room = self.layout.width.saturating_sub(self.margin() + 2).max(COLUMN_MIN);
        let text = cut(&format!("*** {text}"), room, self.layout.signs);
        format!("{} | {}", self.draw_head(head), Paint(self.layout.colour).paint(Role::Error, &text))
    }

    /// A row, lane by lane.
    fn draw_row(&self, row: &Row, widths: &[usize]) -> String {
        let mut out = self.draw_head(&row.head);
        let last = widths.len() - 1;
        for (lane, &room) in widths[..last].iter().enumerate() {
            out += &self.separator(row, lane);
            out += &self.lane(row, lane, room);
        }
        let _ = write!(out, " | {}", cut(&row.changed, widths[last], self.layout.signs));
        out
    }

    /// What stands before everything in a cycle.
    fn bar(&self) -> &'static str {
        if self.layout.signs == Signs::Ascii { "| " } else { "│ " }
    }

    /// What the shaft of an arrow is made of.
    fn dash(&self) -> &'static str {
        if self.layout.signs == Signs::Ascii { "-" } else { "─" }
    }

    /// What stands before a lane: a bar, or the shaft of an arrow that passes.
    ///
    /// An arrow covers the separators between its lanes, so it reads as one line.
    fn separator(&self, row: &Row, lane: usize) -> String {
        let passes = row.arrow.is_some_and(|(from, to)| from.min(to) < lane && lane <= from.max(to));
        if passes { self.dash().repeat(3) } else { " | ".to_owned() }
    }

    /// What one lane shows of a row: its cell, an arrow that passes, or nothing.
    fn lane(&self, row: &Row, lane: usize, room: usize) -> String {
        let cell = row.cells.iter().find(|(at, _)| *at == lane).map(|(_, cell)| cell);
        match (cell, row.arrow) {
            (Some(cell), Some((from, to))) if from != to && (lane == from || lane == to) => {
                self.rendezvous(cell, from < to, lane == from, room)
            }
            (Some(cell), _) => self.cell(cell, room),
            (None, Some((from, to))) if from.min(to) < lane && lane < from.max(to) => self.dash().repeat(room),
            (None, _) => " ".repeat(room),
        }
    }

    /// One end of an arrow between lanes.
    fn rendezvous(&self, cell: &Cell, rightwards: bool, is_sender: bool, room: usize) -> String {
        let heads = if self.layout.signs == Signs::Ascii { ["<", ">"] } else { ["◀", "▶"] };
        let text = cut(&cell.text, room.saturating_sub(2), self.layout.signs);
        let shaft = self.dash().repeat(room.saturating_sub(width(&text) + 1));
        match (rightwards, is_sender) {
            (true, true) => format!("{text} {shaft}"),
            (true, false) => pad(&format!("{} {text}", heads[1]), room),
            (false, true) => pad(&format!("{} {text}", self.dash()), room),
            (false, false) => {
                let shaft = self.dash().repeat(room.saturating_sub(width(&text) + 2));
                format!("{text} {}{shaft}", heads[0])
            }
        }
    }

    /// A cell alone. Its place in the source is the first thing that is dropped where room is short.
    fn cell(&self, cell: &Cell, room: usize) -> String {
        let (left, right) = if self.layout.signs == Signs::Ascii { ("<- ", "->") } else { ("◀ ", "▶") };
        let text = match cell.message {
            Some(Direction::Receive) => format!("{left}{}", cell.text),
            _ => cell.text.clone(),
        };
        let place = if width(&text) + width(&cell.place) < room { cell.place.as_str() } else { "" };
        let free = room.saturating_sub(width(&text) + width(place) + usize::from(!place.is_empty()));
        let place = if place.is_empty() { String::new() } else { format!(" {place}") };
        if cell.message == Some(Direction::Send) && free > width(right) {
            let shaft = self.dash().repeat(free - width(right) - 1);
            return format!("{text} {shaft}{right}{place}");
        }
        if width(&text) > room {
            return cut(&text, room, self.layout.signs);
        }
        format!("{text}{}{place}", " ".repeat(free))
    }
}

impl Cell {
    /// The width with arrow and place.
    fn natural(&self) -> usize {
        let arrow = if self.message.is_some() { 4 } else { 0 };
        let place = if self.place.is_empty() { 0 } else { width(&self.place) + 2 };
        (width(&self.text) + arrow + place).max(COLUMN_MIN)
    }
}

/// What an event says in its lane.
fn cell(event: &Event) -> Cell {
    let place = event.location.as_ref().map(|location| format!(":{}", location.line));
    Cell {
        text: clean(&event_text(event)),
        place: place.unwrap_or_default(),
        message: event.message.as_ref().map(|message| message.direction),
    }
}

/// A fault, and what it changed. A lane would be too narrow for what everything else follows from.
fn fault(trace: &Trace, event: &Event) -> String {
    let changed = changed(trace, event);
    let changed = if changed.is_empty() { changed } else { format!(" ({changed})") };
    clean(&event_text(event)) + &changed
}

/// Whether two neighbouring events are the two sides of one message.
fn is_rendezvous(first: &Event, second: &Event) -> bool {
    let partner = |event: &Event| event.message.as_ref().and_then(|message| message.partner);
    partner(first) == Some(second.actor) && second.message.is_some()
}

/// What an event has changed, made and printed.
fn changed(trace: &Trace, event: &Event) -> String {
    // In its own row everyone knows whose variable it is.
    let owner = format!("{}:", trace.name(event.actor));
    let mut parts: Vec<String> = Vec::new();
    for change in &event.changes {
        let name = change.name.strip_prefix(&owner).unwrap_or(&change.name);
        parts.push(format!("{name}: {} -> {}", change.before, change.after));
    }
    parts.extend(event.created.map(|actor| format!("starts {}", trace.name(actor))));
    parts.extend(event.output.as_ref().map(|text| format!("prints {}", text.trim_end())));
    clean(&parts.join(", "))
}

/// The actors that appear in what is shown and have a lane, ascending.
fn actors(trace: &Trace, parts: &[Part]) -> Vec<u32> {
    let mut actors: Vec<u32> = Vec::new();
    for part in parts {
        let Part::Step(index) = part else { continue };
        // Whoever chose a step in which only others do something (time, for one) needs no lane.
        for event in &trace.steps[*index].events {
            actors.push(event.actor);
            actors.extend(event.message.as_ref().and_then(|message| message.partner));
        }
    }
    actors.sort_unstable();
    actors.dedup();
    actors.retain(|actor| !is_fault(trace, *actor));
    actors
}

/// The head of a lane. A process number that was used again shows all its owners.
fn head(trace: &Trace, actor: u32) -> String {
    let names = trace.actors.iter().filter(|known| known.actor == actor).map(|known| known.name.as_str());
    let names: Vec<&str> = names.collect();
    clean(&if names.is_empty() { trace.name(actor) } else { names.join(", ") })
}
