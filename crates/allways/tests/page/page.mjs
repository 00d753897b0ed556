// The page in a browser: node page.mjs MODULES PAGES, the folder in which playwright-core is installed and the one with the pages.
// Prints what fails and ends with 1. Nothing here waits for a fixed time.
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import assert from "node:assert/strict";

const [modules, folder] = process.argv.slice(2);
const { chromium } = createRequire(`${modules}/`)("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"] });

/** Opens a page and fails if it asks for anything, or complains. */
async function open(name, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1300, height: 850 }, ...options });
  const complaints = [];
  page.on("console", message => complaints.push(message.text()));
  page.on("pageerror", error => complaints.push(error.message));
  page.on("request", request => { if (!request.url().startsWith("file:")) complaints.push(`asks for ${request.url()}`); });
  page.on("dialog", dialog => { complaints.push(`dialog ${dialog.message()}`); dialog.dismiss(); });
  await page.goto(pathToFileURL(`${folder}/${name}`).href);
  return { page, complaints, done: async () => { assert.deepEqual(complaints, [], name); await page.close(); } };
}

const texts = (page, selector) => page.locator(selector).allTextContents();

/** How long a scroll or a key takes, in milliseconds, until it has been drawn. */
const drawn = (page, act) => page.evaluate(async act => {
  const began = performance.now();
  if (act.scroll) document.getElementById("diagram").scrollTop = act.scroll;
  if (act.key) dispatchEvent(new KeyboardEvent("keydown", { key: act.key }));
  await new Promise(next => requestAnimationFrame(() => requestAnimationFrame(next)));
  return Math.round(performance.now() - began);
}, act);

