// @ts-check
import { COLOURS, copyButton, count, frame, h, s } from "./shared.js";

/** @typedef {import("./views").ResultRows} ResultRows */
/** @typedef {import("./views").ResultColumn} ResultColumn */
/** @typedef {import("./host").Context<ResultRows>} ResultContext */

const RESULT_CSS = `
table.result { border-collapse: separate; border-spacing: 0; }
.result td { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; max-width: 24em; cursor: cell; border-bottom: 1px solid #8883; }
.result th { border-bottom: 1px solid #8888; position: relative; max-width: 24em; }
.result thead { position: sticky; top: 0; z-index: 2; } .result thead th { position: relative; background: var(--jp-layout-color0, Canvas); }
.result .number { position: sticky; left: 0; background: var(--jp-layout-color0, Canvas); text-align: right; cursor: default; z-index: 1; font-weight: normal; white-space: nowrap; overflow-wrap: normal; }
.result thead th.number { position: sticky; left: 0; z-index: 3; } input::placeholder { color: inherit; opacity: .75; }
.result button.sort { border: 0; background: none; padding: 0; font-weight: bold; text-align: left; overflow-wrap: anywhere; unicode-bidi: isolate; }
.result .filter { width: 100%; min-width: 4em; box-sizing: border-box; padding: 0 3px; font-weight: normal; }
.result .facts { font-weight: normal; font-size: 11px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.grip { position: absolute; right: 0; top: 0; bottom: 0; width: 7px; cursor: col-resize; touch-action: none; border-right: 2px solid #8885; }
.opened { border: 1px solid #8888; border-radius: 3px; padding: 4px 8px; margin-top: 6px; max-height: 16em; overflow: auto; overflow-wrap: anywhere; white-space: pre-wrap; }
.opened details { margin-left: 1em; white-space: normal; } .opened .leaf { margin-left: 2em; white-space: normal; }
`;

