// @ts-check
// The frame of views with lists, cards, headlines and empty states: all but the rows of a query.
import { h } from "./elements.js";
import { plainFrame } from "./frame.js";

const LISTED = `
.frame[data-theme="dark"] { --error: #ff9a5c; --warning: #f0b429; --ok: #4cc9a0; } .frame[data-theme="light"] { --error: #a83c00; --warning: #7a5200; --ok: #00694c; }
.headline { font-size: 15px; margin: 0 0 8px; overflow-wrap: anywhere; } .empty { color: var(--faint); padding: 8px 0; } .empty code { color: var(--ink); }
.error { color: var(--error); } .warning { color: var(--warning); } .ok { color: var(--ok); }
td.line { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
[role=grid] :is(td, th):first-child { position: sticky; left: 0; background: inherit; z-index: 1; } [role=grid] th:first-child { background: var(--ground); z-index: 2; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 8px 0; } dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; unicode-bidi: plaintext; }
`;

/**
 * Put an empty frame with a headline into `el`.
 * @param {HTMLElement} el
 * @param {{title: string, note?: string, headline?: string, css?: string}} what `headline` says what happened, as a person would
 */
export function frame(el, { headline = "", css = "", ...what }) {
  const made = plainFrame(el, { ...what, css: LISTED + css });
  if (headline) made.body.before(h("p", { class: "headline" }, headline));
  return made;
}
