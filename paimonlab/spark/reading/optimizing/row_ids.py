"""Conditions on ``_ROW_ID``: which files have such rows.

Spark makes that column of the first id of a file and of positions, so that no condition on it
chooses files by itself.
"""

from __future__ import annotations

from typing import Any

from paimonlab.spark.reading.file_index import SnapshotFileIndex
from paimonlab.spark.reading.filters import source_filters, to_predicate
from paimonlab.spark.reading.scan import Choice
from paimonlab.spec.predicates.predicate import AlwaysTrue
from paimonlab.spec.types.system_fields import ROW_ID


def with_row_ids(index: SnapshotFileIndex, filters: Any) -> SnapshotFileIndex | None:
    """Return an index of the files that may have rows with such ids; None: all may.

    Parameters
    ----------
    index
        The files of the scan.
    filters
        Conditions on a column ``_ROW_ID``, a Scala ``Seq`` of Catalyst expressions.
    """
    bridge = index._bridge
    predicate = to_predicate(bridge, source_filters(bridge, filters), {ROW_ID: ROW_ID})
    if isinstance(predicate, AlwaysTrue) or index._snapshot.reads_all_files(predicate):
        return None
    return index._narrowed(bridge.seq([]), Choice(files=index._snapshot.names(predicate)))
