"use strict";
// Two results side by side. Ticks in tables and on pages of results choose them, and a bar at the foot of the page leads to
// compare.html, whose address names the two after "#" as their pages are called: a=NAME&b=NAME. That page shares the difference
// of their minutes out as mlsub compare does (mlsub/score/difference), of which this says the same, number by number.
(() => {
  const { root, make, load, number, three, chipOf, chipsOf } = window.mlsub;
  const nameOf = (href) => /(?:^|\/)results\/([^/#?]+)\.html$/.exec(href ?? "")?.[1];
  const addressOf = (a, b) => `${root}compare.html#${new URLSearchParams({ a, b })}`;

  // ---- What is ticked: on all pages of this site, where the browser keeps something for files, and else on this one.
  const KEY = `mlsub-compare ${new URL(root || "./", location.href).pathname}`;
  let chosen = [];
  const recall = () => (chosen = window.mlsubMemory.remembered(KEY)?.split(" ").filter(Boolean) ?? chosen);
  const bar = make("aside", { className: "comparing", hidden: true, ariaLabel: "Results to compare" });
  // A result as people call it, where its data are loaded; until then as its page is called.
  const calledOf = (name) => {
    const row = window.mlsubResults && window.mlsub.results().find(({ href }) => nameOf(href) === name);
    return row ? [row.organisation_name, row.system_name, row.benchmark_title, row.round_key].join(", ") : name.replaceAll("_", " ");
  };
  const show = () => {
    for (const box of document.querySelectorAll("input.tick")) box.checked = chosen.includes(box.value);
    if (chosen.length && !window.mlsubResults) load("data/results.js").then(show, () => {});
    const names = chosen.map((name) => {
      const away = make("button", { type: "button", textContent: `${calledOf(name)} ×`, onclick: () => tick(name, false) });
      away.setAttribute("aria-label", `Do not compare ${calledOf(name)}`);
      return away;
    });
    const go = chosen.length < 2 ? "Tick another result to compare it with." : make("a", { href: addressOf(...chosen), textContent: "Compare the two" });
    bar.replaceChildren(...names, go);
    bar.hidden = !chosen.length || Boolean(document.getElementById("compare"));
  };
  // Of three the first is let go.
  const tick = (name, on) => {
    recall();
    chosen = [...chosen.filter((one) => one !== name), ...(on ? [name] : [])].slice(-2);
    window.mlsubMemory.remember(KEY, chosen.join(" "));
    show();
  };
  const boxOf = (value, label) => {
    const box = make("input", { type: "checkbox", className: "tick", value, title: "Compare", checked: chosen.includes(value) });
    if (label) box.setAttribute("aria-label", label);
    box.addEventListener("change", () => tick(value, box.checked));
    return box;
  };
  // A row of a table of results has a box.
  const addBoxes = () => {
    const tables = Array.from(document.querySelectorAll(".table table")).filter(({ tHead }) => /verdict/i.test(tHead?.textContent));
    for (const row of tables.flatMap((table) => Array.from(table.querySelectorAll("tbody tr:not([data-result])")))) {
      const names = new Set(Array.from(row.querySelectorAll("a"), (link) => nameOf(link.getAttribute("href"))).filter(Boolean));
      row.dataset.result = names.size === 1 ? [...names][0] : "";
      if (names.size === 1) row.cells[0].prepend(boxOf(row.dataset.result, `Compare ${row.dataset.result.replaceAll("_", " ")}`));
    }
  };

  // ---- The difference in minutes, shared out.
  const TIMED = ["start", "training", "before_evaluation", "evaluation", "pauses", "end", "undivided"];
  const PHASES = {
    start: "start of the run", training: "training", before_evaluation: "pause before evaluation", evaluation: "evaluation", pauses: "pauses",
    end: "end of the run", inside: "training, evaluation and pauses", run: "the run", undivided: "not distinguished",
  };
  const sum = (values) => values.reduce((all, one) => all + one, 0);

  // The phases that are compared together, as finely as all runs of both tell them apart.
  const groupsOf = (a, b) => {
    const logged = new Set([...a.evaluated, ...b.evaluated]);
    if (!a.trained || !b.trained) return { run: TIMED };
    if (logged.size === 2) return { start: ["start"], inside: TIMED.slice(1, 5), end: ["end"] };
    const without = logged.has(true) ? ["undivided"] : ["before_evaluation", "evaluation", "undivided"];
    return Object.fromEntries(TIMED.filter((name) => !without.includes(name)).map((name) => [name, [name]]));
  };
  // How far both trained, in one unit; null where that is not known.
  const worksOf = (a, b) => {
    const other = a.unit !== b.unit || (a.samples && b.samples && a.samples !== b.samples);
    if (!a.work || !b.work || (other && !(a.samples && b.samples))) return null;
    const works = other ? [a.work * a.samples, b.work * b.samples, "samples"] : [a.work, b.work, a.unit];
    return Math.max(works[0], works[1]) > 1000 * Math.min(works[0], works[1]) ? null : works;
  };
  // What each factor adds to the difference of two products: the mean over all orders in which they change.
  const ordersOf = (items) => (items.length < 2 ? [items] : items.flatMap((one, at) => ordersOf(items.toSpliced(at, 1)).map((rest) => [one, ...rest])));
  const sharesOf = (old, now) => {
    const product = (values) => values.reduce((all, one) => all * one, 1);
    const orders = ordersOf(old.map((_, at) => at));
    const found = old.map(() => 0);
    for (const order of orders) {
      const values = [...old];
      for (const at of order) {
        const before = product(values);
        values[at] = now[at];
        found[at] += (product(values) - before) / orders.length;
      }
    }
    return found;
  };
  const partsOf = (a, b) => {
    const groups = groupsOf(a, b);
    const factor = (a.scaling + b.scaling) / 2;
    const of = (side, names) => sum(names.map((name) => side.phases[name] ?? 0));
    const parts = Object.entries(groups).flatMap(([name, names]) => {
      const [was, now] = [of(a, names), of(b, names)];
      const works = ["training", "inside", "run"].includes(name) ? worksOf(a, b) : null;
      if (!works) return [{ name, old: was, new: now, minutes: ((now - was) * factor) / 60 }];
      const [one, other, unit] = works;
      const many = a.accelerators && b.accelerators && a.accelerators !== b.accelerators ? [a.accelerators, b.accelerators] : null;
      const factors = [
        { name: "work", old: one, new: other, unit },
        { name: "pace", old: (was / one) * (many?.[0] ?? 1), new: (now / other) * (many?.[1] ?? 1), unit: unit.slice(0, -1), each: Boolean(many), of: name },
        ...(many ? [{ name: "accelerators", old: 1 / many[0], new: 1 / many[1] }] : []),
      ];
      const shares = sharesOf(factors.map((one) => one.old), factors.map((one) => one.new));
      if (many) Object.assign(factors[2], { old: many[0], new: many[1] });
      return factors.map((one, at) => ({ ...one, minutes: (shares[at] * factor) / 60 }));
    });
    if (a.scaling === b.scaling) return parts;
    const mean = Object.values(groups).reduce((all, names) => all + of(a, names) + of(b, names), 0) / 2;
    return [...parts, { name: "scaling", old: a.scaling, new: b.scaling, minutes: (mean * (b.scaling - a.scaling)) / 60 }];
  };

  // ---- In words, those of mlsub compare.
  const whole = (value) => value.toLocaleString("en", { maximumFractionDigits: 0 });
  const amount = (value) => (value >= 1000 ? whole(value) : number(value));
  const rate = (value, more = 0) => (value < 100 ? value.toLocaleString("en", { maximumSignificantDigits: 3 + more }) : more ? Number(fixed(value, more)).toLocaleString("en", { minimumFractionDigits: more }) : whole(value));
  // Two rates with as many digits as tell them apart.
  const rates = (one, other) => [0, 1, 2, 3, 4].map((more) => [rate(one, more), rate(other, more)]).find(([x, y]) => x !== y) ?? [rate(one), rate(other)];
  // As Python rounds: what lies right between two goes to the even one, and Intl takes the shortest decimal for the number.
  const fixed = (value, digits) => !Number.isInteger(value * 2 ** (digits + 1)) ? value.toFixed(digits) : new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits, roundingMode: "halfEven", useGrouping: false }).format(value);
  const arrows = (text) => text.replaceAll("->", "→");
  const signed = (value, digits, zero = Number(fixed(value, digits)) === 0) => (value < 0 && !zero ? "-" : "+") + fixed(Math.abs(value), digits);
  const cut = (text, most = 40) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const paceWords = (part, a, b) => {
    const what = PHASES[part.of];
    const each = `per ${part.unit}${part.each ? " and accelerator" : ""}`;
    if (!part.new || !part.old || part.old === part.new) return `${what} as fast ${each}`;
    const speed = part.old / part.new;
    const samples = a.throughput && b.throughput && part.of === "training" ? `: ${rates(a.throughput, b.throughput).join(" -> ")} samples/s` : "";
    return `${what} ${fixed(Math.abs(speed - 1) * 100, 1)} % ${speed > 1 ? "faster" : "slower"} ${each}${samples}`;
  };
  const partWords = (part, a, b) => {
    if (part.name === "work") return `${part.new < part.old ? "fewer" : part.new === part.old ? "as many" : "more"} ${part.unit} ${amount(part.old)} -> ${amount(part.new)}`;
    if (part.name === "pace") return paceWords(part, a, b);
    if (part.name === "accelerators") return `accelerators ${part.old} -> ${part.new}`;
    if (part.name === "scaling") return `scaling ${number(part.old)} -> ${number(part.new)}`;
    return `${PHASES[part.name]} ${fixed(part.old, 1)} s -> ${fixed(part.new, 1)} s`;
  };
  // The parts that matter, the largest first, and what all others come to.
  const largest = (parts, time) => {
    const least = Math.max(0.002 * time, 0.02 * Math.abs(sum(parts.map((part) => part.minutes))));
    const large = parts.filter((part) => Math.abs(part.minutes) >= least && least > 0).sort((x, y) => Math.abs(y.minutes) - Math.abs(x.minutes));
    return { large, rest: sum(parts.filter((part) => !large.includes(part)).map((part) => part.minutes)) };
  };
  const countsWords = (a, b) => {
    const tenth = (value) => Number(fixed(value, 1));
    const names = [["evaluations", "evaluations"], ["blocks", "blocks"], ["init", "seconds of initialisation (not timed)"]];
    const other = names.filter(([key]) => a[key] !== null && b[key] !== null && tenth(a[key]) !== tenth(b[key]));
    const words = other.map(([key, name]) => `${amount(tenth(a[key]))} -> ${amount(tenth(b[key]))} ${name}`);
    return words.length ? ` A run has ${words.join(", ")}.` : "";
  };
  const changesWords = (changes) => {
    const telling = ["accelerator", "global_batch_size", "opt_name"].map((key) => changes.find(([name]) => name === key)).filter(Boolean);
    const rest = changes.length - telling.length;
    const words = telling.map(([name, one, other]) => `${name} ${cut(one)} -> ${cut(other)}`);
    if (rest) words.push(`${rest} ${telling.length ? "more " : ""}logged value${rest > 1 ? "s" : ""}`);
    return changes.length ? ` Also different: ${words.join(", ")}.` : "";
  };
  // Three digits, or six decimals of times that only those tell apart.
  const minutesOf = (one, other) => {
    const three = [one, other].map((time) => fixed(time, [1, 10, 100].filter((limit) => Math.abs(time) < limit).length));
    return one === other || three[0] !== three[1] ? three : [fixed(one, 6), fixed(other, 6)];
  };
  const timesWords = ({ minutes: one }, { minutes: other }) => {
    const times = `${minutesOf(one, other).join(" -> ")} min`;
    if (one === other) return `B takes as long as A (${times})`;
    if (Math.min(one, other) <= 0) return `The times are ${times}`;
    return `B is ${fixed((Math.abs(other - one) / one) * 100, 1)} % ${other < one ? "shorter" : "longer"} (${fixed(one / other, 2)}x, ${times})`;
  };
  const areOther = ([a, b]) => a.row.benchmark_name !== b.row.benchmark_name || a.row.usage !== b.row.usage;
  // What differs: the sentence, the parts, and hyperparameters as name, A and B.
  const differenceOf = (sides, logged) => {
    const [a, b] = sides.map(({ entry }) => entry);
    const chips = sides.map(({ row }) => chipOf(row));
    const changes = chips[0] === chips[1] ? logged : [["accelerator", ...chips], ...logged];
    const missing = [["A", a], ["B", b]].filter(([, side]) => side.minutes === null).map(([name]) => name);
    if (areOther(sides)) {
      const titles = sides.map(({ row }) => row.benchmark_title).join(" and ");
      const take = missing.length ? "" : ` They take ${minutesOf(a.minutes, b.minutes).join(" and ")} min.`;
      return { parts: [], said: `A and B train different benchmarks, ${titles}.${take}${countsWords(a, b)}${changesWords(changes)}` };
    }
    const undivided = a.undivided ?? b.undivided ?? (missing.length ? "one of them has no time" : null);
    const parts = undivided ? [] : partsOf(a, b);
    if (missing.length) return { parts, said: `${missing.join(" and ")} ${missing.length > 1 ? "have" : "has"} no time to compare.${countsWords(a, b)}${changesWords(changes)}` };
    const { large, rest } = largest(parts, Math.max(a.minutes, b.minutes));
    const shown = large.map((part) => `${partWords(part, a, b)} (${signed(part.minutes, 2, false)} min)`);
    if (large.length && large.length < parts.length) shown.push(`all else ${signed(rest, 2)} min`);
    const why = undivided ? `. Not divided: ${undivided}` : shown.length ? `: ${shown.join(", ")}` : "";
    return { parts, said: `${timesWords(a, b)}${why}.${countsWords(a, b)}${changesWords(changes)}` };
  };
  const changesOf = ([a, b]) => {
    const value = ({ data, entry }, name) => {
      const place = entry.values[data.keys.indexOf(name)] ?? -1;
      return place < 0 ? place : data.texts[place];
    };
    const names = Array.from(new Set([...a.data.keys, ...b.data.keys])).sort();
    const both = names.map((name) => [name, value(a, name), value(b, name)]);
    const differs = both.filter(([, one, other]) => one !== other && one !== -2 && other !== -2);
    return { changes: differs.map(([name, ...two]) => [name, ...two.map((one) => (one === -1 ? "-" : one))]), same: both.filter(([, one, other]) => one === other && typeof one === "string").length };
  };

  // ---- The page.
  const table = (caption, heads, rows, look = "sides") => {
    const cells = (row) => row.map((content, at) => make(at ? "td" : "th", {}, content));
    const head = make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { textContent: text }))));
    const body = make("tbody", {}, ...rows.map((row) => make("tr", {}, ...cells(row))));
    body.querySelectorAll("tr").forEach((row) => (row.dataset.result = ""));
    return make("div", { className: "table" }, make("table", { className: look }, make("caption", { textContent: caption }), head, body));
  };
  const NONE = "–";
  const six = (value) => (value === null || value === undefined ? NONE : fixed(value, 6));
  const factsOf = (sides) => {
    const rows = [
      ["system", ({ row }) => row.system_name],
      ["organisation", ({ row }) => row.organisation_name],
      ["round, division", ({ row }) => `${row.round_key}, ${row.division_name}`],
      ["accelerators", ({ row }) => chipsOf(row)],
      ["nodes", ({ row }) => row.number_of_nodes],
      ["framework", ({ row }) => row.framework],
      ["minutes", ({ entry }) => six(entry.minutes) + (entry.of === "mean" ? ` (no score: the mean of ${entry.counted} runs)` : "")],
      ["expected minutes", ({ entry }) => six(entry.expected), sides.some(({ entry }) => entry.expected !== entry.minutes)],
      ["chip-minutes", ({ entry }) => six(entry.minutes && entry.accelerators && entry.minutes * entry.accelerators)],
      ["global batch size", ({ entry }) => entry.batch && amount(entry.batch)],
      ["trained, mean of the runs that count", ({ entry }) => entry.work && `${amount(entry.work)} ${entry.unit}`],
      ["seconds in training; in evaluation", ({ entry: { phases } }) => [phases.training, phases.evaluation].map((value) => (value ? number(value) : NONE)).join("; ")],
      ["seconds of initialisation, not timed", ({ entry }) => entry.init && number(entry.init)],
      ["samples/s in training", ({ entry }) => entry.throughput && rate(entry.throughput)],
      ["runs, of which count", ({ entry }) => `${entry.runs}, ${entry.counted}`],
      ["convergence test", ({ entry }) => entry.rcp],
      ["official checker", ({ row }) => row.verdict],
    ];
    return table("Side by side", ["", "A", "B"], rows.filter(([, , shown]) => shown !== false).map(([name, of]) => [name, ...sides.map((side) => of(side) || NONE)]));
  };

  // A step a part; the times themselves where the difference is to be seen beside them.
  const waterfall = (figure, parts, [a, b]) => {
    const time = Math.max(a.entry.minutes, b.entry.minutes);
    const { large, rest } = largest(parts, time);
    const steps = [...large.map((part) => [partWords(part, a.entry, b.entry), part.minutes]), ...(large.length < parts.length ? [["all else", rest]] : [])];
    const whole = Math.abs(a.entry.minutes - b.entry.minutes) > 0.1 * time;
    const rows = whole ? [[`A: ${three(a.entry.minutes)} minutes`, 0, a.entry.minutes, "minutes"]] : [];
    let at = whole ? a.entry.minutes : 0;
    for (const [words, minutes] of steps) {
      rows.push([`${arrows(words)}: ${signed(minutes, 2)}`, at, at + minutes, minutes > 0 ? "longer" : "shorter"]);
      at += minutes;
    }
    rows.push(whole ? [`B: ${three(b.entry.minutes)} minutes`, 0, b.entry.minutes, "minutes"] : [`together: ${signed(at, 2)}`, 0, at, "minutes"]);
    const colours = { minutes: 5, longer: 3, shorter: 0 };
    const series = Object.entries(colours).flatMap(([name, colour]) => {
      const own = rows.flatMap(([, from, to, kind], place) => (kind === name ? [[Math.min(from, to), Math.max(from, to), place]] : []));
      return own.length ? [{ name, style: "spans", colour, points: [0, 1, 2].map((of) => own.map((point) => point[of])) }] : [];
    });
    const data = { x: { title: whole ? "Minutes" : "Minutes more than A" }, y: { title: "", names: rows.map(([words]) => words) }, series };
    const about = `${whole ? "From A to B: each" : "Each"} bar begins where the one above it ends.`;
    window.mlsub.redraw(figure, parts.length ? { ...data, about } : { series: [] });
  };
  const curves = (figure, across, words, sides) => {
    const lines = sides.flatMap(({ entry: { curve }, name }, side) => {
      const found = (curve?.values ?? []).map((y, at) => [curve[across][at] ?? null, y]).filter(([x, y]) => x !== null && y !== null).sort(([x], [other]) => x - other);
      return found.length ? [{ name: `${name}, ${curve.run}`, style: "curve", colour: [2, 4][side], points: [found.map(([x]) => x), found.map(([, y]) => y)] }] : [];
    });
    const [one, other] = sides.map(({ entry }) => entry.curve);
    const alike = lines.length === 2 && !areOther(sides) && one.measure === other.measure && (across === "minutes" || one.unit === other.unit);
    const xs = lines.flatMap(({ points }) => points[0]);
    const target = alike && one.goal !== null && one.goal === other.goal ? [{ name: `target ${number(one.goal)}`, style: "rule", colour: 5, points: [[Math.min(...xs), Math.max(...xs)], [one.goal, one.goal]] }] : [];
    const [title, about] = [`Training curves over ${words.toLowerCase()}`, "Of each the run with the median time to train."];
    window.mlsub.redraw(figure, { title, about, x: { title: words }, y: { title: one?.measure ?? "" }, series: alike ? [...lines, ...target] : [] });
  };

  const compare = async (place) => {
    const asked = new URLSearchParams(location.hash.slice(1));
    const names = ["a", "b"].map((key) => asked.get(key) ?? "");
    const rows = new Map(window.mlsub.results().map((row) => [nameOf(row.href), row]));
    const figures = Array.from(place.querySelectorAll("figure.chart"));
    const { files } = JSON.parse(figures[0].querySelector("script").textContent);
    place.querySelectorAll(":scope > :not(h2, .charts)").forEach((part) => part.remove());
    const charts = place.querySelector(".charts");
    const unknown = names.filter((name) => !rows.has(name));
    charts.hidden = unknown.length > 0;
    if (unknown.length) {
      const why = unknown.filter(Boolean).map((name) => `No result here is called ${name.slice(0, 100)}. `).join("");
      const two = chosen.length === 2 ? [" Or compare ", make("a", { href: addressOf(...chosen) }, "the two that are ticked"), "."] : [];
      charts.before(make("p", {}, why, "Tick two results in ", make("a", { href: `${root}results.html` }, "the table of all results"), " or on any other page.", ...two));
      return;
    }
    await Promise.all(names.map((name) => load(files[rows.get(name).benchmark_name])));
    const sides = names.map((name, at) => {
      const row = rows.get(name);
      const data = window.mlsubCompare[files[row.benchmark_name]];
      return { row, data, entry: data.entries[name], name: `${"AB"[at]}: ${row.organisation_name}, ${row.system_name}` };
    });
    const [a, b] = sides;
    const { changes, same } = changesOf(sides);
    const other = areOther(sides);
    const { parts, said } = differenceOf(sides, changes);
    const warnings = [
      [a.row.division_name !== b.row.division_name, "Closed and Open results are not comparable: Open results may use another model or target."],
      [!other && a.entry.group !== b.entry.group, "MLCommons does not call results of these two rounds comparable: the benchmark changed."],
    ].flatMap(([holds, words]) => (holds ? [make("p", { className: "note", textContent: words })] : []));
    document.title = sides.map(({ name }) => name).join("; ");
    const swap = make("a", { href: addressOf(names[1], names[0]) }, "Exchange A and B");
    const named = sides.map(({ row, name }) => make("li", {}, make("a", { href: row.href }, name), `, ${chipsOf(row)}: ${row.benchmark_title}, ${row.round_key}, ${row.published_minutes === null ? "no score" : `${three(row.published_minutes)} minutes`}`));
    charts.before(make("ul", {}, ...named), make("p", { className: "answer", textContent: arrows(said) }), ...warnings, make("p", {}, swap));
    waterfall(figures[0], parts, sides);
    curves(figures[1], "minutes", "Minutes since run_start", sides);
    curves(figures[2], "progress", `Progress (${a.entry.curve?.unit ?? "none"})`, sides);
    const total = sum(parts.map((part) => part.minutes));
    // Of a difference that is small beside its parts shares say nothing.
    const steps = Math.max(0, ...parts.map((part) => Math.abs(part.minutes)));
    const share = (part) => (steps > 0 && Math.abs(total) > 0.2 * steps ? `${signed((part.minutes / total) * 100, 1).replace("+", "")} %` : "");
    const partRows = [...parts.map((part) => [arrows(partWords(part, a.entry, b.entry)), signed(part.minutes, 6), share(part)]), ["together", signed(total, 6), ""]];
    charts.after(
      factsOf(sides),
      ...(parts.length ? [table("What makes the difference: minutes of B more or less than A", ["because", "minutes", "share"], partRows, "n")] : []),
      changes.length ? table(`Hyperparameters as most runs logged them: ${changes.length} differ, ${same} are the same`, ["key", "A", "B"], changes) : make("p", {}, `All ${same} hyperparameters that most runs logged are the same.`),
    );
  };

  Object.assign(window.mlsub, { differenceOf });
  document.addEventListener("DOMContentLoaded", () => {
    recall();
    document.body.append(bar);
    const place = document.getElementById("compare");
    const own = nameOf(location.pathname);
    if (own) document.querySelector(".score")?.after(make("p", {}, make("label", {}, boxOf(own), " Compare this result with another")));
    if (place) {
      compare(place);
      window.addEventListener("hashchange", () => compare(place));
    } else {
      addBoxes();
      new MutationObserver(addBoxes).observe(document.getElementById("main"), { childList: true, subtree: true });
    }
    window.addEventListener("pageshow", () => show(recall()));
  });
})();
