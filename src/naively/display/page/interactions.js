// Interactions: what columns say together. Directions are columns that are computed, the quadratic
// term is one Student t in all numbers, pairs are tables of two columns.
const inter = data.interactions;
const pageOf = new Map(columns.map((c, j) => [c.index, j]));
const directions = inter.directions ?? [], pairs = inter.pairs ?? [], quadratic = inter.quadratic;
const FAR_FEATURE = 1e100;

// The value of a column by its place in the model; undefined where it is not in the page.
const valueOf = (column, x) => (pageOf.has(column) ? x[pageOf.get(column)] : undefined);

function features(x, hidden) {
  return inter.features.map(({ column, mean, scale }, j) => {
    const v = valueOf(column, x);
    if (v === undefined) return hidden?.f[j] ?? 0;
    return v === null ? 0 : Math.max(-FAR_FEATURE, Math.min(FAR_FEATURE, (v - mean) * scale));
  });
}

function along(d, r, f, x, hidden) {
  let z = d.start + (hidden?.z[r] ?? 0);
  d.W.forEach((w, j) => { z += w * f[j]; });
  for (const { column, values } of d.levels) {
    const v = valueOf(column, x);
    if (known(v)) z += values[v];
  }
  return z;
}

// A term by class, times its weight, less its mean where the weights differ.
function weighed(said, weight) {
  const mean = weight.some((w) => w !== weight[0]) ? said.reduce((a, b) => a + b, 0) / K : 0;
  return said.map((v, k) => weight[k] * (v - mean));
}

function saysDirection(d, z) {
  const sum = logPrior.map(() => 0);
  for (const t of d.terms)
    if (t.form) weighed(sum.map((_, k) => forms[t.form](t, k, z)), t.weight).forEach((v, k) => { sum[k] += v; });
  return sum;
}

function saysQuadratic(q, f) {
  const said = q.A.map((A, k) => {
    const mean = q.mean[k], G = q.factor[k], p = mean.length;
    let square = 0;
    for (let i = 0, at = 0; i < p; ++i) {
      let y = 0;
      for (let j = 0; j <= i; ++j, ++at) y += G[at] * (f[j] - mean[j]);
      square += y * y;
    }
    return A - q.B[k] * Math.log1p(q.s[k] * square);
  });
  return weighed(said, q.weight);
}

const binsOf = (axis) => (axis.knots ? axis.knots.length : axis.n_bins);

// Where a value is on an axis: the bin before it, and how far it is on the way to the next one.
function placeOf(axis, a, x, hidden) {
  let v = valueOf(axis.column, x);
  if (v === undefined) {
    const at = hidden?.axes[a]?.[0] ?? null;
    if (at === null) return null;
    const low = Math.min(Math.floor(at), Math.max(0, binsOf(axis) - 2));
    return axis.knots ? [low, at - low] : [at, 0];
  }
  if (v === null) return null;
  if (!axis.knots) return [axis.bins[v], 0];
  const knots = axis.knots;
  let low = 0;
  while (low < knots.length - 2 && v >= knots[low + 1]) ++low;
  const share = (0.5 * v - 0.5 * knots[low]) / (0.5 * knots[low + 1] - 0.5 * knots[low]);
  return [low, Math.max(0, Math.min(1, share))];
}

// log((C + alpha e) / ((N + alpha) e)), where e is the product of the columns' own shares.
function tableOf(pair) {
  const A = binsOf(inter.axes[pair.a]), B = binsOf(inter.axes[pair.b]);
  const margin = (counts) => {
    const a = new Array(A).fill(0), b = new Array(B).fill(0);
    counts.forEach((n, c) => { a[Math.floor(c / B)] += n; b[c % B] += n; });
    return { a, b, total: a.reduce((s, v) => s + v, 0) };
  };
  const whole = margin(pair.counts.reduce((sum, row) => sum.map((v, c) => v + row[c]), new Array(A * B).fill(0)));
  return pair.counts.map((counts) => {
    const own = margin(counts);
    const share = (of, all) => of.map((n, i) => (n + (2 * all[i]) / whole.total) / (own.total + 2));
    const pa = share(own.a, whole.a), pb = share(own.b, whole.b);
    return counts.map((n, c) => {
      const e = pa[Math.floor(c / B)] * pb[c % B];
      return e > 0 ? Math.log((n + pair.alpha * e) / ((own.total + pair.alpha) * e)) : 0;
    });
  });
}
for (const pair of pairs) pair.table = tableOf(pair);

function saysPair(pair, x, hidden) {
  const at = placeOf(inter.axes[pair.a], pair.a, x, hidden), beside = placeOf(inter.axes[pair.b], pair.b, x, hidden);
  if (at === null || beside === null) return null;
  const A = binsOf(inter.axes[pair.a]), B = binsOf(inter.axes[pair.b]);
  const [a, s] = at, [b, t] = beside, aa = Math.min(a + 1, A - 1), bb = Math.min(b + 1, B - 1);
  return weighed(pair.table.map((v) => (1 - s) * (1 - t) * v[a * B + b] + (1 - s) * t * v[a * B + bb] + s * (1 - t) * v[aa * B + b] + s * t * v[aa * B + bb]), pair.weight);
}

