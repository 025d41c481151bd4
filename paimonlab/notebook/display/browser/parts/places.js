// @ts-check
// Partitions and buckets, as views name them and tell each other.

/** @typedef {{partition?: string | null, bucket?: number | null}} Place */

/** @param {Place} place */
export function placeText({ partition, bucket }) {
  const parts = [partition, bucket === undefined || bucket === null ? "" : `bucket ${bucket}`];
  return parts.filter(Boolean).join(" ") || "the table";
}

/** Tell whether a selection names a partition or a bucket. @param {Place} selection */
export function hasPlace({ partition, bucket }) {
  return (partition ?? null) !== null || (bucket ?? null) !== null;
}

/** Tell whether something lies where a selection says; what that does not name may be any. @param {Place} item @param {Place} selection */
export function isAt(item, { partition, bucket }) {
  return (partition ?? item.partition) === item.partition && (bucket ?? item.bucket) === item.bucket;
}
