// @ts-check
// What the view modules share: elements, the frame around a view, keys, numbers, selections.
// It is put in front of each view module, so a module and this file must not use the same
// names at the top. No markup is ever parsed: names and values of tables are text, always.

/** @typedef {import("./host").Host} Host */
/** @typedef {import("./host").Selection} Selection */
/** @typedef {Node | string | number | null | undefined | false} Child */

/** Okabe and Ito's colours; whoever uses one adds a shape, a letter or a hatch. */
export const COLOURS = {
  blue: "#0072B2",
  orange: "#E69F00",
  green: "#009E73",
  pink: "#CC79A7",
  sky: "#56B4E9",
  red: "#D55E00",
  yellow: "#F0E442",
  grey: "#7A7A7A",
};

/** Each kind of commit: letter, colour and shape. */
export const KINDS = /** @type {Record<string, {letter: string, colour: string, shape: string}>} */ ({
  APPEND: { letter: "A", colour: COLOURS.blue, shape: "circle" },
  COMPACT: { letter: "C", colour: COLOURS.green, shape: "square" },
  OVERWRITE: { letter: "O", colour: COLOURS.red, shape: "diamond" },
  ANALYZE: { letter: "X", colour: COLOURS.grey, shape: "triangle" },
});

const SVG = "http://www.w3.org/2000/svg";

/**
 * Make an HTML element.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [properties] attributes; `onclick` and the like are listeners
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  equip(element, properties, children);
  return element;
}

/**
 * Make an SVG element.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [properties]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function s(tag, properties = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  equip(element, properties, children);
  return element;
}

/** @param {Element} element @param {Record<string, any>} properties @param {Child[]} children */
function equip(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter(isThere).map((child) => (typeof child === "number" ? String(child) : child)));
}

/** @param {Child} child @returns {child is Node | string | number} */
function isThere(child) {
  return child !== null && child !== undefined && child !== false;
}

/** @param {number | string | null | undefined} value whole numbers beyond 2^53 come as text */
export function count(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : value.toLocaleString("en-US");
}

/** @param {number | null | undefined} value */
export function signed(value) {
  if (value === null || value === undefined) return "";
  return (value > 0 ? "+" : "") + count(value);
}

/** Write bytes as Python does: 999 B, 1.0 kB, 12.3 MB (powers of 1,000). @param {number | null | undefined} value */
export function bytes(value) {
  if (value === null || value === undefined) return "";
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let place = 0;
  let rest = Number(value);
  while (rest >= 1000 && place < units.length - 1) {
    rest /= 1000;
    place += 1;
  }
  return place ? `${rest.toFixed(1)} ${units[place]}` : `${rest} B`;
}

/** @param {number | null | undefined} millis */
export function moment(millis) {
  if (millis === null || millis === undefined) return "";
  const date = new Date(millis);
  return Number.isNaN(date.getTime()) ? String(millis) : date.toISOString().slice(0, 19).replace("T", " ");
}

const STYLE = `
:host { display: block; }
.frame { color: var(--jp-ui-font-color1, CanvasText); background: var(--jp-layout-color0, Canvas);
  font: 13px/1.45 var(--jp-ui-font-family, system-ui, sans-serif); padding: 6px 8px; overflow: hidden;
  border: 1px solid var(--jp-border-color2, #8888); border-radius: 4px; box-sizing: border-box; }
.frame[data-theme="dark"] { color-scheme: dark; }
.frame[data-theme="light"] { color-scheme: light; }
.head { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: baseline; margin: 0 0 6px; }
.head h3 { font-size: 14px; margin: 0; overflow-wrap: anywhere; unicode-bidi: isolate; }
.faint { color: var(--jp-ui-font-color2, GrayText); }
.frame[data-theme="light"] .faint { color: #595959; } .frame[data-theme="dark"] .faint { color: #b0b0b0; }
.status { min-height: 1.4em; margin: 6px 0 0; overflow-wrap: anywhere; }
button, select, input { font: inherit; color: inherit; background: var(--jp-layout-color1, ButtonFace);
  border: 1px solid var(--jp-border-color1, #8888); border-radius: 3px; padding: 1px 7px; }
input[type=range] { padding: 0; vertical-align: middle; }
button { cursor: pointer; } button[aria-pressed=true] { outline: 2px solid ${COLOURS.blue}; }
:focus-visible { outline: 3px solid ${COLOURS.orange}; outline-offset: 1px; }
table { border-collapse: collapse; margin: 0; } caption { text-align: left; font-weight: bold; padding: 2px 8px; }
th, td { padding: 2px 8px; text-align: left; vertical-align: top; border: 0; overflow-wrap: anywhere; unicode-bidi: plaintext; max-width: 40em; }
th { position: sticky; top: 0; background: var(--jp-layout-color0, Canvas); z-index: 1; }
th.right, td.right { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
tbody tr[aria-selected=true] { background: color-mix(in srgb, ${COLOURS.sky} 35%, transparent); }
tbody tr:hover { background: color-mix(in srgb, ${COLOURS.sky} 15%, transparent); }
.scroll { overflow: auto; max-height: 26em; } svg { display: block; max-width: 100%; } svg text { fill: currentColor; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 1px 12px; margin: 4px 0; } dt { opacity: .75; } dd { margin: 0; overflow-wrap: anywhere; unicode-bidi: plaintext; }
.row { display: flex; flex-wrap: wrap; gap: 4px 10px; align-items: center; margin: 4px 0; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
@media (prefers-reduced-motion: no-preference) { .moves { transition: all .25s; } }
@media (forced-colors: active) { svg [fill] { forced-color-adjust: none; } }
`;

