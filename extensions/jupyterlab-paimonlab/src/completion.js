// @ts-check
// Completion of SQL while a cell runs: the kernel is asked in a subshell, a second thread of it.
//
// JupyterLab waits for all providers of completions, and the kernel's own waits for the cell. So
// where we answer, that one is left out: nothing is offered twice, and nothing waits.

import { state } from "./state.js";

/** @typedef {import("./kernels.js").KernelLink} KernelLink */

const KERNEL_PROVIDER = "CompletionProvider:kernel";
const OURS = "CompletionProvider:paimonlab";
const MAGIC = /^\s*(?:\w+\s*=\s*)?%%?paimon\w*\s/u;
const CELL_MAGIC = /^\s*%%paimon\w*\s/u;

/** Whether the cursor is behind a magic of ours. @param {string} before the text up to it */
export function isOurs(before) {
  return CELL_MAGIC.test(before) || MAGIC.test(before.slice(before.lastIndexOf("\n") + 1));
}

/**
 * @param {any} manager of completion providers
 * @param {(kernel: any) => KernelLink | null} linkOf
 */
export function completionProvider(manager, linkOf) {
  /** @type {WeakSet<object>} */
  const answered = new WeakSet();
  /** @type {any} */
  let usual = null;
  const leaveOutUsual = () => {
    if (usual !== null) return;
    usual = manager.getProviders().get(KERNEL_PROVIDER) ?? null;
    const isApplicable = usual?.isApplicable.bind(usual);
    if (usual === null) return;
    usual.isApplicable = async (/** @type {any} */ context) =>
      answered.delete(context) ? false : isApplicable(context);
  };
  const linkFor = (/** @type {any} */ context) => {
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
    // Asked right before the usual provider, whose rank is lower.
    async isApplicable(/** @type {any} */ context) {
      leaveOutUsual();
      answered.delete(context);
      const isHere = usual !== null && linkFor(context) !== null;
      if (isHere) answered.add(context);
      return isHere;
    },
    async fetch(/** @type {any} */ request, /** @type {any} */ context, /** @type {any} */ trigger) {
      const found = await linkFor(context)
        ?.ask({ complete: { code: request.text, offset: request.offset } })
        .catch(() => null);
      if (!found?.items.length) return usual.fetch(request, context, trigger);
      const items = found.items.map((/** @type {any} */ item) => ({ label: item.text, type: item.type, insertText: item.text }));
      return { start: found.start, end: found.end, items };
    },
  };
}
