// @ts-check
import { COLOURS, ago, barKey, bytes, card, copyButton, count, empty, frame, grid, h, legend, many, moment, s } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").IngestJobs} IngestJobs */
/** @typedef {import("../../display/browser/views").IngestEntry} IngestEntry */
/** @typedef {import("../../display/browser/views").IngestTable} IngestTable */
/** @typedef {import("../../display/browser/host").Context<IngestJobs>} IngestContext */

const TICK_MILLIS = 5000;
const BARS = { left: 64, top: 14, height: 72, step: 12 };
const PHASES = /** @type {Record<string, string>} */ ({
  idle: "has not begun", starting: "starts", snapshot: "reads the rows that tables have", stream: "reads changes", "caught up": "has read all there is", paused: "is paused",
  stopped: "is stopped", interrupted: "was interrupted", failed: "failed", noted: "does not run here",
});
const CSS = `
figure { margin: 0 0 8px; } figcaption { font-weight: bold; padding: 4px 0; }
`;

/** @param {IngestContext} context */
export function render({ data, el, host }) {
  let view = data.view;
  let chosen = view.isOne ? view.jobs[0]?.name : undefined;
  const { body, say, stop } = frame(el, { title: titleOf(view), headline: headlineOf(view), css: CSS });
  const headline = /** @type {HTMLElement} */ (body.previousElementSibling);
  const buttons = h("div", { class: "row" });
  const list = h("div");
  const details = h("div");

  /** Ask the kernel, and show what it answers. @param {Record<string, unknown>} request @param {string} said */
  const ask = async (request, said) => {
    try {
      const reply = await host.ask?.(request);
      if (!reply) {
        say("there is no kernel to ask");
        return;
      }
      view = reply.view;
      show();
      say(said);
    } catch (error) {
      say(/** @type {Error} */ (error).message);
    }
  };
  /** @param {IngestEntry} job */
  const steering = (job) => [
    job.isRunning && host.ask && h("button", { onclick: () => ask({ stop: job.name }, `stopped ${job.name}`) }, `■ stop ${job.name}`),
    job.isRunning && host.ask && (job.phase === "paused"
      ? h("button", { onclick: () => ask({ resume: job.name }, `${job.name} goes on`) }, "▶ resume")
      : h("button", { onclick: () => ask({ pause: job.name }, `${job.name} pauses after its epoch`) }, "⏸ pause")),
    host.ask && h("button", { onclick: () => ask({}, "as it is now") }, "refresh"),
    job.isRunning && copyButton(`copy %paimon_ingest ${job.name} stop`, () => `%paimon_ingest ${job.name} stop`, say),
    job.error && copyButton("copy the error", () => job.error ?? "", say),
  ];
  const show = () => {
    tick();
    if (!view.jobs.length) {
      buttons.replaceChildren();
      list.replaceChildren(empty("No job was started yet", "CREATE TABLE IF NOT EXISTS ods.orders AS TABLE shop.db.orders"));
      details.replaceChildren();
      return;
    }
    if (view.isOne) {
      buttons.replaceChildren(...steering(view.jobs[0]).filter((one) => one instanceof HTMLElement));
      list.replaceChildren(...oneOf(view.jobs[0]));
      return;
    }
    const made = grid({
      label: "jobs",
      heads: [
        { name: "job" }, { name: "state", text: stateOf }, { name: "source", prose: 200 }, { name: "rows", right: true, text: count }, { name: "rows/s", right: true, text: rateOf, optional: true },
        { name: "lag", right: true, text: lagOf, optional: true }, { name: "behind", right: true, optional: true }, { name: "last commit (UTC)", text: moment, optional: true },
      ],
      rows: view.jobs.map((job) => [job.name, job.phase, job.source, job.rows, job.rowsPerSecond, job.lagMillis, behindOf(job), job.committedMillis]),
      selected: ([name]) => name === chosen,
      onChoose: ([name]) => {
        chosen = name;
        made.draw();
        choose();
        say(`job ${name}`);
      },
    });
    list.replaceChildren(made.element);
    choose();
  };
  const choose = () => {
    const job = view.jobs.find(({ name }) => name === chosen);
    if (!job) return;
    details.replaceChildren(
      card([["job", job.name], ["epoch", count(job.epoch)], ["position", job.position], ["error", job.error && h("span", { class: "error" }, job.error)]]),
      h("div", { class: "row" }, ...steering(job), copyButton(`copy %paimon_ingest ${job.name}`, () => `%paimon_ingest ${job.name}`, say)),
    );
  };
  const tick = () => headline.replaceChildren(headlineOf(view));
  body.append(buttons, list, details);
  show();
  const timer = window.setInterval(() => view.isOne && view.jobs[0]?.isRunning && tick(), TICK_MILLIS);
  return Object.assign(
    () => {
      window.clearInterval(timer);
      stop();
    },
    {
      /** Draw what is new; what was chosen stays. @param {IngestJobs} now */
      update(now) {
        const before = view.jobs[0];
        view = now;
        show();
        const job = view.jobs[0];
        if (view.isOne && job && (job.phase !== before?.phase || job.error !== before?.error)) say(sentenceOf(job));
      },
    },
  );
}

/** @param {IngestJobs} view */
function titleOf({ jobs, isOne }) {
  return isOne && jobs.length ? `${jobs[0].name} from ${jobs[0].source}` : "ingest jobs";
}

