"""What a shell offers for the word that is being typed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from paimonlab import cli
from paimonlab.cli.commands import CONFIGURED, WAREHOUSE, is_place
from paimonlab.errors import PaimonError
from paimonlab.table.system.help_texts import HELP

if TYPE_CHECKING:
    from paimonlab.catalog import Catalog

_MOST = 1_000
"""Tables that are offered at once."""


def complete_tables(
    ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer tables, after a ``$`` system tables; folders where a warehouse may be meant."""
    folders = [CompletionItem(incomplete, type="dir")]
    if ctx.params.get(WAREHOUSE) == CONFIGURED and incomplete and is_place(incomplete):
        return folders
    table, dollar, _ = incomplete.partition("$")
    if dollar:
        names: Iterator[str] = (f"{table}${name}" for name in HELP)
    else:
        catalog = _catalog(ctx)
        if catalog is None:
            return folders
        names = _tables(catalog, incomplete)
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def complete_databases(
    ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer databases."""
    catalog = _catalog(ctx)
    if catalog is None:
        return [CompletionItem(incomplete, type="dir")]
    return [CompletionItem(name) for name in catalog.databases() if name.startswith(incomplete)]


def complete_columns(
    ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer columns of the table that was named, after those that are typed."""
    catalog = _catalog(ctx)
    before, comma, word = incomplete.rpartition(",")
    try:
        names = catalog.relation(ctx.params["name"]).arrow_schema.names if catalog else []
    except (PaimonError, OSError, ValueError):
        return []
    return [CompletionItem(before + comma + name) for name in names if name.startswith(word)]


def complete_files(
    _ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer files."""
    return [CompletionItem(incomplete, type="file")]


def _catalog(ctx: click.Context) -> Catalog | None:
    """Open the warehouse that was typed, or is configured; None: that fails."""
    warehouse = ctx.params.get(WAREHOUSE)
    try:
        if warehouse and not Path(warehouse).expanduser().is_dir():
            return None  # nothing is asked of stores while somebody types
        return cli.opening.open_catalog(
            warehouse or CONFIGURED, dict(ctx.params.get("catalog_options") or ())
        )
    except (click.UsageError, PaimonError, OSError):
        return None


def _tables(catalog: Catalog, incomplete: str) -> Iterator[str]:
    database, dot, _ = incomplete.partition(".")
    wanted = [name for name in catalog.databases() if not dot or name == database]
    every = (f"{name}.{table}" for name in wanted for table in catalog.tables(name))
    return islice(every, _MOST)
