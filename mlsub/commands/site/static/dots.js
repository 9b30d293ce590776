"use strict";
// The kind "dots": results as marks over two axes, in the colours of what made them, and lines through some of them.
// The page names the results by their places in the data of the site, so that each of them is there once.
(() => {
  const { kinds, plot, number, short, colour, textWidth, wrap, isPartial, partialKey, partialWords } = window.mlsub;
  const LINE = 13;

  const TITLES = { published_minutes: "minutes to train", chip_minutes: "chip-minutes", accelerators_count: "accelerators" };

  const titleOf = (key) => TITLES[key] ?? window.mlsubResults.columns.find((one) => one.key === key).title.toLowerCase();

  // Who calls a result what, where no table of names has its vendor or family.
  const CPU_ONLY = "CPU only";
  const makerOf = (result, data) => result[data.by] ?? (result.accelerators_count === 0 ? CPU_ONLY : "no known accelerator");

  // The accelerator of a result, and how many: of several nodes their number before that of the accelerators of one.
  const chipOf = ({ accelerators_count: count, accelerator_name: name, accelerator_model_name: model }) =>
    name ?? (count === 0 ? CPU_ONLY : model) ?? "not stated";
  const chipsOf = (result) => {
    const { accelerators_count: count, number_of_nodes: nodes } = result;
    if (!count) return chipOf(result);
    return `${nodes > 1 && count % nodes === 0 ? `${number(nodes)} × ${number(count / nodes)}` : `${number(count)} ×`} ${chipOf(result)}`;
  };

  // How large the system of a result is, as in the data of pages: its accelerators, or its nodes where it has none.
  const counted = (count, unit) => `${number(count)} ${unit}${count === 1 ? "" : "s"}`;
  const sizeOf = ({ accelerators_count: count, number_of_nodes: nodes }) =>
    count ? counted(count, "accelerator") : count === 0 && nodes ? `${counted(nodes, "node")} without accelerators` : "";

  const aboutOf = (data) => (result) => {
    const figure = result.y === result.chip_minutes ? `${short(result.y)} chip-minutes, ` : "";
    const energy = result.energy_joules === null ? "" : `, ${short(result.energy_joules / 1e6)} MJ`;
    const others = [data.x, data.y].filter((key) => key && !(key in TITLES || data.rounds?.includes(result[key]))).map((key) => `${titleOf(key)}: ${short(result[key])}`);
    return [
      ...(data.mixed ? [result.benchmark_title] : []), result.system_name, result.organisation_name, chipsOf(result),
      `${figure}${short(result.published_minutes)} minutes${energy}`, `${result.round_key}, ${result.division_name}`, ...others, ...partialWords(result),
    ].join("\n");
  };

  // Numbers for a logarithmic axis: the most that have room, of powers of two or of round numbers in each decade.
  const STEPS = [[1, 1.5, 2, 3, 5, 7], [1, 2, 3, 5], [1, 2, 5], [1, 3], [1]];
  const ticks = ([low, high], most, powers) => {
    const within = (values) => values.filter((value) => value >= low * 0.999 && value <= high * 1.001);
    const twos = within(Array.from({ length: 24 }, (_, power) => 2 ** power));
    const round = (steps) => within(d3.range(-4, 8).flatMap((decade) => steps.map((step) => Number(`${step}e${decade}`))));
    const every = (values, step) => values.filter((_, at) => at % step === 0);
    const choices = [...(powers ? [] : STEPS.map(round)), ...d3.range(1, 9).map((step) => every(powers ? twos : round([1]), step))];
    return choices.find((values) => values.length <= most) ?? [];
  };

  // Room around the values; a single value stands in the middle.
  const span = (values, powers) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const room = powers ? 1.35 : high / low < 3 ? 1.8 : 1.25;
    return [low / room, high * room];
  };

  // The axes are marks of their own: the scale would leave numbers out that have room.
  const logAxis = (along, values, most, options, powers) => {
    const domain = span(values, powers);
    const shown = ticks(domain, most, powers);
    const [grid, axis] = along === "x" ? [Plot.gridX, Plot.axisX] : [Plot.gridY, Plot.axisY];
    const marks = [grid(shown), axis(shown, { text: shown.map(number), labelArrow: "none", ...options })];
    return { scale: { type: "log", domain, axis: null }, marks };
  };

  const axisX = (data, points, width) => {
    if (!data.rounds) {
      return logAxis("x", points.map((d) => d.x), Math.floor(width / 60), { label: titleOf(data.x), labelAnchor: "center" }, data.x === "accelerators_count");
    }
    const step = Math.ceil((d3.max(data.rounds, textWidth) + 8) * data.rounds.length / width);
    const shown = data.rounds.filter((_, at) => (data.rounds.length - 1 - at) % step === 0);
    return { scale: { type: "point", domain: data.rounds, ticks: shown, label: null, padding: 0.3 }, marks: [] };
  };

  const NONE = ["c5", "circle"];

  const pointOf = (data, all) => (at) => {
    const result = all[at];
    const [tone, symbol] = data.keys.find(([name]) => name === makerOf(result, data))?.slice(1) ?? NONE;
    return { ...result, x: result[data.x], y: result[data.y], tone: colour(tone), symbol };
  };

  // A record stands from a round until the last one that could have beaten it.
  const stepped = (line, data, point) => {
    const points = line.at.map(point);
    if (line.from) points[0] = { ...points[0], x: line.from };
    if (line.until) points.push({ ...points.at(-1), x: line.until });
    return Plot.line(points, {
      x: "x", y: "y", curve: line.step ? "step-after" : "linear", stroke: line.own ? points[0].tone : "var(--soft)",
      strokeWidth: line.own ? 1.5 : 3, strokeOpacity: line.own ? 0.8 : 0.45,
    });
  };

  // Names beside the last marks of their lines, moved off each other and off other marks and what stands beside those; none
  // where there is no room for all.
  const labelsOf = (data, points, places, height, most) => {
    const last = (of) => of.reduce((best, d) => (data.rounds.indexOf(d.x) >= data.rounds.indexOf(best.x) ? d : best));
    const ends = d3.groups(points, (d) => makerOf(d, data)).map(([name, of]) => {
      const mark = last(of);
      const lines = wrap(name, most);
      return { mark, lines, left: places.x(mark.x) + 7, wide: d3.max(lines, textWidth), top: places.y(mark.y) - (lines.length * LINE) / 2 };
    });
    const taken = points.map((d) => ({ of: d, left: places.x(d.x) - 5, wide: 18, at: places.y(d.y) - 6, high: 12 }));
    for (const one of ends.sort((a, b) => a.top - b.top)) {
      const high = one.lines.length * LINE;
      const meets = (at) => (other) => other.of !== one.mark && one.left < other.left + other.wide && other.left < one.left + one.wide && at < other.at + other.high && other.at < at + high;
      const free = d3.range(0, 2 * LINE).flatMap((step) => [one.top + step, one.top - step]);
      one.at = free.find((at) => at > 0 && at + high <= height + 8 && !taken.some(meets(at)));
      if (one.at === undefined) return null;
      taken.push({ ...one, high });
    }
    return ends;
  };

  const drawable = (data) => (d) => d.y > 0 && (data.rounds || d.x > 0);

  // A mark under a name of its own, for style sheets and tests.
  const called = (name) => (index, scales, values, dimensions, context, next) => {
    const group = next(index, scales, values, dimensions, context);
    group.setAttribute("aria-label", name);
    return group;
  };

  // Marks of one number of accelerators stand beside each other where they would cover each other, but none further from its
  // number than its own width, or than a quarter of the way to the next.
  const spread = (points, x, y, radius) => {
    const placed = [];
    const columns = d3.sort(new Set(points.map((d) => x(d.x))));
    const distance = (left, up) => d3.min(placed, (other) => Math.hypot(other.left - left, other.up - up)) ?? Infinity;
    for (const d of points.slice().sort((a, b) => a.x - b.x || a.y - b.y)) {
      const [at, up] = [x(d.x), y(d.y)];
      const room = Math.min(1.3 * radius, (d3.min(columns, (other) => (other === at ? Infinity : Math.abs(other - at))) ?? Infinity) / 4);
      const places = [at, ...d3.range(2, room, 2).flatMap((step) => [at + step, at - step])];
      const left = places.find((one) => distance(one, up) >= 1.7 * radius) ?? d3.greatest(places, (one) => distance(one, up));
      placed.push({ left, up });
      d.x = x.invert(left);
    }
  };

  // Results of "frame" stand behind those that are shown: the axes stay for each choice.
  kinds.dots = (data, size) => {
    const point = pointOf(data, window.mlsub.results());
    const points = data.at.map(point).filter(drawable(data));
    if (!points.length) return null;
    const [partial, whole] = [points.filter(isPartial), points.filter((d) => !isPartial(d))];
    const lines = data.lines ?? [];
    const others = (data.frame ?? []).map(point).filter(drawable(data));
    const within = [...points, ...others, ...lines.flatMap((line) => line.at.map(point))].map((d) => d.y);
    const height = data.small ? 210 : size.narrow ? 320 : 420;
    const radius = data.small ? 3.5 : 5;
    const [marginLeft, marginTop, marginBottom] = [52, 24, data.rounds ? 26 : 40];
    const y = logAxis("y", within, data.small ? 5 : 9, { label: titleOf(data.y), labelAnchor: "top" });
    let [marginRight, labels] = [12, null];
    if (data.rounds && data.lines) {
      // Names at the last round need room beside it; those that end earlier stand in the chart.
      const most = data.small || size.narrow ? 96 : 160;
      for (const room of [12, 40, 70, 100, most + 8]) {
        const across = d3.scalePoint(data.rounds, [marginLeft, size.width - room]).padding(0.3);
        const up = d3.scaleLog(y.scale.domain, [height - marginBottom, marginTop]);
        const found = labelsOf(data, points, { x: across, y: up }, height - marginBottom, most);
        if (!found || found.every((one) => one.left + one.wide <= size.width)) {
          [marginRight, labels] = [found ? room : 12, found];
          break;
        }
      }
    }
    const x = axisX(data, [...points, ...others], size.width - marginLeft - marginRight);
    if (!data.rounds) spread(points, d3.scaleLog(x.scale.domain, [marginLeft, size.width - marginRight]), d3.scaleLog(y.scale.domain, [height - marginBottom, marginTop]), radius);
    const svg = plot(size, {
      height, marginLeft, marginRight, marginTop, marginBottom, x: x.scale, y: y.scale, symbol: { type: "identity" },
      marks: [
        ...y.marks,
        ...x.marks,
        Plot.dot(others, { x: "x", y: "y", stroke: "var(--soft)", strokeOpacity: 0.8, r: radius - 1.5, render: called("others") }),
        ...lines.map((line) => stepped(line, data, point)),
        Plot.dot(whole, { x: "x", y: "y", fill: "tone", stroke: "var(--paper)", strokeWidth: 0.7, symbol: "symbol", r: radius, fillOpacity: 0.85 }),
        Plot.dot(partial, { x: "x", y: "y", fill: "var(--paper)", stroke: "tone", strokeWidth: 1.5, symbol: "symbol", r: radius, render: called("partial") }),
        ...(labels ?? []).map((one) => Plot.text([one.lines.join("\n")], {
          frameAnchor: "top-left", textAnchor: "start", lineAnchor: "top", dx: one.left - marginLeft, dy: one.at - marginTop, fontSize: 11, lineHeight: LINE / 11,
          fill: "var(--text)", stroke: "var(--paper)", strokeWidth: 3,
        })),
        Plot.tip(points, Plot.pointer({ x: "x", y: "y", title: aboutOf(data) })),
      ],
    });
    const legend = labels || (data.small && data.keys.length === 1) ? [] : data.keys.filter(([name]) => points.some((d) => makerOf(d, data) === name));
    const names = legend.map(([name, tone, symbol]) => ({ name, fill: colour(tone), shape: symbol }));
    return { svg, legend: [...names, ...partialKey(points)], stops: points, title: aboutOf(data) };
  };
  Object.assign(window.mlsub, { CPU_ONLY, chipOf, chipsOf, counted, sizeOf, pointOf, makerOf, logAxis, called, tipOf: aboutOf({}) });
})();
