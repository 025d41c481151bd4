"""Migrations of Hive's tables that are killed: ``killed_migration.py URI FOLDER SEED MOST``.

Each changes files and asks the metastore to change something; for at most ``MOST`` of these changes
a child migrates a table of its own and is killed by SIGKILL right before. Then what is there is
looked at, and the migration is begun again. Prints as JSON what was found of each.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from pathlib import Path
from typing import Any

import paimonlab as pl
from paimonlab.catalog.hive.catalog import HiveCatalog
from paimonlab.catalog.hive.client import Metastore
from paimonlab.errors import TableNotFoundError
from tests.catalog.hive.test_migrating_hive import hive_table, partition, rows_of, write
from tests.outside.killed_verb import in_child, watched

_FILES = 3


def opened(uri: str, folder: Path) -> HiveCatalog:
    """Open the catalog."""
    made = pl.connect({"metastore": "hive", "uri": uri, "warehouse": str(folder / "w")})
    assert isinstance(made, HiveCatalog)
    return made


def prepare(catalog: HiveCatalog, folder: Path, name: str, *, keys: bool) -> None:
    """Make a table of Hive with a few files."""
    place = folder / "w" / "hive" / name
    hive_table(catalog, place, "parquet", {"pt": "int"} if keys else {}, name=name)
    for number in range(_FILES):
        if keys:
            write(place / f"pt={number}", 10 * number, 10 * number + 1)
            partition(catalog, place / f"pt={number}", str(number), name=name)
        else:
            write(place / f"{number}", 10 * number, 10 * number + 1)
            (place / f"{number}" / "000000_0").rename(place / f"00000{number}_0")
            (place / f"{number}").rmdir()


def migrate(catalog: HiveCatalog, name: str, *, moves: bool, die_at: int | None = None) -> Any:
    """Migrate it, killed before a change if one is named; return all changes."""
    seen: list[str] = []

    def found(change: str) -> None:
        seen.append(change)
        if len(seen) - 1 == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    asked = Metastore._called

    def called(self: Metastore, call: str, arguments: Any) -> Any:
        if not call.startswith("get"):
            found(call)
        return asked(self, call, arguments)

    watched(Path(catalog.path), found)
    setattr(Metastore, "_called", called)  # noqa: B010 - a method of a class
    catalog.migrate_hive_table(f"db.{name}", f"db.new_{name}", moves=moves)
    return seen


def state(catalog: HiveCatalog, name: str) -> Any:
    """Return the rows that readers see, and whether Hive's table is there with all of its files."""
    try:
        rows = [list(row) for row in rows_of(catalog, f"db.new_{name}")]
        assert not catalog.table(f"db.new_{name}").fsck(deep=True).findings
    except TableNotFoundError:
        rows = []
    place = Path(catalog.path) / "hive" / name
    files = len([one for one in place.rglob("00000*_0") if one.is_file()])
    return rows, name in catalog.hive_tables("db"), files


def main(uri: str, folder: Path, seed: int, most: int) -> None:
    """Kill migrations at their changes."""
    chance = random.Random(seed)
    found = []
    in_child(lambda: opened(uri, folder).create_database("db"))
    for kind in range(4):
        moves, keys = bool(kind % 2), kind >= 2

        def run(name: str, die_at: int | None, moves: bool = moves) -> tuple[int, Any]:
            return in_child(lambda: migrate(opened(uri, folder), name, moves=moves, die_at=die_at))

        def made(name: str, keys: bool = keys) -> str:
            in_child(lambda: prepare(opened(uri, folder), folder, name, keys=keys))
            return name

        def seen(name: str) -> Any:
            ended, what = in_child(lambda: state(opened(uri, folder), name))
            assert ended == 0, what
            return what

        whole = made(f"h{kind}")
        before = seen(whole)
        ended, changes = run(whole, None)
        assert ended == 0, changes
        wanted = seen(whole)
        points = chance.sample(range(len(changes)), min(most, len(changes)))
        for at in points:
            sys.stderr.write(f"{changes[at]}\n")
            name = made(f"h{kind}_{at}")
            ended, _ = run(name, at)
            left = seen(name)
            again = run(name, None)[1] if left[1] or not moves else None
            found.append(
                {
                    "at": f"{changes[at]}, {moves=}, {keys=}",
                    "ended": ended,
                    "before": before,
                    "left": left,
                    "again": again,
                    "last": seen(name),
                    "wanted": wanted,
                }
            )
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:5]))
