// @ts-check
import { h, isThere } from "./elements.js";

/** @typedef {import("./elements.js").Child} Child */

/** Names and values under each other; what has no value is left out. @param {[string, Child][]} entries */
export function card(entries) {
  const known = entries.filter(([, value]) => isThere(value) && value !== "");
  return h("dl", {}, ...known.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}
