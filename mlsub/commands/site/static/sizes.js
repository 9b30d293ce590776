"use strict";
// Two kinds of charts of results: "strip", those of one size in a row for each accelerator, and "efficiency", how much of ideal
// scaling is left in families of systems.
(() => {
  const { kinds, plot, number, short, three, colour, textWidth, wrap, results, isPartial, pointOf, tipOf, logAxis, called, chipOf: rowOf, partialKey } = window.mlsub;
  const [LINE, STEP, RADIUS] = [15, 12, 5];

  // Marks that would cover each other stand below each other: the levels of some, which are in the order of their places.
  const levelsOf = (places) => {
    const ends = [];
    return places.map((at) => {
      const free = ends.findIndex((end) => at - end >= 2 * RADIUS);
      const level = free < 0 ? ends.length : free;
      ends[level] = at;
      return level;
    });
  };

  kinds.strip = (data, size) => {
    const point = pointOf(data, results());
    const drawable = (d) => d.published_minutes > 0 && d.scaling_type !== "weak";
    const points = data.at.map(point).filter(drawable).sort((a, b) => a.x - b.x);
    if (!points.length) return null;
    const rows = d3.groups(points, rowOf);
    const names = new Set(rows.map(([name]) => name));
    const others = (data.frame ?? []).map(point).filter((d) => drawable(d) && names.has(rowOf(d)));
    const labels = rows.map(([name, [best]]) => [name, `${short(best.x)} ${best.organisation_name}`]);
    const most = size.width * (size.narrow ? 0.38 : 0.3);
    const shortened = (text) => (textWidth(text) <= most ? text : shortened(`${text.slice(0, -2)}…`));
    const marginLeft = Math.min(most, d3.max(labels.flat(), textWidth)) + 16;
    const [marginTop, marginBottom, marginRight] = [8, 40, 14];
    const x = logAxis("x", [...points, ...others].map((d) => d.x), size.narrow ? 4 : 8, { label: "minutes to train", labelAnchor: "center" });
    const across = d3.scaleLog(x.scale.domain, [marginLeft, size.width - marginRight]);
    let top = 0;
    for (const [at, [name, of]] of rows.entries()) {
      const levels = levelsOf(of.map((d) => across(d.x)));
      of.forEach((d, place) => (d.y = top + 12 + levels[place] * STEP));
      others.filter((d) => rowOf(d) === name).forEach((d) => (d.y = top + 12));
      Object.assign(labels[at], { top });
      top += Math.max(2 * LINE + 6, 24 + d3.max(levels) * STEP);
    }
    const label = (line, options) =>
      Plot.text(labels, { y: (d) => d.top + 12 + line * LINE, text: (d) => shortened(d[line]), frameAnchor: "left", textAnchor: "start", dx: 4 - marginLeft, ...options });
    const svg = plot(size, {
      height: top + marginTop + marginBottom, marginLeft, marginRight, marginTop, marginBottom, symbol: { type: "identity" },
      x: x.scale, y: { domain: [0, top], range: [marginTop, top + marginTop], axis: null },
      marks: [
        ...x.marks,
        Plot.ruleY(labels.slice(1), { y: "top", stroke: "var(--line)" }),
        label(0, { fontWeight: 700 }),
        label(1, { fill: "var(--soft)" }),
        Plot.dot(others, { x: "x", y: "y", stroke: "var(--soft)", strokeOpacity: 0.8, r: RADIUS - 1.5, render: called("others") }),
        Plot.dot(points, {
          x: "x", y: "y", r: RADIUS - 0.5, symbol: "symbol", sort: isPartial, fill: (d) => (isPartial(d) ? "var(--paper)" : d.tone), stroke: (d) => (isPartial(d) ? d.tone : "var(--paper)"),
        }),
        Plot.tip(points, Plot.pointer({ x: "x", y: "y", title: tipOf })),
      ],
    });
    return { svg, legend: partialKey(points), stops: points, title: tipOf };
  };

  kinds.efficiency = (data, size) => {
    const point = pointOf(data, results());
    const percent = (value) => `${three(value * 100)} %`;
    const lines = data.families.map((family) => family.at.map((at, place) => ({ ...point(at), x: point(at).accelerators_count, y: family.efficiency[place] })));
    if (!lines.length) return null;
    const points = lines.flat();
    const words = (d) => `${d.organisation_name}, ${rowOf(d)}, ${d.round_key}\n${number(d.x)} accelerators: ${percent(d.y)}\n${short(d.published_minutes)} minutes`;
    const rounds = Array.from(new Set(points.map((d) => d.round_key)));
    const caption = `Scaling efficiency, ${rounds.length > 1 ? `${rounds.at(-1)} to ` : ""}${rounds[0]}`;
    const nameOf = (d) => [d.organisation_name, rowOf(d), ...(rounds.length > 1 ? [d.round_key] : [])].join(", ");
    const ends = lines.map((line) => ({ ...line.at(-1), lines: wrap(`${nameOf(line[0])}: ${percent(line.at(-1).y)}`, size.width * 0.4 - 14) }));
    const [height, marginTop, marginBottom] = [size.narrow ? 280 : 320, 26, 40];
    // Names stand beside the last marks of few lines, one below the other.
    const named = lines.length <= 8 && d3.sum(ends, (d) => d.lines.length) * LINE < height;
    const marginRight = named ? d3.max(ends.flatMap((d) => d.lines), textWidth) + 14 : 14;
    const x = logAxis("x", points.map((d) => d.x), Math.floor((size.width - marginRight) / 60), { label: "accelerators", labelAnchor: "center" }, true);
    const y = d3.scaleLinear([0, Math.max(1.05, d3.max(points, (d) => d.y))], [height - marginBottom, marginTop]);
    let last = -Infinity;
    for (const end of ends.sort((a, b) => b.y - a.y)) {
      end.top = Math.max(y(end.y) - (end.lines.length * LINE) / 2, last);
      last = end.top + end.lines.length * (LINE - 2);
    }
    // Figures stand below their marks, where no other figure or mark is.
    const left = d3.scaleLog(x.scale.domain, [52, size.width - marginRight]);
    const figures = [];
    const isFree = (d) => [...figures.map((one) => [left(one.x), y(one.y) + 14]), ...points.filter((one) => one !== d).map((one) => [left(one.x), y(one.y)])]
      .every(([at, up]) => Math.abs(at - left(d.x)) > 40 || Math.abs(up - y(d.y) - 14) > LINE - 3);
    if (named) for (const d of points) if (d.y !== 1 && !ends.some((end) => end.at === d.at) && isFree(d)) figures.push(d);
    const svg = plot(size, {
      height, marginLeft: 52, marginRight, marginTop, marginBottom, x: x.scale, symbol: { type: "identity" },
      y: { domain: y.domain(), label: "of ideal scaling", labelArrow: "none", tickFormat: (value) => `${short(value * 100)} %`, ticks: 6, grid: true },
      marks: [
        ...x.marks,
        Plot.ruleY([1], { stroke: "var(--soft)", strokeDasharray: "2 4" }),
        ...lines.map((line) => Plot.line(line, { x: "x", y: "y", stroke: line[0].tone, strokeWidth: 1.5 })),
        Plot.dot(points, { x: "x", y: "y", r: RADIUS - 0.5, symbol: "symbol", fill: "tone", stroke: "var(--paper)" }),
        ...(named ? [
          Plot.text(figures, { x: "x", y: "y", text: (d) => percent(d.y), dy: 14, fill: "var(--text)", stroke: "var(--paper)", strokeWidth: 3 }),
          ...ends.map((end) => Plot.text([end], { x: "x", y: (d) => y.invert(d.top), text: (d) => d.lines.join("\n"), lineAnchor: "top", textAnchor: "start", dx: 9, lineHeight: (LINE - 2) / 12, fill: "var(--text)", stroke: "var(--paper)", strokeWidth: 3 })),
        ] : []),
        Plot.tip(points, Plot.pointer({ x: "x", y: "y", title: words })),
      ],
    });
    const legend = named ? [] : data.keys.map(([name, tone, shape]) => ({ name, fill: colour(tone), shape }));
    return { svg, legend, stops: points, title: words, caption };
  };
})();
