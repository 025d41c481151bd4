"""The rows of some files of a bucket, key by key, piece by piece, and what becomes of them.

Files are read as sorted runs side by side. A piece holds all rows of its keys, so that whoever
looks at pieces sees every version of a key that is in the files. Memory does not grow with them.

Source: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.MergeTreeReaders``,
``…compact.ReducerMergeFunctionWrapper``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, no_rows
from paimonlab.compact.bucket_files import BucketFiles
from paimonlab.compact.record_expiry import RecordExpiry
from paimonlab.datafile.layout import KIND_FIELD, SEQUENCE_FIELD, file_columns
from paimonlab.datafile.masks import Mask
from paimonlab.formats.row_group import rows_within
from paimonlab.merge.engines import merge
from paimonlab.merge.groups import Members
from paimonlab.merge.levels import without_deeper_levels
from paimonlab.merge.order import as_numpy
from paimonlab.merge.pieces import KeyBatch, KeyColumns, ordered_runs
from paimonlab.merge.sections import Section, SortedRun, sections
from paimonlab.read.deletions import surviving_rows
from paimonlab.read.merging import open_data_file
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.split import DataSplit
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.merge_engine import EngineKind
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.system_fields import SEQUENCE_NUMBER, VALUE_KIND, key_column
from paimonlab.storage import FileIO

_COMPRESSION = 3
"""How many bytes in memory a byte of a file becomes, about."""


@dataclass(frozen=True, slots=True)
class KeyedRows:
    """All rows of some keys that the files have."""

    rows: pa.Table
    """n rows with the columns of data files: key copies, ``_SEQUENCE_NUMBER``, ``_VALUE_KIND``
    and the columns of the table."""
    members: Members | None
    """The rows by key, in the order of the keys, oldest row first; None: every row has a key of
    its own, and they are in the order of the keys."""
    levels: npt.NDArray[np.int8]
    """(n,) the level of the file that each row is from."""

    @property
    def groups(self) -> Members:
        """The rows by key, whether or not there is more than one of any."""
        if self.members is not None:
            return self.members
        count = self.rows.num_rows
        return Members(np.arange(count), np.ones(count, np.int64))


def keyed_rows(
    bucket: BucketFiles,
    files: Sequence[DataFileMeta],
    plan: ReadPlan,
    file_io: FileIO,
    *,
    expiry: RecordExpiry | None = None,
) -> Iterator[KeyedRows]:
    """Read files of a bucket by key.

    Parameters
    ----------
    bucket
        The bucket that holds the files.
    files
        Any of them.
    plan
        How to read the table; its columns and predicate do not matter.
    file_io
        The table's store.
    expiry
        Which rows are too old to be read; None: no rows are.

    Yields
    ------
    KeyedRows
        In the order of the keys. Rows that deletion vectors delete are left out.
    """
    split = bucket.split_of(files)
    reader = _Reader(split, plan, file_io, surviving_rows(split, plan, file_io), expiry)
    types = [plan.schema.field(name).type for name in plan.schema.trimmed_primary_keys]
    for section in sections(split.files, types):
        if len(section.runs) == 1:
            yield from reader.alone(section.runs[0])
        else:
            yield from reader.together(section)


def reduced(piece: KeyedRows, plan: ReadPlan, *, only_rows_stay: bool = True) -> pa.Table:
    """Merge the rows of each key.

    Parameters
    ----------
    piece
        n rows.
    plan
        How to read the table; only its merge engine matters.
    only_rows_stay
        Whether a key's only row stays as it is.

    Returns
    -------
    pyarrow.Table
        One row per key, with the columns of ``piece``, in the order of the keys; deletes are among
        them. A merged row has the sequence number of the newest row that counted.
    """
    members = piece.members
    if members is None:
        return piece.rows
    engine = plan.engine
    if engine.has_complete_levels:
        members = without_deeper_levels(members, piece.levels)
    kinds = as_numpy(piece.rows[VALUE_KIND])
    if engine.selects_rows and not kinds.any():
        is_first = engine.kind is EngineKind.FIRST_ROW
        return _taken(piece.rows, members.first() if is_first else members.last(), plan)
    names = [field.name for field in plan.schema.fields]
    selected = (SEQUENCE_NUMBER, VALUE_KIND) if engine.selects_rows else ()
    keys = tuple(key_column(name) for name in plan.schema.trimmed_primary_keys)
    merged = merge(
        piece.rows,
        [*names, *selected, *(keys if selected else ())],
        members,
        kinds=kinds if kinds.any() else None,
        engine=engine,
        required=[field.name for field in plan.schema.fields if not field.type.nullable],
        only_rows_stay=only_rows_stay,
    )
    columns = dict(merged.columns)
    if not selected:
        last = members.last()
        columns |= {name: piece.rows[name].take(arrow_array(last)) for name in keys}
        newest = _newest_that_counts(members, kinds, ignores=engine.ignore_delete)
        columns[SEQUENCE_NUMBER] = piece.rows[SEQUENCE_NUMBER].take(arrow_array(newest))
        given = np.where(
            (members.lengths == 1) & only_rows_stay, kinds[last], np.int8(RowKind.INSERT)
        )
        columns[VALUE_KIND] = arrow_array(
            given if merged.kinds is None else merged.kinds, pa.int8()
        )
    return pa.table({name: columns[name] for name in piece.rows.column_names})


def _taken(rows: pa.Table, positions: npt.NDArray[np.int64], plan: ReadPlan) -> pa.Table:
    """Take rows; key columns, which are there twice, once."""
    keys = plan.schema.trimmed_primary_keys
    taken = rows.drop_columns(list(keys)).take(arrow_array(positions))
    columns = (key_column(name) if name in keys else name for name in rows.column_names)
    return pa.table([taken[name] for name in columns], schema=rows.schema)


def _newest_that_counts(
    members: Members, kinds: npt.NDArray[np.int8], *, ignores: bool
) -> npt.NDArray[np.int64]:
    last = members.last()
    if not ignores or not kinds.any():
        return last
    ordered = kinds[members.positions]
    newest = members.place_of_last((ordered == RowKind.INSERT) | (ordered == RowKind.UPDATE_AFTER))
    return np.where(newest < 0, last, members.positions[np.maximum(newest, 0)])


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads runs of a split."""

    split: DataSplit
    plan: ReadPlan
    file_io: FileIO
    survivors: list[Mask | None]
    expiry: RecordExpiry | None

    @property
    def fields(self) -> tuple[DataField, ...]:
        """The columns of a data file."""
        columns = file_columns(self.plan.schema)
        return (*columns.keys, SEQUENCE_FIELD, KIND_FIELD, *columns.values)

    @property
    def fields_to_read(self) -> tuple[DataField, ...]:
        """The columns that are not copies of others."""
        keys = self.plan.schema.trimmed_primary_keys
        return tuple(field for field in self.fields if field.name not in keys)

    def _with_copies(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Add the key columns of the table, which are in the key copies."""
        keys = self.plan.schema.trimmed_primary_keys
        names = (
            key_column(field.name) if field.name in keys else field.name for field in self.fields
        )
        return pa.RecordBatch.from_arrays(
            [rows.column(name) for name in names], schema=self._schema
        )

    @property
    def _schema(self) -> pa.Schema:
        return arrow_schema(self.fields)

    def alone(self, run: SortedRun) -> Iterator[KeyedRows]:
        """Read a run that shares no key with another."""
        level = self.split.files[run[0]].level
        for rows in self._batches(run, self._batch_rows([run]), self.plan.bounds.piece_bytes):
            yield KeyedRows(
                pa.Table.from_batches([rows]), None, np.full(rows.num_rows, level, np.int8)
            )

    def together(self, section: Section) -> Iterator[KeyedRows]:
        """Read runs that share keys."""
        batch_rows = self._batch_rows(section.runs)
        options = self.plan.options
        columns = KeyColumns(
            keys=tuple(key_column(name) for name in self.plan.schema.trimmed_primary_keys),
            sequence_fields=options.sequence_fields,
            is_descending=options.sequence_descending,
            is_position_enough=section.is_age_enough and not options.sequence_fields,
        )
        levels = np.array([self.split.files[run[0]].level for run in section.runs], np.int8)
        open_bytes = self.plan.bounds.piece_bytes // len(section.runs)
        runs = [self._key_batches(run, batch_rows, open_bytes) for run in section.runs]
        for piece in ordered_runs(runs, columns, piece_rows=batch_rows * len(runs)):
            yield KeyedRows(piece.rows, piece.members, np.repeat(levels, piece.counts))

    def _key_batches(self, run: SortedRun, batch_rows: int, open_bytes: int) -> Iterator[KeyBatch]:
        for rows in self._batches(run, batch_rows, open_bytes):
            yield KeyBatch(rows, is_last=False)
        yield KeyBatch(no_rows(self._schema), is_last=True)

    def _batches(
        self, run: SortedRun, batch_rows: int, open_bytes: int
    ) -> Iterator[pa.RecordBatch]:
        """Read the rows of a run that are there for a reader."""
        for position in run:
            file, alive = self.split.files[position], self.survivors[position]
            with open_data_file(self.split, file, self.plan, self.file_io) as data:
                wanted = self.fields_to_read
                for rows in data.batches(
                    wanted, keep=alive, batch_rows=batch_rows, open_bytes=open_bytes
                ):
                    whole = self._with_copies(rows)
                    young = whole if self.expiry is None else self.expiry.young(whole)
                    if young.num_rows:
                        yield young

    def _batch_rows(self, runs: Sequence[SortedRun]) -> int:
        """Choose how many rows of each run to read at once."""
        bounds = self.plan.bounds
        rows = bounds.piece_rows // len(runs)
        for run in runs:
            rows = min(rows, self._rows_within(run, bounds.piece_bytes // len(runs)))
        return max(1, min(rows, bounds.batch_rows))

    def _rows_within(self, run: SortedRun, most_bytes: int) -> int:
        """Choose how many rows of a run take so many bytes, about."""
        files = [self.split.files[position] for position in run]
        by_size = rows_within(
            [(file.row_count, _COMPRESSION * file.file_size_bytes) for file in files], most_bytes
        )
        with open_data_file(self.split, files[0], self.plan, self.file_io) as data:
            return min(by_size, data.rows_within(data.fields, most_bytes))
