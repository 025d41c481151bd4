// @ts-check
import { barKey, bytes, card, COLOURS, copyButton, count, empty, frame, grid, h, hasPlace, hatchKey, isAt, legend, many, moment, placeText, roving, s, slider, unbroken, whenSized } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").Lsm} Lsm */
/** @typedef {import("../../display/browser/views").LsmBucket} LsmBucket */
/** @typedef {import("../../display/browser/views").LsmFile} LsmFile */
/** @typedef {import("../../display/browser/host").Context<Lsm>} LsmContext */
/** @typedef {{level: number, files: LsmFile[]}} Lane a sorted run */

const LSM_LEAST = 320;
const LSM_LEFT = 62;
const LSM_LANE = 22;
const LSM_BAR = 18;
const LSM_MOST_LANES = 24;
const LSM_LOG = 160;
/** Pixels of a bar that its outline would fill. */
const LSM_THIN = 5;
const LSM_CSS = `
.lsm-bar { cursor: pointer; outline: none; } .lsm-bar rect:first-of-type { stroke: currentColor; stroke-width: .6; }
.lsm-bar[aria-selected=true] rect:first-of-type { stroke: currentColor; stroke-width: 2; stroke-opacity: 1; }
.lsm-bar:focus-visible rect:first-of-type { stroke: var(--focus); stroke-width: 4; stroke-opacity: 1; }
.lsm-log { max-height: 11em; overflow: auto; margin: 6px 0; padding: 0; list-style: none; }
.lsm-log li { padding: 2px 6px; border-left: 3px solid transparent; cursor: pointer; overflow-wrap: anywhere; }
.lsm-log li[aria-selected=true] { border-color: var(--focus); background: var(--chosen); }
`;

