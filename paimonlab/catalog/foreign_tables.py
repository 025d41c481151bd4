"""Tables of other formats and folders of texts: what a migration asks of them.

Nothing of pyiceberg or deltalake is imported: who has such a table has the library.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import pyarrow as pa

from paimonlab.catalog import foreign_stores
from paimonlab.catalog.text_folders import TextFolder
from paimonlab.errors import DataError, UnsupportedError
from paimonlab.secrets import HIDDEN
from paimonlab.spec.external_paths import folder_of, scheme_of
from paimonlab.storage import FileIO

RowsPart: TypeAlias = Callable[[], Iterable[pa.RecordBatch]]
"""Reads some rows of a table, with the columns of the others; picklable."""
_METADATA = ".metadata.json"


class ForeignTable(Protocol):
    """One version of a table of another format."""

    @property
    def name(self) -> str:
        """What it is, for messages."""
        ...

    @property
    def state(self) -> str:
        """Names the table and its version, for ever."""
        ...

    @property
    def table_id(self) -> str:
        """Names the table, whatever its version."""
        ...

    @property
    def schema(self) -> pa.Schema:
        """Columns, with nullability."""
        ...

    @property
    def comments(self) -> Mapping[str, str]:
        """What columns are about, by name."""
        ...

    @property
    def partition_keys(self) -> tuple[str, ...]:
        """Columns whose values are the partitions."""
        ...

    def count(self) -> int:
        """Return how many rows there are."""
        ...

    def rows(self) -> pa.RecordBatchReader:
        """Read the rows, in pieces."""
        ...

    def parts(self) -> Sequence[RowsPart]:
        """Return what reads all rows, each some of them, in any order."""
        ...


def foreign_table(source: Any, io: FileIO | None = None) -> ForeignTable:
    """Return what a migration asks of a table of another library.

    Parameters
    ----------
    source
        A ``pyiceberg.table.Table`` or a ``deltalake.DeltaTable``, which is read at its version; or
        a folder of one of these, or of CSV or JSON files.
    io
        The store of the warehouse, in which such files may be.

    Raises
    ------
    TypeError
        If it is none of them.
    """
    if isinstance(source, str | os.PathLike):
        source = _in_folder(os.fspath(source), io)
    if isinstance(source, TextFolder):
        return source
    for kind in type(source).__mro__:
        package, name = kind.__module__.partition(".")[0], kind.__name__
        if (package, name) == ("pyiceberg", "Table"):
            return _IcebergTable(source)
        if (package, name) == ("deltalake", "DeltaTable"):
            return _DeltaTable(source)
    raise TypeError(
        "a table of pyiceberg (catalog.load_table(…)), a deltalake.DeltaTable or a folder of CSV "
        "or JSON files is migrated, not "
        f"{type(source).__name__}; of files catalog.migrate_folder makes a table"
    )


def _in_folder(place: str, io: FileIO | None) -> Any:
    """Open what a folder, or a file of Iceberg's metadata, has."""
    if scheme_of(place) not in ("", "file"):
        return _in_store(place, io)
    folder = Path(folder_of(place) if scheme_of(place) == "file" else place)
    if (folder / "_delta_log").is_dir():
        return open_delta(str(folder))
    metadata = folder / "metadata"
    if place.endswith(_METADATA) or has_hint(place, None):
        return open_iceberg(place)
    if metadata.is_dir() and any(metadata.glob(f"*{_METADATA}")):
        raise UnsupportedError(
            f"migrating the Iceberg table {place}",
            "which metadata is the newest only its catalog knows: give the table that pyiceberg's "
            f"catalog.load_table(…) returns, or the file metadata/….{_METADATA.lstrip('.')}",
        )
    return TextFolder(place)


def _in_store(place: str, io: FileIO | None) -> Any:
    is_metadata = place.endswith(_METADATA)
    if io is None:
        names = set[str]()
    else:
        store = io.within(place.rpartition("/")[0] if is_metadata else place)
        names = set() if is_metadata else set(store.list_names(place))
    if is_metadata or names & {"_delta_log", "metadata"}:
        access = None if io is None else foreign_stores.s3_access_of(io, place)
        if access is not None and "_delta_log" in names:
            return open_delta(place, io)
        if access is not None and (is_metadata or has_hint(place, io)):
            return open_iceberg(place, io)
        raise UnsupportedError(
            f"migrating the table at {place} by its name",
            "give the table that its own library opens with the keys of the store: "
            "deltalake.DeltaTable(…), or pyiceberg's catalog.load_table(…)",
        )
    return TextFolder(place, io=io)


def has_hint(place: str, io: FileIO | None) -> bool:
    """Whether the folder of an Iceberg table names its newest metadata."""
    hint = f"{place.rstrip('/')}/metadata/version-hint.text"
    if scheme_of(place) in ("", "file"):
        return Path(folder_of(hint) if scheme_of(place) else hint).is_file()
    return io is not None and foreign_stores.s3_access_of(io, place) is not None and io.exists(hint)


