// Nodes: found, made of data as text alone, or of text with markup that was escaped when the page was made.

const byId = (id) => document.getElementById(id);
const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

// Text with markup that the report escaped; what runs in it the policy of the page stops.
const nodesOf = (text) => [...new DOMParser().parseFromString(text, "text/html").body.childNodes];

// Hide the headings of findings under which none is shown.
function hideEmptyGroups() {
  for (const group of document.querySelectorAll("#findings [data-group]")) {
    let next = group.nextElementSibling;
    while (next && next.hidden && !next.matches("[data-group]")) next = next.nextElementSibling;
    group.hidden = !next || next.matches("[data-group]");
  }
}
