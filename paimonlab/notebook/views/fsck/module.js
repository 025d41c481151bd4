// @ts-check
import { count, listing } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").Fsck} Fsck */
/** @typedef {import("../../display/browser/host").Context<Fsck>} FsckContext */

/** @param {FsckContext} context */
export function render({ data, el }) {
  const { table, summary, findings } = data.view;
  return listing(el, {
    title: `${table}: ${findings.length ? `${count(findings.length)} found` : "nothing found"}`,
    note: summary,
    heads: [{ name: "severity", text: (severity) => (severity === "error" ? "✖ error" : "▲ warning") }, { name: "file" }, { name: "referred to by" }, { name: "problem" }, { name: "advice" }],
    rows: findings,
    cellsOf: (one) => [one.severity, one.file, one.referrer, one.problem, one.advice],
    factsOf: (one) => [["file", one.file], ["severity", one.severity], ["problem", one.problem], ["referred to by", one.referrer], ["advice", one.advice]],
    copiesOf: (one) => [["copy the name", one.file], ["copy the advice", one.advice]],
  });
}
