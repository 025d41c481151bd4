// @ts-check
import { COLOURS, KINDS, ago, bothWays, bytes, card, commitText, copyButton, count, empty, frame, h, legend, many, mark, moment, roving, s, shortId, signed, slider, swatch } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").Timeline} Timeline */
/** @typedef {import("../../display/browser/views").TimelinePoint} TimelinePoint */
/** @typedef {import("../../display/browser/views").TimelineGroup} TimelineGroup */
/** @typedef {import("../../display/browser/host").Context<Timeline>} TimelineContext */
/**
 * One mark: a snapshot or a group of them.
 * @typedef {{point?: TimelinePoint, group?: TimelineGroup, branch: string, lane: number, first: number, last: number,
 *   millis: number | null, gap: number, x: number, y: number}} Item
 */

const TREND = { top: 26, height: 64 };
const LANES = { top: 150, height: 74 };
const MARGIN = 44;
const GAP = 30;

/** What the line above the marks can show: name, value of an item, how it is written. @param {string} rowsAre */
const measuresOf = (rowsAre) => /** @type {[string, (item: Item) => any, (value: any) => string][]} */ ([
  [rowsAre, ({ point, group }) => (point ?? group)?.totalRecordCount, count],
  ["live files", ({ point, group }) => (point ?? group)?.fileCount, count],
  ["size", ({ point, group }) => (point ?? group)?.fileBytes, bytes],
  ["rows of the commit", rowChange, signed],
  ["changelog rows", ({ point, group }) => (point ?? group)?.changelogRecordCount ?? 0, count],
]);

const CSS = `
.line { overflow-x: auto; overscroll-behavior-x: contain; touch-action: pan-x; }
.line svg { max-width: none; user-select: none; } .minimap { cursor: grab; touch-action: none; }
.item { cursor: pointer; } .item:focus { outline: none; }
.ring { visibility: hidden; fill: none; stroke: currentColor; stroke-width: 2; } .item[aria-selected=true] .ring { visibility: visible; }
.item:focus-visible .ring { visibility: visible; stroke: var(--focus); stroke-width: 4; }
.card { min-height: 6em; } .item > text { paint-order: stroke; stroke: var(--ground); stroke-width: 3px; }
`;

