// @ts-check
import { bytes, card, COLOURS, count, empty, frame, h, hasPlace, ink, isAt, legend, many, placeText, shortFile, signed, unbroken } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").ManifestTree} ManifestTree */
/** @typedef {import("../../display/browser/views").ManifestNode} ManifestNode */
/** @typedef {import("../../display/browser/views").EntryNode} EntryNode */
/** @typedef {import("../../display/browser/views").EntrySums} EntrySums */
/** @typedef {import("../../display/browser/host").Context<ManifestTree>} ManifestContext */
/**
 * @typedef {{id: string, name: string, mark: string, colour: string, cells: (string | number)[],
 *   note: string, facts: [string, any][], children: TreeRow[], place?: {partition: string, bucket: number}, entry?: EntryNode}} TreeRow
 *   `mark` says in a letter what the colour says
 */

const LISTS = /** @type {Record<string, {mark: string, colour: string}>} */ ({
  base: { mark: "B", colour: COLOURS.blue },
  delta: { mark: "Δ", colour: COLOURS.orange },
  changelog: { mark: "C", colour: COLOURS.pink },
});

const TREE_CSS = `
td.name { white-space: nowrap; } .scroll > table { min-width: 100%; } th:last-child { width: 100%; } td.line:last-child { min-width: 14em; white-space: normal; } .where { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }
.tree { container-type: inline-size; } .under { display: none; white-space: normal; font-size: 11px; padding-left: 1.6em; }
@container (max-width: 700px) { th:last-child, td.line:last-child { display: none; } .under { display: block; } th:first-child { width: 100%; } } td.name button { border: 0; background: none; padding: 0 4px; width: 1.6em; }
.mark { display: inline-block; min-width: 1.3em; text-align: center; border: 1px solid currentColor; border-radius: 3px; font-weight: bold; margin-right: 5px; padding: 0 2px; forced-color-adjust: none; }
`;

