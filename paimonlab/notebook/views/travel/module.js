// @ts-check
import { areNumbers, COLOURS, count, empty, frame, grid, h, many, moment, s, valueText, whenSized } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").Travel} Travel */
/** @typedef {import("../../display/browser/views").TravelStep} TravelStep */
/** @typedef {import("../../display/browser/views").TravelStop} TravelStop */
/** @typedef {import("../../display/browser/host").Context<Travel>} TravelContext */

const SPARK_HEIGHT = 70;
const TRAVEL_CSS = `
.slider { display: flex; gap: 8px; align-items: center; flex-wrap: wrap; margin: 4px 0; }
.slider input[type=range] { flex: 1 1 260px; min-width: 160px; }
caption { white-space: nowrap; }
`;

/** @param {TravelContext} context */
export function render({ data, el, host }) {
  const { table, sql, stops, olderCount, steps } = data.view;
  const { body, say, stop } = frame(el, {
    title: `${table} through time`,
    note: `${sql || "rows"}; read from data files${olderCount ? `; ${many(olderCount, "older point")} ${olderCount === 1 ? "is" : "are"} not on the slider` : ""}`,
    headline: headlineOf(steps),
    css: TRAVEL_CSS,
  });
  if (!steps.length) {
    body.append(empty("Nothing was written to it yet. The first snapshot is made by", `INSERT INTO ${table} VALUES …`));
    return stop;
  }
  const known = new Map(steps.map((step) => [step.snapshotId, step]));
  // Without a kernel only what was computed can be shown.
  const reachable = host.ask ? stops : stops.filter((stop) => known.has(stop.snapshotId));
  const axes = /** @type {[string, string, TravelStop[]][]} */ ([
    ["snapshots", "by snapshot", reachable],
    ["tags", "by tag", reachable.filter((stop) => stop.tags.length)],
    ["times", "by time", reachable.filter((stop) => stop.timeMillis !== null)],
  ]).filter(([, , points]) => points.length);
  let axis = axes[0];
  let current = reachable[reachable.length - 1];
  let timer = 0;
  let asked = 0;

  const output = h("span");
  const input = h("input", { type: "range", "aria-label": "point in time" });
  const rows = h("div");
  const spark = h("div");

  /** @param {TravelStop} stop */
  const text = (stop) => {
    const tags = stop.tags.length ? `, tag ${stop.tags.join(", ")}` : "";
    return `snapshot ${stop.snapshotId}, ${stop.commitKind.toLowerCase()}${stop.timeMillis === null ? "" : `, ${moment(stop.timeMillis)} UTC`}${tags}`;
  };

  /** The range of the input: places of points, or times. */
  const arrange = () => {
    const points = axis[2];
    const isTime = axis[0] === "times";
    input.min = String(isTime ? points[0].timeMillis : 0);
    input.max = String(isTime ? points[points.length - 1].timeMillis : points.length - 1);
    input.step = "1";
    if (!points.includes(current)) current = points[points.length - 1];
    input.value = String(isTime ? current.timeMillis : points.indexOf(current));
    describe();
  };
  const describe = () => {
    output.replaceChildren(text(current));
    input.setAttribute("aria-valuetext", text(current));
  };

  /** @param {number} place */
  const go = (place) => {
    const points = axis[2];
    current = points[Math.max(0, Math.min(points.length - 1, place))];
    input.value = String(axis[0] === "times" ? current.timeMillis : points.indexOf(current));
    moved();
  };
  const moved = () => {
    describe();
    clearTimeout(timer);
    const step = known.get(current.snapshotId);
    if (step) show(step);
    else timer = window.setTimeout(() => fetchStep(), 200);
  };
  const fetchStep = async (/** @type {boolean} */ isTold = true) => {
    if (!host.ask) return;
    const wanted = current;
    const mine = (asked += 1);
    say(`reading snapshot ${wanted.snapshotId} …`);
    try {
      const reply = await host.ask({ snapshot: wanted.snapshotId });
      const step = /** @type {TravelStep} */ (reply.step);
      known.set(step.snapshotId, step);
      if (mine === asked) show(step, isTold);
    } catch (error) {
      say(String(error));
    }
  };

  let shownId = 0;
  let width = 840;
  const paint = () => spark.replaceChildren(sparkline([...known.values()], shownId, width, (id) => {
    const place = axis[2].findIndex((stop) => stop.snapshotId === id);
    if (place >= 0) go(place);
  }));

  /** @param {TravelStep} step @param {boolean} [isTold] */
  const show = (step, isTold = true) => {
    asked += 1;
    const made = grid({
      caption: `at snapshot ${step.snapshotId}: ${many(step.rowCount, "row")}${sql ? "" : `, ${step.rows.length} of them here${step.hiddenColumns ? `; ${many(step.hiddenColumns, "more column")}` : ""}`}`,
      heads: step.columns.map((name, at) => ({
        name,
        right: areNumbers(step.rows.map((row) => row[at])),
        text: (/** @type {any} */ value) => valueText(value, step.floats?.includes(at)),
      })),
      rows: step.rows.map((row) => [...row]),
    });
    rows.replaceChildren(made.element);
    shownId = step.snapshotId;
    paint();
    say(`snapshot ${step.snapshotId}: ${many(step.rowCount, "row")}`);
    if (isTold) host.select({ snapshot: step.snapshotId });
  };

  input.addEventListener("input", () => {
    const value = Number(input.value);
    const points = axis[2];
    if (axis[0] === "times") {
      const before = points.filter((point) => Number(point.timeMillis) <= value);
      current = before[before.length - 1] ?? points[0];
    } else current = points[value];
    moved();
  });
  input.addEventListener("keydown", (event) => {
    const points = axis[2];
    const place = points.indexOf(current);
    const page = Math.max(1, Math.round(points.length / 10));
    const targets = /** @type {Record<string, number>} */ ({
      ArrowRight: place + 1, ArrowUp: place + 1, ArrowLeft: place - 1, ArrowDown: place - 1,
      PageUp: place + page, PageDown: place - page, Home: 0, End: points.length - 1,
    });
    if (!(event.key in targets)) return;
    event.preventDefault();
    go(targets[event.key]);
  });
  const choice = h("select", { "aria-label": "what the slider moves by", onchange: () => {
    axis = axes.find(([name]) => name === choice.value) ?? axes[0];
    arrange();
    moved();
  } }, ...axes.map(([name, label]) => h("option", { value: name }, label)));

  const quiet = host.onSelect((selection) => {
    const snapshot = selection.range ? selection.range[1] : selection.snapshot;
    const stop = reachable.find((point) => point.snapshotId === snapshot);
    if (snapshot !== undefined && !stop) say(`snapshot ${snapshot} is not a point of this slider`);
    if (!stop || stop === current) return;
    axis = axes[0];
    choice.value = axis[0];
    current = stop;
    arrange();
    const step = known.get(stop.snapshotId);
    if (step) show(step, false);
    else fetchStep(false);
  });
  body.append(
    h("div", { class: "slider" }, choice,
      h("button", { "aria-label": "one earlier", onclick: () => go(axis[2].indexOf(current) - 1) }, "◀"),
      input,
      h("button", { "aria-label": "one later", onclick: () => go(axis[2].indexOf(current) + 1) }, "▶"),
      output),
    spark, rows);
  if (!host.ask && reachable.length < stops.length) {
    body.append(h("p", { class: "faint" }, `${reachable.length} of ${count(stops.length)} points are here; ${stops.length - reachable.length === 1 ? "the other needs" : "the others need"} a kernel`));
  }
  const unsized = whenSized(body, (now) => {
    width = now;
    paint();
  });
  arrange();
  const first = known.get(current.snapshotId);
  if (first) show(first, false);
  else fetchStep(false);
  return () => {
    clearTimeout(timer);
    unsized();
    quiet();
    stop();
  };
}