class _IcebergTable:
    """A table of pyiceberg, at its current snapshot."""

    def __init__(self, table: Any) -> None:
        self._scan = table.scan()
        self._table = table
        snapshot = table.current_snapshot()
        self._snapshot = None if snapshot is None else snapshot.snapshot_id

    @property
    def name(self) -> str:
        return "Iceberg's " + ".".join(self._table.name())

    @property
    def table_id(self) -> str:
        return f"iceberg {self._table.metadata.table_uuid}"

    @property
    def state(self) -> str:
        return f"{self.table_id} {self._snapshot} {self._table.metadata.current_schema_id}"

    @property
    def schema(self) -> pa.Schema:
        return self._table.schema().as_arrow()

    @property
    def comments(self) -> Mapping[str, str]:
        return {field.name: field.doc for field in self._table.schema().fields if field.doc}

    @property
    def partition_keys(self) -> tuple[str, ...]:
        schema = self._table.schema()
        return tuple(
            schema.find_column_name(field.source_id)
            for field in self._table.spec().fields
            if str(field.transform) == "identity"
        )

    def count(self) -> int:
        return int(self._scan.count()) if self._snapshot is not None else 0

    def rows(self) -> pa.RecordBatchReader:
        return self._scan.to_arrow_batch_reader()

    def parts(self) -> Sequence[RowsPart]:
        if self._snapshot is None:
            return []
        scan, table = self._scan, self._table
        how = (table.metadata, table.io, scan.projection(), scan.row_filter)
        return [partial(_rows_of_task, task, *how) for task in scan.plan_files()]


class _DeltaTable:
    """A table of deltalake, at the version that it was opened with."""

    def __init__(self, table: Any) -> None:
        self._table = table

    @property
    def name(self) -> str:
        return f"Delta's {self._table.table_uri.rstrip('/')}"

    @property
    def table_id(self) -> str:
        return f"delta {self._table.metadata().id}"

    @property
    def state(self) -> str:
        return f"{self.table_id} {self._table.version()}"

    @property
    def schema(self) -> pa.Schema:
        schema = self._table.schema()
        return pa.schema(schema.to_arrow() if hasattr(schema, "to_arrow") else schema.to_pyarrow())

    @property
    def comments(self) -> Mapping[str, str]:
        return {
            field.name: str(field.metadata["comment"])
            for field in self._table.schema().fields
            if field.metadata.get("comment")
        }

    @property
    def partition_keys(self) -> tuple[str, ...]:
        return tuple(self._table.metadata().partition_columns)

    def count(self) -> int:
        return int(self._dataset().count_rows())

    def rows(self) -> pa.RecordBatchReader:
        return self._dataset().scanner().to_reader()

    def parts(self) -> Sequence[RowsPart]:
        dataset = self._dataset()
        return [partial(_rows_of_file, file, dataset.schema) for file in dataset.get_fragments()]

    def _dataset(self) -> Any:
        try:
            return self._table.to_pyarrow_dataset()
        except Exception as error:
            if type(error).__name__ != "DeltaProtocolError":
                raise
            raise UnsupportedError(
                f"reading {self.name}",
                f"deltalake says: {error}. Spark reads it: CREATE TABLE … AS SELECT",
            ) from error


def _rows_of_task(task: Any, *how: Any) -> Iterator[pa.RecordBatch]:
    """Read a file of an Iceberg table, without the rows that were deleted."""
    from pyiceberg.io.pyarrow import ArrowScan  # noqa: PLC0415 - only who has such tables has it

    return ArrowScan(*how).to_record_batches([task])


def _rows_of_file(file: Any, schema: pa.Schema) -> pa.RecordBatchReader:
    """Read a file of a Delta table, with the columns that the names of folders have."""
    return file.scanner(schema=schema).to_reader()


def open_delta(folder: str, io: FileIO | None = None) -> Any:
    """Open the newest version of a Delta table.

    Parameters
    ----------
    folder
        Where it is.
    io
        The store of the warehouse: in S3 it is opened as this is. Elsewhere deltalake looks for
        keys itself.

    Raises
    ------
    DataError
        If there is none.
    UnsupportedError
        If deltalake is not installed.
    """
    try:
        from deltalake import DeltaTable  # noqa: PLC0415 - only who has such tables has it
        from deltalake.exceptions import DeltaError  # noqa: PLC0415
    except ImportError as error:
        raise UnsupportedError("a Delta table", "it needs: pip install deltalake") from error
    access = None if io is None else foreign_stores.s3_access_of(io, folder)
    options = {} if access is None else foreign_stores.delta_options(access)
    place = folder if access is None else foreign_stores.in_s3(folder)
    try:
        return DeltaTable(place, storage_options=options or None)
    except (DeltaError, OSError) as error:
        raise DataError(_without(options, f"{folder}: {error}")) from None


def _without(options: Mapping[str, str], text: str) -> str:
    """Return a text without the keys among options."""
    for name, value in options.items():
        if "key" in name or "token" in name:
            text = text.replace(value, HIDDEN)
    return text


def open_iceberg(metadata: str, io: FileIO | None = None) -> Any:
    """Open an Iceberg table by its metadata.

    Parameters
    ----------
    metadata
        Its file ``….metadata.json``, or a folder whose ``metadata/version-hint.text`` names it.
    io
        As of `open_delta`.

    Raises
    ------
    DataError
        If there is none.
    UnsupportedError
        If pyiceberg is not installed.
    """
    try:
        from pyiceberg.table import StaticTable  # noqa: PLC0415 - as for Delta
    except ImportError as error:
        raise UnsupportedError("an Iceberg table", "it needs: pip install pyiceberg") from error
    access = None if io is None else foreign_stores.s3_access_of(io, metadata)
    properties = {} if access is None else foreign_stores.iceberg_properties(access)
    place = metadata if access is None else foreign_stores.in_s3(metadata)
    try:
        return StaticTable.from_metadata(place, properties)
    except Exception as error:  # noqa: BLE001 - errors of pyiceberg have no class of their own
        raise DataError(_without(properties, f"{metadata}: {error}")) from None
