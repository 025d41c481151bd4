"""A verb that is killed at each of its changes on disk: ``killed_verb.py FOLDER WORK SEED MOST``.

Of its changes (a file opened to be written, a link, a folder) at most ``MOST`` are chosen, those
around a snapshot always. For each a child begins the verb anew and is killed by SIGKILL right
before that change. Then what is there is looked at, and the verb is run again. Prints as JSON what
was found of each.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from click.testing import CliRunner

import paimonlab as pm
from paimonlab.catalog import Catalog
from paimonlab.cli.main import main as command_line
from paimonlab.errors import DatabaseNotFoundError, SchemaError, TableNotFoundError
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.schema.definition import Schema, new_table_schema
from paimonlab.sql_engine import changes
from paimonlab.sql_engine.tables import Sources
from paimonlab.storage import LocalFileIO
from paimonlab.table.format_tables.format_table import FormatTable
from paimonlab.table.table import Table

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CHANGES = frozenset({"os.link", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate"})
_COLUMNS = {"k": "INT NOT NULL", "v": "STRING", "p": "STRING"}
_ELSEWHERE = "w/second"
_VECTORS = {"deletion-vectors.enabled": "true"}
_MERGE = (
    "MERGE INTO db.t t USING db.s s ON t.k = s.k WHEN MATCHED AND s.v = 'gone' THEN DELETE "
    "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED AND s.v = 'new' THEN INSERT *"
)


@dataclass(frozen=True)
class Work:
    """What is killed."""

    prepare: Callable[[Catalog, Path], object]
    act: Callable[[Catalog, Path], object]
    """Ends with an error or does it."""
    table: str
    makes_table: bool = False
    """Whether an empty one may be left."""
    warehouse: str = "w"
    """The folder of the catalog that ``table`` is in."""
    state: Callable[[Work, Path], Any] | None = None
    """What is found of it; None: how much is wrong with the table, and its rows."""
    takes_long: bool = False
    is_allowed: Callable[[Any, Any, Any], bool] | None = None
    """From what was there before, what is left and what is wanted to whether that may be left."""


def rows(keys: range, value: str) -> pa.Table:
    """Make rows."""
    return pa.table(
        {
            "k": pa.array(keys, pa.int32()),
            "v": [value] * len(keys),
            "p": ["ab"[key % 2] for key in keys],
        }
    )


def source(catalog: Catalog, _: Path) -> None:
    """Make a table to be copied."""
    table = catalog.create_table("db.t", _COLUMNS, partition_keys=["p"])
    table.write(rows(range(20), "new"))
    table.write(rows(range(20, 30), "newer"))


def source_and_target(catalog: Catalog, folder: Path) -> None:
    """Make a table to be copied, and one whose rows it replaces."""
    source(catalog, folder)
    table = catalog.create_table("db.u", _COLUMNS, partition_keys=["p"])
    table.write(rows(range(7), "old"))


def merged(keys: list[str], options: dict[str, str]) -> Callable[[Catalog, Path], object]:
    """Return what makes a table and a source for it."""

    def prepare(catalog: Catalog, _: Path) -> None:
        table = catalog.create_table("db.t", _COLUMNS, primary_keys=keys, options=options)
        table.write(rows(range(20), "old"))
        given = catalog.create_table("db.s", _COLUMNS)
        given.write(rows(range(4), "gone"))
        given.write(rows(range(15, 25), "new"))

    return prepare


def text_file(_: Catalog, folder: Path) -> None:
    """Make a file of rows."""
    lines = [f"{key},v{key},{'ab'[key % 2]}\n" for key in range(30)]
    (folder / "rows.csv").write_text("".join(["k,v,p\n", *lines]))


def load(_: Catalog, folder: Path) -> None:
    """Load the file into a new table by the command line, and do what that advises."""
    given = ["load", str(folder / "w"), "new.t", str(folder / "rows.csv")]
    found = CliRunner().invoke(command_line, [*given, "--create"])
    if "already exists and has no rows" in found.output:
        assert "without --create" in found.output
        found = CliRunner().invoke(command_line, given)
    elif "already exists" in found.output:
        return
    if found.exit_code:
        raise RuntimeError(found.output)


def copy(catalog: Catalog, _: Path) -> None:
    """Copy the table."""
    catalog.copy_table("db.t", "db.u")


def elsewhere(folder: Path) -> Catalog:
    """Open another catalog, below the first one."""
    return pm.connect(folder / _ELSEWHERE)


def clone(catalog: Catalog, folder: Path) -> None:
    """Clone all tables into the other catalog."""
    catalog.clone_to(elsewhere(folder))


def merge(catalog: Catalog, _: Path) -> None:
    """Merge by SQL without Spark."""
    changes.run(_MERGE, Sources(catalog))


def folder_of_files(catalog: Catalog, folder: Path, *, partitioned: bool = True) -> None:
    """Make a folder of files of Parquet."""
    for number in range(4):
        part = folder / "lake" / f"p={'ab'[number % 2]}" if partitioned else folder / "lake"
        part.mkdir(parents=True, exist_ok=True)
        given = rows(range(number * 5, number * 5 + 5), "moved").select(["k", "v"])
        pq.write_table(given, part / f"{number}.parquet")


def plain_folder(catalog: Catalog, folder: Path) -> None:
    """Make a folder of files in no partition."""
    folder_of_files(catalog, folder, partitioned=False)


def taken(catalog: Catalog, folder: Path, *, moves: bool) -> None:
    """Make a table of the folder; one that has no files any more was moved."""
    try:
        catalog.migrate_folder(str(folder / "lake"), "db.t", moves=moves)
    except SchemaError as error:
        is_done = catalog.has_table("db.t") and catalog.table("db.t").snapshot is not None
        if not (moves and is_done and "has no Parquet or ORC files" in str(error)):
            raise


def copied_folder(catalog: Catalog, folder: Path) -> None:
    """Make a table of a folder, whose files stay."""
    taken(catalog, folder, moves=False)


def moved_folder(catalog: Catalog, folder: Path) -> None:
    """Make a table of a folder, whose files are moved."""
    taken(catalog, folder, moves=True)


def delta(_: Catalog, folder: Path) -> None:
    """Make a table of Delta Lake."""
    from deltalake import write_deltalake  # noqa: PLC0415 - starts threads, so not in the parent

    write_deltalake(str(folder / "delta"), rows(range(20), "theirs"), partition_by=["p"])


def migrated_delta(catalog: Catalog, folder: Path) -> None:
    """Write the rows of that table into one of ours."""
    from deltalake import DeltaTable  # noqa: PLC0415 - as above

    catalog.migrate_table(DeltaTable(str(folder / "delta")), "db.t")


def iceberg(_: Catalog, folder: Path) -> None:
    """Make a table of Iceberg."""
    opened = iceberg_catalog(folder)
    opened.create_namespace("n")
    opened.create_table("n.t", rows(range(1), "").schema).append(rows(range(20), "theirs"))


def migrated_iceberg(catalog: Catalog, folder: Path) -> None:
    """Write the rows of that table into one of ours."""
    catalog.migrate_table(iceberg_catalog(folder).load_table("n.t"), "db.t")


def iceberg_catalog(folder: Path) -> Any:
    """Open a catalog of pyiceberg: its tables know their absolute places, so these stay."""
    from pyiceberg.catalog.sql import SqlCatalog  # noqa: PLC0415 - as above

    place = folder.parent / "ice"
    place.mkdir(exist_ok=True)
    return SqlCatalog("c", uri=f"sqlite:///{place}/c.db", warehouse=f"file://{place}")


_ICEBERG = {"metadata.iceberg.storage": "table-location", "bucket": "1"}


def with_metadata(catalog: Catalog, _: Path) -> None:
    """Make a table with Iceberg's metadata."""
    table = catalog.create_table("db.t", _COLUMNS, primary_keys=["k"], options=_ICEBERG)
    table.write(rows(range(8), "old"))
    table.compact(full=True)


