// @ts-check
// A list that is searched and sorted; a row that is chosen shows all it has, to be copied.
import { card } from "./card.js";
import { copyButton } from "./copy.js";
import { count } from "./counts.js";
import { empty } from "./empty.js";
import { h } from "./elements.js";
import { grid } from "./grid.js";
import { frame } from "./headed.js";

/**
 * @template Row
 * @param {HTMLElement} el
 * @param {{title: string, headline: string, note?: string, none: string, heads: import("./grid.js").Head[], rows: readonly Row[], cellsOf: (row: Row) => any[],
 *   factsOf: (row: Row) => [string, import("./elements.js").Child][], copiesOf: (row: Row) => [string, string][]}} what
 *   `none` is said where there are no rows, instead of the headline if it is not empty; `copiesOf` gives what a button says and what it copies
 */
export function listing(el, { title, headline, note, none, heads, rows, cellsOf, factsOf, copiesOf }) {
  const { body, say, stop } = frame(el, { title, note, headline: rows.length || !none ? headline : "" });
  if (!rows.length) {
    if (none) body.append(empty(none));
    return stop;
  }
  const details = h("div");
  const list = h("div");
  /** @type {Row | undefined} */
  let chosen;
  const draw = () => {
    const wanted = search.value.toLowerCase();
    const shown = rows.filter((row) => !wanted || cellsOf(row).some((cell) => String(cell ?? "").toLowerCase().includes(wanted)));
    const made = grid({ label: title, heads, rows: shown.map((row) => [...cellsOf(row), row]), selected: (cells) => cells[heads.length] === chosen,
      onChoose: (cells) => {
        chosen = /** @type {Row} */ (cells[heads.length]);
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
