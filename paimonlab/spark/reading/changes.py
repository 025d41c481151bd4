"""What commits changed as a DataFrame, read by our reader on executors.

Source: apache/paimon@1.3.1 ``IncrementalDeltaStartingScanner``, ``IncrementalDiffSplitRead``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.cloudpickle import dumps
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from paimonlab.read.changed_rows import ROW_KIND
from paimonlab.scan.change_splits import Fate
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.reading.arrow_table import ArrowTable, frame_of
from paimonlab.spark.reading.executor_changes import ChangesTask
from paimonlab.spark.reading.executor_rows import Piece, Task
from paimonlab.spark.reading.relation_schema import scan_schema
from paimonlab.spec.predicates.predicate import Predicate, all_of, bind, split_and
from paimonlab.spec.predicates.predicate import columns as columns_of

if TYPE_CHECKING:
    from paimonlab.table.reading.changes import Changes


class ChangedRows:
    """What commits changed: new rows alone, or all with their kinds.

    Parameters
    ----------
    changes
        The commits; its own columns and predicate do not matter.
    has_kinds
        Whether ``rowkind`` is the first column; if not, rows that are gone are left out.
    cuts_timestamps
        Whether digits below a microsecond are dropped instead of refused.
    """

    def __init__(self, changes: Changes, *, has_kinds: bool, cuts_timestamps: bool) -> None:
        self._changes = changes
        self._has_kinds = has_kinds
        self._cuts_timestamps = cuts_timestamps
        self.name = changes.definition.name
        self.why = ""
        columns = scan_schema(changes.schema.fields)
        if has_kinds:
            kind = StructField(ROW_KIND, StringType(), nullable=False)
            columns = StructType([kind, *columns])
        self.schema = columns
        self.own = columns.names
        self.partition_keys = changes.schema.partition_keys

    def pieces(self, columns: Sequence[str], predicate: Predicate) -> list[Piece]:
        """Return one piece per split of changes, with the plan to read it."""
        changes = self._changes
        # Rows of no columns could not be counted.
        asked = {*columns} - {ROW_KIND} or {changes.schema.field_names[0]}
        # A condition on kinds is true or false of rows, not of files.
        parts = [part for part in split_and(predicate) if ROW_KIND not in columns_of(part)]
        narrowed = replace(
            changes,
            columns=tuple(name for name in changes.schema.field_names if name in asked),
            predicate=bind(all_of(*parts), changes.schema.fields, self.name),
        )
        plan = narrowed.read_plan()
        return [
            Piece(
                dumps((plan, [split])),
                sum(side.size_bytes for side in split.sides),
                sum(side.row_count for side in split.sides),
            )
            for split in narrowed.splits
            if self._has_kinds or not (split.is_diff and split.fate is Fate.GONE)
        ]

    def task(self, schema: StructType, predicate: Predicate) -> Task:
        """Return what reads splits of changes."""
        del predicate
        return ChangesTask(
            file_io=self._changes.store.file_io,
            schema=to_arrow_schema(schema, timezone="UTC"),
            has_kinds=self._has_kinds,
            cuts_timestamps=self._cuts_timestamps,
        )


def changes_frame(
    bridge: Bridge, changes: Changes, *, has_kinds: bool = False, cuts_timestamps: bool = False
) -> DataFrame:
    """Make a DataFrame of `ChangedRows`."""
    rows = ChangedRows(changes, has_kinds=has_kinds, cuts_timestamps=cuts_timestamps)
    return frame_of(bridge, ArrowTable(bridge, rows))
