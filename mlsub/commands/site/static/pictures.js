"use strict";
// A chart as a file of its own, SVG or PNG, that needs neither the page nor its style sheet: with its title, its legend and
// where it is from, in the light colours of paper whatever the page shows.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const PAD = 12;
  const LINE = 18;
  const FONT = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif";

  const element = (above, name, attributes, text) => {
    const made = above.appendChild(document.createElementNS(SVG, name));
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };

  // The colours of paper by their names; an element of their own has them where the page is dark.
  const paper = () => {
    const probe = document.body.appendChild(document.createElement("span"));
    probe.className = "paper-colours";
    probe.hidden = true;
    const found = new Map();
    const named = (text) =>
      text.replace(/var\((--[a-z0-9-]+)(?:,[^()]*)?\)/g, (_, name) => {
        probe.style.color = `var(${name})`;
        if (!found.has(name)) found.set(name, d3.color(getComputedStyle(probe).color).formatHex());
        return found.get(name);
      });
    ["--paper", "--text", "--soft"].forEach((name) => named(`var(${name})`));
    return { colour: (name) => found.get(name), named, done: () => probe.remove() };
  };

  const KEYS = {
    line: (into, fill) => element(into, "line", { x1: 0, x2: 18, y1: -4, y2: -4, stroke: fill, "stroke-width": 2 }),
    rule: (into, fill) =>
      element(into, "line", { x1: 0, x2: 18, y1: -4, y2: -4, stroke: fill, "stroke-width": 2, "stroke-dasharray": "6 4" }),
    hollow: (into, fill) => element(into, "circle", { cx: 6, cy: -4, r: 4, fill: "none", stroke: fill, "stroke-width": 2 }),
    band: (into, fill) => element(into, "rect", { x: 0, y: -9, width: 18, height: 10, fill, "fill-opacity": 0.25 }),
    dot: (into, fill) => element(into, "circle", { cx: 6, cy: -4, r: 5, fill }),
  };
  KEYS.dashed = KEYS.rule;
  KEYS.whiskers = (into, fill) => element(into, "line", { x1: 6, x2: 6, y1: -11, y2: 1, stroke: fill, "stroke-width": 2 });
  KEYS.times = (into, fill) => element(into, "path", { d: "M2,-8L10,0M10,-8L2,0", stroke: fill, "stroke-width": 2 });
  const polygon = (points) => (into, fill) => element(into, "polygon", { points, fill });
  KEYS.diamond = polygon("6,-10 12,-4 6,2 0,-4");
  KEYS.square = polygon("1,-9 11,-9 11,1 1,1");
  KEYS.cross = polygon("4,-10 8,-10 8,-6 12,-6 12,-2 8,-2 8,2 4,2 4,-2 0,-2 0,-6 4,-6");
  KEYS.triangle = polygon("6,-10 12,1 0,1");

  // The legend in rows as wide as the chart, without what is seen on the page alone; how high it is.
  const addLegend = (into, entries, width, top) => {
    let [x, y] = [PAD, top];
    for (const { name, fill, shape } of entries) {
      const wide = 26 + window.mlsub.textWidth(name) + 16;
      if (x > PAD && x + wide > width) [x, y] = [PAD, y + LINE];
      const item = element(into, "g", { transform: `translate(${x},${y})` });
      (KEYS[shape] ?? KEYS.dot)(item, fill);
      element(item, "text", { x: 24 }, name);
      x += wide;
    }
    return entries.length ? y - top + LINE : 0;
  };

  const lines = (into, texts, top, attributes) =>
    texts.forEach((text, at) => element(into, "text", { x: PAD, y: top + at * LINE, ...attributes }, text));

  // The text of an SVG file. Plot's own margins hold the words at its edges.
  const asFile = (figure, svg, legend) => {
    const light = paper();
    const wide = svg.width.baseVal.value;
    const width = wide + 2 * PAD;
    const title = window.mlsub.wrap(`${document.title}: ${figure.querySelector("figcaption").textContent}`, wide * 0.9);
    const source = window.mlsub.wrap(`Computed from the logs by mlsub; not verified by MLCommons Association.`, wide);
    const outer = document.createElementNS(SVG, "svg");
    lines(outer, title, PAD + 12, { "font-weight": 600 });
    const top = PAD + title.length * LINE + 6;
    const copy = svg.cloneNode(true);
    copy.querySelectorAll('[aria-label="tip"], [data-mark="tip"], .ring').forEach((tip) => tip.remove());
    copy.removeAttribute("style");
    for (const [key, value] of Object.entries({ x: PAD, y: top, overflow: "visible" })) copy.setAttribute(key, value);
    outer.append(copy);
    const below = top + svg.height.baseVal.value + 14;
    const behind = below + addLegend(outer, legend.filter(({ live }) => !live), width - PAD, below + 4);
    lines(outer, source, behind + 6, { fill: light.colour("--soft"), "font-size": 11 });
    const height = behind + source.length * LINE + 4;
    const back = element(outer, "rect", { width, height, fill: light.colour("--paper") });
    outer.prepend(back);
    outer.prepend(element(outer, "title", {}, title.join(" ")), element(outer, "desc", {}, svg.getAttribute("aria-label")));
    const given = { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": FONT, "font-size": 12 };
    const looks = { fill: light.colour("--text"), color: light.colour("--text"), role: "img" };
    for (const [key, value] of Object.entries({ ...given, ...looks })) outer.setAttribute(key, value);
    const text = light.named(new XMLSerializer().serializeToString(outer));
    light.done();
    return text;
  };

  const asPicture = (text, done) => {
    const image = new Image();
    const scale = 2;
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = image.width * scale;
      canvas.height = image.height * scale;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob(done, "image/png");
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  };

  const save = (name, blob) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  const fileName = (figure) => {
    const words = `${document.title} ${figure.querySelector("figcaption").textContent}`;
    return words.toLowerCase().replace(/[^a-z0-9.]+/g, "-").replace(/^[-.]+|[-.]+$/g, "").slice(0, 150);
  };

  // The buttons below a chart; shown() has its SVG and the entries of its legend.
  const tools = (figure, shown) => {
    const bar = document.createElement("p");
    bar.className = "tools";
    const title = figure.querySelector("figcaption").textContent;
    const link = Object.assign(bar.appendChild(document.createElement("a")), { href: `#${figure.id}`, textContent: "Link" });
    link.setAttribute("aria-label", `Link to: ${title}`);
    // What is chosen on the page stays in the address.
    link.addEventListener("click", () => {
      const kept = window.mlsub.address();
      kept.set("chart", figure.id);
      link.href = `#${kept.size > 1 ? kept : figure.id}`;
    });
    for (const kind of ["SVG", "PNG"]) {
      const button = bar.appendChild(document.createElement("button"));
      button.type = "button";
      button.textContent = kind;
      button.setAttribute("aria-label", `Save as ${kind}: ${title}`);
      button.addEventListener("click", () => {
        const { svg, legend } = shown();
        const name = `${fileName(figure)}.${kind.toLowerCase()}`;
        const text = asFile(figure, svg, legend);
        if (kind === "SVG") save(name, new Blob([text], { type: "image/svg+xml" }));
        else asPicture(text, (blob) => save(name, blob));
      });
    }
    return bar;
  };

  Object.assign(window.mlsub, { save, tools });
})();
