// The explorer: a control per column, the posterior, and the sum that led there.
const FIRST = 6; // columns that are shown at once
const MOST_BARS = 10; // classes in the posterior, where there are many
const MOST_SUMS = 6; // classes in the table of the sum
const THUMB = 9; // half a slider's thumb: its centre stops short of the ends by this much
const state = {
  x: columns.map(() => null),
  rest: null, // what columns that are not in the page add to each class, in the row explored
  hidden: null, // and what they bring to interactions
  row: null, // that row
  shown: Math.min(FIRST, columns.length),
  p: data.classes.map((c) => c.prior),
  rank: data.classes.map((_, k) => k), // the place of each class, the most probable first
};
const watchers = []; // called after every change

function explorer() {
  $("bars").append(...data.classes.map((_, k) => posteriorRow(k)));
  watchers.push(showPosterior, showSum, showLeftOut); // first: the curves follow the ranks
  $("explorer-lines").textContent = aboutLines();
  if (!textbook) $("sum-is").textContent = `log p(class)${data.model.bias ? " + a bias" : ""} + the contribution of each value${columns.some((c) => c.terms.some(isCentred)) ? ", centred over the classes" : ""}, times its weight${inter ? ", and the interactions" : ""}.${leftOutKinds()}`;
  presets();
  showControls();
  start(closeCall());
}

function aboutLines() {
  const several = columns.some((c) => c.terms && c.terms.some((t) => t.steps) && c.terms.some((t) => t.form && !t.steps));
  return (several ? "A column may have two families, drawn as smooth lines and as steps: the stronger a line, the greater its weight. " : "") +
    (columns.some((c) => c.categories) ? "Bars are the shares of categories. " : "");
}

function changed() {
  for (const watcher of watchers) watcher();
}

// Sets the columns that are shown; the others are missing.
function start(value) {
  state.rest = state.hidden = state.row = null;
  columns.forEach((column, j) => { state.x[j] = j < state.shown ? snapped(column, value(column)) : null; });
  changed();
}

function startFromRow({ values, rest, hidden, row, texts = {} }) {
  state.x = columns.map((_, j) => values[j]);
  for (const j in texts) columns[j].row = { text: values[j], values: texts[j] };
  state.rest = rest ?? null;
  state.hidden = hidden ?? null;
  state.row = row;
  changed();
}

function snapped(column, value) {
  if (!known(value)) return null;
  if (column.categories || column.words) return value;
  const { low, high, step, digits } = column.slider;
  const steps = Math.round((Math.min(high, Math.max(low, value)) - low) / step);
  const near = low + steps * step;
  return digits > 100 ? near : Number(near.toFixed(digits)); // no more decimals can be asked for
}

// What the explorer does with columns that are not shown, or not in the page, said where it is done.
function showHidden() {
  const set = columns.filter((_, j) => j >= state.shown && state.x[j] !== null).length;
  if ($("hidden")) $("hidden").textContent = `${plural(columns.length - state.shown, "less important column")} not shown: ` +
    (set ? `as in row ${count(state.row)}.` : "missing, until you show and set them.");
}

function showLeftOut() {
  showHidden();
  if (!leftOut) return;
  $("left-out").textContent = `${plural(leftOut, "column")} of ${count(data.data.columns)} ${leftOut === 1 ? "is" : "are"} not in this page, the least important: ` +
    (state.rest ? `what they add in row ${count(state.row)} is kept in the sum.` : "they are taken as missing, so this is the exact probability of a row in which nothing is known of them.");
}

function presets() {
  const all = [
    ["a close call", closeCall()],
    ["the average", (column) => column.categories ? column.common : column.average],
    ...data.classes.map((c, k) => [c.label, (column) => (column.commons ?? column.mean)[k], k]),
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

// Between the means of the two classes that are confused most, where they are equally probable;
// categories are those that are most frequent in the two together.
function closeCall() {
  const [a, b] = mostConfused();
  const between = (t) => (column) => {
    if (column.categories) return column.categories.length ? argmax(column.counts[a].map((n, c) => n + column.counts[b][c])) : null;
    return known(column.mean[a]) && known(column.mean[b]) ? column.mean[a] + t * (column.mean[b] - column.mean[a]) : null;
  };
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

// --- posterior ---

function posteriorRow(k) {
  return h("li", { "data-class": k }, classMark(k), h("span", { class: "value" }), bar(0, k));
}

function showPosterior() {
  const p = posterior(state.x, state.rest, state.hidden);
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
  const answer = answered(p);
  if (answer !== null) $("answer").textContent = `Answer: ${answer}`;
  say(`${nameOf(order[0])}: ${percent(p[order[0]])}${answer === null ? "" : `. Answer: ${answer}`}`);
}

// What the model answers where that need not be the most probable class: by costs, or not at all.
function answered(p) {
  const { costs, reject } = data.model;
  if (!costs && !reject) return null;
  const at = costs ? argmax(p.map((_, j) => -p.reduce((sum, v, i) => sum + v * costs[i][j], 0))) : argmax(p);
  return reject && p[at] < reject[0] ? String(reject[1]) : nameOf(at);
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
  const terms = (j) => { const said = says(columns[j], state.x[j]); return classes.map((k) => said[k]); };
  const shown = columns.map((_, j) => j).filter((j) => j < state.shown);
  const hidden = columns.map((_, j) => j).filter((j) => j >= state.shown && state.x[j] !== null);
  const total = joint(state.x, state.rest, state.hidden);
  const rows = [line("log p(class)", classes.map((k) => logPrior[k]), "prior")];
  if (data.model.bias) rows.push(line("bias", classes.map((k) => bias[k]), "calibration"));
  for (const j of shown)
    rows.push(state.x[j] === null
      ? h("tr", { class: "sparse" }, h("th", { scope: "row", class: "name" }, columns[j].name, h("span", { class: "hint" }, " missing")), classes.map(() => h("td", {}, "–")))
      : line(columns[j].name, terms(j), `= ${written(columns[j], state.x[j], 6)}`));
  if (hidden.length)
    rows.push(line(`${plural(hidden.length, "column")} not shown`,
      hidden.map(terms).reduce((sum, said) => sum.map((v, i) => v + said[i]))));
  rows.push(...togetherLines(line, classes));
  if (state.rest)
    rows.push(line(leftOut ? `${plural(leftOut, "column")} not in this page` : "what is not in this page", classes.map((k) => state.rest[k] ?? -Infinity), `as in row ${count(state.row)}`));
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