/** @param {LsmContext} context */
export function render({ data, el, host }) {
  const view = data.view;
  const note = view.bucketCount > view.buckets.length
    ? `the ${view.buckets.length} of ${count(view.bucketCount)} buckets with most ${view.hasLevels ? "level 0" : "files"}` : "";
  const title = `${view.table}: ${view.hasLevels || !view.buckets.length ? "levels" : "files"}`;
  const { body, say, stop } = frame(el, { title, note, headline: lsmHeadline(view), css: LSM_CSS });
  if (!view.buckets.length) {
    body.append(empty("No data files yet. The first are made by", `INSERT INTO ${view.table} VALUES …`));
    return stop;
  }
  let chosen = view.buckets[0];
  /** @type {"keys" | "size" | "sequence"} */
  let way = view.hasLevels ? "keys" : "size";
  let state = chosen.steps.length - 1;
  let timer = 0;
  /** Pixels that the picture has. */
  let room = LSM_LEAST;

  const bucketGrid = grid({
    heads: lsmHeads(view),
    rows: view.buckets.map((bucket) => [lsmPlace(bucket), bucket.fileCount, bucket.rowCount, bucket.bytes, ...(view.hasLevels ? [bucket.level0Count, bucket.backlogRatio, bucket.runCount] : []), bucket.deleteCount, bucket.hiddenCount, bucket]),
    label: "buckets",
    onChoose: (row) => choose(/** @type {LsmBucket} */ (row[row.length - 1]), true),
    selected: (row) => row[row.length - 1] === chosen,
  });
  const heading = h("h4", { style: "margin:8px 0 2px" });
  const gauge = h("div");
  const stage = h("div", { style: "overflow-x:auto" });
  const controls = h("div", { class: "row" });
  const log = h("ol", { class: "lsm-log", role: "listbox", "aria-label": "steps" });
  const details = h("div");
  const calls = h("div");
  const words = [...view.notes.map((note) => `${note.charAt(0).toUpperCase()}${note.slice(1)}.`), lsmFootnote(view)].join(" ");
  const keys = h("div");
  body.append(...(view.buckets.length > 1 ? [bucketGrid.element] : []), heading, controls, gauge, stage, keys, details, log, calls,
    h("p", { class: "legend" }, words));

  /** @param {LsmBucket} bucket @param {boolean} tell */
  function choose(bucket, tell) {
    pause();
    chosen = bucket;
    state = bucket.steps.length - 1;
    bucketGrid.draw();
    heading.replaceChildren(lsmPlace(bucket));
    calls.replaceChildren(...(bucket.calls ?? []).map(({ label, sql, python }) => h("div", { class: "row" }, h("span", {}, `compact ${label === "everything" ? "the table" : label}`),
      sql && copyButton("SQL", () => sql, say), copyButton("Python", () => python, say))));
    details.replaceChildren();
    stage.replaceChildren();
    drawControls();
    drawLog();
    show(state, false);
    if (tell) host.select({ partition: bucket.partition, bucket: bucket.bucket });
  }

  /** @type {ReturnType<typeof slider> | null} */
  let steps = null;
  function drawControls() {
    const last = chosen.steps.length - 1;
    steps = slider({
      label: "step", max: Math.max(last, 0), value: state, text: (at) => lsmStepName(chosen, at),
      onMove: (at) => show(at, true),
    });
    const previous = h("button", { onclick: () => move(-1) }, "◀ earlier");
    const next = h("button", { onclick: () => move(1) }, "later ▶");
    const play = h("button", { onclick: () => (timer ? pause() : playAll()) }, "play");
    const ways = h("select", { "aria-label": "place files", onchange: () => { way = /** @type {typeof way} */ (ways.value); stage.replaceChildren(); show(state, false); } },
      h("option", { value: "keys" }, "by key range"), h("option", { value: "sequence" }, "by sequence number"), h("option", { value: "size" }, "by size"));
    ways.value = way;
    controls.replaceChildren(...(last > 0 ? [previous, next, play, steps.element] : [h("span", { class: "faint" }, "none of the snapshots looked at changed this bucket")]),
      ...(view.hasLevels ? [h("label", { class: "row" }, "files ", ways)] : []));
  }
  /** @param {number} by */
  function move(by) {
    pause();
    steps?.move(Math.max(0, Math.min(chosen.steps.length - 1, state + by)));
  }
  function playAll() {
    if (state === chosen.steps.length - 1) steps?.move(0);
    timer = window.setInterval(() => {
      if (state >= chosen.steps.length - 1) pause();
      else steps?.move(state + 1);
    }, 1200);
  }
  function pause() {
    window.clearInterval(timer);
    timer = 0;
  }

  function drawLog() {
    const lines = chosen.steps.map((step, at) =>
      h("li", { role: "option", "aria-selected": "false" }, h("b", {}, lsmStepName(chosen, at)), ...unbroken(` ${step.caption} `), h("i", {}, ...unbroken(step.watch))));
    log.replaceChildren(...lines);
    roving(lines, { onChoose: (at) => { pause(); steps?.move(at); } });
    log.hidden = lines.length < 2;
  }

  /** Make the list as high as its last lines are together: none is cut at the top. */
  function fitLog() {
    let height = 0;
    for (const line of [...log.children].reverse()) {
      const more = /** @type {HTMLElement} */ (line).offsetHeight;
      if (height && height + more > LSM_LOG) break;
      height += more;
    }
    if (height) log.style.maxHeight = `${height}px`;
  }

  /** @param {number} at @param {boolean} aloud */
  function show(at, aloud) {
    state = at;
    const step = chosen.steps[at];
    [...log.children].forEach((line, number) => line.setAttribute("aria-selected", String(number === at)));
    const line = /** @type {HTMLElement | undefined} */ (log.children[at]);
    const above = /** @type {HTMLElement | undefined} */ (log.children[at - 1]) ?? line;
    fitLog();
    if (line && above) log.scrollTop = above.offsetTop - log.offsetTop;
    gauge.replaceChildren(...(view.hasLevels ? [lsmGauge(view, step)] : []));
    drawStage();
    if (aloud) {
      say(`${lsmStepName(chosen, at)}: ${step.caption} ${step.watch}`);
      if (step.snapshotId !== null && step.snapshotId !== undefined) host.select({ snapshot: step.snapshotId });
    } else say(lsmSummary(view, step));
  }

  /** The bars stay the same elements from step to step, so that they can move. */
  const bars = /** @type {Map<string, SVGGElement>} */ (new Map());
  let shown = /** @type {{group: SVGGElement, file: LsmFile}[]} */ ([]);
  function drawStage() {
    const layout = lsmLayout(view, chosen, state, way, room);
    let svg = stage.querySelector("svg");
    if (!svg) {
      bars.clear();
      svg = s("svg", { role: "listbox", "aria-label": `files of ${lsmPlace(chosen)}` },
        s("defs", {}, s("pattern", { id: "lsm-hatch", width: 5, height: 5, patternUnits: "userSpaceOnUse" }, s("path", { d: "M0 5L5 0", stroke: "#000", "stroke-width": 1.3 }))),
        s("g", { class: "ground" }), s("g", { class: "bars" }));
      stage.append(svg);
    }
    keys.replaceChildren(lsmLegend(view, layout.bars.map(({ file }) => file), state === chosen.steps.length - 1));
    for (const [name, value] of Object.entries({ width: room, height: layout.height, viewBox: `0 0 ${room} ${layout.height}` })) svg.setAttribute(name, String(value));
    const ground = /** @type {SVGGElement} */ (svg.querySelector(".ground"));
    const front = /** @type {SVGGElement} */ (svg.querySelector(".bars"));
    ground.replaceChildren(...layout.ground);
    const seen = new Set();
    const items = layout.bars.map((bar) => {
      seen.add(bar.file.name);
      let mover = bars.get(bar.file.name);
      if (!mover) {
        mover = s("g", { class: "moves" });
        bars.set(bar.file.name, mover);
        front.append(mover);
      }
      mover.style.transform = `translate(${bar.x.toFixed(1)}px, ${bar.y.toFixed(1)}px)`;
      const name = lsmFileName(view, bar.file);
      const group = s("g", { class: "lsm-bar", role: "option", "aria-selected": "false", "aria-label": name },
        ...lsmBar(view, bar, state === chosen.steps.length - 1), s("title", {}, name));
      mover.replaceChildren(group);
      return { group, file: bar.file };
    });
    for (const [name, mover] of [...bars]) {
      if (seen.has(name)) continue;
      mover.remove();
      bars.delete(name);
    }
    shown = items;
    roving(items.map((item) => item.group), {
      onFocus: (place) => say(lsmFileName(view, items[place].file)),
      onChoose: (place) => pick(items[place].file, true),
    });
  }

  /** @param {LsmFile} file @param {boolean} isTold */
  function pick(file, isTold) {
    shown.forEach((bar) => bar.group.setAttribute("aria-selected", String(bar.file === file)));
    details.replaceChildren(lsmCard(view, chosen, file));
    say(lsmFileName(view, file));
    if (isTold) host.select({ file: file.name, partition: chosen.partition, bucket: chosen.bucket });
  }

  const quiet = host.onSelect((selection) => {
    const { file } = selection;
    const snapshot = selection.range ? selection.range[1] : selection.snapshot;
    if (hasPlace(selection)) {
      const there = view.buckets.find((bucket) => isAt(bucket, selection));
      if (!there) return say(`${placeText(selection)} is not among the buckets here: %paimon_lsm ${view.table} shows those chosen with -p and -b`);
      if (!isAt(chosen, selection)) choose(there, false);
    }
    if (file) {
      const known = chosen.files.find((candidate) => candidate.name === file);
      if (!known) return;
      const last = Math.min(known.died, chosen.steps.length) - 1;
      if (state < known.born || state > last) {
        steps?.stand(last);
        show(last, false);
      }
      pick(known, false);
    }
    if (snapshot !== undefined && snapshot !== null) {
      const known = chosen.steps.map((step) => step.snapshotId ?? 0);
      const at = known.filter((id) => id <= snapshot).length - 1;
      if (at >= 0 && at !== state) { steps?.stand(at); show(at, false); }
    }
  });
  const unsized = whenSized(stage, (now) => {
    room = Math.max(LSM_LEAST, now);
    if (stage.firstChild) drawStage();
  });
  choose(chosen, false);
  return () => {
    pause();
    unsized();
    quiet();
    stop();
  };
}

