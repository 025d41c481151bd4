// @ts-check
// Widths of columns, and those at the left that stay when the rest is scrolled.
import { halfOf } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").ResultColumn} ResultColumn */

const CHARACTER = 7.4;
const PADDING = 20;
const MOST_FACTS = 240;

/**
 * The width that a column needs, guessed: nothing has to be laid out for it.
 * @param {ResultColumn} column @param {(string | null)[]} cells some of it @param {string[]} facts lines under its head
 */
export function usualWidth(column, cells, facts) {
  const widest = Math.max(textColumns(column.name) * (halfOf(column.name) / (column.name.length || 1)) + 3, Math.min(textColumns(column.type), 16), ...cells.map((cell) => textColumns(cell ?? "NULL") * (column.isNumber ? 1.3 : 1)));
  const lines = Math.min(MOST_FACTS, Math.max(...facts.map(factWidth)));
  const least = facts.length ? Math.max(column.bins.length || column.top.length ? 116 : 70, lines) : 80;
  return Math.round(Math.max(least, Math.min(320, widest * CHARACTER + PADDING)));
}

/** The width of a line under a head, in small letters. @param {string} line */
function factWidth(line) {
  return [...line].reduce((sum, letter) => sum + (/[\dA-Zmw%]/.test(letter) ? 7.1 : /[ ,.:;…-]/.test(letter) ? 4 : letter > "\u1100" ? 11 : 5.5), PADDING);
}

/** @param {string} text */
function textColumns(text) {
  let width = 0;
  for (const character of text.slice(0, 60)) width += /** @type {number} */ (character.codePointAt(0)) > 0x1100 ? 1.8 : 1;
  return width;
}

/**
 * A style sheet for them.
 * @param {number[]} widths @param {number} numberWidth of the row numbers @param {number} fixedCount
 */
export function widthRules(widths, numberWidth, fixedCount) {
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
