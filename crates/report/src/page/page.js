// Lays a trace out as a space-time diagram and answers keys and clicks. What is shown was decided before: see page/diagram.rs.
// Text from outside becomes text nodes only. Rows that are not in sight do not exist: a trace may have a hundred thousand.
"use strict";
(() => {
const SVG = "http://www.w3.org/2000/svg";
const ROW = 24, GUTTER = 76, LANE_MIN = 90, LANE_MAX = 300, DOT = 9;
const HEADS = 56;
const WORDS = 360;           // room for the words of the last lane
const MARGIN = 12;           // rows drawn above and below what is in sight
const BUCKET = 64;           // rows that share a list of the arrows that pass them
const SOURCE = 300;          // lines shown above and below the one in question
const PRINTED = 3000;        // rows of a printed page

const data = JSON.parse(document.getElementById("data").textContent);
const byId = id => document.getElementById(id);
const pane = { diagram: byId("diagram"), canvas: byId("canvas"), lines: byId("lines"), rows: byId("rows"), heads: byId("heads") };

/** The trace that is shown, and how. */
const view = { told: null, rows: [], lanes: [], arrows: [], items: [], position: [], buckets: new Map(), open: new Set(), all: false,
  row: 0, width: LANE_MIN, hits: [], printing: false };

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) if (value != null) made.setAttribute(key, value);
  made.append(...children.filter(child => child != null));
  return made;
}