/** @param {TimelineContext} context */
export function render({ data, el, host }) {
  const view = data.view;
  const { body, say, stop, head } = frame(el, { title: `${view.table}: snapshots`, note: noteOf(view), headline: headlineOf(view), css: CSS });
  const items = itemsOf(view);
  if (!items.length) {
    body.append(empty("Nothing was written to it yet. The first snapshot is made by", `INSERT INTO ${view.table} VALUES …`));
    return stop;
  }
  const largest = items.reduce((most, item) => Math.max(most, Math.abs(Number((item.point && rowChange(item)) ?? 0))), 1);
  const hasTimes = items.every((item) => item.millis !== null);
  const known = measuresOf(view.rowsAre).filter(([, value]) => items.some((item) => value(item)));
  const mainCount = items.filter((item) => !item.lane).length;
  const look = { byTime: false, step: 38, measure: known[0] ?? measuresOf(view.rowsAre)[0] };
  let chosen = mainCount - 1;
  const isAlone = items.length === 1;
  /** @type {[number, number] | null} places where the brush began and where it is */
  let range = null;

  const line = h("div", { class: "line" });
  const trend = h("span", { class: "faint" });
  const details = h("div", { class: "card" });
  const code = h("div", { class: "row" });
  /** @type {SVGGElement[]} */
  let marks = [];
  /** @type {SVGSVGElement} */
  let picture;

  const draw = () => {
    const width = place(items, look.byTime, look.step);
    const height = LANES.top + LANES.height * view.branches.length + 52;
    const named = withRoom(items);
    marks = items.map((item) => drawn(item, largest, Math.min(1.3, look.step / 24), named.has(item)));
    const above = isAlone ? TREND.top + TREND.height : 0;
    const marksOfRange = s("g", { class: "brush" });
    picture = s("svg", { width, height: height - above, viewBox: `0 ${above} ${width} ${height - above}`, role: "listbox", "aria-label": "snapshots, Shift and arrows choose a range", "aria-multiselectable": "true", "aria-orientation": "horizontal" },
      ...(isAlone ? [] : trendOf(items, look.measure, trend)), ...lanesOf(items, view, width), ...gapsOf(items), watermarkOf(items, height), marksOfRange, ...marks);
    line.replaceChildren(picture);
    let extending = false;
    picture.addEventListener("keydown", (event) => {
      extending = event.shiftKey && /^(Arrow|Home|End|Page)/.test(event.key);
    }, true);
    roving(marks, {
      start: chosen,
      onFocus: (now) => {
        const from = chosen;
        chosen = now;
        if (extending && items[from].lane === items[now].lane) {
          range = [range ? range[0] : from, now];
          brushed();
        } else show(items[now]);
      },
      onChoose: (now) => {
        chosen = now;
        range = null;
        choose();
      },
    });
    marks.forEach((mark, at) => {
      mark.addEventListener("pointerenter", () => details.replaceChildren(cardOf(items[at], view.rowsAre)));
      mark.addEventListener("pointerleave", () => (range ? brushed(false) : details.replaceChildren(cardOf(items[chosen], view.rowsAre))));
    });
    brushes(picture, items, marks, (from, to) => {
      range = [from, to];
      chosen = to;
      brushed();
    });
    lit();
  };

  const lit = () => {
    const [low, high] = ends();
    marks.forEach((mark, at) => mark.setAttribute("aria-selected", String(range ? at >= low && at <= high : at === chosen)));
    const band = /** @type {SVGGElement} */ (picture.querySelector(".brush"));
    const [from, to] = [items[low].x - 16, items[high].x + 16];
    band.replaceChildren(...(range ? [s("rect", { x: from, y: TREND.top - 8, width: to - from, height: items[high].y - TREND.top + 40, fill: COLOURS.sky, opacity: 0.25 })] : []));
  };
  const ends = () => /** @type {[number, number]} */ (range ? [Math.min(...range), Math.max(...range)] : [chosen, chosen]);

  /** @param {Item} item */
  const show = (item) => {
    details.replaceChildren(cardOf(item, view.rowsAre));
    say(sentence(item));
  };
  const nameOf = (/** @type {string} */ branch) => (branch ? `${view.table.replace(/\$branch_.*$/, "")}$branch_${branch}` : view.table);
  const choose = () => {
    const item = items[chosen];
    show(item);
    lit();
    const { last } = item;
    code.replaceChildren(...[`VERSION AS OF ${last}`, `SELECT * FROM ${nameOf(item.branch)} VERSION AS OF ${last}`].map((text) => copyButton(`copy ${text}`, () => text, say)));
    host.select({ snapshot: last });
  };
  /** Show the range, and tell it unless another view did. */
  const brushed = (/** @type {boolean} */ isTold = true) => {
    const [low, high] = ends();
    const inside = items.slice(low, high + 1);
    const [first, last] = [items[low].first, items[high].last];
    const rows = inside.map((item) => rowChange(item) ?? NaN);
    const snapshots = inside.reduce((sum, { group }) => sum + (group?.snapshotCount ?? 1), 0);
    lit();
    details.replaceChildren(card([
      ["snapshots", `${first} to ${last}, ${count(snapshots)} of them`],
      ["time (UTC)", items[high].millis !== null && `${moment(items[low].group?.beginMillis ?? items[low].millis)} to ${moment(items[high].millis)}`],
      ["commits", kinds(inside)],
      ["rows", rows.every(Number.isSafeInteger) ? signed(rows.reduce((sum, row) => sum + row, 0)) : ""],
    ]));
    const name = nameOf(items[low].branch);
    code.replaceChildren(...["diff", "changes"].map((magic) => `%paimon_${magic} ${name} ${first} ${last}`).map((text) => copyButton(`copy ${text}`, () => text, say)));
    say(`snapshots ${first} to ${last}`);
    if (isTold) host.select({ range: [first, last] });
  };

  const axis = h("select", { onchange: () => redraw({ byTime: axis.value === "time" }) }, h("option", { value: "id" }, "ids"), h("option", { value: "time" }, "time"));
  const measure = h("select", { onchange: () => redraw({ measure: known[Number(measure.value)] }) }, ...known.map(([name], at) => h("option", { value: at }, name)));
  const zoom = slider({ label: "zoom", min: 2, max: 120, value: look.step, text: (value) => `${value}`, onMove: (step) => { isFitted = false; redraw({ step }); } });
  /** @param {Partial<typeof look>} how */
  const redraw = (how) => {
    const left = line.scrollLeft / Math.max(line.scrollWidth, 1);
    Object.assign(look, how);
    draw();
    line.scrollLeft = left * line.scrollWidth;
  };
  let isFitted = true;
  let fittedTo = 0;
  /** All marks at once in the width there is; of more than a hundred the newest, and the rest in small. */
  const fit = (/** @type {boolean} */ isWhole = false) => {
    const gaps = items.reduce((sum, item) => sum + (item.lane || !item.gap ? 0 : GAP), 0);
    const width = (line.clientWidth || 840) - 2 * MARGIN - gaps;
    const step = Math.floor((100 * width) / Math.max(1, mainCount - 1)) / 100;
    zoom.stand(Math.round(Math.max(isWhole ? 2 : 18, Math.min(120, step))));
    redraw({ step: Math.max(isWhole ? 2 : 18, Math.min(120, step)) });
    if (!isWhole) line.scrollLeft = line.scrollWidth;
    isFitted = true;
    fittedTo = line.clientWidth;
  };
  const whole = h("button", { onclick: () => fit(true) }, "all");
  const controls = h("div", { class: "row tools" }, hasTimes && h("label", {}, "axis ", axis), known.length > 0 && h("label", {}, "line ", measure), zoom.element, whole);
  const small = mainCount > 100 && minimap(items.slice(0, mainCount), line);
  body.append(controls, trend, line, small || "", legendOf(items, view), details, code, ...othersOf(view));
  draw();
  fit();
  show(items[chosen]);
  // A view is drawn before it has a width, and notebooks change theirs.
  const sized = new ResizeObserver(() => {
    if (isFitted && line.clientWidth !== fittedTo) fit();
  });
  sized.observe(body);

  const quiet = host.onSelect((selection) => {
    const find = (/** @type {number} */ id) => items.findIndex((item) => !item.lane && item.first <= id && id <= item.last);
    if (selection.range) {
      const [low, high] = selection.range.map(find);
      if (low < 0 || high < 0) return;
      range = [low, high];
      chosen = high;
      brushed(false);
    } else if (selection.snapshot !== undefined && find(selection.snapshot) >= 0) {
      chosen = find(selection.snapshot);
      range = null;
      lit();
      show(items[chosen]);
    } else return;
    line.scrollLeft = items[chosen].x - line.clientWidth / 2;
  });
  return () => {
    sized.disconnect();
    quiet();
    stop();
  };
}

