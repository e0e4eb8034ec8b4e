// The keyboard: the matrix is one stop for Tab, arrows walk it; and the buttons that copy and save.

function gridLines() {
  return DATA.rows.filter((row) => row.line && !row.line.hidden).map((row) => [row.toggle || null, ...row.cells.filter((link) => !link.parentElement.hidden)]);
}

function prepareGrid() {
  const stops = () => document.querySelectorAll("#matrix .toggle, #matrix a.cell");
  for (const stop of stops()) stop.tabIndex = -1;
  const settle = (target) => {
    for (const stop of stops()) stop.tabIndex = -1;
    target.tabIndex = 0;
  };
  const first = gridLines()[0];
  if (first) settle(first[0] || first[1]);
  byId("matrix").addEventListener("focusin", (event) => {
    if (event.target.matches(".toggle, a.cell")) settle(event.target);
  });
  byId("matrix").addEventListener("keydown", (event) => {
    if (event.altKey || event.metaKey || !event.target.matches(".toggle, a.cell")) return;
    const lines = gridLines();
    const y = lines.findIndex((line) => line.includes(event.target));
    const x = lines[y].indexOf(event.target);
    const last = lines[y].length - 1;
    const lineStart = lines[y][0] ? 0 : 1;
    const to = {
      ArrowLeft: [y, x - 1], ArrowRight: [y, x + 1], ArrowUp: [y - 1, x], ArrowDown: [y + 1, x],
      Home: [event.ctrlKey ? 0 : y, event.ctrlKey ? 0 : lineStart], End: [event.ctrlKey ? lines.length - 1 : y, last],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    const line = lines[to[0]];
    // A clause has nothing to press in its first column: moving there stays on its first cell.
    const target = line && (line[to[1]] || (to[1] === 0 && to[0] !== y ? line[1] : null));
    if (target) target.focus();
  });
  return () => {
    const current = document.querySelector('#matrix [tabindex="0"]');
    const lines = gridLines().flat().filter(Boolean);
    if (lines.length && !lines.includes(current)) settle(lines[0]);
  };
}

function announce(text) {
  byId("announce").textContent = "";
  byId("announce").textContent = text;
}

async function copyText(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element("textarea", { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  const before = button.dataset.label || button.textContent;
  button.dataset.label = before;
  button.textContent = "Copied";
  announce("Copied");
  setTimeout(() => { button.textContent = before; }, 1500);
}

function saveText(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const near = button.closest(".command, .source");
  if (button.dataset.copy !== undefined) copyText(near.querySelector("code, pre").textContent, button);
  if (button.dataset.save !== undefined) saveText(button.dataset.save, near.querySelector("pre").textContent);
});