/** @param {ResultContext} context */
export function render({ data, el }) {
  const { columns, rows, footer } = data.view;
  const title = `${count(rows.length)} ${rows.length === 1 ? "row" : "rows"}, ${columns.length} ${columns.length === 1 ? "column" : "columns"}`;
  const { body, say, stop } = frame(el, { title, note: footer, css: RESULT_CSS });
  const widths = h("style");
  const state = { by: -1, descending: false, search: "", filters: columns.map(() => "") };
  /** @type {number[]} places in `rows`, as shown */
  let shown = [];
  /** @type {[number, number]} row among the shown ones and column of the cell that has the focus */
  let focus = [0, 0];

  const lines = rows.map((row, place) =>
    h("tr", { "aria-rowindex": place + 2 },
      h("th", { class: "number faint", scope: "row" }, place + 1),
      ...row.map((cell, column) => h("td", { class: `c${column}${columns[column].isNumber ? " right" : ""}`, tabindex: "-1" }, shownCell(cell)))));
  const tbody = h("tbody");

  const draw = () => {
    shown = resultOrder(data.view, state);
    tbody.replaceChildren(...shown.map((place) => lines[place]));
    found.replaceChildren(shown.length === rows.length ? "" : `${count(shown.length)} of ${count(rows.length)} rows`);
    focus = [0, focus[1]];
    lines.forEach((line) => line.querySelector("td[tabindex='0']")?.setAttribute("tabindex", "-1"));
    cellAt(focus)?.setAttribute("tabindex", "0");
  };
  /** @param {[number, number]} at @returns {HTMLElement | undefined} */
  const cellAt = ([row, column]) => /** @type {any} */ (lines[shown[row]]?.children[column + 1]);
  /** @param {number} row @param {number} column */
  const go = (row, column) => {
    cellAt(focus)?.setAttribute("tabindex", "-1");
    focus = [Math.max(0, Math.min(shown.length - 1, row)), Math.max(0, Math.min(columns.length - 1, column))];
    const cell = cellAt(focus);
    cell?.setAttribute("tabindex", "0");
    cell?.focus();
  };

  const heads = columns.map((column, place) => {
    const arrow = h("span", { "aria-hidden": "true" });
    const button = h("button", { class: "sort", title: "sort; Alt with arrows makes the column wider or narrower", onclick: () => sort(place) }, column.name, " ", arrow);
    const grip = h("span", { class: "grip", "aria-hidden": "true" });
    const head = h("th", { scope: "col", class: `c${place}${column.isNumber ? " right" : ""}`, "aria-sort": "none" },
      button, h("div", { class: "faint facts" }, column.type), ...summary(column, data.view.summarisedCount), grip);
    resizable(grip, button, head, (width) => resize(place, width));
    return { head, arrow };
  });
  /** @type {number[]} */
  const sizes = [];
  /** @param {number} place @param {number} width */
  const resize = (place, width) => {
    sizes[place] = Math.max(40, Math.round(width));
    widths.textContent = sizes.map((size, at) => `.result .c${at} { width: ${size}px; min-width: ${size}px; max-width: ${size}px; box-sizing: border-box; }`).join("");
  };
  /** @param {number} place */
  const sort = (place) => {
    const again = state.by === place;
    if (again && state.descending) state.by = -1;
    else state.by = place;
    state.descending = again && !state.descending;
    heads.forEach(({ head, arrow }, at) => {
      const direction = at !== state.by ? "none" : state.descending ? "descending" : "ascending";
      head.setAttribute("aria-sort", direction);
      arrow.replaceChildren({ none: "", ascending: "▲", descending: "▼" }[direction] ?? "");
    });
    draw();
    say(state.by < 0 ? "not sorted" : `sorted by ${columns[place].name}, ${state.descending ? "descending" : "ascending"}`);
  };
  const filters = columns.map((column, place) =>
    h("th", { class: `c${place}` }, h("input", {
      class: "filter", type: "search", "aria-label": `filter ${column.name}`, placeholder: "filter",
      title: "a piece of text; > 5, <= 5, = x, != x; null, not null",
      oninput: (/** @type {any} */ event) => { state.filters[place] = event.target.value; draw(); },
    })));
  const found = h("span", { class: "faint", role: "status" });
  const search = h("input", { type: "search", placeholder: "search", "aria-label": "search all columns",
    oninput: (/** @type {any} */ event) => { state.search = event.target.value; draw(); } });
  const asText = (/** @type {(cell: string | null) => string} */ write, /** @type {string} */ between) =>
    [columns.map((column) => write(column.name)), ...shown.map((place) => rows[place].map(write))].map((row) => row.join(between));
  const csv = () => asText(csvCell, ",").join("\n");
  const markdown = () => {
    const [head, ...rest] = asText(markdownCell, " | ");
    return [head, columns.map(() => "---").join(" | "), ...rest].map((row) => `| ${row} |`).join("\n");
  };
  const quiet = (/** @type {string} */ said) => say(said.length > 200 ? `${said.slice(0, 200)}…` : said);

  const opened = h("div", { class: "opened", role: "region", "aria-label": "the whole cell", tabindex: "0", hidden: true });
  const open = () => {
    const [row, column] = focus;
    const place = shown[row];
    if (place === undefined) return;
    const tree = /** @type {any[] | null} */ (columns[column].trees)?.[place];
    opened.hidden = false;
    opened.replaceChildren(h("b", {}, `${columns[column].name}, row ${place + 1}`), "\n", tree ? branch(tree, true) : shownCell(rows[place][column]));
  };
  const copy = async (/** @type {string} */ text) => {
    try {
      await navigator.clipboard.writeText(text);
      quiet(`copied: ${text}`);
    } catch {
      quiet(text);
    }
  };
  tbody.addEventListener("click", (event) => {
    const cell = /** @type {HTMLElement} */ (event.target).closest("td");
    if (!cell) return;
    const row = shown.indexOf(lines.indexOf(/** @type {any} */ (cell.parentElement)));
    go(row, Array.prototype.indexOf.call(cell.parentElement?.children, cell) - 1);
    if (isBig(cell) || columns[focus[1]].trees) open();
  });
  tbody.addEventListener("keydown", (event) => {
    const [row, column] = focus;
    const all = event.ctrlKey || event.metaKey;
    const moves = /** @type {Record<string, () => void>} */ ({
      ArrowRight: () => go(row, column + 1),
      ArrowLeft: () => go(row, column - 1),
      ArrowDown: () => go(row + 1, column),
      ArrowUp: () => go(row - 1, column),
      PageDown: () => go(row + 15, column),
      PageUp: () => go(row - 15, column),
      Home: () => go(all ? 0 : row, 0),
      End: () => go(all ? shown.length - 1 : row, columns.length - 1),
      Enter: open,
      " ": open,
    });
    const place = shown[row];
    if (all && event.key.toLowerCase() === "c" && place !== undefined) {
      copy(event.shiftKey ? rows[place].map((cell) => cell ?? "NULL").join("\t") : rows[place][column] ?? "NULL");
    } else if (moves[event.key]) moves[event.key]();
    else return;
    event.preventDefault();
  });

  const table = h("table", { class: "result", role: "grid", "aria-label": title, "aria-rowcount": rows.length + 1, "aria-colcount": columns.length + 1 },
    h("thead", {}, h("tr", {}, h("th", { class: "number faint", scope: "col" }, "row"), ...heads.map(({ head }) => head)),
      h("tr", {}, h("th", { class: "number" }), ...filters)), tbody);
  body.append(widths,
    h("div", { class: "row" }, search, found, copyButton("copy CSV", csv, quiet), copyButton("copy Markdown", markdown, quiet),
      h("span", { class: "faint" }, "Enter opens a cell; Ctrl+C copies it, Ctrl+Shift+C its row")),
    h("div", { class: "scroll" }, table), opened);
  draw();
  return stop;
}

