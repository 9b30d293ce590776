"use strict";
// Results as files: CSV, JSON and Parquet, as the site itself has them of all results.
(() => {
  // Text that a spreadsheet would take for a formula starts with an apostrophe.
  const FORMULA = /^(?:[\t\r\n]|\s*[=+\-@＝＋－＠])/;
  // Where the comma is for decimals, spreadsheets cut at semicolons, and at line ends in quotes too.
  const LATER_FORMULA = /[;\t\r\n](?=[ "]*[=+\-@＝＋－＠])/g;
  const csvCell = (value) => {
    if (value === null) return "";
    if (typeof value !== "string") return String(value);
    const safe = value.replace(LATER_FORMULA, "$&'");
    const text = FORMULA.test(value) ? `'${safe}` : safe;
    return /[",;\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };

  const record = (columns, row) => Object.fromEntries(columns.map(({ key }) => [key, row[key]]));
  const csv = (columns, rows) => {
    const lines = [columns.map(({ key }) => key), ...rows.map((row) => columns.map(({ key }) => csvCell(row[key])))];
    return lines.map((line) => `${line.join(",")}\n`).join("");
  };
  const json = (columns, rows) => `[${rows.map((row) => JSON.stringify(record(columns, row))).join(",\n")}]\n`;

  const TYPES = { text: "STRING", count: "INT64", number: "DOUBLE" };
  const parquet = async (columns, rows) => {
    await window.mlsub.load("static/parquet.min.js");
    const of = (kind, value) => (kind === "count" && value !== null ? BigInt(value) : value);
    const columnData = columns.map(({ key, kind }) => ({
      name: key, type: TYPES[kind], nullable: true, data: rows.map((row) => of(kind, row[key])),
    }));
    return window.mlsubParquet({ columnData, createdBy: "mlsub" });
  };

  const KINDS = {
    CSV: { write: csv, ending: "csv", type: "text/csv;charset=utf-8" },
    JSON: { write: json, ending: "json", type: "application/json" },
    Parquet: { write: parquet, ending: "parquet", type: "application/vnd.apache.parquet" },
  };
  window.mlsubDownload = async (kind, columns, rows) => {
    const { write, ending, type } = KINDS[kind];
    window.mlsub.save(`mlsub-results.${ending}`, new Blob([await write(columns, rows)], { type }));
  };
})();
