"""Commands for what has a name: tags, branches, consumers."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import click

from paimonlab import cli
from paimonlab.cli.arguments import duration, json_flag, on_table
from paimonlab.cli.commands import command
from paimonlab.cli.planned import Consent, asks_first

if TYPE_CHECKING:
    from paimonlab.table.table import Table


def _tell(did: str, result: object, *, as_json: bool) -> None:
    click.echo(cli.output.json_text(result) if as_json else did)


@command("create-tag")
@on_table
@click.argument("tag")
@click.option("--snapshot", type=int, metavar="ID", help="Which snapshot; else the latest.")
@click.option("--timestamp", metavar="TIME", help="The latest snapshot at or before this time.")
@click.option(
    "--time-retained", callback=duration, metavar="DURATION", help="How long it lives: '7 d'."
)
@json_flag
def create_tag(
    table: Table,
    tag: str,
    *,
    snapshot: int | None,
    timestamp: str | None,
    time_retained: timedelta | None,
    as_json: bool,
) -> None:
    """Name a snapshot, so that expiry leaves it and its files."""
    created = table.tags.create(
        tag, snapshot=snapshot, timestamp=timestamp, time_retained=time_retained
    )
    result = {"tag": tag, "snapshot_id": created.id}
    _tell(f"tag {tag} names snapshot {created.id}", result, as_json=as_json)


@command("delete-tag")
@on_table
@click.argument("tag")
@asks_first
def delete_tag(table: Table, tag: str, *, consent: Consent) -> None:
    """Delete a tag, and files that only it kept if its snapshot has expired."""

    def verb(*, dry_run: bool) -> object:
        return table.tags.delete(tag, dry_run=dry_run)

    consent.run(verb)


@command("create-branch")
@on_table
@click.argument("branch")
@click.option("--tag", metavar="NAME", help="Begin with this tag.")
@click.option("--snapshot", type=int, metavar="ID", help="Begin with this snapshot.")
@json_flag
def create_branch(
    table: Table, branch: str, *, tag: str | None, snapshot: int | None, as_json: bool
) -> None:
    """Make a branch: empty, or beginning with a tag or snapshot."""
    if tag is not None and snapshot is not None:
        raise click.UsageError("a branch begins with --tag or with --snapshot")
    table.branches.create(branch, tag=tag, snapshot=snapshot)
    _tell(f"branch {branch} was made", {"branch": branch}, as_json=as_json)


@command("delete-branch")
@on_table
@click.argument("branch")
@asks_first
def delete_branch(table: Table, branch: str, *, consent: Consent) -> None:
    """Delete a branch; its data files stay until orphan files are removed."""

    def verb(*, dry_run: bool) -> object:
        snapshots = len(table.on_branch(branch).snapshots.ids())
        if not dry_run:
            table.branches.delete(branch)
        return {"branch": branch, "snapshots": snapshots}

    consent.run(verb)


@command("fast-forward")
@on_table
@click.argument("branch")
@asks_first
def fast_forward(table: Table, branch: str, *, consent: Consent) -> None:
    """Let the table go on with what a branch has; later snapshots of the table go."""

    def verb(*, dry_run: bool) -> object:
        latest = table.on_branch(branch).snapshot
        result = {"branch": branch, "latest_snapshot_id": latest and latest.id}
        if not dry_run:
            table.branches.fast_forward(branch)
        return result

    consent.run(verb)


@command("reset-consumer")
@on_table
@click.argument("consumer")
@click.option(
    "--next-snapshot", type=click.IntRange(min=1), metavar="ID", help="What it reads next."
)
@json_flag
def reset_consumer(
    table: Table, consumer: str, *, next_snapshot: int | None, as_json: bool
) -> None:
    """Let a consumer read on from a snapshot; without one it is forgotten."""
    if next_snapshot is None:
        table.consumers.delete(consumer)
        said = f"consumer {consumer} is forgotten"
    else:
        table.consumers.reset(consumer, next_snapshot)
        said = f"consumer {consumer} reads snapshot {next_snapshot} next"
    _tell(said, {"consumer": consumer, "next_snapshot": next_snapshot}, as_json=as_json)