/** @param {IngestJobs} view */
function headlineOf({ jobs, isOne }) {
  if (isOne && jobs.length) return sentenceOf(jobs[0]) + (jobs[0].committedMillis === null ? "" : `, last commit ${ago(jobs[0].committedMillis)}`);
  const running = jobs.filter((job) => job.isRunning).length;
  return jobs.length ? `${many(running, "job")} of this process ${running === 1 ? "runs" : "run"}` : "No jobs";
}

/** @param {IngestEntry} job */
function sentenceOf(job) {
  const stopped = job.tables.filter((table) => table.stopped !== null).length;
  const read = job.snapshotRows !== null && `${count(job.snapshotRows)}${job.snapshotTotal === null ? "" : ` of about ${count(job.snapshotTotal)}`} read`;
  const said = [
    many(job.rows, "row"), read, job.rowsPerSecond && `${count(Math.round(job.rowsPerSecond))} rows a second`, job.behind && `${behindOf(job)} behind`,
    job.lagMillis !== null && `${lagOf(job.lagMillis)} lag`, job.dead && `${many(job.dead, "row")} set aside`, stopped && `${many(stopped, "table")} stopped`,
  ].filter(Boolean);
  return `${job.name} ${PHASES[job.phase] ?? job.phase}: ${said.join(", ")}`;
}

/** @param {IngestEntry} job @returns {HTMLElement[]} */
function oneOf(job) {
  const tables = job.tables.length
    ? grid({
        label: "tables",
        heads: [
          { name: "table" }, { name: "from", prose: 160 }, { name: "rows", right: true, text: count }, { name: "rows/s", right: true, text: rateOf, optional: true },
          { name: "snapshot", right: true, text: count, optional: true }, { name: "stopped", prose: 260, optional: true, text: (/** @type {string | null} */ reason) => reason && h("span", { class: "error" }, reason) },
          { name: "skipped", right: true, text: count, optional: true },
        ],
        rows: job.tables.map((table) => [table.name, table.sources.join(", "), table.rows, table.rowsPerSecond, table.snapshotId, table.stopped, table.skipped || null]),
      }).element
    : empty("Tables are shown when the job has looked at its source");
  const waiting = job.pendingRows ? `${many(job.pendingRows, "row")}${job.pendingBytes ? ` of ${bytes(job.pendingBytes)}` : ""} wait for their commit` : "";
  const events = job.events.length && grid({
    caption: "what happened",
    heads: [{ name: "time (UTC)", text: moment, optional: true }, { name: "event" }, { name: "table", optional: true }, { name: "what happened", prose: true }, { name: "columns", prose: 200, optional: true }],
    rows: job.events.map((event) => [event.atMillis, event.what, event.table, event.text, event.columns]),
  }).element;
  return [
    ...job.warnings.map((warning) => h("p", { class: "faint" }, `warning: ${warning}`)), job.error && h("p", { class: "error" }, job.error),
    job.commits.length > 1 && commitsOf(job), tables, h("p", { class: "faint" }, [`epoch ${count(job.epoch)}`, waiting].filter(Boolean).join(", ")), events,
  ].filter((part) => part instanceof HTMLElement);
}

/** The rows of the newest commits as bars. @param {IngestEntry} job */
function commitsOf({ commits }) {
  const largest = Math.max(1, ...commits.map(({ rows }) => rows));
  const foot = BARS.top + BARS.height;
  const bars = commits.map(({ rows }, at) => {
    const height = rows && Math.max(1, (BARS.height * rows) / largest);
    return s("rect", { x: BARS.left + at * BARS.step + 1, y: foot - height, width: BARS.step - 2, height, fill: COLOURS.blue });
  });
  const sum = commits.reduce((all, { rows }) => all + rows, 0);
  const label = `rows of ${many(commits.length, "commit")}: ${count(sum)} in all, at most ${count(largest)} in one`;
  return h("figure", {}, h("figcaption", {}, "rows of each commit"),
    s("svg", { width: BARS.left + commits.length * BARS.step + 8, height: foot + 8, role: "img", "aria-label": label },
      s("path", { d: `M${BARS.left - 4} ${foot}H${BARS.left + BARS.step * commits.length + 4}`, stroke: COLOURS.grey }),
      s("text", { x: BARS.left - 8, y: BARS.top + 8, "text-anchor": "end", "font-size": 11 }, count(largest)), ...bars),
    legend([barKey(COLOURS.blue), `epochs ${count(commits[0].epoch)} to ${count(commits[commits.length - 1].epoch)}`]));
}

/** @param {string} phase */
function stateOf(phase) {
  return h("span", { class: phase === "failed" ? "error" : ["stream", "caught up", "snapshot"].includes(phase) ? "ok" : "faint" }, phase);
}

/** @param {number | null} rate */
function rateOf(rate) {
  return rate === null ? "" : count(Math.round(rate));
}

/** @param {number | null} millis */
function lagOf(millis) {
  return millis === null ? "" : `${(millis / 1000).toFixed(1)} s`;
}

/** @param {IngestEntry} job */
function behindOf({ behind, behindUnit }) {
  if (behind === null) return "";
  if (behindUnit === "bytes") return bytes(behind);
  return `${count(behind)} ${behind === 1 && behindUnit.endsWith("s") ? behindUnit.slice(0, -1) : behindUnit}`;
}
