// The map: which class wins where, for two columns. Computed here, by the model itself.
const RADIUS = Math.sqrt(-2 * Math.log(0.05)); // standard deviations that hold 0.95 of a class
const SHAPES = [ // one per class, as in naively.plots; about 7 px wide
  "M-3.4 0A3.4 3.4 0 1 0 3.4 0A3.4 3.4 0 1 0 -3.4 0Z", "M-3 -3H3V3H-3Z", "M0 -3.9L3.7 2.9H-3.7Z",
  "M0 -4.2L4.2 0L0 4.2L-4.2 0Z", "M0 3.9L3.7 -2.9H-3.7Z", "M-1.3 -3.9H1.3V-1.3H3.9V1.3H1.3V3.9H-1.3V1.3H-3.9V-1.3H-1.3Z",
];

const gaussian = columns.every((c) => c.variance && (!c.terms || c.terms.every((t) => t.family === "gaussian")));

function map() {
  const usable = columns.map((_, j) => j).filter((j) => columns[j].variance?.some((v) => v !== null)).slice(0, data.map_columns);
  if (usable.length < 2) {
    removed("map");
    return;
  }
  const chosen = { x: usable[0], y: usable[1], hold: false };
  const choose = (axis, label) => {
    const list = h("select", {}, usable.map((j) => h("option", { value: j, selected: j === chosen[axis] }, columns[j].name)));
    list.addEventListener("change", () => { chosen[axis] = Number(list.value); redraw(); });
    return h("label", {}, label, list);
  };
  const hold = h("input", { type: "checkbox" });
  hold.addEventListener("change", () => { chosen.hold = hold.checked; redraw(); });
  const frame = h("div", { class: "map-frame" });
  $("map-card").append(
    h("div", { class: "map-head" }, choose("x", "across"), choose("y", "up"),
      columns.length > 2 && h("label", {}, hold, "others as in the explorer")),
    frame,
    h("ul", { class: "legend" }, data.classes.slice(0, 14).map((_, k) => h("li", {}, legendMark(k))),
      K > 14 && h("li", { class: "quiet" }, `and ${K - 14} more`)));

  if (K <= 7 && gaussian) $("map-curves").textContent = "The curve around each centre (+) holds 95\u202f% of its class. ";
  else if (K <= 14) $("map-curves").textContent = "A + marks the mean of each class. ";

  let place = () => {};
  let width = 0;
  const redraw = () => {
    if (!width) return;
    const drawn = drawMap(chosen, width);
    frame.replaceChildren(drawn.canvas, drawn.svg);
    place = drawn.place;
    drawn.paint();
    place();
  };
  new ResizeObserver(() => {
    if (frame.clientWidth && frame.clientWidth !== width) { width = frame.clientWidth; redraw(); }
  }).observe(frame);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  themeWatchers.push(redraw);
  let waiting = false;
  watchers.push(() => {
    if (!chosen.hold) { place(); return; }
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; redraw(); });
  });
}

function legendMark(k) {
  return h("span", { class: `class-name ${hue(k)}`, title: nameOf(k) },
    s("svg", { class: "key", viewBox: "-7 -5 14 10", width: 14, height: 10, "aria-hidden": "true" }, s("path", { class: "point", d: SHAPES[k % SHAPES.length] })),
    h("span", {}, data.classes[k].brief));
}

// What the map shows of a column: the slider's range, and a margin around whole numbers.
function extent(column) {
  const { low, high, step } = column.slider, margin = step === 1 ? 0.03 * (high - low) : 0;
  return { low: low - margin, high: high + margin };
}

function drawMap(chosen, width) {
  const a = columns[chosen.x], b = columns[chosen.y], across = extent(a), up = extent(b);
  const left = 46, bottom = 40, top = 4, right = 6;
  const height = Math.round(Math.min(520, Math.max(280, width * 0.56)));
  const inner = { width: width - left - right, height: height - top - bottom };
  const x = linear(across.low, across.high, left, left + inner.width);
  const y = linear(up.low, up.high, top + inner.height, top);
  const canvas = h("canvas", { width: Math.min(360, Math.round(inner.width / 2)), height: Math.min(240, Math.round(inner.height / 2)), "aria-hidden": "true" });
  const part = (length, whole) => `${(100 * length) / whole}%`; // so that both shrink alike on paper
  Object.assign(canvas.style, { left: part(left, width), top: part(top, height), width: part(inner.width, width), height: part(inner.height, height) });

  const clip = s("clipPath", { id: "map-clip" }, s("rect", { x: left, y: top, width: inner.width, height: inner.height }));
  const inside = s("g", { "clip-path": "url(#map-clip)" }, points(chosen, x, y), ellipses(a, b, x, y));
  const gap = s("circle", { class: "here-gap", r: 8 }), ring = s("circle", { class: "here", r: 8 });
  const svg = drawing(width, height, `Decision regions for ${a.name} and ${b.name}`, clip,
    mapAxes(a, b, x, y, { left, top, ...inner, height: inner.height, bottomEdge: height }), inside, gap, ring);
  const place = () => {
    const [u, v] = [state.x[chosen.x], state.x[chosen.y]];
    for (const mark of [gap, ring]) {
      mark.setAttribute("visibility", u === null || v === null ? "hidden" : "visible");
      mark.setAttribute("cx", x(Math.min(a.slider.high, Math.max(a.slider.low, u ?? 0))));
      mark.setAttribute("cy", y(Math.min(b.slider.high, Math.max(b.slider.low, v ?? 0))));
    }
  };
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    const u = (event.clientX - box.left - left) / inner.width, v = 1 - (event.clientY - box.top - top) / inner.height;
    if (u < 0 || u > 1 || v < 0 || v > 1) return;
    state.x[chosen.x] = snapped(a, across.low + u * (across.high - across.low));
    state.x[chosen.y] = snapped(b, up.low + v * (up.high - up.low));
    changed();
  });
  return { canvas, svg, place, paint: () => paint(canvas, chosen) };
}

