"""Tables of Iceberg and Delta Lake become tables of Paimon: their rows are written anew.

One commit has all rows, and says which version of which table it has them of. So a migration that
was killed is called again: it is done, or done anew; and called again after the source was written
to, the table is replaced. At the end the rows are read again and compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimonlab.catalog.cloning import STATE, last_commit_of_rows, with_buckets
from paimonlab.catalog.copying import CopyingCatalog, opened
from paimonlab.catalog.foreign_tables import ForeignTable, RowsPart, foreign_table
from paimonlab.catalog.names import parse
from paimonlab.errors import CorruptDataError, SchemaError, UnsupportedError
from paimonlab.progress import counting
from paimonlab.spec.plurals import many
from paimonlab.spec.row_digest import RowDigest
from paimonlab.spec.schema.definition import Schema
from paimonlab.spec.types.arrow import from_arrow
from paimonlab.spec.types.data_types import DataField, DataType, with_nullable
from paimonlab.spec.types.text import format_type
from paimonlab.table.committing.users import new_user
from paimonlab.table.inside import store_of, writable
from paimonlab.table.writing.by_workers import (
    digest_by_workers,
    digest_of_scan,
    write_by_workers,
)
from paimonlab.table.writing.overwriting import commit_overwrite
from paimonlab.workers import Workers, side_by_side

if TYPE_CHECKING:
    from paimonlab.progress import Progress
    from paimonlab.spec.options.given import OptionValue
    from paimonlab.spec.snapshot import Snapshot
    from paimonlab.table.table import Table

_SOURCE = "migrated.table"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TableMigration:
    """What a migration did, or with ``dry_run`` would do."""

    source: str
    target: str
    creates_target: bool
    """Whether there was no such table."""
    columns: Mapping[str, str]
    """Types of the table's columns by name."""
    primary_keys: tuple[str, ...]
    partition_keys: tuple[str, ...]
    rows: int
    is_done: bool = False
    """Whether the table has these rows already, by an earlier call."""
    is_compared: bool = False
    """Whether the rows of both are the same."""
    snapshot: Snapshot | None = None
    """What has the rows; None: there are none, or it was a dry run."""
    is_dry_run: bool = False

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """Describe it in words."""
        state = "a new table" if self.creates_target else "a table that is there"
        said = f"{self.source} to {self.target}, {state}: {many(self.rows, 'row')}"
        if self.is_dry_run:
            return f"would be done: {said}"
        compared = ", compared" if self.is_compared else ""
        at = "" if self.snapshot is None else f", snapshot {self.snapshot.id}"
        return f"{said}{compared}{at}{', which it had already' if self.is_done else ''}"


def migrate_table(  # noqa: PLR0913 - as the verb of the catalog
    catalog: CopyingCatalog,
    source: Any,
    target: str,
    *,
    primary_keys: Sequence[str],
    partition_keys: Sequence[str] | None,
    options: Mapping[str, OptionValue] | None,
    comment: str | None,
    verify: bool,
    dry_run: bool,
    progress: Progress | None,
    workers: Workers = side_by_side,
) -> TableMigration:
    """Write the rows of another format's table; see `Catalog.migrate_table`.

    What is read, written and compared by ``workers`` is divided by the files of the source.
    """
    found = foreign_table(source, catalog.file_io)
    types = _types(found, primary_keys)
    keys = tuple(found.partition_keys if partition_keys is None else partition_keys)
    is_new = not catalog.has_table(target)
    present = None if is_new else opened(catalog, target)
    before = None if present is None else _checked(present, found, types, primary_keys, keys)
    done = TableMigration(
        source=found.name,
        target=target,
        creates_target=is_new,
        columns={name: format_type(kind) for name, kind in types.items()},
        primary_keys=tuple(primary_keys),
        partition_keys=keys,
        rows=found.count(),
        is_done=before is not None and (before.properties or {}).get(STATE) == found.state,
        is_dry_run=dry_run,
    )
    if dry_run:
        return done
    if present is None:
        catalog.create_database(parse(target).database, exist_ok=True)
        present = catalog.create_table(
            target, Schema(_fields(types, found), keys, primary_keys, options or {}, comment)
        )
    verb = _WrittenByWorkers(workers) if workers.divides else _written
    return verb(present, found, done, verifies=verify, progress=progress)


def _types(found: ForeignTable, primary_keys: Sequence[str]) -> dict[str, DataType]:
    types = dict[str, DataType]()
    for field in found.schema:
        try:
            kind = from_arrow(field.type)
        except (SchemaError, UnsupportedError) as error:
            raise UnsupportedError(
                f"column {field.name!r} of type {field.type} in {found.name}",
                "it is none of Paimon's; write the other columns by catalog.write_table",
            ) from error
        is_nullable = field.nullable and field.name not in primary_keys
        types[field.name] = with_nullable(kind, nullable=is_nullable)
    return types


def _fields(types: Mapping[str, DataType], found: ForeignTable) -> list[DataField]:
    return [
        DataField(number, name, kind, found.comments.get(name))
        for number, (name, kind) in enumerate(types.items())
    ]


