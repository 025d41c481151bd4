// @ts-check
// Draws outputs of our MIME type. Safe for notebooks that are not trusted: what comes from the
// notebook is only ever written as text.

import { state } from "./state.js";

export const MIME = "application/vnd.paimonlab.view.v1+json";

let questions = 0;

/**
 * The host of a view inside a notebook.
 * @param {any} data
 * @param {HTMLElement} element
 * @param {(data: any, around: any) => any} pageHost
 */
export function notebookHost(data, element, pageHost) {
  const kernel = () => (state.settings.tellKernel ? (state.channel?.(element) ?? null) : null);
  const tell = (/** @type {any} */ selected) => kernel()?.send({ id: data.id, selected });
  const ask = (/** @type {Record<string, unknown>} */ request) =>
    new Promise((resolve, reject) => {
      // What runs in a cell keeps the kernel from hearing the channel.
      if (request.stop === true && state.now?.(element, { stop: data.id })) {
        resolve({ state: "stopping" });
        return;
      }
      const channel = kernel();
      if (channel === null) {
        reject(new Error("no kernel: run the cell to ask for more"));
        return;
      }
      const number = (questions += 1);
      const stop = channel.hear((message) => {
        if (message !== null && message.number !== number) return;
        stop();
        if (message === null) reject(new Error("the kernel does not know the view: run the cell again to ask for more"));
        else if (message.error) reject(new Error(message.error));
        else resolve(message.reply);
      });
      channel.send({ id: data.id, number, request });
    });
  const host = pageHost(data, { el: element, tell, ask: kernel() ? ask : null });
  const isLinked = () => state.settings.linkViews;
  return {
    ...host,
    /** @param {any} selection */
    select: (selection) => (isLinked() ? host.select(selection) : tell(selection)),
    /** @param {(selection: any) => void} heard */
    onSelect: (heard) => host.onSelect((/** @type {any} */ selection) => isLinked() && heard(selection)),
  };
}

/**
 * @param {any} Widget Lumino's class
 * @param {Record<string, (context: any) => (() => void) | void>} views how each kind is drawn
 * @param {(data: any, around: any) => any} pageHost
 */
export function rendererFactory(Widget, views, pageHost) {
  class View extends Widget {
    constructor() {
      super();
      this.addClass("jp-RenderedPaimonView");
      /** @type {any} */
      this.data = null;
      /** @type {((() => void) & { update?: (view: any) => void }) | null} */
      this.cleanUp = null;
    }

    /** @param {any} model */
    async renderModel(model) {
      const before = this.data;
      this.data = model.data[MIME];
      // The kernel drew the same view anew: one that follows a table keeps what was chosen in it.
      const update = this.data?.id === before?.id && this.data?.kind === before?.kind ? this.cleanUp?.update : undefined;
      if (update) update(this.data.view);
      else if (this.isAttached) this.draw();
    }

    /** The notebook around the output is known only now. */
    onAfterAttach() {
      if (this.data !== null && this.cleanUp === null) this.draw();
    }

    draw() {
      this.cleanUp?.();
      const data = this.data;
      const place = document.createElement("div");
      this.node.replaceChildren(place);
      const render = data?.v === 1 && Object.hasOwn(views, data.kind) ? views[data.kind] : null;
      if (render === null) {
        place.textContent = `This output was made by another version of paimonlab (${String(data?.kind).slice(0, 40)}); run the cell again.`;
        this.cleanUp = () => {};
        return;
      }
      this.cleanUp = render({ data, el: place, host: notebookHost(data, place, pageHost) }) ?? (() => {});
    }

    dispose() {
      this.cleanUp?.();
      this.cleanUp = null;
      super.dispose();
    }
  }
  return {
    safe: true,
    mimeTypes: [MIME],
    defaultRank: 0,
    createRenderer: () => new View(),
  };
}