def with_metadata_rewritten(catalog: Catalog, _: Path) -> None:
    """Replace its rows, and bring them to the highest level, which is what Iceberg sees."""
    table = catalog.table("db.t")
    table.overwrite(rows(range(4, 12), "new"), dynamic=False)
    table.compact(full=True)


def state_of_metadata(work: Work, folder: Path) -> Any:
    """Return the state of the table, then the rows that pyiceberg reads."""
    from pyiceberg.table import StaticTable  # noqa: PLC0415 - takes a second

    metadata = folder / "w" / "db.db" / "t" / "metadata"
    version = (metadata / "version-hint.text").read_text()
    found = metadata / f"v{version}.metadata.json"
    seen = StaticTable.from_metadata(str(found)).scan().to_arrow()
    return [*(state_of_table(work, folder) or ()), in_order(seen)]


def lags_at_most(before: Any, left: Any, after: Any) -> bool:
    """Whether the table is one of the two, and what Iceberg reads is too."""
    return (
        left[0] == 0 and left[1] in (before[1], after[1]) and left[2] in (before[2], [], after[2])
    )


def csv_files(folder: Path) -> FormatTable:
    """Open a folder of CSV files."""
    options = {"type": "format-table", "file.format": "csv"}
    schema = new_table_schema(Schema(_COLUMNS, ("p",), (), options, None), time_millis=0)
    place = str(folder / "w" / "lines")
    return FormatTable(Identifier("db", "lines"), schema, place, LocalFileIO())