/** @param {Lsm} view */
function lsmHeads(view) {
  return [{ name: "bucket" }, { name: "files", right: true, text: count }, { name: "rows", right: true, text: count }, { name: "size", right: true, text: bytes },
    ...(view.hasLevels ? [{ name: "level 0", right: true, text: count }, { name: "backlog", right: true, text: (/** @type {number} */ value) => value.toFixed(2) }, { name: `runs (trigger ${view.compactionTrigger})`, right: true }] : []),
    { name: "deletes", right: true, less: 700, text: count }, { name: "hidden rows", right: true, less: 700, text: (/** @type {number | null} */ value) => (value === null ? "?" : count(value)) }];
}

/** @param {LsmBucket} bucket */
function lsmPlace(bucket) {
  return `${bucket.partition} bucket ${bucket.bucket}`.trim();
}

/** @param {LsmBucket} bucket @param {number} at */
function lsmStepName(bucket, at) {
  const step = bucket.steps[at];
  if (at === 0 && bucket.steps.length > 1) return step.snapshotId ? `before (snapshot ${step.snapshotId})` : "before";
  return `snapshot ${step.snapshotId} ${step.commitKind.toLowerCase()}`.trim();
}

/** @param {Lsm} view @param {import("../../display/browser/views").LsmStep} step */
function lsmSummary(view, step) {
  const size = step.bytes === null ? "" : `, ${bytes(step.bytes)}`;
  const runs = view.hasLevels ? `: a reader merges ${many(step.runCount, "sorted run")}` : "";
  return `${many(step.fileCount, "file")}, ${many(step.rowCount, "row")}${size}${runs}`;
}

