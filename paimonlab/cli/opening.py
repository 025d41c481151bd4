"""Opening what a command line names, and saying what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import click

from paimonlab.catalog import Catalog, connect, settings
from paimonlab.cli.commands import CONFIGURED
from paimonlab.errors import PaimonError
from paimonlab.spec.options.table_options import check_known
from paimonlab.storage.near_folders import near_folders
from paimonlab.table.inside import definition_of, with_definition
from paimonlab.table.table import Table


def open_catalog(warehouse: str, options: Mapping[str, str]) -> Catalog:
    """Open a catalog.

    Parameters
    ----------
    warehouse
        A folder or URI, or `CONFIGURED`.
    options
        Of the catalog.

    Raises
    ------
    RefusedError
        If there is no such catalog.
    click.UsageError
        If none is given or configured.
    """
    with refused():
        if warehouse == CONFIGURED:
            return connect({**_configured(), **options})
        return connect({**options, "warehouse": warehouse} if options else warehouse)


def _configured() -> Mapping[str, str]:
    """Return the options of the connection that notebooks have as their default."""
    setting = settings.read().get(settings.DEFAULT)
    if setting is None:
        raise click.UsageError(
            "no warehouse: give one first (./warehouse), or set PAIMONLAB_WAREHOUSE, or write "
            f'warehouse = "…" below [{settings.DEFAULT}] in ~/.config/paimonlab/config.toml'
        )
    if "warehouse" not in setting.options:
        raise click.UsageError(
            f"the connection {settings.DEFAULT} is a Spark Connect server ({setting.place}), "
            "which the command line does not use: give a warehouse first"
        )
    return setting.resolved()


def open_table(catalog: Catalog, name: str, options: Mapping[str, str]) -> Table:
    """Open a table that holds rows.

    Raises
    ------
    RefusedError
        If there is no such table, or an option is unknown.
    click.UsageError
        If it is a system table.
    """
    with refused():
        table = catalog.relation(name)
    if not isinstance(table, Table):
        raise click.UsageError(f"{name} is a system table; it can only be scanned")
    if not options:
        return table
    with refused():
        check_known(options)
    return with_definition(table, definition_of(table).with_options(options))


def say_empty(catalog: Catalog, database: str | None = None) -> None:
    """Say that there is no table, where it was looked, and how the first is made."""
    is_there = not catalog.has_folder or catalog.file_io.exists(catalog.path)
    place = database or catalog.path
    why = "has no tables yet" if is_there else "is not there yet"
    first = f"paimonlab load {database or 'DB'}.TABLE FILE --create"
    has_place = catalog.has_folder and not (is_there and catalog.databases())
    near = near_folders(catalog.path) if has_place else []
    meant = f". Or is it {' or '.join(near)}?" if near else ""
    click.echo(f"{place} {why}; '{first}' makes the first table{meant}", err=True)


class RefusedError(click.ClickException):
    """What was asked for cannot be done: said on one line, without how the command is used."""

    exit_code = 2


@contextmanager
def refused() -> Iterator[None]:
    """Turn what is wrong with arguments into an error that click shows, exit code 2."""
    try:
        yield
    except (PaimonError, ValueError, TypeError) as error:
        raise RefusedError(str(error)) from error
