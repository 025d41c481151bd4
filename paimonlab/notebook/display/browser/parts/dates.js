// @ts-check
// Dates that stay in one line.
import { h } from "./elements.js";

/** A text whose dates are not broken, with the names and signs at them. @param {string} text */
export function unbroken(text) {
  return text.split(/(\s+)/).map((word) => (/\d-\d\d/.test(word) && word.length < 32 ? h("span", { style: "white-space: nowrap" }, word) : word));
}
