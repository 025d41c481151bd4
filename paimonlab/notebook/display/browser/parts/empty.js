// @ts-check
import { h } from "./elements.js";

/** What stands where nothing is: why, and one statement that changes it. @param {string} why @param {string} [code] */
export function empty(why, code) {
  return h("p", { class: "empty" }, why, code && ": ", code && h("code", {}, code));
}
