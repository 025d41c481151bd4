// @ts-check
import { breaking, bytes, COLOURS, copyButton, count, empty, frame, grid, h, hasPlace, isAt, many, moment, placeText, s, unbroken, whenSized } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").Compaction} Compaction */
/** @typedef {import("../../display/browser/views").CompactionRun} CompactionRun */
/** @typedef {import("../../display/browser/views").FileSum} FileSum */
/** @typedef {import("../../display/browser/host").Context<Compaction>} CompactionContext */

const COMPACTION_MOST = 900;
const COMPACTION_ROW = 30;
const COMPACTION_LEFT = 56;

const COMPACTION_CSS = `
.calls { display: grid; grid-template-columns: max-content max-content minmax(0, 1fr); gap: 4px 16px; align-items: baseline; } .calls code { overflow-wrap: anywhere; }
@media (max-width: 700px) { .calls { grid-template-columns: 1fr max-content; } .calls code { grid-column: 1 / -1; margin-bottom: 4px; } .calls > span:nth-child(3n + 2) { text-align: right; } }
`;

/** @param {CompactionContext} context */
export function render({ data, el, host }) {
  const view = data.view;
  const note = view.runCount > view.runs.length ? `the newest ${view.runs.length} of ${view.runCount}` : "";
  const { body, say, stop } = frame(el, { title: `${view.table}: compactions`, note, css: COMPACTION_CSS, headline: view.runs.length ? `${many(view.runCount, "compaction")}; the newest: ${compactionSum(view.runs[0].read)} became ${compactionSum(view.runs[0].written)}` : view.firstId === null ? "" : `No compaction in snapshots ${view.firstId} to ${view.lastId}` });
  if (view.firstId === null) {
    body.append(empty("Nothing was written to it yet. The first commit is made by", `INSERT INTO ${view.table} VALUES …`));
    return stop;
  }
  let chosen = view.runs.find((run) => run.snapshotId === view.chosenId) ?? view.runs[0];
  const details = h("div");
  /** @type {import("../../display/browser/host").Selection} the partition or bucket whose rows are marked */
  let place = {};
  const isMarked = (/** @type {{partition: string, bucket: number}} */ bucket) => hasPlace(place) && isAt(bucket, place);
  const picks = compactionPicks(view, isMarked, (partition, bucket) => { mark({ partition, bucket }); host.select({ partition, bucket }); });
  const runs = grid({
    heads: [{ name: "snapshot", right: true }, { name: "time (UTC)", less: 700, text: moment }, { name: "buckets", right: true, less: 700, text: count },
      { name: "read", prose: 120, text: (_, row) => compactionSum(row[8].read).replace(/(\d) /g, "$1\u00a0") }, { name: "written", prose: 120, text: (_, row) => compactionSum(row[8].written).replace(/(\d) /g, "$1\u00a0") },
      { name: "moved", right: true, optional: true, text: count }, { name: "rows dropped", right: true, text: count }, { name: "took at least", right: true, optional: true, less: 900, text: compactionTime }],
    rows: view.runs.map((run) => [run.snapshotId, run.timeMillis, run.bucketCount, compactionWeight(run.read), compactionWeight(run.written), run.moved.files || null, run.droppedRows, run.leastMillis, run]),
    label: "compactions",
    onChoose: (row) => choose(row[8], true),
    selected: (row) => row[8] === chosen,
  });

  /** @type {ReturnType<typeof grid> | undefined} */
  let buckets;
  /** @param {import("../../display/browser/host").Selection} where */
  function mark(where) {
    place = where;
    buckets?.draw();
    picks.draw();
  }

  let width = 840;
  const paint = () => {
    if (chosen && buckets) details.replaceChildren(compactionPicture(chosen, Math.min(width, COMPACTION_MOST)), buckets.element);
  };

  /** @param {CompactionRun} run @param {boolean} tell */
  function choose(run, tell) {
    chosen = run;
    runs.draw();
    buckets = compactionBuckets(run, isMarked, (partition, bucket) => { mark({ partition, bucket }); host.select({ partition, bucket }); });
    paint();
    say(`snapshot ${run.snapshotId}: ${compactionSum(run.read)} became ${compactionSum(run.written)}, ${many(run.droppedRows, "row")} dropped`);
    if (tell) host.select({ snapshot: run.snapshotId });
  }

  body.append(
    ...(view.runs.length ? [runs.element, details] : []),
    ...compactionCosts(view),
    h("h4", { style: "margin:10px 0 2px" }, "What would be picked now"),
    view.picks.length ? picks.element : h("p", { class: "empty" }, "No bucket has files to compact."), ...compactionRules(view), compactionLooked(view),
    ...(view.calls.length ? [h("h4", { style: "margin:10px 0 2px" }, "To copy")] : []),
    h("div", { class: "calls" }, ...view.calls.flatMap((call) => [h("span", {}, call.label),
      h("span", {}, call.sql && copyButton("SQL", () => call.sql, say), " ", copyButton("Python", () => call.python, say)), h("code", {}, ...unbroken(call.sql || call.python).map((part) => (typeof part === "string" ? breaking(part) : part)))])),
    ...(view.untouched.length ? [compactionUntouched(view)] : []),
    ...view.notes.map((note) => h("p", { class: "faint" }, note)),
    h("p", { class: "faint" }, `Costs are those of snapshots ${view.firstId} to ${view.lastId}. How long a compaction took is not recorded: it is at least the time from its first new file, by the clock of the writer, to its commit. The picker is asked as by a new writer, which does not know of earlier compactions.`));
  const quiet = host.onSelect((selection) => {
    if (hasPlace(selection)) {
      mark(selection);
      const here = [chosen?.buckets ?? [], view.picks].map((all) => all.filter(isMarked).length);
      say(`${placeText(selection)}: ${here[0] ? "compacted" : "not among the buckets"} of snapshot ${chosen?.snapshotId ?? "none"}; ${count(here[1])} of the picks`);
    }
    const [first, last] = selection.range ?? [selection.snapshot, selection.snapshot];
    const inside = view.runs.filter((run) => first !== undefined && last !== undefined && first <= run.snapshotId && run.snapshotId <= last);
    if (inside.length && !inside.includes(chosen)) choose(inside[0], false);
    else if (selection.range && !inside.length) say(`no compaction in snapshots ${first} to ${last}`);
  });
  const unsized = whenSized(body, (now) => {
    width = now;
    paint();
  });
  if (chosen) choose(chosen, false);
  return () => {
    unsized();
    quiet();
    stop();
  };
}

