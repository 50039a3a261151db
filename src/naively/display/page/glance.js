// At a glance: the classes, the model, the columns as they came, and what the model learned of them.

function glance() {
  const most = Math.max(...data.classes.map((c) => c.rows));
  const classes = h("ul", { class: K > 4 ? "bars count-bars long" : "bars count-bars" }, data.classes.map((c, k) =>
    h("li", {}, classMark(k, c.label), h("span", { class: "quiet" }, `${count(c.rows)} · prior ${percent(c.prior)}`), bar(c.rows / most, k))));
  $("classes").append(classes);
  const m = data.model;
  const facts = [
    ["Estimator", m.name],
    ...("variance" in m ? gaussianFacts(m) : familyFacts()),
    (m.calibration || !("variance" in m)) && ["Calibration", calibrationOf(m)],
    ["Priors", m.priors === null ? "shares of the rows" : "given"],
    m.costs && ["Answers", "of least expected cost"],
    m.reject && ["Below", `${percent(m.reject[0], 0)} it answers ${m.reject[1]}`],
    ["Rows", count(data.data.rows)],
    ["Missing cells", data.data.missing ? `${count(data.data.missing)} (${percent(data.data.missing / data.data.rows / data.data.columns)})` : "none"],
  ].filter(Boolean);
  $("model").append(h("dl", { class: "facts" }, facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])));
  columnFacts();
  learned();
  firstRows();
}

function dataTable(label, heads, rows) {
  return h("div", { class: tall(rows.length), tabindex: 0, role: "region", "aria-label": label }, h("table", {},
    h("thead", {}, h("tr", {}, heads.filter(Boolean).map((t) => h("th", { scope: "col", class: LEFT.includes(t) && "text" }, t)))), h("tbody", {}, rows)));
}

const LEFT = ["Cells", "Kind"]; // columns of tables that are not numbers

const rowHead = (c) => h("th", { scope: "row", class: "name", title: c.name }, c.brief);

function columnFacts() {
  const gaps = columns.some((c) => c.missing), some = data.counted < data.data.rows;
  const numbers = columns.some((c) => known(c.least)), often = columns.some((c) => known(c.common) || known(c.frequent));
  $("columns").append(h("p", { class: "quiet" },
    `${leftOut ? `The ${columns.length} most important of ${count(data.data.columns)}` : "The most important first"}. ${K > MOST_HUES ? "Bars count all rows." : "Bars count the rows of each class."}` +
    (some ? ` Distinct and most frequent cells are those of ${count(data.counted)} rows drawn at random.` : "")),
    dataTable("Columns", ["Column", "Cells", "Kind", gaps && "Missing", "Distinct", often && "Most frequent", numbers && "Range", numbers && "Mean ± sd"], columns.map((c) => h("tr", {}, rowHead(c),
      h("td", { class: "text" }, thumbnail(c)),
      h("td", { class: "text" }, c.kind),
      gaps && h("td", {}, c.missing ? percent(c.missing / data.data.rows) : "–"),
      h("td", {}, `${some ? "≥ " : ""}${count(c.distinct)}`),
      often && (c.categories ? commonCell(c, c.common) : h("td", {}, known(c.frequent) ? [number(c.frequent), h("span", { class: "hint" }, ` ${percent(c.share, 0)}`)] : "–")),
      numbers && h("td", {}, rangeOf(c)),
      numbers && meanCell(c.average, c.spread)))));
}

const MOST_HUES = 7; // classes that colours alone tell apart

// A small histogram of a column, classes on top of each other: bins of numbers, or the most frequent categories.
function thumbnail(c) {
  const width = 116, height = 30, counts = c.histogram?.counts ?? c.counts?.map((row, k) => [...row.slice(0, 11), row.slice(11).reduce((a, b) => a + b, c.others[k])]);
  if (!counts || isEmpty(c)) return "";
  const bins = counts[0].map((_, i) => counts.map((row) => row[i])), totals = bins.map((bin) => bin.reduce((a, b) => a + b, 0));
  const n = c.categories && !totals.at(-1) ? bins.length - 1 : bins.length;
  const x = linear(0, n, 0, width), y = linear(0, Math.max(1, ...totals), height, 0), base = bins.map(() => 0);
  const gap = Math.min(2, 0.15 * (width / n));
  const layer = (of, kind) => s("path", { class: kind, d: of.slice(0, n).map((v, i) => {
    const from = base[i];
    base[i] += v;
    return v ? `M${fixed(x(i))} ${fixed(y(from))}V${fixed(y(base[i]))}H${fixed(x(i + 1) - gap)}V${fixed(y(from))}Z` : "";
  }).join("") });
  return s("svg", { class: "thumb", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `Cells of ${c.name}` },
    K > MOST_HUES ? layer(totals, "all") : counts.map((row, k) => layer(row, hue(k))), s("line", { class: "axis", x2: width, y1: height, y2: height }));
}

function learned() {
  const terms = columns.some((c) => c.terms), typical = columns.some((c) => c.categories);
  const each = K <= 5 ? data.classes.map((_, k) => k) : []; // classes with a column of their own
  $("learned").append(h("p", { class: "quiet" }, "Importance is the increase of the log loss of unseen rows without a column." +
    (terms ? " A weight is the factor that calibration gives a family." : "") + (each.length ? ` Of each class ${typical ? "the mean ± sd, or the most common category" : "the mean ± sd"}.` : "")),
    dataTable("What the model learned", ["Column", "Importance", terms && "Families, weights", ...each.map((k) => classMark(k))], columns.map((c) => h("tr", {}, rowHead(c),
      h("td", { title: `${c.importance} ± ${c.importance_error}` }, h("span", { class: "cellbar" }, importanceOf(c), bar(c.importance / mostImportant))),
      terms && h("td", {}, (c.terms ?? []).map((t) => h("span", { class: "term" }, familyName(t.family), h("span", { class: "hint" }, ` ${weightOf(t)}`)))),
      each.map((k) => (c.categories ? commonCell(c, c.commons[k], k) : meanCell(c.mean[k], Math.sqrt(c.variance[k]))))))));
}

function firstRows() {
  const first = data.first_rows;
  if (!first) { $("first-rows").remove(); return; }
  const named = first.columns.map((index) => columns.find((c) => c.index === index));
  const cell = (v) => (v === null ? h("td", { class: "hint" }, "missing") : typeof v === "number" ? h("td", {}, number(v, 6)) : h("td", { title: v }, shortened(v, 200)));
  $("first-rows").append(dataTable("First rows", ["Row", ...named.map((c) => h("span", { title: c.name }, c.brief)), "Class"],
    first.classes.map((k, i) => h("tr", {}, h("th", { scope: "row" }, i), first.cells.map((column) => cell(column[i])), h("td", {}, classMark(k))))));
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

