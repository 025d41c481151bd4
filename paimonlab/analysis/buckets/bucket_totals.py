"""What the buckets of a table contain, one row per bucket."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, arrow_scalar, null_filled, numpy_values
from paimonlab.scan.file_totals import Groups


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
    groups = Groups.of(files, ["partition", "bucket"])
    level = numpy_values(files["level"])
    deletes = files["delete_row_count"]
    is_known = numpy_values(deletes.is_valid())
    delete_counts = groups.sums(numpy_values(null_filled(deletes, 0)))
    level_0 = groups.sums(level == 0)
    upper_levels = groups.different(level, level > 0)
    compacted = pc.equal(files["file_source"], arrow_scalar(1))
    totals = pa.table(
        {
            "partition": groups.first(files["partition"]),
            "bucket": groups.first(files["bucket"]),
            "files": arrow_array(groups.counts),
            "bytes": arrow_array(groups.sums(numpy_values(files["file_size_bytes"]))),
            "rows": arrow_array(groups.sums(numpy_values(files["row_count"]))),
            "level_0": arrow_array(level_0),
            "upper_levels": arrow_array(upper_levels),
            "deletes": arrow_array(delete_counts, mask=groups.sums(is_known) == 0),
            "compacted_files": arrow_array(
                groups.sums(numpy_values(null_filled(compacted, False)))
            ),
            "highest_level": arrow_array(groups.greatest(level)),
            "runs": arrow_array(level_0 + upper_levels),
        }
    )
    return totals.take(arrow_array(groups.by_first_row()))


def worst(totals: pa.Table, most: int, *, has_levels: bool) -> pa.Table:
    """Return the buckets that most need compaction, at most ``most`` of them.

    With levels those with the most files on level 0, then with the most runs; without levels
    those with the most files; then those with the most bytes.
    """
    columns = ["level_0", "runs", "bytes"] if has_levels else ["files", "bytes"]
    keys = [-numpy_values(totals[name]) for name in reversed(columns)]
    order = np.lexsort((numpy_values(totals["bucket"]), *keys))
    return totals.take(arrow_array(order[:most]))
