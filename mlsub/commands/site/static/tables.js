"use strict";
// Tables sort by the heads of their columns, and show the rows that the filters of the page let through.
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
      const [, , ...lists] = Array.from(row.cells, (cell) => cell.textContent.split(" "));
      const rows = lists[0].filter(Boolean).map((_, at) => {
        const found = row.cloneNode();
        found.append(row.cells[0].cloneNode(true));
        for (const text of [at + 1, ...lists.map((list) => list[at])]) found.insertCell().textContent = text;
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

  const makeFilters = (form) => {
    const selects = Array.from(form.querySelectorAll("[data-filter]"));
    const filtered = (row) => selects.some((select) => select.dataset.filter in row.dataset);
    const rows = Array.from(document.querySelectorAll("main tbody tr")).filter(filtered);
    const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
    const search = form.querySelector("[data-search]");
    const shown = form.querySelector("[data-shown]");
    const apply = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      for (const row of rows) {
        const chosen = selects.every((select) => !select.value || row.dataset[select.dataset.filter] === select.value);
        row.hidden = !(chosen && words.every((word) => texts.get(row).includes(word)));
        count += !row.hidden;
      }
      for (const section of document.querySelectorAll("main section")) {
        const own = Array.from(section.querySelectorAll("tbody tr"));
        section.classList.toggle("empty", own.length > 0 && own.every((row) => row.hidden));
      }
      shown.textContent = `${count} of ${rows.length}`;
    };
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", apply);
    form.addEventListener("reset", () => setTimeout(apply));
    apply();
  };

  document.querySelectorAll("table[data-lists]").forEach(spread);
  document.querySelectorAll("table[data-sortable]").forEach(makeSortable);
  document.querySelectorAll("[data-filters]").forEach(makeFilters);
})();
