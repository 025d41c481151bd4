// @ts-check
import { amountColour, bytes, card, COLOURS, compare, count, empty, frame, h, hasPlace, hatchKey, legend, many, moment, placeText } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").Heatmap} Heatmap */
/** @typedef {import("../../display/browser/views").HeatmapRow} HeatmapRow */
/** @typedef {import("../../display/browser/host").Context<Heatmap>} HeatmapContext */
/** @typedef {{bytes: number | null, files: number | null, rows: number | null, level0: number | null, updatedMillis: number | null}} HeatNumbers */

const MEASURE_TEXTS = /** @type {Record<string, {name: string, text: (value: number) => string}>} */ ({
  bytes: { name: "bytes", text: bytes },
  files: { name: "files", text: count },
  rows: { name: "rows", text: count },
  file_size: { name: "average bytes of a file", text: (value) => bytes(Math.round(value)) },
  level_0: { name: "share of files on level 0", text: (value) => `${Math.round(100 * value)} %` },
  age: { name: "age compared with the newest file", text: span },
});
/** The shade of the largest, as few of the scale as its text can be read on when it is marked. */
const MOST_SHADE = 4;
/** Below this ratio of the largest to the median, buckets are called even. */
const EVEN = 2;

const HEAT_CSS = `
td.cell { padding: 3px 8px; text-align: right; white-space: nowrap; min-width: 4em; font-variant-numeric: tabular-nums; cursor: pointer; border: 1px solid transparent; }
td.cell[aria-selected=true] { outline: 3px dashed ${COLOURS.red}; outline-offset: -3px; } td.cell:focus-visible { outline: 3px solid var(--focus); box-shadow: inset 0 0 0 5px #fff; outline-offset: -3px; }
th.over { padding: 3px 9px; } td.none { cursor: default; background: repeating-linear-gradient(45deg, transparent 0 4px, #8884 4px 5px); } th[scope=row] { position: sticky; left: 0; z-index: 2; max-width: 18em; font-weight: normal; }
.ramp { display: inline-block; width: 12em; height: .9em; vertical-align: middle; background: linear-gradient(90deg, ${[0, 1, 2, 3, MOST_SHADE].map((at) => `var(--amount${at})`).join(",")}); }
`;

