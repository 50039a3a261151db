// The drawings of the evaluation and the comparison.

// Rows by true class (down) and predicted class (across), tinted by the share of the row.
function confusion(judged, label) {
  return responsive(h("div", { class: "figure" }), (width) => {
    const n = judged.classes.length, rows = judged.confusion;
    const longest = Math.max(...judged.classes.map((c) => c.length)) * 6.8;
    const named = n <= 30, left = named ? Math.min(width * 0.3, 24 + longest, 130) : 20;
    const fits = Math.min(longest, 84) <= ((width - left) / n) * 0.95; // names stand level above
    const slant = named && !fits ? Math.min(longest, 84) * 0.71 : 0;
    const size = Math.min((width - left - Math.max(0, slant - 20)) / n, 92), across = size * 0.95;
    const top = !named ? 22 : slant ? slant + 30 : 40;
    const lines = judged.classes.flatMap((_, i) => {
      const total = rows[i].reduce((a, b) => a + b, 0);
      return rows[i].map((cell, j) => confusionCell(judged, i, j, cell, total, { left, top, size, n }));
    });
    const letters = (width) => Math.max(3, Math.floor(width / 6.8));
    const level = brief(judged.classes, letters(slant ? 84 : across)), side = brief(judged.classes, letters(left - 22));
    const names = !named ? [] : judged.classes.flatMap((name, i) => {
      const middle = (i + 0.5) * size;
      const column = slant
        ? s("text", { transform: `translate(${left + middle + 3} ${top - 7}) rotate(-45)` }, level[i])
        : s("text", { x: left + middle, y: top - 8, "text-anchor": "middle" }, level[i]);
      return [column, s("text", { class: "ink", x: left - 8, y: top + middle + 4, "text-anchor": "end" }, side[i])];
    });
    return drawing(width, top + size * n + 4, label,
      s("text", { class: "strong", x: left, y: 11 }, "predicted"),
      s("text", { class: "strong", transform: `translate(9 ${top + (size * n) / 2}) rotate(-90)`, "text-anchor": "middle" }, "true"),
      n > 12 && s("rect", { class: "cell empty", x: left, y: top, width: size * n, height: size * n, rx: 3 }),
      names, lines);
  });
}

function confusionCell(judged, i, j, cell, total, { left, top, size, n }) {
  if (cell === 0 && n > 12) return [];
  const share = total ? cell / total : 0, gap = n > 12 ? 0.5 : 2;
  const x = left + j * size + gap / 2, y = top + i * size + gap / 2, side = Math.max(1, size - gap);
  const shade = 0.1 + 0.9 * share;
  const box = s("rect", { class: cell ? "cell" : "cell empty", x, y, width: side, height: side, rx: Math.min(6, side / 6), "fill-opacity": cell ? shade : null },
    s("title", {}, `${plural(cell, "row")} of ${judged.classes[i]} taken for ${judged.classes[j]} (${percent(share)})`));
  if (size < 19) return [box];
  const kind = !cell ? "none" : shade > 0.55 ? "on" : "";
  const text = cell.toLocaleString("en-US").length * 7 > side ? cell.toPrecision(1) : count(cell);
  return [box, s("text", { class: `cell-text ${kind}`, x: x + side / 2, y: y + side / 2 }, text)];
}

function confusions(judged) {
  const wrong = judged.confusion.flatMap((row, i) => row.map((n, j) => ({ i, j, n }))).filter(({ i, j, n }) => i !== j && n > 0);
  if (!wrong.length) return "No row is taken for another class.";
  const worst = wrong.sort((a, b) => b.n - a.n).slice(0, 3);
  return `Most often: ${worst.map(({ i, j, n }) => `${judged.classes[i]} taken for ${judged.classes[j]} (${count(n)})`).join(", ")}.`;
}

