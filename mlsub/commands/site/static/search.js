"use strict";
// The search box in the head of each page, and what the other boxes share with it: how words match, and what was meant by those
// that match nothing. Names come from data/search.js, which is loaded when a box is used for the first time.
(() => {
  const LONGEST = 100;
  const MOST = 12;
  const { root, make } = window.mlsub;

  const flat = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const wordsOf = (text) => flat(text.slice(0, LONGEST)).split(/\s+/).filter(Boolean);
  const joined = (text) => flat(text).replace(/[^\p{L}\d]/gu, "");

  // A word as patterns, the strictest first: as a word of its own, at the start of one, anywhere. Letters and numbers may be joined
  // in any way (resnet50 is ResNet-50), and a word starts where letters or digits do: b200 is in 8xB200, not in GB200.
  const patterns = (word) => {
    const runs = word.match(/\d+|\p{L}+/gu);
    if (!runs) return [0, 1, 2].map(() => new RegExp(word.replace(/[^\p{L}\d]/gu, "\\$&"), "u"));
    const body = runs.join("[^\\p{L}\\d]*");
    const start = /\d/.test(body[0]) ? "(?<!\\d)" : "(?:(?<!\\p{L})|(?<=\\dx|dgx|hgx))";
    const end = /\d/.test(body.at(-1)) ? "(?!\\d)" : "(?!\\p{L})";
    return [start + body + end, start + body, body].map((one) => new RegExp(one, "u"));
  };
  const levelsOf = (words) => {
    const asked = wordsOf(words).map(patterns);
    return (text) => Math.max(0, ...asked.map((of) => of.findIndex((one) => one.test(text))).map((at) => (at < 0 ? Infinity : at)));
  };
  // Which of some flat texts have the words: those that match as strictly as any does.
  const having = (texts, words) => {
    const levels = texts.map(levelsOf(words));
    const best = levels.reduce((least, one) => Math.min(least, one), Infinity);
    return levels.map((level) => level === best && best < Infinity);
  };

  let names = null;
  const load = () =>
    (names ??= window.mlsub.load("data/search.js").then(
      () =>
        window.mlsubNames.map(([title, hint, href, spelled]) => {
          const all = [title, ...spelled];
          const known = all.flatMap((one) => [joined(one), ...wordsOf(one)]);
          return { title, hint, href, text: flat([...all, hint].join(" | ")), exact: new Set(all.map(joined)), known };
        }),
      () => [],
    ));

  // The names that have some words, those that are called so first.
  const named = (all, words) => {
    const has = having(all.map(({ text }) => text), words);
    const asked = joined(words);
    const [exact, others] = [[], []];
    all.forEach((one, at) => (one.exact.has(asked) ? exact : has[at] ? others : []).push(one));
    return [...exact, ...others];
  };

  // How many letters are wrong, missing, too many or exchanged; no more than most.
  const distance = (one, other, most) => {
    if (Math.abs(one.length - other.length) > most) return Infinity;
    let [before, last] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)];
    for (let i = 1; i <= one.length; i += 1) {
      const row = [i];
      for (let j = 1; j <= other.length; j += 1) {
        row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (one[i - 1] !== other[j - 1]));
        if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1);
      }
      if (Math.min(...row) > most) return Infinity;
      [before, last] = [last, row];
    }
    return last.at(-1) > most ? Infinity : last.at(-1);
  };
  // The same words with those that match no name in the nearest spelling; null where there is none.
  const meant = (all, words) => {
    const texts = all.map(({ text }) => text);
    const known = new Set(all.flatMap((one) => one.known));
    const better = wordsOf(words).map((word) => {
      if (having(texts, word).includes(true)) return word;
      // Models that differ in a digit are different models.
      const most = /\d/.test(word) && word.length < 6 ? 0 : word.length > 7 ? 2 : 1;
      const near = Array.from(known, (one) => [distance(word, one, most), one]).filter(([far]) => far < Infinity);
      return near.sort(([a], [b]) => a - b)[0]?.[1] ?? null;
    });
    return better.includes(null) || better.join(" ") === wordsOf(words).join(" ") ? null : better.join(" ");
  };
  // Says in a place that nothing has some words, with a button for what they probably mean.
  const tell = async (place, words, use) => {
    place.replaceChildren(`Nothing has “${words}”.`);
    const better = meant(await load(), words);
    if (!better || !place.textContent.includes(`“${words}”`)) return;
    const button = make("button", { type: "button", textContent: better });
    button.addEventListener("click", () => use(better));
    place.append(" Did you mean ", button, "?");
  };
  window.mlsubSearch = { flat, having, tell };

  // The box: a combobox whose list has the names, and last the words on the page of results.
  document.addEventListener("DOMContentLoaded", () => {
    const form = document.querySelector("form.search");
    const box = form.querySelector("input");
    const status = make("p", { role: "status" });
    const list = make("ul", { id: "found", role: "listbox", ariaLabel: "What is found" });
    const popup = make("div", { className: "found", hidden: true }, status, list);
    form.append(popup);
    box.setAttribute("role", "combobox");
    box.setAttribute("aria-autocomplete", "list");
    box.setAttribute("aria-controls", list.id);
    let chosen = -1;
    const choose = (place) => {
      const count = list.children.length + 1;
      chosen = ((place + 1 + count) % count) - 1;
      Array.from(list.children).forEach((option, at) => option.setAttribute("aria-selected", String(at === chosen)));
      box.setAttribute("aria-activedescendant", list.children[chosen]?.id ?? "");
      list.children[chosen]?.scrollIntoView({ block: "nearest" });
    };
    const open = (now) => {
      popup.hidden = !now;
      box.setAttribute("aria-expanded", String(now));
    };
    const option = ({ title, hint, href }, at) => {
      const made = make("li", { role: "option", id: `found-${at}` }, make("span", { textContent: title }), make("small", { textContent: hint }));
      made.dataset.href = root + href;
      return made;
    };
    const update = async () => {
      const words = box.value.trim().slice(0, LONGEST);
      const all = words ? await load() : [];
      if (words !== box.value.trim().slice(0, LONGEST)) return;
      const better = named(all, words).length ? null : meant(all, words);
      const rows = named(all, better ?? words);
      const missing = `Nothing is called “${words}”.`;
      const count = rows.length > MOST ? `The first ${MOST} of ${rows.length} names` : `${rows.length} ${rows.length === 1 ? "name" : "names"}`;
      status.textContent = better ? `${missing} Did you mean ${better}?` : rows.length ? count : missing;
      const everywhere = { title: `Results with “${better ?? words}”`, hint: "in any column", href: `results.html#${new URLSearchParams({ division_name: "", q: better ?? words })}` };
      list.replaceChildren(...[...rows.slice(0, MOST), everywhere].map(option));
      choose(-1);
      open(words !== "");
    };
    const go = (chosenOption) => {
      open(false);
      location.href = chosenOption.dataset.href;
    };
    open(false);
    box.addEventListener("focus", load, { once: true });
    box.addEventListener("input", update);
    box.addEventListener("focus", () => list.children.length && box.value && open(true));
    form.addEventListener("focusout", (event) => form.contains(event.relatedTarget) || open(false));
    form.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !popup.hidden) open(false);
      else if (event.key === "ArrowDown" || event.key === "ArrowUp") choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
      else return;
      event.preventDefault();
    });
    list.addEventListener("mousedown", (event) => event.preventDefault());
    list.addEventListener("click", (event) => event.target.closest("li") && go(event.target.closest("li")));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const at = Math.max(chosen, 0);
      await update();
      if (box.value.trim()) go(list.children[at]);
    });
  });
})();
