// The explorer in a browser: node live.mjs MODULES CHECK ADDRESS. Prints what fails and ends with 1.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";

const [modules, name, address] = process.argv.slice(2);
const { chromium } = createRequire(`${modules}/`)("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1300, height: 850 } });
const complaints = [], origin = new URL(address).origin;
page.on("console", message => complaints.push(message.text()));
page.on("pageerror", error => complaints.push(error.message));
page.on("request", request => { if (!request.url().startsWith(origin)) complaints.push(`asks for ${request.url()}`); });

const steps = () => page.textContent("#facts");
const steps_taken = () => page.evaluate(() => globalThis.allways.live.at.nodes.length);
/** Takes the first choice, and waits until it is taken. */
async function take(number) {
  await page.locator("#offers button").first().click();
  await page.waitForFunction(text => document.getElementById("facts").textContent === text, `${number} steps`);
}

async function drive() {
  for (const number of [1, 2, 3]) await take(number);
  await page.keyboard.press("b");
  await page.waitForFunction(() => document.getElementById("facts").textContent === "2 steps");
  await take(3);
  await page.keyboard.press("s");
  await page.waitForFunction(() => document.getElementById("said").textContent.startsWith("saved: allways replay"));
}

/** A picture for the manual: PICTURES=docs/pictures scripts/test -p allways page:: */
async function picture(name) {
  if (!process.env.PICTURES) return;
  await page.setViewportSize({ width: 1200, height: 640 });
  await page.screenshot({ path: fileURLToPath(new URL(`../../../../${process.env.PICTURES}/${name}.png`, import.meta.url)) });
}

/** What the graph is about to draw. */
const graph = () => page.evaluate(() => {
  const { graph, layout } = globalThis.allways.live;
  return { states: graph.nodes.length, wrong: graph.nodes.filter(([, kind]) => kind === 1).length, shown: layout.place.size, isComplete: graph.is_complete };
});

async function openGraph() {
  await page.keyboard.press("v");
  await page.waitForFunction(() => globalThis.allways.live.layout);
  await page.waitForSelector("#graph", { state: "visible" });
}

/** The colour in the middle of a node. */
const colourOf = node => page.evaluate(node => {
  const { layout, scale, x, y } = globalThis.allways.live, place = layout.place.get(node), ratio = devicePixelRatio;
  const at = [(x + place.x * scale) * ratio, (y + place.layer * 46 * scale) * ratio];
  return [...document.getElementById("graph").getContext("2d").getImageData(at[0], at[1], 1, 1).data].slice(0, 3);
}, node);

const checks = {
  async model() {
    await drive();
    await openGraph();
    assert.deepEqual(await graph(), { states: 36, wrong: 3, shown: 36, isComplete: true });
    const wrong = await page.evaluate(() => globalThis.allways.live.graph.nodes.findIndex(([, kind]) => kind === 1));
    const [red, green] = await colourOf(wrong);
    assert.ok(red > 150 && green < 90, "violations are red");
    await page.locator("#violation").click();
    await page.waitForFunction(() => document.querySelector("h1").className === "violation");
    assert.match(await page.textContent("h1"), /assert/);
  },
  async programs() {
    await drive();
    await openGraph();
    const { states, wrong } = await graph();
    assert.ok(states > 100 && wrong === 1, `${states} states, ${wrong} of them deadlocks`);
    await page.locator("#violation").click();
    await page.waitForFunction(() => document.querySelector("h1").className === "violation");
    await picture("explorer");
    assert.match(await page.textContent("#notes"), /waits for/);
    const groups = await page.textContent("#groups");
    assert.match(groups, /Locks \(\d\).*held by T1 since step \d+; T\d waits for it/s);
    assert.match(groups, /Threads \(4\)main.*T1philosopher at phil\.c:\d+.*T2philosopher.*T3philosopher/s);
    await page.locator("#groups summary").first().click();
    await page.keyboard.press("b");
    await page.waitForFunction(() => document.querySelector("h1").className !== "violation");
    assert.equal(await page.locator("#groups details").first().getAttribute("open"), null, "what was closed stays closed");
  },
  /** A server and a client: takes steps until something is under way between them, and until a file has changed. */
  async sockets() {
    const holds = async (pattern, steps) => {
      for (let number = 1; number <= steps; number++) {
        if (pattern.test(await page.textContent("#groups"))) return;
        const before = await steps_taken();
        await page.locator("#offers button").first().click();
        await page.waitForFunction(before => globalThis.allways.live.at.nodes.length > before, before);
      }
      assert.fail(`never ${pattern}: ${await page.textContent("#groups")}`);
    };
    await holds(/TCP 127\.0\.0\.1:7000, listens/, 60);
    await holds(/In flight \(1\)to .*, fd \d+"/, 120);
    assert.match(await page.textContent("#groups"), /TCP 127\.0\.0\.1:\d+ to 127\.0\.0\.1:\d+/);
    await holds(/Changed files \(1\)log\d+ B, "/, 200);
  },
  async end() {
    assert.match(await page.textContent("h1"), /deadlock/);
    assert.match(await page.textContent("#offers"), /nobody can move here/);
    await page.keyboard.press("b");
    await page.waitForFunction(() => !document.querySelector("#offers button[disabled]"));
  },
  async large() {
    await openGraph();
    await page.evaluate(() => fetch("grow", { method: "POST", body: '{"states": 100000}' }));
    await page.locator("#grow").click();
    await page.waitForFunction(() => globalThis.allways.live.graph.nodes.length > 100000, null, { timeout: 120000 });
    const times = await page.evaluate(async () => {
      const drawn = async act => {
        const began = performance.now();
        act();
        await new Promise(next => requestAnimationFrame(() => requestAnimationFrame(next)));
        return Math.round(performance.now() - began);
      };
      const canvas = document.getElementById("graph");
      const wheel = deltaY => canvas.dispatchEvent(new WheelEvent("wheel", { deltaY, clientX: 400, clientY: 400, cancelable: true }));
      return { fold: await drawn(() => document.getElementById("chains").click()), out: await drawn(() => wheel(3000)), in: await drawn(() => wheel(-800)) };
    });
    await page.fill("#search", "x[5] = 3");
    await page.press("#search", "Enter");
    await page.waitForFunction(() => /state \d+ has it/.test(document.getElementById("said").textContent), null, { timeout: 60000 });
    assert.match(await page.textContent("#values"), /x\[5\]\s*3/);
    console.log(`milliseconds until it is drawn, with ${(await graph()).states} states: ${JSON.stringify(times)}`);
  },
};

let status = 0;
try {
  await page.goto(address);
  await page.waitForSelector("#offers button");
  await checks[name]();
  assert.deepEqual(complaints, []);
} catch (error) {
  status = 1;
  console.log(`${name}: ${error.stack}\n${complaints.join("\n")}`);
}
await browser.close();
process.exit(status);
