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
 * @param {{id: string, link: string}} data
 * @param {{tell?: (selection: Selection) => void, ask?: ((request: Record<string, unknown>) => Promise<any>) | null}} [kernel]
 * @returns {import("./host").Host}
 */
export function pageHost(data, { tell, ask = null } = {}) {
  const all = selections();
  const me = {};
  return {
    select(selection) {
      all.dispatchEvent(new CustomEvent(`select ${data.link}`, { detail: { selection, from: me } }));
      tell?.(selection);
    },
    onSelect(heard) {
      /** @param {Event} event */
      const listen = (event) => {
        const { selection, from } = /** @type {CustomEvent} */ (event).detail;
        if (from !== me) heard(selection);
      };
      all.addEventListener(`select ${data.link}`, listen);
      return () => all.removeEventListener(`select ${data.link}`, listen);
    },
    ask,
  };
}
