// @ts-check
// What the modules of the extension share.

/**
 * @typedef {{ linkViews: boolean, tellKernel: boolean, showProgress: boolean, completeSql: boolean, highlightSql: boolean }} Settings
 * @typedef {{ send(message: Record<string, unknown>): void, hear(heard: (message: any) => void): () => void, end(): void }} Channel
 *   whoever hears is told null when the kernel has closed it, or is another one
 */

export const TARGET = "paimonlab";

/**
 * @type {{ settings: Settings, changed: Set<() => void>, channel: ((element: HTMLElement) => Channel | null) | null,
 *   now: ((element: HTMLElement, message: Record<string, unknown>) => boolean) | null }}
 */
export const state = {
  settings: { linkViews: true, tellKernel: true, showProgress: true, completeSql: true, highlightSql: true },
  /** Called when a setting is another. */
  changed: new Set(),
  /** Finds the way to the kernel of the notebook around an element; the plugin sets it. */
  channel: null,
  /** Tells that kernel what need not wait for the cell that runs; false where it would have to. */
  now: null,
};
