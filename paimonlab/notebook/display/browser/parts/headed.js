// @ts-check
// The frame of views with lists, cards, headlines and empty states: all but the rows of a query.
import { AMOUNTS, tokensOf } from "./amounts.js";
import { unbroken } from "./dates.js";
import { h } from "./elements.js";
import { plainFrame } from "./frame.js";

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

/** Letters of a note beside the title; a longer one is under the headline. */
const A_LINE_BESIDE = 90;

/**
 * Put an empty frame with a headline into `el`.
 * @param {HTMLElement} el
 * @param {{title: string, note?: string, headline?: string, css?: string}} what `headline` says what happened, as a person would
 */
export function frame(el, { headline = "", note = "", css = "", ...what }) {
  const isLong = note.length > A_LINE_BESIDE;
  const made = plainFrame(el, { ...what, note: isLong ? "" : note, css: LISTED + css });
  if (headline) made.body.before(h("p", { class: "headline" }, ...unbroken(headline)));
  if (isLong) made.body.before(h("p", { class: "legend" }, note));
  return made;
}
