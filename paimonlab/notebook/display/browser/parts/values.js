// @ts-check
import { h } from "./elements.js";

/** A value of a row: digits grouped from five on, ten of a float. @param {any} value @param {boolean} [isFloat] */
export function valueText(value, isFloat = true) {
  if (value == null) return h("span", { class: "null" }, "NULL");
  const [whole, digits, rest = ""] = /^-?(\d+)(\.\d+)?$/.exec(value) ?? [];
  if (!whole) return value;
  if (isFloat && rest && digits.length + rest.length > 11) return h("span", { title: whole }, Number(whole).toLocaleString("en-US", { maximumSignificantDigits: 10 }));
  return digits.length < 5 ? whole : whole.slice(0, whole.length - rest.length).replace(/\B(?=(\d{3})+$)/g, ",") + rest;
}
