// @ts-check
import { breaking, bytes, card, copyButton, count, empty, frame, grid, h, hasPlace, isAt, many } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").Health} Health */
/** @typedef {import("../../display/browser/host").Context<Health>} HealthContext */
/** @typedef {import("../../display/browser/views").HealthFinding & {table: string}} TableFinding */

const SEVERITY_MARKS = /** @type {Record<string, string>} */ ({
  error: "✖ error", warning: "▲ warning", info: "● info", ok: "✔ ok",
});
/** Pixels of a view below which the numbers of tables leave a column out; sizes and files stay. */
const LESS = /** @type {Record<string, number>} */ ({ snapshot: 1200, manifests: 1000, snapshots: 800 });
const SEVERITY_ORDER = ["error", "warning", "info", "ok"];

/** @param {HealthContext} context */
export function render({ data, el, host }) {
  const { title, tables, worst, looksFor } = { ...data.view, looksFor: data.view.lookedForOrphans };
  const note = `no data file was read${looksFor ? "" : ", orphan files were not looked for"}`;
    /** @type {TableFinding[]} */
  const findings = tables.flatMap((table) => [
    ...(table.problem ? [unreadableFinding(table)] : []),
    ...table.findings.map((finding) => ({ ...finding, table: table.table })),
  ]);
  const found = SEVERITY_ORDER.map((severity) => [severity, findings.filter((finding) => finding.severity === severity).length]).filter(([, number]) => number);
  const headline = `${SEVERITY_MARKS[worst].slice(0, 1)} ${found.map(([severity, number]) => (severity === "info" ? many(Number(number), "note") : many(Number(number), String(severity)))).join(", ") || "In order: nothing to do"}`;
  findings.sort((left, right) => SEVERITY_ORDER.indexOf(left.severity) - SEVERITY_ORDER.indexOf(right.severity));
  const { body, say, stop } = frame(el, { title, note, headline, css: ".actions code { overflow-wrap: anywhere; }" });
  const isOne = tables.length === 1;
  const chosen = new Set(SEVERITY_ORDER);
  /** @type {import("../../display/browser/host").Selection} where another view looks */
  let followed = {};
  /** @param {TableFinding} finding */
  const isFollowed = (finding) => {
    const { partition, bucket } = selectionOf(finding) ?? {};
    return partition !== undefined && bucket !== undefined && isAt({ partition, bucket }, followed);
  };
  const list = h("div");
  const detail = h("div", { class: "actions" });

  /** @param {TableFinding} finding */
  const show = (finding) => {
    describe(finding);
    say(`${finding.table}: ${finding.message}`);
    const selection = tables.length === 1 ? selectionOf(finding) : null;
    if (selection) host.select(selection);
  };
  /** @param {TableFinding} finding */
  const describe = (finding) => {
    const { sql = "", python = "", shell = "" } = finding;
    detail.replaceChildren(
      card([
        ["finding", `${finding.code} (${SEVERITY_MARKS[finding.severity]})`],
        ["table", finding.table],
        ["where", finding.where],
        ["what", finding.message],
        ["measured", finding.measured === null ? "" : `${count(finding.measured)} ${finding.unit}, limit ${count(finding.threshold)}`],
        ["SQL", sql && h("code", {}, sql)],
        ["Python", python && h("code", {}, python)],
        ["Shell", shell && h("code", {}, shell)],
      ]),
      h("div", { class: "row" },
        sql && copyButton("copy SQL", () => sql, say),
        python && copyButton("copy Python", () => python, say),
        shell && copyButton("copy for a shell", () => shell, say)));
  };

  const draw = () => {
    const shown = findings.filter((finding) => chosen.has(finding.severity));
    const rows = shown.map((finding) => [...(isOne ? [] : [finding.table]), finding.severity, finding.code, finding.where, finding.message, finding.measured, finding]);
    if (!shown.length) return list.replaceChildren(findings.length ? empty("None of the chosen severities.") : "");
    const made = grid({
      label: "findings",
      selected: (row) => hasPlace(followed) && isFollowed(row[row.length - 1]),
      heads: [
        ...(isOne ? [] : [{ name: "table", text: breaking }]),
        { name: "severity", text: (value) => h("span", { class: value }, SEVERITY_MARKS[value]) },
        { name: "finding" }, { name: "where", optional: true, prose: 100 }, { name: "what", prose: 200 },
        { name: "measured", right: true, optional: true, less: 1000, text: (value, row) => (value === null ? "" : `${count(value)} ${row[row.length - 1].unit}`) },
      ],
      rows,
      onChoose: (row) => show(row[row.length - 1]),
    });
    list.replaceChildren(made.element);
  };

  const filters = ["error", "warning", "info"].map((severity) => {
    const many = findings.filter((finding) => finding.severity === severity).length;
    const button = h("button", { "aria-pressed": "true", onclick: () => {
      if (!chosen.delete(severity)) chosen.add(severity);
      button.setAttribute("aria-pressed", String(chosen.has(severity)));
      draw();
      say(`${many} of severity ${severity} ${chosen.has(severity) ? "shown" : "hidden"}`);
    } }, `${SEVERITY_MARKS[severity]} ${many}`);
    return button;
  });
  draw();
  if (findings.length) describe(findings[0]);
  const overview = isOne ? { element: card(numbersOf(tables[0])) } : grid({
    caption: "tables",
    heads: [
      { name: "table", text: breaking },
      { name: "verdict", text: (value) => h("span", { class: SEVERITY_ORDER[value] }, SEVERITY_MARKS[SEVERITY_ORDER[value]]) },
      ...["snapshot", "files", new Set(tables.map(({ rowsAre }) => rowsAre)).size === 1 ? tables[0].rowsAre : "rows of files", "files on level 0", "snapshots", "manifests"]
        .map((name) => ({ name, right: true, less: LESS[name], text: count })),
      { name: "bytes", right: true, optional: true, text: bytes },
    ],
    rows: tables.map((table) => [table.table, verdict(table), table.snapshotId, table.fileCount, table.recordCount,
      table.level0Files, table.snapshotCount, table.manifestCount, table.totalBytes]),
  });
  body.append(h("div", { class: "row tools", role: "group", "aria-label": "severities" }, ...(findings.length >= 10 ? filters : [])), list, detail, overview.element);
  const quiet = host.onSelect((selection) => {
    if (!hasPlace(selection)) return;
    followed = selection;
    draw();
    say(`${count(findings.filter(isFollowed).length)} of the findings are there`);
  });
  return () => {
    quiet();
    stop();
  };
}