/** @param {ManifestContext} context */
export function render({ data, el, host }) {
  let tree = data.view;
  const { body, say, stop, head } = frame(el, { title: "", headline: " ", css: TREE_CSS });
  const open = new Set(["base", "delta", "changelog", "index"]);
  const details = h("div");
  const table = h("tbody");
  const search = h("input", { type: "search", placeholder: "part of a file name", "aria-label": "search by file name" });
  const grid = h("div", { role: "treegrid", class: "scroll", "aria-label": "manifests", "aria-readonly": "true" },
    h("table", { role: "presentation" },
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" },
        ...["name", "added", "deleted", "rows", "size", "where"].map((name, at) =>
          h("th", { role: "columnheader", scope: "col", class: at > 0 && at < 5 && "right" }, name)))),
      table));
  table.setAttribute("role", "rowgroup");
  const footer = h("p", { class: "faint" });
  const keys = h("div");
  /** @type {import("../../display/browser/host").Selection} the partition or bucket whose entries alone are shown */
  let place = {};
  const placed = h("button", { hidden: true, onclick: () => { place = {}; search.focus(); find(); } });
  const headline = /** @type {HTMLElement} */ (body.previousElementSibling);
  const parts = [h("div", { class: "row" }, h("label", { class: "tools" }, "search ", search), placed), h("div", { class: "tree" }, grid), keys, details, footer];

  let roots = /** @type {TreeRow[]} */ ([]);
  let seen = /** @type {{row: TreeRow, level: number, parent: TreeRow | null, element: HTMLElement}[]} */ ([]);
  let focused = "";

  const start = () => {
    const isEmpty = tree.snapshotId === null;
    head.querySelector("h3")?.replaceChildren(`${tree.table}: manifests${isEmpty ? "" : ` of snapshot ${tree.snapshotId}, ${tree.commitKind.toLowerCase()}`}`);
    headline.hidden = isEmpty;
    body.replaceChildren(...(isEmpty ? [empty("Nothing was written to it yet. The first manifests are made by", `INSERT INTO ${tree.table} VALUES …`)] : parts));
    headline.replaceChildren(isEmpty ? "" : headlineOf(tree));
    keys.replaceChildren(legendOf(tree));
    footer.replaceChildren(footerText(tree, host.ask !== null));
    roots = treeRows(tree);
    details.replaceChildren();
    draw();
  };

  /** @param {{focus?: boolean, only?: Set<string> | null}} [options] */
  const draw = ({ focus = false, only = null } = {}) => {
    seen = [];
    /** @param {TreeRow[]} rows @param {number} level @param {TreeRow | null} parent */
    const add = (rows, level, parent) => {
      const kept = only ? rows.filter((row) => only.has(row.id)) : rows;
      kept.forEach((row, at) => {
        const element = rowElement(row, level, at + 1, kept.length);
        seen.push({ row, level, parent, element });
        if (open.has(row.id) || only) add(row.children, level + 1, row);
      });
    };
    add(roots, 1, null);
    table.replaceChildren(...seen.map((item) => item.element));
    const at = Math.max(0, seen.findIndex((item) => item.row.id === focused));
    seen[at]?.element.setAttribute("tabindex", "0");
    if (focus) seen[at]?.element.focus();
  };

  /** @param {TreeRow} row @param {number} level @param {number} place @param {number} size */
  const rowElement = (row, level, place, size) => {
    const isOpen = open.has(row.id);
    return h("tr", {
      role: "row", tabindex: "-1", "aria-level": level, "aria-posinset": place, "aria-setsize": size,
      "aria-expanded": row.children.length ? String(isOpen) : null, "data-id": row.id,
      "aria-selected": String(row.id === focused),
    },
    h("td", { role: "gridcell", class: "name", style: `padding-left:${8 + 18 * (level - 1)}px` },
      row.children.length
        ? h("button", { tabindex: "-1", "aria-hidden": "true", onclick: () => toggle(row) }, isOpen ? "▾" : "▸")
        : h("span", { style: "display:inline-block;width:1.6em" }),
      h("span", { class: "mark", style: `background:${row.colour};color:${ink(row.colour)}` }, row.mark), shortFile(row.name),
      row.note && h("div", { class: "faint under" }, row.note)),
    ...row.cells.map((cell) => h("td", { role: "gridcell", class: "right" }, cell)),
    h("td", { role: "gridcell", class: "line", title: row.note }, h("div", { class: "where" }, ...unbroken(row.note))));
  };

  /** @param {TreeRow} row @param {boolean} [wanted] */
  const toggle = (row, wanted = !open.has(row.id)) => {
    if (wanted) open.add(row.id);
    else open.delete(row.id);
    focused = row.id;
    draw({ focus: true });
    say(`${row.name}: ${wanted ? `${row.children.length} shown` : "closed"}`);
  };

  /** @param {TreeRow} row */
  const choose = (row) => {
    focused = row.id;
    seen.forEach((item) => item.element.setAttribute("aria-selected", String(item.row.id === row.id)));
    details.replaceChildren(card(row.facts));
    say(`${row.name}, ${row.note}`);
    const { place: where, entry } = row;
    if (where) host.select({ partition: where.partition, bucket: where.bucket, ...(entry && { file: entry.file }) });
  };

  /** @param {number} at */
  const go = (at) => {
    const item = seen[Math.max(0, Math.min(seen.length - 1, at))];
    if (!item) return;
    seen.forEach(({ element }) => element.setAttribute("tabindex", "-1"));
    focused = item.row.id;
    item.element.setAttribute("tabindex", "0");
    item.element.focus();
  };

  table.addEventListener("click", (event) => {
    const element = /** @type {HTMLElement} */ (event.target);
    const found = seen.findIndex((item) => item.element.contains(element));
    if (found < 0 || element.closest("button")) return;
    go(found);
    choose(seen[found].row);
  });
  table.addEventListener("keydown", (event) => {
    const at = seen.findIndex((item) => item.element === event.target);
    if (at < 0) return;
    const { row, parent } = seen[at];
    const keys = /** @type {Record<string, () => void>} */ ({
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      PageDown: () => go(at + 10),
      PageUp: () => go(at - 10),
      Home: () => go(0),
      End: () => go(seen.length - 1),
      ArrowRight: () => (row.children.length && !open.has(row.id) ? toggle(row, true) : row.children.length && go(at + 1)),
      ArrowLeft: () => (row.children.length && open.has(row.id) ? toggle(row, false) : parent && go(seen.findIndex((item) => item.row === parent))),
      Enter: () => choose(row),
      " ": () => choose(row),
    });
    if (!(event.key in keys)) return;
    keys[event.key]();
    event.preventDefault();
  });

  let asked = 0;
  const find = async () => {
    const text = search.value.trim();
    const question = (asked += 1);
    placed.hidden = !hasPlace(place);
    placed.replaceChildren(`only ${placeText(place)} ✕`);
    if (!text && placed.hidden) {
      roots = treeRows(tree);
      draw();
      say("");
      return;
    }
    const only = new Set();
    const found = keep(treeRows(tree), (row) =>
      (row.entry ? row.entry.file.includes(text) : !text) && row.place !== undefined && isAt(row.place, place), only);
    roots = treeRows(tree);
    draw({ only });
    say(`${count(found)} of the ${count(tree.shownCount)} entries here match${placed.hidden ? "" : `, in ${placeText(place)}`}`);
    if (!host.ask || tree.shownCount === tree.entryCount) return;
    try {
      const reply = await host.ask({ snapshot: tree.snapshotId, find: text, partition: place.partition ?? null, bucket: place.bucket ?? null });
      if (question !== asked) return;
      roots = reply.entries.map((/** @type {EntryNode} */ entry, /** @type {number} */ at) => entryRow(entry, tree.columns, `found/${at}`));
      draw();
      say(`${count(reply.count)} of ${count(tree.entryCount)} entries match${reply.count > roots.length ? `, the first ${roots.length} are shown` : ""}`);
    } catch (error) {
      say(String(error));
    }
  };
  search.addEventListener("input", find);

  const quiet = host.onSelect(async (selection) => {
    if (selection.file || hasPlace(selection)) {
      search.value = selection.file ?? "";
      place = selection.file ? {} : selection;
      find();
      return;
    }
    const { snapshot } = selection;
    if (!snapshot || snapshot === tree.snapshotId) return;
    if (!host.ask) {
      say(`snapshot ${snapshot} was chosen: %paimon_manifests ${tree.table} --snapshot ${snapshot} shows it`);
      return;
    }
    try {
      tree = (await host.ask({ snapshot })).view;
      search.value = "";
      place = {};
      placed.hidden = true;
      start();
    } catch (error) {
      say(String(error));
    }
  });
  start();
  return () => {
    quiet();
    stop();
  };
}

