// @ts-check
import { bytes, card, copyButton, count, empty, frame, h, many, placeText, roving, s, whenSized } from "../../display/browser/parts.js";

/** @typedef {import("../../display/browser/views").FileMap} FileMap */
/** @typedef {import("../../display/browser/views").Tile} Tile */
/** @typedef {import("../../display/browser/host").Context<FileMap>} FilesContext */

/** What places of tiles count in. */
const MAP = { width: 1000, height: 480 };
const HEIGHTS = { least: 240, most: 420 };
const MIB = 1 << 20;
/** Upper ends of the bins, a shade and a letter for each. */
const BINS = [8 * MIB, 32 * MIB, 128 * MIB, 512 * MIB, Infinity].map((end, at) => ({ end, colour: `var(--amount${at + 1})`, letter: "abcde"[at] }));

const FILES_CSS = `
.map { border: 1px solid #8888; } .map .tile { cursor: pointer; }
.map rect { stroke: color-mix(in srgb, var(--ink) 55%, var(--ground)); }
.map .tile[aria-selected=true] > rect:first-child { stroke: var(--ink); stroke-width: 5; stroke-dasharray: 8 4; } .map .tile:focus-visible { outline: none; }
.map .tile:focus-visible > rect:first-child { stroke: var(--focus); stroke-width: 8; }
.map text { fill: var(--on-amount); pointer-events: none; stroke-width: 4; paint-order: stroke; stroke-linejoin: round; }
.bar { display: inline-block; height: .9em; min-width: 1px; vertical-align: middle; border: 1px solid currentColor; }
.bins td:first-child { white-space: nowrap; } .key { display: inline-block; width: 1.3em; text-align: center; border: 1px solid CanvasText; } .advice { margin: 6px 0; padding: 4px 8px; border-left: 3px solid var(--focus); } .advice.faint { border-color: var(--rule); }
`;

/** @param {FilesContext} context */
export function render({ data, el, host }) {
  let stop = () => {};
  /** @param {FileMap} view */
  const show = (view) => {
    stop();
    stop = showFiles({ data: { ...data, view }, el, host }, show);
  };
  show(data.view);
  return () => stop();
}

