"""Commands that put a table right, or empty it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from paimonlab import cli
from paimonlab.cli.arguments import Partition, json_flag, on_table
from paimonlab.cli.commands import command
from paimonlab.cli.planned import Consent, asks_first
from paimonlab.cli.progress import Bar

if TYPE_CHECKING:
    from paimonlab.table.table import Table

_partition_option = click.option(
    "--partition", "partitions", multiple=True, type=Partition(), help="Only this partition."
)


@command()
@on_table
@asks_first
def repair(table: Table, *, consent: Consent) -> None:
    """Go on without data files that are missing from the store.

    Their rows are lost, and older rows of their keys may come back: restore them if you can.
    """

    def verb(*, dry_run: bool) -> Any:
        lost_files = table.maintenance.remove_unexisting_files(dry_run=dry_run)
        return {
            "missing_files": [file.path for file in lost_files.files],
            "lost_rows": lost_files.record_count,
            "committed_snapshot": lost_files.committed and lost_files.committed.id,
        }

    consent.run(verb)


@command()
@on_table
@asks_first
def purge(table: Table, *, consent: Consent) -> None:
    """Empty a table for good: rows, tags, branches, consumers, snapshots, all files."""
    with Bar(table.name) as bar:
        consent.run(partial(table.maintenance.purge_files, progress=bar.progress))


@command()
@on_table
@click.option("--buckets", type=click.IntRange(min=1), required=True, help="How many, each.")
@_partition_option
@asks_first
def rescale(
    table: Table, *, buckets: int, partitions: Sequence[dict[str, str]], consent: Consent
) -> None:
    """Give partitions another number of buckets; their rows are written anew."""
    with Bar(table.name) as bar:
        verb = partial(
            table.maintenance.rescale,
            buckets=buckets,
            partitions=list(partitions) or None,
            progress=bar.progress,
        )
        consent.run(verb)


@command("rewrite-file-index")
@on_table
@_partition_option
@json_flag
def rewrite_file_index(
    table: Table, *, partitions: Sequence[dict[str, str]], as_json: bool
) -> None:
    """Give data files the indexes that the options of the table ask for now."""
    with Bar(table.name) as bar:
        done = table.maintenance.rewrite_file_index(
            partitions=list(partitions) or None, progress=bar.progress
        )
    click.echo(
        cli.output.json_text(cli.output.described(done))
        if as_json
        else "\n".join(cli.output.result_lines(done))
    )
