// @ts-check
import { count, frame, h, mark, moment, roving, s, signed } from "./shared.js";

/** @typedef {import("./views").Timeline} Timeline */
/** @typedef {import("./host").Context<Timeline>} TimelineContext */

/** @param {TimelineContext} context */
export function render({ data, el, host }) {
  const { table, points, olderCount } = data.view;
  const note = olderCount ? `the newest ${points.length} of ${points.length + olderCount}` : "";
  const { body, say, stop } = frame(el, { title: `${table}: snapshots`, note });
  const list = h("div", { role: "listbox", "aria-label": "snapshots", class: "row" });
  const marks = points.map((point) =>
    h("div", { role: "option", "aria-selected": "false", "aria-label": `snapshot ${point.id}, ${point.commitKind}` },
      s("svg", { width: 32, height: 32 }, mark(point.commitKind, 16, 16)), point.id));
  list.append(...marks);
  /** @param {number} place */
  const show = (place) => {
    const point = points[place];
    marks.forEach((one, at) => one.setAttribute("aria-selected", String(at === place)));
    say(`snapshot ${point.id}, ${point.commitKind}, ${moment(point.timeMillis)}, ${signed(point.deltaRecordCount)} rows, ${count(point.totalRecordCount)} before merging`);
  };
  roving(marks, {
    onChoose: (place) => {
      show(place);
      host.select({ snapshot: points[place].id });
    },
  });
  const quiet = host.onSelect(({ snapshot }) => {
    const place = points.findIndex((point) => point.id === snapshot);
    if (place >= 0) show(place);
  });
  body.append(list);
  return () => {
    quiet();
    stop();
  };
}
