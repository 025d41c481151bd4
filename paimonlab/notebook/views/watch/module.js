// @ts-check
import { COLOURS, KINDS, ago, areNumbers, barKey, bothWays, bytes, commitText, copyButton, count, empty, frame, grid, h, legend, many, moment, s, shortId, valueText, whenSized } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").Watch} Watch */
/** @typedef {import("../../display/browser/views").WatchedCommit} WatchedCommit */
/** @typedef {import("../../display/browser/host").Context<Watch>} WatchContext */

const RATE_MILLIS = 60000;
const TICK_MILLIS = 5000;
const BARS = { left: 64, top: 14, height: 100, most: 50, step: 64 };
const LEVELS = { left: 50, lane: 24, most: 130, letter: 6.5 };
const CSS = `
.figures { display: flex; flex-wrap: wrap; gap: 8px 32px; margin: 0 0 8px; } .figures b { font-size: 15px; font-variant-numeric: tabular-nums; }
.pictures { display: flex; flex-wrap: wrap; gap: 8px 24px; align-items: flex-start; } .pictures figure { margin: 0; } figcaption { font-weight: bold; padding: 4px 0; }
`;

/** @param {WatchContext} context */
export function render({ data, el, host }) {
  let view = data.view;
  /** @type {number | undefined} */
  let chosen;
  const { body, head, say, stop } = frame(el, { title: `${view.table}: watched`, note: " ", headline: " ", css: CSS });
  const note = /** @type {HTMLElement} */ (head.querySelector(".faint"));
  const headline = /** @type {HTMLElement} */ (body.previousElementSibling);
  const figures = h("div", { class: "figures" });
  const pictures = h("div", { class: "pictures" });
  const list = h("div");
  const newest = h("div");
  const code = h("div", { class: "row" });
  const button = h("button", { onclick: () => end() }, "■ stop watching");

  const end = async () => {
    try {
      const reply = await host.ask?.({ stop: true });
      say(reply ? `${view.table}: ${reply.state}` : "interrupt the kernel to stop it");
    } catch (error) {
      say(/** @type {Error} */ (error).message);
    }
  };
  const tick = () => {
    const last = view.commits[view.commits.length - 1];
    headline.replaceChildren(last ? headlineOf(last) : "Nothing was written to it yet");
    figures.replaceChildren(...figuresOf(view).map(([figure, what]) => h("span", {}, h("b", {}, figure), ` ${what}`)));
  };
  const choose = () => {
    code.replaceChildren(...(chosen === undefined ? [] : [copyButton(`copy VERSION AS OF ${chosen}`, () => `SELECT * FROM ${view.table} VERSION AS OF ${chosen}`, say)]));
  };
  const show = () => {
    note.replaceChildren(noteOf(view));
    note.className = view.state === "failed" ? "error" : "faint";
    button.hidden = view.state !== "watching" || !host.ask;
    tick();
    if (!view.commits.length) {
      list.replaceChildren(empty("The first commit is shown when it is there; it is made by", `INSERT INTO ${view.table} VALUES …`));
      return;
    }
    paint();
    const hasTimes = view.commits.some(({ timeMillis }) => timeMillis !== null);
    const hasChangelog = view.commits.some(({ changelogRows }) => changelogRows);
    const hasBytes = view.commits.some(({ addedBytes }) => addedBytes !== null);
    const commits = grid({
      label: "commits",
      heads: [
        { name: "snapshot", right: true }, ...(hasTimes ? [{ name: "time (UTC)", text: moment }] : []), { name: "kind" }, { name: "rows", right: true }, { name: "deleted", right: true, optional: true },
        ...(hasChangelog ? [{ name: "changelog", right: true, less: 700, text: (/** @type {number | null} */ value) => some(value) }] : []), { name: "files", right: true }, ...(hasBytes ? [{ name: "size", right: true, text: bytes }] : []), { name: "user", less: 700, text: shortId },
      ],
      rows: [...view.commits].reverse().map((commit) => [
        commit.snapshotId, ...(hasTimes ? [commit.timeMillis] : []), commit.commitKind.toLowerCase(), some(commit.writtenRows, "+"), some(commit.deletedRows, "-"),
        ...(hasChangelog ? [commit.changelogRows] : []), filesOf(commit), ...(hasBytes ? [commit.addedBytes || null] : []), commit.user,
      ]),
      selected: ([id]) => id === chosen,
      onChoose: ([id]) => {
        chosen = id;
        commits.draw();
        choose();
        say(`snapshot ${id}`);
        host.select({ snapshot: id });
      },
    });
    redraw = commits.draw;
    list.replaceChildren(commits.element);
    newest.replaceChildren(...(view.newest?.rows.length ? [grid({
      caption: `rows of snapshot ${view.newest.snapshotId}`,
      heads: view.newest.columns.map((name, at) => ({ name, label: at ? undefined : "kind", right: areNumbers(view.newest?.rows.map((row) => row[at]) ?? []), text: (/** @type {any} */ value) => valueText(value) })),
      rows: view.newest.rows.map((row) => [...row]),
    }).element] : []));
  };
  let redraw = () => {};
  let width = 840;
  const paint = () => {
    if (!view.commits.length) return;
    const levels = view.hasLevels && view.levels.length ? levelsOf(view) : null;
    const beside = levels ? Number(levels.querySelector("svg")?.getAttribute("width")) + 24 : 0;
    pictures.replaceChildren(commitsOf(view, width - beside > 480 ? width - beside : width), ...(levels ? [levels] : []));
  };
  body.append(h("div", { class: "row" }, button), figures, pictures, list, code, newest);
  show();
  const unsized = whenSized(body, (now) => {
    width = now;
    paint();
  });
  const timer = window.setInterval(() => view.state === "watching" && tick(), TICK_MILLIS);
  const quiet = host.onSelect(({ snapshot }) => {
    if (snapshot === undefined) return;
    chosen = snapshot;
    redraw();
    choose();
  });
  return Object.assign(
    () => {
      window.clearInterval(timer);
      unsized();
      quiet();
      stop();
    },
    {
      /** Draw what is new; what was chosen stays. @param {Watch} now */
      update(now) {
        const last = now.commits[now.commits.length - 1];
        const isNew = last && last.snapshotId !== view.commits[view.commits.length - 1]?.snapshotId;
        view = now;
        show();
        if (isNew) say(sentenceOf(last));
        else if (view.state !== "watching") say(noteOf(view));
      },
    },
  );
}

