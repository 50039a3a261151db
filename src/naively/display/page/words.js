// Text: the words of a text that the page knows, and what they add to each class.
//
//     sum over the words j of B_jk x_j,   x_j = 1 / sqrt(n), n words in all
//
// or x_j as often as the word occurs, in the textbook's form. Words are runs of two or more letters,
// digits and underscores, as in Python.
const WORD = /[\p{L}\p{N}_]{2,}/gu;
for (const column of columns) if (column.words) column.place = new Map(column.words.map((word, at) => [word, at]));

// How often each word occurs that the page knows, by its place.
function counted(column, text) {
  const tokens = (column.lowercase ? text.toLowerCase() : text).match(WORD) ?? [], found = new Map();
  const [least, most] = column.ngram_range;
  for (let n = least; n <= most; ++n)
    for (let i = 0; i + n <= tokens.length; ++i) {
      const at = column.place.get(tokens.slice(i, i + n).join(" "));
      if (at !== undefined) found.set(at, (found.get(at) ?? 0) + 1);
    }
  return found;
}

function saysText(column, text) {
  if (column.row && column.row.text === text) return column.row.values; // by the model itself
  const found = counted(column, text), sum = logPrior.map(() => 0);
  const n = [...found.values()].reduce((a, b) => a + b, 0);
  for (const [at, times] of found) {
    const x = column.presence ? 1 / Math.sqrt(n) : times;
    sum.forEach((_, k) => { sum[k] += x * column.values[at][k]; });
  }
  return sum;
}

// A column of text: a box to type into, whose words light up in the colour of the class for which
// they speak, and the words that speak most for each class.
function textBox(j) {
  const column = columns[j];
  const box = h("textarea", { rows: 3, "aria-label": `${column.name}, text`, placeholder: "missing: type or paste a text" });
  const lit = h("p", { class: "lit", "aria-live": "polite" });
  const few = K > 6 ? [] : column.top.map((words, k) => words.length
    ? h("p", { class: "quiet" }, classMark(k), " ", words.map(([word]) => word).join(", ")) : "");
  const card = h("article", { class: "card control text", "data-column": column.name },
    h("header", {}, h("h3", { title: column.name }, column.brief)),
    column.words.length ? [box, lit] : h("p", { class: "quiet" }, "The page cannot cut this column into words: it is missing here, but for the text of a row."), few);
  box.addEventListener("input", () => {
    state.x[j] = box.value.trim() ? box.value : null;
    changed();
  });
  function show() {
    const text = state.x[j];
    card.classList.toggle("missing", text === null);
    if (document.activeElement !== box) box.value = text ?? "";
    lit.replaceChildren(...(text === null ? [] : [...counted(column, text).keys()].map((at) => {
      const values = column.values[at], k = argmax(values);
      return h("span", { class: `word ${hue(k)}`, title: `${nameOf(k)} ${logarithm(values[k])}` }, `${column.words[at]} `);
    })));
  }
  watchers.push(show);
  show();
  return card;
}
