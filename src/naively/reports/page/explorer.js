// The explorer: a control per column, the posterior, and the sum that led there.
const FIRST = 6; // columns that are shown at once
const MOST_BARS = 10; // classes in the posterior, where there are many
const MOST_SUMS = 6; // classes in the table of the sum
const THUMB = 9; // half a slider's thumb: its centre stops short of the ends by this much
const state = {
  x: columns.map(() => null),
  shown: Math.min(FIRST, columns.length),
  p: data.classes.map((c) => c.prior),
  rank: data.classes.map((_, k) => k), // the place of each class, the most probable first
};
const watchers = []; // called after every change

function explorer() {
  $("bars").append(...data.classes.map((_, k) => posteriorRow(k)));
  watchers.push(showPosterior, showSum); // first: the curves follow the ranks
  presets();
  showControls();
  start(closeCall());
}

function changed() {
  for (const watcher of watchers) watcher();
}

// Sets the columns that are shown; the others are missing, and have no say.
function start(value) {
  columns.forEach((column, j) => { state.x[j] = j < state.shown ? snapped(column, value(column)) : null; });
  changed();
}

function startFromRow(values) {
  state.x = columns.map((_, j) => values[j]);
  changed();
}

function snapped(column, value) {
  if (!known(value)) return null;
  const { low, high, step, digits } = column.slider;
  const steps = Math.round((Math.min(high, Math.max(low, value)) - low) / step);
  return Number((low + steps * step).toFixed(Math.min(100, digits)));
}

function presets() {
  const all = [
    ["a close call", closeCall()],
    ["the average", (column) => column.average],
    ...data.classes.map((c, k) => [c.label, (column) => column.mean[k], k]),
    ["nothing", () => null],
  ];
  const place = $("presets");
  place.append(h("span", {}, "Start from"));
  if (K > 8) {
    const choice = h("select", { "aria-label": "Start from" },
      all.map(([name], i) => h("option", { value: i }, i > 1 && i < all.length - 1 ? `a typical ${name}` : name)));
    choice.addEventListener("change", () => start(all[choice.value][1]));
    place.append(choice);
    return;
  }
  for (const [name, value, k] of all) {
    const button = h("button", { type: "button" }, k === undefined ? name : classMark(k));
    button.addEventListener("click", () => start(value));
    place.append(button);
  }
}

// Between the means of the two classes that are confused most, where they are equally probable.
function closeCall() {
  const [a, b] = mostConfused();
  const between = (t) => (column) => known(column.mean[a]) && known(column.mean[b])
    ? column.mean[a] + t * (column.mean[b] - column.mean[a]) : null;
  let low = 0, high = 1;
  for (let i = 0; i < 50; ++i) {
    const t = (low + high) / 2;
    const total = joint(columns.map((column, j) => j < state.shown ? between(t)(column) : null));
    if (total[a] > total[b]) low = t; else high = t;
  }
  return between(low);
}

function mostConfused() {
  const at = data.evaluation.classes.map((label) => data.classes.findIndex((c) => c.label === label));
  let most = 0, pair = [0, 1];
  data.evaluation.confusion.forEach((row, i) => row.forEach((_, j) => {
    const n = i < j ? row[j] + data.evaluation.confusion[j][i] : 0;
    if (n > most && at[i] >= 0 && at[j] >= 0) { most = n; pair = [at[i], at[j]]; }
  }));
  return pair;
}

// --- controls ---

function showControls() {
  const place = $("controls");
  for (let j = place.children.length; j < state.shown; ++j) place.append(control(j));
  const left = columns.length - state.shown;
  const more = $("more");
  more.replaceChildren();
  if (left > 0) {
    const button = h("button", { type: "button" }, `Show ${plural(Math.min(left, FIRST), "more column")}`);
    button.addEventListener("click", () => {
      const at = state.shown;
      state.shown = Math.min(columns.length, at + FIRST);
      showControls();
      changed();
      place.children[at].querySelector("input").focus();
    });
    more.append(button, h("span", {},
      `${plural(left, "less telling column")} not shown: missing, so without a say, until you show and set them.`));
  }
}

