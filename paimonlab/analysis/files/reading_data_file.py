"""Read one data file: what its metadata says, and some of its rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.analysis.files.data_file import FilePlace
from paimonlab.analysis.partition_names import partition_names
from paimonlab.datafile.layout import file_columns
from paimonlab.errors import CorruptDataError, NotFoundError, UnsupportedError, close_matches
from paimonlab.formats.data_format import DataInput, open_input
from paimonlab.formats.describe import describe
from paimonlab.formats.description import FileDescription
from paimonlab.formats.manifests.entry_rows import table_to_entries
from paimonlab.read.read_plan import ReadOptions
from paimonlab.scan.split_paths import bucket_paths
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.partitions.folders import PartitionOptions
from paimonlab.spec.schema.row_tracking import TRACKING_FIELDS
from paimonlab.spec.types.data_types import DataField
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.store import TableStore
from paimonlab.table.system.live import files_of
from paimonlab.table.table import Table
from paimonlab.table.texts import key_text

ROWS = 20
MOST_ROWS = 1000
_NAMED = 5


@dataclass(frozen=True, slots=True)
class StoredRows:
    """Consecutive rows, as a file has them."""

    offset: int
    names: tuple[str, ...]
    """Of the columns."""
    rows: pa.Table | None
    """None if there are none, or if they cannot be read."""
    problem: str
    """Why they cannot be read; "" if they can."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A live data file of a table."""

    table: Table
    place: FilePlace
    path: str

    def describe(self) -> FileDescription:
        """Read what the file says about itself."""
        size = self.place.meta.file_size_bytes
        return describe(store_of(self.table).file_io, self.path, size_bytes=size)

    def rows_from(self, offset: int) -> StoredRows:
        """Read `ROWS` rows with all columns that the file's schema explains."""
        return _rows(
            definition_of(self.table).options, store_of(self.table), self.path, self.place, offset
        )


def data_file_of(table: Table, name: str, *, snapshot: int | None = None) -> StoredFile:
    """Find a live data file.

    Parameters
    ----------
    table
        The table.
    name
        Name of a live file, or a part of it that no other file's name contains.
    snapshot
        In which the file is alive; None: the latest.

    Raises
    ------
    NotFoundError
        If there is no such file, or several.
    """
    place, path = _find(table, name, snapshot)
    return StoredFile(table, place, path)


def _find(table: Table, name: str, snapshot: int | None) -> tuple[FilePlace, str]:
    shown = table.snapshot if snapshot is None else table.snapshots.get(snapshot)
    definition, store = definition_of(table), store_of(table)
    live = files_of(store.manifests, shown, with_postponed=True)
    matches = live.filter(pc.equal(live["file_name"], name))
    if not matches.num_rows:
        matches = live.filter(pc.match_substring(live["file_name"], name))
    if shown is None or matches.num_rows != 1:
        names = matches["file_name"].slice(0, _NAMED).to_pylist()
        if not names:
            hint = close_matches(name, live["file_name"].to_pylist()[:MOST_ROWS])
            raise NotFoundError(f"{table.name} has no live data file {name!r}.{hint}")
        more = f" and {matches.num_rows - _NAMED} more" if matches.num_rows > _NAMED else ""
        raise NotFoundError(
            f"{table.name}: {name!r} is in the names of {', '.join(names)}{more}; give more of it"
        )
    matches = matches.combine_chunks()
    (entry,) = table_to_entries(matches)
    schema = definition.schema
    keys = [schema.field(key) for key in schema.trimmed_primary_keys]
    fields = [schema.field(key) for key in schema.partition_keys]
    (folder,) = bucket_paths(
        matches["partition"].combine_chunks(),
        [entry.bucket],
        fields,
        definition.options.slice(PartitionOptions),
    )
    place = FilePlace(
        snapshot_id=shown.id,
        partition=partition_names(definition.schema, matches["partition"])[0],
        bucket=entry.bucket,
        meta=entry.file,
        min_key=key_text(matches["min_key"].combine_chunks(), keys)[0].as_py(),
        max_key=key_text(matches["max_key"].combine_chunks(), keys)[0].as_py(),
    )
    return place, store.layout.data_file(folder, entry.file.file_name, entry.file.external_path)


def _rows(
    options: Options, store: TableStore, path: str, place: FilePlace, offset: int
) -> StoredRows:
    """Read some rows as the file has them, with all its columns that the schema explains."""
    schema = store.schemas.get(place.meta.schema_id)
    is_legacy = options.slice(ReadOptions).legacy_ltz
    opening = open_input(
        store.file_io, path, size_bytes=place.meta.file_size_bytes, legacy_ltz=is_legacy
    )
    with closing(opening) as opened_file:
        readable = (*file_columns(schema).physical, *TRACKING_FIELDS)
        by_name = {
            field.name: field for field in readable if field.name in opened_file.column_names
        }
        fields = list(by_name.values())
        try:
            batches, problem = list(_batches(opened_file, fields, offset)), ""
        except (CorruptDataError, UnsupportedError) as error:
            batches, problem = [], str(error)
    table = pa.Table.from_batches(batches) if batches else None
    return StoredRows(offset, tuple(field.name for field in fields), table, problem)


def _batches(
    opened_file: DataInput, fields: list[DataField], offset: int
) -> Iterator[pa.RecordBatch]:
    """Yield at most `ROWS` rows from ``offset`` on."""
    left = ROWS
    groups = [
        group for group in opened_file.row_groups if group.first_row + group.row_count > offset
    ]
    if not groups or not fields:
        return
    skipped = offset - groups[0].first_row
    indexes = [group.index for group in groups]
    for batch in opened_file.batches(fields, batch_rows=ROWS, row_groups=indexes):
        part = batch.slice(min(skipped, batch.num_rows), left)
        skipped = max(skipped - batch.num_rows, 0)
        left -= part.num_rows
        if part.num_rows:
            yield part
        if not left:
            return