/**
 * Put an empty frame into `el`: a heading, room for the view, a line that is read aloud.
 * Keys pressed inside stay inside (in a notebook they would delete cells); Escape leaves.
 * @param {HTMLElement} el
 * @param {{title: string, note?: string, css?: string}} what
 */
export function frame(el, { title, note = "", css = "" }) {
  const root = el.shadowRoot ?? el.attachShadow({ mode: "open" });
  const status = h("p", { class: "status", role: "status", "aria-live": "polite" });
  const body = h("div", { class: "body" });
  const head = h("div", { class: "head" }, h("h3", {}, title), note && h("span", { class: "faint" }, note));
  const box = h("div", { class: "frame", role: "group", "aria-label": title }, head, body, status);
  root.replaceChildren(h("style", {}, STYLE + css), box);
  el.dataset.lmSuppressShortcuts = "true";
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") /** @type {HTMLElement | null} */ (root.activeElement)?.blur();
    else event.stopPropagation();
  });
  const stop = followTheme(box);
  return { root, head, body, status, say: (/** @type {string} */ text) => status.replaceChildren(text), stop };
}

/** Tell the box whether the page is dark, now and whenever that changes. @param {HTMLElement} box */
function followTheme(box) {
  const media = matchMedia("(prefers-color-scheme: dark)");
  const look = () => {
    const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
    const dark = jpThemeLight ? jpThemeLight === "false" : vscodeThemeKind ? /dark/.test(vscodeThemeKind) : media.matches;
    box.dataset.theme = dark ? "dark" : "light";
  };
  const observer = new MutationObserver(look);
  observer.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-vscode-theme-kind"] });
  media.addEventListener("change", look);
  look();
  return () => {
    observer.disconnect();
    media.removeEventListener("change", look);
  };
}

/**
 * Let arrows, Home, End, PageUp and PageDown move the focus over items; one of them is a tab stop.
 * @param {(HTMLElement | SVGElement)[]} items
 * @param {{onFocus?: (place: number) => void, onChoose?: (place: number, event: Event) => void, page?: number, start?: number}} [options]
 *   `onChoose` is called for Enter, Space and a click; `start` is the tab stop at first
 */
export function roving(items, { onFocus, onChoose, page = 10, start = 0 } = {}) {
  let current = start;
  /** @param {number} place */
  const go = (place) => {
    if (!items.length) return;
    items[current]?.setAttribute("tabindex", "-1");
    current = Math.max(0, Math.min(items.length - 1, place));
    items[current].setAttribute("tabindex", "0");
    items[current].focus();
    onFocus?.(current);
  };
  const steps = /** @type {Record<string, () => number>} */ ({
    ArrowRight: () => current + 1,
    ArrowDown: () => current + 1,
    ArrowLeft: () => current - 1,
    ArrowUp: () => current - 1,
    PageDown: () => current + page,
    PageUp: () => current - page,
    Home: () => 0,
    End: () => items.length - 1,
  });
  items.forEach((item, place) => {
    item.setAttribute("tabindex", place === start ? "0" : "-1");
    item.addEventListener("click", (event) => {
      go(place);
      onChoose?.(place, event);
    });
    item.addEventListener("keydown", (event) => {
      const { key } = /** @type {KeyboardEvent} */ (event);
      if (key in steps) go(steps[key]());
      else if (key === "Enter" || key === " ") onChoose?.(place, event);
      else return;
      event.preventDefault();
    });
  });
  return { go, get current() { return current; } };
}

