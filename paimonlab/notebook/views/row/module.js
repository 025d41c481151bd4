// @ts-check
import { ago, areNumbers, breaking, card, copyButton, count, empty, frame, grid, h, many, moment, valueText } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").RowLife} RowLife */
/** @typedef {import("../../display/browser/views").RowStep} RowStep */
/** @typedef {import("../../display/browser/host").Context<RowLife>} RowContext */

const MOST_COLUMNS = 8;

/** @param {RowContext} context */
export function render({ data, el, host }) {
  const { table, where, columns, steps, lookedAt, olderCount } = data.view;
  const isOlder = steps[0]?.what === "present";
  const older = isOlder && realOf(steps).length ? `; there ${whereOf(steps[0])}: ${steps[0].unknown}` : olderCount && !isOlder ? `, ${count(olderCount)} older were not` : "";
  const note = lookedAt ? `${many(lookedAt, "snapshot")} read${older}` : "";
  const { body, say, stop } = frame(el, { title: `${table}: the row where ${where}`, note, headline: steps.length ? headlineOf(steps) : "", css: ".changed { background: var(--chosen); color: inherit; font-weight: bold; padding: 0 3px; border-radius: 3px; }" });
  if (!lookedAt) {
    body.append(empty("Nothing was written to it yet. The first rows are added by", `INSERT INTO ${table} VALUES …`));
    return stop;
  }
  if (!steps.length) {
    body.append(empty("No snapshot that was read has such a row. To see what keys there are", `SELECT * FROM ${table} LIMIT 10`));
    return stop;
  }
  /** @type {number | undefined} */
  let chosen;
  const details = h("div");
  const shown = [...steps].reverse();
  const hasTimes = steps.some((step) => step.timeMillis !== null);
  const places = placesOf(columns, steps);
  const hidden = columns.length - places.length;
  const isChanged = (/** @type {string} */ name) => steps.some(({ changed }) => changed.includes(name));
  const heads = [
    { name: "snapshot", right: true }, ...(hasTimes ? [{ name: "time (UTC)", text: moment }] : []), { name: "what" },
    ...places.map((at) => ({ name: columns[at], less: isChanged(columns[at]) ? 0 : 760, right: areNumbers(shown.map(({ values }) => values[at])), text: (/** @type {any} */ value, /** @type {any[]} */ row) => valueOf(value, row[row.length - 1].changed.includes(columns[at])) })),
    { name: "tags", optional: true, less: 620, prose: 90, text: breaking }, { name: "files", less: 1000 },
  ];
  const rows = shown.map((step) => [
    step.snapshotId, ...(hasTimes ? [step.timeMillis] : []), whatOf(step),
    ...places.map((at) => (step.values.length ? step.values[at] : "")), step.tags.join(", "), filesOf(step), step,
  ]);
  /** @param {RowStep | undefined} step */
  const choose = (step) => {
    if (!step) return;
    chosen = step.snapshotId;
    drawn.draw();
    details.replaceChildren(card([
      ["snapshot", step.snapshotId], ["kind", step.commitKind.toLowerCase()], ["what", step.unknown ? `${whatOf(step)}: ${step.unknown}` : step.what], ["changed", step.changed.join(", ")], ["tags", step.tags.join(", ")],
      ...step.files.slice(0, 20).map(({ name, level, place }, at) => /** @type {[string, string]} */ ([`file ${at + 1}`, `${level === null ? "" : `level ${level}, `}${place}${name && `, ${name}`}`])),
      ...columns.map((name, at) => /** @type {[string, string]} */ ([name, step.values.length ? step.values[at] ?? "NULL" : ""])),
    ]), copyButton("copy the query", () => `SELECT * FROM ${table} VERSION AS OF ${step.snapshotId} WHERE ${where}`, say));
    say(`snapshot ${step.snapshotId}, ${whatOf(step)}`);
  };
  const drawn = grid({ heads, rows, label: "steps", selected: ([id]) => id === chosen, onChoose: ([id]) => {
    choose(steps.find((step) => step.snapshotId === id));
    host.select({ snapshot: id });
  } });
  body.append(drawn.element, hidden ? h("p", { class: "faint" }, `${many(hidden, "more column")}, shown here if they change; a step has all`) : "", details);
  const quiet = host.onSelect(({ snapshot }) => choose(steps.find((step) => step.snapshotId === snapshot)));
  return () => {
    quiet();
    stop();
  };
}

/** Columns that tell something: all of few, else the first and those that changed. @param {readonly string[]} columns @param {readonly RowStep[]} steps */
function placesOf(columns, steps) {
  const changed = new Set(steps.flatMap((step) => step.changed));
  const places = columns.map((_, at) => at);
  return (columns.length <= MOST_COLUMNS ? places : places.filter((at) => !at || changed.has(columns[at]))).slice(0, MOST_COLUMNS);
}

/** What became of it. @param {readonly RowStep[]} steps */
function headlineOf(steps) {
  const real = realOf(steps);
  const last = real[real.length - 1];
  if (!last && steps[0].what === "present") return `No change in what was read: there ${whereOf(steps[0])}; ${steps[0].unknown}`;
  if (!last) return "There is no such row in the tags that were read";
  const when = last.timeMillis === null ? "" : `, ${ago(last.timeMillis)}`;
  return `${many(real.length, "change")}${real.length === 1 ? ": " : "; last "}${last.what} ${whereOf(last)}${last.changed.length ? ` (${last.changed.join(", ")})` : ""}${when}`;
}

/** The steps that changed it. @param {readonly RowStep[]} steps */
const realOf = (steps) => steps.filter(({ what }) => /inserted|updated|deleted/.test(what));

/** Which snapshot did it, as far as it is known. @param {RowStep} step */
function whereOf({ snapshotId, earliestId, what }) {
  if (what === "present") return `since snapshot ${snapshotId} or before`;
  return earliestId === snapshotId ? `in snapshot ${snapshotId}` : `between snapshots ${earliestId - 1} and ${snapshotId}`;
}

/** What was done, and which snapshots may have done it if it is not this one. @param {RowStep} step */
function whatOf({ snapshotId, earliestId, unknown, what }) {
  if (what === "present") return "present by then";
  return unknown ? `${what} between ${earliestId - 1} and ${snapshotId}` : what;
}

/** A value; one that this snapshot changed stands out. @param {any} value @param {boolean} isChanged */
function valueOf(value, isChanged) {
  const shown = valueText(value);
  return isChanged ? h("span", { class: "changed", title: "changed here" }, shown) : shown;
}

/** @param {RowStep} step */
function filesOf({ files }) {
  const levels = [...new Set(files.flatMap(({ level }) => (level === null ? [] : [level])))].sort((left, right) => left - right);
  return files.length ? [many(files.length, "file"), ...levels.map((level) => `level ${level}`)].join(", ") : "";
}
