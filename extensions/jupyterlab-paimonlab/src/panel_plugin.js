// @ts-check
// The catalog panel in JupyterLab and Notebook 7: its place, commands, tabs of views.

import { MIME } from "./mime.js";
import { catalogPanel } from "./panel.js";
import { panelServer } from "./panel_server.js";
import { PANEL_STYLE } from "./panel_style.js";

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24"><g class="jp-icon3" fill="#616161"><path d="M3 5h18v4H3z"/><path d="M3 10.5h12v4H3z" opacity=".75"/><path d="M3 16h7v4H3z" opacity=".5"/></g></svg>`;
const ID = "paimonlab-catalog";
const OPEN = "paimonlab:open-catalog";
const REFRESH = "paimonlab:refresh-catalog";
const EXPLORE = "paimonlab:explore";
const STORED = "jupyterlab-paimonlab:panel";
const HELD_MILLIS = 2000;
/** Keys that leave the focus in the tree. */
const WALKS = /^(.|Arrow.*|Page.*|Home|End)$/u;

/**
 * @param {{ Widget: any, Menu: any, MainAreaWidget: any, WidgetTracker: any, LabIcon: any, ServerConnection: any }} classes JupyterLab's
 * @param {{ ILabShell: any, ILayoutRestorer: any, INotebookTracker: any, ICommandPalette: any, ILauncher: any, IStateDB: any }} tokens those that it lacks are null
 * @param {any} renderers draws views, as `rendererFactory` makes it
 */
