"use strict";
// Tables sort by the heads of their columns, fold where they are too wide, and those of an index have a box to search in them; those
// of lists get a row for each number.
(() => {
  const cellOf = (row, column) => row.cells[column];
  const valueOf = (cell, numeric) => {
    if (cell.dataset.sort !== undefined) return Number(cell.dataset.sort);
    const text = cell.textContent.trim();
    if (text === "" || text === "–" || text === "-") return null;
    const number = numeric ? Number(text.replaceAll(",", "")) : NaN;
    return Number.isNaN(number) ? text : number;
  };

  // Empty cells come last whichever way; numbers before text; text as people order it.
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const compare = (one, other, direction) => {
    if (one === null || other === null) return (one === null) - (other === null);
    const numbers = [typeof one === "number", typeof other === "number"];
    if (numbers[0] && numbers[1]) return direction * (one - other);
    if (numbers[0] !== numbers[1]) return numbers[0] ? -1 : 1;
    return direction * collator.compare(one, other);
  };

  // A table of lists gets a row for each of their numbers.
  const spread = (table) => {
    for (const row of Array.from(table.tBodies[0].rows)) {
      const [, ...lists] = Array.from(row.cells, (cell) => cell.textContent.split(" "));
      const rows = lists[0].filter(Boolean).map((_, at) => {
        const found = row.cloneNode();
        found.append(row.cells[0].cloneNode(true));
        for (const text of lists.map((list) => list[at])) found.insertCell().textContent = text;
        return found;
      });
      row.replaceWith(...rows);
    }
    table.removeAttribute("data-lists");
  };

  const sort = (table, column, direction) => {
    const body = table.tBodies[0];
    const numeric = ["n", `n${column + 1}`].some((name) => column > 0 && table.classList.contains(name));
    const rows = Array.from(body.rows, (row) => ({ row, value: valueOf(cellOf(row, column), numeric) }));
    rows.sort((a, b) => compare(a.value, b.value, direction));
    body.append(...rows.map(({ row }) => row));
    Array.from(table.tHead.rows[0].cells).forEach((head, place) => {
      if (place === column) head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
  };

  const makeSortable = (table) => {
    if (table.tBodies[0].rows.length < 2) return;
    Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        sort(table, column, head.getAttribute("aria-sort") === "ascending" ? -1 : 1);
      });
    });
  };

  // The table of an index has a box above it; its words stand in the address.
  const makeFilter = (table) => {
    const { flat, having, tell } = window.mlsubSearch;
    const rows = Array.from(table.tBodies[0].rows);
    const texts = rows.map((row) => flat(Array.from(row.cells, (cell) => cell.textContent).join(" | ")));
    const box = Object.assign(document.createElement("input"), { type: "search", autocomplete: "off" });
    const label = document.createElement("label");
    const said = document.createElement("output");
    const form = Object.assign(document.createElement("form"), { className: "controls" });
    label.append(`Find in ${rows.length} ${table.caption.textContent.toLowerCase()} `, box);
    form.append(label, said);
    form.addEventListener("submit", (event) => event.preventDefault());
    table.parentElement.before(form);
    const show = () => {
      const words = box.value.trim();
      const has = having(texts, words);
      rows.forEach((row, at) => (row.hidden = !has[at]));
      const count = has.filter(Boolean).length;
      said.textContent = words ? `${count} of ${rows.length}` : "";
      if (!count) tell(said, words, (better) => go(better));
    };
    const go = (words) => {
      if (box.value !== words) box.value = words;
      history.replaceState(null, "", words ? `#${new URLSearchParams({ q: words })}` : location.pathname);
      show();
    };
    const restore = () => {
      const asked = new URLSearchParams(location.hash.slice(1));
      if (asked.has("q") || !location.hash) box.value = asked.get("q") ?? "";
      show();
    };
    box.addEventListener("input", () => go(box.value));
    window.addEventListener("hashchange", restore);
    restore();
  };

  // A table that is wider than its place folds: the first cell, minutes and verdicts stay in the row, the others follow
  // below it, behind the head of their column unless they say what they are; those that say nothing are left out.
  const STAYS = /^(time to train.*|(record in )?minutes|best|verdict)$/i;
  const PLAIN = /^(organisation|system|accelerators?|round|division)$/i;
  const fold = (table) => {
    table.classList.remove("fold");
    if (table.offsetWidth <= table.parentElement.clientWidth) return;
    const heads = Array.from(table.tHead.rows[0].cells, (head) => head.textContent.trim());
    for (const { cells } of table.tBodies[0].rows) {
      for (let at = 1; at < cells.length; at += 1) {
        cells[at].classList.toggle("stays", STAYS.test(heads[at]));
        if (!["", "–"].includes(cells[at].textContent)) cells[at].dataset.head = PLAIN.test(heads[at]) ? "" : `${heads[at]} `;
      }
    }
    table.classList.add("fold");
  };

  // After the charts, which read the tables of lists as they come.
  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("table[data-lists]").forEach(spread);
    document.querySelectorAll("table[data-sortable]").forEach(makeSortable);
    document.querySelectorAll("#table-index").forEach(makeFilter);
    for (const table of document.querySelectorAll(".table > table")) {
      new ResizeObserver(() => fold(table)).observe(table.parentElement);
      new MutationObserver(() => fold(table)).observe(table, { childList: true, subtree: true });
      table.closest("details")?.addEventListener("toggle", () => fold(table));
    }
  });
})();
