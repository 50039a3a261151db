// The explorer's row in the address, so that a link opens the same case: #case&row=17&2=4.5&5=Ulm,
// where columns go by their place in the model, and row is one of the surest mistakes, which brings
// what is not in the page. Whatever is malformed is left out.
const CASE = "#case", CALM = 300; // milliseconds after the last change

function addressOf({ x, row, shown }) {
  const parts = new URLSearchParams();
  if (row !== null) parts.set("row", row);
  if (shown > FIRST) parts.set("shown", shown);
  columns.forEach((column, j) => { if (x[j] !== null || row !== null) parts.set(column.index, inAddress(column, x[j])); });
  return `${CASE}&${parts}`;
}

const inAddress = (column, v) => (v === null ? "" : column.categories ? column.categories[v] ?? neverSeen(column) : v);

// What stands for a category never seen: a text that is none.
function neverSeen(column) {
  let text = "?";
  while (column.categories.includes(text)) text += "?";
  return text;
}

function fromAddress(column, text) {
  if (text === "") return null;
  if (column.words) return text;
  if (column.categories) {
    const at = column.categories.indexOf(text);
    return at >= 0 ? at : text === neverSeen(column) ? column.categories.length : null;
  }
  return Number.isFinite(Number(text)) && text.trim() ? Number(text) : null;
}

// Whether the address holds a case, which then is shown.
function openCase() {
  if (!location.hash.startsWith(`${CASE}&`)) return false;
  const parts = new URLSearchParams(location.hash.slice(CASE.length + 1));
  const from = data.mistakes?.find((m) => String(m.row) === parts.get("row"));
  const x = columns.map((column, j) => (parts.has(column.index) ? fromAddress(column, parts.get(column.index)) : from?.values[j] ?? null));
  const last = x.findLastIndex((v) => v !== null) + 1, shown = Number(parts.get("shown"));
  const wanted = Math.max(Number.isInteger(shown) ? shown : 0, from ? 0 : last);
  state.shown = Math.max(state.shown, Math.min(columns.length, FIRST * Math.ceil(wanted / FIRST)));
  showControls();
  startFromRow({ rest: from?.rest, hidden: from?.hidden, row: from ? from.row : null, values: x });
  $("explorer").scrollIntoView();
  return true;
}

function address() {
  const opened = openCase();
  let waiting = null, written = opened ? location.hash : null;
  const note = () => { $("share-note").hidden = !written; };
  note();
  watchers.push(() => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      try { history.replaceState(null, "", addressOf(state)); } catch { return; } // a frame without an address
      written = location.hash;
      note();
    }, CALM);
  });
  addEventListener("hashchange", () => { if (location.hash !== written) openCase(); });
}
