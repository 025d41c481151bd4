// @ts-check
import { h } from "./elements.js";
import { breaking, halfOf } from "./breaking.js";
import { unbroken } from "./dates.js";
import { compare } from "./order.js";
import { roving } from "./roving.js";

/** @typedef {import("./elements.js").Child} Child */

/**
 * @typedef {{name: string, label?: string, type?: string, right?: boolean, prose?: boolean | number, optional?: boolean, less?: number, text?: (value: any, row: any) => Child, title?: (row: any) => string}} Head
 *   `optional` columns are left out where no row has a value; `text` draws a value, without it the value itself is shown; `prose` wraps, at so many pixels at least, other cells
 *   are one line; `label` is read where the name is empty; columns are left out where the view is at most `less` pixels wide and the table wider than it
 */

/** Pixels that a long head widens its column to, and the letters of a long one. */
const A_HEAD = 260;
const LONG_NAME = 17;

/** Leaves columns out where there is little room, and no more of them than the others need. @param {HTMLElement} element @param {HTMLElement} table @param {Head[]} heads */
function narrowed(element, table, heads) {
  const widths = [...new Set(heads.map(({ less }) => less ?? 0))].filter(Boolean).sort((left, right) => right - left);
  if (!widths.length) return;
  element.prepend(h("style", {}, ".frame { container-type: inline-size }", ...widths.map((width) => ` .no${width} .less${width} { display: none }`)));
  const fit = () => {
    const room = element.closest(".frame")?.clientWidth ?? 0;
    widths.forEach((width) => element.classList.remove(`no${width}`));
    table.style.width = "max-content";
    for (const width of widths) if (room && room <= width && table.offsetWidth > element.clientWidth) element.classList.add(`no${width}`);
    table.style.width = "";
  };
  new ResizeObserver(fit).observe(element);
}

/**
 * A table that sorts by a click on a head; arrows move over rows.
 * @param {{heads: Head[], rows: any[][], caption?: string, label?: string, onChoose?: (row: any[]) => void, selected?: (row: any[]) => boolean}} options
 *   `label` is a caption that is only read aloud
 */
export function grid({ heads: wanted, rows, caption = "", label = "", onChoose, selected }) {
  const places = wanted.map((_, place) => place).filter((place) => !wanted[place].optional || rows.some((row) => ![null, undefined, ""].includes(row[place])));
  const heads = places.map((place) => wanted[place]);
  let order = rows.slice();
  let by = -1;
  let descending = false;
  const body = h("tbody");
  const headCells = heads.map((head, column) =>
    h("th", { scope: "col", class: classOf(head.right && "right", head), "aria-sort": "none" },
      h("button", { title: "sort", "aria-label": head.label, onclick: () => sort(column), style: "border:0;background:none;padding:0;font-weight:bold;text-align:inherit" }, head.name.length > 12 ? breaking(head.name) : head.name),
      head.type && h("div", { class: "faint", style: "font-weight:normal;font-size:11px" }, head.type)));
  const draw = () => {
    const lines = order.map((row) =>
      h("tr", { "aria-selected": selected ? String(selected(row)) : null },
        ...heads.map((head, column) => cellOf(head, row[places[column]], row))));
    const focused = [...body.children].findIndex((line) => line.matches(":focus"));
    const chosen = lines.findIndex((line) => line.ariaSelected === "true");
    body.replaceChildren(...lines);
    heads.forEach((head, column) => {
      const least = head.right ? Math.min(140, head.name.length * 8) : roomOf([headCells[column], ...lines.map((line) => line.children[column])], head.prose);
      const room = head.name.length > LONG_NAME ? Math.max(least, Math.min(A_HEAD, halfOf(head.name) * 8 + 14)) : least; // two lines at most
      headCells[column].style.minWidth = head.prose ? `min(${room}px, 56vw)` : `${room}px`;
    });
    const rover = roving(lines, { start: Math.max(chosen, 0), onChoose: (place) => onChoose?.(order[place]) });
    if (focused >= 0) rover.go(focused);
  };
  /** @param {number} column */
  const sort = (column) => {
    descending = by === column && !descending;
    by = column;
    order = rows.slice().sort((left, right) => compare(left[places[column]], right[places[column]]) * (descending ? -1 : 1));
    headCells.forEach((cell, place) => cell.setAttribute("aria-sort", place !== by ? "none" : descending ? "descending" : "ascending"));
    draw();
  };
  draw();
  const table = h("table", { role: "grid" }, (caption || label) && h("caption", { class: !caption && "hidden" }, caption || label), h("thead", {}, h("tr", {}, ...headCells)), body);
  const element = h("div", { class: "scroll" }, table);
  narrowed(element, table, heads);
  return { element, draw };
}

/** @param {string | false | undefined} kind @param {Head} head */
function classOf(kind, { less }) {
  return [kind, less && `less${less}`].filter(Boolean).join(" ") || false;
}

/** @param {Head} head @param {any} value @param {any[]} row */
function cellOf(head, value, row) {
  const shown = head.text ? head.text(value, row) : value;
  const isLong = typeof shown === "string" && shown.length > 24;
  return h("td", { class: classOf(head.right ? "right" : head.prose ? "prose" : "line", head), title: isLong && !head.right && shown }, ...(head.prose && typeof shown === "string" ? unbroken(shown) : [shown]));
}

/** Pixels that a column of texts takes at least. @param {Element[]} cells @param {boolean | number} [prose] */
function roomOf(cells, prose) {
  const longest = Math.max(...cells.slice(0, 50).map((cell) => (cell.textContent ?? "").length));
  return Math.min(typeof prose === "number" ? prose : prose ? (longest > 100 ? 340 : 260) : 190, Math.max(longest * (prose ? 7.5 : 7) + 16, longest > 3 ? 60 : 0));
}
