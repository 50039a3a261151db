// The nomogram: points of each value for one class against another, their total, the probability.
//
//     g_j(x) = what x adds to the one class - what it adds to the other
//
// Points are g above its least, in units by which the widest column has 100. The probability is the
// explorer's, of the sums of all classes.
const POINTS_GRID = 160, ROW = 62, LETTER = 6.2, MOST_LOG_ODDS = 500;
const PROBABILITIES = [0.5, 0.1, 0.9, 0.01, 0.99, 0.001, 0.999, 0.3, 0.7, 0.05, 0.95, 0.2, 0.8];
const nomo = { of: 0, against: 1, lines: [], unit: 1, shown: 0, width: 0, place: null };
const possible = logPrior.map((_, k) => k).filter((k) => logPrior[k] > -Infinity);

const MOST_SHOWN = 1e6; // log-odds of values far from all classes, whose terms may overflow
const difference = (values) => Math.max(-MOST_SHOWN, Math.min(MOST_SHOWN, values[nomo.of] - values[nomo.against] || 0));
const logOdds = (column, x) => difference(says(column, x));
const inRange = (g) => Math.max(-MOST_LOG_ODDS, Math.min(MOST_LOG_ODDS, g));

function nomogram() {
  if (possible.length < 2) { removed("nomogram"); return; }
  const pair = K === 2 ? [1, 0] : mostConfused();
  [nomo.of, nomo.against] = pair.every((k) => possible.includes(k)) ? pair : possible;
  const lists = ["of", "against"].map((which) => h("select", { "aria-label": which === "of" ? "Points for" : "Points against" }));
  const show = () => lists.forEach((list, i) => list.replaceChildren(...possible.filter((k) => k !== (i ? nomo.of : nomo.against))
    .map((k) => h("option", { value: k, selected: k === (i ? nomo.against : nomo.of) }, nameOf(k)))));
  lists.forEach((list, i) => list.addEventListener("change", () => { nomo[i ? "against" : "of"] = Number(list.value); show(); layOut(); }));
  show();
  nomo.place = h("div", { class: "nomogram" });
  const swap = h("button", { type: "button" }, "Swap");
  swap.addEventListener("click", () => { [nomo.of, nomo.against] = [nomo.against, nomo.of]; show(); layOut(); });
  $("nomogram-card").append(h("div", { class: "map-head" }, ...(K > 2 ? [h("label", {}, "points for", lists[0]), h("label", {}, "against", lists[1])] : [h("span", {}, "points for ", h("b", { id: "nomogram-class" }))]), swap,
    h("span", { id: "nomogram-sum" })), nomo.place, h("p", { class: "quiet", id: "nomogram-note" }));
  new ResizeObserver(() => {
    const width = Math.floor(nomo.place.clientWidth);
    if (width > 0 && width !== nomo.width) { nomo.width = width; layOut(); }
  }).observe(nomo.place);
  watchers.push(() => { if (nomo.shown !== state.shown) layOut(); else showPoints(); });
}

// What a column can add: its values, with what each adds. A missing value adds 0.
function pointLine(j) {
  const column = columns[j];
  let values = [];
  if (column.categories) values = column.categories.map((_, c) => c);
  else if (!column.words && !isEmpty(column)) {
    const { low, high } = column.slider;
    values = Array.from({ length: POINTS_GRID + 1 }, (_, i) => snapped(column, low + (i / POINTS_GRID) * (high - low)));
  }
  const g = values.map((x) => inRange(logOdds(column, x)));
  return { j, column, values, g, low: Math.min(0, ...g), high: Math.max(0, ...g) };
}

