// @ts-check
// Names that may go on in the next line.
import { h } from "./elements.js";

/** A name that breaks behind dots, underscores, slashes and hyphens only. @param {string} text */
export function breaking(text) {
  const parts = text.split(/(?<=[._/,=-])(?=[^\s._/,=-])/);
  return h("span", {}, ...parts.flatMap((part, at) => (at ? [h("wbr"), part] : [part])));
}
