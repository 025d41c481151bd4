"""What views offer to copy runs, and does what the view says."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.analysis.buckets.bucket_lives import ShownBucket
from paimonlab.analysis.compactions.compaction_calls import calls
from paimonlab.analysis.health.measures import Thresholds
from paimonlab.analysis.health.rules import findings
from paimonlab.catalog import Catalog
from paimonlab.notebook import commands
from paimonlab.notebook.cell.call_statement import parse_call
from paimonlab.notebook.cell.statements import split
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.connections.demo_tables import ORDERS, make_tables
from paimonlab.procedures import bind, find
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.table.table import Table
from tests.analysis.health.test_rules import measures
from tests.support import cases


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the tables of the demonstration once."""
    folder = tmp_path_factory.mktemp("template") / "warehouse"
    make_tables(paimonlab.connect(folder))
    return folder


@pytest.fixture
def catalog(template: Path, tmp_path: Path) -> Iterator[Catalog]:
    """Connect natively to a warehouse with the tables of the demonstration."""
    shutil.copytree(template, tmp_path / "warehouse")
    connections.connect(tmp_path / "warehouse", engine="native")
    yield connections.current().catalog
    connections.disconnect()


def opened(catalog: Catalog, name: str) -> Table:
    table = catalog.table(name)
    assert isinstance(table, Table)
    return table


def level_0(table: Table) -> int:
    return [file.level for file in files(table)].count(0)


def files(table: Table) -> list[DataFileMeta]:
    return [file for split in table.scan().plan().splits for file in split.files]


def actions(table: Table, **options: Any) -> dict[str, str]:
    """Return the SQL of each finding about a table, by its code."""
    found = commands.health(table, **options).value.tables[0].findings
    return {one.code: one.sql for one in found}


def test_each_compaction_that_can_be_copied_runs(catalog: Catalog) -> None:
    table = opened(catalog, ORDERS)
    rows = table.scan().to_arrow().sort_by("order_id")
    offered = {one.label: one.sql for one in commands.compaction(table).value.calls}  # type: ignore[attr-defined]
    before = level_0(table)

    commands.sql(offered["this partition"])
    one_partition = level_0(table)
    commands.sql(offered["everything"])

    assert 0 < one_partition < before
    assert level_0(table) == 0
    assert table.scan().to_arrow().sort_by("order_id").equals(rows)
    commands.sql(offered["what the options ask for"])
    assert level_0(table) == 0


@pytest.mark.parametrize(
    "value", ["a,b", "it's", "x=y", "a/b", 'q"', "back\\slash", "n\nl", "$1", "%_", "é`日", ""]
)
def test_a_partition_is_named_whatever_its_value_holds(catalog: Catalog, value: str) -> None:
    table = catalog.create_table(
        "demo.t",
        {"p`q": "STRING", "k": "INT"},
        partition_keys=["p`q"],
        options={"bucket": "1", "bucket-key": "k", "write-only": "true"},
    )
    for part in ([value, "other"], [value, None], [value, "other"]):
        keys = pa.array([1, 2], pa.int32())
        table.write(pa.table({"p`q": pa.array(part, pa.string()), "k": keys}))
    splits = [split for split in table.scan().plan().splits if len(split.files) == 3]
    key = ShownBucket(splits[0].partition, 0)

    (sql,) = [one.sql for one in calls(table.name, table.schema, key) if "partition" in one.label]
    commands.sql(sql)

    counts = sorted(len(split.files) for split in table.scan().plan().splits)
    assert counts == [1, 1, 2], sql


def test_a_backlog_is_gone_after_what_health_offers(catalog: Catalog) -> None:
    table = opened(catalog, ORDERS)

    commands.sql(actions(table)["level-0-backlog"])

    assert "level-0-backlog" not in actions(table)


def test_small_files_are_put_together_by_what_files_offers(catalog: Catalog) -> None:
    table = opened(catalog, ORDERS)
    before = len(files(table))
    (sql,) = [one.action for one in commands.files(table).value.advice if one.action]  # type: ignore[attr-defined]

    commands.sql(sql)

    assert len(files(table)) < before


def snapshots(table: Table) -> int:
    return len(table.snapshots.list())


def strays(table: Table) -> int:
    return len(list(Path(table.path).glob("**/data-stray-*")))


@pytest.mark.parametrize(
    ("code", "limits", "measured"),
    [
        ("many-snapshots", {"snapshots": 2}, snapshots),
        ("orphan-files", {"orphan_bytes": 1}, strays),
        ("consumer-blocks-expiry", {"consumer_lag": 0}, lambda table: len(table.consumers.list())),
    ],
)
def test_what_health_offers_helps(
    catalog: Catalog, code: str, limits: dict[str, float], measured: Callable[[Table], int]
) -> None:
    table = opened(catalog, ORDERS)
    stray = Path(table.path, "dt=2026-01-01", "bucket-0", "data-stray-0.parquet")
    assert stray.parent.is_dir()
    stray.write_bytes(b"12345")
    os.utime(stray, (time.time() - 3 * 86_400,) * 2)
    if code == "many-snapshots":
        table.consumers.clear()  # it would keep them
    before = measured(table)

    sql = actions(table, orphans=True, **limits)[code]
    commands.sql(sql)

    assert sql.startswith("CALL sys.")
    assert measured(table) < before
    assert code not in actions(table, orphans=True, **limits)


def test_every_call_that_health_offers_is_one_that_there_is() -> None:
    named = set()
    for _, given, _ in cases("health"):
        words, _, limits = given.partition("|")
        thresholds = Thresholds.of(dict(word.split("=") for word in limits.split()))
        for one in findings(measures(words), thresholds):
            if one.sql.startswith("CALL"):
                (statement,) = split(one.sql)
                call = parse_call(statement, {})
                arguments = [(given.name or "", given.value) for given in call.arguments]
                bind(find(call.name[-1]), named=arguments)
                named.add(call.name[-1])

    assert named >= {"compact", "compact_manifest", "expire_snapshots", "reset_consumer"}
