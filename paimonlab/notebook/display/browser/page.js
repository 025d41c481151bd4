// @ts-check
// The host of a page of its own: no kernel; views of the same table hear each other.

/** @typedef {import("./host").Selection} Selection */

/**
 * Selections on this page, by table. All hosts use it, whatever brought them here.
 * @returns {EventTarget}
 */
export function selections() {
  const page = /** @type {any} */ (globalThis);
  page.paimonlabSelections ??= new EventTarget();
  return page.paimonlabSelections;
}

/**
 * Views of one table in one notebook follow each other's selections. Which page a view is in is
 * looked up only when something is chosen: a view is drawn before it is put into the page.
 * @param {{id: string, link: string}} data
 * @param {{el?: HTMLElement, tell?: (selection: Selection) => void, ask?: ((request: Record<string, unknown>) => Promise<any>) | null}} [around]
 * @returns {import("./host").Host}
 */
export function pageHost(data, { el, tell, ask = null } = {}) {
  const all = selections();
  const me = {};
  const place = () => `${el?.closest(".jp-NotebookPanel")?.id ?? ""} ${data.link}`;
  return {
    select(selection) {
      all.dispatchEvent(new CustomEvent("select", { detail: { selection, from: me, place: place() } }));
      tell?.(selection);
    },
    onSelect(heard) {
      /** @param {Event} event */
      const listen = (event) => {
        const { selection, from, place: there } = /** @type {CustomEvent} */ (event).detail;
        if (from !== me && there === place()) heard(selection);
      };
      all.addEventListener("select", listen);
      return () => all.removeEventListener("select", listen);
    },
    ask,
  };
}
