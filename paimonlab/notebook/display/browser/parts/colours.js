// @ts-check
/** Okabe and Ito's colours; whoever uses one adds a shape, a letter or a hatch. */
export const COLOURS = {
  blue: "#0072B2",
  orange: "#E69F00",
  green: "#009E73",
  pink: "#CC79A7",
  sky: "#56B4E9",
  red: "#D55E00",
  yellow: "#F0E442",
  grey: "#7A7A7A",
};

/** What is written on a colour. @param {string} colour one of `COLOURS` */
export function ink(colour) {
  return colour === COLOURS.blue ? "#fff" : "#000";
}
