"""``paimonlab migrate``: tables of other formats and folders of files become tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import click

from paimonlab import cli
from paimonlab.cli.arguments import (
    Pairs,
    column_list,
    delimiter_of_csv,
    in_warehouse,
    options_of_new_table,
    table_argument,
)
from paimonlab.cli.commands import command, is_place
from paimonlab.cli.planned import Consent, asks_first
from paimonlab.cli.progress import Bar
from paimonlab.cli.refusing import RefusedError, refused
from paimonlab.spec.plurals import many

if TYPE_CHECKING:
    from paimonlab.catalog import Catalog
    from paimonlab.catalog.migrating import FolderMigration
    from paimonlab.catalog.migrating_tables import TableMigration

Kind: TypeAlias = Literal["parquet", "orc", "csv", "json", "iceberg", "delta", "hive"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_FILES: tuple[Kind, ...] = ("parquet", "orc")
_TEXTS: tuple[Kind, ...] = ("csv", "json")
_WRITTEN: tuple[Kind, ...] = (*_TEXTS, "iceberg", "delta")
_FITTING: Mapping[str, tuple[Kind, ...]] = {
    "moves": (*_FILES, "hive"),
    "types": (*_FILES, *_TEXTS),
    "primary_keys": _WRITTEN,
    "partition_keys": _WRITTEN,
    "no_verify": _WRITTEN,
    "delimiter": ("csv",),
    "iceberg_catalog": ("iceberg",),
}
"""Which options are of which kinds only."""
_SPELLED = {
    "moves": "--move",
    "types": "--type",
    "primary_keys": "--primary-key",
    "partition_keys": "--partition-by",
}
_METADATA = re.compile(r".*\.metadata\.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """What became of a source."""

    kind: Kind
    source: str
    target: str
    creates_target: bool
    columns: Mapping[str, str]
    primary_keys: Sequence[str]
    partition_keys: Sequence[str]
    rows: int
    files: int | None
    """That are moved or copied as they are; None: the rows are written anew."""
    size_bytes: int | None
    is_resumed: bool
    is_done: bool
    is_compared: bool
    snapshot_id: int | None

    def __str__(self) -> str:
        """Tell it to a person."""
        files = "" if self.files is None else f", {many(self.files, 'file')}"
        bytes_ = "" if self.size_bytes is None else f", {many(self.size_bytes, 'byte')}"
        state = "a new table" if self.creates_target else "a table that is there"
        lines = [
            f"{self.source} ({self.kind}) to {self.target}, {state}",
            f"{many(self.rows, 'row')}{files}{bytes_}",
            "columns: " + ", ".join(f"{name} {kind}" for name, kind in self.columns.items()),
        ]
        for title, names in (
            ("primary key", self.primary_keys),
            ("partitioned by", self.partition_keys),
        ):
            if names:
                lines.append(f"{title}: {', '.join(names)}")
        if self.is_resumed:
            lines.append("goes on where it was interrupted")
        if self.is_done:
            lines.append("the table has these rows already")
        if self.snapshot_id is not None:
            compared = ", rows compared" if self.is_compared else ""
            lines.append(f"snapshot {self.snapshot_id}{compared}")
        return "\n".join(lines)


@command()
@in_warehouse
@table_argument
@click.argument("source")
@click.option(
    "--from",
    "kind",
    type=click.Choice(KINDS),
    help="What the source is; else the files in its folder tell.",
)
@click.option("--move", "moves", is_flag=True, help="Move Parquet and ORC files; else copy them.")
@click.option(
    "--type",
    "types",
    multiple=True,
    type=Pairs(),
    metavar="COLUMN=TYPE",
    help="Of a column of CSV or JSON, or of a partition: price=DECIMAL(10,2); else values tell.",
)
@delimiter_of_csv
@click.option(
    "--primary-key", "primary_keys", metavar="A,B,…", callback=column_list, help="Of the table."
)
@click.option(
    "--partition-by",
    "partition_keys",
    metavar="A,B,…",
    callback=column_list,
    help="Columns; else those that the source is partitioned by.",
)
@options_of_new_table
@click.option("--comment", help="Of the table.")
@click.option(
    "--iceberg-catalog", metavar="NAME", help="A catalog of pyiceberg that has the source."
)
@click.option("--no-verify", is_flag=True, help="Do not compare the rows at the end.")
@asks_first
def migrate(
    catalog: Catalog,
    *,
    name: str,
    source: str,
    kind: Kind | None,
    iceberg_catalog: str | None,
    consent: Consent,
    **chosen: Any,
) -> None:
    """Make a table of a folder of files, or of a table of Iceberg, Delta Lake or Hive.

    SOURCE is a folder of Parquet, ORC, CSV or JSON files (an object a line), also with folders of
    partitions; the folder of a Delta table; the file *.metadata.json of an Iceberg table, or its
    name with --iceberg-catalog; with --from hive a table of the metastore that the warehouse is in.

    Parquet and ORC files become those of the table; else rows are written anew, in one commit, and
    compared at the end. One that was interrupted goes on when it is called again.
    """
    kind = kind or ("iceberg" if iceberg_catalog else _kind_of(source))
    _check_fits(kind, {**chosen, "iceberg_catalog": iceberg_catalog})
    opened = _opener(kind, source, iceberg_catalog, chosen)

    def verb(*, dry_run: bool) -> Migrated:
        with refused(), Bar("migrate") as bar:
            if not dry_run:
                catalog.create_database(_database_of(name), exist_ok=True)
            how = {
                "options": dict(chosen["options"]),
                "comment": chosen["comment"],
                "dry_run": dry_run,
                "progress": bar.progress,
            }
            if kind == "hive":
                done = catalog.migrate_hive_table(source, name, moves=chosen["moves"], **how)
                return _of_folder(kind, done)
            if kind in _FILES:
                done = catalog.migrate_folder(
                    cli.opening.place_of(source),
                    name,
                    moves=chosen["moves"],
                    file_format=kind,
                    partition_types=dict(chosen["types"]),
                    **how,
                )
                return _of_folder(kind, done)
            written = catalog.migrate_table(
                opened(catalog),
                name,
                primary_keys=chosen["primary_keys"] or (),
                partition_keys=chosen["partition_keys"],
                verify=not chosen["no_verify"],
                **how,
            )
        return _of_table(kind, written)

    consent.run(verb)


def _database_of(table: str) -> str:
    from paimonlab.spec.identifier import Identifier  # noqa: PLC0415 - --help loads no numpy

    return Identifier.parse(table).database


def _kind_of(source: str) -> Kind:
    """Tell what a source is by what is there."""
    folder = Path(source)
    if _METADATA.fullmatch(source):
        return "iceberg"
    if not is_place(source):
        raise click.UsageError(
            f"{source} is not a folder: if it is a table, give --from hive or --iceberg-catalog"
        )
    if not folder.is_dir():
        raise click.UsageError(
            f"what {source} is cannot be seen from here: give --from, one of {', '.join(KINDS)}"
            if "://" in source
            else f"there is no folder {source}"
        )
    if (folder / "_delta_log").is_dir():
        return "delta"
    if (folder / "metadata").is_dir():
        return "iceberg"
    kinds = {
        _of_file(path) for path in folder.rglob("*") if path.is_file() and _counts(path, folder)
    }
    if len(kinds) != 1 or None in kinds:
        found = ", ".join(sorted(map(str, kinds - {None}))) or "none of a kind that is known"
        raise click.UsageError(
            f"{source} has files of several kinds or of none ({found}): give --from, one of "
            + ", ".join(KINDS)
        )
    return kinds.pop()  # type: ignore[return-value]  # None is not among them


def _of_file(path: Path) -> Kind | None:
    from paimonlab.catalog.text_folders import format_by_name  # noqa: PLC0415 - loads readers

    return format_by_name(path.name)


def _counts(path: Path, folder: Path) -> bool:
    """Whether a file belongs to the rows of a folder."""
    return not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)


def _check_fits(kind: Kind, chosen: Mapping[str, Any]) -> None:
    for option, kinds in _FITTING.items():
        if chosen[option] and kind not in kinds:
            spelled = _SPELLED.get(option, "--" + option.replace("_", "-"))
            raise click.UsageError(f"{spelled} is not for {kind}, but for {', '.join(kinds)}")
    delimiter = chosen["delimiter"]
    if delimiter is not None and len(delimiter) != 1:
        raise click.UsageError(f"--delimiter is one character, not {delimiter!r}")


def _opener(
    kind: Kind, source: str, iceberg_catalog: str | None, chosen: Mapping[str, Any]
) -> Callable[[Catalog], Any]:
    """Return what opens a source whose rows are read."""
    if kind in _TEXTS:
        return lambda catalog: _texts(catalog, source, kind, chosen)
    if kind == "delta":
        return lambda catalog: _delta(catalog, source)
    return lambda catalog: _iceberg(catalog, source, iceberg_catalog)


def _texts(catalog: Catalog, source: str, kind: Kind, chosen: Mapping[str, Any]) -> Any:
    from paimonlab.catalog.text_folders import TextFolder  # noqa: PLC0415 - loads readers of texts

    return TextFolder(
        cli.opening.place_of(source),
        io=catalog.file_io,
        kind=kind,
        types=dict(chosen["types"]),
        delimiter=chosen["delimiter"],
    )


def _delta(catalog: Catalog, source: str) -> Any:
    from paimonlab.catalog.foreign_tables import open_delta  # noqa: PLC0415 - loads readers

    return open_delta(cli.opening.place_of(source), catalog.file_io)


def _iceberg(catalog: Catalog, source: str, iceberg_catalog: str | None) -> Any:
    from paimonlab.catalog.foreign_tables import has_hint, open_iceberg  # noqa: PLC0415 - as above

    if iceberg_catalog is None:
        place = cli.opening.place_of(source)
        if not _METADATA.fullmatch(source) and not has_hint(place, catalog.file_io):
            raise RefusedError(
                f"{source}: which metadata is the newest only a catalog knows: give "
                "--iceberg-catalog and the table's name, or the file *.metadata.json"
            )
        return open_iceberg(place, catalog.file_io)
    try:
        from pyiceberg.catalog import load_catalog  # noqa: PLC0415 - only who has such has it
    except ImportError as error:
        raise RefusedError("an Iceberg table needs: pip install pyiceberg") from error
    try:
        return load_catalog(iceberg_catalog).load_table(source)
    except Exception as error:  # errors of pyiceberg have no class of their own
        raise RefusedError(f"{source}: {error}") from error


def _of_folder(kind: Kind, done: FolderMigration) -> Migrated:
    return Migrated(
        kind=kind,
        source=done.source,
        target=done.target,
        creates_target=done.creates_target,
        columns=done.columns,
        primary_keys=(),
        partition_keys=done.partition_keys,
        rows=done.row_count,
        files=len(done.files),
        size_bytes=done.size_bytes,
        is_resumed=done.is_resumed,
        is_done=False,
        is_compared=done.is_compared,
        snapshot_id=None if done.snapshot is None else done.snapshot.id,
    )


def _of_table(kind: Kind, done: TableMigration) -> Migrated:
    return Migrated(
        kind=kind,
        source=done.source,
        target=done.target,
        creates_target=done.creates_target,
        columns=done.columns,
        primary_keys=done.primary_keys,
        partition_keys=done.partition_keys,
        rows=done.rows,
        files=None,
        size_bytes=None,
        is_resumed=False,
        is_done=done.is_done,
        is_compared=done.is_compared,
        snapshot_id=None if done.snapshot is None else done.snapshot.id,
    )
