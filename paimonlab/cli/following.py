"""``paimonlab follow``: what commits change, as they come."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from paimonlab import cli
from paimonlab.cli.arguments import columns_option, on_table, where_option
from paimonlab.cli.commands import command
from paimonlab.cli.refusing import refused

if TYPE_CHECKING:
    from paimonlab.table.following.follower import ChangeBatch
    from paimonlab.table.table import Table


@command()
@on_table
@click.option(
    "--from",
    "start",
    metavar="START",
    help="A snapshot id, a time or a scan mode; else latest-full: all rows, then changes.",
)
@click.option(
    "--until",
    metavar="END",
    help="'latest': end when nothing is left to read; or a snapshot id, tag, or time.",
)
@click.option("--consumer-id", metavar="NAME", help="Keep progress with the table, go on from it.")
@columns_option
@where_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object per batch.")
def follow(
    table: Table,
    *,
    start: str | None,
    until: str | None,
    consumer_id: str | None,
    columns: list[str] | None,
    where: str | None,
    as_json: bool,
) -> None:
    """Read all rows, then what each commit changes, and wait for more."""
    beginning: dict[str, Any] = {} if start is None else {"start": _moment(start)}
    with refused():
        follower = table.follow(
            until=None if until is None else _moment(until),
            consumer_id=consumer_id,
            columns=columns,
            where=where,
            **beginning,
        )
    with follower:
        for batch in follower:
            _print(batch, as_json=as_json)
            sys.stdout.flush()


def _moment(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def _print(batch: ChangeBatch, *, as_json: bool) -> None:
    if not as_json:
        click.echo(f"snapshot {batch.snapshot_id}, {'all rows' if batch.is_full else 'changes'}:")
        cli.output.print_rows(batch.data)
        return
    cli.output.print_json_line(
        {
            "snapshot_id": batch.snapshot_id,
            "is_full": batch.is_full,
            "watermark": batch.watermark,
            "rows": cli.output.records(batch.data),
        }
    )
