// What a browser makes of a page: nodes, time to open, sheets of print, violations of axe. Prints JSON; ends with 1 where
// a limit is passed. `node page.mjs PAGE`, where node_modules with puppeteer-core and axe-core lie beside PAGE.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(process.argv[2]));
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core"), "utf8");

const LIMITS = { bytes: 4 << 20, nodes: 10_000, milliseconds: 2_000, sheets: 6, violations: 0, wide: 0, unreached: 0 };
const address = pathToFileURL(process.argv[2]).href;
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
});
const found = { bytes: readFileSync(process.argv[2]).length, violations: 0, wide: 0, unreached: 0, told: [] };

async function opened({ scheme = "light", width = 1280, media = "screen" } = {}) {
  const page = await browser.newPage();
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaType(media);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.setBypassCSP(true); // the page lets no other script in, and axe is one
  const began = Date.now();
  await page.goto(address, { waitUntil: "load" });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  return { page, milliseconds: Date.now() - began };
}

async function examined(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  found.violations += violations.length;
  for (const each of violations) {
    found.told.push(`${where}: ${each.id}: ${each.help}: ${each.nodes.slice(0, 3).map((node) => node.target).join("; ")}`);
  }
}

const first = await opened();
found.milliseconds = first.milliseconds;
found.nodes = await first.page.evaluate(() => document.querySelectorAll("*").length);
await first.page.close();

for (const scheme of ["light", "dark"]) {
  for (const width of [1280, 390]) {
    const { page } = await opened({ scheme, width });
    await examined(page, `${scheme}, ${width} px`);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    if (over > 0) found.told.push(`${scheme}, ${width} px: the page is ${over} px too wide`);
    found.wide += over > 0;
    // The first finding or cell that opens something, by the keyboard alone.
    const reached = await page.evaluate(() => {
      const target = document.querySelector("main button, main summary, main a[href^='#']");
      target?.focus();
      return document.activeElement === target;
    });
    found.unreached += !reached;
    await page.keyboard.press("Enter");
    await new Promise((done) => setTimeout(done, 300));
    await examined(page, `${scheme}, ${width} px, opened`);
    await page.close();
  }
}

const { page } = await opened({ media: "print" });
const pdf = Buffer.from(await page.pdf({ format: "A4" })).toString("latin1");
found.sheets = (pdf.match(/\/Type\s*\/Page[^s]/g) ?? []).length;
await browser.close();

found.passed = Object.fromEntries(Object.entries(LIMITS).filter(([name, most]) => found[name] > most));
console.log(JSON.stringify(found, null, 1));
process.exit(Object.keys(found.passed).length ? 1 : 0);
