// @ts-check
import { h, listing, shortFile } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").Fsck} Fsck */
/** @typedef {import("../../display/browser/host").Context<Fsck>} FsckContext */

/** @param {FsckContext} context */
export function render({ data, el }) {
  const { table, summary, findings } = data.view;
  const words = summary.replace(`${table}: `, "");
  const said = `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
  return listing(el, {
    title: `${table}: check of the files`,
    headline: findings.length ? said : `✔ ${said}`,
    none: "",
    heads: [{ name: "severity", text: (severity) => h("span", { class: severity }, severity === "error" ? "✖ error" : "▲ warning") }, { name: "file", text: shortFile }, { name: "referred to by", less: 960 }, { name: "problem", prose: true }, { name: "advice", prose: true }],
    rows: findings,
    cellsOf: (finding) => [finding.severity, finding.file, finding.referrer, finding.problem, finding.advice],
    factsOf: (finding) => [["file", finding.file], ["severity", finding.severity], ["problem", finding.problem], ["referred to by", finding.referrer], ["advice", finding.advice]],
    copiesOf: (finding) => [["copy the name", finding.file], ["copy the advice", finding.advice]],
  });
}
