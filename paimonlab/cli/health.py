"""``paimonlab health``: what could be better about how tables are kept."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from paimonlab import cli
from paimonlab.analysis import health as judged
from paimonlab.cli.arguments import Pairs, in_warehouse, json_flag
from paimonlab.cli.commands import CONFIGURED, WAREHOUSE, command
from paimonlab.cli.progress import Bar
from paimonlab.cli.refusing import refused
from paimonlab.spec.plurals import many

if TYPE_CHECKING:
    from paimonlab.analysis.health.report import TableHealth
    from paimonlab.catalog import Catalog


@command()
@in_warehouse
@click.argument("names", nargs=-1, metavar="[DB | DB.TABLE]…")
@click.option("--orphans", is_flag=True, help="Also look for files that nothing refers to: slower.")
@click.option(
    "-t", "--threshold", "given", multiple=True, type=Pairs(), help="As in snapshots=1000."
)
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "info", "never"]),
    default="warning",
    show_default=True,
    help="From which severity on the exit code is 1.",
)
@json_flag
def health(
    catalog: Catalog,
    names: Sequence[str],
    *,
    orphans: bool,
    given: Sequence[tuple[str, str]],
    fail_on: str,
    as_json: bool,
) -> None:
    """Say what could be better about how tables are kept, and what to do; change nothing.

    Without names every table of the warehouse is looked at. Only metadata is read. The exit
    code is 1 if anything was found that --fail-on names, or a table cannot be read.
    """
    from paimonlab.ingest.job_health import with_jobs  # noqa: PLC0415 - only this command needs it

    warehouse: str = click.get_current_context().params[WAREHOUSE]
    with refused(), Bar("health") as bar:
        reports = judged.catalog_health.catalog_health(
            catalog,
            names,
            thresholds=judged.measures.Thresholds.of(dict(given)),
            orphans=orphans,
            progress=bar.progress,
        )
        limits = judged.measures.Thresholds.of(dict(given))
        reports = with_jobs(catalog, reports, limits, is_whole=not names)
    if as_json:
        click.echo(cli.output.json_text(reports))
    else:
        if not reports:
            cli.opening.say_empty(catalog)
        for report in reports:
            _print(report, warehouse)
    sys.exit(1 if _fails(judged.report.worst(report.worst for report in reports), fail_on) else 0)


def _fails(severity: str, fail_on: str) -> bool:
    if fail_on == "never" or severity == "ok":
        return False
    order: Sequence[str] = judged.report.SEVERITIES
    return order.index(severity) <= order.index(fail_on)


def _print(report: TableHealth, warehouse: str) -> None:
    if report.problem:
        click.echo(f"{report.table}: error: {report.problem}")
        return
    files = many(report.file_count, "file")
    snapshots = many(report.snapshot_count, "snapshot")
    click.echo(f"{report.table}: {report.worst} ({files}, {snapshots})")
    for finding in report.findings:
        where = f" {finding.where}:" if finding.where else ""
        click.echo(f"  {finding.severity} {finding.code}:{where} {finding.message}")
        for action in filter(None, (_here(finding.shell, warehouse), finding.sql, finding.python)):
            click.echo(f"    {action}")


def _here(shell: str, warehouse: str) -> str:
    """Name the warehouse that was given in a command."""
    if not shell or warehouse == CONFIGURED:
        return shell
    return re.sub(r"^paimonlab \S+", lambda found: f"{found[0]} {shlex.quote(warehouse)}", shell)
