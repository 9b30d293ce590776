"use strict";
// What a page compares results by: at one size, per accelerator, or at any size. Charts and tables that have these views show
// the one that is chosen, and the address has it: #view=per-accelerator. The first is there without scripts.
(() => {
  const VIEWS = { "same-size": "same size", "per-accelerator": "per accelerator", "any-size": "any size" };
  const { address } = window.mlsub;
  const view = () => (address().get("view") in VIEWS ? address().get("view") : Object.keys(VIEWS)[0]);

  // What is chosen on a page stands in the address beside what else it has; nothing is written for a first choice.
  const remember = (chosen) => {
    const asked = address();
    for (const [key, values] of Object.entries(chosen)) {
      asked.delete(key);
      [values].flat().filter(Boolean).forEach((value) => asked.append(key, value));
    }
    history.replaceState(null, "", asked.size ? `#${asked}` : location.pathname + location.search);
  };

  const begin = () => {
    const tables = Array.from(document.querySelectorAll("table[id]")).filter(({ id }) => Object.keys(VIEWS).some((name) => id.endsWith(`-${name}`)));
    const charts = Array.from(document.querySelectorAll("figure.chart")).filter((figure) => window.mlsub.viewed(figure));
    if (!tables.length && !charts.length) return;
    const form = Object.assign(document.createElement("form"), { className: "views" });
    const switches = form.appendChild(document.createElement("fieldset"));
    switches.append(Object.assign(document.createElement("legend"), { textContent: "Compare" }));
    const radios = Object.entries(VIEWS).map(([value, title]) => {
      const label = switches.appendChild(document.createElement("label"));
      const radio = label.appendChild(Object.assign(document.createElement("input"), { type: "radio", name: "view", value }));
      label.append(title);
      return radio;
    });
    const apply = () => {
      radios.forEach((radio) => (radio.checked = radio.value === view()));
      for (const table of tables) {
        const place = table.closest("details") ?? table.parentElement;
        place.hidden = !table.id.endsWith(`-${view()}`);
        if (place.open === false) place.open = true;
        place.querySelector("summary")?.setAttribute("hidden", "");
      }
      charts.forEach((figure) => window.mlsub.redraw(figure));
      document.dispatchEvent(new CustomEvent("mlsub-view"));
    };
    form.addEventListener("change", (event) => {
      remember({ view: event.target.value === Object.keys(VIEWS)[0] ? "" : event.target.value });
      apply();
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    window.addEventListener("hashchange", () => radios.some((radio) => radio.checked && radio.value !== view()) && apply());
    document.querySelector("main > section").before(form);
    apply();
  };

  Object.assign(window.mlsub, { view, remember });
  document.addEventListener("DOMContentLoaded", begin);
})();
