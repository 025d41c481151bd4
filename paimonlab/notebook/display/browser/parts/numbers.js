// @ts-check
// Numbers as the static forms of the views write them.

/** @param {number | string | null | undefined} value whole numbers beyond 2^53 come as text */
export function count(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : value.toLocaleString("en-US");
}

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
