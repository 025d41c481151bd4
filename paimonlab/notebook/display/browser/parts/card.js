// @ts-check
import { h, isThere } from "./elements.js";

/** @typedef {import("./elements.js").Child} Child */

/** Names and values, in as many columns as there is room for; what has no value is left out. @param {[string, Child][]} entries */
export function card(entries) {
  const known = entries.filter(([, value]) => isThere(value) && value !== "");
  return h("dl", {}, ...known.map(([name, value]) => h("div", { class: (value instanceof HTMLElement ? value.matches("code") : String(value).length > 48) && "wide" }, h("dt", {}, name), h("dd", {}, value))));
}
