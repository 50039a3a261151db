// The sections: what is said, and where each drawing goes.
const own = data.classes.map((c) => c.label);
const indexOf = new Map(own.map((label, k) => [label, k]));
const judged = data.evaluation, versus = data.comparison;

function card(title, kind, ...children) {
  return h("article", { class: `card ${kind}` }, h("h3", {}, title), ...children);
}

function header() {
  const right = judged.accuracy * judged.n_rows;
  $("lead").textContent =
    `A model of ${plural(K, "class", "classes")}, learned from ${plural(data.model.weight, "row")} and ` +
    `${plural(data.data.columns, "column")}. Judged ${judgedBy()}, it labels ${count(right)} of ${plural(judged.n_rows, "row")} ` +
    `correctly; on average it is ${percent(judged.confidence.overall, 0).replace(">", "more than")} sure.`;
  const tile = (name, figure, note) => h("dl", { class: "tile" }, h("dt", {}, name),
    h("dd", { class: "figure" }, figure), h("dd", { class: "note" }, note));
  const most = data.classes.reduce((best, c) => Math.max(best, c.rows), 0) / data.data.rows;
  $("tiles").append(
    tile("Accuracy", percent(judged.accuracy), `${percent(most)} by always guessing the largest class`),
    tile("Confidence", percent(judged.confidence.overall), known(judged.confidence.wrong) ? `${percent(judged.confidence.correct)} when right, ${percent(judged.confidence.wrong)} when wrong` : "and never wrong here"),
    tile("Calibration error", percent(judged.calibration_error), "mean gap between sure and right"),
    tile("Loss", number(judged.loss, 3), "mean −log p(true class); 0 is perfect"));
  if (versus && !versus.skipped)
    $("tiles").append(tile("Agreement", percent(versus.agreement), "of test rows: same label as scikit-learn"));
}

const heldOut = /fold|leave/.test(judged.method);

function judgedBy() {
  return `${heldOut ? "by" : "on"} ${judged.method}`;
}

const tall = (rows) => (rows > 14 ? "scroll long" : "scroll"); // scrolls in its own box

// --- at a glance ---

function glance() {
  const most = Math.max(...data.classes.map((c) => c.rows));
  const classes = h("ul", { class: K > 4 ? "bars count-bars long" : "bars count-bars" }, data.classes.map((c, k) =>
    h("li", {}, classMark(k), h("span", { class: "quiet" }, `${count(c.rows)} · prior ${percent(c.prior)}`), bar(c.rows / most, k))));
  $("classes").append(classes);
  const m = data.model;
  const facts = [
    ["Estimator", m.chosen ? `${m.name} (chosen by the columns)` : m.name],
    ...("variance" in m ? gaussianFacts(m) : familyFacts()),
    (m.calibration || !("variance" in m)) && ["Calibration", calibrationOf(m)],
    ["Priors", m.priors === null ? "shares of the rows" : "given"],
    m.costs && ["Answers", "of least expected cost"],
    m.reject && ["Below", `${percent(m.reject[0], 0)} it answers ${m.reject[1]}`],
    ["Rows", count(data.data.rows)],
    ["Missing cells", data.data.missing ? `${count(data.data.missing)} (${percent(data.data.missing / data.data.rows / data.data.columns)})` : "none"],
  ].filter(Boolean);
  $("model").append(h("dl", { class: "facts" }, facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])));
  const typical = columns.some((c) => c.categories);
  const gaps = columns.some((c) => c.missing), terms = columns.some((c) => c.terms);
  const each = K <= (terms ? 2 : 5) ? data.classes.map((_, k) => k) : []; // classes with a column of their own
  $("columns").append(h("p", { class: "quiet" },
    `${leftOut ? `The ${columns.length} most important of ${count(data.data.columns)}` : "The most important first"}: by how much the log loss of unseen rows grows without a column.` +
    (terms ? " A weight says how much a family counts." : "") + (typical ? " Typical is the mean ± sd, or the most common category." : "")),
    h("div", { class: tall(columns.length), tabindex: 0, role: "region", "aria-label": "Columns" }, h("table", {},
      h("thead", {}, h("tr", {}, ["Column", "Importance", terms && "Families, weights", "Range", gaps && "Missing", typical ? "Typical" : "Mean ± sd", ...each.map(classMark)].map((t) => t && h("th", { scope: "col" }, t)))),
      h("tbody", {}, columns.map((c) => h("tr", {}, h("th", { scope: "row", class: "name" }, c.name),
        h("td", { title: `${c.importance} ± ${c.importance_error}` }, h("span", { class: "cellbar" }, importanceOf(c), bar(c.importance / mostImportant))),
        terms && h("td", {}, (c.terms ?? []).map((t) => h("span", { class: "term" }, familyName(t.family), h("span", { class: "hint" }, ` ${weightOf(t)}`)))),
        h("td", {}, rangeOf(c)),
        gaps && h("td", {}, c.missing ? percent(c.missing / data.data.rows) : "–"),
        c.categories ? commonCell(c, c.common) : meanCell(c.average, c.spread),
        each.map((k) => (c.categories ? commonCell(c, c.commons[k], k) : meanCell(c.mean[k], Math.sqrt(c.variance[k]))))))))));
}

