"""How well the tables of a catalog are maintained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paimonlab.analysis.health.measures import Thresholds
from paimonlab.analysis.health.report import TableHealth, unreadable
from paimonlab.analysis.health.table_health import table_health
from paimonlab.catalog.catalog import Catalog
from paimonlab.errors import PaimonError
from paimonlab.progress import Progress
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.table import Table


def catalog_health(
    catalog: Catalog,
    names: Sequence[str] = (),
    *,
    thresholds: Thresholds | None = None,
    orphans: bool = False,
    progress: Progress | None = None,
) -> list[TableHealth]:
    """Look at tables of a catalog, one after the other; data files are not opened.

    Parameters
    ----------
    catalog
        Where they are.
    names
        Databases and tables (``db``, ``db.t``); (): every table.
    thresholds
        Values from which something is reported; None: the defaults.
    orphans
        Whether to look for orphan files as well, which lists every folder.
    progress
        Called with the number of tables that were looked at.

    Returns
    -------
    list of TableHealth
        In the order of their names; a table that cannot be read has a ``problem``.

    Raises
    ------
    NotFoundError
        If there is no such database or table.
    """
    chosen = list(dict.fromkeys(_tables(catalog, names)))
    reports = []
    for done, name in enumerate(chosen):
        if progress is not None:
            progress(done, len(chosen), "tables")
        reports.append(_of(catalog, name, thresholds, orphans=orphans))
    if progress is not None and chosen:
        progress(len(chosen), len(chosen), "tables")
    return reports


def _tables(catalog: Catalog, names: Sequence[str]) -> Iterator[str]:
    for name in names or catalog.databases():
        if "." in name:
            if not catalog.has_table(name):
                catalog.relation(name)  # says what is wrong with the name
            yield name
        else:
            yield from (f"{name}.{table}" for table in catalog.tables(name))


def _of(
    catalog: Catalog, name: str, thresholds: Thresholds | None, *, orphans: bool
) -> TableHealth:
    try:
        table = catalog.relation(name)
    except (PaimonError, OSError) as error:
        return unreadable(name, error)
    if not isinstance(table, Table):
        return unreadable(name, TypeError("a system table has no files of its own"))
    return table_health(
        definition_of(table), store_of(table), thresholds=thresholds, orphans=orphans
    )
