"""Files that arrive in a folder: CSV, JSON and Parquet, each read once.

The position has every file that was read and is still in the folder, with size and time, so that
each counts once whatever order they come in. Files are read in the order of their times. On a disk
files have numbers, too, by which one is known that gets another name, or comes back.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import msgspec
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, arrow_scalar
from paimonlab.errors import DataError, IngestStateError, SchemaError, UnsupportedError
from paimonlab.formats.source_files import SourceFile, SourceFormat, format_of
from paimonlab.ingest.changes import (
    Boundary,
    Event,
    JsonValue,
    Phase,
    RowChanges,
    SourceColumn,
    SourceSchema,
    Unreadable,
)
from paimonlab.ingest.sources.batches import declared_schema
from paimonlab.ingest.sources.columns import (
    check_declared,
    fitted_to,
    schema_of,
    split_kinds,
)
from paimonlab.ingest.sources.folders import (
    Folder,
    LocalFolder,
    Seen,
    StoreFolder,
    is_hidden,
)
from paimonlab.ingest.wider_types import wider_type
from paimonlab.spec.types.arrow import arrow_field, from_arrow
from paimonlab.spec.types.data_types import DataField, DataType
from paimonlab.spec.types.text import UNASSIGNED_ID, format_type, parse_type
from paimonlab.storage.schemes import STORES, store_kind

After: TypeAlias = Literal["keep", "delete"] | os.PathLike[str]
"""What becomes of files whose rows are committed: a folder means that they are moved there."""

_POLL_SECONDS = 0.5
_STORE_POLL_SECONDS = 5.0
_UNFINISHED = (".tmp", ".part", ".partial", ".crdownload", ".inprogress", "._copying_")
_RAW_BYTES = 1 << 20
"""How much of a broken file is kept."""
_LARGE_BYTES = 64 << 20
"""A file of this size is committed in parts."""
_TOGETHER_BYTES = 16 << 20
"""Of small files without a position in between."""
_PARTS = 64
"""A position has all files, so it comes only after one more of so many parts of them."""
_MOST_GONE = 1_000
"""Files that are gone and still known."""


class _Position(msgspec.Struct, kw_only=True, omit_defaults=True):
    files: dict[str, Seen] = {}
    """Files that were read, by path below the folder."""
    gone: dict[str, Seen] = {}
    """Those among them that are not there any more, oldest first."""
    columns: dict[str, str] = {}
    """Types that were found, as Paimon writes them."""
    inside: str | None = None
    """The file of which a part was read."""
    batches: int = 0
    """How many batches of it were."""
    again: bool = False
    """Whether the files that are there are read anew."""


@dataclass(kw_only=True)
class FileSource:
    """Reads files as they arrive: `files` makes it."""

    folder: Folder
    table: str
    pattern: str = "*"
    format: SourceFormat | None = None
    delimiter: str | None = None
    primary_keys: tuple[str, ...] = ()
    row_kinds: str | None = None
    declared: SourceSchema | None = None
    settle_seconds: float = 1.0
    after: After = "keep"
    _found: dict[str, Any] = field(default_factory=dict)
    """Types of columns by name."""
    _ahead: dict[str, tuple[Seen, float]] = field(default_factory=dict)
    """Files whose times are in the future, and since when they are as they are."""
    _touched: set[str] = field(default_factory=set)
    _warnings: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Say what it is."""
        return f"files in {self.folder.place}"

    @property
    def metadata_types(self) -> Mapping[str, DataType]:
        """Return what is known of rows beside their values: the path below the folder."""
        return {"file": parse_type("STRING")}

    def tables(self) -> Mapping[str, SourceSchema]:
        """Return the columns that were declared, or those of the first file."""
        if self.declared is not None:
            return {self.table: self.declared}
        for path, seen in self._listed():
            if not seen.size_bytes:
                continue
            file = self._file(path)
            try:
                columns = file.schema()
            except DataError as error:
                _raise_if_of_disk(error, but=FileNotFoundError)
                continue  # reading tells what is wrong with it
            fields = [one for one in columns if one.name != self.row_kinds]
            schema = schema_of(pa.schema(fields), self.primary_keys, is_partial=True)
            return {self.table: schema}
        return {}

    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        """Yield the rows of files that were not read before; see `Source.read`."""
        if not wanted(self.table):
            return
        at = _Position() if position is None else _decoded(position, self.table)
        self._found = {name: parse_type(text) for name, text in at.columns.items()}
        while True:
            there = self._listed()
            self._know_again(at, dict(there))
            new = [(path, seen) for path, seen in there if self._is_new(path, seen, at)]
            ready = [(path, seen) for path, seen in new if self._is_settled(path, seen)]
            ready.sort(key=lambda one: one[0] != at.inside)
            read = size_bytes = 0
            for number, (path, seen) in enumerate(ready, 1):
                if not (yield from self._rows_of(path, seen, at)):
                    continue
                at.files[path] = seen
                at.inside, at.batches = None, 0
                read, size_bytes = read + 1, size_bytes + seen.size_bytes
                is_many = read * _PARTS >= len(at.files) or size_bytes >= _TOGETHER_BYTES
                if is_many or number == len(ready):
                    read = size_bytes = 0
                    yield self._boundary(at, Phase.STREAM, seen, len(new) - number)
            at.again = False
            if len(ready) == len(new):
                yield self._boundary(at, Phase.CAUGHT_UP, None, 0)
            else:
                yield self._boundary(at, Phase.STREAM, None, len(new) - len(ready))
            waited = 0.0
            while not ready and waited < self.folder.poll_seconds:
                time.sleep(_POLL_SECONDS)
                waited += _POLL_SECONDS
                if waited < self.folder.poll_seconds:  # who reads must be able to stop
                    phase = Phase.STREAM if new else Phase.CAUGHT_UP
                    yield self._boundary(at, phase, None, len(new))

    def before_rows(self, position: JsonValue, tables: Collection[str]) -> JsonValue:
        """Return a position from which all files are read that are there; see `RereadableSource`.

        Raises
        ------
        UnsupportedError
            If files are deleted or moved once they are committed.
        """
        del tables
        if self.after != "keep":
            raise UnsupportedError(
                f"reading {self.name} anew with after = {os.fspath(self.after)!r}",
                "the files that were read are not there any more",
            )
        at = _Position() if position is None else _decoded(position, self.table)
        return msgspec.to_builtins(_Position(columns=at.columns, again=True))

    def acknowledge(self, position: JsonValue) -> None:
        """Delete or move the files whose rows are committed, if that is wanted."""
        if position is None or self.after == "keep":
            return
        for name, seen in _decoded(position, self.table).files.items():
            with suppress(FileNotFoundError):
                if not self.folder.seen(name).is_same(seen):
                    continue  # a new file of the same name
                if self.after == "delete":
                    self.folder.delete(name)
                else:
                    self.folder.move(name, os.fspath(self.after))

    def close(self) -> None:
        """Do nothing."""

    def _know_again(self, at: _Position, there: Mapping[str, Seen]) -> None:
        """Tell files that have another name, or came back, from new ones; note those that went.

        Raises
        ------
        IngestStateError
            If one that was read in part is gone.
        """
        if at.inside is not None and at.inside not in there:
            raise IngestStateError(
                self.table, f"{self._place(at.inside)} was read in part and is gone"
            )
        for name in [name for name in at.files if name not in there]:
            seen = at.files.pop(name)
            if seen.number and self.after == "keep":
                at.gone[name] = seen
        if not at.gone:
            return
        names = {seen: name for name, seen in at.gone.items()}
        for path, seen in there.items():
            name = names.pop(seen, "") if path not in at.files else ""
            if name:
                del at.gone[name]
                at.files[path] = seen
        if there:  # of an empty folder the disk may be away
            for name in list(at.gone)[:-_MOST_GONE]:
                del at.gone[name]

    def _is_new(self, path: str, seen: Seen, at: _Position) -> bool:
        """Say whether a file was not read before.

        Raises
        ------
        IngestStateError
            If it was, and has other rows now.
        """
        before = at.files.get(path)
        if before is None or before.is_same(seen):
            return before is None
        if self.after != "keep":
            return True  # the one before is gone
        if before.size_bytes != seen.size_bytes:
            raise IngestStateError(
                self.table,
                f"{self._place(path)} was read with {before.size_bytes:,} bytes and has "
                f"{seen.size_bytes:,} now: files must not change; bring new rows in new files",
            )
        if path not in self._touched:
            self._touched.add(path)
            self._warnings.append(
                f"{self._place(path)} was written again after it was read, with as many bytes: "
                "if it has other rows, they are not read; resnapshot reads all files"
            )
        return False

    def _boundary(self, at: _Position, phase: Phase, seen: Seen | None, behind: int) -> Boundary:
        at.columns = {name: format_type(found) for name, found in self._found.items()}
        warnings, self._warnings = tuple(self._warnings), []
        return Boundary(
            position=msgspec.to_builtins(at),
            phase=Phase.SNAPSHOT if at.again else phase,
            seen_millis=None if seen is None else seen.modified_nanos // 1_000_000,
            behind=behind,
            behind_unit="files",
            is_whole=at.inside is None,
            warnings=warnings,
        )

    def _is_settled(self, path: str, seen: Seen) -> bool:
        age = time.time() - seen.modified_nanos / 1e9
        if age >= 0:
            self._ahead.pop(path, None)
            return age >= self.settle_seconds
        # Another machine's clock is ahead: what counts is for how long it has been as it is.
        before, since = self._ahead.get(path, (None, 0.0))
        if before != seen:
            since = time.monotonic()
            self._ahead[path] = seen, since
        return time.monotonic() - since >= self.settle_seconds

    def _listed(self) -> list[tuple[str, Seen]]:
        """Return files of the folder, below the folder, oldest first."""
        found = []
        for path, seen in self.folder.files():
            name = path.rpartition("/")[2]
            if is_hidden(name) or name.lower().endswith(_UNFINISHED):
                continue
            if fnmatch(path, self.pattern) or fnmatch(name, self.pattern):
                if not _is_utf8(path):
                    raise DataError(
                        f"{self.table}: the name {os.fsencode(path)!r} in {self.folder.place} is "
                        "not UTF-8: give the file another one"
                    )
                found.append((path, seen))
        if not found and not self.folder.exists():
            raise DataError(f"{self.table}: there is no folder {self.folder.place}")
        return sorted(found, key=lambda one: (one[1].modified_nanos, one[0]))

    def _place(self, path: str) -> str:
        return f"{self.folder.place}/{path}"

    def _file(self, path: str) -> SourceFile:
        form = self.format or format_of(path)
        if form is None:
            raise DataError(
                f"{self._place(path)}: its name does not tell the format; give format=, or "
                "pattern= for the files that are meant"
            )
        return self.folder.opened(path, form, self.delimiter)

    def _rows_of(self, path: str, seen: Seen, at: _Position) -> Generator[Event, None, bool]:
        """Yield the rows of one file, from where it was left; say whether it was still there."""
        skipped = at.batches if at.inside == path else 0
        if not seen.size_bytes:
            return True
        has_rows = False
        try:
            for number, batch in enumerate(self._batches(path), 1):
                if number <= skipped:
                    continue
                has_rows = True
                yield self._changes(batch, path)
                if seen.size_bytes >= _LARGE_BYTES:
                    at.inside, at.batches = path, number
                    yield self._boundary(at, Phase.STREAM, seen, 1)
        except DataError as error:
            if not has_rows and not skipped and isinstance(error.__cause__, FileNotFoundError):
                return False  # it went, or got another name, since the folder was listed
            _raise_if_of_disk(error)
            yield self._broken(path, error)
        try:
            is_same = self.folder.seen(path).is_same(seen)
        except FileNotFoundError:
            return True  # it went after it was read to its end
        if not is_same:
            raise IngestStateError(
                self.table,
                f"{self._place(path)} changed while it was read: let files come in by renaming "
                "them, or give a longer settle=",
            )
        return True

    def _batches(self, path: str) -> Iterator[pa.RecordBatch]:
        """Read a file with the types that are known; once more with its own if it has others."""
        file = self._file(path)
        known = self._known()
        rows = file.batches(known, others="infer")
        try:
            first = next(rows, None)
        except DataError:
            self._widen(file)
            rows = file.batches(self._known(), others="infer")
            first = next(rows, None)
        if first is not None:
            yield first
        yield from rows

    def _known(self) -> pa.Schema:
        """Return the types of columns that were declared or found before."""
        if self.declared is not None:
            return self.declared.arrow_schema
        return pa.schema(
            [
                arrow_field(DataField(UNASSIGNED_ID, name, found))
                for name, found in self._found.items()
            ]
        )

    def _widen(self, file: SourceFile) -> None:
        """Take wider types for columns that a file has in others."""
        if self.declared is not None:
            raise DataError(f"{file.path}: its values are not of the types that were declared")
        for column in file.schema():
            known = self._found.get(column.name)
            if known is not None:
                other = from_arrow(column.type, nullable=True)
                self._found[column.name] = wider_type(known, other) or other

    def _changes(self, batch: pa.RecordBatch, path: str) -> RowChanges:
        place = self._place(path)
        batch, kinds = split_kinds(batch, self.row_kinds, place=place)
        if self.declared is not None:
            check_declared(batch.schema, self.declared, place=place)
        schema = self.declared or self._schema(batch.schema)
        paths = pa.repeat(arrow_scalar(path), batch.num_rows)
        return RowChanges(
            table=self.table,
            rows=fitted_to(batch, schema, table=place),
            kinds=kinds,
            schema=schema,
            positions=paths,
            metadata={"file": paths},
        )

    def _schema(self, columns: pa.Schema) -> SourceSchema:
        """Return the columns of a batch, with the types that they had before where they fit."""
        schema = schema_of(columns, self.primary_keys, is_partial=True)
        kept = []
        for column in schema.columns:
            known = self._found.get(column.name)
            if known is None:
                known = self._found[column.name] = column.type
            elif known != column.type:
                known = wider_type(known, column.type) or column.type
                self._found[column.name] = known
            kept.append(_with_type(column, known))
        return replace(schema, columns=tuple(kept))

    def _broken(self, path: str, error: DataError) -> Unreadable:
        raw = self.folder.begin_of(path, _RAW_BYTES)
        return Unreadable(
            table=self.table,
            errors=arrow_array([str(error)], pa.string()),
            raw=arrow_array([raw], pa.binary()),
            positions=arrow_array([path], pa.string()),
        )