/** @param {number | null} millis */
function compactionTime(millis) {
  return millis === null || millis === undefined ? "" : millis < 1000 ? `${count(millis)} ms` : `${(millis / 1000).toFixed(1)} s`;
}

/** @param {FileSum} sum */
function compactionSum(sum) {
  if (!sum.files) return "nothing";
  const size = sum.bytes === null ? "" : `, ${bytes(sum.bytes)}`;
  return `${many(Number(sum.files), "file")}${size}, ${many(Number(sum.rows), "row")}`;
}

/** @param {FileSum} sum */
function compactionWeight(sum) {
  return Number(sum.bytes ?? sum.rows);
}

/** Levels before, an arrow, levels after. @param {CompactionRun} run @param {number} width */
function compactionPicture(run, width) {
  const side = Math.floor(0.36 * width);
  const largest = Math.max(1, ...run.levels.flatMap((level) => [compactionWeight(level.before), compactionWeight(level.after)]));
  const right = width - side - 10;
  const top = 26;
  const height = top + run.levels.length * COMPACTION_ROW + 6;
  const parts = /** @type {SVGElement[]} */ ([s("text", { x: COMPACTION_LEFT, y: 14, "font-size": 11, "font-weight": "bold" }, "before"), s("text", { x: right, y: 14, "font-size": 11, "font-weight": "bold" }, "after")]);
  run.levels.forEach((level, at) => {
    const y = top + at * COMPACTION_ROW;
    parts.push(s("text", { x: 4, y: y + 12, "font-size": 11 }, `level ${level.level}`));
    for (const [x, sum, colour] of /** @type {[number, FileSum, string][]} */ ([[COMPACTION_LEFT, level.before, COLOURS.orange], [right, level.after, COLOURS.green]])) {
      if (!sum.files) continue;
      parts.push(s("rect", { x, y, height: 9, rx: 2, width: Math.max(((side - COMPACTION_LEFT) * compactionWeight(sum)) / largest, 3), fill: colour }),
        s("text", { x, y: y + 21, "font-size": 10 }, compactionSum(sum)));
    }
  });
  const middle = top + (run.levels.length * COMPACTION_ROW) / 2;
  const start = side + 50;
  const words = run.levels.map((level) => `level ${level.level}: ${compactionSum(level.before)} before, ${compactionSum(level.after)} after`).join("; ");
  parts.push(s("path", { d: `M${start} ${middle}H${right - 20}m-9 -6l9 6l-9 6`, stroke: "currentColor", "stroke-width": 2, fill: "none" }),
    s("text", { x: start, y: middle - 8, "font-size": 11 }, `${many(run.droppedRows, "row")} dropped`));
  if (run.moved.files) parts.push(s("text", { x: start, y: middle + 16, "font-size": 11 }, `${count(run.moved.files)} only moved`));
  return s("svg", { width, height, role: "img", "aria-label": words }, ...parts);
}

