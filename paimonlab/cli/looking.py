"""Commands that list: tables, and what the metadata of one table says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from paimonlab import cli
from paimonlab.cli.arguments import (
    at_a_time,
    columns_option,
    in_warehouse,
    on_table,
    prints_rows,
    where_option,
)
from paimonlab.cli.commands import command
from paimonlab.cli.completing import complete_databases
from paimonlab.cli.refusing import refused
from paimonlab.table import system
from paimonlab.table.system.help_texts import HELP

if TYPE_CHECKING:
    from paimonlab.catalog import Catalog
    from paimonlab.cli.output import RowFormat
    from paimonlab.table.table import Table


class _Listing(NamedTuple):
    """A system table as a command."""

    shown: tuple[str, ...] = ()
    """Columns without ``--columns``; (): all."""
    is_history: bool = False
    """Whether the last rows are the ones wanted."""
    has_time: bool = False
    """Whether it is about one snapshot."""


LISTINGS = {
    "snapshots": _Listing(
        (
            "snapshot_id",
            "commit_time",
            "commit_kind",
            "commit_user",
            "schema_id",
            "total_record_count",
            "delta_record_count",
            "watermark",
        ),
        is_history=True,
    ),
    "schemas": _Listing(is_history=True),
    "options": _Listing(),
    "tags": _Listing(),
    "branches": _Listing(),
    "consumers": _Listing(),
    "files": _Listing(
        (
            "partition",
            "bucket",
            "level",
            "record_count",
            "file_size_in_bytes",
            "schema_id",
            "min_sequence_number",
            "max_sequence_number",
            "creation_time",
            "file_path",
        ),
        has_time=True,
    ),
    "manifests": _Listing(has_time=True),
    "partitions": _Listing(
        ("partition", "record_count", "file_size_in_bytes", "file_count", "last_update_time"),
        has_time=True,
    ),
    "buckets": _Listing(has_time=True),
    "statistics": _Listing(has_time=True),
}
"""By the name of command and system table."""


@command()
@in_warehouse
@click.argument("database", required=False, shell_complete=complete_databases)
@prints_rows
def tables(catalog: Catalog, database: str | None, *, form: RowFormat) -> None:
    """List the tables of a warehouse, or of one database of it; then its format tables.

    Rows are counted before rows of one key are merged, those of format tables are not.
    """
    with refused():
        names = cli.listed_tables.names_in(catalog, database)
    rows = cli.listed_tables.rows_of(catalog, names)
    if not rows.num_rows and form == "table":
        cli.opening.say_empty(catalog, database)
        return
    cli.output.print_rows(rows, form)


def listing(name: str) -> click.Command:
    """Make the command that prints a system table."""
    kind = LISTINGS[name]

    def body(
        table: Table,
        *,
        columns: list[str] | None,
        where: str | None,
        count: int | None,
        form: RowFormat,
        at: Mapping[str, Any] | None = None,
    ) -> None:
        chosen = columns or (None if form != "table" or not kind.shown else list(kind.shown))
        with refused():
            scan = system.open_system_table(table, name).scan(chosen, where, **(at or {}))
        rows = scan.to_arrow()
        if count is not None:
            start = max(rows.num_rows - count, 0) if kind.is_history else 0
            rows = rows.slice(start, count)
        cli.output.print_rows(rows, form)

    which = "the newest" if kind.is_history else "the first"
    body.__doc__ = f"Show ${name}: {HELP[name]}."
    body = prints_rows(body)
    body = click.option(
        "-n", "count", type=click.IntRange(min=0), metavar="N", help=f"Only {which} N."
    )(body)
    body = columns_option(where_option(body))
    if kind.has_time:
        body = at_a_time(body)
    return command(name)(on_table(body))
