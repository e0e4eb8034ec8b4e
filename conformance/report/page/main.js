// The address says everything: the view before "?", the search after it. Back, forward and a shared link just work.

let keepGrid = () => {};
let everything = false;

function linkTo(parts, query) {
  const path = parts.filter((part) => part !== null && part !== undefined).map(encodeURIComponent).join("/");
  const search = new URLSearchParams();
  if (query) search.set("q", query);
  if (everything) search.set("all", "1");
  const tail = search.toString();
  return `#/${path}${tail ? `?${tail}` : ""}`;
}

function place() {
  const hash = location.hash.startsWith("#/") ? location.hash.slice(2) : "";
  const cut = hash.indexOf("?");
  const search = new URLSearchParams(cut < 0 ? "" : hash.slice(cut + 1));
  const plain = (part) => { try { return decodeURIComponent(part); } catch { return part; } };
  const parts = (cut < 0 ? hash : hash.slice(0, cut)).split("/").filter(Boolean).map(plain);
  return { parts, query: search.get("q") || "", all: search.get("all") === "1" };
}

const currentQuery = () => place().query;

function go(parts, query, { replace = false } = {}) {
  const target = linkTo(parts, query);
  if (replace) { location.replace(target); } else { location.hash = target; }
}

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

function prepareTheme() {
  const names = ["auto", "light", "dark"];
  const button = byId("theme");
  let chosen = "auto";
  try { chosen = localStorage.getItem("conformance-theme") || "auto"; } catch { /* A page from disk may have no storage. */ }
  const apply = () => {
    if (!names.includes(chosen)) chosen = "auto";
    if (chosen === "auto") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = chosen;
    button.textContent = `Theme: ${chosen}`;
  };
  button.addEventListener("click", () => {
    chosen = names[(names.indexOf(chosen) + 1) % names.length];
    try { localStorage.setItem("conformance-theme", chosen); } catch { /* Then it lasts for this visit. */ }
    apply();
  });
  apply();
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
