"use strict";
// The kind "performance": an organisation's minutes by system and division, gains, and stated figures.
(() => {
  const { kinds, plot, number, short, colour } = window.mlsub;
  const CHARACTER = 6.4;
  const accepted = (verdict) => verdict === "accepted";
  const tip = (marks, options) => Plot.tip(marks, Plot.pointerY(options));

  // Bars with their labels above them, which have the width of the chart at any size.
  const labelled = (size, rows, text) =>
    Plot.text(rows, {
      y: "row", text, frameAnchor: "left", textAnchor: "start", dy: -17,
      lineWidth: Math.max(8, (size.width - 28) / 12), textOverflow: "ellipsis",
    });

  // A facet for each division: side by side, and one above the other where there is no room.
  const divisions = ({ rows, divisions: names, colours, bars, root }, size) => {
    const beside = bars.every((bar) => bar.division === bars[0].division) || (!size.narrow && size.width > 460);
    const fy = (bar) => names[bar.division];
    const facet = beside ? { fx: fy } : { fy };
    const data = bars.map((bar) => ({ ...bar, label: rows[bar.row], href: root + bar.href }));
    const longest = Math.min(Math.max(...rows.map((text) => text.length)) * CHARACTER, size.width * 0.4);
    const room = Math.floor(longest / CHARACTER);
    const cut = (at) => (rows[at].length > room + 1 ? `${rows[at].slice(0, room)}…` : rows[at]);
    const fill = (bar) => (accepted(bar.verdict) ? colour(colours[bar.division]) : "var(--paper)");
    const title = (bar) =>
      [bar.label, `${names[bar.division]}: ${number(bar.minutes)} minutes`, bar.verdict, bar.id].filter(Boolean).join("\n");
    const words = (bar) => `${short(bar.minutes)}${accepted(bar.verdict) ? "" : ` ${bar.verdict}`}`;
    const used = names.filter((_, place) => bars.some((bar) => bar.division === place));
    const height = 24 * rows.length;
    const most = Math.max(...bars.map((bar) => bar.minutes));
    const part = (size.width - longest - 40) / (beside ? used.length : 1);
    // Room at the end of the longest bar for its words.
    const room_ = Math.min(0.6, 100 / Math.max(part, 1));
    const svg = plot(size, {
      height: (beside ? height : (height + 14) * used.length) + 62,
      marginLeft: longest + 14, marginBottom: 36, marginTop: 30, marginRight: beside ? 8 : 62,
      x: { label: "minutes", labelAnchor: "center", grid: true, domain: [0, most / (1 - room_)], ticks: beside ? 3 : 5 },
      y: { label: null, domain: rows.map((_, place) => place), type: "band", padding: 0.25, tickFormat: cut, tickSize: 0 },
      fx: { label: null, domain: used }, fy: { label: null, domain: used },
      marks: [
        Plot.barX(data, { x: "minutes", y: "row", ...facet, fill, stroke: (bar) => colour(colours[bar.division]), strokeWidth: 1.5 }),
        Plot.text(data, { x: "minutes", y: "row", ...facet, text: words, textAnchor: "start", dx: 5 }),
        tip(data, { x: "minutes", y: "row", ...facet, title }),
      ],
    });
    return { svg };
  };

  // Ratios beside 1, which is the other side, or values from 0; one colour a source.
  const figures = ({ bars, sources, ratios, unit, root }, size) => {
    // Small ratios are clearer beside the whole of what they are ratios of.
    const log = ratios && bars.some((bar) => bar.value > 5);
    const data = bars.map((bar, row) => ({ ...bar, row, href: bar.href && root + bar.href }));
    const least = log ? Math.min(1, ...bars.map((bar) => bar.value)) : 0;
    const most = Math.max(...bars.map((bar) => bar.value));
    const words = Math.max(...bars.map((bar) => bar.shown.length)) * CHARACTER + 14;
    const title = (bar) => `${bar.label}\n${bar.shown}\n${sources[bar.source]}\n${bar.place}`;
    const start = log ? 1 : 0;
    const svg = plot(size, {
      height: 42 * data.length + 66, marginLeft: 14, marginRight: words, marginTop: 30, marginBottom: 38,
      x: {
        label: ratios ? "times as much" : unit, labelAnchor: "center", grid: true,
        domain: [least, most], type: log ? "log" : "linear",
        ...(log ? { tickFormat: (value) => (/^[125]0*$/.test(String(value)) ? number(value) : "") } : { ticks: size.narrow ? 3 : 5 }),
      },
      y: { axis: null, domain: data.map((bar) => bar.row), type: "band", padding: 0.6, paddingOuter: 0.4 },
      marks: [
        Plot.barX(data, { x1: start, x2: "value", y: "row", fill: (bar) => colour(bar.source) }),
        Plot.ruleX([ratios ? 1 : 0], { stroke: "var(--soft)" }),
        labelled(size, data, "label"),
        Plot.text(data, { x: "value", y: "row", text: "shown", textAnchor: "start", dx: 5 }),
        tip(data, { x: "value", y: "row", title }),
      ],
    });
    return { svg, legend: sources.map((name, place) => ({ name, fill: colour(place) })) };
  };

  // Lines that end in one place have one label.
  const together = (ends, points) => {
    const [low, high] = [Math.min, Math.max].map((of) => of(...points.map((point) => point.times)));
    const found = [];
    for (const end of ends.sort((a, b) => b.times - a.times)) {
      const near = found.find((one) => one.round === end.round && one.times - end.times < (high - low) / 22);
      if (near) near.end += `, ${end.end}`;
      else found.push({ ...end });
    }
    return found;
  };

  const gains = ({ rounds, lines, root }, size) => {
    const points = lines.flatMap(({ name, points: found }, place) =>
      found.map((point) => ({ ...point, place, name, href: root + point.href })));
    const ends = together(lines.map((line) => ({ ...line.points.at(-1), end: line.end })), points);
    const title = (point) =>
      [
        `${point.round}: ${point.system}, ${point.software}`, `${number(point.minutes)} minutes, ${point.verdict}`,
        `${point.times.toFixed(2)} times as fast as in its first round`,
      ].join("\n");
    const svg = plot(size, {
      height: 280, marginLeft: 44, marginRight: 60, marginTop: 30, marginBottom: 36,
      x: { type: "point", domain: rounds, label: "round", labelAnchor: "center", padding: 0.2 },
      y: { label: "times as fast", grid: true, nice: true, zero: false },
      marks: [
        Plot.ruleY([1], { stroke: "var(--soft)", strokeDasharray: "2 4" }),
        Plot.line(points, { x: "round", y: "times", z: "place", stroke: (point) => colour(point.place), strokeWidth: 2 }),
        Plot.dot(points, {
          x: "round", y: "times", r: 4.5, stroke: (point) => colour(point.place), strokeWidth: 2,
          fill: (point) => (point.other ? "var(--paper)" : colour(point.place)),
        }),
        Plot.text(ends, { x: "round", y: "times", text: "end", dx: 9, textAnchor: "start" }),
        Plot.tip(points, Plot.pointer({ x: "round", y: "times", title })),
      ],
    });
    return { svg, legend: lines.map((line, place) => ({ name: line.name, fill: colour(place) })) };
  };

  const forms = { divisions, figures, gains };
  kinds.performance = (data, size) => forms[data.form](data, size);
})();