/** What the table has, and what the newest snapshot did. @param {Timeline} view */
function headlineOf({ points, groups }) {
  const newest = points[points.length - 1];
  if (!newest) return "";
  const total = points.length + groups.reduce((sum, group) => sum + group.snapshotCount, 0);
  const { commitKind, commitUser, timeMillis, addedFileCount, deltaRecordCount } = newest;
  const change = Number(deltaRecordCount ?? 0);
  const { writtenRows = Math.max(change, 0), deletedRows = Math.max(-change, 0) } = newest;
  const what = commitText({ kind: commitKind, written: Number(writtenRows), deleted: Number(deletedRows), files: addedFileCount ?? 0, user: commitUser });
  return `${many(total, "snapshot")}, newest${timeMillis ? ` ${ago(timeMillis)}` : ""}: ${what}`;
}

/**
 * All marks in small; a drag moves what the line shows.
 * @param {Item[]} items @param {HTMLElement} line
 */
function minimap(items, line) {
  const last = Math.max(1, items.length - 1);
  const view = s("rect", { y: 0, height: 20, fill: "none", stroke: "currentColor" });
  const map = s("svg", { class: "minimap", viewBox: "0 0 1000 20", preserveAspectRatio: "none", width: "100%", height: 20, "aria-hidden": "true" },
    ...items.map(({ point }, at) => s("rect", { x: (998 * at) / last, y: 4, width: 2, height: 12, fill: KINDS[point?.commitKind ?? ""]?.colour ?? COLOURS.grey })),
    ...items.flatMap(({ point, group }, at) => (Object.keys(point?.tags ?? group?.tags ?? {}).length ? [s("rect", { class: "tag", x: (996 * at) / last, y: 0, width: 6, height: 20, fill: COLOURS.yellow, stroke: "#7A7000", "vector-effect": "non-scaling-stroke" })] : [])), view);
  const look = () => {
    view.setAttribute("x", String((1000 * line.scrollLeft) / Math.max(1, line.scrollWidth)));
    view.setAttribute("width", String((1000 * line.clientWidth) / Math.max(1, line.scrollWidth)));
  };
  const go = (/** @type {PointerEvent} */ event) => {
    if (!event.buttons) return;
    const box = map.getBoundingClientRect();
    line.scrollLeft = ((event.clientX - box.left) / box.width) * line.scrollWidth - line.clientWidth / 2;
  };
  map.addEventListener("pointerdown", go);
  map.addEventListener("pointermove", go);
  line.addEventListener("scroll", look);
  return map;
}

