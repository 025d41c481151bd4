// @ts-check
// What JupyterLab loads: a container of two modules, as its federated extensions are. Written by
// hand, because there is nothing to bundle.

/* global state, VIEWS, pageHost, rendererFactory, plugin, MIME, followKernels, progressOf, PROGRESS_STYLE, completionProvider, sqlColours, panelPlugin */

/** @type {any} */
let shared = null;

/** Take a module that JupyterLab shares. @param {string} name */
async function take(name) {
  const versions = shared[name];
  if (!versions) throw new Error(`paimonlab: JupyterLab shares no ${name}`);
  const [newest] = Object.keys(versions).sort((left, right) => right.localeCompare(left, "en", { numeric: true }));
  return (await versions[newest].get())();
}

/** Take what only some front ends share. @param {string} name @returns {Promise<any>} */
const takeIfThere = (name) => (shared[name] ? take(name) : Promise.resolve({}));

/** As a bundler would export it: JupyterLab looks for the mark. @param {object} value */
const esModule = (value) => ({ __esModule: true, default: value });

async function kernelPlugin() {
  const [{ Widget }, { KernelMessage }, { INotebookTracker }, { ICompletionProviderManager }] = await Promise.all([
    take("@lumino/widgets"),
    take("@jupyterlab/services"),
    take("@jupyterlab/notebook"),
    take("@jupyterlab/completer"),
  ]);
  return {
    id: "jupyterlab-paimonlab:kernels",
    description: "Shows how far a statement of Paimon is, and completes SQL while a cell runs.",
    autoStart: true,
    requires: [INotebookTracker],
    optional: [ICompletionProviderManager],
    /** @param {any} _app @param {any} tracker @param {any} completers */
    activate(_app, tracker, completers) {
      const style = document.createElement("style");
      style.textContent = PROGRESS_STYLE;
      document.head.append(style);
      const linkOf = followKernels(tracker, KernelMessage.createMessage, progressOf(Widget));
      state.now = (element, message) => {
        const panel = tracker.find((/** @type {any} */ one) => one.node.contains(element));
        const link = panel ? linkOf(panel.sessionContext.session?.kernel) : null;
        if (!link?.subshell) return false;
        link.say(message);
        return true;
      };
      if (completers?.getProviders) completers.registerProvider(completionProvider(completers, linkOf));
    },
  };
}

async function colourPlugin() {
  const [view, states, { IEditorExtensionRegistry }] = await Promise.all([
    take("@codemirror/view"),
    take("@codemirror/state"),
    take("@jupyterlab/codemirror"),
  ]);
  return {
    id: "jupyterlab-paimonlab:colours",
    description: "Colours SQL in cells.",
    autoStart: true,
    requires: [IEditorExtensionRegistry],
    /** @param {any} _app @param {any} registry */
    activate(_app, registry) {
      const coloursOf = sqlColours(view, states);
      const factory = (/** @type {any} */ { model }) => ({ instance: () => coloursOf(model), reconfigure: () => null });
      registry.addExtension({ name: "jupyterlab-paimonlab:colours", factory });
    },
  };
}

async function catalogPlugin() {
  const [{ Widget, Menu }, { ServerConnection }, { INotebookTracker }, { ICommandPalette, MainAreaWidget, WidgetTracker }, { LabIcon }] = await Promise.all([
    take("@lumino/widgets"),
    take("@jupyterlab/services"),
    take("@jupyterlab/notebook"),
    take("@jupyterlab/apputils"),
    take("@jupyterlab/ui-components"),
  ]);
  const [{ ILabShell = null, ILayoutRestorer = null }, { ILauncher = null }, { IStateDB = null }] = await Promise.all([
    takeIfThere("@jupyterlab/application"),
    takeIfThere("@jupyterlab/launcher"),
    takeIfThere("@jupyterlab/statedb"),
  ]);
  return panelPlugin(
    { Widget, Menu, MainAreaWidget, WidgetTracker, LabIcon, ServerConnection },
    { ILabShell, ILayoutRestorer, INotebookTracker, ICommandPalette, ILauncher, IStateDB },
    rendererFactory(Widget, VIEWS, pageHost),
  );
}

const MODULES = /** @type {Record<string, () => Promise<any>>} */ ({
  "./mimeExtension": async () => {
    const { Widget } = await take("@lumino/widgets");
    const factory = rendererFactory(Widget, VIEWS, pageHost);
    return esModule({ id: "jupyterlab-paimonlab:mime", rendererFactory: factory, rank: 0, dataType: "json" });
  },
  "./extension": async () => {
    const [{ INotebookTracker }, { ISettingRegistry }] = await Promise.all([
      take("@jupyterlab/notebook"),
      take("@jupyterlab/settingregistry"),
    ]);
    const plugins = [plugin(INotebookTracker, ISettingRegistry)];
    for (const optional of [kernelPlugin, colourPlugin, catalogPlugin]) {
      try {
        plugins.push(await optional());
      } catch (reason) {
        console.warn("paimonlab:", reason);
      }
    }
    return esModule(plugins);
  },
});

const container = {
  /** @param {any} scope */
  init(scope) {
    shared = scope;
  },
  /** @param {string} name */
  async get(name) {
    if (!Object.hasOwn(MODULES, name)) throw new Error(`paimonlab: no module ${name}`);
    const module = await MODULES[name]();
    return () => module;
  },
};
const page = /** @type {any} */ (window);
(page._JUPYTERLAB ??= {})["jupyterlab-paimonlab"] = container;