const columnName = (index) => (pageOf.has(index) ? columns[pageOf.get(index)].name : `column ${index}`);
const pairName = (pair) => [pair.a, pair.b].map((a) => columnName(inter.axes[a].column)).join(" and ");

// What all interactions add, one by one; terms of missing cells are left out.
function together(x, hidden) {
  const f = features(x, hidden), found = [];
  directions.forEach((d, r) => {
    const z = along(d, r, f, x, hidden);
    found.push({ name: `direction ${r + 1}`, note: `= ${number(z, 4)}`, values: saysDirection(d, z) });
  });
  if (quadratic) found.push({ name: "all numbers together", note: "quadratic", values: saysQuadratic(quadratic, f) });
  for (const pair of pairs) {
    const values = saysPair(pair, x, hidden);
    if (values) found.push({ name: pairName(pair), note: "pair", values });
  }
  return found;
}

const sumOf = (lines) => lines.reduce((sum, { values }) => sum.map((v, k) => v + values[k]), logPrior.map(() => 0));

const MOST_LINES = 8; // of the table of the sum
const spread = ({ values }) => Math.max(...values) - Math.min(...values);

// The lines of the table of the sum, those that matter most first.
function togetherLines(line, classes) {
  const lines = together(state.x, state.hidden).sort((a, b) => spread(b) - spread(a));
  const rest = sumOf(lines.slice(MOST_LINES));
  return [...lines.slice(0, MOST_LINES).map(({ name, note, values }) => line(name, classes.map((k) => values[k]), note)),
    ...(lines.length > MOST_LINES ? [line(plural(lines.length - MOST_LINES, "further interaction"), classes.map((k) => rest[k]))] : [])];
}

// --- what they are ---

const MOST_DRAWN = 6;
const absent = { directions: "the directions", pairs: "the pairs of columns", quadratic: "the quadratic term" };

function leftOutKinds() {
  return inter.left_out.length
    ? ` Not in this page, since too large: ${inter.left_out.map((kind) => absent[kind]).join(" and ")}. The probabilities of the explorer leave ${inter.left_out.length > 1 ? "them" : "it"} out, except for the rows of the most confident mistakes.`
    : "";
}

function interactions() {
  const numbers = inter.features.length;
  $("interactions").append(h("p", { class: "quiet" },
    "Terms of several columns. A direction is a linear combination of columns, in standard deviations; a pair is a table of two columns, strong where a class has more rows than independent columns would give, faint where it has fewer." +
    (quadratic ? ` One quadratic term is a multivariate Student t of ${plural(numbers, "number")} in each class; its weight is ${weightOf(quadratic)}.` : "") + leftOutKinds()));
  $("interactions").append(h("div", { class: "grid" },
    directions.slice(0, MOST_DRAWN).map((d, r) => h("div", {}, h("h4", {}, `Direction ${r + 1}`, h("span", { class: "hint" }, ` weights ${d.terms.map(weightOf).join(", ")}`)), loadings(d))),
    pairs.slice(0, MOST_DRAWN).map((pair) => h("div", {}, h("h4", {}, pairName(pair), h("span", { class: "hint" }, ` weight ${weightOf(pair)}`)), heat(pair)))));
  const more = [[directions.length - MOST_DRAWN, "direction"], [pairs.length - MOST_DRAWN, "pair"]].filter(([n]) => n > 0);
  if (more.length) $("interactions").append(h("p", { class: "quiet" }, `${more.map(([n, what]) => plural(n, `further ${what}`)).join(" and ")} not drawn here; the explorer has ${more.length > 1 || more[0][0] > 1 ? "them" : "it"}.`));
}

function loadings(d) {
  const most = Math.max(...d.loadings.map(({ value }) => Math.abs(value)), 1e-300);
  return h("ul", { class: "bars count-bars" }, d.loadings.map(({ name, value }) =>
    h("li", {}, h("span", { title: name }, shortened(name, 170)), h("span", { class: "quiet" }, number(value, 2)), bar(Math.abs(value) / most))));
}

// One square for each class: the bins of one column across, those of the other up.
function heat(pair) {
  const A = binsOf(inter.axes[pair.a]), B = binsOf(inter.axes[pair.b]);
  const classes = data.classes.map((_, k) => k).slice(0, 4);
  return responsive(h("div", { class: "figure" }), (width) => {
    const side = Math.min(150, (width - 10 * classes.length) / classes.length), most = Math.max(1, ...pair.table.flat().map(Math.abs));
    return drawing(width, side + 22, `How much more often than by themselves ${pairName(pair)} go together, by class`, classes.flatMap((k, at) => {
      const left = at * (side + 10);
      return [s("text", { class: "ink", x: left, y: 12 }, shortened(nameOf(k), side)),
        ...pair.table[k].map((v, c) => s("rect", { class: `heat ${hue(k)}`, x: fixed(left + (Math.floor(c / B) * side) / A), y: fixed(20 + side - ((c % B) + 1) * (side / B)), width: fixed(side / A), height: fixed(side / B), "fill-opacity": (0.5 + 0.5 * (v / most)).toFixed(2) },
          s("title", {}, `${nameOf(k)}: ${minus(v.toFixed(2))}`)))];
    }));
  });
}