/**
 * Places of the rows that pass the filters, in order.
 * @param {{columns: ResultColumn[], rows: (string | null)[][]}} view
 * @param {{by: number, descending: boolean, search: string, filters: string[]}} state
 */
function resultOrder({ columns, rows }, { by, descending, search, filters }) {
  const tests = filters.map((text, column) => resultTest(text, columns[column]));
  const wanted = search.toLowerCase();
  const places = rows.map((_, place) => place).filter((place) =>
    tests.every((test, column) => test(rows[place][column])) &&
    (!wanted || rows[place].some((cell) => (cell ?? "NULL").toLowerCase().includes(wanted))));
  if (by < 0) return places;
  const { ranks, isNumber } = columns[by];
  return places.sort((one, two) => {
    const [left, right] = [rows[one][by], rows[two][by]];
    // What is not there is last, whichever way the rest goes.
    if (left === null || right === null) return Number(left === null) - Number(right === null) || one - two;
    const order = ranks ? ranks[one] - ranks[two] : isNumber ? compareNumbers(left, right) : compareTexts(left, right);
    return (descending ? -order : order) || one - two;
  });
}

/** What a filter lets through. @param {string} text @param {ResultColumn} column @returns {(cell: string | null) => boolean} */
function resultTest(text, { isNumber }) {
  const trimmed = text.trim();
  if (!trimmed) return () => true;
  if (/^null$/i.test(trimmed)) return (cell) => cell === null;
  if (/^not null$/i.test(trimmed)) return (cell) => cell !== null;
  const match = /^(>=|<=|!=|=|>|<)\s*(.+)$/.exec(trimmed);
  if (match && !(isNumber && Number.isNaN(Number(match[2])) && match[2] !== "NaN")) {
    const compareCells = isNumber ? compareNumbers : compareTexts;
    const holds = /** @type {Record<string, (order: number) => boolean>} */ ({
      ">=": (order) => order >= 0, "<=": (order) => order <= 0, "!=": (order) => order !== 0,
      "=": (order) => order === 0, ">": (order) => order > 0, "<": (order) => order < 0,
    })[match[1]];
    return (cell) => cell !== null && holds(compareCells(cell, match[2]));
  }
  const piece = trimmed.toLowerCase();
  return (cell) => cell !== null && cell.toLowerCase().includes(piece);
}

/** By code points, as SQL does. @param {string} one @param {string} two */
function compareTexts(one, two) {
  const [left, right] = [[...one], [...two]];
  for (let at = 0; at < Math.min(left.length, right.length); at += 1) {
    const order = /** @type {number} */ (left[at].codePointAt(0)) - /** @type {number} */ (right[at].codePointAt(0));
    if (order) return order;
  }
  return left.length - right.length;
}

/** Exactly, also where a browser's numbers are not; NaN is above all, as in SQL. @param {string} one @param {string} two */
function compareNumbers(one, two) {
  const [left, right] = [Number(one), Number(two)];
  if (Number.isNaN(left) || Number.isNaN(right)) return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
  if (left !== right) return left < right ? -1 : 1;
  const plain = /^-?\d+(\.\d*)?$/;
  if (!plain.test(one) || !plain.test(two)) return 0;
  const places = Math.max(...[one, two].map((text) => (text.split(".")[1] ?? "").length));
  const [first, second] = [one, two].map((text) => {
    const [whole, rest = ""] = text.split(".");
    return BigInt(whole + rest.padEnd(places, "0"));
  });
  return first < second ? -1 : Number(first > second);
}

/** @param {string | null} cell */
function shownCell(cell) {
  return cell === null ? h("i", { class: "faint" }, "NULL") : cell;
}

/** @param {HTMLElement} cell */
function isBig(cell) {
  return cell.scrollWidth > cell.clientWidth || (cell.textContent ?? "").length > 80;
}

