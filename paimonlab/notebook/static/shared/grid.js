// @ts-check
import { h } from "./elements.js";
import { compare } from "./order.js";
import { roving } from "./roving.js";

/** @typedef {import("./elements.js").Child} Child */

/**
 * @typedef {{name: string, type?: string, right?: boolean, text?: (value: any, row: any) => Child, title?: (row: any) => string}} Head
 *   `text` draws a value; without it the value itself is shown
 */

/**
 * A table that sorts by a click on a head; arrows move over rows.
 * @param {{heads: Head[], rows: any[][], caption?: string, onChoose?: (row: any[]) => void, selected?: (row: any[]) => boolean}} options
 */
export function grid({ heads, rows, caption = "", onChoose, selected }) {
  let order = rows.slice();
  let by = -1;
  let descending = false;
  const body = h("tbody");
  const headCells = heads.map((head, column) =>
    h("th", { scope: "col", class: head.right && "right", "aria-sort": "none" },
      h("button", { title: "sort", onclick: () => sort(column), style: "border:0;background:none;padding:0;font-weight:bold" }, head.name),
      head.type && h("div", { class: "faint", style: "font-weight:normal" }, head.type)));
  const draw = () => {
    const lines = order.map((row) =>
      h("tr", { "aria-selected": selected ? String(selected(row)) : null },
        ...heads.map((head, column) => h("td", { class: head.right && "right" }, head.text ? head.text(row[column], row) : row[column]))));
    body.replaceChildren(...lines);
    roving(lines, { onChoose: (place) => onChoose?.(order[place]) });
  };
  /** @param {number} column */
  const sort = (column) => {
    descending = by === column && !descending;
    by = column;
    order = rows.slice().sort((one, two) => compare(one[column], two[column]) * (descending ? -1 : 1));
    headCells.forEach((cell, place) => cell.setAttribute("aria-sort", place !== by ? "none" : descending ? "descending" : "ascending"));
    draw();
  };
  draw();
  const element = h("div", { class: "scroll" },
    h("table", {}, caption && h("caption", {}, caption), h("thead", {}, h("tr", {}, ...headCells)), body));
  return { element, draw };
}