/** @param {Lsm} view */
function lsmFootnote(view) {
  const parts = [`Changes of the newest ${many(view.snapshotCount, "snapshot")}.`];
  if (view.hasLevels) parts.push("Each lane is a sorted run. By key range or sequence number a file lies from its smallest to its greatest; places are ranks among them, so order is right and distances mean nothing; its height shows its size.");
  if (view.buckets.some((bucket) => bucket.files.some((file) => file.count > 1))) parts.push("Where there are too many files, neighbours share a bar.");
  if (view.buckets.some((bucket) => bucket.earlierCount)) parts.push("Some earlier changes touch too many files to be shown.");
  return parts.join(" ");
}

/** @param {LsmFile} file */
function lsmSize(file) {
  return Number(file.bytes ?? file.rows);
}

/** @param {Lsm} view @param {LsmFile} file */
function lsmFileName(view, file) {
  const several = file.count > 1 ? `${file.count} files from ` : "";
  const keys = file.minKey ? `, keys ${file.minKey} to ${file.maxKey}` : "";
  const size = file.bytes === null ? "" : `, ${bytes(file.bytes)}`;
  return `${several}${file.name}${view.hasLevels ? `, level ${file.level}` : ""}, ${many(file.rows, "row")}${size}${keys}`;
}

/** The sorted runs of a state, newest first. @param {Lsm} view @param {LsmBucket} bucket @param {number} state @returns {Lane[]} */
function lsmLanes(view, bucket, state) {
  const lanes = /** @type {Lane[]} */ ([]);
  for (const file of bucket.files) {
    if (file.born > state || file.died <= state) continue;
    const last = lanes[lanes.length - 1];
    if (last && last.level === file.level && !(view.hasLevels && file.level === 0)) last.files.push(file);
    else lanes.push({ level: file.level, files: [file] });
  }
  return lanes;
}

/** Ranks among all sequence numbers of a bucket: like keys, only their order is right. @param {LsmBucket} bucket */
function lsmSequences(bucket) {
  const all = [...new Set(bucket.files.flatMap((file) => [file.minSequence, file.maxSequence]))].sort((left, right) => Number(left) - Number(right));
  const ranks = new Map(all.map((number, rank) => [number, rank]));
  return { placeCount: all.length, placeOf: (/** @type {LsmFile} */ file) => ({ low: ranks.get(file.minSequence) ?? 0, high: ranks.get(file.maxSequence) ?? 0 }) };
}

