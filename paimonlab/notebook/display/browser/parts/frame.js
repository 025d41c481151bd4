// @ts-check
import { COLOURS } from "./colours.js";
import { h } from "./elements.js";

const STYLE = `
:host { display: block; }
.frame { color: var(--jp-ui-font-color1, CanvasText); background: var(--jp-layout-color0, Canvas);
  font: 13px/1.45 var(--jp-ui-font-family, system-ui, sans-serif); padding: 6px 8px; overflow: hidden;
  border: 1px solid var(--jp-border-color2, #8888); border-radius: 4px; box-sizing: border-box; }
.frame[data-theme="dark"] { color-scheme: dark; --focus: ${COLOURS.orange}; --faint: #b0b0b0; }
.frame[data-theme="light"] { color-scheme: light; --focus: ${COLOURS.blue}; --faint: #595959; }
.head { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: baseline; margin: 0 0 6px; }
.head h3 { font-size: 14px; margin: 0; overflow-wrap: anywhere; unicode-bidi: isolate; }
.faint, .null { color: var(--faint); } .null { font-style: italic; }
.status { min-height: 1.4em; margin: 6px 0 0; overflow-wrap: anywhere; }
button, select, input { font: inherit; color: inherit; background: var(--jp-layout-color1, ButtonFace);
  border: 1px solid var(--jp-border-color1, #8888); border-radius: 3px; padding: 1px 7px; }
input[type=range] { padding: 0; vertical-align: middle; } ::placeholder { color: inherit; opacity: .9; }
button { cursor: pointer; } button[aria-pressed=true] { box-shadow: 0 0 0 2px ${COLOURS.blue}; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 1px; } .scroll tr:focus-visible { outline-offset: -3px; }
table { border-collapse: collapse; margin: 0; position: relative; } caption { text-align: left; font-weight: bold; padding: 2px 8px; }
th, td { padding: 2px 8px; text-align: left; vertical-align: top; border: 0; overflow-wrap: anywhere; unicode-bidi: plaintext; max-width: 40em; }
th { position: sticky; top: 0; background: var(--jp-layout-color0, Canvas); z-index: 1; }
th.right, td.right { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
tbody tr[aria-selected=true] { background: color-mix(in srgb, ${COLOURS.sky} 35%, transparent); }
tbody tr:hover { background: color-mix(in srgb, ${COLOURS.sky} 15%, transparent); }
.scroll { overflow: auto; max-height: 26em; } svg { display: block; max-width: 100%; } svg text { fill: currentColor; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 1px 12px; margin: 4px 0; } dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; unicode-bidi: plaintext; }
.row { display: flex; flex-wrap: wrap; gap: 4px 10px; align-items: center; margin: 4px 0; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
@media (prefers-reduced-motion: no-preference) { .moves { transition: all .25s; } }
@media (forced-colors: active) {
  svg [fill], .bar, .key, .ramp { forced-color-adjust: none; } [aria-selected=true], [aria-pressed=true] { outline: 2px solid Highlight; }
}
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

/** Mark the box as dark if the page is, now and whenever that changes. @param {HTMLElement} box */
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