function control(j) {
  const column = columns[j], { low, high, step } = column.slider;
  const title = h("h3", { title: column.name }, column.name);
  const field = h("input", { type: "number", step: "any", "aria-label": `${column.name}, value`, placeholder: "missing" });
  const slider = h("input", { type: "range", min: low, max: high, step, "aria-label": column.name });
  const box = h("input", { type: "checkbox" });
  const plot = h("div", { class: "plot" });
  const card = h("article", { class: "card control", "data-column": column.name },
    h("header", {}, title, field), plot, slider,
    h("div", { class: "under" }, h("span", {}, number(low)), h("label", {}, box, "missing"), h("span", {}, number(high))));

  const set = (value) => { state.x[j] = value; changed(); };
  slider.addEventListener("input", () => set(slider.valueAsNumber));
  field.addEventListener("input", () => {
    if (!field.validity.badInput) set(Number.isFinite(field.valueAsNumber) ? field.valueAsNumber : null);
  });
  field.addEventListener("blur", () => show());
  box.addEventListener("change", () => set(box.checked ? null : slider.valueAsNumber));
  dragging(plot, (fraction) => set(snapped(column, low + fraction * (high - low))));

  let marker = null;
  responsive(plot, (width) => {
    const chart = bells(column, width);
    marker = chart.marker;
    marker(state.x[j]);
    return chart.svg;
  });
  function show() {
    const x = state.x[j];
    card.classList.toggle("missing", x === null);
    box.checked = x === null;
    if (x !== null) slider.value = x;
    slider.setAttribute("aria-valuetext", x === null ? "missing" : String(x));
    if (document.activeElement !== field || field.valueAsNumber !== x)
      if (!(document.activeElement === field && x === null)) field.value = x === null ? "" : x;
    if (marker) marker(x);
  }
  watchers.push(show);
  show();
  return card;
}

// Calls move(fraction of the width between the thumb's ends) while a pointer is down.
function dragging(place, move) {
  const at = (event) => {
    const box = place.getBoundingClientRect();
    move(Math.max(0, Math.min(1, (event.clientX - box.left - THUMB) / (box.width - 2 * THUMB))));
  };
  place.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    place.setPointerCapture(event.pointerId);
    at(event);
  });
  place.addEventListener("pointermove", (event) => {
    if (place.hasPointerCapture(event.pointerId)) at(event);
  });
}

// The curves of a column over its histogram, and a marker where the value stands.
function bells(column, width) {
  const height = 118, base = height - 6, { low, high } = column.slider;
  const x = linear(low, high, THUMB, width - THUMB);
  const top = tallest(column);
  const y = (v) => base - (Math.min(v, top * 1.02) / top) * (base - 8);
  const density = (k, v) => Math.exp(logLikelihood(column, k, v));
  const live = data.classes.map((_, k) => k).filter((k) => column.variance[k] !== null);
  const inside = (v) => Math.max(0, Math.min(width, x(v))); // a bin may reach beyond the slider
  const bins = live.map((k) => histogram(column, k, inside, y));
  const curves = live.map((k) => s("path", { class: `curve ${hue(k)}`, d: path(curvePoints(column, k).map((v) => [x(v), y(density(k, v))])) }));
  const line = s("line", { class: "marker", y1: 0, y2: base });
  const dots = live.map((k) => s("circle", { class: `marker-dot ${hue(k)}`, r: 4.5 }));
  const marker = (value) => {
    const at = value === null ? -99 : x(Math.min(high, Math.max(low, value)));
    line.setAttribute("x1", at);
    line.setAttribute("x2", at);
        live.forEach((k, i) => {
      dots[i].setAttribute("cx", at);
      dots[i].setAttribute("cy", value === null ? 0 : y(density(k, value)));
      const faint = K > 7 && state.rank[k] >= 5;
      curves[i].classList.toggle("faint", faint);
      dots[i].setAttribute("visibility", faint || value === null ? "hidden" : "visible");
      bins[i]?.setAttribute("visibility", K > 7 && state.rank[k] >= 2 ? "hidden" : "visible");
    });
    line.setAttribute("visibility", value === null ? "hidden" : "visible");
  };
  const said = K > 7 ? `${K} classes` : live.map((k) => `${nameOf(k)}: mean ${number(column.mean[k])}, standard deviation ${number(Math.sqrt(column.variance[k]))}`).join("; ");
  const svg = drawing(width, height, `Curves of ${column.name}. ${said}`,
    bins, s("line", { class: "axis", x1: THUMB, x2: width - THUMB, y1: base, y2: base }), curves, line, dots);
  return { svg, marker };
}

// The height of the drawing: the highest curve or bin, unless it dwarfs the others (then it is
// cut).
function tallest(column) {
  const peaks = column.variance.filter((v) => v !== null).map((v) => 1 / Math.sqrt(2 * Math.PI * Math.max(v, SMALLEST)));
  if (!peaks.length) return 1;
  const sorted = [...peaks].sort((a, b) => a - b);
  const widest = 3 / (column.slider.high - column.slider.low);
  const curves = Math.min(sorted.at(-1), Math.max(6 * sorted[Math.floor((sorted.length - 1) / 2)], widest));
  const { edges: [low, high], counts } = column.histogram;
  const bins = counts.map((n) => (Math.max(...n) / n.reduce((a, b) => a + b, 1e-9) / (high - low)) * n.length);
  return Math.max(curves, Math.min(Math.max(...bins), 2 * curves));
}

