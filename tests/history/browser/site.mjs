// What a browser makes of a site: bytes and time of its first view, errors, every view by axe, light and dark, wide and
// narrow, the keyboard, print. Prints JSON; ends with 1 where a limit is passed. `node site.mjs PAGE`, where node_modules
// with puppeteer-core and axe-core lie in a folder above PAGE.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(process.argv[2]));
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core"), "utf8");

const LIMITS = { bytes: 1 << 20, milliseconds: 1_000, nodes: 12_000, errors: 0, violations: 0, wide: 0, unreached: 0, sheets: 8 };
const address = pathToFileURL(process.argv[2]).href;
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
});
const found = { bytes: readFileSync(process.argv[2]).length, errors: 0, violations: 0, wide: 0, unreached: 0, told: [] };
const wrong = (kind, text) => { found[kind] += 1; found.told.push(text); };

async function opened({ scheme = "light", width = 1280, media = "screen", bypass = true } = {}) {
  const page = await browser.newPage();
  page.on("pageerror", (error) => wrong("errors", `error: ${error.message}`));
  page.on("console", (said) => { if (said.type() === "error") wrong("errors", `console: ${said.text()}`); });
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaType(media);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.setBypassCSP(bypass); // the page lets no other script in, and axe is one
  const began = Date.now();
  await page.goto(address, { waitUntil: "load" });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  return { page, milliseconds: Date.now() - began };
}

async function examined(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  for (const each of violations) wrong("violations", `${where}: ${each.id}: ${each.help}: ${each.nodes.slice(0, 3).map((node) => node.target).join("; ")}`);
  const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  if (over > 0) wrong("wide", `${where}: the page is ${over} px too wide`);
}

const panel = (page) => page.waitForFunction(() => !document.getElementById("panel").hidden && document.querySelector("#panel-body").children.length, { timeout: 10_000 });
const title = (page) => page.evaluate(() => document.getElementById("panel-title").textContent);

// With the policy of the page in force: data files load from disk, a cell opens by the keyboard, and leads to a case.
const first = await opened({ bypass: false });
found.milliseconds = first.milliseconds;
found.nodes = await first.page.evaluate(() => document.querySelectorAll("*").length);
const cell = await first.page.evaluate(() => {
  const target = document.querySelector("#matrix a.s-fail, #matrix a.cell");
  target.focus();
  return target.getAttribute("href");
});
await first.page.keyboard.press("Enter");
await panel(first.page);
if ((await title(first.page)).startsWith("Not in")) wrong("unreached", `the cell ${cell} opens nothing`);
const link = await first.page.$("#panel-body a.id");
if (link) {
  await link.focus();
  await first.page.keyboard.press("Enter");
  await first.page.waitForFunction(() => /^Case|^Not in/.test(document.getElementById("panel-title").textContent), { timeout: 10_000 });
  if (!(await title(first.page)).startsWith("Case")) wrong("unreached", "the case of a cell opens nothing");
} else wrong("unreached", "the cell names no case");
const shown = await first.page.evaluate(() => location.hash);
await first.page.keyboard.press("Escape");
await new Promise((done) => setTimeout(done, 100));
if (!(await first.page.evaluate(() => document.getElementById("panel").hidden))) wrong("unreached", "Escape does not close the panel");
await first.page.keyboard.press("/");
if (!(await first.page.evaluate(() => document.activeElement.id === "search"))) wrong("unreached", "/ does not reach the search");
await first.page.keyboard.type("is:failing");
const lines = await first.page.evaluate(() => [...document.querySelectorAll("#matrix tbody tr")].filter((row) => !row.hidden).every((row) => row.querySelector(".s-fail, .s-should_fail")));
if (!lines) wrong("unreached", "is:failing shows rows where nothing fails");
await first.page.close();

for (const scheme of ["light", "dark"]) {
  for (const width of [1280, 390]) {
    const { page } = await opened({ scheme, width });
    const where = `${scheme}, ${width} px`;
    await examined(page, where);
    for (const [name, hash] of [["a cell", cell], ["a case", shown], ["nothing", "#/case/no/such/thing"]]) {
      await page.evaluate((to) => { location.hash = to; }, hash);
      await panel(page);
      await new Promise((done) => setTimeout(done, 200));
      await page.evaluate(() => { for (const each of document.querySelectorAll("#panel details")) each.open = true; });
      await examined(page, `${where}, ${name}`);
    }
    await page.evaluate(() => { location.hash = ""; const trends = document.getElementById("trends"); if (trends) trends.open = true; });
    await new Promise((done) => setTimeout(done, 300));
    await examined(page, `${where}, trends`);
    await page.close();
  }
}

const { page } = await opened({ media: "print" });
const pdf = Buffer.from(await page.pdf({ format: "A4", landscape: true })).toString("latin1");
found.sheets = (pdf.match(/\/Type\s*\/Page[^s]/g) ?? []).length;
await browser.close();

found.told = [...new Set(found.told)].slice(0, 20);
found.passed = Object.fromEntries(Object.entries(LIMITS).filter(([name, most]) => found[name] > most));
console.log(JSON.stringify(found, null, 1));
process.exit(Object.keys(found.passed).length ? 1 : 0);
