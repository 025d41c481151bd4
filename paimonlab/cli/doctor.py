"""``paimonlab doctor``: whether this machine can run what one wants to run."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from paimonlab import cli
from paimonlab.cli.arguments import Pairs, json_flag
from paimonlab.cli.commands import CONFIGURED, command
from paimonlab.spark import sessions


@command()
@click.argument("warehouse", required=False)
@click.option(
    "--catalog-option", "catalog_options", multiple=True, type=Pairs(), help="Of the catalog."
)
@json_flag
def doctor(
    warehouse: str | None, catalog_options: Sequence[tuple[str, str]], *, as_json: bool
) -> None:
    """Look at this machine, and say what to do.

    WAREHOUSE, or the one that is configured, is tried with a small file, which is deleted
    again. The exit code is 1 if something stops paimonlab from working.
    """
    if warehouse is None and cli.opening.is_configured():
        warehouse = CONFIGURED
    elif warehouse is None and catalog_options:
        raise click.UsageError("--catalog-option is for a WAREHOUSE, and none is given")
    catalog = (
        None if warehouse is None else cli.opening.open_catalog(warehouse, dict(catalog_options))
    )
    checks_made = sessions.doctor.checks(sessions.environment.measured(catalog))
    if as_json:
        click.echo(cli.output.json_text(checks_made))
    else:
        for check in checks_made:
            click.echo(f"{check.status}: {check.name}: {check.found}")
            if check.fix:
                click.echo(f"    {check.fix}")
    sys.exit(1 if any(check.status == "error" for check in checks_made) else 0)
