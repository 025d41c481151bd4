// @ts-check
// What the view modules share, by subject. A module of a view contains only the files it needs, and
// all of them share one scope: no two use the same name at the top.

export { amountColour } from "./parts/amounts.js";
export { card } from "./parts/card.js";
export { COLOURS, ink } from "./parts/colours.js";
export { bothWays, commitText } from "./parts/commits.js";
export { copyButton } from "./parts/copy.js";
export { count, many } from "./parts/counts.js";
export { h, s } from "./parts/elements.js";
export { empty } from "./parts/empty.js";
export { plainFrame } from "./parts/frame.js";
export { frame } from "./parts/headed.js";
export { grid } from "./parts/grid.js";
export { KINDS, mark } from "./parts/marks.js";
export { breaking, halfOf } from "./parts/breaking.js";
export { unbroken } from "./parts/dates.js";
export { shortFile, shortId } from "./parts/names.js";
export { ago, areNumbers, bytes, figure, moment, signed } from "./parts/numbers.js";
export { compare } from "./parts/order.js";
export { hatchKey } from "./parts/hatch.js";
export { barKey, legend, swatch } from "./parts/legend.js";
export { listing } from "./parts/listing.js";
export { hasPlace, isAt, placeText } from "./parts/places.js";
export { roving } from "./parts/roving.js";
export { whenSized } from "./parts/sized.js";
export { slider } from "./parts/slider.js";
export { valueText } from "./parts/values.js";
