"use strict";
// The choices of a benchmark's page: a round by a slider, a division by switches. Charts and table show what they choose,
// and the address has the choice, so that it can be linked.
(() => {
  const { redraw, three, number, decimals, pad, remember, chipsOf, counted, sizeOf, breakable, make: element } = window.mlsub;
  const ALL = "all rounds";
  const BADGES = { accepted: "good", rejected: "bad" };

  const link = (text, href) => element(href ? "a" : "span", href ? { href } : {}, ...breakable(text));

  const cell = (content, sort) => {
    const made = element("td", {}, content);
    if (Number.isFinite(sort)) made.dataset.sort = sort;
    return made;
  };

  const digits = (value) => (value > 0 ? three(value) : "–");

  // The columns are those of the table that is there without scripts.
  const rowOf = (result, { pages, energy }) => {
    const page = (kind, key) => (Object.hasOwn(pages[kind], key) ? window.mlsub.root + pages[kind][key] : null);
    const system = result.system_name ?? "–";
    const weak = result.scaling_type === "weak";
    const time = result.published_minutes > 0 && !weak ? three(result.published_minutes) : "–";
    return element(
      "tr", {},
      element("th", {}, link(system, page("system", `${result.organisation_name}\n${system}`))),
      cell(link(result.organisation_name ?? "–", page("organisation", result.organisation_name))),
      cell(link(chipsOf(result), page("accelerator", result.accelerator_name)), result.accelerators_count ?? 0),
      cell(link(time, result.href), result.published_minutes),
      ...(energy ? [cell(result.energy_joules === null ? "–" : three(result.energy_joules / 1e6), result.energy_joules ?? NaN)] : []),
      cell(digits(result.chip_minutes), result.chip_minutes ?? NaN),
      cell(result.division_name),
      cell(result.round_key),
      cell(element("span", { className: BADGES[result.verdict] ?? "warn" }, result.verdict)),
    );
  };

  const remembered = () => new URLSearchParams(location.hash.slice(1));

  const begin = (figure) => {
    const data = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
    const { rounds, divisions, table: name, results: own } = data.explore;
    const all = window.mlsub.results();
    const table = document.getElementById(name);
    const stops = [ALL, ...rounds];

    const slider = element("input", { type: "range", min: 0, max: rounds.length, step: 1, id: "choice-round" });
    const shown = element("output", { className: "choice" });
    shown.setAttribute("for", slider.id);
    const round = element("div", { className: "slide" }, element("label", { htmlFor: slider.id }, "Round"), slider, shown);
    const radios = divisions.map(([value]) => element("input", { type: "radio", name: "division", value }));
    const switches = element(
      "fieldset", {}, element("legend", {}, "Division"),
      ...divisions.map(([, title], at) => element("label", {}, radios[at], ` ${title}`)),
    );
    const count = element("output", { className: "count" });
    count.setAttribute("aria-live", "polite");
    const form = element("form", { className: "filters choices" }, round, switches, count);
    form.setAttribute("aria-label", "Choose what is shown");
    form.addEventListener("submit", (event) => event.preventDefault());
    figure.closest(".charts").before(form);

    const choice = () => ({ round: stops[slider.valueAsNumber], division: radios.find((one) => one.checked).value });

    // Of data over rounds only the division is chosen; all other are those of a round too, and of the size that is compared.
    const apply = () => {
      const { round: of, division } = choice();
      const { size, leads } = data.explore.choices[division][of === ALL ? "" : of] ?? { size: "", leads: {} };
      const [view, inDivision] = [window.mlsub.view(), (place) => all[place].division_name === division];
      const sized = (at) => view !== "same-size" || !size || sizeOf(all[at]) === size;
      const within = (at) => (of === ALL || all[at].round_key === of) && inDivision(at);
      const chosen = (at) => within(at) && sized(at);
      const choose = (shown) => {
        if (shown.families) return { ...shown, families: shown.families.filter((family) => within(family.at[0])) };
        if (shown.rounds) return { ...shown, at: shown.at.filter(inDivision), lines: shown.lines.filter((line) => inDivision(line.at[0])) };
        const title = view === "same-size" && size ? `Minutes on ${size}` : shown.title;
        const frame = shown.at.filter((at) => inDivision(at) && sized(at) && !within(at));
        const about = [leads[view], shown.about, frame.length ? "Hollow grey marks are those of other rounds." : ""];
        return { ...shown, title, about: about.filter(Boolean).join(" "), at: shown.at.filter(chosen), frame };
      };
      document.querySelectorAll("figure.chart").forEach((one) => redraw(one, undefined, choose));
      const by = view === "per-accelerator" ? "chip_minutes" : "published_minutes";
      const rank = (result) => (result[by] > 0 && result.scaling_type !== "weak" ? result[by] : Infinity);
      const rows = own.filter(chosen).map((place) => all[place]).sort((a, b) => rank(a) - rank(b) || a.at - b.at);
      slider.setAttribute("aria-valuetext", of);
      shown.textContent = of;
      const made = rows.map((result) => rowOf(result, data.explore));
      for (let column = 3; column < (data.explore.energy ? 6 : 5); column += 1) {
        const most = Math.max(0, ...made.map(({ cells }) => decimals(cells[column].textContent)));
        made.forEach(({ cells }) => cells[column].append(pad(cells[column].textContent, most)));
      }
      table.tBodies[0].replaceChildren(...made);
      table.tHead.querySelectorAll("[aria-sort]").forEach((head) => head.removeAttribute("aria-sort"));
      const title = divisions.find(([value]) => value === division)[1];
      const among = own.filter(within).length;
      const part = rows.length < among ? `${number(rows.length)} of ${counted(among, "result")}, those on ${size}` : counted(rows.length, "result");
      table.caption.textContent = `${part}: ${of}, ${title}; the ${by === "chip_minutes" ? "fewest chip-minutes" : "fastest"} first`;
      const bare = rows.filter((result) => !result.accelerators_count).length;
      count.textContent = part + (bare ? `, ${number(bare)} without accelerators in the table alone` : "");
    };

    const restore = () => {
      const asked = remembered();
      const at = stops.indexOf(asked.get("round") === "all" ? ALL : asked.get("round"));
      slider.value = at < 0 ? rounds.length : at;
      const wanted = radios.find((one) => one.value === asked.get("division"));
      const latest = radios.find((one) => own.some((place) => all[place].division_name === one.value && all[place].round_key === rounds.at(-1)));
      (wanted ?? latest ?? radios[0]).checked = true;
      apply();
    };

    form.addEventListener("input", () => {
      apply();
      const { round: of, division } = choice();
      remember({ round: of === ALL ? "all" : of, division });
    });
    window.addEventListener("hashchange", restore);
    document.addEventListener("mlsub-view", apply);
    restore();
  };

  document.addEventListener("DOMContentLoaded", () => {
    const figure = document.querySelector('figure.chart[data-kind="dots"]');
    if (figure && document.getElementById("table-selection")) begin(figure);
  });
})();
