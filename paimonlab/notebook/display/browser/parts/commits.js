// @ts-check
// What a commit did, in words, as the static forms of the views write it.
import { count, many } from "./counts.js";
import { signed } from "./numbers.js";

/** Added and deleted in one, "+6 -18"; a line ends between them only. @param {number | null | undefined} added @param {number | null | undefined} deleted @param {(value: number) => string} [write] */
export function bothWays(added, deleted, write = count) {
  return [added ? `+${write(added)}` : "", deleted ? `-${write(deleted)}` : ""].filter(Boolean).map((text) => text.replace(" ", "\u00a0")).join(" ");
}

/**
 * Say what a commit did, and who made it.
 * @param {{kind: string, written: number | undefined, deleted: number | undefined, files: number | undefined, merged?: number, user: string}} commit `merged`: files that a compaction read
 */
export function commitText({ kind, written, deleted, files, merged, user }) {
  const changed = [written, -(deleted ?? 0)].flatMap((number) => (number ? [number] : []));
  const rows = changed.length ? `${changed.map(signed).join(" ")} ${Math.abs(changed[0]) === 1 ? "row" : "rows"}` : "";
  const moved = merged !== undefined ? `${many(merged, "file")} into ${count(files ?? 0)}` : files ? many(files, "file") : "";
  const what = [kind === "APPEND" ? "" : kind.toLowerCase(), rows, moved].filter(Boolean).join(", ");
  const who = /^[0-9a-f]{8}-[0-9a-f]{4}-/.test(user) ? user.slice(0, 8) : user.slice(0, 40);
  return `${what || "nothing"}, by ${who}`;
}
