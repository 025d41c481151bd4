// @ts-check
/** Order values of one column, missing values last. @param {any} one @param {any} two */
export function compare(one, two) {
  const missing = [one, two].map((value) => value === null || value === undefined);
  if (missing[0] || missing[1]) return Number(missing[0]) - Number(missing[1]);
  const numbers = [one, two].map((value) => (typeof value === "string" && value.trim() === "" ? NaN : Number(value)));
  if (!Number.isNaN(numbers[0]) && !Number.isNaN(numbers[1])) return numbers[0] - numbers[1];
  return String(one) < String(two) ? -1 : Number(String(one) > String(two));
}
