// @ts-check
import { count, listing } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").TableList} TableList */
/** @typedef {import("../../display/browser/host").Context<TableList>} TablesContext */

/** @param {TablesContext} context */
export function render({ data, el }) {
  const { databases, tables } = data.view;
  const empty = databases.filter((name) => !tables.some(({ database }) => database === name));
  const quoted = (/** @type {string} */ name) => (/^[A-Za-z_]\w*$/.test(name) ? name : `\`${name.replaceAll("`", "``")}\``);
  return listing(el, {
    title: "tables",
    note: `${count(tables.length)} of them${empty.length ? `; none in ${empty.join(", ")}` : ""}`,
    heads: [{ name: "database" }, { name: "table" }, { name: "primary key" }, { name: "partitioned by" }, { name: "columns", right: true, text: count }, { name: "snapshot", right: true, text: count }],
    rows: tables,
    cellsOf: (one) => [one.database, one.table, one.primaryKeys.join(", "), one.partitionKeys.join(", "), one.columnCount, one.snapshotId],
    factsOf: (one) => [["table", `${one.database}.${one.table}`], ["primary key", one.primaryKeys.join(", ")], ["partitioned by", one.partitionKeys.join(", ")],
      ["columns", count(one.columnCount)], ["snapshot", count(one.snapshotId)]],
    copiesOf: (one) => [["copy SELECT", `SELECT * FROM ${quoted(one.database)}.${quoted(one.table)}`], ["copy %paimon_timeline", `%paimon_timeline ${one.database}.${one.table}`]],
  });
}
