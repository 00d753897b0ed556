// The page, live: choices are taken by hand, and the states that are known are drawn as a graph.
"use strict";
(() => {
const { data, view, byId, element, show, tellSource, KEYS, plural } = globalThis.allways;
const GAP = 26, LAYER = 46, RADIUS = 6;   // of the graph, in its own units
const EDGES_DRAWN = 20000;                // more of them are a black square
const GROWTH = 1000;                      // states that a click adds

/** What the server said last. */
const live = { at: null, graph: null, isFolded: true, layout: null, scale: 1, x: 0, y: 0, busy: false };

async function ask(route, wish) {
  const answer = await fetch(route, wish ? { method: "POST", body: JSON.stringify(wish) } : {});
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

/** Asks for something, one wish at a time, and says what went wrong. */
async function wish(act) {
  if (live.busy) return;
  live.busy = true;
  try {
    await act();
  } catch (error) {
    say(error.message || "allways has ended");
  } finally {
    live.busy = false;
  }
}

const say = text => { byId("said").textContent = text; };

// Where we are -------------------------------------------------------------------------------------------------------------

function arrived(at) {
  live.at = at;
  at.told.variables = at.variables;
  at.told.waiting = at.offers.length ? [] : at.waiting.map(({ who, text, place }) => ({ who, text: place ? `${text} (${place})` : text, place: null }));
  data.traces = [at.told];
  show(at.told);
  tellOffers();
  tellGroups();
  say(plural(at.states, "state") + " known");
  if (live.graph) drawGraph();
}

function tellOffers() {
  const { offers, nodes } = live.at;
  byId("offers").replaceChildren(...offers.map((offer, index) => {
    const seen = nodes.includes(offer.node) && offer.node !== 0 ? "back to a state of this trace" : "";
    const button = element("button", { type: "button", class: offer.is_violation ? "violation" : null },
      element("span", { class: "who" }, `${index + 1}  ${offer.name}`), offer.text || "(a local step)",
      seen ? element("span", { class: "seen" }, seen) : null);
    button.addEventListener("click", () => take(offer));
    return element("li", {}, button);
  }));
  if (!offers.length) byId("offers").append(element("li", {}, element("button", { type: "button", disabled: "" }, "nobody can move here")));
}

/** What the state holds beside variables. What the user has closed stays closed. */
function tellGroups() {
  const closed = new Set([...byId("groups").querySelectorAll("details:not([open])")].map(group => group.dataset.title));
  byId("groups").replaceChildren(...live.at.groups.map(([title, entries]) => {
    const rows = entries.map(([name, text]) => element("tr", {}, element("th", {}, name), element("td", {}, text)));
    return element("details", { "data-title": title, open: closed.has(title) ? null : "" },
      element("summary", {}, `${title} (${entries.length})`), element("table", {}, ...rows));
  }));
}

const take = offer => wish(async () => { arrived(await ask("take", { actor: offer.actor, index: offer.index })); await refresh(); });
const back = () => wish(async () => arrived(await ask("back", { steps: Math.max(0, live.at.nodes.length - 2) })));
/** Goes back to behind the step of the event that is chosen. */
const backHere = () => wish(async () => { const row = view.rows[view.row]; if (row) arrived(await ask("back", { steps: row.step })); });
const go = node => wish(async () => { arrived(await ask("go", { node })); await refresh(); });
const save = () => wish(async () => say(`saved: ${(await ask("save", {})).command}`));

data.fetchSource = file => {
  if (file in data.sources) return;
  data.sources[file] = "";
  ask("source", { file }).then(({ text }) => { data.sources[file] = text || ""; if (text) tellSource(); }).catch(() => {});
};

// The graph ----------------------------------------------------------------------------------------------------------------

const refresh = async () => { if (live.graph) { live.graph = await ask("graph"); arrange(); } };
const grow = () => wish(async () => { live.graph = await ask("grow", { states: GROWTH }); arrange(); say(graphFacts()); });

function graphFacts() {
  const { nodes, is_complete } = live.graph;
  const wrong = nodes.filter(([, kind]) => kind === 1).length;
  return `${plural(nodes.length, "state")}${is_complete ? ", all there are" : " so far"}; ${wrong} with a violation`;
}

/** Nodes by layer, chains folded, each layer in the order of its parents. */
function arrange() {
  const { nodes, edges } = live.graph;
  const count = nodes.length, into = new Int32Array(count), out = new Int32Array(count);
  const next = Array.from({ length: count }, () => []);
  for (const [from, to] of edges) { into[to]++; out[from]++; next[from].push(to); }
  const path = new Set(live.at.nodes);
  const isInner = node => live.isFolded && node !== 0 && into[node] === 1 && out[node] === 1 && nodes[node][1] === 0 && !path.has(node);
  const place = new Map([[0, { layer: 0, x: 0, slot: 0 }]]), layers = [[0]], drawn = [];
  for (let layer = 0; layer < layers.length; layer++) {
    const below = [];
    for (const node of layers[layer]) for (const first of next[node]) {
      let to = first, folded = 0;
      while (isInner(to) && folded < count) { to = next[to][0]; folded++; }
      drawn.push([node, to, folded]);
      if (!place.has(to)) { place.set(to, { layer: layer + 1, x: 0, slot: below.length }); below.push(to); }
    }
    if (below.length) layers.push(below);
  }
  for (const layer of layers) layer.forEach((node, slot) => { place.get(node).x = (slot - (layer.length - 1) / 2) * GAP; });
  const from = new Map();
  drawn.forEach((edge, index) => { if (!from.has(edge[0])) from.set(edge[0], []); from.get(edge[0]).push(index); });
  live.layout = { place, layers, drawn, from, into };
  drawGraph();
}

const canvas = element("canvas", { id: "graph", role: "img", "aria-label": "State graph, by layers", tabindex: "0" });
const toScreen = ({ x, layer }) => [live.x + x * live.scale, live.y + layer * LAYER * live.scale];

/** The nodes that are in sight, layer by layer. */
function inSight(width, height) {
  const { layers, place } = live.layout, seen = [];
  const first = Math.max(0, Math.floor((-live.y / live.scale) / LAYER) - 1);
  const last = Math.min(layers.length - 1, Math.ceil(((height - live.y) / live.scale) / LAYER) + 1);
  for (let layer = first; layer <= last; layer++) {
    const nodes = layers[layer], half = (nodes.length - 1) / 2;
    const from = Math.max(0, Math.floor((-live.x / live.scale) / GAP + half) - 1);
    const to = Math.min(nodes.length - 1, Math.ceil(((width - live.x) / live.scale) / GAP + half) + 1);
    // Where nodes would lie upon each other, some stand for all.
    const step = Math.max(1, Math.floor(2 / (GAP * live.scale)));
    for (let slot = from; slot <= to; slot += step) seen.push(nodes[slot]);
  }
  return seen.filter(node => place.has(node));
}

function drawGraph() {
  if (!document.body.classList.contains("graph") || !live.layout) return;
  const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  [canvas.width, canvas.height] = [width * ratio, height * ratio];
  const pen = canvas.getContext("2d"), style = getComputedStyle(document.body);
  const colour = name => style.getPropertyValue(name).trim();
  pen.scale(ratio, ratio);
  const seen = inSight(width, height), { place, drawn, from } = live.layout;
  const path = live.at.nodes, onPath = new Set(path.slice(1).map((node, index) => `${path[index]} ${node}`));
  let left = EDGES_DRAWN;
  pen.strokeStyle = colour("--line");
  pen.fillStyle = colour("--quiet");
  pen.font = "10px sans-serif";
  for (const node of seen) for (const index of from.get(node) || []) {
    if (left-- < 0) break;
    drawEdge(pen, place.get(node), drawn[index], onPath.has(`${node} ${drawn[index][1]}`), colour);
  }
  for (const node of seen) drawNode(pen, node, path, colour);
}

function drawEdge(pen, start, [, to, folded], isOnPath, colour) {
  const end = live.layout.place.get(to), [x1, y1] = toScreen(start), [x2, y2] = toScreen(end);
  pen.lineWidth = isOnPath ? 3.5 : 1;
  pen.strokeStyle = isOnPath ? "#2f6fde" : colour("--line");
  pen.beginPath();
  pen.moveTo(x1, y1);
  if (end.layer > start.layer) pen.lineTo(x2, y2);
  else pen.quadraticCurveTo(Math.max(x1, x2) + 30 * live.scale, (y1 + y2) / 2, x2, y2);
  pen.stroke();
  if (folded && live.scale > 0.5) pen.fillText(String(folded), (x1 + x2) / 2 + 3, (y1 + y2) / 2);
}

/** Violations are red, states that are reached in several ways hollow, the initial one has two rings, those not looked into are dashed. */
function drawNode(pen, node, path, colour) {
  const [x, y] = toScreen(live.layout.place.get(node)), kind = live.graph.nodes[node][1], radius = Math.max(1, RADIUS * live.scale);
  const isHere = node === path[path.length - 1];
  pen.lineWidth = isHere ? 3 : 1.4;
  pen.setLineDash(kind === 2 ? [2, 2] : []);
  pen.strokeStyle = kind === 1 ? colour("--bad") : isHere ? "#2f6fde" : colour("--quiet");
  pen.fillStyle = kind === 1 ? colour("--bad") : live.layout.into[node] > 1 || kind === 2 ? colour("--paper") : colour("--quiet");
  pen.beginPath();
  if (kind === 3) pen.rect(x - radius, y - radius, 2 * radius, 2 * radius);
  else pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fill();
  pen.stroke();
  if (node === 0) { pen.beginPath(); pen.arc(x, y, radius + 3.5, 0, 2 * Math.PI); pen.stroke(); }
  pen.setLineDash([]);
}

/** The node at a place of the canvas. */
function nodeAt(x, y) {
  let best = null, distance = 14;
  for (const node of inSight(canvas.clientWidth, canvas.clientHeight)) {
    const [nodeX, nodeY] = toScreen(live.layout.place.get(node)), far = Math.hypot(nodeX - x, nodeY - y);
    if (far < distance) [best, distance] = [node, far];
  }
  return best;
}

function zoom(event) {
  event.preventDefault();
  const factor = Math.exp(-event.deltaY / 400), scale = Math.min(4, Math.max(0.02, live.scale * factor));
  live.x = event.offsetX - (event.offsetX - live.x) * scale / live.scale;
  live.y = event.offsetY - (event.offsetY - live.y) * scale / live.scale;
  live.scale = scale;
  drawGraph();
}

function listenToCanvas() {
  let held = null;
  canvas.addEventListener("wheel", zoom, { passive: false });
  canvas.addEventListener("pointerdown", event => { held = { x: event.offsetX, y: event.offsetY, moved: 0 }; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", event => {
    if (!held) return;
    const [x, y] = [event.offsetX - held.x, event.offsetY - held.y];
    Object.assign(held, { x: event.offsetX, y: event.offsetY, moved: held.moved + Math.abs(x) + Math.abs(y) });
    [live.x, live.y] = [live.x + x, live.y + y];
    drawGraph();
  });
  canvas.addEventListener("pointerup", event => {
    const node = held && held.moved < 5 ? nodeAt(event.offsetX, event.offsetY) : null;
    held = null;
    if (node != null) go(node);
  });
  addEventListener("resize", drawGraph);
}

function toggleGraph() {
  document.body.classList.toggle("graph");
  if (!document.body.classList.contains("graph")) return show(live.at.told);
  [live.x, live.y, live.scale] = [canvas.clientWidth / 2, 40, 1];
  if (live.graph) drawGraph(); else grow();
}

function toggleFolds() {
  live.isFolded = !live.isFolded;
  byId("chains").textContent = live.isFolded ? "Unfold chains" : "Fold chains";
  if (live.graph) arrange();
}

/** The next state in which something is wrong, behind the one where we are. */
function nextViolation() {
  const here = live.at.nodes[live.at.nodes.length - 1], wrong = (live.graph || { nodes: [] }).nodes.flatMap(([, kind], node) => kind === 1 ? [node] : []);
  const node = wrong.find(node => node > here) ?? wrong[0];
  if (node == null) say("no violation is known; grow the graph"); else go(node);
}

/** Goes to the next state that has a text in its variables or its failure, from the one behind ours on and round the end. */
const find = text => wish(async () => {
  const here = live.at.nodes[live.at.nodes.length - 1];
  let from = here + 1, isRound = false;
  while (document.body.classList.contains("graph")) {
    const { found, next } = await ask("find", { text, node: from });
    if (found != null && !(isRound && found > here)) { arrived(await ask("go", { node: found })); await refresh(); centre(found); return say(`state ${found} has it`); }
    if (isRound && (next == null || next > here)) break;
    say(`looking for it: ${from} of ${live.at.states} states`);
    [from, isRound] = next == null ? [0, true] : [next, isRound];
  }
  say("no known state has it; grow the graph");
});

/** Moves a state into the middle of the graph. */
function centre(node) {
  const at = live.layout && live.layout.place.get(node);
  if (!at) return;
  [live.x, live.y] = [canvas.clientWidth / 2 - at.x * live.scale, canvas.clientHeight / 2 - at.layer * LAYER * live.scale];
  drawGraph();
}

// Beginning ----------------------------------------------------------------------------------------------------------------

function button(id, text, act) {
  const made = element("button", { id, type: "button" }, text);
  made.addEventListener("click", act);
  byId("found").before(made);
}

const section = element("section", {}, element("h2", {}, "Choices here"), element("ul", { id: "offers" }));
document.querySelector("aside").prepend(section);
document.querySelector("aside").append(element("section", { id: "groups" }));
byId("diagram").after(canvas);
byId("found").before(element("span", { id: "said", role: "status" }));
button("back", "Back", back);
button("here", "Back to this event", backHere);
button("save", "Save", save);
button("states", "Graph", toggleGraph);
button("grow", `Add ${GROWTH} states`, grow);
button("chains", "Unfold chains", toggleFolds);
button("violation", "Next violation", nextViolation);
KEYS.push([["Backspace", "b"], "take the last step back", back], [["v"], "trace or graph", toggleGraph], [["s"], "save the schedule", save]);
for (let digit = 1; digit <= 9; digit++) KEYS.push([[String(digit)], `take choice ${digit}`, () => { const offer = live.at.offers[digit - 1]; if (offer) take(offer); }]);
listenToCanvas();
byId("search").addEventListener("keydown", event => {
  if (event.key !== "Enter" || !document.body.classList.contains("graph") || !event.target.value) return;
  event.stopImmediatePropagation();
  event.preventDefault();
  find(event.target.value);
});
wish(async () => arrived(await ask("at")));
globalThis.allways.live = live;
})();