def _checked(
    present: Table,
    found: ForeignTable,
    types: Mapping[str, DataType],
    primary_keys: Sequence[str],
    partition_keys: Sequence[str],
) -> Snapshot | None:
    """Check that a table can have the rows; return its last commit of rows.

    Raises
    ------
    SchemaError
        If it differs, or has rows of something else.
    """
    # As texts: ids of nested fields are those of the table that is there.
    there = {field.name: format_type(field.type) for field in present.schema.fields}
    wanted = {name: format_type(kind) for name, kind in types.items()}
    keys = (set(present.primary_keys), set(present.partition_keys))
    if there != wanted or keys != (set(primary_keys), set(partition_keys)):
        theirs = ", ".join(f"{name} {kind}" for name, kind in wanted.items())
        raise SchemaError(
            f"{present.name} has other columns or keys than {found.name}, whose columns are "
            f"{theirs}, and its partition columns ({', '.join(partition_keys)})"
        )
    before = last_commit_of_rows(present)
    if before is not None and (before.properties or {}).get(_SOURCE) != found.table_id:
        raise SchemaError(
            f"{present.name} has rows that are not of {found.name}; choose another name, or drop it"
        )
    return before


def _written(
    table: Table,
    found: ForeignTable,
    done: TableMigration,
    *,
    verifies: bool,
    progress: Progress | None,
) -> TableMigration:
    names = list(done.columns)
    schema = pa.schema([table.arrow_schema.field(name) for name in names])
    seen = RowDigest([table.schema.field(name).type for name in names])

    def rows() -> Iterator[pa.RecordBatch]:
        for batch in found.rows():
            taken = _shaped(batch, schema)
            seen.add(taken)
            yield taken
            if progress is not None:
                progress(seen.rows, max(done.rows, seen.rows), "rows")

    committed = table.snapshot
    if done.is_done:
        if verifies:
            for _ in rows():
                pass
    elif done.rows or committed is not None:
        committed = table.overwrite(
            pa.RecordBatchReader.from_batches(schema, rows()),
            dynamic=False,
            properties={STATE: found.state, _SOURCE: found.table_id},
        )
        _check_count(table, found, seen, done)
    if committed is not None:
        committed = with_buckets(table, committed, side_by_side)
    if verifies:
        _check_rows(table, committed, names, seen, found)
    return replace(done, snapshot=committed, is_compared=verifies)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Reads some rows with the types of the table; picklable."""

    schema: pa.Schema

    def __call__(self, part: RowsPart) -> Iterator[pa.RecordBatch]:
        for batch in part():
            yield _shaped(batch, self.schema)


def _shaped(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [batch.column(field.name).cast(field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


@dataclass(frozen=True, slots=True)
class _WrittenByWorkers:
    """Does what `_written` does, with rows that are never here."""

    workers: Workers

    def __call__(
        self,
        table: Table,
        found: ForeignTable,
        done: TableMigration,
        *,
        verifies: bool,
        progress: Progress | None,
    ) -> TableMigration:
        names = list(done.columns)
        read = _Rows(pa.schema([table.arrow_schema.field(name) for name in names]))
        types = [table.schema.field(name).type for name in names]
        committed, seen = table.snapshot, RowDigest(types)
        what = f"migrating {found.name}"
        if done.is_done:
            if verifies:
                seen = digest_by_workers(
                    found.parts(), read, types, workers=self.workers, what=what
                )
        elif done.rows or committed is not None:
            parts = found.parts()
            definition, store = writable(table)
            more = counting(progress, len(parts), "files")
            written = write_by_workers(
                definition,
                store,
                parts,
                read,
                names,
                workers=self.workers,
                what=what,
                user=new_user(definition.options),
                done=lambda _: more(1),
            )
            seen = written.rows
            committed = commit_overwrite(
                definition,
                store,
                written.messages,
                properties={STATE: found.state, _SOURCE: found.table_id},
                workers=self.workers,
            )
            _check_count(table, found, seen, done)
        if committed is not None:
            committed = with_buckets(table, committed, self.workers)
        if verifies:
            there = RowDigest(types)
            if committed is not None:
                scan = table.scan(names, snapshot=committed.id)
                there = digest_of_scan(scan, workers=self.workers, what=f"comparing {table.name}")
            _check_same(table, there, seen, found)
        return replace(done, snapshot=committed, is_compared=verifies)


def _check_count(table: Table, found: ForeignTable, seen: RowDigest, done: TableMigration) -> None:
    if seen.rows != done.rows:
        raise CorruptDataError(
            store_of(table).layout.table_path,
            f"{seen.rows:,} rows were read of {found.name}, which counts {done.rows:,}",
        )


def _check_rows(
    table: Table,
    committed: Snapshot | None,
    names: Sequence[str],
    seen: RowDigest,
    found: ForeignTable,
) -> None:
    """Compare the rows that a table has with those that were read.

    Raises
    ------
    CorruptDataError
        If they differ.
    """
    there = RowDigest(seen.types)
    if committed is not None:
        for batch in table.scan(names, snapshot=committed.id).to_batches():
            there.add(batch)
    _check_same(table, there, seen, found)


def _check_same(table: Table, there: RowDigest, seen: RowDigest, found: ForeignTable) -> None:
    if there != seen:
        keys = ", ".join(table.primary_keys)
        why = f"; keys ({keys}) may be there more than once" if keys else ""
        raise CorruptDataError(
            store_of(table).layout.table_path,
            f"{table.name} has {there.rows:,} rows that are not the {seen.rows:,} of "
            f"{found.name}{why}",
        )
