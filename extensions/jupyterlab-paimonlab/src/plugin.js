// @ts-check
// Settings, and the way from a view to the kernel of its notebook.

import { TARGET, state } from "./state.js";

export const PLUGIN = "jupyterlab-paimonlab:plugin";

/** @typedef {import("./state.js").Channel} Channel */

/**
 * One channel for each kernel, opened when it is first needed.
 * @param {WeakMap<object, Channel>} open
 * @param {any} kernel
 * @returns {Channel}
 */
export function channelTo(open, kernel) {
  const found = open.get(kernel);
  if (found) return found;
  const comm = kernel.createComm(TARGET);
  /** @type {Set<(message: any) => void>} */
  const listeners = new Set();
  const end = () => {
    open.delete(kernel);
    listeners.forEach((heard) => heard(null));
  };
  comm.onMsg = (/** @type {any} */ message) => listeners.forEach((heard) => heard(message.content.data));
  comm.onClose = end; // also where the kernel has not loaded paimonlab
  kernel.disposed.connect(end);
  comm.open({});
  const channel = {
    /** @param {Record<string, unknown>} message */
    send: (message) => comm.send(message),
    /** @param {(message: any) => void} heard */
    hear(heard) {
      listeners.add(heard);
      return () => listeners.delete(heard);
    },
    end,
  };
  open.set(kernel, channel);
  return channel;
}

/**
 * @param {any} INotebookTracker a token
 * @param {any} ISettingRegistry a token
 */
export function plugin(INotebookTracker, ISettingRegistry) {
  return {
    id: PLUGIN,
    description: "Settings of Paimon views, and their way to the kernel.",
    autoStart: true,
    optional: [INotebookTracker, ISettingRegistry],
    /** @param {any} _app @param {any} tracker @param {any} registry */
    activate(_app, tracker, registry) {
      const open = new WeakMap();
      const restarted = new WeakSet();
      state.channel = (element) => {
        const panel = tracker?.find((/** @type {any} */ one) => one.node.contains(element));
        const session = panel?.sessionContext?.session;
        if (!session?.kernel) return null;
        if (!restarted.has(session)) {
          restarted.add(session);
          session.statusChanged.connect((/** @type {any} */ _session, /** @type {string} */ status) => {
            if (/restarting|terminating|dead/.test(status) && session.kernel) open.get(session.kernel)?.end();
          });
        }
        return channelTo(open, session.kernel);
      };
      const read = (/** @type {any} */ settings) => {
        Object.assign(state.settings, settings.composite);
        state.changed.forEach((heard) => heard());
      };
      registry?.load(PLUGIN).then(
        (/** @type {any} */ settings) => {
          settings.changed.connect(read);
          read(settings);
        },
        (/** @type {unknown} */ reason) => console.warn("paimonlab: no settings, the defaults apply", reason),
      );
    },
  };
}
