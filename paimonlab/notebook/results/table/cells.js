// @ts-check
// One cell, small in the table and opened below it.
import { count, h, valueText } from "../../display/browser/parts.js";

/** @param {string | null} cell @param {{isNumber: boolean, type: string}} [column] @param {number} [digits] of a float @returns {any} */
export function shownCell(cell, column, digits) {
  return cell !== null && !column?.isNumber ? cell : valueText(cell, /^(do|fl|half)/.test(column?.type ?? ""), digits);
}

/** A nested value, to be opened level by level. @param {any} tree @param {boolean} [isOpen] @returns {HTMLElement | string} */
export function branch(tree, isOpen = false) {
  if (tree === null) return shownCell(null);
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