/** What the snapshot is made of. @param {ManifestTree} tree */
function headlineOf(tree) {
  const shared = tree.parentId === null ? "" : `, ${count(tree.sharedCount)} of them also in snapshot ${tree.parentId}`;
  return `${many(tree.manifestCount, "manifest")} with ${many(tree.entryCount, "entry", "entries")}${shared}`;
}

/** The letters that are there. @param {ManifestTree} tree */
function legendOf(tree) {
  const sign = (/** @type {string} */ mark, /** @type {string} */ colour) => h("span", { class: "mark", style: `background:${colour};color:${ink(colour)}` }, mark);
  const has = (/** @type {string} */ role) => tree.lists.some((list) => list.role === role);
  return legend(
    has("base") && [sign("B", COLOURS.blue), "before this snapshot"], has("delta") && [sign("Δ", COLOURS.orange), "added by it"],
    has("changelog") && [sign("C", COLOURS.pink), "its changelog"], tree.index && [sign("I", COLOURS.sky), "indexes"],
    tree.sharedCount > 0 && [sign("=", COLOURS.grey), `also in snapshot ${tree.parentId}`], [sign("M", COLOURS.orange), "new manifest"]);
}

/** @param {ManifestTree} tree @returns {TreeRow[]} */
function treeRows(tree) {
  const rows = tree.lists.map((list) => ({
    id: list.role, name: `${list.role} ${list.name}`, ...LISTS[list.role],
    cells: sumCells(list.added, list.deleted),
    note: `${many(list.manifests.length + list.hiddenCount, "manifest")}${list.hiddenCount ? `, ${count(list.hiddenCount)} not shown` : ""}`,
    facts: /** @type {[string, any][]} */ ([["manifest list", list.name], ["its size", bytes(list.bytes)], ...sumFacts(list.added, list.deleted)]),
    children: list.manifests.map((manifest) => manifestRow(manifest, tree, list.role)),
  }));
  return tree.index ? [...rows, indexRow(tree.index)] : rows;
}

