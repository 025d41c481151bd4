// @ts-check
// Names that may go on in the next line.
import { h } from "./elements.js";

const ENDS = /(?<=[\s._/,=-])/;

/** Letters of the longer line, if a name is over two lines as even as they can be. @param {string} name */
export function halfOf(name) {
  const parts = name.split(ENDS);
  return parts.reduce((least, _, at) => {
    const first = parts.slice(0, at + 1).join("").length;
    return Math.min(least, Math.max(first, name.length - first));
  }, name.length);
}

/** A name that breaks behind dots, underscores, slashes and hyphens only. @param {string} text */
export function breaking(text) {
  const parts = text.split(/(?<=[._/,=-])(?=[^\s._/,=-])/);
  return h("span", {}, ...parts.flatMap((part, at) => (at ? [h("wbr"), part] : [part])));
}
