// @ts-check
// The scale of amounts, which starts at zero: the larger, the further from the ground. `--on-amount` can be read on all.

/** Shades of both themes, of zero first. */
export const AMOUNTS = {
  light: ["#EFF6FC", "#DEEBF7", "#B3D2EA", "#86B6DC", "#5C9BCC", "#3C86BF"],
  dark: ["#141E28", "#182B3B", "#1B3E5B", "#1F517A", "#256596", "#2F79B4"],
};

/** @param {string[]} shades */
export function tokensOf(shades) {
  return shades.map((shade, at) => `--amount${at}: ${shade};`).join(" ");
}

/** The colour of an amount. @param {number} share of the largest, 0 to 1 @param {number} [most] place of the shade of the largest */
export function amountColour(share, most = AMOUNTS.light.length - 1) {
  const place = Math.min(Math.max(share, 0), 1) * most;
  const low = Math.min(Math.floor(place), most - 1);
  return `color-mix(in srgb, var(--amount${low + 1}) ${Math.round(100 * (place - low))}%, var(--amount${low}))`;
}
