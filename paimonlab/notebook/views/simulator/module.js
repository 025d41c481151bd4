// @ts-check
import { bytes, COLOURS, count, empty, frame, h, legend, many, s, slider, swatch, whenSized } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").Simulator} Simulator */
/** @typedef {import("../../display/browser/views").Simulation} Simulation */
/** @typedef {import("../../display/browser/host").Context<Simulator>} SimulatorContext */

const SIMULATOR_CHART = { least: 170, most: 420, height: 130, left: 34, top: 22, bottom: 20 };
const SIMULATOR_CURVES = /** @type {{name: string, colour: string, curve: (simulation: Simulation) => number[]}[]} */ ([
  { name: "write amplification", colour: COLOURS.blue, curve: (simulation) => simulation.writeCurve },
  { name: "sorted runs to merge", colour: COLOURS.blue, curve: (simulation) => simulation.readCurve },
  { name: "space amplification", colour: COLOURS.blue, curve: (simulation) => simulation.spaceCurve },
]);

const SIMULATOR_CSS = `
.sliders { display: grid; grid-template-columns: minmax(0, max-content) max-content 1fr; gap: 4px 8px; align-items: center; } .sliders label { display: contents; }
`;

/** @param {SimulatorContext} context */
export function render({ data, el, host }) {
  const view = data.view;
  const title = `${view.table ? `${view.table}: ` : ""}simulated compactions`;
  if (!view.simulations.length) {
    const { body, stop } = frame(el, { title });
    body.append(empty("Nothing was written to it yet. What is replayed here is written by", `INSERT INTO ${view.table} VALUES …`));
    return stop;
  }
  const { body, say, stop } = frame(el, { title, note: `${view.history}, ${bytes(view.flushedBytes)}`, css: SIMULATOR_CSS, headline: headlineOf(simulatorAt(view, view.sliders.map((slider) => slider.own))) });
  const chosen = view.sliders.map((slider) => slider.own);
  const charts = h("div", { class: "row", style: "align-items:flex-start" });
  const table = h("div");
  const own = simulatorAt(view, chosen);

  let drawn = own;
  let room = 840;
  const paint = () => {
    const { least, most } = SIMULATOR_CHART;
    const columns = Math.max(1, Math.min(SIMULATOR_CURVES.length, Math.floor(room / least)));
    const width = Math.min(most, Math.floor((room - 8 * (columns - 1)) / columns));
    charts.replaceChildren(...SIMULATOR_CURVES.map((curve) => simulatorChart(view, curve, drawn, own, width)));
  };
  /** @param {Simulation} shown @param {string} name @param {boolean} aloud */
  function show(shown, name, aloud) {
    drawn = shown;
    paint();
    const isOwn = shown === own;
    keys.style.display = isOwn ? "none" : "";
    back.disabled = isOwn;
    table.replaceChildren(simulatorTable(shown, own, isOwn ? "own options" : name));
    if (aloud) say(`${name}: ${simulatorWords(shown)}`);
  }
  const name = () => view.sliders.map((slider, at) => `${slider.option} = ${slider.values[chosen[at]]}`).join(", ");
  const sliders = view.sliders.map((option, at) => slider({
    label: option.option, max: option.values.length - 1, value: option.own,
    text: (place) => `${option.values[place]}${place === option.own ? " (own)" : ""}`,
    onMove: (place) => {
      chosen[at] = place;
      show(simulatorAt(view, chosen), name(), true);
    },
  }));
  const back = h("button", { onclick: () => {
    sliders.forEach((slider, at) => slider.move(view.sliders[at].own));
    sliders[0].input.focus(); // the button is off now
  } }, "own options");
  const keys = legend(chartKey(COLOURS.blue, "chosen"), chartKey("#888", "own options", "4 3"));
  body.append(h("div", {}, h("div", { class: "sliders" }, ...sliders.map((slider) => slider.element)), h("div", { class: "row" }, back)), charts, keys, table, ...simulatorForm());
  body.append(h("p", { class: "legend" }, `${view.simulations.length} settings were computed for the sliders${host.ask ? "; any other values are replayed by the kernel" : "; with a kernel any values can be computed"}. Picks are those of the real picker, one after each flush; what a rewrite yields is estimated from sizes, row counts and key ranges, deletes are left out. ${view.notes.join(" ")}`));

  /** Ask the kernel for any options. */
  function simulatorForm() {
    const { ask } = host;
    if (!ask) return [];
    const input = h("input", { type: "text", size: 60, "aria-label": "table options", value: view.sliders.map((slider) => `${slider.option}=${slider.values[slider.own]}`).join(" ") });
    const run = async () => {
      try {
        const asked = Object.fromEntries(input.value.split(/[\s,]+/).filter(Boolean).map((pair) => {
          const [key, ...rest] = pair.split("=");
          if (!rest.length) throw new Error(`not KEY=VALUE: ${pair}`);
          return [key, rest.join("=")];
        }));
        show(/** @type {Simulation} */ (/** @type {unknown} */ (await ask({ options: asked }))), input.value, true);
      } catch (error) {
        say(error instanceof Error ? error.message : String(error));
      }
    };
    input.addEventListener("keydown", (event) => event.key === "Enter" && run());
    return [h("div", { class: "row" }, h("label", {}, "any options ", input), h("button", { onclick: run }, "replay"))];
  }

  const unsized = whenSized(body, (now) => {
    room = now;
    paint();
  });
  show(own, name(), false);
  say(`own options: ${simulatorWords(own)}`);
  return () => {
    unsized();
    stop();
  };
}