/** A count with its sign, nothing for none. @param {number | null} number @param {string} [sign] */
function some(number, sign = "") {
  return number ? `${sign}${count(number)}` : "";
}

/** @param {Watch} view */
function noteOf({ state, error, note }) {
  const word = { watching: "● watching", stopped: "■ stopped", failed: "✖ failed" }[state];
  return [word, error, note].filter(Boolean).join(", ");
}

/** @param {WatchedCommit} commit */
function headlineOf(commit) {
  return sentenceOf(commit) + (commit.timeMillis === null ? "" : `, ${ago(commit.timeMillis)}`);
}

/** @param {WatchedCommit} commit */
function sentenceOf(commit) {
  const { snapshotId, commitKind, writtenRows, deletedRows, addedFiles, deletedFiles, user } = commit;
  const merged = commitKind === "COMPACT" ? deletedFiles : undefined;
  return `Snapshot ${snapshotId}: ${commitText({ kind: commitKind, written: writtenRows, deleted: deletedRows, files: addedFiles, merged, user })}`;
}

/** @param {WatchedCommit} commit */
function filesOf({ addedFiles, deletedFiles }) {
  return bothWays(addedFiles, deletedFiles);
}

/** The letters of the kinds that are there. @param {readonly WatchedCommit[]} commits */
function kindsOf(commits) {
  return [...new Set(commits.map(({ commitKind }) => commitKind))].map((kind) => `${KINDS[kind]?.letter ?? "?"} ${kind.toLowerCase()}`).join(", ");
}

/** Figures, and what they are. @param {Watch} view @returns {[string, string][]} */
function figuresOf({ state, commits, levels, rowCount, seenCount, rowsAre }) {
  const files = levels.reduce((sum, { fileCount }) => sum + fileCount, 0);
  const known = /** @type {[string, string][]} */ ([[count(seenCount), `${seenCount === 1 ? "commit" : "commits"} since the watch began`]]);
  const times = commits.flatMap(({ timeMillis }) => (timeMillis === null ? [] : [timeMillis]));
  if (times.length && seenCount) {
    const now = state === "watching" ? Date.now() : Math.max(...times);
    const begin = Math.max(now - RATE_MILLIS, Math.min(...times) - 1);
    const late = commits.filter(({ timeMillis }) => Number(timeMillis) > begin);
    const seconds = Math.max((now - begin) / 1000, 1);
    known.push([rate((60 * late.length) / seconds), "commits a minute"], [rate(late.reduce((sum, { writtenRows }) => sum + writtenRows, 0) / seconds), "rows a second"]);
  }
  known.push([count(files), files === 1 ? "file" : "files"]);
  if (rowCount !== null) known.push([count(rowCount), rowsAre]);
  return known;
}

