// The matrix: counting its cells for the chosen types, showing the rows and columns that match.

let DATA = null;
const flipped = new Set(); // Operations that the reader unfolded, or folded where the search unfolds them.
const byId = (id) => document.getElementById(id);
const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

async function readData() {
  const holder = byId("data");
  if (holder.dataset.encoding === "json") return JSON.parse(holder.textContent);
  const bytes = Uint8Array.from(atob(holder.textContent), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function stateOf(counts) {
  if (counts.must) return "fail";
  if (counts.should) return "should_fail";
  if (counts.known) return "known";
  if (counts.may) return "differs";
  if (counts.held) return "pass";
  if (counts.shadowed) return "shadowed";
  return counts.unsupported ? "unsupported" : "not_run";
}

function cellAt(row, column, dtypes = []) {
  const counts = Object.fromEntries(DATA.fields.map((field) => [field, 0]));
  for (const [dtype, numbers] of Object.entries(row.tallies[column])) {
    if (!dtypes.length || dtypes.includes(dtype)) numbers.forEach((number, at) => { counts[DATA.fields[at]] += number; });
  }
  return { counts, state: counts.cases ? stateOf(counts) : dtypes.length ? "not_run" : row.states[column] };
}

function figureOf(counts) {
  const broken = counts.must + counts.should + counts.may || counts.known;
  const ran = counts.cases - counts.adapter_error - counts.unsupported - counts.not_run;
  // A failing cell divides by the cases that were judged.
  if (broken) return `${broken.toLocaleString("en")} of ${ran.toLocaleString("en")} run`;
  const [part, word] = ran < counts.cases ? [ran, " run"] : [counts.held, ""];
  const all = counts.cases.toLocaleString("en");
  if (part && part < counts.cases) return `${part.toLocaleString("en")} of ${all}${word}`;
  return counts.cases ? all : "";
}

function prepareMatrix() {
  for (const line of document.querySelectorAll("#matrix tbody tr")) {
    const row = DATA.rows[line.dataset.row];
    row.line = line;
    row.cells = [...line.querySelectorAll("a.cell")];
    if (row.clause === null) {
      const name = line.querySelector(".name");
      row.toggle = element("button", { type: "button", className: "toggle", textContent: row.op });
      row.toggle.addEventListener("click", () => {
        flip(row.op);
        refresh();
      });
      name.replaceWith(row.toggle);
    }
  }
  document.documentElement.classList.add("ready");
}

const flip = (op) => flipped[flipped.has(op) ? "delete" : "add"](op);

function unfoldOp(op) {
  const row = DATA.rows.find((one) => one.op === op && one.clause === null);
  if (row.toggle.getAttribute("aria-expanded") === "true") return;
  flip(op);
  refresh();
}

function drawCell(link, cell) {
  link.className = `cell s-${cell.state}`;
  const glyph = element("span", { className: "glyph", textContent: DATA.glyphs[cell.state] });
  glyph.setAttribute("aria-hidden", "true");
  link.querySelector(".word").replaceChildren(glyph, ` ${DATA.words[cell.state]}`);
  link.querySelector(".count").textContent = figureOf(cell.counts);
}

function drawMatrix(query, everything) {
  const columns = DATA.backends.map((name) => contains(query.backend, name));
  for (const place of document.querySelectorAll("#matrix [data-col]")) place.hidden = !columns[place.dataset.col];
  const cellTerms = query.is.length || query.outcome.length;
  const deep = cellTerms || query.clause.length || query.requirement.length || query.words.length;
  const shown = { rows: 0, ops: 0 };
  const groups = new Map();
  for (const row of DATA.rows) {
    const cells = row.cells.map((link, column) => cellAt(row, column, query.dtype));
    row.cells.forEach((link, column) => {
      drawCell(link, cells[column]);
      link.classList.toggle("dim", Boolean(cellTerms) && !cellMatches(query, cells[column]));
      link.href = linkTo(["cell", DATA.backends[column], row.op, row.clause], currentQuery());
    });
    const visible = cells.filter((cell, column) => columns[column]);
    row.matches = rowMatches(query, row) && (!cellTerms || visible.some((cell) => cellMatches(query, cell)))
      && (row.clause === null || !query.dtype.length || visible.some((cell) => cell.counts.cases));
    if (!groups.has(row.op)) groups.set(row.op, []);
    groups.get(row.op).push(row);
  }
  for (const [op, rows] of groups) {
    const [head, ...clauses] = rows;
    const found = clauses.filter((row) => row.matches);
    const visible = head.matches || found.length > 0;
    // A word that fits the operation itself (its name, an alias) leaves its clauses folded.
    const wanted = Boolean(everything || (deep && found.length > 0 && !(head.matches && !cellTerms)));
    const unfold = wanted !== flipped.has(op);
    const listed = head.matches && !cellTerms && !query.clause.length && !query.requirement.length && !query.dtype.length ? clauses : found;
    head.line.hidden = !visible;
    for (const row of clauses) row.line.hidden = !(visible && unfold && listed.includes(row));
    head.toggle.setAttribute("aria-expanded", String(unfold));
    shown.ops += visible;
    shown.rows += visible && unfold ? listed.length : 0;
  }
  byId("nothing").hidden = shown.ops > 0;
  return { ...shown, columns: columns.filter(Boolean).length };
}

const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

function drawBuckets(query) {
  let shown = 0;
  const backends = new Set();
  const all = document.querySelectorAll("#buckets .bucket");
  // A failure is found by every name of its operation, too.
  const names = Object.fromEntries(DATA.rows.filter((row) => row.clause === null).map((row) => [row.op, `${row.aliases} ${row.text}`]));
  for (const bucket of all) {
    const words = query.words.length ? `${names[bucket.dataset.op]} ${bucket.textContent}`.toLowerCase() : "";
    const fits = bucketMatches(query, bucket.dataset, words);
    bucket.hidden = !fits;
    if (fits) backends.add(bucket.dataset.group);
    shown += fits;
  }
  for (const title of document.querySelectorAll("#buckets h3")) title.hidden = !backends.has(title.dataset.group);
  return `${shown} of ${counted(all.length, "failure")}`;
}
