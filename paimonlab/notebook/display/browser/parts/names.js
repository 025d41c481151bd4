// @ts-check
// Names and ids that take little room.
import { h } from "./elements.js";

/** A name that breaks behind dots, underscores, slashes and hyphens only. @param {string} text */
export function breaking(text) {
  const parts = text.split(/(?<=[._/,=-])(?=[^\s._/,=-])/);
  return h("span", {}, ...parts.flatMap((part, at) => (at ? [h("wbr"), part] : [part])));
}

/** An id of many letters, short: the whole is shown by the pointer. @param {string} text */
export function shortId(text) {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-/.test(text) ? h("span", { title: text }, text.slice(0, 8)) : text;
}

/** A file's name whose unique part is short: the whole is shown by the pointer. @param {string} text */
export function shortFile(text) {
  const short = text.replace(/([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{8,12}/, "$1…");
  return short === text ? text : h("span", { title: text }, short);
}