/** @param {Timeline} view */
function noteOf({ points, groups, groupedBy, expiredCount, branches, branchCount }) {
  const older = groups.reduce((sum, group) => sum + group.snapshotCount, 0);
  return [
    older && `the newest ${count(points.length)} of ${count(points.length + older)} one by one, older ones ${groupedBy === "day" ? "by day" : `in ${groups.length} groups`}`,
    expiredCount && `1 to ${count(expiredCount)} expired`,
    branches.length < branchCount && `${branches.length} of ${branchCount} other branches`,
  ].filter(Boolean).join("; ");
}

/** All marks in the order in which arrows reach them. @param {Timeline} view @returns {Item[]} */
function itemsOf({ groups, points, branches }) {
  /** @param {TimelinePoint} point @param {string} branch @param {number} lane @returns {Item} */
  const itemOf = (point, branch, lane) => ({ point, branch, lane, first: point.id, last: point.id, millis: point.timeMillis ?? null, gap: point.missingBefore ?? 0, x: 0, y: 0 });
  return [
    ...groups.map((group) => ({ group, branch: "", lane: 0, first: group.firstId, last: group.lastId, millis: group.endMillis ?? null, gap: group.missingCount ?? 0, x: 0, y: 0 })),
    ...points.map((point) => itemOf(point, "", 0)),
    ...branches.flatMap(({ name, points: theirs }, at) => theirs.map((point) => itemOf(point, name, at + 1))),
  ];
}

/** Give each mark its place; return the width. @param {Item[]} items @param {boolean} byTime @param {number} step */
function place(items, byTime, step) {
  let end = MARGIN;
  /** @type {Map<number, number>} */
  const main = new Map();
  for (const item of items) item.y = LANES.top + LANES.height * item.lane;
  let x = MARGIN - step;
  for (const item of items.filter(({ lane }) => !lane)) {
    x += step + (item.gap ? GAP : 0);
    item.x = x;
    main.set(item.last, x);
    end = x;
  }
  if (byTime) {
    const times = items.map(({ millis }) => Number(millis));
    const low = times.reduce((time, other) => Math.min(time, other));
    const span = times.reduce((time, other) => Math.max(time, other)) - low || 1;
    for (const item of items) item.x = MARGIN + ((Number(item.millis) - low) / span) * (Math.max(end, 600) - MARGIN);
    end = Math.max(end, 600);
  } else {
    let before = MARGIN;
    for (const [at, item] of items.entries()) {
      if (!item.lane) continue;
      before = items[at - 1]?.lane === item.lane ? before + step : MARGIN - step;
      before = item.x = Math.max(before, main.get(item.last) ?? before, MARGIN);
      end = Math.max(end, before);
    }
  }
  return end + MARGIN;
}

