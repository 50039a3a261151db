// The diagnosis: where the assumptions fail, what to do, and which columns depend on each other.
function diagnosis() {
  const found = data.diagnosis, place = $("diagnosis-cards");
  $("diagnosis-intro").textContent = found.findings.length ? "Where the assumptions of the model fail, and what to do." : "Nothing was found that breaks the assumptions of the model.";
  if (found.findings.length) place.append(h("article", { class: "card wide" }, h("ul", { class: "findings" }, found.findings.map((f) => h("li", {},
    h("span", { class: `severity ${f.severity}` }, f.severity),
    h("div", {}, h("strong", {}, capital(f.kind)), h("p", {}, f.seen), h("p", { class: "quiet" }, f.advice),
      f.more > 0 && h("p", { class: "quiet" }, `And ${plural(f.more, "more finding")} of this kind${f.others.length ? `: ${f.others.join(", ")}${f.others.length < f.more ? ", …" : ""}` : ""}. naively.diagnose(model) lists them all.`)))))));
  if (found.pairs.length) place.append(card("Associations within classes", "", h("p", { class: "quiet" }, `What naive Bayes takes to be independent. The strength is that of a correlation, from 0 to 1${found.n_pairs > found.pairs.length ? `; the ${found.pairs.length} strongest of ${count(found.n_pairs)} pairs` : ""}.`),
    h("ul", { class: "bars count-bars" }, found.pairs.map(([a, b, strength]) => h("li", {}, h("span", { title: `${a} and ${b}` }, `${named(a)} · ${named(b)}`), h("span", { class: "quiet" }, strength.toFixed(2)), bar(strength))))));
  const notes = [...found.notes, ...found.skipped.map((text) => `Not looked at: ${text}`)];
  if (notes.length) place.append(card("The whole model", found.pairs.length ? "" : "wide", h("ul", { class: "notes" }, notes.map((text) => h("li", {}, text)))));
}

const named = (name) => columns.find((c) => c.name === name)?.brief ?? cut(name, 26);
