// @ts-check
// Ids and names of files that take little room.
import { h } from "./elements.js";

/** An id of many letters, short: the whole is shown by the pointer. @param {string} text */
export function shortId(text) {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-/.test(text) ? h("span", { title: text }, text.slice(0, 8)) : text;
}

/** A file's name whose unique part is short: the whole is shown by the pointer. @param {string} text */
export function shortFile(text) {
  const short = text.replace(/([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{8,12}/, "$1…");
  return short === text ? text : h("span", { title: text, style: "white-space: nowrap" }, short);
}
