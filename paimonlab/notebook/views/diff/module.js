// @ts-check
import { bytes, card, COLOURS, copyButton, count, empty, frame, grid, h, hasPlace, isAt, legend, many, moment, placeText, shortFile, signed } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").Diff} Diff */
/** @typedef {import("../../display/browser/views").Sums} Sums */
/** @typedef {import("../../display/browser/views").SchemaDifference} SchemaDifference */
/** @typedef {import("../../display/browser/host").Context<Diff>} DiffContext */

const CSS = `
.tabs { display: flex; flex-wrap: wrap; gap: 2px; margin: 6px 0; } .tabs [aria-selected=true] { border-bottom: 3px solid var(--focus); font-weight: bold; }
.bar { display: block; height: 8px; border: 1px solid currentColor; box-sizing: border-box; } .bars { display: grid; gap: 1px; width: clamp(48px, 100cqw - 498px, 110px); min-height: 1.45em; align-content: center; } .legend .bar { display: inline-block; } .bar.plus { background: ${COLOURS.blue}; }
.bar.minus { background: repeating-linear-gradient(45deg, ${COLOURS.orange} 0 4px, transparent 4px 6px); }
`;

/** @param {DiffContext} context */
export function render({ data, el, host }) {
  const view = data.view;
  const { before, after } = view;
  const { body, say, stop } = frame(el, { title: `${view.table}: ${wordsOf(view)}`, headline: view.hasSnapshots ? headlineOf(view) : "", css: CSS });
  if (!view.hasSnapshots) {
    body.append(empty("Nothing was written to it yet. The first snapshot is made by", `INSERT INTO ${view.table} VALUES …`));
    return stop;
  }
  const details = h("div");
  /** @type {import("../../display/browser/host").Selection} what another view chose */
  let followed = {};
  const hasBytes = hasTimes(view);
  const tabs = /** @type {[string, () => Node][]} */ ([
    [`${hasLevels(view.groups) ? "buckets and levels" : "buckets"} (${count(view.groupCount)})`, () => groupsOf(view, hasBytes, followed, (partition, bucket) => {
      host.select({ partition, bucket });
      say(placeText({ partition, bucket }));
    })],
    [`files (${count(view.fileCount)})`, () => filesOf(view, hasBytes, followed, (file) => {
      host.select({ partition: file.partition, bucket: file.bucket, file: file.name });
      details.replaceChildren(card([["file", file.name], ["what", file.isAdded ? "added" : "removed"], ["partition", file.partition], ["bucket", file.bucket], ...(file.level === null ? [] : /** @type {[string, number][]} */ ([["level", file.level]])), ["rows", count(file.rowCount)], ["size", bytes(file.fileBytes)]]));
      say(`${file.isAdded ? "+" : "-"} ${file.name}`);
    })],
    [`partitions (${count(view.partitionsAddedCount + view.partitionsRemovedCount)})`, () => partitionsOf(view)],
    [`schema (${count(view.schema.length)})`, () => schemaOf(view)],
  ]);
  const panel = h("div", { role: "tabpanel" });
  const buttons = tabs.map(([name], at) => h("button", { role: "tab", "aria-selected": "false", tabindex: "-1", onclick: () => open(at) }, name));
  /** @param {number} at */
  const open = (at) => {
    buttons.forEach((button, place) => {
      button.setAttribute("aria-selected", String(place === at));
      button.setAttribute("tabindex", place === at ? "0" : "-1");
    });
    panel.setAttribute("aria-label", tabs[at][0]);
    details.replaceChildren();
    panel.replaceChildren(tabs[at][1]());
  };
  const list = h("div", { role: "tablist", class: "tabs", onkeydown: (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const now = buttons.findIndex((button) => button.getAttribute("aria-selected") === "true");
    const next = (now + step + buttons.length) % buttons.length;
    open(next);
    buttons[next].focus();
    event.preventDefault();
  } }, ...buttons);
  const changes = `%paimon_changes ${view.table} ${before.snapshotId} ${after.snapshotId}`;
  body.append(summaryOf(view, hasBytes),
    h("div", { class: "row tools" }, before.snapshotId < after.snapshotId && copyButton(`copy ${changes}`, () => changes, say),
      ...[before, after].map(({ snapshotId }) => snapshotId > 0 && h("button", { onclick: () => { host.select({ snapshot: snapshotId }); say(`snapshot ${snapshotId}`); } }, `snapshot ${snapshotId}`))),
    list, panel, details);
  open(view.fileCount || !view.schema.length ? 0 : 3);
  say(view.fileCount ? `${many(view.added.fileCount ?? 0, "file")} added, ${count(view.removed.fileCount)} removed` : "the same files");
  const quiet = host.onSelect((selection) => {
    const { file, range } = selection;
    if (range && range.join() !== [before.snapshotId, after.snapshotId].join()) {
      const magic = `%paimon_diff ${view.table} ${range[0]} ${range[1]}`;
      say(`snapshots ${range[0]} to ${range[1]} were chosen: ${magic} shows them`);
    }
    if (!file && !hasPlace(selection)) return;
    followed = selection;
    const files = view.files.filter((candidate) => (file ? candidate.name === file : isAt(candidate, selection)));
    open(file ? 1 : 0);
    say(file ? `${file} ${files.length ? (files[0].isAdded ? "was added" : "was removed") : "is in both or in neither"}`
      : `${placeText(selection)}: ${count(view.groups.filter((group) => isAt(group, selection)).length)} of the rows, ${count(files.length)} of the files here`);
  });
  return () => {
    quiet();
    stop();
  };
}

