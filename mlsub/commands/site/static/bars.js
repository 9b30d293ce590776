"use strict";
// The kind "bars": the fastest result of each family of accelerators in a round, with a mark across a bar for that of the round before.
(() => {
  const { kinds, plot, number, short, colour, wrap, results, isPartial, partialKey, partialWords } = window.mlsub;
  const [LINE, BAR] = [14, 12];

  const chips = (one) => (one.accelerators_count ? `${number(one.accelerators_count)} × ${one.accelerator_name ?? "accelerators"}` : "no accelerators");

  kinds.bars = (data, size) => {
    const looks = new Map(data.keys.map(([name, tone]) => [name, tone]));
    let top = 2;
    const rows = data.at.map((place, at) => {
      const result = results()[place];
      const before = data.before[at] === null ? null : results()[data.before[at]];
      const family = result[data.by] ?? data.none;
      const lines = wrap(`${family}: ${chips(result)}, ${result.organisation_name}`, size.width - 8);
      const row = { ...result, before, family, lines, fill: colour(looks.get(family)), x: result[data.y], top, y: top + lines.length * LINE + BAR / 2 + 2 };
      top = row.y + BAR / 2 + 9;
      return row;
    });
    if (!rows.length) return null;
    const behind = rows.filter((row) => row.before);
    const value = (row) => `${short(row.x)} min${row.before ? `, ${row.before.round_key}: ${short(row.before[data.y])}` : ""}`;
    const title = (row) => [
      row.family, row.system_name, row.organisation_name, chips(row), `${short(row.x)} minutes in ${row.round_key}`,
      ...partialWords(row),
      ...(row.before ? [`${short(row.before[data.y])} minutes in ${row.before.round_key}: ${chips(row.before)}, ${row.before.organisation_name}`] : []),
    ].join("\n");
    const most = d3.max(rows, (row) => Math.max(row.x, row.before?.[data.y] ?? 0));
    const room = 8 + d3.max(rows, (row) => window.mlsub.textWidth(value(row)));
    const end = (row) => Math.max(row.x, row.before?.[data.y] ?? 0);
    const svg = plot(size, {
      height: top + 40, marginLeft: 1, marginRight: room, marginTop: 0, marginBottom: 40,
      x: { domain: [0, most], label: "minutes to train", labelAnchor: "center", labelArrow: "none", ticks: 3, grid: true },
      y: { domain: [0, top], range: [0, top], axis: null },
      marks: [
        Plot.rect(rows, { x1: 0, x2: "x", y1: (row) => row.y - BAR / 2, y2: (row) => row.y + BAR / 2, fill: (row) => (isPartial(row) ? "var(--paper)" : row.fill), stroke: "fill" }),
        Plot.link(behind, { x1: (row) => row.before[data.y], x2: (row) => row.before[data.y], y1: (row) => row.y - BAR / 2 - 2, y2: (row) => row.y + BAR / 2 + 2, stroke: "var(--text)", strokeWidth: 2.5 }),
        Plot.text(rows, { x: 0, y: "top", text: (row) => row.lines.join("\n"), textAnchor: "start", lineAnchor: "top", lineHeight: LINE / 12, fill: "var(--text)", stroke: "var(--paper)", strokeWidth: 3 }),
        Plot.text(rows, { x: end, y: "y", text: value, textAnchor: "start", dx: 5, fill: "var(--soft)" }),
        Plot.tip(rows, Plot.pointerY({ x: "x", y: "y", title })),
      ],
    });
    return { svg, legend: partialKey(rows), stops: rows, title };
  };
})();