def lines(_: Catalog, folder: Path) -> None:
    """Write rows into it, two files in each partition."""
    for first in (0, 10):
        csv_files(folder).write(rows(range(first, first + 10), "old"))


def overwritten_lines(_: Catalog, folder: Path) -> None:
    """Replace all of them."""
    csv_files(folder).overwrite(rows(range(5, 15), "new"), dynamic=False)


def state_of_lines(_: Work, folder: Path) -> Any:
    """Return the rows that are read."""
    return in_order(csv_files(folder).to_arrow())


def loses_no_row(before: Any, left: Any, after: Any) -> bool:
    """Whether all rows are there that were, or all that were written; and no others."""
    had, has, wanted = (Counter(map(tuple, rows)) for rows in (before, left, after))
    return (had <= has or wanted <= has) and has <= had + wanted


def branch_apart(catalog: Catalog, _: Path) -> None:
    """Make a branch whose beginning has expired, and commits that it does not have."""
    table = catalog.create_table("db.t", _COLUMNS, primary_keys=["k"], options={"bucket": "1"})
    for number in range(3):
        table.write(rows(range(number, number + 1), "both"))
    table.tags.create("then")
    table.branches.create("dev", tag="then")
    for number in range(3, 6):
        table.write(rows(range(number, number + 1), "main"))
    branch = table.on_branch("dev")
    for number in range(10, 12):
        branch.write(rows(range(number, number + 1), "dev"))
    branch.maintenance.expire_snapshots(retain_max=1)


def forwarded(catalog: Catalog, _: Path) -> None:
    """Let the table go on with what the branch has."""
    catalog.table("db.t").branches.fast_forward("dev")


def state_with_branch(work: Work, folder: Path) -> Any:
    """Return how many errors there are, and the rows of the table, the branch and the tag.

    Warnings are about guards of what was killed.
    """
    table = pm.connect(folder / "w").table(work.table)
    errors = [one for one in table.fsck(deep=True).findings if one.severity == "error"]
    scans = [table.scan(), table.on_branch("dev").scan(), table.scan(tag="then")]
    return [len(errors), *(in_order(one.to_arrow()) for one in scans)]


def is_at_a_snapshot(before: Any, left: Any, after: Any) -> bool:
    """Whether the table is at a snapshot of its own or the branch's; branch and tag as they were.

    A commit of the table added one row.
    """
    own = [before[1][:count] for count in range(1, len(before[1]) + 1)]
    return left[0] == 0 and left[1] in [*own, after[1]] and left[2:] == before[2:] == after[2:]


WORKS = {
    "fast-forward": Work(
        branch_apart,
        forwarded,
        "db.t",
        state=state_with_branch,
        takes_long=True,
        is_allowed=is_at_a_snapshot,
    ),
    "overwrite of CSV files": Work(
        lines,
        overwritten_lines,
        "",
        state=state_of_lines,
        takes_long=True,
        is_allowed=loses_no_row,
    ),
    "Iceberg's metadata": Work(
        with_metadata,
        with_metadata_rewritten,
        "db.t",
        state=state_of_metadata,
        takes_long=True,
        is_allowed=lags_at_most,
    ),
    "migrate a folder, copied": Work(
        plain_folder, copied_folder, "db.t", makes_table=True, takes_long=True
    ),
    "migrate a folder, moved": Work(
        folder_of_files, moved_folder, "db.t", makes_table=True, takes_long=True
    ),
    "migrate a folder, rewritten": Work(
        folder_of_files, copied_folder, "db.t", makes_table=True, takes_long=True
    ),
    "migrate Delta": Work(delta, migrated_delta, "db.t", makes_table=True, takes_long=True),
    "migrate Iceberg": Work(iceberg, migrated_iceberg, "db.t", makes_table=True, takes_long=True),
    "copy over a table": Work(source_and_target, copy, "db.u"),
    "clone into a new catalog": Work(source, clone, "db.t", True, _ELSEWHERE),
    "load --create": Work(text_file, load, "new.t", makes_table=True),
    "MERGE, keys": Work(merged(["k"], {"bucket": "1"}), merge, "db.t"),
    "MERGE, vectors": Work(merged([], _VECTORS), merge, "db.t"),
    "MERGE, append": Work(merged([], {}), merge, "db.t"),
}