/** @param {FilesContext} context @param {(view: FileMap) => void} again draws another snapshot instead */
function showFiles({ data, el, host }, again) {
  const view = data.view;
  const title = `${view.table}: data files${view.snapshotId === null ? "" : ` of snapshot ${view.snapshotId}`}`;
  const size = view.bytes === null || !view.fileCount ? "" : `, ${bytes(view.bytes)}, on average ${bytes(Math.round(view.bytes / view.fileCount))} a file`;
  const { body, say, stop } = frame(el, {
    title, note: view.fileCount ? many(view.rowCount, "row") + view.rowsAre.slice("rows".length) : "", css: FILES_CSS,
    headline: view.fileCount ? `${many(view.fileCount, "file")} in ${many(view.bucketCount, "bucket")}${size}` : "",
  });
  if (!view.fileCount) {
    body.append(empty("No data files yet. The first are made by", `INSERT INTO ${view.table} VALUES …`));
    return stop;
  }
  const children = /** @type {Map<number, number[]>} */ (new Map());
  view.tiles.forEach((tile, at) => children.set(tile.parent, [...(children.get(tile.parent) ?? []), at]));
  const outermost = children.get(-1) ?? [];
  /** What the map shows at first: the buckets of a table without partitions. */
  const top = outermost.length === 1 && view.tiles[0].name === "" && children.has(0) ? 0 : -1;
  let inside = top;
  let chosen = -1;
  /** Pixels that the picture has. */
  let room = { ...MAP };
  const map = s("svg", { class: "map", role: "listbox" });
  const path = h("div", { class: "row" });
  const details = h("div");

  /** @param {Tile} tile */
  const name = (tile) => {
    if (tile.name !== null) return tile.kind === "bucket" ? `bucket ${tile.name}` : tile.name || "(not partitioned)";
    if (tile.kind === "file") return many(tile.files, "more file");
    return tile.kind === "bucket" ? "more buckets" : `${count(view.partitionCount - (children.get(-1)?.length ?? 1) + 1)} more partitions`;
  };
  /** @param {Tile} tile */
  const numbers = (tile) =>
    `${many(tile.files, "file")}, ${many(tile.rows, "row")}${tile.bytes === null ? "" : `, ${bytes(tile.bytes)}`}${tile.level === null ? "" : `, level ${tile.level}`}`;

  /** @param {boolean} [focus] */
  const draw = (focus = false) => {
    const box = inside < 0 ? { x: 0, y: 0, ...MAP } : view.tiles[inside];
    const [across, down] = [room.width / (box.width || 1), room.height / (box.height || 1)];
    for (const [name, value] of Object.entries({ ...room, viewBox: `0 0 ${room.width} ${room.height}` })) map.setAttribute(name, String(value));
    /** @param {Tile} tile */
    const placed = (tile) => ({ x: (tile.x - box.x) * across, y: (tile.y - box.y) * down, width: tile.width * across, height: tile.height * down });
    const shown = children.get(inside) ?? [];
    const parts = shown.map((at) => {
      const tile = view.tiles[at];
      const place = placed(tile);
      const bin = binOf(tile);
      const below = (children.get(at) ?? []).flatMap((child) => [child, ...(children.get(child) ?? [])]);
      const letters = Math.floor((place.width - 10) / 7);
      return s("g", { class: "tile", role: "option", "aria-label": `${name(tile)}: ${numbers(tile)}`, "aria-selected": String(at === chosen) },
        s("rect", { ...place, fill: bin?.colour ?? "var(--amount0)", "stroke-width": 2 }),
        ...below.map((child) => s("rect", { ...placed(view.tiles[child]), fill: binOf(view.tiles[child])?.colour ?? "none", "stroke-width": view.tiles[child].kind === "bucket" ? 1 : 0.3 })),
        ...(letters > 1 && place.height > 16 ? labelOf(bin?.letter ?? "", name(tile), bytes(tile.bytes), letters, Math.floor((place.height - 4) / 14)) : []).map((line, at) => s("text", { x: place.x + 5, y: place.y + 15 + 14 * at, "font-size": 11, stroke: bin?.colour ?? "var(--amount0)" }, line)),
        s("title", {}, `${name(tile)}: ${numbers(tile)}`));
    });
    map.setAttribute("aria-label", inside === top ? (top < 0 ? "partitions" : "buckets") : `parts of ${name(view.tiles[inside])}`);
    map.replaceChildren(...parts);
    const rover = roving(parts, { onChoose: (place) => choose(shown[place]), onFocus: (place) => say(`${name(view.tiles[shown[place]])}: ${numbers(view.tiles[shown[place]])}`) });
    if (focus) rover.go(0);
    const trail = [];
    for (let at = inside; at !== top; at = view.tiles[at].parent) trail.unshift(at);
    path.replaceChildren(...(trail.length ? [step(top < 0 ? "all partitions" : "all buckets", top)] : []), ...trail.flatMap((at) => ["›", step(name(view.tiles[at]), at)]));
  };

  /** @param {string} label @param {number} at */
  const step = (label, at) => h("button", { "aria-pressed": String(at === inside), onclick: () => { inside = at; draw(); } }, label);

  /** @param {number} at */
  const choose = (at) => {
    const tile = view.tiles[at];
    chosen = at;
    details.replaceChildren(card([[tile.kind, name(tile)], ["files", count(tile.files)], [view.rowsAre, count(tile.rows)],
      ["size", bytes(tile.bytes)], ["average file", tile.bytes === null ? "" : bytes(Math.round(tile.bytes / tile.files))], ["level", tile.level]]));
    say(`${name(tile)}: ${numbers(tile)}`);
    const selection = selectionOf(view, at);
    if (selection) host.select(selection);
    if (children.has(at)) {
      inside = at;
      draw(true);
    } else {
      const shown = children.get(inside) ?? [];
      [...map.children].forEach((part, place) => part.setAttribute("aria-selected", String(shown[place] === at)));
    }
  };
  map.addEventListener("keydown", (event) => {
    if (event.key !== "Backspace" || inside === top) return;
    inside = view.tiles[inside].parent;
    draw(true);
    event.preventDefault();
  });

  const quiet = host.onSelect(async ({ partition, bucket, file, snapshot }) => {
    if (snapshot !== undefined && snapshot !== view.snapshotId) {
      if (!host.ask) return say(`snapshot ${snapshot} was chosen: %paimon_files ${view.table} --snapshot ${snapshot} shows it`);
      try {
        return again((await host.ask({ snapshot })).view);
      } catch (error) {
        return say(String(error));
      }
    }
    if (partition === undefined) return;
    let at = view.tiles.findIndex((tile) => tile.kind === "partition" && tile.name === partition);
    if (at < 0) return say(`${placeText({ partition })} has no area of its own here`);
    const inBucket = (children.get(at) ?? []).find((child) => view.tiles[child].name === String(bucket));
    at = inBucket ?? at;
    const found = (children.get(at) ?? []).find((child) => view.tiles[child].kind === "file" && view.tiles[child].name === file);
    chosen = found ?? at;
    if (children.has(at)) inside = at;
    draw();
    say(`${name(view.tiles[chosen])}: ${numbers(view.tiles[chosen])}`);
  });

  const most = Math.max(1, ...view.bins.map((bin) => bin.files));
  const histogram = h("table", { class: "bins" }, h("caption", {}, "files by size"),
    h("thead", {}, h("tr", {}, ...["size of a file", "files", "share", "", "rows", "size"].map((head, at) => h("th", { scope: "col", class: at > 0 && at !== 3 && "right" }, head)))),
    h("tbody", {}, ...view.bins.map((bin, at) => h("tr", {},
      h("td", {}, h("span", { class: "key", style: `background:${BINS[at].colour};color:var(--on-amount)` }, BINS[at].letter), ` ${bin.name}`),
      h("td", { class: "right" }, count(bin.files)), h("td", { class: "right" }, `${Math.round((100 * bin.files) / Math.max(view.fileCount, 1))} %`),
      h("td", { "aria-hidden": "true" }, bin.files > 0 && h("span", { class: "bar", style: `width:calc(${((100 * bin.files) / most).toFixed(1)} * min(1.2px, .14vw));background:${BINS[at].colour}` })),
      h("td", { class: "right" }, count(bin.rows)), h("td", { class: "right" }, bytes(bin.bytes))))));
  const advice = view.advice.map((item) => h("div", { class: `advice ${item.action ? "" : "faint"}` }, item.text, item.action && h("div", { class: "row" }, h("code", {}, item.action), copyButton("copy", () => item.action, say))));
  const isPartitioned = view.tiles.some(({ kind, name }) => kind === "partition" && name);
  const rest = view.tileCount < view.fileCount
    ? `; ${count(view.tileCount)} of ${count(view.fileCount)} files have areas of their own, the rest of each bucket is one area` : "";
  const note = `areas are ${view.weight}${view.bytes === null ? "" : ", colours and letters the size of a file, or their average"}; Enter opens, Backspace goes back${isPartitioned ? `; ${many(view.partitionCount, "partition")}` : ""}${rest}`;
  body.append(path, map, h("p", { class: "legend" }, note), details, h("div", { class: "scroll" }, histogram), ...advice);
  const unsized = whenSized(body, (width) => {
    room = { width: width - 2, height: Math.round(Math.max(HEIGHTS.least, Math.min(HEIGHTS.most, (width * MAP.height) / MAP.width))) };
    draw();
  });
  return () => {
    unsized();
    quiet();
    stop();
  };
}

