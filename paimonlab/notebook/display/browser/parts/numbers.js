// @ts-check
// Numbers as the static forms of the views write them.
import { count, many } from "./counts.js";

/** @param {number | null | undefined} value */
export function signed(value) {
  if (value === null || value === undefined) return "";
  return (value > 0 ? "+" : "") + count(value);
}

/** Write bytes as Python does: 999 B, 1.0 kB, 12.3 MB (powers of 1,000). @param {number | null | undefined} value */
export function bytes(value) {
  if (value === null || value === undefined) return "";
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let place = 0;
  let rest = Number(value);
  while (rest >= 1000 && place < units.length - 1) {
    rest /= 1000;
    place += 1;
  }
  return place ? `${rest.toFixed(1)} ${units[place]}` : `${rest} B`;
}

/** @param {number | null | undefined} millis */
export function moment(millis) {
  if (millis === null || millis === undefined) return "";
  const date = new Date(millis);
  return Number.isNaN(date.getTime()) ? String(millis) : date.toISOString().slice(0, 19).replace("T", " ");
}

/** How long ago a moment was, in one unit. @param {number} millis */
export function ago(millis) {
  const seconds = Math.max(0, Math.round((Date.now() - millis) / 1000));
  const units = /** @type {[number, string][]} */ ([[86400, "day"], [3600, "hour"], [60, "minute"]]);
  const [size, unit] = units.find(([least]) => seconds >= least) ?? [1, "second"];
  return `${many(Math.floor(seconds / size), unit)} ago`;
}

/** Whether the texts of a column are numbers, which stand at the right. @param {(string | null | undefined)[]} texts */
export function areNumbers(texts) {
  const known = texts.filter((text) => text !== null && text !== undefined && text !== "");
  return known.length > 0 && known.every((text) => /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(String(text)));
}

/** A number in text, grouped: all digits of its integer, and seven at most that tell something. @param {string | null} text */
export function figure(text) {
  if (text === null || !areNumbers([text])) return text;
  if (/^-?\d+$/.test(text)) return BigInt(text).toLocaleString("en-US");
  const whole = /e/i.test(text) ? 0 : text.replace(/^-|\..*$/g, "").length;
  return Number(text).toLocaleString("en-US", { maximumSignificantDigits: Math.min(Math.max(7, whole), 21) });
}