/**
 * The number of rows at the steps that are known; a click goes there.
 * @param {TravelStep[]} steps @param {number} at @param {number} room pixels @param {(id: number) => void} onGo
 */
function sparkline(steps, at, room, onGo) {
  const ordered = steps.slice().sort((left, right) => left.snapshotId - right.snapshotId);
  const most = Math.max(1, ...ordered.map((step) => step.rowCount));
  const width = (room - 40) / Math.max(1, ordered.length - 1);
  const points = ordered.map((step, place) => ({ step, x: 20 + width * place, y: SPARK_HEIGHT - 20 - (SPARK_HEIGHT - 40) * (step.rowCount / most) }));
  const heres = ordered.findIndex((step) => step.snapshotId === at);
  // Labels that would be over each other are left out, the one that is chosen never is.
  const every = Math.ceil((Math.max(...ordered.map((step) => count(step.rowCount).length)) * 6 + 8) / width);
  const isLabelled = (/** @type {number} */ place) => (place - Math.max(0, heres)) % every === 0;
  const words = ordered.map((step) => `snapshot ${step.snapshotId} ${count(step.rowCount)}`).join("; ");
  return s("svg", { width: room, height: SPARK_HEIGHT, role: "img", "aria-label": `rows: ${words}` },
    s("polyline", { points: points.map(({ x, y }) => `${x},${y}`).join(" "), fill: "none", stroke: COLOURS.blue, "stroke-width": 2 }),
    ...points.map(({ step, x, y }, place) => {
      const here = step.snapshotId === at;
      return s("g", { onclick: () => onGo(step.snapshotId), style: "cursor:pointer" },
        here ? s("rect", { x: x - 6, y: y - 6, width: 12, height: 12, fill: "var(--focus)", stroke: "currentColor", "stroke-width": 1.5 }) : s("circle", { cx: x, cy: y, r: 4, fill: COLOURS.blue }),
        isLabelled(place) && s("text", { ...anchorOf(count(step.rowCount), x, place, points.length), y: y - 9, "font-size": 10, "font-weight": here ? "bold" : "normal" }, count(step.rowCount)),
        s("text", { x, y: SPARK_HEIGHT - 4, "text-anchor": "middle", "font-size": 10 }, step.snapshotId));
    }));
}

/** What became of the number of rows. @param {readonly TravelStep[]} steps */
function headlineOf(steps) {
  const [first, last] = [steps[0], steps[steps.length - 1]];
  if (!first) return "";
  if (steps.length === 1) return `${many(last.rowCount, "row")} at snapshot ${last.snapshotId}`;
  return `${many(first.rowCount, "row")} at snapshot ${first.snapshotId}, ${count(last.rowCount)} at snapshot ${last.snapshotId}`;
}

/** Where a label stands: in the middle, but for long ones at the ends. @param {string} text @param {number} x @param {number} place @param {number} places */
function anchorOf(text, x, place, places) {
  if (text.length < 6 || (place > 0 && place < places - 1)) return { x, "text-anchor": "middle" };
  return place ? { x: x + 18, "text-anchor": "end" } : { x: x - 18, "text-anchor": "start" };
}