/** @param {Tile} tile */
function binOf(tile) {
  const size = tile.bytes;
  return size === null ? null : BINS.find(({ end }) => size / tile.files < end) ?? null;
}

/** @param {FileMap} view @param {number} at @returns {import("../../display/browser/host").Selection | null} */
function selectionOf(view, at) {
  const tile = view.tiles[at];
  if (tile.name === null) return tile.kind === "partition" ? null : selectionOf(view, tile.parent);
  if (tile.kind === "partition") return { partition: tile.name };
  const around = selectionOf(view, tile.parent);
  return around && (tile.kind === "bucket" ? { ...around, bucket: Number(tile.name) } : { ...around, file: tile.name });
}

/** The lines on a tile, with its bytes below where there is room: of a name that has none its last value, or the letter of its size alone. @param {string} letter @param {string} name @param {string} size @param {number} room letters of a line @param {number} lines */
function labelOf(letter, name, size, room, lines) {
  const below = (/** @type {string[]} */ named) => (size && size.length <= room && named.length < lines ? [...named, size] : named);
  const text = `${letter} ${name}`.trim();
  if (text.length <= room) return below([text]);
  if (letter && name.length <= room && lines > 1) return below([letter, name]);
  const last = name.slice(name.lastIndexOf("=") + 1);
  if (letter && last.length <= room && lines > 1 && `${letter} ${last}`.length > room) return below([letter, last]);
  const value = `${letter} ${last}`.trim();
  if (value.length <= room) return below([value]);
  return room < 10 ? [letter] : below([`${text.slice(0, room - 1)}…`]);
}
