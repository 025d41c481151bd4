// @ts-check
import { card, copyButton, count, frame, grid, h } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").Doctor} Doctor */
/** @typedef {import("../../display/browser/views").Check} Check */
/** @typedef {import("../../display/browser/host").Context<Doctor>} DoctorContext */

const VERDICTS = /** @type {Record<string, string>} */ ({ error: "✖ error", warning: "▲ warning", info: "● info", ok: "✔ ok" });
const VERDICT_ORDER = Object.keys(VERDICTS);

/** @param {DoctorContext} context */
export function render({ data, el }) {
  const { checks } = data.view;
  const wrong = checks.filter(({ status }) => status === "error" || status === "warning");
  const note = wrong.length ? `${count(wrong.length)} of ${count(checks.length)} need help` : "Everything is in order";
  const { body, say, stop } = frame(el, { title: "this machine", headline: wrong.length ? note : `✔ ${note}` });
  const details = h("div");
  const chosen = new Set(VERDICT_ORDER);
  const list = h("div");

  /** @param {Check} check */
  const show = (check) => {
    details.replaceChildren(
      card([["what", check.name], ["verdict", VERDICTS[check.status]], ["found", check.found], ["what to do", check.fix ? h("code", {}, check.fix) : "nothing"]]),
      h("div", { class: "row" }, Boolean(check.fix) && copyButton("copy what to do", () => check.fix ?? "", say)));
    say(`${check.name}: ${VERDICTS[check.status]}${check.fix ? `; ${check.fix}` : ""}`);
  };
  const draw = () => {
    const shown = checks.filter(({ status }) => chosen.has(status));
    list.replaceChildren(grid({
      label: "what was checked",
      heads: [{ name: "what" }, { name: "verdict", text: (place) => h("span", { class: VERDICT_ORDER[place] }, VERDICTS[VERDICT_ORDER[place]]) }, { name: "found", prose: 160 }, { name: "what to do", prose: 160, optional: true }],
      rows: shown.map((check) => [check.name, VERDICT_ORDER.indexOf(check.status), check.found, check.fix, check]),
      onChoose: (row) => show(row[4]),
    }).element);
  };
  const filters = VERDICT_ORDER.map((status) => {
    const many = checks.filter((check) => check.status === status).length;
    const button = h("button", { "aria-pressed": "true", onclick: () => {
      if (!chosen.delete(status)) chosen.add(status);
      button.setAttribute("aria-pressed", String(chosen.has(status)));
      draw();
      say(`${many} of verdict ${status} ${chosen.has(status) ? "shown" : "hidden"}`);
    } }, `${VERDICTS[status]} ${many}`);
    return checks.length >= 10 && many > 0 && button;
  });
  const fixes = wrong.map(({ name, fix }) => `# ${name}\n${fix ?? ""}`).join("\n");
  draw();
  body.append(h("div", { class: "row", role: "group", "aria-label": "verdicts" }, ...filters, wrong.length > 1 && copyButton("copy all advice", () => fixes, say)), list, details);
  if (wrong.length) show(wrong[0]);
  return stop;
}
