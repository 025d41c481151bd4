// @ts-check
// Dates, names with hyphens, and numbers with their units, that stay in one line.
import { h } from "./elements.js";

/** Letters of a name with hyphens that is kept in one line: `num-sorted-run.compaction-trigger`, and signs at it. */
const NAME = 40;

/** @param {string} word */
const kept = (word) => ((/\d-\d\d/.test(word) && word.length < 32) || (/\p{L}-\w|\w-\p{L}/u.test(word) && word.length > 14 && word.length <= NAME) ? h("span", { style: "white-space: nowrap" }, word) : word);

/** A text whose dates and names are not broken, with the names and signs at them, and whose numbers keep their units; a long path is broken behind slashes. @param {string} text */
export function unbroken(text) {
  return text.replace(/(\d) (?=(([kMGTP]i?)?B|bytes)\b|%)/g, "$1\u00a0").split(/( +)/).flatMap((word) => (word.length > NAME && word.includes("-") ? word.split(/(?<=\/)/) : [word]).map(kept));
}
