"use strict";
// The kind "bars": stated figures, with their labels above them.
(() => {
  const { kinds, plot, number, colour, root } = window.mlsub;
  const CHARACTER = 6.4;

  // Ratios beside 1, which is the other side, or values from 0; one colour a source.
  kinds.bars = ({ bars, ratios, unit }, size) => {
    const sources = Array.from(new Set(bars.map((bar) => bar.source)));
    // Small ratios are clearer beside the whole of what they are ratios of.
    const log = ratios && bars.some((bar) => bar.value > 5);
    const data = bars.map((bar, row) => ({ ...bar, row, href: bar.href && root + bar.href }));
    const least = log ? Math.min(1, ...bars.map((bar) => bar.value)) : 0;
    const most = Math.max(...bars.map((bar) => bar.value));
    const words = Math.max(...bars.map((bar) => bar.shown.length)) * CHARACTER + 14;
    const title = (bar) => `${bar.label}\n${bar.shown}\n${bar.source}\n${bar.place}`;
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
        Plot.barX(data, { x1: start, x2: "value", y: "row", fill: (bar) => colour(sources.indexOf(bar.source)) }),
        Plot.ruleX([ratios ? 1 : 0], { stroke: "var(--soft)" }),
        Plot.text(data, {
          y: "row", text: "label", frameAnchor: "left", textAnchor: "start", dy: -17,
          lineWidth: Math.max(8, (size.width - 28) / 12), textOverflow: "ellipsis",
        }),
        Plot.text(data, { x: "value", y: "row", text: "shown", textAnchor: "start", dx: 5 }),
        Plot.tip(data, Plot.pointerY({ x: "value", y: "row", title })),
      ],
    });
    return { svg, legend: sources.map((name, place) => ({ name, fill: colour(place) })) };
  };
})();