def files(  # noqa: PLR0913 - all that files can be told
    folder: str | os.PathLike[str],
    *,
    table: str | None = None,
    pattern: str = "*",
    format: SourceFormat | None = None,
    delimiter: str | None = None,
    columns: Any = None,
    primary_keys: Sequence[str] = (),
    row_kinds: str | None = None,
    settle: float = 1.0,
    after: After = "keep",
    options: Mapping[str, str] | None = None,
) -> FileSource:
    """Make a source of the files that arrive in a folder, each of which is read once.

    Names that begin with ``.`` or ``_``, or end as unfinished downloads do, are passed over. Files
    must not change after they were read.

    Parameters
    ----------
    folder
        A local folder, or one of a store (``s3://bucket/in``); those below it are read as well.
    table
        ``database.table``: what the source calls its table; None: ``files.`` and the folder's name.
    pattern
        Names or paths below the folder that are read, as shells match them: ``*.csv``.
    format
        ``csv`` (the first line has the names), ``json`` (an object a line) or ``parquet``; None:
        the name of each file tells.
    delimiter
        Between the values of CSV.
    columns
        Names with Paimon's types, or an Arrow schema; any other column is refused. None: types
        are found in the files, and columns that later files have are added.
    primary_keys
        Columns whose values name a row; () for rows that are only added.
    row_kinds
        Name of a column with ``+I -U +U -D``, which is not stored; None: all are ``+I``.
    settle
        Seconds for which a file must not have changed before it is read.
    after
        What becomes of files after their rows are committed: ``keep``, ``delete``, or a folder
        (a ``Path``) to move them to, on disks.
    options
        Of the store, as those of a catalog in it (``s3.endpoint`` …); a store is listed every five
        seconds.

    Raises
    ------
    UnsupportedError
        If there is no such store or format, or files of a store are to be moved.
    """
    place = _folder(os.fspath(folder), options)
    if isinstance(after, str) and after not in ("keep", "delete"):
        raise ValueError(f"after = {after!r}: it is keep, delete, or a Path to move files to")
    if isinstance(place, LocalFolder) and not isinstance(after, str):
        below, above = Path(after).expanduser().resolve(), place.path.resolve()
        if below.is_relative_to(above) and not any(map(is_hidden, below.relative_to(above).parts)):
            raise ValueError(
                f"after = {os.fspath(after)!r} is in {place.place}, where its files would be read "
                "again: give a folder elsewhere, or one whose name begins with _"
            )
    if isinstance(place, StoreFolder) and not isinstance(after, str):
        raise UnsupportedError(
            f"after = {os.fspath(after)!r} of files in a store", "use keep, or delete"
        )
    if isinstance(place, StoreFolder) and after == "delete" and settle < 1:
        raise ValueError(
            f"settle = {settle:g}: stores tell times in seconds, and a new file of an old name "
            "would be taken for the one before; give at least 1"
        )
    if format is not None and format not in (known := get_args(SourceFormat)):
        raise UnsupportedError(f"format = {format!r} of files", f"use {', '.join(known)}")
    if delimiter is not None and len(delimiter) != 1:
        raise ValueError(f"delimiter = {delimiter!r}: it is one character")
    name = table or f"files.{place.place.rpartition('/')[2]}"
    if "." not in name:
        raise ValueError(f"table = {table!r}: give database.table")
    declared = None
    if columns is not None:
        declared = declared_schema(columns, primary_keys)
    return FileSource(
        folder=place,
        table=name,
        pattern=pattern,
        format=format,
        delimiter=delimiter,
        primary_keys=tuple(primary_keys),
        row_kinds=row_kinds,
        declared=declared,
        settle_seconds=settle,
        after=after,
    )


