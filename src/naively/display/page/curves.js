// The drawings of the explorer: curves of a column of numbers, bars of a column of categories.

// The lines of a column: how common a value is within a class, by each of its families. The more a
// family counts, the stronger its lines.
function linesOf(column) {
  if (!column.terms) return [{ strength: 1, has: (k) => column.variance[k] !== null, at: (k, v) => Math.exp(-distance(column, k, v) - column.logNorm[k]),
    points: (k) => curvePoints(column, column.mean[k], Math.sqrt(column.variance[k])),
    peak: (k) => 1 / Math.sqrt(2 * Math.PI * Math.max(column.variance[k], SMALLEST)) }];
  const counts = (t) => Math.max(...t.weight.map(Math.abs));
  const most = Math.max(...column.terms.map(counts));
  return column.terms.filter((t) => t.form).map((t) => ({ strength: 0.3 + 0.7 * (counts(t) / most), ...lineOf(column, t) }))
    .sort((a, b) => b.strength - a.strength);
}

function lineOf(column, t) {
  if (t.steps) return stepped(column.histogram.edges, t.steps);
  if (t.form === "line" || t.form === "counts") return probabilities(column, t);
  return smooth(column, t);
}

function smooth(column, t) {
  const knows = (v) => !t.parts || functions[t.parts[0].of](v, t.parts[0].period) !== null;
  const at = (k, v) => (knows(v) ? Math.exp(forms[t.form](t, k, v)) : 0);
  const spread = (k) => (t.s ? 1 / t.s[k] / Math.sqrt(2 * t.B[k] - 1) : Math.sqrt(column.variance[k]));
  const points = (k) => curvePoints(column, (t.mu ?? column.mean)[k], spread(k));
  return { has: (k) => !t.A || t.A[k] !== null, at, points, peak: (k) => (t.A ? Math.exp(t.A[k]) : Math.max(...points(k).map((v) => at(k, v)))) };
}

// Whole numbers have probabilities: steps of width 1, or wider where there are very many.
function probabilities(column, t) {
  const first = Math.max(0, Math.floor(column.slider.low)), last = t.form === "line" ? 1 : Math.max(first, Math.ceil(column.slider.high));
  const width = Math.ceil((last - first + 1) / 240), n = Math.ceil((last - first + 1) / width);
  const steps = data.classes.map((_, k) => Array.from({ length: n }, (_, i) => Math.exp(forms[t.form](t, k, first + i * width))));
  return stepped([first - 0.5, first - 0.5 + n * width], steps);
}

function stepped([low, high], steps) {
  const n = steps[0].length, width = (high - low) / n;
  const at = (k, v) => (v < low || v > high ? 0 : steps[k][Math.min(n - 1, Math.floor((v - low) / width))]);
  const path = (k) => [[low, 0], ...steps[k].flatMap((height, i) => [[low + i * width, height], [low + (i + 1) * width, height]]), [high, 0]];
  return { has: () => true, at, path, peak: (k) => Math.max(...steps[k]) };
}

function curvePoints(column, mean, sigma) {
  const { low, high } = column.slider, points = [];
  for (let i = 0; i <= 120; ++i) points.push(low + ((high - low) * i) / 120);
  for (let z = -4; z <= 4; z += 0.25) points.push(mean + z * sigma);
  return points.filter((v) => v >= low && v <= high).sort((a, b) => a - b);
}

// The curves of a column over its histogram, and a marker where the value stands.
function bells(column, width) {
  const height = 118, base = height - 6, { low, high } = column.slider;
  const x = linear(low, high, THUMB, width - THUMB);
  const lines = linesOf(column), first = lines[0];
  const live = data.classes.map((_, k) => k).filter((k) => !first || first.has(k));
  const top = tallest(column, lines, live);
  const y = (v) => base - (Math.min(v, top * 1.02) / top) * (base - 8);
  const inside = (v) => Math.max(0, Math.min(width, x(v))); // a bin may reach beyond the slider
  const bins = live.map((k) => histogram(column, k, inside, y));
  const curves = live.map((k) => lines.map((line) => curve(line, k, line.path ? inside : x, y)));
  const marked = s("line", { class: "marker", y1: 0, y2: base });
  const dots = live.map((k) => s("circle", { class: `marker-dot ${hue(k)}`, r: 4.5 }));
  const marker = (value) => {
    const at = value === null ? -99 : x(Math.min(high, Math.max(low, value)));
    marked.setAttribute("x1", at);
    marked.setAttribute("x2", at);
    live.forEach((k, i) => {
      dots[i].setAttribute("cx", at);
      dots[i].setAttribute("cy", value === null ? 0 : y(first ? first.at(k, value) : 0));
      const faint = K > 7 && state.rank[k] >= 5;
      for (const drawn of curves[i]) drawn.classList.toggle("faint", faint);
      dots[i].setAttribute("visibility", faint || value === null ? "hidden" : "visible");
      bins[i]?.setAttribute("visibility", K > 7 && state.rank[k] >= 2 ? "hidden" : "visible");
    });
    marked.setAttribute("visibility", value === null ? "hidden" : "visible");
  };
  const said = K > 7 ? `${K} classes` : live.map((k) => `${nameOf(k)}: mean ${number(column.mean[k])}, standard deviation ${number(Math.sqrt(column.variance[k]))}`).join("; ");
  const svg = drawing(width, height, `Curves of ${column.name}. ${said}`,
    bins, s("line", { class: "axis", x1: THUMB, x2: width - THUMB, y1: base, y2: base }), curves, marked, dots);
  return { svg, marker };
}