/** @param {HeatmapContext} context */
export function render({ data, el, host }) {
  let view = data.view;
  let measure = view.measures.includes(view.measure) ? view.measure : view.measures[0];
  let logarithmic = false;
  let order = "measure";
  /** @type {{partition: string, bucket?: number} | null} */
  let chosen = null;
  const title = () => `${view.table}: buckets${view.snapshotId === null ? "" : ` of snapshot ${view.snapshotId}`}`;
  const { body, say, stop, head } = frame(el, { title: title(), headline: headlineOf(view), css: HEAT_CSS });
  const table = h("table", { role: "grid", "aria-label": "partitions and buckets" });
  const keys = h("div");
  const notes = h("div", { class: "legend" });
  const details = h("div");

  const pick = h("select", { "aria-label": "measure", onchange: () => change(pick.value) },
    ...view.measures.map((name) => h("option", { value: name }, nameOf(view, name))));
  pick.value = measure;
  const sort = h("select", { "aria-label": "order of partitions", onchange: () => { order = sort.value; draw(); } },
    h("option", { value: "measure" }, "largest first"), h("option", { value: "smallest" }, "smallest first"), h("option", { value: "partition" }, "by partition"));
  const scale = h("button", { "aria-pressed": "false", onclick: () => {
    logarithmic = !logarithmic;
    scale.setAttribute("aria-pressed", String(logarithmic));
    draw();
  } }, "log scale");
  if (!view.rows.length) {
    body.append(empty("No data files yet. The first are made by", `INSERT INTO ${view.table} VALUES …`));
    return stop;
  }
  body.append(h("div", { class: "row tools" }, h("label", {}, "colour ", pick), h("label", {}, "rows ", sort), scale),
    h("div", { class: "scroll" }, table), keys, details, notes);

  /** @param {string} name */
  const change = async (name) => {
    measure = name;
    if (host.ask && view.rest && view.measure !== name) {
      try {
        view = (await host.ask({ by: name, snapshot: view.snapshotId })).view;
      } catch (error) {
        say(String(error));
      }
    }
    draw();
    say(skewText(view, measure) || nameOf(view, name));
  };

  /** @type {HTMLElement[][]} */
  let cells = [];
  /** @type {HeatmapRow[]} */
  let shown = [];
  let current = [0, 0];

  const draw = () => {
    const { text } = MEASURE_TEXTS[measure];
    const rows = view.rows.map((row) => ({ row, total: amount(totalOf(row), measure, view) }));
    rows.sort(order === "partition" ? (left, right) => compare(left.row.partition, right.row.partition)
      : (left, right) => ((right.total ?? -1) - (left.total ?? -1)) * (order === "smallest" ? -1 : 1));
    if (view.rest) rows.push({ row: view.rest, total: amount(totalOf(view.rest), measure, view) });
    const known = view.rows.flatMap((row) => view.columns.map((_, at) => amount(numbersAt(row, at), measure, view) ?? 0));
    const largest = Math.max(0, ...known);
    const least = logarithmic ? Math.min(largest, ...known.filter((value) => value > 0)) : 0;
    const scaled = (/** @type {number} */ value) => {
      if (!largest || value <= least) return value && least === largest ? 1 : 0;
      return least ? Math.log(value / least) / Math.log(largest / least) : value / largest;
    };
    shown = rows.map((row) => row.row);
    cells = [];
    const lines = rows.map(({ row, total }) => {
      const name = rowName(row);
      const line = view.columns.map((column, at) => {
        const value = amount(numbersAt(row, at), measure, view);
        const there = row.files[at] !== null;
        const label = `${name}, ${columnName(column)}: ${there && value !== null ? text(value) : "no files"}`;
        const colour = value === null || !there ? "" : row.partition === null ? "" : paint(scaled(value));
        return h("td", { role: "gridcell", tabindex: "-1", class: there ? "cell" : "cell none", style: colour, "aria-label": label, title: label,
          "aria-selected": String(isChosen(row, column)) }, there && value !== null ? text(value) : "");
      });
      cells.push(line);
      return h("tr", { role: "row" }, h("th", { scope: "row", role: "rowheader" }, name), ...line,
        view.columns.length > 1 && h("td", { class: "right", role: "gridcell" }, total === null ? "" : text(total)));
    });
    cells.forEach((line, y) => line.forEach((cell, x) => cell.addEventListener("click", () => { go(y, x); choose(shown[y], x); })));
    table.replaceChildren(
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, h("th", { scope: "col", role: "columnheader" }, "partition"),
        ...view.columns.map((column) => h("th", { scope: "col", role: "columnheader", class: "right over" }, columnName(column))),
        view.columns.length > 1 && h("th", { scope: "col", role: "columnheader", class: "right" }, "all buckets"))),
      h("tbody", { role: "rowgroup" }, ...lines));
    table.onkeydown = (event) => key(event);
    current = [Math.min(current[0], Math.max(cells.length - 1, 0)), current[1]];
    cells[current[0]]?.[current[1]]?.setAttribute("tabindex", "0");
    keys.replaceChildren(legend([h("span", {}, `${text(least)} `, h("span", { class: "ramp", role: "img", "aria-label": "colours from low to high" })), `${text(largest)}${logarithmic ? ", log scale" : ""}`],
      view.rows.some((row) => row.files.includes(null)) && [hatchKey(), "no such bucket"]));
    notes.replaceChildren(...[skewText(view, measure), coverText(view)].filter(Boolean).map((line) => h("div", {}, line)));
  };

  /** @param {number} y @param {number} x */
  const go = (y, x) => {
    cells[current[0]]?.[current[1]]?.setAttribute("tabindex", "-1");
    current = [Math.max(0, Math.min(cells.length - 1, y)), Math.max(0, Math.min(view.columns.length - 1, x))];
    const cell = cells[current[0]]?.[current[1]];
    cell?.setAttribute("tabindex", "0");
    cell?.focus();
  };

  /** @param {KeyboardEvent} event */
  const key = (event) => {
    const [y, x] = current;
    const steps = /** @type {Record<string, () => void>} */ ({
      ArrowDown: () => go(y + 1, x), ArrowUp: () => go(y - 1, x), ArrowRight: () => go(y, x + 1), ArrowLeft: () => go(y, x - 1),
      PageDown: () => go(y + 10, x), PageUp: () => go(y - 10, x),
      Home: () => go(event.ctrlKey ? 0 : y, 0), End: () => go(event.ctrlKey ? cells.length - 1 : y, view.columns.length - 1),
      Enter: () => choose(shown[y], x), " ": () => choose(shown[y], x),
    });
    if (!(event.key in steps) || !(/** @type {HTMLElement} */ (event.target).matches("td"))) return;
    steps[event.key]();
    event.preventDefault();
  };

  /** @param {HeatmapRow} row @param {number} at */
  const choose = (row, at) => {
    const column = view.columns[at];
    const numbers = numbersAt(row, at);
    const isSingle = column.first === column.last;
    if (row.partition !== null) {
      chosen = isSingle ? { partition: row.partition, bucket: column.first } : { partition: row.partition };
      host.select(chosen);
    }
    mark();
    details.replaceChildren(card([["where", `${rowName(row)}, ${columnName(column)}`],
      ...view.measures.map((name) => {
        const value = amount(numbers, name, view);
        return /** @type {[string, string]} */ ([nameOf(view, name), value === null ? "" : MEASURE_TEXTS[name].text(value)]);
      }),
      ["newest file", moment(numbers.updatedMillis)]]));
    const value = amount(numbers, measure, view);
    say(`${rowName(row)}, ${columnName(column)}: ${value === null ? "no files" : MEASURE_TEXTS[measure].text(value)}`);
  };

  const mark = () => cells.forEach((line, y) => line.forEach((cell, x) =>
    cell.setAttribute("aria-selected", String(isChosen(shown[y], view.columns[x])))));
  /** @param {HeatmapRow} row @param {{first: number, last: number}} column */
  const isChosen = (row, column) => chosen !== null && row.partition !== null && row.partition === chosen.partition &&
    (chosen.bucket === undefined || (column.first <= chosen.bucket && chosen.bucket <= column.last));

  const quiet = host.onSelect(async (selection) => {
    const { partition, bucket, snapshot } = selection;
    if (hasPlace(selection)) {
      chosen = { partition: partition ?? "", bucket };
      mark();
      const isShown = cells.some((line) => line.some((cell) => cell.getAttribute("aria-selected") === "true"));
      say(isShown ? `${placeText(selection)} is marked` : `${placeText(selection)} has no row of its own here`);
    }
    if (snapshot === undefined || snapshot === view.snapshotId) return;
    if (!host.ask) return say(`snapshot ${snapshot} was chosen: %paimon_heatmap ${view.table} --snapshot ${snapshot} shows it`);
    try {
      view = (await host.ask({ by: measure, snapshot })).view;
      head.querySelector("h3")?.replaceChildren(title());
      body.previousElementSibling?.replaceChildren(headlineOf(view));
      draw();
      say(title());
    } catch (error) {
      say(String(error));
    }
  });
  draw();
  return () => {
    quiet();
    stop();
  };
}

