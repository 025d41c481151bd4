"""Folders of Parquet and ORC files become append tables.

Files are moved, or copied where they are in no partition, as they are. The folder is read first,
and nothing is moved before every file is known to fit. What is to be done is then written beside
the table, so that a migration that was killed is gone on with by starting it again. Files in
folders of partitions lack the partition columns: where they are moved, readers take these from the
partition; where they are not, their rows are written anew, in one commit, which the plan names too.

Source: apache/paimon@1.4.2 ``org.apache.paimon.hive.migrate.HiveMigrator``,
``org.apache.paimon.migrate.FileMetaUtils``, which migrate tables of a Hive metastore. Names of
files are new here: deletion vectors and orphan files are found by names.
"""

from __future__ import annotations

import errno
import uuid
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
import pyarrow as pa

from paimonlab.catalog.adopted_files import (
    FileDescriber,
    PlannedFile,
    messages_of,
    partition_columns,
    partition_values,
)
from paimonlab.catalog.folder_columns import check_files, columns_of, partition_types_of
from paimonlab.catalog.folder_files import Folder, FolderFile, read_folder
from paimonlab.commit.history import CommitHistory
from paimonlab.datafile.layout import MOVED_PREFIX
from paimonlab.errors import (
    CommitOutcomeUnknownError,
    CorruptDataError,
    CorruptMetadataError,
    PostCommitError,
    SchemaError,
    SnapshotNotFoundError,
    UnsupportedError,
)
from paimonlab.formats.foreign_files import rows_of
from paimonlab.metadata.layout import MIGRATION_PLAN
from paimonlab.progress import counting
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.spec.decoding import ready
from paimonlab.spec.external_paths import folder_of, scheme_of
from paimonlab.spec.iceberg.options import IcebergPlace
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.options.given import OptionValue
from paimonlab.spec.partitions.folders import PartitionOptions, bucket_path, partition_paths
from paimonlab.spec.plurals import many
from paimonlab.spec.row_digest import RowDigest
from paimonlab.spec.schema.definition import Schema
from paimonlab.spec.snapshot import CommitKind
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataType, with_nullable
from paimonlab.spec.types.text import format_type
from paimonlab.storage import FileIO, join
from paimonlab.table.committing.failures import files_deleted_on_failure
from paimonlab.table.inside import definition_of, store_of, writable
from paimonlab.table.writing.by_workers import (
    digest_by_workers,
    digest_of_added,
    write_by_workers,
)
from paimonlab.workers import Workers, side_by_side

if TYPE_CHECKING:
    from paimonlab.progress import Progress
    from paimonlab.spec.snapshot import Snapshot
    from paimonlab.table.table import Table

_COPY_BYTES = 8 << 20
_IDENTIFIER = 1


class _Catalog(Protocol):
    """What is asked of the catalog."""

    def has_table(self, name: str) -> bool: ...

    def table(self, name: str) -> Table: ...

    def create_table(self, name: str, schema: Any) -> Table: ...

    def drop_table(self, name: str) -> None: ...

    @property
    def file_io(self) -> FileIO: ...


class _Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is written beside the table until the migration is done."""

    source: str
    moves: bool
    user: str
    """Commits it."""
    files: tuple[PlannedFile, ...]
    rewrites: bool = False
    """Whether the rows are written anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderMigration:
    """What a migration did, or with ``dry_run`` would do."""

    source: str
    """The folder."""
    target: str
    """The table."""
    moves: bool
    """Whether files are moved; else they are copied."""
    creates_target: bool
    """Whether there was no such table."""
    columns: Mapping[str, str]
    """Types of the table's columns by name."""
    partition_keys: tuple[str, ...]
    files: tuple[PlannedFile, ...]
    is_resumed: bool = False
    """Whether one that was killed is gone on with."""
    snapshot: Snapshot | None = None
    """What was committed; None: nothing, or it was a dry run."""
    is_compared: bool = False
    """Whether copies were read again, and have the bytes of the files; or, where rows were written
    anew, whether those that were added are the rows of the files."""
    is_dry_run: bool = False

    @property
    def row_count(self) -> int:
        """Rows of all files."""
        return sum(file.row_count for file in self.files)

    @property
    def size_bytes(self) -> int:
        """Bytes of all files."""
        return sum(file.size_bytes for file in self.files)

    def __repr__(self) -> str:
        """Say what it is; `files` has all of it."""
        verb = "move" if self.moves else "copy"
        done = f"would {verb}" if self.is_dry_run else {"move": "moved", "copy": "copied"}[verb]
        return (
            f"<FolderMigration of {self.source} to {self.target}: {done} "
            f"{many(len(self.files), 'file')}, {many(self.row_count, 'row')}, "
            f"{many(self.size_bytes, 'byte')}>"
        )


