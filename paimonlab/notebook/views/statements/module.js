// @ts-check
import { count, h, listing, many, moment } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").Statements} Statements */
/** @typedef {import("../../display/browser/host").Context<Statements>} StatementsContext */

/** @param {StatementsContext} context */
export function render({ data, el }) {
  const { entries, olderCount } = data.view;
  const seconds = (/** @type {number | null} */ millis) => (millis === null ? "" : (millis / 1000).toFixed(1));
  const hasTimes = entries.some((entry) => entry.timeMillis !== null);
  return listing(el, {
    title: "statements that were run",
    headline: `${many(entries.length, "statement")}, newest first`,
    note: olderCount ? `${many(olderCount, "older one")} not shown` : "",
    none: "No such statement was run here: %%paimon in front of a cell runs one. The life of a row is shown by %paimon_row db.t id=1.",
    heads: [{ name: "number", right: true }, ...(hasTimes ? [{ name: "time (UTC)", text: moment }] : []), { name: "connection" },
      { name: "SQL", text: (sql) => (sql.length > 200 ? `${sql.slice(0, 200)}…` : sql) }, { name: "rows", right: true, text: count }, { name: "read at" },
      ...(hasTimes ? [{ name: "seconds", right: true, text: seconds }] : []), { name: "status", text: (status) => h("span", { class: status === "failed" && "error" }, status) }],
    rows: entries,
    cellsOf: (statement) => [statement.number, ...(hasTimes ? [statement.timeMillis] : []), statement.alias, statement.sql, statement.rowCount, statement.snapshots, ...(hasTimes ? [statement.durationMillis] : []), statement.status],
    factsOf: (statement) => [["number", statement.number], ["status", statement.status], ["rows", count(statement.rowCount)], ["read at", statement.snapshots], ["SQL", statement.sql], ["connection", statement.alias],
      ["time (UTC)", moment(statement.timeMillis)], ["seconds", seconds(statement.durationMillis)]],
    copiesOf: (statement) => [["copy SQL", statement.sql], [`copy %paimon_rerun ${statement.number}`, `%paimon_rerun ${statement.number}`]],
  });
}
