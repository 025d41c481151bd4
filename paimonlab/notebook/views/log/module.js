// @ts-check
import { ago, bothWays, bytes, card, commitText, copyButton, count, empty, frame, grid, h, moment, shortId } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").Log} Log */
/** @typedef {import("../../display/browser/views").LogEntry} LogEntry */
/** @typedef {import("../../display/browser/host").Context<Log>} LogContext */

/** What a commit adds and deletes: head, end of the names of metrics, how a number is written. */
const CHANGES = /** @type {[string, string, (value: number) => string][]} */ ([["rows", "Rows", count], ["files", "Files", count], ["size", "Bytes", bytes]]);
const BOTH_WAYS = /^(added|deleted)(Rows|Files|Bytes)$/;

/** @param {LogContext} context */
export function render({ data, el, host }) {
  const { table, entries, olderCount, rowsAre } = data.view;
  const wordsOf = (/** @type {string} */ name) => (name === "totalRows" ? `total ${rowsAre ?? "rows"}` : name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));
  const note = olderCount ? `the newest ${count(entries.length)} of ${count(entries.length + olderCount)} commits` : "";
  const { body, say, stop } = frame(el, { title: `${table}: history`, note, headline: entries.length ? headlineOf(entries[0]) : "", css: "td.right { white-space: normal; }" });
  if (!entries.length) {
    body.append(empty("Nothing was written to it yet. The first commit is made by", `INSERT INTO ${table} VALUES …`));
    return stop;
  }
  /** @type {LogEntry | undefined} */
  let chosen;
  /** @type {[number, number] | undefined} another view's range */
  let range;
  const details = h("div");
  const place = h("div");
  const only = h("select", { onchange: () => show() }, h("option", { value: "" }, "all operations"),
    ...[...new Set(entries.map((entry) => entry.operation))].map((name) => h("option", { value: name }, name.toLowerCase())));

  const show = () => {
    const shown = entries.filter((entry) => !only.value || entry.operation === only.value);
    const others = [...new Set(shown.flatMap((entry) => Object.keys(entry.metrics)))].filter((name) => !BOTH_WAYS.test(name));
    const hasTimes = shown.some((entry) => entry.timeMillis !== null);
    const rows = shown.map((entry) => [entry.version, ...(hasTimes ? [entry.timeMillis] : []), entry.operation, ...CHANGES.map(([, what]) => { const [added, deleted] = bothOf(entry, what); return added ?? (deleted == null ? null : 0); }), ...others.map((name) => entry.metrics[name]), entry.tags.join(", "), entry.user, entry]);
    const heads = [
      { name: "version", right: true }, ...(hasTimes ? [{ name: "time (UTC)", text: moment }] : []), { name: "operation", text: (/** @type {string} */ name) => name.toLowerCase() },
      ...CHANGES.map(([name, what, write]) => ({ name, right: true, optional: true, text: (/** @type {any} */ _, /** @type {any[]} */ row) => changeOf(row[row.length - 1], what, write) })),
      ...others.map((name) => ({ name: wordsOf(name).replace("changelog rows", "changelog").replace(/ before .*/, ""), right: true, optional: true, less: 700, text: count })), { name: "tags", optional: true }, { name: "user", less: 960, text: shortId },
    ];
    const drawn = grid({ heads, rows, label: "commits", selected: ([version]) => (range ? range[0] <= version && version <= range[1] : version === chosen?.version), onChoose: ([version]) => {
      range = undefined;
      choose(entries.find((entry) => entry.version === version));
      drawn.draw();
      host.select({ snapshot: version });
    } });
    place.replaceChildren(drawn.element);
    return drawn;
  };
  /** @param {LogEntry | undefined} entry */
  const choose = (entry) => {
    if (!entry) return;
    chosen = entry;
    const { version } = entry;
    details.replaceChildren(card([
      ["version", version], ["time (UTC)", moment(entry.timeMillis)], ["user", entry.user], ["identifier", entry.identifier === null ? "batch" : count(entry.identifier)],
      ["operation", entry.operation.toLowerCase()], ["kind", entry.commitKind === entry.operation ? "" : entry.commitKind.toLowerCase()], ["schema", entry.schemaId],
      ["inserted, updated", entry.writtenRows ? count(entry.writtenRows) : ""], ["deleted", entry.deletedRows ? count(entry.deletedRows) : ""],
      ...Object.entries(entry.metrics).filter(([name]) => entry.writtenRows == null || !/^(added|deleted)Rows$/.test(name)).map(([name, value]) => /** @type {[string, string]} */ ([wordsOf(name), name.endsWith("Bytes") ? bytes(value) : count(value)])),
      ["tags", entry.tags.join(", ")], ["writer", entry.writerVersion],
      ...Object.entries(entry.properties).map(([name, value]) => /** @type {[string, string]} */ ([`property ${name}`, value])),
    ]), copyButton(`copy VERSION AS OF ${version}`, () => `VERSION AS OF ${version}`, say));
    say(`version ${version}, ${entry.operation.toLowerCase()}`);
  };
  body.append(h("div", { class: "row tools" }, entries.length >= 10 && h("label", {}, "show ", only)), place, details);
  show();
  const quiet = host.onSelect((selection) => {
    const snapshot = selection.range ? selection.range[1] : selection.snapshot;
    const entry = entries.find(({ version }) => version === snapshot);
    if (!entry) return;
    range = selection.range;
    only.value = "";
    choose(entry);
    show();
    if (range) say(`versions ${range[0]} to ${range[1]}`);
  });
  return () => {
    quiet();
    stop();
  };
}

/** What the newest commit did. @param {LogEntry} entry */
function headlineOf({ version, operation, commitKind, metrics, writtenRows, deletedRows, user, timeMillis }) {
  const { addedFiles, deletedFiles } = metrics;
  const merged = commitKind === "COMPACT" ? deletedFiles ?? 0 : undefined;
  const what = commitText({ kind: operation, written: writtenRows ?? 0, deleted: deletedRows ?? 0, files: addedFiles, merged, user });
  return `Version ${version}: ${what}${timeMillis === null ? "" : `, ${ago(timeMillis)}`}`;
}

/** @param {LogEntry} entry @param {string} what @param {(value: number) => string} write */
function changeOf(entry, what, write) {
  return bothWays(...bothOf(entry, what), write);
}

/** What was added and deleted; rows are not those of files, where a delete is one more. @param {LogEntry} entry @param {string} what @returns {[number | null | undefined, number | null | undefined]} */
function bothOf({ metrics, writtenRows, deletedRows }, what) {
  return what === "Rows" && writtenRows != null ? [writtenRows, deletedRows] : [metrics[`added${what}`], metrics[`deleted${what}`]];
}