/** A line as the charts have it. @param {string} stroke @param {string} words @param {string} [dashes] @returns {[SVGElement, string]} */
function chartKey(stroke, words, dashes) {
  return [swatch(s("path", { d: "M0 7H14", stroke, "stroke-width": 2.5, "stroke-dasharray": dashes })), words];
}

/** @param {Simulator} view @param {number[]} chosen */
function simulatorAt(view, chosen) {
  return view.simulations[view.sliders.reduce((place, option, at) => place * option.values.length + chosen[at], 0)];
}

/** @param {Simulation} own with the options of the table */
function headlineOf({ writeAmplification, readAmplification, mostRuns, stopCount }) {
  const wait = stopCount ? `; ${many(stopCount, "flush", "flushes")} would wait` : "";
  return `With its own options each byte is written ${someOf(writeAmplification, "time")}, a reader merges ${someOf(readAmplification, "sorted run")} on average, ${count(mostRuns)} at most${wait}`;
}

/** @param {number} value @param {string} what */
function someOf(value, what) {
  return `${amount(value)} ${what}${value === 1 ? "" : "s"}`;
}

/** Two digits after the point, none of a whole number. @param {number} value */
function amount(value) {
  return Number.isInteger(value) ? count(value) : value.toFixed(2);
}

/** @param {Simulation} simulation */
function simulatorWords(simulation) {
  return `write amplification ${amount(simulation.writeAmplification)}, ${someOf(simulation.readAmplification, "sorted run")} on average and ${simulation.mostRuns} at most, space amplification ${amount(simulation.spaceAmplification)}, ${many(simulation.compactionCount, "compaction")}, ${many(simulation.stopCount, "flush", "flushes")} would wait`;
}

/** @param {Simulator} view @param {{name: string, colour: string, curve: (simulation: Simulation) => number[]}} what @param {Simulation} shown @param {Simulation} own @param {number} width */
function simulatorChart(view, { name, colour, curve }, shown, own, width) {
  const { height, left, top, bottom } = SIMULATOR_CHART;
  const most = Math.max(1, ...curve(shown), ...curve(own));
  /** @param {number[]} values */
  const line = (values) => values.map((value, at) =>
    `${(left + ((width - left - 8) * at) / Math.max(values.length - 1, 1)).toFixed(1)},${(top + height * (1 - value / most)).toFixed(1)}`).join(" ");
  const last = curve(shown)[curve(shown).length - 1];
  return s("svg", { width, height: top + height + bottom, role: "img", "aria-label": `${name}: ${last} after ${view.flushCount} flushes, at most ${Math.max(...curve(shown))}; own options ${curve(own)[curve(own).length - 1]}` },
    s("text", { x: 0, y: 13, "font-size": 11, "font-weight": "bold" }, `${name} ${amount(last)}`),
    s("path", { d: `M${left} ${top}V${top + height}H${width - 8}`, stroke: "#888", fill: "none" }),
    s("text", { x: left - 4, y: top + 8, "font-size": 10, "text-anchor": "end" }, amount(most)),
    s("text", { x: left - 4, y: top + height, "font-size": 10, "text-anchor": "end" }, "0"),
    s("text", { x: left, y: top + height + 14, "font-size": 10 }, `1 to ${count(view.flushCount)} flushes`),
    s("polyline", { points: line(curve(own)), fill: "none", stroke: "#888", "stroke-width": 1.5, "stroke-dasharray": "4 3" }),
    s("polyline", { points: line(curve(shown)), fill: "none", stroke: colour, "stroke-width": 2.5 }));
}

/** @param {Simulation} shown @param {Simulation} own @param {string} name */
function simulatorTable(shown, own, name) {
  const rows = /** @type {[string, (simulation: Simulation) => string | number][]} */ ([
    ["bytes written per byte flushed", (simulation) => simulation.writeAmplification.toFixed(2)],
    ["sorted runs a reader merges, on average", (simulation) => simulation.readAmplification.toFixed(2)],
    ["bytes per byte if all were merged, at the end", (simulation) => simulation.spaceAmplification.toFixed(2)],
    ["compactions", (simulation) => count(simulation.compactionCount)],
    ["sorted runs before a compaction, at most", (simulation) => simulation.mostRuns],
    ["flushes that would wait (num-sorted-run.stop-trigger)", (simulation) => count(simulation.stopCount)],
  ]);
  const sides = /** @type {[string, Simulation][]} */ (shown === own ? [["own options", own]] : [["chosen", shown], ["own options", own]]);
  return h("div", { class: "scroll" }, shown !== own && h("h4", { "aria-hidden": "true" }, name), h("table", {}, h("caption", { class: "hidden" }, name),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, ""), ...sides.map(([side]) => h("th", { scope: "col", class: "right" }, side)))),
    h("tbody", {}, ...rows.map(([label, write]) => h("tr", {}, h("td", { class: "prose" }, label), ...sides.map(([, one]) => h("td", { class: "right" }, write(one))))))));
}