/**
 * A range input that says in words where it stands.
 * @param {{label: string, max: number, min?: number, step?: number, value: number, text: (value: number) => string, onMove: (value: number) => void}} options
 */
export function slider({ label, min = 0, max, step = 1, value, text, onMove }) {
  const output = h("span", { "aria-hidden": "true" }, text(value)); // aria-valuetext says it
  const input = h("input", { type: "range", min, max, step, "aria-label": label, "aria-valuetext": text(value) });
  input.value = String(value);
  input.addEventListener("input", () => {
    const now = Number(input.value);
    output.replaceChildren(text(now));
    input.setAttribute("aria-valuetext", text(now));
    onMove(now);
  });
  const move = (/** @type {number} */ to) => {
    input.value = String(to);
    input.dispatchEvent(new Event("input"));
  };
  return { element: h("label", { class: "row" }, label, input, output), input, move };
}

/**
 * @typedef {{name: string, type?: string, right?: boolean, text?: (value: any, row: any) => Child, title?: (row: any) => string}} Head
 *   `text` draws a value; without it the value itself is shown
 */

/**
 * A table that sorts by a click on a head; arrows move over rows.
 * @param {{heads: Head[], rows: any[][], caption?: string, onChoose?: (row: any[]) => void, selected?: (row: any[]) => boolean}} options
 */
export function grid({ heads, rows, caption = "", onChoose, selected }) {
  let order = rows.slice();
  let by = -1;
  let descending = false;
  const body = h("tbody");
  const headCells = heads.map((head, column) =>
    h("th", { scope: "col", class: head.right && "right", "aria-sort": "none" },
      h("button", { title: "sort", onclick: () => sort(column), style: "border:0;background:none;padding:0;font-weight:bold" }, head.name),
      head.type && h("div", { class: "faint", style: "font-weight:normal" }, head.type)));
  const draw = () => {
    const lines = order.map((row) =>
      h("tr", { "aria-selected": selected ? String(selected(row)) : null },
        ...heads.map((head, column) => h("td", { class: head.right && "right" }, head.text ? head.text(row[column], row) : row[column]))));
    body.replaceChildren(...lines);
    roving(lines, { onChoose: (place) => onChoose?.(order[place]) });
  };
  /** @param {number} column */
  const sort = (column) => {
    descending = by === column && !descending;
    by = column;
    order = rows.slice().sort((one, two) => compare(one[column], two[column]) * (descending ? -1 : 1));
    headCells.forEach((cell, place) => cell.setAttribute("aria-sort", place !== by ? "none" : descending ? "descending" : "ascending"));
    draw();
  };
  draw();
  const element = h("div", { class: "scroll" },
    h("table", {}, caption && h("caption", {}, caption), h("thead", {}, h("tr", {}, ...headCells)), body));
  return { element, draw };
}

/** Order values of one column, what is not there last. @param {any} one @param {any} two */
export function compare(one, two) {
  const missing = [one, two].map((value) => value === null || value === undefined);
  if (missing[0] || missing[1]) return Number(missing[0]) - Number(missing[1]);
  const numbers = [one, two].map((value) => (typeof value === "string" && value.trim() === "" ? NaN : Number(value)));
  if (!Number.isNaN(numbers[0]) && !Number.isNaN(numbers[1])) return numbers[0] - numbers[1];
  return String(one) < String(two) ? -1 : Number(String(one) > String(two));
}

/** Names and values under each other; what has no value is left out. @param {[string, Child][]} entries */
export function card(entries) {
  const known = entries.filter(([, value]) => isThere(value) && value !== "");
  return h("dl", {}, ...known.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

/** @param {string} label @param {() => string} text @param {(said: string) => void} say */
export function copyButton(label, text, say) {
  return h("button", {
    onclick: async () => {
      try {
        await navigator.clipboard.writeText(text());
        say(`copied: ${text()}`);
      } catch {
        say(text());
      }
    },
  }, label);
}

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
    s("text", { x, y: y + 4, "text-anchor": "middle", "font-size": 11, "font-weight": "bold", style: "fill:#fff" }, letter));
}
