// @ts-check
import { breaking, count, h, many, plainFrame } from "../../display/browser/parts.js";
import { branch, shownCell } from "./cells.js";
import { asCsv, asInsert, asMarkdown } from "./copies.js";
import { factWords, rangeOf, resizable, summary } from "./heads.js";
import { rowSource } from "./rows.js";
import { usualWidth, widthRules } from "./widths.js";
import { rowWindow } from "./window.js";

/** @typedef {import("../../display/browser/views").ResultRows} ResultRows */
/** @typedef {import("../../display/browser/host").Context<ResultRows>} ResultContext */
/** @typedef {import("./rows.js").Row} Row */

const BROWSED = 100_000;
const TELL_MILLIS = 200;
const RESULT_CSS = `
.titled { display: flex; gap: 12px; align-items: center; flex: 1 1 auto; min-width: 0; } .titled h3 { flex: none; }
.titled .tools { position: static; min-width: 0; margin: -4px 0 -4px auto; overflow-x: auto; scrollbar-width: thin; gap: 4px; } .titled .tools > [type=search] { flex: 0 1 188px; width: 0; min-width: 7em; }
.result { border-collapse: separate; border-spacing: 0; table-layout: fixed; --back: var(--ground); }
th, td { border-bottom: 1px solid var(--rule); max-width: none; } th, td, .clip, .facts { overflow: hidden; } td, .facts { text-overflow: ellipsis; }
td, tbody .number { padding-block: 2px; } td { height: 24px; line-height: 18px; white-space: pre; cursor: cell; }
.wrap td { white-space: pre-wrap; height: auto; }
.clip { max-height: 216px; }
.result :is(th, td):not(.number) { padding-inline: 8px; } th.right svg { margin-left: auto; }
thead { position: sticky; top: 0; z-index: 2; } thead th { position: relative; background: var(--back); }
.number { position: sticky; left: 0; background: var(--back); text-align: right; z-index: 1; white-space: nowrap; }
tbody .number { cursor: copy; } thead .number { z-index: 4; }
button.sort { border: 0; background: none; padding: 0; font-weight: 600; text-align: inherit; white-space: normal; overflow-wrap: anywhere; unicode-bidi: isolate; }
.filter { width: 100%; min-width: 4em; box-sizing: border-box; padding: 0 3px; }
.number, .filter, .facts { font-weight: normal; } .facts { font-size: 11px; white-space: nowrap; }
.here .number { box-shadow: inset 3px 0 var(--focus); } td:focus-visible { outline-offset: -3px; }
.rows { overflow-anchor: none; max-height: 416px; } .small { width: 4em; }
.grip { position: absolute; inset: 0 0 0 auto; width: 7px; cursor: col-resize; touch-action: none; border-right: 1px solid var(--rule); }
.opened { border: 1px solid var(--rule); border-radius: 4px; padding: 4px 8px; margin-top: 8px; max-height: 16em; overflow: auto; overflow-wrap: anywhere; white-space: pre-wrap; }
.opened details, .leaf { margin-left: 1em; white-space: normal; } .leaf { margin-left: 2em; }
`;

