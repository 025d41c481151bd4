"""Commands that print rows: ``scan``, ``lookup``, ``changes``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from paimonlab import cli
from paimonlab.cli.arguments import (
    Pairs,
    at_a_time,
    columns_option,
    in_warehouse,
    on_table,
    prints_rows,
    table_argument,
    where_option,
)
from paimonlab.cli.commands import command
from paimonlab.cli.refusing import refused
from paimonlab.errors import SchemaError
from paimonlab.table import format_tables

if TYPE_CHECKING:
    import pyarrow as pa

    from paimonlab.catalog import Catalog
    from paimonlab.cli.output import RowFormat
    from paimonlab.table.format_tables.format_table import FormatTable
    from paimonlab.table.reading.changes import Changes
    from paimonlab.table.reading.incremental import ChangeMode
    from paimonlab.table.table import Table

_ROWS = 20
"""Rows printed as text by default."""
_limit_option = click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    help=f"So many rows at most; as text {_ROWS}.",
)


@command()
@in_warehouse
@table_argument
@click.option(
    "-o", "--option", "options", multiple=True, type=Pairs(), help="Of the table, for now."
)
@columns_option
@where_option
@at_a_time
@_limit_option
@click.option("--count", "only_count", is_flag=True, help="Print how many rows there are.")
@prints_rows
def scan(
    catalog: Catalog,
    name: str,
    options: Sequence[tuple[str, str]],
    *,
    columns: list[str] | None,
    where: str | None,
    at: Mapping[str, Any],
    limit: int | None,
    only_count: bool,
    form: RowFormat,
) -> None:
    """Read rows of a table, of a format table, or of a system table as 'db.t$manifests'."""
    shown = _ROWS if limit is None and form == "table" and not only_count else limit
    if shown is not None and form == "table" and not only_count:
        limit = shown + 1  # tells whether there are more
    with refused():
        found = catalog.opened(name)
        rows: Any
        if isinstance(found, format_tables.format_table.FormatTable):
            rows = _scan_of_files(found, at, options).scan(columns, where, limit=limit)
        else:
            rows = found.scan(columns, where, limit=limit, options=dict(options), **at)
    if only_count:
        cli.output.print_count(rows.count(), form)
        return
    cli.output.print_batches(rows.to_batches(), form, limit=shown)


def _scan_of_files(
    table: FormatTable, at: Mapping[str, Any], options: Sequence[tuple[str, str]]
) -> FormatTable:
    given = [name for name, value in at.items() if value is not None]
    if given:
        option = given[0].replace("_", "-")
        raise SchemaError(
            f"{table.name} is a format table, files without snapshots: leave out --{option}"
        )
    return table.with_options(dict(options)) if options else table


@command()
@on_table
@click.argument("keys", nargs=-1, required=True, type=Pairs(), metavar="KEY=VALUE…")
@columns_option
@prints_rows
def lookup(
    table: Table,
    keys: Sequence[tuple[str, str]],
    *,
    columns: list[str] | None,
    form: RowFormat,
) -> None:
    """Read rows by their full primary key.

    Give a value to each key column; for several rows, as many values to each. The exit code is 1
    if a key is not there.
    """
    wanted = cli.opening.keys_of(table, keys)
    with refused():
        rows = table.lookup(wanted, columns=columns)
    distinct = wanted.group_by(wanted.column_names).aggregate([])
    missing = distinct.num_rows - rows.num_rows
    if rows.num_rows or form != "table" or not missing:
        cli.output.print_rows(rows, form)
    if missing:
        if form == "table":
            click.echo(_missing_text(distinct, missing), err=True)
        raise click.exceptions.Exit(1)


def _missing_text(wanted: pa.Table, missing: int) -> str:
    """Say that rows are not there, of a single one which."""
    if wanted.num_rows > 1:
        return f"{missing:,} of {wanted.num_rows:,} keys {'has' if missing == 1 else 'have'} no row"
    key = " and ".join(f"{name} = {value}" for name, value in wanted.to_pylist()[0].items())
    return f"there is no row with {key}"


@command()
@on_table
@click.argument("start")
@click.argument("end", required=False)
@click.option(
    "--mode",
    type=click.Choice(["auto", "delta", "changelog", "diff"]),
    help="Where changes are read from.",
)
@columns_option
@where_option
@_limit_option
@prints_rows
def changes(
    table: Table,
    start: str,
    end: str | None,
    *,
    mode: ChangeMode | None,
    columns: list[str] | None,
    where: str | None,
    limit: int | None,
    form: RowFormat,
) -> None:
    """Read what the commits after START up to END changed.

    START and END are snapshot ids, names of tags, or times, such as 2026-01-31 and yesterday.
    Without END it is the latest snapshot. The first column is the kind of the change: +I, -U, +U
    or -D.
    """
    if limit is None and form == "table":
        limit = _ROWS
    with refused():
        read: Changes = table.changes(start, end, mode=mode, columns=columns, where=where)
        batches = read.to_batches()
    cli.output.print_batches(batches, form, limit=limit)