function mapAxes(a, b, x, y, frame) {
  const across = ticks(a.slider.low, a.slider.high, frame.width / 90);
  const up = ticks(b.slider.low, b.slider.high, frame.height / 60);
  const bottom = frame.top + frame.height;
  return s("g", {},
    across.map((v) => s("text", { x: x(v), y: bottom + 16, "text-anchor": "middle" }, number(v))),
    up.map((v) => s("text", { x: frame.left - 7, y: y(v) + 4, "text-anchor": "end" }, number(v, 3))),
    s("text", { class: "ink", x: frame.left + frame.width / 2, y: bottom + 34, "text-anchor": "middle" }, shortened(a.name, frame.width)),
    s("text", { class: "ink", x: -(frame.top + frame.height / 2), y: 9, transform: "rotate(-90)", "text-anchor": "middle" }, shortened(b.name, frame.height)));
}

// Colours every pixel by its most probable class, the stronger the surer.
function paint(canvas, chosen) {
  const { width, height } = canvas, context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const values = (column, n, flip) => Array.from({ length: n }, (_, i) => {
    const { low, high } = extent(column), f = (i + 0.5) / n;
    return low + (flip ? 1 - f : f) * (high - low);
  });
  const held = columns.map((c, j) => (chosen.hold && j !== chosen.x && j !== chosen.y ? says(c, state.x[j]) : null)).filter(Boolean);
  const fixedPart = logPrior.map((prior, k) => held.reduce((sum, said) => sum + said[k], prior + bias[k] + (chosen.hold && state.rest ? state.rest[k] ?? -Infinity : 0)));
  const same = chosen.x === chosen.y;
  const vx = values(columns[chosen.x], width, false), vy = values(columns[chosen.y], height, true);
  const lx = vx.map((v) => says(columns[chosen.x], v)), ly = vy.map((v) => says(columns[chosen.y], v));
  const x = columns.map((_, j) => (chosen.hold ? state.x[j] : null));
  const colours = data.classes.map((_, k) => rgb(k));
  const floor = 1 / K;
  for (let i = 0; i < height; ++i)
    for (let j = 0; j < width; ++j) {
      let best = -Infinity, at = 0;
      const total = fixedPart.map((v, k) => v + lx[j][k] + (same ? 0 : ly[i][k]));
      if (inter) {
        x[chosen.y] = vy[i];
        x[chosen.x] = vx[j];
        sumOf(together(x, chosen.hold ? state.hidden : null)).forEach((v, k) => { total[k] += v; });
      }
      for (let k = 0; k < K; ++k) if (total[k] > best) { best = total[k]; at = k; }
      let sum = 0;
      for (let k = 0; k < K; ++k) sum += Math.exp(total[k] - best);
      const sure = best > -Infinity ? Math.max(0, (1 / sum - floor) / (1 - floor)) : 1;
      image.data.set([...colours[at], Math.round(255 * (0.05 + 0.3 * sure))], 4 * (i * width + j));
    }
  context.putImageData(image, 0, 0);
}

function rgb(k) {
  const probe = h("span", { class: hue(k) });
  document.body.append(probe);
  probe.style.color = "var(--c)";
  const text = getComputedStyle(probe).color;
  probe.remove();
  const numbers = text.match(/[\d.]+/g).slice(0, 3).map(Number);
  return text.startsWith("color(") ? numbers.map((v) => Math.round(255 * v)) : numbers;
}

function points(chosen, x, y) {
  if (!data.sample) return null;
  const [us, vs] = [chosen.x, chosen.y].map((j) => { // they are in thousandths of the slider's range
    const { low, high } = columns[j].slider;
    return data.sample.values[j].map((v) => (v === null ? null : low + (v / 1000) * (high - low)));
  });
  return data.sample.classes.map((k, i) => us[i] === null || vs[i] === null ? null
    : s("path", { class: `point ${hue(k)}`, d: SHAPES[k % SHAPES.length], transform: `translate(${fixed(x(us[i]))} ${fixed(y(vs[i]))})` }));
}

function ellipses(a, b, x, y) {
  return data.classes.map((_, k) => {
    if (a.variance[k] === null || b.variance[k] === null) return null;
    const [sa, sb] = [Math.sqrt(a.variance[k]), Math.sqrt(b.variance[k])];
    const [cx, cy] = [x(a.mean[k]), y(b.mean[k])];
    return [
      K <= 7 && gaussian && s("ellipse", { class: `ellipse ${hue(k)}`, cx, cy, rx: Math.abs(x(a.mean[k] + RADIUS * sa) - cx), ry: Math.abs(y(b.mean[k] + RADIUS * sb) - cy) }),
      K <= 14 && s("path", { class: "centre", d: `M${fixed(cx - 5)} ${fixed(cy)}h10M${fixed(cx)} ${fixed(cy - 5)}v10` }),
    ];
  });
}