/** The marks whose ids do not run into the one before. @param {Item[]} items */
function withRoom(items) {
  const end = /** @type {number[]} */ ([]);
  return new Set(items.filter(({ x, lane, first, last }) => {
    const half = 3.2 * (String(last).length + (first === last ? 0 : 1)) + 2;
    if (x - half < (end[lane] ?? -Infinity)) return false;
    end[lane] = x + half;
    return true;
  }));
}

/** @param {Item} item @param {number} largest rows of the largest commit @param {number} most times the size of a mark @param {boolean} isNamed */
function drawn(item, largest, most, isNamed) {
  const { point, group, x, y } = item;
  const size = 0.7 * Math.min(1, most) + (most - 0.7 * Math.min(1, most)) * Math.sqrt(Math.abs(Number((item.point && rowChange(item)) ?? 0)) / largest);
  const half = 12 * Math.min(1, most);
  const shape = point ? mark(point.commitKind, 0, 0) : groupMark(/** @type {TimelineGroup} */ (group));
  const element = s("g", { class: "item", role: "option", "aria-selected": "false", "aria-label": sentence(item), transform: `translate(${x} ${y})` },
    s("title", {}, sentence(item)),
    s("rect", { x: -half, y: -half, width: 2 * half, height: half + 48, fill: "none", visibility: "hidden", "pointer-events": "all" }), // between a mark and its names, too
    s("circle", { class: "ring", r: 19 * Math.min(1, most) }),
    s("g", { class: "shape", transform: group ? "" : `scale(${size.toFixed(2)})` }, shape));
  if (isNamed) element.append(around(item.first === item.last ? item.last : `…${item.last}`, 31));
  const tags = point?.tags ?? Object.keys(group?.tags ?? {});
  const readers = point?.consumers ?? Object.keys(group?.consumers ?? {});
  if (tags.length) element.append(tagMark(-2, -17), label(tags, -41));
  if (readers.length) element.append(consumerMark(0, 34), label(readers, 56));
  const schemas = group ? (group.newSchemas ?? []) : point?.isNewSchema ? [point.schemaId] : [];
  if (schemas.length) {
    element.append(dashed("M-17 -30V16", "4 3"),
      s("text", { x: -17, y: 31, "text-anchor": "middle", "font-size": 10, "font-style": "italic" }, `S${schemas.join(" ")}`));
  }
  return element;
}

/** A small text around a place. @param {string | number} text @param {number} y @param {number} [x] @param {number} [size] */
function around(text, y, x = 0, size = 10) {
  return s("text", { x, y, "text-anchor": "middle", "font-size": size }, text);
}

/** Dashes of what is only hinted at. @param {string} d @param {string} dashes @param {string} [stroke] */
function dashed(d, dashes, stroke = COLOURS.pink) {
  return s("path", { d, fill: "none", stroke, "stroke-width": 2, "stroke-dasharray": dashes });
}

/** A flag. @param {number} x @param {number} y its foot */
function tagMark(x, y) {
  return s("path", { d: `M${x} ${y}v-19h14l-4 5l4 5h-12v9z`, fill: COLOURS.yellow, stroke: "#7A7000" });
}

/** A drop. @param {number} x @param {number} y its point */
function consumerMark(x, y) {
  return s("path", { d: `M${x} ${y}l-5 9a5 5 0 1 0 10 0z`, fill: COLOURS.sky, stroke: COLOURS.blue });
}

/** @param {string[]} names @param {number} y */
function label(names, y) {
  const first = [...names[0]];
  const text = first.length > 10 ? `${first.slice(0, 9).join("")}…` : names[0];
  return around(names.length > 1 ? `${text} +${names.length - 1}` : text, y, 0, 9);
}

