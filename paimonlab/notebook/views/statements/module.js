// @ts-check
import { count, listing, moment } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").Statements} Statements */
/** @typedef {import("../../display/browser/host").Context<Statements>} StatementsContext */

/** @param {StatementsContext} context */
export function render({ data, el }) {
  const { entries, olderCount } = data.view;
  const seconds = (/** @type {number | null} */ millis) => (millis === null ? "" : (millis / 1000).toFixed(1));
  const hasTimes = entries.some((one) => one.timeMillis !== null);
  return listing(el, {
    title: "statements that were run",
    note: `${count(entries.length)} of them, newest first${olderCount ? `; ${count(olderCount)} older ones are not shown` : ""}`,
    heads: [{ name: "number", right: true }, ...(hasTimes ? [{ name: "time (UTC)", text: moment }] : []), { name: "connection" },
      { name: "SQL", text: (sql) => (sql.length > 200 ? `${sql.slice(0, 200)}…` : sql) }, { name: "rows", right: true, text: count }, { name: "read at" },
      ...(hasTimes ? [{ name: "seconds", right: true, text: seconds }] : []), { name: "status" }],
    rows: entries,
    cellsOf: (one) => [one.number, ...(hasTimes ? [one.timeMillis] : []), one.alias, one.sql, one.rowCount, one.snapshots, ...(hasTimes ? [one.durationMillis] : []), one.status],
    factsOf: (one) => [["number", one.number], ["status", one.status], ["rows", count(one.rowCount)], ["read at", one.snapshots], ["SQL", one.sql], ["connection", one.alias],
      ["time (UTC)", moment(one.timeMillis)], ["seconds", seconds(one.durationMillis)]],
    copiesOf: (one) => [["copy SQL", one.sql], [`copy %paimon_rerun ${one.number}`, `%paimon_rerun ${one.number}`]],
  });
}
