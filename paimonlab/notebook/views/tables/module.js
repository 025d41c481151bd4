// @ts-check
import { count, listing, many } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").TableList} TableList */
/** @typedef {import("../../display/browser/host").Context<TableList>} TablesContext */

/** @param {TablesContext} context */
export function render({ data, el }) {
  const { databases, tables } = data.view;
  const empty = databases.filter((name) => !tables.some(({ database }) => database === name));
  const quoted = (/** @type {string} */ name) => (/^[A-Za-z_]\w*$/.test(name) ? name : `\`${name.replaceAll("`", "``")}\``);
  return listing(el, {
    title: "tables",
    headline: `${many(tables.length, "table")} in ${many(databases.length, "database")}${empty.length ? `; none in ${empty.join(", ")}` : ""}`,
    none: "No tables yet: CREATE TABLE makes one, or demo() two to try.",
    heads: [{ name: "database" }, { name: "table" }, { name: "primary key" }, { name: "partitioned by" }, { name: "columns", right: true, text: count }, { name: "snapshot", right: true, text: count }],
    rows: tables,
    cellsOf: (table) => [table.database, table.table, table.primaryKeys.join(", "), table.partitionKeys.join(", "), table.columnCount, table.snapshotId],
    factsOf: (table) => [["table", `${table.database}.${table.table}`], ["primary key", table.primaryKeys.join(", ")], ["partitioned by", table.partitionKeys.join(", ")],
      ["columns", count(table.columnCount)], ["snapshot", count(table.snapshotId)]],
    copiesOf: (table) => [["copy SELECT", `SELECT * FROM ${quoted(table.database)}.${quoted(table.table)}`], ["copy %paimon_timeline", `%paimon_timeline ${table.database}.${table.table}`]],
  });
}