const mostImportant = Math.max(1e-300, ...columns.map((c) => c.importance ?? 0));
const importanceOf = (c) => (known(c.importance) ? minus((Math.round(c.importance * 1e3) / 1e3 + 0).toFixed(3)) : "–");

function gaussianFacts(m) {
  return [
    ["Variance", m.variance === "shared" ? "one per column (a linear model)" : "one per class and column"],
    ["Divided by", m.ddof ? `n − ${m.ddof}` : "n (maximum likelihood)"],
    ["Smoothing", Array.isArray(m.epsilon) ? `${number(m.var_smoothing)} of each variance` : `+ ${number(m.epsilon)}`],
  ];
}

// How many columns each family, or several together, describe.
function familyFacts() {
  return data.model.families.map(({ names, columns: n }) => [capital(names.map(familyName).join(" and ")), plural(n, "column")]);
}

function calibrationOf(m) {
  if (!m.calibration) return "none";
  const weights = columns.flatMap((c) => (c.terms ?? []).flatMap((t) => t.weight));
  return m.calibration === "temperature" ? `one weight for all: ${number(weights[0], 3)}` : "a weight for each term";
}

const familyName = (name) => name.replaceAll("_", " ");
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function weightOf(t) {
  const [low, high] = [Math.min(...t.weight), Math.max(...t.weight)].map((w) => minus(w.toFixed(2)));
  return low === high ? low : `${low} to ${high}`;
}

function rangeOf(c) {
  if (isEmpty(c)) return "no cell";
  if (c.words) return plural(c.n_words, "word");
  if (c.categories) return plural(c.n_categories, "category", "categories");
  if (!known(c.least)) return "–";
  return c.least === c.most ? `only ${number(c.least)}` : `${number(c.least)} – ${number(c.most)}`;
}

// The most common category, of all rows or of a class, and its share of them.
function commonCell(c, at, k) {
  if (!known(at)) return h("td", {}, "–");
  const of = k === undefined ? c.counts : [c.counts[k]];
  const total = k === undefined ? data.data.rows - c.missing : cellsOf(c, k);
  const n = of.reduce((sum, row) => sum + row[at], 0);
  return h("td", { title: c.categories[at] }, shortened(c.categories[at], 110), h("span", { class: "hint" }, ` ${percent(n / total, 0)}`));
}

function meanCell(mean, spread) {
  return h("td", {}, known(mean) ? [number(mean), h("span", { class: "hint" }, ` ± ${number(spread, 2)}`)] : "–");
}

// --- evaluation ---

function evaluation() {
  const folds = judged.fold_accuracy;
  $("evaluation-intro").textContent = `Judged ${judgedBy()}: ${heldOut ? `each of ${plural(judged.n_rows, "row")} by a model that has not seen it` : plural(judged.n_rows, "row")}.` +
    (folds && Math.min(...folds) < Math.max(...folds) ? ` Accuracy by fold: ${percent(Math.min(...folds))} to ${percent(Math.max(...folds))}.` : "");
  $("evaluation-cards").append(
    card("By class", "wide", byClass()),
    card("Confusion", "", h("p", { class: "quiet" }, confusions(judged)), confusion(judged, `Confusion matrix. ${confusions(judged)}`)),
    card("Reliability", "", h("p", { class: "quiet" }, "On the diagonal, it is right as often as it claims; lines show the gap. Larger dots and taller bars hold more rows."), reliability(judged)),
    data.mistakes && data.mistakes.length ? card("Surest mistakes", "wide", mistakes()) : "");
}

function byClass() {
  const cell = (v) => h("td", {}, h("span", { class: "cellbar" }, percent(v), bar(v)));
  const line = (name, f, rows) => h("tr", {}, h("th", { scope: "row", class: "name" }, name), cell(f[0]), cell(f[1]), cell(f[2]), h("td", {}, count(rows)));
  return h("div", { class: tall(K), tabindex: 0, role: "region", "aria-label": "Figures by class" }, h("table", {},
    h("thead", {}, h("tr", {}, ["Class", "Precision", "Recall", "F1", "Rows"].map((t) => h("th", { scope: "col" }, t)))),
    h("tbody", {}, judged.classes.map((name, i) => line(marked(name), [judged.precision[i], judged.recall[i], judged.f1[i]], judged.support[i]))),
    h("tfoot", {}, [["macro", "Mean of the classes"], ["weighted", "Weighted by rows"]].map(([key, name]) =>
      line(name, [judged[key].precision, judged[key].recall, judged[key].f1], judged.n_rows)))));
}

