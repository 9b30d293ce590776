"use strict";
// The comparison of two results: which two stands in the address (#a=NAME&b=NAME), and the waterfall from one to the other.
(() => {
  const { kinds, plot, redraw, results } = window.mlsub;
  const MANY = 200;
  const make = (tag, properties = {}, ...inside) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...inside);
    return element;
  };
  const slug = (row) => row.href.replace(/^results\//, "").replace(/\.html$/, "");
  const three = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
  const minutes = (value) => (value === null ? "no time" : `${three.format(value)} min`);
  const chips = ({ accelerators, accelerator, model }) =>
    accelerators ? `${accelerators} × ${accelerator ?? model ?? "accelerators"}` : (accelerator ?? model ?? "");
  const label = (row) =>
    [row.title, row.round, row.division, row.organisation, row.system, chips(row), minutes(row.minutes)].filter(Boolean).join(" · ");

  const partWords = (part, { old, new: now }) => window.mlsubDecompose.partWords(part, old, now).replace("->", "→");

  // Each step begins where the one before ends; the last has all parts that are too small to see.
  const stepsOf = (found, one, other) => {
    const { old, new: now, parts } = found;
    const { large, rest } = window.mlsubDecompose.sorted(parts, Math.max(old.minutes, now.minutes));
    const others = large.length < parts.length ? [{ minutes: rest, words: "all else, see the table" }] : [];
    const steps = [{ name: "A", words: `A: ${one.organisation}, ${one.round}`, from: 0, to: old.minutes, kind: "whole" }];
    let at = old.minutes;
    const shown = [...large.map((part) => ({ minutes: part.minutes, words: partWords(part, found) })), ...others];
    for (const [place, { minutes, words }] of shown.entries()) {
      steps.push({ name: String(place), words, from: at, to: at + minutes, kind: minutes < 0 ? "faster" : "slower", minutes });
      at += minutes;
    }
    steps.push({ name: "B", words: `B: ${other.organisation}, ${other.round}`, from: 0, to: now.minutes, kind: "whole" });
    return steps;
  };
  const COLOURS = { whole: "var(--c7)", faster: "var(--c2)", slower: "var(--c5)" };
  const shown = (step) =>
    step.kind === "whole" ? minutes(step.to) : `${step.minutes < 0 ? "−" : "+"}${minutes(Math.abs(step.minutes))}`;

  kinds.compare = (data, size) => {
    if (!data.steps) {
      return { svg: plot(size, { height: 60, axis: null, marks: [Plot.text(["No parts to draw"], { frameAnchor: "middle" })] }) };
    }
    const { steps } = data;
    const rows = steps.map(({ name }) => name);
    const room = Math.floor((size.width - 20) / 6.6);
    const cut = (text) => (text.length > room ? `${text.slice(0, room - 1)}…` : text);
    const end = Math.max(...steps.flatMap(({ from, to }) => [from, to]), 0);
    const begin = Math.min(...steps.flatMap(({ from, to }) => [from, to]), 0);
    const after = ({ from, to }) => Math.max(from, to);
    const links = steps.slice(0, -1).map(({ name, to }, at) => ({ to, from: name, next: rows[at + 1] }));
    const svg = plot(size, {
      height: 56 + steps.length * 44, marginLeft: 10, marginRight: 84, marginBottom: 38, marginTop: 20,
      x: { label: "Minutes", labelAnchor: "center", labelArrow: "none", grid: true, domain: [begin, end || 1], nice: true },
      y: { domain: rows, axis: null, padding: 0.42 },
      marks: [
        Plot.ruleX([0], { stroke: "var(--soft)" }),
        Plot.link(links, { x1: "to", x2: "to", y1: "from", y2: "next", stroke: "var(--soft)", strokeDasharray: "2 3" }),
        Plot.barX(steps, {
          x1: "from", x2: "to", y: "name", fill: ({ kind }) => COLOURS[kind], tip: true,
          title: (step) => `${step.words}\n${shown(step)}`,
        }),
        Plot.text(steps, { x: after, y: "name", text: shown, textAnchor: "start", dx: 6, fontWeight: 600, fill: "currentColor" }),
        Plot.text(steps, {
          frameAnchor: "left", y: "name", text: ({ words }) => cut(words), textAnchor: "start", dy: -20, dx: 4,
          fill: "currentColor", stroke: "var(--paper)", strokeWidth: 3,
        }),
      ],
    });
    const names = { faster: "B is faster", slower: "B is slower", whole: "Time to train" };
    return { svg, legend: Object.entries(names).map(([kind, name]) => ({ name, fill: COLOURS[kind], shape: "dot" })) };
  };

  // What a choice is made among: results with all words, those like the other one first.
  const chooser = (name, all, change) => {
    const search = make("input", { type: "search", placeholder: "any words: bert v1.1 nvidia", autocomplete: "off" });
    const list = make("select", { size: 8 });
    const count = make("output");
    count.setAttribute("aria-live", "polite");
    const link = make("a");
    const now = make("p", { className: "now" }, link);
    const box = make("fieldset", { className: "side" }, make("legend", { textContent: name }), now,
      make("label", {}, `Search for ${name} `, search), make("label", {}, `Results, to choose ${name} from`, list), count);
    const rows = all.map((row) => ({ row, label: label(row), text: label(row).toLowerCase(), near: 0 }));
    let current = null;
    const fill = () => {
      const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const found = rows.filter(({ text }) => wanted.every((word) => text.includes(word)));
      list.replaceChildren(...found.slice(0, MANY).map(({ row, label: textContent }) => make("option", { textContent, value: String(row.at), selected: row === current })));
      count.textContent = `${found.length} results${found.length > MANY ? `, the first ${MANY} shown` : ""}`;
    };
    search.addEventListener("input", fill);
    list.addEventListener("change", () => change(Number(list.value)));
    const show = (row, other) => {
      current = row;
      for (const one of rows) one.near = (one.row.benchmark === other.benchmark ? 0 : 2) + (one.row.division === other.division ? 0 : 1);
      rows.sort((one, two) => one.near - two.near || one.row.at - two.row.at);
      link.textContent = label(row);
      link.href = row.href;
      fill();
    };
    return { box, show };
  };

  // Without a choice: the two fastest of the benchmark and round that are the last with two in one division.
  const usual = (rows) => {
    const groups = new Map();
    for (const row of rows.filter(({ minutes }) => minutes > 0)) {
      const key = `${row.division} ${row.round} ${row.benchmark}`;
      groups.set(key, [...(groups.get(key) ?? []), row]);
    }
    const found = [...groups.values()].filter((group) => group.length > 1 && group[0].division === "closed").pop();
    const same = rows.filter((row) => row.minutes > 0 && row.benchmark === rows[0].benchmark);
    const pair = found ? found.sort((one, other) => one.minutes - other.minutes).slice(0, 2).reverse() : same.length > 1 ? same : rows;
    return { a: pair[0], b: pair[1] };
  };

  const table = (caption, heads, rows) => {
    const made = make("table", {}, make("caption", { textContent: caption }),
      make("thead", {}, make("tr", {}, ...heads.map((textContent) => make("th", { textContent, scope: "col" })))));
    const body = made.appendChild(make("tbody"));
    for (const [first, ...rest] of rows) {
      body.append(make("tr", {}, make("th", { textContent: first, scope: "row" }),
        ...rest.map((text) => make("td", { textContent: text ?? "–", className: (text ?? "").length > 48 ? "long" : "" }))));
    }
    const region = make("div", { className: "table", tabIndex: 0 }, made);
    region.setAttribute("role", "region");
    region.setAttribute("aria-label", caption);
    return region;
  };

  const partsTable = (found) => {
    const { parts } = found;
    const { signed } = window.mlsubDecompose;
    const whole = parts.reduce((sum, { minutes }) => sum + minutes, 0);
    const share = (value) => (Math.abs(whole) > 1e-9 ? `${(Number(((value / whole) * 100).toFixed(1)) + 0).toFixed(1)} %` : "–");
    const rows = parts.map((one) => [partWords(one, found), signed(one.minutes, 6), share(one.minutes)]);
    const made = table("Parts of the difference", ["because", "minutes", "share"], [...rows, ["together", signed(whole, 6), share(whole)]]);
    made.querySelector("table").className = "n";
    return made;
  };

  const settings = (found, one, other) => {
    const { amount, rate, fixed } = window.mlsubDecompose;
    const number = (value, write) => (value === null ? null : write(value));
    const range = ({ converged, least, average, most, unit }) =>
      converged ? `${amount(average)} ${unit}${least === most ? "" : ` (${amount(least)} to ${amount(most)})`}` : null;
    const sides = [[found.old, one], [found.new, other]];
    const rows = [
      ["organisation", ...sides.map(([, row]) => row.organisation)],
      ["system", ...sides.map(([, row]) => row.system)],
      ["accelerators", ...sides.map(([, row]) => chips(row) || null)],
      ["nodes", ...sides.map(([, row]) => number(row.nodes, String))],
      ["framework", ...sides.map(([, row]) => row.framework)],
      ["availability", ...sides.map(([, row]) => row.availability)],
      ["verdict", ...sides.map(([, row]) => row.verdict)],
      ["minutes", ...sides.map(([side]) => number(side.minutes, (value) => fixed(value, 6)))],
      ["scaling", ...sides.map(([side]) => amount(side.scaling))],
      ["global batch size", ...sides.map(([side]) => number(side.batch, amount))],
      ["trained to convergence", ...sides.map(([side]) => range(side))],
      ["samples/s in training", ...sides.map(([side]) => number(side.throughput, rate))],
    ];
    const logged = found.hyperparameters.map(({ name, old, new: now }) => [name, old, now]);
    const caption = `Hyperparameters and sizes, as most runs logged them: ${logged.length} differ, ${found.same} are the same`;
    return [table("Side by side", ["", "A", "B"], rows), ...(logged.length ? [table(caption, ["logged", "A", "B"], logged)] : [make("p", { textContent: caption })])];
  };

  document.addEventListener("DOMContentLoaded", () => {
    const rows = results();
    const named = new Map(rows.map((row) => [slug(row), row]));
    const figure = document.querySelector('figure[data-kind="compare"]');
    const place = document.getElementById("pair");
    place.querySelectorAll("p").forEach((words) => words.remove());
    let chosen = {};
    let missing = [];
    const read = () => {
      const asked = new URLSearchParams(location.hash.slice(1));
      const first = usual(rows);
      missing = ["a", "b"].map((side) => asked.get(side)).filter((name) => name && !named.has(name));
      chosen = { a: named.get(asked.get("a")) ?? first.a, b: named.get(asked.get("b")) ?? first.b };
    };
    const go = (change) => {
      chosen = { ...chosen, ...change };
      missing = [];
      location.hash = addressOf();
      update();
    };
    const addressOf = () => `#${new URLSearchParams({ a: slug(chosen.a), b: slug(chosen.b) })}`;
    const choosers = { a: chooser("A", rows, (at) => go({ a: rows[at] })), b: chooser("B", rows, (at) => go({ b: rows[at] })) };
    const swap = make("button", { type: "button", textContent: "Swap A and B" });
    swap.addEventListener("click", () => go({ a: chosen.b, b: chosen.a }));
    const words = make("div", { className: "answer" });
    words.setAttribute("aria-live", "polite");
    place.append(make("div", { className: "sides" }, choosers.a.box, choosers.b.box), make("p", {}, swap), words);
    const details = make("div");
    figure.closest(".charts").after(details);

    const warnings = (found) => {
      const said = missing.map((name) => `${name} is not a result of this site`);
      if (found.warning) said.push(found.warning);
      if (chosen.a.division !== chosen.b.division) {
        said.push("Closed and Open results are not comparable: Open results may use another model or target");
      }
      return said;
    };
    const update = () => {
      const { a, b } = chosen;
      choosers.a.show(a, b);
      choosers.b.show(b, a);
      const found = window.mlsubDecompose.compare(a.at, b.at);
      words.replaceChildren(
        ...warnings(found).map((text) => make("p", { className: "note", textContent: `Warning: ${text}.` })),
        make("p", { className: "lead", textContent: found.answer.replaceAll("->", "→") }),
      );
      const steps = found.parts.length ? stepsOf(found, a, b) : null;
      redraw(figure, { steps });
      details.replaceChildren(...(found.parts.length ? [partsTable(found)] : []), ...settings(found, a, b));
    };
    window.addEventListener("hashchange", () => {
      if (location.hash === addressOf()) return;
      read();
      update();
    });
    read();
    update();
  });
})();
