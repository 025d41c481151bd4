// @ts-check
// Partitions and buckets, as views name them in selections.

/** @typedef {{partition?: string | null, bucket?: number | null}} Place */

/** @param {Place} place */
export function placeText({ partition, bucket }) {
  const parts = [partition, bucket === undefined || bucket === null ? "" : `bucket ${bucket}`];
  return parts.filter(Boolean).join(" ") || "the table";
}

/** Whether a selection names a partition or a bucket. @param {Place} selection */
export function hasPlace({ partition, bucket }) {
  return (partition ?? null) !== null || (bucket ?? null) !== null;
}

/** Whether something is in the selected partition and bucket; if one of them is not selected, any will do. @param {Place} item @param {Place} selection */
export function isAt(item, { partition, bucket }) {
  return (partition ?? item.partition) === item.partition && (bucket ?? item.bucket) === item.bucket;
}