/** @param {Lsm} view @param {LsmBucket} bucket @param {number} state @param {"keys" | "size" | "sequence"} way @param {number} room */
function lsmLayout(view, bucket, state, way, room) {
  const bySize = way === "size";
  const { placeCount, placeOf } = way === "sequence" ? lsmSequences(bucket) : { placeCount: bucket.placeCount, placeOf: (/** @type {LsmFile} */ file) => file };
  const states = bucket.steps.map((_, at) => lsmLanes(view, bucket, at));
  const upper = [...new Set(bucket.files.filter((file) => file.level > 0 || !view.hasLevels).map((file) => file.level))].sort((left, right) => left - right);
  const zeros = states.map((lanes) => (view.hasLevels ? lanes.filter((lane) => lane.level === 0).length : 0));
  const most = Math.min(Math.max(...zeros), LSM_MOST_LANES);
  const top = 8;
  const bottom = top + most * LSM_LANE;
  const ground = /** @type {SVGElement[]} */ ([]);
  /** Lines of the lanes of a level, whose name is beside their middle. @param {number} y @param {number} lanes @param {string} name */
  const lines = (y, lanes, name) => {
    ground.push(s("text", { x: 4, y: y + (lanes * LSM_LANE) / 2 + 2, "font-size": 11 }, name));
    if (lanes > 1) ground.push(s("path", { d: `M${LSM_LEFT - 6} ${y + 2}V${y + lanes * LSM_LANE - 4}`, stroke: "#888" }));
    for (let lane = 0; lane < lanes; lane += 1) ground.push(s("path", { d: `M${LSM_LEFT} ${y + lane * LSM_LANE + LSM_BAR + 1}H${room - 8}`, stroke: "#8886" }));
  };
  if (most) lines(top, most, "level 0");
  upper.forEach((level, at) => lines(bottom + at * LSM_LANE, 1, view.hasLevels ? `level ${level}` : "files"));
  const width = room - LSM_LEFT - 8;
  const laneSize = (/** @type {Lane} */ lane) => lane.files.reduce((sum, file) => sum + lsmSize(file), 0);
  const largestLane = Math.max(1, ...states.flatMap((lanes) => lanes.map(laneSize)));
  const largestFile = Math.max(1, ...bucket.files.map(lsmSize));
  const unit = bySize ? width / largestLane : width / Math.max(placeCount, 1);
  const lanes = states[state];
  const newest = lanes.filter((lane) => view.hasLevels && lane.level === 0);
  const bars = /** @type {{file: LsmFile, x: number, y: number, width: number, height: number}[]} */ ([]);
  const hidden = Math.max(newest.length - LSM_MOST_LANES, 0);
  const height = bottom + upper.length * LSM_LANE + 8;
  lanes.forEach((lane) => {
    const at = newest.indexOf(lane);
    if (at >= LSM_MOST_LANES) return;
    const y = at >= 0 ? bottom - (Math.min(newest.length, LSM_MOST_LANES) - at) * LSM_LANE : bottom + upper.indexOf(lane.level) * LSM_LANE;
    let x = LSM_LEFT;
    for (const file of lane.files) {
      const { low, high: top } = placeOf(file);
      const long = bySize ? unit * lsmSize(file) : unit * (top - low + 1);
      const high = bySize ? LSM_BAR : 6 + (LSM_BAR - 6) * Math.sqrt(lsmSize(file) / file.count / largestFile);
      bars.push({ file, x: bySize ? x : LSM_LEFT + unit * low, y: y + LSM_BAR - high, width: Math.max(long - 1, 2), height: high });
      x += long;
    }
  });
  if (hidden) ground.push(s("text", { x: LSM_LEFT, y: 8, "font-size": 9 }, `… ${hidden} older runs of level 0 are not drawn`));
  if (bySize && bucket.bytes !== null) {
    const target = view.targetFileBytes * unit;
    const label = `target-file-size ${bytes(view.targetFileBytes)}`;
    if (target <= width) {
      const x = LSM_LEFT + target;
      ground.push(s("path", { d: `M${x} 0V${height}`, stroke: COLOURS.red, "stroke-dasharray": "5 4" }), s("text", { x: Math.min(x + 3, room - 150), y: height - 1, "font-size": 10 }, label));
    } else ground.push(s("text", { x: room - 12, y: height - 1, "font-size": 10, "text-anchor": "end" }, `${label} is ${(target / width).toLocaleString("en-US", { maximumSignificantDigits: 3 })} times this width`));
  }
  return { height: height + (bySize ? 8 : 0), ground, bars };
}

/** @param {Lsm} view @param {LsmFile} file */
function lsmColour(view, file) {
  return !view.hasLevels ? COLOURS.green : file.level === 0 ? COLOURS.orange : file.level >= view.levelCount - 1 ? COLOURS.blue : COLOURS.sky;
}

/** The share of a file's rows that are deletes, or hidden. @param {LsmFile} file @param {boolean} isNow */
function lsmGone(file, isNow) {
  return Math.min(1, ((file.deletes ?? 0) + (isNow ? file.hidden ?? 0 : 0)) / Math.max(file.rows, 1));
}

/** @param {Lsm} view @param {LsmFile[]} files @param {boolean} isNow */
function lsmLegend(view, files, isNow) {
  const words = /** @type {[string, string][]} */ ([[COLOURS.orange, "level 0"], [COLOURS.sky, "levels between"], [COLOURS.blue, "last level"]]);
  const there = new Set(files.map((file) => lsmColour(view, file)));
  return legend(...words.map(([colour, name]) => there.has(colour) && /** @type {[SVGElement, string]} */ ([barKey(colour), name])), files.some((file) => lsmGone(file, isNow)) && [hatchKey(), "deletes, and rows hidden by deletion vectors"]);
}