/**
 * @param {CompactionRun} run @param {(bucket: {partition: string, bucket: number}) => boolean} isMarked
 * @param {(partition: string, bucket: number) => void} choose
 */
function compactionBuckets(run, isMarked, choose) {
  const hidden = run.bucketCount - run.buckets.length;
  return grid({
    caption: `snapshot ${run.snapshotId} by ${/^[0-9a-f]{8}-/.test(run.commitUser) ? run.commitUser.slice(0, 8) : run.commitUser}${hidden ? `: the ${run.buckets.length} of ${count(run.bucketCount)} buckets with most bytes` : ""}`,
    heads: [{ name: "bucket" }, { name: "read", text: compactionSum }, { name: "written", text: compactionSum }, { name: "moved", optional: true, text: (moved) => (moved ? compactionSum(moved) : "") }],
    rows: run.buckets.map((bucket) => [placeText(bucket), bucket.read, bucket.written, bucket.moved.files ? bucket.moved : null, bucket]),
    selected: (row) => isMarked(row[4]),
    onChoose: (row) => choose(row[4].partition, row[4].bucket),
  });
}

/** @param {Compaction} view */
function compactionCosts(view) {
  const lines = [];
  if (view.writeAmplification !== null) {
    lines.push(h("p", {}, h("b", {}, `Write amplification ${view.writeAmplification.toFixed(2)}`), `: ${bytes(view.appendedBytes)} appended, ${bytes(view.compactedBytes)} written by compactions.`));
  }
  if (view.spaceAmplification !== null) {
    lines.push(h("p", {}, h("b", {}, `Space amplification ${view.spaceAmplification.toFixed(2)}`), ": bytes of all sorted runs per byte of the oldest run of each bucket."));
  }
  return lines;
}

/**
 * @param {Compaction} view @param {(bucket: {partition: string, bucket: number}) => boolean} isMarked
 * @param {(partition: string, bucket: number) => void} choose
 */
function compactionPicks(view, isMarked, choose) {
  return grid({
    label: "what would be picked now",
    selected: (row) => isMarked(row[3]),
    heads: [{ name: "bucket" }, { name: "picked", prose: 130 }, { name: "why", prose: 220 }],
    rows: view.picks.map((pick) => {
      const size = pick.bytes === null ? "" : `, ${bytes(pick.bytes)}`;
      const level = pick.outputLevel === null ? "" : ` → level ${pick.outputLevel}`;
      const picked = pick.rule ? `${count(pick.files)} of ${count(pick.ofFiles)} files${size}${level}` : "nothing";
      return [placeText(pick), picked, pick.rule && pick.numbers ? `${pick.rule}: ${pick.numbers}` : pick.why, pick];
    }),
    onChoose: (row) => choose(row[3].partition, row[3].bucket),
  });
}

/** What the rules of the picks mean, each once. @param {Compaction} view */
function compactionRules(view) {
  const rules = view.picks.filter(({ rule, numbers }) => rule && numbers).map(({ rule, why }) => `${rule}: ${why}.`);
  return [...new Set(rules)].map((rule) => h("p", { class: "faint" }, rule));
}

/** @param {Compaction} view */
function compactionLooked(view) {
  const looked = view.lookedAt < view.bucketCount ? `; ${count(view.lookedAt)} of ${count(view.bucketCount)} buckets were looked at` : "";
  return h("p", { class: "faint" }, `${count(view.pickCount)} of ${count(view.lookedAt)} buckets would be compacted now, ${count(view.fullCount)} by a full compaction${looked}.`);
}

/** @param {Compaction} view */
function compactionUntouched(view) {
  const hidden = view.untouchedCount - view.untouched.length;
  return h("details", {}, h("summary", {}, `${many(view.untouchedCount, "bucket")} never compacted: no live file was written by a compaction`),
    grid({
      caption: hidden ? `the largest ${view.untouched.length}` : "never compacted",
      heads: [{ name: "bucket" }, { name: "contains", text: compactionSum }],
      rows: view.untouched.map((bucket) => [placeText(bucket), bucket.held]),
    }).element);
}
