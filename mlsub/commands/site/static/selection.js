"use strict";
// The chart of the table of all results: what is chosen there as marks over two columns (dots.js), in the colours of vendors. The
// libraries are loaded when it is opened for the first time.
(() => {
  const { number, make, load, makerOf } = window.mlsub;
  const ROUND = "round_key";
  const USUAL = ["accelerators_count", "published_minutes"];
  const columns = (at) => window.mlsubResults.columns.filter(({ key, kind, title }) => title && (kind !== "text" || (key === ROUND && !at)));
  const axesOf = (text) => {
    const asked = text?.split(",") ?? [];
    return asked.length === 2 && asked.every((key, at) => columns(at).some((one) => one.key === key)) ? asked : null;
  };

  const dataOf = (rows, [x, y]) => {
    const drawn = rows.filter((row) => row[y] > 0 && (x === ROUND || row[x] > 0));
    const vendors = d3.sort(d3.groups(drawn, (row) => makerOf(row, { by: "vendor" })), ([, some]) => -some.length);
    const keys = vendors.map(([name, [{ vendor }]]) => [name, vendor ? `${vendor.toLowerCase().replace(/[^a-z0-9.]+/g, "-")}-2` : "c5", "circle"]);
    const rounds = x === ROUND ? { rounds: d3.sort(d3.group(drawn, (row) => row[x]), ([, [row]]) => row.publication_date ?? "9").map(([key]) => key) } : {};
    const mixed = new Set(drawn.map((row) => row.benchmark_name)).size;
    const left = rows.length > drawn.length ? ` ${number(rows.length - drawn.length)} without both values are in the table alone.` : "";
    const warning = mixed > 1 ? ` They are of ${mixed} benchmarks, which are not to be compared with each other.` : "";
    const about = `${number(drawn.length)} of ${number(rows.length)} results.${left}${warning}`;
    return { at: drawn.map((row) => row.at), x, y, by: "vendor", keys, ...rounds, mixed: mixed > 1, about };
  };

  // The box with the choice of axes; change(axes) is called with null where it is closed.
  window.mlsub.axesOf = axesOf;
  window.mlsub.selection = (change) => {
    const choices = ["Across", "Upwards"].map((name, at) => {
      const select = make("select", { name }, ...columns(at).map(({ key, title }) => new Option(title, key)));
      select.addEventListener("change", () => change(choices.map((one) => one.value)));
      return select;
    });
    const labels = ["Across", "Upwards"].map((name, at) => make("label", {}, name, choices[at]));
    const figure = make("figure", { className: "chart", id: "chart-selection" }, make("figcaption"), make("div", { className: "plot-area" }), make("p", { className: "about" }));
    figure.dataset.kind = "dots";
    const box = make("details", { className: "selection" }, make("summary", { textContent: "Chart of what is chosen" }), make("div", { className: "filters" }, ...labels), figure);
    let [asked, begun] = [null, null];
    const show = async (rows, axes) => {
      asked = axes;
      box.open = Boolean(axes);
      if (!axes) return;
      axes.forEach((key, at) => (choices[at].value = key));
      await load("static/d3.min.js");
      await load("static/plot.umd.min.js");
      if (asked !== axes) return;
      const [across, up] = choices.map((one) => one.selectedOptions[0].textContent);
      const data = { ...dataOf(rows, axes), title: `${up} over ${across.toLowerCase()}` };
      if (begun) window.mlsub.redraw(figure, data);
      else window.mlsub.begin(figure, data);
      begun = true;
    };
    box.addEventListener("toggle", () => box.open !== Boolean(asked) && change(box.open ? USUAL : null));
    return { box, show };
  };
})();
