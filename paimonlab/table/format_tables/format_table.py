"""A format table as its users handle it.

Source: apache/paimon@1.4.2 ``org.apache.paimon.table.FormatTable``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimonlab.arrow_values import arrow_array, no_rows
from paimonlab.errors import ReadOnlyError, SchemaError, UnsupportedError, habits
from paimonlab.interrupts import whole_module
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.storage import FileIO, ReadOnlyFileIO
from paimonlab.table import format_tables
from paimonlab.table.definition import TableDefinition
from paimonlab.table.format_tables import writing
from paimonlab.table.format_tables.folders import (
    Folder,
    Partitioning,
    files_below,
    texts_of_given,
)
from paimonlab.table.format_tables.options import FormatOptions
from paimonlab.table.format_tables.reading import FileRead, FileToRead
from paimonlab.table.format_tables.replacing import Replacement
from paimonlab.table.format_tables.writing import FormatWriter, StagedFile
from paimonlab.table.partition_values import partition_values
from paimonlab.table.reading.conditions import resolved
from paimonlab.table.reading.time_travel import epoch_millis
from paimonlab.write.frames import batches_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from paimonlab.maintenance.orphans import OrphanFiles
    from paimonlab.table.reading.conditions import Where

_INSTEAD = {
    "snapshot": "a folder of files, which has no snapshots",
    "snapshots": "a folder of files, which has no snapshots",
    "tags": "a folder of files, which has no tags",
    "branches": "a folder of files, which has no branches",
    "compact": "a folder of files: overwrite(scan().to_arrow()) writes them anew",
    "delete": "a folder of files: rows are replaced by overwrite(…)",
    "update": "a folder of files: rows are replaced by overwrite(…)",
    "merge": "a folder of files: rows are replaced by overwrite(…)",
    "append": "write(rows)",
}


class FormatTable(habits.FamiliarNames, what="a format table", instead=_INSTEAD):
    """A folder of CSV, JSON, text, Parquet or ORC files that a catalog knows as a table.

    It has no snapshots: a read lists the folder and reads what is there. `paimonlab.connect`,
    then ``catalog.format_table("db.t")``.
    """

    def __init__(
        self, identifier: Identifier, schema: TableSchema, path: str, file_io: FileIO
    ) -> None:
        self.identifier = identifier
        self.schema = schema
        self.path = path
        """The folder."""
        self._file_io = file_io
        self._options = FormatOptions.of(schema.options)

    def __repr__(self) -> str:
        return f"<paimonlab.FormatTable {self.name}: {self.format} files in {self.path}>"

    @property
    def name(self) -> str:
        """``database.table``."""
        return self.identifier.full_name

    @property
    def format(self) -> str:
        """What its files are: csv, json, text, parquet or orc."""
        return self._options.format

    @property
    def compression(self) -> str:
        """How files that are written are compressed."""
        return self._options.compression

    @property
    def options(self) -> Mapping[str, str]:
        """Options by Paimon's keys."""
        return self.schema.options

    @property
    def comment(self) -> str | None:
        """What its maker says of it."""
        return self.schema.comment

    @property
    def partition_keys(self) -> tuple[str, ...]:
        """Columns whose values are names of folders."""
        return self.schema.partition_keys

    @property
    def primary_keys(self) -> tuple[str, ...]:
        """None: ()."""
        return ()

    @property
    def arrow_schema(self) -> pa.Schema:
        """The columns as an Arrow schema."""
        return self.schema.arrow_schema

    @property
    def file_io(self) -> FileIO:
        """The store of its files."""
        return self._file_io

    @property
    def format_options(self) -> FormatOptions:
        """What its options say."""
        return self._options

    @cached_property
    def partitioning(self) -> Partitioning:
        """How its partitions are folders."""
        return Partitioning(
            table=self.name,
            root=self.path,
            keys=tuple(self.schema.field(key) for key in self.partition_keys),
            options=self._options,
        )

    def with_options(self, options: Mapping[str, str]) -> FormatTable:
        """Return the table with options on top of its own."""
        schema = replace(self.schema, options={**self.schema.options, **options})
        return FormatTable(self.identifier, schema, self.path, self._file_io)

    # Reading

    def scan(
        self,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        *,
        limit: int | None = None,
    ) -> FormatScan:
        """Prepare a read; files are listed when it is done.

        Parameters
        ----------
        columns
            Names in the order wanted; None: all.
        where
            As of `Table.scan`. Folders of partitions that it rules out are not listed.
        limit
            At most this many rows, any of them.

        Raises
        ------
        ColumnNotFoundError
            If a column does not exist.
        """
        if limit is not None and limit < 0:
            raise ValueError(f"limit must not be negative, got {limit}")
        wanted, _, predicate = resolved(columns, where, self.schema, Options({}), self.name)
        return FormatScan(table=self, columns=wanted, predicate=predicate, limit=limit)

    def to_arrow(self) -> pa.Table:
        """Read all rows; their order means nothing."""
        return self.scan().to_arrow()

    def to_batches(self) -> pa.RecordBatchReader:
        """Stream all rows."""
        return self.scan().to_batches()

    def to_pandas(self) -> pd.DataFrame:
        """Read all rows into pandas."""
        return self.scan().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """Read all rows into polars."""
        return self.scan().to_polars()

    def partitions(self) -> pa.Table:
        """Return the partitions that have a folder, empty ones too.

        Returns
        -------
        pyarrow.Table
            The partition columns, then ``path``; one row per folder.
        """
        folders = list(self.folders())
        keys = self.partitioning.keys
        columns = [
            arrow_array([one.values[place].as_py() for one in folders], to_arrow(key.type))
            for place, key in enumerate(keys)
        ]
        paths = arrow_array([one.path for one in folders], pa.string())
        return pa.table([*columns, paths], names=[*(key.name for key in keys), "path"])

    def folders(self, predicate: Predicate | None = None) -> Iterator[Folder]:
        """List the folders of partitions, without those that a bound condition rules out."""
        if not self.partition_keys:
            raise SchemaError(f"{self.name} is not partitioned")
        return self.partitioning.found(self._file_io, predicate)

    # Writing

    def write(self, data: Any) -> int:
        """Add rows, in new files.

        Parameters
        ----------
        data
            Anything that speaks Arrow, as of `Table.write`.

        Returns
        -------
        int
            How many rows were written.

        Raises
        ------
        DataError
            If the rows do not fit the table, or its files cannot say a value. Nothing of them is
            visible then.
        """
        staged = self._staged(data, {})
        self.publish(staged)
        return sum(one.row_count for one in staged)

    @habits.arguments(habits.OVERWRITE)
    def overwrite(
        self,
        data: Any,
        *,
        partition: Mapping[str, Any] | None = None,
        dynamic: bool | None = None,
    ) -> int:
        """Replace rows: new files appear, then those that were there are deleted.

        Overwrites of one table take turns, whatever partitions they replace.

        Parameters
        ----------
        data
            As in `write`.
        partition
            Replace the partitions with these values of the first partition columns; ``data`` may
            leave those columns out. The folder is there afterwards also without rows.
        dynamic
            True: replace just the partitions that ``data`` has rows of; False: replace the whole
            table; None: as the option ``dynamic-partition-overwrite`` says.

        Returns
        -------
        int
            How many rows were written.

        Raises
        ------
        OverwriteConflictError
            If another overwrite went ahead, as this one stood still for a minute.
        """
        if partition is not None and dynamic:
            raise ValueError("give either the partition to overwrite or dynamic=True, not both")
        values = self.partition_scalars(partition or {})
        texts = texts_of_given(self.partitioning, values)
        staged = self._staged(data, values)
        self.replace(staged, texts, dynamic=dynamic if partition is None else False)
        return sum(one.row_count for one in staged)

    def publish(self, staged: Sequence[StagedFile]) -> None:
        """Give files that a writer wrote the names by which readers see them."""
        self.check_writable("writing to")
        writing.publish(self._file_io, staged, self.path)

    def replace(
        self,
        staged: Sequence[StagedFile],
        texts: Sequence[str | None] = (),
        *,
        dynamic: bool | None = None,
    ) -> None:
        """Publish files in place of others.

        Parameters
        ----------
        staged
            What a writer wrote.
        texts
            Of the first partition keys: what is replaced; () says all, or what is written.
        dynamic
            As of `overwrite`.

        Raises
        ------
        OverwriteConflictError
            As of `overwrite`.
        """
        self.check_writable("overwriting")
        is_dynamic = self._options.is_dynamic if dynamic is None else dynamic

        def folders() -> list[str]:
            if not self.partition_keys:
                return [self.path]
            if texts:
                found = self._folders_of({self.partitioning.folder_of(texts)}, len(texts))
                if len(texts) == len(self.partition_keys):
                    self._file_io.make_directory(self.partitioning.folder_of(texts))
            elif is_dynamic:
                written = {one.folder for one in staged}
                found = self._folders_of(written, len(self.partition_keys))
            else:
                found = {one.path for one in self.folders()}
            return sorted(found)

        self._replacement(staged).run(folders)

    def _replacement(self, staged: Sequence[StagedFile] = ()) -> Replacement:
        return Replacement(file_io=self._file_io, root=self.path, table=self.name, staged=staged)

    def _folders_of(self, named: set[str], count: int) -> set[str]:
        """Return the folders of partitions whose first values are those that folders name."""
        if count == len(self.partition_keys) and not self.partitioning.spells_freely:
            return named
        return {
            one.path for one in self.folders() if self.partitioning.canonical(one, count) in named
        }

    def truncate(self) -> None:
        """Delete all files; folders of partitions stay."""
        self.check_writable("truncating")
        self._replacement().run(
            lambda: [one.path for one in self.folders()] if self.partition_keys else [self.path]
        )

    def truncate_partitions(self, partitions: Sequence[Mapping[str, Any]]) -> None:
        """Delete the files of partitions; their folders stay.

        Parameters
        ----------
        partitions
            Each by values of partition columns.
        """
        self.check_writable("truncating partitions of")
        self._replacement().run(lambda: [one.path for one in self._matching(partitions)])

    def add_partition(self, partition: Mapping[str, Any], *, exist_ok: bool = False) -> None:
        """Make the folder of a partition.

        Parameters
        ----------
        partition
            Values of all partition columns.
        exist_ok
            Leave a partition that is there as it is.

        Raises
        ------
        SchemaError
            If it is there, unless ``exist_ok``, or a column is missing.
        """
        self.check_writable("adding a partition to")
        values = self.partition_scalars(partition)
        if len(values) < len(self.partition_keys):
            raise SchemaError(
                f"{self.name}: give all of the partition columns {', '.join(self.partition_keys)}"
            )
        folder = self.partitioning.folder_of(texts_of_given(self.partitioning, values))
        if self._file_io.exists(folder) and not exist_ok:
            raise SchemaError(f"{self.name}: the partition at {folder} already exists")
        self._file_io.make_directory(folder)

    def drop_partitions(self, partitions: Sequence[Mapping[str, Any]]) -> int:
        """Delete the folders of partitions with all that is in them.

        Parameters
        ----------
        partitions
            Each by values of partition columns.

        Returns
        -------
        int
            How many partitions there were.
        """
        self.check_writable("dropping partitions of")
        with self._replacement().turn() as turn:
            found = self._matching(partitions)
            for folder in found:
                self._file_io.delete_directory(folder.path)
                writing.discard(self._file_io, (), [folder.path.rpartition("/")[0]], self.path)
            turn.end()
        return len(found)

    def remove_orphan_files(
        self,
        *,
        older_than: datetime | timedelta | int | str | None = None,
        dry_run: bool = True,
        force: bool = False,
    ) -> OrphanFiles:
        """Find the hidden files that killed writers left, and delete them if not ``dry_run``.

        Those of an overwrite are undone by the next one. Folders of partitions stay, and files of
        other writers, such as Java's ``_temporary``.

        Parameters
        ----------
        older_than
            Newer files are kept, as they may belong to a write that is under way; as of
            `Maintenance.remove_orphan_files`. None: a day.
        dry_run
            Delete nothing, only return what would be deleted.
        force
            Include files that are less than a day old: nobody may write to the table.

        Raises
        ------
        ValueError
            If ``older_than`` is not past, or less than a day ago without ``force``.

        Notes
        -----
        A write whose files are deleted fails, and nothing of it is visible.
        """
        if not dry_run:
            self.check_writable("cleaning")
        return format_tables.cleaning.remove_orphan_files(
            self._replacement(),
            older_than_millis=epoch_millis(older_than),
            dry_run=dry_run,
            force=force,
        )

    def writer(self) -> FormatWriter:
        """Return what writes rows to hidden files; `write` and `overwrite` publish theirs."""
        return FormatWriter(
            table=self.name,
            schema=self.schema,
            partitioning=self.partitioning,
            file_io=self._file_io,
        )

    def check_writable(self, what: str) -> None:
        """Refuse a change of a table that is only read, or whose options ask for more.

        Raises
        ------
        ReadOnlyError
            If the catalog is read-only.
        UnsupportedError
            If partitions should become known to another metastore.
        """
        if isinstance(self._file_io, ReadOnlyFileIO):
            raise ReadOnlyError(f"{what} {self.name}")
        if self._options.syncs_to is not None:
            raise UnsupportedError(
                f"format-table.commit-hive-sync-url = '{self._options.syncs_to}' of {self.name}",
                "partitions are not added to another metastore",
            )

    def _staged(self, data: Any, values: Mapping[str, pa.Scalar]) -> list[StagedFile]:
        self.check_writable("writing to")
        names = self.schema.field_names
        reader = batches_of(data, names, table=self.name, fields=self.schema.fields)
        with self.writer() as writer:
            for batch in reader:
                writer.write(_with_values(batch, values, self.name))
            return writer.staged()

    def partition_scalars(self, partition: Mapping[str, Any]) -> dict[str, pa.Scalar]:
        """Return the values of a partition as its columns have them; errors name the column."""
        if not partition:
            return {}
        definition = TableDefinition(name=self.name, schema=self.schema, options=Options({}))
        return partition_values(partition, definition)

    def _matching(self, partitions: Sequence[Mapping[str, Any]]) -> list[Folder]:
        if not partitions or not all(partitions):
            raise ValueError("name at least one partition, each by a value of a partition column")
        keys = self.partition_keys
        wanted = [
            {name: value.as_py() for name, value in self.partition_scalars(one).items()}
            for one in partitions
        ]
        return [
            folder
            for folder in self.folders()
            if any(
                all(folder.values[keys.index(name)].as_py() == value for name, value in one.items())
                for one in wanted
            )
        ]


