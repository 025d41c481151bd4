// @ts-check
import { h } from "./elements.js";

const SHORT_FRACTION = 9;

/** A value of a row: digits grouped from five on, so many of a long float, but all of its integer. @param {any} value @param {boolean} [isFloat] @param {number} [digits] */
export function valueText(value, isFloat = true, digits = 10) {
  if (value == null) return h("span", { class: "null" }, "NULL");
  const [whole, integer, rest = "", power = ""] = /^-?(\d+)(\.\d+)?(e[+-]?\d+)?$/i.exec(value) ?? [];
  if (!whole) return value;
  if (isFloat && rest && whole.length > Math.max(SHORT_FRACTION, digits + 1)) {
    const short = power ? String(Number(Number(whole).toPrecision(digits))) : Number(whole).toLocaleString("en-US", { maximumSignificantDigits: Math.max(digits, integer.length) });
    return h("span", { title: whole }, short);
  }
  if (power) return whole;
  return integer.length < 5 ? whole : whole.slice(0, whole.length - rest.length).replace(/\B(?=(\d{3})+$)/g, ",") + rest;
}
