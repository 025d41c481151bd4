// @ts-check
// Rows of a long table: only those that can be seen are in the page.
import { h } from "../../display/browser/parts.js";

const ROW_HEIGHT = 24;
const ROWS_AROUND = 8;

/**
 * @param {{box: HTMLElement, head: HTMLElement, body: HTMLElement, columnCount: number, count: () => number,
 *   make: (position: number) => HTMLTableRowElement, need: (first: number, end: number) => void}} options
 *   `box` scrolls, `head` stays at its top; `make` draws a row; `need` is called with the rows in sight
 */
export function rowWindow({ box, head, body, columnCount, count, make, need }) {
  const spacer = () => h("td", { colspan: columnCount, style: "padding:0;border:0;height:0" });
  const [above, below] = [spacer(), spacer()];
  const edges = [above, below].map((cell) => h("tr", { "aria-hidden": "true", role: "presentation" }, cell));
  /** @type {Map<number, HTMLTableRowElement>} */
  let drawn = new Map();
  let isEven = true;
  /** @type {Map<number, number>} heights of rows that were seen, where they differ */
  const heights = new Map();
  /** @type {Float64Array | null} where each row begins */
  let tops = null;

  const layOut = () => {
    const known = [...heights.values()];
    const usual = known.length ? known.reduce((sum, height) => sum + height, 0) / known.length : ROW_HEIGHT;
    const made = new Float64Array(count() + 1);
    for (let at = 0; at < count(); at += 1) made[at + 1] = made[at] + (heights.get(at) ?? usual);
    return made;
  };
  /** @param {number} position */
  const offset = (position) => {
    if (isEven) return position * ROW_HEIGHT;
    tops ??= layOut();
    return tops[position];
  };
  /** @param {number} y */
  const positionAt = (y) => {
    if (isEven) return Math.floor(y / ROW_HEIGHT);
    let [low, high] = [0, count()];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (offset(middle + 1) <= y) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const room = () => Math.max(box.clientHeight - Math.ceil(head.getBoundingClientRect().height), 3 * ROW_HEIGHT);

  /** @param {boolean} [anew] draw rows again that are there */
  const draw = (anew = false) => {
    const first = Math.max(0, Math.min(positionAt(box.scrollTop), count() - 1) - ROWS_AROUND);
    const end = Math.min(count(), positionAt(box.scrollTop + room()) + 1 + ROWS_AROUND);
    if (!anew && drawn.size === end - first && drawn.has(first)) return;
    const next = new Map();
    for (let at = first; at < end; at += 1) next.set(at, (!anew && drawn.get(at)) || make(at));
    drawn = next;
    above.style.height = `${offset(first)}px`;
    below.style.height = `${offset(count()) - offset(Math.max(first, end))}px`;
    body.replaceChildren(edges[0], ...drawn.values(), edges[1]);
    need(first, end);
    if (!isEven) measure();
  };
  const measure = () => {
    const top = positionAt(box.scrollTop);
    const before = offset(top);
    let changed = false;
    drawn.forEach((row, at) => {
      const height = row.getBoundingClientRect().height;
      if (height && heights.get(at) !== height) {
        heights.set(at, height);
        changed = true;
      }
    });
    if (!changed) return;
    tops = null;
    const [first, end] = [Math.min(...drawn.keys()), Math.max(...drawn.keys()) + 1];
    above.style.height = `${offset(first)}px`;
    below.style.height = `${offset(count()) - offset(end)}px`;
    // The row at the top stays where it is.
    if (top >= first) box.scrollTop += offset(top) - before;
  };
  const forget = () => {
    heights.clear();
    tops = null;
    drawn.clear();
  };
  box.addEventListener("scroll", () => draw());

  return {
    draw,
    /** Other rows, or other heights: begin at the top again, or stay. @param {boolean} isTop */
    restart(isTop) {
      const top = Math.max(0, Math.min(positionAt(box.scrollTop), count() - 1));
      forget();
      draw(true);
      box.scrollTop = isTop ? 0 : offset(top);
      draw();
    },
    /** @param {boolean} even whether all rows have the same height */
    set even(even) { isEven = even; },
    /** Scroll until a row can be seen. @param {number} position */
    show(position) {
      // what comes into sight may turn out higher
      for (let tries = 0; tries < 3; tries += 1) {
        const [top, bottom] = [offset(position), offset(position + 1)];
        if (top < box.scrollTop) box.scrollTop = top;
        else if (bottom > box.scrollTop + room()) box.scrollTop = Math.min(top, bottom - room());
        draw();
        if (isEven) break;
      }
    },
    /** @param {number} position */
    row: (position) => drawn.get(position),
    get page() { return Math.max(1, Math.floor(room() / ROW_HEIGHT) - 1); },
  };
}