function shape(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const placeName = place => `${place.file}:${place.line}:${place.column}`;

// What is in sight ---------------------------------------------------------------------------------------------------------

/** Rows and folds, from top to bottom, and at which position each row is. */
function arrange() {
  const { rows } = view;
  view.items = [];
  view.position = new Int32Array(rows.length);
  for (let at = 0; at < rows.length;) {
    let end = at;
    while (end < rows.length && rows[end].is_quiet && !view.all && !view.open.has(at)) end++;
    if (end === at) end = at + 1;
    view.position.fill(view.items.length, at, end);
    view.items.push({ from: at, to: end, isFold: rows[at].is_quiet && !view.all && !view.open.has(at) });
    // A fold that is open shows all of its rows.
    if (view.open.has(at)) for (let next = at + 1; next < rows.length && rows[next].is_quiet; next++) {
      view.position[next] = view.items.length;
      view.items.push({ from: next, to: next + 1, isFold: false });
      end = next + 1;
    }
    at = end;
  }
  view.buckets = bucketed(view.arrows.map(arrow => [view.position[arrow.from[0]], view.position[(arrow.to || arrow.from)[0]]]));
}

/** For each bucket of positions the arrows that pass it. */
function bucketed(spans) {
  const buckets = new Map();
  spans.forEach(([from, to], index) => {
    for (let at = Math.floor(from / BUCKET); at <= Math.floor(to / BUCKET); at++) {
      if (!buckets.has(at)) buckets.set(at, []);
      buckets.get(at).push(index);
    }
  });
  return buckets;
}

function size() {
  const lanes = Math.max(1, view.lanes.length);
  const room = pane.diagram.clientWidth - GUTTER - WORDS;
  view.width = Math.min(LANE_MAX, Math.max(LANE_MIN, Math.floor(room / Math.max(1, lanes - 1))));
  view.wide = Math.max(GUTTER + (lanes - 1) * view.width + WORDS, pane.diagram.clientWidth - 16);
  const width = view.wide;
  pane.canvas.style.width = pane.heads.style.width = `${width}px`;
  pane.canvas.style.height = `${(view.items.length + 2) * ROW}px`;
  drawHeads();
}

const left = lane => GUTTER + lane * view.width;

function drawHeads() {
  const heads = document.createDocumentFragment();
  view.lanes.forEach((lane, index) => {
    const head = element("div", { class: "lane", title: lane.name }, lane.name);
    head.style.left = `${left(index)}px`;
    head.style.width = `${index === view.lanes.length - 1 ? view.wide - left(index) : view.width}px`;
    heads.append(head);
    const size = view.lanes.filter(other => other.process === lane.process).length;
    if (lane.process !== index || size < 2) return;
    const process = element("div", { class: "process" }, `process of ${lane.name}`);
    process.style.left = head.style.left;
    process.style.width = `${size * view.width - 4}px`;
    heads.append(process);
  });
  pane.heads.replaceChildren(heads);
}

/** The positions to be drawn. */
function inSight() {
  if (view.printing) return [0, Math.min(view.items.length, PRINTED)];
  const top = Math.floor(pane.diagram.scrollTop / ROW) - MARGIN;
  const bottom = Math.ceil((pane.diagram.scrollTop + pane.diagram.clientHeight) / ROW) + MARGIN;
  return [Math.max(0, top), Math.min(view.items.length, bottom)];
}

function draw() {
  const [from, to] = inSight();
  const rows = document.createDocumentFragment();
  for (let at = from; at < to; at++) rows.append(drawItem(at));
  if (to === view.items.length && view.told.diagram.cycle != null) rows.append(drawEnd());
  pane.rows.replaceChildren(rows);
  drawLines(from, to);
}

function drawItem(at) {
  const { from, to, isFold } = view.items[at];
  const made = isFold ? drawFold(from, to) : drawRow(from);
  made.style.top = `${at * ROW}px`;
  made.dataset.row = from;
  made.setAttribute("role", "row");
  made.setAttribute("aria-rowindex", at + 1);
  made.setAttribute("aria-selected", String(view.row >= from && view.row < to));
  return made;
}

function drawRow(index) {
  const row = view.rows[index];
  const classes = ["row", row.is_switch && "switch", row.is_fault && "fault", isFailure(index) && "failure", row.is_quiet && "quiet", view.hits.includes(index) && "hit"];
  const isFirst = index === 0 || view.rows[index - 1].step !== row.step;
  const changed = row.changes.map(([name, before, after]) => `${name}: ${before} \u2192 ${after}`).join(", ");
  const cell = element("div", { class: "cell", role: "gridcell", title: changed ? `${row.text}\n${changed}` : row.text },
    element("span", {}, row.text),
    changed ? element("span", { class: "change" }, changed) : null);
  place(cell, row.lane);
  return element("div", { class: classes.filter(Boolean).join(" ") }, element("span", { class: "number" }, isFirst ? String(row.step) : ""), cell);
}

function drawFold(from, to) {
  const lanes = new Set(view.rows.slice(from, to).map(row => row.lane));
  const cell = element("div", { class: "cell", role: "gridcell", title: `${plural(to - from, "local event")}: click or press Enter to unfold` },
    element("span", { class: "count" }, String(to - from)));
  place(cell, lanes.size === 1 ? [...lanes][0] : null);
  return element("div", { class: "row fold" }, element("span", { class: "number" }, "\u22ee"), cell);
}

/** What a lasso does behind its last event. */
function drawEnd() {
  const row = view.rows[view.told.diagram.cycle];
  const made = element("div", { class: "end" }, row ? `\u21ba back to step ${row.step}: the cycle is repeated for ever` : "\u21ba the last state is repeated for ever");
  made.style.top = `${view.items.length * ROW}px`;
  return made;
}

/** Whether something goes wrong in a row: it says so, or it is where a counterexample ends. */
const isFailure = index => Boolean(view.rows[index].failure) || view.told.is_violation && view.told.diagram.cycle == null && index === view.rows.length - 1;

/** Puts a cell into its lane, or before all. Nobody else has words in this row: they may go on to the right. */
function place(cell, lane) {
  cell.style.left = `${lane == null ? GUTTER : left(lane)}px`;
  cell.style.right = "0";
}

// Lines --------------------------------------------------------------------------------------------------------------------

const x = lane => left(lane) + DOT;
const y = (at, first) => (at - first) * ROW + ROW / 2;

function drawLines(from, to) {
  const { lines } = pane;
  const parts = document.createDocumentFragment();
  lines.style.top = `${from * ROW}px`;
  lines.setAttribute("width", view.wide);
  lines.setAttribute("height", (to - from + 1) * ROW);
  parts.append(arrowHead());
  view.lanes.forEach((lane, index) => parts.append(...life(index, from, to)));
  parts.append(...brace(from, to));
  for (let at = from; at < to; at++) parts.append(...marks(at, from));
  for (const index of passing(from, to)) parts.append(message(view.arrows[index], from));
  lines.replaceChildren(parts);
}

function arrowHead() {
  const marker = shape("marker", { id: "head", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" });
  marker.append(shape("path", { d: "M0,0 L8,4 L0,8 z", class: "head" }));
  const defs = shape("defs", {});
  defs.append(marker);
  return defs;
}

/** The lifeline of a lane, as far as it is in sight. */
function life(lane, from, to) {
  const [born, last] = view.lives[lane];
  const top = Math.max(view.position[born], from), bottom = Math.min(view.position[last], to);
  if (top > bottom) return [];
  return [shape("line", { class: "life", x1: x(lane), x2: x(lane), y1: y(top, from), y2: y(bottom, from) })];
}

/** From where to where each lane has something to show. */
function lives() {
  const ends = view.lanes.map(() => null);
  const touch = (lane, index) => { if (lane != null) ends[lane] = [ends[lane] ? ends[lane][0] : index, index]; };
  view.rows.forEach((row, index) => { touch(row.lane, index); touch(row.starts, index); });
  return ends.map(end => end || [0, 0]);
}

/** The cycle of a lasso. */
function brace(from, to) {
  const start = view.told.diagram.cycle;
  if (start == null || start >= view.rows.length) return [];
  const top = Math.max(view.position[start], from), bottom = Math.min(view.items.length - 1, to);
  if (top > bottom) return [];
  return [shape("path", { class: "brace", d: `M12,${y(top, from) - 8} H6 V${y(bottom, from) + 8} H12` })];
}

/** The dot of a row, who moved before it, and who begins with it. */
function marks(at, first) {
  const { from, isFold } = view.items[at];
  const row = view.rows[from];
  if (isFold || row.lane == null) return [];
  const marks = [];
  const before = from > 0 ? view.rows[from - 1].lane : null;
  if (row.is_switch && before != null && before !== row.lane) {
    marks.push(shape("path", { class: "switch", d: `M${x(before)},${y(at - 1, first)} L${x(row.lane)},${y(at, first)}` }));
  }
  if (row.starts != null && row.starts !== row.lane) {
    marks.push(shape("path", { class: "starts", "marker-end": "url(#head)", d: `M${x(row.lane)},${y(at, first)} H${x(row.starts)}` }));
  }
  const kind = isFailure(from) ? "failure" : row.is_fault ? "fault" : "";
  marks.push(shape("circle", { class: `dot ${kind}`, cx: x(row.lane), cy: y(at, first), r: 4 }));
  return marks;
}

/** Arrows that pass some positions. */
function passing(from, to) {
  const found = new Set();
  for (let at = Math.floor(from / BUCKET); at <= Math.floor(to / BUCKET); at++) for (const index of view.buckets.get(at) || []) found.add(index);
  return found;
}

function message(arrow, first) {
  const start = [x(arrow.from[1]), y(view.position[arrow.from[0]], first)];
  const isChosen = arrow.from[0] === view.row || arrow.to && arrow.to[0] === view.row;
  const end = arrow.to && [x(arrow.to[1]), y(view.position[arrow.to[0]], first)];
  const drawn = end
    ? shape("path", { class: `message${isChosen ? " chosen" : ""}`, "marker-end": "url(#head)", d: `M${start} L${shortened(start, end)}` })
    : shape("path", { class: "lost", d: `M${start} l14,9 m-3,-3 l6,6 m0,-6 l-6,6` });
  const title = shape("title", {});
  title.textContent = `${arrow.channel}: ${arrow.text}${end ? "" : " (no receive in this trace)"}`;
  drawn.append(title);
  return drawn;
}

/** Where an arrow ends: before the dot that it points to. */
function shortened([x1, y1], [x2, y2]) {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  return [x2 - (x2 - x1) / length * 5, y2 - (y2 - y1) / length * 5];
}

// Panes --------------------------------------------------------------------------------------------------------------------

function tellStep() {
  const row = view.rows[view.row];
  const step = byId("step");
  if (!row) return step.replaceChildren("No events.");
  const who = row.lane == null ? "" : `: ${view.lanes[row.lane].name}`;
  const say = (kind, text) => text && element("p", { class: kind }, text);
  const switched = row.is_switch && "context switch: another actor moved before";
  step.replaceChildren(...[
    say("quiet", `Step ${row.step} of ${view.told.diagram.steps}${who}`), say("what", row.text), say("bad", row.failure),
    say("", row.output && `prints ${JSON.stringify(row.output)}`), say("", switched), ...peers(), changes(row),
  ].filter(Boolean));
}

function changes(row) {
  if (!row.changes.length) return null;
  const made = row.changes.map(([name, before, after]) => element("tr", { class: "new" }, element("th", { scope: "row" }, name), element("td", {}, `${before} \u2192 ${after}`)));
  return element("table", { id: "changed", "aria-label": "What changed" }, ...made);
}

/** Where a message of this row comes from or goes to. */
function peers() {
  const told = view.arrows.filter(arrow => arrow.from[0] === view.row || arrow.to && arrow.to[0] === view.row);
  return told.slice(0, 5).map(arrow => {
    const isSent = arrow.from[0] === view.row;
    const other = isSent ? arrow.to : arrow.from;
    if (!other) return element("p", {}, "no receive in this trace");
    const text = `${isSent ? "received in" : "sent in"} step ${view.rows[other[0]].step} by ${view.lanes[other[1]].name}`;
    return element("p", {}, element("button", { type: "button", "data-go": other[0] }, text));
  });
}

function tellValues() {
  const values = new Map(), fresh = new Set();
  view.rows.forEach((row, index) => row.changes.forEach(([name, before, after]) => {
    if (!values.has(name)) values.set(name, before);
    if (index <= view.row) values.set(name, after);
    if (index === view.row) fresh.add(name);
  }));
  // Everything has changed at the end of a counterexample that tells its last values.
  if (view.row >= view.rows.length - 1) for (const [name, value] of view.told.variables) values.set(name, value);
  const names = [...values.keys()].sort((one, other) => fresh.has(other) - fresh.has(one));
  byId("values").replaceChildren(...names.slice(0, 500).map(name =>
    element("tr", fresh.has(name) ? { class: "new" } : {}, element("th", { scope: "row" }, name), element("td", {}, values.get(name)))));
}

/** Where each lane is: at the last place that it came by. */
function whereabouts() {
  const places = new Map();
  for (let index = 0; index <= view.row && index < view.rows.length; index++) {
    const row = view.rows[index];
    if (row.place && row.lane != null) places.set(row.lane, row.place);
  }
  return places;
}

function tellSource() {
  const row = view.rows[view.row], places = whereabouts();
  const shown = row && (row.place || places.get(row.lane)) || view.told.place;
  byId("file").textContent = shown ? placeName(shown) : "No source is known here";
  const text = shown && data.sources[shown.file];
  if (!text) {
    if (shown && data.fetchSource) data.fetchSource(shown.file);
    return byId("source").replaceChildren(shown ? "The file was not there when the page was made." : "");
  }
  const lines = text.split("\n"), first = Math.max(1, shown.line - SOURCE), last = Math.min(lines.length, shown.line + SOURCE);
  const here = number => [...places].filter(([lane, at]) => at.file === shown.file && at.line === number && lane !== row.lane).map(([lane]) => view.lanes[lane].name);
  const made = [];
  for (let number = first; number <= last; number++) made.push(sourceLine(number, lines[number - 1], number === shown.line && shown, here(number)));
  byId("source").replaceChildren(...made);
  const at = byId("source").querySelector(".at");
  if (at) byId("source").scrollTop = at.offsetTop - byId("source").offsetTop - byId("source").clientHeight / 3;
}

function sourceLine(number, text, shown, others) {
  const code = element("span", {});
  if (shown) {
    const start = shown.column - 1, end = start + shown.width;
    code.append(text.slice(0, start), element("mark", {}, text.slice(start, end)), text.slice(end));
  } else code.append(text);
  if (others.length) code.append(element("span", { class: "who" }, `\u25c0 ${others.join(", ")}`));
  return element("div", shown ? { class: "at" } : {}, element("i", {}, String(number)), code);
}

// Choosing -----------------------------------------------------------------------------------------------------------------

/** Shows a row: unfolds it, brings it into sight, tells what happens in it. */
function choose(index) {
  if (!view.rows.length) return draw();
  view.row = Math.max(0, Math.min(view.rows.length - 1, index));
  const at = view.position[view.row];
  const top = at * ROW, height = pane.diagram.clientHeight - HEADS;
  if (top < pane.diagram.scrollTop + ROW) pane.diagram.scrollTop = top - ROW;
  else if (top > pane.diagram.scrollTop + height - 2 * ROW) pane.diagram.scrollTop = top - height + 2 * ROW;
  draw();
  tellStep();
  tellValues();
  tellSource();
  history.replaceState(null, "", `#trace=${data.traces.indexOf(view.told) + 1}&row=${view.row + 1}`);
}

/** The row by so many positions further down. */
function move(by) {
  const at = Math.max(0, Math.min(view.items.length - 1, view.position[view.row] + by));
  if (view.items[at]) choose(view.items[at].from);
}

function isFolded(index) {
  const item = view.items[view.position[index]];
  return Boolean(item && item.isFold);
}

function toggle(index) {
  const first = view.items[view.position[index]].from;
  if (isFolded(index)) view.open.add(first);
  else {
    let start = index;
    while (start > 0 && view.rows[start - 1].is_quiet) start--;
    view.open.delete(start);
  }
  rearrange();
}

function unfoldAll() {
  view.all = !view.all;
  view.open.clear();
  byId("unfold").textContent = view.all ? "Fold local events" : "Unfold all";
  rearrange();
}

function rearrange() {
  arrange();
  size();
  choose(view.row);
}

/** The next row, or the one before, of which something is true. */
function seek(by, isMeant) {
  for (let index = view.row + by; index >= 0 && index < view.rows.length; index += by) if (isMeant(view.rows[index])) {
    if (isFolded(index)) toggle(index);
    return choose(index);
  }
}

function follow() {
  const arrow = view.arrows.find(arrow => arrow.to && (arrow.from[0] === view.row || arrow.to[0] === view.row));
  if (arrow) choose(arrow.from[0] === view.row ? arrow.to[0] : arrow.from[0]);
}

function search(text) {
  const wanted = text.toLowerCase();
  const says = row => `${row.text} ${row.changes.map(change => change.join(" ")).join(" ")}`.toLowerCase().includes(wanted);
  view.hits = wanted ? view.rows.flatMap((row, index) => says(row) ? [index] : []) : [];
  byId("found").textContent = wanted ? `${plural(view.hits.length, "event")} found; Enter goes to the next` : "";
  draw();
}

function nextHit() {
  const next = view.hits.find(index => index > view.row) ?? view.hits[0];
  if (next == null) return;
  if (isFolded(next)) toggle(next);
  choose(next);
}

function help() {
  byId("keymap").replaceChildren(...KEYS.map(([keys, what]) =>
    element("tr", {}, element("th", { scope: "row" }, keys.map(key => key === " " ? "Space" : key).join("  ")), element("td", {}, what))));
  byId("help").showModal();
}

const isSwitch = row => row.is_switch, isFault = row => row.is_fault;
const KEYS = [
  [["ArrowDown", "j"], "next event", () => move(1)],
  [["ArrowUp", "k"], "event before", () => move(-1)],
  [["PageDown"], "a screen down", () => move(Math.floor(pane.diagram.clientHeight / ROW) - 3)],
  [["PageUp"], "a screen up", () => move(3 - Math.floor(pane.diagram.clientHeight / ROW))],
  [["Home", "g"], "first event", () => choose(0)],
  [["End", "G"], "last event", () => choose(view.rows.length - 1)],
  [["n"], "next context switch", () => seek(1, isSwitch)],
  [["p"], "context switch before", () => seek(-1, isSwitch)],
  [["f"], "next fault", () => seek(1, isFault)],
  [["m"], "follow the message", follow],
  [["Enter", " "], "fold or unfold", () => toggle(view.row)],
  [["a"], "fold or unfold all", unfoldAll],
  [["/"], "search", () => byId("search").focus()],
  [["?"], "this list", help],
];

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
  if (event.target.id === "search") {
    if (event.key === "Enter") nextHit();
    if (event.key === "Escape") pane.diagram.focus();
    return;
  }
  if (event.target.tagName === "BUTTON" && (event.key === "Enter" || event.key === " ")) return;
  const known = KEYS.find(([keys]) => keys.includes(event.key));
  if (!known) return;
  event.preventDefault();
  known[2]();
}

// Beginning ----------------------------------------------------------------------------------------------------------------

function tellHeader() {
  const { told } = view;
  byId("title").textContent = told.title;
  byId("title").className = told.is_violation ? "violation" : data.holds ? "fine" : "";
  byId("facts").textContent = [told.place && placeName(told.place), told.facts].filter(Boolean).join(" \u00b7 ");
  const waiting = told.waiting.map(side => element("li", {}, `${side.who} ${side.text}${side.place ? ` (${placeName(side.place)})` : ""}`));
  byId("notes").replaceChildren(...told.notes.map(note => element("li", {}, ...withSteps(note))), ...waiting);
  byId("commands").textContent = told.commands.join("\n");
}

/** A note, in which each "step 12" leads there. */
function withSteps(note) {
  return note.split(/(steps? \d+)/).map(part => {
    const step = /^steps? (\d+)$/.exec(part);
    const row = step ? view.rows.findIndex(row => row.step === Number(step[1])) : -1;
    return row < 0 ? part : element("button", { type: "button", "data-go": row }, part);
  });
}

/** Shows a trace, with its last event chosen. */
function show(told) {
  Object.assign(view, { told, rows: told.diagram.rows, lanes: told.diagram.lanes, arrows: told.diagram.arrows, hits: [] });
  view.open.clear();
  view.lives = lives();
  [...byId("traces").children].forEach((button, at) => button.setAttribute("aria-current", String(data.traces[at] === told)));
  tellHeader();
  arrange();
  size();
  choose(view.rows.length - 1);
  if (!view.rows.length) [tellStep, tellValues, tellSource].forEach(tell => tell());
}

function listTraces() {
  if (data.traces.length < 2) return;
  byId("traces").replaceChildren(...data.traces.map(told => {
    const button = element("button", { type: "button" }, told.title.length > 60 ? `${told.title.slice(0, 60)}\u2026` : told.title);
    button.addEventListener("click", () => show(told));
    return button;
  }));
}

/** The trace and the row that the address asks for. */
function asked() {
  const words = new URLSearchParams(location.hash.slice(1));
  return [Number(words.get("trace")) - 1, Number(words.get("row")) - 1];
}

function clicked(event) {
  const go = event.target.closest("[data-go]"), row = event.target.closest(".row");
  if (go) {
    if (isFolded(Number(go.dataset.go))) toggle(Number(go.dataset.go));
    choose(Number(go.dataset.go));
  } else if (row) {
    const index = Number(row.dataset.row);
    if (isFolded(index)) toggle(index); else choose(index);
  }
}

function listen() {
  let isDue = false;
  const later = () => { if (!isDue) { isDue = true; requestAnimationFrame(() => { isDue = false; draw(); }); } };
  pane.diagram.addEventListener("scroll", later, { passive: true });
  addEventListener("resize", () => { size(); draw(); });
  addEventListener("keydown", pressed);
  addEventListener("click", clicked);
  addEventListener("beforeprint", () => { view.printing = true; draw(); });
  addEventListener("afterprint", () => { view.printing = false; draw(); });
  byId("search").addEventListener("input", event => search(event.target.value));
  byId("unfold").addEventListener("click", unfoldAll);
  byId("keys").addEventListener("click", help);
}

byId("summary").hidden = !data.summary;
byId("summary").querySelector("pre").textContent = data.summary || "";
listTraces();
listen();
const [trace, row] = asked();
if (data.traces.length) {
  show(data.traces[trace] || data.traces[0]);
  if (row >= 0) choose(row);
} else if (!data.is_live) {
  byId("title").textContent = `${data.system}: ${(data.summary || "").trimEnd().split("\n").pop()}`;
  byId("title").className = data.holds ? "fine" : "";
  byId("summary").open = true;
}
pane.diagram.focus({ preventScroll: true });
// A server that shows what happens as it happens goes on from here.
globalThis.allways = { data, view, byId, element, show, choose, tellSource, KEYS, plural };
})();
