// @ts-check
// The head of a column: its summary as words and as a picture, and a grip.
import { COLOURS, count, h, s } from "../../display/browser/parts.js";
import { shownCell } from "./cells.js";

/** @typedef {import("../../display/browser/views").ResultColumn} ResultColumn */

const FEW_DIGITS = 6;

/** What is known about a column, in words. @param {ResultColumn} column @param {number} total */
export function factWords(column, total) {
  const share = total ? Math.round((100 * column.nullCount) / total) : 0;
  const nulls = column.nullCount ? `${column.nullCount && !share ? "<1" : share} % null` : "no nulls";
  const facts = [nulls, column.nanCount ? `${count(column.nanCount)} NaN` : "", column.distinctCount === null ? "" : `${count(column.distinctCount)} distinct`];
  return facts.filter(Boolean).join(", ");
}

/** The ends of a column. @param {ResultColumn} column @returns {string[]} one if they are the same, none if unknown */
function endsOf({ low, high }) {
  return low === null || high === null ? [] : low === high ? [low] : [low, high];
}

/** From where to where a column goes. @param {ResultColumn} column */
export function rangeOf(column) {
  return h("span", {}, ...endsOf(column).flatMap((end, at) => [at ? " … " : "", shownCell(end, column, FEW_DIGITS)]));
}

/** The lines under a head, and its picture. @param {ResultColumn} column @param {number} total */
export function summary(column, total) {
  const words = factWords(column, total);
  const range = endsOf(column).join(" … ");
  const top = column.top.map(([text, times]) => `${text}: ${count(times)}`).join("; ");
  const title = [words, range, top && `most frequent: ${top}`].filter(Boolean).join("\n");
  const line = (/** @type {any[]} */ ...parts) => h("div", { class: "faint facts", title }, ...parts);
  return [
    line(words),
    range && line(rangeOf(column)),
    column.bins.length ? histogram(column) : column.top.length && bars(column, total),
  ].filter(Boolean);
}

/** @param {string} label @param {Node[]} shapes */
function picture(label, ...shapes) {
  return s("svg", { width: 96, height: 20, role: "img", "aria-label": label }, s("title", {}, label), ...shapes);
}

/** @param {ResultColumn} column */
function histogram({ name, bins, low, high }) {
  const most = Math.max(...bins);
  const label = `distribution of ${name} from ${low} to ${high}: ${bins.join(", ")}`;
  return picture(label, ...bins.map((number, place) => {
    const height = number && Math.max(1, (19 * number) / most);
    return s("rect", { x: place * 8, y: 20 - height, width: 7, height, fill: COLOURS.blue });
  }));
}

/** The most frequent texts, the rest hatched by its absence. @param {ResultColumn} column @param {number} total */
function bars({ name, top }, total) {
  const label = `most frequent of ${name}: ${top.map(([text, times]) => `${text} ${times}`).join(", ")}`;
  let x = 0;
  return picture(label, s("rect", { x: 0, y: 11, width: 96, height: 8, fill: "none", stroke: "currentColor", "stroke-opacity": 0.4 }),
    ...top.map(([, times], place) => {
      const width = (96 * times) / Math.max(total, 1);
      const bar = s("rect", { x, y: 11, width: Math.max(width - 1, 0.5), height: 8, fill: place % 2 ? COLOURS.sky : COLOURS.blue });
      x += width;
      return bar;
    }));
}

/**
 * Let a head be dragged wider, or Alt and arrows do it.
 * @param {HTMLElement} grip @param {HTMLElement} button @param {HTMLElement} head @param {(width: number) => void} resize
 */
export function resizable(grip, button, head, resize) {
  grip.addEventListener("pointerdown", (event) => {
    const [start, width] = [event.clientX, head.getBoundingClientRect().width];
    const move = (/** @type {PointerEvent} */ now) => resize(width + now.clientX - start);
    grip.setPointerCapture(event.pointerId);
    grip.addEventListener("pointermove", move);
    grip.addEventListener("pointerup", () => grip.removeEventListener("pointermove", move), { once: true });
    event.preventDefault();
  });
  button.addEventListener("keydown", (event) => {
    const step = /** @type {Record<string, number>} */ ({ ArrowRight: 16, ArrowLeft: -16 })[event.key];
    if (!event.altKey || !step) return;
    resize(head.getBoundingClientRect().width + step);
    event.preventDefault();
  });
}

