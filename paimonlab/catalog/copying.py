"""Copying the rows of a table into another one, of the same catalog or of another.

The rows are read at one snapshot and written anew, so it does not matter with which columns, key
order, deletion vectors or buckets the files of the source were written.

Source: apache/paimon@5dacde5 ``CopyFilesProcedure``, ``CopySchemaOperator``,
``CopyFilesCommitOperator``, which copies files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct, structs

from paimonlab.catalog.names import parse
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.progress import counting
from paimonlab.spec.predicates.predicate import columns
from paimonlab.spec.schema.definition import Schema, TableSchema
from paimonlab.spec.types.text import format_type
from paimonlab.storage.schemes import store_kind
from paimonlab.table import system, writing
from paimonlab.table.committing.users import new_user
from paimonlab.table.inside import definition_of, store_of, writable
from paimonlab.table.reading.conditions import bound
from paimonlab.workers import Workers, side_by_side

if TYPE_CHECKING:
    from paimonlab.progress import Progress
    from paimonlab.spec.snapshot import Snapshot
    from paimonlab.spec.types.data_types import DataField, DataType
    from paimonlab.storage import FileIO
    from paimonlab.table.reading.scan import Scan
    from paimonlab.table.system import SystemTable
    from paimonlab.table.table import Table
    from paimonlab.table.writing.by_workers import WrittenRows


class CopyingCatalog(Protocol):
    """What is asked of a catalog that tables are copied from or to; see `Catalog`."""

    @property
    def file_io(self) -> FileIO:
        """The store of the warehouse."""
        ...

    def databases(self) -> list[str]:
        """Names of the databases."""
        ...

    def tables(self, database: str) -> list[str]:
        """Names of the tables of a database."""
        ...

    def has_table(self, name: str) -> bool:
        """Whether a table exists."""
        ...

    def relation(self, name: str) -> Table | SystemTable:
        """Open a table or system table."""
        ...

    def create_database(self, database: str, *, exist_ok: bool = False) -> None:
        """Create a database."""
        ...

    def create_table(self, name: str, schema: Any) -> Table:
        """Create a table."""
        ...

    def drop_table(self, name: str) -> None:
        """Delete a table."""
        ...


_NOT_COPIED = frozenset({"path", "branch", "scan.fallback-branch"})
"""Options that say where a table is, and which of its branches has more rows: a copy has these."""


class TableCopy(Struct, frozen=True, kw_only=True):
    """What a copy did, or with ``dry_run`` would do."""

    source: str
    target: str
    creates_target: bool
    """Whether there was no such table."""
    rows: int
    snapshot: Snapshot | None = None
    """What was committed; None: nothing, or it was a dry run."""
    is_dry_run: bool = False

    def __str__(self) -> str:
        """Say how many rows are copied, and what they become."""
        landed = f", snapshot {self.snapshot.id}" if self.snapshot else ""
        return f"{self.source}: {self.rows:,} rows to {self.target}{landed}"


def copy_table(
    catalog: CopyingCatalog,
    source: str,
    target: str,
    *,
    where: str | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> TableCopy:
    """Let a table have the rows that another one has now.

    Parameters
    ----------
    source
        ``database.table``, or a branch of one.
    target
        Is made, with the definition of the source, if it is not there. Else it must have the
        source's columns, keys and partition columns; it may have more columns. The partitions
        that rows come into are replaced; without partitions the whole table is.
    where
        A condition on partition columns of the source.
    dry_run
        Change nothing.
    progress
        Is called as files are read.

    Returns
    -------
    TableCopy
        What was done.

    Raises
    ------
    SchemaError
        If the tables do not fit, or ``where`` looks at other columns.
    UnsupportedError
        If the target is a branch or a system table, or the source itself.
    """
    return copy_rows(
        catalog, source, catalog, target, where=where, dry_run=dry_run, progress=progress
    )


def copy_to(
    catalog: CopyingCatalog,
    other: CopyingCatalog,
    tables: Sequence[str] | None = None,
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> list[TableCopy]:
    """Let another catalog have tables of this one, with the rows that they have now.

    Parameters
    ----------
    other
        Any kind of catalog, in any store.
    tables
        ``database.table`` each; None: all of this catalog. They get the same names. A table that is
        there already must fit, as for `copy_table`, and gets these rows alone.
    dry_run
        Change nothing.
    progress
        Is called as files of each table are read.

    Returns
    -------
    list[TableCopy]
        What was done for each table, in the order of ``tables``.

    Raises
    ------
    SchemaError
        If a table that is there does not fit; nothing was copied.
    TableNotFoundError
        If there is no such table; nothing was copied.
    UnsupportedError
        If a name is that of a branch or a system table, or both are the same table.

    Notes
    -----
    Of each table the latest rows are copied, without its snapshots, tags and branches. Each is
    replaced by one commit, so whoever reads the other catalog sees the table as it was, or
    with all its rows; one that is new is empty before. After it was killed, call it again: all
    tables are copied once more.
    """
    names = _all_tables(catalog) if tables is None else list(tables)
    if isinstance(tables, str):
        raise TypeError(f"tables is a list of names: [{tables!r}]")
    for name in names:
        copy_rows(catalog, name, other, name, dry_run=True)
    return [
        copy_rows(catalog, name, other, name, is_whole=True, dry_run=dry_run, progress=progress)
        for name in names
    ]


def _all_tables(catalog: CopyingCatalog) -> list[str]:
    return [f"{one}.{table}" for one in catalog.databases() for table in catalog.tables(one)]


def copy_rows(
    catalog: CopyingCatalog,
    source: str,
    other: CopyingCatalog,
    target: str,
    *,
    where: str | None = None,
    is_whole: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
    with_options: Callable[[Table], Table] | None = None,
    workers: Workers = side_by_side,
) -> TableCopy:
    """Do what `copy_table` does, from one catalog into another.

    Parameters
    ----------
    catalog, source, other, target, where, dry_run, progress
        As of `copy_table`.
    is_whole
        Whether also a table with partitions is replaced as a whole.
    with_options
        Gives the tables options for this copy; a new table does not get them as its own.
    workers
        What reads and writes; where a fallback branch has rows this process does.

    Returns
    -------
    TableCopy
        What was done.
    """
    chosen = with_options or _unchanged
    read = chosen(opened(catalog, source))
    named = parse(target)
    if named.branch is not None or named.system_table is not None:
        raise UnsupportedError(f"copying into {target}", "name a table")
    check_condition(read, where)
    is_new = not other.has_table(target)
    if not is_new:
        present = chosen(opened(other, target))
        if is_same(present, read):
            raise UnsupportedError(f"copying {source} into {target}", "it is the same table")
        check_fits(read.name, read.schema, present)
    scan = read.scan(where=where)
    done = TableCopy(
        source=source,
        target=target,
        creates_target=is_new,
        rows=scan.count(),
        is_dry_run=dry_run,
    )
    if dry_run:
        return done
    if is_new:
        other.create_database(named.database, exist_ok=True)
        other.create_table(target, definition_like(read.schema))
    written = chosen(opened(other, target))
    is_dynamic = bool(written.partition_keys) and not is_whole
    if done.rows == 0 and (is_dynamic or (is_whole and written.snapshot is None)):
        return done
    try:
        if workers.divides and scan.fallback is None:
            check = writing.overwriting.check_overwrite
            check(definition_of(written), replaces_all=not is_dynamic)
            partitions = frozenset[bytes]() if is_dynamic else None
            made = rows_to(written, scan, f"copying {source}", progress, workers)
            snapshot = writing.overwriting.commit_overwrite(
                *writable(written), made.messages, partitions=partitions, workers=workers
            )
        else:
            rows = scan.to_batches(progress=progress)
            snapshot = written.overwrite(rows, dynamic=is_dynamic)
    except BaseException:
        if is_new and written.snapshot is None:
            other.drop_table(target)
        raise
    return structs.replace(done, snapshot=snapshot)


def rows_to(
    table: Table, scan: Scan, what: str, progress: Progress | None, workers: Workers
) -> WrittenRows:
    """Let workers write the rows of a scan into new files of a table.

    Parameters
    ----------
    table
        That is going to have them.
    scan
        What is read.
    what
        Which work it is, in words.
    progress
        Is called as files are read.
    workers
        What reads and writes.

    Returns
    -------
    WrittenRows
        What a commit takes.
    """
    splits = scan.plan().splits
    more = counting(progress, sum(len(split.files) for split in splits), "files")
    definition, store = writable(table)
    return writing.by_workers.write_by_workers(
        definition,
        store,
        splits,
        writing.by_workers.SplitRows(scan.read_plan(), scan.store.file_io),
        scan.columns,
        workers=workers,
        what=what,
        user=new_user(definition.options),
        done=lambda split: more(len(split.files)),
    )


def _unchanged(table: Table) -> Table:
    return table


def is_same(table: Table, other: Table) -> bool:
    """Whether two tables are one; in stores of other addresses the same paths are others."""
    here, there = store_of(table), store_of(other)
    is_same_place = here.layout.table_path == there.layout.table_path
    is_local = store_kind(here.layout.table_path) is None
    return is_same_place and (is_local or here.file_io == there.file_io)


def check_condition(table: Table, where: str | None) -> None:
    """Check that a condition looks at partition columns alone.

    Raises
    ------
    SchemaError
        If it does not.
    """
    predicate = bound(where, table.schema.fields, table.name)
    if predicate is not None and not columns(predicate) <= set(table.partition_keys):
        keys = ", ".join(table.partition_keys) or "none"
        raise SchemaError(
            f"{table.name}: where must look at partition columns only; they are: {keys}"
        )


def opened(catalog: CopyingCatalog, name: str) -> Table:
    """Open a table that has rows of its own.

    Raises
    ------
    UnsupportedError
        If it is a system table.
    """
    table = catalog.relation(name)
    if isinstance(table, system.SystemTable):
        raise UnsupportedError(f"copying {name}", "it is a system table")
    return table


def definition_like(schema: TableSchema) -> Schema:
    """Return the definition of a table like another one, in a place of its own."""
    return Schema(
        schema.fields,
        schema.partition_keys,
        schema.primary_keys,
        {key: value for key, value in schema.options.items() if key not in _NOT_COPIED},
        schema.comment,
    )


def check_fits(name: str, schema: TableSchema, target: Table) -> None:
    """Check that a table can have the rows of another one.

    Parameters
    ----------
    name, schema
        Of the other one.

    Raises
    ------
    SchemaError
        Says what differs.
    """
    there = _types(target.schema.fields)
    for column, data_type in _types(schema.fields).items():
        if there.get(column) != data_type:
            has = (
                f"column {column!r} of another type" if column in there else f"no column {column!r}"
            )
            raise SchemaError(
                f"{target.name} has {has}, and {name} has it as {format_type(data_type)}"
            )
    for what, given, present in (
        ("primary key", schema.primary_keys, target.primary_keys),
        ("partition columns", schema.partition_keys, target.partition_keys),
    ):
        if set(given) != set(present):
            raise SchemaError(
                f"{target.name} has the {what} ({', '.join(present)}), and {name} has "
                f"({', '.join(given)})"
            )


def _types(fields: tuple[DataField, ...]) -> Mapping[str, DataType]:
    return {field.name: field.type for field in fields}
