// The panel of a case: a strip for each backend and plan, what differs between two versions, the case and its scripts.

const STATES = { passed: "pass", unsupported: "unsupported", not_run: "not_run", adapter_error: "not_run" };

const caseState = ([outcome, , requirement, expected]) => STATES[outcome] || (expected === "as_expected" ? "known" : requirement === "should" ? "should_fail" : "fail");
const stateWords = ([outcome, clause, , expected]) => [words(outcome), clause, expected && words(expected)].filter(Boolean).join(", ");

async function showCase(name) {
  const [shard, texts] = await Promise.all([load(`cases/${shardOf(name)}`), load(`texts/${shardOf(name)}`)]);
  const one = shard && shard.cases[name];
  const text = texts && texts[name];
  if (!one && !text) return showMissing(name);
  const parts = [];
  if (one) parts.push(...await histories(shard, one));
  if (text) parts.push(...stored(name, text));
  if (one && one[4]) {
    const [suite, op, seed, number] = one[4].split("/");
    parts.push(element("p", { className: "label", textContent: "Draw it again" }), command(`conformance draw ${seed} ${number} ${suite} --op ${op}`));
  }
  openPanel(`Case ${name}`, parts, null);
}

async function histories(shard, [op, suite, dtype, world, origin, intervals]) {
  const facts = element("dl", { className: "facts" }, fact("Operation", op), fact("Suite", suite), fact("Type and ranks", `${dtype}, ${world}`));
  if (origin) facts.append(fact("Drawn as", origin));
  const parts = [facts];
  const groups = new Map();
  for (const interval of intervals) groups.set(interval[0], [...(groups.get(interval[0]) || []), interval]);
  for (const [number, several] of groups) {
    const [backend, plan] = shard.series[number];
    const data = await load(`backends/${stemOf(backend)}`);
    several.sort((a, b) => a[2] - b[2]);
    const runs = (data ? data.runs : []).map((run) => run.run).filter((at) => at >= several[0][2]).slice(-60);
    const at = (place) => several.find((one) => one[2] <= place && place <= one[3]);
    const squares = runs.map((place) => { const one = at(place); return one ? [place, caseState(shard.states[one[1]]), stateWords(shard.states[one[1]])] : [place, "gap", "no record"]; });
    parts.push(element("h3", { textContent: backend }), element("p", { className: "quiet", textContent: plan }), strip(`The case on ${backend}, run by run`, squares));
    parts.push(table(`What it came to on ${backend}: ${plan}`, ["Outcome", "From", "To", "Seen"], several.map((one) => [stateWords(shard.states[one[1]]), day(one[2]), day(one[3]), one[4] || ""])));
    if (several.length > 1 && data) parts.push(comparison(shard, several, data, `${backend}: ${plan}`));
  }
  return parts;
}

// Two runs of the reader's choice side by side; at first those between which the case last came out otherwise.
function comparison(shard, several, data, backend) {
  const ends = [...new Set(several.flatMap((one) => [one[2], one[3]]))].sort((a, b) => a - b);
  const choose = (label, value) => {
    const select = element("select", { ariaLabel: `${label} run of ${backend}` }, ...ends.map((place) => element("option", { value: String(place), textContent: `${day(place)} ${DATA.runs[place][1]}` })));
    select.value = String(value);
    return select;
  };
  const last = several[several.length - 1];
  const from = choose("Earlier", several[several.length - 2][3]);
  const to = choose("Later", last[2]);
  const body = element("div", { className: "body" });
  const show = async () => {
    const runs = await load("runs");
    const places = [Number(from.value), Number(to.value)];
    const came = places.map((place) => several.find((one) => one[2] <= place && place <= one[3]));
    const said = places.map((place) => data.runs.find((run) => run.run === place) || { description: {} });
    const rows = [["Came to", ...came.map((one) => (one ? stateWords(shard.states[one[1]]) : "no record"))], ["Seen", ...came.map((one) => (one && one[4]) || "")]];
    const differ = (name, [a, b]) => { if (a !== b) rows.push([name, a ?? "", b ?? ""]); };
    for (const name of ["specification", "reference"]) differ(name, places.map((place) => runs[place][name].slice(0, 12)));
    const keys = (objects) => [...new Set(objects.flatMap((one) => Object.keys(one)))].sort();
    for (const key of keys(said.map((one) => one.description))) differ(key, said.map((one) => one.description[key]));
    for (const key of keys(places.map((place) => runs[place].environment))) differ(key, places.map((place) => runs[place].environment[key]));
    for (const key of ["claims", "declared"]) differ(key, said.map((one) => one[key]));
    body.replaceChildren(table(`What differs between two runs of ${backend}`, ["Fact", ...places.map(day)], rows));
  };
  from.addEventListener("change", show);
  to.addEventListener("change", show);
  show();
  return element("div", {}, element("p", { className: "label", textContent: "Two versions" }), from, " ", to, body);
}

function copyButton() {
  const made = element("button", { type: "button", textContent: "Copy" });
  made.dataset.copy = "";
  return made;
}

function command(text) {
  return element("div", { className: "command" }, element("code", { textContent: text }), copyButton());
}

function stored(name, text) {
  const parts = [];
  const block = (label, content, file) => {
    const save = element("button", { type: "button", textContent: "Save" });
    save.dataset.save = file;
    return element("details", { className: "source" }, element("summary", { textContent: label }), element("p", {}, copyButton(), " ", save), element("pre", { textContent: content, tabIndex: 0 }));
  };
  const flat = name.replace(/\//g, "_");
  for (const [backend, script] of Object.entries(text.scripts)) parts.push(block(`Script of ${backend} alone`, script, `${backend}-${flat}.py`));
  if (text.case) parts.push(block("Case file", text.case, `${flat}.json`));
  return parts;
}
