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
    `${plural(data.data.columns, "column")}. Evaluated ${judgedBy()}, it predicts ${count(right)} of ${plural(judged.n_rows, "row")} ` +
    `correctly; its mean confidence is ${percent(judged.confidence.overall, 0).replace(">", "more than")}.`;
  const tile = (name, figure, note) => h("dl", { class: "tile" }, h("dt", {}, name),
    h("dd", { class: "figure" }, figure), h("dd", { class: "note" }, note));
  const most = data.classes.reduce((best, c) => Math.max(best, c.rows), 0) / data.data.rows;
  $("tiles").append(
    tile("Accuracy", percent(judged.accuracy), `${percent(most)} by always predicting the largest class`),
    tile("Confidence", percent(judged.confidence.overall), known(judged.confidence.wrong) ? `${percent(judged.confidence.correct)} when right, ${percent(judged.confidence.wrong)} when wrong` : "and never wrong here"),
    tile("Calibration error", percent(judged.calibration_error), "mean gap between confidence and accuracy"),
    tile("Loss", number(judged.loss, 3), "mean −log p(true class); 0 is perfect"));
  if (versus && !versus.skipped)
    $("tiles").append(tile("Agreement", percent(versus.agreement), "of test rows: same label as scikit-learn"));
}

const heldOut = /fold|leave/.test(judged.method);

function judgedBy() {
  return `${heldOut ? "by" : "on"} ${judged.method}`;
}

const tall = (rows) => (rows > 14 ? "scroll long" : "scroll"); // scrolls in its own box

// --- evaluation ---

function evaluation() {
  const folds = judged.fold_accuracy;
  $("evaluation-intro").textContent = `Evaluated ${judgedBy()}: ${heldOut ? `each of ${plural(judged.n_rows, "row")} is predicted by a model that has not seen it` : plural(judged.n_rows, "row")}.` +
    (folds && Math.min(...folds) < Math.max(...folds) ? ` Accuracy by fold: ${percent(Math.min(...folds))} to ${percent(Math.max(...folds))}.` : "");
  $("evaluation-cards").append(
    card("Metrics", "", figures()),
    card("By class", "", byClass()),
    card("Confusion", "", h("p", { class: "quiet" }, confusions(judged)), confusion(judged, `Confusion matrix. ${confusions(judged)}`)),
    card("Reliability", "", h("p", { class: "quiet" }, "On the diagonal, the model is perfectly calibrated; lines show the gap. Larger dots and taller bars hold more rows."), reliability(judged)),
    ...classCurves(),
    data.mistakes && data.mistakes.length ? card("Most confident mistakes", "wide", mistakes()) : "");
}

function figures() {
  const title = (text) => text[0].toUpperCase() + text.slice(1).replace("'", "’");
  const shown = Object.entries(data.metrics).filter(([key]) => !key.startsWith("brier_") && known(judged.estimates[key]?.value));
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Metrics" }, h("table", {},
    h("thead", {}, h("tr", {}, ["", "Value", "95\u202f% interval"].map((t) => h("th", { scope: "col" }, t)))),
    h("tbody", {}, shown.map(([key, name]) => h("tr", {}, h("th", { scope: "row", class: "name" }, title(name)), h("td", {}, figure(judged.estimates[key].value)), h("td", { class: "hint" }, interval(judged.estimates[key])))))));
}

const figure = (v) => minus(v.toFixed(4));
const interval = ({ low, high }) => (known(low) ? `${figure(low)} to ${figure(high)}` : "–");

function byClass() {
  const cell = (v) => h("td", {}, percent(v));
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
      h("thead", {}, h("tr", {}, h("th", { scope: "col", title: "counted from 0" }, "Row"), shown.map((c) => h("th", { scope: "col", title: c.name }, c.brief)),
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
  if (!versus || versus.skipped) { removed("comparison"); return; }
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
    name, values: pair.map((t) => t.median), whiskers: pair.map((t) => t.quartiles), most: Math.max(...pair.map((t) => t.quartiles[1])), text: seconds }));
  const c = versus.confidence;
  const line = (name, x, y) => h("tr", {}, h("th", { scope: "row", class: "name" }, name), h("td", {}, x), h("td", {}, y));
  $("comparison-cards").append(
    card("Accuracy", "", pairedBars(accuracies, [a, b], `Accuracy of ${a} and ${b}`)),
    card("Time", "", h("p", { class: "quiet" }, `Median of ${plural(versus.fit_seconds[0].runs, "run")}; whiskers show the quartiles.`), pairedBars(times, [a, b], `Times of ${a} and ${b}`)),
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
