"""Commands that keep a table in order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from paimonlab import cli
from paimonlab.cli.arguments import Partition, column_list, json_flag, on_table
from paimonlab.cli.commands import command
from paimonlab.cli.planned import Consent, asks_first

if TYPE_CHECKING:
    from paimonlab.spec.snapshot import Snapshot
    from paimonlab.table.table import Table


@command()
@on_table
@click.option("--snapshot", type=int, metavar="ID", help="Where to go back to.")
@click.option("--tag", metavar="NAME", help="Where to go back to; it may have expired.")
@click.option("--timestamp", metavar="TIME", help="The latest snapshot at or before this time.")
@asks_first
def rollback(
    table: Table,
    *,
    snapshot: int | None,
    tag: str | None,
    timestamp: str | None,
    consent: Consent,
) -> None:
    """Go back to an older snapshot: what came after it is deleted for good."""
    if sum(given is not None for given in (snapshot, tag, timestamp)) != 1:
        raise click.UsageError("give one of --snapshot, --tag, --timestamp to go back to")
    rollback_to = table.maintenance.rollback_to
    consent.run(partial(rollback_to, snapshot=snapshot, tag=tag, timestamp=timestamp))


@command()
@on_table
@click.option(
    "--columns", callback=column_list, metavar="A,B,…", help="Of these columns; else all."
)
@json_flag
def analyze(table: Table, *, columns: list[str] | None, as_json: bool) -> None:
    """Compute statistics of the rows and commit them."""
    _tell(table.maintenance.analyze(columns), "there is nothing to look at", as_json=as_json)


@command("compact-manifests")
@on_table
@json_flag
def compact_manifests(table: Table, *, as_json: bool) -> None:
    """Rewrite small manifests, and those with deletions."""
    _tell(table.compact_manifests(), "there is nothing to rewrite", as_json=as_json)


@command("drop-partition")
@on_table
@click.argument("partitions", nargs=-1, required=True, type=Partition())
@asks_first
def drop_partition(table: Table, partitions: Sequence[dict[str, str]], *, consent: Consent) -> None:
    """Delete all rows of partitions (dt=2026-01-01,hour=7) in one commit."""

    def verb(*, dry_run: bool) -> object:
        snapshot = None if dry_run else table.drop_partitions(partitions)
        names = [",".join(f"{k}={v}" for k, v in partition.items()) for partition in partitions]
        return {"partitions": names, "snapshot_id": snapshot and snapshot.id}

    consent.run(verb)


@command("mark-partition-done")
@on_table
@click.argument("partitions", nargs=-1, required=True, type=Partition())
@json_flag
def mark_partition_done(
    table: Table, partitions: Sequence[dict[str, str]], *, as_json: bool
) -> None:
    """Tell readers of other systems that partitions are complete."""
    folders = table.mark_partitions_done(partitions)
    click.echo(cli.output.json_text(folders) if as_json else "\n".join(folders))


def _tell(snapshot: Snapshot | None, nothing: str, *, as_json: bool) -> None:
    if as_json:
        click.echo(cli.output.json_text({"snapshot_id": snapshot and snapshot.id}))
    else:
        click.echo(nothing if snapshot is None else f"committed as snapshot {snapshot.id}")