/** @param {ResultContext} context */
export function render({ data, el, host }) {
  const { columns, rows, footer, rowCount } = data.view;
  const rowWords = many(rowCount, "row");
  const title = `${rowWords}, ${many(columns.length, "column")}`;
  // A few rows are read, not searched.
  const isLong = rowCount >= 10;
  const { head: above, body, say, stop } = plainFrame(el, { title, note: footer.split("; ").filter((part) => part !== rowWords).join("; "), css: RESULT_CSS });
  const quiet = (/** @type {string} */ said) => say(said.length > 200 ? `${said.slice(0, 200)}…` : said);
  const failed = (/** @type {unknown} */ reason) => quiet(reason instanceof Error ? reason.message : String(reason));
  const source = rowSource(data.view, host.ask);
  const state = { by: -1, descending: false, search: "", filters: columns.map(() => "") };
  /** @type {[number, number]} position of the row and column of the cell that the keys are at */
  let focus = [0, 0];
  let isWrapped = false;
  const browsed = () => Math.min(source.count, BROWSED);

  // Rows.
  const tbody = h("tbody");
  /** @param {number} position */
  const makeRow = (position) => {
    const row = source.at(position);
    const isHere = position === focus[0];
    const cells = columns.map((facts, column) => {
      const shown = row ? shownCell(row.cells[column], facts) : "…";
      return h("td", { class: `c${column}${facts.isNumber ? " right" : ""}`, tabindex: isHere && column === focus[1] ? "0" : "-1" },
        isWrapped ? h("div", { class: "clip" }, shown) : shown);
    });
    return h("tr", { "aria-rowindex": position + 3, "aria-busy": row ? null : "true", class: isHere && "here" },
      h("th", { class: "number faint", scope: "row", title: "copy this row" }, row ? count(row.place + 1) : ""), ...cells);
  };
  const need = (/** @type {number} */ first, /** @type {number} */ end) => {
    source.need(first, end)?.then(() => {
      const isIn = tbody.contains(/** @type {any} */ (el.shadowRoot)?.activeElement);
      view.draw(true);
      if (isIn) cellAt(focus)?.focus({ preventScroll: true });
    }, leave);
  };
  /** @param {[number, number]} at @returns {HTMLElement | undefined} */
  const cellAt = ([row, column]) => /** @type {any} */ (view.row(row)?.children[column + 1]);
  const point = (/** @type {boolean} */ isHere) => {
    const cell = cellAt(focus);
    cell?.setAttribute("tabindex", isHere ? "0" : "-1");
    cell?.parentElement?.classList.toggle("here", isHere);
  };
  const reach = () => box.setAttribute("tabindex", cellAt(focus) ? "-1" : "0");
  /** Where the keys are, with or without moving the focus there. @param {number} row @param {number} column */
  const mark = (row, column) => {
    point(false);
    focus = [Math.max(0, Math.min(browsed() - 1, row)), Math.max(0, Math.min(columns.length - 1, column))];
    point(true);
    reach();
  };
  /** @param {number} row @param {number} column */
  const go = (row, column) => {
    if (!browsed()) return;
    mark(row, column);
    view.show(focus[0]);
    showColumn(focus[1]);
    mark(...focus);
    cellAt(focus)?.focus({ preventScroll: true });
  };

  // Columns.
  const widths = columns.map((column, at) => usualWidth(column, rows.slice(0, 100).map((row) => row[at]), isLong ? [factWords(column, data.view.summarisedCount), rangeOf(column).textContent ?? ""] : []));
  const numberWidth = Math.max(44, String(rowCount).length * 9 + 18);
  const rules = h("style");
  const group = h("colgroup", {}, h("col", { style: `width:${numberWidth}px` }), ...columns.map(() => h("col")));
  const freeze = h("input", { type: "number", class: "small", min: 0, max: columns.length, value: 0, "aria-label": "frozen columns", oninput: () => layOut() });
  const fixedCount = () => Math.max(0, Math.min(columns.length, Math.floor(Number(freeze.value) || 0)));
  const before = (/** @type {number} */ column) => widths.slice(0, column).reduce((sum, width) => sum + width, numberWidth);
  const layOut = () => {
    widths.forEach((width, at) => { /** @type {HTMLElement} */ (group.children[at + 1]).style.width = `${width}px`; });
    rules.textContent = widthRules(widths, numberWidth, fixedCount());
  };
  /** @param {number} column */
  const showColumn = (column) => {
    if (column < fixedCount()) return;
    const [left, right] = [before(column) - before(fixedCount()), before(column + 1)];
    if (right > box.scrollLeft + box.clientWidth) box.scrollLeft = right - box.clientWidth;
    if (left < box.scrollLeft) box.scrollLeft = left;
  };
  const heads = columns.map((column, place) => {
    const arrow = h("span", { "aria-hidden": "true" });
    const button = h("button", { class: "sort", title: "sort; Alt with arrows: width", onclick: () => sort(place),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== "ArrowDown") return;
        go(0, place);
        event.preventDefault();
      } }, breaking(column.name), " ", arrow);
    const grip = h("span", { class: "grip", "aria-hidden": "true" });
    const head = h("th", { scope: "col", class: `c${place}${column.isNumber ? " right" : ""}`, "aria-sort": "none" },
      button, h("div", { class: "faint facts" }, column.type), ...(isLong ? summary(column, data.view.summarisedCount) : []), grip);
    resizable(grip, button, head, (width) => {
      widths[place] = Math.max(40, Math.round(width));
      layOut();
    });
    return { head, arrow, button };
  });

  // What is chosen.
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let later;
  const shown = () => {
    focus = [0, focus[1]];
    view.restart(true);
    mark(...focus);
    table.setAttribute("aria-rowcount", String(source.count + 2));
    const beyond = source.count > BROWSED ? `; the first ${count(BROWSED)} are shown` : "";
    found.replaceChildren(source.count === source.total && !beyond ? "" : `${count(source.count)} of ${many(source.total, "row")}${beyond}`);
  };
  /** The kernel is another one, or does not answer. @param {unknown} reason */
  const leave = (reason) => {
    if (!source.asks) return;
    source.leave();
    source.arrange(state);
    shown();
    failed(reason);
  };
  const arrange = () => {
    clearTimeout(later);
    if (!source.asks) {
      source.arrange(state);
      shown();
    }
    later = setTimeout(() => {
      if (source.asks) Promise.resolve(source.arrange(state)).then(shown, leave);
      host.select({ rows: source.query() });
    }, TELL_MILLIS);
  };
  /** @param {number} place */
  const sort = (place) => {
    const again = state.by === place;
    state.by = again && state.descending ? -1 : place;
    state.descending = again && !state.descending;
    const [way, sign] = state.descending ? ["descending", "▼"] : ["ascending", "▲"];
    heads.forEach(({ head, arrow }, at) => {
      const isBy = at === state.by;
      head.setAttribute("aria-sort", isBy ? way : "none");
      arrow.replaceChildren(isBy ? sign : "");
    });
    arrange();
    say(state.by < 0 ? "not sorted" : `sorted by ${columns[place].name}, ${way}`);
  };
  const filters = columns.map((column, place) =>
    h("th", { class: `c${place}` }, h("input", {
      class: "filter", type: "search", "aria-label": `filter ${column.name}`, placeholder: "filter",
      title: "a piece of text; > 5, <= 5, = x, != 'x'; null, not null",
      oninput: (/** @type {any} */ event) => { state.filters[place] = event.target.value; arrange(); },
    })));
  const found = h("span", { class: "faint", role: "status" });
  const search = h("input", { type: "search", placeholder: "search", "aria-label": "search all columns",
    oninput: (/** @type {any} */ event) => { state.search = event.target.value; arrange(); } });
  const wrap = h("button", { "aria-pressed": "false", title: "show long texts on several lines", onclick: () => {
    isWrapped = !isWrapped;
    wrap.setAttribute("aria-pressed", String(isWrapped));
    table.classList.toggle("wrap", isWrapped);
    view.even = !isWrapped;
    view.restart(false);
    mark(...focus);
  } }, "wrap");

  // Opened and copied.
  const opened = h("div", { class: "opened", role: "region", "aria-label": "the whole cell", tabindex: "0", hidden: true });
  const open = () => reveal().catch(failed);
  const reveal = async () => {
    const [position, column] = focus;
    const row = source.at(position);
    if (!row) return;
    const whole = row.cut[column] && host.ask ? (await source.whole(position))[0] : row;
    opened.hidden = false;
    opened.replaceChildren(h("b", {}, `${columns[column].name}, row ${count(row.place + 1)}`), "\n",
      whole.trees[column] ? branch(whole.trees[column], true) : shownCell(whole.cells[column]));
  };
  /** @param {(rows: Row[]) => string} write @param {number} [position] one row; none: all that are shown */
  const copy = async (write, position) => {
    try {
      if (!source.count) return;
      if (position === undefined && source.count > BROWSED) throw new Error(`more than ${count(BROWSED)} rows: --to FILE writes them`);
      const text = write(await source.whole(position));
      try {
        await navigator.clipboard.writeText(text);
        quiet(`copied: ${text}`);
      } catch {
        quiet(text);
      }
    } catch (reason) {
      failed(reason);
    }
  };
  const copyCell = () => copy(([row]) => row.cells[focus[1]] ?? "NULL", focus[0]);
  const copyRow = () => copy(([row]) => row.cells.map((cell) => cell ?? "NULL").join("\t"), focus[0]);
  const button = (/** @type {string} */ label, /** @type {() => unknown} */ onclick) => h("button", { onclick }, label);
  tbody.addEventListener("click", (event) => {
    const cell = /** @type {HTMLTableCellElement | null} */ (/** @type {HTMLElement} */ (event.target).closest("td, th"));
    const row = cell?.parentElement;
    if (!cell || !row?.hasAttribute("aria-rowindex")) return;
    go(Number(row.getAttribute("aria-rowindex")) - 3, cell.cellIndex - 1);
    if (cell.matches("th")) copyRow();
    else if (source.at(focus[0])?.trees[focus[1]] || isBig(cell)) open();
  });
  const keys = (/** @type {KeyboardEvent} */ event) => {
    if (/** @type {HTMLElement} */ (event.target).closest("thead")) return;
    const [row, column] = focus;
    const all = event.ctrlKey || event.metaKey;
    const last = columns.length - 1;
    const moves = /** @type {Record<string, () => unknown>} */ ({
      ArrowRight: () => go(row, column + 1),
      ArrowLeft: () => go(row, column - 1),
      ArrowDown: () => go(row + 1, column),
      ArrowUp: () => (row ? go(row - 1, column) : heads[column].button.focus()),
      PageDown: () => go(row + view.page, column),
      PageUp: () => go(row - view.page, column),
      Home: () => go(all ? 0 : row, 0),
      End: () => go(all ? browsed() - 1 : row, last),
      Enter: open,
      " ": open,
    });
    if (all && event.key.toLowerCase() === "c" && browsed()) (event.shiftKey ? copyRow : copyCell)();
    else if (moves[event.key]) moves[event.key]();
    else return;
    event.preventDefault();
  };

  const head = h("thead", {},
    h("tr", { "aria-rowindex": 1 }, h("th", { class: "number faint", scope: "col" }, "row"), ...heads.map((head) => head.head)),
    isLong && h("tr", { "aria-rowindex": 2 }, h("th", { class: "number" }), ...filters));
  const table = h("table", { class: "result", role: "grid", "aria-label": title, "aria-rowcount": source.count + 2 }, group, head, tbody);
  const box = h("div", { class: "scroll rows", tabindex: "-1", onkeydown: keys }, table);
  const view = rowWindow({ box, head, body: tbody, columnCount: columns.length + 1, count: browsed, make: makeRow, need });
  box.addEventListener("scroll", () => {
    // The keys go on from a row that was scrolled away.
    if (!cellAt(focus) && el.shadowRoot?.activeElement === null) box.focus({ preventScroll: true });
    reach();
  });
  const notes = [
    !source.asks && rows.length < rowCount && `without its kernel, only these ${count(rows.length)} rows are sorted, filtered and copied`,
    !source.asks && source.isCut && "of long texts only the beginning is here and searched",
  ].filter(Boolean).join("; ");
  // The tools are wide: beside the title they hide nothing, and a note goes below where it has no room.
  if (isLong) {
    const tools = h("div", { class: "row tools", title: "Enter opens a cell; Ctrl+C copies it, Ctrl+Shift+C its row" }, search, found, h("label", {}, "freeze ", freeze), wrap,
      h("span", { class: "faint" }, "copy"), button("cell", copyCell), button("row", copyRow),
      ...Object.entries({ CSV: asCsv, Markdown: asMarkdown, INSERT: asInsert }).map(([label, write]) => button(label, () => copy((all) => write(columns, all)))));
    above.prepend(h("div", { class: "titled" }, above.querySelector("h3"), tools));
  }
  body.append(rules, box, opened, h("div", { class: "legend" }, notes));
  layOut();
  view.draw(true);
  mark(0, 0);
  return () => {
    clearTimeout(later);
    stop();
  };
}

/** @param {Element} cell */
function isBig(cell) {
  return cell.scrollWidth > cell.clientWidth || (cell.textContent ?? "").length > 80;
}