/** @param {Lsm} view @param {{file: LsmFile, width: number, height: number}} bar @param {boolean} isNow */
function lsmBar(view, { file, width, height }, isNow) {
  const colour = lsmColour(view, file);
  const parts = /** @type {SVGElement[]} */ ([s("rect", { width: width.toFixed(1), height: height.toFixed(1), rx: width < LSM_THIN ? 0 : 2, "stroke-opacity": width < LSM_THIN ? 0 : 1, fill: colour })]);
  const gone = lsmGone(file, isNow);
  if (gone > 0) {
    const part = Math.max(width * gone, 1);
    parts.push(s("rect", { x: (width - part).toFixed(1), width: part.toFixed(1), height: height.toFixed(1), fill: "url(#lsm-hatch)" }));
  }
  if (file.count > 1 && width > 50) parts.push(s("text", { x: 4, y: Math.min(height - 3, 12), "font-size": 10, style: "fill:#000" }, `${file.count} files`));
  return parts;
}

/** Sorted runs against the triggers. @param {Lsm} view @param {import("../../display/browser/views").LsmStep} step */
function lsmGauge(view, step) {
  const most = Math.max(view.stopTrigger, step.runCount) + 1;
  const unit = Math.min(26, 420 / most);
  const ratio = (step.level0Count / view.compactionTrigger).toFixed(2);
  const words = `${many(step.runCount, "sorted run")} to merge (compaction from ${view.compactionTrigger}, writers wait from ${view.stopTrigger}); level 0: ${many(step.level0Count, "file")}, backlog ${ratio}`;
  const boxes = Array.from({ length: step.runCount }, (_, at) =>
    s("rect", { x: 2 + at * unit, y: 4, width: Math.max(unit - 2, 1), height: 10, fill: at < step.level0Count ? COLOURS.orange : COLOURS.blue }));
  const marks = [[view.compactionTrigger, "trigger"], [view.stopTrigger, "stop"]].map(([at, name]) =>
    s("g", {}, s("path", { d: `M${1 + Number(at) * unit} 0V18`, stroke: COLOURS.red, "stroke-width": 2 }), s("text", { x: 4 + Number(at) * unit, y: 27, "font-size": 9 }, `${name} ${at}`)));
  return h("div", { class: "row" }, s("svg", { width: most * unit + 50, height: 30, role: "img", "aria-label": words }, ...boxes, ...marks), h("span", {}, words));
}

/** @param {Lsm} view @param {LsmBucket} bucket @param {LsmFile} file */
function lsmCard(view, bucket, file) {
  const share = (/** @type {number | null} */ value) => (value === null ? "unknown" : value ? `${count(value)} of ${count(file.rows)} rows (${((100 * value) / Math.max(file.rows, 1)).toFixed(1)} %)` : "0");
  const [born, died] = [bucket.steps[file.born], bucket.steps[file.died]];
  return card([
    ["file", file.name],
    ["files in this bar", file.count > 1 ? count(file.count) : null],
    ["level", view.hasLevels ? file.level : null],
    ["rows", count(file.rows)],
    ["size", file.bytes === null ? null : `${bytes(file.bytes)} (${((100 * file.bytes) / file.count / view.targetFileBytes).toFixed(1)} % of target-file-size)`],
    ["keys", file.minKey ? `${file.minKey} to ${file.maxKey}` : null],
    ["sequence numbers", `${file.minSequence} to ${file.maxSequence}`],
    ["deletes", share(file.deletes)],
    ["hidden by deletion vectors", share(file.hidden)],
    ["schema", file.schemaId],
    ["written by", file.source],
    ["created (writer's clock)", moment(file.createdMillis)],
    ["first in", file.born ? lsmStepName(bucket, file.born) : "before the first step"],
    ["removed in", died && born ? lsmStepName(bucket, file.died) : null],
  ]);
}

/** @param {Lsm} view */
function lsmHeadline({ buckets, bucketCount, hasLevels, compactionTrigger, stopTrigger }) {
  if (!buckets.length) return "";
  const most = buckets.reduce((found, bucket) => (bucket.runCount > found.runCount ? bucket : found));
  if (!hasLevels) return `Most files: ${lsmPlace(buckets[0])}, ${many(buckets[0].fileCount, "file")}`;
  if (most.runCount < 2 && buckets.length === bucketCount) return "Nothing to merge: no bucket has more than 1 sorted run";
  return `Most to merge: ${lsmPlace(most)}, ${many(most.runCount, "sorted run")} (compaction from ${compactionTrigger}, writers wait from ${stopTrigger})`;
}
