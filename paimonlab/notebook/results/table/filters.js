// @ts-check
// Sorting, filtering and searching rows; paimonlab/notebook/row_query does the same in Python.

/** @typedef {import("../../display/browser/views").ResultColumn} ResultColumn */
/** @typedef {{by: number, descending: boolean, search: string, filters: string[]}} RowState */
/** @typedef {{count: number, cell: (place: number, column: number) => string | null, exact: (place: number, column: number) => string | null}} RowTexts */

const COMPARISON = /^(>=|<=|!=|=|>|<)[ \t]*(.+)$/s;
const NUMBER = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,3})?$/i;
const MOMENT = /^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[ T]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,6}))?)?)?$/;

/**
 * Places of the rows that pass, in order.
 * @param {ResultColumn[]} columns @param {RowTexts} texts @param {RowState} state
 */
export function rowOrder(columns, { count, cell, exact }, { by, descending, search, filters }) {
  const wanted = strip(search).toLowerCase();
  const tests = filters.flatMap((text, column) => {
    const test = rowTest(text, columns[column]);
    return test ? [(/** @type {number} */ place) => test(exact(place, column))] : [];
  });
  const all = columns.map((_, column) => column);
  if (wanted) tests.push((place) => all.some((column) => (exact(place, column) ?? "").toLowerCase().includes(wanted) && exact(place, column) !== null));
  const places = Array.from({ length: count }, (_, place) => place).filter((place) => tests.every((test) => test(place)));
  if (by < 0) return places;
  const { ranks, value } = columns[by];
  const keys = ranks ? [] : places.map((place) => [place, exact(place, by)]);
  const text = new Map(/** @type {[number, string | null][]} */ (keys));
  const order = comparison(value);
  return places.sort((left, right) => {
    const missing = Number(cell(left, by) === null) - Number(cell(right, by) === null);
    // Missing values are last, whichever way the rest goes.
    if (missing || cell(left, by) === null) return missing || left - right;
    const found = ranks ? ranks[left] - ranks[right] : order(/** @type {string} */ (text.get(left)), /** @type {string} */ (text.get(right)));
    return (descending ? -found : found) || left - right;
  });
}

/** What a filter lets through; null: all. @param {string} text @param {ResultColumn} column @returns {((cell: string | null) => boolean) | null} */
export function rowTest(text, { value }) {
  const trimmed = strip(text);
  if (!trimmed) return null;
  const words = trimmed.toLowerCase().split(/[ \t]+/).join(" ");
  if (words === "null") return (cell) => cell === null;
  if (words === "not null") return (cell) => cell !== null;
  const match = COMPARISON.exec(trimmed);
  const limit = match && literal(match[2], value);
  if (match && limit !== null) {
    const order = comparison(value);
    const holds = /** @type {Record<string, (order: number) => boolean>} */ ({
      ">=": (found) => found >= 0, "<=": (found) => found <= 0, "!=": (found) => found !== 0,
      "=": (found) => found === 0, ">": (found) => found > 0, "<": (found) => found < 0,
    })[match[1]];
    return (cell) => cell !== null && holds(order(cell, limit));
  }
  const piece = trimmed.toLowerCase();
  return (cell) => cell !== null && cell.toLowerCase().includes(piece);
}

/** @param {string} text */
function strip(text) {
  return text.replace(/^[ \t]+|[ \t]+$/g, "");
}

/** A value as cells of its column write it; null: it is none. @param {string} text @param {string} kind @returns {string | null} */
function literal(text, kind) {
  const number = text.length <= 100 && NUMBER.test(text) ? text : null;
  switch (kind) {
    case "whole":
    case "decimal":
      return number;
    case "float":
    case "double":
      if (/^nan$/i.test(text)) return "NaN";
      if (/^-?infinity$/i.test(text)) return text.startsWith("-") ? "-Infinity" : "Infinity";
      return number;
    case "text":
      return /^'.*'$/s.test(text) && text.length > 1 ? text.slice(1, -1).replaceAll("''", "'") : text;
    case "boolean":
      return /^(true|false)$/i.test(text) ? text.toLowerCase() : null;
    case "date":
      return text.length === 10 ? dayOrMoment(text)?.slice(0, 10) ?? null : null;
    case "timestamp":
    case "local timestamp":
      return dayOrMoment(text);
    case "binary":
      return /^0x([0-9a-f]{2})*$/i.test(text) ? text.toLowerCase() : null;
    default:
      return null;
  }
}

/** @param {string} text */
function dayOrMoment(text) {
  const match = MOMENT.exec(text);
  if (!match) return null;
  const [year, month, day, hour = "00", minute = "00", second = "00", fraction = ""] = match.slice(1);
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const isDay = Number(year) > 0 && date.getUTCFullYear() === Number(year) && date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
  if (!isDay || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const rest = fraction.replace(/0+$/, "");
  return `${year}-${month}-${day} ${hour}:${minute}:${second}${rest && `.${rest}`}`;
}

/** How two texts of a column are compared. @param {string} kind @returns {(first: string, second: string) => number} */
export function comparison(kind) {
  if (kind === "whole" || kind === "decimal") return compareExactly;
  if (kind === "float") return (left, right) => compareFloats(Math.fround(Number(left)), Math.fround(Number(right)));
  if (kind === "double") return (left, right) => compareFloats(Number(left), Number(right));
  if (kind === "date" || kind === "timestamp" || kind === "local timestamp") return compareMoments;
  return compareTexts;
}

/** By code points, as SQL does. @param {string} first @param {string} second */
function compareTexts(first, second) {
  for (let at = 0; at < Math.min(first.length, second.length); at += 1) {
    const [left, right] = [first.charCodeAt(at), second.charCodeAt(at)];
    if (left === right) continue;
    // Halves of characters above U+FFFF come after all others.
    const [isHalf, isOtherHalf] = [left, right].map((unit) => unit >= 0xd800 && unit < 0xe000);
    return isHalf === isOtherHalf ? left - right : Number(isHalf) - Number(isOtherHalf);
  }
  return first.length - second.length;
}

/** Years below 1000 and above 9999 have other lengths. @param {string} first @param {string} second */
function compareMoments(first, second) {
  const [left, right] = [first, second].map((text) => /^([+-]?[0-9]+)(-.*)$/.exec(text));
  if (!left || !right || Number(left[1]) === Number(right[1])) return compareTexts(left?.[2] ?? first, right?.[2] ?? second);
  return Number(left[1]) - Number(right[1]);
}

/** NaN is above all, as in SQL. @param {number} left @param {number} right */
function compareFloats(left, right) {
  const nans = Number(Number.isNaN(left)) - Number(Number.isNaN(right));
  return nans || Number(left > right) - Number(left < right);
}

/** All digits count, also those that a browser's numbers do not have. @param {string} first @param {string} second */
function compareExactly(first, second) {
  const [[left, scale], [right, otherScale]] = [first, second].map(digits);
  const most = Math.max(scale, otherScale);
  return Number(left * 10n ** BigInt(most - scale) - right * 10n ** BigInt(most - otherScale));
}

/** A number as all its digits and how many of them are after the point. @param {string} text @returns {[bigint, number]} */
function digits(text) {
  const [mantissa, exponent = "0"] = text.toLowerCase().split("e");
  const [whole, rest = ""] = mantissa.split(".");
  const all = BigInt((whole + rest).replace("+", ""));
  const scale = rest.length - Number(exponent);
  return scale < 0 ? [all * 10n ** BigInt(-scale), 0] : [all, scale];
}