function curve(line, k, x, y) {
  const points = line.path ? line.path(k) : line.points(k).map((v) => [v, line.at(k, v)]);
  return s("path", { class: `curve ${line.path ? "steps " : ""}${hue(k)}`, "stroke-opacity": line.strength < 1 ? line.strength.toFixed(2) : null,
    d: path(points.map(([v, height]) => [x(v), y(height)])) });
}

// The height of the drawing: the highest curve or bin, unless it dwarfs the others (then it is
// cut).
function tallest(column, lines, live) {
  const sorted = lines.flatMap((line) => live.map((k) => line.peak(k))).sort((a, b) => a - b);
  const { edges: [low, high], counts } = column.histogram;
  const bins = counts.map((n) => (Math.max(...n) / n.reduce((a, b) => a + b, 1e-9) / (high - low)) * n.length);
  if (!sorted.length) return Math.max(...bins) || 1;
  const widest = 3 / (column.slider.high - column.slider.low);
  const curves = Math.min(sorted.at(-1), Math.max(6 * sorted[Math.floor((sorted.length - 1) / 2)], widest));
  return Math.max(curves, Math.min(Math.max(...bins), 2 * curves));
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

// --- categories ---

const ROOM = 132; // px for the bars of a column
const OTHERS = -1; // the place of all categories that have no row of their own

// The share of a category within a class: as the model believes, or as counted where it has no weight.
function shareOf(column, k, c) {
  const term = column.terms?.find((t) => t.form === "table");
  if (term) return Math.exp(term.values[k][c]);
  const total = cellsOf(column, k);
  return total ? (column.counts[k][c] ?? 0) / total : 0;
}

// The rows of a class that have a category, named or not.
const cellsOf = (column, k) => column.counts[k].reduce((a, b) => a + b, column.others[k]);

// A row for each of the most frequent categories, and for the chosen one; in it a bar per class.
function shareBars(column, width, chosen, set) {
  const classes = data.classes.map((_, k) => k).filter((k) => K <= 7 || state.rank[k] < 3);
  const few = Math.max(2, Math.min(column.categories.length, Math.floor(ROOM / (4 * classes.length + 8)), 6));
  const thick = Math.max(3, Math.min(13, Math.floor((ROOM / few - 8) / classes.length))), step = classes.length * thick + 8;
  const n = Math.min(few, column.categories.length);
  const rows = column.categories.map((_, c) => c).slice(0, n);
  if (chosen !== null && !rows.includes(chosen)) rows.splice(n - 1, 1, chosen);
  const hidden = column.n_categories - rows.filter((c) => c < column.categories.length).length;
  const rest = data.classes.map((_, k) => Math.max(0, rows.reduce((sum, c) => sum - shareOf(column, k, c), 1)));
  if (hidden > 0 && n > 0) rows.push(OTHERS);
  const share = (k, c) => (c === OTHERS ? rest[k] : shareOf(column, k, c));
  const name = (c) => (c === OTHERS ? plural(hidden, "other") : column.categories[c] ?? "one never seen");
  const left = Math.min(width * 0.4, 16 + Math.max(...rows.map((c) => name(c).length)) * 6.8), right = 44;
  const most = Math.max(1e-9, ...rows.flatMap((c) => classes.map((k) => share(k, c))));
  const x = linear(0, most, left, width - right);
  const drawn = rows.map((c, i) => {
    const top = i * step + 4, shares = classes.map((k) => share(k, c));
    const row = s("g", { class: c === chosen ? "share chosen" : c === OTHERS ? "share others" : "share" },
      s("rect", { class: "share-row", x: 0, y: top - 3, width, height: step - 2, rx: 5 }),
      s("text", { class: c === chosen ? "strong" : "ink", x: left - 8, y: top + (step - 8) / 2 + 4, "text-anchor": "end" }, shortened(name(c), left - 10)),
      shares.map((part, a) => s("rect", { class: `share-bar ${hue(classes[a])}`, x: left, y: top + a * thick, width: Math.max(1, x(part) - left), height: thick - 1, rx: Math.min(3, thick / 3) },
        s("title", {}, `${name(c)}: ${percent(part)} of ${nameOf(classes[a])}`))),
      thick >= 9 && shares.map((part, a) => s("text", { class: "share-text", x: x(part) + 5, y: top + a * thick + thick - 1 }, percent(part, 0))));
    if (c !== OTHERS) row.addEventListener("click", () => set(c));
    return row;
  });
  const said = rows.map((c) => `${name(c)}: ${classes.map((k) => `${percent(share(k, c))} of ${nameOf(k)}`).join(", ")}`).join("; ");
  return drawing(width, rows.length * step + 4, `Shares of ${column.name}. ${said}`, drawn);
}
