// What the panel shows of one cell, one operation or one case.

function countTable(row, column) {
  const dtypes = Object.keys(row.tallies[column]);
  const fields = [["cases", "cases"], ["held", row.clause ? "held" : "passed"], ["to blame", "must", "should", "may"], ["known", "known"],
    ["shadowed", "shadowed"], ["adapter error", "adapter_error"], ["unsupported", "unsupported"], ["not run", "not_run"]].map(([name, ...keys]) => [name, keys[0] ? keys : [name]]);
  const value = (cell, keys) => keys.reduce((sum, key) => sum + (cell.counts[key] || 0), 0);
  const whole = cellAt(row, column);
  const used = fields.filter(([, keys], at) => at === 0 || value(whole, keys));
  const header = (text, scope) => { const made = element("th", { textContent: text, scope }); return made; };
  const lines = [...dtypes, null].map((dtype) => {
    const cell = dtype === null ? whole : cellAt(row, column, [dtype]);
    return element("tr", {}, header(dtype ?? "all types", "row"),
      ...used.map(([, keys]) => element("td", { className: "number", textContent: value(cell, keys).toLocaleString("en") })));
  });
  const head = element("tr", {}, header("Type", "col"), ...used.map(([name]) => Object.assign(header(name, "col"), { className: "number" })));
  const table = element("table", { className: "plain" }, element("caption", { textContent: "Distinct cases by type" }),
    element("thead", {}, head), element("tbody", {}, ...(dtypes.length === 1 ? lines.slice(0, 1) : lines)));
  return element("div", { className: "scroll" }, table);
}

function showCell(backend, op, clause) {
  const column = DATA.backends.indexOf(backend);
  const row = DATA.rows.find((one) => one.op === op && one.clause === (clause ?? null));
  if (column < 0 || !row) return showMissing([backend, op, clause].filter(Boolean).join(", "));
  const cell = cellAt(row, column);
  const tag = element("span", { className: `tag s-${cell.state}`, textContent: DATA.words[cell.state] });
  const numbers = cell.counts.cases ? `${figureOf(cell.counts).replace(" run", "")} cases${cell.state === "pass" && cell.counts.unsupported ? ", the others unsupported" : ""}` : "";
  const parts = [element("p", {}, tag, ` ${numbers}`)];
  if (row.text) parts.push(element("blockquote", {}, element("p", { textContent: row.text })));
  const facts = element("dl", { className: "facts" });
  if (row.requirement) facts.append(fact("Requirement", row.requirement));
  if (row.source) facts.append(fact("Source", row.source));
  if (row.document) facts.append(written(row.document));
  if (row.aliases) facts.append(fact("Also called", row.aliases));
  const outcomes = DATA.outcomes.filter((name) => cell.counts[name]).map((name) => `${cell.counts[name].toLocaleString("en")} ${name.replace("_", " ")}`);
  if (outcomes.length) facts.append(fact("Outcomes", outcomes.join(", ")));
  parts.push(facts);
  if (cell.counts.shadowed) parts.push(element("p", { className: "quiet", textContent: `Shadowed in ${cell.counts.shadowed} cases: broken there too, but another clause explains the failure.` }));
  const failures = bucketNodes(bucketsOf((one) => one.backend === backend && one.op === op && (clause === undefined || one.clause === clause)), { open: true });
  if (clause !== undefined) failures.forEach((bucket) => bucket.querySelector("blockquote")?.remove());
  parts.push(...failures);
  if (cell.counts.cases) parts.push(countTable(row, column));
  if (clause !== undefined) unfoldOp(op);
  const origin = row.cells[column] || null;
  openPanel(`${backend}: ${clause ?? op}`, parts, origin);
  if (clause !== undefined && !clause.startsWith(`${op}.`)) byId("panel-title").textContent += ` in ${op}`;
  // The panel narrows the page, so the cell can only be brought into view now; one in view stays where it is.
  if (origin) origin.scrollIntoView({ block: "nearest", behavior: "instant" });
}

function showCase(name) {
  const found = bucketsOf((bucket) => bucket.case === name);
  if (!found.length) return showMissing(name);
  openPanel(`Case ${name}`, found.flatMap((bucket) => [element("h3", { textContent: bucket.backend }), ...bucketNodes([bucket])]), null);
}

function showOp(op) {
  const row = DATA.rows.find((one) => one.op === op && one.clause === null);
  if (!row) return showMissing(op);
  closePanel();
  unfoldOp(op);
  row.line.scrollIntoView({ block: "start" });
  row.toggle.focus({ preventScroll: true });
}

function showMissing(name) {
  openPanel("Not in this report", [element("p", { textContent: `This report has nothing called ${name}. The link may be of another run.` })], null);
}
