"""Commands that delete what is old: snapshots, changelogs, files that nothing refers to."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from paimonlab import cli, clock
from paimonlab.cli.arguments import Body, duration, moment, on_table
from paimonlab.cli.commands import command
from paimonlab.cli.planned import Consent, asks_first
from paimonlab.cli.progress import Bar

if TYPE_CHECKING:
    from paimonlab.table.table import Table

_older_than_option = click.option(
    "--older-than",
    callback=moment,
    metavar="TIME|DURATION",
    help="What is older is deleted: '2026-01-31 12:00:00', local, or '7 d'.",
)


def _retaining(command: Body) -> Body:
    """Give a command the options of what is retained, by the names of the verbs' parameters."""
    for option in (
        click.option("--max-deletes", type=int, metavar="N", help="At most this many at once."),
        _older_than_option,
        click.option(
            "--retain-min", type=int, metavar="N", help="Keep at least this many, however old."
        ),
        click.option(
            "--retain-max", type=int, metavar="N", help="Keep no more; else as the table says."
        ),
    ):
        command = option(command)
    return command


@command()
@on_table
@_retaining
@asks_first
def expire(table: Table, *, consent: Consent, **retained: Any) -> None:
    """Let old snapshots expire, and delete the files that nothing else needs.

    What is not given is as the options of the table say (snapshot.num-retained.max and so on).
    """
    with Bar(table.name) as bar:
        verb = partial(table.maintenance.expire_snapshots, progress=bar.progress, **retained)
        consent.run(verb)


@command("expire-changelogs")
@on_table
@_retaining
@click.option("--all", "delete_all", is_flag=True, help="Delete all, including the newest.")
@asks_first
def expire_changelogs(table: Table, *, consent: Consent, **retained: Any) -> None:
    """Delete the changelogs that were kept of expired snapshots."""
    with Bar(table.name) as bar:
        verb = partial(table.maintenance.expire_changelogs, progress=bar.progress, **retained)
        consent.run(verb)


@command("expire-partitions")
@on_table
@click.option(
    "--expiration-time", callback=duration, metavar="DURATION", help="How old they may be: '90 d'."
)
@click.option(
    "--expire-strategy",
    type=click.Choice(["values-time", "update-time"]),
    help="Whether the age comes from their values or their files.",
)
@click.option("--timestamp-pattern", metavar="TEXT", help="How values make a time: '$dt $hour'.")
@click.option("--timestamp-formatter", metavar="TEXT", help="How that is written: 'yyyyMMdd HH'.")
@click.option(
    "--max-expires", type=click.IntRange(min=1), metavar="N", help="At most this many at once."
)
@asks_first
def expire_partitions(table: Table, *, consent: Consent, **given: Any) -> None:
    """Drop the partitions that are older than they may be.

    What is not given is as the options of the table say (partition.expiration-time and so on).
    """
    if given[
        "expiration_time"
    ] is None and "partition.expiration-time" not in cli.opening.options_of(table):
        raise click.UsageError("give --expiration-time: how old partitions may become")
    consent.run(partial(table.maintenance.expire_partitions, **given))


@command("expire-tags")
@on_table
@_older_than_option
@asks_first
def expire_tags(table: Table, *, older_than: timedelta | int | None, consent: Consent) -> None:
    """Delete the tags whose time has passed, and older ones."""
    before = None if older_than is None else _local(older_than)

    def verb(*, dry_run: bool) -> object:
        return {"tags": table.tags.expire(older_than=before, dry_run=dry_run)}

    consent.run(verb)


@command("expire-consumers")
@on_table
@click.option(
    "--older-than",
    callback=duration,
    required=True,
    metavar="DURATION",
    help="How long they may stand still: '7 d'.",
)
@asks_first
def expire_consumers(table: Table, *, older_than: timedelta, consent: Consent) -> None:
    """Delete the consumers that have not moved for some time."""

    def verb(*, dry_run: bool) -> object:
        expire = table.maintenance.expire_consumers
        return {"consumers": expire(older_than, dry_run=dry_run)}

    consent.run(verb)


@command()
@on_table
@_older_than_option
@click.option("--force", is_flag=True, help="Include files of the last day; nobody may be writing.")
@asks_first
def orphans(
    table: Table, *, older_than: timedelta | int | None, force: bool, consent: Consent
) -> None:
    """Find the files that nothing refers to, and delete them.

    Crashes, lost races and abandoned writes leave them. Files of the last day are kept.
    """
    remove = table.maintenance.remove_orphan_files
    with Bar(table.name) as bar:
        verb = partial(remove, older_than=older_than, force=force, progress=bar.progress)
        try:
            consent.run(verb)
        except ValueError as error:  # of the time, before anything was looked at
            raise click.BadParameter(str(error), param_hint="--older-than") from error


def _local(older_than: timedelta | int) -> datetime:
    """Return a time as tags have it: local, without a zone."""
    if isinstance(older_than, timedelta):
        return clock.local_now() - older_than
    return datetime.fromtimestamp(older_than / 1000)  # noqa: DTZ006 - tags have local times
