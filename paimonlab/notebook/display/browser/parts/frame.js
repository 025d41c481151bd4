// @ts-check
import { COLOURS } from "./colours.js";
import { unbroken } from "./dates.js";
import { h } from "./elements.js";

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

/**
 * Put an empty frame into `el`: a heading, room for the view, a line that is read aloud.
 * The line takes room once something was done; what is said while the view is drawn, the view itself shows.
 * Keys pressed inside stay inside (in a notebook they would delete cells); Escape leaves.
 * @param {HTMLElement} el
 * @param {{title: string, note?: string, css?: string}} what
 */
export function plainFrame(el, { title, note = "", css = "" }) {
  const root = el.shadowRoot ?? el.attachShadow({ mode: "open" });
  const status = h("p", { class: "status", role: "status" });
  const body = h("div", { class: "body" });
  const head = h("div", { class: "head" }, h("h3", {}, ...unbroken(title)), note && h("span", { class: "faint" }, note));
  const box = h("div", { class: "frame", role: "group", "aria-label": title }, head, body, status);
  root.replaceChildren(h("style", {}, STYLE + css), box);
  el.dataset.lmSuppressShortcuts = "true";
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") /** @type {HTMLElement | null} */ (root.activeElement)?.blur();
    else event.stopPropagation();
  });
  const stop = followTheme(box);
  let isDrawn = false;
  queueMicrotask(() => { isDrawn = true; });
  const say = (/** @type {string} */ text) => {
    status.classList.toggle("hidden", !isDrawn);
    status.replaceChildren(text);
  };
  return { root, head, body, status, say, stop };
}

/** Mark the box as dark if the page is, now and whenever that changes. @param {HTMLElement} box */
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