/** @param {ManifestNode} manifest @param {ManifestTree} tree @param {string} role @returns {TreeRow} */
function manifestRow(manifest, tree, role) {
  const { minPartition, maxPartition } = manifest;
  const where = !minPartition ? "" : `${rangeText(minPartition, String(maxPartition))}, `;
  const hidden = manifest.added.files + manifest.deleted.files - manifest.entries.length;
  const id = `${role}/${manifest.name}`;
  const children = manifest.entries.map((entry, at) => entryRow(entry, tree.columns, `${id}/${at}`));
  if (hidden) {
    const note = "show.manifests(entries=N) embeds more";
    children.push({ id: `${id}/more`, name: `${count(hidden)} more entries`, mark: "…", colour: COLOURS.grey, cells: ["", "", "", ""], note, facts: [], children: [] });
  }
  return {
    id, name: manifest.name, mark: manifest.isShared ? "=" : "M", colour: manifest.isShared ? COLOURS.grey : LISTS[role].colour,
    cells: sumCells(manifest.added, manifest.deleted),
    note: `${where}schema ${manifest.schemaId}`,
    facts: [["manifest", manifest.name], ["its size", bytes(manifest.bytes)], ["parent snapshot", manifest.isShared ? "also has it" : "does not have it"],
      ["schema", manifest.schemaId], ["partitions", minPartition && rangeText(minPartition, String(maxPartition))], ...sumFacts(manifest.added, manifest.deleted)],
    children,
  };
}

/** @param {EntryNode} node @param {string[]} columns @param {string} id @returns {TreeRow} */
function entryRow(node, columns, id) {
  const isAdded = node.change === "ADD";
  const keys = node.minKey === null ? "" : `, keys ${node.minKey} to ${node.maxKey}`;
  const stats = columns.map((name, at) => {
    const bounds = node.low[at] === null || node.high[at] === null ? "bounds unknown" : `${node.low[at]} to ${node.high[at]}`;
    const nulls = node.nulls[at] === null ? "" : `, ${count(node.nulls[at])} nulls`;
    return /** @type {[string, any]} */ ([`column ${name}`, bounds + nulls]);
  });
  return {
    id, name: node.file, mark: isAdded ? "+" : "−", colour: isAdded ? COLOURS.green : COLOURS.red, entry: node, place: node,
    cells: [isAdded ? 1 : "", isAdded ? "" : 1, count(node.rows), bytes(node.bytes)],
    note: `${node.partition && `${node.partition} `}bucket ${node.bucket}, level ${node.level}${keys}`,
    facts: [["file", node.file], ["change", node.change], ["partition", node.partition], ["bucket", node.bucket], ["level", node.level],
      ["rows", count(node.rows)], ["bytes", bytes(node.bytes)], ["keys", node.minKey === null ? "" : `${node.minKey} to ${node.maxKey}`], ...stats],
    children: [],
  };
}

