// Written by tools/labextension.py; change the modules it is made of instead.
(() => {

function count(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : value.toLocaleString("en-US");
}

function many(number, what, several = `${what}s`) {
  return `${count(number)} ${number === 1 ? what : several}`;
}


function signed(value) {
  if (value === null || value === undefined) return "";
  return (value > 0 ? "+" : "") + count(value);
}

function bytes(value) {
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

function moment(millis) {
  if (millis === null || millis === undefined) return "";
  const date = new Date(millis);
  return Number.isNaN(date.getTime()) ? String(millis) : date.toISOString().slice(0, 19).replace("T", " ");
}

function ago(millis) {
  const seconds = Math.max(0, Math.round((Date.now() - millis) / 1000));
  const units = ([[86400, "day"], [3600, "hour"], [60, "minute"]]);
  const [size, unit] = units.find(([least]) => seconds >= least) ?? [1, "second"];
  return `${many(Math.floor(seconds / size), unit)} ago`;
}

function areNumbers(texts) {
  const known = texts.filter((text) => text !== null && text !== undefined && text !== "");
  return known.length > 0 && known.every((text) => /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(String(text)));
}

function figure(text) {
  if (text === null || !areNumbers([text])) return text;
  if (/^-?\d+$/.test(text)) return BigInt(text).toLocaleString("en-US");
  const whole = /e/i.test(text) ? 0 : text.replace(/^-|\..*$/g, "").length;
  return Number(text).toLocaleString("en-US", { maximumSignificantDigits: Math.min(Math.max(7, whole), 21) });
}



const SVG = "http://www.w3.org/2000/svg";

function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  equip(element, properties, children);
  return element;
}

function s(tag, properties = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  equip(element, properties, children);
  return element;
}

function equip(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter(isThere).map((child) => (typeof child === "number" ? String(child) : child)));
}

function isThere(child) {
  return child !== null && child !== undefined && child !== false;
}



const A_TIME = 19;
const A_LINE = 48;

function card(entries) {
  const known = entries.filter(([, value]) => isThere(value) && value !== "");
  const isRoomy = known.some(([, value]) => typeof value === "string" && value.length > A_TIME && value.length <= A_LINE);
  return h("dl", { class: isRoomy && "roomy" }, ...known.map(([name, value]) => h("div", { class: (value instanceof HTMLElement ? value.matches("code") : String(value).length > A_LINE) && "wide" }, h("dt", {}, name), h("dd", {}, value))));
}


function copyButton(label, text, say) {
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


function empty(why, code) {
  if (!code) return h("p", { class: "empty" }, why);
  const button = copyButton("copy", () => code, (said) => button.replaceChildren(said === code ? "no clipboard" : "copied"));
  return h("div", { class: "empty" }, `${why}:`, h("div", { class: "row" }, h("code", {}, code), button));
}


const AMOUNTS = {
  light: ["#EFF6FC", "#DEEBF7", "#B3D2EA", "#86B6DC", "#5C9BCC", "#3C86BF"],
  dark: ["#141E28", "#182B3B", "#1B3E5B", "#1F517A", "#256596", "#2F79B4"],
};

function tokensOf(shades) {
  return shades.map((shade, at) => `--amount${at}: ${shade};`).join(" ");
}

function amountColour(share, most = AMOUNTS.light.length - 1) {
  const place = Math.min(Math.max(share, 0), 1) * most;
  const low = Math.min(Math.floor(place), most - 1);
  return `color-mix(in srgb, var(--amount${low + 1}) ${Math.round(100 * (place - low))}%, var(--amount${low}))`;
}


const NAME = 40;

const kept = (word) => ((/\d-\d\d/.test(word) && word.length < 32) || (/\p{L}-\w|\w-\p{L}/u.test(word) && word.length > 14 && word.length <= NAME) ? h("span", { style: "white-space: nowrap" }, word) : word);

function unbroken(text) {
  return text.replace(/(\d) (?=(([kMGTP]i?)?B|bytes)\b|%)/g, "$1\u00a0").split(/( +)/).flatMap((word) => (word.length > NAME && word.includes("-") ? word.split(/(?<=\/)/) : [word]).map(kept));
}

const COLOURS = {
  blue: "#0072B2",
  orange: "#E69F00",
  green: "#009E73",
  pink: "#CC79A7",
  sky: "#56B4E9",
  red: "#D55E00",
  yellow: "#F0E442",
  grey: "#7A7A7A",
};

function ink(colour) {
  return colour === COLOURS.blue ? "#fff" : "#000";
}


const STYLE = `
:host { display: block; }
.frame { position: relative; --ink: var(--jp-ui-font-color1, CanvasText); --ground: var(--jp-layout-color0, Canvas); --rule: color-mix(in srgb, #888 27%, var(--ground)); --chosen: color-mix(in srgb, var(--focus) 20%, var(--ground));
  color: var(--ink); background: var(--ground); font: 13px/1.45 var(--jp-ui-font-family, system-ui, sans-serif); padding: 8px 12px; overflow: hidden;
  border: 1px solid var(--jp-border-color2, #8888); border-radius: 6px; box-sizing: border-box; font-variant-numeric: tabular-nums; }
.frame[data-theme="dark"] { color-scheme: dark; --focus: ${COLOURS.sky}; --faint: #b0b0b0; }
.frame[data-theme="light"] { color-scheme: light; --focus: ${COLOURS.blue}; --faint: #595959; }
.head { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: baseline; justify-content: space-between; margin: 0 0 4px; }
.head h3, h4 { font-size: 13px; margin: 0; overflow-wrap: anywhere; unicode-bidi: isolate; } .head .faint { font-size: 11px; }
.faint, .null, .status { color: var(--faint); } .null { font-style: italic; }
.status { font-size: 11px; margin: 4px 0 0; overflow-wrap: anywhere; } .status:empty { margin: 0; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
button, select, input { font: inherit; color: inherit; background: var(--jp-layout-color1, transparent);
  border: 1px solid var(--jp-border-color1, #8888); border-radius: 4px; padding: 1px 8px; }
::placeholder { color: inherit; opacity: .9; }
button { cursor: pointer; } button:hover { background: var(--chosen); } button[aria-pressed=true] { background: var(--chosen); border-color: var(--focus); }
button:disabled { opacity: .5; background: none; border-style: dashed; cursor: default; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 1px; }
table { border-collapse: collapse; position: relative; }
th, td { padding: 3px 14px 3px 0; text-align: left; vertical-align: top; unicode-bidi: plaintext; max-width: 360px; box-sizing: border-box; overflow-wrap: break-word; }
th:first-child, td:first-child { padding-left: 4px; }
th { position: sticky; top: 0; background: var(--ground); z-index: 1; vertical-align: bottom; }
th.right, td.right { text-align: right; white-space: nowrap; }
tbody tr:hover { background: color-mix(in srgb, var(--focus) 10%, var(--ground)); }
.scroll { overflow: auto; max-height: 420px; } svg { display: block; max-width: 100%; }
.row { display: flex; flex-wrap: wrap; gap: 4px 8px; align-items: center; margin: 4px 0; }
@media (hover: hover) { .frame:not(:hover, :focus-within) .tools { opacity: 0; }
.tools { position: absolute; top: -4px; right: 8px; z-index: 5; background: var(--ground); max-width: calc(100% - 16px); box-sizing: border-box; flex-wrap: nowrap; overflow-x: auto; padding: 2px 4px 2px 8px; } .tools > * { flex: none; }
}
@media (forced-colors: active) {
  svg [fill], .bar, .key, .ramp { forced-color-adjust: none; } [aria-selected=true], [aria-pressed=true] { outline: 2px solid Highlight; }
}
`;

function plainFrame(el, { title, note = "", css = "" }) {
  const root = el.shadowRoot ?? el.attachShadow({ mode: "open" });
  const status = h("p", { class: "status", role: "status" });
  const body = h("div", { class: "body" });
  const head = h("div", { class: "head" }, h("h3", {}, ...unbroken(title)), note && h("span", { class: "faint" }, note));
  const box = h("div", { class: "frame", role: "group", "aria-label": title }, head, body, status);
  root.replaceChildren(h("style", {}, STYLE + css), box);
  el.dataset.lmSuppressShortcuts = "true";
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") (root.activeElement)?.blur();
    else event.stopPropagation();
  });
  const stop = followTheme(box);
  let isDrawn = false;
  queueMicrotask(() => { isDrawn = true; });
  const say = (text) => {
    status.classList.toggle("hidden", !isDrawn);
    status.replaceChildren(text);
  };
  return { root, head, body, status, say, stop };
}

function followTheme(box) {
  const media = matchMedia("(prefers-color-scheme: dark)");
  const look = () => {
    const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
    const dark = jpThemeLight ? jpThemeLight === "false" : vscodeThemeKind ? /dark/.test(vscodeThemeKind) : media.matches;
    box.dataset.theme = dark ? "dark" : "light";
  };
  const observer = new MutationObserver(look);
  observer.observe(document.body, { attributeFilter: ["data-jp-theme-light", "data-vscode-theme-kind"] });
  media.addEventListener("change", look);
  look();
  return () => {
    observer.disconnect();
    media.removeEventListener("change", look);
  };
}


const LISTED = `
svg text { fill: currentColor; } .scroll:not(:last-child), :not(:last-child) > .scroll { margin-bottom: 8px; }
tbody tr { border-top: 1px solid var(--rule); background: var(--ground); }
input[type=range] { padding: 0; vertical-align: middle; accent-color: var(--focus); }
caption { text-align: left; font-weight: bold; padding: 8px 0 4px; }
tbody tr[aria-selected=true] { background: var(--chosen); }
@media (max-width: 700px) { table { font-size: 12px; } th, td { padding-right: 8px; } }
.legend { font-size: 11px; color: var(--faint); gap: 4px 16px; }
@media (prefers-reduced-motion: no-preference) { .moves { transition: all .25s; } }
.scroll tr:focus-visible { outline-offset: -3px; }
.frame[data-theme="dark"] { --error: #ff9a5c; --warning: #f0b429; --ok: #4cc9a0; ${tokensOf(AMOUNTS.dark)} --on-amount: #fff; } .frame[data-theme="light"] { --error: #a83c00; --warning: #7a5200; --ok: #00694c; ${tokensOf(AMOUNTS.light)} --on-amount: #000; }
.headline { text-wrap: balance; font-size: 15px; margin: 0 0 8px; overflow-wrap: anywhere; } .empty { color: var(--faint); margin: 4px 0; } .empty code { color: var(--ink); overflow-wrap: anywhere; }
.error { color: var(--error); } .warning { color: var(--warning); } .ok { color: var(--ok); }
td.prose { max-width: 640px; text-wrap: pretty; } th, h3, h4 { text-wrap: balance; } td.line { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
[role=grid] :is(td, th):first-child { position: sticky; left: 0; background: inherit; z-index: 1; } [role=grid] th:first-child { background: var(--ground); z-index: 2; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 290px), 1fr)); gap: 2px 24px; margin: 8px 0; } dl.roomy { grid-template-columns: repeat(auto-fill, minmax(min(100%, 380px), 1fr)); } dl > .wide { grid-column: 1 / -1; } dl > div { display: grid; grid-template-columns: minmax(11em, max-content) 1fr; gap: 0 10px; } dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; unicode-bidi: plaintext; }
`;

const A_LINE_BESIDE = 90;

function frame(el, { headline = "", note = "", css = "", ...what }) {
  const isLong = note.length > A_LINE_BESIDE;
  const made = plainFrame(el, { ...what, note: isLong ? "" : note, css: LISTED + css });
  if (headline) made.body.before(h("p", { class: "headline" }, ...unbroken(headline)));
  if (isLong) made.body.before(h("p", { class: "legend" }, note));
  return made;
}


const ENDS = /(?<=[\s._/,=-])/;

function halfOf(name) {
  const parts = name.split(ENDS);
  return parts.reduce((least, _, at) => {
    const first = parts.slice(0, at + 1).join("").length;
    return Math.min(least, Math.max(first, name.length - first));
  }, name.length);
}

function breaking(text) {
  const parts = text.split(/(?<=[._/,=-])(?=[^\s._/,=-])/);
  return h("span", {}, ...parts.flatMap((part, at) => (at ? [h("wbr"), part] : [part])));
}

function compare(left, right) {
  const missing = [left, right].map((value) => value === null || value === undefined);
  if (missing[0] || missing[1]) return Number(missing[0]) - Number(missing[1]);
  const numbers = [left, right].map((value) => (typeof value === "string" && value.trim() === "" ? NaN : Number(value)));
  if (!Number.isNaN(numbers[0]) && !Number.isNaN(numbers[1])) return numbers[0] - numbers[1];
  return String(left) < String(right) ? -1 : Number(String(left) > String(right));
}

function roving(items, { onFocus, onChoose, page = 10, start = 0 } = {}) {
  let current = start;
    const go = (place) => {
    if (!items.length) return;
    items[current]?.setAttribute("tabindex", "-1");
    current = Math.max(0, Math.min(items.length - 1, place));
    items[current].setAttribute("tabindex", "0");
    items[current].focus();
    onFocus?.(current);
  };
  const steps = ({
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
      const { key } = (event);
      if (key in steps) go(steps[key]());
      else if (key === "Enter" || key === " ") onChoose?.(place, event);
      else return;
      event.preventDefault();
    });
  });
  return { go, get current() { return current; } };
}




const A_HEAD = 260;
const LONG_NAME = 17;

function narrowed(element, table, heads) {
  const widths = [...new Set(heads.map(({ less }) => less ?? 0))].filter(Boolean).sort((left, right) => right - left);
  if (!widths.length) return;
  element.prepend(h("style", {}, ".frame { container-type: inline-size }", ...widths.map((width) => ` .no${width} .less${width} { display: none }`)));
  const fit = () => {
    const room = element.closest(".frame")?.clientWidth ?? 0;
    widths.forEach((width) => element.classList.remove(`no${width}`));
    table.style.width = "max-content";
    for (const width of widths) if (room && room <= width && table.offsetWidth > element.clientWidth) element.classList.add(`no${width}`);
    table.style.width = "";
  };
  new ResizeObserver(fit).observe(element);
}

function grid({ heads: wanted, rows, caption = "", label = "", onChoose, selected }) {
  const places = wanted.map((_, place) => place).filter((place) => !wanted[place].optional || rows.some((row) => ![null, undefined, ""].includes(row[place])));
  const heads = places.map((place) => wanted[place]);
  let order = rows.slice();
  let by = -1;
  let descending = false;
  const body = h("tbody");
  const headCells = heads.map((head, column) =>
    h("th", { scope: "col", class: classOf(head.right && "right", head), "aria-sort": "none" },
      h("button", { title: "sort", "aria-label": head.label, onclick: () => sort(column), style: "border:0;background:none;padding:0;font-weight:bold;text-align:inherit" }, head.name.length > 12 ? breaking(head.name) : head.name),
      head.type && h("div", { class: "faint", style: "font-weight:normal;font-size:11px" }, head.type)));
  const draw = () => {
    const lines = order.map((row) =>
      h("tr", { "aria-selected": selected ? String(selected(row)) : null },
        ...heads.map((head, column) => cellOf(head, row[places[column]], row))));
    const focused = [...body.children].findIndex((line) => line.matches(":focus"));
    const chosen = lines.findIndex((line) => line.ariaSelected === "true");
    body.replaceChildren(...lines);
    heads.forEach((head, column) => {
      const least = head.right ? Math.min(140, head.name.length * 8) : roomOf([headCells[column], ...lines.map((line) => line.children[column])], head.prose);
      const room = head.name.length > LONG_NAME ? Math.max(least, Math.min(A_HEAD, halfOf(head.name) * 8 + 14)) : least; // two lines at most
      headCells[column].style.minWidth = head.prose ? `min(${room}px, 56vw)` : `${room}px`;
    });
    const rover = roving(lines, { start: Math.max(chosen, 0), onChoose: (place) => onChoose?.(order[place]) });
    if (focused >= 0) rover.go(focused);
  };
    const sort = (column) => {
    descending = by === column && !descending;
    by = column;
    order = rows.slice().sort((left, right) => compare(left[places[column]], right[places[column]]) * (descending ? -1 : 1));
    headCells.forEach((cell, place) => cell.setAttribute("aria-sort", place !== by ? "none" : descending ? "descending" : "ascending"));
    draw();
  };
  draw();
  const table = h("table", { role: "grid" }, (caption || label) && h("caption", { class: !caption && "hidden" }, caption || label), h("thead", {}, h("tr", {}, ...headCells)), body);
  const element = h("div", { class: "scroll" }, table);
  narrowed(element, table, heads);
  return { element, draw };
}

function classOf(kind, { less }) {
  return [kind, less && `less${less}`].filter(Boolean).join(" ") || false;
}

function cellOf(head, value, row) {
  const shown = head.text ? head.text(value, row) : value;
  const isLong = typeof shown === "string" && shown.length > 24;
  return h("td", { class: classOf(head.right ? "right" : head.prose ? "prose" : "line", head), title: isLong && !head.right && shown }, ...(head.prose && typeof shown === "string" ? unbroken(shown) : [shown]));
}

function roomOf(cells, prose) {
  const longest = Math.max(...cells.slice(0, 50).map((cell) => (cell.textContent ?? "").length));
  return Math.min(typeof prose === "number" ? prose : prose ? (longest > 100 ? 340 : 260) : 190, Math.max(longest * (prose ? 7.5 : 7) + 16, longest > 3 ? 60 : 0));
}



function placeText({ partition, bucket }) {
  const parts = [partition, bucket === undefined || bucket === null ? "" : `bucket ${bucket}`];
  return parts.filter(Boolean).join(" ") || "the table";
}

function hasPlace({ partition, bucket }) {
  return (partition ?? null) !== null || (bucket ?? null) !== null;
}

function isAt(item, { partition, bucket }) {
  return (partition ?? item.partition) === item.partition && (bucket ?? item.bucket) === item.bucket;
}


const SHORT_FRACTION = 9;

function valueText(value, isFloat = true, digits = 10) {
  if (value == null) return h("span", { class: "null" }, "NULL");
  const [whole, integer, rest = "", power = ""] = /^-?(\d+)(\.\d+)?(e[+-]?\d+)?$/i.exec(value) ?? [];
  if (!whole) return value;
  if (isFloat && rest && whole.length > Math.max(SHORT_FRACTION, digits + 1)) {
    const short = power ? String(Number(Number(whole).toPrecision(digits))) : Number(whole).toLocaleString("en-US", { maximumSignificantDigits: Math.max(digits, integer.length) });
    return h("span", { title: whole }, short);
  }
  if (power) return whole;
  return integer.length < 5 ? whole : whole.slice(0, whole.length - rest.length).replace(/\B(?=(\d{3})+$)/g, ",") + rest;
}


function whenSized(element, draw) {
  let drawn = element.clientWidth || 840;
  draw(drawn);
  const observer = new ResizeObserver(() => {
    if (!element.clientWidth || element.clientWidth === drawn) return;
    drawn = element.clientWidth;
    draw(drawn);
  });
  observer.observe(element);
  return () => observer.disconnect();
}



function legend(...entries) {
  const known = (entries.filter(Boolean));
  return h("div", { class: "row legend" }, ...known.map(([drawn, words]) => h("span", {}, drawn, drawn && " ", words)));
}

function swatch(...shapes) {
  return s("svg", { width: 14, height: 14, "aria-hidden": "true", style: "display:inline-block;vertical-align:-2px" }, ...shapes);
}

function barKey(colour, isFull = true) {
  return swatch(s("rect", { x: 1, y: 3, width: 12, height: 9, fill: isFull ? colour : "none", stroke: colour }));
}


function shortId(text) {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-/.test(text) ? h("span", { title: text }, text.slice(0, 8)) : text;
}

function shortFile(text) {
  const short = text.replace(/([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{8,12}/, "$1…");
  return short === text ? text : h("span", { title: text, style: "white-space: nowrap" }, short);
}


function listing(el, { title, headline, note, none, heads, rows, cellsOf, factsOf, copiesOf }) {
  const { body, say, stop } = frame(el, { title, note, headline: rows.length || !none ? headline : "" });
  if (!rows.length) {
    if (none) body.append(empty(none));
    return stop;
  }
  const details = h("div");
  const list = h("div");
    let chosen;
  const draw = () => {
    const wanted = search.value.toLowerCase();
    const shown = rows.filter((row) => !wanted || cellsOf(row).some((cell) => String(cell ?? "").toLowerCase().includes(wanted)));
    const made = grid({ label: title, heads, rows: shown.map((row) => [...cellsOf(row), row]), selected: (cells) => cells[heads.length] === chosen,
      onChoose: (cells) => {
        chosen = (cells[heads.length]);
        made.draw();
        const facts = factsOf(chosen);
        details.replaceChildren(card(facts), h("div", { class: "row" }, ...copiesOf(chosen).map(([label, text]) => copyButton(label, () => text, say))));
        say(facts.filter(([, value]) => value).slice(0, 3).map(([name, value]) => `${name} ${value}`).join(", "));
      } });
    list.replaceChildren(made.element);
    if (wanted) say(`${count(shown.length)} of ${count(rows.length)} match`);
  };
  const search = h("input", { type: "search", placeholder: "search", "aria-label": "search all columns", oninput: () => draw() });
  draw();
  body.append(h("div", { class: "row tools" }, rows.length >= 10 && search), list, details);
  return stop;
}


function hatchKey() {
  return swatch(s("rect", { x: 1, y: 1, width: 12, height: 12, fill: "none", stroke: "currentColor" }), s("path", { d: "M1 8L8 1M1 13L13 1M6 13L13 6", stroke: "currentColor" }));
}


function bothWays(added, deleted, write = count) {
  return [added ? `+${write(added)}` : "", deleted ? `-${write(deleted)}` : ""].filter(Boolean).map((text) => text.replace(" ", "\u00a0")).join(" ");
}

function commitText({ kind, written, deleted, files, merged, user }) {
  const changed = [written, -(deleted ?? 0)].flatMap((number) => (number ? [number] : []));
  const rows = changed.length ? `${changed.map(signed).join(" ")} ${Math.abs(changed[0]) === 1 ? "row" : "rows"}` : "";
  const moved = merged !== undefined ? `${many(merged, "file")} into ${count(files ?? 0)}` : files ? many(files, "file") : "";
  const what = [kind === "APPEND" ? "" : kind.toLowerCase(), rows, moved].filter(Boolean).join(", ");
  const who = /^[0-9a-f]{8}-[0-9a-f]{4}-/.test(user) ? user.slice(0, 8) : user.slice(0, 40);
  return `${what || "nothing"}, by ${who}`;
}


function slider({ label, min = 0, max, step = 1, value, text, onMove }) {
  const output = h("span", { "aria-hidden": "true" }, text(value)); // aria-valuetext says it
  const input = h("input", { type: "range", min, max, step, "aria-label": label, "aria-valuetext": text(value) });
  input.value = String(value);
    const stand = (now) => {
    input.value = String(now);
    output.replaceChildren(text(now));
    input.setAttribute("aria-valuetext", text(now));
  };
  input.addEventListener("input", () => {
    stand(Number(input.value));
    onMove(Number(input.value));
  });
  const move = (to) => {
    input.value = String(to);
    input.dispatchEvent(new Event("input"));
  };
  return { element: h("label", { class: "row" }, label, input, output), input, move, stand };
}


const KINDS = ({
  APPEND: { letter: "A", colour: COLOURS.blue, shape: "circle" },
  COMPACT: { letter: "C", colour: COLOURS.green, shape: "square" },
  OVERWRITE: { letter: "O", colour: COLOURS.red, shape: "diamond" },
  ANALYZE: { letter: "X", colour: COLOURS.grey, shape: "triangle" },
});

function mark(kind, x, y) {
  const { letter, colour, shape } = KINDS[kind] ?? { letter: "?", colour: COLOURS.grey, shape: "circle" };
  const shapes = ({
    circle: () => s("circle", { cx: x, cy: y, r: 11, fill: colour }),
    square: () => s("rect", { x: x - 10, y: y - 10, width: 20, height: 20, fill: colour }),
    diamond: () => s("path", { d: `M${x} ${y - 14}l14 14l-14 14l-14 -14z`, fill: colour }),
    triangle: () => s("path", { d: `M${x} ${y - 15}l15 25h-30z`, fill: colour }),
  });
  return s("g", {}, shapes[shape](),
    s("text", { x, y: y + 4, "text-anchor": "middle", "font-size": 11, "font-weight": "bold", style: `fill:${ink(colour)}` }, letter));
}



function selections() {
  const page = (globalThis);
  page.paimonlabSelections ??= new EventTarget();
  return page.paimonlabSelections;
}

function pageHost(data, { el, tell, ask = null } = {}) {
  const all = selections();
  const me = {};
  const place = () => `${el?.closest(".jp-NotebookPanel")?.id ?? ""} ${data.link}`;
  return {
    select(selection) {
      all.dispatchEvent(new CustomEvent("select", { detail: { selection, from: me, place: place() } }));
      tell?.(selection);
    },
    onSelect(heard) {
            const listen = (event) => {
        const { selection, from, place: there } = (event).detail;
        if (from !== me && there === place()) heard(selection);
      };
      all.addEventListener("select", listen);
      return () => all.removeEventListener("select", listen);
    },
    ask,
  };
}

const VIEWS = {
"changes": (() => {


const CHANGE_NAMES = ({ "+": "inserted", "-": "deleted", "~": "updated" });
const MOST_COLUMNS = 8;
const COLUMN_WIDTH = 220;
const FEW_DIGITS = 6;
const CHANGES_CSS = `
tr:has(.mark-gone) td, del { color: var(--faint); } td.right del { text-decoration: none; } ins { text-decoration: none; font-weight: bold; white-space: nowrap; } td.right:has(ins) { white-space: normal; }
.mark { font-weight: bold; font-family: monospace; }
`;

function render({ data, el, host }) {
  const { table, start, end, source, note, columns, key, floats = [], total, partitions, buckets, rows, rowCount, fileCount, hasSnapshots = true } = data.view;
  const { body, say, stop } = frame(el, {
    title: `${table}: changes from ${start} to ${end}`,
    note: hasSnapshots ? `${source}, from ${many(fileCount, "data file")}` : "",
    headline: !rowCount ? "" : Object.entries({ inserted: total.inserts, updated: total.updates, deleted: total.deletes }).flatMap(([what, number]) => (number ? [`${count(number)} ${what}`] : [])).join(", "),
    css: CHANGES_CSS,
  });
  if (!hasSnapshots) {
    body.append(empty("Nothing was written to it yet. The first changes are made by", `INSERT INTO ${table} VALUES …`));
    return stop;
  }
  if (!rowCount) {
    body.append(empty(`No row changed there, or none is reported yet (${note}). The commits are shown by`, `%paimon_diff ${table} ${start} ${end}`));
    return stop;
  }
  const page = Math.max(rows.length, 1);
  let shown = rows;
    let isMore = false;
  let matching = rowCount;
  let offset = 0;
  let asked = 0;
  let isAll = columns.length <= MOST_COLUMNS;
  const chosen = new Set(["+", "-", "~"]);
    let followed = {};
  const list = h("div");
  const detail = h("div");
  const where = h("span", { class: "faint" });

    const placesShown = () => {
    const every = columns.map((_, place) => place);
    if (isAll) return every;
    const moved = new Set(shown.flatMap((row) => (row.old ?? []).map(([place]) => place)));
    const rank = (place) => (key.includes(place) ? 0 : moved.has(place) ? 1 : 2);
    return every.sort((left, right) => rank(left) - rank(right) || left - right).slice(0, Math.max(MOST_COLUMNS, key.length));
  };

    const changed = (row, column, digits) => {
    const isFloat = floats.includes(column);
    const now = row.cells[column];
    const before = row.old?.find(([place]) => place === column);
    if (!before) return valueText(now, isFloat, digits);
    const shown = [before[1], now].map((value) => h("span", {}, valueText(value, isFloat, digits)));
    const [was, is] = shown[0].textContent === shown[1].textContent ? [before[1], now] : shown;
    return h("span", {}, h("del", {}, was), " ", h("ins", {}, "→ ", is));
  };

    const show = (row) => {
    detail.replaceChildren(card([
      ["change", `${CHANGE_NAMES[row.mark]} (${row.kind})`],
      ["partition", row.partition],
      ["bucket", row.bucket],
      ...columns.map((name, place) => ([key.includes(place) ? `${name} (key)` : name, changed(row, place)])),
    ]));
    const names = (row.old ?? []).map(([place]) => columns[place]).join(", ");
    say(`${CHANGE_NAMES[row.mark]}: ${key.map((place) => row.cells[place]).join(", ")}${names && `; ${names}`}`);
        const selection = { partition: row.partition };
    if (row.bucket !== null) selection.bucket = row.bucket;
    host.select(selection);
  };

  const draw = () => {
    const kept = shown.filter((row) => chosen.has(row.mark));
    const wanted = placesShown();
    const hasKinds = new Set(kept.map((row) => row.kind)).size > new Set(kept.map((row) => row.mark)).size;
    const made = grid({
      label: "rows that were inserted, deleted or updated",
      selected: (row) => hasPlace(followed) && isAt(row[row.length - 1], followed),
      heads: [
        { name: "", label: "inserted, deleted or updated", text: (mark) => h("span", { class: `mark ${mark === "-" ? "mark-gone" : ""}`, title: CHANGE_NAMES[mark] }, mark) },
        { name: "kind", optional: true, less: 700 },
        ...wanted.map((place, at) => ({
          name: key.includes(place) ? `${columns[place]} (key)` : columns[place],
          less: isAll || at <= Math.max(key.length, 1) ? 0 : (at + 1) * COLUMN_WIDTH,
          right: areNumbers(shown.map((row) => row.cells[place])),
          text: (_value, row) => changed(row[row.length - 1], place, FEW_DIGITS),
        })),
      ],
      rows: kept.map((row) => [row.mark, hasKinds ? row.kind : "", ...wanted.map((place) => row.cells[place]), row]),
      onChoose: (row) => show(row[row.length - 1]),
    });
    list.replaceChildren(made.element);
    const last = offset + shown.length;
    where.replaceChildren(shown.length ? `rows ${count(offset + 1)} to ${count(last)} of ${isMore ? "at least " : ""}${count(matching)}` : "no rows", isAll ? "" : `; some of ${count(columns.length)} columns, a row that is chosen shows all`);
    back.disabled = !host.ask || offset === 0;
    next.disabled = !host.ask || last >= matching;
  };

    const fetchPage = async (to) => {
    const text = filter.value;
    if (!host.ask) {
      shown = rows.filter((row) => contains(row, key, text));
      matching = text ? shown.length : rowCount;
      draw();
      say(`${shown.length} of the ${rows.length} rows in this output`);
      return;
    }
    const mine = (asked += 1);
    try {
      const reply = await host.ask({ offset: to, key: text });
      if (mine !== asked) return;
      shown = (reply.rows);
      matching = Number(reply.count);
      isMore = Boolean(reply.isMore);
      offset = to;
      draw();
      say(`${isMore ? "at least " : ""}${many(matching, "row")}`);
    } catch (error) {
      say(String(error));
    }
  };

  let timer = 0;
  const filter = h("input", {
    type: "search", "aria-label": key.length ? "part of a key" : "part of a value", placeholder: key.length ? "key contains…" : "value contains…",
    oninput: () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => fetchPage(0), 200);
    },
  });
  const back = h("button", { onclick: () => fetchPage(Math.max(0, offset - page)) }, "◀ earlier");
  const next = h("button", { onclick: () => fetchPage(offset + page) }, "later ▶");
  const all = columns.length > MOST_COLUMNS && h("button", { "aria-pressed": "false", onclick: () => {
    isAll = !isAll;
    if (all) all.setAttribute("aria-pressed", String(isAll));
    draw();
  } }, "all columns");
  const sums = { "+": total.inserts, "~": total.updates, "-": total.deletes };
  const there = Object.entries(sums).filter(([, many]) => many);
  const marks = there.map(([mark, many]) => {
    const button = h("button", { "aria-pressed": "true", onclick: () => {
      if (!chosen.delete(mark)) chosen.add(mark);
      button.setAttribute("aria-pressed", String(chosen.has(mark)));
      draw();
    } }, `${mark} ${CHANGE_NAMES[mark]} ${count(many)}`);
    return button;
  });
  draw();
  body.append(
    h("p", { class: "legend" }, note),
    h("div", { class: "row" }, ...(rowCount >= 10 && there.length > 1 ? marks : []), all, where),
    h("div", { class: "row tools" }, rowCount >= 10 && filter, rowCount > page && back, rowCount > page && next,
      copyButton("copy CSV", () => csvOf(shown.filter((row) => chosen.has(row.mark)), columns), (said) => say(said.length > 200 ? `${said.slice(0, 200)}…` : said))),
    list, detail);
  const places = [...partitions, ...buckets];
  if (places.length > 1) {
    body.append(grid({
      caption: "by place",
      heads: [{ name: "where" }, ...["+ inserted", "~ updated", "- deleted"].map((name) => ({ name, right: true, optional: true, text: count }))],
      rows: places.map((entry) => [entry.place, total.inserts ? entry.inserts : null, total.updates ? entry.updates : null, total.deletes ? entry.deletes : null]),
    }).element);
  }
  const quiet = host.onSelect((selection) => {
    const [first, last] = selection.range ?? [null, null];
    if (selection.range && `${first} ${last}` !== `${start} ${end}`) say(`snapshots ${first} to ${last} were chosen: %paimon_changes ${table} ${first} ${last} shows them`);
    if (!hasPlace(selection)) return;
    followed = selection;
    draw();
    say(`${placeText(selection)}: ${count(shown.filter((row) => isAt((row), selection)).length)} of the ${count(shown.length)} rows here`);
  });
  return () => {
    clearTimeout(timer);
    quiet();
    stop();
  };
}

function csvOf(rows, columns) {
  const field = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return text === "" && value !== "" ? "" : /[",\r\n]|^\s|\s$|^$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = rows.map((row) => {
    const old = new Map(row.old ?? []);
    return [row.mark, row.kind, row.partition, row.bucket, ...row.cells, ...columns.map((_, place) => old.get(place))];
  });
  return [["mark", "kind", "partition", "bucket", ...columns, ...columns.map((name) => `before.${name}`)], ...lines].map((line) => line.map(field).join(",")).join("\n");
}

function contains(row, key, text) {
  const wanted = text.toLowerCase();
  const values = key.length ? key.map((place) => row.cells[place]) : row.cells;
  return values.some((value) => (value ?? "").toLowerCase().includes(wanted));
}

return render;
})(),
"compaction": (() => {


const COMPACTION_MOST = 900;
const COMPACTION_ROW = 30;
const COMPACTION_LEFT = 56;

const COMPACTION_CSS = `
.calls { display: grid; grid-template-columns: max-content max-content minmax(0, 1fr); gap: 4px 16px; align-items: baseline; } .calls code { overflow-wrap: anywhere; }
@media (max-width: 700px) { .calls { grid-template-columns: 1fr max-content; } .calls code { grid-column: 1 / -1; margin-bottom: 4px; } .calls > span:nth-child(3n + 2) { text-align: right; } }
`;

function render({ data, el, host }) {
  const view = data.view;
  const note = view.runCount > view.runs.length ? `the newest ${view.runs.length} of ${view.runCount}` : "";
  const { body, say, stop } = frame(el, { title: `${view.table}: compactions`, note, css: COMPACTION_CSS, headline: view.runs.length ? `${many(view.runCount, "compaction")}; the newest: ${compactionSum(view.runs[0].read)} became ${compactionSum(view.runs[0].written)}` : view.firstId === null ? "" : `No compaction in snapshots ${view.firstId} to ${view.lastId}` });
  if (view.firstId === null) {
    body.append(empty("Nothing was written to it yet. The first commit is made by", `INSERT INTO ${view.table} VALUES …`));
    return stop;
  }
  let chosen = view.runs.find((run) => run.snapshotId === view.chosenId) ?? view.runs[0];
  const details = h("div");
    let place = {};
  const isMarked = (bucket) => hasPlace(place) && isAt(bucket, place);
  const picks = compactionPicks(view, isMarked, (partition, bucket) => { mark({ partition, bucket }); host.select({ partition, bucket }); });
  const runs = grid({
    heads: [{ name: "snapshot", right: true }, { name: "time (UTC)", less: 700, text: moment }, { name: "buckets", right: true, less: 700, text: count },
      { name: "read", prose: 120, text: (_, row) => compactionSum(row[8].read).replace(/(\d) /g, "$1\u00a0") }, { name: "written", prose: 120, text: (_, row) => compactionSum(row[8].written).replace(/(\d) /g, "$1\u00a0") },
      { name: "moved", right: true, optional: true, text: count }, { name: "rows dropped", right: true, text: count }, { name: "took at least", right: true, optional: true, less: 900, text: compactionTime }],
    rows: view.runs.map((run) => [run.snapshotId, run.timeMillis, run.bucketCount, compactionWeight(run.read), compactionWeight(run.written), run.moved.files || null, run.droppedRows, run.leastMillis, run]),
    label: "compactions",
    onChoose: (row) => choose(row[8], true),
    selected: (row) => row[8] === chosen,
  });

    let buckets;
    function mark(where) {
    place = where;
    buckets?.draw();
    picks.draw();
  }

  let width = 840;
  const paint = () => {
    if (chosen && buckets) details.replaceChildren(compactionPicture(chosen, Math.min(width, COMPACTION_MOST)), buckets.element);
  };

    function choose(run, tell) {
    chosen = run;
    runs.draw();
    buckets = compactionBuckets(run, isMarked, (partition, bucket) => { mark({ partition, bucket }); host.select({ partition, bucket }); });
    paint();
    say(`snapshot ${run.snapshotId}: ${compactionSum(run.read)} became ${compactionSum(run.written)}, ${many(run.droppedRows, "row")} dropped`);
    if (tell) host.select({ snapshot: run.snapshotId });
  }

  body.append(
    ...(view.runs.length ? [runs.element, details] : []),
    ...compactionCosts(view),
    h("h4", { style: "margin:10px 0 2px" }, "What would be picked now"),
    view.picks.length ? picks.element : h("p", { class: "empty" }, "No bucket has files to compact."), ...compactionRules(view), compactionLooked(view),
    ...(view.calls.length ? [h("h4", { style: "margin:10px 0 2px" }, "To copy")] : []),
    h("div", { class: "calls" }, ...view.calls.flatMap((call) => [h("span", {}, call.label),
      h("span", {}, call.sql && copyButton("SQL", () => call.sql, say), " ", copyButton("Python", () => call.python, say)), h("code", {}, ...unbroken(call.sql || call.python).map((part) => (typeof part === "string" ? breaking(part) : part)))])),
    ...(view.untouched.length ? [compactionUntouched(view)] : []),
    ...view.notes.map((note) => h("p", { class: "faint" }, note)),
    h("p", { class: "faint" }, `Costs are those of snapshots ${view.firstId} to ${view.lastId}. How long a compaction took is not recorded: it is at least the time from its first new file, by the clock of the writer, to its commit. The picker is asked as by a new writer, which does not know of earlier compactions.`));
  const quiet = host.onSelect((selection) => {
    if (hasPlace(selection)) {
      mark(selection);
      const here = [chosen?.buckets ?? [], view.picks].map((all) => all.filter(isMarked).length);
      say(`${placeText(selection)}: ${here[0] ? "compacted" : "not among the buckets"} of snapshot ${chosen?.snapshotId ?? "none"}; ${count(here[1])} of the picks`);
    }
    const [first, last] = selection.range ?? [selection.snapshot, selection.snapshot];
    const inside = view.runs.filter((run) => first !== undefined && last !== undefined && first <= run.snapshotId && run.snapshotId <= last);
    if (inside.length && !inside.includes(chosen)) choose(inside[0], false);
    else if (selection.range && !inside.length) say(`no compaction in snapshots ${first} to ${last}`);
  });
  const unsized = whenSized(body, (now) => {
    width = now;
    paint();
  });
  if (chosen) choose(chosen, false);
  return () => {
    unsized();
    quiet();
    stop();
  };
}

function compactionTime(millis) {
  return millis === null || millis === undefined ? "" : millis < 1000 ? `${count(millis)} ms` : `${(millis / 1000).toFixed(1)} s`;
}

function compactionSum(sum) {
  if (!sum.files) return "nothing";
  const size = sum.bytes === null ? "" : `, ${bytes(sum.bytes)}`;
  return `${many(Number(sum.files), "file")}${size}, ${many(Number(sum.rows), "row")}`;
}

function compactionWeight(sum) {
  return Number(sum.bytes ?? sum.rows);
}

function compactionPicture(run, width) {
  const side = Math.floor(0.36 * width);
  const largest = Math.max(1, ...run.levels.flatMap((level) => [compactionWeight(level.before), compactionWeight(level.after)]));
  const right = width - side - 10;
  const top = 26;
  const height = top + run.levels.length * COMPACTION_ROW + 6;
  const parts = ([s("text", { x: COMPACTION_LEFT, y: 14, "font-size": 11, "font-weight": "bold" }, "before"), s("text", { x: right, y: 14, "font-size": 11, "font-weight": "bold" }, "after")]);
  run.levels.forEach((level, at) => {
    const y = top + at * COMPACTION_ROW;
    parts.push(s("text", { x: 4, y: y + 12, "font-size": 11 }, `level ${level.level}`));
    for (const [x, sum, colour] of ([[COMPACTION_LEFT, level.before, COLOURS.orange], [right, level.after, COLOURS.green]])) {
      if (!sum.files) continue;
      parts.push(s("rect", { x, y, height: 9, rx: 2, width: Math.max(((side - COMPACTION_LEFT) * compactionWeight(sum)) / largest, 3), fill: colour }),
        s("text", { x, y: y + 21, "font-size": 10 }, compactionSum(sum)));
    }
  });
  const middle = top + (run.levels.length * COMPACTION_ROW) / 2;
  const start = side + 50;
  const words = run.levels.map((level) => `level ${level.level}: ${compactionSum(level.before)} before, ${compactionSum(level.after)} after`).join("; ");
  parts.push(s("path", { d: `M${start} ${middle}H${right - 20}m-9 -6l9 6l-9 6`, stroke: "currentColor", "stroke-width": 2, fill: "none" }),
    s("text", { x: start, y: middle - 8, "font-size": 11 }, `${many(run.droppedRows, "row")} dropped`));
  if (run.moved.files) parts.push(s("text", { x: start, y: middle + 16, "font-size": 11 }, `${count(run.moved.files)} only moved`));
  return s("svg", { width, height, role: "img", "aria-label": words }, ...parts);
}

function compactionBuckets(run, isMarked, choose) {
  const hidden = run.bucketCount - run.buckets.length;
  return grid({
    caption: `snapshot ${run.snapshotId} by ${/^[0-9a-f]{8}-/.test(run.commitUser) ? run.commitUser.slice(0, 8) : run.commitUser}${hidden ? `: the ${run.buckets.length} of ${count(run.bucketCount)} buckets with most bytes` : ""}`,
    heads: [{ name: "bucket" }, { name: "read", text: compactionSum }, { name: "written", text: compactionSum }, { name: "moved", optional: true, text: (moved) => (moved ? compactionSum(moved) : "") }],
    rows: run.buckets.map((bucket) => [placeText(bucket), bucket.read, bucket.written, bucket.moved.files ? bucket.moved : null, bucket]),
    selected: (row) => isMarked(row[4]),
    onChoose: (row) => choose(row[4].partition, row[4].bucket),
  });
}

function compactionCosts(view) {
  const lines = [];
  if (view.writeAmplification !== null) {
    lines.push(h("p", {}, h("b", {}, `Write amplification ${view.writeAmplification.toFixed(2)}`), `: ${bytes(view.appendedBytes)} appended, ${bytes(view.compactedBytes)} written by compactions.`));
  }
  if (view.spaceAmplification !== null) {
    lines.push(h("p", {}, h("b", {}, `Space amplification ${view.spaceAmplification.toFixed(2)}`), ": bytes of all sorted runs per byte of the oldest run of each bucket."));
  }
  return lines;
}

function compactionPicks(view, isMarked, choose) {
  return grid({
    label: "what would be picked now",
    selected: (row) => isMarked(row[3]),
    heads: [{ name: "bucket" }, { name: "picked", prose: 130 }, { name: "why", prose: 220 }],
    rows: view.picks.map((pick) => {
      const size = pick.bytes === null ? "" : `, ${bytes(pick.bytes)}`;
      const level = pick.outputLevel === null ? "" : ` → level ${pick.outputLevel}`;
      const picked = pick.rule ? `${count(pick.files)} of ${count(pick.ofFiles)} files${size}${level}` : "nothing";
      return [placeText(pick), picked, pick.rule && pick.numbers ? `${pick.rule}: ${pick.numbers}` : pick.why, pick];
    }),
    onChoose: (row) => choose(row[3].partition, row[3].bucket),
  });
}

function compactionRules(view) {
  const rules = view.picks.filter(({ rule, numbers }) => rule && numbers).map(({ rule, why }) => `${rule}: ${why}.`);
  return [...new Set(rules)].map((rule) => h("p", { class: "faint" }, rule));
}

function compactionLooked(view) {
  const looked = view.lookedAt < view.bucketCount ? `; ${count(view.lookedAt)} of ${count(view.bucketCount)} buckets were looked at` : "";
  return h("p", { class: "faint" }, `${count(view.pickCount)} of ${count(view.lookedAt)} buckets would be compacted now, ${count(view.fullCount)} by a full compaction${looked}.`);
}

function compactionUntouched(view) {
  const hidden = view.untouchedCount - view.untouched.length;
  return h("details", {}, h("summary", {}, `${many(view.untouchedCount, "bucket")} never compacted: no live file was written by a compaction`),
    grid({
      caption: hidden ? `the largest ${view.untouched.length}` : "never compacted",
      heads: [{ name: "bucket" }, { name: "contains", text: compactionSum }],
      rows: view.untouched.map((bucket) => [placeText(bucket), bucket.held]),
    }).element);
}

return render;
})(),
"diff": (() => {


const CSS = `
.tabs { display: flex; flex-wrap: wrap; gap: 2px; margin: 6px 0; } .tabs [aria-selected=true] { border-bottom: 3px solid var(--focus); font-weight: bold; }
.bar { display: block; height: 8px; border: 1px solid currentColor; box-sizing: border-box; } .bars { display: grid; gap: 1px; width: clamp(48px, 100cqw - 498px, 110px); min-height: 1.45em; align-content: center; } .legend .bar { display: inline-block; } .bar.plus { background: ${COLOURS.blue}; }
.bar.minus { background: repeating-linear-gradient(45deg, ${COLOURS.orange} 0 4px, transparent 4px 6px); }
`;

function render({ data, el, host }) {
  const view = data.view;
  const { before, after } = view;
  const { body, say, stop } = frame(el, { title: `${view.table}: ${wordsOf(view)}`, headline: view.hasSnapshots ? headlineOf(view) : "", css: CSS });
  if (!view.hasSnapshots) {
    body.append(empty("Nothing was written to it yet. The first snapshot is made by", `INSERT INTO ${view.table} VALUES …`));
    return stop;
  }
  const details = h("div");
    let followed = {};
  const hasBytes = hasTimes(view);
  const tabs = ([
    [`${hasLevels(view.groups) ? "buckets and levels" : "buckets"} (${count(view.groupCount)})`, () => groupsOf(view, hasBytes, followed, (partition, bucket) => {
      host.select({ partition, bucket });
      say(placeText({ partition, bucket }));
    })],
    [`files (${count(view.fileCount)})`, () => filesOf(view, hasBytes, followed, (file) => {
      host.select({ partition: file.partition, bucket: file.bucket, file: file.name });
      details.replaceChildren(card([["file", file.name], ["what", file.isAdded ? "added" : "removed"], ["partition", file.partition], ["bucket", file.bucket], ...(file.level === null ? [] : ([["level", file.level]])), ["rows", count(file.rowCount)], ["size", bytes(file.fileBytes)]]));
      say(`${file.isAdded ? "+" : "-"} ${file.name}`);
    })],
    [`partitions (${count(view.partitionsAddedCount + view.partitionsRemovedCount)})`, () => partitionsOf(view)],
    [`schema (${count(view.schema.length)})`, () => schemaOf(view)],
  ]);
  const panel = h("div", { role: "tabpanel" });
  const buttons = tabs.map(([name], at) => h("button", { role: "tab", "aria-selected": "false", tabindex: "-1", onclick: () => open(at) }, name));
    const open = (at) => {
    buttons.forEach((button, place) => {
      button.setAttribute("aria-selected", String(place === at));
      button.setAttribute("tabindex", place === at ? "0" : "-1");
    });
    panel.setAttribute("aria-label", tabs[at][0]);
    details.replaceChildren();
    panel.replaceChildren(tabs[at][1]());
  };
  const list = h("div", { role: "tablist", class: "tabs", onkeydown: (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const now = buttons.findIndex((button) => button.getAttribute("aria-selected") === "true");
    const next = (now + step + buttons.length) % buttons.length;
    open(next);
    buttons[next].focus();
    event.preventDefault();
  } }, ...buttons);
  const changes = `%paimon_changes ${view.table} ${before.snapshotId} ${after.snapshotId}`;
  body.append(summaryOf(view, hasBytes),
    h("div", { class: "row tools" }, before.snapshotId < after.snapshotId && copyButton(`copy ${changes}`, () => changes, say),
      ...[before, after].map(({ snapshotId }) => snapshotId > 0 && h("button", { onclick: () => { host.select({ snapshot: snapshotId }); say(`snapshot ${snapshotId}`); } }, `snapshot ${snapshotId}`))),
    list, panel, details);
  open(view.fileCount || !view.schema.length ? 0 : 3);
  say(view.fileCount ? `${many(view.added.fileCount ?? 0, "file")} added, ${count(view.removed.fileCount)} removed` : "the same files");
  const quiet = host.onSelect((selection) => {
    const { file, range } = selection;
    if (range && range.join() !== [before.snapshotId, after.snapshotId].join()) {
      const magic = `%paimon_diff ${view.table} ${range[0]} ${range[1]}`;
      say(`snapshots ${range[0]} to ${range[1]} were chosen: ${magic} shows them`);
    }
    if (!file && !hasPlace(selection)) return;
    followed = selection;
    const files = view.files.filter((candidate) => (file ? candidate.name === file : isAt(candidate, selection)));
    open(file ? 1 : 0);
    say(file ? `${file} ${files.length ? (files[0].isAdded ? "was added" : "was removed") : "is in both or in neither"}`
      : `${placeText(selection)}: ${count(view.groups.filter((group) => isAt(group, selection)).length)} of the rows, ${count(files.length)} of the files here`);
  });
  return () => {
    quiet();
    stop();
  };
}

function summaryOf({ before, after, added, removed, kept, rowsAre }, hasBytes) {
  const line = (name, key, write) => {
    const [earlier, later] = [before.live[key], after.live[key]].map(Number);
    const between = later - earlier;
    return [name, write(earlier), write(later), between ? `${between > 0 ? "+" : "-"}${write(Math.abs(between))}` : "0", write(added[key]), write(removed[key]), write(kept[key])];
  };
  const right = ["before", "after", "change", "added", "removed", "kept"].map((name) => ({ name, right: true, less: name === "kept" ? 700 : 0 }));
  const time = (millis) => h("span", { style: "display:inline-block;white-space:normal;max-width:max(84px, 20cqw)" }, moment(millis));
  const blank = ["", "", "", ""];
  return grid({
    label: "before and after",
    heads: [{ name: "", label: "what" }, ...right],
    rows: [
      ["snapshot", before.snapshotId || "none", after.snapshotId || "none", ...blank],
      ...(hasBytes ? [["time (UTC)", time(before.timeMillis), time(after.timeMillis), ...blank]] : []),
      ["schema", before.schemaId, after.schemaId, ...blank],
      line("files", "fileCount", count), line(rowsAre, "rowCount", count), ...(hasBytes ? [line("size", "fileBytes", bytes)] : []),
    ],
  }).element;
}

const hasLevels = (places) => places.some(({ level }) => level !== null);
const levelHead = (places) => (hasLevels(places) ? [{ name: "level", right: true }] : []);

function groupsOf({ groups, groupCount }, hasBytes, followed, choose) {
  const measure = hasBytes ? "fileBytes" : "rowCount";
  const largest = groups.reduce((most, { added, removed }) => Math.max(most, Number(added[measure]), Number(removed[measure])), 1);
  const bar = (value, kind) => value > 0 && h("span", { class: `bar ${kind}`, style: `width:${(100 * value) / largest}%` });
  const sums = ({ fileCount, rowCount, fileBytes }) => [fileCount || null, fileCount ? rowCount : null, ...(hasBytes ? [fileCount ? fileBytes : null] : [])];
  const names = (what) => [
    { name: `${what} files`, right: true, optional: true, text: count }, { name: "rows", right: true, optional: true, less: 700, text: count },
    ...(hasBytes ? [{ name: "size", right: true, optional: true, text: bytes }] : []),
  ];
  const isPartitioned = groups.some(({ partition }) => partition);
  const heads = [...(isPartitioned ? [{ name: "partition" }] : []), { name: "bucket", right: true }, ...levelHead(groups), ...names("added"), ...names("removed"),
    { name: "", label: "added and removed", text: ([plus, minus]) => h("span", { title: "added, removed", class: "bars" }, bar(plus, "plus"), bar(minus, "minus")) }];
  const rows = groups.map((group) => {
    const { partition, bucket, level, added, removed } = group;
    return [...(isPartitioned ? [partition] : []), bucket, ...(hasLevels(groups) ? [level] : []), ...sums(added), ...sums(removed), [Number(added[measure]), Number(removed[measure])], group];
  });
  const drawn = grid({ heads, rows, label: hasLevels(groups) ? "buckets and levels" : "buckets", selected: (row) => hasPlace(followed) && isAt(row[row.length - 1], followed),
    onChoose: (row) => choose(row[row.length - 1].partition, row[row.length - 1].bucket) });
  const has = (side) => groups.some((group) => Number(group[side][measure]) > 0);
  const keys = legend(has("added") && [h("span", { class: "bar plus", style: "width:14px" }), "added"], has("removed") && [h("span", { class: "bar minus", style: "width:14px" }), "removed"]);
  return h("div", {}, drawn.element, more(groups.length, groupCount), keys);
}

function filesOf({ files, fileCount }, hasBytes, followed, choose) {
  const search = h("input", { type: "search", "aria-label": "search by file or partition", placeholder: "search" });
  const place = h("div");
  const draw = () => {
    const found = files.filter(({ name, partition }) => `${name} ${partition}`.includes(search.value));
    const isPartitioned = files.some(({ partition }) => partition);
    const heads = [{ name: "", label: "added or removed" }, { name: "file", text: shortFile }, ...(isPartitioned ? [{ name: "partition" }] : []), { name: "bucket", right: true }, ...levelHead(files),
      { name: "rows", right: true, text: count }, ...(hasBytes ? [{ name: "size", right: true, text: bytes }] : [])];
    const rows = found.map((file) => [file.isAdded ? "+" : "-", file.name, ...(isPartitioned ? [file.partition] : []), file.bucket, ...(hasLevels(files) ? [file.level] : []), file.rowCount, ...(hasBytes ? [file.fileBytes] : []), file]);
    const isFollowed = (row) => (followed.file ? row[1] === followed.file : hasPlace(followed) && isAt(row[row.length - 1], followed));
    place.replaceChildren(grid({ heads, rows, label: "files", selected: isFollowed, onChoose: (row) => choose(row[row.length - 1]) }).element);
  };
  search.addEventListener("input", draw);
  draw();
  return h("div", {}, search, place, more(files.length, fileCount));
}

function partitionsOf({ partitionsAdded, partitionsAddedCount, partitionsRemoved, partitionsRemovedCount }) {
  const lists = ([["+", partitionsAdded, partitionsAddedCount], ["-", partitionsRemoved, partitionsRemovedCount]]);
  const rows = lists.flatMap(([sign, names]) => names.map((name) => [sign, name]));
  return h("div", {}, rows.length ? grid({ heads: [{ name: "", label: "added or removed" }, { name: "partition" }], rows, label: "partitions" }).element : h("p", {}, "the same partitions"),
    more(rows.length, partitionsAddedCount + partitionsRemovedCount));
}

function schemaOf({ schema }) {
  const word = ({ aspect, after }) => (aspect === "column" ? (after === null ? "dropped" : "added") : aspect === "name" ? "renamed" : aspect);
  const rows = schema.map((difference) => [word(difference), difference.name, difference.before, difference.after]);
  return rows.length ? grid({ heads: ["what", "name", "before", "after"].map((name) => ({ name })), rows, label: "schema" }).element : h("p", {}, "the same columns and options");
}

function more(shown, there) {
  return shown < there ? h("p", { class: "faint" }, `${count(shown)} of ${count(there)}`) : null;
}

function wordsOf({ before, after, hasSnapshots = true }) {
  if (!before.snapshotId && !after.snapshotId) return hasSnapshots ? "before the first snapshot" : "snapshots";
  if (!before.snapshotId) return `up to snapshot ${after.snapshotId}`;
  return after.snapshotId ? `from snapshot ${before.snapshotId} to ${after.snapshotId}` : `from snapshot ${before.snapshotId} back to the empty table`;
}

const hasTimes = ({ before, after }) => before.timeMillis !== null || after.timeMillis !== null;

function headlineOf({ before, after, added, removed, fileCount, rowsAre }) {
  if (!fileCount) return "The same files";
  const rows = Number(after.live.rowCount) - Number(before.live.rowCount);
  return `${[added.fileCount && `+${many(Number(added.fileCount), "file")}`, removed.fileCount && `-${many(Number(removed.fileCount), "file")}`].filter(Boolean).join(", ")}: ${signed(rows) || "0"} ${Math.abs(rows) === 1 ? rowsAre.replace("rows", "row") : rowsAre}`;
}

return render;
})(),
"doctor": (() => {


const VERDICTS = ({ error: "✖ error", warning: "▲ warning", info: "● info", ok: "✔ ok" });
const VERDICT_ORDER = Object.keys(VERDICTS);

function render({ data, el }) {
  const { checks } = data.view;
  const wrong = checks.filter(({ status }) => status === "error" || status === "warning");
  const note = wrong.length ? `${count(wrong.length)} of ${count(checks.length)} need help` : "Everything is in order";
  const { body, say, stop } = frame(el, { title: "this machine", headline: wrong.length ? note : `✔ ${note}` });
  const details = h("div");
  const chosen = new Set(VERDICT_ORDER);
  const list = h("div");

    const show = (check) => {
    details.replaceChildren(
      card([["what", check.name], ["verdict", VERDICTS[check.status]], ["found", check.found], ["what to do", check.fix ? h("code", {}, check.fix) : "nothing"]]),
      h("div", { class: "row" }, Boolean(check.fix) && copyButton("copy what to do", () => check.fix ?? "", say)));
    say(`${check.name}: ${VERDICTS[check.status]}${check.fix ? `; ${check.fix}` : ""}`);
  };
  const draw = () => {
    const shown = checks.filter(({ status }) => chosen.has(status));
    list.replaceChildren(grid({
      label: "what was checked",
      heads: [{ name: "what" }, { name: "verdict", text: (place) => h("span", { class: VERDICT_ORDER[place] }, VERDICTS[VERDICT_ORDER[place]]) }, { name: "found", prose: 160 }, { name: "what to do", prose: 160, optional: true }],
      rows: shown.map((check) => [check.name, VERDICT_ORDER.indexOf(check.status), check.found, check.fix, check]),
      onChoose: (row) => show(row[4]),
    }).element);
  };
  const filters = VERDICT_ORDER.map((status) => {
    const many = checks.filter((check) => check.status === status).length;
    const button = h("button", { "aria-pressed": "true", onclick: () => {
      if (!chosen.delete(status)) chosen.add(status);
      button.setAttribute("aria-pressed", String(chosen.has(status)));
      draw();
      say(`${many} of verdict ${status} ${chosen.has(status) ? "shown" : "hidden"}`);
    } }, `${VERDICTS[status]} ${many}`);
    return checks.length >= 10 && many > 0 && button;
  });
  const fixes = wrong.map(({ name, fix }) => `# ${name}\n${fix ?? ""}`).join("\n");
  draw();
  body.append(h("div", { class: "row", role: "group", "aria-label": "verdicts" }, ...filters, wrong.length > 1 && copyButton("copy all advice", () => fixes, say)), list, details);
  if (wrong.length) show(wrong[0]);
  return stop;
}

return render;
})(),
"file": (() => {


const FEW_DIGITS = 6;
const FILE_CSS = ".wrong { border-left: 3px solid var(--error); color: var(--error); padding: 2px 8px; font-weight: bold; }";

function render({ data, el, host }) {
  const view = data.view;
  const { body, say, stop, head } = frame(el, { title: `${view.table}: ${view.file}`, note: `in snapshot ${view.snapshotId}`, headline: `${many(view.rows, "row")} in ${bytes(view.bytes)}${view.level === null ? "" : `, level ${view.level}`}${view.partition && ` of ${view.partition}`} bucket ${view.bucket}`, css: FILE_CSS });
  head.querySelector("h3")?.replaceChildren(`${view.table}: `, shortFile(view.file));
  const wrong = problemsOf(view).map((text) => h("p", { class: "wrong" }, `wrong: ${text}`));
  const facts = card([["file", view.file], ["partition", view.partition], ["bucket", view.bucket], ["level", view.level],
    ["keys", view.minKey === null ? "" : ends(view.minKey, view.maxKey)], ["sequence numbers", ends(view.minSequenceNumber, view.maxSequenceNumber)],
    ["schema", view.schemaId], ["format", `${view.format} ${view.version}`], ["written by", view.writtenBy], ["rows", count(view.rows)], ["size", bytes(view.bytes)],
    ["checksums", checksOf(view)], ...view.properties]);

  const chunks = h("div");
  const names = ["whole file", ...view.parts.map((part, at) => `${view.partName} ${at}: rows from ${count(part.firstRow)}, ${count(part.rows)} of them${part.storedBytes === null ? "" : `, ${bytes(part.storedBytes)}`}`)];
  const pick = h("select", { "aria-label": "part of the file", onchange: () => part(Number(pick.value)) }, ...names.map((name, at) => h("option", { value: at }, name)));
    const part = (at) => {
    chunks.replaceChildren(columnGrid(at === 0 ? view.columns : view.parts[at - 1].columns, say, at === 0 ? "columns of the whole file" : `columns of ${view.partName} ${at - 1}`));
    say(names[at]);
  };
  const hidden = view.partCount - view.parts.length;

  let rows = view.firstRows;
  const shown = h("div");
  const page = () => {
    const last = rows.offset + rows.cells.length;
    const caption = rows.cells.length ? `${rows.cells.length === view.rows ? (view.rows === 1 ? "the only row" : `all ${many(view.rows, "row")}`) : `rows ${count(rows.offset + 1)} to ${count(last)} of ${count(view.rows)}`}, as stored` : rows.problem || "no rows";
    shown.replaceChildren(grid({ caption, rows: (rows.cells), heads: rows.columns.map((name, at) => ({ name, right: areNumbers(rows.cells.map((cells) => cells[at])), text: (value) => valueText(value) })) }).element);
    back.disabled = !host.ask || rows.offset === 0;
    next.disabled = !host.ask || last >= view.rows;
    say(caption);
  };
    const go = async (offset) => {
    try {
      rows = (await host.ask?.({ offset }))?.rows ?? rows;
      page();
    } catch (error) {
      say(String(error));
    }
  };
  const size = Math.max(view.firstRows.cells.length, 1);
  const back = h("button", { onclick: () => go(Math.max(rows.offset - size, 0)) }, "previous rows");
  const next = h("button", { onclick: () => go(rows.offset + size) }, "next rows");
  const note = host.ask ? "" : "more rows need a kernel: run the cell again";
  const others = h("div", { class: "row" });
  body.append(...wrong, others, facts, h("div", { class: "row" }, view.partCount > 1 && h("label", {}, "show ", pick), hidden > 0 && h("span", { class: "faint" }, `${count(hidden)} more ${view.partName}s`)),
    chunks, shown, view.rows > size && h("div", { class: "row" }, host.ask && back, host.ask && next, h("span", { class: "faint" }, note)) || "");
  page();
  part(0);
  const quiet = host.onSelect(({ file }) => {
    if (!file || file === view.file) return others.replaceChildren();
    const magic = `%paimon_file ${view.table} ${file}`;
    say(`${file} was chosen: ${magic} shows it`);
    others.replaceChildren(copyButton(`copy ${magic}`, () => magic, say));
  });
  return () => {
    quiet();
    stop();
  };
}

function columnGrid(columns, say, caption) {
  const end = (value, row) => (value === "" ? "" : valueText(value, /^(DOUBLE|FLOAT)/i.test(row[1]), FEW_DIGITS));
  const heads = [{ name: "column", prose: true, text: breaking }, { name: "type", less: 700, prose: 160 }, { name: "compression", less: 700 }, { name: "encodings", less: 1000 },
    { name: "size", right: true, text: bytes }, { name: "before compression", right: true, less: 1000, text: bytes }, { name: "nulls", right: true, optional: true, text: count },
    { name: "min", optional: true, right: areNumbers(columns.map(({ low }) => low)), text: end }, { name: "max", optional: true, right: areNumbers(columns.map(({ high }) => high)), text: end }, { name: "pages", right: true, less: 1200, text: count }, { name: "with checksum", right: true, less: 1200, text: count }, { name: "wrong", right: true, optional: true, text: count }];
  const rows = columns.map((column) => [column.name, column.type, column.compression, column.encodings.join(", "), column.storedBytes, column.plainBytes, column.nulls,
    column.low ?? "", column.high ?? "", column.pages, column.checksums, column.wrong || null]);
  return grid({ heads, rows, caption, onChoose: (row) => say(`column ${row[0]} ${row[1]}: ${[row[4] !== null && bytes(row[4]), row[6] !== null && `${count(row[6])} nulls`, row[7] && `${row[7]} to ${row[8]}`].filter(Boolean).join(", ")}`) }).element;
}

function problemsOf(view) {
  const wrong = view.columns.reduce((sum, column) => sum + (column.wrong ?? 0), 0);
  return [
    view.rows !== view.entryRows && `it has ${many(view.rows, "row")}, the manifest says ${count(view.entryRows)}`,
    view.bytes !== view.entryBytes && `it has ${count(view.bytes)} bytes, the manifest says ${count(view.entryBytes)}`,
    wrong > 0 && `checksums of ${many(wrong, "page")} do not match their bytes`,
  ].filter((line) => line !== false);
}

function checksOf(view) {
  if (!view.columns.length || view.columns.some((column) => column.pages === null)) return "";
  const sum = (name) => view.columns.reduce((all, column) => all + (column[name] ?? 0), 0);
  if (!sum("checksums")) return `none of ${many(sum("pages"), "page")} has one`;
  const text = `${count(sum("checksums"))} of ${count(sum("pages"))} pages have one`;
  if (view.columns.some((column) => column.wrong === null)) return `${text}; the file is too large to compute them here`;
  return sum("wrong") ? `${text}, ${sum("wrong")} do not match` : `${text}, all match`;
}

function ends(low, high) {
  return low === high ? String(low) : `${low} to ${high}`;
}

return render;
})(),
"files": (() => {


const MAP = { width: 1000, height: 480 };
const HEIGHTS = { least: 240, most: 420 };
const MIB = 1 << 20;
const BINS = [8 * MIB, 32 * MIB, 128 * MIB, 512 * MIB, Infinity].map((end, at) => ({ end, colour: `var(--amount${at + 1})`, letter: "abcde"[at] }));

const FILES_CSS = `
.map { border: 1px solid #8888; } .map .tile { cursor: pointer; }
.map rect { stroke: color-mix(in srgb, var(--ink) 55%, var(--ground)); }
.map .tile[aria-selected=true] > rect:first-child { stroke: var(--ink); stroke-width: 5; stroke-dasharray: 8 4; } .map .tile:focus-visible { outline: none; }
.map .tile:focus-visible > rect:first-child { stroke: var(--focus); stroke-width: 8; }
.map text { fill: var(--on-amount); pointer-events: none; stroke-width: 4; paint-order: stroke; stroke-linejoin: round; }
.bar { display: inline-block; height: .9em; min-width: 1px; vertical-align: middle; border: 1px solid currentColor; }
.bins td:first-child { white-space: nowrap; } .key { display: inline-block; width: 1.3em; text-align: center; border: 1px solid CanvasText; } .advice { margin: 6px 0; padding: 4px 8px; border-left: 3px solid var(--focus); } .advice.faint { border-color: var(--rule); }
`;

function render({ data, el, host }) {
  let stop = () => {};
    const show = (view) => {
    stop();
    stop = showFiles({ data: { ...data, view }, el, host }, show);
  };
  show(data.view);
  return () => stop();
}

function showFiles({ data, el, host }, again) {
  const view = data.view;
  const title = `${view.table}: data files${view.snapshotId === null ? "" : ` of snapshot ${view.snapshotId}`}`;
  const size = view.bytes === null || !view.fileCount ? "" : `, ${bytes(view.bytes)}, on average ${bytes(Math.round(view.bytes / view.fileCount))} a file`;
  const { body, say, stop } = frame(el, {
    title, note: view.fileCount ? many(view.rowCount, "row") + view.rowsAre.slice("rows".length) : "", css: FILES_CSS,
    headline: view.fileCount ? `${many(view.fileCount, "file")} in ${many(view.bucketCount, "bucket")}${size}` : "",
  });
  if (!view.fileCount) {
    body.append(empty("No data files yet. The first are made by", `INSERT INTO ${view.table} VALUES …`));
    return stop;
  }
  const children = (new Map());
  view.tiles.forEach((tile, at) => children.set(tile.parent, [...(children.get(tile.parent) ?? []), at]));
  const outermost = children.get(-1) ?? [];
    const top = outermost.length === 1 && view.tiles[0].name === "" && children.has(0) ? 0 : -1;
  let inside = top;
  let chosen = -1;
    let room = { ...MAP };
  const map = s("svg", { class: "map", role: "listbox" });
  const path = h("div", { class: "row" });
  const details = h("div");

    const name = (tile) => {
    if (tile.name !== null) return tile.kind === "bucket" ? `bucket ${tile.name}` : tile.name || "(not partitioned)";
    if (tile.kind === "file") return many(tile.files, "more file");
    return tile.kind === "bucket" ? "more buckets" : `${count(view.partitionCount - (children.get(-1)?.length ?? 1) + 1)} more partitions`;
  };
    const numbers = (tile) =>
    `${many(tile.files, "file")}, ${many(tile.rows, "row")}${tile.bytes === null ? "" : `, ${bytes(tile.bytes)}`}${tile.level === null ? "" : `, level ${tile.level}`}`;

    const draw = (focus = false) => {
    const box = inside < 0 ? { x: 0, y: 0, ...MAP } : view.tiles[inside];
    const [across, down] = [room.width / (box.width || 1), room.height / (box.height || 1)];
    for (const [name, value] of Object.entries({ ...room, viewBox: `0 0 ${room.width} ${room.height}` })) map.setAttribute(name, String(value));
        const placed = (tile) => ({ x: (tile.x - box.x) * across, y: (tile.y - box.y) * down, width: tile.width * across, height: tile.height * down });
    const shown = children.get(inside) ?? [];
    const parts = shown.map((at) => {
      const tile = view.tiles[at];
      const place = placed(tile);
      const bin = binOf(tile);
      const below = (children.get(at) ?? []).flatMap((child) => [child, ...(children.get(child) ?? [])]);
      const letters = Math.floor((place.width - 10) / 7);
      return s("g", { class: "tile", role: "option", "aria-label": `${name(tile)}: ${numbers(tile)}`, "aria-selected": String(at === chosen) },
        s("rect", { ...place, fill: bin?.colour ?? "var(--amount0)", "stroke-width": 2 }),
        ...below.map((child) => s("rect", { ...placed(view.tiles[child]), fill: binOf(view.tiles[child])?.colour ?? "none", "stroke-width": view.tiles[child].kind === "bucket" ? 1 : 0.3 })),
        ...(letters > 1 && place.height > 16 ? labelOf(bin?.letter ?? "", name(tile), bytes(tile.bytes), letters, Math.floor((place.height - 4) / 14)) : []).map((line, at) => s("text", { x: place.x + 5, y: place.y + 15 + 14 * at, "font-size": 11, stroke: bin?.colour ?? "var(--amount0)" }, line)),
        s("title", {}, `${name(tile)}: ${numbers(tile)}`));
    });
    map.setAttribute("aria-label", inside === top ? (top < 0 ? "partitions" : "buckets") : `parts of ${name(view.tiles[inside])}`);
    map.replaceChildren(...parts);
    const rover = roving(parts, { onChoose: (place) => choose(shown[place]), onFocus: (place) => say(`${name(view.tiles[shown[place]])}: ${numbers(view.tiles[shown[place]])}`) });
    if (focus) rover.go(0);
    const trail = [];
    for (let at = inside; at !== top; at = view.tiles[at].parent) trail.unshift(at);
    path.replaceChildren(...(trail.length ? [step(top < 0 ? "all partitions" : "all buckets", top)] : []), ...trail.flatMap((at) => ["›", step(name(view.tiles[at]), at)]));
  };

    const step = (label, at) => h("button", { "aria-pressed": String(at === inside), onclick: () => { inside = at; draw(); } }, label);

    const choose = (at) => {
    const tile = view.tiles[at];
    chosen = at;
    details.replaceChildren(card([[tile.kind, name(tile)], ["files", count(tile.files)], [view.rowsAre, count(tile.rows)],
      ["size", bytes(tile.bytes)], ["average file", tile.bytes === null ? "" : bytes(Math.round(tile.bytes / tile.files))], ["level", tile.level]]));
    say(`${name(tile)}: ${numbers(tile)}`);
    const selection = selectionOf(view, at);
    if (selection) host.select(selection);
    if (children.has(at)) {
      inside = at;
      draw(true);
    } else {
      const shown = children.get(inside) ?? [];
      [...map.children].forEach((part, place) => part.setAttribute("aria-selected", String(shown[place] === at)));
    }
  };
  map.addEventListener("keydown", (event) => {
    if (event.key !== "Backspace" || inside === top) return;
    inside = view.tiles[inside].parent;
    draw(true);
    event.preventDefault();
  });

  const quiet = host.onSelect(async ({ partition, bucket, file, snapshot }) => {
    if (snapshot !== undefined && snapshot !== view.snapshotId) {
      if (!host.ask) return say(`snapshot ${snapshot} was chosen: %paimon_files ${view.table} --snapshot ${snapshot} shows it`);
      try {
        return again((await host.ask({ snapshot })).view);
      } catch (error) {
        return say(String(error));
      }
    }
    if (partition === undefined) return;
    let at = view.tiles.findIndex((tile) => tile.kind === "partition" && tile.name === partition);
    if (at < 0) return say(`${placeText({ partition })} has no area of its own here`);
    const inBucket = (children.get(at) ?? []).find((child) => view.tiles[child].name === String(bucket));
    at = inBucket ?? at;
    const found = (children.get(at) ?? []).find((child) => view.tiles[child].kind === "file" && view.tiles[child].name === file);
    chosen = found ?? at;
    if (children.has(at)) inside = at;
    draw();
    say(`${name(view.tiles[chosen])}: ${numbers(view.tiles[chosen])}`);
  });

  const most = Math.max(1, ...view.bins.map((bin) => bin.files));
  const histogram = h("table", { class: "bins" }, h("caption", {}, "files by size"),
    h("thead", {}, h("tr", {}, ...["size of a file", "files", "share", "", "rows", "size"].map((head, at) => h("th", { scope: "col", class: at > 0 && at !== 3 && "right" }, head)))),
    h("tbody", {}, ...view.bins.map((bin, at) => h("tr", {},
      h("td", {}, h("span", { class: "key", style: `background:${BINS[at].colour};color:var(--on-amount)` }, BINS[at].letter), ` ${bin.name}`),
      h("td", { class: "right" }, count(bin.files)), h("td", { class: "right" }, `${Math.round((100 * bin.files) / Math.max(view.fileCount, 1))} %`),
      h("td", { "aria-hidden": "true" }, bin.files > 0 && h("span", { class: "bar", style: `width:calc(${((100 * bin.files) / most).toFixed(1)} * min(1.2px, .14vw));background:${BINS[at].colour}` })),
      h("td", { class: "right" }, count(bin.rows)), h("td", { class: "right" }, bytes(bin.bytes))))));
  const advice = view.advice.map((item) => h("div", { class: `advice ${item.action ? "" : "faint"}` }, item.text, item.action && h("div", { class: "row" }, h("code", {}, item.action), copyButton("copy", () => item.action, say))));
  const isPartitioned = view.tiles.some(({ kind, name }) => kind === "partition" && name);
  const rest = view.tileCount < view.fileCount
    ? `; ${count(view.tileCount)} of ${count(view.fileCount)} files have areas of their own, the rest of each bucket is one area` : "";
  const note = `areas are ${view.weight}${view.bytes === null ? "" : ", colours and letters the size of a file, or their average"}; Enter opens, Backspace goes back${isPartitioned ? `; ${many(view.partitionCount, "partition")}` : ""}${rest}`;
  body.append(path, map, h("p", { class: "legend" }, note), details, h("div", { class: "scroll" }, histogram), ...advice);
  const unsized = whenSized(body, (width) => {
    room = { width: width - 2, height: Math.round(Math.max(HEIGHTS.least, Math.min(HEIGHTS.most, (width * MAP.height) / MAP.width))) };
    draw();
  });
  return () => {
    unsized();
    quiet();
    stop();
  };
}

function binOf(tile) {
  const size = tile.bytes;
  return size === null ? null : BINS.find(({ end }) => size / tile.files < end) ?? null;
}

function selectionOf(view, at) {
  const tile = view.tiles[at];
  if (tile.name === null) return tile.kind === "partition" ? null : selectionOf(view, tile.parent);
  if (tile.kind === "partition") return { partition: tile.name };
  const around = selectionOf(view, tile.parent);
  return around && (tile.kind === "bucket" ? { ...around, bucket: Number(tile.name) } : { ...around, file: tile.name });
}

function labelOf(letter, name, size, room, lines) {
  const below = (named) => (size && size.length <= room && named.length < lines ? [...named, size] : named);
  const text = `${letter} ${name}`.trim();
  if (text.length <= room) return below([text]);
  if (letter && name.length <= room && lines > 1) return below([letter, name]);
  const last = name.slice(name.lastIndexOf("=") + 1);
  if (letter && last.length <= room && lines > 1 && `${letter} ${last}`.length > room) return below([letter, last]);
  const value = `${letter} ${last}`.trim();
  if (value.length <= room) return below([value]);
  return room < 10 ? [letter] : below([`${text.slice(0, room - 1)}…`]);
}

return render;
})(),
"fsck": (() => {


function render({ data, el }) {
  const { table, summary, findings } = data.view;
  const words = summary.replace(`${table}: `, "");
  const said = `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
  return listing(el, {
    title: `${table}: check of the files`,
    headline: findings.length ? said : `✔ ${said}`,
    none: "",
    heads: [{ name: "severity", text: (severity) => h("span", { class: severity }, severity === "error" ? "✖ error" : "▲ warning") }, { name: "file", text: shortFile }, { name: "referred to by", less: 960 }, { name: "problem", prose: true }, { name: "advice", prose: true }],
    rows: findings,
    cellsOf: (finding) => [finding.severity, finding.file, finding.referrer, finding.problem, finding.advice],
    factsOf: (finding) => [["file", finding.file], ["severity", finding.severity], ["problem", finding.problem], ["referred to by", finding.referrer], ["advice", finding.advice]],
    copiesOf: (finding) => [["copy the name", finding.file], ["copy the advice", finding.advice]],
  });
}

return render;
})(),
"health": (() => {


const SEVERITY_MARKS = ({
  error: "✖ error", warning: "▲ warning", info: "● info", ok: "✔ ok",
});
const LESS = ({ snapshot: 1200, manifests: 1000, snapshots: 800 });
const SEVERITY_ORDER = ["error", "warning", "info", "ok"];

function render({ data, el, host }) {
  const { title, tables, worst, looksFor } = { ...data.view, looksFor: data.view.lookedForOrphans };
  const note = `no data file was read${looksFor ? "" : ", orphan files were not looked for"}`;
      const findings = tables.flatMap((table) => [
    ...(table.problem ? [unreadableFinding(table)] : []),
    ...table.findings.map((finding) => ({ ...finding, table: table.table })),
  ]);
  const found = SEVERITY_ORDER.map((severity) => [severity, findings.filter((finding) => finding.severity === severity).length]).filter(([, number]) => number);
  const headline = `${SEVERITY_MARKS[worst].slice(0, 1)} ${found.map(([severity, number]) => (severity === "info" ? many(Number(number), "note") : many(Number(number), String(severity)))).join(", ") || "In order: nothing to do"}`;
  findings.sort((left, right) => SEVERITY_ORDER.indexOf(left.severity) - SEVERITY_ORDER.indexOf(right.severity));
  const { body, say, stop } = frame(el, { title, note, headline, css: ".actions code { overflow-wrap: anywhere; }" });
  const isOne = tables.length === 1;
  const chosen = new Set(SEVERITY_ORDER);
    let followed = {};
    const isFollowed = (finding) => {
    const { partition, bucket } = selectionOf(finding) ?? {};
    return partition !== undefined && bucket !== undefined && isAt({ partition, bucket }, followed);
  };
  const list = h("div");
  const detail = h("div", { class: "actions" });

    const show = (finding) => {
    describe(finding);
    say(`${finding.table}: ${finding.message}`);
    const selection = tables.length === 1 ? selectionOf(finding) : null;
    if (selection) host.select(selection);
  };
    const describe = (finding) => {
    const { sql = "", python = "", shell = "" } = finding;
    detail.replaceChildren(
      card([
        ["finding", `${finding.code} (${SEVERITY_MARKS[finding.severity]})`],
        ["table", finding.table],
        ["where", finding.where],
        ["what", finding.message],
        ["measured", finding.measured === null ? "" : `${count(finding.measured)} ${finding.unit}, limit ${count(finding.threshold)}`],
        ["SQL", sql && h("code", {}, sql)],
        ["Python", python && h("code", {}, python)],
        ["Shell", shell && h("code", {}, shell)],
      ]),
      h("div", { class: "row" },
        sql && copyButton("copy SQL", () => sql, say),
        python && copyButton("copy Python", () => python, say),
        shell && copyButton("copy for a shell", () => shell, say)));
  };

  const draw = () => {
    const shown = findings.filter((finding) => chosen.has(finding.severity));
    const rows = shown.map((finding) => [...(isOne ? [] : [finding.table]), finding.severity, finding.code, finding.where, finding.message, finding.measured, finding]);
    if (!shown.length) return list.replaceChildren(findings.length ? empty("None of the chosen severities.") : "");
    const made = grid({
      label: "findings",
      selected: (row) => hasPlace(followed) && isFollowed(row[row.length - 1]),
      heads: [
        ...(isOne ? [] : [{ name: "table", text: breaking }]),
        { name: "severity", text: (value) => h("span", { class: value }, SEVERITY_MARKS[value]) },
        { name: "finding" }, { name: "where", optional: true, prose: 100 }, { name: "what", prose: 200 },
        { name: "measured", right: true, optional: true, less: 1000, text: (value, row) => (value === null ? "" : `${count(value)} ${row[row.length - 1].unit}`) },
      ],
      rows,
      onChoose: (row) => show(row[row.length - 1]),
    });
    list.replaceChildren(made.element);
  };

  const filters = ["error", "warning", "info"].map((severity) => {
    const many = findings.filter((finding) => finding.severity === severity).length;
    const button = h("button", { "aria-pressed": "true", onclick: () => {
      if (!chosen.delete(severity)) chosen.add(severity);
      button.setAttribute("aria-pressed", String(chosen.has(severity)));
      draw();
      say(`${many} of severity ${severity} ${chosen.has(severity) ? "shown" : "hidden"}`);
    } }, `${SEVERITY_MARKS[severity]} ${many}`);
    return button;
  });
  draw();
  if (findings.length) describe(findings[0]);
  const overview = isOne ? { element: card(numbersOf(tables[0])) } : grid({
    caption: "tables",
    heads: [
      { name: "table", text: breaking },
      { name: "verdict", text: (value) => h("span", { class: SEVERITY_ORDER[value] }, SEVERITY_MARKS[SEVERITY_ORDER[value]]) },
      ...["snapshot", "files", new Set(tables.map(({ rowsAre }) => rowsAre)).size === 1 ? tables[0].rowsAre : "rows of files", "files on level 0", "snapshots", "manifests"]
        .map((name) => ({ name, right: true, less: LESS[name], text: count })),
      { name: "bytes", right: true, optional: true, text: bytes },
    ],
    rows: tables.map((table) => [table.table, verdict(table), table.snapshotId, table.fileCount, table.recordCount,
      table.level0Files, table.snapshotCount, table.manifestCount, table.totalBytes]),
  });
  body.append(h("div", { class: "row tools", role: "group", "aria-label": "severities" }, ...(findings.length >= 10 ? filters : [])), list, detail, overview.element);
  const quiet = host.onSelect((selection) => {
    if (!hasPlace(selection)) return;
    followed = selection;
    draw();
    say(`${count(findings.filter(isFollowed).length)} of the findings are there`);
  });
  return () => {
    quiet();
    stop();
  };
}

function selectionOf({ where = "" }) {
  const bucket = /^(?:(.*), )?bucket (\d+)$/s.exec(where);
  if (bucket) return { partition: bucket[1] ?? "", bucket: Number(bucket[2]) };
  const snapshot = /^snapshot (\d+)$/.exec(where);
  return snapshot && { snapshot: Number(snapshot[1]) };
}

function verdict(table) {
  if (table.problem) return 0;
  return Math.min(3, ...table.findings.map((finding) => SEVERITY_ORDER.indexOf(finding.severity)));
}

function unreadableFinding(table) {
  return { table: table.table, code: "unreadable", severity: "error", message: table.problem ?? "", measured: null,
    threshold: 0, unit: "", where: "", sql: "", python: "" };
}

function numbersOf(table) {
  return [["snapshot", table.snapshotId === null ? "none yet" : count(table.snapshotId)], ["files", count(table.fileCount)], ["files on level 0", count(table.level0Files)],
    [table.rowsAre, count(table.recordCount)], ["size", bytes(table.totalBytes)], ["snapshots", count(table.snapshotCount)], ["manifests", count(table.manifestCount)]];
}

return render;
})(),
"heatmap": (() => {


const MEASURE_TEXTS = ({
  bytes: { name: "bytes", text: bytes },
  files: { name: "files", text: count },
  rows: { name: "rows", text: count },
  file_size: { name: "average bytes of a file", text: (value) => bytes(Math.round(value)) },
  level_0: { name: "share of files on level 0", text: (value) => `${Math.round(100 * value)} %` },
  age: { name: "age compared with the newest file", text: span },
});
const MOST_SHADE = 4;
const EVEN = 2;

const HEAT_CSS = `
td.cell { padding: 3px 8px; text-align: right; white-space: nowrap; min-width: 4em; font-variant-numeric: tabular-nums; cursor: pointer; border: 1px solid transparent; }
td.cell[aria-selected=true] { outline: 3px dashed ${COLOURS.red}; outline-offset: -3px; } td.cell:focus-visible { outline: 3px solid var(--focus); box-shadow: inset 0 0 0 5px #fff; outline-offset: -3px; }
th.over { padding: 3px 9px; } td.none { cursor: default; background: repeating-linear-gradient(45deg, transparent 0 4px, #8884 4px 5px); } th[scope=row] { position: sticky; left: 0; z-index: 2; max-width: 18em; font-weight: normal; }
.ramp { display: inline-block; width: 12em; height: .9em; vertical-align: middle; background: linear-gradient(90deg, ${[0, 1, 2, 3, MOST_SHADE].map((at) => `var(--amount${at})`).join(",")}); }
`;

function render({ data, el, host }) {
  let view = data.view;
  let measure = view.measures.includes(view.measure) ? view.measure : view.measures[0];
  let logarithmic = false;
  let order = "measure";
    let chosen = null;
  const title = () => `${view.table}: buckets${view.snapshotId === null ? "" : ` of snapshot ${view.snapshotId}`}`;
  const { body, say, stop, head } = frame(el, { title: title(), headline: headlineOf(view), css: HEAT_CSS });
  const table = h("table", { role: "grid", "aria-label": "partitions and buckets" });
  const keys = h("div");
  const notes = h("div", { class: "legend" });
  const details = h("div");

  const pick = h("select", { "aria-label": "measure", onchange: () => change(pick.value) },
    ...view.measures.map((name) => h("option", { value: name }, nameOf(view, name))));
  pick.value = measure;
  const sort = h("select", { "aria-label": "order of partitions", onchange: () => { order = sort.value; draw(); } },
    h("option", { value: "measure" }, "largest first"), h("option", { value: "smallest" }, "smallest first"), h("option", { value: "partition" }, "by partition"));
  const scale = h("button", { "aria-pressed": "false", onclick: () => {
    logarithmic = !logarithmic;
    scale.setAttribute("aria-pressed", String(logarithmic));
    draw();
  } }, "log scale");
  if (!view.rows.length) {
    body.append(empty("No data files yet. The first are made by", `INSERT INTO ${view.table} VALUES …`));
    return stop;
  }
  body.append(h("div", { class: "row tools" }, h("label", {}, "colour ", pick), h("label", {}, "rows ", sort), scale),
    h("div", { class: "scroll" }, table), keys, details, notes);

    const change = async (name) => {
    measure = name;
    if (host.ask && view.rest && view.measure !== name) {
      try {
        view = (await host.ask({ by: name, snapshot: view.snapshotId })).view;
      } catch (error) {
        say(String(error));
      }
    }
    draw();
    say(skewText(view, measure) || nameOf(view, name));
  };

    let cells = [];
    let shown = [];
  let current = [0, 0];

  const draw = () => {
    const { text } = MEASURE_TEXTS[measure];
    const rows = view.rows.map((row) => ({ row, total: amount(totalOf(row), measure, view) }));
    rows.sort(order === "partition" ? (left, right) => compare(left.row.partition, right.row.partition)
      : (left, right) => ((right.total ?? -1) - (left.total ?? -1)) * (order === "smallest" ? -1 : 1));
    if (view.rest) rows.push({ row: view.rest, total: amount(totalOf(view.rest), measure, view) });
    const known = view.rows.flatMap((row) => view.columns.map((_, at) => amount(numbersAt(row, at), measure, view) ?? 0));
    const largest = Math.max(0, ...known);
    const least = logarithmic ? Math.min(largest, ...known.filter((value) => value > 0)) : 0;
    const scaled = (value) => {
      if (!largest || value <= least) return value && least === largest ? 1 : 0;
      return least ? Math.log(value / least) / Math.log(largest / least) : value / largest;
    };
    shown = rows.map((row) => row.row);
    cells = [];
    const lines = rows.map(({ row, total }) => {
      const name = rowName(row);
      const line = view.columns.map((column, at) => {
        const value = amount(numbersAt(row, at), measure, view);
        const there = row.files[at] !== null;
        const label = `${name}, ${columnName(column)}: ${there && value !== null ? text(value) : "no files"}`;
        const colour = value === null || !there ? "" : row.partition === null ? "" : paint(scaled(value));
        return h("td", { role: "gridcell", tabindex: "-1", class: there ? "cell" : "cell none", style: colour, "aria-label": label, title: label,
          "aria-selected": String(isChosen(row, column)) }, there && value !== null ? text(value) : "");
      });
      cells.push(line);
      return h("tr", { role: "row" }, h("th", { scope: "row", role: "rowheader" }, name), ...line,
        view.columns.length > 1 && h("td", { class: "right", role: "gridcell" }, total === null ? "" : text(total)));
    });
    cells.forEach((line, y) => line.forEach((cell, x) => cell.addEventListener("click", () => { go(y, x); choose(shown[y], x); })));
    table.replaceChildren(
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, h("th", { scope: "col", role: "columnheader" }, "partition"),
        ...view.columns.map((column) => h("th", { scope: "col", role: "columnheader", class: "right over" }, columnName(column))),
        view.columns.length > 1 && h("th", { scope: "col", role: "columnheader", class: "right" }, "all buckets"))),
      h("tbody", { role: "rowgroup" }, ...lines));
    table.onkeydown = (event) => key(event);
    current = [Math.min(current[0], Math.max(cells.length - 1, 0)), current[1]];
    cells[current[0]]?.[current[1]]?.setAttribute("tabindex", "0");
    keys.replaceChildren(legend([h("span", {}, `${text(least)} `, h("span", { class: "ramp", role: "img", "aria-label": "colours from low to high" })), `${text(largest)}${logarithmic ? ", log scale" : ""}`],
      view.rows.some((row) => row.files.includes(null)) && [hatchKey(), "no such bucket"]));
    notes.replaceChildren(...[skewText(view, measure), coverText(view)].filter(Boolean).map((line) => h("div", {}, line)));
  };

    const go = (y, x) => {
    cells[current[0]]?.[current[1]]?.setAttribute("tabindex", "-1");
    current = [Math.max(0, Math.min(cells.length - 1, y)), Math.max(0, Math.min(view.columns.length - 1, x))];
    const cell = cells[current[0]]?.[current[1]];
    cell?.setAttribute("tabindex", "0");
    cell?.focus();
  };

    const key = (event) => {
    const [y, x] = current;
    const steps = ({
      ArrowDown: () => go(y + 1, x), ArrowUp: () => go(y - 1, x), ArrowRight: () => go(y, x + 1), ArrowLeft: () => go(y, x - 1),
      PageDown: () => go(y + 10, x), PageUp: () => go(y - 10, x),
      Home: () => go(event.ctrlKey ? 0 : y, 0), End: () => go(event.ctrlKey ? cells.length - 1 : y, view.columns.length - 1),
      Enter: () => choose(shown[y], x), " ": () => choose(shown[y], x),
    });
    if (!(event.key in steps) || !((event.target).matches("td"))) return;
    steps[event.key]();
    event.preventDefault();
  };

    const choose = (row, at) => {
    const column = view.columns[at];
    const numbers = numbersAt(row, at);
    const isSingle = column.first === column.last;
    if (row.partition !== null) {
      chosen = isSingle ? { partition: row.partition, bucket: column.first } : { partition: row.partition };
      host.select(chosen);
    }
    mark();
    details.replaceChildren(card([["where", `${rowName(row)}, ${columnName(column)}`],
      ...view.measures.map((name) => {
        const value = amount(numbers, name, view);
        return ([nameOf(view, name), value === null ? "" : MEASURE_TEXTS[name].text(value)]);
      }),
      ["newest file", moment(numbers.updatedMillis)]]));
    const value = amount(numbers, measure, view);
    say(`${rowName(row)}, ${columnName(column)}: ${value === null ? "no files" : MEASURE_TEXTS[measure].text(value)}`);
  };

  const mark = () => cells.forEach((line, y) => line.forEach((cell, x) =>
    cell.setAttribute("aria-selected", String(isChosen(shown[y], view.columns[x])))));
    const isChosen = (row, column) => chosen !== null && row.partition !== null && row.partition === chosen.partition &&
    (chosen.bucket === undefined || (column.first <= chosen.bucket && chosen.bucket <= column.last));

  const quiet = host.onSelect(async (selection) => {
    const { partition, bucket, snapshot } = selection;
    if (hasPlace(selection)) {
      chosen = { partition: partition ?? "", bucket };
      mark();
      const isShown = cells.some((line) => line.some((cell) => cell.getAttribute("aria-selected") === "true"));
      say(isShown ? `${placeText(selection)} is marked` : `${placeText(selection)} has no row of its own here`);
    }
    if (snapshot === undefined || snapshot === view.snapshotId) return;
    if (!host.ask) return say(`snapshot ${snapshot} was chosen: %paimon_heatmap ${view.table} --snapshot ${snapshot} shows it`);
    try {
      view = (await host.ask({ by: measure, snapshot })).view;
      head.querySelector("h3")?.replaceChildren(title());
      body.previousElementSibling?.replaceChildren(headlineOf(view));
      draw();
      say(title());
    } catch (error) {
      say(String(error));
    }
  });
  draw();
  return () => {
    quiet();
    stop();
  };
}

function numbersAt(row, at) {
  return { bytes: row.bytes[at], files: row.files[at], rows: row.rows[at], level0: row.level0[at], updatedMillis: row.updatedMillis[at] };
}

function totalOf(row) {
  const sum = (values) => values.reduce((all, value) => all + Number(value ?? 0), 0);
  const times = row.updatedMillis.filter((millis) => millis !== null);
  return { bytes: sum(row.bytes), files: sum(row.files), rows: sum(row.rows), level0: sum(row.level0), updatedMillis: times.length ? Math.max(...times) : null };
}

function amount(numbers, measure, view) {
  const { files, updatedMillis } = numbers;
  if (!files) return null;
  if (measure === "file_size") return numbers.bytes === null ? null : numbers.bytes / files;
  if (measure === "level_0") return (numbers.level0 ?? 0) / files;
  if (measure === "age") return updatedMillis === null || view.newestMillis === null ? null : Math.max(view.newestMillis - updatedMillis, 0);
  return { bytes: numbers.bytes, files, rows: numbers.rows }[measure] ?? null;
}

function paint(share) {
  return `background:${amountColour(share, MOST_SHADE)};color:var(--on-amount)`;
}

function rowName(row) {
  return row.partition === null ? `… ${count(row.partitionCount)} more` : row.partition || "(not partitioned)";
}

function columnName({ first, last }) {
  return first < 0 ? "waiting" : first === last ? `bucket ${first}` : `buckets ${first}-${last}`;
}

function skewText(view, measure) {
  const found = view.skews.find((skew) => skew.measure === measure);
  if (!found) return "";
  const { text } = MEASURE_TEXTS[measure];
  const ratio = found.ratio === null ? "" : `, max/median ${found.ratio.toFixed(1)}`;
  const gini = found.gini === null ? "" : `, Gini ${found.gini.toFixed(2)}`;
  return `by bucket: max ${text(found.maximum)}, median ${text(found.median)}${ratio}${gini}`;
}

function coverText(view) {
  const partitions = view.rows.some(({ partition }) => partition) ? ` in ${many(view.partitionCount, "partition")}` : "";
  const all = many(view.bucketCount, "bucket") + partitions;
  const some = view.rest ? `; the ${count(view.rows.length)} with most ${nameOf(view, view.measure)}, and the rest: --top N for more` : "";
  const groups = view.columns.some(({ first, last }) => first !== last) ? "; consecutive buckets share columns" : "";
  return all + some + groups;
}

function span(millis) {
  for (const [size, unit] of ([[31_557_600_000, "years"], [86_400_000, "d"], [3_600_000, "h"], [60_000, "min"], [1000, "s"]])) {
    if (millis >= size) return `${(millis / size).toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 })} ${unit}`;
  }
  return `${Math.round(millis)} ms`;
}

function headlineOf(view) {
  const found = view.skews.find((skew) => skew.measure === view.measure) ?? view.skews[0];
  const ratio = found?.ratio ?? null;
  if (!found || ratio === null) return "";
  return `${ratio < EVEN ? "Buckets are even: the" : "The"} largest has ${ratio.toFixed(1)} times the ${nameOf(view, found.measure)} of the median bucket`;
}

function nameOf(view, measure) {
  return measure === "rows" ? view.rowsAre : MEASURE_TEXTS[measure]?.name ?? measure;
}

return render;
})(),
"ingest": (() => {


const TICK_MILLIS = 5000;
const BARS = { left: 64, top: 14, height: 72, step: 12 };
const PHASES = ({
  idle: "has not begun", starting: "starts", snapshot: "reads the rows that tables have", stream: "reads changes", "caught up": "has read all there is", paused: "is paused",
  stopped: "is stopped", interrupted: "was interrupted", failed: "failed", noted: "does not run here",
});
const CSS = `
figure { margin: 0 0 8px; } figcaption { font-weight: bold; padding: 4px 0; }
`;

function render({ data, el, host }) {
  let view = data.view;
  let chosen = view.isOne ? view.jobs[0]?.name : undefined;
  const { body, say, stop } = frame(el, { title: titleOf(view), headline: headlineOf(view), css: CSS });
  const headline = (body.previousElementSibling);
  const buttons = h("div", { class: "row" });
  const list = h("div");
  const details = h("div");

    const ask = async (request, said) => {
    try {
      const reply = await host.ask?.(request);
      if (!reply) {
        say("there is no kernel to ask");
        return;
      }
      view = reply.view;
      show();
      say(said);
    } catch (error) {
      say((error).message);
    }
  };
    const steering = (job) => [
    job.isRunning && host.ask && h("button", { onclick: () => ask({ stop: job.name }, `stopped ${job.name}`) }, `■ stop ${job.name}`),
    job.isRunning && host.ask && (job.phase === "paused"
      ? h("button", { onclick: () => ask({ resume: job.name }, `${job.name} goes on`) }, "▶ resume")
      : h("button", { onclick: () => ask({ pause: job.name }, `${job.name} pauses after its epoch`) }, "⏸ pause")),
    host.ask && h("button", { onclick: () => ask({}, "as it is now") }, "refresh"),
    job.isRunning && copyButton(`copy %paimon_ingest ${job.name} stop`, () => `%paimon_ingest ${job.name} stop`, say),
    job.error && copyButton("copy the error", () => job.error ?? "", say),
  ];
  const show = () => {
    tick();
    if (!view.jobs.length) {
      buttons.replaceChildren();
      list.replaceChildren(empty("No job was started yet", "CREATE TABLE IF NOT EXISTS ods.orders AS TABLE shop.db.orders"));
      details.replaceChildren();
      return;
    }
    if (view.isOne) {
      buttons.replaceChildren(...steering(view.jobs[0]).filter((one) => one instanceof HTMLElement));
      list.replaceChildren(...oneOf(view.jobs[0]));
      return;
    }
    const made = grid({
      label: "jobs",
      heads: [
        { name: "job" }, { name: "state", text: stateOf }, { name: "source", prose: 200 }, { name: "rows", right: true, text: count }, { name: "rows/s", right: true, text: rateOf, optional: true },
        { name: "lag", right: true, text: lagOf, optional: true }, { name: "behind", right: true, optional: true }, { name: "last commit (UTC)", text: moment, optional: true },
      ],
      rows: view.jobs.map((job) => [job.name, job.phase, job.source, job.rows, job.rowsPerSecond, job.lagMillis, behindOf(job), job.committedMillis]),
      selected: ([name]) => name === chosen,
      onChoose: ([name]) => {
        chosen = name;
        made.draw();
        choose();
        say(`job ${name}`);
      },
    });
    list.replaceChildren(made.element);
    choose();
  };
  const choose = () => {
    const job = view.jobs.find(({ name }) => name === chosen);
    if (!job) return;
    details.replaceChildren(
      card([["job", job.name], ["epoch", count(job.epoch)], ["position", job.position], ["error", job.error && h("span", { class: "error" }, job.error)]]),
      h("div", { class: "row" }, ...steering(job), copyButton(`copy %paimon_ingest ${job.name}`, () => `%paimon_ingest ${job.name}`, say)),
    );
  };
  const tick = () => headline.replaceChildren(headlineOf(view));
  body.append(buttons, list, details);
  show();
  const timer = window.setInterval(() => view.isOne && view.jobs[0]?.isRunning && tick(), TICK_MILLIS);
  return Object.assign(
    () => {
      window.clearInterval(timer);
      stop();
    },
    {
            update(now) {
        const before = view.jobs[0];
        view = now;
        show();
        const job = view.jobs[0];
        if (view.isOne && job && (job.phase !== before?.phase || job.error !== before?.error)) say(sentenceOf(job));
      },
    },
  );
}

function titleOf({ jobs, isOne }) {
  return isOne && jobs.length ? `${jobs[0].name} from ${jobs[0].source}` : "ingest jobs";
}

function headlineOf({ jobs, isOne }) {
  if (isOne && jobs.length) return sentenceOf(jobs[0]) + (jobs[0].committedMillis === null ? "" : `, last commit ${ago(jobs[0].committedMillis)}`);
  const running = jobs.filter((job) => job.isRunning).length;
  return jobs.length ? `${many(running, "job")} of this process ${running === 1 ? "runs" : "run"}` : "No jobs";
}

function sentenceOf(job) {
  const stopped = job.tables.filter((table) => table.stopped !== null).length;
  const read = job.snapshotRows !== null && `${count(job.snapshotRows)}${job.snapshotTotal === null ? "" : ` of about ${count(job.snapshotTotal)}`} read`;
  const said = [
    many(job.rows, "row"), read, job.rowsPerSecond && `${count(Math.round(job.rowsPerSecond))} rows a second`, job.behind && `${behindOf(job)} behind`,
    job.lagMillis !== null && `${lagOf(job.lagMillis)} lag`, job.dead && `${many(job.dead, "row")} set aside`, stopped && `${many(stopped, "table")} stopped`,
  ].filter(Boolean);
  return `${job.name} ${PHASES[job.phase] ?? job.phase}: ${said.join(", ")}`;
}

function oneOf(job) {
  const tables = job.tables.length
    ? grid({
        label: "tables",
        heads: [
          { name: "table" }, { name: "from", prose: 160 }, { name: "rows", right: true, text: count }, { name: "rows/s", right: true, text: rateOf, optional: true },
          { name: "snapshot", right: true, text: count, optional: true }, { name: "stopped", prose: 260, optional: true, text: (reason) => reason && h("span", { class: "error" }, reason) },
          { name: "skipped", right: true, text: count, optional: true },
        ],
        rows: job.tables.map((table) => [table.name, table.sources.join(", "), table.rows, table.rowsPerSecond, table.snapshotId, table.stopped, table.skipped || null]),
      }).element
    : empty("Tables are shown when the job has looked at its source");
  const waiting = job.pendingRows ? `${many(job.pendingRows, "row")}${job.pendingBytes ? ` of ${bytes(job.pendingBytes)}` : ""} wait for their commit` : "";
  const events = job.events.length && grid({
    caption: "what happened",
    heads: [{ name: "time (UTC)", text: moment, optional: true }, { name: "event" }, { name: "table", optional: true }, { name: "what happened", prose: true }, { name: "columns", prose: 200, optional: true }],
    rows: job.events.map((event) => [event.atMillis, event.what, event.table, event.text, event.columns]),
  }).element;
  return [
    ...job.warnings.map((warning) => h("p", { class: "faint" }, `warning: ${warning}`)), job.error && h("p", { class: "error" }, job.error),
    job.commits.length > 1 && commitsOf(job), tables, h("p", { class: "faint" }, [`epoch ${count(job.epoch)}`, waiting].filter(Boolean).join(", ")), events,
  ].filter((part) => part instanceof HTMLElement);
}

function commitsOf({ commits }) {
  const largest = Math.max(1, ...commits.map(({ rows }) => rows));
  const foot = BARS.top + BARS.height;
  const bars = commits.map(({ rows }, at) => {
    const height = rows && Math.max(1, (BARS.height * rows) / largest);
    return s("rect", { x: BARS.left + at * BARS.step + 1, y: foot - height, width: BARS.step - 2, height, fill: COLOURS.blue });
  });
  const sum = commits.reduce((all, { rows }) => all + rows, 0);
  const label = `rows of ${many(commits.length, "commit")}: ${count(sum)} in all, at most ${count(largest)} in one`;
  return h("figure", {}, h("figcaption", {}, "rows of each commit"),
    s("svg", { width: BARS.left + commits.length * BARS.step + 8, height: foot + 8, role: "img", "aria-label": label },
      s("path", { d: `M${BARS.left - 4} ${foot}H${BARS.left + BARS.step * commits.length + 4}`, stroke: COLOURS.grey }),
      s("text", { x: BARS.left - 8, y: BARS.top + 8, "text-anchor": "end", "font-size": 11 }, count(largest)), ...bars),
    legend([barKey(COLOURS.blue), `epochs ${count(commits[0].epoch)} to ${count(commits[commits.length - 1].epoch)}`]));
}

function stateOf(phase) {
  return h("span", { class: phase === "failed" ? "error" : ["stream", "caught up", "snapshot"].includes(phase) ? "ok" : "faint" }, phase);
}

function rateOf(rate) {
  return rate === null ? "" : count(Math.round(rate));
}

function lagOf(millis) {
  return millis === null ? "" : `${(millis / 1000).toFixed(1)} s`;
}

function behindOf({ behind, behindUnit }) {
  if (behind === null) return "";
  if (behindUnit === "bytes") return bytes(behind);
  return `${count(behind)} ${behind === 1 && behindUnit.endsWith("s") ? behindUnit.slice(0, -1) : behindUnit}`;
}

return render;
})(),
"log": (() => {


const CHANGES = ([["rows", "Rows", count], ["files", "Files", count], ["size", "Bytes", bytes]]);
const BOTH_WAYS = /^(added|deleted)(Rows|Files|Bytes)$/;

function render({ data, el, host }) {
  const { table, entries, olderCount, rowsAre } = data.view;
  const wordsOf = (name) => (name === "totalRows" ? `total ${rowsAre ?? "rows"}` : name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));
  const note = olderCount ? `the newest ${count(entries.length)} of ${count(entries.length + olderCount)} commits` : "";
  const { body, say, stop } = frame(el, { title: `${table}: history`, note, headline: entries.length ? headlineOf(entries[0]) : "", css: "td.right { white-space: normal; }" });
  if (!entries.length) {
    body.append(empty("Nothing was written to it yet. The first commit is made by", `INSERT INTO ${table} VALUES …`));
    return stop;
  }
    let chosen;
    let range;
  const details = h("div");
  const place = h("div");
  const only = h("select", { onchange: () => show() }, h("option", { value: "" }, "all operations"),
    ...[...new Set(entries.map((entry) => entry.operation))].map((name) => h("option", { value: name }, name.toLowerCase())));

  const show = () => {
    const shown = entries.filter((entry) => !only.value || entry.operation === only.value);
    const others = [...new Set(shown.flatMap((entry) => Object.keys(entry.metrics)))].filter((name) => !BOTH_WAYS.test(name));
    const hasTimes = shown.some((entry) => entry.timeMillis !== null);
    const rows = shown.map((entry) => [entry.version, ...(hasTimes ? [entry.timeMillis] : []), entry.operation, ...CHANGES.map(([, what]) => { const [added, deleted] = bothOf(entry, what); return added ?? (deleted == null ? null : 0); }), ...others.map((name) => entry.metrics[name]), entry.tags.join(", "), entry.user, entry]);
    const heads = [
      { name: "version", right: true }, ...(hasTimes ? [{ name: "time (UTC)", text: moment }] : []), { name: "operation", text: (name) => name.toLowerCase() },
      ...CHANGES.map(([name, what, write]) => ({ name, right: true, optional: true, text: (_, row) => changeOf(row[row.length - 1], what, write) })),
      ...others.map((name) => ({ name: wordsOf(name).replace("changelog rows", "changelog").replace(/ before .*/, ""), right: true, optional: true, less: 700, text: count })), { name: "tags", optional: true }, { name: "user", less: 960, text: shortId },
    ];
    const drawn = grid({ heads, rows, label: "commits", selected: ([version]) => (range ? range[0] <= version && version <= range[1] : version === chosen?.version), onChoose: ([version]) => {
      range = undefined;
      choose(entries.find((entry) => entry.version === version));
      drawn.draw();
      host.select({ snapshot: version });
    } });
    place.replaceChildren(drawn.element);
    return drawn;
  };
    const choose = (entry) => {
    if (!entry) return;
    chosen = entry;
    const { version } = entry;
    details.replaceChildren(card([
      ["version", version], ["time (UTC)", moment(entry.timeMillis)], ["user", entry.user], ["identifier", entry.identifier === null ? "batch" : count(entry.identifier)],
      ["operation", entry.operation.toLowerCase()], ["kind", entry.commitKind === entry.operation ? "" : entry.commitKind.toLowerCase()], ["schema", entry.schemaId],
      ["inserted, updated", entry.writtenRows ? count(entry.writtenRows) : ""], ["deleted", entry.deletedRows ? count(entry.deletedRows) : ""],
      ...Object.entries(entry.metrics).filter(([name]) => entry.writtenRows == null || !/^(added|deleted)Rows$/.test(name)).map(([name, value]) => ([wordsOf(name), name.endsWith("Bytes") ? bytes(value) : count(value)])),
      ["tags", entry.tags.join(", ")], ["writer", entry.writerVersion],
      ...Object.entries(entry.properties).map(([name, value]) => ([`property ${name}`, value])),
    ]), copyButton(`copy VERSION AS OF ${version}`, () => `VERSION AS OF ${version}`, say));
    say(`version ${version}, ${entry.operation.toLowerCase()}`);
  };
  body.append(h("div", { class: "row tools" }, entries.length >= 10 && h("label", {}, "show ", only)), place, details);
  show();
  const quiet = host.onSelect((selection) => {
    const snapshot = selection.range ? selection.range[1] : selection.snapshot;
    const entry = entries.find(({ version }) => version === snapshot);
    if (!entry) return;
    range = selection.range;
    only.value = "";
    choose(entry);
    show();
    if (range) say(`versions ${range[0]} to ${range[1]}`);
  });
  return () => {
    quiet();
    stop();
  };
}

function headlineOf({ version, operation, commitKind, metrics, writtenRows, deletedRows, user, timeMillis }) {
  const { addedFiles, deletedFiles } = metrics;
  const merged = commitKind === "COMPACT" ? deletedFiles ?? 0 : undefined;
  const what = commitText({ kind: operation, written: writtenRows ?? 0, deleted: deletedRows ?? 0, files: addedFiles, merged, user });
  return `Version ${version}: ${what}${timeMillis === null ? "" : `, ${ago(timeMillis)}`}`;
}

function changeOf(entry, what, write) {
  return bothWays(...bothOf(entry, what), write);
}

function bothOf({ metrics, writtenRows, deletedRows }, what) {
  return what === "Rows" && writtenRows != null ? [writtenRows, deletedRows] : [metrics[`added${what}`], metrics[`deleted${what}`]];
}

return render;
})(),
"lsm": (() => {


const LSM_LEAST = 320;
const LSM_LEFT = 62;
const LSM_LANE = 22;
const LSM_BAR = 18;
const LSM_MOST_LANES = 24;
const LSM_LOG = 160;
const LSM_THIN = 5;
const LSM_CSS = `
.lsm-bar { cursor: pointer; outline: none; } .lsm-bar rect:first-of-type { stroke: currentColor; stroke-width: .6; }
.lsm-bar[aria-selected=true] rect:first-of-type { stroke: currentColor; stroke-width: 2; stroke-opacity: 1; }
.lsm-bar:focus-visible rect:first-of-type { stroke: var(--focus); stroke-width: 4; stroke-opacity: 1; }
.lsm-log { max-height: 11em; overflow: auto; margin: 6px 0; padding: 0; list-style: none; }
.lsm-log li { padding: 2px 6px; border-left: 3px solid transparent; cursor: pointer; overflow-wrap: anywhere; }
.lsm-log li[aria-selected=true] { border-color: var(--focus); background: var(--chosen); }
`;

function render({ data, el, host }) {
  const view = data.view;
  const note = view.bucketCount > view.buckets.length
    ? `the ${view.buckets.length} of ${count(view.bucketCount)} buckets with most ${view.hasLevels ? "level 0" : "files"}` : "";
  const title = `${view.table}: ${view.hasLevels || !view.buckets.length ? "levels" : "files"}`;
  const { body, say, stop } = frame(el, { title, note, headline: lsmHeadline(view), css: LSM_CSS });
  if (!view.buckets.length) {
    body.append(empty("No data files yet. The first are made by", `INSERT INTO ${view.table} VALUES …`));
    return stop;
  }
  let chosen = view.buckets[0];
    let way = view.hasLevels ? "keys" : "size";
  let state = chosen.steps.length - 1;
  let timer = 0;
    let room = LSM_LEAST;

  const bucketGrid = grid({
    heads: lsmHeads(view),
    rows: view.buckets.map((bucket) => [lsmPlace(bucket), bucket.fileCount, bucket.rowCount, bucket.bytes, ...(view.hasLevels ? [bucket.level0Count, bucket.backlogRatio, bucket.runCount] : []), bucket.deleteCount, bucket.hiddenCount, bucket]),
    label: "buckets",
    onChoose: (row) => choose((row[row.length - 1]), true),
    selected: (row) => row[row.length - 1] === chosen,
  });
  const heading = h("h4", { style: "margin:8px 0 2px" });
  const gauge = h("div");
  const stage = h("div", { style: "overflow-x:auto" });
  const controls = h("div", { class: "row" });
  const log = h("ol", { class: "lsm-log", role: "listbox", "aria-label": "steps" });
  const details = h("div");
  const calls = h("div");
  const words = [...view.notes.map((note) => `${note.charAt(0).toUpperCase()}${note.slice(1)}.`), lsmFootnote(view)].join(" ");
  const keys = h("div");
  body.append(...(view.buckets.length > 1 ? [bucketGrid.element] : []), heading, controls, gauge, stage, keys, details, log, calls,
    h("p", { class: "legend" }, words));

    function choose(bucket, tell) {
    pause();
    chosen = bucket;
    state = bucket.steps.length - 1;
    bucketGrid.draw();
    heading.replaceChildren(lsmPlace(bucket));
    calls.replaceChildren(...(bucket.calls ?? []).map(({ label, sql, python }) => h("div", { class: "row" }, h("span", {}, `compact ${label === "everything" ? "the table" : label}`),
      sql && copyButton("SQL", () => sql, say), copyButton("Python", () => python, say))));
    details.replaceChildren();
    stage.replaceChildren();
    drawControls();
    drawLog();
    show(state, false);
    if (tell) host.select({ partition: bucket.partition, bucket: bucket.bucket });
  }

    let steps = null;
  function drawControls() {
    const last = chosen.steps.length - 1;
    steps = slider({
      label: "step", max: Math.max(last, 0), value: state, text: (at) => lsmStepName(chosen, at),
      onMove: (at) => show(at, true),
    });
    const previous = h("button", { onclick: () => move(-1) }, "◀ earlier");
    const next = h("button", { onclick: () => move(1) }, "later ▶");
    const play = h("button", { onclick: () => (timer ? pause() : playAll()) }, "play");
    const ways = h("select", { "aria-label": "place files", onchange: () => { way = (ways.value); stage.replaceChildren(); show(state, false); } },
      h("option", { value: "keys" }, "by key range"), h("option", { value: "sequence" }, "by sequence number"), h("option", { value: "size" }, "by size"));
    ways.value = way;
    controls.replaceChildren(...(last > 0 ? [previous, next, play, steps.element] : [h("span", { class: "faint" }, "none of the snapshots looked at changed this bucket")]),
      ...(view.hasLevels ? [h("label", { class: "row" }, "files ", ways)] : []));
  }
    function move(by) {
    pause();
    steps?.move(Math.max(0, Math.min(chosen.steps.length - 1, state + by)));
  }
  function playAll() {
    if (state === chosen.steps.length - 1) steps?.move(0);
    timer = window.setInterval(() => {
      if (state >= chosen.steps.length - 1) pause();
      else steps?.move(state + 1);
    }, 1200);
  }
  function pause() {
    window.clearInterval(timer);
    timer = 0;
  }

  function drawLog() {
    const lines = chosen.steps.map((step, at) =>
      h("li", { role: "option", "aria-selected": "false" }, h("b", {}, lsmStepName(chosen, at)), ...unbroken(` ${step.caption} `), h("i", {}, ...unbroken(step.watch))));
    log.replaceChildren(...lines);
    roving(lines, { onChoose: (at) => { pause(); steps?.move(at); } });
    log.hidden = lines.length < 2;
  }

    function fitLog() {
    let height = 0;
    for (const line of [...log.children].reverse()) {
      const more = (line).offsetHeight;
      if (height && height + more > LSM_LOG) break;
      height += more;
    }
    if (height) log.style.maxHeight = `${height}px`;
  }

    function show(at, aloud) {
    state = at;
    const step = chosen.steps[at];
    [...log.children].forEach((line, number) => line.setAttribute("aria-selected", String(number === at)));
    const line = (log.children[at]);
    const above = (log.children[at - 1]) ?? line;
    fitLog();
    if (line && above) log.scrollTop = above.offsetTop - log.offsetTop;
    gauge.replaceChildren(...(view.hasLevels ? [lsmGauge(view, step)] : []));
    drawStage();
    if (aloud) {
      say(`${lsmStepName(chosen, at)}: ${step.caption} ${step.watch}`);
      if (step.snapshotId !== null && step.snapshotId !== undefined) host.select({ snapshot: step.snapshotId });
    } else say(lsmSummary(view, step));
  }

    const bars = (new Map());
  let shown = ([]);
  function drawStage() {
    const layout = lsmLayout(view, chosen, state, way, room);
    let svg = stage.querySelector("svg");
    if (!svg) {
      bars.clear();
      svg = s("svg", { role: "listbox", "aria-label": `files of ${lsmPlace(chosen)}` },
        s("defs", {}, s("pattern", { id: "lsm-hatch", width: 5, height: 5, patternUnits: "userSpaceOnUse" }, s("path", { d: "M0 5L5 0", stroke: "#000", "stroke-width": 1.3 }))),
        s("g", { class: "ground" }), s("g", { class: "bars" }));
      stage.append(svg);
    }
    keys.replaceChildren(lsmLegend(view, layout.bars.map(({ file }) => file), state === chosen.steps.length - 1));
    for (const [name, value] of Object.entries({ width: room, height: layout.height, viewBox: `0 0 ${room} ${layout.height}` })) svg.setAttribute(name, String(value));
    const ground = (svg.querySelector(".ground"));
    const front = (svg.querySelector(".bars"));
    ground.replaceChildren(...layout.ground);
    const seen = new Set();
    const items = layout.bars.map((bar) => {
      seen.add(bar.file.name);
      let mover = bars.get(bar.file.name);
      if (!mover) {
        mover = s("g", { class: "moves" });
        bars.set(bar.file.name, mover);
        front.append(mover);
      }
      mover.style.transform = `translate(${bar.x.toFixed(1)}px, ${bar.y.toFixed(1)}px)`;
      const name = lsmFileName(view, bar.file);
      const group = s("g", { class: "lsm-bar", role: "option", "aria-selected": "false", "aria-label": name },
        ...lsmBar(view, bar, state === chosen.steps.length - 1), s("title", {}, name));
      mover.replaceChildren(group);
      return { group, file: bar.file };
    });
    for (const [name, mover] of [...bars]) {
      if (seen.has(name)) continue;
      mover.remove();
      bars.delete(name);
    }
    shown = items;
    roving(items.map((item) => item.group), {
      onFocus: (place) => say(lsmFileName(view, items[place].file)),
      onChoose: (place) => pick(items[place].file, true),
    });
  }

    function pick(file, isTold) {
    shown.forEach((bar) => bar.group.setAttribute("aria-selected", String(bar.file === file)));
    details.replaceChildren(lsmCard(view, chosen, file));
    say(lsmFileName(view, file));
    if (isTold) host.select({ file: file.name, partition: chosen.partition, bucket: chosen.bucket });
  }

  const quiet = host.onSelect((selection) => {
    const { file } = selection;
    const snapshot = selection.range ? selection.range[1] : selection.snapshot;
    if (hasPlace(selection)) {
      const there = view.buckets.find((bucket) => isAt(bucket, selection));
      if (!there) return say(`${placeText(selection)} is not among the buckets here: %paimon_lsm ${view.table} shows those chosen with -p and -b`);
      if (!isAt(chosen, selection)) choose(there, false);
    }
    if (file) {
      const known = chosen.files.find((candidate) => candidate.name === file);
      if (!known) return;
      const last = Math.min(known.died, chosen.steps.length) - 1;
      if (state < known.born || state > last) {
        steps?.stand(last);
        show(last, false);
      }
      pick(known, false);
    }
    if (snapshot !== undefined && snapshot !== null) {
      const known = chosen.steps.map((step) => step.snapshotId ?? 0);
      const at = known.filter((id) => id <= snapshot).length - 1;
      if (at >= 0 && at !== state) { steps?.stand(at); show(at, false); }
    }
  });
  const unsized = whenSized(stage, (now) => {
    room = Math.max(LSM_LEAST, now);
    if (stage.firstChild) drawStage();
  });
  choose(chosen, false);
  return () => {
    pause();
    unsized();
    quiet();
    stop();
  };
}

function lsmHeads(view) {
  return [{ name: "bucket" }, { name: "files", right: true, text: count }, { name: "rows", right: true, text: count }, { name: "size", right: true, text: bytes },
    ...(view.hasLevels ? [{ name: "level 0", right: true, text: count }, { name: "backlog", right: true, text: (value) => value.toFixed(2) }, { name: `runs (trigger ${view.compactionTrigger})`, right: true }] : []),
    { name: "deletes", right: true, less: 700, text: count }, { name: "hidden rows", right: true, less: 700, text: (value) => (value === null ? "?" : count(value)) }];
}

function lsmPlace(bucket) {
  return `${bucket.partition} bucket ${bucket.bucket}`.trim();
}

function lsmStepName(bucket, at) {
  const step = bucket.steps[at];
  if (at === 0 && bucket.steps.length > 1) return step.snapshotId ? `before (snapshot ${step.snapshotId})` : "before";
  return `snapshot ${step.snapshotId} ${step.commitKind.toLowerCase()}`.trim();
}

function lsmSummary(view, step) {
  const size = step.bytes === null ? "" : `, ${bytes(step.bytes)}`;
  const runs = view.hasLevels ? `: a reader merges ${many(step.runCount, "sorted run")}` : "";
  return `${many(step.fileCount, "file")}, ${many(step.rowCount, "row")}${size}${runs}`;
}

function lsmFootnote(view) {
  const parts = [`Changes of the newest ${many(view.snapshotCount, "snapshot")}.`];
  if (view.hasLevels) parts.push("Each lane is a sorted run. By key range or sequence number a file lies from its smallest to its greatest; places are ranks among them, so order is right and distances mean nothing; its height shows its size.");
  if (view.buckets.some((bucket) => bucket.files.some((file) => file.count > 1))) parts.push("Where there are too many files, neighbours share a bar.");
  if (view.buckets.some((bucket) => bucket.earlierCount)) parts.push("Some earlier changes touch too many files to be shown.");
  return parts.join(" ");
}

function lsmSize(file) {
  return Number(file.bytes ?? file.rows);
}

function lsmFileName(view, file) {
  const several = file.count > 1 ? `${file.count} files from ` : "";
  const keys = file.minKey ? `, keys ${file.minKey} to ${file.maxKey}` : "";
  const size = file.bytes === null ? "" : `, ${bytes(file.bytes)}`;
  return `${several}${file.name}${view.hasLevels ? `, level ${file.level}` : ""}, ${many(file.rows, "row")}${size}${keys}`;
}

function lsmLanes(view, bucket, state) {
  const lanes = ([]);
  for (const file of bucket.files) {
    if (file.born > state || file.died <= state) continue;
    const last = lanes[lanes.length - 1];
    if (last && last.level === file.level && !(view.hasLevels && file.level === 0)) last.files.push(file);
    else lanes.push({ level: file.level, files: [file] });
  }
  return lanes;
}

function lsmSequences(bucket) {
  const all = [...new Set(bucket.files.flatMap((file) => [file.minSequence, file.maxSequence]))].sort((left, right) => Number(left) - Number(right));
  const ranks = new Map(all.map((number, rank) => [number, rank]));
  return { placeCount: all.length, placeOf: (file) => ({ low: ranks.get(file.minSequence) ?? 0, high: ranks.get(file.maxSequence) ?? 0 }) };
}

function lsmLayout(view, bucket, state, way, room) {
  const bySize = way === "size";
  const { placeCount, placeOf } = way === "sequence" ? lsmSequences(bucket) : { placeCount: bucket.placeCount, placeOf: (file) => file };
  const states = bucket.steps.map((_, at) => lsmLanes(view, bucket, at));
  const upper = [...new Set(bucket.files.filter((file) => file.level > 0 || !view.hasLevels).map((file) => file.level))].sort((left, right) => left - right);
  const zeros = states.map((lanes) => (view.hasLevels ? lanes.filter((lane) => lane.level === 0).length : 0));
  const most = Math.min(Math.max(...zeros), LSM_MOST_LANES);
  const top = 8;
  const bottom = top + most * LSM_LANE;
  const ground = ([]);
    const lines = (y, lanes, name) => {
    ground.push(s("text", { x: 4, y: y + (lanes * LSM_LANE) / 2 + 2, "font-size": 11 }, name));
    if (lanes > 1) ground.push(s("path", { d: `M${LSM_LEFT - 6} ${y + 2}V${y + lanes * LSM_LANE - 4}`, stroke: "#888" }));
    for (let lane = 0; lane < lanes; lane += 1) ground.push(s("path", { d: `M${LSM_LEFT} ${y + lane * LSM_LANE + LSM_BAR + 1}H${room - 8}`, stroke: "#8886" }));
  };
  if (most) lines(top, most, "level 0");
  upper.forEach((level, at) => lines(bottom + at * LSM_LANE, 1, view.hasLevels ? `level ${level}` : "files"));
  const width = room - LSM_LEFT - 8;
  const laneSize = (lane) => lane.files.reduce((sum, file) => sum + lsmSize(file), 0);
  const largestLane = Math.max(1, ...states.flatMap((lanes) => lanes.map(laneSize)));
  const largestFile = Math.max(1, ...bucket.files.map(lsmSize));
  const unit = bySize ? width / largestLane : width / Math.max(placeCount, 1);
  const lanes = states[state];
  const newest = lanes.filter((lane) => view.hasLevels && lane.level === 0);
  const bars = ([]);
  const hidden = Math.max(newest.length - LSM_MOST_LANES, 0);
  const height = bottom + upper.length * LSM_LANE + 8;
  lanes.forEach((lane) => {
    const at = newest.indexOf(lane);
    if (at >= LSM_MOST_LANES) return;
    const y = at >= 0 ? bottom - (Math.min(newest.length, LSM_MOST_LANES) - at) * LSM_LANE : bottom + upper.indexOf(lane.level) * LSM_LANE;
    let x = LSM_LEFT;
    for (const file of lane.files) {
      const { low, high: top } = placeOf(file);
      const long = bySize ? unit * lsmSize(file) : unit * (top - low + 1);
      const high = bySize ? LSM_BAR : 6 + (LSM_BAR - 6) * Math.sqrt(lsmSize(file) / file.count / largestFile);
      bars.push({ file, x: bySize ? x : LSM_LEFT + unit * low, y: y + LSM_BAR - high, width: Math.max(long - 1, 2), height: high });
      x += long;
    }
  });
  if (hidden) ground.push(s("text", { x: LSM_LEFT, y: 8, "font-size": 9 }, `… ${hidden} older runs of level 0 are not drawn`));
  if (bySize && bucket.bytes !== null) {
    const target = view.targetFileBytes * unit;
    const label = `target-file-size ${bytes(view.targetFileBytes)}`;
    if (target <= width) {
      const x = LSM_LEFT + target;
      ground.push(s("path", { d: `M${x} 0V${height}`, stroke: COLOURS.red, "stroke-dasharray": "5 4" }), s("text", { x: Math.min(x + 3, room - 150), y: height - 1, "font-size": 10 }, label));
    } else ground.push(s("text", { x: room - 12, y: height - 1, "font-size": 10, "text-anchor": "end" }, `${label} is ${(target / width).toLocaleString("en-US", { maximumSignificantDigits: 3 })} times this width`));
  }
  return { height: height + (bySize ? 8 : 0), ground, bars };
}

function lsmColour(view, file) {
  return !view.hasLevels ? COLOURS.green : file.level === 0 ? COLOURS.orange : file.level >= view.levelCount - 1 ? COLOURS.blue : COLOURS.sky;
}

function lsmGone(file, isNow) {
  return Math.min(1, ((file.deletes ?? 0) + (isNow ? file.hidden ?? 0 : 0)) / Math.max(file.rows, 1));
}

function lsmLegend(view, files, isNow) {
  const words = ([[COLOURS.orange, "level 0"], [COLOURS.sky, "levels between"], [COLOURS.blue, "last level"]]);
  const there = new Set(files.map((file) => lsmColour(view, file)));
  return legend(...words.map(([colour, name]) => there.has(colour) && ([barKey(colour), name])), files.some((file) => lsmGone(file, isNow)) && [hatchKey(), "deletes, and rows hidden by deletion vectors"]);
}

function lsmBar(view, { file, width, height }, isNow) {
  const colour = lsmColour(view, file);
  const parts = ([s("rect", { width: width.toFixed(1), height: height.toFixed(1), rx: width < LSM_THIN ? 0 : 2, "stroke-opacity": width < LSM_THIN ? 0 : 1, fill: colour })]);
  const gone = lsmGone(file, isNow);
  if (gone > 0) {
    const part = Math.max(width * gone, 1);
    parts.push(s("rect", { x: (width - part).toFixed(1), width: part.toFixed(1), height: height.toFixed(1), fill: "url(#lsm-hatch)" }));
  }
  if (file.count > 1 && width > 50) parts.push(s("text", { x: 4, y: Math.min(height - 3, 12), "font-size": 10, style: "fill:#000" }, `${file.count} files`));
  return parts;
}

function lsmGauge(view, step) {
  const most = Math.max(view.stopTrigger, step.runCount) + 1;
  const unit = Math.min(26, 420 / most);
  const ratio = (step.level0Count / view.compactionTrigger).toFixed(2);
  const words = `${many(step.runCount, "sorted run")} to merge (compaction from ${view.compactionTrigger}, writers wait from ${view.stopTrigger}); level 0: ${many(step.level0Count, "file")}, backlog ${ratio}`;
  const boxes = Array.from({ length: step.runCount }, (_, at) =>
    s("rect", { x: 2 + at * unit, y: 4, width: Math.max(unit - 2, 1), height: 10, fill: at < step.level0Count ? COLOURS.orange : COLOURS.blue }));
  const marks = [[view.compactionTrigger, "trigger"], [view.stopTrigger, "stop"]].map(([at, name]) =>
    s("g", {}, s("path", { d: `M${1 + Number(at) * unit} 0V18`, stroke: COLOURS.red, "stroke-width": 2 }), s("text", { x: 4 + Number(at) * unit, y: 27, "font-size": 9 }, `${name} ${at}`)));
  return h("div", { class: "row" }, s("svg", { width: most * unit + 50, height: 30, role: "img", "aria-label": words }, ...boxes, ...marks), h("span", {}, words));
}

function lsmCard(view, bucket, file) {
  const share = (value) => (value === null ? "unknown" : value ? `${count(value)} of ${count(file.rows)} rows (${((100 * value) / Math.max(file.rows, 1)).toFixed(1)} %)` : "0");
  const [born, died] = [bucket.steps[file.born], bucket.steps[file.died]];
  return card([
    ["file", file.name],
    ["files in this bar", file.count > 1 ? count(file.count) : null],
    ["level", view.hasLevels ? file.level : null],
    ["rows", count(file.rows)],
    ["size", file.bytes === null ? null : `${bytes(file.bytes)} (${((100 * file.bytes) / file.count / view.targetFileBytes).toFixed(1)} % of target-file-size)`],
    ["keys", file.minKey ? `${file.minKey} to ${file.maxKey}` : null],
    ["sequence numbers", `${file.minSequence} to ${file.maxSequence}`],
    ["deletes", share(file.deletes)],
    ["hidden by deletion vectors", share(file.hidden)],
    ["schema", file.schemaId],
    ["written by", file.source],
    ["created (writer's clock)", moment(file.createdMillis)],
    ["first in", file.born ? lsmStepName(bucket, file.born) : "before the first step"],
    ["removed in", died && born ? lsmStepName(bucket, file.died) : null],
  ]);
}

function lsmHeadline({ buckets, bucketCount, hasLevels, compactionTrigger, stopTrigger }) {
  if (!buckets.length) return "";
  const most = buckets.reduce((found, bucket) => (bucket.runCount > found.runCount ? bucket : found));
  if (!hasLevels) return `Most files: ${lsmPlace(buckets[0])}, ${many(buckets[0].fileCount, "file")}`;
  if (most.runCount < 2 && buckets.length === bucketCount) return "Nothing to merge: no bucket has more than 1 sorted run";
  return `Most to merge: ${lsmPlace(most)}, ${many(most.runCount, "sorted run")} (compaction from ${compactionTrigger}, writers wait from ${stopTrigger})`;
}

return render;
})(),
"manifests": (() => {


const LISTS = ({
  base: { mark: "B", colour: COLOURS.blue },
  delta: { mark: "Δ", colour: COLOURS.orange },
  changelog: { mark: "C", colour: COLOURS.pink },
});

const TREE_CSS = `
td.name { white-space: nowrap; } .scroll > table { min-width: 100%; } th:last-child { width: 100%; } td.line:last-child { min-width: 14em; white-space: normal; } .where { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }
.tree { container-type: inline-size; } .under { display: none; white-space: normal; font-size: 11px; padding-left: 1.6em; }
@container (max-width: 700px) { th:last-child, td.line:last-child { display: none; } .under { display: block; } th:first-child { width: 100%; } } td.name button { border: 0; background: none; padding: 0 4px; width: 1.6em; }
.mark { display: inline-block; min-width: 1.3em; text-align: center; border: 1px solid currentColor; border-radius: 3px; font-weight: bold; margin-right: 5px; padding: 0 2px; forced-color-adjust: none; }
`;

function render({ data, el, host }) {
  let tree = data.view;
  const { body, say, stop, head } = frame(el, { title: "", headline: " ", css: TREE_CSS });
  const open = new Set(["base", "delta", "changelog", "index"]);
  const details = h("div");
  const table = h("tbody");
  const search = h("input", { type: "search", placeholder: "part of a file name", "aria-label": "search by file name" });
  const grid = h("div", { role: "treegrid", class: "scroll", "aria-label": "manifests", "aria-readonly": "true" },
    h("table", { role: "presentation" },
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" },
        ...["name", "added", "deleted", "rows", "size", "where"].map((name, at) =>
          h("th", { role: "columnheader", scope: "col", class: at > 0 && at < 5 && "right" }, name)))),
      table));
  table.setAttribute("role", "rowgroup");
  const footer = h("p", { class: "faint" });
  const keys = h("div");
    let place = {};
  const placed = h("button", { hidden: true, onclick: () => { place = {}; search.focus(); find(); } });
  const headline = (body.previousElementSibling);
  const parts = [h("div", { class: "row" }, h("label", { class: "tools" }, "search ", search), placed), h("div", { class: "tree" }, grid), keys, details, footer];

  let roots = ([]);
  let seen = ([]);
  let focused = "";

  const start = () => {
    const isEmpty = tree.snapshotId === null;
    head.querySelector("h3")?.replaceChildren(`${tree.table}: manifests${isEmpty ? "" : ` of snapshot ${tree.snapshotId}, ${tree.commitKind.toLowerCase()}`}`);
    headline.hidden = isEmpty;
    body.replaceChildren(...(isEmpty ? [empty("Nothing was written to it yet. The first manifests are made by", `INSERT INTO ${tree.table} VALUES …`)] : parts));
    headline.replaceChildren(isEmpty ? "" : headlineOf(tree));
    keys.replaceChildren(legendOf(tree));
    footer.replaceChildren(footerText(tree, host.ask !== null));
    roots = treeRows(tree);
    details.replaceChildren();
    draw();
  };

    const draw = ({ focus = false, only = null } = {}) => {
    seen = [];
        const add = (rows, level, parent) => {
      const kept = only ? rows.filter((row) => only.has(row.id)) : rows;
      kept.forEach((row, at) => {
        const element = rowElement(row, level, at + 1, kept.length);
        seen.push({ row, level, parent, element });
        if (open.has(row.id) || only) add(row.children, level + 1, row);
      });
    };
    add(roots, 1, null);
    table.replaceChildren(...seen.map((item) => item.element));
    const at = Math.max(0, seen.findIndex((item) => item.row.id === focused));
    seen[at]?.element.setAttribute("tabindex", "0");
    if (focus) seen[at]?.element.focus();
  };

    const rowElement = (row, level, place, size) => {
    const isOpen = open.has(row.id);
    return h("tr", {
      role: "row", tabindex: "-1", "aria-level": level, "aria-posinset": place, "aria-setsize": size,
      "aria-expanded": row.children.length ? String(isOpen) : null, "data-id": row.id,
      "aria-selected": String(row.id === focused),
    },
    h("td", { role: "gridcell", class: "name", style: `padding-left:${8 + 18 * (level - 1)}px` },
      row.children.length
        ? h("button", { tabindex: "-1", "aria-hidden": "true", onclick: () => toggle(row) }, isOpen ? "▾" : "▸")
        : h("span", { style: "display:inline-block;width:1.6em" }),
      h("span", { class: "mark", style: `background:${row.colour};color:${ink(row.colour)}` }, row.mark), shortFile(row.name),
      row.note && h("div", { class: "faint under" }, row.note)),
    ...row.cells.map((cell) => h("td", { role: "gridcell", class: "right" }, cell)),
    h("td", { role: "gridcell", class: "line", title: row.note }, h("div", { class: "where" }, ...unbroken(row.note))));
  };

    const toggle = (row, wanted = !open.has(row.id)) => {
    if (wanted) open.add(row.id);
    else open.delete(row.id);
    focused = row.id;
    draw({ focus: true });
    say(`${row.name}: ${wanted ? `${row.children.length} shown` : "closed"}`);
  };

    const choose = (row) => {
    focused = row.id;
    seen.forEach((item) => item.element.setAttribute("aria-selected", String(item.row.id === row.id)));
    details.replaceChildren(card(row.facts));
    say(`${row.name}, ${row.note}`);
    const { place: where, entry } = row;
    if (where) host.select({ partition: where.partition, bucket: where.bucket, ...(entry && { file: entry.file }) });
  };

    const go = (at) => {
    const item = seen[Math.max(0, Math.min(seen.length - 1, at))];
    if (!item) return;
    seen.forEach(({ element }) => element.setAttribute("tabindex", "-1"));
    focused = item.row.id;
    item.element.setAttribute("tabindex", "0");
    item.element.focus();
  };

  table.addEventListener("click", (event) => {
    const element = (event.target);
    const found = seen.findIndex((item) => item.element.contains(element));
    if (found < 0 || element.closest("button")) return;
    go(found);
    choose(seen[found].row);
  });
  table.addEventListener("keydown", (event) => {
    const at = seen.findIndex((item) => item.element === event.target);
    if (at < 0) return;
    const { row, parent } = seen[at];
    const keys = ({
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      PageDown: () => go(at + 10),
      PageUp: () => go(at - 10),
      Home: () => go(0),
      End: () => go(seen.length - 1),
      ArrowRight: () => (row.children.length && !open.has(row.id) ? toggle(row, true) : row.children.length && go(at + 1)),
      ArrowLeft: () => (row.children.length && open.has(row.id) ? toggle(row, false) : parent && go(seen.findIndex((item) => item.row === parent))),
      Enter: () => choose(row),
      " ": () => choose(row),
    });
    if (!(event.key in keys)) return;
    keys[event.key]();
    event.preventDefault();
  });

  let asked = 0;
  const find = async () => {
    const text = search.value.trim();
    const question = (asked += 1);
    placed.hidden = !hasPlace(place);
    placed.replaceChildren(`only ${placeText(place)} ✕`);
    if (!text && placed.hidden) {
      roots = treeRows(tree);
      draw();
      say("");
      return;
    }
    const only = new Set();
    const found = keep(treeRows(tree), (row) =>
      (row.entry ? row.entry.file.includes(text) : !text) && row.place !== undefined && isAt(row.place, place), only);
    roots = treeRows(tree);
    draw({ only });
    say(`${count(found)} of the ${count(tree.shownCount)} entries here match${placed.hidden ? "" : `, in ${placeText(place)}`}`);
    if (!host.ask || tree.shownCount === tree.entryCount) return;
    try {
      const reply = await host.ask({ snapshot: tree.snapshotId, find: text, partition: place.partition ?? null, bucket: place.bucket ?? null });
      if (question !== asked) return;
      roots = reply.entries.map((entry, at) => entryRow(entry, tree.columns, `found/${at}`));
      draw();
      say(`${count(reply.count)} of ${count(tree.entryCount)} entries match${reply.count > roots.length ? `, the first ${roots.length} are shown` : ""}`);
    } catch (error) {
      say(String(error));
    }
  };
  search.addEventListener("input", find);

  const quiet = host.onSelect(async (selection) => {
    if (selection.file || hasPlace(selection)) {
      search.value = selection.file ?? "";
      place = selection.file ? {} : selection;
      find();
      return;
    }
    const { snapshot } = selection;
    if (!snapshot || snapshot === tree.snapshotId) return;
    if (!host.ask) {
      say(`snapshot ${snapshot} was chosen: %paimon_manifests ${tree.table} --snapshot ${snapshot} shows it`);
      return;
    }
    try {
      tree = (await host.ask({ snapshot })).view;
      search.value = "";
      place = {};
      placed.hidden = true;
      start();
    } catch (error) {
      say(String(error));
    }
  });
  start();
  return () => {
    quiet();
    stop();
  };
}

function headlineOf(tree) {
  const shared = tree.parentId === null ? "" : `, ${count(tree.sharedCount)} of them also in snapshot ${tree.parentId}`;
  return `${many(tree.manifestCount, "manifest")} with ${many(tree.entryCount, "entry", "entries")}${shared}`;
}

function legendOf(tree) {
  const sign = (mark, colour) => h("span", { class: "mark", style: `background:${colour};color:${ink(colour)}` }, mark);
  const has = (role) => tree.lists.some((list) => list.role === role);
  return legend(
    has("base") && [sign("B", COLOURS.blue), "before this snapshot"], has("delta") && [sign("Δ", COLOURS.orange), "added by it"],
    has("changelog") && [sign("C", COLOURS.pink), "its changelog"], tree.index && [sign("I", COLOURS.sky), "indexes"],
    tree.sharedCount > 0 && [sign("=", COLOURS.grey), `also in snapshot ${tree.parentId}`], [sign("M", COLOURS.orange), "new manifest"]);
}

function treeRows(tree) {
  const rows = tree.lists.map((list) => ({
    id: list.role, name: `${list.role} ${list.name}`, ...LISTS[list.role],
    cells: sumCells(list.added, list.deleted),
    note: `${many(list.manifests.length + list.hiddenCount, "manifest")}${list.hiddenCount ? `, ${count(list.hiddenCount)} not shown` : ""}`,
    facts: ([["manifest list", list.name], ["its size", bytes(list.bytes)], ...sumFacts(list.added, list.deleted)]),
    children: list.manifests.map((manifest) => manifestRow(manifest, tree, list.role)),
  }));
  return tree.index ? [...rows, indexRow(tree.index)] : rows;
}

function manifestRow(manifest, tree, role) {
  const { minPartition, maxPartition } = manifest;
  const where = !minPartition ? "" : `${rangeText(minPartition, String(maxPartition))}, `;
  const hidden = manifest.added.files + manifest.deleted.files - manifest.entries.length;
  const id = `${role}/${manifest.name}`;
  const children = manifest.entries.map((entry, at) => entryRow(entry, tree.columns, `${id}/${at}`));
  if (hidden) {
    const note = "show.manifests(entries=N) embeds more";
    children.push({ id: `${id}/more`, name: `${count(hidden)} more entries`, mark: "…", colour: COLOURS.grey, cells: ["", "", "", ""], note, facts: [], children: [] });
  }
  return {
    id, name: manifest.name, mark: manifest.isShared ? "=" : "M", colour: manifest.isShared ? COLOURS.grey : LISTS[role].colour,
    cells: sumCells(manifest.added, manifest.deleted),
    note: `${where}schema ${manifest.schemaId}`,
    facts: [["manifest", manifest.name], ["its size", bytes(manifest.bytes)], ["parent snapshot", manifest.isShared ? "also has it" : "does not have it"],
      ["schema", manifest.schemaId], ["partitions", minPartition && rangeText(minPartition, String(maxPartition))], ...sumFacts(manifest.added, manifest.deleted)],
    children,
  };
}

function entryRow(node, columns, id) {
  const isAdded = node.change === "ADD";
  const keys = node.minKey === null ? "" : `, keys ${node.minKey} to ${node.maxKey}`;
  const stats = columns.map((name, at) => {
    const bounds = node.low[at] === null || node.high[at] === null ? "bounds unknown" : `${node.low[at]} to ${node.high[at]}`;
    const nulls = node.nulls[at] === null ? "" : `, ${count(node.nulls[at])} nulls`;
    return ([`column ${name}`, bounds + nulls]);
  });
  return {
    id, name: node.file, mark: isAdded ? "+" : "−", colour: isAdded ? COLOURS.green : COLOURS.red, entry: node, place: node,
    cells: [isAdded ? 1 : "", isAdded ? "" : 1, count(node.rows), bytes(node.bytes)],
    note: `${node.partition && `${node.partition} `}bucket ${node.bucket}, level ${node.level}${keys}`,
    facts: [["file", node.file], ["change", node.change], ["partition", node.partition], ["bucket", node.bucket], ["level", node.level],
      ["rows", count(node.rows)], ["bytes", bytes(node.bytes)], ["keys", node.minKey === null ? "" : `${node.minKey} to ${node.maxKey}`], ...stats],
    children: [],
  };
}

function indexRow(index) {
  const blank = { mark: "V", colour: COLOURS.sky };
  const files = index.files.map((file) => {
    const where = `${file.partition && `${file.partition} `}bucket ${file.bucket}`;
    const vectors = file.vectors.map((vector, at) => ({
      ...blank, place: file, id: `index/${file.name}/${at}`, name: vector.dataFile, cells: ["", "", count(vector.deletedRows), bytes(vector.bytes)],
      note: "deleted rows", facts: ([["data file", vector.dataFile], ["deleted rows", count(vector.deletedRows)]]), children: [],
    }));
    return {
      id: `index/${file.name}`, name: file.name, mark: "I", colour: COLOURS.sky, place: file, cells: ["", "", count(file.rows), bytes(file.bytes)],
      note: `${file.type}, ${where}${file.hiddenCount ? `, ${count(file.hiddenCount)} vectors not shown` : ""}`,
      facts: ([["index file", file.name], ["type", file.type], ["where", where], ["rows", count(file.rows)], ["bytes", bytes(file.bytes)]]),
      children: vectors,
    };
  });
  const deleted = index.deletedRows ? `, ${many(index.deletedRows, "row")} deleted` : "";
  return {
    id: "index", name: `index ${index.name}`, mark: "I", colour: COLOURS.sky, cells: [index.fileCount, "", "", ""],
    note: `${index.isShared ? "shared" : "new"}, ${many(index.fileCount, "file")}${deleted}`,
    facts: [["index manifest", index.name], ["files", count(index.fileCount)], ["rows deleted by vectors", count(index.deletedRows)]], children: files,
  };
}

function rangeText(low, high) {
  if (low === high) return low;
  const isSingle = !low.includes("/") && low.split("=")[0] === high.split("=")[0];
  return `${low} to ${isSingle ? high.slice(high.indexOf("=") + 1) : high}`;
}

function sumCells(added, deleted) {
  const size = added.bytes === null ? "" : (added.bytes < (deleted.bytes ?? 0) ? "-" : "") + bytes(Math.abs(added.bytes - (deleted.bytes ?? 0)));
  return [count(added.files), count(deleted.files), signed(added.rows - deleted.rows) || "0", size];
}

function sumFacts(added, deleted) {
  return [["added", sumText(added)], ["deleted", sumText(deleted)]];
}

function sumText(sums) {
  return `${many(sums.files, "file")}, ${many(sums.rows, "row")}${sums.bytes === null ? "" : `, ${bytes(sums.bytes)}`}`;
}

function keep(rows, isWanted, only) {
  let found = 0;
  for (const row of rows) {
    found += keep(row.children, isWanted, only) + Number(isWanted(row) && row.entry !== undefined);
    if (isWanted(row) || row.children.some((child) => only.has(child.id))) only.add(row.id);
  }
  return found;
}

function footerText(tree, canAsk) {
  const parts = [];
  if (tree.shownCount < tree.entryCount) {
    parts.push(`${count(tree.shownCount)} of ${count(tree.entryCount)} entries are here; ${canAsk ? "the search covers all of them" : "show.manifests(entries=N) embeds more"}`);
  }
  if (tree.columns.length < tree.columnCount) parts.push(`statistics of ${tree.columns.length} of ${tree.columnCount} columns`);
  return parts.join("; ");
}

return render;
})(),
"profile": (() => {


const PROFILE_CSS = `
.profile td { height: 24px; } .profile td svg { display: inline-block; max-width: none; }
.profile tbody tr { cursor: pointer; }
.parts { display: flex; flex-wrap: wrap; gap: 8px 24px; align-items: flex-start; } .parts > * { flex: 1 1 20em; min-width: 0; }
.detail { border-top: 1px solid var(--rule); margin-top: 8px; padding-top: 4px; } .detail h4 { margin: 4px 0; overflow-wrap: anywhere; unicode-bidi: isolate; }
.scroll.spread { max-height: 16em; }
`;
const SHARE_NAMES = ["p5", "p25", "median", "p75", "p95"];

function render({ data, el }) {
  const view = data.view;
  const total = view.rowCount;
  const title = `${view.title}: columns`;
  const { body, say, stop } = frame(el, { title, note: view.notes.join("; "), headline: headlineOf(view), css: PROFILE_CSS });
  const isFigures = view.columns.every(({ allLow, low }) => areNumbers([allLow ?? low]) || (allLow ?? low) === null);
    let chosen = total ? view.columns[0] ?? null : null;
  let wanted = "";

  const list = h("div", { class: "profile" });
  const found = h("span", { class: "faint", role: "status" });
  const detail = h("div", { class: "detail", role: "region", "aria-label": "the chosen column", tabindex: "0" });
  const draw = () => {
    const columns = view.columns.filter((column) => `${column.name} ${column.type}`.toLowerCase().includes(wanted));
    found.replaceChildren(columns.length === view.columns.length ? "" : `${count(columns.length)} of ${count(view.columns.length)} columns`);
    const made = grid({
      label: "columns",
      heads: [
        { name: "column", text: breaking, prose: 160 }, { name: "type", less: 700 },
        { name: "distribution", optional: true, prose: 124, text: (_value, row) => spread(row[9], total, 110, 18) },
        { name: "nulls", right: true, optional: true, text: (_value, row) => nullsOf(row[9], view) },
        { name: "distinct", right: true, optional: true, less: 700, text: (_value, row) => distinctOf(row[9], view) },
        { name: "min", right: isFigures, optional: true, text: figureOf }, { name: "max", right: isFigures, optional: true, text: figureOf },
        { name: "mean", right: true, optional: true, less: 1000, text: short }, { name: "std", right: true, optional: true, less: 1000, text: short },
      ],
      rows: columns.map((column) => [column.name, column.type, column.bins.length + column.top.length || null, ...(total ? [column.allNulls ?? column.nullCount, column.distinctCount] : [null, null]), column.allLow ?? column.low, column.allHigh ?? column.high,
        column.mean, column.standardDeviation, column]),
      selected: (row) => row[9] === chosen,
      onChoose: !total ? undefined : (row) => {
        chosen = row[9];
        list.querySelectorAll("tbody tr").forEach((line) => line.setAttribute("aria-selected", String(line.matches(":focus"))));
        open();
      },
    });
    list.replaceChildren(made.element);
  };
  const open = () => {
    if (!chosen || !total) return;
    detail.replaceChildren(...columnParts(chosen, view));
    say(`${chosen.name}: ${nullsOf(chosen, view)} null, ${distinctOf(chosen, view) || "unknown"} distinct`);
  };
  const search = h("input", { type: "search", placeholder: "search", "aria-label": "search columns by name and type",
    oninput: (event) => { wanted = event.target.value.toLowerCase(); draw(); } });
  body.append(h("div", { class: "row tools" }, view.columns.length >= 10 && search, found), list, total ? detail : view.isEmpty ? empty("There are no rows. They are added by", `INSERT INTO ${view.table} VALUES …`) : "");
  draw();
  if (chosen && total) open();
  return stop;
}

function headlineOf({ columns, rowCount, sample }) {
  const rows = many(rowCount, "row");
  if (!sample) return `${rows}, ${many(columns.length, "column")}`;
  const ofRows = sample.ofRows === null ? rows : `${count(rowCount)} of ${count(sample.ofRows)} rows`;
  return `${many(columns.length, "column")}, from ${count(sample.fileCount)} of ${count(sample.ofFiles)} files (${ofRows})`;
}

function columnParts(column, view) {
  const total = view.rowCount;
  const facts = card([
    ["type", column.type],
    [view.sample ? "rows read" : "rows", count(total)],
    ["nulls", column.allNulls ?? column.nullCount ? `${count(column.allNulls ?? column.nullCount)}, ${nullsOf(column, view)}` : "none"],
    ["NaN", column.nanCount ? count(column.nanCount) : ""],
    ["infinite", column.infiniteCount ? count(column.infiniteCount) : ""],
    ["distinct", distinctOf(column, view)],
    ["min", valueOf(column.allLow ?? column.low)], ["max", valueOf(column.allHigh ?? column.high)],
    ["mean", column.mean === null ? "" : valueText(String(column.mean))],
    ["standard deviation", column.standardDeviation === null ? "" : valueText(String(column.standardDeviation))],
    ...column.quantiles.map((text, place) => ([SHARE_NAMES[place], `${column.isSampled ? "≈" : ""}${text}`])),
    ["length", column.longest === null ? "" : column.shortest === column.longest ? count(column.longest) : `${count(column.shortest)} to ${count(column.longest)}, mean ${short(column.meanLength)}`],
    ["longest", column.longestText],
    ["", column.hasFacts ? "" : "of a nested column only the nulls are counted"],
  ]);
  const sign = column.topError ? "≥" : "";
  const top = column.top.length > 0 && grid({ caption: "most frequent",
    heads: [{ name: "value" }, { name: "rows", right: true, text: (value) => `${sign}${count(value)}` }, { name: view.sample ? "of those read" : "of all", right: true, text: (value) => shareOf(value, total) }],
    rows: column.top.map(([text, times]) => [text, times, times]) }).element;
  const bins = column.bins.length > 1 && h("details", {}, h("summary", {}, `counts of ${column.bins.length} ranges`),
    grid({ caption: "ranges", heads: [{ name: "from" }, { name: "rows", right: true, text: count }], rows: column.bins.map((number, place) => [column.binStarts[place], number]) }).element);
  const picture = column.bins.length > 1 && h("div", {}, spread(column, total, 420, 110), h("div", { class: "row faint", style: "justify-content:space-between;max-width:420px" }, h("span", {}, column.low ?? ""), h("span", {}, column.high ?? "")));
  return [h("h4", {}, column.name), h("div", { class: "parts" }, facts, h("div", {}, ...[picture, bins, top].filter((part) => part !== false)))];
}

function spread(column, total, width, height) {
  const { name, bins, binStarts, top } = column;
  if (bins.length > 1) {
    const most = Math.max(...bins);
    const step = width / bins.length;
    const label = `distribution of ${name} from ${binStarts[0]} on: ${bins.join(", ")}`;
    return s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, s("title", {}, label),
      ...bins.map((number, place) => {
        const tall = number ? Math.max(1, ((height - 2) * number) / most) : 0;
        return s("rect", { x: place * step, y: height - tall, width: Math.max(step - 1, 0.5), height: tall, fill: COLOURS.blue },
          s("title", {}, `from ${binStarts[place]}: ${count(number)}`));
      }));
  }
  if (!top.length) return "";
  let x = 0;
  const label = `most frequent of ${name}: ${top.map(([text, times]) => `${text} ${times}`).join(", ")}`;
  return s("svg", { width, height: 12, viewBox: `0 0 ${width} 12`, role: "img", "aria-label": label }, s("title", {}, label),
    s("rect", { x: 0.5, y: 1, width: width - 1, height: 10, fill: "none", stroke: "currentColor", "stroke-opacity": 0.4 }),
    ...top.map(([text, times], place) => {
      const wide = (width * times) / Math.max(total, 1);
      const bar = s("rect", { x, y: 1, width: Math.max(wide - 1, 0.5), height: 10, fill: place % 2 ? COLOURS.sky : COLOURS.blue }, s("title", {}, `${text}: ${count(times)}`));
      x += wide;
      return bar;
    }));
}

function shareOf(part, total) {
  if (!part) return "0 %";
  if (part === total) return "100 %";
  const percent = (100 * part) / total;
  return percent < 0.1 ? "<0.1 %" : percent > 99.9 ? ">99.9 %" : `${percent.toFixed(1)} %`;
}

function nullsOf({ allNulls, nullCount }, { rowCount, sample }) {
  return typeof allNulls === "number" && sample?.ofRows ? shareOf(allNulls, sample.ofRows) : shareOf(nullCount, rowCount);
}

function distinctOf({ distinctCount, isDistinctExact }, { sample }) {
  return distinctCount === null ? "" : `${sample ? "≥" : isDistinctExact ? "" : "≈"}${count(distinctCount)}`;
}

function valueOf(text) {
  return text && valueText(text);
}

function short(value) {
  return value === null ? "" : value.toLocaleString("en-US", { maximumSignificantDigits: 6 });
}

function figureOf(text, row) {
  return text !== null && areNumbers([text]) && !/char|string/i.test(row[1]) ? h("span", { title: text }, figure(text)) : text;
}

return render;
})(),
"result": (() => {

function shownCell(cell, column, digits) {
  return cell !== null && !column?.isNumber ? cell : valueText(cell, /^(do|fl|half)/.test(column?.type ?? ""), digits);
}

function branch(tree, isOpen = false) {
  if (tree === null) return shownCell(null);
  if (!Array.isArray(tree)) return String(tree);
  const [kind, ...items] = tree;
  const inner = items.map((item, place) => {
    const [name, value] = kind === "list" ? [String(place), item] : [leafText(item[0]), item[1]];
    const below = branch(value);
    if (below instanceof HTMLDetailsElement) {
      below.querySelector("summary")?.prepend(`${name}: `);
      return below;
    }
    return h("div", { class: "leaf" }, `${name}: `, below);
  });
  return h("details", { open: isOpen }, h("summary", {}, `${kind} of ${count(items.length)}`), ...inner);
}

function leafText(tree) {
  if (!Array.isArray(tree)) return String(tree ?? "NULL");
  return tree.slice(1).map((item) => (Array.isArray(item) ? item.map(leafText).join(": ") : leafText(item))).join(", ");
}




function asCsv(columns, rows) {
  whole(columns, rows);
  return [columns.map(({ name }) => csvField(name)), ...rows.map(({ exact }) => exact.map(csvField))].map((row) => row.join(",")).join("\n");
}

function asMarkdown(columns, rows) {
  whole(columns, rows);
  const lines = [columns.map(({ name }) => markdownField(name)), columns.map(() => "---"), ...rows.map(({ cells }) => cells.map(markdownField))];
  return lines.map((row) => `| ${row.join(" | ")} |`).join("\n");
}

function asInsert(columns, rows) {
  whole(columns, rows);
  const names = columns.map(({ name }) => `\`${name.replaceAll("`", "``")}\``).join(", ");
  const lines = rows.map(({ exact }) => `(${exact.map((text, column) => sqlLiteral(text, columns[column])).join(", ")})`);
  return `INSERT INTO my_table (${names}) VALUES\n${lines.join(",\n")};`;
}

function whole(columns, rows) {
  const found = rows.find(({ cut }) => cut.some(Boolean));
  if (found) throw new Error(`row ${found.place + 1}, ${columns[found.cut.indexOf(true)].name}: only the beginning of the value is here; --to FILE writes it`);
}

function csvField(text) {
  if (text === null) return "";
  return text === "" || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function markdownField(cell) {
  return (cell ?? "NULL").replace(/[\\|*_`<>[\]&~#]/g, (mark) => `\\${mark}`).replaceAll("\n", " ");
}

function sqlLiteral(text, { name, value, type, zone }) {
  if (text === null) return "NULL";
  switch (value) {
    case "whole":
      return text + ({ tinyint: "Y", smallint: "S", bigint: "L" }[type] ?? "");
    case "decimal":
      return `${text}BD`;
    case "float":
    case "double":
      return `CAST('${text}' AS ${value.toUpperCase()})`;
    case "boolean":
      return text;
    case "text":
      return sqlText(text);
    case "date":
      return `DATE'${text}'`;
    case "timestamp":
      return `TIMESTAMP_NTZ'${text}'`;
    case "local timestamp":
      return `TIMESTAMP'${text} ${zone}'`;
    case "binary":
      return `X'${text.slice(2)}'`;
    default:
      throw new Error(`${name}: there are no literals of type ${type}; --to FILE writes such values`);
  }
}

function sqlText(text) {
  const special = /['\\]|\$(?=\{)|[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
  return `'${text.replace(special, (mark) => (mark === "'" || mark === "\\" ? `\\${mark}` : `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`))}'`;
}



const FEW_DIGITS = 6;

function factWords(column, total) {
  const share = total ? Math.round((100 * column.nullCount) / total) : 0;
  const nulls = column.nullCount ? `${column.nullCount && !share ? "<1" : share} % null` : "no nulls";
  const facts = [nulls, column.nanCount ? `${count(column.nanCount)} NaN` : "", column.distinctCount === null ? "" : `${count(column.distinctCount)} distinct`];
  return facts.filter(Boolean).join(", ");
}

function endsOf({ low, high }) {
  return low === null || high === null ? [] : low === high ? [low] : [low, high];
}

function rangeOf(column) {
  return h("span", {}, ...endsOf(column).flatMap((end, at) => [at ? " … " : "", shownCell(end, column, FEW_DIGITS)]));
}

function summary(column, total) {
  const words = factWords(column, total);
  const range = endsOf(column).join(" … ");
  const top = column.top.map(([text, times]) => `${text}: ${count(times)}`).join("; ");
  const title = [words, range, top && `most frequent: ${top}`].filter(Boolean).join("\n");
  const line = (...parts) => h("div", { class: "faint facts", title }, ...parts);
  return [
    line(words),
    range && line(rangeOf(column)),
    column.bins.length ? histogram(column) : column.top.length && bars(column, total),
  ].filter(Boolean);
}

function picture(label, ...shapes) {
  return s("svg", { width: 96, height: 20, role: "img", "aria-label": label }, s("title", {}, label), ...shapes);
}

function histogram({ name, bins, low, high }) {
  const most = Math.max(...bins);
  const label = `distribution of ${name} from ${low} to ${high}: ${bins.join(", ")}`;
  return picture(label, ...bins.map((number, place) => {
    const height = number && Math.max(1, (19 * number) / most);
    return s("rect", { x: place * 8, y: 20 - height, width: 7, height, fill: COLOURS.blue });
  }));
}

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

function resizable(grip, button, head, resize) {
  grip.addEventListener("pointerdown", (event) => {
    const [start, width] = [event.clientX, head.getBoundingClientRect().width];
    const move = (now) => resize(width + now.clientX - start);
    grip.setPointerCapture(event.pointerId);
    grip.addEventListener("pointermove", move);
    grip.addEventListener("pointerup", () => grip.removeEventListener("pointermove", move), { once: true });
    event.preventDefault();
  });
  button.addEventListener("keydown", (event) => {
    const step = ({ ArrowRight: 16, ArrowLeft: -16 })[event.key];
    if (!event.altKey || !step) return;
    resize(head.getBoundingClientRect().width + step);
    event.preventDefault();
  });
}




const COMPARISON = /^(>=|<=|!=|=|>|<)[ \t]*(.+)$/s;
const NUMBER = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,3})?$/i;
const MOMENT = /^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[ T]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,6}))?)?)?$/;

function rowOrder(columns, { count, cell, exact }, { by, descending, search, filters }) {
  const wanted = strip(search).toLowerCase();
  const tests = filters.flatMap((text, column) => {
    const test = rowTest(text, columns[column]);
    return test ? [(place) => test(exact(place, column))] : [];
  });
  const all = columns.map((_, column) => column);
  if (wanted) tests.push((place) => all.some((column) => (exact(place, column) ?? "").toLowerCase().includes(wanted) && exact(place, column) !== null));
  const places = Array.from({ length: count }, (_, place) => place).filter((place) => tests.every((test) => test(place)));
  if (by < 0) return places;
  const { ranks, value } = columns[by];
  const keys = ranks ? [] : places.map((place) => [place, exact(place, by)]);
  const text = new Map((keys));
  const order = comparison(value);
  return places.sort((left, right) => {
    const missing = Number(cell(left, by) === null) - Number(cell(right, by) === null);
    if (missing || cell(left, by) === null) return missing || left - right;
    const found = ranks ? ranks[left] - ranks[right] : order((text.get(left)), (text.get(right)));
    return (descending ? -found : found) || left - right;
  });
}

function rowTest(text, { value }) {
  const trimmed = strip(text);
  if (!trimmed) return null;
  const words = trimmed.toLowerCase().split(/[ \t]+/).join(" ");
  if (words === "null") return (cell) => cell === null;
  if (words === "not null") return (cell) => cell !== null;
  const match = COMPARISON.exec(trimmed);
  const limit = match && literal(match[2], value);
  if (match && limit !== null) {
    const order = comparison(value);
    const holds = ({
      ">=": (found) => found >= 0, "<=": (found) => found <= 0, "!=": (found) => found !== 0,
      "=": (found) => found === 0, ">": (found) => found > 0, "<": (found) => found < 0,
    })[match[1]];
    return (cell) => cell !== null && holds(order(cell, limit));
  }
  const piece = trimmed.toLowerCase();
  return (cell) => cell !== null && cell.toLowerCase().includes(piece);
}

function strip(text) {
  return text.replace(/^[ \t]+|[ \t]+$/g, "");
}

function literal(text, kind) {
  const number = text.length <= 100 && NUMBER.test(text) ? text : null;
  switch (kind) {
    case "whole":
    case "decimal":
      return number;
    case "float":
    case "double":
      if (/^nan$/i.test(text)) return "NaN";
      if (/^-?infinity$/i.test(text)) return text.startsWith("-") ? "-Infinity" : "Infinity";
      return number;
    case "text":
      return /^'.*'$/s.test(text) && text.length > 1 ? text.slice(1, -1).replaceAll("''", "'") : text;
    case "boolean":
      return /^(true|false)$/i.test(text) ? text.toLowerCase() : null;
    case "date":
      return text.length === 10 ? dayOrMoment(text)?.slice(0, 10) ?? null : null;
    case "timestamp":
    case "local timestamp":
      return dayOrMoment(text);
    case "binary":
      return /^0x([0-9a-f]{2})*$/i.test(text) ? text.toLowerCase() : null;
    default:
      return null;
  }
}

function dayOrMoment(text) {
  const match = MOMENT.exec(text);
  if (!match) return null;
  const [year, month, day, hour = "00", minute = "00", second = "00", fraction = ""] = match.slice(1);
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const isDay = Number(year) > 0 && date.getUTCFullYear() === Number(year) && date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
  if (!isDay || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const rest = fraction.replace(/0+$/, "");
  return `${year}-${month}-${day} ${hour}:${minute}:${second}${rest && `.${rest}`}`;
}

function comparison(kind) {
  if (kind === "whole" || kind === "decimal") return compareExactly;
  if (kind === "float") return (left, right) => compareFloats(Math.fround(Number(left)), Math.fround(Number(right)));
  if (kind === "double") return (left, right) => compareFloats(Number(left), Number(right));
  if (kind === "date" || kind === "timestamp" || kind === "local timestamp") return compareMoments;
  return compareTexts;
}

function compareTexts(first, second) {
  for (let at = 0; at < Math.min(first.length, second.length); at += 1) {
    const [left, right] = [first.charCodeAt(at), second.charCodeAt(at)];
    if (left === right) continue;
    const [isHalf, isOtherHalf] = [left, right].map((unit) => unit >= 0xd800 && unit < 0xe000);
    return isHalf === isOtherHalf ? left - right : Number(isHalf) - Number(isOtherHalf);
  }
  return first.length - second.length;
}

function compareMoments(first, second) {
  const [left, right] = [first, second].map((text) => /^([+-]?[0-9]+)(-.*)$/.exec(text));
  if (!left || !right || Number(left[1]) === Number(right[1])) return compareTexts(left?.[2] ?? first, right?.[2] ?? second);
  return Number(left[1]) - Number(right[1]);
}

function compareFloats(left, right) {
  const nans = Number(Number.isNaN(left)) - Number(Number.isNaN(right));
  return nans || Number(left > right) - Number(left < right);
}

function compareExactly(first, second) {
  const [[left, scale], [right, otherScale]] = [first, second].map(digits);
  const most = Math.max(scale, otherScale);
  return Number(left * 10n ** BigInt(most - scale) - right * 10n ** BigInt(most - otherScale));
}

function digits(text) {
  const [mantissa, exponent = "0"] = text.toLowerCase().split("e");
  const [whole, rest = ""] = mantissa.split(".");
  const all = BigInt((whole + rest).replace("+", ""));
  const scale = rest.length - Number(exponent);
  return scale < 0 ? [all * 10n ** BigInt(-scale), 0] : [all, scale];
}



const PAGE = 200;
const PAGES_KEPT = 100;

function rowSource(view, ask) {
  const { columns, rows } = view;
  const isCut = columns.some((column) => column.cells.cut.length > 0);
  const isAllHere = rows.length === view.rowCount;
  const here = arranged(rows, columns.map((column) => column.cells), rows.map((_, place) => place));
  const texts = { count: rows.length, cell: (place, column) => rows[place][column], exact: (place, column) => here[place].exact[column] };
  let asks = ask !== null && (!isAllHere || isCut);
    let order = asks ? null : rows.map((_, place) => place);
  let count = asks ? view.rowCount : rows.length;
    const pages = new Map();
    const asked = new Map();
  let turn = 0;
    let now = { by: -1, descending: false, search: "", filters: [] };

    const query = ({ by, descending, search, filters }) => ({
    ...(by >= 0 && { by, descending }),
    ...(search && { search }),
    filters: filters.flatMap((text, column) => (text ? [[column, text]] : [])),
  });
    const askFor = async (start, length, whole, state = now) => {
    const reply = await (ask)({ rows: query(state), start, count: length, whole });
    return { count: reply.count, rows: arranged(reply.rows, reply.columns, reply.places) };
  };
    const load = (page) => {
    const mine = turn;
    const promise = askFor(page * PAGE, PAGE, false).then((found) => {
      if (mine !== turn) return;
      count = found.count;
      pages.set(page, found.rows);
      const oldest = pages.size > PAGES_KEPT ? pages.keys().next().value : undefined;
      if (oldest !== undefined) pages.delete(oldest);
    }).finally(() => { if (mine === turn) asked.delete(page); });
    asked.set(page, promise);
    return promise;
  };
  const isPlain = () => now.by < 0 && !now.search && now.filters.every((text) => !text);

  return {
    get asks() { return asks; },
    isCut,
    query: () => query(now),
    get count() { return count; },
        get total() { return asks ? view.rowCount : rows.length; },
        leave() {
      asks = false;
      order = [];
    },
        arrange(state) {
      now = { ...state, filters: state.filters.slice() };
      turn += 1;
      pages.clear();
      asked.clear();
      if (order) {
        order = rowOrder(columns, texts, now);
        count = order.length;
        return null;
      }
      if (isPlain()) {
        count = view.rowCount;
        return null;
      }
      return load(0);
    },
        at(position) {
      if (order) return here[order[position]] ?? null;
      if (isPlain() && position < here.length) return here[position];
      return pages.get(Math.floor(position / PAGE))?.[position % PAGE] ?? null;
    },
        need(first, end) {
      if (order || (isPlain() && end <= here.length)) return null;
      const missing = [];
      for (let page = Math.floor(first / PAGE); page * PAGE < end; page += 1) {
        if (!pages.has(page)) missing.push(asked.get(page) ?? load(page));
      }
      return missing.length ? Promise.all(missing) : null;
    },
        async whole(position) {
      if (order) return position === undefined ? order.map((place) => here[place]) : [here[order[position]]];
      if (position !== undefined) return (await askFor(position, 1, true)).rows;
            const all = [];
      const [state, wanted] = [now, count];
      while (all.length < wanted) {
                const some = (await askFor(all.length, 1000, true, state)).rows;
        if (!some.length) break;
        all.push(...some);
      }
      return all;
    },
  };
}

function arranged(rows, details, places) {
  const made = rows.map((cells, at) => ({
    place: places[at], cells, exact: cells.slice(), cut: ([]),
    trees: details.map(({ trees }) => (trees)?.[at] ?? null),
  }));
  details.forEach(({ exact, cut }, column) => {
    for (const [at, text] of exact) made[at].exact[column] = text;
    for (const at of cut) made[at].cut[column] = true;
  });
  return made;
}



const CHARACTER = 7.4;
const PADDING = 20;
const MOST_FACTS = 240;

function usualWidth(column, cells, facts) {
  const widest = Math.max(textColumns(column.name) * (halfOf(column.name) / (column.name.length || 1)) + 3, Math.min(textColumns(column.type), 16), ...cells.map((cell) => textColumns(cell ?? "NULL") * (column.isNumber ? 1.3 : 1)));
  const lines = Math.min(MOST_FACTS, Math.max(...facts.map(factWidth)));
  const least = facts.length ? Math.max(column.bins.length || column.top.length ? 116 : 70, lines) : 80;
  return Math.round(Math.max(least, Math.min(320, widest * CHARACTER + PADDING)));
}

function factWidth(line) {
  return [...line].reduce((sum, letter) => sum + (/[\dA-Zmw%]/.test(letter) ? 7.1 : /[ ,.:;…-]/.test(letter) ? 4 : letter > "\u1100" ? 11 : 5.5), PADDING);
}

function textColumns(text) {
  let width = 0;
  for (const character of text.slice(0, 60)) width += (character.codePointAt(0)) > 0x1100 ? 1.8 : 1;
  return width;
}

function widthRules(widths, numberWidth, fixedCount) {
  let left = numberWidth;
  const fixed = widths.slice(0, fixedCount).map((width, at) => {
    const edge = at === fixedCount - 1 ? "border-right: 2px solid #8888;" : "";
    const rule = `.c${at} { position: sticky; left: ${left}px; z-index: 1; background: var(--back); ${edge} } thead .c${at} { z-index: 3; }`;
    left += width;
    return rule;
  });
  const total = widths.reduce((sum, width) => sum + width, numberWidth);
  return [`.result { width: ${total}px; } .number { width: ${numberWidth}px; }`, ...fixed].join("\n");
}


const ROW_HEIGHT = 24;
const ROWS_AROUND = 8;

function rowWindow({ box, head, body, columnCount, count, make, need }) {
  const spacer = () => h("td", { colspan: columnCount, style: "padding:0;border:0;height:0" });
  const [above, below] = [spacer(), spacer()];
  const edges = [above, below].map((cell) => h("tr", { "aria-hidden": "true", role: "presentation" }, cell));
    let drawn = new Map();
  let isEven = true;
    const heights = new Map();
    let tops = null;

  const layOut = () => {
    const known = [...heights.values()];
    const usual = known.length ? known.reduce((sum, height) => sum + height, 0) / known.length : ROW_HEIGHT;
    const made = new Float64Array(count() + 1);
    for (let at = 0; at < count(); at += 1) made[at + 1] = made[at] + (heights.get(at) ?? usual);
    return made;
  };
    const offset = (position) => {
    if (isEven) return position * ROW_HEIGHT;
    tops ??= layOut();
    return tops[position];
  };
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
        restart(isTop) {
      const top = Math.max(0, Math.min(positionAt(box.scrollTop), count() - 1));
      forget();
      draw(true);
      box.scrollTop = isTop ? 0 : offset(top);
      draw();
    },
        set even(even) { isEven = even; },
        show(position) {
      for (let tries = 0; tries < 3; tries += 1) {
        const [top, bottom] = [offset(position), offset(position + 1)];
        if (top < box.scrollTop) box.scrollTop = top;
        else if (bottom > box.scrollTop + room()) box.scrollTop = Math.min(top, bottom - room());
        draw();
        if (isEven) break;
      }
    },
        row: (position) => drawn.get(position),
    get page() { return Math.max(1, Math.floor(room() / ROW_HEIGHT) - 1); },
  };
}



const BROWSED = 100_000;
const TELL_MILLIS = 200;
const RESULT_CSS = `
.titled { display: flex; gap: 12px; align-items: center; flex: 1 1 auto; min-width: 0; } .titled h3 { flex: none; }
.titled .tools { position: static; min-width: 0; margin: -4px 0 -4px auto; overflow-x: auto; scrollbar-width: thin; gap: 4px; } .titled .tools > [type=search] { flex: 0 1 188px; width: 0; min-width: 7em; }
.result { border-collapse: separate; border-spacing: 0; table-layout: fixed; --back: var(--ground); }
th, td { border-bottom: 1px solid var(--rule); max-width: none; } th, td, .clip, .facts { overflow: hidden; } td, .facts { text-overflow: ellipsis; }
td, tbody .number { padding-block: 2px; } td { height: 24px; line-height: 18px; white-space: pre; cursor: cell; }
.wrap td { white-space: pre-wrap; height: auto; }
.clip { max-height: 216px; }
.result :is(th, td):not(.number) { padding-inline: 8px; } th.right svg { margin-left: auto; }
thead { position: sticky; top: 0; z-index: 2; } thead th { position: relative; background: var(--back); }
.number { position: sticky; left: 0; background: var(--back); text-align: right; z-index: 1; white-space: nowrap; }
tbody .number { cursor: copy; } thead .number { z-index: 4; }
button.sort { border: 0; background: none; padding: 0; font-weight: 600; text-align: inherit; white-space: normal; overflow-wrap: anywhere; unicode-bidi: isolate; }
.filter { width: 100%; min-width: 4em; box-sizing: border-box; padding: 0 3px; }
.number, .filter, .facts { font-weight: normal; } .facts { font-size: 11px; white-space: nowrap; }
.here .number { box-shadow: inset 3px 0 var(--focus); } td:focus-visible { outline-offset: -3px; }
.rows { overflow-anchor: none; max-height: 416px; } .small { width: 4em; }
.grip { position: absolute; inset: 0 0 0 auto; width: 7px; cursor: col-resize; touch-action: none; border-right: 1px solid var(--rule); }
.opened { border: 1px solid var(--rule); border-radius: 4px; padding: 4px 8px; margin-top: 8px; max-height: 16em; overflow: auto; overflow-wrap: anywhere; white-space: pre-wrap; }
.opened details, .leaf { margin-left: 1em; white-space: normal; } .leaf { margin-left: 2em; }
`;

function render({ data, el, host }) {
  const { columns, rows, footer, rowCount } = data.view;
  const rowWords = many(rowCount, "row");
  const title = `${rowWords}, ${many(columns.length, "column")}`;
  const isLong = rowCount >= 10;
  const { head: above, body, say, stop } = plainFrame(el, { title, note: footer.split("; ").filter((part) => part !== rowWords).join("; "), css: RESULT_CSS });
  const quiet = (said) => say(said.length > 200 ? `${said.slice(0, 200)}…` : said);
  const failed = (reason) => quiet(reason instanceof Error ? reason.message : String(reason));
  const source = rowSource(data.view, host.ask);
  const state = { by: -1, descending: false, search: "", filters: columns.map(() => "") };
    let focus = [0, 0];
  let isWrapped = false;
  const browsed = () => Math.min(source.count, BROWSED);

  const tbody = h("tbody");
    const makeRow = (position) => {
    const row = source.at(position);
    const isHere = position === focus[0];
    const cells = columns.map((facts, column) => {
      const shown = row ? shownCell(row.cells[column], facts) : "…";
      return h("td", { class: `c${column}${facts.isNumber ? " right" : ""}`, tabindex: isHere && column === focus[1] ? "0" : "-1" },
        isWrapped ? h("div", { class: "clip" }, shown) : shown);
    });
    return h("tr", { "aria-rowindex": position + 3, "aria-busy": row ? null : "true", class: isHere && "here" },
      h("th", { class: "number faint", scope: "row", title: "copy this row" }, row ? count(row.place + 1) : ""), ...cells);
  };
  const need = (first, end) => {
    source.need(first, end)?.then(() => {
      const isIn = tbody.contains((el.shadowRoot)?.activeElement);
      view.draw(true);
      if (isIn) cellAt(focus)?.focus({ preventScroll: true });
    }, leave);
  };
    const cellAt = ([row, column]) => (view.row(row)?.children[column + 1]);
  const point = (isHere) => {
    const cell = cellAt(focus);
    cell?.setAttribute("tabindex", isHere ? "0" : "-1");
    cell?.parentElement?.classList.toggle("here", isHere);
  };
  const reach = () => box.setAttribute("tabindex", cellAt(focus) ? "-1" : "0");
    const mark = (row, column) => {
    point(false);
    focus = [Math.max(0, Math.min(browsed() - 1, row)), Math.max(0, Math.min(columns.length - 1, column))];
    point(true);
    reach();
  };
    const go = (row, column) => {
    if (!browsed()) return;
    mark(row, column);
    view.show(focus[0]);
    showColumn(focus[1]);
    mark(...focus);
    cellAt(focus)?.focus({ preventScroll: true });
  };

  const widths = columns.map((column, at) => usualWidth(column, rows.slice(0, 100).map((row) => row[at]), isLong ? [factWords(column, data.view.summarisedCount), rangeOf(column).textContent ?? ""] : []));
  const numberWidth = Math.max(44, String(rowCount).length * 9 + 18);
  const rules = h("style");
  const group = h("colgroup", {}, h("col", { style: `width:${numberWidth}px` }), ...columns.map(() => h("col")));
  const freeze = h("input", { type: "number", class: "small", min: 0, max: columns.length, value: 0, "aria-label": "frozen columns", oninput: () => layOut() });
  const fixedCount = () => Math.max(0, Math.min(columns.length, Math.floor(Number(freeze.value) || 0)));
  const before = (column) => widths.slice(0, column).reduce((sum, width) => sum + width, numberWidth);
  const layOut = () => {
    widths.forEach((width, at) => { (group.children[at + 1]).style.width = `${width}px`; });
    rules.textContent = widthRules(widths, numberWidth, fixedCount());
  };
    const showColumn = (column) => {
    if (column < fixedCount()) return;
    const [left, right] = [before(column) - before(fixedCount()), before(column + 1)];
    if (right > box.scrollLeft + box.clientWidth) box.scrollLeft = right - box.clientWidth;
    if (left < box.scrollLeft) box.scrollLeft = left;
  };
  const heads = columns.map((column, place) => {
    const arrow = h("span", { "aria-hidden": "true" });
    const button = h("button", { class: "sort", title: "sort; Alt with arrows: width", onclick: () => sort(place),
      onkeydown: (event) => {
        if (event.key !== "ArrowDown") return;
        go(0, place);
        event.preventDefault();
      } }, breaking(column.name), " ", arrow);
    const grip = h("span", { class: "grip", "aria-hidden": "true" });
    const head = h("th", { scope: "col", class: `c${place}${column.isNumber ? " right" : ""}`, "aria-sort": "none" },
      button, h("div", { class: "faint facts" }, column.type), ...(isLong ? summary(column, data.view.summarisedCount) : []), grip);
    resizable(grip, button, head, (width) => {
      widths[place] = Math.max(40, Math.round(width));
      layOut();
    });
    return { head, arrow, button };
  });

    let later;
  const shown = () => {
    focus = [0, focus[1]];
    view.restart(true);
    mark(...focus);
    table.setAttribute("aria-rowcount", String(source.count + 2));
    const beyond = source.count > BROWSED ? `; the first ${count(BROWSED)} are shown` : "";
    found.replaceChildren(source.count === source.total && !beyond ? "" : `${count(source.count)} of ${many(source.total, "row")}${beyond}`);
  };
    const leave = (reason) => {
    if (!source.asks) return;
    source.leave();
    source.arrange(state);
    shown();
    failed(reason);
  };
  const arrange = () => {
    clearTimeout(later);
    if (!source.asks) {
      source.arrange(state);
      shown();
    }
    later = setTimeout(() => {
      if (source.asks) Promise.resolve(source.arrange(state)).then(shown, leave);
      host.select({ rows: source.query() });
    }, TELL_MILLIS);
  };
    const sort = (place) => {
    const again = state.by === place;
    state.by = again && state.descending ? -1 : place;
    state.descending = again && !state.descending;
    const [way, sign] = state.descending ? ["descending", "▼"] : ["ascending", "▲"];
    heads.forEach(({ head, arrow }, at) => {
      const isBy = at === state.by;
      head.setAttribute("aria-sort", isBy ? way : "none");
      arrow.replaceChildren(isBy ? sign : "");
    });
    arrange();
    say(state.by < 0 ? "not sorted" : `sorted by ${columns[place].name}, ${way}`);
  };
  const filters = columns.map((column, place) =>
    h("th", { class: `c${place}` }, h("input", {
      class: "filter", type: "search", "aria-label": `filter ${column.name}`, placeholder: "filter",
      title: "a piece of text; > 5, <= 5, = x, != 'x'; null, not null",
      oninput: (event) => { state.filters[place] = event.target.value; arrange(); },
    })));
  const found = h("span", { class: "faint", role: "status" });
  const search = h("input", { type: "search", placeholder: "search", "aria-label": "search all columns",
    oninput: (event) => { state.search = event.target.value; arrange(); } });
  const wrap = h("button", { "aria-pressed": "false", title: "show long texts on several lines", onclick: () => {
    isWrapped = !isWrapped;
    wrap.setAttribute("aria-pressed", String(isWrapped));
    table.classList.toggle("wrap", isWrapped);
    view.even = !isWrapped;
    view.restart(false);
    mark(...focus);
  } }, "wrap");

  const opened = h("div", { class: "opened", role: "region", "aria-label": "the whole cell", tabindex: "0", hidden: true });
  const open = () => reveal().catch(failed);
  const reveal = async () => {
    const [position, column] = focus;
    const row = source.at(position);
    if (!row) return;
    const whole = row.cut[column] && host.ask ? (await source.whole(position))[0] : row;
    opened.hidden = false;
    opened.replaceChildren(h("b", {}, `${columns[column].name}, row ${count(row.place + 1)}`), "\n",
      whole.trees[column] ? branch(whole.trees[column], true) : shownCell(whole.cells[column]));
  };
    const copy = async (write, position) => {
    try {
      if (!source.count) return;
      if (position === undefined && source.count > BROWSED) throw new Error(`more than ${count(BROWSED)} rows: --to FILE writes them`);
      const text = write(await source.whole(position));
      try {
        await navigator.clipboard.writeText(text);
        quiet(`copied: ${text}`);
      } catch {
        quiet(text);
      }
    } catch (reason) {
      failed(reason);
    }
  };
  const copyCell = () => copy(([row]) => row.cells[focus[1]] ?? "NULL", focus[0]);
  const copyRow = () => copy(([row]) => row.cells.map((cell) => cell ?? "NULL").join("\t"), focus[0]);
  const button = (label, onclick) => h("button", { onclick }, label);
  tbody.addEventListener("click", (event) => {
    const cell = ((event.target).closest("td, th"));
    const row = cell?.parentElement;
    if (!cell || !row?.hasAttribute("aria-rowindex")) return;
    go(Number(row.getAttribute("aria-rowindex")) - 3, cell.cellIndex - 1);
    if (cell.matches("th")) copyRow();
    else if (source.at(focus[0])?.trees[focus[1]] || isBig(cell)) open();
  });
  const keys = (event) => {
    if ((event.target).closest("thead")) return;
    const [row, column] = focus;
    const all = event.ctrlKey || event.metaKey;
    const last = columns.length - 1;
    const moves = ({
      ArrowRight: () => go(row, column + 1),
      ArrowLeft: () => go(row, column - 1),
      ArrowDown: () => go(row + 1, column),
      ArrowUp: () => (row ? go(row - 1, column) : heads[column].button.focus()),
      PageDown: () => go(row + view.page, column),
      PageUp: () => go(row - view.page, column),
      Home: () => go(all ? 0 : row, 0),
      End: () => go(all ? browsed() - 1 : row, last),
      Enter: open,
      " ": open,
    });
    if (all && event.key.toLowerCase() === "c" && browsed()) (event.shiftKey ? copyRow : copyCell)();
    else if (moves[event.key]) moves[event.key]();
    else return;
    event.preventDefault();
  };

  const head = h("thead", {},
    h("tr", { "aria-rowindex": 1 }, h("th", { class: "number faint", scope: "col" }, "row"), ...heads.map((head) => head.head)),
    isLong && h("tr", { "aria-rowindex": 2 }, h("th", { class: "number" }), ...filters));
  const table = h("table", { class: "result", role: "grid", "aria-label": title, "aria-rowcount": source.count + 2 }, group, head, tbody);
  const box = h("div", { class: "scroll rows", tabindex: "-1", onkeydown: keys }, table);
  const view = rowWindow({ box, head, body: tbody, columnCount: columns.length + 1, count: browsed, make: makeRow, need });
  box.addEventListener("scroll", () => {
    if (!cellAt(focus) && el.shadowRoot?.activeElement === null) box.focus({ preventScroll: true });
    reach();
  });
  const notes = [
    !source.asks && rows.length < rowCount && `without its kernel, only these ${count(rows.length)} rows are sorted, filtered and copied`,
    !source.asks && source.isCut && "of long texts only the beginning is here and searched",
  ].filter(Boolean).join("; ");
  if (isLong) {
    const tools = h("div", { class: "row tools", title: "Enter opens a cell; Ctrl+C copies it, Ctrl+Shift+C its row" }, search, found, h("label", {}, "freeze ", freeze), wrap,
      h("span", { class: "faint" }, "copy"), button("cell", copyCell), button("row", copyRow),
      ...Object.entries({ CSV: asCsv, Markdown: asMarkdown, INSERT: asInsert }).map(([label, write]) => button(label, () => copy((all) => write(columns, all)))));
    above.prepend(h("div", { class: "titled" }, above.querySelector("h3"), tools));
  }
  body.append(rules, box, opened, h("div", { class: "legend" }, notes));
  layOut();
  view.draw(true);
  mark(0, 0);
  return () => {
    clearTimeout(later);
    stop();
  };
}

function isBig(cell) {
  return cell.scrollWidth > cell.clientWidth || (cell.textContent ?? "").length > 80;
}

return render;
})(),
"row": (() => {


const MOST_COLUMNS = 8;

function render({ data, el, host }) {
  const { table, where, columns, steps, lookedAt, olderCount } = data.view;
  const isOlder = steps[0]?.what === "present";
  const older = isOlder && realOf(steps).length ? `; there ${whereOf(steps[0])}: ${steps[0].unknown}` : olderCount && !isOlder ? `, ${count(olderCount)} older were not` : "";
  const note = lookedAt ? `${many(lookedAt, "snapshot")} read${older}` : "";
  const { body, say, stop } = frame(el, { title: `${table}: the row where ${where}`, note, headline: steps.length ? headlineOf(steps) : "", css: ".changed { background: var(--chosen); color: inherit; font-weight: bold; padding: 0 3px; border-radius: 3px; }" });
  if (!lookedAt) {
    body.append(empty("Nothing was written to it yet. The first rows are added by", `INSERT INTO ${table} VALUES …`));
    return stop;
  }
  if (!steps.length) {
    body.append(empty("No snapshot that was read has such a row. To see what keys there are", `SELECT * FROM ${table} LIMIT 10`));
    return stop;
  }
    let chosen;
  const details = h("div");
  const shown = [...steps].reverse();
  const hasTimes = steps.some((step) => step.timeMillis !== null);
  const places = placesOf(columns, steps);
  const hidden = columns.length - places.length;
  const isChanged = (name) => steps.some(({ changed }) => changed.includes(name));
  const heads = [
    { name: "snapshot", right: true }, ...(hasTimes ? [{ name: "time (UTC)", text: moment }] : []), { name: "what" },
    ...places.map((at) => ({ name: columns[at], less: isChanged(columns[at]) ? 0 : 760, right: areNumbers(shown.map(({ values }) => values[at])), text: (value, row) => valueOf(value, row[row.length - 1].changed.includes(columns[at])) })),
    { name: "tags", optional: true, less: 620, prose: 90, text: breaking }, { name: "files", less: 1000 },
  ];
  const rows = shown.map((step) => [
    step.snapshotId, ...(hasTimes ? [step.timeMillis] : []), whatOf(step),
    ...places.map((at) => (step.values.length ? step.values[at] : "")), step.tags.join(", "), filesOf(step), step,
  ]);
    const choose = (step) => {
    if (!step) return;
    chosen = step.snapshotId;
    drawn.draw();
    details.replaceChildren(card([
      ["snapshot", step.snapshotId], ["kind", step.commitKind.toLowerCase()], ["what", step.unknown ? `${whatOf(step)}: ${step.unknown}` : step.what], ["changed", step.changed.join(", ")], ["tags", step.tags.join(", ")],
      ...step.files.slice(0, 20).map(({ name, level, place }, at) => ([`file ${at + 1}`, `${level === null ? "" : `level ${level}, `}${place}${name && `, ${name}`}`])),
      ...columns.map((name, at) => ([name, step.values.length ? step.values[at] ?? "NULL" : ""])),
    ]), copyButton("copy the query", () => `SELECT * FROM ${table} VERSION AS OF ${step.snapshotId} WHERE ${where}`, say));
    say(`snapshot ${step.snapshotId}, ${whatOf(step)}`);
  };
  const drawn = grid({ heads, rows, label: "steps", selected: ([id]) => id === chosen, onChoose: ([id]) => {
    choose(steps.find((step) => step.snapshotId === id));
    host.select({ snapshot: id });
  } });
  body.append(drawn.element, hidden ? h("p", { class: "faint" }, `${many(hidden, "more column")}, shown here if they change; a step has all`) : "", details);
  const quiet = host.onSelect(({ snapshot }) => choose(steps.find((step) => step.snapshotId === snapshot)));
  return () => {
    quiet();
    stop();
  };
}

function placesOf(columns, steps) {
  const changed = new Set(steps.flatMap((step) => step.changed));
  const places = columns.map((_, at) => at);
  return (columns.length <= MOST_COLUMNS ? places : places.filter((at) => !at || changed.has(columns[at]))).slice(0, MOST_COLUMNS);
}

function headlineOf(steps) {
  const real = realOf(steps);
  const last = real[real.length - 1];
  if (!last && steps[0].what === "present") return `No change in what was read: there ${whereOf(steps[0])}; ${steps[0].unknown}`;
  if (!last) return "There is no such row in the tags that were read";
  const when = last.timeMillis === null ? "" : `, ${ago(last.timeMillis)}`;
  return `${many(real.length, "change")}${real.length === 1 ? ": " : "; last "}${last.what} ${whereOf(last)}${last.changed.length ? ` (${last.changed.join(", ")})` : ""}${when}`;
}

const realOf = (steps) => steps.filter(({ what }) => /inserted|updated|deleted/.test(what));

function whereOf({ snapshotId, earliestId, what }) {
  if (what === "present") return `since snapshot ${snapshotId} or before`;
  return earliestId === snapshotId ? `in snapshot ${snapshotId}` : `between snapshots ${earliestId - 1} and ${snapshotId}`;
}

function whatOf({ snapshotId, earliestId, unknown, what }) {
  if (what === "present") return "present by then";
  return unknown ? `${what} between ${earliestId - 1} and ${snapshotId}` : what;
}

function valueOf(value, isChanged) {
  const shown = valueText(value);
  return isChanged ? h("span", { class: "changed", title: "changed here" }, shown) : shown;
}

function filesOf({ files }) {
  const levels = [...new Set(files.flatMap(({ level }) => (level === null ? [] : [level])))].sort((left, right) => left - right);
  return files.length ? [many(files.length, "file"), ...levels.map((level) => `level ${level}`)].join(", ") : "";
}

return render;
})(),
"schemas": (() => {


const CSS = `
.prose { text-wrap: balance; } .sides { display: flex; flex-wrap: wrap; gap: 8px 20px; align-items: flex-start; } .sides > * { min-width: 12em; flex: 1 1 20em; } @media (max-width: 700px) { .sides > * { flex-basis: 100% !important; } }
[role=listbox] { flex: 0 1 16em; max-height: 26em; overflow: auto; } [role=option] { padding: 3px 6px; cursor: pointer; border-left: 4px solid transparent; }
[role=option][aria-selected=true] { border-left-color: var(--focus); background: var(--chosen); }
.minus, .plus, .moved { font-family: ui-monospace, monospace; overflow-wrap: anywhere; unicode-bidi: isolate; white-space: pre-wrap; padding: 0 4px; }
.minus { background: color-mix(in srgb, ${COLOURS.red} 22%, transparent); } .plus { background: color-mix(in srgb, ${COLOURS.sky} 30%, transparent); } .moved { background: color-mix(in srgb, ${COLOURS.yellow} 30%, transparent); }
`;

function render({ data, el, host }) {
  const { table, versions } = data.view;
  const newest = versions.slice().reverse();
  const { body, say, stop } = frame(el, { title: `${table}: schemas`, headline: headlineOf(versions), css: CSS });
  let isWhole = false;
  let chosen = 0;
  const details = h("div");
  const options = newest.map((version) =>
    h("div", { role: "option", "aria-selected": "false" }, h("b", {}, `schema ${version.id}`), h("div", { class: "faint" }, moment(version.timeMillis)), h("div", { class: "faint" }, summary(version), h("br"), `snapshots: ${useOf(version)}`)));
  const list = h("div", { role: "listbox", "aria-label": "schemas, newest first" }, ...options);
  const draw = () => {
    const version = newest[chosen];
    const before = newest[chosen + 1];
    options.forEach((option, at) => option.setAttribute("aria-selected", String(at === chosen)));
    details.replaceChildren(
      h("div", { class: "row" },
        before && h("button", { "aria-pressed": String(isWhole), onclick: () => { isWhole = !isWhole; draw(); } }, "whole schema"),
        copyButton("copy as Markdown", () => markdownOf(version), say)),
      isWhole || !before ? wholeOf(version) : h("div", {}, h("p", {}, `from schema ${before.id} to schema ${version.id}`), ...version.differences.flatMap(linesOf)));
    say(`schema ${version.id}: ${summary(version)}`);
  };
  roving(options, {
    onFocus: (now) => { chosen = now; draw(); },
    onChoose: () => {
      const use = newest[chosen].usedBy;
      if (use) host.select({ range: [use.firstSnapshot, use.lastSnapshot] });
    },
  });
  body.append(h("div", { class: "sides" }, list, details));
  draw();
  const quiet = host.onSelect((selection) => {
    const snapshot = selection.range ? selection.range[1] : selection.snapshot;
    const at = newest.findIndex(({ usedBy }) => snapshot !== undefined && usedBy && usedBy.firstSnapshot <= snapshot && snapshot <= usedBy.lastSnapshot);
    if (at < 0) return;
    chosen = at;
    draw();
  });
  return () => {
    quiet();
    stop();
  };
}

function headlineOf(versions) {
  const last = versions[versions.length - 1];
  const when = last.timeMillis === null ? "" : ` ${ago(last.timeMillis)}`;
  return versions.length === 1 ? `${summary(last)}, never changed` : `${many(versions.length, "schema")}, the newest${when}: ${summary(last)}`;
}

function useOf({ usedBy }) {
  if (!usedBy) return "none";
  const { firstSnapshot, lastSnapshot, snapshotCount } = usedBy;
  return snapshotCount === 1 ? `${firstSnapshot}` : `${firstSnapshot} to ${lastSnapshot} (${count(snapshotCount)})`;
}

function summary({ differences, columns }) {
  if (!differences.length) return many(columns.length, "column");
    const found = {};
  for (const difference of differences) found[wordOf(difference)] = (found[wordOf(difference)] ?? 0) + 1;
  return Object.entries(found).map(([word, number]) => `${number} ${word}`).join(", ");
}

function wordOf({ aspect, after }) {
  if (aspect === "column") return after === null ? "dropped" : "added";
  return aspect === "name" ? "renamed" : aspect;
}

function textsOf({ aspect, name, before, after }) {
  const what = aspect === "column" ? "" : aspect === "name" ? "column " : `${aspect} `;
  const head = aspect === "name" ? what + name.slice(0, name.lastIndexOf(".") + 1) : !name ? what : aspect === "option" ? `${what}${name} = ` : `${what}${name} `;
  if (aspect === "name") return [["~", `~ ${head}${before} → ${after}`]];
  return ([["-", before], ["+", after]])
    .flatMap(([sign, text]) => (text === null ? [] : ([[sign, `${sign} ${head}${text}`]])));
}

function linesOf(difference) {
  return textsOf(difference).map(([sign, text]) => h("div", { class: sign === "-" ? "minus" : sign === "+" ? "plus" : "moved" }, text));
}

function markdownOf(version) {
  const lines = version.differences.length ? version.differences.flatMap(textsOf).map(([, text]) => text)
    : version.columns.map((column) => `+ ${column.name} ${column.typeText}${column.isNullable ? "" : " NOT NULL"}`);
  return [`**schema ${version.id}**, snapshots: ${useOf(version)}`, "", "```diff", ...lines.map((line) => line.replace(/[\r\n]/g, " ")), "```", ""].join("\n");
}

function wholeOf(version) {
  const keys = (name) => [version.primaryKeys.includes(name) && "primary", version.partitionKeys.includes(name) && "partition"].filter(Boolean).join(", ");
  const rows = version.columns.map((column) => [column.fieldId, column.name, column.typeText + (column.isNullable ? "" : " NOT NULL"), keys(column.name), column.default, column.comment]);
  const heads = [{ name: "id", right: true }, { name: "column", prose: true, text: breaking }, { name: "type" }, { name: "key", optional: true }, { name: "default", optional: true }, { name: "comment", optional: true }];
  return h("div", {}, grid({ heads, rows, label: `columns of schema ${version.id}` }).element, card([["comment", version.comment], ...Object.entries(version.options)]));
}

return render;
})(),
"simulator": (() => {


const SIMULATOR_CHART = { least: 170, most: 420, height: 130, left: 34, top: 22, bottom: 20 };
const SIMULATOR_CURVES = ([
  { name: "write amplification", colour: COLOURS.blue, curve: (simulation) => simulation.writeCurve },
  { name: "sorted runs to merge", colour: COLOURS.blue, curve: (simulation) => simulation.readCurve },
  { name: "space amplification", colour: COLOURS.blue, curve: (simulation) => simulation.spaceCurve },
]);

const SIMULATOR_CSS = `
.sliders { display: grid; grid-template-columns: minmax(0, max-content) max-content 1fr; gap: 4px 8px; align-items: center; } .sliders label { display: contents; }
`;

function render({ data, el, host }) {
  const view = data.view;
  const title = `${view.table ? `${view.table}: ` : ""}simulated compactions`;
  if (!view.simulations.length) {
    const { body, stop } = frame(el, { title });
    body.append(empty("Nothing was written to it yet. What is replayed here is written by", `INSERT INTO ${view.table} VALUES …`));
    return stop;
  }
  const { body, say, stop } = frame(el, { title, note: `${view.history}, ${bytes(view.flushedBytes)}`, css: SIMULATOR_CSS, headline: headlineOf(simulatorAt(view, view.sliders.map((slider) => slider.own))) });
  const chosen = view.sliders.map((slider) => slider.own);
  const charts = h("div", { class: "row", style: "align-items:flex-start" });
  const table = h("div");
  const own = simulatorAt(view, chosen);

  let drawn = own;
  let room = 840;
  const paint = () => {
    const { least, most } = SIMULATOR_CHART;
    const columns = Math.max(1, Math.min(SIMULATOR_CURVES.length, Math.floor(room / least)));
    const width = Math.min(most, Math.floor((room - 8 * (columns - 1)) / columns));
    charts.replaceChildren(...SIMULATOR_CURVES.map((curve) => simulatorChart(view, curve, drawn, own, width)));
  };
    function show(shown, name, aloud) {
    drawn = shown;
    paint();
    const isOwn = shown === own;
    keys.style.display = isOwn ? "none" : "";
    back.disabled = isOwn;
    table.replaceChildren(simulatorTable(shown, own, isOwn ? "own options" : name));
    if (aloud) say(`${name}: ${simulatorWords(shown)}`);
  }
  const name = () => view.sliders.map((slider, at) => `${slider.option} = ${slider.values[chosen[at]]}`).join(", ");
  const sliders = view.sliders.map((option, at) => slider({
    label: option.option, max: option.values.length - 1, value: option.own,
    text: (place) => `${option.values[place]}${place === option.own ? " (own)" : ""}`,
    onMove: (place) => {
      chosen[at] = place;
      show(simulatorAt(view, chosen), name(), true);
    },
  }));
  const back = h("button", { onclick: () => {
    sliders.forEach((slider, at) => slider.move(view.sliders[at].own));
    sliders[0].input.focus(); // the button is off now
  } }, "own options");
  const keys = legend(chartKey(COLOURS.blue, "chosen"), chartKey("#888", "own options", "4 3"));
  body.append(h("div", {}, h("div", { class: "sliders" }, ...sliders.map((slider) => slider.element)), h("div", { class: "row" }, back)), charts, keys, table, ...simulatorForm());
  body.append(h("p", { class: "legend" }, `${view.simulations.length} settings were computed for the sliders${host.ask ? "; any other values are replayed by the kernel" : "; with a kernel any values can be computed"}. Picks are those of the real picker, one after each flush; what a rewrite yields is estimated from sizes, row counts and key ranges, deletes are left out. ${view.notes.join(" ")}`));

    function simulatorForm() {
    const { ask } = host;
    if (!ask) return [];
    const input = h("input", { type: "text", size: 60, "aria-label": "table options", value: view.sliders.map((slider) => `${slider.option}=${slider.values[slider.own]}`).join(" ") });
    const run = async () => {
      try {
        const asked = Object.fromEntries(input.value.split(/[\s,]+/).filter(Boolean).map((pair) => {
          const [key, ...rest] = pair.split("=");
          if (!rest.length) throw new Error(`not KEY=VALUE: ${pair}`);
          return [key, rest.join("=")];
        }));
        show(((await ask({ options: asked }))), input.value, true);
      } catch (error) {
        say(error instanceof Error ? error.message : String(error));
      }
    };
    input.addEventListener("keydown", (event) => event.key === "Enter" && run());
    return [h("div", { class: "row" }, h("label", {}, "any options ", input), h("button", { onclick: run }, "replay"))];
  }

  const unsized = whenSized(body, (now) => {
    room = now;
    paint();
  });
  show(own, name(), false);
  say(`own options: ${simulatorWords(own)}`);
  return () => {
    unsized();
    stop();
  };
}

function chartKey(stroke, words, dashes) {
  return [swatch(s("path", { d: "M0 7H14", stroke, "stroke-width": 2.5, "stroke-dasharray": dashes })), words];
}

function simulatorAt(view, chosen) {
  return view.simulations[view.sliders.reduce((place, option, at) => place * option.values.length + chosen[at], 0)];
}

function headlineOf({ writeAmplification, readAmplification, mostRuns, stopCount }) {
  const wait = stopCount ? `; ${many(stopCount, "flush", "flushes")} would wait` : "";
  return `With its own options each byte is written ${someOf(writeAmplification, "time")}, a reader merges ${someOf(readAmplification, "sorted run")} on average, ${count(mostRuns)} at most${wait}`;
}

function someOf(value, what) {
  return `${amount(value)} ${what}${value === 1 ? "" : "s"}`;
}

function amount(value) {
  return Number.isInteger(value) ? count(value) : value.toFixed(2);
}

function simulatorWords(simulation) {
  return `write amplification ${amount(simulation.writeAmplification)}, ${someOf(simulation.readAmplification, "sorted run")} on average and ${simulation.mostRuns} at most, space amplification ${amount(simulation.spaceAmplification)}, ${many(simulation.compactionCount, "compaction")}, ${many(simulation.stopCount, "flush", "flushes")} would wait`;
}

function simulatorChart(view, { name, colour, curve }, shown, own, width) {
  const { height, left, top, bottom } = SIMULATOR_CHART;
  const most = Math.max(1, ...curve(shown), ...curve(own));
    const line = (values) => values.map((value, at) =>
    `${(left + ((width - left - 8) * at) / Math.max(values.length - 1, 1)).toFixed(1)},${(top + height * (1 - value / most)).toFixed(1)}`).join(" ");
  const last = curve(shown)[curve(shown).length - 1];
  return s("svg", { width, height: top + height + bottom, role: "img", "aria-label": `${name}: ${last} after ${view.flushCount} flushes, at most ${Math.max(...curve(shown))}; own options ${curve(own)[curve(own).length - 1]}` },
    s("text", { x: 0, y: 13, "font-size": 11, "font-weight": "bold" }, `${name} ${amount(last)}`),
    s("path", { d: `M${left} ${top}V${top + height}H${width - 8}`, stroke: "#888", fill: "none" }),
    s("text", { x: left - 4, y: top + 8, "font-size": 10, "text-anchor": "end" }, amount(most)),
    s("text", { x: left - 4, y: top + height, "font-size": 10, "text-anchor": "end" }, "0"),
    s("text", { x: left, y: top + height + 14, "font-size": 10 }, `1 to ${count(view.flushCount)} flushes`),
    s("polyline", { points: line(curve(own)), fill: "none", stroke: "#888", "stroke-width": 1.5, "stroke-dasharray": "4 3" }),
    s("polyline", { points: line(curve(shown)), fill: "none", stroke: colour, "stroke-width": 2.5 }));
}

function simulatorTable(shown, own, name) {
  const rows = ([
    ["bytes written per byte flushed", (simulation) => simulation.writeAmplification.toFixed(2)],
    ["sorted runs a reader merges, on average", (simulation) => simulation.readAmplification.toFixed(2)],
    ["bytes per byte if all were merged, at the end", (simulation) => simulation.spaceAmplification.toFixed(2)],
    ["compactions", (simulation) => count(simulation.compactionCount)],
    ["sorted runs before a compaction, at most", (simulation) => simulation.mostRuns],
    ["flushes that would wait (num-sorted-run.stop-trigger)", (simulation) => count(simulation.stopCount)],
  ]);
  const sides = (shown === own ? [["own options", own]] : [["chosen", shown], ["own options", own]]);
  return h("div", { class: "scroll" }, shown !== own && h("h4", { "aria-hidden": "true" }, name), h("table", {}, h("caption", { class: "hidden" }, name),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, ""), ...sides.map(([side]) => h("th", { scope: "col", class: "right" }, side)))),
    h("tbody", {}, ...rows.map(([label, write]) => h("tr", {}, h("td", { class: "prose" }, label), ...sides.map(([, one]) => h("td", { class: "right" }, write(one))))))));
}

return render;
})(),
"statements": (() => {


function render({ data, el }) {
  const { entries, olderCount } = data.view;
  const seconds = (millis) => (millis === null ? "" : (millis / 1000).toFixed(1));
  const hasTimes = entries.some((entry) => entry.timeMillis !== null);
  return listing(el, {
    title: "statements that were run",
    headline: `${many(entries.length, "statement")}, newest first`,
    note: olderCount ? `${many(olderCount, "older one")} not shown` : "",
    none: "No such statement was run here: %%paimon in front of a cell runs one. The life of a row is shown by %paimon_row db.t id=1.",
    heads: [{ name: "number", right: true }, ...(hasTimes ? [{ name: "time (UTC)", text: moment }] : []), { name: "connection" },
      { name: "SQL", text: (sql) => (sql.length > 200 ? `${sql.slice(0, 200)}…` : sql) }, { name: "rows", right: true, text: count }, { name: "read at" },
      ...(hasTimes ? [{ name: "seconds", right: true, text: seconds }] : []), { name: "status", text: (status) => h("span", { class: status === "failed" && "error" }, status) }],
    rows: entries,
    cellsOf: (statement) => [statement.number, ...(hasTimes ? [statement.timeMillis] : []), statement.alias, statement.sql, statement.rowCount, statement.snapshots, ...(hasTimes ? [statement.durationMillis] : []), statement.status],
    factsOf: (statement) => [["number", statement.number], ["status", statement.status], ["rows", count(statement.rowCount)], ["read at", statement.snapshots], ["SQL", statement.sql], ["connection", statement.alias],
      ["time (UTC)", moment(statement.timeMillis)], ["seconds", seconds(statement.durationMillis)]],
    copiesOf: (statement) => [["copy SQL", statement.sql], [`copy %paimon_rerun ${statement.number}`, `%paimon_rerun ${statement.number}`]],
  });
}

return render;
})(),
"streams": (() => {


const SIGNS = { running: "▶", ended: "■", failed: "✖" };

function render({ data, el, host }) {
  let view = data.view;
  const { body, say, stop } = frame(el, { title: "streams", headline: headlineOf(view) });
  const list = h("div");
  const details = h("div");
  let chosen = view.streams.length === 1 ? view.streams[0].id : "";

    const ask = async (request, said) => {
    try {
      const reply = await host.ask?.(request);
      if (!reply) return;
      view = reply.view;
      show();
      say(said);
    } catch (error) {
      say((error).message);
    }
  };
  const show = () => {
    const headline = (body.previousElementSibling);
    headline?.replaceChildren(headlineOf(view));
    if (!view.streams.length) {
      list.replaceChildren(empty("No stream was started yet", "%%paimon --stream"));
      return;
    }
    const heads = [
      { name: "name" },
      { name: "state", text: (state) => h("span", { class: state === "failed" ? "error" : state === "running" ? "ok" : "faint" }, `${SIGNS[state]} ${state}`) },
      { name: "source" }, { name: "sink" }, { name: "batch", right: true, text: count }, { name: "rows", right: true, text: count },
      { name: "rows/s", right: true, text: (speed) => (speed === null ? "" : count(Math.round(speed))) }, { name: "behind" },
    ];
    const made = grid({ label: "streams", heads, selected: (cells) => cells[heads.length] === chosen,
      rows: view.streams.map((stream) => [stream.name, stream.state, stream.source, stream.sink, stream.batch, stream.rows, stream.rowsPerSecond, behindOf(stream), stream.id]),
      onChoose: (cells) => {
        chosen = cells[heads.length];
        made.draw();
        choose();
        say(`stream ${cells[0]}, ${cells[1]}`);
      } });
    list.replaceChildren(made.element);
    if (view.newest?.rows.length) {
      list.append(grid({ caption: "newest rows", heads: view.newest.columns.map((name) => ({ name })), rows: view.newest.rows.map((row) => [...row]) }).element);
    }
    choose();
  };
  const choose = () => {
    const stream = view.streams.find(({ id }) => id === chosen);
    if (!stream) return;
    const isRunning = stream.state === "running";
    details.replaceChildren(
      card([["stream", stream.name], ["behind", behindOf(stream)], ["watermark", stream.watermark], ["remembers", rememberedOf(stream)], ["error", stream.error && h("span", { class: "error" }, stream.error)]]),
      h("div", { class: "row" },
        isRunning && host.ask && h("button", { onclick: () => ask({ stop: stream.id }, `stopped ${stream.name}`) }, `■ stop ${stream.name}`),
        isRunning && copyButton("copy %paimon_streams --stop", () => `%paimon_streams --stop ${stream.name}`, say),
        stream.error && copyButton("copy the error", () => stream.error ?? "", say)),
    );
  };
  body.append(list, details, h("div", { class: "row" }, host.ask && h("button", { onclick: () => ask({}, "as it is now") }, "refresh")));
  show();
  return stop;
}

function headlineOf({ streams }) {
  const of = (state) => streams.filter((stream) => stream.state === state).length;
  const running = of("running");
  const failed = of("failed");
  const said = [running && `${many(running, "stream")} ${running === 1 ? "runs" : "run"}`, failed && `${count(failed)} failed`, of("ended") && `${count(of("ended"))} ended`].filter(Boolean);
  return said.join(", ") || "No streams";
}

function behindOf({ snapshotsBehind, millisBehind }) {
  if (snapshotsBehind === null) return "";
  if (snapshotsBehind === 0) return "nothing";
  return `${many(snapshotsBehind, "snapshot")}${millisBehind === null ? "" : `, ${(millisBehind / 1000).toFixed(1)} s`}`;
}

function rememberedOf({ stateRows, stateBytes }) {
  return stateRows === null ? "" : `${many(stateRows, "row")}${stateBytes === null ? "" : `, ${bytes(stateBytes)}`}`;
}

return render;
})(),
"tables": (() => {


function render({ data, el }) {
  const { databases, tables } = data.view;
  const empty = databases.filter((name) => !tables.some(({ database }) => database === name));
  const quoted = (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : `\`${name.replaceAll("`", "``")}\``);
  return listing(el, {
    title: "tables",
    headline: `${many(tables.length, "table")} in ${many(databases.length, "database")}${empty.length ? `; none in ${empty.join(", ")}` : ""}`,
    none: "No tables yet: CREATE TABLE makes one, or demo() two to try.",
    heads: [{ name: "database" }, { name: "table" }, { name: "primary key" }, { name: "partitioned by" }, { name: "columns", right: true, text: count }, { name: "snapshot", right: true, text: count }],
    rows: tables,
    cellsOf: (table) => [table.database, table.table, table.primaryKeys.join(", "), table.partitionKeys.join(", "), table.columnCount, table.snapshotId],
    factsOf: (table) => [["table", `${table.database}.${table.table}`], ["primary key", table.primaryKeys.join(", ")], ["partitioned by", table.partitionKeys.join(", ")],
      ["columns", count(table.columnCount)], ["snapshot", count(table.snapshotId)]],
    copiesOf: (table) => [["copy SELECT", `SELECT * FROM ${quoted(table.database)}.${quoted(table.table)}`], ["copy %paimon_timeline", `%paimon_timeline ${table.database}.${table.table}`]],
  });
}

return render;
})(),
"timeline": (() => {


const TREND = { top: 26, height: 64 };
const LANES = { top: 150, height: 74 };
const MARGIN = 44;
const GAP = 30;

const measuresOf = (rowsAre) => ([
  [rowsAre, ({ point, group }) => (point ?? group)?.totalRecordCount, count],
  ["live files", ({ point, group }) => (point ?? group)?.fileCount, count],
  ["size", ({ point, group }) => (point ?? group)?.fileBytes, bytes],
  ["rows of the commit", rowChange, signed],
  ["changelog rows", ({ point, group }) => (point ?? group)?.changelogRecordCount ?? 0, count],
]);

const CSS = `
.line { overflow-x: auto; overscroll-behavior-x: contain; touch-action: pan-x; }
.line svg { max-width: none; user-select: none; } .minimap { cursor: grab; touch-action: none; }
.item { cursor: pointer; } .item:focus { outline: none; }
.ring { visibility: hidden; fill: none; stroke: currentColor; stroke-width: 2; } .item[aria-selected=true] .ring { visibility: visible; }
.item:focus-visible .ring { visibility: visible; stroke: var(--focus); stroke-width: 4; }
.card { min-height: 6em; } .item > text { paint-order: stroke; stroke: var(--ground); stroke-width: 3px; }
`;

function render({ data, el, host }) {
  const view = data.view;
  const { body, say, stop, head } = frame(el, { title: `${view.table}: snapshots`, note: noteOf(view), headline: headlineOf(view), css: CSS });
  const items = itemsOf(view);
  if (!items.length) {
    body.append(empty("Nothing was written to it yet. The first snapshot is made by", `INSERT INTO ${view.table} VALUES …`));
    return stop;
  }
  const largest = items.reduce((most, item) => Math.max(most, Math.abs(Number((item.point && rowChange(item)) ?? 0))), 1);
  const hasTimes = items.every((item) => item.millis !== null);
  const known = measuresOf(view.rowsAre).filter(([, value]) => items.some((item) => value(item)));
  const mainCount = items.filter((item) => !item.lane).length;
  const look = { byTime: false, step: 38, measure: known[0] ?? measuresOf(view.rowsAre)[0] };
  let chosen = mainCount - 1;
  const isAlone = items.length === 1;
    let range = null;

  const line = h("div", { class: "line" });
  const trend = h("span", { class: "faint" });
  const details = h("div", { class: "card" });
  const code = h("div", { class: "row" });
    let marks = [];
    let picture;

  const draw = () => {
    const width = place(items, look.byTime, look.step);
    const height = LANES.top + LANES.height * view.branches.length + 52;
    const named = withRoom(items);
    marks = items.map((item) => drawn(item, largest, Math.min(1.3, look.step / 24), named.has(item)));
    const above = isAlone ? TREND.top + TREND.height : 0;
    const marksOfRange = s("g", { class: "brush" });
    picture = s("svg", { width, height: height - above, viewBox: `0 ${above} ${width} ${height - above}`, role: "listbox", "aria-label": "snapshots, Shift and arrows choose a range", "aria-multiselectable": "true", "aria-orientation": "horizontal" },
      ...(isAlone ? [] : trendOf(items, look.measure, trend)), ...lanesOf(items, view, width), ...gapsOf(items), watermarkOf(items, height), marksOfRange, ...marks);
    line.replaceChildren(picture);
    let extending = false;
    picture.addEventListener("keydown", (event) => {
      extending = event.shiftKey && /^(Arrow|Home|End|Page)/.test(event.key);
    }, true);
    roving(marks, {
      start: chosen,
      onFocus: (now) => {
        const from = chosen;
        chosen = now;
        if (extending && items[from].lane === items[now].lane) {
          range = [range ? range[0] : from, now];
          brushed();
        } else show(items[now]);
      },
      onChoose: (now) => {
        chosen = now;
        range = null;
        choose();
      },
    });
    marks.forEach((mark, at) => {
      mark.addEventListener("pointerenter", () => details.replaceChildren(cardOf(items[at], view.rowsAre)));
      mark.addEventListener("pointerleave", () => (range ? brushed(false) : details.replaceChildren(cardOf(items[chosen], view.rowsAre))));
    });
    brushes(picture, items, marks, (from, to) => {
      range = [from, to];
      chosen = to;
      brushed();
    });
    lit();
  };

  const lit = () => {
    const [low, high] = ends();
    marks.forEach((mark, at) => mark.setAttribute("aria-selected", String(range ? at >= low && at <= high : at === chosen)));
    const band = (picture.querySelector(".brush"));
    const [from, to] = [items[low].x - 16, items[high].x + 16];
    band.replaceChildren(...(range ? [s("rect", { x: from, y: TREND.top - 8, width: to - from, height: items[high].y - TREND.top + 40, fill: COLOURS.sky, opacity: 0.25 })] : []));
  };
  const ends = () => (range ? [Math.min(...range), Math.max(...range)] : [chosen, chosen]);

    const show = (item) => {
    details.replaceChildren(cardOf(item, view.rowsAre));
    say(sentence(item));
  };
  const nameOf = (branch) => (branch ? `${view.table.replace(/\$branch_.*$/, "")}$branch_${branch}` : view.table);
  const choose = () => {
    const item = items[chosen];
    show(item);
    lit();
    const { last } = item;
    code.replaceChildren(...[`VERSION AS OF ${last}`, `SELECT * FROM ${nameOf(item.branch)} VERSION AS OF ${last}`].map((text) => copyButton(`copy ${text}`, () => text, say)));
    host.select({ snapshot: last });
  };
    const brushed = (isTold = true) => {
    const [low, high] = ends();
    const inside = items.slice(low, high + 1);
    const [first, last] = [items[low].first, items[high].last];
    const rows = inside.map((item) => rowChange(item) ?? NaN);
    const snapshots = inside.reduce((sum, { group }) => sum + (group?.snapshotCount ?? 1), 0);
    lit();
    details.replaceChildren(card([
      ["snapshots", `${first} to ${last}, ${count(snapshots)} of them`],
      ["time (UTC)", items[high].millis !== null && `${moment(items[low].group?.beginMillis ?? items[low].millis)} to ${moment(items[high].millis)}`],
      ["commits", kinds(inside)],
      ["rows", rows.every(Number.isSafeInteger) ? signed(rows.reduce((sum, row) => sum + row, 0)) : ""],
    ]));
    const name = nameOf(items[low].branch);
    code.replaceChildren(...["diff", "changes"].map((magic) => `%paimon_${magic} ${name} ${first} ${last}`).map((text) => copyButton(`copy ${text}`, () => text, say)));
    say(`snapshots ${first} to ${last}`);
    if (isTold) host.select({ range: [first, last] });
  };

  const axis = h("select", { onchange: () => redraw({ byTime: axis.value === "time" }) }, h("option", { value: "id" }, "ids"), h("option", { value: "time" }, "time"));
  const measure = h("select", { onchange: () => redraw({ measure: known[Number(measure.value)] }) }, ...known.map(([name], at) => h("option", { value: at }, name)));
  const zoom = slider({ label: "zoom", min: 2, max: 120, value: look.step, text: (value) => `${value}`, onMove: (step) => { isFitted = false; redraw({ step }); } });
    const redraw = (how) => {
    const left = line.scrollLeft / Math.max(line.scrollWidth, 1);
    Object.assign(look, how);
    draw();
    line.scrollLeft = left * line.scrollWidth;
  };
  let isFitted = true;
  let fittedTo = 0;
    const fit = (isWhole = false) => {
    const gaps = items.reduce((sum, item) => sum + (item.lane || !item.gap ? 0 : GAP), 0);
    const width = (line.clientWidth || 840) - 2 * MARGIN - gaps;
    const step = Math.floor((100 * width) / Math.max(1, mainCount - 1)) / 100;
    zoom.stand(Math.round(Math.max(isWhole ? 2 : 18, Math.min(120, step))));
    redraw({ step: Math.max(isWhole ? 2 : 18, Math.min(120, step)) });
    if (!isWhole) line.scrollLeft = line.scrollWidth;
    isFitted = true;
    fittedTo = line.clientWidth;
  };
  const whole = h("button", { onclick: () => fit(true) }, "all");
  const controls = h("div", { class: "row tools" }, hasTimes && h("label", {}, "axis ", axis), known.length > 0 && h("label", {}, "line ", measure), zoom.element, whole);
  const small = mainCount > 100 && minimap(items.slice(0, mainCount), line);
  body.append(controls, trend, line, small || "", legendOf(items, view), details, code, ...othersOf(view));
  draw();
  fit();
  show(items[chosen]);
  const sized = new ResizeObserver(() => {
    if (isFitted && line.clientWidth !== fittedTo) fit();
  });
  sized.observe(body);

  const quiet = host.onSelect((selection) => {
    const find = (id) => items.findIndex((item) => !item.lane && item.first <= id && id <= item.last);
    if (selection.range) {
      const [low, high] = selection.range.map(find);
      if (low < 0 || high < 0) return;
      range = [low, high];
      chosen = high;
      brushed(false);
    } else if (selection.snapshot !== undefined && find(selection.snapshot) >= 0) {
      chosen = find(selection.snapshot);
      range = null;
      lit();
      show(items[chosen]);
    } else return;
    line.scrollLeft = items[chosen].x - line.clientWidth / 2;
  });
  return () => {
    sized.disconnect();
    quiet();
    stop();
  };
}

function headlineOf({ points, groups }) {
  const newest = points[points.length - 1];
  if (!newest) return "";
  const total = points.length + groups.reduce((sum, group) => sum + group.snapshotCount, 0);
  const { commitKind, commitUser, timeMillis, addedFileCount, deltaRecordCount } = newest;
  const change = Number(deltaRecordCount ?? 0);
  const { writtenRows = Math.max(change, 0), deletedRows = Math.max(-change, 0) } = newest;
  const what = commitText({ kind: commitKind, written: Number(writtenRows), deleted: Number(deletedRows), files: addedFileCount ?? 0, user: commitUser });
  return `${many(total, "snapshot")}, newest${timeMillis ? ` ${ago(timeMillis)}` : ""}: ${what}`;
}

function minimap(items, line) {
  const last = Math.max(1, items.length - 1);
  const view = s("rect", { y: 0, height: 20, fill: "none", stroke: "currentColor" });
  const map = s("svg", { class: "minimap", viewBox: "0 0 1000 20", preserveAspectRatio: "none", width: "100%", height: 20, "aria-hidden": "true" },
    ...items.map(({ point }, at) => s("rect", { x: (998 * at) / last, y: 4, width: 2, height: 12, fill: KINDS[point?.commitKind ?? ""]?.colour ?? COLOURS.grey })),
    ...items.flatMap(({ point, group }, at) => (Object.keys(point?.tags ?? group?.tags ?? {}).length ? [s("rect", { class: "tag", x: (996 * at) / last, y: 0, width: 6, height: 20, fill: COLOURS.yellow, stroke: "#7A7000", "vector-effect": "non-scaling-stroke" })] : [])), view);
  const look = () => {
    view.setAttribute("x", String((1000 * line.scrollLeft) / Math.max(1, line.scrollWidth)));
    view.setAttribute("width", String((1000 * line.clientWidth) / Math.max(1, line.scrollWidth)));
  };
  const go = (event) => {
    if (!event.buttons) return;
    const box = map.getBoundingClientRect();
    line.scrollLeft = ((event.clientX - box.left) / box.width) * line.scrollWidth - line.clientWidth / 2;
  };
  map.addEventListener("pointerdown", go);
  map.addEventListener("pointermove", go);
  line.addEventListener("scroll", look);
  return map;
}

function noteOf({ points, groups, groupedBy, expiredCount, branches, branchCount }) {
  const older = groups.reduce((sum, group) => sum + group.snapshotCount, 0);
  return [
    older && `the newest ${count(points.length)} of ${count(points.length + older)} one by one, older ones ${groupedBy === "day" ? "by day" : `in ${groups.length} groups`}`,
    expiredCount && `1 to ${count(expiredCount)} expired`,
    branches.length < branchCount && `${branches.length} of ${branchCount} other branches`,
  ].filter(Boolean).join("; ");
}

function itemsOf({ groups, points, branches }) {
    const itemOf = (point, branch, lane) => ({ point, branch, lane, first: point.id, last: point.id, millis: point.timeMillis ?? null, gap: point.missingBefore ?? 0, x: 0, y: 0 });
  return [
    ...groups.map((group) => ({ group, branch: "", lane: 0, first: group.firstId, last: group.lastId, millis: group.endMillis ?? null, gap: group.missingCount ?? 0, x: 0, y: 0 })),
    ...points.map((point) => itemOf(point, "", 0)),
    ...branches.flatMap(({ name, points: theirs }, at) => theirs.map((point) => itemOf(point, name, at + 1))),
  ];
}

function place(items, byTime, step) {
  let end = MARGIN;
    const main = new Map();
  for (const item of items) item.y = LANES.top + LANES.height * item.lane;
  let x = MARGIN - step;
  for (const item of items.filter(({ lane }) => !lane)) {
    x += step + (item.gap ? GAP : 0);
    item.x = x;
    main.set(item.last, x);
    end = x;
  }
  if (byTime) {
    const times = items.map(({ millis }) => Number(millis));
    const low = times.reduce((time, other) => Math.min(time, other));
    const span = times.reduce((time, other) => Math.max(time, other)) - low || 1;
    for (const item of items) item.x = MARGIN + ((Number(item.millis) - low) / span) * (Math.max(end, 600) - MARGIN);
    end = Math.max(end, 600);
  } else {
    let before = MARGIN;
    for (const [at, item] of items.entries()) {
      if (!item.lane) continue;
      before = items[at - 1]?.lane === item.lane ? before + step : MARGIN - step;
      before = item.x = Math.max(before, main.get(item.last) ?? before, MARGIN);
      end = Math.max(end, before);
    }
  }
  return end + MARGIN;
}

function withRoom(items) {
  const end = ([]);
  return new Set(items.filter(({ x, lane, first, last }) => {
    const half = 3.2 * (String(last).length + (first === last ? 0 : 1)) + 2;
    if (x - half < (end[lane] ?? -Infinity)) return false;
    end[lane] = x + half;
    return true;
  }));
}

function drawn(item, largest, most, isNamed) {
  const { point, group, x, y } = item;
  const size = 0.7 * Math.min(1, most) + (most - 0.7 * Math.min(1, most)) * Math.sqrt(Math.abs(Number((item.point && rowChange(item)) ?? 0)) / largest);
  const half = 12 * Math.min(1, most);
  const shape = point ? mark(point.commitKind, 0, 0) : groupMark((group));
  const element = s("g", { class: "item", role: "option", "aria-selected": "false", "aria-label": sentence(item), transform: `translate(${x} ${y})` },
    s("title", {}, sentence(item)),
    s("rect", { x: -half, y: -half, width: 2 * half, height: half + 48, fill: "none", visibility: "hidden", "pointer-events": "all" }), // between a mark and its names, too
    s("circle", { class: "ring", r: 19 * Math.min(1, most) }),
    s("g", { class: "shape", transform: group ? "" : `scale(${size.toFixed(2)})` }, shape));
  if (isNamed) element.append(around(item.first === item.last ? item.last : `…${item.last}`, 31));
  const tags = point?.tags ?? Object.keys(group?.tags ?? {});
  const readers = point?.consumers ?? Object.keys(group?.consumers ?? {});
  if (tags.length) element.append(tagMark(-2, -17), label(tags, -41));
  if (readers.length) element.append(consumerMark(0, 34), label(readers, 56));
  const schemas = group ? (group.newSchemas ?? []) : point?.isNewSchema ? [point.schemaId] : [];
  if (schemas.length) {
    element.append(dashed("M-17 -30V16", "4 3"),
      s("text", { x: -17, y: 31, "text-anchor": "middle", "font-size": 10, "font-style": "italic" }, `S${schemas.join(" ")}`));
  }
  return element;
}

function around(text, y, x = 0, size = 10) {
  return s("text", { x, y, "text-anchor": "middle", "font-size": size }, text);
}

function dashed(d, dashes, stroke = COLOURS.pink) {
  return s("path", { d, fill: "none", stroke, "stroke-width": 2, "stroke-dasharray": dashes });
}

function tagMark(x, y) {
  return s("path", { d: `M${x} ${y}v-19h14l-4 5l4 5h-12v9z`, fill: COLOURS.yellow, stroke: "#7A7000" });
}

function consumerMark(x, y) {
  return s("path", { d: `M${x} ${y}l-5 9a5 5 0 1 0 10 0z`, fill: COLOURS.sky, stroke: COLOURS.blue });
}

function label(names, y) {
  const first = [...names[0]];
  const text = first.length > 10 ? `${first.slice(0, 9).join("")}…` : names[0];
  return around(names.length > 1 ? `${text} +${names.length - 1}` : text, y, 0, 9);
}

function groupMark(group) {
  let y = -16;
  const stripes = Object.entries(group.kinds).map(([kind, number]) => {
    const height = (32 * number) / group.snapshotCount;
    y += height;
    return s("rect", { x: -9, y: y - height, width: 18, height, fill: KINDS[kind]?.colour ?? COLOURS.grey });
  });
  return s("g", {}, ...stripes, s("rect", { x: -9, y: -16, width: 18, height: 32, rx: 3, fill: "none", stroke: "currentColor" }));
}

function trendOf(items, [name, value, write], scale) {
  const main = items.filter((item) => !item.lane);
  const values = main.map((item) => (value(item) === undefined || value(item) === null ? null : Number(value(item))));
  const known = values.filter((value) => value !== null);
  if (!known.length) return [];
  const [low, high] = [known.reduce((a, b) => Math.min(a, b), 0), known.reduce((a, b) => Math.max(a, b), 0)];
  const y = (value) => TREND.top + TREND.height * (1 - (value - low) / (high - low || 1));
  const path = main.map((item, at) => {
    const value = values[at];
    return value === null ? "" : `L${item.x.toFixed(1)} ${y(value).toFixed(1)}`;
  });
  const dots = main.flatMap((item, at) => {
    const value = values[at];
    return kindsOf(item).COMPACT && value !== null ? [s("rect", { x: item.x - 3, y: y(value) - 3, width: 6, height: 6, fill: COLOURS.green })] : [];
  });
  scale.replaceChildren(`${name}: ${write(low)} to ${write(high)}${dots.length ? "; ■ compaction" : ""}`);
  const ground = `M${MARGIN - 20} ${y(0).toFixed(1)}H${main[main.length - 1].x + 20}`;
  return [s("path", { d: ground, stroke: "currentColor", opacity: 0.3 }),
    s("path", { d: path.join("").replace("L", "M"), fill: "none", stroke: COLOURS.blue, "stroke-width": 2 }), ...dots];
}

function lanesOf(items, { branches }, width) {
  const main = items.filter((item) => !item.lane);
  const lines = ([]);
  lines.push(s("path", { d: `M12 ${LANES.top}H${width - 12}`, stroke: "currentColor", opacity: 0.4, "stroke-width": 2 }));
  branches.forEach(({ name, forkedAt, olderCount }, at) => {
    const mine = items.filter((item) => item.lane === at + 1);
    const y = LANES.top + LANES.height * (at + 1);
    const fork = main.find((item) => forkedAt !== null && item.first <= forkedAt && forkedAt <= item.last);
    const start = mine[0]?.x ?? MARGIN;
    const end = mine[mine.length - 1]?.x ?? start;
    const from = fork ? `M${fork.x} ${LANES.top}V${y}H` : `M${Math.max(start - 20, 4)} ${y}H`;
    lines.push(dashed(from + end, "6 3"),
      s("text", { x: end + 20, y: y + 4, "font-size": 11, "font-weight": "bold" }, `${shortened(name)}${olderCount ? ` (${count(olderCount)} older)` : ""}`));
  });
  return lines;
}

function gapsOf(items) {
  return items.flatMap((item, at) => {
    const before = items[at - 1];
    if (!item.gap || !before || before.lane !== item.lane) return [];
    const x = (before.x + item.x) / 2;
    const text = around(`… ${item.gap} …`, item.y - 20, x);
    text.append(s("title", {}, `${item.gap} expired`));
    return [text];
  });
}

function watermarkOf(items, height) {
  const main = items.filter((item) => !item.lane && item.millis !== null);
  const newest = main.reduce((most, { point, group }) => {
    const watermark = (point ?? group)?.watermarkMillis ?? null;
    return watermark === null || (most !== null && most > watermark) ? most : Number(watermark);
  }, null);
  if (newest === null) return null;
  const behind = main.filter((item) => Number(item.millis) <= newest);
  const x = behind.length ? behind[behind.length - 1].x + 8 : 6;
  return s("g", {}, dashed(`M${x} 14V${height - 8}`, "2 4", COLOURS.sky),
    s("text", { x, y: 11, "text-anchor": behind.length > main.length / 2 ? "end" : "start", "font-size": 10 }, `watermark ${moment(newest)}`));
}

function brushes(picture, items, marks, done) {
    let begin = null;
  let isDragged = false;
  const at = (event) => {
    const box = picture.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  picture.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    const { x, y } = at(event);
    begin = { x, lane: Math.max(0, Math.round((y - LANES.top) / LANES.height)), id: event.pointerId };
    isDragged = false;
  });
  picture.addEventListener("pointermove", (event) => {
    if (!begin) return;
    const { x } = at(event);
    if (Math.abs(x - begin.x) < 6 && !isDragged) return;
    if (!isDragged) picture.setPointerCapture(begin.id);
    isDragged = true;
    const [low, high] = [Math.min(x, begin.x), Math.max(x, begin.x)];
    const inside = items.map((item, place) => ({ item, place })).filter(({ item }) => item.lane === begin?.lane && item.x >= low && item.x <= high);
    if (inside.length) done(inside[0].place, inside[inside.length - 1].place);
  });
  picture.addEventListener("pointerup", () => { begin = null; });
  picture.addEventListener("click", (event) => {
    if (isDragged) event.stopPropagation();
    isDragged = false;
  }, true);
  picture.addEventListener("dragstart", (event) => event.preventDefault());
}

function kindsOf({ point, group }) {
  return group?.kinds ?? { [point?.commitKind ?? "?"]: 1 };
}

function kinds(items) {
    const found = {};
  for (const item of items) {
    for (const [kind, number] of Object.entries(kindsOf(item))) found[kind] = (found[kind] ?? 0) + number;
  }
  return Object.entries(found).map(([kind, number]) => `${count(number)} ${kind.toLowerCase()}`).join(", ");
}

function legendOf(items, { branches }) {
  const there = new Set(items.flatMap((item) => Object.keys(kindsOf(item))));
  const has = (what) => items.some(({ point, group }) => what(point ?? group));
  return legend(
    ...[...there].map((kind) => ([swatch(s("g", { transform: "translate(7 7) scale(.55)" }, mark(kind, 0, 0))), kind.toLowerCase()])),
    has(({ tags }) => Object.keys(tags ?? {}).length) && [swatch(s("g", { transform: "translate(3 14) scale(.7)" }, tagMark(0, 0))), "tag"],
    has(({ consumers }) => Object.keys(consumers ?? {}).length) && [swatch(s("g", { transform: "translate(7 0) scale(.9)" }, consumerMark(0, 0))), "a consumer reads on from here"],
    has(({ isNewSchema, newSchemas }) => isNewSchema || newSchemas?.length) && [swatch(dashed("M7 1V13", "4 3")), "a new schema"],
    branches.length > 0 && [swatch(dashed("M1 7H13", "4 2")), "branch"],
    [null, "larger: more rows"]);
}

function rowChange({ point, group }) {
  const { writtenRows, deletedRows } = point ?? {};
  return writtenRows == null ? (point ?? group)?.deltaRecordCount : writtenRows - (deletedRows ?? 0);
}

function rowsOf(item) {
  const { writtenRows, deletedRows } = item.point ?? {};
  return (writtenRows && deletedRows ? bothWays(writtenRows, deletedRows) : "") || signed(rowChange(item));
}

function sentence(item) {
  const { point, group, branch, gap } = item;
  const where = branch ? `branch ${branch}, ` : "";
  const rows = rowChange(item);
  const tail = `${rows === undefined ? "" : `, ${rowsOf(item)} ${Math.abs(Number(rows)) === 1 ? "row" : "rows"}`}${gap ? `, ${gap} expired before it` : ""}`;
  if (group) return `snapshots ${group.firstId} to ${group.lastId}: ${kinds([{ group }])}${tail}`;
  const { id, commitKind, timeMillis, tags } = (point);
  return `${where}snapshot ${id}, ${commitKind.toLowerCase()}${timeMillis ? `, ${moment(timeMillis)}` : ""}${tail}${tags ? `, tags ${tags.join(", ")}` : ""}`;
}

function cardOf(item, rowsAre) {
  const { point, group, branch, gap } = item;
  const shown = (point ?? group);
  const expired = gap ? `, ${gap} expired before it` : "";
  return card([
    ...(group ? ([
      ["snapshots", `${group.firstId} to ${group.lastId}, ${count(group.snapshotCount)} of them${expired}`],
      ["time (UTC)", shown.beginMillis ? `${moment(shown.beginMillis)} to ${moment(shown.endMillis)}` : ""], ["commits", kinds([{ group }])],
    ]) : ([
      ["snapshot", `${shown.id}${expired}`], ["branch", branch], ["kind", shown.commitKind.toLowerCase()], ["time (UTC)", moment(shown.timeMillis)],
      ["user", shortId(shown.commitUser ?? "")], ["identifier", shown.commitIdentifier === undefined ? "batch" : count(shown.commitIdentifier)],
      ["files", shown.addedFileCount === undefined ? "" : `+${count(shown.addedFileCount)}${shown.deletedFileCount ? ` -${count(shown.deletedFileCount)}` : ""}`], ["manifests", count(shown.manifestCount)],
    ])),
    ["rows", rowsOf(item)], [rowsAre === "rows" ? "rows in all" : rowsAre, count(shown.totalRecordCount)],
    ["changelog rows", shown.changelogRecordCount ? count(shown.changelogRecordCount) : ""],
    ["live files", count(shown.fileCount)], ["size", bytes(shown.fileBytes)],
    ["schema", `${shown.schemaId}${shown.isNewSchema ? ", new here" : shown.newSchemas ? `, new here: ${shown.newSchemas.join(", ")}` : ""}`],
    ["tags", named(shown.tags)], ["read next by", named(shown.consumers)], ["watermark (UTC)", moment(shown.watermarkMillis)],
  ]);
}

function named(places) {
  return Array.isArray(places) ? places.join(", ") : Object.entries(places ?? {}).map(([name, id]) => `${name} (${id})`).join(", ");
}

function shortened(name) {
  const all = [...name];
  return all.length > 40 ? `${all.slice(0, 39).join("")}…` : name;
}

function othersOf({ otherTags, otherConsumers }) {
  return [["tags of expired snapshots", otherTags], ["consumers whose next snapshot does not exist", otherConsumers]]
    .filter(([, places]) => Object.keys(places).length)
    .map(([what, places]) => h("p", { class: "faint" }, `${what}: ${named((places))}`));
}

return render;
})(),
"travel": (() => {


const SPARK_HEIGHT = 70;
const TRAVEL_CSS = `
.slider { display: flex; gap: 8px; align-items: center; flex-wrap: wrap; margin: 4px 0; }
.slider input[type=range] { flex: 1 1 260px; min-width: 160px; }
caption { white-space: nowrap; }
`;

function render({ data, el, host }) {
  const { table, sql, stops, olderCount, steps } = data.view;
  const { body, say, stop } = frame(el, {
    title: `${table} through time`,
    note: `${sql || "rows"}; read from data files${olderCount ? `; ${many(olderCount, "older point")} ${olderCount === 1 ? "is" : "are"} not on the slider` : ""}`,
    headline: headlineOf(steps),
    css: TRAVEL_CSS,
  });
  if (!steps.length) {
    body.append(empty("Nothing was written to it yet. The first snapshot is made by", `INSERT INTO ${table} VALUES …`));
    return stop;
  }
  const known = new Map(steps.map((step) => [step.snapshotId, step]));
  const reachable = host.ask ? stops : stops.filter((stop) => known.has(stop.snapshotId));
  const axes = ([
    ["snapshots", "by snapshot", reachable],
    ["tags", "by tag", reachable.filter((stop) => stop.tags.length)],
    ["times", "by time", reachable.filter((stop) => stop.timeMillis !== null)],
  ]).filter(([, , points]) => points.length);
  let axis = axes[0];
  let current = reachable[reachable.length - 1];
  let timer = 0;
  let asked = 0;

  const output = h("span");
  const input = h("input", { type: "range", "aria-label": "point in time" });
  const rows = h("div");
  const spark = h("div");

    const text = (stop) => {
    const tags = stop.tags.length ? `, tag ${stop.tags.join(", ")}` : "";
    return `snapshot ${stop.snapshotId}, ${stop.commitKind.toLowerCase()}${stop.timeMillis === null ? "" : `, ${moment(stop.timeMillis)} UTC`}${tags}`;
  };

    const arrange = () => {
    const points = axis[2];
    const isTime = axis[0] === "times";
    input.min = String(isTime ? points[0].timeMillis : 0);
    input.max = String(isTime ? points[points.length - 1].timeMillis : points.length - 1);
    input.step = "1";
    if (!points.includes(current)) current = points[points.length - 1];
    input.value = String(isTime ? current.timeMillis : points.indexOf(current));
    describe();
  };
  const describe = () => {
    output.replaceChildren(text(current));
    input.setAttribute("aria-valuetext", text(current));
  };

    const go = (place) => {
    const points = axis[2];
    current = points[Math.max(0, Math.min(points.length - 1, place))];
    input.value = String(axis[0] === "times" ? current.timeMillis : points.indexOf(current));
    moved();
  };
  const moved = () => {
    describe();
    clearTimeout(timer);
    const step = known.get(current.snapshotId);
    if (step) show(step);
    else timer = window.setTimeout(() => fetchStep(), 200);
  };
  const fetchStep = async (isTold = true) => {
    if (!host.ask) return;
    const wanted = current;
    const mine = (asked += 1);
    say(`reading snapshot ${wanted.snapshotId} …`);
    try {
      const reply = await host.ask({ snapshot: wanted.snapshotId });
      const step = (reply.step);
      known.set(step.snapshotId, step);
      if (mine === asked) show(step, isTold);
    } catch (error) {
      say(String(error));
    }
  };

  let shownId = 0;
  let width = 840;
  const paint = () => spark.replaceChildren(sparkline([...known.values()], shownId, width, (id) => {
    const place = axis[2].findIndex((stop) => stop.snapshotId === id);
    if (place >= 0) go(place);
  }));

    const show = (step, isTold = true) => {
    asked += 1;
    const made = grid({
      caption: `at snapshot ${step.snapshotId}: ${many(step.rowCount, "row")}${sql ? "" : `, ${step.rows.length} of them here${step.hiddenColumns ? `; ${many(step.hiddenColumns, "more column")}` : ""}`}`,
      heads: step.columns.map((name, at) => ({
        name,
        right: areNumbers(step.rows.map((row) => row[at])),
        text: (value) => valueText(value, step.floats?.includes(at)),
      })),
      rows: step.rows.map((row) => [...row]),
    });
    rows.replaceChildren(made.element);
    shownId = step.snapshotId;
    paint();
    say(`snapshot ${step.snapshotId}: ${many(step.rowCount, "row")}`);
    if (isTold) host.select({ snapshot: step.snapshotId });
  };

  input.addEventListener("input", () => {
    const value = Number(input.value);
    const points = axis[2];
    if (axis[0] === "times") {
      const before = points.filter((point) => Number(point.timeMillis) <= value);
      current = before[before.length - 1] ?? points[0];
    } else current = points[value];
    moved();
  });
  input.addEventListener("keydown", (event) => {
    const points = axis[2];
    const place = points.indexOf(current);
    const page = Math.max(1, Math.round(points.length / 10));
    const targets = ({
      ArrowRight: place + 1, ArrowUp: place + 1, ArrowLeft: place - 1, ArrowDown: place - 1,
      PageUp: place + page, PageDown: place - page, Home: 0, End: points.length - 1,
    });
    if (!(event.key in targets)) return;
    event.preventDefault();
    go(targets[event.key]);
  });
  const choice = h("select", { "aria-label": "what the slider moves by", onchange: () => {
    axis = axes.find(([name]) => name === choice.value) ?? axes[0];
    arrange();
    moved();
  } }, ...axes.map(([name, label]) => h("option", { value: name }, label)));

  const quiet = host.onSelect((selection) => {
    const snapshot = selection.range ? selection.range[1] : selection.snapshot;
    const stop = reachable.find((point) => point.snapshotId === snapshot);
    if (snapshot !== undefined && !stop) say(`snapshot ${snapshot} is not a point of this slider`);
    if (!stop || stop === current) return;
    axis = axes[0];
    choice.value = axis[0];
    current = stop;
    arrange();
    const step = known.get(stop.snapshotId);
    if (step) show(step, false);
    else fetchStep(false);
  });
  body.append(
    h("div", { class: "slider" }, choice,
      h("button", { "aria-label": "one earlier", onclick: () => go(axis[2].indexOf(current) - 1) }, "◀"),
      input,
      h("button", { "aria-label": "one later", onclick: () => go(axis[2].indexOf(current) + 1) }, "▶"),
      output),
    spark, rows);
  if (!host.ask && reachable.length < stops.length) {
    body.append(h("p", { class: "faint" }, `${reachable.length} of ${count(stops.length)} points are here; ${stops.length - reachable.length === 1 ? "the other needs" : "the others need"} a kernel`));
  }
  const unsized = whenSized(body, (now) => {
    width = now;
    paint();
  });
  arrange();
  const first = known.get(current.snapshotId);
  if (first) show(first, false);
  else fetchStep(false);
  return () => {
    clearTimeout(timer);
    unsized();
    quiet();
    stop();
  };
}

function sparkline(steps, at, room, onGo) {
  const ordered = steps.slice().sort((left, right) => left.snapshotId - right.snapshotId);
  const most = Math.max(1, ...ordered.map((step) => step.rowCount));
  const width = (room - 40) / Math.max(1, ordered.length - 1);
  const points = ordered.map((step, place) => ({ step, x: 20 + width * place, y: SPARK_HEIGHT - 20 - (SPARK_HEIGHT - 40) * (step.rowCount / most) }));
  const heres = ordered.findIndex((step) => step.snapshotId === at);
  const every = Math.ceil((Math.max(...ordered.map((step) => count(step.rowCount).length)) * 6 + 8) / width);
  const isLabelled = (place) => (place - Math.max(0, heres)) % every === 0;
  const words = ordered.map((step) => `snapshot ${step.snapshotId} ${count(step.rowCount)}`).join("; ");
  return s("svg", { width: room, height: SPARK_HEIGHT, role: "img", "aria-label": `rows: ${words}` },
    s("polyline", { points: points.map(({ x, y }) => `${x},${y}`).join(" "), fill: "none", stroke: COLOURS.blue, "stroke-width": 2 }),
    ...points.map(({ step, x, y }, place) => {
      const here = step.snapshotId === at;
      return s("g", { onclick: () => onGo(step.snapshotId), style: "cursor:pointer" },
        here ? s("rect", { x: x - 6, y: y - 6, width: 12, height: 12, fill: "var(--focus)", stroke: "currentColor", "stroke-width": 1.5 }) : s("circle", { cx: x, cy: y, r: 4, fill: COLOURS.blue }),
        isLabelled(place) && s("text", { ...anchorOf(count(step.rowCount), x, place, points.length), y: y - 9, "font-size": 10, "font-weight": here ? "bold" : "normal" }, count(step.rowCount)),
        s("text", { x, y: SPARK_HEIGHT - 4, "text-anchor": "middle", "font-size": 10 }, step.snapshotId));
    }));
}

function headlineOf(steps) {
  const [first, last] = [steps[0], steps[steps.length - 1]];
  if (!first) return "";
  if (steps.length === 1) return `${many(last.rowCount, "row")} at snapshot ${last.snapshotId}`;
  return `${many(first.rowCount, "row")} at snapshot ${first.snapshotId}, ${count(last.rowCount)} at snapshot ${last.snapshotId}`;
}

function anchorOf(text, x, place, places) {
  if (text.length < 6 || (place > 0 && place < places - 1)) return { x, "text-anchor": "middle" };
  return place ? { x: x + 18, "text-anchor": "end" } : { x: x - 18, "text-anchor": "start" };
}

return render;
})(),
"watch": (() => {


const RATE_MILLIS = 60000;
const TICK_MILLIS = 5000;
const BARS = { left: 64, top: 14, height: 100, most: 50, step: 64 };
const LEVELS = { left: 50, lane: 24, most: 130, letter: 6.5 };
const CSS = `
.figures { display: flex; flex-wrap: wrap; gap: 8px 32px; margin: 0 0 8px; } .figures b { font-size: 15px; font-variant-numeric: tabular-nums; }
.pictures { display: flex; flex-wrap: wrap; gap: 8px 24px; align-items: flex-start; } .pictures figure { margin: 0; } figcaption { font-weight: bold; padding: 4px 0; }
`;

function render({ data, el, host }) {
  let view = data.view;
    let chosen;
  const { body, head, say, stop } = frame(el, { title: `${view.table}: watched`, note: " ", headline: " ", css: CSS });
  const note = (head.querySelector(".faint"));
  const headline = (body.previousElementSibling);
  const figures = h("div", { class: "figures" });
  const pictures = h("div", { class: "pictures" });
  const list = h("div");
  const newest = h("div");
  const code = h("div", { class: "row" });
  const button = h("button", { onclick: () => end() }, "■ stop watching");

  const end = async () => {
    try {
      const reply = await host.ask?.({ stop: true });
      say(reply ? `${view.table}: ${reply.state}` : "interrupt the kernel to stop it");
    } catch (error) {
      say((error).message);
    }
  };
  const tick = () => {
    const last = view.commits[view.commits.length - 1];
    headline.replaceChildren(last ? headlineOf(last) : "Nothing was written to it yet");
    figures.replaceChildren(...figuresOf(view).map(([figure, what]) => h("span", {}, h("b", {}, figure), ` ${what}`)));
  };
  const choose = () => {
    code.replaceChildren(...(chosen === undefined ? [] : [copyButton(`copy VERSION AS OF ${chosen}`, () => `SELECT * FROM ${view.table} VERSION AS OF ${chosen}`, say)]));
  };
  const show = () => {
    note.replaceChildren(noteOf(view));
    note.className = view.state === "failed" ? "error" : "faint";
    button.hidden = view.state !== "watching" || !host.ask;
    tick();
    if (!view.commits.length) {
      list.replaceChildren(empty("The first commit is shown when it is there; it is made by", `INSERT INTO ${view.table} VALUES …`));
      return;
    }
    paint();
    const hasTimes = view.commits.some(({ timeMillis }) => timeMillis !== null);
    const hasChangelog = view.commits.some(({ changelogRows }) => changelogRows);
    const hasBytes = view.commits.some(({ addedBytes }) => addedBytes !== null);
    const commits = grid({
      label: "commits",
      heads: [
        { name: "snapshot", right: true }, ...(hasTimes ? [{ name: "time (UTC)", text: moment }] : []), { name: "kind" }, { name: "rows", right: true }, { name: "deleted", right: true, optional: true },
        ...(hasChangelog ? [{ name: "changelog", right: true, less: 700, text: (value) => some(value) }] : []), { name: "files", right: true }, ...(hasBytes ? [{ name: "size", right: true, text: bytes }] : []), { name: "user", less: 700, text: shortId },
      ],
      rows: [...view.commits].reverse().map((commit) => [
        commit.snapshotId, ...(hasTimes ? [commit.timeMillis] : []), commit.commitKind.toLowerCase(), some(commit.writtenRows, "+"), some(commit.deletedRows, "-"),
        ...(hasChangelog ? [commit.changelogRows] : []), filesOf(commit), ...(hasBytes ? [commit.addedBytes || null] : []), commit.user,
      ]),
      selected: ([id]) => id === chosen,
      onChoose: ([id]) => {
        chosen = id;
        commits.draw();
        choose();
        say(`snapshot ${id}`);
        host.select({ snapshot: id });
      },
    });
    redraw = commits.draw;
    list.replaceChildren(commits.element);
    newest.replaceChildren(...(view.newest?.rows.length ? [grid({
      caption: `rows of snapshot ${view.newest.snapshotId}`,
      heads: view.newest.columns.map((name, at) => ({ name, label: at ? undefined : "kind", right: areNumbers(view.newest?.rows.map((row) => row[at]) ?? []), text: (value) => valueText(value) })),
      rows: view.newest.rows.map((row) => [...row]),
    }).element] : []));
  };
  let redraw = () => {};
  let width = 840;
  const paint = () => {
    if (!view.commits.length) return;
    const levels = view.hasLevels && view.levels.length ? levelsOf(view) : null;
    const beside = levels ? Number(levels.querySelector("svg")?.getAttribute("width")) + 24 : 0;
    pictures.replaceChildren(commitsOf(view, width - beside > 480 ? width - beside : width), ...(levels ? [levels] : []));
  };
  body.append(h("div", { class: "row" }, button), figures, pictures, list, code, newest);
  show();
  const unsized = whenSized(body, (now) => {
    width = now;
    paint();
  });
  const timer = window.setInterval(() => view.state === "watching" && tick(), TICK_MILLIS);
  const quiet = host.onSelect(({ snapshot }) => {
    if (snapshot === undefined) return;
    chosen = snapshot;
    redraw();
    choose();
  });
  return Object.assign(
    () => {
      window.clearInterval(timer);
      unsized();
      quiet();
      stop();
    },
    {
            update(now) {
        const last = now.commits[now.commits.length - 1];
        const isNew = last && last.snapshotId !== view.commits[view.commits.length - 1]?.snapshotId;
        view = now;
        show();
        if (isNew) say(sentenceOf(last));
        else if (view.state !== "watching") say(noteOf(view));
      },
    },
  );
}

function some(number, sign = "") {
  return number ? `${sign}${count(number)}` : "";
}

function noteOf({ state, error, note }) {
  const word = { watching: "● watching", stopped: "■ stopped", failed: "✖ failed" }[state];
  return [word, error, note].filter(Boolean).join(", ");
}

function headlineOf(commit) {
  return sentenceOf(commit) + (commit.timeMillis === null ? "" : `, ${ago(commit.timeMillis)}`);
}

function sentenceOf(commit) {
  const { snapshotId, commitKind, writtenRows, deletedRows, addedFiles, deletedFiles, user } = commit;
  const merged = commitKind === "COMPACT" ? deletedFiles : undefined;
  return `Snapshot ${snapshotId}: ${commitText({ kind: commitKind, written: writtenRows, deleted: deletedRows, files: addedFiles, merged, user })}`;
}

function filesOf({ addedFiles, deletedFiles }) {
  return bothWays(addedFiles, deletedFiles);
}

function kindsOf(commits) {
  return [...new Set(commits.map(({ commitKind }) => commitKind))].map((kind) => `${KINDS[kind]?.letter ?? "?"} ${kind.toLowerCase()}`).join(", ");
}

function figuresOf({ state, commits, levels, rowCount, seenCount, rowsAre }) {
  const files = levels.reduce((sum, { fileCount }) => sum + fileCount, 0);
  const known = ([[count(seenCount), `${seenCount === 1 ? "commit" : "commits"} since the watch began`]]);
  const times = commits.flatMap(({ timeMillis }) => (timeMillis === null ? [] : [timeMillis]));
  if (times.length && seenCount) {
    const now = state === "watching" ? Date.now() : Math.max(...times);
    const begin = Math.max(now - RATE_MILLIS, Math.min(...times) - 1);
    const late = commits.filter(({ timeMillis }) => Number(timeMillis) > begin);
    const seconds = Math.max((now - begin) / 1000, 1);
    known.push([rate((60 * late.length) / seconds), "commits a minute"], [rate(late.reduce((sum, { writtenRows }) => sum + writtenRows, 0) / seconds), "rows a second"]);
  }
  known.push([count(files), files === 1 ? "file" : "files"]);
  if (rowCount !== null) known.push([count(rowCount), rowsAre]);
  return known;
}

function rate(value) {
  return value.toLocaleString("en-US", { maximumFractionDigits: value < 10 ? 1 : 0 });
}

function commitsOf({ commits }, width) {
  const shown = commits.slice(-BARS.most);
  const step = Math.min(BARS.step, (width - BARS.left - 8) / Math.max(shown.length, 1));
  const largest = Math.max(1, ...shown.map(({ writtenRows }) => writtenRows));
  const most = Math.max(0, ...shown.map(({ deletedRows }) => deletedRows));
  const scale = (largest + most) / BARS.height;
  const axis = BARS.top + largest / scale;
  const foot = BARS.top + BARS.height;
  const bars = shown.flatMap(({ commitKind, writtenRows, deletedRows, snapshotId }, at) => {
    const x = BARS.left + at * step;
    const { colour, letter } = KINDS[commitKind] ?? KINDS.ANALYZE;
    const up = writtenRows && Math.max(1, writtenRows / scale);
    const down = deletedRows && Math.max(1, deletedRows / scale);
    return [
      up && s("rect", { x: x + 1, y: axis - up, width: step - 2, height: up, fill: colour }),
      down && s("rect", { x: x + 1.5, y: axis, width: step - 3, height: down, fill: "none", stroke: colour }),
      (step >= 13 || commitKind !== "APPEND") && step >= 9 && s("text", { x: x + step / 2, y: foot + 12, "text-anchor": "middle", "font-size": 11 }, letter),
      (at === 0 || at === shown.length - 1) && (at === 0 || step * at > 60) && s("text", { x: x + step / 2, y: foot + 26, "text-anchor": "middle", "font-size": 11 }, String(snapshotId)),
    ].filter((shape) => Boolean(shape));
  });
  const sum = shown.reduce((rows, { writtenRows }) => rows + writtenRows, 0);
  const label = `rows of ${many(shown.length, "commit")}: ${count(sum)} in all, at most ${count(largest)} in one`;
  return h("figure", {}, h("figcaption", {}, "rows of each commit"),
    s("svg", { width: Math.ceil(BARS.left + step * shown.length + 8), height: foot + 32, role: "img", "aria-label": label },
      s("path", { d: `M${BARS.left - 4} ${axis}H${BARS.left + step * shown.length + 4}`, stroke: COLOURS.grey }),
      s("text", { x: BARS.left - 8, y: BARS.top + 8, "text-anchor": "end", "font-size": 11 }, count(largest)),
      axis > BARS.top + 24 && s("text", { x: BARS.left - 8, y: axis + 4, "text-anchor": "end", "font-size": 11 }, "0"),
      most > 0 && foot > axis + 12 && s("text", { x: BARS.left - 8, y: foot, "text-anchor": "end", "font-size": 11 }, `-${count(most)}`), ...bars),
    legend([barKey(COLOURS.blue), "inserted and updated"], most > 0 && [barKey(COLOURS.blue, false), "deleted"], [null, kindsOf(shown)]));
}

function levelsOf({ levels }) {
  const weight = (level) => level.fileBytes ?? level.rowCount;
  const largest = Math.max(1, ...levels.map(weight));
  const words = levels.map((level) => `${many(level.fileCount, "file")}, ${many(level.rowCount, "row")}${level.fileBytes === null ? "" : `, ${bytes(level.fileBytes)}`}`);
  const lanes = levels.flatMap((level, at) => {
    const y = at * LEVELS.lane;
    const width = Math.max(2, (LEVELS.most * weight(level)) / largest);
    return [
      s("text", { x: 0, y: y + 15, "font-size": 11 }, `level ${level.level}`),
      s("rect", { x: LEVELS.left, y: y + 3, width, height: LEVELS.lane - 8, fill: level.level === 0 ? COLOURS.orange : COLOURS.blue }),
      s("text", { x: LEVELS.left + width + 8, y: y + 15, "font-size": 11 }, words[at]),
    ];
  });
  const label = levels.map(({ level }, at) => `level ${level}: ${words[at]}`).join("; ");
  return h("figure", {}, h("figcaption", {}, "levels"),
    s("svg", { width: LEVELS.left + LEVELS.most + 16 + Math.max(...words.map(({ length }) => length)) * LEVELS.letter, height: levels.length * LEVELS.lane + 4, role: "img", "aria-label": label }, ...lanes));
}

return render;
})()
};


const TARGET = "paimonlab";

const state = {
  settings: { linkViews: true, tellKernel: true, showProgress: true, completeSql: true, highlightSql: true },
    changed: new Set(),
    channel: null,
    now: null,
};



const MIME = "application/vnd.paimonlab.view.v1+json";

let questions = 0;

function notebookHost(data, element, pageHost) {
  const kernel = () => (state.settings.tellKernel ? (state.channel?.(element) ?? null) : null);
  const tell = (selected) => kernel()?.send({ id: data.id, selected });
  const ask = (request) =>
    new Promise((resolve, reject) => {
      if (request.stop === true && state.now?.(element, { stop: data.id })) {
        resolve({ state: "stopping" });
        return;
      }
      const channel = kernel();
      if (channel === null) {
        reject(new Error("no kernel: run the cell to ask for more"));
        return;
      }
      const number = (questions += 1);
      const stop = channel.hear((message) => {
        if (message !== null && message.number !== number) return;
        stop();
        if (message === null) reject(new Error("the kernel does not know the view: run the cell again to ask for more"));
        else if (message.error) reject(new Error(message.error));
        else resolve(message.reply);
      });
      channel.send({ id: data.id, number, request });
    });
  const host = pageHost(data, { el: element, tell, ask: kernel() ? ask : null });
  const isLinked = () => state.settings.linkViews;
  return {
    ...host,
        select: (selection) => (isLinked() ? host.select(selection) : tell(selection)),
        onSelect: (heard) => host.onSelect((selection) => isLinked() && heard(selection)),
  };
}

function rendererFactory(Widget, views, pageHost) {
  class View extends Widget {
    constructor() {
      super();
      this.addClass("jp-RenderedPaimonView");
            this.data = null;
            this.cleanUp = null;
    }

        async renderModel(model) {
      const before = this.data;
      this.data = model.data[MIME];
      const update = this.data?.id === before?.id && this.data?.kind === before?.kind ? this.cleanUp?.update : undefined;
      if (update) update(this.data.view);
      else if (this.isAttached) this.draw();
    }

        onAfterAttach() {
      if (this.data !== null && this.cleanUp === null) this.draw();
    }

    draw() {
      this.cleanUp?.();
      const data = this.data;
      const place = document.createElement("div");
      this.node.replaceChildren(place);
      const render = data?.v === 1 && Object.hasOwn(views, data.kind) ? views[data.kind] : null;
      if (render === null) {
        place.textContent = `This output was made by another version of paimonlab (${String(data?.kind).slice(0, 40)}); run the cell again.`;
        this.cleanUp = () => {};
        return;
      }
      this.cleanUp = render({ data, el: place, host: notebookHost(data, place, pageHost) }) ?? (() => {});
    }

    dispose() {
      this.cleanUp?.();
      this.cleanUp = null;
      super.dispose();
    }
  }
  return {
    safe: true,
    mimeTypes: [MIME],
    defaultRank: 0,
    createRenderer: () => new View(),
  };
}



const COMM = "paimonlab-plugin";
const ANSWER_MILLIS = 700;


class KernelLink {
    constructor(kernel, messageOf, { heard, clear }) {
    this.kernel = kernel;
    this.messageOf = messageOf;
    this.clear = clear;
    this.isLoaded = false;
        this.subshell = null;
    kernel.iopubMessage.connect((_kernel, message) => {
      const { header, content, parent_header: parent } = message;
      if (header.msg_type === "comm_msg" && content.comm_id === COMM) {
        this.load();
        heard(content.data, parent?.msg_id ?? "");
      } else if (header.msg_type === "status" && content.execution_state === "idle") {
        heard({ kind: "done" }, parent?.msg_id ?? "");
      }
    });
    kernel.statusChanged.connect((_kernel, status) => {
      if (!/restarting|terminating|dead/.test(status)) return;
      this.isLoaded = false;
      this.subshell = null;
      clear();
    });
    kernel.connectionStatusChanged.connect((_kernel, status) => {
      if (status === "connected") this.look();
    });
    this.look();
  }

    async look() {
    try {
      await this.kernel.info;
      const reply = await this.kernel.requestCommInfo({ target_name: COMM });
      if (Object.hasOwn(reply.content.comms ?? {}, COMM)) this.load();
    } catch {
    }
  }

    async load() {
    if (this.isLoaded) return;
    this.isLoaded = true;
    if (this.kernel.supportsSubshells) {
      try {
        const reply = await this.kernel.requestCreateSubshell({}).done;
        this.subshell = reply.content.subshell_id ?? null;
      } catch {
      }
    }
    this.tellSettings();
  }

  tellSettings() {
    if (!state.settings.showProgress) this.clear();
    if (this.isLoaded) this.say({ listens: state.settings.showProgress });
  }

    say(data) {
    const { kernel, subshell } = this;
    const who = { username: kernel.username, session: kernel.clientId };
    const content = { comm_id: COMM, data };
    const message = this.messageOf({ msgType: "comm_msg", channel: "shell", ...who, subshellId: subshell, content });
    return kernel.sendShellMessage(message, false, true);
  }

    ask(data) {
    return new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error("paimonlab: no answer of the kernel")), ANSWER_MILLIS);
      const future = this.say(data);
      future.onIOPub = (message) => {
        if (message.header.msg_type === "comm_msg" && message.content.comm_id === COMM) resolve(message.content.data);
      };
    });
  }
}

function followKernels(tracker, messageOf, showOf) {
    const links = new WeakMap();
    const all = new Set();
  const connect = (panel) => {
    const kernel = panel.sessionContext.session?.kernel;
    if (!kernel || links.has(kernel)) return;
    const link = new KernelLink(kernel, messageOf, showOf(panel, kernel));
    links.set(kernel, link);
    all.add(link);
    kernel.disposed.connect(() => {
      all.delete(link);
      link.clear();
    });
  };
  const follow = (panel) => {
    panel.sessionContext.kernelChanged.connect(() => connect(panel));
    connect(panel);
  };
  tracker.forEach(follow);
  tracker.widgetAdded.connect((_tracker, panel) => follow(panel));
  state.changed.add(() => all.forEach((link) => link.tellSettings()));
  return (kernel) => links.get(kernel) ?? null;
}



const LOST_MILLIS = 15_000;

const PROGRESS_STYLE = `
.jp-PaimonProgress { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 10px; padding: 4px 8px;
  margin: 4px 0 4px var(--jp-cell-prompt-width, 64px); color: var(--jp-ui-font-color1); background: var(--jp-layout-color1);
  border: 1px solid var(--jp-border-color2); border-radius: var(--jp-border-radius, 2px);
  font: var(--jp-ui-font-size1, 13px)/1.5 var(--jp-ui-font-family, sans-serif); font-variant-numeric: tabular-nums; }
.jp-PaimonProgress-track { flex: 0 1 180px; min-width: 60px; height: 8px; overflow: hidden;
  background: var(--jp-layout-color3); border-radius: 4px; }
.jp-PaimonProgress-done { height: 100%; background: var(--jp-brand-color1); transition: width 0.2s; }
.jp-PaimonProgress a { color: var(--jp-content-link-color); text-decoration: underline; }
.jp-PaimonProgress button { margin-left: auto; padding: 0 10px; color: inherit; background: var(--jp-layout-color2);
  border: 1px solid var(--jp-border-color1); border-radius: var(--jp-border-radius, 2px); font: inherit; cursor: pointer; }
.jp-PaimonProgress :is(a, button):focus-visible { outline: 2px solid var(--jp-brand-color1); outline-offset: 1px; }
@media (prefers-reduced-motion: reduce) { .jp-PaimonProgress-done { transition: none; } }
@media (forced-colors: active) { .jp-PaimonProgress-done { background: Highlight; forced-color-adjust: none; } }
`;

function webAddress(text) {
  try {
    const url = new URL(String(text));
    return /^https?:$/.test(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

function progressBar(Widget, stop) {
  const widget = new Widget();
  const done = h("div", { class: "jp-PaimonProgress-done" });
  const track = h("div", { class: "jp-PaimonProgress-track", role: "progressbar", "aria-valuemin": 0 }, done);
  const text = h("span");
  const link = h("a", { target: "_blank", rel: "noopener noreferrer", hidden: true }, "Spark UI");
  const button = h("button", { type: "button", title: "Interrupt the kernel: the statement is cancelled" }, "Stop");
  button.addEventListener("click", () => {
    button.disabled = true;
    button.textContent = "Stopping…";
    stop();
  });
  widget.node.append(track, text, link, button);
  widget.node.setAttribute("data-lm-suppress-shortcuts", "true");
  for (const kind of ["keydown", "mousedown", "dblclick"]) {
    widget.node.addEventListener(kind, (event) => event.stopPropagation());
  }
  widget.addClass("jp-PaimonProgress");
  const show = (data) => {
    const [number, count] = data.statement;
    const which = count > 1 ? `statement ${number} of ${count}` : "statement";
    const parts = [...data.text, `${Number(data.elapsed).toFixed(1)} s`, ...(count > 1 ? [which] : [])];
    const words = parts.join(" · ");
    done.style.width = `${(100 * Math.min(data.done, data.total)) / (data.total || 1)}%`;
    track.setAttribute("aria-label", `${data.label}: ${which}`);
    track.setAttribute("aria-valuemax", data.total);
    track.setAttribute("aria-valuenow", data.done);
    track.setAttribute("aria-valuetext", words);
    text.textContent = words;
    const address = webAddress(data.ui);
    link.hidden = address === null;
    if (address !== null) link.href = address;
  };
  return { widget, show };
}

function progressOf(Widget) {
  return (panel, kernel) => {
        const bars = new Map();
    const remove = (parent) => {
      const shown = bars.get(parent);
      if (!shown) return;
      clearTimeout(shown.lost);
      shown.bar.widget.dispose();
      bars.delete(parent);
    };
    const clear = () => [...bars.keys()].forEach(remove);
        const show = (data, parent) => {
      const cells = panel.content.widgets;
      const cell =
        cells.find((cell) => cell.model.id === data.cell) ??
        cells.find((cell) => cell.outputArea?.future?.msg?.header.msg_id === parent);
      if (!cell) return;
      let shown = bars.get(parent);
      if (shown) clearTimeout(shown.lost);
      if (!shown || shown.bar.widget.isDisposed) {
        const bar = progressBar(Widget, () => kernel.interrupt().catch(console.warn));
        cell.layout.addWidget(bar.widget);
        shown = { bar, lost: undefined };
        bars.set(parent, shown);
      }
      shown.lost = setTimeout(() => remove(parent), LOST_MILLIS);
      shown.bar.show(data);
    };
    const heard = (data, parent) => {
      if (data.kind === "progress" && state.settings.showProgress) show(data, parent);
      else if (data.kind === "done") remove(parent);
    };
    return { heard, clear };
  };
}




const KERNEL_PROVIDER = "CompletionProvider:kernel";
const OURS = "CompletionProvider:paimonlab";
const MAGIC = /^\s*(?:\w+\s*=\s*)?%%?paimon\w*\s/u;
const CELL_MAGIC = /^\s*%%paimon\w*\s/u;

function isOurs(before) {
  return CELL_MAGIC.test(before) || MAGIC.test(before.slice(before.lastIndexOf("\n") + 1));
}

function completionProvider(manager, linkOf) {
    const answered = new WeakSet();
    let usual = null;
  const leaveOutUsual = () => {
    if (usual !== null) return;
    usual = manager.getProviders().get(KERNEL_PROVIDER) ?? null;
    const isApplicable = usual?.isApplicable.bind(usual);
    if (usual === null) return;
    usual.isApplicable = async (context) =>
      answered.delete(context) ? false : isApplicable(context);
  };
  const linkFor = (context) => {
    const { editor, session } = context;
    if (!state.settings.completeSql || !editor || !session?.kernel) return null;
    const link = linkOf(session.kernel);
    if (!link?.isLoaded || link.subshell === null) return null;
    const source = editor.model.sharedModel.getSource();
    return isOurs(source.slice(0, editor.getOffsetAt(editor.getCursorPosition()))) ? link : null;
  };
  return {
    identifier: OURS,
    rank: 560,
    renderer: null,
    async isApplicable(context) {
      leaveOutUsual();
      answered.delete(context);
      const isHere = usual !== null && linkFor(context) !== null;
      if (isHere) answered.add(context);
      return isHere;
    },
    async fetch(request, context, trigger) {
      const found = await linkFor(context)
        ?.ask({ complete: { code: request.text, offset: request.offset } })
        .catch(() => null);
      if (!found?.items.length) return usual.fetch(request, context, trigger);
      const items = found.items.map((item) => ({ label: item.text, type: item.type, insertText: item.text }));
      return { start: found.start, end: found.end, items };
    },
  };
}



const CELL = /^\s*(%%(?:paimon|sql))(?=\s|$)/u;
const LINE = /^\s*(?:\w+\s*=\s*)?(%(?:paimon|sql))(?=\s)/u;
const OPTION = /\s*(?:(--?[a-z][\w-]*)(=?)|(--)(?=\s|$)|([^\W\d]\w*\s*=?\s*<<))/uy;
const VALUE = /\s*(?:"[^"]*"|'[^']*'|[^\s"'])+/uy;
const VALUE_COUNTS = ({
  "-o": 1, "--limit": 1, "--max-bytes": 1, "--as-of": 1, "--view": 1, "--to": 1, "--params": 1, "--plot": 3, "--by": 1,
  "--checkpoint": 1, "--engine": 1,
});
const MOST_CHARACTERS = 100_000;

const WORDS = new Set(
  `add after all alter analyze and anti any array as asc at avg begin between bigint binary boolean branch bucket by
  cache call case cast change clear cluster column columns comment commit compact constraint create cross cube current
  database databases date day decimal default delete desc describe distinct distribute double drop else end escape
  except exists explain extended external false fetch filter first float following for from full function functions
  global group grouping having hour identified identifier if ilike in inner insert int integer intersect interval into
  is join key lateral left like limit local location map matched merge minute minus month namespace namespaces natural
  not null nulls of offset on only options or order outer over overwrite partition partitioned partitions percent pivot
  preceding primary procedure properties qualify range recursive refresh rename replace rlike rollback rollup row rows
  schema schemas second select semi set sets show smallint some sort statistics string struct sys system table tables
  tablesample tag tags tblproperties temporary then time timestamp timestamp_ltz timestamp_ntz tinyint to travel true
  truncate unbounded union unpivot unset update use using values variant version view views when where window with
  within year`.split(/\s+/u),
);

const KINDS_OF_SQL = ([
  ["comment", "--[^\\n]*|/\\*[^]*?(?:\\*/|$)"],
  ["string", "'(?:[^'\\\\]|\\\\[^]|'')*'?|\"(?:[^\"\\\\]|\\\\[^])*\"?"],
  ["name", "`(?:[^`]|``)*`?"],
  ["system", "\\$[\\p{L}_]\\w*"],
  ["param", "(?<![:\\w\\])'\"`]):[\\p{L}_]\\w*"],
  ["number", "(?:\\d+\\.?\\d*|\\.\\d+)(?:e[+-]?\\d+)?(?:bd|[lsydf])?(?!\\w)"],
  ["word", "[\\p{L}_][\\p{L}\\p{N}_]*"],
  ["operator", "[^\\s\\w]"],
  ["name", "\\w+"],
]);
const TOKEN = new RegExp(KINDS_OF_SQL.map(([, pattern]) => `(${pattern})`).join("|"), "giu");

function sqlTokens(text, from, to, found) {
  const sql = text.slice(0, to);
  TOKEN.lastIndex = from;
  for (let match = TOKEN.exec(sql); match !== null; match = TOKEN.exec(sql)) {
    let group = 1;
    while (match[group] === undefined) group += 1;
        let kind = KINDS_OF_SQL[group - 1][0];
    const end = TOKEN.lastIndex;
    if (kind === "word") {
      const isMember = sql[match.index - 1] === ".";
      if (WORDS.has(match[0].toLowerCase()) && !isMember) kind = "keyword";
      else kind = sql[end] === "(" ? "function" : "name";
    }
    found.push({ from: match.index, to: end, kind });
  }
}

function optionTokens(line, start, found) {
  let place = start;
  for (;;) {
    OPTION.lastIndex = place;
    const match = OPTION.exec(line);
    if (match === null) return place;
    place = OPTION.lastIndex;
    const width = match[0].trimStart().length;
    found.push({ from: place - width, to: place, kind: match[4] === undefined ? "option" : "param" });
    if (match[3] !== undefined) return place;
    for (let left = VALUE_COUNTS[match[1]] ?? 0; left > 0; left -= 1) {
      VALUE.lastIndex = place;
      const value = VALUE.exec(line);
      const word = value?.[0].trimStart() ?? "-";
      if (value === null || /^(?:-|(?:select|with|from|values|table|call)$)/iu.test(word)) break;
      found.push({ from: VALUE.lastIndex - word.length, to: VALUE.lastIndex, kind: "string" });
      place = VALUE.lastIndex;
    }
  }
}

function paimonTokens(cell) {
    const found = [];
  if (cell.length > MOST_CHARACTERS) return found;
  const magic = CELL.exec(cell);
  if (magic !== null) {
    found.push({ from: magic[0].length - magic[1].length, to: magic[0].length, kind: "magic" });
    const end = cell.indexOf("\n", magic[0].length);
    optionTokens(end < 0 ? cell : cell.slice(0, end), magic[0].length, found);
    if (end >= 0) sqlTokens(cell, end, cell.length, found);
    return found;
  }
  if (!cell.includes("%paimon") && !cell.includes("%sql")) return found;
  let start = 0;
  for (const line of cell.split("\n")) {
    const match = LINE.exec(line);
    if (match !== null) {
      const before = start + match[0].length;
      found.push({ from: before - match[1].length, to: before, kind: "magic" });
      const upTo = cell.slice(0, start + line.length);
      sqlTokens(upTo, optionTokens(upTo, before, found), upTo.length, found);
    }
    start += line.length + 1;
  }
  return found;
}



const COLOUR_OF = {
  keyword: "keyword",
  string: "string",
  number: "number",
  comment: "comment",
  name: "variable",
  function: "builtin",
  operator: "operator",
  param: "string-2",
  system: "attribute",
  option: "attribute",
  magic: "meta",
};

function sqlColours({ Decoration, EditorView, ViewPlugin }, { Prec, RangeSetBuilder, StateEffect }) {
  const theme = EditorView.baseTheme(
    Object.fromEntries(
      Object.entries(COLOUR_OF).map(([kind, name]) => [
        `.cm-paimon-${kind}`,
        {
          color: `var(--jp-mirror-editor-${name}-color)`,
          fontWeight: kind === "keyword" ? "bold" : "normal",
          fontStyle: kind === "comment" ? "italic" : "normal",
          textDecoration: "none",
        },
      ]),
    ),
  );
  const marks = Object.fromEntries(
    Object.keys(COLOUR_OF).map((kind) => [kind, Decoration.mark({ class: `cm-paimon-${kind}` })]),
  );
  const again = StateEffect.define();

    return (model) => {
    class Colours {
            constructor(editor) {
                this.doc = null;
        this.end = 0;
        this.mimeType = "";
                this.tokens = [];
        this.changed = () => editor.dispatch({ effects: again.of(null) });
        state.changed.add(this.changed);
        this.decorations = this.draw(editor);
      }

            update(update) {
        const isAsked = update.transactions.some((transaction) =>
          transaction.effects.some((effect) => effect.is(again)),
        );
        const isOther = model.mimeType !== this.mimeType; // a notebook says it after it made the editor
        if (isAsked || isOther || update.docChanged || update.viewportChanged) this.decorations = this.draw(update.view);
      }

      destroy() {
        state.changed.delete(this.changed);
      }

            draw(editor) {
        const builder = new RangeSetBuilder();
        this.mimeType = model.mimeType;
        if (!state.settings.highlightSql || !/python/u.test(model.mimeType)) return builder.finish();
        const { doc } = editor.state;
        const end = doc.lineAt(editor.viewport.to).to;
        if (doc !== this.doc || end > this.end) {
          this.doc = doc;
          this.end = end;
          this.tokens = paimonTokens(doc.sliceString(0, end));
        }
        for (const { from, to } of editor.visibleRanges) {
          for (const token of this.tokens) {
            if (token.to > from && token.from < to) builder.add(token.from, token.to, marks[token.kind]);
          }
        }
        return builder.finish();
      }
    }
    const plugin = ViewPlugin.fromClass(Colours, { decorations: (colours) => colours.decorations });
    return [Prec.highest(plugin), theme];
  };
}



const MISSING = "Jupyter Server does not know the catalog panel: restart it after the installation of paimonlab.";

function panelServer(ServerConnection) {
  const settings = ServerConnection.makeSettings();
    const send = async (path, init = {}) => {
    const response = await ServerConnection.makeRequest(`${settings.baseUrl}paimonlab/${path}`, init, settings);
    const said = await response.json().catch(() => null);
    if (response.ok) return said;
    if (said?.message && response.status !== 404) throw new Error(said.message);
    throw new Error(said?.message && said.message !== "Not Found" ? said.message : MISSING);
  };
  return {
    ask: (question, values) => send(`ask?${new URLSearchParams({ question, with: JSON.stringify(values) })}`),
    jobs: async () => (await send("jobs")).jobs,
    begin: (job) => send("jobs", { method: "POST", body: JSON.stringify(job) }),
    stop: (id) => send(`jobs/${id}`, { method: "DELETE" }),
  };
}




const PAGE = 200;
const LARGEST_PAGE = 1000;

const LETTERS_CUT_INSIDE = 22;
const LETTERS_KEPT = 12;
const LEFT_TO_RIGHT = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}\d _.,:;/=$#@~+-]+$/u;

const SHORT_UNITS = ({ second: " s", minute: " min", hour: " h", day: " d" });

const keyOf = (path) => JSON.stringify(path);

function halves(name) {
  if (name.length < LETTERS_CUT_INSIDE || !LEFT_TO_RIGHT.test(name)) return [name];
  const letters = [...name];
  const part = /[_.\-/=](?=[^_.\-/=])/;
  let at = letters.length - LETTERS_KEPT;
  for (let earlier = at; earlier > letters.length - LETTERS_KEPT - 5; earlier -= 1) {
    if (!part.test(letters.slice(earlier, earlier + 2).join(""))) continue;
    at = earlier;
    break;
  }
  return [h("span", {}, letters.slice(0, at).join("")), h("span", {}, letters.slice(at).join(""))];
}

function catalogTree({ fetch, choose, open, menu, changed }) {
  const element = h("div", { class: "jp-PaimonCatalog-tree", role: "tree", "aria-label": "catalogs" });
    let roots = [];
    let opened = new Set();
  let chosen = "";
  let isRestored = false;
  let typed = "";
  let typedAt = 0;
    let drawn = new Map();
    let stop;

    const branchOf = (entry, above) => {
    const path = [...above, entry.name];
    return { entry, path, key: keyOf(path), isOpen: false, below: null, total: 0, problem: "", isLoading: false, line: null };
  };
    const load = async (branch, limit = PAGE) => {
    const known = branch.below ?? [];
    branch.isLoading = true;
    draw();
    try {
      const page = await fetch(branch.path, known.length, limit);
      branch.below = [...known, ...page.entries.map((entry) => branchOf(entry, branch.path))];
      branch.total = page.entries.length ? page.total : branch.below.length;
      branch.problem = "";
    } catch (reason) {
      branch.below = known;
      branch.problem = String((reason).message);
    }
    branch.isLoading = false;
    draw();
    const waiting = branch.below.slice(known.length).filter((one) => one.entry.hasChildren && opened.has(one.key));
    await Promise.all(waiting.map(expand));
  };
    const after = (branch, before) => {
    if (before?.isOpen && branch.entry.hasChildren) Object.assign(branch, { isOpen: true, below: before.below, total: before.total });
    return branch;
  };
    const again = async (branches) => {
    await Promise.all(branches.filter(({ entry }) => entry.hasChildren).map(async (branch) => {
      if (branch.isOpen && branch.below !== null) await reload(branch);
      else if (opened.has(branch.key)) await expand(branch);
    }));
  };
    const reload = async (branch) => {
    const before = new Map((branch.below ?? []).map((one) => [one.key, one]));
        const below = [];
    try {
      for (;;) {
        const page = await fetch(branch.path, below.length, Math.min(Math.max(before.size - below.length, PAGE), LARGEST_PAGE));
        below.push(...page.entries.map((entry) => branchOf(entry, branch.path)));
        branch.total = page.entries.length ? page.total : below.length;
        if (!page.entries.length || below.length >= Math.min(before.size, page.total)) break;
      }
      branch.problem = "";
    } catch (reason) {
      branch.problem = String((reason).message);
    }
    branch.below = below.map((one) => after(one, before.get(one.key)));
    draw();
    await again(branch.below);
  };
    const expand = async (branch) => {
    if (!branch.entry.hasChildren) return;
    branch.isOpen = true;
    opened.add(branch.key);
    if (branch.below === null) await load(branch);
    else draw();
  };
    const reach = async () => {
    const above = [...drawn.values()].find((branch) => branch.isOpen && chosen.startsWith(`${branch.key.slice(0, -1)},`) && chosen === keyOf([...branch.path, JSON.parse(chosen).at(-1)]));
    while (above?.below && !drawn.has(chosen) && above.below.length < above.total && !above.problem) await load(above, LARGEST_PAGE);
  };
    const collapse = (branch) => {
    branch.isOpen = false;
    opened.delete(branch.key);
    draw();
  };
    const shown = () => {
        const lines = [];
    const visit = (branch) => {
      lines.push(branch);
      if (branch.isOpen) branch.below?.forEach(visit);
    };
    roots.forEach(visit);
    return lines;
  };
    const pick = (branch) => {
    const before = [drawn.get(chosen), stop];
    chosen = branch.key;
    stop = branch;
    for (const one of [...before, branch]) if (one?.line) mark(one, one.line);
    branch.line?.focus();
    choose(branch);
    changed();
  };

    const draw = () => {
    const focused = element.contains(document.activeElement) ? (document.activeElement).dataset.key : null;
    const lines = shown();
    drawn = new Map(lines.map((branch) => [branch.key, branch]));
    stop = drawn.get(chosen) ?? lines[0];
    const wanted = lines.flatMap((branch) => [line(branch), ...notes(branch)]);
    const kept = new Set(wanted);
    for (const one of [...element.children]) if (!kept.has((one))) one.remove();
    let at = element.firstElementChild;
    for (const one of wanted) {
      if (one === at) at = at.nextElementSibling;
      else element.insertBefore(one, at);
    }
    const now = drawn.get(focused ?? "") ?? stop;
    if (focused !== null && now?.line !== document.activeElement) now?.line?.focus();
  };
    const mark = (branch, made) => {
    const { entry, key, isOpen, isLoading } = branch;
    made.tabIndex = branch === stop ? 0 : -1;
    made.setAttribute("aria-selected", String(key === chosen));
    if (entry.hasChildren) made.setAttribute("aria-expanded", String(isOpen));
    if (isLoading) made.setAttribute("aria-busy", "true");
    else made.removeAttribute("aria-busy");
    const fold = entry.hasChildren ? (isOpen ? "▾" : "▸") : "";
    if (made.firstElementChild && made.firstElementChild.textContent !== fold) made.firstElementChild.textContent = fold;
  };
    const line = (branch) => {
    const made = (branch.line ??= newLine(branch));
    mark(branch, made);
    return made;
  };
    const newLine = (branch) => {
    const { entry, path, key } = branch;
    const detail = [entry.timeMillis === null ? "" : ago(entry.timeMillis).replace(/ (minute|hour|day|second)s?/, (_, unit) => SHORT_UNITS[unit]), entry.detail].filter(Boolean).join(" · ");
    return h("div", {
      role: "treeitem", class: "jp-PaimonCatalog-line", "data-key": key, "data-kind": entry.kind, title: `${entry.label}${detail && `\n${detail}`}`,
      "aria-level": path.length, "aria-label": [entry.label, detail].filter(Boolean).join(", "),
      style: `padding-left:${8 + 14 * (path.length - 1)}px`, draggable: entry.insert ? "true" : null,
      onclick: () => pick(branch),
      oncontextmenu: (event) => {
        event.preventDefault();
        event.stopPropagation(); // that of JupyterLab would open beside it
        pick(branch);
        menu(branch, event.clientX, event.clientY);
      },
      ondblclick: () => (entry.hasChildren ? undefined : open(branch)),
      ondragstart: (event) => event.dataTransfer?.setData("text/plain", entry.insert),
    },
      h("span", { class: "jp-PaimonCatalog-fold", "aria-hidden": "true", onclick: (event) => {
        if (!entry.hasChildren) return;
        event.stopPropagation();
        branch.isOpen ? collapse(branch) : expand(branch).then(changed);
        changed();
      } }),
      h("span", { class: "jp-PaimonCatalog-name" }, ...halves(entry.label)),
      detail && h("span", { class: "jp-PaimonCatalog-detail" }, detail));
  };
    const notes = (branch) => {
    if (!branch.isOpen) return [];
    const style = `padding-left:${22 + 14 * branch.path.length}px`;
    const { below, total, problem, isLoading } = branch;
    if (isLoading && !below?.length) return [h("div", { class: "jp-PaimonCatalog-note", style }, "loading …")];
    if (problem) return [h("div", { class: "jp-PaimonCatalog-note jp-mod-problem", role: "alert", style }, problem)];
    if (!below?.length) return [h("div", { class: "jp-PaimonCatalog-note", style }, "nothing is here yet")];
    if (below.length >= total) return [];
    const left = (total - below.length).toLocaleString("en-US");
    return [h("div", { class: "jp-PaimonCatalog-note", style }, h("button", { type: "button", onclick: async () => {
      await load(branch, LARGEST_PAGE);
      const next = branch.below?.[below.length];
      if (next) pick(next);
    } }, `show more (${left} left)`))];
  };

  element.addEventListener("keydown", (event) => {
    const line = (event.target).closest("[role=treeitem]");
    if (!(line instanceof HTMLElement) || event.ctrlKey || event.metaKey || event.altKey) return;
    const lines = shown();
    const at = lines.findIndex((branch) => branch.key === line.dataset.key);
    const branch = lines[at];
    if (!branch) return;
    const go = (place) => lines[place] && pick(lines[place]);
    const above = () => {
      const key = keyOf(branch.path.slice(0, -1));
      return lines.findIndex((one) => one.key === key);
    };
    const keys = ({
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      Home: () => go(0),
      End: () => go(lines.length - 1),
      PageDown: () => go(Math.min(at + 10, lines.length - 1)),
      PageUp: () => go(Math.max(at - 10, 0)),
      ArrowRight: () => (!branch.isOpen ? expand(branch).then(changed) : branch.below?.length && go(at + 1)),
      ArrowLeft: () => (branch.isOpen ? (collapse(branch), changed()) : go(above())),
      Enter: () => (branch.entry.hasChildren && !branch.isOpen ? (pick(branch), expand(branch).then(changed)) : open(branch)),
      " ": () => pick(branch),
    });
    if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) {
      pick(branch);
      const { left, bottom } = (branch.line ?? line).getBoundingClientRect();
      menu(branch, left + 8 + 14 * branch.path.length, bottom);
    } else if (Object.hasOwn(keys, event.key)) keys[event.key]();
    else if (event.key.length === 1) {
      typed = event.timeStamp - typedAt > 700 ? event.key : typed + event.key;
      typedAt = event.timeStamp;
      const wanted = typed.toLowerCase();
      const order = [...lines.slice(at + (typed.length > 1 ? 0 : 1)), ...lines.slice(0, at + 1)];
      const found = order.find(({ entry }) => entry.label.toLowerCase().startsWith(wanted));
      if (found) pick(found);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });

  return {
    element,
        async show(entries) {
      const before = new Map(roots.map((one) => [one.key, one]));
      roots = entries.map((entry) => branchOf(entry, [])).map((one) => after(one, before.get(one.key)));
      draw();
      await again(roots);
      if (isRestored) await reach();
      isRestored = false;
      const now = drawn.get(chosen);
      if (now) choose(now, true);
    },
        async renew(path) {
      const key = keyOf(path);
      const branch = drawn.get(key);
      if (!branch) return;
      if (branch.isOpen) await reload(branch);
      else branch.below = null;
      const now = drawn.get(chosen);
      if (now && chosen.startsWith(key.slice(0, -1))) choose(now, true);
    },
        async reveal(path) {
      let level = roots;
      for (let depth = 1; depth <= path.length; depth += 1) {
        const key = keyOf(path.slice(0, depth));
        const above = depth > 1 ? drawn.get(keyOf(path.slice(0, depth - 1))) : null;
        let found = level.find((branch) => branch.key === key);
        while (!found && above && above.below && above.below.length < above.total && !above.problem) {
          await load(above, LARGEST_PAGE);
          found = above.below.find((branch) => branch.key === key);
        }
        if (!found) return;
        if (depth === path.length) pick(found);
        else {
          await expand(found);
          level = found.below ?? [];
        }
      }
    },
        state: () => ({ opened: [...opened], chosen }),
        restore(state) {
      const isText = (one) => typeof one === "string";
      opened = new Set(Array.isArray(state?.opened) ? state.opened.filter(isText) : []);
      chosen = isText(state?.chosen) ? state.chosen : "";
      isRestored = true;
    },
  };
}




const FORMS = {
  create_database: { title: "New database", doing: "Create", fields: [{ name: "name", label: "name" }] },
  create_table: {
    title: "New table",
    doing: "Create",
    fields: [
      { name: "name", label: "name" },
      { name: "columns", label: "columns: a name and a type per line", isLong: true, hint: "id BIGINT NOT NULL\nname STRING" },
      { name: "primary_key", label: "primary key", hint: "id" },
      { name: "partition", label: "partitioned by" },
      { name: "options", label: "options: key = value per line", isLong: true, hint: "bucket = 4" },
    ],
  },
  compact: { title: "Compact", doing: "Compact", fields: [
    { name: "compact_strategy", label: "strategy", choices: ["full", "minor"] }, { name: "partitions", label: "partitions (all if empty)", hint: "dt=2026-01-01" }] },
  create_tag: { title: "New tag", doing: "Create", fields: [
    { name: "tag", label: "name" }, { name: "snapshot", label: "snapshot (the latest if empty)" }, { name: "time_retained", label: "kept for (for ever if empty)", hint: "30 d" }] },
  delete_tag: { title: "Delete tag", doing: "Delete", fields: [{ name: "tag", label: "name" }] },
  rollback: { title: "Roll back", doing: "Roll back", fields: [{ name: "version", label: "snapshot or tag" }] },
  drop_table: { title: "Drop table", doing: "Drop", fields: [] },
};

function actionForm(action, { about, values = {}, plan, begin, close }) {
  const { title, doing, fields } = FORMS[action];
  const inputs = fields.map((field) => {
    const { name, label, choices, isLong, hint } = field;
    const shared = { name, placeholder: hint, spellcheck: "false", autocomplete: "off" };
    const input = choices ? h("select", { name }, ...choices.map((choice) => h("option", { value: choice }, choice)))
      : isLong ? h("textarea", { ...shared, rows: 4 }) : h("input", shared);
    if (values[name] !== undefined) input.value = values[name];
    input.addEventListener("input", () => forget());
    return { name, input, element: h("label", {}, h("span", {}, label), input) };
  });
  const planned = h("div", { class: "jp-PaimonCatalog-plan", role: "status" });
  const typed = () => Object.fromEntries(inputs.map(({ name, input }) => [name, input.value]).filter(([, value]) => value.trim()));
  const forget = () => planned.replaceChildren();
    const guarded = async (work) => {
    form.setAttribute("aria-busy", "true");
    try {
      await work();
    } catch (reason) {
      planned.replaceChildren(h("p", { class: "jp-mod-problem", role: "alert" }, (reason).message));
    }
    form.removeAttribute("aria-busy");
  };
  const show = () => guarded(async () => {
    const given = typed();
    planned.replaceChildren("planning …");
    const { sql, summary, changes, state, isDestructive } = await plan(given);
    const button = h("button", { type: "button", class: isDestructive ? "jp-mod-danger" : "jp-mod-do", onclick: () => guarded(async () => {
      button.disabled = true;
      await begin(given, state);
      close();
    }) }, doing);
    planned.replaceChildren(h("p", {}, summary), changes.length ? h("ul", {}, ...changes.map((change) => h("li", {}, change))) : "", h("pre", {}, sql), button);
    button.focus();
  });
  const form = h("form", { class: "jp-PaimonCatalog-form", "aria-label": `${title}: ${about}`, onsubmit: (event) => {
    event.preventDefault();
    show();
  }, onkeydown: (event) => {
    if (event.key === "Escape") close();
  } },
    h("h3", {}, title), h("p", { class: "jp-PaimonCatalog-detail" }, about), ...inputs.map(({ element }) => element),
    h("div", { class: "jp-PaimonCatalog-buttons" }, h("button", {}, "Plan"), h("button", { type: "button", onclick: close }, "Cancel")), planned);
  return { element: form, begin: () => (inputs.length ? inputs[0].input.focus() : show()) };
}




const EXPLORERS = ["timeline", "log", "schemas", "manifests", "heatmap", "files", "lsm", "compaction", "simulator", "changes", "diff", "travel", "profile", "health", "fsck"];
const CALM_MILLIS = 250;
const SIGNS = ({ ok: "✔ nothing to improve", info: "ℹ good to know", warning: "▲ could be better", error: "✖ needs attention" });

function entryDetails({ ask, explore, insert, insertCell, act, forget, menu, stopJob }) {
  const element = h("section", { class: "jp-PaimonCatalog-details", "aria-label": "details" });
  let asked = 0;
  let shownAt = -Infinity;
    const calm = () => {
    const wait = performance.now() - shownAt < CALM_MILLIS ? CALM_MILLIS : 0;
    shownAt = performance.now();
    return new Promise((resolve) => setTimeout(resolve, wait));
  };
    const button = (label, onclick, title) => h("button", { type: "button", onclick, title }, label);
    const inserting = (label, text, put) => h("button", {
    type: "button", onclick: () => put(text), title: `${text}\nA click puts it into the cell; it can be dragged there, too`, draggable: "true",
    ondragstart: (event) => event.dataTransfer?.setData("text/plain", text),
  }, label);
  const query = (name) => `SELECT * FROM ${name} LIMIT 100`;
    const inserts = (name) => [inserting("Insert name", name, insert), inserting("Insert query", query(name), (text) => insertCell(`%%paimon\n${text}`))];
    const row = (...buttons) => h("div", { class: "jp-PaimonCatalog-buttons" }, ...buttons);
    const list = (facts) => h("dl", {}, ...facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));

    const warehouse = (branch) => {
    const { entry, path } = branch;
    const made = (entry).warehouse;
    return [
      list([["place", made.place], ...(made.isReadOnly ? [(["mode", "read-only"])] : [])]),
      ...(made.problem ? [h("p", { class: "jp-mod-problem" }, made.problem)] : []),
      row(!made.problem && !made.isReadOnly && button("New database …", () => act(branch, "create_database", path)),
        Boolean(entry.insert) && button("Insert connect", () => insertCell(entry.insert), entry.insert),
        made.isAdded && button("Forget", () => forget(made.key), "Take it out of the list; nothing is deleted")),
    ];
  };
    const table = (branch) => {
    const { entry, path } = branch;
    const headline = h("p", { class: "jp-PaimonCatalog-headline" }, "loading …");
    const size = h("div", {});
    const about = h("div", {});
    const number = (asked += 1);
    const isShown = () => number === asked;
    const begun = calm();
    begun.then(() => isShown() && ask("details", { path })).then((said) => {
      if (!isShown()) return;
      headline.replaceChildren(said.headline + (said.timeMillis === null ? "" : `, ${ago(said.timeMillis)}`));
      headline.title = moment(said.timeMillis);
      about.replaceChildren(list(said.facts));
    }).catch((reason) => isShown() && headline.replaceChildren(h("span", { class: "jp-mod-problem", role: "alert" }, reason.message)));
    begun.then(() => isShown() && ask("state", { path })).then((said) => {
      if (!isShown()) return;
      const findings = said.findings.map(({ severity, message, where }) => h("li", { "data-severity": severity }, message, where && ` (${where})`));
      size.replaceChildren(list([...said.facts, ["health", said.problem || SIGNS[said.worst]]]), findings.length ? h("ul", {}, ...findings) : "");
    }).catch(() => {}); // `details` says why
    const choose = button("Open view ▾", () => {
      const { left, bottom } = choose.getBoundingClientRect();
      menu([EXPLORERS.map((kind) => [kind, () => explore(path, kind)])], left, bottom, () => choose.focus());
    }, "Open a view in a tab");
    choose.setAttribute("aria-haspopup", "menu");
    return [
      headline,
      row(button("Preview", () => explore(path, "preview")), choose, ...inserts(entry.insert)),
      size, about,
      row(button("Compact …", () => act(branch, "compact", path)), button("Tag …", () => act(branch, "create_tag", path)),
        button("Roll back …", () => act(branch, "rollback", path)), button("Drop …", () => act(branch, "drop_table", path))),
    ];
  };
    const version = (branch) => {
    const { entry, path } = branch;
    const above = path.slice(0, 3);
    const isTag = entry.kind === "tag";
    const views = ["preview", "changes", "diff", "manifests", "heatmap", "files"];
    return [
      list([["commit", entry.detail], ["time (UTC)", moment(entry.timeMillis)]]),
      row(...views.map((kind) => button(kind[0].toUpperCase() + kind.slice(1), () => explore(above, kind, entry.name))), inserting("Insert", entry.insert, insert)),
      row(button("Roll back to it …", () => act(branch, "rollback", above, { version: entry.name })),
        isTag ? button("Delete tag …", () => act(branch, "delete_tag", above, { tag: entry.name })) : button("Tag …", () => act(branch, "create_tag", above, { snapshot: entry.name }))),
    ];
  };
    const other = (branch) => {
    const { entry, path } = branch;
    return [
      ...(entry.detail ? [h("p", { class: "jp-PaimonCatalog-detail" }, entry.detail)] : []),
      row(Boolean(entry.insert) && inserting("Insert name", entry.insert, insert),
        entry.kind === "database" && button("New table …", () => act(branch, "create_table", path)),
        entry.kind === "partition" && button("Compact …", () => act(branch, "compact", path.slice(0, 3), { partitions: entry.name.replaceAll("/", ",") }))),
    ];
  };
    const view = (branch) => {
    const { entry, path } = branch;
    const headline = h("p", { class: "jp-PaimonCatalog-headline" }, "loading …");
    const about = h("div", {});
    const number = (asked += 1);
    ask("details", { path }).then((said) => {
      if (number !== asked) return;
      headline.replaceChildren(said.headline);
      about.replaceChildren(list(said.facts), h("pre", {}, said.query));
    }).catch((reason) => number === asked && headline.replaceChildren(h("span", { class: "jp-mod-problem", role: "alert" }, reason.message)));
    return [headline, row(...inserts(entry.insert)), about];
  };
    const job = ({ entry }) => {
    const made = (entry).job;
    return [
      list([["status", made.status], ["begun (UTC)", moment(made.beganMillis)], ...(made.progress ? [(["progress", `${made.progress[0]} of ${made.progress[1]} ${made.progress[2]}`])] : [])]),
      ...(made.said ? [h("pre", {}, made.said)] : []),
      row(made.status === "running" && button("Stop", () => stopJob(made.id))),
    ];
  };
    const actions = (branch) => {
    const { entry, path } = branch;
        const look = (kind, at) => [kind === "lsm" ? "Levels" : kind[0].toUpperCase() + kind.slice(1), () => explore(at ? path.slice(0, 3) : path, kind, at)];
    const made = (entry).warehouse;
    const put = (entry.insert ? (made ? [["Insert connect", () => insertCell(entry.insert)]] : [["Insert name", () => insert(entry.insert)]]) : []);
    if (entry.kind === "table" || entry.kind === "view") put.push(["Insert query", () => insertCell(`%%paimon\n${query(entry.insert)}`)]);
    const groups = ({
      warehouse: [made && !made.problem && !made.isReadOnly ? [["New database …", () => act(branch, "create_database", path)]] : []],
      database: [[["New table …", () => act(branch, "create_table", path)]]],
      table: [["preview", "timeline", "log", "lsm", "health"].map((kind) => look(kind)), [["Compact …", () => act(branch, "compact", path)],
        ["Tag …", () => act(branch, "create_tag", path)], ["Roll back …", () => act(branch, "rollback", path)], ["Drop …", () => act(branch, "drop_table", path)]]],
      partition: [[["Compact …", () => act(branch, "compact", path.slice(0, 3), { partitions: entry.name.replaceAll("/", ",") })]]],
      snapshot: [["preview", "changes", "diff"].map((kind) => look(kind, entry.name)), [["Roll back to it …", () => act(branch, "rollback", path.slice(0, 3), { version: entry.name })],
        ["Tag …", () => act(branch, "create_tag", path.slice(0, 3), { snapshot: entry.name })]]],
      tag: [["preview", "changes", "diff"].map((kind) => look(kind, entry.name)), [["Roll back to it …", () => act(branch, "rollback", path.slice(0, 3), { version: entry.name })],
        ["Delete tag …", () => act(branch, "delete_tag", path.slice(0, 3), { tag: entry.name })]]],
    });
    const [first = [], ...others] = groups[entry.kind] ?? [];
    return [first, put, ...others].filter((group) => group.length);
  };
  const KINDS = ({ warehouse, table, view, job, snapshot: version, tag: version });
  return {
    element,
    actions,
        show(branch, again = false) {
      if (again && element.querySelector("form")) return;
      asked += 1;
      const { kind, label } = branch.entry;
      element.replaceChildren(h("h3", {}, kind === "snapshot" || kind === "tag" ? `${kind} ${label}` : label), ...(KINDS[branch.entry.kind] ?? other)(branch));
    },
        showForm: (form) => element.replaceChildren(form),
        showNothing: (why) => element.replaceChildren(h("p", { class: "jp-PaimonCatalog-detail" }, why)),
  };
}


const PANEL_STYLE = `
.jp-PaimonCatalog { display: flex; flex-direction: column; min-width: 180px; color: var(--jp-ui-font-color1); background: var(--jp-layout-color1);
  font: var(--jp-ui-font-size1, 13px)/1.45 var(--jp-ui-font-family, sans-serif); font-variant-numeric: tabular-nums; }
.jp-PaimonCatalog :is(h3, p, ul, dl, pre) { margin: 4px 0; } .jp-PaimonCatalog h3 { font-size: 13px; font-weight: 600; overflow-wrap: anywhere; unicode-bidi: isolate; }
.jp-PaimonCatalog-bar { display: flex; gap: 4px; padding: 8px; border-bottom: 1px solid var(--jp-border-color2); }
.jp-PaimonCatalog-bar input { flex: 1; min-width: 0; }
.jp-PaimonCatalog :is(button, input, select, textarea) { font: inherit; color: inherit; background: var(--jp-layout-color1); border: 1px solid var(--jp-border-color1); border-radius: 4px; padding: 1px 8px; box-sizing: border-box; }
.jp-PaimonCatalog button { cursor: pointer; } .jp-PaimonCatalog button:hover { background: var(--jp-layout-color2); }
.jp-PaimonCatalog button.jp-mod-do { border-color: var(--jp-brand-color1); font-weight: 600; } .jp-PaimonCatalog button.jp-mod-danger { border-color: var(--jp-error-color1); font-weight: 600; }
.jp-PaimonCatalog ::placeholder { color: var(--jp-ui-font-color2); opacity: 1; }
.jp-PaimonCatalog :focus-visible { outline: 2px solid var(--jp-brand-color1); outline-offset: -2px; }
.jp-PaimonCatalog-tree, .jp-PaimonCatalog-hits { flex: 1 1 55%; min-height: 80px; overflow: auto; padding: 4px 0; }
.jp-PaimonCatalog-line { content-visibility: auto; display: flex; overflow: hidden; align-items: baseline; gap: 4px; height: 24px; line-height: 24px; padding-right: 8px; white-space: nowrap; cursor: default; user-select: none; }
.jp-PaimonCatalog-line:hover { background: var(--jp-layout-color2); } .jp-PaimonCatalog-line[aria-selected=true] { background: color-mix(in srgb, var(--jp-brand-color1) 18%, var(--jp-layout-color1)); }
.jp-PaimonCatalog-fold { flex: 0 0 14px; text-align: center; cursor: pointer; } .jp-PaimonCatalog-line .jp-PaimonCatalog-name { flex: 0 0 auto; max-width: 72%; overflow: hidden; text-overflow: ellipsis; unicode-bidi: isolate; }
.jp-PaimonCatalog-line .jp-PaimonCatalog-name:last-child { flex: 0 1 auto; max-width: none; }
.jp-PaimonCatalog-line .jp-PaimonCatalog-name:has(span) { display: flex; } .jp-PaimonCatalog-line .jp-PaimonCatalog-name span { overflow: hidden; white-space: pre; }
.jp-PaimonCatalog-name span:first-child { flex: 0 100000 auto; min-width: 2em; text-overflow: ellipsis; } .jp-PaimonCatalog-name span + span { flex: 0 1 auto; min-width: 0; }
.jp-PaimonCatalog-line[data-kind=table] .jp-PaimonCatalog-name { font-weight: 600; }
.jp-PaimonCatalog-detail, .jp-PaimonCatalog-note, .jp-PaimonCatalog dt { color: var(--jp-ui-font-color2); font-size: 11px; }
.jp-PaimonCatalog-line .jp-PaimonCatalog-detail { flex: 1 1 0; min-width: 0; overflow: hidden; text-overflow: ellipsis; unicode-bidi: isolate; }
.jp-PaimonCatalog-line:is(:hover, [aria-selected=true]) .jp-PaimonCatalog-detail { color: inherit; }
.jp-PaimonCatalog-note:not(:empty) { padding: 4px 8px; } .jp-PaimonCatalog-note { overflow-wrap: anywhere; }
.jp-PaimonCatalog .jp-mod-problem { color: var(--jp-ui-font-color1); border-left: 3px solid var(--jp-error-color1); padding-left: 8px; overflow-wrap: anywhere; }
.jp-PaimonCatalog-details, .jp-PaimonCatalog-jobs { overflow: auto; padding: 8px; border-top: 1px solid var(--jp-border-color2); } .jp-PaimonCatalog-details { flex: 1 1 45%; min-height: 80px; }
.jp-PaimonCatalog-jobs { flex: 0 0 auto; max-height: 25%; } .jp-PaimonCatalog-jobs:empty { display: none; }
.jp-PaimonCatalog-headline { font-size: 13px; } .jp-PaimonCatalog dl { display: grid; grid-template-columns: minmax(80px, max-content) 1fr; gap: 2px 12px; align-items: baseline; }
.jp-PaimonCatalog dd { margin: 0; overflow-wrap: anywhere; unicode-bidi: plaintext; } .jp-PaimonCatalog ul { padding-left: 18px; max-height: 160px; overflow: auto; overflow-wrap: anywhere; }
.jp-PaimonCatalog-buttons { display: flex; flex-wrap: wrap; gap: 4px; margin: 8px 0; }
.jp-PaimonCatalog-form label { display: grid; gap: 2px; margin: 8px 0; } .jp-PaimonCatalog-form label span { font-size: 11px; }
.jp-PaimonCatalog textarea { font-family: var(--jp-code-font-family, monospace); resize: vertical; }
.jp-PaimonCatalog pre { padding: 8px; background: var(--jp-layout-color2); font: 12px/1.4 var(--jp-code-font-family, monospace); white-space: pre-wrap; overflow-wrap: anywhere; }
.jp-PaimonCatalog-hits { list-style: none; padding: 4px 0 !important; margin: 0 !important; max-height: none !important; } .jp-PaimonCatalog-hits button { display: block; width: 100%; text-align: left; border: 0; overflow-wrap: anywhere; }
.jp-PaimonCatalog [hidden] { display: none; }
.jp-PaimonExplorer.jp-mod-below { min-height: 300px; }
.jp-PaimonExplorer { overflow: auto; padding: 8px; background: var(--jp-layout-color0); }
@media (forced-colors: active) { .jp-PaimonCatalog-line[aria-selected=true] { outline: 2px solid Highlight; outline-offset: -2px; } }
`;




const JOBS = "jobs";
const POLL_MILLIS = 1000;
const SEARCH_MILLIS = 300;

function catalogPanel(node, { server, explore, insert, insertCell, menu, store }) {
  node.classList.add("jp-PaimonCatalog");
    let added = [];
    let keys = [];
  const remember = () => store({ ...tree.state(), added });

  const details = entryDetails({ ask: server.ask, explore, insert, insertCell, act, menu, stopJob: (id) => void server.stop(id).then(poll), forget: (key) => {
    added = added.filter((one) => one !== key);
    refresh();
    remember();
  } });
  const tree = catalogTree({
    fetch: async (path, offset, limit) => (path[0] === JOBS ? jobEntries(await server.jobs(), offset, limit) : server.ask("children", { path, offset, limit })),
    choose: details.show,
    open: ({ entry, path }) => {
      if (entry.kind === "table") explore(path, "preview");
      else if (entry.kind === "snapshot" || entry.kind === "tag") explore(path.slice(0, 3), "preview", entry.name);
      else if (entry.insert) insert(entry.insert);
    },
    menu: (branch, x, y) => menu(details.actions(branch), x, y, focus),
    changed: remember,
  });
  const focus = () => (tree.element.querySelector("[tabindex='0']") ?? search).focus();
  const hits = h("ul", { class: "jp-PaimonCatalog-hits", "aria-label": "found", hidden: true });
  const jobs = h("section", { class: "jp-PaimonCatalog-jobs", "aria-label": "jobs" });
  const said = h("div", { role: "status", class: "jp-PaimonCatalog-note", "aria-live": "polite" });

    function act(branch, action, path, values) {
    const about = path.slice(1).join(".") || branch.entry.label;
    const form = actionForm(action, { about, values, close: () => { details.show(branch); focus(); },
      plan: (given) => server.ask("plan", { path, action, values: given }),
      begin: async (given, state) => {
        await server.begin({ path, action, values: given, state, label: `${action.replaceAll("_", " ")} ${about}` });
        poll();
      } });
    details.showForm(form.element);
    form.begin();
  }

  const refresh = async () => {
    try {
      const { warehouses } = await server.ask("warehouses", { added });
      keys = warehouses.filter((one) => !one.problem).map((one) => one.key);
      said.replaceChildren();
      await tree.show(warehouses.map((one) => ({
        kind: "warehouse", name: one.key, label: one.name, detail: one.problem ? "cannot be read" : one.isReadOnly ? "read-only" : "", timeMillis: null, hasChildren: !one.problem, insert: one.insert,
        warehouse: { ...one, isAdded: added.includes(one.key) },
      })).concat(listedJobs ? [jobsEntry()] : []));
      if (!warehouses.length) {
        details.showNothing("No warehouse yet. Folders below the one that Jupyter shows are found by themselves; others are configured in ~/.config/paimonlab/config.toml. In a cell, %paimon_demo shop makes one to try.");
      }
    } catch (reason) {
      said.replaceChildren(h("span", { class: "jp-mod-problem" }, (reason).message));
    }
  };

  let wanted = 0;
  const find = async () => {
    const text = search.value.trim();
    const number = (wanted += 1);
    hits.hidden = text.length < 2;
    tree.element.hidden = !hits.hidden;
    said.replaceChildren();
    if (hits.hidden) return;
    try {
      const found = await server.ask("search", { keys, text });
      if (number !== wanted) return;
      hits.replaceChildren(...found.hits.map(({ kind, path, label }) => h("li", {}, h("button", { type: "button", onclick: async () => {
        search.value = "";
        await find();
        await tree.reveal(path);
      } }, h("span", { class: "jp-PaimonCatalog-name" }, label), " ", h("span", { class: "jp-PaimonCatalog-detail" }, kind)))));
      said.replaceChildren(found.hits.length ? `${found.hits.length} found${found.isCut ? ", there may be more" : ""}` : "nothing has such a name");
    } catch (reason) {
      if (number === wanted) said.replaceChildren((reason).message);
    }
  };
    let waiting;
  const search = h("input", { type: "search", placeholder: "Search", "aria-label": "search tables and columns", oninput: () => {
    clearTimeout(waiting);
    waiting = setTimeout(find, SEARCH_MILLIS);
  }, onkeydown: (event) => {
    const first = hits.querySelector("button");
    const below = hits.hidden ? (tree.element.querySelector("[tabindex='0']")) : first;
    if (event.key === "ArrowDown") below?.focus();
    else if (event.key === "Enter") first?.click();
    else if (event.key === "Escape" && search.value) {
      search.value = "";
      find();
    } else return;
    event.preventDefault();
  } });
  hits.addEventListener("keydown", (event) => {
    const found = [...hits.querySelectorAll("button")];
    const at = found.findIndex((one) => one === event.target);
    const keys = ({ ArrowDown: found[at + 1], ArrowUp: found[at - 1] ?? search, Home: found[0], End: found[found.length - 1], Escape: search });
    if (!(event.key in keys)) return;
    keys[event.key]?.focus();
    event.preventDefault();
  });
  const folder = h("form", { class: "jp-PaimonCatalog-bar", hidden: true, onsubmit: (event) => {
    event.preventDefault();
    const key = `folder:${place.value.trim()}`;
    if (place.value.trim() && !added.includes(key)) added.push(key);
    place.value = "";
    folder.hidden = true;
    remember();
    refresh();
  } });
  const place = h("input", { placeholder: "folder below the one Jupyter shows", "aria-label": "folder of a warehouse" });
  folder.append(place, h("button", {}, "Add"));
  const bar = h("div", { class: "jp-PaimonCatalog-bar" }, search,
    h("button", { type: "button", title: "Add a folder", "aria-label": "add a folder", onclick: () => {
      folder.hidden = !folder.hidden;
      if (!folder.hidden) place.focus();
    } }, "+"),
    h("button", { type: "button", title: "Refresh", "aria-label": "refresh", onclick: () => refresh() }, "↻"));

    let timer;
  const seen = (new Set());
  let listedJobs = 0;
    const jobsEntry = () => ({ kind: "group", name: JOBS, label: "jobs", detail: String(listedJobs), timeMillis: null, hasChildren: true, insert: "" });
  const poll = async () => {
    clearTimeout(timer);
        let listed;
    try {
      listed = await server.jobs();
    } catch {
      return; // `refresh` says why
    }
    const isFirst = !listedJobs && listed.length > 0;
    listedJobs = listed.length;
    const recent = listed.filter(({ status, id }) => status === "running" || !seen.has(id)).slice(0, 4);
    if (recent.length) jobs.replaceChildren(h("h3", {}, "Jobs"), ...recent.map(jobLine));
    if (isFirst) await refresh();
    else await tree.renew([JOBS]);
    const ended = listed.filter(({ id, status }) => status !== "running" && !seen.has(id));
    ended.forEach(({ id }) => seen.add(id));
    if (ended.length) refresh();
    if (listed.some(({ status }) => status === "running")) timer = setTimeout(poll, POLL_MILLIS);
  };
    const jobLine = ({ id, label, status, said: text, progress }) => {
    const far = progress !== null && status === "running" ? `${progress[0]} of ${progress[1]} ${progress[2]}` : "";
    return h("div", { class: "jp-PaimonCatalog-job" }, h("span", {}, `${label}: `), h("span", { class: "jp-PaimonCatalog-detail" }, [status, far, text].filter(Boolean).join(" · ")),
      status === "running" && h("button", { type: "button", onclick: () => server.stop(id).then(poll) }, "Stop"));
  };
  node.append(bar, folder, said, tree.element, hits, details.element, jobs);
  details.showNothing("");
  return {
        async start(state) {
      added = Array.isArray(state?.added) ? state.added.filter((one) => typeof one === "string").slice(0, 100) : [];
      tree.restore(state);
      await Promise.all([refresh(), poll()]);
    },
    refresh,
    say: (text) => said.replaceChildren(text),
    focus,
    stop: () => clearTimeout(timer),
  };
}

function jobEntries(listed, offset, limit) {
  const entries = listed.slice(offset, offset + limit).map((job) => ({
    kind: "job", name: String(job.id), label: job.label, detail: job.status, timeMillis: job.beganMillis, hasChildren: false, insert: "", job,
  }));
  return { entries, total: listed.length };
}



const ICON = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24"><g class="jp-icon3" fill="#616161"><path d="M3 5h18v4H3z"/><path d="M3 10.5h12v4H3z" opacity=".75"/><path d="M3 16h7v4H3z" opacity=".5"/></g></svg>`;
const ID = "paimonlab-catalog";
const OPEN = "paimonlab:open-catalog";
const REFRESH = "paimonlab:refresh-catalog";
const EXPLORE = "paimonlab:explore";
const STORED = "jupyterlab-paimonlab:panel";
const HELD_MILLIS = 2000;
const WALKS = /^(.|Arrow.*|Page.*|Home|End)$/u;

function panelPlugin(classes, tokens, renderers) {
  const { Widget, Menu, MainAreaWidget, WidgetTracker, LabIcon, ServerConnection } = classes;
  const wanted = (Object.keys(tokens)).filter((name) => tokens[name]);
  return {
    id: STORED,
    description: "A panel of warehouses, their tables, and what can be done with them.",
    autoStart: true,
    optional: wanted.map((name) => tokens[name]),
        activate(app, ...given) {
      const found = (Object.fromEntries(wanted.map((name, at) => [name, given[at]])));
      const { ILabShell: lab, ILayoutRestorer: restorer, INotebookTracker: notebooks, ICommandPalette: palette, ILauncher: launcher, IStateDB: states } = found;
      const style = document.createElement("style");
      style.textContent = PANEL_STYLE;
      document.head.append(style);
      const icon = new LabIcon({ name: "paimonlab:catalog", svgstr: ICON });
      const server = panelServer(ServerConnection);
      const { commands, shell } = app;

            const insert = (text) => {
        const cell = notebooks?.activeCell;
        if (cell?.editor?.replaceSelection) {
          shell.activateById(notebooks.currentWidget.id); // where it goes to is seen, also from a view's tab
          cell.editor.replaceSelection(text);
          cell.editor.focus();
          return;
        }
        const copied = navigator.clipboard?.writeText(text) ?? Promise.reject();
        copied.then(() => panel.say("No cell is chosen: copied, to be pasted"), () => panel.say("No cell is chosen to put it into"));
      };
            const insertCell = async (text) => {
        if (notebooks?.activeCell?.model.sharedModel.getSource().trim()) await commands.execute("notebook:insert-cell-below");
        insert(text);
      };

      const widget = new Widget();
      widget.id = ID;
      widget.title.icon = icon;
      widget.title.caption = "Paimon catalog";
      widget.node.setAttribute("role", "region");
      widget.node.setAttribute("aria-label", "Paimon catalog");
            const openMenu = (groups, x, y, back) => {
        const registry = new commands.constructor();
        const menu = new Menu({ commands: registry });
        groups.forEach((group, at) => {
          if (at) menu.addItem({ type: "separator" });
          group.forEach(([label, execute], place) => {
            const command = `${at} ${place}`;
            registry.addCommand(command, { label, execute });
            menu.addItem({ command });
          });
        });
        menu.aboutToClose.connect(() => {
          back();
          setTimeout(() => menu.dispose());
        });
        if (groups.length) menu.open(x, y);
      };
      const panel = catalogPanel(widget.node, { server, insert, insertCell, menu: openMenu,
        explore: (path, kind, at) => void commands.execute(EXPLORE, { path, kind, at: at ?? null }),
        store: (state) => void states?.save(STORED, state).catch(() => {}) });
            let started = null;
      const start = () => (started ??= Promise.resolve(states?.fetch(STORED)).catch(() => null).then((state) => panel.start(state)));
      widget.onAfterShow = start;
      shell.add(widget, "left", { rank: 150, type: "Paimon catalog" });
      restorer?.add(widget, ID);
      app.restored.then(() => widget.isVisible && start());

            const holdFocus = () => {
        const again = ({ target }) => {
          if (!widget.node.contains((target))) panel.focus();
        };
        const end = (event) => {
          if (event instanceof KeyboardEvent && WALKS.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) return;
          document.removeEventListener("focusin", again);
          document.removeEventListener("pointerdown", end, true);
          document.removeEventListener("keydown", end, true);
        };
        document.addEventListener("focusin", again);
        document.addEventListener("pointerdown", end, true);
        document.addEventListener("keydown", end, true);
        setTimeout(end, HELD_MILLIS);
        panel.focus();
      };
      const tracker = new WidgetTracker({ namespace: "paimonlab-explorers" });
      commands.addCommand(OPEN, { label: "Paimon Catalog", caption: "Show warehouses and their tables", icon, execute: async () => {
        shell.activateById(ID);
        if (!lab && shell.expandLeft) shell.expandLeft(ID);
        await start();
        holdFocus();
      } });
      commands.addCommand(REFRESH, { label: "Refresh Paimon Catalog", execute: () => (started ? panel.refresh() : start()) });
      commands.addCommand(EXPLORE, { label: "Open a View of a Paimon Table", execute: async ({ path, kind, at }) => {
        const id = `paimonlab-explorer-${JSON.stringify([path, kind, at ?? null])}`;
        const open = tracker.find((one) => one.id === id);
        const content = open?.content ?? renderers.createRenderer();
        const tab = open ?? new MainAreaWidget({ content });
        if (!open) {
          tab.id = id;
          tab.explored = { path, kind, at: at ?? null };
          content.addClass("jp-PaimonExplorer");
          tab.title.label = `${path[path.length - 1]}: ${kind}${at ? ` @ ${at}` : ""}`;
          tab.title.caption = path.slice(1).join(".");
          tab.title.icon = icon;
          tab.title.closable = true;
          content.node.textContent = "loading …";
          if (!lab) content.addClass("jp-mod-below"); // Notebook 7 opens the area below only as far as it must
          shell.add(tab, lab ? "main" : "down");
          void tracker.add(tab);
        }
        shell.activateById(id);
        const below = tab.parent?.parent;
        if (!lab && below && "currentWidget" in below) below.currentWidget = tab; // Notebook 7 activates nothing below
        try {
          const data = await server.ask("explorer", { path, kind, ...(at ? { at } : {}) });
          await content.renderModel({ data: { [MIME]: data } });
        } catch (reason) {
          content.node.textContent = (reason).message;
        }
      } });
      void restorer?.restore(tracker, { command: EXPLORE, args: (tab) => tab.explored, name: (tab) => tab.id });
      for (const command of [OPEN, REFRESH]) palette?.addItem({ command, category: "Paimon" });
      launcher?.add({ command: OPEN, category: "Other", rank: 5 });
    },
  };
}



const PLUGIN = "jupyterlab-paimonlab:plugin";


function channelTo(open, kernel) {
  const found = open.get(kernel);
  if (found) return found;
  const comm = kernel.createComm(TARGET);
    const listeners = new Set();
  const end = () => {
    open.delete(kernel);
    listeners.forEach((heard) => heard(null));
  };
  comm.onMsg = (message) => listeners.forEach((heard) => heard(message.content.data));
  comm.onClose = end; // also where the kernel has not loaded paimonlab
  kernel.disposed.connect(end);
  comm.open({});
  const channel = {
        send: (message) => comm.send(message),
        hear(heard) {
      listeners.add(heard);
      return () => listeners.delete(heard);
    },
    end,
  };
  open.set(kernel, channel);
  return channel;
}

function plugin(INotebookTracker, ISettingRegistry) {
  return {
    id: PLUGIN,
    description: "Settings of Paimon views, and their way to the kernel.",
    autoStart: true,
    optional: [INotebookTracker, ISettingRegistry],
        activate(_app, tracker, registry) {
      const open = new WeakMap();
      const restarted = new WeakSet();
      state.channel = (element) => {
        const panel = tracker?.find((one) => one.node.contains(element));
        const session = panel?.sessionContext?.session;
        if (!session?.kernel) return null;
        if (!restarted.has(session)) {
          restarted.add(session);
          session.statusChanged.connect((_session, status) => {
            if (/restarting|terminating|dead/.test(status) && session.kernel) open.get(session.kernel)?.end();
          });
        }
        return channelTo(open, session.kernel);
      };
      const read = (settings) => {
        Object.assign(state.settings, settings.composite);
        state.changed.forEach((heard) => heard());
      };
      registry?.load(PLUGIN).then(
        (settings) => {
          settings.changed.connect(read);
          read(settings);
        },
        (reason) => console.warn("paimonlab: no settings, the defaults apply", reason),
      );
    },
  };
}


/* global state, VIEWS, pageHost, rendererFactory, plugin, MIME, followKernels, progressOf, PROGRESS_STYLE, completionProvider, sqlColours, panelPlugin */

let shared = null;

async function take(name) {
  const versions = shared[name];
  if (!versions) throw new Error(`paimonlab: JupyterLab shares no ${name}`);
  const [newest] = Object.keys(versions).sort((left, right) => right.localeCompare(left, "en", { numeric: true }));
  return (await versions[newest].get())();
}

const takeIfThere = (name) => (shared[name] ? take(name) : Promise.resolve({}));

const esModule = (value) => ({ __esModule: true, default: value });

async function kernelPlugin() {
  const [{ Widget }, { KernelMessage }, { INotebookTracker }, { ICompletionProviderManager }] = await Promise.all([
    take("@lumino/widgets"),
    take("@jupyterlab/services"),
    take("@jupyterlab/notebook"),
    take("@jupyterlab/completer"),
  ]);
  return {
    id: "jupyterlab-paimonlab:kernels",
    description: "Shows how far a statement of Paimon is, and completes SQL while a cell runs.",
    autoStart: true,
    requires: [INotebookTracker],
    optional: [ICompletionProviderManager],
        activate(_app, tracker, completers) {
      const style = document.createElement("style");
      style.textContent = PROGRESS_STYLE;
      document.head.append(style);
      const linkOf = followKernels(tracker, KernelMessage.createMessage, progressOf(Widget));
      state.now = (element, message) => {
        const panel = tracker.find((one) => one.node.contains(element));
        const link = panel ? linkOf(panel.sessionContext.session?.kernel) : null;
        if (!link?.subshell) return false;
        link.say(message);
        return true;
      };
      if (completers?.getProviders) completers.registerProvider(completionProvider(completers, linkOf));
    },
  };
}

async function colourPlugin() {
  const [view, states, { IEditorExtensionRegistry }] = await Promise.all([
    take("@codemirror/view"),
    take("@codemirror/state"),
    take("@jupyterlab/codemirror"),
  ]);
  return {
    id: "jupyterlab-paimonlab:colours",
    description: "Colours SQL in cells.",
    autoStart: true,
    requires: [IEditorExtensionRegistry],
        activate(_app, registry) {
      const coloursOf = sqlColours(view, states);
      const factory = ({ model }) => ({ instance: () => coloursOf(model), reconfigure: () => null });
      registry.addExtension({ name: "jupyterlab-paimonlab:colours", factory });
    },
  };
}

async function catalogPlugin() {
  const [{ Widget, Menu }, { ServerConnection }, { INotebookTracker }, { ICommandPalette, MainAreaWidget, WidgetTracker }, { LabIcon }] = await Promise.all([
    take("@lumino/widgets"),
    take("@jupyterlab/services"),
    take("@jupyterlab/notebook"),
    take("@jupyterlab/apputils"),
    take("@jupyterlab/ui-components"),
  ]);
  const [{ ILabShell = null, ILayoutRestorer = null }, { ILauncher = null }, { IStateDB = null }] = await Promise.all([
    takeIfThere("@jupyterlab/application"),
    takeIfThere("@jupyterlab/launcher"),
    takeIfThere("@jupyterlab/statedb"),
  ]);
  return panelPlugin(
    { Widget, Menu, MainAreaWidget, WidgetTracker, LabIcon, ServerConnection },
    { ILabShell, ILayoutRestorer, INotebookTracker, ICommandPalette, ILauncher, IStateDB },
    rendererFactory(Widget, VIEWS, pageHost),
  );
}

const MODULES = ({
  "./mimeExtension": async () => {
    const { Widget } = await take("@lumino/widgets");
    const factory = rendererFactory(Widget, VIEWS, pageHost);
    return esModule({ id: "jupyterlab-paimonlab:mime", rendererFactory: factory, rank: 0, dataType: "json" });
  },
  "./extension": async () => {
    const [{ INotebookTracker }, { ISettingRegistry }] = await Promise.all([
      take("@jupyterlab/notebook"),
      take("@jupyterlab/settingregistry"),
    ]);
    const plugins = [plugin(INotebookTracker, ISettingRegistry)];
    for (const optional of [kernelPlugin, colourPlugin, catalogPlugin]) {
      try {
        plugins.push(await optional());
      } catch (reason) {
        console.warn("paimonlab:", reason);
      }
    }
    return esModule(plugins);
  },
});

const container = {
    init(scope) {
    shared = scope;
  },
    async get(name) {
    if (!Object.hasOwn(MODULES, name)) throw new Error(`paimonlab: no module ${name}`);
    const module = await MODULES[name]();
    return () => module;
  },
};
const page = (window);
(page._JUPYTERLAB ??= {})["jupyterlab-paimonlab"] = container;

})();