/** @param {HeatmapRow} row @param {number} at @returns {HeatNumbers} */
function numbersAt(row, at) {
  return { bytes: row.bytes[at], files: row.files[at], rows: row.rows[at], level0: row.level0[at], updatedMillis: row.updatedMillis[at] };
}

/** @param {HeatmapRow} row @returns {HeatNumbers} */
function totalOf(row) {
  const sum = (/** @type {(number | null)[]} */ values) => values.reduce((/** @type {number} */ all, value) => all + Number(value ?? 0), 0);
  const times = row.updatedMillis.filter((millis) => millis !== null);
  return { bytes: sum(row.bytes), files: sum(row.files), rows: sum(row.rows), level0: sum(row.level0), updatedMillis: times.length ? Math.max(...times) : null };
}

/** @param {HeatNumbers} numbers @param {string} measure @param {Heatmap} view @returns {number | null} */
function amount(numbers, measure, view) {
  const { files, updatedMillis } = numbers;
  if (!files) return null;
  if (measure === "file_size") return numbers.bytes === null ? null : numbers.bytes / files;
  if (measure === "level_0") return (numbers.level0 ?? 0) / files;
  if (measure === "age") return updatedMillis === null || view.newestMillis === null ? null : Math.max(view.newestMillis - updatedMillis, 0);
  return { bytes: numbers.bytes, files, rows: numbers.rows }[measure] ?? null;
}