export function panelPlugin(classes, tokens, renderers) {
  const { Widget, Menu, MainAreaWidget, WidgetTracker, LabIcon, ServerConnection } = classes;
  const wanted = /** @type {(keyof typeof tokens)[]} */ (Object.keys(tokens)).filter((name) => tokens[name]);
  return {
    id: STORED,
    description: "A panel of warehouses, their tables, and what can be done with them.",
    autoStart: true,
    optional: wanted.map((name) => tokens[name]),
    /** @param {any} app @param {...any} given */
    activate(app, ...given) {
      const found = /** @type {Record<string, any>} */ (Object.fromEntries(wanted.map((name, at) => [name, given[at]])));
      const { ILabShell: lab, ILayoutRestorer: restorer, INotebookTracker: notebooks, ICommandPalette: palette, ILauncher: launcher, IStateDB: states } = found;
      const style = document.createElement("style");
      style.textContent = PANEL_STYLE;
      document.head.append(style);
      const icon = new LabIcon({ name: "paimonlab:catalog", svgstr: ICON });
      const server = panelServer(ServerConnection);
      const { commands, shell } = app;

      /** @param {string} text */
      const insert = (text) => {
        const cell = notebooks?.activeCell;
        if (cell?.editor?.replaceSelection) {
          shell.activateById(notebooks.currentWidget.id); // where it goes to is seen, also from a view's tab
          cell.editor.replaceSelection(text);
          cell.editor.focus();
          return;
        }
        const copied = navigator.clipboard?.writeText(text) ?? Promise.reject();
        copied.then(() => panel.say("No cell is chosen: copied, to be pasted"), () => panel.say("No cell is chosen to put it into"));
      };
      /** @param {string} text */
      const insertCell = async (text) => {
        if (notebooks?.activeCell?.model.sharedModel.getSource().trim()) await commands.execute("notebook:insert-cell-below");
        insert(text);
      };

      const widget = new Widget();
      widget.id = ID;
      widget.title.icon = icon;
      widget.title.caption = "Paimon catalog";
      widget.node.setAttribute("role", "region");
      widget.node.setAttribute("aria-label", "Paimon catalog");
      /** Open the menu of an entry; `back` moves the focus where it was. @param {[string, () => void][][]} groups @param {number} x @param {number} y @param {() => void} back */
      const openMenu = (groups, x, y, back) => {
        const registry = new commands.constructor();
        const menu = new Menu({ commands: registry });
        groups.forEach((group, at) => {
          if (at) menu.addItem({ type: "separator" });
          group.forEach(([label, execute], place) => {
            const command = `${at} ${place}`;
            registry.addCommand(command, { label, execute });
            menu.addItem({ command });
          });
        });
        menu.aboutToClose.connect(() => {
          back();
          setTimeout(() => menu.dispose());
        });
        if (groups.length) menu.open(x, y);
      };
      const panel = catalogPanel(widget.node, { server, insert, insertCell, menu: openMenu,
        explore: (path, kind, at) => void commands.execute(EXPLORE, { path, kind, at: at ?? null }),
        store: (state) => void states?.save(STORED, state).catch(() => {}) });
      /** @type {Promise<void> | null} */
      let started = null;
      const start = () => (started ??= Promise.resolve(states?.fetch(STORED)).catch(() => null).then((state) => panel.start(state)));
      // Tables are read when the panel is seen first, not whenever JupyterLab starts.
      widget.onAfterShow = start;
      shell.add(widget, "left", { rank: 150, type: "Paimon catalog" });
      restorer?.add(widget, ID);
      app.restored.then(() => widget.isVisible && start());

      /** Focus the panel: JupyterLab gives the focus back to the notebook a moment after a command of the palette. */
      const holdFocus = () => {
        const again = (/** @type {FocusEvent} */ { target }) => {
          if (!widget.node.contains(/** @type {Node} */ (target))) panel.focus();
        };
        const end = (/** @type {Event | void} */ event) => {
          if (event instanceof KeyboardEvent && WALKS.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) return;
          document.removeEventListener("focusin", again);
          document.removeEventListener("pointerdown", end, true);
          document.removeEventListener("keydown", end, true);
        };
        document.addEventListener("focusin", again);
        document.addEventListener("pointerdown", end, true);
        document.addEventListener("keydown", end, true);
        setTimeout(end, HELD_MILLIS);
        panel.focus();
      };
      const tracker = new WidgetTracker({ namespace: "paimonlab-explorers" });
      commands.addCommand(OPEN, { label: "Paimon Catalog", caption: "Show warehouses and their tables", icon, execute: async () => {
        shell.activateById(ID);
        if (!lab && shell.expandLeft) shell.expandLeft(ID);
        await start();
        holdFocus();
      } });
      commands.addCommand(REFRESH, { label: "Refresh Paimon Catalog", execute: () => (started ? panel.refresh() : start()) });
      commands.addCommand(EXPLORE, { label: "Open a View of a Paimon Table", execute: async (/** @type {any} */ { path, kind, at }) => {
        const id = `paimonlab-explorer-${JSON.stringify([path, kind, at ?? null])}`;
        const open = tracker.find((/** @type {any} */ one) => one.id === id);
        const content = open?.content ?? renderers.createRenderer();
        const tab = open ?? new MainAreaWidget({ content });
        if (!open) {
          tab.id = id;
          tab.explored = { path, kind, at: at ?? null };
          content.addClass("jp-PaimonExplorer");
          tab.title.label = `${path[path.length - 1]}: ${kind}${at ? ` @ ${at}` : ""}`;
          tab.title.caption = path.slice(1).join(".");
          tab.title.icon = icon;
          tab.title.closable = true;
          content.node.textContent = "loading …";
          if (!lab) content.addClass("jp-mod-below"); // Notebook 7 opens the area below only as far as it must
          shell.add(tab, lab ? "main" : "down");
          void tracker.add(tab);
        }
        shell.activateById(id);
        const below = tab.parent?.parent;
        if (!lab && below && "currentWidget" in below) below.currentWidget = tab; // Notebook 7 activates nothing below
        try {
          const data = await server.ask("explorer", { path, kind, ...(at ? { at } : {}) });
          await content.renderModel({ data: { [MIME]: data } });
        } catch (reason) {
          content.node.textContent = /** @type {Error} */ (reason).message;
        }
      } });
      void restorer?.restore(tracker, { command: EXPLORE, args: (/** @type {any} */ tab) => tab.explored, name: (/** @type {any} */ tab) => tab.id });
      for (const command of [OPEN, REFRESH]) palette?.addItem({ command, category: "Paimon" });
      launcher?.add({ command: OPEN, category: "Other", rank: 5 });
    },
  };
}
