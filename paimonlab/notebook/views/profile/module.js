// @ts-check
import { areNumbers, breaking, card, COLOURS, count, empty, figure, frame, grid, h, many, s, valueText } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").Profile} Profile */
/** @typedef {import("../../display/browser/views").ProfileColumn} ProfileColumn */
/** @typedef {import("../../display/browser/host").Context<Profile>} ProfileContext */

const PROFILE_CSS = `
.profile td { height: 24px; } .profile td svg { display: inline-block; max-width: none; }
.profile tbody tr { cursor: pointer; }
.parts { display: flex; flex-wrap: wrap; gap: 8px 24px; align-items: flex-start; } .parts > * { flex: 1 1 20em; min-width: 0; }
.detail { border-top: 1px solid var(--rule); margin-top: 8px; padding-top: 4px; } .detail h4 { margin: 4px 0; overflow-wrap: anywhere; unicode-bidi: isolate; }
.scroll.spread { max-height: 16em; }
`;
const SHARE_NAMES = ["p5", "p25", "median", "p75", "p95"];

/** @param {ProfileContext} context */
export function render({ data, el }) {
  const view = data.view;
  const total = view.rowCount;
  const title = `${view.title}: columns`;
  const { body, say, stop } = frame(el, { title, note: view.notes.join("; "), headline: headlineOf(view), css: PROFILE_CSS });
  const isFigures = view.columns.every(({ allLow, low }) => areNumbers([allLow ?? low]) || (allLow ?? low) === null);
  /** @type {ProfileColumn | null} */
  let chosen = total ? view.columns[0] ?? null : null;
  let wanted = "";

  const list = h("div", { class: "profile" });
  const found = h("span", { class: "faint", role: "status" });
  const detail = h("div", { class: "detail", role: "region", "aria-label": "the chosen column", tabindex: "0" });
  const draw = () => {
    const columns = view.columns.filter((column) => `${column.name} ${column.type}`.toLowerCase().includes(wanted));
    found.replaceChildren(columns.length === view.columns.length ? "" : `${count(columns.length)} of ${count(view.columns.length)} columns`);
    const made = grid({
      label: "columns",
      heads: [
        { name: "column", text: breaking, prose: 160 }, { name: "type", less: 700 },
        { name: "distribution", optional: true, prose: 124, text: (_value, row) => spread(row[9], total, 110, 18) },
        { name: "nulls", right: true, optional: true, text: (_value, row) => nullsOf(row[9], view) },
        { name: "distinct", right: true, optional: true, less: 700, text: (_value, row) => distinctOf(row[9], view) },
        { name: "min", right: isFigures, optional: true, text: figureOf }, { name: "max", right: isFigures, optional: true, text: figureOf },
        { name: "mean", right: true, optional: true, less: 1000, text: short }, { name: "std", right: true, optional: true, less: 1000, text: short },
      ],
      rows: columns.map((column) => [column.name, column.type, column.bins.length + column.top.length || null, ...(total ? [column.allNulls ?? column.nullCount, column.distinctCount] : [null, null]), column.allLow ?? column.low, column.allHigh ?? column.high,
        column.mean, column.standardDeviation, column]),
      selected: (row) => row[9] === chosen,
      onChoose: !total ? undefined : (row) => {
        chosen = row[9];
        list.querySelectorAll("tbody tr").forEach((line) => line.setAttribute("aria-selected", String(line.matches(":focus"))));
        open();
      },
    });
    list.replaceChildren(made.element);
  };
  const open = () => {
    if (!chosen || !total) return;
    detail.replaceChildren(...columnParts(chosen, view));
    say(`${chosen.name}: ${nullsOf(chosen, view)} null, ${distinctOf(chosen, view) || "unknown"} distinct`);
  };
  const search = h("input", { type: "search", placeholder: "search", "aria-label": "search columns by name and type",
    oninput: (/** @type {any} */ event) => { wanted = event.target.value.toLowerCase(); draw(); } });
  body.append(h("div", { class: "row tools" }, view.columns.length >= 10 && search, found), list, total ? detail : view.isEmpty ? empty("There are no rows. They are added by", `INSERT INTO ${view.table} VALUES …`) : "");
  draw();
  if (chosen && total) open();
  return stop;
}

/** @param {Profile} view */
function headlineOf({ columns, rowCount, sample }) {
  const rows = many(rowCount, "row");
  if (!sample) return `${rows}, ${many(columns.length, "column")}`;
  const ofRows = sample.ofRows === null ? rows : `${count(rowCount)} of ${count(sample.ofRows)} rows`;
  return `${many(columns.length, "column")}, from ${count(sample.fileCount)} of ${count(sample.ofFiles)} files (${ofRows})`;
}

