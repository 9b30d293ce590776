"use strict";
// The page of claims: the verdict bar shows those of one verdict, words search, and sliders try other values of inputs.
(() => {
  const articles = Array.from(document.querySelectorAll("article.claim"));

  const makeFilters = () => {
    const buttons = Array.from(document.querySelectorAll("[data-only]"));
    const texts = new Map(articles.map((one) => [one, one.textContent.toLowerCase()]));
    const form = document.querySelector("[data-claims]");
    if (!form) return;
    const search = form.querySelector("input");
    const shown = form.querySelector("output");
    const apply = () => {
      const chosen = new Set(buttons.filter((one) => one.getAttribute("aria-pressed") === "true").map((one) => one.dataset.only));
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      for (const one of articles) {
        const fits = !chosen.size || chosen.has(one.dataset.verdict);
        one.hidden = !(fits && words.every((word) => texts.get(one).includes(word)));
        count += !one.hidden;
      }
      shown.textContent = `${count} of ${articles.length} claims`;
    };
    const press = (kind, on) => {
      for (const one of buttons) if (one.dataset.only === kind) one.setAttribute("aria-pressed", String(on));
    };
    for (const button of buttons) {
      button.addEventListener("click", () => {
        press(button.dataset.only, button.getAttribute("aria-pressed") !== "true");
        apply();
      });
    }
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", apply);
    form.addEventListener("reset", () => {
      for (const one of buttons) one.setAttribute("aria-pressed", "false");
      setTimeout(apply);
    });
    apply();
  };

  // A tree is a number, a truth, [input], or [sign, part, ...]; it is walked, and nothing of it is ever run.
  const deepest = 100;
  const valueOf = (tree, inputs, depth = 0) => {
    if (depth > deepest) return NaN;
    if (!Array.isArray(tree)) return tree;
    const [sign, ...parts] = tree;
    if (!parts.length) return inputs.get(sign);
    const [a, b] = parts.map((part) => valueOf(part, inputs, depth + 1));
    switch (sign) {
      case "+": return a + b;
      case "-": return a - b;
      case "*": return a * b;
      case "/": return a / b;
      case "<": return a < b;
      case "<=": return a <= b;
      case ">": return a > b;
      case ">=": return a >= b;
      case "==": return a === b;
      case "!=": return a !== b;
      case "and": return a && b;
      case "or": return a || b;
      case "not": return !a;
      case "neg": return -a;
      case "max": return Math.max(...parts.map((part) => valueOf(part, inputs, depth + 1)));
      case "min": return Math.min(...parts.map((part) => valueOf(part, inputs, depth + 1)));
    }
    return NaN;
  };

  const inUnit = (figure, value) => {
    if (figure.turns === "reduction") value /= 1 - value;
    if (figure.turns === "speedup") value /= 1 + value;
    return value * figure.factor;
  };

  const holds = (figure, value) => {
    if (typeof figure.accepts === "boolean") return value === figure.accepts;
    return figure.accepts.some(([low, high, from, to]) => {
      const above = low === null || value > low || (from && value === low);
      return above && (high === null || value < high || (to && value === high));
    });
  };

  const number = (value) => value.toLocaleString("en", { maximumFractionDigits: Math.abs(value) < 1000 ? 3 : 0 });

  // The figures as tried, as marks of their own on the number lines.
  const drawTried = (article, figures, values) => {
    article.querySelectorAll("figure.chart").forEach((line, at) => {
      const data = JSON.parse(line.querySelector('script[type="application/json"]').textContent);
      const tried = figures.flatMap((figure, place) =>
        figure.line === at && Number.isFinite(values[place]) ? [{ name: "as tried", style: "ticks", colour: 4, points: [[values[place]], [figure.row]] }] : []);
      window.mlsub.redraw(line, { ...data, series: [...data.series, ...tried] });
    });
  };

  const makeSliders = (article) => {
    const script = article.querySelector("script[data-tryout]");
    if (!script) return;
    const { sliders, figures } = JSON.parse(script.textContent);
    const group = document.createElement("div");
    group.className = "sliders";
    const inputs = new Map(sliders.map((one) => [one.name, one.value]));
    const outcome = document.createElement("output");
    let shown = false;
    const apply = () => {
      const moved = sliders.some((one) => inputs.get(one.name) !== one.value);
      const values = figures.map((figure) => {
        const raw = valueOf(figure.tree, inputs);
        return typeof raw === "boolean" ? raw : inUnit(figure, raw);
      });
      if (moved || shown) drawTried(article, figures, moved ? values : []);
      shown = moved;
      const said = figures.map((figure, at) => {
        const value = values[at];
        const shown = typeof value === "boolean" ? String(value) : Number.isFinite(value) ? number(value) + figure.sign : "no value";
        return `${shown}${figure.name ? ` (${figure.name})` : ""}: ${holds(figure, value) ? "holds" : "fails"}`;
      });
      outcome.textContent = said.join("; ");
    };
    const controls = sliders.map((one) => {
      const label = group.appendChild(document.createElement("label"));
      const name = label.appendChild(document.createElement("span"));
      const control = label.appendChild(document.createElement("input"));
      Object.assign(control, { type: "range", min: one.low, max: one.high, step: one.step, value: one.value });
      const show = () => {
        name.textContent = `${one.name}: ${number(inputs.get(one.name))}${one.unit ? ` ${one.unit}` : ""}`;
      };
      control.addEventListener("input", () => {
        // A step of the slider lies beside the value that the claim has.
        const value = Number(control.value);
        inputs.set(one.name, Math.abs(value - one.value) < one.step / 2 ? one.value : value);
        show();
        apply();
      });
      show();
      return { one, control, show };
    });
    const reset = document.createElement("button");
    reset.type = "button";
    reset.textContent = "As stated";
    reset.addEventListener("click", () => {
      for (const { one, control, show } of controls) {
        control.value = one.value;
        inputs.set(one.name, one.value);
        show();
      }
      apply();
    });
    outcome.setAttribute("aria-live", "polite");
    group.append(outcome, reset);
    script.after(group);
    apply();
  };

  // After the charts, which the sliders draw on.
  document.addEventListener("DOMContentLoaded", () => {
    makeFilters();
    articles.forEach(makeSliders);
  });
})();
