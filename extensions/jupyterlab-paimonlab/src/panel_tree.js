// @ts-check
// The tree of the catalog panel: entries are fetched when they are opened, a page at a time.

import { ago, h } from "../../../paimonlab/notebook/display/browser/parts.js";

/**
 * @typedef {import("./panel_server.js").Entry} Entry
 * @typedef {{ entry: Entry, path: string[], isOpen: boolean, below: Branch[] | null, total: number, problem: string, isLoading: boolean }} Branch
 *   `below` is null until it was fetched
 */

const PAGE = 200;
const LARGEST_PAGE = 1000;

/** @param {readonly string[]} path */
export const keyOf = (path) => JSON.stringify(path);

/**
 * @param {{ fetch: (path: string[], offset: number, limit: number) => Promise<{ entries: Entry[], total: number }>,
 *   choose: (branch: Branch, again?: boolean) => void, open: (branch: Branch) => void, menu: (branch: Branch, x: number, y: number) => void, changed: () => void }} what
 *   `choose` is called, `again` if it was chosen before and may be another, when the focus moves or a click chooses, `open` for Enter on what has nothing below it and a double click
 */
export function catalogTree({ fetch, choose, open, menu, changed }) {
  const element = h("div", { class: "jp-PaimonCatalog-tree", role: "tree", "aria-label": "catalogs" });
  /** @type {Branch[]} */
  let roots = [];
  /** @type {Set<string>} */
  let opened = new Set();
  let chosen = "";
  let typed = "";
  let typedAt = 0;

  /** @param {Entry} entry @param {string[]} above @returns {Branch} */
  const branchOf = (entry, above) => {
    const path = [...above, entry.name];
    return { entry, path, isOpen: false, below: null, total: 0, problem: "", isLoading: false };
  };
  /** @param {Branch} branch @param {number} [limit] */
  const load = async (branch, limit = PAGE) => {
    const known = branch.below ?? [];
    branch.isLoading = true;
    draw();
    try {
      const page = await fetch(branch.path, known.length, limit);
      branch.below = [...known, ...page.entries.map((entry) => branchOf(entry, branch.path))];
      branch.total = page.entries.length ? page.total : branch.below.length;
      branch.problem = "";
    } catch (reason) {
      branch.below = known;
      branch.problem = String(/** @type {Error} */ (reason).message);
    }
    branch.isLoading = false;
    draw();
    const waiting = branch.below.slice(known.length).filter((one) => one.entry.hasChildren && opened.has(keyOf(one.path)));
    await Promise.all(waiting.map(expand));
  };
  /** @param {Branch} branch */
  const expand = async (branch) => {
    if (!branch.entry.hasChildren) return;
    branch.isOpen = true;
    opened.add(keyOf(branch.path));
    if (branch.below === null) await load(branch);
    else draw();
  };
  /** @param {Branch} branch */
  const collapse = (branch) => {
    branch.isOpen = false;
    opened.delete(keyOf(branch.path));
    draw();
  };
  /** @returns {Branch[]} */
  const shown = () => {
    /** @type {Branch[]} */
    const lines = [];
    const visit = (/** @type {Branch} */ branch) => {
      lines.push(branch);
      if (branch.isOpen) branch.below?.forEach(visit);
    };
    roots.forEach(visit);
    return lines;
  };
  /** @param {Branch} branch @param {boolean} [focus] */
  const pick = (branch, focus = true) => {
    chosen = keyOf(branch.path);
    draw();
    if (focus) lineOf(branch)?.focus();
    choose(branch);
    changed();
  };
  /** @param {Branch} branch @returns {HTMLElement | undefined} */
  const lineOf = (branch) => /** @type {HTMLElement[]} */ ([...element.children]).find((line) => line.dataset.key === keyOf(branch.path));

  const draw = () => {
    const focused = element.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement).dataset.key : null;
    const lines = shown();
    const stop = lines.find((branch) => keyOf(branch.path) === chosen) ?? lines[0];
    element.replaceChildren(...lines.flatMap((branch) => [line(branch, branch === stop), ...notes(branch)]));
    const now = lines.find((branch) => keyOf(branch.path) === focused) ?? stop;
    if (focused !== null && now) lineOf(now)?.focus();
  };
  /** @param {Branch} branch @param {boolean} isStop whether Tab leads to it */
  const line = (branch, isStop) => {
    const { entry, path, isOpen } = branch;
    const key = keyOf(path);
    const detail = [entry.detail, entry.timeMillis === null ? "" : ago(entry.timeMillis)].filter(Boolean).join(" · ");
    const made = h("div", {
      role: "treeitem", class: "jp-PaimonCatalog-line", "data-key": key, "data-kind": entry.kind, tabindex: isStop ? "0" : "-1", title: `${entry.label}${detail && `\n${detail}`}`,
      "aria-level": path.length, "aria-selected": String(key === chosen), "aria-expanded": entry.hasChildren ? String(isOpen) : null, "aria-busy": branch.isLoading || null,
      style: `padding-left:${8 + 14 * (path.length - 1)}px`, draggable: entry.insert ? "true" : null,
      onclick: () => pick(branch),
      oncontextmenu: (/** @type {MouseEvent} */ event) => {
        event.preventDefault();
        event.stopPropagation(); // that of JupyterLab would open beside it
        pick(branch);
        menu(branch, event.clientX, event.clientY);
      },
      ondblclick: () => (entry.hasChildren ? undefined : open(branch)),
      ondragstart: (/** @type {DragEvent} */ event) => event.dataTransfer?.setData("text/plain", entry.insert),
    },
      h("span", { class: "jp-PaimonCatalog-fold", "aria-hidden": "true", onclick: (/** @type {Event} */ event) => {
        if (!entry.hasChildren) return;
        event.stopPropagation();
        isOpen ? collapse(branch) : expand(branch).then(changed);
        changed();
      } }, entry.hasChildren ? (isOpen ? "▾" : "▸") : ""),
      h("span", { class: "jp-PaimonCatalog-name" }, entry.label),
      detail && h("span", { class: "jp-PaimonCatalog-detail" }, detail));
    return made;
  };
  /** What stands below an open entry's own: more of them, why there are none. @param {Branch} branch */
  const notes = (branch) => {
    if (!branch.isOpen) return [];
    const style = `padding-left:${22 + 14 * branch.path.length}px`;
    const { below, total, problem, isLoading } = branch;
    if (isLoading && !below?.length) return [h("div", { class: "jp-PaimonCatalog-note", style }, "loading …")];
    if (problem) return [h("div", { class: "jp-PaimonCatalog-note jp-mod-problem", role: "alert", style }, problem)];
    if (!below?.length) return [h("div", { class: "jp-PaimonCatalog-note", style }, "nothing is here yet")];
    if (below.length >= total) return [];
    const left = (total - below.length).toLocaleString("en-US");
    return [h("div", { class: "jp-PaimonCatalog-note", style }, h("button", { type: "button", onclick: () => load(branch, LARGEST_PAGE) }, `show more (${left} left)`))];
  };

  element.addEventListener("keydown", (event) => {
    const line = /** @type {HTMLElement} */ (event.target).closest("[role=treeitem]");
    if (!(line instanceof HTMLElement) || event.ctrlKey || event.metaKey || event.altKey) return;
    const lines = shown();
    const at = lines.findIndex((branch) => keyOf(branch.path) === line.dataset.key);
    const branch = lines[at];
    if (!branch) return;
    const go = (/** @type {number} */ place) => lines[place] && pick(lines[place]);
    const above = () => lines.findIndex((one) => keyOf(one.path) === keyOf(branch.path.slice(0, -1)));
    const keys = /** @type {Record<string, () => unknown>} */ ({
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      Home: () => go(0),
      End: () => go(lines.length - 1),
      PageDown: () => go(Math.min(at + 10, lines.length - 1)),
      PageUp: () => go(Math.max(at - 10, 0)),
      ArrowRight: () => (!branch.isOpen ? expand(branch).then(changed) : branch.below?.length && go(at + 1)),
      ArrowLeft: () => (branch.isOpen ? (collapse(branch), changed()) : go(above())),
      Enter: () => (branch.entry.hasChildren && !branch.isOpen ? (pick(branch), expand(branch).then(changed)) : open(branch)),
      " ": () => pick(branch),
    });
    if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) {
      pick(branch);
      const { left, bottom } = (lineOf(branch) ?? line).getBoundingClientRect();
      menu(branch, left + 8 + 14 * branch.path.length, bottom);
    } else if (Object.hasOwn(keys, event.key)) keys[event.key]();
    else if (event.key.length === 1) {
      typed = event.timeStamp - typedAt > 700 ? event.key : typed + event.key;
      typedAt = event.timeStamp;
      const wanted = typed.toLowerCase();
      const order = [...lines.slice(at + (typed.length > 1 ? 0 : 1)), ...lines.slice(0, at + 1)];
      const found = order.find(({ entry }) => entry.label.toLowerCase().startsWith(wanted));
      if (found) pick(found);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });

  return {
    element,
    /** Show other roots; what was open is opened again. @param {Entry[]} entries */
    async show(entries) {
      roots = entries.map((entry) => branchOf(entry, []));
      draw();
      await Promise.all(roots.filter(({ entry, path }) => entry.hasChildren && opened.has(keyOf(path))).map(expand));
      const now = shown().find((branch) => keyOf(branch.path) === chosen);
      if (now) choose(now, true);
    },
    /** Fetch anew what is below an entry that is open. @param {readonly string[]} path */
    async renew(path) {
      const branch = shown().find((one) => keyOf(one.path) === keyOf(path));
      if (!branch) return;
      branch.below = null;
      if (branch.isOpen) await load(branch);
      const now = shown().find((one) => keyOf(one.path) === chosen);
      if (now && chosen.startsWith(keyOf(path).slice(0, -1))) choose(now, true);
    },
    /** Open everything above an entry and choose it. @param {readonly string[]} path */
    async reveal(path) {
      let level = roots;
      for (let depth = 1; depth <= path.length; depth += 1) {
        const key = keyOf(path.slice(0, depth));
        const above = depth > 1 ? shown().find((branch) => keyOf(branch.path) === keyOf(path.slice(0, depth - 1))) : null;
        let found = level.find((branch) => keyOf(branch.path) === key);
        while (!found && above && above.below && above.below.length < above.total && !above.problem) {
          await load(above, LARGEST_PAGE);
          found = above.below.find((branch) => keyOf(branch.path) === key);
        }
        if (!found) return;
        if (depth === path.length) pick(found);
        else {
          await expand(found);
          level = found.below ?? [];
        }
      }
    },
    /** @returns {{ opened: string[], chosen: string }} */
    state: () => ({ opened: [...opened], chosen }),
    /** @param {any} state what `state` gave */
    restore(state) {
      const isText = (/** @type {unknown} */ one) => typeof one === "string";
      opened = new Set(Array.isArray(state?.opened) ? state.opened.filter(isText) : []);
      chosen = isText(state?.chosen) ? state.chosen : "";
    },
  };
}
