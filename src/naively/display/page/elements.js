// Elements, numbers and axes. Text goes into the page as text nodes only, never as markup.
const SVG = "http://www.w3.org/2000/svg";
const $ = (id) => document.getElementById(id);

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {}))
    if (value !== null && value !== undefined && value !== false)
      node.setAttribute(name, value === true ? "" : value);
  node.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return node;
}
const h = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) =>
  build(document.createElementNS(SVG, tag), attributes, children);

// Takes a section out, and the link to it.
function removed(id) {
  $(id).remove();
  document.querySelector(`nav a[href="#${id}"]`).remove();
}

function drawing(width, height, label, ...children) {
  return s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label },
    ...children);
}

// Draws into a place, and again whenever its width changes.
function responsive(place, draw) {
  let last = 0;
  new ResizeObserver(() => {
    const width = Math.floor(place.clientWidth);
    if (width > 0 && width !== last) { last = width; place.replaceChildren(draw(width)); }
  }).observe(place);
  return place;
}

// --- classes ---

const hue = (k) => `k${k % 7} t${Math.floor(k / 7) % 3}`;
const nameOf = (k) => data.classes[k].label;

function classMark(k, text = data.classes[k].brief) {
  return h("span", { class: `class-name ${hue(k)}`, title: nameOf(k) }, h("span", { class: "dot" }), h("span", {}, text));
}

function bar(share, k) {
  const fill = h("i");
  fill.style.setProperty("--w", Math.max(0, Math.min(1, share || 0)));
  return h("span", { class: k === undefined ? "bar" : `bar ${hue(k)}`, "aria-hidden": "true" }, fill);
}

// --- numbers ---

const known = (v) => v !== null && v !== undefined && Number.isFinite(v);

function number(v, digits = 4) {
  if (!known(v)) return v === -Infinity ? "−∞" : "–";
  const size = Math.abs(v);
  if (size !== 0 && (size >= 1e6 || size < 1e-4)) return powers(v.toExponential(Math.min(digits - 1, 2)));
  return minus(String(Number(v.toPrecision(digits))));
}
const powers = (text) => minus(text.replace("e+", "e")).replace(/\.?0+e/, "e");
const minus = (text) => text.replaceAll("-", "−");
const count = (n) => Math.round(n).toLocaleString("en-US");
const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

function logarithm(v) {
  if (!known(v)) return v === -Infinity ? "−∞" : "–";
  return Math.abs(v) >= 1e5 ? powers(v.toExponential(2)) : minus(v.toFixed(2));
}

function percent(p, digits = 1) {
  if (!known(p)) return "–";
  const edge = 0.5 * 10 ** (-digits - 2);
  if (p > 0 && p < edge) return `<\u00a0${(10 ** -digits).toFixed(digits)}\u202f%`;
  if (p < 1 && p > 1 - edge) return `>\u00a0${(100 - 10 ** -digits).toFixed(digits)}\u202f%`;
  return `${(100 * p).toFixed(p === 1 || p === 0 ? 0 : digits)}\u202f%`;
}

// A value of a column: a number, or the name of a category.
function written(column, value, digits) {
  if (value === null || Number.isNaN(value)) return "missing";
  if (column.words) return `“\u2068${shortened(value, 300)}\u2069”`; // its direction is its own
  return column.categories ? column.categories[value] ?? "one never seen" : number(value, digits);
}

// Whether the model has seen no cell of a column.
const isEmpty = (column) => !column.words && (column.categories ? !column.n_categories : column.variance.every((v) => v === null));

const emptyNote = (column) => isEmpty(column) && h("p", { class: "quiet" }, "No cell was seen in this column: it adds nothing.");

// How many categories the model knows that the page does not name.
const unlisted = (column) => column.n_categories - column.categories.length;

function seconds(t) {
  if (t >= 1) return `${t.toPrecision(3)}\u202fs`;
  return t >= 1e-3 ? `${(1e3 * t).toPrecision(3)}\u202fms` : `${(1e6 * t).toPrecision(3)}\u202fµs`;
}

// --- axes ---

const linear = (from, to, start, end) => (v) => start + ((v - from) / (to - from)) * (end - start);

function ticks(from, to, about) {
  const rough = (to - from) / Math.max(1, about);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= rough * 0.999);
  const found = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9; ++i)
    found.push(Number((i * step).toPrecision(12)));
  return found;
}

// --- long names ---

// As much of a text as fits in a width, at about 6.8 px a letter of 11 px.
const shortened = (text, width) => cut(text, Math.max(3, Math.floor(width / 6.8)));

// The first and the last of its letters.
function cut(text, letters) {
  const end = Math.floor((letters - 1) / 2);
  return text.length <= letters ? text : `${text.slice(0, letters - 1 - end)}…${text.slice(text.length - end)}`;
}

// Names of at most so many letters; of those that would look alike, the part in which they differ.
function brief(names, letters) {
  const groups = new Map();
  for (const name of names) groups.set(cut(name, letters), (groups.get(cut(name, letters)) ?? new Set()).add(name));
  return names.map((name) => {
    const alike = [...groups.get(cut(name, letters))];
    if (alike.length < 2) return cut(name, letters);
    let same = 0;
    while (alike.every((other) => other[same] === name[same])) ++same;
    const differs = `…${name.slice(Math.max(0, same - 2))}`;
    return differs.length <= letters ? differs : `${differs.slice(0, letters - 3)}… ${alike.indexOf(name) + 1}`;
  });
}

for (const [all, key] of [[data.classes, "label"], [columns, "name"]])
  brief(all.map((one) => one[key]), 26).forEach((text, i) => { all[i].brief = text; });
