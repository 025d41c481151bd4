// @ts-check
// What can be done from the panel: a form, then the plan, then a button that does it.

import { h } from "../../../paimonlab/notebook/display/browser/parts.js";

/**
 * @typedef {{ name: string, label: string, value?: string, choices?: readonly string[], isLong?: boolean, hint?: string }} Field
 * @typedef {{ title: string, doing: string, fields: readonly Field[] }} Form
 */

/** @type {Record<string, Form>} */
export const FORMS = {
  create_database: { title: "New database", doing: "Create", fields: [{ name: "name", label: "name" }] },
  create_table: {
    title: "New table",
    doing: "Create",
    fields: [
      { name: "name", label: "name" },
      { name: "columns", label: "columns: a name and a type per line", isLong: true, hint: "id BIGINT NOT NULL\nname STRING" },
      { name: "primary_key", label: "primary key", hint: "id" },
      { name: "partition", label: "partitioned by" },
      { name: "options", label: "options: key = value per line", isLong: true, hint: "bucket = 4" },
    ],
  },
  compact: { title: "Compact", doing: "Compact", fields: [
    { name: "compact_strategy", label: "strategy", choices: ["full", "minor"] }, { name: "partitions", label: "partitions (all if empty)", hint: "dt=2026-01-01" }] },
  create_tag: { title: "New tag", doing: "Create", fields: [
    { name: "tag", label: "name" }, { name: "snapshot", label: "snapshot (the latest if empty)" }, { name: "time_retained", label: "kept for (for ever if empty)", hint: "30 d" }] },
  delete_tag: { title: "Delete tag", doing: "Delete", fields: [{ name: "tag", label: "name" }] },
  rollback: { title: "Roll back", doing: "Roll back", fields: [{ name: "version", label: "snapshot or tag" }] },
  drop_table: { title: "Drop table", doing: "Drop", fields: [] },
};

/**
 * @param {string} action
 * @param {{ about: string, values?: Record<string, string>, plan: (values: Record<string, string>) => Promise<any>,
 *   begin: (values: Record<string, string>, state: string) => Promise<void>, close: () => void }} what `about` is what it is done to
 */
export function actionForm(action, { about, values = {}, plan, begin, close }) {
  const { title, doing, fields } = FORMS[action];
  const inputs = fields.map((field) => {
    const { name, label, choices, isLong, hint } = field;
    const shared = { name, placeholder: hint, spellcheck: "false", autocomplete: "off" };
    const input = choices ? h("select", { name }, ...choices.map((choice) => h("option", { value: choice }, choice)))
      : isLong ? h("textarea", { ...shared, rows: 4 }) : h("input", shared);
    if (values[name] !== undefined) input.value = values[name];
    input.addEventListener("input", () => forget());
    return { name, input, element: h("label", {}, h("span", {}, label), input) };
  });
  const planned = h("div", { class: "jp-PaimonCatalog-plan", role: "status" });
  const typed = () => Object.fromEntries(inputs.map(({ name, input }) => [name, input.value]).filter(([, value]) => value.trim()));
  const forget = () => planned.replaceChildren();
  /** @param {() => Promise<void>} work */
  const guarded = async (work) => {
    form.setAttribute("aria-busy", "true");
    try {
      await work();
    } catch (reason) {
      planned.replaceChildren(h("p", { class: "jp-mod-problem", role: "alert" }, /** @type {Error} */ (reason).message));
    }
    form.removeAttribute("aria-busy");
  };
  const show = () => guarded(async () => {
    const given = typed();
    planned.replaceChildren("planning …");
    const { sql, summary, changes, state, isDestructive } = await plan(given);
    const button = h("button", { type: "button", class: isDestructive ? "jp-mod-danger" : "jp-mod-do", onclick: () => guarded(async () => {
      button.disabled = true;
      await begin(given, state);
      close();
    }) }, doing);
    planned.replaceChildren(h("p", {}, summary), changes.length ? h("ul", {}, ...changes.map((/** @type {string} */ change) => h("li", {}, change))) : "", h("pre", {}, sql), button);
    button.focus();
  });
  const form = h("form", { class: "jp-PaimonCatalog-form", "aria-label": `${title}: ${about}`, onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    show();
  }, onkeydown: (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape") close();
  } },
    h("h3", {}, title), h("p", { class: "jp-PaimonCatalog-detail" }, about), ...inputs.map(({ element }) => element),
    h("div", { class: "jp-PaimonCatalog-buttons" }, h("button", {}, "Plan"), h("button", { type: "button", onclick: close }, "Cancel")), planned);
  return { element: form, begin: () => (inputs.length ? inputs[0].input.focus() : show()) };
}