def migrate_folder(  # noqa: PLR0913 - as the verb of the catalog
    catalog: _Catalog,
    source: str,
    target: str,
    *,
    moves: bool = False,
    file_format: str | None = None,
    partition_types: Mapping[str, str] | None = None,
    options: Mapping[str, OptionValue] | None = None,
    comment: str | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
    read: Callable[[FileIO, str, Progress | None], Folder] = read_folder,
    finish: Callable[[], object] | None = None,
    columns_if_empty: Mapping[str, DataType] | None = None,
    workers: Workers = side_by_side,
) -> FolderMigration:
    """Make an append table of a folder of files; see `Catalog.migrate_folder`.

    Parameters
    ----------
    read
        Finds the files that belong to it.
    finish
        Is called once the rows are committed, and again if the migration is gone on with after
        that.
    columns_if_empty
        The columns of the table where there are no files to tell; None: there have to be some.
    workers
        What moves or copies files, or writes their rows.
    """
    folder = _absolute(source)
    is_new = not catalog.has_table(target)
    io = catalog.file_io.within(folder)
    if not is_new and (plan := _unfinished(catalog.table(target))) is not None:
        return _resumed(
            catalog, target, plan, folder, finish, moves=moves, progress=progress, workers=workers
        )
    found = read(io, folder, progress)
    partition_fields = partition_types_of(found.partition_keys, found.files, partition_types or {})
    definition = columns_of(found, folder, partition_fields, columns_if_empty)
    is_rewritten = bool(found.files and found.partition_keys) and not moves
    check_files(found, file_format, is_rewritten=is_rewritten)
    if is_new:
        _check_options(options or {}, is_rewritten=is_rewritten)
    else:
        _check_fits(catalog.table(target), definition, is_rewritten=is_rewritten)
    migration = FolderMigration(
        source=folder,
        target=target,
        moves=moves,
        creates_target=is_new,
        columns={name: format_type(kind) for name, kind in definition.items()},
        partition_keys=found.partition_keys,
        files=(),
        is_dry_run=dry_run,
    )
    if dry_run:
        return replace(migration, files=_planned(found.files, [""] * len(found.files)))
    table = (
        catalog.create_table(
            target,
            Schema(
                {name: format_type(kind) for name, kind in definition.items()},
                found.partition_keys,
                (),
                options or {},
                comment,
            ),
        )
        if is_new
        else catalog.table(target)
    )
    try:
        folders = [""] * len(found.files)
        if is_rewritten:
            partition_columns(table, found.files)
        else:
            folders = _folders(table, found.files)
    except SchemaError:
        if is_new:
            catalog.drop_table(table.name)
        raise
    plan = _Plan(
        source=folder,
        moves=moves,
        user=f"migration-{uuid.uuid4()}",
        files=_planned(found.files, folders),
        rewrites=is_rewritten,
    )
    store = store_of(table)
    if not store.file_io.publish(_plan_path(table), msgspec.json.encode(plan)):
        raise SchemaError(f"{target}: another migration into it is not finished")
    migration = replace(migration, files=plan.files)
    if is_rewritten:
        return _written_anew(catalog, table, plan, migration, progress, workers)
    return _done(table, plan, migration, progress, finish, workers)