function layOut() {
  if (!nomo.width) return;
  nomo.shown = state.shown;
  nomo.lines = columns.slice(0, state.shown).map((_, j) => pointLine(j));
  nomo.unit = Math.max(1e-9, ...nomo.lines.map((l) => l.high - l.low)) / 100;
  const [start, end] = [12, nomo.width - 12], height = ROW * (nomo.lines.length + 3);
  const across = linear(0, 100, start, end);
  const base = (i) => i * ROW + 38;
  const parts = [pointRuler("Points", base(0), start, end, ticks(0, 100, nomo.width > 600 ? 10 : 5).map((v) => ({ x: across(v), text: String(v) })))];
  nomo.lines.forEach((line, i) => parts.push(columnLine(line, base(i + 1), across)));
  const far = linear(-7, 7, start, end);
  nomo.totals = { y: base(nomo.lines.length + 1), across: (g) => far(Math.max(-7, Math.min(7, g))) };
  nomo.total = s("g", { class: "nomogram-total" });
  nomo.chance = s("circle", { class: `marker-dot ${hue(nomo.of)}`, r: 7, cy: base(nomo.lines.length + 2) });
  nomo.summed = s("circle", { class: `marker-dot ${hue(nomo.of)}`, r: 7, cy: nomo.totals.y });
  parts.push(nomo.total, pointRuler(`p(${nameOf(nomo.of)})`, base(nomo.lines.length + 2), start, end,
    PROBABILITIES.map((p) => ({ x: far(Math.log(p / (1 - p))), text: String(p) }))), nomo.summed, nomo.chance);
  nomo.place.replaceChildren(drawing(nomo.width, height, `Nomogram of ${nameOf(nomo.of)}`, ...parts));
  nomo.place.firstChild.setAttribute("role", "group");
  showPoints();
}

// A line with ticks, whose texts are above it or below, or left out where they have no room.
function pointRuler(name, y, start, end, marks, both = false) {
  const taken = [[], []], found = [];
  for (const { x, text, below } of marks) {
    const label = shortened(text, 110), half = 0.5 * LETTER * (label.length + 1);
    const middle = Math.max(half, Math.min(nomo.width - half, x));
    found.push(s("line", { class: "marker", x1: x, x2: x, y1: y, y2: below ? y + 6 : y - 6 }));
    for (const side of both ? [0, 1] : [below ? 1 : 0]) {
      if (!taken[side].every(([a, b]) => middle + half <= a || middle - half >= b)) continue;
      taken[side].push([middle - half, middle + half]);
      found.push(s("text", { x: middle, y: side ? y + 18 : y - 9, "text-anchor": "middle" }, label));
      break;
    }
  }
  return s("g", {}, name && s("text", { class: "strong", x: start, y: y - 24 }, shortened(name, 0.55 * nomo.width)),
    s("line", { class: "marker", x1: start, x2: end, y1: y, y2: y }), ...found);
}

function columnLine(line, y, across) {
  const { column, values, g, low, high } = line;
  const at = (v) => across((v - low) / nomo.unit);
  Object.assign(line, { y, at });
  let marks = [];
  if (column.categories) marks = values.map((c) => ({ x: at(g[c]), text: column.categories[c] }));
  else if (values.length) {
    const slope = (x) => logOdds(column, x + step) - logOdds(column, x - step), step = (column.slider.high - column.slider.low) / 1000;
    marks = ticks(column.slider.low, column.slider.high, 8).map((x) => ({ x: at(inRange(logOdds(column, x))), text: number(x), below: slope(x) < 0 }));
  }
  line.dot = s("circle", { class: `marker-dot ${hue(nomo.of)}`, r: 8, cy: y, tabindex: values.length ? 0 : null, role: "slider",
    "aria-label": `${column.name}, points`, "aria-valuemin": 0, "aria-valuemax": 100, "data-column": column.name });
  line.text = s("text", { x: at(low), y: y - 24, "text-anchor": "start" });
  if (values.length) movable(line);
  return s("g", { class: "nomogram-line" },
    pointRuler("", y, at(low), Math.max(at(high), at(low) + 1), marks, Boolean(column.categories)),
    s("line", { class: "nomogram-missing", x1: at(0), x2: at(0), y1: y - 7, y2: y + 7 }), line.text, line.dot);
}

