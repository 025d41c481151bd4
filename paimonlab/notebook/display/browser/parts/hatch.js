// @ts-check
import { s } from "./elements.js";
import { swatch } from "./legend.js";

/** Lines across what there is not, or not any more, as in a picture. */
export function hatchKey() {
  return swatch(s("rect", { x: 1, y: 1, width: 12, height: 12, fill: "none", stroke: "currentColor" }), s("path", { d: "M1 8L8 1M1 13L13 1M6 13L13 6", stroke: "currentColor" }));
}
