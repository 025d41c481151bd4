// @ts-check
// What marks and colours mean, in a line under the picture.
import { h, s } from "./elements.js";

/** @typedef {import("./elements.js").Child} Child */

/** @param {...([Child, string] | null | false | undefined)} entries what is drawn, if anything, and what it means */
export function legend(...entries) {
  const known = /** @type {[Child, string][]} */ (entries.filter(Boolean));
  return h("div", { class: "row legend" }, ...known.map(([drawn, words]) => h("span", {}, drawn, drawn && " ", words)));
}

/** Shapes in a square of 14 units, in line with text. @param {...SVGElement} shapes */
export function swatch(...shapes) {
  return s("svg", { width: 14, height: 14, "aria-hidden": "true", style: "display:inline-block;vertical-align:-2px" }, ...shapes);
}

/** A bar of a colour, full or as an outline. @param {string} colour @param {boolean} [isFull] */
export function barKey(colour, isFull = true) {
  return swatch(s("rect", { x: 1, y: 3, width: 12, height: 9, fill: isFull ? colour : "none", stroke: colour }));
}
