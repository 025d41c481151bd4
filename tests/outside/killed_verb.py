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
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from click.testing import CliRunner

import paimonlab as pm
from paimonlab.catalog import Catalog
from paimonlab.cli.main import main as command_line
from paimonlab.errors import DatabaseNotFoundError, TableNotFoundError
from paimonlab.sql_engine import changes
from paimonlab.sql_engine.tables import Sources
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


WORKS = {
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
            path = arguments[1] if event == "os.link" else arguments[0]
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
    """Return how much is wrong with the table, and its rows; None if there is no table."""
    try:
        table = pm.connect(folder / work.warehouse).table(work.table)
    except (DatabaseNotFoundError, TableNotFoundError):
        return None
    assert isinstance(table, Table)
    rows = sorted(map(list, zip(*table.scan().to_arrow().to_pydict().values(), strict=True)))
    return len(table.fsck(deep=True).findings), rows


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
    catalog = pm.connect(made / "w")
    catalog.create_database("db")
    work.prepare(catalog, made)

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
