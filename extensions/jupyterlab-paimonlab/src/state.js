// @ts-check
// What the renderer and the plugin of the extension share.

/**
 * @typedef {{ linkViews: boolean, tellKernel: boolean }} Settings
 * @typedef {{ send(message: Record<string, unknown>): void, hear(heard: (message: any) => void): () => void }} Channel
 */

export const TARGET = "paimonlab";

/** @type {{ settings: Settings, channel: ((element: HTMLElement) => Channel | null) | null }} */
export const state = {
  settings: { linkViews: true, tellKernel: true },
  /** Finds the way to the kernel of the notebook around an element; the plugin sets it. */
  channel: null,
};
