// @ts-check
// The rows of a result that are here, and those that the kernel has.
import { rowOrder } from "./filters.js";

/** @typedef {import("../../display/browser/views").ResultRows} ResultRows */
/** @typedef {import("../../display/browser/views").ResultCells} ResultCells */
/** @typedef {import("./filters.js").RowState} RowState */
/** @typedef {{place: number, cells: (string | null)[], exact: (string | null)[], cut: boolean[], trees: any[]}} Row */

const PAGE = 200;
const PAGES_KEPT = 100;

/**
 * Rows in the order that was chosen.
 * @param {ResultRows} view @param {import("../../display/browser/host").Host["ask"]} ask
 */
export function rowSource(view, ask) {
  const { columns, rows } = view;
  const isCut = columns.some((column) => column.cells.cut.length > 0);
  const isAllHere = rows.length === view.rowCount;
  const here = arranged(rows, columns.map((column) => column.cells), rows.map((_, place) => place));
  const texts = { count: rows.length, cell: (/** @type {number} */ place, /** @type {number} */ column) => rows[place][column], exact: (/** @type {number} */ place, /** @type {number} */ column) => here[place].exact[column] };
  let asks = ask !== null && (!isAllHere || isCut);
  /** @type {number[] | null} null: the kernel has the order */
  let order = asks ? null : rows.map((_, place) => place);
  let count = asks ? view.rowCount : rows.length;
  /** @type {Map<number, Row[]>} */
  const pages = new Map();
  /** @type {Map<number, Promise<void>>} */
  const asked = new Map();
  let turn = 0;
  /** @type {RowState} */
  let now = { by: -1, descending: false, search: "", filters: [] };

  /** @param {RowState} state */
  const query = ({ by, descending, search, filters }) => ({
    ...(by >= 0 && { by, descending }),
    ...(search && { search }),
    filters: filters.flatMap((text, column) => (text ? [[column, text]] : [])),
  });
  /** @param {number} start @param {number} length @param {boolean} whole @param {RowState} [state] */
  const askFor = async (start, length, whole, state = now) => {
    const reply = await /** @type {NonNullable<typeof ask>} */ (ask)({ rows: query(state), start, count: length, whole });
    return { count: reply.count, rows: arranged(reply.rows, reply.columns, reply.places) };
  };
  /** @param {number} page */
  const load = (page) => {
    const mine = turn;
    const promise = askFor(page * PAGE, PAGE, false).then((found) => {
      if (mine !== turn) return;
      count = found.count;
      pages.set(page, found.rows);
      const oldest = pages.size > PAGES_KEPT ? pages.keys().next().value : undefined;
      if (oldest !== undefined) pages.delete(oldest);
    }).finally(() => { if (mine === turn) asked.delete(page); });
    asked.set(page, promise);
    return promise;
  };
  const isPlain = () => now.by < 0 && !now.search && now.filters.every((text) => !text);

  return {
    get asks() { return asks; },
    isCut,
    query: () => query(now),
    get count() { return count; },
    /** Of how many rows these are chosen. */
    get total() { return asks ? view.rowCount : rows.length; },
    /** Make do with the rows that are here. */
    leave() {
      asks = false;
      order = [];
    },
    /** @param {RowState} state @returns {Promise<void> | null} null: it is done */
    arrange(state) {
      now = { ...state, filters: state.filters.slice() };
      turn += 1;
      pages.clear();
      asked.clear();
      if (order) {
        order = rowOrder(columns, texts, now);
        count = order.length;
        return null;
      }
      if (isPlain()) {
        count = view.rowCount;
        return null;
      }
      return load(0);
    },
    /** A row by its position; null: it is not here yet. @param {number} position @returns {Row | null} */
    at(position) {
      if (order) return here[order[position]] ?? null;
      if (isPlain() && position < here.length) return here[position];
      return pages.get(Math.floor(position / PAGE))?.[position % PAGE] ?? null;
    },
    /** Ask for rows that are not here; null: all are. @param {number} first @param {number} end */
    need(first, end) {
      if (order || (isPlain() && end <= here.length)) return null;
      const missing = [];
      for (let page = Math.floor(first / PAGE); page * PAGE < end; page += 1) {
        if (!pages.has(page)) missing.push(asked.get(page) ?? load(page));
      }
      return missing.length ? Promise.all(missing) : null;
    },
    /** Rows with their whole cells, for copies; one or all of them. @param {number} [position] @returns {Promise<Row[]>} */
    async whole(position) {
      if (order) return position === undefined ? order.map((place) => here[place]) : [here[order[position]]];
      if (position !== undefined) return (await askFor(position, 1, true)).rows;
      /** @type {Row[]} */
      const all = [];
      // filters may change while pages are fetched
      const [state, wanted] = [now, count];
      while (all.length < wanted) {
        /** @type {Row[]} */
        const some = (await askFor(all.length, 1000, true, state)).rows;
        if (!some.length) break;
        all.push(...some);
      }
      return all;
    },
  };
}

/** @param {(string | null)[][]} rows @param {ResultCells[]} details @param {number[]} places @returns {Row[]} */
function arranged(rows, details, places) {
  const made = rows.map((cells, at) => ({
    place: places[at], cells, exact: cells.slice(), cut: /** @type {boolean[]} */ ([]),
    trees: details.map(({ trees }) => /** @type {any[] | null} */ (trees)?.[at] ?? null),
  }));
  details.forEach(({ exact, cut }, column) => {
    for (const [at, text] of exact) made[at].exact[column] = text;
    for (const at of cut) made[at].cut[column] = true;
  });
  return made;
}
