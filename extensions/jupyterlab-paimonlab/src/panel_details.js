// @ts-check
// What the panel says of the entry that is chosen, and what can be done with it.

import { ago, h, moment } from "../../../paimonlab/notebook/display/browser/parts.js";

/** @typedef {import("./panel_tree.js").Branch} Branch */

export const EXPLORERS = ["timeline", "log", "schemas", "manifests", "heatmap", "files", "lsm", "compaction", "simulator", "changes", "diff", "travel", "profile", "health", "fsck"];
const CALM_MILLIS = 250;
const SIGNS = /** @type {Record<string, string>} */ ({ ok: "✔ nothing to improve", info: "ℹ good to know", warning: "▲ could be better", error: "✖ needs attention" });

/**
 * @param {{ ask: (question: string, values: Record<string, unknown>) => Promise<any>, explore: (path: string[], kind: string, at?: string) => void,
 *   insert: (text: string) => void, insertCell: (text: string) => void, act: (branch: Branch, action: string, path: string[], values?: Record<string, string>) => void,
 *   forget: (key: string) => void, menu: (groups: [string, () => void][][], x: number, y: number, back: () => void) => void, stopJob: (id: number) => void }} what
 */
export function entryDetails({ ask, explore, insert, insertCell, act, forget, menu, stopJob }) {
  const element = h("section", { class: "jp-PaimonCatalog-details", "aria-label": "details" });
  let asked = 0;
  let shownAt = -Infinity;
  /** End at once, or when the tree is no longer being walked through: each table that is passed by would be read. */
  const calm = () => {
    const wait = performance.now() - shownAt < CALM_MILLIS ? CALM_MILLIS : 0;
    shownAt = performance.now();
    return new Promise((resolve) => setTimeout(resolve, wait));
  };
  /** @param {string} label @param {() => void} onclick @param {string} [title] */
  const button = (label, onclick, title) => h("button", { type: "button", onclick, title }, label);
  /** A button whose text can be dragged into a cell as well. @param {string} label @param {string} text @param {(text: string) => void} put */
  const inserting = (label, text, put) => h("button", {
    type: "button", onclick: () => put(text), title: `${text}\nA click puts it into the cell; it can be dragged there, too`, draggable: "true",
    ondragstart: (/** @type {DragEvent} */ event) => event.dataTransfer?.setData("text/plain", text),
  }, label);
  const query = (/** @type {string} */ name) => `SELECT * FROM ${name} LIMIT 100`;
  /** @param {string} name */
  const inserts = (name) => [inserting("Insert name", name, insert), inserting("Insert query", query(name), (text) => insertCell(`%%paimon\n${text}`))];
  /** @param {...(Node | false)} buttons */
  const row = (...buttons) => h("div", { class: "jp-PaimonCatalog-buttons" }, ...buttons);
  /** @param {readonly (readonly [string, string])[]} facts */
  const list = (facts) => h("dl", {}, ...facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));

  /** @param {Branch} branch @returns {HTMLElement[]} */
  const warehouse = (branch) => {
    const { entry, path } = branch;
    const made = /** @type {any} */ (entry).warehouse;
    return [
      list([["place", made.place], ...(made.isReadOnly ? [/** @type {[string, string]} */ (["mode", "read-only"])] : [])]),
      ...(made.problem ? [h("p", { class: "jp-mod-problem" }, made.problem)] : []),
      row(!made.problem && !made.isReadOnly && button("New database …", () => act(branch, "create_database", path)),
        Boolean(entry.insert) && button("Insert connect", () => insertCell(entry.insert), entry.insert),
        made.isAdded && button("Forget", () => forget(made.key), "Take it out of the list; nothing is deleted")),
    ];
  };
  /** @param {Branch} branch @returns {HTMLElement[]} */
  const table = (branch) => {
    const { entry, path } = branch;
    const headline = h("p", { class: "jp-PaimonCatalog-headline" }, "loading …");
    const size = h("div", {});
    const about = h("div", {});
    const number = (asked += 1);
    const isShown = () => number === asked;
    const begun = calm();
    begun.then(() => isShown() && ask("details", { path })).then((said) => {
      if (!isShown()) return;
      headline.replaceChildren(said.headline + (said.timeMillis === null ? "" : `, ${ago(said.timeMillis)}`));
      headline.title = moment(said.timeMillis);
      about.replaceChildren(list(said.facts));
    }).catch((reason) => isShown() && headline.replaceChildren(h("span", { class: "jp-mod-problem", role: "alert" }, reason.message)));
    begun.then(() => isShown() && ask("state", { path })).then((said) => {
      if (!isShown()) return;
      const findings = said.findings.map((/** @type {any} */ { severity, message, where }) => h("li", { "data-severity": severity }, message, where && ` (${where})`));
      size.replaceChildren(list([...said.facts, ["health", said.problem || SIGNS[said.worst]]]), findings.length ? h("ul", {}, ...findings) : "");
    }).catch(() => {}); // `details` says why
    // Not a list of choices: there, an arrow key of the keyboard opens the first view at once.
    const choose = button("Open view ▾", () => {
      const { left, bottom } = choose.getBoundingClientRect();
      menu([EXPLORERS.map((kind) => [kind, () => explore(path, kind)])], left, bottom, () => choose.focus());
    }, "Open a view in a tab");
    choose.setAttribute("aria-haspopup", "menu");
    return [
      headline,
      row(button("Preview", () => explore(path, "preview")), choose, ...inserts(entry.insert)),
      size, about,
      row(button("Compact …", () => act(branch, "compact", path)), button("Tag …", () => act(branch, "create_tag", path)),
        button("Roll back …", () => act(branch, "rollback", path)), button("Drop …", () => act(branch, "drop_table", path))),
    ];
  };
  /** @param {Branch} branch @returns {HTMLElement[]} */
  const version = (branch) => {
    const { entry, path } = branch;
    const above = path.slice(0, 3);
    const isTag = entry.kind === "tag";
    const views = ["preview", "changes", "diff", "manifests", "heatmap", "files"];
    return [
      list([["commit", entry.detail], ["time (UTC)", moment(entry.timeMillis)]]),
      row(...views.map((kind) => button(kind[0].toUpperCase() + kind.slice(1), () => explore(above, kind, entry.name))), inserting("Insert", entry.insert, insert)),
      row(button("Roll back to it …", () => act(branch, "rollback", above, { version: entry.name })),
        isTag ? button("Delete tag …", () => act(branch, "delete_tag", above, { tag: entry.name })) : button("Tag …", () => act(branch, "create_tag", above, { snapshot: entry.name }))),
    ];
  };
  /** @param {Branch} branch @returns {HTMLElement[]} */
  const other = (branch) => {
    const { entry, path } = branch;
    return [
      ...(entry.detail ? [h("p", { class: "jp-PaimonCatalog-detail" }, entry.detail)] : []),
      row(Boolean(entry.insert) && inserting("Insert name", entry.insert, insert),
        entry.kind === "database" && button("New table …", () => act(branch, "create_table", path)),
        entry.kind === "partition" && button("Compact …", () => act(branch, "compact", path.slice(0, 3), { partitions: entry.name.replaceAll("/", ",") }))),
    ];
  };
  /** @param {Branch} branch @returns {HTMLElement[]} */
  const view = (branch) => {
    const { entry, path } = branch;
    const headline = h("p", { class: "jp-PaimonCatalog-headline" }, "loading …");
    const about = h("div", {});
    const number = (asked += 1);
    ask("details", { path }).then((said) => {
      if (number !== asked) return;
      headline.replaceChildren(said.headline);
      about.replaceChildren(list(said.facts), h("pre", {}, said.query));
    }).catch((reason) => number === asked && headline.replaceChildren(h("span", { class: "jp-mod-problem", role: "alert" }, reason.message)));
    return [headline, row(...inserts(entry.insert)), about];
  };
  /** @param {Branch} branch @returns {HTMLElement[]} */
  const job = ({ entry }) => {
    const made = /** @type {any} */ (entry).job;
    return [
      list([["status", made.status], ["begun (UTC)", moment(made.beganMillis)], ...(made.progress ? [/** @type {[string, string]} */ (["progress", `${made.progress[0]} of ${made.progress[1]} ${made.progress[2]}`])] : [])]),
      ...(made.said ? [h("pre", {}, made.said)] : []),
      row(made.status === "running" && button("Stop", () => stopJob(made.id))),
    ];
  };
  /** What the menu of an entry has, in groups. @param {Branch} branch @returns {[string, () => void][][]} */
  const actions = (branch) => {
    const { entry, path } = branch;
    /** @param {string} kind @param {string} [at] @returns {[string, () => void]} */
    const look = (kind, at) => [kind === "lsm" ? "Levels" : kind[0].toUpperCase() + kind.slice(1), () => explore(at ? path.slice(0, 3) : path, kind, at)];
    const made = /** @type {any} */ (entry).warehouse;
    const put = /** @type {[string, () => void][]} */ (entry.insert ? (made ? [["Insert connect", () => insertCell(entry.insert)]] : [["Insert name", () => insert(entry.insert)]]) : []);
    if (entry.kind === "table" || entry.kind === "view") put.push(["Insert query", () => insertCell(`%%paimon\n${query(entry.insert)}`)]);
    const groups = /** @type {Record<string, [string, () => void][][]>} */ ({
      warehouse: [made && !made.problem && !made.isReadOnly ? [["New database …", () => act(branch, "create_database", path)]] : []],
      database: [[["New table …", () => act(branch, "create_table", path)]]],
      table: [["preview", "timeline", "log", "lsm", "health"].map((kind) => look(kind)), [["Compact …", () => act(branch, "compact", path)],
        ["Tag …", () => act(branch, "create_tag", path)], ["Roll back …", () => act(branch, "rollback", path)], ["Drop …", () => act(branch, "drop_table", path)]]],
      partition: [[["Compact …", () => act(branch, "compact", path.slice(0, 3), { partitions: entry.name.replaceAll("/", ",") })]]],
      snapshot: [["preview", "changes", "diff"].map((kind) => look(kind, entry.name)), [["Roll back to it …", () => act(branch, "rollback", path.slice(0, 3), { version: entry.name })],
        ["Tag …", () => act(branch, "create_tag", path.slice(0, 3), { snapshot: entry.name })]]],
      tag: [["preview", "changes", "diff"].map((kind) => look(kind, entry.name)), [["Roll back to it …", () => act(branch, "rollback", path.slice(0, 3), { version: entry.name })],
        ["Delete tag …", () => act(branch, "delete_tag", path.slice(0, 3), { tag: entry.name })]]],
    });
    const [first = [], ...others] = groups[entry.kind] ?? [];
    return [first, put, ...others].filter((group) => group.length);
  };
  const KINDS = /** @type {Record<string, (branch: Branch) => HTMLElement[]>} */ ({ warehouse, table, view, job, snapshot: version, tag: version });
  return {
    element,
    actions,
    /** @param {Branch} branch @param {boolean} [again] it was shown before: a form that is being filled in stays */
    show(branch, again = false) {
      if (again && element.querySelector("form")) return;
      asked += 1;
      const { kind, label } = branch.entry;
      element.replaceChildren(h("h3", {}, kind === "snapshot" || kind === "tag" ? `${kind} ${label}` : label), ...(KINDS[branch.entry.kind] ?? other)(branch));
    },
    /** @param {HTMLElement} form */
    showForm: (form) => element.replaceChildren(form),
    /** @param {string} why */
    showNothing: (why) => element.replaceChildren(h("p", { class: "jp-PaimonCatalog-detail" }, why)),
  };
}