/** @param {number} value */
function rate(value) {
  return value.toLocaleString("en-US", { maximumFractionDigits: value < 10 ? 1 : 0 });
}

/** The newest commits as bars: rows up, deleted rows down. @param {Watch} view @param {number} width */
function commitsOf({ commits }, width) {
  const shown = commits.slice(-BARS.most);
  const step = Math.min(BARS.step, (width - BARS.left - 8) / Math.max(shown.length, 1));
  const largest = Math.max(1, ...shown.map(({ writtenRows }) => writtenRows));
  const most = Math.max(0, ...shown.map(({ deletedRows }) => deletedRows));
  const scale = (largest + most) / BARS.height;
  const axis = BARS.top + largest / scale;
  const foot = BARS.top + BARS.height;
  const bars = shown.flatMap(({ commitKind, writtenRows, deletedRows, snapshotId }, at) => {
    const x = BARS.left + at * step;
    const { colour, letter } = KINDS[commitKind] ?? KINDS.ANALYZE;
    const up = writtenRows && Math.max(1, writtenRows / scale);
    const down = deletedRows && Math.max(1, deletedRows / scale);
    return [
      up && s("rect", { x: x + 1, y: axis - up, width: step - 2, height: up, fill: colour }),
      down && s("rect", { x: x + 1.5, y: axis, width: step - 3, height: down, fill: "none", stroke: colour }),
      (step >= 13 || commitKind !== "APPEND") && step >= 9 && s("text", { x: x + step / 2, y: foot + 12, "text-anchor": "middle", "font-size": 11 }, letter),
      (at === 0 || at === shown.length - 1) && (at === 0 || step * at > 60) && s("text", { x: x + step / 2, y: foot + 26, "text-anchor": "middle", "font-size": 11 }, String(snapshotId)),
    ].filter((shape) => Boolean(shape));
  });
  const sum = shown.reduce((rows, { writtenRows }) => rows + writtenRows, 0);
  const label = `rows of ${many(shown.length, "commit")}: ${count(sum)} in all, at most ${count(largest)} in one`;
  return h("figure", {}, h("figcaption", {}, "rows of each commit"),
    s("svg", { width: Math.ceil(BARS.left + step * shown.length + 8), height: foot + 32, role: "img", "aria-label": label },
      s("path", { d: `M${BARS.left - 4} ${axis}H${BARS.left + step * shown.length + 4}`, stroke: COLOURS.grey }),
      s("text", { x: BARS.left - 8, y: BARS.top + 8, "text-anchor": "end", "font-size": 11 }, count(largest)),
      axis > BARS.top + 24 && s("text", { x: BARS.left - 8, y: axis + 4, "text-anchor": "end", "font-size": 11 }, "0"),
      most > 0 && foot > axis + 12 && s("text", { x: BARS.left - 8, y: foot, "text-anchor": "end", "font-size": 11 }, `-${count(most)}`), ...bars),
    legend([barKey(COLOURS.blue), "inserted and updated"], most > 0 && [barKey(COLOURS.blue, false), "deleted"], [null, kindsOf(shown)]));
}

/** The levels as bars of their bytes. @param {Watch} view */
function levelsOf({ levels }) {
  const weight = (/** @type {import("../../display/browser/views").WatchedLevel} */ level) => level.fileBytes ?? level.rowCount;
  const largest = Math.max(1, ...levels.map(weight));
  const words = levels.map((level) => `${many(level.fileCount, "file")}, ${many(level.rowCount, "row")}${level.fileBytes === null ? "" : `, ${bytes(level.fileBytes)}`}`);
  const lanes = levels.flatMap((level, at) => {
    const y = at * LEVELS.lane;
    const width = Math.max(2, (LEVELS.most * weight(level)) / largest);
    return [
      s("text", { x: 0, y: y + 15, "font-size": 11 }, `level ${level.level}`),
      s("rect", { x: LEVELS.left, y: y + 3, width, height: LEVELS.lane - 8, fill: level.level === 0 ? COLOURS.orange : COLOURS.blue }),
      s("text", { x: LEVELS.left + width + 8, y: y + 15, "font-size": 11 }, words[at]),
    ];
  });
  const label = levels.map(({ level }, at) => `level ${level}: ${words[at]}`).join("; ");
  return h("figure", {}, h("figcaption", {}, "levels"),
    s("svg", { width: LEVELS.left + LEVELS.most + 16 + Math.max(...words.map(({ length }) => length)) * LEVELS.letter, height: levels.length * LEVELS.lane + 4, role: "img", "aria-label": label }, ...lanes));
}