/** @param {Diff} view @param {boolean} hasBytes */
function summaryOf({ before, after, added, removed, kept, rowsAre }, hasBytes) {
  const line = (/** @type {string} */ name, /** @type {keyof Sums} */ key, /** @type {(value: any) => string} */ write) => {
    const [earlier, later] = [before.live[key], after.live[key]].map(Number);
    const between = later - earlier;
    return [name, write(earlier), write(later), between ? `${between > 0 ? "+" : "-"}${write(Math.abs(between))}` : "0", write(added[key]), write(removed[key]), write(kept[key])];
  };
  const right = ["before", "after", "change", "added", "removed", "kept"].map((name) => ({ name, right: true, less: name === "kept" ? 700 : 0 }));
  const time = (/** @type {number | null} */ millis) => h("span", { style: "display:inline-block;white-space:normal;max-width:max(84px, 20cqw)" }, moment(millis));
  const blank = ["", "", "", ""];
  return grid({
    label: "before and after",
    heads: [{ name: "", label: "what" }, ...right],
    rows: [
      ["snapshot", before.snapshotId || "none", after.snapshotId || "none", ...blank],
      ...(hasBytes ? [["time (UTC)", time(before.timeMillis), time(after.timeMillis), ...blank]] : []),
      ["schema", before.schemaId, after.schemaId, ...blank],
      line("files", "fileCount", count), line(rowsAre, "rowCount", count), ...(hasBytes ? [line("size", "fileBytes", bytes)] : []),
    ],
  }).element;
}

/** @param {{ level: number | null }[]} places files of append tables have no level */
const hasLevels = (places) => places.some(({ level }) => level !== null);
/** @param {{ level: number | null }[]} places */
const levelHead = (places) => (hasLevels(places) ? [{ name: "level", right: true }] : []);

/** @param {Diff} view @param {boolean} hasBytes @param {import("../../display/browser/host").Selection} followed @param {(partition: string, bucket: number) => void} choose */
function groupsOf({ groups, groupCount }, hasBytes, followed, choose) {
  const measure = hasBytes ? "fileBytes" : "rowCount";
  const largest = groups.reduce((most, { added, removed }) => Math.max(most, Number(added[measure]), Number(removed[measure])), 1);
  const bar = (/** @type {number} */ value, /** @type {string} */ kind) => value > 0 && h("span", { class: `bar ${kind}`, style: `width:${(100 * value) / largest}%` });
  const sums = (/** @type {Sums} */ { fileCount, rowCount, fileBytes }) => [fileCount || null, fileCount ? rowCount : null, ...(hasBytes ? [fileCount ? fileBytes : null] : [])];
  const names = (/** @type {string} */ what) => [
    { name: `${what} files`, right: true, optional: true, text: count }, { name: "rows", right: true, optional: true, less: 700, text: count },
    ...(hasBytes ? [{ name: "size", right: true, optional: true, text: bytes }] : []),
  ];
  const isPartitioned = groups.some(({ partition }) => partition);
  const heads = [...(isPartitioned ? [{ name: "partition" }] : []), { name: "bucket", right: true }, ...levelHead(groups), ...names("added"), ...names("removed"),
    { name: "", label: "added and removed", text: (/** @type {[number, number]} */ [plus, minus]) => h("span", { title: "added, removed", class: "bars" }, bar(plus, "plus"), bar(minus, "minus")) }];
  const rows = groups.map((group) => {
    const { partition, bucket, level, added, removed } = group;
    return [...(isPartitioned ? [partition] : []), bucket, ...(hasLevels(groups) ? [level] : []), ...sums(added), ...sums(removed), [Number(added[measure]), Number(removed[measure])], group];
  });
  const drawn = grid({ heads, rows, label: hasLevels(groups) ? "buckets and levels" : "buckets", selected: (row) => hasPlace(followed) && isAt(row[row.length - 1], followed),
    onChoose: (row) => choose(row[row.length - 1].partition, row[row.length - 1].bucket) });
  const has = (/** @type {"added" | "removed"} */ side) => groups.some((group) => Number(group[side][measure]) > 0);
  const keys = legend(has("added") && [h("span", { class: "bar plus", style: "width:14px" }), "added"], has("removed") && [h("span", { class: "bar minus", style: "width:14px" }), "removed"]);
  return h("div", {}, drawn.element, more(groups.length, groupCount), keys);
}

