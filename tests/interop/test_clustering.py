"""Orders of rows and runs to cluster are Java's; what we cluster Java reads."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest

from paimonlab.compact.clustering import cluster_runs, pick_all_to_cluster, pick_to_cluster
from paimonlab.compact.ordering.space_curves import hilbert, zorder
from paimonlab.compact.units import CompactUnit
from paimonlab.compact.universal import UniversalOptions
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.options.table_options import Options
from tests.interop.oracle import JavaPaimon
from tests.interop.pair import SIDES, Pair
from tests.java_values import unordered
from tests.repetitions import times
from tests.small_tables import data_file

pytestmark = pytest.mark.interop

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
STATES = times(600)


@pytest.mark.parametrize("dimensions", [2, 3, 5])
def test_positions_on_the_hilbert_curve_are_javas(
    dimensions: int, java: JavaPaimon, rng: np.random.Generator
) -> None:
    points = rng.integers(0, 2**63, (300, dimensions), dtype=np.int64)
    points[:100] >>= 55

    javas = java("hilbert", points=points.tolist())

    ours = hilbert([points[:, axis].astype(np.uint64) for axis in range(dimensions)], 63)
    assert [row.tobytes().hex() for row in ours] == [text[-2 * ours.shape[1] :] for text in javas]


def test_positions_on_the_z_order_curve_are_javas(
    java: JavaPaimon, rng: np.random.Generator
) -> None:
    columns = [rng.integers(0, 256, (200, width)).astype(np.uint8) for width in (8, 3, 8, 1)]
    rows = [[column[row].tobytes().hex() for column in columns] for row in range(200)]

    assert [row.tobytes().hex() for row in zorder(columns)] == java("zorder", rows=rows)


def random_state(rng: np.random.Generator) -> list[DataFileMeta]:
    count = int(rng.integers(1, 12))
    scale = int(rng.choice([5, 100, 10_000]))
    levels = np.sort(rng.choice([0, 0, 0, 1, 2, 3, 4], count))
    return [
        data_file(f"f{number}", file_size_bytes=int(rng.integers(1, scale)), level=int(level))
        for number, level in enumerate(levels)
    ]


def names(unit: CompactUnit | None) -> list[object] | None:
    return None if unit is None else [unit.output_level, *(file.file_name for file in unit.files)]


def test_java_clusters_the_same_runs(java: JavaPaimon, rng: np.random.Generator) -> None:
    options = {
        "clustering.incremental": "true",
        "clustering.columns": "k",
        "num-sorted-run.compaction-trigger": "3",
        "num-levels": "5",
    }
    java("create_table", table="db.t", fields=[["k", "INT"]], pk=[], partition=[], options=options)
    universal = Options(options).slice(UniversalOptions)
    states = [random_state(rng) for _ in range(STATES)]
    given = [[[one.file_name, one.file_size_bytes, one.level] for one in files] for files in states]

    minor = java("pick_clusters", table="db.t", states=given)
    full = java("pick_clusters", table="db.t", states=given, full=True)

    def columns_of(schema_id: int) -> Sequence[str]:
        assert schema_id == 0
        return ["k"]

    for number, files in enumerate(states):
        runs = cluster_runs(files)
        picked = pick_to_cluster(runs, universal, level_count=5, now=NOON)
        assert names(picked) == minor[number], given[number]
        everything = pick_all_to_cluster(runs, ["k"], columns_of, level_count=5)
        assert names(everything) == full[number], given[number]


def rows(first: int) -> pa.Table:
    keys = range(first, first + 50)
    return pa.table(
        {
            "p": ["xy"[key % 2] for key in keys],
            "k": pa.array([key * 37 % 101 for key in keys], pa.int32()),
            "n": [key * 10 for key in keys],
        }
    )


def test_java_reads_what_we_put_in_order(pair: Pair) -> None:
    options = {
        "clustering.incremental": "true",
        "clustering.columns": "k,n",
        "num-sorted-run.compaction-trigger": "2",
        "deletion-vectors.enabled": "true",
    }
    columns = {"p": "STRING", "k": "INT", "n": "BIGINT"}
    pair.create("us", "db.t", columns, partition=["p"], options=options)
    for number in range(6):
        pair.write(SIDES[number % 2], "db.t", rows(50 * number))
        pair.open("db.t").delete(f"n = {500 * number + 70}")
        before = unordered(pair.our_rows("db.t"))

        pair.open("db.t").compact(full=number == 3)

        pair.assert_same("db.t")
        assert unordered(pair.our_rows("db.t")) == before
    pair.java("append_delete", table="db.t", filter=["=", "k", 5])
    before = unordered(pair.our_rows("db.t"))
    for strategy in ("hilbert", "order"):
        pair.open("db.t").compact(order_by=["n", "k"], strategy=strategy)
        pair.assert_same("db.t")
        assert unordered(pair.our_rows("db.t")) == before
    assert pair.open("db.t").fsck(deep=True).is_clean
