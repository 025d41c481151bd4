"""Files of a bucket -> files of a level with the same rows, merged.

Source: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.compact.MergeTreeCompactRewriter``,
``org.apache.paimon.mergetree.DropDeleteReader``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.compact.bucket_files import BucketFiles
from paimonlab.compact.keyed_rows import KeyedRows, keyed_rows, reduced
from paimonlab.compact.record_expiry import RecordExpiry
from paimonlab.compact.units import CompactIncrement
from paimonlab.datafile.writer import DataFileWriter
from paimonlab.merge.deduplicate import is_add
from paimonlab.merge.order import as_numpy
from paimonlab.read.read_plan import ReadPlan
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.types.system_fields import VALUE_KIND
from paimonlab.storage import FileIO


class PieceMerger(Protocol):
    """Makes one row per key, and of what it sees perhaps a changelog."""

    def merged(self, piece: KeyedRows) -> pa.Table:
        """Return what is written of the next keys: deletes among them, as `reduced` does."""
        ...

    def close(self) -> Sequence[DataFileMeta]:
        """Finish, and return the changelog files that were written."""
        ...

    def abort(self) -> None:
        """Delete what was written."""
        ...


class Reducer:
    """Merges rows by the merge engine of the table, and nothing else: a `PieceMerger`."""

    def __init__(self, plan: ReadPlan) -> None:
        self._plan = plan

    def merged(self, piece: KeyedRows) -> pa.Table:
        """Merge the rows of each key."""
        return reduced(piece, self._plan)

    def close(self) -> Sequence[DataFileMeta]:
        """Return no changelog."""
        return ()

    def abort(self) -> None:
        """Do nothing: nothing was written."""


def rewrite(
    bucket: BucketFiles,
    files: Sequence[DataFileMeta],
    plan: ReadPlan,
    file_io: FileIO,
    *,
    output_level: int,
    drop_deletes: bool,
    merger: PieceMerger,
    expiry: RecordExpiry | None = None,
) -> CompactIncrement:
    """Merge files of a bucket.

    Parameters
    ----------
    bucket
        The bucket that holds the files.
    files
        Any of them; together they hold a key range that no other file between them has.
    plan, file_io
        How to read the table; its store.
    output_level
        Level of the new files.
    drop_deletes
        Whether deletes can be dropped, as there are no older rows for them to hide.
    merger
        Makes one row of those of a key.
    expiry
        Which rows are too old to be kept; None: no rows are.

    Returns
    -------
    CompactIncrement
        The files, and what took their place: files of about the target size in the order of
        their keys, or none if no row is left. They are durable. On an error they are deleted.
    """
    writer = DataFileWriter(file_io, bucket.targets(output_level))
    try:
        for piece in keyed_rows(bucket, files, plan, file_io, expiry=expiry):
            rows = merger.merged(piece)
            if drop_deletes:
                rows = without_deletes(rows)
            if rows.num_rows:
                writer.write(rows)
        after = writer.close()
        changelog = merger.close()
    except BaseException:
        writer.abort()
        merger.abort()
        raise
    return CompactIncrement(before=tuple(files), after=tuple(after), changelog=tuple(changelog))


def without_deletes(rows: pa.Table) -> pa.Table:
    """Leave out the rows of kind ``-U`` and ``-D``."""
    kinds = as_numpy(rows[VALUE_KIND])
    adds = is_add(kinds)
    return rows if np.all(adds) else rows.filter(arrow_array(adds))
