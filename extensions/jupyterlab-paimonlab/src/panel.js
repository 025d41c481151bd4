// @ts-check
// The catalog panel: search, tree, details and jobs, put together.

import { h } from "../../../paimonlab/notebook/display/browser/parts.js";
import { entryDetails } from "./panel_details.js";
import { actionForm } from "./panel_forms.js";
import { catalogTree } from "./panel_tree.js";

/**
 * @typedef {import("./panel_server.js").Server} Server
 * @typedef {import("./panel_server.js").Job} Job
 */

const JOBS = "jobs";
const POLL_MILLIS = 1000;
const SEARCH_MILLIS = 300;

/**
 * @param {HTMLElement} node where it is drawn
 * @param {{ server: Server, explore: (path: string[], kind: string, at?: string) => void, insert: (text: string) => void, insertCell: (text: string) => void,
 *   menu: (groups: [string, () => void][][], x: number, y: number, back: () => void) => void, store: (state: any) => void }} around
 */
export function catalogPanel(node, { server, explore, insert, insertCell, menu, store }) {
  node.classList.add("jp-PaimonCatalog");
  /** @type {string[]} */
  let added = [];
  /** @type {string[]} */
  let keys = [];
  const remember = () => store({ ...tree.state(), added });

  const details = entryDetails({ ask: server.ask, explore, insert, insertCell, act, menu, stopJob: (id) => void server.stop(id).then(poll), forget: (key) => {
    added = added.filter((one) => one !== key);
    refresh();
    remember();
  } });
  const tree = catalogTree({
    fetch: async (path, offset, limit) => (path[0] === JOBS ? jobEntries(await server.jobs(), offset, limit) : server.ask("children", { path, offset, limit })),
    choose: details.show,
    open: ({ entry, path }) => {
      if (entry.kind === "table") explore(path, "preview");
      else if (entry.kind === "snapshot" || entry.kind === "tag") explore(path.slice(0, 3), "preview", entry.name);
      else if (entry.insert) insert(entry.insert);
    },
    menu: (branch, x, y) => menu(details.actions(branch), x, y, focus),
    changed: remember,
  });
  const focus = () => /** @type {HTMLElement} */ (tree.element.querySelector("[tabindex='0']") ?? search).focus();
  const hits = h("ul", { class: "jp-PaimonCatalog-hits", "aria-label": "found", hidden: true });
  const jobs = h("section", { class: "jp-PaimonCatalog-jobs", "aria-label": "jobs" });
  const said = h("div", { role: "status", class: "jp-PaimonCatalog-note", "aria-live": "polite" });

  /** @param {import("./panel_tree.js").Branch} branch @param {string} action @param {string[]} path @param {Record<string, string>} [values] */
  function act(branch, action, path, values) {
    const about = path.slice(1).join(".") || branch.entry.label;
    const form = actionForm(action, { about, values, close: () => { details.show(branch); focus(); },
      plan: (given) => server.ask("plan", { path, action, values: given }),
      begin: async (given, state) => {
        await server.begin({ path, action, values: given, state, label: `${action.replaceAll("_", " ")} ${about}` });
        poll();
      } });
    details.showForm(form.element);
    form.begin();
  }

  const refresh = async () => {
    try {
      const { warehouses } = await server.ask("warehouses", { added });
      keys = warehouses.filter((/** @type {any} */ one) => !one.problem).map((/** @type {any} */ one) => one.key);
      said.replaceChildren();
      await tree.show(warehouses.map((/** @type {any} */ one) => ({
        kind: "warehouse", name: one.key, label: one.name, detail: one.problem ? "cannot be read" : one.isReadOnly ? "read-only" : "", timeMillis: null, hasChildren: !one.problem, insert: one.insert,
        warehouse: { ...one, isAdded: added.includes(one.key) },
      })).concat(listedJobs ? [jobsEntry()] : []));
      if (!warehouses.length) {
        details.showNothing("No warehouse yet. Folders below the one that Jupyter shows are found by themselves; others are configured in ~/.config/paimonlab/config.toml. In a cell, %paimon_demo shop makes one to try.");
      }
    } catch (reason) {
      said.replaceChildren(h("span", { class: "jp-mod-problem" }, /** @type {Error} */ (reason).message));
    }
  };

  let wanted = 0;
  const find = async () => {
    const text = search.value.trim();
    const number = (wanted += 1);
    hits.hidden = text.length < 2;
    tree.element.hidden = !hits.hidden;
    said.replaceChildren();
    if (hits.hidden) return;
    try {
      const found = await server.ask("search", { keys, text });
      if (number !== wanted) return;
      hits.replaceChildren(...found.hits.map((/** @type {any} */ { kind, path, label }) => h("li", {}, h("button", { type: "button", onclick: async () => {
        search.value = "";
        await find();
        await tree.reveal(path);
      } }, h("span", { class: "jp-PaimonCatalog-name" }, label), " ", h("span", { class: "jp-PaimonCatalog-detail" }, kind)))));
      said.replaceChildren(found.hits.length ? `${found.hits.length} found${found.isCut ? ", there may be more" : ""}` : "nothing has such a name");
    } catch (reason) {
      if (number === wanted) said.replaceChildren(/** @type {Error} */ (reason).message);
    }
  };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  const search = h("input", { type: "search", placeholder: "Search", "aria-label": "search tables and columns", oninput: () => {
    clearTimeout(waiting);
    waiting = setTimeout(find, SEARCH_MILLIS);
  }, onkeydown: (/** @type {KeyboardEvent} */ event) => {
    const first = hits.querySelector("button");
    const below = hits.hidden ? /** @type {HTMLElement | null} */ (tree.element.querySelector("[tabindex='0']")) : first;
    if (event.key === "ArrowDown") below?.focus();
    else if (event.key === "Enter") first?.click();
    else if (event.key === "Escape" && search.value) {
      search.value = "";
      find();
    } else return;
    event.preventDefault();
  } });
  hits.addEventListener("keydown", (event) => {
    const found = [...hits.querySelectorAll("button")];
    const at = found.findIndex((one) => one === event.target);
    const keys = /** @type {Record<string, HTMLElement | undefined>} */ ({ ArrowDown: found[at + 1], ArrowUp: found[at - 1] ?? search, Home: found[0], End: found[found.length - 1], Escape: search });
    if (!(event.key in keys)) return;
    keys[event.key]?.focus();
    event.preventDefault();
  });
  const folder = h("form", { class: "jp-PaimonCatalog-bar", hidden: true, onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    const key = `folder:${place.value.trim()}`;
    if (place.value.trim() && !added.includes(key)) added.push(key);
    place.value = "";
    folder.hidden = true;
    remember();
    refresh();
  } });
  const place = h("input", { placeholder: "folder below the one Jupyter shows", "aria-label": "folder of a warehouse" });
  folder.append(place, h("button", {}, "Add"));
  const bar = h("div", { class: "jp-PaimonCatalog-bar" }, search,
    h("button", { type: "button", title: "Add a folder", "aria-label": "add a folder", onclick: () => {
      folder.hidden = !folder.hidden;
      if (!folder.hidden) place.focus();
    } }, "+"),
    h("button", { type: "button", title: "Refresh", "aria-label": "refresh", onclick: () => refresh() }, "↻"));

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const seen = /** @type {Set<number>} */ (new Set());
  let listedJobs = 0;
  /** @returns {any} */
  const jobsEntry = () => ({ kind: "group", name: JOBS, label: "jobs", detail: String(listedJobs), timeMillis: null, hasChildren: true, insert: "" });
  const poll = async () => {
    clearTimeout(timer);
    /** @type {Job[]} */
    let listed;
    try {
      listed = await server.jobs();
    } catch {
      return; // `refresh` says why
    }
    const isFirst = !listedJobs && listed.length > 0;
    listedJobs = listed.length;
    const recent = listed.filter(({ status, id }) => status === "running" || !seen.has(id)).slice(0, 4);
    if (recent.length) jobs.replaceChildren(h("h3", {}, "Jobs"), ...recent.map(jobLine));
    if (isFirst) await refresh();
    else await tree.renew([JOBS]);
    const ended = listed.filter(({ id, status }) => status !== "running" && !seen.has(id));
    ended.forEach(({ id }) => seen.add(id));
    if (ended.length) refresh();
    if (listed.some(({ status }) => status === "running")) timer = setTimeout(poll, POLL_MILLIS);
  };
  /** @param {Job} job */
  const jobLine = ({ id, label, status, said: text, progress }) => {
    const far = progress !== null && status === "running" ? `${progress[0]} of ${progress[1]} ${progress[2]}` : "";
    return h("div", { class: "jp-PaimonCatalog-job" }, h("span", {}, `${label}: `), h("span", { class: "jp-PaimonCatalog-detail" }, [status, far, text].filter(Boolean).join(" · ")),
      status === "running" && h("button", { type: "button", onclick: () => server.stop(id).then(poll) }, "Stop"));
  };
  node.append(bar, folder, said, tree.element, hits, details.element, jobs);
  details.showNothing("");
  return {
    /** @param {any} state what was stored */
    async start(state) {
      added = Array.isArray(state?.added) ? state.added.filter((/** @type {unknown} */ one) => typeof one === "string").slice(0, 100) : [];
      tree.restore(state);
      await Promise.all([refresh(), poll()]);
    },
    refresh,
    say: (/** @type {string} */ text) => said.replaceChildren(text),
    focus,
    stop: () => clearTimeout(timer),
  };
}

/** Jobs as entries of the tree, the newest first. @param {Job[]} listed @param {number} offset @param {number} limit */
function jobEntries(listed, offset, limit) {
  const entries = listed.slice(offset, offset + limit).map((job) => ({
    kind: "job", name: String(job.id), label: job.label, detail: job.status, timeMillis: job.beganMillis, hasChildren: false, insert: "", job,
  }));
  return { entries, total: listed.length };
}