def _with_values(
    batch: pa.RecordBatch, values: Mapping[str, pa.Scalar], table: str
) -> pa.RecordBatch:
    """Add the columns of a partition that is named, or check them."""
    for name, value in values.items():
        column = pa.repeat(value, batch.num_rows)
        if batch.schema.get_field_index(name) < 0:
            batch = batch.append_column(pa.field(name, value.type), column)
        elif any(one != value.as_py() for one in batch.column(name).unique().to_pylist()):
            raise SchemaError(f"{table}: rows have other values of {name!r} than {value.as_py()!r}")
    return batch


@dataclass(frozen=True, kw_only=True)
class FormatScan:
    """Rows of a format table: ``table.scan(…)``; the files are those when it is read."""

    table: FormatTable
    columns: tuple[str, ...]
    predicate: Predicate | None = field(repr=False)
    """Bound to the columns of the table."""
    limit: int | None = None

    @property
    def arrow_schema(self) -> pa.Schema:
        """Names and types of the result."""
        whole = self.table.arrow_schema
        return pa.schema([whole.field(name) for name in self.columns])

    def files(self) -> Iterator[FileToRead]:
        """List the files that may have rows of the result."""
        file_io, table = self.table.file_io, self.table
        if not table.partition_keys:
            for one in files_below(file_io, table.path):
                yield FileToRead(one.path, one.size_bytes)
            return
        for folder in table.folders(self.predicate):
            for one in files_below(file_io, folder.path):
                yield FileToRead(one.path, one.size_bytes, folder.values)

    def file_read(self) -> FileRead:
        """All that reading a file takes, as one picklable value."""
        return FileRead(
            table=self.table.name,
            fields=self.table.schema.fields,
            partition_keys=self.table.partition_keys,
            columns=self.columns,
            predicate=self.predicate,
            options=self.table.format_options,
        )

    def to_batches(self) -> pa.RecordBatchReader:
        """Stream the rows in bounded memory; their order means nothing."""
        return pa.RecordBatchReader.from_batches(self.arrow_schema, self._batches())

    def _batches(self) -> Iterator[pa.RecordBatch]:
        read = self.file_read()
        left = self.limit
        rows = chain.from_iterable(read.batches(self.table.file_io, one) for one in self.files())
        for batch in rows:
            if left is None:
                yield self._declared(batch)
                continue
            yield self._declared(batch.slice(0, left))
            left -= min(left, batch.num_rows)
            if not left:
                return
        yield no_rows(self.arrow_schema)

    def _declared(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a batch whose columns are NOT NULL where those of the table are."""
        if not self.columns:
            return batch
        return pa.RecordBatch.from_arrays(batch.columns, schema=self.arrow_schema)

    def count(self) -> int:
        """Return how many rows there are: all of them are read."""
        return sum(batch.num_rows for batch in self.to_batches())

    def to_arrow(self) -> pa.Table:
        """Read all rows; their order means nothing."""
        return self.to_batches().read_all()

    def to_pandas(self) -> pd.DataFrame:
        """Read all rows into pandas, which turns whole numbers with nulls into floats."""
        whole_module("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """Read all rows into polars."""
        return whole_module("polars").from_arrow(self.to_arrow())
