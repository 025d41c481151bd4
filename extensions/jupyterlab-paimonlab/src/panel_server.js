// @ts-check
// The way of the catalog panel to Jupyter Server, which reads tables while cells run.

/**
 * @typedef {{ key: string, name: string, place: string, isReadOnly: boolean, problem: string, insert: string }} Warehouse
 * @typedef {{ kind: string, name: string, label: string, detail: string, timeMillis: number | null, hasChildren: boolean, insert: string }} Entry
 * @typedef {{ id: number, label: string, status: string, said: string, progress: [number, number, string] | null, beganMillis: number }} Job
 * @typedef {{ path: readonly string[], action: string, values: Record<string, string>, state: string, label: string }} Wanted
 * @typedef {{ ask: (question: string, values: Record<string, unknown>) => Promise<any>, jobs: () => Promise<Job[]>,
 *   begin: (job: Wanted) => Promise<Job>, stop: (id: number) => Promise<void> }} Server
 */

const MISSING = "Jupyter Server does not know the catalog panel: restart it after the installation of paimonlab.";

/**
 * @param {any} ServerConnection JupyterLab's; it sends the token of the page along
 * @returns {Server}
 */
export function panelServer(ServerConnection) {
  const settings = ServerConnection.makeSettings();
  /** @param {string} path @param {RequestInit} [init] */
  const send = async (path, init = {}) => {
    const response = await ServerConnection.makeRequest(`${settings.baseUrl}paimonlab/${path}`, init, settings);
    const said = await response.json().catch(() => null);
    if (response.ok) return said;
    if (said?.message && response.status !== 404) throw new Error(said.message);
    throw new Error(said?.message && said.message !== "Not Found" ? said.message : MISSING);
  };
  return {
    ask: (question, values) => send(`ask?${new URLSearchParams({ question, with: JSON.stringify(values) })}`),
    jobs: async () => (await send("jobs")).jobs,
    begin: (job) => send("jobs", { method: "POST", body: JSON.stringify(job) }),
    stop: (id) => send(`jobs/${id}`, { method: "DELETE" }),
  };
}
