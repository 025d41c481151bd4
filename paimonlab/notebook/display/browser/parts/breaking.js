// @ts-check
// Names that may go on in the next line.
import { h } from "./elements.js";

/** A text whose dates are not broken, with the names and signs at them. @param {string} text */
export function unbroken(text) {
  return text.split(/(\s+)/).map((word) => (/\d-\d\d/.test(word) && word.length < 32 ? h("span", { style: "white-space: nowrap" }, word) : word));
}

/** A name that breaks behind dots, underscores, slashes and hyphens only. @param {string} text */
export function breaking(text) {
  const parts = text.split(/(?<=[._/,=-])(?=[^\s._/,=-])/);
  return h("span", {}, ...parts.flatMap((part, at) => (at ? [h("wbr"), part] : [part])));
}
