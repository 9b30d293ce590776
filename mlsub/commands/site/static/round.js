"use strict";
// The kind "round": all results of a benchmark in one division of a round, as dots over their minutes on a logarithmic axis,
// or chip-minutes, grouped by the number of accelerators, in the colours of the families of accelerators.
(() => {
  const { kinds, plot, number, short, colour, textWidth, wrap, results, redraw, address, remember, view, makerOf, chipsOf, counted, sizeOf, CPU_ONLY } = window.mlsub;
  const LINE = 15;
  // Of more results than this, a number of accelerators is folded at first: to the fastest of it, and the fastest of each family.
  const [MOST, FIRST] = [20, 3];

  const ofRound = (data) => results().filter((one) => one.round_key === data.round);
  const chosen = (data) => data.at.map((place) => results()[place]).filter((one) => one.published_minutes > 0);

  // The colour and the shape of a family.
  const familiesOf = (data) => new Map(data.keys.map(([name, tone, shape]) => [name, { name, fill: colour(tone), shape }]));

  // The results that are shown, of all in the order of their minutes: all of the sizes that are unfolded, and of few results.
  const shownOf = (all, isWhole) => {
    if (all.length <= MOST) return all;
    const seen = new Map();
    const isFirst = (key, most) => {
      seen.set(key, (seen.get(key) ?? 0) + 1);
      return seen.get(key) <= most;
    };
    return all.filter((one) => {
      const size = one.accelerators_count ?? 0;
      return [isFirst(`${size}`, FIRST), isFirst(`${size} ${one.family ?? one.vendor}`, 1), isWhole(size)].some(Boolean);
    });
  };

  // Rows from the top: a heading a size, and its results, the fastest first.
  const rowsOf = (some, data, families, all = some) => {
    const sizes = d3.groups(d3.sort(some, (one) => one.accelerators_count ?? 0, (one) => one.number_of_nodes ?? 0), sizeOf);
    const called = d3.rollup(some, (of) => of.length, (one) => `${one.organisation_name}, ${one.system_name}`);
    return sizes.flatMap(([size, of]) => {
      of.sort((a, b) => a.x - b.x);
      const among = all.filter((one) => sizeOf(one) === size).length;
      const part = among > of.length ? `: ${number(of.length)} of ${number(among)} results` : "";
      const head = (size || (of.every((one) => one.accelerators_count === 0) ? CPU_ONLY : "Number of accelerators not stated")) + part;
      return [{ head: true, label: head }, ...of.map((one) => {
        const name = `${one.organisation_name}, ${one.system_name}`;
        return { ...one, label: called.get(name) > 1 ? `${name} (${one.system})` : name, chips: chipsOf(one), of: families.get(makerOf(one, data)) };
      })];
    });
  };

  const words = (d) =>
    [
      d.label,
      d.chips,
      `${number(d.published_minutes)} minutes${d.chip_minutes ? `, ${short(d.chip_minutes)} chip-minutes` : ""}`,
      d.verdict === "accepted" ? "meets the official checker" : `official checker: ${d.verdict}`,
    ].join("\n");

  // Labels stand left of the axes, and accelerators behind them, or on a phone above their dots; each row is as high as its label.
  const chipsWidth = (row) => (row.head ? 0 : textWidth(row.chips) + 20);
  const layOut = (rows, size, widest) => {
    const room = size.narrow ? size.width - 16 : Math.min(size.width * 0.5, 520);
    let top = 4;
    for (const row of rows) {
      row.lines = wrap(row.label, room - 12 - chipsWidth(row));
      const height = row.lines.length * LINE + (row.head ? 12 : 5) + (size.narrow && !row.head ? 16 : 0);
      row.top = top;
      row.y = size.narrow && !row.head ? top + height - 9 : top + height / 2;
      row.at = row.head ? top + 10 + LINE / 2 : top + (row.lines.length * LINE) / 2 + 2;
      top += height;
    }
    return { height: top, left: size.narrow ? 12 : Math.min(room, widest + 20) };
  };

  // The axes of all charts of a round begin below each other.
  let widest = 0;
  const widestOf = (all) => {
    const charts = d3.groups(all, (one) => `${one.benchmark_name} ${one.scaling_type} ${one.division_name}`);
    const rows = charts.flatMap(([, some]) => rowsOf(some, {}, new Map()));
    widest ||= Math.max(0, ...rows.map((row) => textWidth(row.label) + chipsWidth(row)));
    return widest;
  };

  // Numbers on the axis: 1, 2 and 5 of each decade, or where it has too few of them, numbers at equal distances.
  const ticksOf = ([low, high], size) => {
    const decades = d3.range(-4, 8).flatMap((decade) => [1, 2, 5].map((step) => Number(`${step}e${decade}`)));
    const found = decades.filter((value) => value >= low && value <= high);
    return found.length > 2 ? found : d3.ticks(low, high, size.narrow ? 3 : 6);
  };

  // A button for each size of which not all is shown, or all is that need not be. The address has those that are: #all=ID@8.
  const buttonsOf = (figure, all) => {
    const bar = figure.querySelector(".folds") ?? Object.assign(document.createElement("p"), { className: "folds" });
    figure.querySelector(".plot-area").before(bar);
    const asked = address().getAll("all");
    const whole = (size) => asked.includes(`${figure.id}@${size}`);
    const counts = d3.rollup(all, (of) => of.length, (one) => one.accelerators_count ?? 0);
    const fewest = d3.rollup(shownOf(all, () => false), (of) => of.length, (one) => one.accelerators_count ?? 0);
    const sizes = Array.from(counts.keys()).filter((size) => counts.get(size) > fewest.get(size)).sort((a, b) => a - b);
    bar.replaceChildren(...sizes.map((size) => {
      const name = size ? counted(size, "accelerator") : "other";
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: `${whole(size) ? "Fold" : `All ${number(counts.get(size))} of`} ${name}` });
      button.setAttribute("aria-expanded", whole(size));
      button.addEventListener("click", () => {
        const key = `${figure.id}@${size}`;
        remember({ all: whole(size) ? asked.filter((one) => one !== key) : [...asked, key] });
        redraw(figure);
        Array.from(bar.children)[sizes.indexOf(size)]?.focus();
      });
      return button;
    }));
    return whole;
  };

  kinds.round = (data, size, figure) => {
    const [by, isSame] = [view() === "per-accelerator" ? "chip_minutes" : "published_minutes", view() === "same-size" && data.size];
    const every = chosen(data);
    const all = every.filter((one) => one[by] > 0 && (!isSame || sizeOf(one) === data.size)).map((one) => ({ ...one, x: one[by] }));
    if (!all.length) return null;
    all.sort((a, b) => a.x - b.x);
    const shown = shownOf(all, buttonsOf(figure, all));
    figure.dataset.title ??= figure.querySelector("figcaption").textContent;
    const where = by === "chip_minutes" ? ", per accelerator" : isSame ? `, on ${data.size}` : "";
    const many = `${shown.length < every.length ? `${number(shown.length)} of ` : ""}${counted(every.length, "result")}`;
    const caption = `${figure.dataset.title}${where}: ${many}`;
    const rows = rowsOf(shown, data, familiesOf(data), all);
    const { height, left } = layOut(rows, size, widestOf(ofRound(data)));
    const of = rows.filter((row) => !row.head);
    const fill = (d) => d.of.fill;
    const label = (some, weight) =>
      Plot.text(some, {
        y: "at", text: (d) => d.lines.join("\n"), frameAnchor: "left", textAnchor: "start", lineHeight: LINE / 12,
        dx: size.narrow ? -8 : -left + 4, fontWeight: weight, fill: "currentColor", clip: false,
      });
    const [low, high] = d3.extent(of, (d) => d.x);
    const domain = high / low < 1.3 ? [low / 1.25, high * 1.25] : [low / 1.08, high * 1.08];
    const values = ticksOf(domain, size);
    const numbers = (anchor) => Plot.axisX(values, {
      anchor, text: values.map(short), label: anchor === "top" ? null : `${by === "chip_minutes" ? "Chip-minutes" : "Minutes to train"} (logarithmic) →`, labelAnchor: "center", labelArrow: "none",
    });
    const tall = of.length > 8;
    const svg = plot(size, {
      height: height + 44 + (tall ? 24 : 0), marginLeft: left, marginRight: 48, marginTop: tall ? 24 : 0, marginBottom: 44,
      x: { type: "log", domain, axis: null },
      y: { domain: [0, height], range: [tall ? 24 : 0, height + (tall ? 24 : 0)], axis: null },
      marks: [
        Plot.gridX(values),
        ...(tall ? [numbers("top")] : []),
        numbers("bottom"),
        Plot.ruleY(of, { y: "y", stroke: "var(--line)", strokeOpacity: 0.7 }),
        label(rows.filter((row) => row.head), 700),
        label(of, 400),
        Plot.text(of, {
          y: "at", text: "chips", frameAnchor: size.narrow ? "right" : "left", textAnchor: "end", dx: size.narrow ? 44 : -10, fill: "var(--soft)", clip: false,
        }),
        Plot.dot(of, {
          x: "x", y: "y", r: 5, symbol: (d) => d.of.shape, fill: (d) => (d.verdict === "accepted" ? fill(d) : "var(--paper)"), stroke: fill, strokeWidth: 2,
        }),
        Plot.text(of, { x: "x", y: "y", text: (d) => short(d.x), dx: 10, textAnchor: "start", fill: "var(--soft)" }),
        Plot.tip(of, Plot.pointer({ x: "x", y: "y", title: words, maxRadius: 40 })),
      ],
    });
    const legend = Array.from(new Set(of.map((d) => d.of)));
    legend.sort((one, other) => d3.ascending(one.name, other.name));
    if (of.some((d) => d.verdict !== "accepted")) {
      legend.push({ name: "does not meet the official checker", fill: "var(--text)", shape: "hollow" });
    }
    return { svg, legend, stops: of, title: words, caption };
  };
})();
