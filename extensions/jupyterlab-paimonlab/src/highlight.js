// @ts-check
// Colours of the SQL in cells, those of JupyterLab's theme. Words that are seen are marked, and no others.

import { paimonTokens } from "./sql_tokens.js";
import { state } from "./state.js";

/** @type {Record<string, string>} */
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

/**
 * Make the extension of an editor.
 * @param {any} view the module `@codemirror/view`
 * @param {any} states the module `@codemirror/state`
 */
export function sqlColours({ Decoration, EditorView, ViewPlugin }, { Prec, RangeSetBuilder, StateEffect }) {
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

  /** @param {any} model of the editor */
  return (model) => {
    class Colours {
      /** @param {any} editor */
      constructor(editor) {
        /** @type {any} */
        this.doc = null;
        this.end = 0;
        this.mimeType = "";
        /** @type {import("./sql_tokens.js").SqlToken[]} */
        this.tokens = [];
        this.changed = () => editor.dispatch({ effects: again.of(null) });
        state.changed.add(this.changed);
        this.decorations = this.draw(editor);
      }

      /** @param {any} update */
      update(update) {
        const isAsked = update.transactions.some((/** @type {any} */ transaction) =>
          transaction.effects.some((/** @type {any} */ effect) => effect.is(again)),
        );
        const isOther = model.mimeType !== this.mimeType; // a notebook says it after it made the editor
        if (isAsked || isOther || update.docChanged || update.viewportChanged) this.decorations = this.draw(update.view);
      }

      destroy() {
        state.changed.delete(this.changed);
      }

      /** @param {any} editor */
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
    const plugin = ViewPlugin.fromClass(Colours, { decorations: (/** @type {any} */ colours) => colours.decorations });
    return [Prec.highest(plugin), theme];
  };
}