/** A stack: a stripe for each kind of commit, as thick as its share. @param {TimelineGroup} group */
function groupMark(group) {
  let y = -16;
  const stripes = Object.entries(group.kinds).map(([kind, number]) => {
    const height = (32 * number) / group.snapshotCount;
    y += height;
    return s("rect", { x: -9, y: y - height, width: 18, height, fill: KINDS[kind]?.colour ?? COLOURS.grey });
  });
  return s("g", {}, ...stripes, s("rect", { x: -9, y: -16, width: 18, height: 32, rx: 3, fill: "none", stroke: "currentColor" }));
}

/** @param {Item[]} items @param {ReturnType<typeof measuresOf>[0]} measure @param {HTMLElement} scale */
function trendOf(items, [name, value, write], scale) {
  const main = items.filter((item) => !item.lane);
  const values = main.map((item) => (value(item) === undefined || value(item) === null ? null : Number(value(item))));
  const known = values.filter((value) => value !== null);
  if (!known.length) return [];
  const [low, high] = [known.reduce((a, b) => Math.min(a, b), 0), known.reduce((a, b) => Math.max(a, b), 0)];
  const y = (/** @type {number} */ value) => TREND.top + TREND.height * (1 - (value - low) / (high - low || 1));
  const path = main.map((item, at) => {
    const value = values[at];
    return value === null ? "" : `L${item.x.toFixed(1)} ${y(value).toFixed(1)}`;
  });
  const dots = main.flatMap((item, at) => {
    const value = values[at];
    return kindsOf(item).COMPACT && value !== null ? [s("rect", { x: item.x - 3, y: y(value) - 3, width: 6, height: 6, fill: COLOURS.green })] : [];
  });
  scale.replaceChildren(`${name}: ${write(low)} to ${write(high)}${dots.length ? "; ■ compaction" : ""}`);
  const ground = `M${MARGIN - 20} ${y(0).toFixed(1)}H${main[main.length - 1].x + 20}`;
  return [s("path", { d: ground, stroke: "currentColor", opacity: 0.3 }),
    s("path", { d: path.join("").replace("L", "M"), fill: "none", stroke: COLOURS.blue, "stroke-width": 2 }), ...dots];
}

/** A line for each branch, from where it forked. @param {Item[]} items @param {Timeline} view @param {number} width */
function lanesOf(items, { branches }, width) {
  const main = items.filter((item) => !item.lane);
  const lines = /** @type {SVGElement[]} */ ([]);
  lines.push(s("path", { d: `M12 ${LANES.top}H${width - 12}`, stroke: "currentColor", opacity: 0.4, "stroke-width": 2 }));
  branches.forEach(({ name, forkedAt, olderCount }, at) => {
    const mine = items.filter((item) => item.lane === at + 1);
    const y = LANES.top + LANES.height * (at + 1);
    const fork = main.find((item) => forkedAt !== null && item.first <= forkedAt && forkedAt <= item.last);
    const start = mine[0]?.x ?? MARGIN;
    const end = mine[mine.length - 1]?.x ?? start;
    const from = fork ? `M${fork.x} ${LANES.top}V${y}H` : `M${Math.max(start - 20, 4)} ${y}H`;
    lines.push(dashed(from + end, "6 3"),
      s("text", { x: end + 20, y: y + 4, "font-size": 11, "font-weight": "bold" }, `${shortened(name)}${olderCount ? ` (${count(olderCount)} older)` : ""}`));
  });
  return lines;
}

/** @param {Item[]} items */
function gapsOf(items) {
  return items.flatMap((item, at) => {
    const before = items[at - 1];
    if (!item.gap || !before || before.lane !== item.lane) return [];
    const x = (before.x + item.x) / 2;
    const text = around(`… ${item.gap} …`, item.y - 20, x);
    text.append(s("title", {}, `${item.gap} expired`));
    return [text];
  });
}