/** What a finding is about, where other views have it. @param {TableFinding} finding @returns {import("../../display/browser/host").Selection | null} */
function selectionOf({ where = "" }) {
  const bucket = /^(?:(.*), )?bucket (\d+)$/s.exec(where);
  if (bucket) return { partition: bucket[1] ?? "", bucket: Number(bucket[2]) };
  const snapshot = /^snapshot (\d+)$/.exec(where);
  return snapshot && { snapshot: Number(snapshot[1]) };
}

/** @param {import("../../display/browser/views").TableHealth} table @returns {number} place in SEVERITY_ORDER */
function verdict(table) {
  if (table.problem) return 0;
  return Math.min(3, ...table.findings.map((finding) => SEVERITY_ORDER.indexOf(finding.severity)));
}

/** @param {import("../../display/browser/views").TableHealth} table @returns {TableFinding} */
function unreadableFinding(table) {
  return { table: table.table, code: "unreadable", severity: "error", message: table.problem ?? "", measured: null,
    threshold: 0, unit: "", where: "", sql: "", python: "" };
}

/** @param {import("../../display/browser/views").TableHealth} table @returns {[string, any][]} */
function numbersOf(table) {
  return [["snapshot", table.snapshotId === null ? "none yet" : count(table.snapshotId)], ["files", count(table.fileCount)], ["files on level 0", count(table.level0Files)],
    [table.rowsAre, count(table.recordCount)], ["size", bytes(table.totalBytes)], ["snapshots", count(table.snapshotCount)], ["manifests", count(table.manifestCount)]];
}
