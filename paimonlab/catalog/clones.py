"""The verb of catalogs that clones tables; `paimonlab.catalog.cloning` does it, loaded on use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from paimonlab import catalog as catalogs

if TYPE_CHECKING:
    from paimonlab.catalog.cloning import TableClone
    from paimonlab.catalog.copying import CopyingCatalog
    from paimonlab.progress import Progress
    from paimonlab.spec.options.given import OptionValue


def clone_to(  # noqa: PLR0913 - as Java's action
    catalog: CopyingCatalog,
    other: CopyingCatalog,
    database: str | None = None,
    table: str | None = None,
    *,
    target_database: str | None = None,
    target_table: str | None = None,
    included_tables: Sequence[str] | None = None,
    excluded_tables: Sequence[str] = (),
    where: str | None = None,
    snapshot: int | None = None,
    tag: str | None = None,
    target_options: Mapping[str, OptionValue] | None = None,
    prefer_file_format: str | None = None,
    meta_only: bool = False,
    clone_if_exists: bool = True,
    verify: bool = True,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> list[TableClone]:
    """Clone tables into another catalog, go on where an earlier call stopped, and compare.

    Parameters
    ----------
    other
        Any kind of catalog, in any store.
    database, table
        One table, all of a database, or without both all of this catalog.
    target_database, target_table
        Names there, if others; ``target_table`` for one table.
    included_tables, excluded_tables
        ``database.table`` of this catalog: these alone, and none of those.
    where
        A condition on partition columns: partitions for which it is true are replaced, the
        others stay. Without it tables that are there are replaced as a whole.
    snapshot, tag
        What one table had then; else what tables have now.
    target_options
        Of tables that are made, instead of those of their sources.
    prefer_file_format
        ``file.format`` of tables that are made.
    meta_only
        Make tables, without rows.
    clone_if_exists
        Whether tables that are there get new rows; else those that have some stay.
    verify
        Whether the rows of both are read again and compared: how many, and a sum of their
        hashes.
    dry_run
        Change nothing; rows are counted.
    progress
        Is called as files of each table are read.

    Returns
    -------
    list[TableClone]
        One for each table.

    Raises
    ------
    SchemaError
        If a table that is there does not fit, or ``where`` looks at other columns; nothing was
        changed.
    TableNotFoundError
        If there is no such table, also of ``included_tables`` and ``excluded_tables``; nothing was
        changed.
    UnsupportedError
        If a name is that of a branch or system table, or both are the same table.
    CorruptDataError
        If the rows of both differ after all.

    Notes
    -----
    The latest rows are cloned, without snapshots, tags and branches. Whoever reads the target sees
    the table as it was, or with all rows; one that is new is empty before.
    """
    return catalogs.cloning.clone(
        catalog,
        other,
        catalogs.cloning.CloneRequest(
            database=database,
            table=table,
            target_database=target_database,
            target_table=target_table,
            included_tables=included_tables,
            excluded_tables=excluded_tables,
            where=where,
            snapshot=snapshot,
            tag=tag,
            target_options=target_options,
            prefer_file_format=prefer_file_format,
            meta_only=meta_only,
            clone_if_exists=clone_if_exists,
            verify=verify,
            dry_run=dry_run,
            progress=progress,
        ),
    )
