// The page: what the address says is shown, and what the reader does becomes an address.

let keepGrid = () => {};

function showMore() {
  if (!byId("more")) return;
  byId("more").remove();
  byId("findings").append(...nodesOf(DATA.parts.more));
}

function refresh() {
  const text = currentQuery();
  const query = parseQuery(text);
  if (text) showMore();
  if (document.activeElement !== byId("search")) byId("search").value = text;
  for (const select of document.querySelectorAll("#filters select")) {
    const [value, ...more] = query[select.dataset.key];
    const option = [...select.options].find((one) => one.value && one.value.toLowerCase() === value);
    select.value = option && !more.length ? option.value : "";
  }
  byId("expand").setAttribute("aria-pressed", String(everything));
  const shown = drawMatrix(query, everything);
  const failures = drawFindings(query);
  const strange = query.strange.length ? `Not understood: ${query.strange.join(" ")}. ` : "";
  byId("status").textContent = text || strange ? `${strange}${counted(shown.ops, "operation")}, ${counted(shown.rows, "clause")}, ${shown.columns} of ${counted(DATA.backends.length, "backend")}, ${failures}.` : "";
  keepGrid();
}

let shownPath = null;

function route() {
  const { parts, all } = place();
  everything = all;
  refresh();
  // A change of the search alone leaves the panel, and the focus, where they are.
  const path = parts.join("\n");
  if (path === shownPath) return;
  shownPath = path;
  const [view, ...rest] = parts;
  if (view === "cell") showCell(...rest);
  else if (view === "case") showCase(rest.join("/"));
  else if (view === "op") showOp(rest.join("/"));
  else closePanel();
}

async function start() {
  prepareTheme();
  DATA = await readData();
  document.addEventListener("toggle", (event) => { if (event.target.open) fill(event.target); }, true);
  for (const opened of document.querySelectorAll("details[open]")) fill(opened);
  if (byId("more")) byId("more").addEventListener("click", () => {
    showMore();
    refresh();
  });
  prepareMatrix();
  refresh();
  keepGrid = prepareGrid();
  const search = byId("search");
  search.addEventListener("input", () => go(place().parts, search.value, { replace: true }));
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  for (const select of document.querySelectorAll("#filters select")) {
    select.addEventListener("change", () => go(place().parts, withTerm(currentQuery(), select.dataset.key, select.value)));
  }
  byId("clear").addEventListener("click", () => { go([], ""); search.focus(); });
  byId("expand").addEventListener("click", () => {
    everything = !everything;
    flipped.clear();
    go(place().parts, currentQuery());
  });
  byId("panel-close").addEventListener("click", () => go([], currentQuery()));
  byId("panel-link").addEventListener("click", (event) => copyText(location.href, event.currentTarget));
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, select, textarea");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && !byId("panel").hidden) {
      go([], currentQuery());
    } else if (event.key === "Escape" && event.target === search && search.value) {
      event.preventDefault();
      search.value = "";
      go([], "", { replace: true });
    }
  });
  addEventListener("hashchange", route);
  route();
}

start();