/** The lines under a head, and its picture. @param {ResultColumn} column @param {number} total */
function summary(column, total) {
  const share = total ? Math.round((100 * column.nullCount) / total) : 0;
  const nulls = column.nullCount ? `${column.nullCount && !share ? "<1" : share} % null` : "no nulls";
  const facts = [nulls, column.nanCount ? `${count(column.nanCount)} NaN` : "", column.distinctCount === null ? "" : `${count(column.distinctCount)} distinct`];
  const range = column.low === null ? "" : column.low === column.high ? column.low : `${column.low} … ${column.high}`;
  const top = column.top.map(([text, times]) => `${text}: ${count(times)}`).join("; ");
  const words = facts.filter(Boolean).join(", ");
  const title = [words, range, top && `most frequent: ${top}`].filter(Boolean).join("\n");
  return [
    h("div", { class: "faint facts", title }, words),
    range && h("div", { class: "faint facts", title }, range),
    column.bins.length > 0 && histogram(column),
    column.bins.length === 0 && column.top.length > 0 && bars(column, total),
  ].filter(Boolean);
}

/** @param {ResultColumn} column */
function histogram({ name, bins, low, high }) {
  const most = Math.max(...bins);
  const label = `distribution of ${name} from ${low} to ${high}: ${bins.join(", ")}`;
  return s("svg", { width: 96, height: 20, viewBox: "0 0 96 20", role: "img", "aria-label": label },
    s("title", {}, label),
    ...bins.map((number, place) => {
      const height = number ? Math.max(1, (19 * number) / most) : 0;
      return s("rect", { x: place * 8, y: 20 - height, width: 7, height, fill: COLOURS.blue });
    }));
}

/** The most frequent texts, the rest hatched by its absence. @param {ResultColumn} column @param {number} total */
function bars({ name, top }, total) {
  const label = `most frequent of ${name}: ${top.map(([text, times]) => `${text} ${times}`).join(", ")}`;
  let x = 0;
  return s("svg", { width: 96, height: 10, viewBox: "0 0 96 10", role: "img", "aria-label": label },
    s("title", {}, label), s("rect", { x: 0, y: 1, width: 96, height: 8, fill: "none", stroke: "currentColor", "stroke-opacity": 0.4 }),
    ...top.map(([, times], place) => {
      const width = (96 * times) / Math.max(total, 1);
      const bar = s("rect", { x, y: 1, width: Math.max(width - 1, 0.5), height: 8, fill: place % 2 ? COLOURS.sky : COLOURS.blue });
      x += width;
      return bar;
    }));
}

/**
 * Let a head be dragged wider, or Alt and arrows do it.
 * @param {HTMLElement} grip @param {HTMLElement} button @param {HTMLElement} head @param {(width: number) => void} resize
 */
function resizable(grip, button, head, resize) {
  grip.addEventListener("pointerdown", (event) => {
    const [start, width] = [event.clientX, head.getBoundingClientRect().width];
    const move = (/** @type {PointerEvent} */ now) => resize(width + now.clientX - start);
    grip.setPointerCapture(event.pointerId);
    grip.addEventListener("pointermove", move);
    grip.addEventListener("pointerup", () => grip.removeEventListener("pointermove", move), { once: true });
    event.preventDefault();
  });
  button.addEventListener("keydown", (event) => {
    const step = /** @type {Record<string, number>} */ ({ ArrowRight: 16, ArrowLeft: -16 })[event.key];
    if (!event.altKey || !step) return;
    resize(head.getBoundingClientRect().width + step);
    event.preventDefault();
  });
}

/** A nested value, to be opened level by level. @param {any} tree @param {boolean} [isOpen] @returns {HTMLElement | string} */
function branch(tree, isOpen = false) {
  if (tree === null) return h("i", { class: "faint" }, "NULL");
  if (!Array.isArray(tree)) return String(tree);
  const [kind, ...items] = tree;
  const inner = items.map((item, place) => {
    const [name, value] = kind === "list" ? [String(place), item] : [leafText(item[0]), item[1]];
    const below = branch(value);
    if (below instanceof HTMLDetailsElement) {
      below.querySelector("summary")?.prepend(`${name}: `);
      return below;
    }
    return h("div", { class: "leaf" }, `${name}: `, below);
  });
  return h("details", { open: isOpen }, h("summary", {}, `${kind} of ${count(items.length)}`), ...inner);
}

/** @param {any} tree @returns {string} */
function leafText(tree) {
  if (!Array.isArray(tree)) return String(tree ?? "NULL");
  return tree.slice(1).map((item) => (Array.isArray(item) ? item.map(leafText).join(": ") : leafText(item))).join(", ");
}

/** @param {string | null} cell */
function csvCell(cell) {
  if (cell === null) return "";
  const text = /^'.*'$/s.test(cell) ? cell.slice(1, -1) : cell;
  return text === "" || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param {string | null} cell */
function markdownCell(cell) {
  return (cell ?? "NULL").replace(/[\\|*_`<>[\]&]/g, (mark) => `\\${mark}`).replaceAll("\n", " ");
}
