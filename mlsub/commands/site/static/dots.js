"use strict";
// The kind "dots": results as marks over two axes, in the colours of what made them, and lines through some of them.
// The page names the results by their places in the data of the site, so that each of them is there once.
(() => {
  const { kinds, plot, number, short, colour } = window.mlsub;

  const TITLES = { published_minutes: "minutes to train", chip_minutes: "chip-minutes", accelerators_count: "accelerators" };

  const about = (result) => {
    const chips = result.accelerators_count ? `${number(result.accelerators_count)} × ${result.accelerator_name ?? result.accelerator_model_name ?? "accelerators"}` : "no accelerators";
    const figure = result.y === result.chip_minutes ? `${short(result.y)} chip-minutes, ` : "";
    return [
      result.system_name, result.organisation_name, chips,
      `${figure}${short(result.published_minutes)} minutes`, `${result.round_key}, ${result.division_name}`,
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
  const logAxis = (along, values, most, label, powers) => {
    const domain = span(values, powers);
    const shown = ticks(domain, most, powers);
    const [grid, axis] = along === "x" ? [Plot.gridX, Plot.axisX] : [Plot.gridY, Plot.axisY];
    const marks = [grid(shown), axis(shown, { text: shown.map(number), label, labelAnchor: "center" })];
    return { scale: { type: "log", domain, axis: null }, marks };
  };

  const axisX = (data, points, size) => {
    if (data.x === "accelerators_count") return logAxis("x", points.map((d) => d.x), Math.floor(size.width / 60), TITLES.accelerators_count, true);
    if (data.x === "round_key") return { scale: { type: "point", domain: data.rounds, label: null, padding: 0.5 }, marks: [] };
    const years = { type: "utc", domain: data.span.map((day) => new Date(day)), label: null, ticks: size.width < 420 ? 5 : 8 };
    return { scale: years, marks: [] };
  };

  const NONE = [7, "circle"];

  const pointOf = (data, all) => (at) => {
    const result = all[at];
    const [tone, symbol] = data.keys.find(([name]) => name === result[data.by])?.slice(1) ?? NONE;
    return { ...result, x: data.x === "publication_date" ? new Date(result[data.x]) : result[data.x], y: result[data.y], tone: colour(tone), symbol };
  };

  // A record stands until the last round that could have beaten it.
  const stepped = (line, data, point) => {
    const points = line.at.map(point);
    if (line.until) points.push({ ...points.at(-1), x: new Date(line.until) });
    return Plot.line(points, {
      x: "x", y: "y", curve: line.step ? "step-after" : "linear", stroke: line.own ? points[0].tone : "var(--soft)", strokeWidth: line.own ? 1.5 : 2, strokeOpacity: line.own ? 0.7 : 1,
    });
  };

  // From the fewest accelerators to the most, with the slope -1.
  const idealOf = (line, point) => {
    const { accelerators_count: count, published_minutes: minutes, tone } = point(line.at);
    return [count, line.most].map((x) => ({ x, y: (minutes * count) / x, tone }));
  };

  const ideal = (ends) =>
    Plot.line(ends, { x: "x", y: "y", stroke: ends[0].tone, strokeWidth: 1.2, strokeOpacity: 0.55, strokeDasharray: "2 4" });

  const drawable = (data) => (d) => d.y > 0 && (data.x !== "accelerators_count" || d.x > 0) && (data.x !== "publication_date" || d.publication_date);

  // A mark under a name of its own, for style sheets and tests.
  const called = (name) => (index, scales, values, dimensions, context, next) => {
    const group = next(index, scales, values, dimensions, context);
    group.setAttribute("aria-label", name);
    return group;
  };

  const nothing = (size) =>
    plot(size, { height: 80, axis: null, marks: [Plot.text(["Nothing to draw for this choice"], { frameAnchor: "middle" })] });

  // Results of "frame" stand behind those that are shown, and lines of "reach" count: the axes stay for each choice.
  kinds.dots = (data, size) => {
    const point = pointOf(data, window.mlsub.results());
    const points = data.at.map(point).filter(drawable(data));
    if (!points.length) return { svg: nothing(size), legend: [] };
    const lines = data.lines ?? [];
    const [ideals, reach] = [data.ideal, data.reach].map((some) => (some ?? []).map((line) => idealOf(line, point)));
    const others = (data.frame ?? []).map(point).filter(drawable(data));
    const within = [...points, ...others, ...lines.flatMap((line) => line.at.map(point)), ...ideals.flat(), ...reach.flat()].map((d) => d.y);
    const height = data.small ? 190 : size.narrow ? 320 : 420;
    const radius = data.small ? 3.5 : 5;
    const x = axisX(data, [...points, ...others], size);
    const y = logAxis("y", within, data.small ? 5 : 9, data.small ? null : TITLES[data.y]);
    const svg = plot(size, {
      height, marginLeft: 52, marginRight: 12, marginTop: 12, marginBottom: data.x === "accelerators_count" ? 40 : 26,
      x: x.scale, y: y.scale, symbol: { type: "identity" },
      marks: [
        ...y.marks,
        ...x.marks,
        Plot.dot(others, { x: "x", y: "y", fill: "var(--line)", r: radius - 1.5, render: called("others") }),
        ...lines.map((line) => stepped(line, data, point)),
        ...ideals.map(ideal),
        Plot.dot(points, { x: "x", y: "y", fill: "tone", stroke: "var(--paper)", strokeWidth: 0.7, symbol: "symbol", r: radius, fillOpacity: 0.85 }),
        Plot.tip(points, Plot.pointer({ x: "x", y: "y", title: about })),
      ],
    });
    const legend = data.small ? [] : data.keys.filter(([name]) => points.some((d) => (d[data.by] ?? data.none) === name));
    return { svg, legend: legend.map(([name, tone, symbol]) => ({ name, fill: colour(tone), shape: symbol })) };
  };
})();
