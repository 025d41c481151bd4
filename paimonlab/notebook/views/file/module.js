// @ts-check
import { areNumbers, breaking, bytes, card, copyButton, count, frame, grid, h, many, shortFile, valueText } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").DataFileView} DataFileView */
/** @typedef {import("../../display/browser/views").FileColumn} FileColumn */
/** @typedef {import("../../display/browser/views").FileRows} FileRows */
/** @typedef {import("../../display/browser/host").Context<DataFileView>} FileContext */

const FEW_DIGITS = 6;
const FILE_CSS = ".wrong { border-left: 3px solid var(--error); color: var(--error); padding: 2px 8px; font-weight: bold; }";

/** @param {FileContext} context */
export function render({ data, el, host }) {
  const view = data.view;
  const { body, say, stop, head } = frame(el, { title: `${view.table}: ${view.file}`, note: `in snapshot ${view.snapshotId}`, headline: `${many(view.rows, "row")} in ${bytes(view.bytes)}${view.level === null ? "" : `, level ${view.level}`}${view.partition && ` of ${view.partition}`} bucket ${view.bucket}`, css: FILE_CSS });
  head.querySelector("h3")?.replaceChildren(`${view.table}: `, shortFile(view.file));
  const wrong = problemsOf(view).map((text) => h("p", { class: "wrong" }, `wrong: ${text}`));
  const facts = card([["file", view.file], ["partition", view.partition], ["bucket", view.bucket], ["level", view.level],
    ["keys", view.minKey === null ? "" : ends(view.minKey, view.maxKey)], ["sequence numbers", ends(view.minSequenceNumber, view.maxSequenceNumber)],
    ["schema", view.schemaId], ["format", `${view.format} ${view.version}`], ["written by", view.writtenBy], ["rows", count(view.rows)], ["size", bytes(view.bytes)],
    ["checksums", checksOf(view)], ...view.properties]);

  const chunks = h("div");
  const names = ["whole file", ...view.parts.map((part, at) => `${view.partName} ${at}: rows from ${count(part.firstRow)}, ${count(part.rows)} of them${part.storedBytes === null ? "" : `, ${bytes(part.storedBytes)}`}`)];
  const pick = h("select", { "aria-label": "part of the file", onchange: () => part(Number(pick.value)) }, ...names.map((name, at) => h("option", { value: at }, name)));
  /** @param {number} at */
  const part = (at) => {
    chunks.replaceChildren(columnGrid(at === 0 ? view.columns : view.parts[at - 1].columns, say, at === 0 ? "columns of the whole file" : `columns of ${view.partName} ${at - 1}`));
    say(names[at]);
  };
  const hidden = view.partCount - view.parts.length;

  let rows = view.firstRows;
  const shown = h("div");
  const page = () => {
    const last = rows.offset + rows.cells.length;
    const caption = rows.cells.length ? `${rows.cells.length === view.rows ? (view.rows === 1 ? "the only row" : `all ${many(view.rows, "row")}`) : `rows ${count(rows.offset + 1)} to ${count(last)} of ${count(view.rows)}`}, as stored` : rows.problem || "no rows";
    shown.replaceChildren(grid({ caption, rows: /** @type {any[][]} */ (rows.cells), heads: rows.columns.map((name, at) => ({ name, right: areNumbers(rows.cells.map((cells) => cells[at])), text: (value) => valueText(value) })) }).element);
    back.disabled = !host.ask || rows.offset === 0;
    next.disabled = !host.ask || last >= view.rows;
    say(caption);
  };
  /** @param {number} offset */
  const go = async (offset) => {
    try {
      rows = (await host.ask?.({ offset }))?.rows ?? rows;
      page();
    } catch (error) {
      say(String(error));
    }
  };
  const size = Math.max(view.firstRows.cells.length, 1);
  const back = h("button", { onclick: () => go(Math.max(rows.offset - size, 0)) }, "previous rows");
  const next = h("button", { onclick: () => go(rows.offset + size) }, "next rows");
  const note = host.ask ? "" : "more rows need a kernel: run the cell again";
  const others = h("div", { class: "row" });
  body.append(...wrong, others, facts, h("div", { class: "row" }, view.partCount > 1 && h("label", {}, "show ", pick), hidden > 0 && h("span", { class: "faint" }, `${count(hidden)} more ${view.partName}s`)),
    chunks, shown, view.rows > size && h("div", { class: "row" }, host.ask && back, host.ask && next, h("span", { class: "faint" }, note)) || "");
  page();
  part(0);
  const quiet = host.onSelect(({ file }) => {
    if (!file || file === view.file) return others.replaceChildren();
    const magic = `%paimon_file ${view.table} ${file}`;
    say(`${file} was chosen: ${magic} shows it`);
    others.replaceChildren(copyButton(`copy ${magic}`, () => magic, say));
  });
  return () => {
    quiet();
    stop();
  };
}