const marked = (label) => (indexOf.has(label) ? classMark(indexOf.get(label)) : label);

function mistakes() {
  const shown = columns.slice(0, 4);
  return [h("p", { class: "quiet" }, "The rows it got wrong and was surest of. Send one to the explorer to see what misled it; there the model has seen all rows, so it may be less wrong."),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Surest mistakes" }, h("table", { class: "mistakes" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col", title: "counted from 0" }, "Row"), shown.map((c) => h("th", { scope: "col" }, c.name)),
        h("th", { scope: "col" }, "True"), h("th", { scope: "col" }, "Predicted"), h("th", { scope: "col" }, "Sure"), h("td"))),
      h("tbody", {}, data.mistakes.map((m) => {
        const button = h("button", { type: "button", "aria-label": `Explore row ${m.row}` }, "Explore");
        button.addEventListener("click", () => {
          startFromRow(m);
          $("explorer").scrollIntoView();
          $("controls").querySelector("input, select, textarea")?.focus({ preventScroll: true });
        });
        return h("tr", {}, h("th", { scope: "row" }, count(m.row)), shown.map((_, j) => h("td", {}, written(columns[j], m.values[j], 5))),
          h("td", {}, marked(own[m.true])), h("td", {}, marked(own[m.predicted])), h("td", {}, percent(m.probability)), h("td", {}, button));
      }))))];
}

// --- comparison ---

function comparison() {
  if (!versus) { removed("comparison"); return; }
  if (versus.skipped) {
    $("comparison-intro").textContent = versus.skipped;
    return;
  }
  const [a, b] = ["naively", "scikit-learn"], [ours, theirs] = versus.evaluations;
  const faster = (ratio, what) =>
    `${Math.abs(Math.log(ratio)) < 0.1 ? "about" : `${Number(ratio.toPrecision(2))} times`} as fast in ${what}`;
  $("comparison-intro").textContent =
    `${a} beside ${b}, on ${ours.method} (${plural(ours.n_rows, "row")}). They give the same label to ${percent(versus.agreement)} of the rows; ` +
    `their probabilities differ by at most ${number(versus.probability_difference.max, 2)}. ` +
    `${a} is ${faster(versus.fit_ratio, "learning")} and ${faster(versus.predict_ratio, "predicting")}.`;
  const accuracies = [["On the training rows", versus.train_accuracy], ["On the test rows", versus.test_accuracy]].map(([name, values]) =>
    ({ name, values, most: 1, text: (v) => percent(v, 2) }));
  const times = [["Learning", versus.fit_seconds], ["Predicting the test rows", versus.predict_seconds]].map(([name, pair]) => ({
    name, values: pair.map((t) => t.mean), spread: pair.map((t) => t.std), most: Math.max(...pair.map((t) => t.mean + t.std)), text: seconds }));
  const c = versus.confidence;
  const line = (name, x, y) => h("tr", {}, h("th", { scope: "row", class: "name" }, name), h("td", {}, x), h("td", {}, y));
  $("comparison-cards").append(
    card("Accuracy", "", pairedBars(accuracies, [a, b], `Accuracy of ${a} and ${b}`)),
    card("Time", "", h("p", { class: "quiet" }, `Mean of ${plural(versus.fit_seconds[0].runs, "run")}; whiskers show one standard deviation.`), pairedBars(times, [a, b], `Times of ${a} and ${b}`)),
    card("Confusion on the test rows", "wide", h("div", { class: "pair" }, [[a, ours], [b, theirs]].map(([name, e]) =>
      h("div", {}, h("p", { class: "quiet" }, name), confusion(e, `Confusion matrix of ${name}. ${confusions(e)}`))))),
    card("Side by side", "wide", h("div", { class: "scroll" }, h("table", {},
      h("thead", {}, h("tr", {}, h("td"), h("th", { scope: "col" }, a), h("th", { scope: "col" }, b))),
      h("tbody", {}, line("Accuracy, training rows", percent(versus.train_accuracy[0], 2), percent(versus.train_accuracy[1], 2)),
        line("Accuracy, test rows", percent(versus.test_accuracy[0], 2), percent(versus.test_accuracy[1], 2)),
        line("Confidence", percent(c[0].overall, 2), percent(c[1].overall, 2)),
        line("Confidence where right", percent(c[0].correct, 2), percent(c[1].correct, 2)),
        line("Confidence where wrong", percent(c[0].wrong, 2), percent(c[1].wrong, 2)),
        line("Loss", number(ours.loss), number(theirs.loss)),
        line("Brier score", number(ours.brier), number(theirs.brier)),
        line("Calibration error", percent(ours.calibration_error, 2), percent(theirs.calibration_error, 2)))))));
}

function notes() {
  $("notes-list").append(...data.notes.map((text) => h("li", {}, text)));
}