const checks = {
  async "a deadlock of threads has a lane for each, and leads to the source"() {
    const { page, done } = await open("threads.html");
    assert.match(await page.textContent("h1"), /^deadlock: /);
    const lanes = await texts(page, "#heads .lane");
    assert.ok(lanes.length >= 3 && lanes.some(name => name.includes("main")), lanes.join());
    assert.equal((await texts(page, "#heads .process")).length, 1, "threads of one process stand below one head");
    await page.locator(".row", { hasText: "lock" }).first().click();
    assert.match(await page.textContent("#file"), /phil\.c:\d+/);
    assert.match(await page.textContent("#source .at"), /pthread_mutex_lock/);
    assert.equal(await page.locator(".row[aria-selected=true]").count(), 1);
    await done();
  },

  async "folded runs open and close by click and by key"() {
    const { page, done } = await open("threads.html");
    const folds = page.locator(".row.fold");
    const [before, rows] = [await folds.count(), await page.locator(".row").count()];
    assert.ok(before > 0, "something is folded");
    await folds.first().click();
    assert.equal(await folds.count(), before - 1);
    await page.keyboard.press("a");
    assert.equal(await folds.count(), 0);
    assert.ok(await page.locator(".row").count() >= rows);
    await page.keyboard.press("a");
    assert.equal(await folds.count(), before);
    await done();
  },

  async "messages between programs are arrows, and can be followed"() {
    const { page, done } = await open("messages.html");
    assert.ok(await page.locator("svg path.message").count() >= 2);
    await page.keyboard.press("Home");
    await page.locator(".row", { hasText: "sendto" }).first().click();
    const sent = await page.textContent("#step");
    assert.match(sent, /received in step \d+/);
    await page.keyboard.press("m");
    assert.match(await page.textContent("#step"), /recvfrom[^]*sent in step \d+/);
    await page.keyboard.press("f");
    assert.ok(await page.locator(".row.fault").count() > 0, "faults are marked");
    await done();
  },

  async "the cycle of a lasso has a brace and says where it goes back"() {
    const { page, done } = await open("lasso.html");
    assert.equal(await page.locator("svg path.brace").count(), 1);
    assert.match(await page.textContent(".end"), /back to step \d+/);
    await done();
  },

  async "keys go along the trace, values follow"() {
    const { page, done } = await open("model.html");
    await page.keyboard.press("Home");
    const first = await page.textContent("#step");
    for (const key of ["j", "ArrowDown", "k", "n", "p", "End", "g"]) await page.keyboard.press(key);
    assert.equal(await page.textContent("#step"), first);
    await page.keyboard.press("End");
    assert.ok(await page.locator("#values tr").count() > 0);
    await page.keyboard.press("?");
    assert.ok(await page.locator("#help[open] tr").count() > 8);
    await page.keyboard.press("Escape");
    await page.keyboard.press("/");
    await page.keyboard.type("=");
    assert.match(await page.textContent("#found"), /\d+ events? found/);
    await done();
  },

  async "what a program says cannot become markup"() {
    const { page, done } = await open("hostile.html");
    assert.equal(await page.locator("img, iframe, body script + script + script").count(), 0);
    assert.match(await page.textContent("h1"), /<\/script><img/);
    assert.equal(await page.evaluate(() => globalThis.hacked), undefined);
    await done();
  },

  async "of ten thousand events only those in sight are drawn"() {
    const { page, done } = await open("long.html");
    assert.match(await page.textContent("#step"), /Step 10000 of 10000/);
    const rows = () => page.locator(".row").count();
    assert.ok(await rows() < 200);
    const times = {};
    for (const [name, act] of Object.entries({ scroll: { scroll: 100000 }, first: { key: "Home" }, unfold: { key: "a" }, last: { key: "End" } })) {
      times[name] = await drawn(page, act);
      assert.ok(await rows() > 10 && await rows() < 200, name);
    }
    console.log(`        milliseconds until it is drawn: ${JSON.stringify(times)}`);
    await done();
  },

  async "a check that holds shows one of its runs, and what was covered"() {
    const { page, done } = await open("holds.html");
    assert.match(await page.textContent("h1.fine"), /holds: .*; one of the runs/);
    assert.ok(await page.locator(".row").count() > 3);
    await page.locator("#summary summary").click();
    assert.match(await page.textContent("#summary pre"), /exhaustive/);
    await done();
  },

  async "a check shows all that it found"() {
    const { page, done } = await open("both.html");
    assert.equal(await page.locator("#traces button").count(), 2);
    const first = await page.textContent("h1.violation");
    await page.locator("#traces button").nth(1).click();
    assert.notEqual(await page.textContent("h1"), first);
    await done();
  },

  async "dark and printed pages can be read"() {
    const { page, done } = await open("threads.html", { colorScheme: "dark" });
    const colour = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.notEqual(colour, "rgb(255, 255, 255)");
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator("aside").isVisible(), false);
    assert.ok(await page.locator("h1").isVisible() && await page.locator(".row").first().isVisible());
    await done();
  },

  async "the address leads to an event"() {
    const { page, done } = await open("model.html");
    await page.keyboard.press("Home");
    await page.keyboard.press("j");
    const [told, address] = [await page.textContent("#step"), page.url()];
    assert.match(address, /#trace=1&row=\d+$/);
    await page.goto("about:blank");
    await page.goto(address);
    assert.equal(await page.textContent("#step"), told);
    await done();
  },
};

let failed = 0;
for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
    console.log(`ok      ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
// PICTURES=docs/pictures scripts/test -p allways page:: takes those of the manual.
if (process.env.PICTURES && !failed) {
  const into = name => fileURLToPath(new URL(`../../../../${process.env.PICTURES}/${name}.png`, import.meta.url));
  const viewport = { width: 1200, height: 640 };
  const { page: threads } = await open("threads.html", { viewport });
  await threads.screenshot({ path: into("page") });
  const { page: messages } = await open("messages.html", { viewport, colorScheme: "dark" });
  await messages.screenshot({ path: into("messages") });
}
await browser.close();
process.exit(failed ? 1 : 0);
