// The matrix: counting its cells for the chosen types, showing the rows and columns that match.

let DATA = null;
const flipped = new Set(); // Operations that the reader unfolded, or folded where the search unfolds them.

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

const bucketsOf = (test) => DATA.buckets.map((bucket, number) => ({ ...bucket, number })).filter(test);

function bucketNodes(buckets, { open = buckets.length === 1 } = {}) {
  return buckets.flatMap((bucket, at) => {
    const made = nodesOf(DATA.parts[`bucket-${bucket.number}`]).filter((node) => node.nodeType === Node.ELEMENT_NODE);
    for (const node of made) node.open = open && at === 0;
    return made;
  });
}

function fill(details) {
  const name = details.dataset.part;
  if (!name || details.dataset.filled) return;
  details.dataset.filled = "1";
  if (DATA.parts[name]) details.append(...nodesOf(DATA.parts[name]));
  if (name === "loose") details.append(...bucketNodes(bucketsOf((bucket) => bucket.finding === null), { open: false }));
  if (details.matches(".finding")) details.append(...bucketNodes(bucketsOf((bucket) => bucket.finding === Number(details.dataset.number))));
}

function prepareMatrix() {
  DATA.rows.forEach((row) => { row.line = null; row.cells = []; });
  for (const line of document.querySelectorAll("#matrix tbody tr")) {
    const row = DATA.rows[line.dataset.row];
    row.line = line;
    row.cells = [...line.querySelectorAll("a.cell")];
    const name = line.querySelector(".name");
    row.toggle = element("button", { type: "button", className: "toggle", textContent: row.op });
    row.toggle.addEventListener("click", () => {
      flip(row.op);
      refresh();
    });
    name.replaceWith(row.toggle);
  }
}

function makeLine(row, after) {
  const head = element("th", { scope: "row" }, element("span", { className: "id", textContent: row.clause }), " ",
    element("span", { className: `req r-${row.requirement.split(";")[0]}`, textContent: row.requirement.split(";")[0] || "unknown" }), " ",
    element("span", { className: "text", textContent: row.text || "This clause is not in the specification the report was made with." }));
  row.cells = DATA.backends.map(() => element("a"));
  row.line = element("tr", { className: "clause" }, head, ...row.cells.map((link, column) => {
    const place = element("td", {}, link);
    place.dataset.col = column;
    return place;
  }));
  after.after(row.line);
}

function dropLine(row) {
  if (row.line) row.line.remove();
  row.line = null;
  row.cells = [];
}

const flip = (op) => flipped[flipped.has(op) ? "delete" : "add"](op);

function unfoldOp(op) {
  const row = DATA.rows.find((one) => one.op === op && one.clause === null);
  if (row.toggle.getAttribute("aria-expanded") === "true") return;
  flip(op);
  refresh();
}

function drawCell(link, row, column, cell, dim) {
  link.className = `cell s-${cell.state}${dim ? " dim" : ""}`;
  link.textContent = DATA.words[cell.state];
  link.dataset.n = figureOf(cell.counts);
  link.href = linkTo(["cell", DATA.backends[column], row.op, row.clause], currentQuery());
}

function drawMatrix(query, everything) {
  const columns = DATA.backends.map((name) => contains(query.backend, name));
  const cellTerms = Boolean(query.is.length || query.outcome.length);
  const deep = cellTerms || query.clause.length || query.requirement.length || query.words.length;
  const shown = { rows: 0, ops: 0 };
  const groups = new Map();
  for (const row of DATA.rows) {
    row.found = DATA.backends.map((_, column) => cellAt(row, column, query.dtype));
    const visible = row.found.filter((cell, column) => columns[column]);
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
    let after = head.line;
    for (const row of clauses) {
      if (!(visible && unfold && listed.includes(row))) { dropLine(row); continue; }
      if (!row.line) makeLine(row, after);
      after = row.line;
    }
    for (const row of rows) row.cells.forEach((link, column) => drawCell(link, row, column, row.found[column], cellTerms && !cellMatches(query, row.found[column])));
    head.toggle.setAttribute("aria-expanded", String(unfold));
    shown.ops += visible;
    shown.rows += visible && unfold ? listed.length : 0;
  }
  for (const place of document.querySelectorAll("#matrix [data-col]")) place.hidden = !columns[place.dataset.col];
  byId("nothing").hidden = shown.ops > 0;
  return { ...shown, columns: columns.filter(Boolean).length };
}

const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

function drawFindings(query) {
  let shown = 0;
  const all = document.querySelectorAll("#findings .finding");
  // A finding is met by every name of its operations, too.
  const names = Object.fromEntries(DATA.rows.filter((row) => row.clause === null).map((row) => [row.op, `${row.aliases} ${row.text}`]));
  for (const finding of all) {
    const aliases = finding.dataset.op.split(" ").map((op) => names[op]).join(" ");
    const words = query.words.length ? `${aliases} ${finding.textContent}`.toLowerCase() : "";
    const fits = findingMatches(query, finding.dataset, words);
    finding.parentElement.hidden = !fits;
    shown += fits;
  }
  hideEmptyGroups();
  return `${shown} of ${counted(all.length, "finding")}`;
}
