// @ts-check
// What JupyterLab loads: a container of two modules, as its federated extensions are. Written by
// hand, because there is nothing to bundle.

/* global VIEWS, pageHost, rendererFactory, plugin, MIME */

/** @type {any} */
let shared = null;

/** Take a module that JupyterLab shares. @param {string} name */
async function take(name) {
  const versions = shared[name];
  if (!versions) throw new Error(`paimonlab: JupyterLab shares no ${name}`);
  const [newest] = Object.keys(versions).sort((one, two) => two.localeCompare(one, "en", { numeric: true }));
  return (await versions[newest].get())();
}

/** As a bundler would export it: JupyterLab looks for the mark. @param {object} value */
const esModule = (value) => ({ __esModule: true, default: value });

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
    return esModule(plugin(INotebookTracker, ISettingRegistry));
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
