// @ts-check
import { COLOURS, ago, breaking, card, copyButton, count, frame, grid, h, many, moment, roving } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").SchemaHistory} SchemaHistory */
/** @typedef {import("../../display/browser/views").SchemaVersion} SchemaVersion */
/** @typedef {import("../../display/browser/views").SchemaDifference} SchemaDifference */
/** @typedef {import("../../display/browser/host").Context<SchemaHistory>} SchemaContext */

const CSS = `
.prose { text-wrap: balance; } .sides { display: flex; flex-wrap: wrap; gap: 8px 20px; align-items: flex-start; } .sides > * { min-width: 12em; flex: 1 1 20em; } @media (max-width: 700px) { .sides > * { flex-basis: 100% !important; } }
[role=listbox] { flex: 0 1 16em; max-height: 26em; overflow: auto; } [role=option] { padding: 3px 6px; cursor: pointer; border-left: 4px solid transparent; }
[role=option][aria-selected=true] { border-left-color: var(--focus); background: var(--chosen); }
.minus, .plus, .moved { font-family: ui-monospace, monospace; overflow-wrap: anywhere; unicode-bidi: isolate; white-space: pre-wrap; padding: 0 4px; }
.minus { background: color-mix(in srgb, ${COLOURS.red} 22%, transparent); } .plus { background: color-mix(in srgb, ${COLOURS.sky} 30%, transparent); } .moved { background: color-mix(in srgb, ${COLOURS.yellow} 30%, transparent); }
`;

/** @param {SchemaContext} context */
export function render({ data, el, host }) {
  const { table, versions } = data.view;
  const newest = versions.slice().reverse();
  const { body, say, stop } = frame(el, { title: `${table}: schemas`, headline: headlineOf(versions), css: CSS });
  let isWhole = false;
  let chosen = 0;
  const details = h("div");
  const options = newest.map((version) =>
    h("div", { role: "option", "aria-selected": "false" }, h("b", {}, `schema ${version.id}`), h("div", { class: "faint" }, moment(version.timeMillis)), h("div", { class: "faint" }, summary(version), h("br"), `snapshots: ${useOf(version)}`)));
  const list = h("div", { role: "listbox", "aria-label": "schemas, newest first" }, ...options);
  const draw = () => {
    const version = newest[chosen];
    const before = newest[chosen + 1];
    options.forEach((option, at) => option.setAttribute("aria-selected", String(at === chosen)));
    details.replaceChildren(
      h("div", { class: "row" },
        before && h("button", { "aria-pressed": String(isWhole), onclick: () => { isWhole = !isWhole; draw(); } }, "whole schema"),
        copyButton("copy as Markdown", () => markdownOf(version), say)),
      isWhole || !before ? wholeOf(version) : h("div", {}, h("p", {}, `from schema ${before.id} to schema ${version.id}`), ...version.differences.flatMap(linesOf)));
    say(`schema ${version.id}: ${summary(version)}`);
  };
  roving(options, {
    onFocus: (now) => { chosen = now; draw(); },
    onChoose: () => {
      const use = newest[chosen].usedBy;
      if (use) host.select({ range: [use.firstSnapshot, use.lastSnapshot] });
    },
  });
  body.append(h("div", { class: "sides" }, list, details));
  draw();
  const quiet = host.onSelect((selection) => {
    const snapshot = selection.range ? selection.range[1] : selection.snapshot;
    const at = newest.findIndex(({ usedBy }) => snapshot !== undefined && usedBy && usedBy.firstSnapshot <= snapshot && snapshot <= usedBy.lastSnapshot);
    if (at < 0) return;
    chosen = at;
    draw();
  });
  return () => {
    quiet();
    stop();
  };
}

/** @param {readonly SchemaVersion[]} versions oldest first */
function headlineOf(versions) {
  const last = versions[versions.length - 1];
  const when = last.timeMillis === null ? "" : ` ${ago(last.timeMillis)}`;
  return versions.length === 1 ? `${summary(last)}, never changed` : `${many(versions.length, "schema")}, the newest${when}: ${summary(last)}`;
}

/** @param {SchemaVersion} version */
function useOf({ usedBy }) {
  if (!usedBy) return "none";
  const { firstSnapshot, lastSnapshot, snapshotCount } = usedBy;
  return snapshotCount === 1 ? `${firstSnapshot}` : `${firstSnapshot} to ${lastSnapshot} (${count(snapshotCount)})`;
}

/** @param {SchemaVersion} version */
function summary({ differences, columns }) {
  if (!differences.length) return many(columns.length, "column");
  /** @type {Record<string, number>} */
  const found = {};
  for (const difference of differences) found[wordOf(difference)] = (found[wordOf(difference)] ?? 0) + 1;
  return Object.entries(found).map(([word, number]) => `${number} ${word}`).join(", ");
}

/** @param {SchemaDifference} difference */
function wordOf({ aspect, after }) {
  if (aspect === "column") return after === null ? "dropped" : "added";
  return aspect === "name" ? "renamed" : aspect;
}

/** As Python writes it. @param {SchemaDifference} difference @returns {[string, string][]} */
function textsOf({ aspect, name, before, after }) {
  const what = aspect === "column" ? "" : aspect === "name" ? "column " : `${aspect} `;
  const head = aspect === "name" ? what + name.slice(0, name.lastIndexOf(".") + 1) : !name ? what : aspect === "option" ? `${what}${name} = ` : `${what}${name} `;
  if (aspect === "name") return [["~", `~ ${head}${before} → ${after}`]];
  return /** @type {[string, string | null][]} */ ([["-", before], ["+", after]])
    .flatMap(([sign, text]) => (text === null ? [] : /** @type {[string, string][]} */ ([[sign, `${sign} ${head}${text}`]])));
}

/** @param {SchemaDifference} difference */
function linesOf(difference) {
  return textsOf(difference).map(([sign, text]) => h("div", { class: sign === "-" ? "minus" : sign === "+" ? "plus" : "moved" }, text));
}

/** @param {SchemaVersion} version */
function markdownOf(version) {
  const lines = version.differences.length ? version.differences.flatMap(textsOf).map(([, text]) => text)
    : version.columns.map((column) => `+ ${column.name} ${column.typeText}${column.isNullable ? "" : " NOT NULL"}`);
  return [`**schema ${version.id}**, snapshots: ${useOf(version)}`, "", "```diff", ...lines.map((line) => line.replace(/[\r\n]/g, " ")), "```", ""].join("\n");
}

/** @param {SchemaVersion} version */
function wholeOf(version) {
  const keys = (/** @type {string} */ name) => [version.primaryKeys.includes(name) && "primary", version.partitionKeys.includes(name) && "partition"].filter(Boolean).join(", ");
  const rows = version.columns.map((column) => [column.fieldId, column.name, column.typeText + (column.isNullable ? "" : " NOT NULL"), keys(column.name), column.default, column.comment]);
  const heads = [{ name: "id", right: true }, { name: "column", prose: true, text: breaking }, { name: "type" }, { name: "key", optional: true }, { name: "default", optional: true }, { name: "comment", optional: true }];
  return h("div", {}, grid({ heads, rows, label: `columns of schema ${version.id}` }).element, card([["comment", version.comment], ...Object.entries(version.options)]));
}
