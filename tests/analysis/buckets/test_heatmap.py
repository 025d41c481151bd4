"""Sums of buckets beside system tables, and with fixed numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import paimonlab
from paimonlab.analysis.buckets import heatmap
from paimonlab.analysis.buckets.heatmap import Heatmap
from paimonlab.analysis.buckets.measures import DEFAULT_TOP
from paimonlab.analysis.buckets.reading_heatmap import heatmap_of
from paimonlab.analysis.buckets.skew import gini, skew
from paimonlab.table.table import Table
from tests.golden.expected import Case, Expected, expected, values
from tests.support import cases, partition_by_name

GOLDEN = ("append_part", "dyn_part", "lsm", "part_big", "part_date", "pk_part")


def answers(name: str) -> Expected:
    return expected(Case("java-1.3.1", name))


def golden_table(name: str) -> Table:
    found = answers(name)
    table = paimonlab.connect(found.warehouse).table(found.document["table"])
    assert isinstance(table, Table)
    return table


def sums(drawing: str) -> tuple[pa.Table, list[str]]:
    """Read ``p/0: bytes files rows level_0 updated`` on each line."""
    lines = [line.split() for line in drawing.splitlines() if line.strip()]
    places = [line[0].rstrip(":").split("/") for line in lines]
    names = ("bytes", "files", "rows", "level_0", "updated_millis")
    numbers = {
        name: pa.array([int(line[at + 1]) for line in lines], pa.int64())
        for at, name in enumerate(names)
    }
    partitions = [partition for partition, _ in places]
    buckets = pa.array([int(bucket) for _, bucket in places], pa.int32())
    rows = pa.array([name.encode() for name in partitions], pa.large_binary())
    return pa.table({"partition": rows, "bucket": buckets, **numbers}), partitions


def draw_rows(value: Heatmap) -> str:
    head = " ".join(
        str(one.first) if one.first == one.last else f"{one.first}-{one.last}"
        for one in value.columns
    )
    lines = [f"buckets {head}"]
    for row in (*value.rows, *([value.rest] if value.rest else [])):
        cells = (
            "-" if files is None else f"{size}/{files}/{rows}/{low}/{updated}"
            for size, files, rows, low, updated in zip(
                row.bytes, row.files, row.rows, row.level_0, row.updated_millis, strict=True
            )
        )
        name = f"({row.partition_count} more)" if row.partition is None else row.partition
        lines.append(f"{name}: {' '.join(cells)}")
    return "\n".join(lines)


@pytest.mark.parametrize(("title", "given", "wanted"), cases("heatmap"))
def test_case_file(title: str, given: str, wanted: str) -> None:
    first, _, drawing = given.partition("\n")
    by, top = first.split()
    table, partitions = sums(drawing)

    value = heatmap.heatmap("t", 1, table, partitions, by=by, top=int(top), has_levels=True)

    assert " ".join(draw_rows(value).split()) == wanted, title


@pytest.mark.parametrize("name", GOLDEN)
def test_sums_of_rows_are_the_partitions_that_java_shows(name: str) -> None:
    wanted = answers(name).system_tables()["partitions"]
    table = golden_table(name)
    value = heatmap_of(table, table.snapshot, by="rows", top=DEFAULT_TOP)

    found = [
        [
            row.partition,
            *(sum(one or 0 for one in cells) for cells in (row.rows, row.bytes)),
        ]
        for row in value.rows
    ]

    columns = [wanted["fields"].index(name) for name in ("partition", "record_count")]
    columns.append(wanted["fields"].index("file_size_in_bytes"))
    rows = [[row[at] for at in columns] for row in values(wanted["rows"])]
    rows = [[partition_by_name(name, table), *rest] for name, *rest in rows]
    assert sorted(found) == sorted(rows)
    assert [row[1] for row in found] == sorted((row[1] for row in rows), reverse=True)


@pytest.mark.parametrize(
    ("numbers", "wanted"),
    [
        ([], 0.0),
        ([0, 0], 0.0),
        ([7], 0.0),
        ([5, 5, 5], 0.0),
        ([0, 0, 0, 8], 0.75),
        ([1, 3], 0.25),
        ([1, 2, 3, 4], 0.25),
        ([10, 1, 1, 0], 0.625),
    ],
)
def test_gini(numbers: list[int], wanted: float) -> None:
    assert gini(np.array(numbers, np.float64)) == pytest.approx(wanted)


def test_gini_is_half_the_mean_difference_over_the_mean(rng: np.random.Generator) -> None:
    for count in rng.integers(1, 40, 50):
        drawn = rng.integers(0, 1000, count).astype(np.float64)
        mean = drawn.mean() or 1.0
        by_pairs = np.abs(drawn[:, None] - drawn).mean() / (2 * mean)
        assert gini(drawn) == pytest.approx(by_pairs)


def test_skew_is_maximum_over_median() -> None:
    found = skew("bytes", np.array([1.0, 2.0, 9.0]), adds_up=True)

    assert found is not None
    assert (found.maximum, found.median, found.ratio) == (9.0, 2.0, 4.5)
    assert skew("age", np.array([]), adds_up=False) is None
    nothing = skew("age", np.array([0.0, 0.0, 4.0]), adds_up=False)
    assert nothing is not None
    assert (nothing.ratio, nothing.gini) == (None, None)


def test_partitions_whose_names_are_long_stay_apart() -> None:
    names = ["x" * 10_000 + end for end in ("a", "b")]
    table, _ = sums("a/0: 1 1 1 1 1\nb/0: 2 1 1 1 1")

    value = heatmap.heatmap("t", 1, table, names, has_levels=True)

    assert [row.bytes for row in value.rows] == [(2,), (1,)]
    assert [len(row.partition or "") for row in value.rows] == [200, 200]