/** @param {FileColumn[]} columns @param {(text: string) => void} say @param {string} caption */
function columnGrid(columns, say, caption) {
  const end = (/** @type {string} */ value, /** @type {any[]} */ row) => (value === "" ? "" : valueText(value, /^(DOUBLE|FLOAT)/i.test(row[1]), FEW_DIGITS));
  const heads = [{ name: "column", prose: true, text: breaking }, { name: "type", less: 700, prose: 160 }, { name: "compression", less: 700 }, { name: "encodings", less: 1000 },
    { name: "size", right: true, text: bytes }, { name: "before compression", right: true, less: 1000, text: bytes }, { name: "nulls", right: true, optional: true, text: count },
    { name: "min", optional: true, right: areNumbers(columns.map(({ low }) => low)), text: end }, { name: "max", optional: true, right: areNumbers(columns.map(({ high }) => high)), text: end }, { name: "pages", right: true, less: 1200, text: count }, { name: "with checksum", right: true, less: 1200, text: count }, { name: "wrong", right: true, optional: true, text: count }];
  const rows = columns.map((column) => [column.name, column.type, column.compression, column.encodings.join(", "), column.storedBytes, column.plainBytes, column.nulls,
    column.low ?? "", column.high ?? "", column.pages, column.checksums, column.wrong || null]);
  return grid({ heads, rows, caption, onChoose: (row) => say(`column ${row[0]} ${row[1]}: ${[row[4] !== null && bytes(row[4]), row[6] !== null && `${count(row[6])} nulls`, row[7] && `${row[7]} to ${row[8]}`].filter(Boolean).join(", ")}`) }).element;
}

/** @param {DataFileView} view */
function problemsOf(view) {
  const wrong = view.columns.reduce((sum, column) => sum + (column.wrong ?? 0), 0);
  return [
    view.rows !== view.entryRows && `it has ${many(view.rows, "row")}, the manifest says ${count(view.entryRows)}`,
    view.bytes !== view.entryBytes && `it has ${count(view.bytes)} bytes, the manifest says ${count(view.entryBytes)}`,
    wrong > 0 && `checksums of ${many(wrong, "page")} do not match their bytes`,
  ].filter((line) => line !== false);
}

/** @param {DataFileView} view */
function checksOf(view) {
  if (!view.columns.length || view.columns.some((column) => column.pages === null)) return "";
  const sum = (/** @type {"pages" | "checksums" | "wrong"} */ name) => view.columns.reduce((all, column) => all + (column[name] ?? 0), 0);
  if (!sum("checksums")) return `none of ${many(sum("pages"), "page")} has one`;
  const text = `${count(sum("checksums"))} of ${count(sum("pages"))} pages have one`;
  if (view.columns.some((column) => column.wrong === null)) return `${text}; the file is too large to compute them here`;
  return sum("wrong") ? `${text}, ${sum("wrong")} do not match` : `${text}, all match`;
}

/** Both ends, or what is the same. @param {string | number | null} low @param {string | number | null} high */
function ends(low, high) {
  return low === high ? String(low) : `${low} to ${high}`;
}
