// The controls of the explorer: a slider under the curves of a number, a list beside the bars of a
// category.

function showControls() {
  const place = $("controls");
  for (let j = place.children.length; j < state.shown; ++j) place.append(columns[j].words ? textBox(j) : columns[j].categories ? choice(j) : control(j));
  const left = columns.length - state.shown;
  const more = $("more");
  more.replaceChildren();
  if (left > 0) {
    const button = h("button", { type: "button" }, `Show ${plural(Math.min(left, FIRST), "more column")}`);
    button.addEventListener("click", () => {
      const at = state.shown;
      state.shown = Math.min(columns.length, at + FIRST);
      showControls();
      changed();
      place.children[at].querySelector("input, select, textarea")?.focus();
    });
    more.append(button, h("span", { id: "hidden" }));
    showHidden();
  }
}

function control(j) {
  const column = columns[j], { low, high, step } = column.slider;
  const title = h("h3", { title: column.name }, column.brief);
  const field = h("input", { type: "number", step: "any", "aria-label": `${column.name}, value`, placeholder: "missing" });
  const slider = h("input", { type: "range", min: low, max: high, step, "aria-label": column.name });
  const box = h("input", { type: "checkbox" });
  const plot = h("div", { class: "plot" });
  const card = h("article", { class: "card control", "data-column": column.name },
    h("header", {}, title, field), plot, slider,
    h("div", { class: "under" }, h("span", {}, number(low)), h("label", {}, box, "missing"), h("span", {}, number(high))), emptyNote(column));

  const set = (value) => { state.x[j] = value; changed(); };
  slider.addEventListener("input", () => set(slider.valueAsNumber));
  field.addEventListener("input", () => {
    if (!field.validity.badInput) set(Number.isFinite(field.valueAsNumber) ? field.valueAsNumber : null);
  });
  field.addEventListener("blur", () => show());
  box.addEventListener("change", () => set(box.checked ? null : slider.valueAsNumber));
  dragging(plot, (fraction) => set(snapped(column, low + fraction * (high - low))));

  let marker = null;
  responsive(plot, (width) => {
    const chart = bells(column, width);
    marker = chart.marker;
    marker(state.x[j]);
    return chart.svg;
  });
  function show() {
    const x = state.x[j];
    card.classList.toggle("missing", x === null);
    box.checked = x === null;
    if (x !== null) slider.value = x;
    slider.setAttribute("aria-valuetext", x === null ? "missing" : String(x));
    if (document.activeElement !== field || field.valueAsNumber !== x)
      if (!(document.activeElement === field && x === null)) field.value = x === null ? "" : x;
    if (marker) marker(x);
  }
  watchers.push(show);
  show();
  return card;
}

// Calls move(fraction of the width between the thumb's ends) while a pointer is down.
function dragging(place, move) {
  const at = (event) => {
    const box = place.getBoundingClientRect();
    move(Math.max(0, Math.min(1, (event.clientX - box.left - THUMB) / (box.width - 2 * THUMB))));
  };
  place.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    place.setPointerCapture(event.pointerId);
    at(event);
  });
  place.addEventListener("pointermove", (event) => {
    if (place.hasPointerCapture(event.pointerId)) at(event);
  });
}

// A column of categories: bars of its shares, and a list that knows more of them than there are bars.
function choice(j) {
  const column = columns[j], other = column.categories.length;
  const option = (value, text) => h("option", { value }, text);
  const list = h("select", { "aria-label": `${column.name}, value` }, option("", "missing"),
    column.categories.map((name, c) => option(c, name)), option(other, "one never seen"));
  const plot = h("div", { class: "plot" });
  const box = h("article", { class: "card control choice", "data-column": column.name },
    h("header", {}, h("h3", { title: column.name }, column.brief), list), plot,
    unlisted(column) > 0 && h("p", { class: "quiet" }, `${count(column.categories.length)} of ${count(column.n_categories)} categories are listed.`), emptyNote(column));
  const set = (value) => { state.x[j] = value; changed(); };
  list.addEventListener("change", () => set(list.value === "" ? null : Number(list.value)));
  let width = 0;
  const draw = () => { if (width) plot.replaceChildren(shareBars(column, width, state.x[j], set)); };
  new ResizeObserver(() => { if (plot.clientWidth && plot.clientWidth !== width) { width = plot.clientWidth; draw(); } }).observe(plot);
  function show() {
    box.classList.toggle("missing", state.x[j] === null);
    list.value = state.x[j] === null ? "" : state.x[j];
    draw();
  }
  watchers.push(show);
  show();
  return box;
}
