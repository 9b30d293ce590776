"use strict";
// The kind "series": lines and marks over two axes, or over rows where the y axis has names.
(() => {
  const { kinds, plot, number, round, colour, read, ticks, textWidth, wrap } = window.mlsub;

  const at = ([x, y]) => ({ x, y });
  const named = (series, x, y) => (d) => `${series.name}\n${x}: ${number(d.x)}\n${y}: ${number(d.y)}`;
  // What keys stop at: each point with its words; some have no place.
  const stopsOf = (series, data) => series.flatMap((one) => {
    const row = (y) => `${data.y.names[y]}\n${one.name}: `;
    const points = one.points.filter((point) => point.every((value) => value !== null));
    if (one.style === "spans") return points.map(([from, x, y]) => ({ x, y, words: `${row(y)}${number(from)} to ${number(x)}` }));
    if (one.style === "whiskers") return [];
    return points.map(at).map((d) => ({ ...d, beside: one.beside, words: data.y.names?.length ? row(d.y) + number(d.x) : named(one, data.x.title, data.y.title)(d) }));
  });
  const LINES = { line: "", curve: "", dashed: "2 4", rule: "6 4" };
  const SYMBOLS = { large: "diamond", ticks: "times", triangle: "triangle", square: "square" };

  // A large mark and those of its colour stand beside their place, where they hide none of the others.
  const BESIDE = 15;
  const overAxes = (series, data) => {
    const dx = series.beside;
    const stroke = colour(series.colour);
    const title = named(series, data.x.title, data.y.title);
    const points = series.points.map(at);
    if (series.style in LINES) {
      const line = Plot.line(points, {
        x: "x", y: "y", stroke, strokeWidth: series.style === "rule" ? 1.8 : 1.5, strokeDasharray: LINES[series.style],
      });
      const dots = series.style === "curve" ? [Plot.dot(points, { x: "x", y: "y", fill: stroke, r: 1.8 })] : [];
      const there = points.filter((d) => d.y !== null);
      return [line, ...dots, Plot.tip(there, Plot.pointer({ x: "x", y: "y", title, maxRadius: 12 }))];
    }
    if (series.style === "whiskers") {
      const ends = series.points.map(([x, low, high]) => ({ x, low, high }));
      return [Plot.ruleX(ends, { x: "x", y1: "low", y2: "high", stroke, strokeWidth: 2 })];
    }
    const hollow = series.style === "hollow";
    const large = series.style === "large";
    const fill = large ? "none" : hollow ? "var(--paper)" : stroke;
    const shape =
      series.style === "ticks"
        ? Plot.dot(points, { x: "x", y: "y", dx, stroke, strokeWidth: 2, r: 7, symbol: "times" })
        : Plot.dot(points, {
            x: "x", y: "y", dx, fill, stroke: hollow || large ? stroke : "var(--paper)", r: large ? 9 : 4.5,
            symbol: SYMBOLS[series.style] ?? "circle", fillOpacity: hollow ? 1 : 0.75, strokeWidth: large ? 2 : 1.5,
          });
    return [shape, Plot.tip(points, Plot.pointer({ x: "x", y: "y", dx, title }))];
  };

  const overRows = (series, data) => {
    const fill = colour(series.colour);
    const row = (place) => data.y.names[place];
    if (series.style === "spans") {
      const spans = series.points.map(([from, to, y]) => ({ from, to, y }));
      const title = (d) => `${row(d.y)}\n${series.name}: ${number(d.from)} to ${number(d.to)}`;
      return [Plot.barX(spans, { x1: "from", x2: "to", y: "y", fill, title, tip: true })];
    }
    const points = series.points.map(at);
    if (series.style in LINES) return [Plot.line(points, { x: "x", y: "y", stroke: fill, strokeWidth: 4, strokeOpacity: 0.6 })];
    const title = (d) => `${row(d.y)}\n${series.name}: ${number(d.x)}`;
    const r = points.length > 300 ? 1.5 : points.length > 1 ? 2.5 : 5;
    const symbol = SYMBOLS[series.style] ?? "circle";
    return [Plot.dot(points, { x: "x", y: "y", fill: r < 5 ? "var(--paper)" : fill, stroke: fill, r, symbol, title, tip: r === 5 })];
  };

  // The ends of axes are those of the data and a little more, so that marks lie inside; whole decades would leave much of a
  // logarithmic one empty. Bars begin at their axis.
  const axis = ({ title, log }, values, bars) => {
    const [low, high] = d3.extent(values);
    const room = (high - low) * 0.05 || Math.abs(high) * 0.1 || 1;
    const domain = log ? [low / 1.15, high * 1.15] : [low - room, high + room];
    return { label: title, grid: true, ...(log ? { type: "log", tickFormat: round, domain } : { tickFormat: ticks(values), ...(bars ? {} : { domain }) }) };
  };

  // An x axis that marks numbers of its own: those have words that do not lie too near to the one before. It is a mark, as
  // the scale would leave numbers out that have room.
  const marking = ({ ticks: marked, log }, { domain, label }, width) => {
    const place = (log ? d3.scaleLog : d3.scaleLinear)(domain, [0, width]);
    let free = -Infinity;
    const words = marked.map((value) => {
      const half = textWidth(number(value)) / 2 + 3;
      if (place(value) - half < free) return "";
      free = place(value) + half;
      return number(value);
    });
    return [Plot.gridX(marked), Plot.axisX(marked, { text: words, label, labelAnchor: "center" })];
  };

  const key = ({ name, colour: place, style }) => ({
    name, fill: colour(place), shape: style === "curve" ? "line" : style in LINES || ["hollow", "whiskers"].includes(style) ? style : (SYMBOLS[style] ?? "dot"),
  });

  // The labels of rows in full: on several lines where they are wide.
  const rowsOf = (categories, size) => {
    const most = size.width * (size.narrow ? 0.4 : 0.45);
    const labels = categories.map((text) => wrap(text, most));
    return {
      labels: labels.map((lines) => lines.join("\n")),
      margin: Math.max(...labels.flat().map(textWidth), 20) + 12,
      height: Math.max(20, 6 + 14 * Math.max(...labels.map((lines) => lines.length))),
    };
  };

  kinds.series = (data, size, figure) => {
    const series = read(data, figure);
    if (!series.length) return null;
    const rows = data.y.names?.length ? rowsOf(data.y.names, size) : null;
    const names = new Map(series.map((one) => [`${one.name} ${one.style}`, key(one)]));
    // What stands alone lies on what has an extent.
    const wide = (one) => Number(one.style !== "spans");
    const large = series.find(({ style }) => style === "large");
    for (const one of series) one.beside = one.colour === large?.colour ? BESIDE : 0;
    const marks = series.slice().sort((a, b) => wide(a) - wide(b)).flatMap((one) => (rows ? overRows : overAxes)(one, data));
    const y = rows
      ? { label: null, domain: data.y.names.map((_, place) => place), type: "band", padding: 0.25, tickFormat: (place) => rows.labels[place], tickSize: 0 }
      : axis(data.y, series.flatMap((one) => one.points.flatMap((point) => point.slice(1))));
    const across = series.flatMap((one) => one.points.flatMap((point) => (one.style === "spans" ? point.slice(0, 2) : point[0])));
    const x = axis(data.x, across, rows);
    if (data.x.ticks?.length) {
      marks.unshift(...marking(data.x, x, size.width - 80));
      Object.assign(x, { axis: null, grid: false });
    }
    const svg = plot(size, {
      height: rows ? 60 + data.y.names.length * rows.height : size.narrow ? 260 : 320,
      marginLeft: rows ? rows.margin : 60, marginBottom: 40, marginTop: rows ? 24 : 30,
      x: { ...x, labelAnchor: "center", ...(rows ? { nice: true } : {}) }, y, marks,
    });
    const legend = names.size > 1 && names.size <= 12 ? [...names.values()] : [];
    return { svg, legend, stops: stopsOf(series, data), title: (d) => d.words };
  };
})();
