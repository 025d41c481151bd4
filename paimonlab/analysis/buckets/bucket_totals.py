"""What the buckets of a table contain, one row per bucket."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, arrow_scalar, null_filled, numpy_values

_RENAMED = {
    "file_name_count": "files",
    "file_size_bytes_sum": "bytes",
    "row_count_sum": "rows",
    "is_level_0_sum": "level_0",
    "upper_level_count_distinct": "upper_levels",
    "delete_row_count_sum": "deletes",
    "is_compacted_sum": "compacted_files",
    "level_max": "highest_level",
}


def bucket_totals(files: pa.Table) -> pa.Table:
    """Add up the live files of each bucket.

    Parameters
    ----------
    files
        Of `ENTRY_SCHEMA`.

    Returns
    -------
    pyarrow.Table
        ``partition`` (serialised), ``bucket``, ``files``, ``bytes``, ``rows`` (before merging),
        ``level_0`` files, ``upper_levels`` that have files, ``runs`` (sorted runs: each file of
        level 0, each other level), ``deletes`` (rows of kind -U and -D; null if no file says),
        ``compacted_files`` (those a compaction wrote) and ``highest_level``.
    """
    level = files["level"]
    is_upper = pc.greater(level, arrow_scalar(0))
    wide = (
        files.select(["partition", "bucket", "file_name", "file_size_bytes", "row_count", "level"])
        .append_column("delete_row_count", files["delete_row_count"])
        .append_column("is_level_0", pc.cast(pc.equal(level, arrow_scalar(0)), pa.int64()))
        .append_column("upper_level", pc.if_else(is_upper, level, arrow_scalar(None, pa.int32())))
        .append_column(
            "is_compacted",
            null_filled(pc.cast(pc.equal(files["file_source"], arrow_scalar(1)), pa.int64()), 0),
        )
    )
    totals = wide.group_by(["partition", "bucket"], use_threads=False).aggregate(
        [
            ("file_name", "count"),
            ("file_size_bytes", "sum"),
            ("row_count", "sum"),
            ("is_level_0", "sum"),
            ("upper_level", "count_distinct"),
            ("delete_row_count", "sum"),
            ("is_compacted", "sum"),
            ("level", "max"),
        ]
    )
    totals = totals.rename_columns([_RENAMED.get(name, name) for name in totals.column_names])
    return totals.append_column("runs", pc.add(totals["level_0"], totals["upper_levels"]))


def worst(totals: pa.Table, most: int, *, has_levels: bool) -> pa.Table:
    """Return the buckets that most need compaction, at most ``most`` of them.

    With levels those with the most files on level 0, then with the most runs; without levels
    those with the most files; then those with the most bytes.
    """
    columns = ["level_0", "runs", "bytes"] if has_levels else ["files", "bytes"]
    keys = [-numpy_values(totals[name]) for name in reversed(columns)]
    order = np.lexsort((numpy_values(totals["bucket"]), *keys))
    return totals.take(arrow_array(order[:most]))