/** Everything of one column. @param {ProfileColumn} column @param {Profile} view */
function columnParts(column, view) {
  const total = view.rowCount;
  const facts = card([
    ["type", column.type],
    [view.sample ? "rows read" : "rows", count(total)],
    ["nulls", column.allNulls ?? column.nullCount ? `${count(column.allNulls ?? column.nullCount)}, ${nullsOf(column, view)}` : "none"],
    ["NaN", column.nanCount ? count(column.nanCount) : ""],
    ["infinite", column.infiniteCount ? count(column.infiniteCount) : ""],
    ["distinct", distinctOf(column, view)],
    ["min", valueOf(column.allLow ?? column.low)], ["max", valueOf(column.allHigh ?? column.high)],
    ["mean", column.mean === null ? "" : valueText(String(column.mean))],
    ["standard deviation", column.standardDeviation === null ? "" : valueText(String(column.standardDeviation))],
    ...column.quantiles.map((text, place) => /** @type {[string, string]} */ ([SHARE_NAMES[place], `${column.isSampled ? "≈" : ""}${text}`])),
    ["length", column.longest === null ? "" : column.shortest === column.longest ? count(column.longest) : `${count(column.shortest)} to ${count(column.longest)}, mean ${short(column.meanLength)}`],
    ["longest", column.longestText],
    ["", column.hasFacts ? "" : "of a nested column only the nulls are counted"],
  ]);
  const sign = column.topError ? "≥" : "";
  const top = column.top.length > 0 && grid({ caption: "most frequent",
    heads: [{ name: "value" }, { name: "rows", right: true, text: (value) => `${sign}${count(value)}` }, { name: view.sample ? "of those read" : "of all", right: true, text: (value) => shareOf(value, total) }],
    rows: column.top.map(([text, times]) => [text, times, times]) }).element;
  const bins = column.bins.length > 1 && h("details", {}, h("summary", {}, `counts of ${column.bins.length} ranges`),
    grid({ caption: "ranges", heads: [{ name: "from" }, { name: "rows", right: true, text: count }], rows: column.bins.map((number, place) => [column.binStarts[place], number]) }).element);
  const picture = column.bins.length > 1 && h("div", {}, spread(column, total, 420, 110), h("div", { class: "row faint", style: "justify-content:space-between;max-width:420px" }, h("span", {}, column.low ?? ""), h("span", {}, column.high ?? "")));
  return [h("h4", {}, column.name), h("div", { class: "parts" }, facts, h("div", {}, ...[picture, bins, top].filter((part) => part !== false)))];
}

/** A small picture of how values are spread. @param {ProfileColumn} column @param {number} total @param {number} width @param {number} height */
function spread(column, total, width, height) {
  const { name, bins, binStarts, top } = column;
  if (bins.length > 1) {
    const most = Math.max(...bins);
    const step = width / bins.length;
    const label = `distribution of ${name} from ${binStarts[0]} on: ${bins.join(", ")}`;
    return s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, s("title", {}, label),
      ...bins.map((number, place) => {
        const tall = number ? Math.max(1, ((height - 2) * number) / most) : 0;
        return s("rect", { x: place * step, y: height - tall, width: Math.max(step - 1, 0.5), height: tall, fill: COLOURS.blue },
          s("title", {}, `from ${binStarts[place]}: ${count(number)}`));
      }));
  }
  if (!top.length) return "";
  let x = 0;
  const label = `most frequent of ${name}: ${top.map(([text, times]) => `${text} ${times}`).join(", ")}`;
  return s("svg", { width, height: 12, viewBox: `0 0 ${width} 12`, role: "img", "aria-label": label }, s("title", {}, label),
    s("rect", { x: 0.5, y: 1, width: width - 1, height: 10, fill: "none", stroke: "currentColor", "stroke-opacity": 0.4 }),
    ...top.map(([text, times], place) => {
      const wide = (width * times) / Math.max(total, 1);
      const bar = s("rect", { x, y: 1, width: Math.max(wide - 1, 0.5), height: 10, fill: place % 2 ? COLOURS.sky : COLOURS.blue }, s("title", {}, `${text}: ${count(times)}`));
      x += wide;
      return bar;
    }));
}

/** What is not nothing never becomes it. @param {number} part @param {number} total */
function shareOf(part, total) {
  if (!part) return "0 %";
  if (part === total) return "100 %";
  const percent = (100 * part) / total;
  return percent < 0.1 ? "<0.1 %" : percent > 99.9 ? ">99.9 %" : `${percent.toFixed(1)} %`;
}

/** The share of nulls: of all rows where that is known. @param {ProfileColumn} column @param {Profile} view */
function nullsOf({ allNulls, nullCount }, { rowCount, sample }) {
  return typeof allNulls === "number" && sample?.ofRows ? shareOf(allNulls, sample.ofRows) : shareOf(nullCount, rowCount);
}

/** @param {ProfileColumn} column @param {Profile} view */
function distinctOf({ distinctCount, isDistinctExact }, { sample }) {
  return distinctCount === null ? "" : `${sample ? "≥" : isDistinctExact ? "" : "≈"}${count(distinctCount)}`;
}

/** @param {string | null} text */
function valueOf(text) {
  return text && valueText(text);
}

/** @param {number | null} value */
function short(value) {
  return value === null ? "" : value.toLocaleString("en-US", { maximumSignificantDigits: 6 });
}

/** A bound, its exact value shown by the pointer. @param {string | null} text @param {any[]} row */
function figureOf(text, row) {
  return text !== null && areNumbers([text]) && !/char|string/i.test(row[1]) ? h("span", { title: text }, figure(text)) : text;
}
