// Strips: a small square for each run, and tables of the same for who reads them.

// Return a strip of [place, state, words] for each run, oldest first; a run without a record is a gap.
function strip(label, squares) {
  const list = element("ol", { className: "strip", ariaLabel: label });
  for (const [place, state, words] of squares) {
    const text = `${day(place)}: ${words}`;
    list.append(element("li", { className: state === "gap" ? "gap" : `s-${state}`, title: text }, element("span", { className: "unseen", textContent: text })));
  }
  return list;
}

function table(caption, columns, rows) {
  const head = element("tr", {}, ...columns.map((name) => element("th", { scope: "col", textContent: name })));
  const lines = rows.map((row) => element("tr", {}, ...row.map((value, at) => {
    const made = element(at ? "td" : "th", at ? {} : { scope: "row" });
    made.append(value instanceof Node ? value : String(value ?? ""));
    return made;
  })));
  const made = element("table", { className: "plain" }, element("caption", { textContent: caption }), element("thead", {}, head), element("tbody", {}, ...lines));
  return element("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: caption }, made);
}

const words = (text) => String(text).replace(/_/g, " ");
const caseLink = (name, text = name) => element("a", { className: "id", href: linkTo(["case", ...name.split("/")], currentQuery()), textContent: text });

function stateOf([, passed, must, should, known, unsupported]) {
  if (must) return "fail";
  if (should) return "should_fail";
  if (known) return "known";
  if (passed) return "pass";
  return unsupported ? "unsupported" : "not_run";
}

// The panel of a cell: how the operation came out in each run, what fails, since when.
async function showCell(backend, op) {
  if (!DATA.backends.includes(backend)) return showMissing(`${backend}, ${op}`);
  const data = await load(`backends/${stemOf(backend)}`);
  if (!data || !data.cells[op]) return showMissing(`${backend}, ${op}`);
  const rows = data.cells[op].slice(-60);
  const told = (row) => [`${row[1]} passed`, row[2] && `${row[2]} break a must`, row[3] && `${row[3]} break a should`, row[4] && `${row[4]} known`, row[5] && `${row[5]} unsupported`, row[6] && `${row[6]} not shown`].filter(Boolean).join(", ");
  const parts = [strip(`${op} on ${backend}, run by run`, rows.map((row) => [row[0], stateOf(row), told(row)]))];
  const found = data.findings.filter((one) => one.op === op);
  if (found.length) {
    parts.push(table("Ways to fail", ["Clause", "Outcome", "First seen", "Last seen", "Case"],
      found.map((one) => [one.clause, words(one.outcome), day(one.first), day(one.last), caseLink(one.case, "open")])));
  }
  const failing = data.failing[op] || [];
  if (failing.length) {
    parts.push(table(`Cases that fail in the last run${failing.length >= 200 ? ", 200 of them" : ""}`, ["Case", "Clause", "Outcome", "Since"],
      failing.map(([name, clause, outcome, since]) => [caseLink(name), clause || "", words(outcome), day(since)])));
  }
  parts.push(table("Counts, the newest first", ["Run", "Passed", "Must", "Should", "Known", "Unsupported", "Not shown"],
    [...rows].reverse().map((row) => [day(row[0]), ...row.slice(1, 7).map((number) => number.toLocaleString("en"))])));
  const origin = document.querySelector(`#matrix a[href="${CSS.escape("#")}${CSS.escape(`/cell/${encodeURIComponent(backend)}/${encodeURIComponent(op)}`)}"]`);
  openPanel(`${backend}: ${op}`, parts, origin);
}

function showMissing(name) {
  openPanel("Not in this history", [element("p", { textContent: `Nothing here is called ${name}. The link may be of another site.` })], null);
}
