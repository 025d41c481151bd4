// @ts-check
import { bytes, card, copyButton, count, empty, frame, grid, h, many } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").StreamList} StreamList */
/** @typedef {import("../../display/browser/views").StreamEntry} StreamEntry */
/** @typedef {import("../../display/browser/host").Context<StreamList>} StreamsContext */

const SIGNS = { running: "▶", ended: "■", failed: "✖" };

/** @param {StreamsContext} context */
export function render({ data, el, host }) {
  let view = data.view;
  const { body, say, stop } = frame(el, { title: "streams", headline: headlineOf(view) });
  const list = h("div");
  const details = h("div");
  let chosen = view.streams.length === 1 ? view.streams[0].id : "";

  /** Ask the kernel, and show what it answers. @param {Record<string, unknown>} request @param {string} said */
  const ask = async (request, said) => {
    try {
      const reply = await host.ask?.(request);
      if (!reply) return;
      view = reply.view;
      show();
      say(said);
    } catch (error) {
      say(/** @type {Error} */ (error).message);
    }
  };
  const show = () => {
    const headline = /** @type {HTMLElement | null} */ (body.previousElementSibling);
    headline?.replaceChildren(headlineOf(view));
    if (!view.streams.length) {
      list.replaceChildren(empty("No stream was started yet", "%%paimon --stream"));
      return;
    }
    const heads = [
      { name: "name" },
      { name: "state", text: (/** @type {StreamEntry["state"]} */ state) => h("span", { class: state === "failed" ? "error" : state === "running" ? "ok" : "faint" }, `${SIGNS[state]} ${state}`) },
      { name: "source" }, { name: "sink" }, { name: "batch", right: true, text: count }, { name: "rows", right: true, text: count },
      { name: "rows/s", right: true, text: (/** @type {number | null} */ speed) => (speed === null ? "" : count(Math.round(speed))) }, { name: "behind" },
    ];
    const made = grid({ label: "streams", heads, selected: (cells) => cells[heads.length] === chosen,
      rows: view.streams.map((stream) => [stream.name, stream.state, stream.source, stream.sink, stream.batch, stream.rows, stream.rowsPerSecond, behindOf(stream), stream.id]),
      onChoose: (cells) => {
        chosen = cells[heads.length];
        made.draw();
        choose();
        say(`stream ${cells[0]}, ${cells[1]}`);
      } });
    list.replaceChildren(made.element);
    if (view.newest?.rows.length) {
      list.append(grid({ caption: "newest rows", heads: view.newest.columns.map((name) => ({ name })), rows: view.newest.rows.map((row) => [...row]) }).element);
    }
    choose();
  };
  const choose = () => {
    const stream = view.streams.find(({ id }) => id === chosen);
    if (!stream) return;
    const isRunning = stream.state === "running";
    details.replaceChildren(
      card([["stream", stream.name], ["behind", behindOf(stream)], ["watermark", stream.watermark], ["remembers", rememberedOf(stream)], ["error", stream.error && h("span", { class: "error" }, stream.error)]]),
      h("div", { class: "row" },
        isRunning && host.ask && h("button", { onclick: () => ask({ stop: stream.id }, `stopped ${stream.name}`) }, `■ stop ${stream.name}`),
        isRunning && copyButton("copy %paimon_streams --stop", () => `%paimon_streams --stop ${stream.name}`, say),
        stream.error && copyButton("copy the error", () => stream.error ?? "", say)),
    );
  };
  body.append(list, details, h("div", { class: "row" }, host.ask && h("button", { onclick: () => ask({}, "as it is now") }, "refresh")));
  show();
  return stop;
}

/** @param {StreamList} view */
function headlineOf({ streams }) {
  const of = (/** @type {StreamEntry["state"]} */ state) => streams.filter((stream) => stream.state === state).length;
  const running = of("running");
  const failed = of("failed");
  const said = [running && `${many(running, "stream")} ${running === 1 ? "runs" : "run"}`, failed && `${count(failed)} failed`, of("ended") && `${count(of("ended"))} ended`].filter(Boolean);
  return said.join(", ") || "No streams";
}

/** @param {StreamEntry} stream */
function behindOf({ snapshotsBehind, millisBehind }) {
  if (snapshotsBehind === null) return "";
  if (snapshotsBehind === 0) return "nothing";
  return `${many(snapshotsBehind, "snapshot")}${millisBehind === null ? "" : `, ${(millisBehind / 1000).toFixed(1)} s`}`;
}

/** @param {StreamEntry} stream */
function rememberedOf({ stateRows, stateBytes }) {
  return stateRows === null ? "" : `${many(stateRows, "row")}${stateBytes === null ? "" : `, ${bytes(stateBytes)}`}`;
}
