"use strict";
// The table of all results: facets with counts, search, sort, columns and downloads. What is chosen stands in the address
// after "#", so that a link restores it and the back button undoes it:
//   KEY=VALUE     a value of a facet, once for each; KEY= alone for none where some are chosen at first
//   q=WORDS       what all rows shown have in one of their texts, as search.js compares them
//   sort=KEY      the column sorted by; -KEY for the largest first
//   columns=KEYS  the columns shown, with commas between
//   axes=X,Y      the columns that the chart has to the right and upwards
(() => {
  const FACETS = [
    ["division_name", "Division"], ["round_key", "Round"], ["benchmark_name", "Benchmark"], ["organisation_name", "Organisation"],
    ["accelerator_name", "Accelerator"], ["accelerators_count", "Accelerator count"], ["availability", "Availability"],
    ["framework", "Framework"], ["verdict", "Verdict"],
  ];
  const OPEN = ["division_name", "round_key", "benchmark_name"];
  const COLUMNS = [
    "benchmark_title", "round_key", "published_minutes", "verdict", "organisation_name", "system_name", "accelerators_count", "accelerator_name",
  ];
  const DIVISIONS = ["closed", "open", "other"];
  const BADGES = { accepted: "good", rejected: "bad", "not checked": "warn", pass: "good", fail: "bad", missing: "warn", bypassed: "warn" };
  const { make, breakable, three, decimals, pad, CPU_ONLY } = window.mlsub;
  const PAGE = 100;
  const NONE = "–";
  const DIVIDED =
    "Closed and Open results are not comparable: Open results may use another model or target. One division stands below the other, whatever the table is sorted by.";
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  // Made once: a formatter costs more than a hundred numbers.
  const written = (options) => {
    const format = new Intl.NumberFormat("en", options);
    return (value) => format.format(value);
  };
  const nine = written({ maximumSignificantDigits: 9 });
  const number = written({ maximumFractionDigits: 6 });
  const countText = (count) => (count ? number(count) : CPU_ONLY);

  const button = (text, act, properties = {}) => {
    const made = make("button", { type: "button", textContent: text, ...properties });
    made.addEventListener("click", act);
    return made;
  };

  document.addEventListener("DOMContentLoaded", () => {
    const place = document.getElementById("all");
    if (!place || !window.mlsubResults) return;
    const rows = window.mlsub.results();
    const columns = window.mlsubResults.columns.filter(({ key, title }) => title && key !== "href");
    const column = new Map(columns.map((one) => [one.key, one]));
    const usual = rows.some((row) => row.energy_joules) ? COLUMNS.toSpliced(3, 0, "energy_joules") : COLUMNS;
    const closed = rows.some((row) => row.division_name === "closed");
    const valueOf = (row, key) => (row[key] === null ? NONE : String(row[key]));
    // The value of a facet that is called so in a link, in whatever letters; undefined for one that no result has.
    const titles = new Map(rows.map((row) => [row.benchmark_name, row.benchmark_title]));
    const letters = (text) => text.toLowerCase().replace(/[^\p{L}\d–]/gu, "");
    const known = (key, value) => {
      const all = new Set(rows.map((row) => valueOf(row, key)));
      const same = (one) => [one, titles.get(one) ?? ""].some((text) => letters(text) === letters(value));
      return all.has(value) ? value : Array.from(all).find((one) => same(one));
    };
    const heading = ({ title, unit }) => (unit ? `${title} (${unit})` : title);

    // What is chosen, and its address.
    const read = () => {
      const asked = new URLSearchParams(location.hash.slice(1));
      const chosen = new Map();
      const unknown = [];
      for (const [key, title] of FACETS) {
        const first = key === "division_name" && closed ? ["closed"] : [];
        const values = asked.has(key) ? asked.getAll(key).filter(Boolean).map((value) => known(key, value) ?? { title, value }) : first;
        unknown.push(...values.filter((value) => value.title));
        chosen.set(key, new Set(values.filter((value) => !value.title)));
      }
      const sort = asked.get("sort") ?? "";
      const shown = (asked.get("columns") ?? "").split(",").filter((key) => column.has(key));
      return {
        chosen,
        words: asked.get("q") ?? "",
        sort: column.has(sort.replace(/^-/, "")) ? sort : "",
        columns: shown.length ? shown : null,
        axes: window.mlsub.axesOf(asked.get("axes")),
        unknown,
      };
    };
    const addressOf = ({ chosen, words, sort, columns: shown, axes }) => {
      const asked = new URLSearchParams();
      for (const [key, values] of chosen) {
        if (key === "division_name" && !values.size) asked.append(key, "");
        for (const value of values) asked.append(key, value);
      }
      if (words) asked.set("q", words);
      if (sort) asked.set("sort", sort);
      if (shown) asked.set("columns", shown.join(","));
      if (axes) asked.set("axes", axes.join(","));
      return `#${asked.toString().replaceAll("%2C", ",")}`;
    };

    // The results that are chosen, and of each facet how many have a value if only the other facets count.
    const { flat, having, tell } = window.mlsubSearch;
    const texts = rows.map((row) => flat(columns.map(({ key }) => row[key] ?? "").join(" | ")));
    const selected = ({ chosen, words }) => {
      const matching = having(texts, words);
      const asked = [...chosen].filter(([, values]) => values.size);
      const counts = new Map(FACETS.map(([key]) => [key, new Map()]));
      const count = (row, key) => counts.get(key).set(valueOf(row, key), (counts.get(key).get(valueOf(row, key)) ?? 0) + 1);
      const found = rows.filter((row, at) => {
        if (!matching[at]) return false;
        const failed = asked.filter(([key, values]) => !values.has(valueOf(row, key)));
        if (failed.length === 1) count(row, failed[0][0]);
        if (failed.length) return false;
        for (const [key] of FACETS) count(row, key);
        return true;
      });
      return { found, counts, matches: matching.includes(true) };
    };

    // Texts are compared once a column; what is empty comes last whichever way.
    const ranks = new Map();
    const rankOf = (key) => {
      if (!ranks.has(key)) {
        const { names } = column.get(key);
        const places = new Map([...(names ?? [])].sort(collator.compare).map((name, place) => [name, place]));
        ranks.set(key, names ? (row) => places.get(row[key]) ?? null : (row) => row[key]);
      }
      return ranks.get(key);
    };
    const by = (key, direction) => (one, other) => {
      const [a, b] = [rankOf(key)(one), rankOf(key)(other)];
      return a === null || b === null ? (a === null) - (b === null) : direction * (a - b);
    };
    // Divisions are never ranked together: all of one come before those of the next. The data have the newest round last.
    const { names: rounds } = column.get("round_key");
    const inOrder = (found, sort) => {
      const own = sort ? [by(sort.replace(/^-/, ""), sort.startsWith("-") ? -1 : 1)] : [];
      const orders = [
        (one, other) => DIVISIONS.indexOf(one.division_name) - DIVISIONS.indexOf(other.division_name),
        ...own, (one, other) => rounds.indexOf(other.round_key) - rounds.indexOf(one.round_key), by("benchmark_title", 1), by("published_minutes", 1),
      ];
      return [...found].sort((one, other) => orders.reduce((found, order) => found || order(one, other), 0) || one.at - other.at);
    };

    // The parts of the page.
    place.querySelectorAll("p").forEach((words) => words.remove());
    const shownCount = make("output", { className: "shown" });
    shownCount.setAttribute("aria-live", "polite");
    const search = make("input", { type: "search", placeholder: "any words", autocomplete: "off" });
    const chips = make("ul", { className: "chips" });
    const note = make("p", { className: "note" });
    const typo = make("p", { className: "typo" });
    const head = make("thead");
    const body = make("tbody");
    const caption = make("caption");
    const table = make("table", { className: "results" }, caption, head, body);
    const more = make("p", { className: "more" });
    let state = read();
    let view = { found: [], counts: new Map() };
    let ordered = [];

    const go = (change, { keep = true } = {}) => {
      state = { ...state, unknown: [], ...change };
      if (keep) location.hash = addressOf(state);
      else location.replace(addressOf(state));
      update();
    };
    const toggle = (key, value) => {
      const chosen = new Map(state.chosen);
      const values = new Set(chosen.get(key));
      if (!values.delete(value)) values.add(value);
      go({ chosen: chosen.set(key, values) });
    };

    // Facets: a list is made when it is opened for the first time.
    const named = (key, value) => {
      if (key === "division_name") return value[0].toUpperCase() + value.slice(1);
      if (key === "accelerators_count" && value !== NONE) return countText(Number(value));
      return (key === "benchmark_name" && titles.get(value)) || value;
    };
    const facets = FACETS.map(([key, title], place) => {
      const list = make("ul");
      const summary = make("summary", {}, title);
      const box = make("details", { className: "facet", open: OPEN.includes(key) }, summary);
      const items = new Map();
      const fill = () => {
        const values = [...new Set(rows.map((row) => valueOf(row, key)))];
        const order = key === "division_name" ? (a, b) => DIVISIONS.indexOf(a) - DIVISIONS.indexOf(b) : collator.compare;
        values.sort((a, b) => order(...(key === "benchmark_name" ? [named(key, a), named(key, b)] : [a, b])));
        if (key === "round_key") values.reverse();
        for (const value of values) {
          const tick = make("input", { type: "checkbox" });
          tick.addEventListener("change", () => toggle(key, value));
          const count = make("span", { className: "count" });
          const item = make("li", {}, make("label", {}, tick, make("span", { textContent: named(key, value) }), count));
          items.set(value, { item, tick, count, text: named(key, value).toLowerCase() });
          list.append(item);
        }
        if (values.length > 12) {
          const find = make("input", { type: "search", placeholder: "find", autocomplete: "off" });
          find.setAttribute("aria-label", `Find in: ${title}`);
          find.addEventListener("input", () => show(find.value.toLowerCase()));
          list.before(find);
        }
      };
      let wanted = "";
      const show = (asked = wanted) => {
        wanted = asked;
        const chosen = state.chosen.get(key);
        const own = view.counts.get(key);
        summary.replaceChildren(title, ...(chosen.size ? [make("span", { className: "count", textContent: `${chosen.size} chosen` })] : []));
        if (!box.open) return;
        if (!items.size) fill();
        for (const [value, { item, tick, count, text }] of items) {
          tick.checked = chosen.has(value);
          count.textContent = number(own.get(value) ?? 0);
          const there = own.has(value) || tick.checked;
          item.hidden = !there || !text.includes(wanted);
        }
      };
      box.append(list);
      box.addEventListener("toggle", () => show());
      return { box, show };
    });

    const isShort = ({ key, kind }) => kind === "number" && key !== "batch_size";
    let most = new Map();
    const cellOf = (row, { key, kind }) => {
      const value = row[key];
      if (value === null) return make("td", { textContent: NONE, className: kind === "text" ? "" : "number" });
      if (kind === "text") {
        const badge = BADGES[value];
        if ((key === "verdict" || key === "rcp_verdict") && badge) return make("td", {}, make("span", { className: badge, textContent: value }));
        return make("td", { className: value.length > 48 ? "long" : "" }, ...breakable(value));
      }
      const shown = isShort({ key, kind }) ? three(value) : key === "accelerators_count" ? countText(value) : number(value);
      const told = shown === CPU_ONLY || Number(shown.replaceAll(",", "")) === value;
      return make("td", { textContent: shown + (most.has(key) ? pad(shown, most.get(key)) : ""), className: "number", title: told ? "" : nine(value) });
    };
    const rowOf = (row, keys) => {
      const made = make("tr");
      for (const [at, key] of keys.entries()) {
        const cell = cellOf(row, column.get(key));
        if (at) made.append(cell);
        else {
          const link = make("a", { href: row.href });
          link.append(...cell.childNodes);
          made.append(Object.assign(make("th", { scope: "row", className: cell.className, title: cell.title }, link)));
        }
      }
      return made;
    };

    const several = () => new Set(view.found.map((row) => row.division_name)).size > 1;
    const shownColumns = () => state.columns ?? (several() ? [...usual, "division_name"] : usual);
    const showHead = () => {
      const keys = shownColumns();
      const sorted = state.sort.replace(/^-/, "");
      const cells = keys.map((key) => {
        const up = sorted === key && !state.sort.startsWith("-");
        const one = button(heading(column.get(key)), () => {
          go({ sort: up ? `-${key}` : key });
          head.querySelector(`button[data-key="${key}"]`).focus();
        });
        one.dataset.key = key;
        const cell = make("th", { scope: "col", className: column.get(key).kind === "text" ? "" : "number" }, one);
        if (sorted === key) cell.setAttribute("aria-sort", up ? "ascending" : "descending");
        return cell;
      });
      head.replaceChildren(make("tr", {}, ...cells));
    };
    const showRows = (count) => {
      const keys = shownColumns();
      body.append(...ordered.slice(body.rows.length, count).map((row) => rowOf(row, keys)));
      const left = ordered.length - body.rows.length;
      const next = (by) => () => {
        const first = body.rows.length;
        showRows(first + by);
        body.rows[first].querySelector("a").focus();
      };
      const all = left > PAGE ? [button(`Show all ${number(ordered.length)}`, next(Infinity))] : [];
      more.replaceChildren(...(left > 0 ? [button(`Show ${number(Math.min(left, PAGE))} more`, next(PAGE)), ...all] : []));
    };
    const showChips = () => {
      const made = [];
      for (const [key, title] of FACETS) {
        for (const value of state.chosen.get(key)) {
          const chip = button(`${named(key, value)} ×`, () => toggle(key, value));
          chip.setAttribute("aria-label", `Remove ${title}: ${named(key, value)}`);
          made.push(make("li", {}, chip));
        }
      }
      const empty = () => go({ chosen: new Map(FACETS.map(([key]) => [key, new Set()])), words: "" });
      chips.replaceChildren(...made, ...(made.length ? [make("li", {}, button("Clear all", empty, { className: "plain" }))] : []));
    };

    const update = () => {
      view = selected(state);
      ordered = inOrder(view.found, state.sort);
      for (const facet of facets) facet.show();
      if (search.value !== state.words) search.value = state.words;
      shownCount.textContent = `${number(ordered.length)} of ${number(rows.length)} results`;
      const missing = state.unknown.map(({ title, value }) => `No result here has the ${title.toLowerCase()} “${value.slice(0, 100)}”, so it chooses nothing.`);
      note.textContent = [...missing, ...(several() ? [DIVIDED] : [])].join(" ");
      note.hidden = !note.textContent;
      typo.hidden = view.matches;
      if (!view.matches) tell(typo, state.words, (words) => go({ words }));
      caption.textContent = ordered.length ? "Results, three digits; point at a number for all of them" : "No result has all that is chosen";
      showChips();
      chart.show(ordered, state.axes);
      showColumns();
      showHead();
      const texts = (key) => ordered.map((row) => (row[key] === null ? "" : three(row[key])));
      most = new Map(shownColumns().filter((key) => isShort(column.get(key))).map((key) => [key, texts(key).reduce((all, text) => Math.max(all, decimals(text)), 0)]));
      body.replaceChildren();
      showRows(PAGE);
      for (const one of downloads.querySelectorAll("button")) one.disabled = !ordered.length;
    };

    // Columns, and the selection as files.
    const choices = new Map();
    const showColumns = () => choices.forEach((tick, key) => (tick.checked = shownColumns().includes(key)));
    const chooser = make("details", { className: "columns" }, make("summary", { textContent: "Columns" }));
    const list = chooser.appendChild(make("ul"));
    for (const { key, title } of columns) {
      const tick = make("input", { type: "checkbox" });
      tick.addEventListener("change", () => {
        const shown = shownColumns().filter((one) => one !== key);
        if (tick.checked) shown.push(key);
        if (shown.length) go({ columns: shown });
        else tick.checked = true;
      });
      choices.set(key, tick);
      const same = columns.filter((one) => one.title === title).length > 1;
      list.append(make("li", {}, make("label", {}, tick, same ? `${title} (${key})` : title)));
    }
    chooser.append(button("Usual columns", () => go({ columns: null })));

    const said = make("span", { className: "said" });
    said.setAttribute("role", "status");
    const downloads = make("p", { className: "downloads" }, "Download the selection: ");
    for (const kind of ["CSV", "JSON", "Parquet"]) {
      downloads.append(button(kind, async () => {
        said.textContent = "";
        try {
          await window.mlsubDownload(kind, window.mlsubResults.columns.filter(({ own }) => !own), ordered);
        } catch (error) {
          said.textContent = `${kind} could not be made: ${error.message}`;
        }
      }), " ");
    }
    downloads.append(said);

    const chart = window.mlsub.selection((axes) => go({ axes }));
    search.addEventListener("input", () => go({ words: search.value }, { keep: false }));
    const form = make("form", { className: "controls" }, make("label", {}, "Search ", search), shownCount, chooser);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.setAttribute("role", "search");
    form.setAttribute("aria-label", "Search the results");
    const narrow = matchMedia("(max-width: 60rem)");
    const side = make("details", { className: "facets", open: !narrow.matches }, make("summary", { textContent: "Filters" }), ...facets.map(({ box }) => box));
    const region = make("div", { className: "table" }, table);
    const main = make("div", { className: "chosen" }, form, chips, note, typo, chart.box, region, more, downloads);
    place.append(make("div", { className: "explorer" }, side, main));
    narrow.addEventListener("change", () => (side.open = !narrow.matches));

    window.addEventListener("hashchange", () => {
      if (location.hash === addressOf(state) && !state.unknown.length) return;
      state = read();
      update();
    });
    // Paper has all rows.
    window.addEventListener("beforeprint", () => showRows(Infinity));
    update();
  });
})();