def watched(warehouse: Path, found: Callable[[str], None]) -> None:
    """Call ``found`` before each change below the warehouse, with what changes."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            is_change = bool(flags & _WRITING) and str(path).startswith(str(warehouse))
        else:
            is_change = event in _CHANGES
            path = arguments[event == "os.link"] if is_change else ""
        if is_change:
            found(f"{event} {Path(os.fsdecode(path)).name}" if isinstance(path, str) else event)

    sys.addaudithook(hook)


def in_child(act: Callable[[], Any]) -> tuple[int, Any]:
    """Do something in a process of its own; return how that ended, and what it returned."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        try:
            os.write(write, json.dumps(act()).encode())
        except BaseException as error:  # noqa: BLE001 - told to the parent
            os.write(write, json.dumps(f"{type(error).__name__}: {error}").encode())
            os._exit(1)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), json.loads(said) if said else None


def run(work: Work, folder: Path, die_at: int | None = None) -> list[str]:
    """Do it, killed before a change if one is named; return all changes."""
    seen: list[str] = []

    def found(change: str) -> None:
        seen.append(change)
        if len(seen) - 1 == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    watched(folder / "w", found)
    work.act(pm.connect(folder / "w"), folder)
    return list(seen)


def state(work: Work, folder: Path) -> Any:
    """Return what is found."""
    return (work.state or state_of_table)(work, folder)


def state_of_table(work: Work, folder: Path) -> Any:
    """Return how much is wrong with the table, and its rows; None if there is no table."""
    try:
        table = pm.connect(folder / work.warehouse).table(work.table)
    except (DatabaseNotFoundError, TableNotFoundError):
        return None
    assert isinstance(table, Table)
    return len(table.fsck(deep=True).findings), in_order(table.scan().to_arrow())


def in_order(found: pa.Table) -> list[list[Any]]:
    """Return rows as lists, sorted."""
    return sorted(map(list, zip(*found.select(["k", "v", "p"]).to_pydict().values(), strict=True)))


def chosen(all_changes: list[str], most: int, chance: random.Random) -> list[int]:
    """Choose changes to be killed at."""
    around = [at for at, change in enumerate(all_changes) if "snapshot-" in change]
    always = {one for at in around for one in (at, at + 1) if one < len(all_changes)}
    others = [at for at in range(len(all_changes)) if at not in always]
    return sorted(always | set(chance.sample(others, min(len(others), max(most - len(always), 0)))))


def main(folder: Path, name: str, seed: int, most: int) -> None:
    """Kill the work at its changes."""
    work = WORKS[name]
    made, scratch = folder / "made", folder / "scratch"
    made.mkdir()

    def prepare() -> None:
        catalog = pm.connect(made / "w")
        catalog.create_database("db")
        work.prepare(catalog, made)

    ended, said = in_child(prepare)
    assert ended == 0, said

    def anew() -> None:
        shutil.rmtree(scratch, ignore_errors=True)
        shutil.copytree(made, scratch)

    anew()
    _, before = in_child(lambda: state(work, scratch))
    ended, all_changes = in_child(lambda: run(work, scratch))
    assert ended == 0, all_changes
    _, after = in_child(lambda: state(work, scratch))
    found = []
    for at in chosen(all_changes, most, random.Random(seed)):
        anew()
        ended, _ = in_child(lambda at=at: run(work, scratch, at))  # type: ignore[misc]
        _, left = in_child(lambda: state(work, scratch))
        _, again = in_child(lambda: work.act(pm.connect(scratch / "w"), scratch))
        _, last = in_child(lambda: state(work, scratch))
        found.append(
            {
                "change": all_changes[at],
                "ended": ended,
                "left": left,
                "again": again,
                "last": last,
            }
        )
    print(json.dumps({"before": before, "after": after, "found": found}))  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:5]))
