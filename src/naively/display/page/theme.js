// The theme: as the system has it, light or dark; a browser that lets the page remember it, does.
const THEMES = ["auto", "light", "dark"], THEME_KEY = "naively-theme";

function theme() {
  const set = (name) => {
    if (name === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    for (const button of $("theme").children) button.setAttribute("aria-pressed", button.textContent === name);
    for (const watcher of themeWatchers) watcher();
  };
  $("theme").hidden = false;
  $("theme").append(...THEMES.map((name) => {
    const button = h("button", { type: "button" }, name);
    button.addEventListener("click", () => { remember(name); set(name); });
    return button;
  }));
  set(THEMES.includes(remembered()) ? remembered() : "auto");
}

const themeWatchers = []; // called after every change: what is painted takes its colours anew

// A page in a frame without an origin has no storage.
function remember(name) {
  try { localStorage.setItem(THEME_KEY, name); } catch { /* then it is not remembered */ }
}

function remembered() {
  try { return localStorage.getItem(THEME_KEY); } catch { return null; }
}
