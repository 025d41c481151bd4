// @ts-check
// The bar below a cell that runs. It is no output: nothing of it is stored.

import { h } from "../../../paimonlab/notebook/display/browser/parts.js";
import { state } from "./state.js";

const LOST_MILLIS = 15_000;

export const PROGRESS_STYLE = `
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

/** An address that may be linked to. @param {unknown} text */
function webAddress(text) {
  try {
    const url = new URL(String(text));
    return /^https?:$/.test(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/** @param {any} Widget Lumino's class @param {() => void} stop */
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
    widget.node.addEventListener(kind, (/** @type {Event} */ event) => event.stopPropagation());
  }
  widget.addClass("jp-PaimonProgress");
  const show = (/** @type {any} */ data) => {
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

/**
 * Shows in a notebook how far the statements of its kernel are.
 * @param {any} Widget Lumino's class
 */
export function progressOf(Widget) {
  return (/** @type {any} */ panel, /** @type {any} */ kernel) => {
    /** @type {Map<string, { bar: ReturnType<typeof progressBar>, lost: ReturnType<typeof setTimeout> | undefined }>} */
    const bars = new Map();
    const remove = (/** @type {string} */ parent) => {
      const shown = bars.get(parent);
      if (!shown) return;
      clearTimeout(shown.lost);
      shown.bar.widget.dispose();
      bars.delete(parent);
    };
    const clear = () => [...bars.keys()].forEach(remove);
    /** @param {any} data @param {string} parent */
    const show = (data, parent) => {
      const cells = panel.content.widgets;
      const cell =
        cells.find((/** @type {any} */ cell) => cell.model.id === data.cell) ??
        cells.find((/** @type {any} */ cell) => cell.outputArea?.future?.msg?.header.msg_id === parent);
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
    const heard = (/** @type {any} */ data, /** @type {string} */ parent) => {
      if (data.kind === "progress" && state.settings.showProgress) show(data, parent);
      else if (data.kind === "done") remove(parent);
    };
    return { heard, clear };
  };
}
