// @ts-check
// Counts as the static forms of the views write them.

/** @param {number | string | null | undefined} value whole numbers beyond 2^53 come as text */
export function count(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : value.toLocaleString("en-US");
}

/** A number of things, in the singular or the plural. @param {number} number @param {string} what @param {string} [several] */
export function many(number, what, several = `${what}s`) {
  return `${count(number)} ${number === 1 ? what : several}`;
}
