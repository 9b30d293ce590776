"use strict";
// Charts of a page: SVG by Observable Plot, in the colours of the theme, with a legend, hover, and the picture as a file.
// window.mlsub.kinds has a drawing function a kind of chart: (data, size, figure) => the SVG, where size has the width
// in pixels and whether that is narrow. A page's own script adds its kinds before the page has loaded.
(() => {
  const number = (value) => value.toLocaleString("en", { maximumSignificantDigits: 6 });
  const short = (value) => value.toLocaleString("en", { maximumSignificantDigits: 3 });
  const colour = (place) => `var(--c${((place % 10) + 10) % 10})`;
  const narrow = 560;

  // What every chart has in common; the font size is in pixels.
  const plot = (size, options) =>
    Plot.plot({ className: "plot", width: size.width, style: { fontSize: "12px", overflow: "visible" }, ...options });

  // On a logarithmic axis only 1, 2 and 5 of each decade have room for a number.
  const round = (value) => (/^0?\.?0*[125]0*$/.test(String(value)) ? number(value) : "");
  const decades = (value) => (/^0?\.?0*10*$/.test(String(value)) ? number(value) : "");

  // Large numbers on an axis are 200K, 1.5M, 2B: there is room for no more.
  const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 });
  const ticks = (values) => (d3.max(values, Math.abs) >= 1e5 ? (value) => compact.format(value) : undefined);

  const legend = (entries) => {
    const list = document.createElement("ul");
    list.className = "legend";
    for (const { name, fill, shape } of entries) {
      const item = list.appendChild(document.createElement("li"));
      const mark = item.appendChild(document.createElement("span"));
      mark.className = `key ${shape ?? "dot"}`;
      mark.style.setProperty("--key", fill);
      item.append(name);
    }
    return list;
  };

  // How wide a text is in a chart, in pixels, and the text on as many lines as a width asks for: lines end after blanks
  // and signs, and a word that is wider still is broken.
  let pen = null;
  const textWidth = (text) => {
    pen ??= document.createElement("canvas").getContext("2d");
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    return pen.measureText(text).width;
  };
  const wrap = (text, width) => {
    const lines = [""];
    for (const word of text.match(/[^\s_\-/,]*[\s_\-/,]*/g)) {
      const last = lines.length - 1;
      if (!lines[last] || textWidth((lines[last] + word).trimEnd()) <= width) lines[last] += word;
      else lines.push(word);
      while (textWidth(lines.at(-1).trimEnd()) > width && lines.at(-1).length > 4) {
        const whole = lines.pop();
        let room = whole.length - 1;
        while (room > 4 && textWidth(whole.slice(0, room)) > width) room -= 1;
        lines.push(whole.slice(0, room), whole.slice(room));
      }
    }
    return lines.map((line) => line.trimEnd()).filter(Boolean);
  };

  // A mark under the pointer that leads somewhere is opened by a click; tables have the same links for keys.
  const openable = (svg) => {
    svg.addEventListener("input", () => svg.classList.toggle("leads", Boolean(svg.value?.href)));
    svg.addEventListener("click", (event) => {
      if (!svg.value?.href) return;
      if (event.ctrlKey || event.metaKey) window.open(svg.value.href, "_blank", "noopener");
      else location.href = svg.value.href;
    });
  };

  // The points of series stand in the page as data, by column (all x, then all y), or in a table of lists, whose rows are
  // lines or the categories of marks. They are read once: a table that is sorted is read no more.
  const pointed = (series) => ({ ...series, points: series.points[0].map((_, at) => series.points.map((c) => c[at])) });
  // A ditto mark stands for the list of the row above.
  const numbersOf = (rows, at, place) => {
    const { textContent } = rows[at].cells[place];
    if (textContent === "\u2033" && at) return numbersOf(rows, at - 1, place);
    return textContent.split(" ").map((text) => parseFloat(text.replaceAll(",", "")));
  };
  const listed = ({ id, x, y, name, style, colour }, categories) => {
    const rows = Array.from(document.getElementById(id).tBodies[0].rows);
    const points = rows.map((_, at) => {
      const ups = categories ? null : numbersOf(rows, at, y);
      const found = numbersOf(rows, at, x).map((value, place) => [value, ups ? ups[place] : at]);
      return found.filter((point) => point.every(Number.isFinite));
    });
    if (categories) return [{ name, style, colour, points: points.slice(0, categories.length).flat() }];
    points.forEach((line) => line.sort(([x1, y1], [x2, y2]) => x1 - x2 || y1 - y2));
    const lines = points.map((line, at) => ({ name: rows[at].cells[0].textContent, style: "line", points: line }));
    return lines.filter((line) => line.points.length);
  };
  const lists = new WeakMap();
  const read = (data, figure) => {
    if (!lists.has(figure)) lists.set(figure, data.table ? listed(data.table, data.categories) : []);
    return [...lists.get(figure), ...data.series.map(pointed)];
  };

  const drawn = new Map();
  const draw = (figure) => {
    const known = drawn.get(figure);
    const place = figure.querySelector(".plot-area");
    const width = Math.round(place.clientWidth) || known.width || 640;
    if (known.svg && known.width === width) return;
    known.width = width;
    const made = window.mlsub.kinds[known.kind](known.data, { width, narrow: width < narrow }, figure);
    const svg = made.svg ?? made;
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", ["figcaption", ".about"].map((of) => figure.querySelector(of)?.textContent ?? "").join(". "));
    // The picture has one label; those of its parts are names for style sheets and tests.
    for (const part of svg.querySelectorAll("[aria-label]")) {
      part.dataset.mark = part.getAttribute("aria-label");
      part.removeAttribute("aria-label");
    }
    openable(svg);
    known.svg = svg;
    known.legend = made.legend ?? [];
    place.replaceChildren(svg, ...(known.legend.length ? [legend(known.legend)] : []));
  };

  // Draws a chart again whose data or choices have changed.
  const redraw = (figure, data) => {
    const known = drawn.get(figure);
    if (data !== undefined) known.data = data;
    known.svg = null;
    draw(figure);
  };

  const begin = (figure) => {
    const source = figure.querySelector('script[type="application/json"]');
    drawn.set(figure, { kind: figure.dataset.kind ?? "series", data: source ? JSON.parse(source.textContent) : null });
    draw(figure);
    figure.querySelector(".about").before(window.mlsub.tools(figure, () => drawn.get(figure)));
    new ResizeObserver(() => draw(figure)).observe(figure.querySelector(".plot-area"));
  };

  // All results of the site as objects, from data/results.js, where each column stands once.
  let results = null;
  const allResults = () => {
    if (results) return results;
    const { columns, count } = window.mlsubResults;
    results = Array.from({ length: count }, (_, at) => ({ at }));
    for (const { key, values, names } of columns) {
      results.forEach((result, at) => (result[key] = names ? (names[values[at]] ?? null) : values[at]));
    }
    results.forEach((result) => (result.href = window.mlsub.root + result.href));
    return results;
  };

  const data = { read, root: document.documentElement.dataset.root, results: allResults };
  window.mlsub = { kinds: {}, plot, number, short, colour, round, decades, ticks, redraw, textWidth, wrap, ...data };
  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("figure.chart[data-kind]").forEach(begin));
})();
