"""Opening what a command line names, and saying what is wrong with it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import pyarrow as pa

from paimonlab.catalog import Catalog, connect, settings
from paimonlab.cli.commands import CONFIGURED
from paimonlab.cli.refusing import refused
from paimonlab.spec.external_paths import scheme_of
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


def is_configured() -> bool:
    """Whether there is a warehouse for commands that are given none."""
    setting = settings.read().get(settings.DEFAULT)
    return setting is not None and "warehouse" in setting.options


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


def options_of(table: Table) -> Mapping[str, str]:
    """Return the options that hold for a table, those of the command line among them."""
    return definition_of(table).options


def place_of(folder: str) -> str:
    """Return the address of a folder: as it is with a scheme, else its whole path."""
    return folder if scheme_of(folder) else str(Path(folder).absolute())


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


def keys_of(table: Table, keys: Sequence[tuple[str, str]]) -> pa.Table:
    """Return the keys of rows that are given as texts.

    Raises
    ------
    click.UsageError
        If they are not values of key columns.
    """
    given: dict[str, list[str]] = {}
    for name, text in keys:
        given.setdefault(name, []).append(text)
    if len({len(texts) for texts in given.values()}) > 1:
        raise click.UsageError("every key column takes the same number of values")
    types: Mapping[str, pa.DataType] = {field.name: field.type for field in table.arrow_schema}
    arrays = {}
    for name, texts in given.items():
        if name not in table.primary_keys:
            wanted = " ".join(shlex.quote(f"{key}=…") for key in table.primary_keys)
            raise click.UsageError(
                f"{name} is not a primary key column of {table.name}: "
                f"{', '.join(table.primary_keys) or 'it has none'}"
                + f". Write paimonlab lookup {table.name} {wanted}"
                * bool(wanted)
            )
        try:
            arrays[name] = pa.array(texts, pa.string()).cast(types[name])
        except (pa.ArrowException, ValueError) as error:
            raise click.UsageError(f"column {name}: {error}") from error
    return pa.table(arrays)
