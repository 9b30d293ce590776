"use strict";
// Charts of a page: SVG by Observable Plot, in the colours of the theme, with a legend, hover, and the picture as a file.
// window.mlsub.kinds has a drawing function a kind of chart: (data, size, figure) => { svg, legend, stops, title }, or null
// where there is nothing to draw. size has the width in pixels and whether that is narrow; stops are the marks with their x
// and y, and perhaps an href, title(mark) their words. parts has what a kind may draw beside a chart: (data, figure) => what is
// other in the data of that part, or null. What a drawing function returns as about is said below the chart.
(() => {
  const number = (value) => value.toLocaleString("en", { maximumSignificantDigits: 6 });
  const short = (value) => value.toLocaleString("en", { maximumSignificantDigits: 3 });
  // Three digits and no fewer whole ones, zeros at the end included, as in the tables that are there without scripts.
  const three = new Intl.NumberFormat("en", { minimumSignificantDigits: 3, maximumSignificantDigits: 3, maximumFractionDigits: 0, roundingPriority: "morePrecision" }).format;
  const colour = (name) => `var(--${typeof name === "number" ? `c${name % 10}` : name})`;
  const narrow = 560;

  const make = (tag, properties = {}, ...inside) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...inside);
    return element;
  };

  // A name without blanks may break behind its underscores and plus signs, as in tables that are there without scripts.
  const breakable = (text) => text.split(text.includes(" ") ? /$/ : /(?<=[_+])(?=\w)/).flatMap((part, at) => (at ? [make("wbr"), part] : [part]));

  // Further scripts of the site, each loaded once, when it is needed: a page of a disk can load scripts, and nothing else.
  const loaded = new Map();
  const load = (path) => {
    const begun = (onload, failed) => {
      const onerror = () => failed(new Error(`${path} cannot be read`));
      document.head.append(make("script", { src: document.documentElement.dataset.root + path, onload, onerror }));
    };
    if (!loaded.has(path)) loaded.set(path, new Promise(begun));
    return loaded.get(path);
  };

  // Spaces as wide as the sign and the digits of a decimal part that a number lacks, so that points stand below each other.
  const decimals = (text) => text.split(".")[1]?.length ?? 0;
  const pad = (text, most) => (most && !text.includes(".") ? "\u2008" : "") + "\u2007".repeat(most - decimals(text));

  // What every chart has in common; the font size is in pixels.
  const plot = (size, options) =>
    Plot.plot({ className: "plot", width: size.width, style: { fontSize: "12px", overflow: "visible" }, ...options });

  // On a logarithmic axis only 1, 2 and 5 of each decade have room for a number.
  const round = (value) => (/^0?\.?0*[125]0*$/.test(String(value)) ? number(value) : "");

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
  // Runs as rows, from the table of their times: minutes before their start and after it.
  const spansOf = ({ id, most, before, after }) => {
    const { tHead, tBodies } = document.getElementById(id);
    const rows = Array.from(tBodies[0].rows).slice(0, most);
    const series = [[before, -1, 5], [after, 1, 2]].map(([column, sign, colour]) => {
      const ends = rows.map(({ cells }) => sign * parseFloat(cells[column].textContent.replaceAll(",", "")));
      const points = ends.flatMap((end, at) => (end ? [[Math.min(0, end), Math.max(0, end), at]] : []));
      return { name: tHead.rows[0].cells[column].textContent.replace(", minutes", ""), style: "spans", colour, points };
    });
    return { series: series.filter(({ points }) => points.length), categories: rows.map(({ cells }) => cells[0].textContent) };
  };
  const lists = new WeakMap();
  const read = (data, figure) => {
    if (!lists.has(figure)) {
      const { series, categories } = data.spans ? spansOf(data.spans) : { series: [] };
      if (categories) data.y.names = categories;
      lists.set(figure, [...(data.table ? listed(data.table, categories) : []), ...series]);
    }
    return [...lists.get(figure), ...(data.series ?? []).map(pointed)];
  };

  // Where a mark is, in pixels of its chart.
  const apply = (svg, axis, mark) => {
    const scale = svg.scale(axis);
    return scale.apply(mark[axis]) + (scale.bandwidth ?? 0) / 2 + (axis === "x" ? (mark.beside ?? 0) : 0);
  };

  // A chart is one stop of Tab. Arrows, Home and End move through its marks, whose words are shown and read out, and Enter
  // opens what one leads to.
  const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
  const steer = (figure, known) => {
    const area = figure.querySelector(".plot-area");
    const said = document.createElement("output");
    said.className = "said";
    area.after(said);
    Object.assign(area, { tabIndex: 0, role: "application" });
    let at = -1;
    const show = (mark) => {
      known.svg.querySelector(".ring")?.remove();
      said.textContent = mark ? known.title(mark) : "";
      if (!mark) return;
      const [x, y] = [apply(known.svg, "x", mark), apply(known.svg, "y", mark)];
      const ring = known.svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "circle"));
      for (const [key, value] of Object.entries({ class: "ring", cx: x, cy: y, r: 9 })) ring.setAttribute(key, value);
      const left = Math.min(x, known.width - said.offsetWidth);
      Object.assign(said.style, { left: `${area.offsetLeft + Math.max(0, left)}px`, top: `${area.offsetTop + y + 14}px` });
    };
    area.addEventListener("keydown", (event) => {
      const count = known.stops.length;
      if (!count || event.target !== area || event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key in STEPS) {
        at = Math.min(count - 1, Math.max(0, at < 0 && STEPS[event.key] < 0 ? count - 1 : at + STEPS[event.key]));
        event.preventDefault();
        show(known.stops[at]);
      } else if (event.key === "Escape") show(null);
      else if (event.key === "Enter" && known.stops[at]?.href) location.href = known.stops[at].href;
    });
    area.addEventListener("blur", () => show(null));
  };

  const drawn = new Map();
  const draw = (figure) => {
    const known = drawn.get(figure);
    const place = figure.querySelector(".plot-area");
    const width = Math.round(place.clientWidth) || known.width || 640;
    if (known.svg && known.width === width) return;
    known.width = width;
    const { views } = known.data;
    const view = views?.[window.mlsub.view()];
    const shown = view ? { ...known.data, ...view } : known.data;
    const data = known.choose?.(shown) ?? shown;
    const made = views && !view ? null : window.mlsub.kinds[data.kind ?? known.kind](data, { width, narrow: width < narrow }, figure);
    figure.hidden = !made;
    if (!made) return;
    const { svg, legend: entries = [], stops = [], title, about = data.about, caption = data.title } = made;
    if (about !== undefined) figure.querySelector(".about").textContent = about;
    const head = figure.querySelector("figcaption a") ?? figure.querySelector("figcaption");
    for (const tool of caption ? figure.querySelectorAll(".tools [aria-label]") : []) tool.ariaLabel = tool.ariaLabel.replace(head.textContent, caption);
    if (caption) head.textContent = caption;
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", ["figcaption", ".about"].map((of) => figure.querySelector(of)?.textContent ?? "").join(". "));
    // The picture has one label; those of its parts are names for style sheets and tests.
    for (const part of svg.querySelectorAll("[aria-label]")) {
      part.dataset.mark = part.getAttribute("aria-label");
      part.removeAttribute("aria-label");
    }
    openable(svg);
    Object.assign(known, { svg, legend: entries, title });
    known.stops = stops.slice().sort((a, b) => apply(svg, "x", a) - apply(svg, "x", b) || apply(svg, "y", b) - apply(svg, "y", a));
    place.replaceChildren(svg, ...(entries.length ? [legend(entries)] : []));
    const marks = known.stops.length === 1 ? "1 mark" : `${number(known.stops.length)} marks`;
    place.setAttribute("aria-label", `${figure.querySelector("figcaption").textContent}: ${marks}; arrow keys move through them${stops.some((mark) => mark.href) ? ", Enter opens one" : ""}`);
  };

  // Draws a chart again whose data or choices have changed; choose(data) are the data of what is chosen on the page.
  const redraw = (figure, data, choose) => {
    const known = drawn.get(figure);
    if (data !== undefined) known.data = data;
    if (choose) known.choose = choose;
    known.svg = null;
    draw(figure);
  };
  const viewed = (figure) => Boolean(drawn.get(figure)?.data.views);

  // A second chart, of the part of the first that its kind names.
  const beside = (figure, data, change) => {
    const part = figure.cloneNode(true);
    part.id += "-near-the-target";
    part.querySelector("figcaption").append(" near the target");
    figure.after(part);
    begin(part, { ...data, ...change });
  };

  const begin = (figure, given) => {
    const source = figure.querySelector('script[type="application/json"]');
    if (!given) source.before(Object.assign(document.createElement("div"), { className: "plot-area" }));
    const known = { kind: figure.dataset.kind, data: given ?? JSON.parse(source.textContent) };
    if (!figure.querySelector(".about")) figure.append(Object.assign(document.createElement("p"), { className: "about" }));
    const part = given ? null : window.mlsub.parts[known.kind]?.(known.data, figure);
    if (part) beside(figure, known.data, part);
    drawn.set(figure, known);
    draw(figure);
    steer(figure, known);
    figure.querySelector("figcaption").after(window.mlsub.tools(figure, () => known));
    new ResizeObserver(() => figure.hidden || draw(figure)).observe(figure.querySelector(".plot-area"));
  };

  // The chart that the address names, alone or beside what is chosen on the page: #ID or #round=v1.0&chart=ID.
  const address = () => {
    const text = location.hash.slice(1);
    return new URLSearchParams(text && !text.includes("=") ? { chart: text } : text);
  };
  const mark = () => {
    const name = address().get("chart");
    for (const figure of drawn.keys()) {
      figure.classList.toggle("linked", figure.id === name);
      if (figure.id === name) figure.scrollIntoView();
    }
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

  // A result is partial, and its mark hollow, where folders of its benchmark and round have no logs: the best is not known.
  const isPartial = (result) => result.without_logs > 0;
  const partialWords = (result) => (isPartial(result) ? [`folders of this benchmark and round without logs: ${number(result.without_logs)}`] : []);
  const partialKey = (some) => (some.some(isPartial) ? [{ name: "folders of the round have no logs", fill: "var(--text)", shape: "hollow" }] : []);

  const data = { read, address, root: document.documentElement.dataset.root, results: allResults, isPartial, partialWords, partialKey };
  window.mlsub = { kinds: {}, parts: {}, plot, number, short, three, colour, round, ticks, begin, redraw, viewed, textWidth, wrap, make, breakable, load, decimals, pad, ...data };
  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("figure.chart[data-kind]").forEach((figure) => begin(figure));
    mark();
    window.addEventListener("hashchange", mark);
  });
})();
