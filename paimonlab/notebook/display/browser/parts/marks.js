// @ts-check
// Marks of the kinds of commits.
import { COLOURS, ink } from "./colours.js";
import { s } from "./elements.js";

/** Each kind of commit: letter, colour and shape. */
export const KINDS = /** @type {Record<string, {letter: string, colour: string, shape: string}>} */ ({
  APPEND: { letter: "A", colour: COLOURS.blue, shape: "circle" },
  COMPACT: { letter: "C", colour: COLOURS.green, shape: "square" },
  OVERWRITE: { letter: "O", colour: COLOURS.red, shape: "diamond" },
  ANALYZE: { letter: "X", colour: COLOURS.grey, shape: "triangle" },
});

/**
 * A mark for a kind of commit, 22 units wide around (x, y).
 * @param {string} kind @param {number} x @param {number} y
 */
export function mark(kind, x, y) {
  const { letter, colour, shape } = KINDS[kind] ?? { letter: "?", colour: COLOURS.grey, shape: "circle" };
  const shapes = /** @type {Record<string, () => SVGElement>} */ ({
    circle: () => s("circle", { cx: x, cy: y, r: 11, fill: colour }),
    square: () => s("rect", { x: x - 10, y: y - 10, width: 20, height: 20, fill: colour }),
    diamond: () => s("path", { d: `M${x} ${y - 14}l14 14l-14 14l-14 -14z`, fill: colour }),
    triangle: () => s("path", { d: `M${x} ${y - 15}l15 25h-30z`, fill: colour }),
  });
  return s("g", {}, shapes[shape](),
    s("text", { x, y: y + 4, "text-anchor": "middle", "font-size": 11, "font-weight": "bold", style: `fill:${ink(colour)}` }, letter));
}