/** Where commits were as old as the newest watermark. @param {Item[]} items @param {number} height */
function watermarkOf(items, height) {
  const main = items.filter((item) => !item.lane && item.millis !== null);
  const newest = main.reduce((/** @type {number | null} */ most, { point, group }) => {
    const watermark = (point ?? group)?.watermarkMillis ?? null;
    return watermark === null || (most !== null && most > watermark) ? most : Number(watermark);
  }, null);
  if (newest === null) return null;
  const behind = main.filter((item) => Number(item.millis) <= newest);
  const x = behind.length ? behind[behind.length - 1].x + 8 : 6;
  return s("g", {}, dashed(`M${x} 14V${height - 8}`, "2 4", COLOURS.sky),
    s("text", { x, y: 11, "text-anchor": behind.length > main.length / 2 ? "end" : "start", "font-size": 10 }, `watermark ${moment(newest)}`));
}

/** Let a drag choose the marks of one lane. @param {SVGSVGElement} picture @param {Item[]} items @param {SVGGElement[]} marks @param {(from: number, to: number) => void} done */
function brushes(picture, items, marks, done) {
  /** @type {{x: number, lane: number, id: number} | null} */
  let begin = null;
  let isDragged = false;
  const at = (/** @type {PointerEvent} */ event) => {
    const box = picture.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  picture.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    const { x, y } = at(event);
    begin = { x, lane: Math.max(0, Math.round((y - LANES.top) / LANES.height)), id: event.pointerId };
    isDragged = false;
  });
  picture.addEventListener("pointermove", (event) => {
    if (!begin) return;
    const { x } = at(event);
    if (Math.abs(x - begin.x) < 6 && !isDragged) return;
    if (!isDragged) picture.setPointerCapture(begin.id);
    isDragged = true;
    const [low, high] = [Math.min(x, begin.x), Math.max(x, begin.x)];
    const inside = items.map((item, place) => ({ item, place })).filter(({ item }) => item.lane === begin?.lane && item.x >= low && item.x <= high);
    if (inside.length) done(inside[0].place, inside[inside.length - 1].place);
  });
  picture.addEventListener("pointerup", () => { begin = null; });
  picture.addEventListener("click", (event) => {
    if (isDragged) event.stopPropagation();
    isDragged = false;
  }, true);
  picture.addEventListener("dragstart", (event) => event.preventDefault());
}

/** How many commits of each kind. @param {Pick<Item, "point" | "group">} item @returns {Record<string, number>} */
function kindsOf({ point, group }) {
  return group?.kinds ?? { [point?.commitKind ?? "?"]: 1 };
}

/** @param {Pick<Item, "point" | "group">[]} items */
function kinds(items) {
  /** @type {Record<string, number>} */
  const found = {};
  for (const item of items) {
    for (const [kind, number] of Object.entries(kindsOf(item))) found[kind] = (found[kind] ?? 0) + number;
  }
  return Object.entries(found).map(([kind, number]) => `${count(number)} ${kind.toLowerCase()}`).join(", ");
}

/** What the marks that are there mean. @param {Item[]} items @param {Timeline} view */
function legendOf(items, { branches }) {
  const there = new Set(items.flatMap((item) => Object.keys(kindsOf(item))));
  const has = (/** @type {(shown: any) => any} */ what) => items.some(({ point, group }) => what(point ?? group));
  return legend(
    ...[...there].map((kind) => /** @type {[SVGElement, string]} */ ([swatch(s("g", { transform: "translate(7 7) scale(.55)" }, mark(kind, 0, 0))), kind.toLowerCase()])),
    has(({ tags }) => Object.keys(tags ?? {}).length) && [swatch(s("g", { transform: "translate(3 14) scale(.7)" }, tagMark(0, 0))), "tag"],
    has(({ consumers }) => Object.keys(consumers ?? {}).length) && [swatch(s("g", { transform: "translate(7 0) scale(.9)" }, consumerMark(0, 0))), "a consumer reads on from here"],
    has(({ isNewSchema, newSchemas }) => isNewSchema || newSchemas?.length) && [swatch(dashed("M7 1V13", "4 3")), "a new schema"],
    branches.length > 0 && [swatch(dashed("M1 7H13", "4 2")), "branch"],
    [null, "larger: more rows"]);
}

