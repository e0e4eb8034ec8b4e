// The panel: everything about one thing. Only text nodes are ever made from data.

let returnTo = null;

function openPanel(title, children, origin) {
  byId("panel-title").textContent = title;
  byId("panel-body").replaceChildren(...children);
  const fresh = byId("panel").hidden;
  byId("panel").hidden = false;
  byId("panel").scrollTop = 0;
  document.body.classList.add("with-panel");
  for (const cell of document.querySelectorAll(".cell[aria-current]")) cell.removeAttribute("aria-current");
  if (origin) origin.setAttribute("aria-current", "true");
  if (origin || fresh) returnTo = origin;
  byId("panel-title").focus({ preventScroll: true });
}

function closePanel() {
  if (byId("panel").hidden) return;
  byId("panel").hidden = true;
  document.body.classList.remove("with-panel");
  for (const cell of document.querySelectorAll(".cell[aria-current]")) cell.removeAttribute("aria-current");
  if (returnTo && returnTo.isConnected) returnTo.focus({ preventScroll: true });
  returnTo = null;
}

const written = (place) => element("div", {}, element("dt", { textContent: "Specification" }),
  element("dd", {}, DATA.documents ? element("a", { href: DATA.documents + place, textContent: place }) : `docs/${place}`));
const fact = (name, text) => element("div", {}, element("dt", { textContent: name }), element("dd", { textContent: text }));
