// @ts-check
import { h, isThere } from "./elements.js";

/** @typedef {import("./elements.js").Child} Child */

/** Letters of a time, and of what has a line to itself if it is longer. */
const A_TIME = 19;
const A_LINE = 48;

/** Names and values, in as many columns as there is room for; what has no value is left out. @param {[string, Child][]} entries */
export function card(entries) {
  const known = entries.filter(([, value]) => isThere(value) && value !== "");
  const isRoomy = known.some(([, value]) => typeof value === "string" && value.length > A_TIME && value.length <= A_LINE);
  return h("dl", { class: isRoomy && "roomy" }, ...known.map(([name, value]) => h("div", { class: (value instanceof HTMLElement ? value.matches("code") : String(value).length > A_LINE) && "wide" }, h("dt", {}, name), h("dd", {}, value))));
}
