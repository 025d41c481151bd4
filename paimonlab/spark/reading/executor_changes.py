"""What a task that reads changes does on an executor: splits -> rows as Spark expects them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array
from paimonlab.read.changed_rows import ROW_KIND, read_change_split
from paimonlab.read.read_plan import ReadPlan
from paimonlab.spark.reading.executor_read import as_expected
from paimonlab.spec.row_kind import SYMBOLS, RowKind
from paimonlab.storage import FileIO

_PRESENT = arrow_array([SYMBOLS[RowKind.INSERT], SYMBOLS[RowKind.UPDATE_AFTER]], pa.string())


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesTask:
    """Reads splits; picklable."""

    file_io: FileIO
    schema: pa.Schema
    """What Spark expects: timestamps in microseconds, instants in UTC."""
    has_kinds: bool
    """Whether ``rowkind`` is a column; if not, rows that are gone are left out."""
    padded: tuple[tuple[str, int], ...] = ()
    """Columns whose texts are padded with blanks, and to how many characters."""
    cuts_timestamps: bool = False

    def __call__(self, partitions: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Read the splits of one task, handed over with the plan to read them."""
        for batch in partitions:
            for pickled in batch.column(0).to_pylist():
                plan, splits = pickle.loads(pickled)  # noqa: S301 - the driver made it
                for split in splits:
                    for rows in read_change_split(split, plan, self.file_io):
                        yield from self._rows(rows, plan)

    def _rows(self, rows: pa.RecordBatch, plan: ReadPlan) -> Iterator[pa.RecordBatch]:
        if not self.has_kinds:
            kinds = rows.column(ROW_KIND)
            rows = rows.filter(pc.is_in(kinds, value_set=_PRESENT)).drop_columns([ROW_KIND])
            if not rows.num_rows:
                return
        for name, length in self.padded:
            place = rows.schema.get_field_index(name)
            rows = rows.set_column(place, name, pc.utf8_rpad(rows.column(place), length))
        yield as_expected(rows, self.schema, plan.table_name, cuts_timestamps=self.cuts_timestamps)