def unfinished_source(catalog: _Catalog, target: str) -> str | None:
    """Return the folder whose migration into a table is not finished; None: there is none."""
    if not catalog.has_table(target):
        return None
    plan = _unfinished(catalog.table(target))
    return None if plan is None else plan.source


def _absolute(source: str) -> str:
    """Return the path of a folder as its store has it."""
    if scheme_of(source) in ("", "file"):
        return folder_of(source if scheme_of(source) else str(Path(source).absolute()))
    return source.rstrip("/")


def _unfinished(table: Table) -> _Plan | None:
    path = _plan_path(table)
    try:
        return msgspec.json.decode(store_of(table).file_io.read(path), type=ready(_Plan))
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        raise CorruptMetadataError(path, str(error)) from error


def _plan_path(table: Table) -> str:
    return join(store_of(table).layout.table_path, MIGRATION_PLAN)


def _resumed(
    catalog: _Catalog,
    target: str,
    plan: _Plan,
    folder: str,
    finish: Callable[[], object] | None,
    *,
    moves: bool,
    progress: Progress | None,
    workers: Workers,
) -> FolderMigration:
    table = catalog.table(target)
    if (plan.source, plan.moves) != (folder, moves):
        how = "moves" if plan.moves else "copies"
        raise SchemaError(
            f"{table.name}: a migration of {plan.source} that {how} files is not finished; "
            "finish that one first"
        )
    schema = table.schema
    migration = FolderMigration(
        source=folder,
        target=table.name,
        moves=moves,
        creates_target=False,
        columns={field.name: format_type(field.type) for field in schema.fields},
        partition_keys=schema.partition_keys,
        files=plan.files,
        is_resumed=True,
    )
    if plan.rewrites:
        return _written_anew(catalog, table, plan, migration, progress, workers)
    return _done(table, plan, migration, progress, finish, workers)


def _done(
    table: Table,
    plan: _Plan,
    migration: FolderMigration,
    progress: Progress | None,
    finish: Callable[[], object] | None,
    workers: Workers,
) -> FolderMigration:
    store = store_of(table)
    io = _reaching(store.file_io.within(plan.source), plan.files)
    more = counting(progress, len(plan.files), "files")
    taken = workers(
        _Taking(io, FileDescriber.of(table), plan.moves),
        plan.files,
        what=f"{'moving' if plan.moves else 'copying'} files of {plan.source}",
        size=None if plan.moves else _size_of,
        done=lambda _: more(1),
    )
    messages = messages_of(table, plan.files, [meta for meta, _ in taken])
    snapshot = table.commit(messages, user=plan.user, identifier=_IDENTIFIER)
    if snapshot is not None and snapshot.delta_record_count != migration.row_count:
        raise CorruptMetadataError(
            snapshot.file_name,
            f"it adds {snapshot.delta_record_count:,} rows, the folder had {migration.row_count:,}",
        )
    if finish is not None:
        finish()
    store.file_io.delete(_plan_path(table))
    if plan.moves:
        _delete_empty(io, plan)
    is_compared = all(is_copied for _, is_copied in taken)
    return replace(migration, snapshot=snapshot, is_compared=is_compared)


def _reaching(io: FileIO, files: Sequence[PlannedFile] | Sequence[FolderFile]) -> FileIO:
    """Return a store in which all files can be read: partitions of Hive may be anywhere."""
    paths = {file.source if isinstance(file, PlannedFile) else file.path for file in files}
    return io.within(*sorted({path.rpartition("/")[0] for path in paths}))


@dataclass(frozen=True, slots=True)
class _Taking:
    """Brings a file to its place, durably, and describes it there; picklable."""

    io: FileIO
    """In which all files can be read."""
    described: FileDescriber
    moves: bool

    def __call__(self, file: PlannedFile) -> tuple[DataFileMeta, bool]:
        """Return whether it was copied, too."""
        target = join(self.described.table_path, file.target)
        is_copied = _transferred(self.io, file, target, moves=self.moves)
        return self.described(file), is_copied


def _size_of(file: PlannedFile) -> int:
    return file.size_bytes