/** Rows written less rows deleted; where that is unknown, of files and before merging. @param {Item} item */
function rowChange({ point, group }) {
  const { writtenRows, deletedRows } = point ?? {};
  return writtenRows == null ? (point ?? group)?.deltaRecordCount : writtenRows - (deletedRows ?? 0);
}

/** Both ways, as far as they are known. @param {Item} item */
function rowsOf(item) {
  const { writtenRows, deletedRows } = item.point ?? {};
  return (writtenRows && deletedRows ? bothWays(writtenRows, deletedRows) : "") || signed(rowChange(item));
}

/** @param {Item} item */
function sentence(item) {
  const { point, group, branch, gap } = item;
  const where = branch ? `branch ${branch}, ` : "";
  const rows = rowChange(item);
  const tail = `${rows === undefined ? "" : `, ${rowsOf(item)} ${Math.abs(Number(rows)) === 1 ? "row" : "rows"}`}${gap ? `, ${gap} expired before it` : ""}`;
  if (group) return `snapshots ${group.firstId} to ${group.lastId}: ${kinds([{ group }])}${tail}`;
  const { id, commitKind, timeMillis, tags } = /** @type {TimelinePoint} */ (point);
  return `${where}snapshot ${id}, ${commitKind.toLowerCase()}${timeMillis ? `, ${moment(timeMillis)}` : ""}${tail}${tags ? `, tags ${tags.join(", ")}` : ""}`;
}

/** @param {Item} item @param {string} rowsAre */
function cardOf(item, rowsAre) {
  const { point, group, branch, gap } = item;
  const shown = /** @type {any} */ (point ?? group);
  const expired = gap ? `, ${gap} expired before it` : "";
  return card([
    ...(group ? /** @type {[string, string][]} */ ([
      ["snapshots", `${group.firstId} to ${group.lastId}, ${count(group.snapshotCount)} of them${expired}`],
      ["time (UTC)", shown.beginMillis ? `${moment(shown.beginMillis)} to ${moment(shown.endMillis)}` : ""], ["commits", kinds([{ group }])],
    ]) : /** @type {[string, any][]} */ ([
      ["snapshot", `${shown.id}${expired}`], ["branch", branch], ["kind", shown.commitKind.toLowerCase()], ["time (UTC)", moment(shown.timeMillis)],
      ["user", shortId(shown.commitUser ?? "")], ["identifier", shown.commitIdentifier === undefined ? "batch" : count(shown.commitIdentifier)],
      ["files", shown.addedFileCount === undefined ? "" : `+${count(shown.addedFileCount)}${shown.deletedFileCount ? ` -${count(shown.deletedFileCount)}` : ""}`], ["manifests", count(shown.manifestCount)],
    ])),
    ["rows", rowsOf(item)], [rowsAre === "rows" ? "rows in all" : rowsAre, count(shown.totalRecordCount)],
    ["changelog rows", shown.changelogRecordCount ? count(shown.changelogRecordCount) : ""],
    ["live files", count(shown.fileCount)], ["size", bytes(shown.fileBytes)],
    ["schema", `${shown.schemaId}${shown.isNewSchema ? ", new here" : shown.newSchemas ? `, new here: ${shown.newSchemas.join(", ")}` : ""}`],
    ["tags", named(shown.tags)], ["read next by", named(shown.consumers)], ["watermark (UTC)", moment(shown.watermarkMillis)],
  ]);
}

/** @param {Record<string, number> | string[] | undefined} places */
function named(places) {
  return Array.isArray(places) ? places.join(", ") : Object.entries(places ?? {}).map(([name, id]) => `${name} (${id})`).join(", ");
}

/** @param {string} name */
function shortened(name) {
  const all = [...name];
  return all.length > 40 ? `${all.slice(0, 39).join("")}…` : name;
}

/** What has no place on the line. @param {Timeline} view */
function othersOf({ otherTags, otherConsumers }) {
  return [["tags of expired snapshots", otherTags], ["consumers whose next snapshot does not exist", otherConsumers]]
    .filter(([, places]) => Object.keys(places).length)
    .map(([what, places]) => h("p", { class: "faint" }, `${what}: ${named(/** @type {any} */ (places))}`));
}
