// @ts-check
// Dates, and numbers with their units, that stay in one line.
import { h } from "./elements.js";

/** A text whose dates are not broken, with the names and signs at them, and whose numbers keep their units. @param {string} text */
export function unbroken(text) {
  return text.replace(/(\d) (?=(([kMGTP]i?)?B|bytes)\b|%)/g, "$1\u00a0").split(/( +)/).map((word) => (/\d-\d\d/.test(word) && word.length < 32 ? h("span", { style: "white-space: nowrap" }, word) : word));
}
