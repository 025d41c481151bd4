// @ts-check
import { copyButton } from "./copy.js";
import { h } from "./elements.js";

/** What stands where nothing is: why, and one statement that changes it, to copy. @param {string} why @param {string} [code] */
export function empty(why, code) {
  if (!code) return h("p", { class: "empty" }, why);
  const button = copyButton("copy", () => code, (said) => button.replaceChildren(said === code ? "no clipboard" : "copied"));
  return h("div", { class: "empty" }, `${why}:`, h("div", { class: "row" }, h("code", {}, code), button));
}
