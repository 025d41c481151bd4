"""``paimonlab compact``: fewer and larger data files with the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from paimonlab import cli
from paimonlab.cli.arguments import (
    Partition,
    column_list,
    duration,
    json_flag,
    on_table,
    where_option,
)
from paimonlab.cli.commands import command
from paimonlab.cli.progress import Bar

if TYPE_CHECKING:
    from paimonlab.table.compacting.result import CompactResult
    from paimonlab.table.table import Table

_SHOWN = 20
"""Buckets that a text names."""


@command()
@on_table
@click.option("--full", is_flag=True, help="Rewrite everything, not only what is worth it.")
@click.option(
    "--partition", "partitions", multiple=True, type=Partition(), help="Only this partition."
)
@click.option("--bucket", "buckets", multiple=True, type=int, metavar="N", help="Only this bucket.")
@where_option
@click.option(
    "--idle-for",
    callback=duration,
    metavar="DURATION",
    help="Only partitions without a new file for this long: '1 d'.",
)
@click.option(
    "--order-by",
    metavar="A,B,…",
    callback=column_list,
    help="Rewrite rows sorted by these columns.",
)
@click.option(
    "--strategy", type=click.Choice(["order", "zorder", "hilbert"]), help="How they are sorted."
)
@click.option("--dry-run", is_flag=True, help="Show what would be compacted, change nothing.")
@json_flag
def compact(
    table: Table,
    *,
    partitions: Sequence[dict[str, str]],
    buckets: Sequence[int],
    as_json: bool,
    **wanted: Any,
) -> None:
    """Compact the data files of a table in one commit; its rows stay the same."""
    with Bar(table.name) as bar:
        done = table.compact(
            partitions=list(partitions) or None,
            buckets=list(buckets) or None,
            progress=bar.progress,
            **wanted,
        )
    click.echo(cli.output.json_text(_document(done)) if as_json else "\n".join(_lines(done)))


def _lines(done: CompactResult) -> Iterator[str]:
    yield str(done)
    for bucket in done.buckets[:_SHOWN]:
        yield f"  {bucket}"
    if len(done.buckets) > _SHOWN:
        yield f"  and {len(done.buckets) - _SHOWN:,} more"


def _document(done: CompactResult) -> dict[str, Any]:
    return {
        "dry_run": done.is_dry_run,
        "snapshot_id": done.snapshot and done.snapshot.id,
        "before": done.before,
        "after": done.after,
        "buckets": done.buckets,
    }
