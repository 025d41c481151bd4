// @ts-check
// What the view modules share, by subject. A module of a view holds only the files it needs, and
// all of them stand in one scope: no two use the same name at the top.

export { card } from "./shared/card.js";
export { COLOURS, ink } from "./shared/colours.js";
export { copyButton } from "./shared/copy.js";
export { h, s } from "./shared/elements.js";
export { frame } from "./shared/frame.js";
export { grid } from "./shared/grid.js";
export { KINDS, mark } from "./shared/marks.js";
export { bytes, count, moment, signed } from "./shared/numbers.js";
export { compare } from "./shared/order.js";
export { listing } from "./shared/listing.js";
export { hasPlace, isAt, placeText } from "./shared/places.js";
export { roving } from "./shared/roving.js";
export { slider } from "./shared/slider.js";