function curvePoints(column, k) {
  const { low, high } = column.slider, points = [];
  for (let i = 0; i <= 120; ++i) points.push(low + ((high - low) * i) / 120);
  const sigma = Math.sqrt(column.variance[k]);
  for (let z = -4; z <= 4; z += 0.25) points.push(column.mean[k] + z * sigma);
  return points.filter((v) => v >= low && v <= high).sort((a, b) => a - b);
}

function histogram(column, k, x, y) {
  const { edges, counts } = column.histogram;
  const total = counts[k].reduce((a, b) => a + b, 0);
  if (!total) return null;
  const [low, high] = edges, width = (high - low) / counts[k].length;
  const steps = counts[k].map((n, i) => n === 0 ? "" : box(low + i * width, n / total / width)).join("");
  function box(left, tall) {
    return `M${fixed(x(left))} ${fixed(y(0))}V${fixed(y(tall))}H${fixed(x(left + width))}V${fixed(y(0))}Z`;
  }
  return s("path", { class: `hist ${hue(k)}`, d: steps });
}

const fixed = (v) => v.toFixed(1);
const path = (points) => points.map(([a, b], i) => `${i ? "L" : "M"}${fixed(a)} ${fixed(b)}`).join("");

// --- posterior ---

function posteriorRow(k) {
  return h("li", { "data-class": k }, classMark(k), h("span", { class: "value" }), bar(0, k));
}

function showPosterior() {
  const p = posterior(state.x);
  const order = p.map((_, k) => k).sort((a, b) => p[b] - p[a] || a - b);
  state.p = p;
  state.rank = [];
  order.forEach((k, place) => { state.rank[k] = place; });
  [...$("bars").children].forEach((row, k) => {
    row.dataset.value = p[k];
    row.children[1].textContent = percent(p[k]);
    row.children[1].title = p[k];
    row.lastChild.firstChild.style.setProperty("--w", p[k]);
    row.classList.toggle("first", k === order[0]);
    row.classList.toggle("fifth", state.rank[k] >= 5);
    row.hidden = state.rank[k] >= MOST_BARS;
    if (K > MOST_BARS) row.style.order = state.rank[k];
  });
  if (K > MOST_BARS) {
    const rest = order.slice(MOST_BARS).reduce((sum, k) => sum + p[k], 0);
    $("bars-rest").textContent = `${K - MOST_BARS} other classes: together ${percent(rest)}`;
  }
  say(`${nameOf(order[0])}: ${percent(p[order[0]])}`);
}

let speaking = null;
function say(text) { // once the value rests
  clearTimeout(speaking);
  speaking = setTimeout(() => { if ($("spoken").textContent !== text) $("spoken").textContent = text; }, 400);
}

// --- the sum ---

function showSum() {
  const classes = state.p.map((_, k) => k).filter((k) => state.rank[k] < MOST_SUMS);
  const line = (name, values, note) => {
    const best = Math.max(...values);
    return h("tr", {}, h("th", { scope: "row", class: "name" }, name, note && h("span", { class: "hint" }, ` ${note}`)),
      values.map((v, i) => sumCell(classes[i], v, logarithm(v), Math.exp(v - best))));
  };
  const terms = (j) => classes.map((k) => logLikelihood(columns[j], k, state.x[j]));
  const shown = columns.map((_, j) => j).filter((j) => j < state.shown);
  const hidden = columns.map((_, j) => j).filter((j) => j >= state.shown && state.x[j] !== null);
  const total = joint(state.x);
  const rows = [line("log p(class)", classes.map((k) => logPrior[k]), "prior")];
  for (const j of shown)
    rows.push(state.x[j] === null
      ? h("tr", { class: "sparse" }, h("th", { scope: "row", class: "name" }, columns[j].name, h("span", { class: "hint" }, " missing")), classes.map(() => h("td", {}, "–")))
      : line(columns[j].name, terms(j), `= ${number(state.x[j], 6)}`));
  if (hidden.length)
    rows.push(line(`${plural(hidden.length, "column")} not shown`,
      classes.map((k) => hidden.reduce((sum, j) => sum + logLikelihood(columns[j], k, state.x[j]), 0))));
  const sums = line("Sum", classes.map((k) => total[k]));
  const shares = h("tr", {}, h("th", { scope: "row", class: "name" }, "Posterior"),
    classes.map((k) => sumCell(k, state.p[k], percent(state.p[k]), state.p[k])));
  $("sum-table").replaceChildren(
    h("thead", {}, h("tr", {}, h("td"), classes.map((k) => h("th", { scope: "col" }, classMark(k))))),
    h("tbody", {}, rows), h("tfoot", {}, sums, shares));
  $("sum-note").textContent = K > MOST_SUMS ? `The ${MOST_SUMS} most probable of ${K} classes.` : "";
}

function sumCell(k, value, text, share) {
  const cell = h("td", { class: hue(k), "data-value": value, title: value }, text);
  cell.style.setProperty("--w", known(share) ? share : 0);
  return cell;
}