def _transferred(io: FileIO, file: PlannedFile, target: str, *, moves: bool) -> bool:
    """Bring a file to its place; True if it was copied now, durably, and the copy compared.

    Raises
    ------
    CorruptDataError
        If the file is not as it was when it was planned, or its copy has other bytes.
    """
    if io.has_file(target):
        if io.size_bytes(target) == file.size_bytes:
            return False
        if moves:
            raise CorruptDataError(target, f"it has not the {file.size_bytes:,} bytes planned")
        io.delete(target)  # a copy that was not finished
    _check_unchanged(io, file)
    if moves:
        io.make_directory(target.rpartition("/")[0])
        try:
            io.rename(file.source, target)
        except OSError as error:
            if error.errno == errno.EXDEV:
                raise UnsupportedError(
                    f"moving {file.source} to another disk", "copy the files: moves=False"
                ) from error
            raise
        return False
    checksum = 0
    with io.open_input(file.source) as read, io.open_output(target) as written:
        while data := read.read(_COPY_BYTES):
            checksum = zlib.crc32(data, checksum)
            written.write(data)
    io.sync_files({target: file.size_bytes})
    if _checksum(io, target) != checksum:
        io.delete(target)  # who goes on takes a file of this size for a copy
        raise CorruptDataError(target, f"it has not the bytes of {file.source}; copy it again")
    return True


def _checksum(io: FileIO, path: str) -> int:
    checksum = 0
    with io.open_input(path) as read:
        while data := read.read(_COPY_BYTES):
            checksum = zlib.crc32(data, checksum)
    return checksum


def _check_unchanged(io: FileIO, file: PlannedFile) -> None:
    try:
        size_bytes = io.size_bytes(file.source)
    except FileNotFoundError as error:
        raise CorruptDataError(file.source, "the file was deleted meanwhile") from error
    if size_bytes != file.size_bytes:
        problem = f"it has {size_bytes:,} bytes now, {file.size_bytes:,} when it was planned"
        raise CorruptDataError(file.source, problem)


def _delete_empty(io: FileIO, plan: _Plan) -> None:
    folders = {plan.source}
    for file in plan.files:
        folder = file.source.rpartition("/")[0]
        while len(folder) > len(plan.source):
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    for folder in sorted(folders, key=len, reverse=True):
        io.delete_empty_directory(folder)


def _folders(table: Table, files: Sequence[FolderFile]) -> list[str]:
    """Return the folder of each file, relative to the table."""
    definition = definition_of(table)
    options = definition.options.slice(PartitionOptions)
    if not table.partition_keys:
        return [bucket_path("", 0, options.data_directory)] * len(files)
    columns = partition_columns(table, files)
    types = [field.type for field in definition.partition_fields]
    paths = partition_paths(table.partition_keys, columns, types, options)
    return [bucket_path(path, 0, options.data_directory) for path in paths]


def _planned(files: Sequence[FolderFile], folders: Sequence[str]) -> tuple[PlannedFile, ...]:
    number = str(uuid.uuid4())
    return tuple(
        PlannedFile(
            source=file.path,
            target=join(folders[count], f"{MOVED_PREFIX}{number}-{count}.{file.file_format}"),
            partition=file.partition,
            size_bytes=file.size_bytes,
            row_count=file.row_count,
        )
        for count, file in enumerate(files)
    )


def _check_options(options: Mapping[str, OptionValue], *, is_rewritten: bool) -> None:
    if is_rewritten:
        return  # rows are written as others are
    given = {key: str(value) for key, value in options.items()}
    if given.get("bucket", "-1") != "-1":
        raise UnsupportedError(
            f"migrating files into a table with 'bucket' = '{given['bucket']}'",
            "nobody knows which bucket their rows are of; leave 'bucket' out",
        )
    if given.get("metadata.iceberg.storage", "disabled") != "disabled":
        raise UnsupportedError("migrating files into a table with Iceberg metadata", _NO_IDS)


_NO_IDS = "readers of Iceberg find columns by ids, which the files lack; write their rows instead"


