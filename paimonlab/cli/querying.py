"""``paimonlab sql``: a statement of SQL, without Spark."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from paimonlab import cli, procedures, sql_engine
from paimonlab.cli.arguments import in_warehouse, prints_rows
from paimonlab.cli.commands import command
from paimonlab.cli.progress import Bar
from paimonlab.cli.refusing import RefusedError, refused
from paimonlab.errors import without_database

if TYPE_CHECKING:
    import pyarrow as pa

    from paimonlab.catalog import Catalog
    from paimonlab.cli.output import RowFormat

_ROWS = 20
"""Rows printed as a table by default."""


@command("sql")
@in_warehouse
@click.argument("statement", metavar="SQL")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    help=f"So many rows at most; as a table {_ROWS}.",
)
@prints_rows
def run_sql(catalog: Catalog, *, statement: str, limit: int | None, form: RowFormat) -> None:
    """Run SQL as Spark has it, without Spark: queries, changes of rows, definitions, CALL.

    SQL may be - for standard input. System tables are named as in shop.orders$files.
    What is not proven to give Spark's rows is refused by name.
    """
    if find_spec("duckdb") is None:
        raise click.UsageError("SQL needs DuckDB: pip install 'paimonlab[sql]'")
    text = sys.stdin.read() if statement == "-" else statement
    sources = sql_engine.tables.Sources(catalog)
    options = sql_engine.engine.EngineOptions.of(catalog.options)
    first = text.split(maxsplit=1)[0].upper() if text.strip() else ""
    with Bar("sql") as bar, _without_spark(catalog):
        if first in sql_engine.statements.calls.CALLING:
            noted: list[object] = []
            with refused(), _without_spark(catalog):
                rows = sql_engine.statements.calls.run(text, sources, bar.progress, noted)
            _print(rows, None, form)
            if form == "table" and (said := procedures.told(noted)):
                click.echo(said, err=True)
            return
        if first in sql_engine.first_words.WRITING:
            done = sql_engine.changes.run(text, sources, (), options, bar.progress)
            click.echo(done.said or "done", err=True)
            return
        if first == sql_engine.first_words.COPYING:
            with refused(), _without_spark(catalog):
                rows = sql_engine.copying.statement.run(text, sources, (), options, bar.progress)
            _print(rows, None, form)
            return
        most = _ROWS if limit is None and form == "table" else limit
        with refused(), _without_spark(catalog):
            planned = sql_engine.engine.plan(text, sources, most=None if most is None else most + 1)
        rows = sql_engine.engine.run(planned, options, bar.progress)
    _print(rows, most, form)
    if planned.quoted_column:
        click.echo(planned.quoted_column, err=True)


@contextmanager
def _without_spark(catalog: Catalog) -> Iterator[None]:
    """Say what to do with a statement that only Spark runs; there is no Spark in a shell."""
    try:
        yield
    except sql_engine.refusal.NoDatabaseError as error:
        with refused():
            names = cli.listed_tables.names_in(catalog, None)
        known = [*names.tables, *names.format_tables]
        raise RefusedError(f"{error}.{without_database(error.table, known)}") from error
    except sql_engine.refusal.DatabaseNotNamedError as error:
        raise RefusedError(f"{error}. {error.hint}".strip()) from error
    except sql_engine.refusal.NotReadError as error:
        hint = error.hint.removesuffix(".")
        what = f"{error.problem}. {hint}" if hint else f"{error.problem}: correct it"
        end = "" if what.endswith("?") else "."
        raise RefusedError(
            f"{what}{end} If Spark reads it, paimonlab.spark.connect(…).sql(…) runs it in Python "
            "and notebooks"
        ) from error
    except sql_engine.refusal.NotTranslatedError as error:
        instead = f". {error.hint.removesuffix('.')}. In" if error.hint else "; in"
        raise RefusedError(
            f"{error.feature} is not supported{instead} Python and notebooks "
            "paimonlab.spark.connect(…).sql(…) runs what Spark has"
        ) from error


def _print(rows: pa.Table, most: int | None, form: RowFormat) -> None:
    shown = rows if most is None else rows.slice(0, most)
    if form == "table" and rows.column_names == [sql_engine.explaining.COLUMN]:
        click.echo("\n".join(rows[0].to_pylist()))  # lines of a plan, which a cell would cut
    elif form == "json":
        cli.output.print_json_lines(shown)
    else:
        cli.output.print_rows(shown, form)
    if rows.num_rows > shown.num_rows:
        click.echo(f"more than {most} rows; -n shows more", err=True)
