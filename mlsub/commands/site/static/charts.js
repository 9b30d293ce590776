"use strict";
// Draws the charts whose data stand in the page, in the colours of the theme; on paper always in the light ones.
(() => {
  const charts = new Map();
  const known = new Map();
  const number = (value) => value.toLocaleString("en", { maximumSignificantDigits: 6 });

  const colours = () => {
    const style = getComputedStyle(document.documentElement);
    const named = (name) => style.getPropertyValue(name).trim();
    return {
      text: named("--soft"),
      line: named("--line"),
      paper: named("--paper"),
      of: (place) => named(`--c${place % 10}`),
    };
  };

  const spans = (series, data, place) => ({
    type: "bar",
    label: series.name,
    data: series.points.map(([from, to, row]) => ({ x: [from, to], y: data.categories[row] })),
    backgroundColor: place.of(series.colour),
    grouped: false,
    barPercentage: 0.7,
    order: 2,
  });

  const bars = (series, data, place) => {
    const values = data.categories.map(() => null);
    for (const [value, row] of series.points) values[row] = value;
    return { label: series.name, data: values, backgroundColor: place.of(series.colour), grouped: false };
  };

  const marks = (series, data, place) => {
    const colour = place.of(series.colour);
    const large = series.style === "large";
    const hollow = data.categories.length || series.style === "hollow";
    const tick = series.style === "ticks";
    const at = ([x, y]) => ({ x, y: data.categories.length ? data.categories[y] : y });
    return {
      type: "scatter",
      label: series.name,
      data: series.points.map(at),
      backgroundColor: large ? colour : hollow ? place.paper : colour + "b0",
      borderColor: hollow || tick ? colour : place.paper,
      borderWidth: tick ? 2 : hollow ? 1.5 : 1,
      pointStyle: large ? "rectRot" : tick ? "line" : "circle",
      pointRadius: large || tick ? 9 : data.categories.length ? (series.points.length > 300 ? 1.5 : 2.5) : 4,
      order: large ? 0 : 1,
    };
  };

  const line = (series, data, place) => {
    const rule = series.style === "rule";
    const colour = place.of(series.colour);
    return {
      type: "line",
      label: series.name,
      data: series.points.map(([x, y]) => ({ x, y })),
      borderColor: colour,
      backgroundColor: colour,
      borderWidth: rule ? 1.8 : 1.5,
      borderDash: rule ? [6, 4] : series.style === "dashed" ? [2, 4] : [],
      pointRadius: rule || series.points.length > 60 ? 0 : 1.8,
      order: rule ? 0 : 3,
    };
  };

  const KINDS = { spans, bars, marks, hollow: marks, large: marks, ticks: marks, line, dashed: line, rule: line };

  // On a logarithmic axis only 1, 2 and 5 of each decade have room for a number.
  const round = (value) => (/^[125]/.test(String(value)) && /^.0*$/.test(String(value)) ? number(value) : null);

  // The name of a row is cut at its end where it would take the room of its bar.
  function cut(value) {
    const text = this.getLabelForValue(value);
    const room = Math.floor((this.chart.width * 0.44) / 7.4);
    return text.length > room ? `${text.slice(0, room - 1)}…` : text;
  }

  const worded = (axis, category) => (category ? { callback: cut } : axis.log ? { callback: round } : {});

  const scale = (axis, place, category) => ({
    type: category ? "category" : axis.log ? "logarithmic" : "linear",
    title: { display: !category, text: axis.title, color: place.text },
    grid: { color: place.line, display: !category },
    border: { color: place.line },
    ticks: { color: place.text, autoSkip: !category, maxRotation: 0, ...worded(axis, category) },
  });

  // A name that several series have stands in the legend once.
  const once = (item, data) => data.datasets.findIndex((set) => set.label === item.text) === item.datasetIndex;

  const told = (item) => {
    const raw = item.raw;
    if (raw === null || typeof raw !== "object") return `${item.dataset.label}: ${number(raw)}`;
    const x = Array.isArray(raw.x) ? `${number(raw.x[0])} to ${number(raw.x[1])}` : number(raw.x);
    return `${item.dataset.label}: ${x}${typeof raw.y === "number" ? `, ${number(raw.y)}` : ""}`;
  };

  const configure = (data) => {
    const place = colours();
    const rows = data.categories.length > 0;
    const names = new Set(data.series.map((series) => series.name));
    const y = scale(data.y, place, rows);
    if (rows) y.labels = data.categories;
    return {
      type: rows ? "bar" : "line",
      data: { labels: rows ? data.categories : undefined, datasets: data.series.map((s) => KINDS[s.style](s, data, place)) },
      options: {
        indexAxis: rows ? "y" : "x",
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        interaction: { mode: "nearest", intersect: false },
        scales: { x: { ...scale(data.x, place, false), beginAtZero: rows }, y },
        plugins: {
          legend: {
            display: names.size > 1 && names.size <= 12,
            position: "bottom",
            labels: { color: place.text, boxWidth: 12, boxHeight: 8, filter: once },
          },
          tooltip: {
            callbacks: {
              title: (items) => (rows && items.length ? items[0].label : `${data.x.title}, ${data.y.title}`),
              label: told,
            },
          },
        },
      },
    };
  };

  // Points come by column: all x, then all y.
  const pointed = (series) => ({ ...series, points: series.points[0].map((_, at) => series.points.map((c) => c[at])) });

  const numbersOf = (cell) => cell.textContent.split(" ").map((text) => parseFloat(text.replaceAll(",", "")));

  // The series whose points are in a table of lists: its rows are lines, or the categories of marks.
  const listed = ({ id, x, y, name, style, colours }, categories) => {
    const rows = Array.from(document.getElementById(id).tBodies[0].rows);
    const points = rows.map((row, at) => {
      const ups = categories ? null : numbersOf(row.cells[y]);
      const found = numbersOf(row.cells[x]).map((value, place) => [value, ups ? ups[place] : at]);
      return found.filter((point) => point.every(Number.isFinite));
    });
    if (categories) return [{ name, style, colour: colours[0], points: points.slice(0, categories.length).flat() }];
    points.forEach((line) => line.sort(([x1, y1], [x2, y2]) => x1 - x2 || y1 - y2));
    const lines = points.map((line, at) => ({ name: rows[at].cells[0].textContent, style, points: line }));
    const drawn = lines.filter((line) => line.points.length);
    return drawn.map((line, at) => ({ ...line, colour: colours[at] }));
  };

  const read = (canvas) => {
    const figure = canvas.closest("figure");
    canvas.setAttribute("role", "img");
    const words = ["figcaption", ".about"].map((name) => figure.querySelector(name).textContent);
    canvas.setAttribute("aria-label", words.join(". "));
    const data = JSON.parse(figure.querySelector("script").textContent);
    const shared = data.shared ? window.mlsubShared[data.shared] : [];
    const lists = data.table ? listed(data.table, data.categories) : [];
    return { categories: [], ...data, series: [...lists, ...[...shared, ...data.series].map(pointed)] };
  };

  const draw = (canvas) => {
    // Read once: a table that is sorted is read no more.
    if (!known.has(canvas)) known.set(canvas, read(canvas));
    const data = known.get(canvas);
    const rows = data.categories.length;
    if (rows) canvas.parentElement.style.height = `${110 + rows * 20}px`;
    charts.get(canvas)?.destroy();
    charts.set(canvas, new Chart(canvas, configure(data)));
  };

  const drawAll = () => document.querySelectorAll("figure canvas").forEach(draw);
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  document.addEventListener("mlsub-theme", drawAll);
  const paper = matchMedia("print");
  paper.addEventListener("change", drawAll);
  drawAll();
})();
