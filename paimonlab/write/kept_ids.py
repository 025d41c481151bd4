"""Rows that are written again with the ids they have, beside rows that are to get some.

Rows with ids are in files that have a column of ids, which metadata names: a commit gives them no
others. Rows without are in files of their own. So ids are used up by new rows alone.

Source: apache/paimon@1.4.2 ``MergeIntoPaimonTable``, ``PaimonSparkWriter.withRowTracking``,
``RowTrackingCommitUtils``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pyarrow.compute as pc

from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.schema.row_tracking import TRACKING_COLUMNS
from paimonlab.spec.types.system_fields import ROW_ID
from paimonlab.storage import FileIO
from paimonlab.write.frames import batches_of
from paimonlab.write.write_plan import WritePlan
from paimonlab.write.writer import TableWriter


def keeps_ids(plan: WritePlan) -> bool:
    """Whether rows are written with ids that they may have."""
    return ROW_ID in plan.schema.field_names


class IdKeepingWriter(TableWriter):
    """Writes rows of a table without buckets, those with ids and those without apart.

    Parameters
    ----------
    plan
        How to write to the table; its schema ends with the tracking columns.
    file_io
        The table's store.
    """

    def __init__(self, plan: WritePlan, file_io: FileIO) -> None:
        super().__init__(plan, file_io)
        self._columns = tuple(plan.schema.field_names)
        own = [field for field in plan.schema.fields if field.name not in TRACKING_COLUMNS]
        schema = replace(plan.schema, fields=tuple(own))
        self._new_columns = schema.field_names
        of_new = replace(plan, schema=schema, stats=plan.stats.of_first(len(own)))
        self._new = TableWriter(of_new, file_io)

    def write(self, data: Any, *, row_kinds: str | None = None, buckets: str | None = None) -> None:
        """Take rows; those whose ``_ROW_ID`` is null get ids when they are committed.

        Raises
        ------
        ForkedProcessError
            If this process was forked from the one that made the writer.
        DataError
            If the rows do not fit the table.
        """
        assert row_kinds is None, "an append table has no kinds of rows"
        assert buckets is None, "a table with ids has no buckets"
        plan = self._plan
        fields = plan.schema.fields
        for batch in batches_of(data, self._columns, table=plan.table_name, fields=fields):
            ids = batch.column(ROW_ID)
            if ids.null_count < len(ids):
                super().write(batch.filter(ids.is_valid()) if ids.null_count else batch)
            if ids.null_count:
                self._new.write(batch.filter(pc.is_null(ids)).select(self._new_columns))

    def prepare_commit(self) -> list[CommitMessage]:
        """Describe the files of both since the last call; see `TableWriter.prepare_commit`."""
        kept = [
            msgspec.structs.replace(
                message,
                new_files=tuple(
                    msgspec.structs.replace(file, write_cols=self._columns)
                    for file in message.new_files
                ),
            )
            for message in super().prepare_commit()
        ]
        return [*kept, *self._new.prepare_commit()]

    def abort(self) -> None:
        """Delete the files of both that were not handed over yet."""
        super().abort()
        self._new.abort()
