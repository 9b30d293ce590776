"use strict";
// The reader's choice of light or dark; without one, that of the system; and the menus of the site and of the page. Runs before the page is drawn.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const remembered = (key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null; // Some browsers keep nothing for files.
    }
  };
  const remember = (key, value) => {
    try {
      localStorage.setItem(key, value);
    } catch {
      // Then the choice holds for this page alone.
    }
  };
  window.mlsubMemory = { remembered, remember };
  root.classList.add("js");
  const chosen = remembered("mlsub-theme");
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;

  // Links to the parts of a page that has several.
  const contents = (parts) => {
    if (parts.length < 4 || parts.length > 19) return;
    const list = Object.assign(document.createElement("nav"), { className: "contents", ariaLabel: "On this page" });
    list.append(...parts.map(({ id, firstElementChild }) => Object.assign(document.createElement("a"), { href: `#${id}`, textContent: firstElementChild.textContent })));
    parts[0].before(list);
  };

  // The button says what it changes the page to.
  const changed = () => {
    for (const button of document.querySelectorAll("[data-theme-toggle]")) button.textContent = isDark() ? "Light" : "Dark";
  };
  system.addEventListener("change", changed);
  document.addEventListener("DOMContentLoaded", () => {
    for (const button of document.querySelectorAll("[data-theme-toggle]")) {
      button.addEventListener("click", () => {
        root.dataset.theme = isDark() ? "light" : "dark";
        remember("mlsub-theme", root.dataset.theme);
        changed();
      });
    }
    changed();
    contents(Array.from(document.querySelectorAll("main > section")));
    const menu = document.querySelector(".menu");
    const open = (now) => menu.setAttribute("aria-expanded", String(now));
    menu.addEventListener("click", () => open(menu.getAttribute("aria-expanded") === "false"));
    menu.parentElement.addEventListener("keydown", (event) => event.key === "Escape" && open(false));
  });
})();