// The accuracy at each confidence.
function reliability(judged) {
  const { confidence, accuracy, count: rows } = judged.reliability;
  return responsive(h("div", { class: "figure" }), (width) => {
    const left = 40, bottom = 38, top = 8, height = Math.min(400, Math.max(250, width * 0.8));
    const x = linear(0, 1, left, width - 10), y = linear(0, 1, height - bottom, top);
    const most = Math.max(...rows), bins = rows.length;
    const at = confidence.map((c, i) => ({ c, a: accuracy[i], n: rows[i] })).filter(({ n }) => n > 0);
    const said = at.map(({ c, a, n }) => `${plural(n, "row")}: confidence ${percent(c)}, right ${percent(a)}`).join("; ");
    return drawing(width, height, `Reliability diagram. ${said}`,
      rows.map((n, i) => n > 0 && s("rect", { class: "volume", x: x(i / bins) + 1, width: x(1 / bins) - x(0) - 2, y: y((0.3 * n) / most), height: y(0) - y((0.3 * n) / most), rx: 2 },
        s("title", {}, `${plural(n, "row")} with a confidence between ${percent(i / bins, 0)} and ${percent((i + 1) / bins, 0)}`))),
      [0, 0.25, 0.5, 0.75, 1].map((v) => [
        s("line", { class: v ? "grid-line" : "axis", x1: left, x2: width - 10, y1: y(v), y2: y(v) }),
        s("text", { x: left - 6, y: y(v) + 4, "text-anchor": "end" }, `${100 * v}`),
        s("text", { x: x(v), y: height - bottom + 15, "text-anchor": "middle" }, `${100 * v}`)]),
      s("line", { class: "diagonal", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }),
      at.map(({ c, a }) => s("line", { class: "reliable-line", x1: x(c), x2: x(c), y1: y(c), y2: y(a) })),
      at.map(({ c, a, n }) => s("circle", { class: "reliable", cx: x(c), cy: y(a), r: 4 + 7 * Math.sqrt(n / most) },
        s("title", {}, `${plural(n, "row")}: confidence ${percent(c)}, right ${percent(a)}`))),
      s("text", { class: "ink", x: (left + width) / 2, y: height - 4, "text-anchor": "middle" }, "how sure it was, %"),
      s("text", { class: "ink", transform: `translate(9 ${(height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, "accuracy, %"));
  });
}

// Two bars a group, ours and theirs; groups: [{name, values: [a, b], whiskers: [[from, to], ...], most, text}].
function pairedBars(groups, names, label) {
  return responsive(h("div", { class: "figure" }), (width) => {
    const left = Math.min(112, width * 0.34), right = 74, tall = 17, step = 2 * (tall + 5) + 34;
    const parts = groups.flatMap(({ name, values, whiskers, most, text }, g) => {
      const top = 20 + g * step, x = linear(0, most, left, width - right);
      return [s("text", { class: "strong", x: 0, y: top - 6 }, name), values.map((v, i) => {
        const y = top + 4 + i * (tall + 5), end = x(v);
        const [from, to] = whiskers ? whiskers[i].map(x) : [end, end];
        return [
          s("text", { class: "ink", x: left - 8, y: y + tall - 4, "text-anchor": "end" }, shortened(names[i], left - 8)),
          s("rect", { class: i ? "theirs" : "ours", x: left, y, width: Math.max(1.5, end - left), height: tall, rx: 4 }),
          whiskers && s("path", { class: "whisker", d: `M${fixed(from)} ${y + tall / 2}H${fixed(to)}M${fixed(from)} ${y + 4}v${tall - 8}M${fixed(to)} ${y + 4}v${tall - 8}` }),
          s("text", { class: "ink", x: Math.max(end, to) + 7, y: y + tall - 4 }, text(v)),
        ];
      })];
    });
    return drawing(width, groups.length * step - 6, label, parts);
  });
}

// ROC curves, and precision over recall: of each class against the rest.
function classCurves() {
  const curves = data.curves.map((c) => ({ ...c, k: indexOf.get(c.class) }));
  if (!curves.length) return [];
  const of = K === 2 ? `Of ${curves[0].class} against ${own[1 - curves[0].k]}.` : `Of each class against the rest${curves.length < judged.classes.length ? `: the ${curves.length} largest classes` : ""}.`;
  const make = (title, note, key, area, name, axes, baseline, steps) => card(title, "", h("p", { class: "quiet" }, `${of} ${note}`),
    curveDrawing(`${title}. ${curves.map((c) => `${c.class}: ${figure(c[area].value)}`).join("; ")}`, curves, key, axes, baseline, steps),
    h("ul", { class: "areas" }, curves.map((c) => h("li", {}, classMark(c.k), h("span", {}, figure(c[area].value), h("span", { class: "hint" }, ` ${interval(c[area])}`))))),
    h("p", { class: "quiet" }, `${name}, with its 95\u202f% interval.`));
  return [
    make("ROC curve", "Recall of a class over the false positive rate.", "roc", "roc_auc", "Area under the curve", ["false positive rate: share of the others, %", "recall: share of the class found, %"], (x, y) => [x(0), y(0), x(1), y(1)]),
    make("Precision and recall", "Precision of a class over its recall.", "precision_recall", "average_precision", "Average precision", ["recall: share of the class found, %", "precision: share that is right, %"],
      (x, y) => curves.length === 1 && [x(0), y(curves[0].share), x(1), y(curves[0].share)], true)];
}

function curveDrawing(label, curves, key, axes, baseline, steps) {
  return responsive(h("div", { class: "figure" }), (width) => {
    const left = 40, bottom = 38, top = 8, height = Math.min(380, Math.max(240, width * 0.75));
    const x = linear(0, 1, left, width - 10), y = linear(0, 1, height - bottom, top), base = baseline(x, y);
    const line = (points) => points.map(([u, v], i) => (i && steps ? `V${fixed(y(v))}H${fixed(x(u))}` : `${i ? "L" : "M"}${fixed(x(u))} ${fixed(y(v))}`)).join("");
    return drawing(width, height, label,
      [0, 0.25, 0.5, 0.75, 1].map((v) => [
        s("line", { class: v ? "grid-line" : "axis", x1: left, x2: width - 10, y1: y(v), y2: y(v) }),
        s("text", { x: left - 6, y: y(v) + 4, "text-anchor": "end" }, 100 * v),
        s("text", { x: x(v), y: height - bottom + 15, "text-anchor": "middle" }, 100 * v)]),
      base && s("line", { class: "diagonal", x1: base[0], y1: base[1], x2: base[2], y2: base[3] }),
      curves.map((c) => s("path", { class: `curve ${hue(c.k)}`, d: line(c[key]) }, s("title", {}, c.class))),
      s("text", { class: "ink", x: (left + width) / 2, y: height - 4, "text-anchor": "middle" }, axes[0]),
      s("text", { class: "ink", transform: `translate(9 ${(height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, axes[1]));
  });
}
