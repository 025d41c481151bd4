// @ts-check
// The tree of the catalog panel: entries are fetched when they are opened, a page at a time.

import { ago, h } from "../../../paimonlab/notebook/display/browser/parts.js";

/**
 * @typedef {import("./panel_server.js").Entry} Entry
 * @typedef {{ entry: Entry, path: string[], key: string, isOpen: boolean, below: Branch[] | null, total: number, problem: string, isLoading: boolean, line: HTMLElement | null }} Branch
 *   `below` is null until it was fetched, `line` until it was drawn
 */

const PAGE = 200;
const LARGEST_PAGE = 1000;

/** Names of so many letters are cut in the middle where they have no room: their ends tell them apart. */
const LETTERS_CUT_INSIDE = 22;
const LETTERS_KEPT = 12;
/** Letters that are written from left to right, one beside the other. */
const LEFT_TO_RIGHT = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}\d _.,:;/=$#@~+-]+$/u;

const SHORT_UNITS = /** @type {Record<string, string>} */ ({ second: " s", minute: " min", hour: " h", day: " d" });

/** @param {readonly string[]} path */
export const keyOf = (path) => JSON.stringify(path);

/** A name as it is shown: one text, or one whose beginning is cut first and one that stays. @param {string} name */
function halves(name) {
  if (name.length < LETTERS_CUT_INSIDE || !LEFT_TO_RIGHT.test(name)) return [name];
  const letters = [...name];
  const part = /[_.\-/=](?=[^_.\-/=])/;
  let at = letters.length - LETTERS_KEPT;
  for (let earlier = at; earlier > letters.length - LETTERS_KEPT - 5; earlier -= 1) {
    if (!part.test(letters.slice(earlier, earlier + 2).join(""))) continue;
    at = earlier;
    break;
  }
  return [h("span", {}, letters.slice(0, at).join("")), h("span", {}, letters.slice(at).join(""))];
}

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
  let isRestored = false;
  let typed = "";
  let typedAt = 0;
  /** What is drawn, by key. @type {Map<string, Branch>} */
  let drawn = new Map();
  /** Where Tab leads to. @type {Branch | undefined} */
  let stop;

  /** @param {Entry} entry @param {string[]} above @returns {Branch} */
  const branchOf = (entry, above) => {
    const path = [...above, entry.name];
    return { entry, path, key: keyOf(path), isOpen: false, below: null, total: 0, problem: "", isLoading: false, line: null };
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
    const waiting = branch.below.slice(known.length).filter((one) => one.entry.hasChildren && opened.has(one.key));
    await Promise.all(waiting.map(expand));
  };
  /** Take over what was below an entry before it was fetched anew. @param {Branch} branch @param {Branch | undefined} before @returns {Branch} */
  const after = (branch, before) => {
    if (before?.isOpen && branch.entry.hasChildren) Object.assign(branch, { isOpen: true, below: before.below, total: before.total });
    return branch;
  };
  /** Fetch anew what is seen below some entries; the old is seen until then. @param {readonly Branch[]} branches */
  const again = async (branches) => {
    await Promise.all(branches.filter(({ entry }) => entry.hasChildren).map(async (branch) => {
      if (branch.isOpen && branch.below !== null) await reload(branch);
      else if (opened.has(branch.key)) await expand(branch);
    }));
  };
  /** @param {Branch} branch whose entries were fetched, as many pages as were seen */
  const reload = async (branch) => {
    const before = new Map((branch.below ?? []).map((one) => [one.key, one]));
    /** @type {Branch[]} */
    const below = [];
    try {
      for (;;) {
        const page = await fetch(branch.path, below.length, Math.min(Math.max(before.size - below.length, PAGE), LARGEST_PAGE));
        below.push(...page.entries.map((entry) => branchOf(entry, branch.path)));
        branch.total = page.entries.length ? page.total : below.length;
        if (!page.entries.length || below.length >= Math.min(before.size, page.total)) break;
      }
      branch.problem = "";
    } catch (reason) {
      branch.problem = String(/** @type {Error} */ (reason).message);
    }
    branch.below = below.map((one) => after(one, before.get(one.key)));
    draw();
    await again(branch.below);
  };
  /** @param {Branch} branch */
  const expand = async (branch) => {
    if (!branch.entry.hasChildren) return;
    branch.isOpen = true;
    opened.add(branch.key);
    if (branch.below === null) await load(branch);
    else draw();
  };
  /** Fetch pages until what was chosen in an earlier session is among them. */
  const reach = async () => {
    const above = [...drawn.values()].find((branch) => branch.isOpen && chosen.startsWith(`${branch.key.slice(0, -1)},`) && chosen === keyOf([...branch.path, JSON.parse(chosen).at(-1)]));
    while (above?.below && !drawn.has(chosen) && above.below.length < above.total && !above.problem) await load(above, LARGEST_PAGE);
  };
  /** @param {Branch} branch */
  const collapse = (branch) => {
    branch.isOpen = false;
    opened.delete(branch.key);
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
  /** @param {Branch} branch */
  const pick = (branch) => {
    const before = [drawn.get(chosen), stop];
    chosen = branch.key;
    stop = branch;
    for (const one of [...before, branch]) if (one?.line) mark(one, one.line);
    branch.line?.focus();
    choose(branch);
    changed();
  };

  /** Lines that are drawn already are kept: a tree of a thousand tables is walked by an arrow key that is held down. */
  const draw = () => {
    const focused = element.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement).dataset.key : null;
    const lines = shown();
    drawn = new Map(lines.map((branch) => [branch.key, branch]));
    stop = drawn.get(chosen) ?? lines[0];
    const wanted = lines.flatMap((branch) => [line(branch), ...notes(branch)]);
    const kept = new Set(wanted);
    for (const one of [...element.children]) if (!kept.has(/** @type {HTMLElement} */ (one))) one.remove();
    let at = element.firstElementChild;
    for (const one of wanted) {
      if (one === at) at = at.nextElementSibling;
      else element.insertBefore(one, at);
    }
    const now = drawn.get(focused ?? "") ?? stop;
    if (focused !== null && now?.line !== document.activeElement) now?.line?.focus();
  };
  /** Write what changes of a line. @param {Branch} branch @param {HTMLElement} made */
  const mark = (branch, made) => {
    const { entry, key, isOpen, isLoading } = branch;
    made.tabIndex = branch === stop ? 0 : -1;
    made.setAttribute("aria-selected", String(key === chosen));
    if (entry.hasChildren) made.setAttribute("aria-expanded", String(isOpen));
    if (isLoading) made.setAttribute("aria-busy", "true");
    else made.removeAttribute("aria-busy");
    const fold = entry.hasChildren ? (isOpen ? "▾" : "▸") : "";
    if (made.firstElementChild && made.firstElementChild.textContent !== fold) made.firstElementChild.textContent = fold;
  };
  /** @param {Branch} branch @returns {HTMLElement} */
  const line = (branch) => {
    const made = (branch.line ??= newLine(branch));
    mark(branch, made);
    return made;
  };
  /** @param {Branch} branch @returns {HTMLElement} */
  const newLine = (branch) => {
    const { entry, path, key } = branch;
    const detail = [entry.timeMillis === null ? "" : ago(entry.timeMillis).replace(/ (minute|hour|day|second)s?/, (_, unit) => SHORT_UNITS[unit]), entry.detail].filter(Boolean).join(" · ");
    return h("div", {
      role: "treeitem", class: "jp-PaimonCatalog-line", "data-key": key, "data-kind": entry.kind, title: `${entry.label}${detail && `\n${detail}`}`,
      "aria-level": path.length, "aria-label": [entry.label, detail].filter(Boolean).join(", "),
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
        branch.isOpen ? collapse(branch) : expand(branch).then(changed);
        changed();
      } }),
      h("span", { class: "jp-PaimonCatalog-name" }, ...halves(entry.label)),
      detail && h("span", { class: "jp-PaimonCatalog-detail" }, detail));
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
    return [h("div", { class: "jp-PaimonCatalog-note", style }, h("button", { type: "button", onclick: async () => {
      await load(branch, LARGEST_PAGE);
      const next = branch.below?.[below.length];
      if (next) pick(next);
    } }, `show more (${left} left)`))];
  };

  element.addEventListener("keydown", (event) => {
    const line = /** @type {HTMLElement} */ (event.target).closest("[role=treeitem]");
    if (!(line instanceof HTMLElement) || event.ctrlKey || event.metaKey || event.altKey) return;
    const lines = shown();
    const at = lines.findIndex((branch) => branch.key === line.dataset.key);
    const branch = lines[at];
    if (!branch) return;
    const go = (/** @type {number} */ place) => lines[place] && pick(lines[place]);
    const above = () => {
      const key = keyOf(branch.path.slice(0, -1));
      return lines.findIndex((one) => one.key === key);
    };
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
      const { left, bottom } = (branch.line ?? line).getBoundingClientRect();
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
      const before = new Map(roots.map((one) => [one.key, one]));
      roots = entries.map((entry) => branchOf(entry, [])).map((one) => after(one, before.get(one.key)));
      draw();
      await again(roots);
      if (isRestored) await reach();
      isRestored = false;
      const now = drawn.get(chosen);
      if (now) choose(now, true);
    },
    /** Fetch anew what is below an entry that is open. @param {readonly string[]} path */
    async renew(path) {
      const key = keyOf(path);
      const branch = drawn.get(key);
      if (!branch) return;
      if (branch.isOpen) await reload(branch);
      else branch.below = null;
      const now = drawn.get(chosen);
      if (now && chosen.startsWith(key.slice(0, -1))) choose(now, true);
    },
    /** Open everything above an entry and choose it. @param {readonly string[]} path */
    async reveal(path) {
      let level = roots;
      for (let depth = 1; depth <= path.length; depth += 1) {
        const key = keyOf(path.slice(0, depth));
        const above = depth > 1 ? drawn.get(keyOf(path.slice(0, depth - 1))) : null;
        let found = level.find((branch) => branch.key === key);
        while (!found && above && above.below && above.below.length < above.total && !above.problem) {
          await load(above, LARGEST_PAGE);
          found = above.below.find((branch) => branch.key === key);
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
      isRestored = true;
    },
  };
}
