"""Commands that make tables and fill them: ``create``, ``load``."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from paimonlab import catalog as catalogs
from paimonlab import cli
from paimonlab.cli.arguments import (
    Pairs,
    column_list,
    delimiter_of_csv,
    in_warehouse,
    json_flag,
    options_of_new_table,
    table_argument,
)
from paimonlab.cli.commands import command
from paimonlab.cli.completing import complete_files
from paimonlab.cli.refusing import RefusedError, refused, told
from paimonlab.errors import AlreadyExistsError, DatabaseNotFoundError, TableNotFoundError
from paimonlab.spec.plurals import many

if TYPE_CHECKING:
    from paimonlab.catalog import Catalog

_primary_key = click.option(
    "--primary-key", metavar="A,B,…", callback=column_list, help="Rows are upserted by these."
)
_partition_by = click.option(
    "--partition-by", metavar="A,B,…", callback=column_list, help="A folder for each value."
)


@command()
@in_warehouse
@click.argument("name", metavar="DB[.TABLE]")
@click.argument("columns", nargs=-1, metavar="['COLUMN TYPE']…")
@click.option(
    "--like",
    type=click.Path(exists=True, dir_okay=False),
    help="Columns as in this CSV, JSON or Parquet file.",
)
@_primary_key
@_partition_by
@options_of_new_table
@click.option("--comment", help="What the table is about.")
@click.option("--if-not-exists", is_flag=True, help="Do nothing if it is there.")
@json_flag
def create(
    catalog: Catalog,
    *,
    name: str,
    columns: Sequence[str],
    like: str | None,
    primary_key: list[str] | None,
    partition_by: list[str] | None,
    options: Sequence[tuple[str, str]],
    comment: str | None,
    if_not_exists: bool,
    as_json: bool,
) -> None:
    """Create a table, or a database.

    Columns are names with types as in SQL: 'id BIGINT NOT NULL'.
    """
    if "." not in name:
        if name.lower() in ("table", "database") and columns:
            rest = " ".join(shlex.quote(one) for one in columns)
            raise click.UsageError(f"create takes the name at once: paimonlab create {rest}")
        if columns or like or primary_key or partition_by or options or comment:
            raise click.UsageError(f"{name} is a database; a table is DB.TABLE")
        with refused():
            catalog.create_database(name, exist_ok=if_not_exists)
        click.echo(
            cli.output.json_text({"database": name}) if as_json else f"database {name} is there"
        )
        return
    if bool(columns) == bool(like):
        raise click.UsageError("give columns ('id BIGINT NOT NULL'), or --like FILE")
    with refused(), _database_first():
        table = catalog.create_table(
            name,
            catalogs.loading.source_columns(like) if like else dict(map(_column, columns)),
            primary_keys=primary_key or (),
            partition_keys=partition_by or (),
            options=dict(options),
            comment=comment,
            exist_ok=if_not_exists,
        )
    names = table.arrow_schema.names
    if as_json:
        click.echo(cli.output.json_text({"table": name, "columns": names}))
    else:
        click.echo(
            f"{name} is there, with {len(names)} {'column' if len(names) == 1 else 'columns'}"
        )


@contextmanager
def _database_first() -> Iterator[None]:
    try:
        yield
    except DatabaseNotFoundError as error:
        advice = f"make it first: paimonlab create {error.database}"
        raise RefusedError(f"{error} If it is new, {advice}") from error


@contextmanager
def _without_create(catalog: Catalog, name: str) -> Iterator[None]:
    try:
        yield
    except AlreadyExistsError as error:
        there = f"{error.what} {error.name} already exists"
        if catalog.table(name).snapshot is None:  # a load that was killed leaves this
            said = f"{there} and has no rows: load into it without --create, or drop it first"
        else:
            said = f"{there}: load into it without --create, if these rows are to be added"
        raise RefusedError(said) from error


@contextmanager
def _with_create(name: str) -> Iterator[None]:
    try:
        yield
    except (DatabaseNotFoundError, TableNotFoundError) as error:
        raise RefusedError(f"{told(error)} If {name} is new, --create makes it") from error


def _column(text: str) -> tuple[str, str]:
    name, blank, kind = text.strip().partition(" ")
    if not blank:
        raise click.UsageError(
            f"{text!r} is not a column: give name and type, 'id BIGINT NOT NULL'"
        )
    return name.strip("`"), kind.strip()


@command()
@in_warehouse
@table_argument
@click.argument(
    "files",
    nargs=-1,
    required=True,
    metavar="FILE…",
    type=click.Path(exists=True, dir_okay=False),
    shell_complete=complete_files,
)
@click.option(
    "--file-format",
    type=click.Choice(["csv", "json", "parquet"]),
    help="Of the files; else their names tell.",
)
@delimiter_of_csv
@click.option(
    "--decimal-point",
    type=click.Choice([".", ","]),
    default=".",
    help="Of the numbers of CSV: ',' for 12,50.",
)
@click.option("--create", "creates", is_flag=True, help="Make table and database first.")
@click.option(
    "--type",
    "types",
    multiple=True,
    type=Pairs(),
    metavar="COLUMN=TYPE",
    help="Of a column that --create makes, such as price=DECIMAL(10,2); else its values tell.",
)
@click.option("--overwrite", "overwrites", is_flag=True, help="Replace the rows that are there.")
@_primary_key
@_partition_by
@options_of_new_table
@json_flag
def load(
    catalog: Catalog,
    *,
    name: str,
    files: Sequence[str],
    file_format: Literal["csv", "json", "parquet"] | None,
    delimiter: str | None,
    decimal_point: str,
    creates: bool,
    overwrites: bool,
    as_json: bool,
    **made: Any,
) -> None:
    """Load CSV, JSON (an object a line) or Parquet files into a table, in one commit.

    Rows replace rows with the same primary key; without one they are added. Columns go by
    name; of CSV the first line has the names.
    """
    keys = {name: made[name] or () for name in ("primary_key", "partition_by", "types", "options")}
    if not creates and any(keys.values()):
        raise click.UsageError("--primary-key, --partition-by, --type and -o are for --create")
    if creates and overwrites:
        raise click.UsageError("a table that --create makes has no rows to --overwrite")
    if delimiter is not None and len(delimiter) != 1:
        raise click.UsageError(f"--delimiter is one character, not {delimiter!r}")
    with refused(), _without_create(catalog, name), _with_create(name):
        done = catalogs.loading.load_files(
            catalog,
            catalogs.loading.LoadRequest(
                table=name,
                paths=[str(Path(file)) for file in files],
                format=file_format,
                delimiter=delimiter,
                decimal_point=decimal_point,
                creates=creates,
                overwrites=overwrites,
                primary_keys=keys["primary_key"],
                partition_keys=keys["partition_by"],
                types=dict(keys["types"]),
                options=dict(keys["options"]),
            ),
        )
    snapshot_id = done.snapshot and done.snapshot.id
    if as_json:
        click.echo(
            cli.output.json_text({"table": name, "rows": done.rows, "snapshot_id": snapshot_id})
        )
        return
    click.echo(f"{name}: {many(done.rows, 'row')}", nl=False)
    click.echo(f", snapshot {snapshot_id}" if snapshot_id else ", nothing to commit")
    if done.numbers_with_commas:
        some = ", ".join(done.numbers_with_commas)
        are = (
            "is text, as its numbers have"
            if len(done.numbers_with_commas) == 1
            else "are text, as their numbers have"
        )
        click.echo(
            f"{some} {are} a decimal comma; --decimal-point , reads them as numbers: "
            f"first paimonlab sql 'DROP TABLE {name}'",
            err=True,
        )
    for column, what, value in done.other_texts:
        click.echo(_KEPT_AS_TEXT[what].format(column=column, value=value), err=True)


_KEPT_AS_TEXT = {
    "number": (
        "{column} is text, as {value!r} is no number here; in Python pandas.read_csv(…, "
        "decimal=',', thousands='.', na_values=['n/a']) reads such files, "
        "catalog.write_table(name, frame) makes the table"
    ),
    "day": (
        "{column} is text, as {value!r} is not written as 2026-01-31; SQL reads such a text as "
        "to_date(`{column}`, 'dd.MM.yyyy')"
    ),
}
