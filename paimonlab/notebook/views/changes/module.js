// @ts-check
import { areNumbers, card, copyButton, count, empty, frame, grid, h, hasPlace, isAt, many, placeText, valueText } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").ChangeList} ChangeList */
/** @typedef {import("../../display/browser/views").ChangedRow} ChangedRow */
/** @typedef {import("../../display/browser/host").Context<ChangeList>} ChangesContext */

const CHANGE_NAMES = /** @type {Record<string, string>} */ ({ "+": "inserted", "-": "deleted", "~": "updated" });
/** Columns that are shown of a wide table, and the room that others take than the key and the first. */
const MOST_COLUMNS = 8;
const COLUMN_WIDTH = 220;
const FEW_DIGITS = 6;
const CHANGES_CSS = `
tr:has(.mark-gone) td, del { color: var(--faint); } td.right del { text-decoration: none; } ins { text-decoration: none; font-weight: bold; white-space: nowrap; } td.right:has(ins) { white-space: normal; }
.mark { font-weight: bold; font-family: monospace; }
`;

/** @param {ChangesContext} context */
export function render({ data, el, host }) {
  const { table, start, end, source, note, columns, key, floats = [], total, partitions, buckets, rows, rowCount, fileCount, hasSnapshots = true } = data.view;
  const { body, say, stop } = frame(el, {
    title: `${table}: changes from ${start} to ${end}`,
    note: hasSnapshots ? `${source}, from ${many(fileCount, "data file")}` : "",
    headline: !rowCount ? "" : Object.entries({ inserted: total.inserts, updated: total.updates, deleted: total.deletes }).flatMap(([what, number]) => (number ? [`${count(number)} ${what}`] : [])).join(", "),
    css: CHANGES_CSS,
  });
  if (!hasSnapshots) {
    body.append(empty("Nothing was written to it yet. The first changes are made by", `INSERT INTO ${table} VALUES …`));
    return stop;
  }
  if (!rowCount) {
    body.append(empty(`No row changed there, or none is reported yet (${note}). The commits are shown by`, `%paimon_diff ${table} ${start} ${end}`));
    return stop;
  }
  const page = Math.max(rows.length, 1);
  let shown = rows;
  /** Whether more rows may match: no more files are read than fill a page. */
  let isMore = false;
  let matching = rowCount;
  let offset = 0;
  let asked = 0;
  let isAll = columns.length <= MOST_COLUMNS;
  const chosen = new Set(["+", "-", "~"]);
  /** @type {import("../../display/browser/host").Selection} where another view looks */
  let followed = {};
  const list = h("div");
  const detail = h("div");
  const where = h("span", { class: "faint" });

  /** Places of the columns that are shown: of many the key, then those that changed. */
  const placesShown = () => {
    const every = columns.map((_, place) => place);
    if (isAll) return every;
    const moved = new Set(shown.flatMap((row) => (row.old ?? []).map(([place]) => place)));
    const rank = (/** @type {number} */ place) => (key.includes(place) ? 0 : moved.has(place) ? 1 : 2);
    return every.sort((left, right) => rank(left) - rank(right) || left - right).slice(0, Math.max(MOST_COLUMNS, key.length));
  };

  /** A value, and the one before it if it changed; digits are those of floats. @param {ChangedRow} row @param {number} column @param {number} [digits] */
  const changed = (row, column, digits) => {
    const isFloat = floats.includes(column);
    const now = row.cells[column];
    const before = row.old?.find(([place]) => place === column);
    if (!before) return valueText(now, isFloat, digits);
    const shown = [before[1], now].map((value) => h("span", {}, valueText(value, isFloat, digits)));
    const [was, is] = shown[0].textContent === shown[1].textContent ? [before[1], now] : shown;
    return h("span", {}, h("del", {}, was), " ", h("ins", {}, "→ ", is));
  };

  /** @param {ChangedRow} row */
  const show = (row) => {
    detail.replaceChildren(card([
      ["change", `${CHANGE_NAMES[row.mark]} (${row.kind})`],
      ["partition", row.partition],
      ["bucket", row.bucket],
      ...columns.map((name, place) => /** @type {[string, any]} */ ([key.includes(place) ? `${name} (key)` : name, changed(row, place)])),
    ]));
    const names = (row.old ?? []).map(([place]) => columns[place]).join(", ");
    say(`${CHANGE_NAMES[row.mark]}: ${key.map((place) => row.cells[place]).join(", ")}${names && `; ${names}`}`);
    /** @type {import("../../display/browser/host").Selection} */
    const selection = { partition: row.partition };
    if (row.bucket !== null) selection.bucket = row.bucket;
    host.select(selection);
  };

  const draw = () => {
    const kept = shown.filter((row) => chosen.has(row.mark));
    const wanted = placesShown();
    const hasKinds = new Set(kept.map((row) => row.kind)).size > new Set(kept.map((row) => row.mark)).size;
    const made = grid({
      label: "rows that were inserted, deleted or updated",
      selected: (row) => hasPlace(followed) && isAt(row[row.length - 1], followed),
      heads: [
        { name: "", label: "inserted, deleted or updated", text: (mark) => h("span", { class: `mark ${mark === "-" ? "mark-gone" : ""}`, title: CHANGE_NAMES[mark] }, mark) },
        { name: "kind", optional: true, less: 700 },
        ...wanted.map((place, at) => ({
          name: key.includes(place) ? `${columns[place]} (key)` : columns[place],
          less: isAll || at <= Math.max(key.length, 1) ? 0 : (at + 1) * COLUMN_WIDTH,
          right: areNumbers(shown.map((row) => row.cells[place])),
          text: (/** @type {any} */ _value, /** @type {any[]} */ row) => changed(row[row.length - 1], place, FEW_DIGITS),
        })),
      ],
      rows: kept.map((row) => [row.mark, hasKinds ? row.kind : "", ...wanted.map((place) => row.cells[place]), row]),
      onChoose: (row) => show(row[row.length - 1]),
    });
    list.replaceChildren(made.element);
    const last = offset + shown.length;
    where.replaceChildren(shown.length ? `rows ${count(offset + 1)} to ${count(last)} of ${isMore ? "at least " : ""}${count(matching)}` : "no rows", isAll ? "" : `; some of ${count(columns.length)} columns, a row that is chosen shows all`);
    back.disabled = !host.ask || offset === 0;
    next.disabled = !host.ask || last >= matching;
  };

  /** @param {number} to */
  const fetchPage = async (to) => {
    const text = filter.value;
    if (!host.ask) {
      shown = rows.filter((row) => contains(row, key, text));
      matching = text ? shown.length : rowCount;
      draw();
      say(`${shown.length} of the ${rows.length} rows in this output`);
      return;
    }
    const mine = (asked += 1);
    try {
      const reply = await host.ask({ offset: to, key: text });
      if (mine !== asked) return;
      shown = /** @type {ChangedRow[]} */ (reply.rows);
      matching = Number(reply.count);
      isMore = Boolean(reply.isMore);
      offset = to;
      draw();
      say(`${isMore ? "at least " : ""}${many(matching, "row")}`);
    } catch (error) {
      say(String(error));
    }
  };

  let timer = 0;
  const filter = h("input", {
    type: "search", "aria-label": key.length ? "part of a key" : "part of a value", placeholder: key.length ? "key contains…" : "value contains…",
    oninput: () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => fetchPage(0), 200);
    },
  });
  const back = h("button", { onclick: () => fetchPage(Math.max(0, offset - page)) }, "◀ earlier");
  const next = h("button", { onclick: () => fetchPage(offset + page) }, "later ▶");
  const all = columns.length > MOST_COLUMNS && h("button", { "aria-pressed": "false", onclick: () => {
    isAll = !isAll;
    if (all) all.setAttribute("aria-pressed", String(isAll));
    draw();
  } }, "all columns");
  const sums = { "+": total.inserts, "~": total.updates, "-": total.deletes };
  const there = Object.entries(sums).filter(([, many]) => many);
  const marks = there.map(([mark, many]) => {
    const button = h("button", { "aria-pressed": "true", onclick: () => {
      if (!chosen.delete(mark)) chosen.add(mark);
      button.setAttribute("aria-pressed", String(chosen.has(mark)));
      draw();
    } }, `${mark} ${CHANGE_NAMES[mark]} ${count(many)}`);
    return button;
  });
  draw();
  body.append(
    h("p", { class: "legend" }, note),
    h("div", { class: "row" }, ...(rowCount >= 10 && there.length > 1 ? marks : []), all, where),
    h("div", { class: "row tools" }, rowCount >= 10 && filter, rowCount > page && back, rowCount > page && next,
      copyButton("copy CSV", () => csvOf(shown.filter((row) => chosen.has(row.mark)), columns), (said) => say(said.length > 200 ? `${said.slice(0, 200)}…` : said))),
    list, detail);
  const places = [...partitions, ...buckets];
  if (places.length > 1) {
    body.append(grid({
      caption: "by place",
      heads: [{ name: "where" }, ...["+ inserted", "~ updated", "- deleted"].map((name) => ({ name, right: true, optional: true, text: count }))],
      rows: places.map((entry) => [entry.place, total.inserts ? entry.inserts : null, total.updates ? entry.updates : null, total.deletes ? entry.deletes : null]),
    }).element);
  }
  const quiet = host.onSelect((selection) => {
    const [first, last] = selection.range ?? [null, null];
    if (selection.range && `${first} ${last}` !== `${start} ${end}`) say(`snapshots ${first} to ${last} were chosen: %paimon_changes ${table} ${first} ${last} shows them`);
    if (!hasPlace(selection)) return;
    followed = selection;
    draw();
    say(`${placeText(selection)}: ${count(shown.filter((row) => isAt(/** @type {any} */ (row), selection)).length)} of the ${count(shown.length)} rows here`);
  });
  return () => {
    clearTimeout(timer);
    quiet();
    stop();
  };
}

/** Rows as they are shown: after the change, and before it in columns of their own. @param {ChangedRow[]} rows @param {string[]} columns */
function csvOf(rows, columns) {
  const field = (/** @type {string | number | null | undefined} */ value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return text === "" && value !== "" ? "" : /[",\r\n]|^\s|\s$|^$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = rows.map((row) => {
    const old = new Map(row.old ?? []);
    return [row.mark, row.kind, row.partition, row.bucket, ...row.cells, ...columns.map((_, place) => old.get(place))];
  });
  return [["mark", "kind", "partition", "bucket", ...columns, ...columns.map((name) => `before.${name}`)], ...lines].map((line) => line.map(field).join(",")).join("\n");
}

/** @param {ChangedRow} row @param {number[]} key @param {string} text */
function contains(row, key, text) {
  const wanted = text.toLowerCase();
  const values = key.length ? key.map((place) => row.cells[place]) : row.cells;
  return values.some((value) => (value ?? "").toLowerCase().includes(wanted));
}