/** @param {Diff} view @param {boolean} hasBytes @param {import("../../display/browser/host").Selection} followed @param {(file: Diff["files"][0]) => void} choose */
function filesOf({ files, fileCount }, hasBytes, followed, choose) {
  const search = h("input", { type: "search", "aria-label": "search by file or partition", placeholder: "search" });
  const place = h("div");
  const draw = () => {
    const found = files.filter(({ name, partition }) => `${name} ${partition}`.includes(search.value));
    const isPartitioned = files.some(({ partition }) => partition);
    const heads = [{ name: "", label: "added or removed" }, { name: "file", text: shortFile }, ...(isPartitioned ? [{ name: "partition" }] : []), { name: "bucket", right: true }, ...levelHead(files),
      { name: "rows", right: true, text: count }, ...(hasBytes ? [{ name: "size", right: true, text: bytes }] : [])];
    const rows = found.map((file) => [file.isAdded ? "+" : "-", file.name, ...(isPartitioned ? [file.partition] : []), file.bucket, ...(hasLevels(files) ? [file.level] : []), file.rowCount, ...(hasBytes ? [file.fileBytes] : []), file]);
    const isFollowed = (/** @type {any[]} */ row) => (followed.file ? row[1] === followed.file : hasPlace(followed) && isAt(row[row.length - 1], followed));
    place.replaceChildren(grid({ heads, rows, label: "files", selected: isFollowed, onChoose: (row) => choose(row[row.length - 1]) }).element);
  };
  search.addEventListener("input", draw);
  draw();
  return h("div", {}, search, place, more(files.length, fileCount));
}

/** @param {Diff} view */
function partitionsOf({ partitionsAdded, partitionsAddedCount, partitionsRemoved, partitionsRemovedCount }) {
  const lists = /** @type {[string, string[], number][]} */ ([["+", partitionsAdded, partitionsAddedCount], ["-", partitionsRemoved, partitionsRemovedCount]]);
  const rows = lists.flatMap(([sign, names]) => names.map((name) => [sign, name]));
  return h("div", {}, rows.length ? grid({ heads: [{ name: "", label: "added or removed" }, { name: "partition" }], rows, label: "partitions" }).element : h("p", {}, "the same partitions"),
    more(rows.length, partitionsAddedCount + partitionsRemovedCount));
}

/** @param {Diff} view */
function schemaOf({ schema }) {
  const word = (/** @type {SchemaDifference} */ { aspect, after }) => (aspect === "column" ? (after === null ? "dropped" : "added") : aspect === "name" ? "renamed" : aspect);
  const rows = schema.map((difference) => [word(difference), difference.name, difference.before, difference.after]);
  return rows.length ? grid({ heads: ["what", "name", "before", "after"].map((name) => ({ name })), rows, label: "schema" }).element : h("p", {}, "the same columns and options");
}

/** @param {number} shown @param {number} there */
function more(shown, there) {
  return shown < there ? h("p", { class: "faint" }, `${count(shown)} of ${count(there)}`) : null;
}

/** What is compared. @param {Diff} view */
function wordsOf({ before, after, hasSnapshots = true }) {
  if (!before.snapshotId && !after.snapshotId) return hasSnapshots ? "before the first snapshot" : "snapshots";
  if (!before.snapshotId) return `up to snapshot ${after.snapshotId}`;
  return after.snapshotId ? `from snapshot ${before.snapshotId} to ${after.snapshotId}` : `from snapshot ${before.snapshotId} back to the empty table`;
}

/** Whether times, and with them bytes, are shown. @param {Diff} view */
const hasTimes = ({ before, after }) => before.timeMillis !== null || after.timeMillis !== null;

/** @param {Diff} view */
function headlineOf({ before, after, added, removed, fileCount, rowsAre }) {
  if (!fileCount) return "The same files";
  const rows = Number(after.live.rowCount) - Number(before.live.rowCount);
  return `${[added.fileCount && `+${many(Number(added.fileCount), "file")}`, removed.fileCount && `-${many(Number(removed.fileCount), "file")}`].filter(Boolean).join(", ")}: ${signed(rows) || "0"} ${Math.abs(rows) === 1 ? rowsAre.replace("rows", "row") : rowsAre}`;
}