// Dragging finds the value of the nearest points: below the line, among those by which points fall,
// above it among those by which they rise, and along it among those of the present value's kind.
function movable(line) {
  const { column, values, g, j } = line;
  const set = (value) => { state.x[j] = value; changed(); };
  const nearest = (event) => {
    const box = nomo.place.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    const falls = (i) => g[Math.min(i + 1, g.length - 1)] < g[Math.max(i - 1, 0)];
    const some = values.map((_, i) => i), near = (v) => some.reduce((best, i) => (Math.abs(values[i] - v) < Math.abs(values[best] - v) ? i : best), 0);
    const falling = Math.abs(y - line.y) > 12 ? y > line.y : state.x[j] !== null && falls(near(state.x[j]));
    const own = some.filter((i) => column.categories || falls(i) === falling);
    const among = own.length ? own : some;
    set(values[among.reduce((best, i) => (Math.abs(line.at(g[i]) - x) < Math.abs(line.at(g[best]) - x) ? i : best), among[0])]);
  };
  line.dot.addEventListener("pointerdown", (event) => { if (event.button === 0) { line.dot.setPointerCapture(event.pointerId); line.dot.focus(); event.preventDefault(); } });
  line.dot.addEventListener("pointermove", (event) => { if (line.dot.hasPointerCapture(event.pointerId)) nearest(event); });
  line.dot.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!by && event.key !== "Delete") return;
    event.preventDefault();
    if (!by) { set(null); return; }
    const order = column.categories ? values.slice().sort((a, b) => g[a] - g[b]) : values;
    const now = state.x[j] === null ? Math.floor(order.length / 2) : order.reduce((best, v, i) => (Math.abs(v - state.x[j]) < Math.abs(order[best] - state.x[j]) ? i : best), 0);
    set(order[Math.max(0, Math.min(order.length - 1, now + by * (column.categories ? 1 : 4)))]);
  });
}

function showPoints() {
  if (!nomo.lines.length || !nomo.total) return;
  let sum = 0;
  for (const line of nomo.lines) {
    const x = state.x[line.j], g = logOdds(line.column, x), points = (g - line.low) / nomo.unit;
    sum += points;
    const seen = Math.max(line.low, Math.min(line.high, inRange(g)));
    line.dot.setAttribute("cx", line.at(seen));
    line.dot.setAttribute("data-points", points);
    line.dot.setAttribute("aria-valuenow", points.toFixed(1));
    line.dot.setAttribute("aria-valuetext", `${written(line.column, x, 6)}: ${points.toFixed(1)} points`);
    line.dot.classList.toggle("missing", x === null);
    line.text.replaceChildren(s("tspan", { class: "ink" }, shortened(line.column.name, 0.45 * nomo.width)), ` ${shortened(written(line.column, x, 5), 130)}: ${minus(points.toFixed(1))} points`);
  }
  const sums = joint(state.x, state.rest, state.hidden);
  const total = difference([nomo.of, nomo.against].every((k) => sums[k] > -Infinity) ? sums : state.p.map(Math.log));
  const least = nomo.lines.reduce((a, l) => a + l.low, difference(logPrior) + difference(bias));
  const all = (total - least) / nomo.unit, other = all - sum, p = state.p[nomo.of];
  const { y, across } = nomo.totals, [start, end] = [12, nomo.width - 12];
  const far = (g) => (g - least) / nomo.unit, back = (points) => least + points * nomo.unit;
  nomo.total.replaceChildren(pointRuler("Total points", y, start, end, ticks(far(-7), far(7), nomo.width > 600 ? 10 : 4).map((v) => ({ x: across(back(v)), text: number(v) }))));
  nomo.summed.setAttribute("cx", across(total));
  const chance = Math.log(p) - Math.log1p(-p);
  nomo.chance.setAttribute("cx", across(Number.isNaN(chance) ? 0 : chance));
  const told = $("nomogram-sum");
  told.dataset.value = p;
  told.dataset.points = all;
  if ($("nomogram-class")) $("nomogram-class").textContent = nameOf(nomo.of);
  told.textContent = `${minus(all.toFixed(1))} points: p(${nameOf(nomo.of)}) = ${percent(p)}`;
  $("nomogram-note").textContent = [
    nomo.lines.length < data.data.columns && `The ${nomo.lines.length} most important of ${count(data.data.columns)} columns; the explorer shows more.`,
    Math.abs(other) > 1e-6 && `${inter ? "What columns say together, and columns without a line, add" : "Columns without a line add"} ${minus(other.toFixed(1))} points to the total.`,
    possible.length > 2 && `The total compares two classes; p(${nameOf(nomo.of)}) is its probability among all ${K}.`,
    "Grey ticks are missing values. Delete takes a value away.",
  ].filter(Boolean).join(" ");
}
