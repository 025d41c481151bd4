"""A driver dies at its commit, a new one goes on: each statement is done once.

The moments are hit by the driver itself (`killed_driver`). ``PAIMONLAB_DRIVER_KILLS=all`` tries
each statement at each moment; otherwise one case is tried, since each starts a Spark.
``PAIMONLAB_KILL_POINTS`` says at how many changes a driver is killed that replaces a format table.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.catalog.rest_server.authorising import User
from paimonlab.catalog.rest_server.serving import ServeOptions, Server
from paimonlab.storage import LocalFileIO
from paimonlab.table.table import Table
from tests.catalog.kept import KeepingCatalog
from tests.spark import killed_format_driver
from tests.spark.test_compaction_jobs import opened

FORMAT_KILLS = int(os.environ.get("PAIMONLAB_KILL_POINTS", "0"))
PROGRAM = Path(__file__).parent / "killed_driver.py"
KEYED = {"bucket": "2", "num-sorted-run.compaction-trigger": "3"}
APPEND = {"deletion-vectors.enabled": "true"}
NEW = "SELECT CAST(id AS INT) id, 'new' v FROM range(20, 60, 1, 2)"
STATEMENTS = {
    "INSERT": (APPEND, f"INSERT INTO paimon.db.t {NEW}"),
    "DELETE": (APPEND, "DELETE FROM paimon.db.t WHERE id % 3 = 0"),
    "MERGE": (
        KEYED,
        (
            f"MERGE INTO paimon.db.t t USING ({NEW}) s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        ),
    ),
    "compact": (KEYED, "CALL paimon.sys.compact(table => 'db.t')"),
    "compaction after": (KEYED, f"INSERT INTO paimon.db.t {NEW}"),
}
MOMENTS = ("before", "between", "after")
_FEW = [("MERGE", "between")]
CASES = (
    [(statement, moment) for statement in STATEMENTS for moment in MOMENTS]
    if os.environ.get("PAIMONLAB_DRIVER_KILLS") == "all"
    else _FEW
)


def changed(statement: str, before: dict[int, str]) -> dict[int, str]:
    """Return the rows that a statement leaves."""
    if statement == "compact":
        return before
    if statement == "DELETE":
        return {one: v for one, v in before.items() if one % 3}
    return before | dict.fromkeys(range(20, 60), "new")


def contents(table: Table) -> Sequence[tuple[int, str]]:
    """Return all rows, each as often as it is there."""
    found = table.scan().to_arrow()
    return sorted(zip(found["id"].to_pylist(), found["v"].to_pylist(), strict=True))


def written_files(warehouse: Path) -> set[str]:
    """Return the names of data and index files: a DELETE may write vectors alone."""
    return {path.name for path in warehouse.rglob("*") if path.name[:5] in ("data-", "index")}


def run_until_killed(warehouse: Path, sql: str, moment: str, snapshot: int) -> None:
    """Run a statement in a driver that dies when it commits a snapshot."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(warehouse), sql, moment, str(snapshot)],
        env=os.environ | {"PYTHONPATH": str(PROGRAM.parents[2])},
        cwd=warehouse,
        capture_output=True,
        text=True,
        timeout=300,
        start_new_session=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stdout + done.stderr[-3000:]


@pytest.mark.parametrize(("statement", "moment"), CASES)
def test_a_statement_whose_driver_died_at_its_commit_is_done_once(
    statement: str, moment: str, spark: SparkSession, catalog: Catalog, warehouse: Path
) -> None:
    options, sql = STATEMENTS[statement]
    columns = {"id": "INT NOT NULL", "v": "STRING"}
    keys = ["id"] if options is KEYED else []
    table = catalog.create_table("db.t", columns, primary_keys=keys, options=options)
    apart = range(20) if not keys else range(30)
    for first in (apart, range(10, 30) if keys else range(60, 80)):
        table.write(pa.table({"id": pa.array(first, pa.int32()), "v": ["old"] * len(first)}))
    before = dict(contents(table))
    expected = changed(statement, before)
    is_second = statement == "compaction after"
    known = written_files(warehouse)

    run_until_killed(warehouse, sql, moment, 4 if is_second else 3)

    found = contents(opened(catalog))
    landed = moment != "before" or is_second
    assert found == sorted((expected if landed else before).items())
    assert written_files(warehouse) > known
    if not landed or keys:  # who does not know runs it again; without keys one looks first
        spark.sql(sql).collect()
    table = opened(catalog)
    assert contents(table) == sorted(expected.items())
    assert [tuple(row) for row in spark.table("paimon.db.t").orderBy("id").collect()] == sorted(
        expected.items()
    )
    soon = datetime.now(UTC) - timedelta(seconds=2)
    table.maintenance.remove_orphan_files(older_than=soon, dry_run=False, force=True)
    assert contents(table) == sorted(expected.items())
    assert not table.fsck(deep=True).findings


def overwritten(server: Server, folder: Path, die_at: int) -> subprocess.CompletedProcess[str]:
    """Run a driver that inserts rows into a format table and replaces them."""
    folder.mkdir()
    arguments = [json.dumps(dict(server.options)), str(folder), str(die_at)]
    return subprocess.run(
        [sys.executable, killed_format_driver.__file__, *arguments],
        env=os.environ | {"PYTHONPATH": str(PROGRAM.parents[2])},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        start_new_session=True,
        check=False,
    )


@pytest.mark.skipif(not FORMAT_KILLS, reason="part of make soak")
def test_a_format_table_keeps_its_rows_whoever_is_killed(tmp_path: Path, seed: int) -> None:
    warehouse = KeepingCatalog(str(tmp_path / "w"), LocalFileIO())
    warehouse.create_database("db")
    columns = {"id": "BIGINT", "v": "STRING", "p": "BIGINT"}
    table = warehouse.create_format_table(
        "db.t", columns, file_format="parquet", partition_keys=["p"]
    )
    ids = range(killed_format_driver.ROWS)
    old, new = (Counter((number, value) for number in ids) for value in ("old", "new"))

    def seen() -> Counter[tuple[int, str]]:
        found = table.scan(["id", "v"]).to_arrow().to_pydict()
        return Counter(zip(found["id"], found["v"], strict=True))

    with Server(warehouse, [User(name="me", token="a-token")], ServeOptions()) as server:
        whole = overwritten(server, tmp_path / "whole", -1)
        assert whole.returncode == 0, whole.stdout + whole.stderr[-3000:]
        assert (tmp_path / "whole" / "killed").exists()
        assert seen() == new
        changes = len(json.loads(whole.stdout.splitlines()[-1]))
        chance = random.Random(seed)
        for at in chance.sample(range(changes), min(FORMAT_KILLS, changes)):
            table.truncate()
            done = overwritten(server, tmp_path / f"killed-{at}", at)
            assert done.returncode == -signal.SIGKILL, done.stdout + done.stderr[-3000:]
            assert done.stdout == "inserted\n"
            left = seen()
            assert old <= left or new <= left, at
            assert left <= old + new, at
            rows = [{"id": number, "v": "new", "p": number % 2} for number in ids]
            table.overwrite(rows, dynamic=False)
            assert seen() == new, at
