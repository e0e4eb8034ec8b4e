// The page: what the address says is shown, and what the reader does becomes an address.

let keepGrid = () => {};

function refresh() {
  const text = currentQuery();
  const query = parseQuery(text);
  if (document.activeElement !== byId("search")) byId("search").value = text;
  const columns = DATA.backends.map((name) => contains(query.backend, name));
  for (const holder of document.querySelectorAll("#matrix [data-col]")) holder.hidden = !columns[Number(holder.dataset.col)];
  let rows = 0;
  for (const row of DATA.rows) {
    const cells = row.cells.filter((cell) => !cell.parentElement.hidden);
    const wanted = wantedStates(query);
    const fits = contains(query.op, row.op) && query.words.every((word) => row.op.toLowerCase().includes(word))
      && (!wanted.length || cells.some((cell) => wanted.some((state) => cell.classList.contains(`s-${state}`))));
    row.line.hidden = !fits;
    rows += fits;
  }
  for (const item of document.querySelectorAll("[data-finding]")) {
    const shown = !text ? Number(item.dataset.at) < 60 || everything : findingMatches(query, item.dataset, item.textContent.toLowerCase());
    item.hidden = !shown;
  }
  hideEmptyGroups();
  byId("nothing").hidden = rows > 0;
  const strange = query.strange.length ? `Not understood: ${query.strange.join(" ")}. ` : "";
  byId("status").textContent = text ? `${strange}${rows} operations, ${columns.filter(Boolean).length} of ${columns.length} backends.` : "";
  keepGrid();
}

let shownPath = null;

function route() {
  const { parts, all } = place();
  everything = all || everything;
  refresh();
  const path = parts.join("\n");
  if (path === shownPath) return;
  shownPath = path;
  const [view, ...rest] = parts;
  if (view === "cell") showCell(rest[0], rest.slice(1).join("/"));
  else if (view === "case") showCase(rest.join("/"));
  else closePanel();
}

function prepareKeys() {
  const search = byId("search");
  search.addEventListener("input", () => go(place().parts, search.value, { replace: true }));
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("case").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.value.trim()) go(["case", ...event.target.value.trim().split("/")], currentQuery());
  });
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
}

function start() {
  DATA = JSON.parse(byId("data").textContent);
  prepareTheme();
  DATA.rows = [...document.querySelectorAll("#matrix tbody tr")].map((line) => ({ op: line.dataset.op, line, toggle: null, cells: [...line.querySelectorAll("a.cell")] }));
  document.querySelectorAll("[data-finding]").forEach((item, at) => { item.dataset.at = String(at); });
  if (byId("more")) byId("more").addEventListener("click", () => { everything = true; byId("more").parentElement.remove(); refresh(); });
  if (byId("trends")) byId("trends").addEventListener("toggle", (event) => { if (event.target.open) showTrends(event.target); });
  refresh();
  keepGrid = prepareGrid();
  prepareKeys();
  byId("panel-close").addEventListener("click", () => go([], currentQuery()));
  byId("panel-link").addEventListener("click", (event) => copyText(location.href, event.currentTarget));
  addEventListener("hashchange", route);
  route();
}

start();
