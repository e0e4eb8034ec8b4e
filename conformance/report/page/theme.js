// Light, dark, or as the system has it.

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
