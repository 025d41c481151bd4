// @ts-check
// Kernels of notebooks that have loaded paimonlab: what they tell, and how to ask them.
//
// Both sides know one comm by its name, and neither opens it. A kernel says "here" when it loads
// paimonlab; that a page was opened later is found by asking the kernel which comms it has.

import { state } from "./state.js";

export const COMM = "paimonlab-plugin";
const ANSWER_MILLIS = 700;

/**
 * @typedef {(message: Record<string, unknown>) => any} MessageOf makes a message of a kernel
 * @typedef {(data: any, parent: string) => void} Heard is given what was told, and the message that it is about
 */

/** One kernel, as one notebook is connected to it. */
export class KernelLink {
  /** @param {any} kernel @param {MessageOf} messageOf @param {{ heard: Heard, clear: () => void }} shown */
  constructor(kernel, messageOf, { heard, clear }) {
    this.kernel = kernel;
    this.messageOf = messageOf;
    this.clear = clear;
    this.isLoaded = false;
    /** @type {string | null} null: the kernel has no subshells, or has not made ours yet. */
    this.subshell = null;
    kernel.iopubMessage.connect((/** @type {any} */ _kernel, /** @type {any} */ message) => {
      const { header, content, parent_header: parent } = message;
      if (header.msg_type === "comm_msg" && content.comm_id === COMM) {
        this.load();
        heard(content.data, parent?.msg_id ?? "");
      } else if (header.msg_type === "status" && content.execution_state === "idle") {
        heard({ kind: "done" }, parent?.msg_id ?? "");
      }
    });
    kernel.statusChanged.connect((/** @type {any} */ _kernel, /** @type {string} */ status) => {
      if (!/restarting|terminating|dead/.test(status)) return;
      this.isLoaded = false;
      this.subshell = null;
      clear();
    });
    kernel.connectionStatusChanged.connect((/** @type {any} */ _kernel, /** @type {string} */ status) => {
      if (status === "connected") this.look();
    });
    this.look();
  }

  /** Find out whether the kernel has loaded paimonlab; one that is busy answers later. */
  async look() {
    try {
      await this.kernel.info;
      const reply = await this.kernel.requestCommInfo({ target_name: COMM });
      if (Object.hasOwn(reply.content.comms ?? {}, COMM)) this.load();
    } catch {
      // The kernel went away, or knows no comms.
    }
  }

  /** Remember that paimonlab is there, and say who we are. */
  async load() {
    if (this.isLoaded) return;
    this.isLoaded = true;
    if (this.kernel.supportsSubshells) {
      try {
        const reply = await this.kernel.requestCreateSubshell({}).done;
        this.subshell = reply.content.subshell_id ?? null;
      } catch {
        // It answers when it is idle.
      }
    }
    this.tellSettings();
  }

  tellSettings() {
    if (!state.settings.showProgress) this.clear();
    if (this.isLoaded) this.say({ listens: state.settings.showProgress });
  }

  /** @param {Record<string, unknown>} data */
  say(data) {
    const { kernel, subshell } = this;
    const who = { username: kernel.username, session: kernel.clientId };
    const content = { comm_id: COMM, data };
    const message = this.messageOf({ msgType: "comm_msg", channel: "shell", ...who, subshellId: subshell, content });
    return kernel.sendShellMessage(message, false, true);
  }

  /**
   * Ask what needs no waiting for the cell that runs.
   * @param {Record<string, unknown>} data
   * @returns {Promise<any>}
   */
  ask(data) {
    return new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error("paimonlab: no answer of the kernel")), ANSWER_MILLIS);
      const future = this.say(data);
      future.onIOPub = (/** @type {any} */ message) => {
        if (message.header.msg_type === "comm_msg" && message.content.comm_id === COMM) resolve(message.content.data);
      };
    });
  }
}

/**
 * Follow the kernels of all notebooks.
 * @param {any} tracker of notebooks
 * @param {MessageOf} messageOf
 * @param {(panel: any, kernel: any) => { heard: Heard, clear: () => void }} showOf shows in a notebook what its kernel tells
 * @returns {(kernel: any) => KernelLink | null}
 */
export function followKernels(tracker, messageOf, showOf) {
  /** @type {WeakMap<object, KernelLink>} */
  const links = new WeakMap();
  /** @type {Set<KernelLink>} */
  const all = new Set();
  const connect = (/** @type {any} */ panel) => {
    const kernel = panel.sessionContext.session?.kernel;
    if (!kernel || links.has(kernel)) return;
    const link = new KernelLink(kernel, messageOf, showOf(panel, kernel));
    links.set(kernel, link);
    all.add(link);
    kernel.disposed.connect(() => {
      all.delete(link);
      link.clear();
    });
  };
  const follow = (/** @type {any} */ panel) => {
    panel.sessionContext.kernelChanged.connect(() => connect(panel));
    connect(panel);
  };
  tracker.forEach(follow);
  tracker.widgetAdded.connect((/** @type {any} */ _tracker, /** @type {any} */ panel) => follow(panel));
  state.changed.add(() => all.forEach((link) => link.tellSettings()));
  return (kernel) => links.get(kernel) ?? null;
}