/** @param {import("../../display/browser/views").IndexNode} index @returns {TreeRow} */
function indexRow(index) {
  const blank = { mark: "V", colour: COLOURS.sky };
  const files = index.files.map((file) => {
    const where = `${file.partition && `${file.partition} `}bucket ${file.bucket}`;
    const vectors = file.vectors.map((vector, at) => ({
      ...blank, place: file, id: `index/${file.name}/${at}`, name: vector.dataFile, cells: ["", "", count(vector.deletedRows), bytes(vector.bytes)],
      note: "deleted rows", facts: /** @type {[string, any][]} */ ([["data file", vector.dataFile], ["deleted rows", count(vector.deletedRows)]]), children: [],
    }));
    return {
      id: `index/${file.name}`, name: file.name, mark: "I", colour: COLOURS.sky, place: file, cells: ["", "", count(file.rows), bytes(file.bytes)],
      note: `${file.type}, ${where}${file.hiddenCount ? `, ${count(file.hiddenCount)} vectors not shown` : ""}`,
      facts: /** @type {[string, any][]} */ ([["index file", file.name], ["type", file.type], ["where", where], ["rows", count(file.rows)], ["bytes", bytes(file.bytes)]]),
      children: vectors,
    };
  });
  const deleted = index.deletedRows ? `, ${many(index.deletedRows, "row")} deleted` : "";
  return {
    id: "index", name: `index ${index.name}`, mark: "I", colour: COLOURS.sky, cells: [index.fileCount, "", "", ""],
    note: `${index.isShared ? "shared" : "new"}, ${many(index.fileCount, "file")}${deleted}`,
    facts: [["index manifest", index.name], ["files", count(index.fileCount)], ["rows deleted by vectors", count(index.deletedRows)]], children: files,
  };
}

/** "dt=2026-01-01 to 2026-01-03": the name of a single key is said once. @param {string} low @param {string} high */
function rangeText(low, high) {
  if (low === high) return low;
  const isSingle = !low.includes("/") && low.split("=")[0] === high.split("=")[0];
  return `${low} to ${isSingle ? high.slice(high.indexOf("=") + 1) : high}`;
}

/** @param {EntrySums} added @param {EntrySums} deleted */
function sumCells(added, deleted) {
  const size = added.bytes === null ? "" : (added.bytes < (deleted.bytes ?? 0) ? "-" : "") + bytes(Math.abs(added.bytes - (deleted.bytes ?? 0)));
  return [count(added.files), count(deleted.files), signed(added.rows - deleted.rows) || "0", size];
}

/** @param {EntrySums} added @param {EntrySums} deleted @returns {[string, any][]} */
function sumFacts(added, deleted) {
  return [["added", sumText(added)], ["deleted", sumText(deleted)]];
}

/** @param {EntrySums} sums */
function sumText(sums) {
  return `${many(sums.files, "file")}, ${many(sums.rows, "row")}${sums.bytes === null ? "" : `, ${bytes(sums.bytes)}`}`;
}

/** Collect the ids of rows that are wanted, and of all above them; count the entries among them.
 * @param {TreeRow[]} rows @param {(row: TreeRow) => boolean} isWanted @param {Set<string>} only @returns {number} */
function keep(rows, isWanted, only) {
  let found = 0;
  for (const row of rows) {
    found += keep(row.children, isWanted, only) + Number(isWanted(row) && row.entry !== undefined);
    if (isWanted(row) || row.children.some((child) => only.has(child.id))) only.add(row.id);
  }
  return found;
}

/** @param {ManifestTree} tree @param {boolean} canAsk */
function footerText(tree, canAsk) {
  const parts = [];
  if (tree.shownCount < tree.entryCount) {
    parts.push(`${count(tree.shownCount)} of ${count(tree.entryCount)} entries are here; ${canAsk ? "the search covers all of them" : "show.manifests(entries=N) embeds more"}`);
  }
  if (tree.columns.length < tree.columnCount) parts.push(`statistics of ${tree.columns.length} of ${tree.columnCount} columns`);
  return parts.join("; ");
}
