// @ts-check
import { h } from "./elements.js";
import { compare } from "./order.js";
import { roving } from "./roving.js";

/** @typedef {import("./elements.js").Child} Child */

/**
 * @typedef {{name: string, label?: string, type?: string, right?: boolean, text?: (value: any, row: any) => Child, title?: (row: any) => string}} Head
 *   `text` draws a value, without it the value itself is shown; `label` is read where the name is empty
 */

/**
 * A table that sorts by a click on a head; arrows move over rows.
 * @param {{heads: Head[], rows: any[][], caption?: string, label?: string, onChoose?: (row: any[]) => void, selected?: (row: any[]) => boolean}} options
 *   `label` is a caption that is only read aloud
 */
export function grid({ heads, rows, caption = "", label = "", onChoose, selected }) {
  let order = rows.slice();
  let by = -1;
  let descending = false;
  const body = h("tbody");
  const headCells = heads.map((head, column) =>
    h("th", { scope: "col", class: head.right && "right", "aria-sort": "none" },
      h("button", { title: "sort", "aria-label": head.label, onclick: () => sort(column), style: "border:0;background:none;padding:0;font-weight:bold" }, head.name),
      head.type && h("div", { class: "faint", style: "font-weight:normal" }, head.type)));
  const draw = () => {
    const lines = order.map((row) =>
      h("tr", { "aria-selected": selected ? String(selected(row)) : null },
        ...heads.map((head, column) => h("td", { class: head.right && "right" }, head.text ? head.text(row[column], row) : row[column]))));
    const focused = [...body.children].findIndex((line) => line.matches(":focus"));
    const chosen = lines.findIndex((line) => line.ariaSelected === "true");
    body.replaceChildren(...lines);
    heads.forEach((_, column) => { headCells[column].style.minWidth = `${longestWord([headCells[column], ...lines.map((line) => line.children[column])])}ch`; });
    const rover = roving(lines, { start: Math.max(chosen, 0), onChoose: (place) => onChoose?.(order[place]) });
    if (focused >= 0) rover.go(focused);
  };
  /** @param {number} column */
  const sort = (column) => {
    descending = by === column && !descending;
    by = column;
    order = rows.slice().sort((left, right) => compare(left[column], right[column]) * (descending ? -1 : 1));
    headCells.forEach((cell, place) => cell.setAttribute("aria-sort", place !== by ? "none" : descending ? "descending" : "ascending"));
    draw();
  };
  draw();
  const element = h("div", { class: "scroll" },
    h("table", { role: "grid" }, (caption || label) && h("caption", { class: !caption && "hidden" }, caption || label), h("thead", {}, h("tr", {}, ...headCells)), body));
  return { element, draw };
}

/** Letters of the longest word of a column, as far as it should not be broken. @param {Element[]} cells */
function longestWord(cells) {
  const words = cells.slice(0, 50).flatMap((cell) => (cell.textContent ?? "").slice(0, 200).split(/\s+/));
  return Math.min(14, Math.max(...words.map((word) => word.length)));
}
