"""What most commands take: a warehouse, a table in it, options of both."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from paimonlab import cli
from paimonlab.cli.commands import WAREHOUSE
from paimonlab.cli.completing import complete_columns, complete_tables
from paimonlab.cli.refusing import refused
from paimonlab.spec.options.grammar import parse_duration_millis
from paimonlab.table import reading

if TYPE_CHECKING:
    from paimonlab.catalog import Catalog
    from paimonlab.cli.output import RowFormat

Body: TypeAlias = Callable[..., None]

json_flag = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_FORMATS: tuple[RowFormat, ...] = ("table", "json", "csv")
table_argument = click.argument("name", metavar="DB.TABLE", shell_complete=complete_tables)


class Pairs(click.ParamType):  # type: ignore[type-arg]  # generic in some versions only
    """``key=value``."""

    name = "KEY=VALUE"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Take a text apart at the first equals sign."""
        key, equals, rest = str(value).partition("=")
        if not equals or not key:
            self.fail(f"{value!r} is not of the form key=value{self._meant(value)}", param, ctx)
        return key, rest

    @staticmethod
    def _meant(value: object) -> str:
        """Say how rows go into a file, where the name of one is given as an option."""
        if str(value).rpartition(".")[2] not in ("csv", "json", "txt", "tsv"):
            return ""
        return f". Into a file: --format {str(value).rpartition('.')[2]} > {value}"


class Partition(click.ParamType):  # type: ignore[type-arg]
    """``dt=2026-01-01,hour=7``."""

    name = "KEY=VALUE,…"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, str]:
        """Take a text apart at commas, slashes and equals signs."""
        if isinstance(value, dict):
            return value
        parts = [part for part in str(value).replace("/", ",").split(",") if part]
        pair = Pairs()
        return dict(pair.convert(part.strip(), param, ctx) for part in parts)


options_of_new_table = click.option(
    "-o", "--option", "options", multiple=True, type=Pairs(), help="Of the table: bucket=4."
)
delimiter_of_csv = click.option("--delimiter", metavar="CHAR", help="Between the values of CSV.")


def in_warehouse(body: Body) -> Body:
    """Give a command the arguments of a warehouse; its function gets a `Catalog` first."""

    @click.argument(WAREHOUSE, type=click.Path(file_okay=False))
    @click.option(
        "--catalog-option", "catalog_options", multiple=True, type=Pairs(), help="Of the catalog."
    )
    @functools.wraps(body)
    def command(warehouse: str, catalog_options: Sequence[tuple[str, str]], **others: Any) -> None:
        body(cli.opening.open_catalog(warehouse, dict(catalog_options)), **others)

    return command


def on_table(body: Body) -> Body:
    """Give a command the arguments of a table; its function gets a `Table` first."""

    @table_argument
    @click.option(
        "-o", "--option", "options", multiple=True, type=Pairs(), help="Of the table, for now."
    )
    @functools.wraps(body)
    def command(
        catalog: Catalog, name: str, options: Sequence[tuple[str, str]], **others: Any
    ) -> None:
        body(cli.opening.open_table(catalog, name, dict(options)), **others)

    return in_warehouse(command)


def column_list(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> list[str] | None:
    """Take a list with commas apart; None: it was not given."""
    if value is None:
        return None
    return [name.strip() for name in value.split(",") if name.strip()]


def duration(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> timedelta | None:
    """Read how long something takes: ``7 d``."""
    if value is None:
        return None
    with refused():
        return timedelta(milliseconds=parse_duration_millis(value))


def moment(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> timedelta | int | None:
    """Read a time, as epoch milliseconds, or how long ago it was."""
    if value is None:
        return None
    with suppress(ValueError):
        return reading.time_travel.to_millis(value)
    return duration(context, parameter, value)


def prints_rows(body: Body) -> Body:
    """Give a command ``--format`` and ``--json``; its function gets ``form``, by name."""

    @click.option(
        "--format",
        "form",
        type=click.Choice(_FORMATS),
        help="How rows are printed; else as a table.",
    )
    @click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
    @functools.wraps(body)
    def command(*arguments: Any, form: RowFormat | None, as_json: bool, **others: Any) -> None:
        if as_json and form not in {None, "json"}:
            raise click.UsageError("give --json or --format")
        body(*arguments, form="json" if as_json else form or "table", **others)

    return command


columns_option = click.option(
    "--columns",
    metavar="A,B,…",
    callback=column_list,
    shell_complete=complete_columns,
    help="Which columns, in this order.",
)
where_option = click.option("--where", metavar="SQL", help="Only rows for which this is true.")


def at_a_time(body: Body) -> Body:
    """Give a command the options of a point in time; its function gets ``at``, by name."""

    @click.option("--snapshot", type=int, metavar="ID", help="As of this snapshot.")
    @click.option("--tag", metavar="NAME", help="As of this tag.")
    @click.option(
        "--timestamp", metavar="TIME", help="As of this time: '2026-01-31 12:00:00', local."
    )
    @functools.wraps(body)
    def command(
        *arguments: Any,
        snapshot: int | None,
        tag: str | None,
        timestamp: str | None,
        **others: Any,
    ) -> None:
        at = {"snapshot": snapshot, "tag": tag, "timestamp": timestamp}
        if sum(given is not None for given in at.values()) > 1:
            raise click.UsageError("give one of --snapshot, --tag, --timestamp")
        body(*arguments, at=at, **others)

    return command
