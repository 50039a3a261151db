// The model's arithmetic: that of naively's kernel.
//
//     total_k(x) = log p(k) + b_k + sum_t w_kt (log f_t(x | k) - the mean over classes)
//
// where t goes over the terms of the columns, each with its weight; one whose weight is the same
// in all classes is not centred, which moves them all alike. Without terms it is the
// textbook's Gaussian, in the kernel's order of operations:
//
//     total_k(x) = log p(k) + sum_j log f_kj(x_j)
//     log f_kj(x) = -(x - mean_kj)^2 / (2 variance_kj) - log(2 pi variance_kj) / 2
//
// A missing value (null) leaves its terms out, for every class: that is the exact marginal.
// Columns that are not in the page are missing too, unless a row brings what they add (`rest`), also
// to interactions (`hidden`).
const data = JSON.parse(document.getElementById("data").textContent);
const SMALLEST = 2.2250738585072014e-308; // a smaller variance has no inverse

const K = data.classes.length;
const columns = data.columns; // the most important first
const leftOut = data.data.columns - columns.length;
const inOrder = columns.map((_, j) => j).sort((a, b) => columns[a].index - columns[b].index);
const logPrior = data.classes.map((c) => Math.log(c.prior));
const bias = data.model.bias ?? logPrior.map(() => 0);
const textbook = columns.every((c) => !c.terms);

for (const column of columns) {
  if (column.terms || column.categories) continue;
  // A variance of null is of a column of which nothing is known: it adds nothing.
  const variance = column.variance.map((v) => (v === null ? null : Math.max(v, SMALLEST)));
  column.scale = variance.map((v) => (v === null ? 0 : 0.5 / v));
  column.logNorm = variance.map((v) =>
    v === null ? 0 : 0.5 * (Math.log(2 * Math.PI) + Math.log(v)));
}

function distance(column, k, x) {
  const d = x - (column.mean[k] ?? 0);
  return d * column.scale[k] * d;
}

const isCentred = (t) => t.weight.some((w) => w !== t.weight[0]);

// What a value adds to the total of each class.
function says(column, x) {
  if (x === null) return logPrior.map(() => 0);
  if (column.words) return saysText(column, x);
  if (!column.terms) return logPrior.map((_, k) => -distance(column, k, x) - column.logNorm[k]);
  const sum = logPrior.map(() => 0);
  for (const t of column.terms) {
    if (!t.form) continue;
    const said = sum.map((_, k) => forms[t.form](t, k, x));
    const mean = isCentred(t) ? said.reduce((a, b) => a + b, 0) / K : 0;
    said.forEach((v, k) => { sum[k] += t.weight[k] * (v - mean); });
  }
  return sum;
}

// The total of every class; x holds a number, the place of a category or null per column. A rest of
// null is a class that is out of the question.
function joint(x, rest = null, hidden = null) {
  const total = jointOfPage(x, hidden);
  return rest === null ? total : total.map((t, k) => t + (rest[k] ?? -Infinity));
}

function jointOfPage(x, hidden) {
  if (!textbook) {
    const said = [...inOrder.map((j) => says(columns[j], x[j])), ...together(x, hidden).map(({ values }) => values)];
    return logPrior.map((prior, k) => said.reduce((sum, values) => sum + values[k], prior + bias[k]));
  }
  return logPrior.map((prior, k) => {
    let norms = 0, absent = 0, sum = 0;
    for (const j of inOrder) {
      norms += columns[j].logNorm[k];
      if (x[j] === null) absent += columns[j].logNorm[k];
      else sum += distance(columns[j], k, x[j]);
    }
    return absent + (prior - norms) - sum;
  });
}

function posterior(x, rest = null, hidden = null) {
  let total = joint(x, rest, hidden);
  if (textbook && total.every((t) => !(t > -Infinity))) total = nearest(x);
  return normalized(total);
}

function normalized(total) {
  const best = Math.max(...total);
  const p = total.map((t) => Math.exp(t - best));
  const sum = p.reduce((a, b) => a + b, 0);
  return p.map((v) => v / sum);
}

// Every total overflowed: the row is some 1e154 standard deviations away. The nearest classes
// share it by what remains, log p(k) - sum log_norm.
function nearest(x) {
  const present = inOrder.filter((j) => x[j] !== null);
  const roots = logPrior.map((_, k) =>
    present.map((j) => Math.abs(x[j] - (columns[j].mean[k] ?? 0)) * Math.sqrt(columns[j].scale[k])));
  const largest = Math.max(...roots.flat());
  const far = roots.map((u) => u.reduce((sum, v) => sum + (v / largest) ** 2, 0));
  const least = Math.min(...far.filter((_, k) => logPrior[k] > -Infinity));
  return logPrior.map((prior, k) =>
    far[k] === least ? present.reduce((sum, j) => sum - columns[j].logNorm[k], prior) : -Infinity);
}

function argmax(values) {
  return values.reduce((best, v, k) => (v > values[best] ? k : best), 0);
}