def _check_fits(table: Table, columns: Mapping[str, DataType], *, is_rewritten: bool) -> None:
    definition = definition_of(table)
    is_plain = definition.bucket_mode is BucketMode.BUCKET_UNAWARE
    if table.primary_keys or not (is_plain or is_rewritten):
        raise UnsupportedError(
            f"migrating files into {table.name}", "it has a primary key or buckets"
        )
    if not is_rewritten and definition.options.slice(IcebergPlace).is_enabled:
        raise UnsupportedError(f"migrating files into {table.name}", _NO_IDS)
    known = {field.name: with_nullable(field.type, nullable=True) for field in table.schema.fields}
    if known != dict(columns):
        theirs = ", ".join(f"{name} {format_type(kind)}" for name, kind in columns.items())
        raise SchemaError(f"{table.name} has other columns than the files, which have {theirs}")
    for field in table.schema.fields:
        if not field.type.nullable:
            raise UnsupportedError(
                f"migrating files into {table.name}", f"column {field.name!r} must not be null"
            )


def _written_anew(
    catalog: _Catalog,
    table: Table,
    plan: _Plan,
    migration: FolderMigration,
    progress: Progress | None,
    workers: Workers,
) -> FolderMigration:
    """Write the rows of files in folders of partitions, in one commit, at most once."""
    store = store_of(table)
    try:
        snapshot, rows = _committed(table, plan), None
        if snapshot is None:
            verb = _rows_committed_by(workers) if workers.divides else _rows_committed
            snapshot, rows = verb(table, plan, migration, progress)
    except (CommitOutcomeUnknownError, PostCommitError):
        raise  # whoever goes on with the plan finds out
    except BaseException:
        store.file_io.delete(_plan_path(table))
        if migration.creates_target and table.snapshot is None:
            catalog.drop_table(table.name)
        raise
    # Whoever ends this finds by the plan that the rows are there.
    is_compared = _compared(table, snapshot, rows, plan, migration, workers)
    store.file_io.delete(_plan_path(table))
    return replace(migration, snapshot=snapshot, is_compared=is_compared)


def _compared(
    table: Table,
    snapshot: Snapshot | None,
    rows: RowDigest | None,
    plan: _Plan,
    migration: FolderMigration,
    workers: Workers,
) -> bool:
    """Compare the rows that were added with those of the files, whatever else the table has.

    Parameters
    ----------
    rows
        Those that were read; None: a process that died did that, so they are read again.

    Returns
    -------
    bool
        False if there are none, or if files are not as they were any more.

    Raises
    ------
    CorruptDataError
        If they differ.
    """
    added = None if snapshot is None else _addition(table, snapshot)
    if added is None:
        return False
    what = f"comparing {table.name}"
    if rows is None:
        try:
            jobs, read = _reading(table, plan, migration)
            for file, _ in jobs:
                _check_unchanged(read.io, file)
        except CorruptDataError:
            return False
        types = [field.type for field in table.schema.fields]
        rows = digest_by_workers(jobs, read, types, workers=workers, what=what)
    there = digest_of_added(
        definition_of(table), store_of(table), added, workers=workers, what=what
    )
    if there != rows:
        raise CorruptDataError(
            store_of(table).layout.table_path,
            f"{table.name} got {there.rows:,} rows that are not the {rows.rows:,} of {plan.source}",
        )
    return True


def _addition(table: Table, last: Snapshot) -> Snapshot | None:
    """Return the snapshot that added the rows of a commit: compaction may have made one more."""
    found = last
    try:
        while (found.commit_user, found.commit_kind) != (last.commit_user, CommitKind.APPEND):
            found = store_of(table).snapshots.get(found.id - 1)
    except SnapshotNotFoundError:  # it expired
        return None
    return found


def _committed(table: Table, plan: _Plan) -> Snapshot | None:
    """Return what a migration committed before its process died."""
    snapshots = store_of(table).snapshots
    history = CommitHistory(snapshots, table.name, user=plan.user, identifier=_IDENTIFIER)
    return history.find(snapshots.latest(), None)


