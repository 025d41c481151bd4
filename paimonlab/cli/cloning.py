"""Commands that take tables from one catalog into another: ``register``, ``clone``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from paimonlab import cli
from paimonlab.cli.arguments import Pairs, column_list, in_warehouse, json_flag
from paimonlab.cli.commands import command
from paimonlab.cli.completing import complete_tables
from paimonlab.cli.planned import Consent, asks_first
from paimonlab.cli.progress import Bar
from paimonlab.cli.refusing import refused
from paimonlab.spec.plurals import many

if TYPE_CHECKING:
    from paimonlab.catalog import Catalog
    from paimonlab.catalog.cloning import TableClone


@command()
@in_warehouse
@click.argument("name", metavar="DB.TABLE", shell_complete=complete_tables)
@click.argument("folder")
@json_flag
def register(catalog: Catalog, *, name: str, folder: str, as_json: bool) -> None:
    """Make the table that is in a folder one of the catalog; no file is copied.

    A Hive metastore or a REST server takes any folder, a database (JDBC) that of the name.
    """
    with refused():
        made = catalog.register(name, cli.opening.place_of(folder))
    if as_json:
        click.echo(cli.output.json_text({"table": name, "path": made.path}))
    else:
        click.echo(f"{name} is the table in {made.path}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloned:
    """What became of tables."""

    tables: Sequence[Mapping[str, Any]]

    def __str__(self) -> str:
        """Tell it to a person, a line for each table."""
        return "\n".join(_line(one) for one in self.tables) or "no tables"


@command()
@in_warehouse
@click.argument("target_warehouse", type=click.Path(file_okay=False))
@click.option("--database", metavar="DB", help="Its tables; else those of all databases.")
@click.option("--table", metavar="TABLE", help="One table of the database.")
@click.option("--target-database", metavar="DB", help="Its name there, if another.")
@click.option("--target-table", metavar="TABLE", help="The table's name there, if another.")
@click.option("--included-tables", metavar="DB.T,…", callback=column_list, help="These alone.")
@click.option("--excluded-tables", metavar="DB.T,…", callback=column_list, help="None of these.")
@click.option("--where", metavar="SQL", help="Only partitions for which this is true.")
@click.option("--snapshot", type=int, metavar="ID", help="What the table had as of this snapshot.")
@click.option("--tag", metavar="NAME", help="What the table had as of this tag.")
@click.option("--prefer-file-format", metavar="FORMAT", help="Of tables that are made.")
@click.option(
    "--target-catalog-option",
    "target_catalog_options",
    multiple=True,
    type=Pairs(),
    help="Of the catalog there.",
)
@click.option(
    "--target-table-option",
    "target_table_options",
    multiple=True,
    type=Pairs(),
    help="Of tables that are made: bucket=4.",
)
@click.option("--meta-only", is_flag=True, help="Make tables, without rows.")
@click.option("--skip-existing", is_flag=True, help="Leave tables there that have rows.")
@click.option("--no-verify", is_flag=True, help="Do not compare the rows at the end.")
@asks_first
def clone(
    catalog: Catalog,
    *,
    target_warehouse: str,
    target_catalog_options: Sequence[tuple[str, str]],
    target_table_options: Sequence[tuple[str, str]],
    excluded_tables: list[str] | None,
    skip_existing: bool,
    no_verify: bool,
    consent: Consent,
    **chosen: Any,
) -> None:
    """Clone tables into another catalog: their latest rows, a commit each, compared at the end.

    Tables of these names there are replaced. One that was interrupted goes on when it is called
    again: tables that are there with the same rows are not written once more.
    """
    other = cli.opening.open_catalog(target_warehouse, dict(target_catalog_options))

    def verb(*, dry_run: bool) -> Cloned:
        with refused(), Bar("clone") as bar:
            done = catalog.clone_to(
                other,
                **chosen,
                excluded_tables=excluded_tables or (),
                target_options=dict(target_table_options),
                clone_if_exists=not skip_existing,
                verify=not no_verify,
                dry_run=dry_run,
                progress=bar.progress,
            )
        return Cloned(tables=[_document(one) for one in done])

    consent.run(verb)


def _document(one: TableClone) -> Mapping[str, Any]:
    return {
        "source": one.source,
        "target": one.target,
        "creates_target": one.creates_target,
        "is_done": one.is_done,
        "is_left": one.is_left,
        "rows": one.rows,
        "source_snapshot": one.source_snapshot,
        "snapshot_id": None if one.snapshot is None else one.snapshot.id,
        "is_compared": one.is_compared,
    }


def _line(one: Mapping[str, Any]) -> str:
    told = [] if one["rows"] is None else [many(one["rows"], "row")]
    if one["is_left"]:
        told.append("left as it is")
    elif one["is_done"]:
        told.append("there already")
    elif one["creates_target"]:
        told.append("a new table")
    else:
        told.append("replaces what is there")
    if one["is_compared"]:
        told.append("compared")
    return f"{one['source']} to {one['target']}: {', '.join(told)}"
