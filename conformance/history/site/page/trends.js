// Trends: each series with its band of noise, and under it the control of the same runs.

const NS = "http://www.w3.org/2000/svg";

function shape(tag, attributes) {
  const made = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function plot(points, { low = null, high = null, className = "", label, first, last }) {
  const values = points.map((point) => point[1]).concat(low === null ? [] : [low, high]);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const x = (place) => (last > first ? 10 + 980 * (place - first) / (last - first) : 500);
  const y = (value) => (most > least ? 90 - 80 * (value - least) / (most - least) : 50);
  const svg = shape("svg", { viewBox: "0 0 1000 100", preserveAspectRatio: "none", role: "img", "aria-label": label, class: className });
  if (low !== null) svg.append(shape("rect", { class: "band", x: 0, width: 1000, y: y(high), height: Math.max(y(low) - y(high), 0.5) }));
  svg.append(shape("polyline", { class: "line", points: points.map(([place, value]) => `${x(place)},${y(value)}`).join(" ") }));
  return svg;
}

function trend(one) {
  const points = one.points;
  const [first, last] = [points[0][0], points[points.length - 1][0]];
  const range = (several) => `${Math.min(...several.map((p) => p[1])).toFixed(1)} to ${Math.max(...several.map((p) => p[1])).toFixed(1)} us`;
  const made = element("div", { className: "trend" }, element("h3", { textContent: `${one.backend}: ${one.what}` }),
    element("p", { className: "quiet", textContent: `${one.says}; ${one.machine}` }),
    plot(points, { low: one.low, high: one.high, label: `${one.backend}, ${one.what}: ${points.length} points, ${range(points)}`, first, last }));
  if (one.control.length) made.append(element("p", { className: "quiet", textContent: "Control: a copy of memory in the same runs" }), plot(one.control, { className: "control", label: `A copy of memory: ${range(one.control)}`, first, last }));
  const numbers = element("details", {}, element("summary", { textContent: "Numbers" }));
  const control = new Map(one.control);
  numbers.append(table("Microseconds", ["Run", "Median", "Copy"], points.map(([place, value]) => [day(place), value.toFixed(1), control.has(place) ? control.get(place).toFixed(1) : ""])));
  made.append(numbers);
  return made;
}

async function showTrends(holder) {
  if (holder.dataset.filled) return;
  holder.dataset.filled = "1";
  const told = await load("trends");
  for (const one of (told || []).slice(0, 200)) holder.append(trend(one));
}
