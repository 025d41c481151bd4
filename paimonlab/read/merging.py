"""Which rows of a split's files a reader sees, found by their keys alone.

The first of the two phases of a merge on read: key columns, sequence numbers and row kinds of
the files that overlap are merged in bounded pieces; what remains of them is a mask a file.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from paimonlab.arrow_values import arrow_array, no_rows, numpy_values
from paimonlab.datafile.layout import KIND_FIELD, SEQUENCE_FIELD, key_field
from paimonlab.datafile.masks import Mask
from paimonlab.datafile.reader import DataFile
from paimonlab.datafile.row_conditions import RowCondition, RowLook
from paimonlab.errors import UnsupportedError
from paimonlab.merge.deduplicate import is_add
from paimonlab.merge.pieces import KeyBatch, KeyColumns, winners_of_runs
from paimonlab.merge.sections import Section, SortedRun, sections
from paimonlab.read.deletions import surviving_rows
from paimonlab.read.expired import expiry_explained, explain_missing
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.split import DataSplit
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.predicates.predicate import (
    Predicate,
    all_of,
    columns,
    rename_columns,
    split_and,
)
from paimonlab.spec.types.arrow import arrow_schema, to_arrow
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.system_fields import VALUE_KIND, key_column
from paimonlab.storage import FileIO


def open_data_file(
    split: DataSplit, file: DataFileMeta, plan: ReadPlan, file_io: FileIO
) -> DataFile:
    """Open a file of a split.

    Raises
    ------
    SnapshotExpiredError
        If it is missing because the snapshot has expired.
    CorruptDataError
        If it is missing for another reason, or damaged.
    """
    path = plan.layout.data_file(split.bucket_path, file.file_name, file.external_path)
    with expiry_explained(split.snapshot_id, plan, file_io):
        opened = DataFile.open(
            file_io,
            path,
            file,
            plan.schema_of(file),
            table=plan.table_name,
            partition=split.partition,
            legacy_ltz=plan.options.legacy_ltz,
        )
    return replace(opened, explain=partial(explain_missing, split.snapshot_id, plan, file_io))


def masks_of(
    split: DataSplit,
    plan: ReadPlan,
    file_io: FileIO,
    *,
    predicate: Predicate | None = None,
    condition: RowCondition | None = None,
) -> list[Mask | None]:
    """Find the rows of each file that a reader sees.

    Parameters
    ----------
    split
        f files.
    plan, file_io
        How to read the table, whatever its columns and predicate; its store.
    predicate
        Only rows whose key may satisfy it are looked for; it looks at nothing but the primary
        key. None: all.
    condition
        The same, looked at key by key; see `key_condition`. Files that overlap no other are not
        asked. None: all.

    Returns
    -------
    list of f
        (row_count,) bool each; None: all rows.
    """
    survivors = surviving_rows(split, plan, file_io)
    if not split.raw_convertible and not plan.engine.selects_rows:
        raise UnsupportedError(
            f"merge-engine = '{plan.engine.kind}'",
            f"{plan.table_name}: rows are merged, so no mask over the rows of its files tells "
            "what a reader sees",
        )
    if split.raw_convertible or not plan.schema.primary_keys:
        return survivors
    return SplitMerger(split, plan, file_io, predicate, survivors, condition).masks()


def key_predicate(plan: ReadPlan) -> Predicate | None:
    """Return the part of a plan's predicate that looks at primary key columns only.

    All rows of a key agree on it, so it may leave rows out before they are merged.
    """
    if plan.predicate is None:
        return None
    keys = set(plan.schema.trimmed_primary_keys)
    parts = [part for part in split_and(plan.predicate) if columns(part) <= keys]
    return all_of(*parts) if parts else None


def key_condition(condition: RowCondition, plan: ReadPlan) -> RowCondition | None:
    """Return the part of a condition that looks at primary key columns only.

    All rows of a key agree on it, so it may leave rows out before they are merged. Both zeros are
    one key, and so are all NaNs: of columns with such values that cannot be said.
    """
    names = plan.schema.trimmed_primary_keys
    types = {name: to_arrow(plan.schema.field(name).type) for name in names}
    return condition.part_over(
        frozenset(name for name, one in types.items() if not pa.types.is_floating(one))
    )


class SplitMerger(Struct, frozen=True):
    """Reads what merging the files of a split looks at."""

    split: DataSplit
    plan: ReadPlan
    file_io: FileIO
    predicate: Predicate | None
    survivors: list[Mask | None]
    """Rows of each file that no deletion vector takes away; they alone are merged."""
    condition: RowCondition | None = None
    """As ``predicate``, by the names of the table's columns."""

    def sections(self) -> list[Section]:
        """Return the files that have to be merged with each other."""
        schema = self.plan.schema
        types = [schema.field(name).type for name in schema.trimmed_primary_keys]
        return sections(self.split.files, types)

    def masks(self) -> list[Mask | None]:
        """Find the rows of each file that a reader sees."""
        masks: list[Mask | None] = [None] * len(self.split.files)
        for section in self.sections():
            if len(section.positions) == 1:
                masks[section.positions[0]] = self.alone(section.positions[0])
            else:
                self._merge(section, masks)
        return masks

    def alone(self, position: int) -> Mask | None:
        """Leave the deletes out of a file that shares no key with another."""
        file = self.split.files[position]
        survivors = self.survivors[position]
        if file.delete_row_count == 0 or self.plan.keeps_deletes:
            return survivors
        mask = np.zeros(file.row_count, np.bool_)
        with open_data_file(self.split, file, self.plan, self.file_io) as data:
            for start, rows in data.positioned([KIND_FIELD], batch_rows=self.batch_rows(1)):
                mask[start : start + rows.num_rows] = is_add(numpy_values(rows.column(VALUE_KIND)))
        return mask if survivors is None else mask & survivors

    def _merge(self, section: Section, masks: list[Mask | None]) -> None:
        """Merge the files of a section and set their masks."""
        key_columns = self.key_columns(section)
        batch_rows = self.batch_rows(len(section.runs))
        for position in section.positions:
            masks[position] = np.zeros(self.split.files[position].row_count, np.bool_)
        runs = self.runs(section, key_columns, batch_rows)
        pieces = winners_of_runs(
            [run.batches() for run in runs],
            key_columns,
            piece_rows=batch_rows * len(runs),
        )
        for piece in pieces:
            for run, decided in zip(runs, piece, strict=True):
                run.set_next(decided, masks)

    def runs(self, section: Section, key_columns: KeyColumns, batch_rows: int) -> list[RunOfKeys]:
        """Open the runs of a section."""
        fields = self._fields(key_columns)
        return [RunOfKeys(self, run, fields, batch_rows) for run in section.runs]

    def key_columns(self, section: Section) -> KeyColumns:
        """Say how the keys of a section are read."""
        options = self.plan.options
        files = [self.split.files[position] for position in section.positions]
        return KeyColumns(
            keys=tuple(key_column(name) for name in self.plan.schema.trimmed_primary_keys),
            sequence_fields=options.sequence_fields,
            is_descending=options.sequence_descending,
            is_position_enough=section.is_age_enough and not options.sequence_fields,
            has_deletes=any(file.delete_row_count != 0 for file in files)
            and (not self.plan.keeps_deletes or self.plan.engine.ignore_delete),
            engine=self.plan.engine,
            levels=tuple(self.split.files[run[0]].level for run in section.runs)
            if self.plan.engine.has_complete_levels
            else None,
        )

    def _fields(self, key_columns: KeyColumns) -> list[DataField]:
        schema = self.plan.schema
        known = {
            field.name: field
            for field in (
                *schema.fields,
                *(key_field(schema.field(name)) for name in schema.trimmed_primary_keys),
                SEQUENCE_FIELD,
                KIND_FIELD,
            )
        }
        return [known[name] for name in key_columns.names]

    def asked(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Give the keys of rows of a run the names that the table has for them."""
        names = self.plan.schema.trimmed_primary_keys
        keys = [rows.column(key_column(name)) for name in names]
        return pa.RecordBatch.from_arrays(keys, names=list(names))

    def batch_rows(self, run_count: int, row_bytes: int = 1) -> int:
        """Choose how many rows of each run to read at once."""
        bounds = self.plan.bounds
        lengths = [len(key) for file in self.split.files for key in (file.min_key, file.max_key)]
        row_bytes = max(row_bytes, sum(lengths) // len(lengths))
        return max(1, min(bounds.piece_rows, bounds.piece_bytes // row_bytes) // run_count)


class _Part(NamedTuple):
    """Rows of a file whose keys were read and not decided yet."""

    file: int
    """Position of the file in its split."""
    rows: range | npt.NDArray[np.int64]
    """Positions of the rows in the file, ascending."""


class RunOfKeys:
    """A sorted run as a stream of keys that remembers where the keys were."""

    def __init__(
        self,
        merger: SplitMerger,
        positions: SortedRun,
        fields: Sequence[DataField],
        batch_rows: int,
    ) -> None:
        self._merger = merger
        self._positions = positions
        self._fields = fields
        self._batch_rows = batch_rows
        self._open_parts: deque[_Part] = deque()

    def batches(self) -> Iterator[KeyBatch]:
        """Read the keys, file by file."""
        merger = self._merger
        predicate = merger.predicate
        if predicate is not None:
            names = {name: key_column(name) for name in columns(predicate)}
            predicate = rename_columns(predicate, names)
        look = RowLook(merger.predicate, merger.condition)
        for position in self._positions:
            file = merger.split.files[position]
            alive = merger.survivors[position]
            with open_data_file(merger.split, file, merger.plan, merger.file_io) as data:
                for start, rows in data.positioned(
                    self._fields, predicate=predicate, keep=alive, batch_rows=self._batch_rows
                ):
                    if not look.columns and alive is None:
                        part = _Part(position, range(start, start + rows.num_rows))
                        wanted = rows
                    else:
                        asked = merger.asked(rows)
                        keep = None if alive is None else alive[start : start + rows.num_rows]
                        takes = look.found(asked, keep)
                        part = _Part(position, start + np.flatnonzero(takes))
                        wanted = rows.filter(arrow_array(takes))
                    self._open_parts.append(part)
                    yield KeyBatch(wanted, is_last=False)
        nothing = no_rows(arrow_schema(self._fields))
        yield KeyBatch(nothing, is_last=True)

    def forget(self) -> None:
        """Forget where the keys read so far were; for callers that set no masks."""
        self._open_parts.clear()

    def set_next(self, decided: Mask, masks: list[Mask | None]) -> None:
        """Set what was decided for the next rows of the run in the masks of its files."""
        while len(decided):
            file, rows = self._open_parts.popleft()
            mask = masks[file]
            assert mask is not None, "every file that is merged has a mask"
            count = min(len(rows), len(decided))
            if isinstance(rows, range):
                mask[rows.start : rows.start + count] = decided[:count]
            else:
                mask[rows[:count]] = decided[:count]
            decided = decided[count:]
            if count < len(rows):
                self._open_parts.appendleft(_Part(file, rows[count:]))