def _rows_committed(
    table: Table, plan: _Plan, migration: FolderMigration, progress: Progress | None
) -> tuple[Snapshot | None, RowDigest]:
    io = _reaching(store_of(table).file_io.within(plan.source), plan.files)
    schema = arrow_schema(table.schema.fields)
    values = partition_values(table, plan.files)
    seen = RowDigest([field.type for field in table.schema.fields])

    def rows() -> Iterator[pa.RecordBatch]:
        for number, file in enumerate(plan.files):
            _check_unchanged(io, file)
            constants = dict(zip(migration.partition_keys, values[number], strict=True))
            for batch in rows_of(io, file.source):
                whole = _with_constants(batch, constants, schema)
                seen.add(whole)
                yield whole
            if progress is not None:
                progress(number + 1, len(plan.files), "files")

    writer = table.new_writer(user=plan.user)
    try:
        writer.write(pa.RecordBatchReader.from_batches(schema, rows()))
        _check_count(migration, seen.rows)
        messages = writer.prepare_commit(_IDENTIFIER)
    except BaseException:
        writer.abort()
        raise
    with files_deleted_on_failure(definition_of(table), store_of(table), messages):
        return table.commit(messages, user=plan.user, identifier=_IDENTIFIER), seen


def _rows_committed_by(
    workers: Workers,
) -> Callable[[Table, _Plan, FolderMigration, Progress | None], tuple[Snapshot | None, RowDigest]]:
    """Return what does as `_rows_committed`, with rows that are never here."""

    def commit(
        table: Table, plan: _Plan, migration: FolderMigration, progress: Progress | None
    ) -> tuple[Snapshot | None, RowDigest]:
        definition, store = writable(table)
        jobs, read = _reading(table, plan, migration)
        more = counting(progress, len(plan.files), "files")
        written = write_by_workers(
            definition,
            store,
            jobs,
            read,
            read.schema.names,
            workers=workers,
            what=f"migrating {plan.source}",
            user=plan.user,
            done=lambda _: more(1),
        )
        with files_deleted_on_failure(definition, store, written.messages):
            _check_count(migration, written.rows.rows)
            landed = table.commit(written.messages, user=plan.user, identifier=_IDENTIFIER)
        return landed, written.rows

    return commit


def _reading(
    table: Table, plan: _Plan, migration: FolderMigration
) -> tuple[list[tuple[PlannedFile, Mapping[str, pa.Scalar]]], _Rows]:
    """Return the files with the values of their folders, and what reads the rows of each."""
    values = partition_values(table, plan.files)
    jobs: list[tuple[PlannedFile, Mapping[str, pa.Scalar]]] = [
        (file, dict(zip(migration.partition_keys, one, strict=True)))
        for file, one in zip(plan.files, values, strict=True)
    ]
    io = _reaching(store_of(table).file_io.within(plan.source), plan.files)
    return jobs, _Rows(io, arrow_schema(table.schema.fields))


@dataclass(frozen=True, slots=True)
class _Rows:
    """Reads the rows of a file with those of its folder; picklable."""

    io: FileIO
    schema: pa.Schema

    def __call__(
        self, job: tuple[PlannedFile, Mapping[str, pa.Scalar]]
    ) -> Iterator[pa.RecordBatch]:
        file, constants = job
        _check_unchanged(self.io, file)
        for batch in rows_of(self.io, file.source):
            yield _with_constants(batch, constants, self.schema)


def _check_count(migration: FolderMigration, count: int) -> None:
    if count != migration.row_count:
        problem = f"{count:,} rows were read, footers say {migration.row_count:,}"
        raise CorruptDataError(migration.source, problem)


def _with_constants(
    batch: pa.RecordBatch, constants: Mapping[str, pa.Scalar], schema: pa.Schema
) -> pa.RecordBatch:
    columns = [
        pa.repeat(constants[field.name], batch.num_rows)
        if field.name in constants
        else batch.column(field.name).cast(field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
