// The address says everything: the view before "?", the search after it. Back, forward and a shared link just work.

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
