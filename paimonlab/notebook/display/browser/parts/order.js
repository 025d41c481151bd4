// @ts-check
/** Order values of one column, missing values last. @param {any} left @param {any} right */
export function compare(left, right) {
  const missing = [left, right].map((value) => value === null || value === undefined);
  if (missing[0] || missing[1]) return Number(missing[0]) - Number(missing[1]);
  const numbers = [left, right].map((value) => (typeof value === "string" && value.trim() === "" ? NaN : Number(value)));
  if (!Number.isNaN(numbers[0]) && !Number.isNaN(numbers[1])) return numbers[0] - numbers[1];
  return String(left) < String(right) ? -1 : Number(String(left) > String(right));
}