/** @param {number} share from 0 to 1 */
function paint(share) {
  return `background:${amountColour(share, MOST_SHADE)};color:var(--on-amount)`;
}

/** @param {HeatmapRow} row */
function rowName(row) {
  return row.partition === null ? `… ${count(row.partitionCount)} more` : row.partition || "(not partitioned)";
}

/** @param {{first: number, last: number}} column */
function columnName({ first, last }) {
  return first < 0 ? "waiting" : first === last ? `bucket ${first}` : `buckets ${first}-${last}`;
}

/** @param {Heatmap} view @param {string} measure */
function skewText(view, measure) {
  const found = view.skews.find((skew) => skew.measure === measure);
  if (!found) return "";
  const { text } = MEASURE_TEXTS[measure];
  const ratio = found.ratio === null ? "" : `, max/median ${found.ratio.toFixed(1)}`;
  const gini = found.gini === null ? "" : `, Gini ${found.gini.toFixed(2)}`;
  return `by bucket: max ${text(found.maximum)}, median ${text(found.median)}${ratio}${gini}`;
}

/** @param {Heatmap} view */
function coverText(view) {
  const partitions = view.rows.some(({ partition }) => partition) ? ` in ${many(view.partitionCount, "partition")}` : "";
  const all = many(view.bucketCount, "bucket") + partitions;
  const some = view.rest ? `; the ${count(view.rows.length)} with most ${nameOf(view, view.measure)}, and the rest: --top N for more` : "";
  const groups = view.columns.some(({ first, last }) => first !== last) ? "; consecutive buckets share columns" : "";
  return all + some + groups;
}

/** @param {number} millis */
function span(millis) {
  for (const [size, unit] of /** @type {[number, string][]} */ ([[31_557_600_000, "years"], [86_400_000, "d"], [3_600_000, "h"], [60_000, "min"], [1000, "s"]])) {
    if (millis >= size) return `${(millis / size).toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 })} ${unit}`;
  }
  return `${Math.round(millis)} ms`;
}

/** How even the buckets are. @param {Heatmap} view */
function headlineOf(view) {
  const found = view.skews.find((skew) => skew.measure === view.measure) ?? view.skews[0];
  const ratio = found?.ratio ?? null;
  if (!found || ratio === null) return "";
  return `${ratio < EVEN ? "Buckets are even: the" : "The"} largest has ${ratio.toFixed(1)} times the ${nameOf(view, found.measure)} of the median bucket`;
}

/** @param {Heatmap} view @param {string} measure */
function nameOf(view, measure) {
  return measure === "rows" ? view.rowsAre : MEASURE_TEXTS[measure]?.name ?? measure;
}
