"""``paimonlab fsck``: check every file of tables."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

import paimonlab
from paimonlab import cli
from paimonlab.analysis import health as judged
from paimonlab.cli.commands import CONFIGURED, command, is_place
from paimonlab.cli.progress import Bar
from paimonlab.errors import PaimonError

if TYPE_CHECKING:
    from paimonlab.analysis.health.folder_check import FsckReport

_DATABASE_SUFFIX = ".db"


@command()
@click.argument("path", required=False, metavar="[PATH]")
@click.argument("table", required=False, metavar="[DB.TABLE]")
@click.option("--deep", is_flag=True, help="Also read all rows.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
def fsck(path: str | None, table: str | None, *, deep: bool, as_json: bool) -> None:
    """Check every file of tables; change none.

    PATH is the folder of a warehouse or of one table; the configured warehouse if there is none.
    The exit code is 1 if anything was found.
    """
    if path is None or (table is None and not Path(path).is_dir() and not is_place(path)):
        path, table = cli.opening.open_catalog(CONFIGURED, {}).path, path
    if not Path(path).is_dir():
        raise click.UsageError(f"there is no folder {path}")
    try:
        folders = _folders(Path(path).resolve(), table)
    except PaimonError as error:
        raise click.UsageError(str(error)) from error
    reports = [_check(name, folder, deep=deep) for name, folder in folders]
    if as_json:
        click.echo(cli.output.json_text(reports))
    else:
        for report in reports:
            click.echo(str(report))
    sys.exit(0 if all(report.is_clean for report in reports) else 1)


def _folders(path: Path, table: str | None) -> list[tuple[str, Path]]:
    """Return names and folders of the tables that are meant."""
    if table is not None:
        database, dot, name = table.partition(".")
        folder = path / f"{database}{_DATABASE_SUFFIX}" / name
        if not dot or not folder.is_dir():
            paimonlab.connect(str(path)).relation(table)  # says what is wrong with the name
            raise click.UsageError(f"there is no table {table} in {path}")
        return [(table, folder)]
    if (path / "schema").is_dir() or (path / "snapshot").is_dir():
        database = path.parent.name.removesuffix(_DATABASE_SUFFIX)
        return [(f"{database}.{path.name}", path)]
    catalog = paimonlab.connect(str(path))
    names = [
        f"{database_name}.{name}"
        for database_name in catalog.databases()
        for name in catalog.tables(database_name)
    ]
    if not names:
        raise click.UsageError(f"there is no table in {path}")
    return [folder for name in names for folder in _folders(path, name)]


def _check(name: str, folder: Path, *, deep: bool) -> FsckReport:
    with Bar(name) as bar:
        return judged.folder_check.checked_folder(
            name, str(folder), deep=deep, progress=bar.progress
        )
