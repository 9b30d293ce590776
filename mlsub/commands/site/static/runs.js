"use strict";
// The kind "runs": the runs of an entry over their progress or over time, as their median and range with the target, or near
// the target with each evaluation. A single run stands out under the pointer, or when it is chosen by its name.
(() => {
  const { kinds, parts, plot, number, read, ticks } = window.mlsub;
  const CHOSEN = "mlsub-run";
  // So many runs have a band of their middle half, fewer one of all of them.
  const MANY = 20;

  // The value of a run at a place: linear between two evaluations, of several at one place the last; a run that has ended
  // counts with its last value, and one without an evaluation so far does not count.
  const valueAt = (points, x) => {
    const after = d3.bisector((d) => d.x).right(points, x);
    if (!after) return null;
    const [from, to] = [points[after - 1], points[after]];
    return to && from.x !== x ? from.y + ((to.y - from.y) * (x - from.x)) / (to.x - from.x) : from.y;
  };

  // Places with the low end of the band, the median and the high end: of all runs, or of twenty and more the middle half.
  // It begins where all of them count: one that joins later would be a step of the median. Places are those of the
  // evaluations, or 120 at equal distances.
  const spreadOf = (runs) => {
    const [ends, places] = [runs.length < MANY ? [0, 1] : [0.25, 0.75], d3.sort(new Set(runs.flat().map((d) => d.x)))];
    const even = () => d3.range(120).map((at) => places[0] + ((places.at(-1) - places[0]) * at) / 119);
    return (places.length > 120 ? even() : places).flatMap((x) => {
      const values = runs.map((points) => valueAt(points, x)).filter((value) => value !== null);
      if (values.length < runs.length) return [];
      const [low, high] = ends.map((end) => d3.quantile(values, end));
      return { x, low, median: d3.median(values), high };
    });
  };

  const linesOf = (data, figure) =>
    read(data, figure).map(({ name, points }) => ({ name, points: points.map(([x, y]) => ({ x, y, run: name })) }));

  // The first evaluation of a run that reaches the target.
  const reaches = (p, goal) => (goal.up ? p.y >= goal.level : p.y <= goal.level);
  const crossing = (line, goal) => goal && line.points.find((p) => reaches(p, goal));

  // The part of a chart near the target: from three evaluations before the first of a run that reaches it, or where none does before
  // the last of each, to the last of all, and as high as their values from there on and the target. Null where that is all.
  const windowOf = (runs, goal) => {
    const of = runs.map((points) => ({ points, at: points.findIndex((p) => reaches(p, goal)) })).filter(({ points }) => points.length);
    const there = of.filter(({ at }) => at >= 0);
    const near = (there.length ? there : of).map(({ points, at }) => points.slice(Math.max(0, (at < 0 ? points.length - 1 : at) - 3)));
    const all = runs.flat();
    const [left, right] = [d3.min(near, (part) => part[0].x), d3.max(all, (p) => p.x)];
    const [low, high] = d3.extent([goal.level, ...near.flat().map((p) => p.y)]);
    if (!near.length || left >= right || (left <= d3.min(all, (p) => p.x) && low <= d3.min(all, (p) => p.y))) return null;
    const free = 0.06 * (high - low) || 0.06 * Math.abs(high) || 0.06;
    return { x: [left, right], y: [low - free, high + free] };
  };

  parts.runs = (data, figure) => {
    const lines = linesOf(data, figure);
    const window = data.goal && windowOf(lines.map((line) => line.points), data.goal);
    if (!window) return null;
    const there = lines.map((line) => crossing(line, data.goal)).filter(Boolean);
    const [first, last] = d3.extent(there, (p) => p.x);
    const ends = there.length ? `, the first at ${number(first)} ${data.x.unit} and the last at ${number(last)}` : "";
    const about = `${there.length} of ${lines.length} ${lines.length === 1 ? "run reaches" : "runs reach"} ${number(data.goal.level)}${ends}`;
    return { near: `${about}: each evaluation is a dot, and the one that reaches the target is larger.`, window };
  };

  // A run in the foreground; null puts all of them back. Where a range is there for them, the others are not seen.
  const light = (svg, name) => {
    const behind = Number(svg.dataset.behind);
    for (const path of svg.querySelectorAll("[data-run]")) {
      const lit = path.dataset.run === name;
      path.setAttribute("stroke", lit ? "var(--text)" : "var(--run)");
      path.setAttribute("stroke-width", lit ? 2.2 : 1.1);
      path.setAttribute("stroke-opacity", lit ? 1 : name === null && behind ? 2 * behind : behind);
    }
  };

  // Chosen once, a run stands out in all charts of the page that have it.
  const chooser = (figure, lines, data, chosen) => {
    const label = document.createElement("label");
    label.className = "pick";
    label.append("Run ");
    const select = label.appendChild(document.createElement("select"));
    select.append(new Option("all", ""), ...lines.map((line) => new Option(line.name, line.name)));
    const said = document.createElement("output");
    label.append(said);
    select.addEventListener("change", () => document.dispatchEvent(new CustomEvent(CHOSEN, { detail: select.value })));
    document.addEventListener(CHOSEN, ({ detail }) => {
      select.value = detail;
      chosen.name = detail || null;
      const line = lines.find((one) => one.name === detail);
      said.textContent = line ? words(line, data) : "";
      const svg = figure.querySelector("svg.plot");
      if (svg) light(svg, chosen.name);
    });
    figure.querySelector(".plot-area").after(label);
  };

  const words = (line, data) => {
    const over = crossing(line, data.goal);
    const end = line.points.at(-1);
    const count = `${line.points.length} evaluation${line.points.length === 1 ? "" : "s"}`;
    if (!data.goal) return `${count}, the last ${number(end.y)} at ${number(end.x)}`;
    return over
      ? `${count}; ${number(over.y)} at ${number(over.x)} reaches the target`
      : `${count}; the last, ${number(end.y)} at ${number(end.x)}, does not reach the target`;
  };

  const states = new WeakMap();
  const stateOf = (data, figure) => {
    if (!states.has(figure)) {
      const lines = linesOf(data, figure);
      const chosen = { name: null };
      const spread = lines.length > 2 && !data.window ? spreadOf(lines.map((line) => line.points)) : null;
      states.set(figure, { lines, chosen, spread });
      if (lines.length > 1) chooser(figure, lines, data, chosen);
    }
    return states.get(figure);
  };

  const rangeMarks = (spread) => [
    Plot.areaY(spread, { x: "x", y1: "low", y2: "high", fill: "var(--c2)", fillOpacity: 0.22 }),
    Plot.lineY(spread, { x: "x", y: "median", stroke: "var(--c2)", strokeWidth: 2.2 }),
  ];

  // Where a run has no evaluation yet there is no median, and a band of the middle half has no outliers: there
  // single runs are to be seen.
  const covers = (spread, all) => {
    const [low, high] = d3.extent(all, (d) => d.x);
    const [least, most] = d3.extent(all, (d) => d.y);
    const long = spread.at(-1).x - spread[0].x > 0.8 * (high - low);
    return long && d3.max(spread, (d) => d.high) - d3.min(spread, (d) => d.low) > 0.5 * (most - least);
  };

  const bandOf = (lines) => (lines.length < MANY ? "range from the lowest to the highest run" : "middle half of the runs (quartiles)");
  const besides = (spread, lines, x) => {
    const near = spread.reduce((best, one) => (Math.abs(one.x - x) < Math.abs(best.x - x) ? one : best));
    return `\nmedian of the runs: ${number(near.median)}\n${bandOf(lines)}: ${number(near.low)} to ${number(near.high)}`;
  };

  // What a chart shows; what its lines mean stands below the first of a page.
  const saidOf = (lines, data, explained) => {
    const [least, most] = d3.extent(lines, (line) => line.points.at(-1).y).map((value) => number(value));
    const target = data.goal ? `, target ${number(data.goal.level)}` : "";
    const ends = `The last values of ${lines.length} run${lines.length === 1 ? "" : "s"} are ${least} to ${most}${target}.`;
    return explained
      ? `${ends} The line is the median of the runs, the band the ${bandOf(lines)}. Between two evaluations of a run its value is interpolated linearly, and a run that has ended counts with its last value.`
      : ends;
  };

  const dotMarks = (lines, data, all) => {
    const there = lines.map((line) => crossing(line, data.goal)).filter(Boolean);
    return [
      Plot.dot(all, { x: "x", y: "y", r: all.length > 400 ? 1 : 1.8, fill: "var(--c2)", clip: true }),
      Plot.dot(there, { x: "x", y: "y", r: 4.5, fill: "var(--c2)", stroke: "var(--paper)" }),
    ];
  };

  Object.assign(window.mlsub, { spreadOf, windowOf });
  kinds.runs = (data, size, figure) => {
    const { lines, chosen, spread } = stateOf(data, figure);
    const all = lines.flatMap((line) => line.points);
    const inside = data.window
      ? all.filter(({ x, y }) => x >= data.window.x[0] && x <= data.window.x[1] && y >= data.window.y[0] && y <= data.window.y[1])
      : all;
    const title = (d) =>
      `${d.run}\n${data.x.title}: ${number(d.x)}\n${data.y.title}: ${number(d.y)}${spread ? besides(spread, lines, d.x) : ""}`;
    const target = data.goal ? [Plot.ruleY([data.goal.level], { stroke: "var(--c3)", strokeWidth: 1.8, strokeDasharray: "6 4" })] : [];
    const pointed = Plot.tip(inside, Plot.pointer({ x: "x", y: "y", title, maxRadius: 30 }));
    const axis = (of, ends) => ({ label: of.title, grid: true, ...(ends ? { domain: ends } : {}) });
    const svg = plot(size, {
      height: size.narrow ? 260 : 320, marginLeft: 60, marginBottom: 40, marginTop: 30, marginRight: 24,
      x: { ...axis(data.x, data.window?.x), labelAnchor: "center", tickFormat: ticks(all.map((d) => d.x)), ...(size.narrow ? { ticks: 4 } : {}) }, y: axis(data.y, data.window?.y),
      marks: [
        ...(spread ? rangeMarks(spread) : []),
        Plot.line(all, { x: "x", y: "y", z: "run", stroke: "var(--run)", strokeWidth: 1.1, clip: true, ariaLabel: "run" }),
        ...target,
        ...(spread && !data.window ? [] : dotMarks(lines, data, inside)),
        pointed,
      ],
    });
    svg.querySelectorAll("path[aria-label]").forEach((path) => (path.dataset.run = path.getAttribute("aria-label")));
    svg.addEventListener("input", () => light(svg, svg.value?.run ?? chosen.name));
    svg.dataset.behind = spread ? (covers(spread, all) ? 0 : 0.15) : 0.45;
    light(svg, chosen.name);
    const range = [
      { name: `median of ${lines.length} runs`, fill: "var(--c2)", shape: "line" },
      { name: bandOf(lines), fill: "var(--c2)", shape: "band" },
    ];
    const legend = [
      ...(spread ? range : []),
      { name: spread ? "run that is pointed at or chosen" : "run", fill: spread ? "var(--text)" : "var(--run)", shape: "line", live: Boolean(spread) },
      ...(data.goal ? [{ name: `target ${number(data.goal.level)}`, fill: "var(--c3)", shape: "rule" }] : []),
    ];
    return { svg, legend, stops: inside, title, about: data.near ?? saidOf(lines, data, spread && figure.matches(":first-child")) };
  };
})();
