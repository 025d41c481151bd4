// @ts-check
// Rows as text for other programs.

/** @typedef {import("../../display/browser/views").ResultColumn} ResultColumn */
/** @typedef {import("./rows.js").Row} Row */

/** @param {ResultColumn[]} columns @param {Row[]} rows */
export function asCsv(columns, rows) {
  whole(columns, rows);
  return [columns.map(({ name }) => csvField(name)), ...rows.map(({ exact }) => exact.map(csvField))].map((row) => row.join(",")).join("\n");
}

/** @param {ResultColumn[]} columns @param {Row[]} rows */
export function asMarkdown(columns, rows) {
  whole(columns, rows);
  const lines = [columns.map(({ name }) => markdownField(name)), columns.map(() => "---"), ...rows.map(({ cells }) => cells.map(markdownField))];
  return lines.map((row) => `| ${row.join(" | ")} |`).join("\n");
}

/**
 * A statement of Spark SQL that writes the rows; the reader names the table.
 * @param {ResultColumn[]} columns @param {Row[]} rows
 */
export function asInsert(columns, rows) {
  whole(columns, rows);
  const names = columns.map(({ name }) => `\`${name.replaceAll("`", "``")}\``).join(", ");
  const lines = rows.map(({ exact }) => `(${exact.map((text, column) => sqlLiteral(text, columns[column])).join(", ")})`);
  return `INSERT INTO my_table (${names}) VALUES\n${lines.join(",\n")};`;
}

/** A copy has whole values or is not made. @param {ResultColumn[]} columns @param {Row[]} rows */
function whole(columns, rows) {
  const found = rows.find(({ cut }) => cut.some(Boolean));
  if (found) throw new Error(`row ${found.place + 1}, ${columns[found.cut.indexOf(true)].name}: only the beginning of the value is here; --to FILE writes it`);
}

/** NULL is nothing, an empty text is "". @param {string | null} text */
function csvField(text) {
  if (text === null) return "";
  return text === "" || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param {string | null} cell */
function markdownField(cell) {
  return (cell ?? "NULL").replace(/[\\|*_`<>[\]&~#]/g, (mark) => `\\${mark}`).replaceAll("\n", " ");
}

/** A value as a literal of its type. @param {string | null} text @param {ResultColumn} column */
export function sqlLiteral(text, { name, value, type, zone }) {
  if (text === null) return "NULL";
  switch (value) {
    case "whole":
      return text + ({ tinyint: "Y", smallint: "S", bigint: "L" }[type] ?? "");
    case "decimal":
      return `${text}BD`;
    case "float":
    case "double":
      return `CAST('${text}' AS ${value.toUpperCase()})`;
    case "boolean":
      return text;
    case "text":
      return sqlText(text);
    case "date":
      return `DATE'${text}'`;
    case "timestamp":
      return `TIMESTAMP_NTZ'${text}'`;
    case "local timestamp":
      return `TIMESTAMP'${text} ${zone}'`;
    case "binary":
      return `X'${text.slice(2)}'`;
    default:
      throw new Error(`${name}: there are no literals of type ${type}; --to FILE writes such values`);
  }
}

/** Spark unescapes backslashes, and replaces ${name} before it parses. @param {string} text */
function sqlText(text) {
  const special = /['\\]|\$(?=\{)|[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
  return `'${text.replace(special, (mark) => (mark === "'" || mark === "\\" ? `\\${mark}` : `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`))}'`;
}