def _folder(text: str, options: Mapping[str, str] | None) -> Folder:
    if "://" in text and not text.startswith("file://"):
        if store_kind(text) is None:
            known = ", ".join(f"{scheme}://" for kind in STORES for scheme in kind.schemes)
            raise UnsupportedError(f"files({text!r})", f"there are local folders, and {known}")
        return StoreFolder(text.rstrip("/"), dict(options or {}), _STORE_POLL_SECONDS)
    if options:
        raise ValueError(f"options = {sorted(options)} of a local folder: they are those of stores")
    return LocalFolder(Path(text.removeprefix("file://")).expanduser().absolute())


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _raise_if_of_disk(error: DataError, but: type[OSError] | None = None) -> None:
    """Raise what a disk, rights or a network did: nothing is wrong with the file.

    Raises
    ------
    OSError
        If it has a number of the system and is no ``but``.
    """
    cause = error.__cause__
    if isinstance(cause, OSError) and cause.errno and not (but and isinstance(cause, but)):
        raise cause


def _with_type(column: SourceColumn, data_type: Any) -> SourceColumn:
    if column.type == data_type:
        return column
    return replace(column, type=data_type, source_type=None)


def _decoded(position: JsonValue, table: str) -> _Position:
    try:
        return msgspec.convert(position, _Position)
    except (msgspec.ValidationError, SchemaError) as error:
        raise IngestStateError(table, f"not a position of files: {error}") from error
