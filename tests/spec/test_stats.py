from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from paimonlab.errors import SchemaError
from paimonlab.spec.binary_row.rows import decode, encode
from paimonlab.spec.manifests.data_file import EMPTY_ROW, SimpleStats
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.predicates.predicate import ColumnStats, bind, col, may_match_stats
from paimonlab.spec.statistics import columns
from paimonlab.spec.statistics.columns import (
    StatsCollector,
    StatsMode,
    StatsOptions,
    collect_stats,
    finish_each,
    stats_of_slices,
)
from paimonlab.spec.statistics.extremes import extremes
from paimonlab.spec.statistics.truncation import truncate_max, truncate_min
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type
from tests.spec.random_columns import random_column
from tests.spec.test_binary_row import ALL_TYPES, NESTED_TYPES

FULL = StatsMode.parse("full")


def field_of(text: str, name: str = "c") -> DataField:
    return DataField(0, name, parse_type(text))


def bounds(
    values: pa.Array, text: str, mode: str = "full"
) -> tuple[Any, Any, tuple[int | None, ...] | None]:
    stats, columns = collect_stats(
        pa.table({"c": values}), [field_of(text)], [StatsMode.parse(mode)], dense=False
    )
    assert columns is None
    types = [parse_type(text)]
    [low], [high] = (decode(pa.array([row]), types) for row in (stats.min_values, stats.max_values))
    return low[0].as_py(), high[0].as_py(), stats.null_counts


@pytest.mark.parametrize("text", [text for text in ALL_TYPES if text not in ("FLOAT", "DOUBLE")])
def test_bounds_are_the_smallest_and_largest_value(text: str, rng: np.random.Generator) -> None:
    column = random_column(parse_type(text), 100, rng)
    collector = StatsCollector([field_of(text)], [FULL])
    for start in range(0, 100, 30):  # in pieces
        collector.add(pa.table({"c": column.slice(start, 30)}))

    [stats] = collector.columns()

    values = sorted(column.drop_null().cast(sortable(column.type)).to_pylist())
    assert stats.min.cast(sortable(column.type)).to_pylist() == [values[0]]
    assert stats.max.cast(sortable(column.type)).to_pylist() == [values[-1]]
    assert stats.null_count == column.null_count


def sortable(data_type: pa.DataType) -> pa.DataType:
    return pa.binary() if pa.types.is_string(data_type) else data_type


def test_truncated_bounds_enclose_the_values(rng: np.random.Generator) -> None:
    for _ in range(200):
        points = rng.choice([0x61, 0x7F, 0x7FF, 0xD7FF, 0xE000, 0xFFFF, 0x10FFFF], 5)
        text = "".join(map(chr, points))
        data = bytes(rng.choice([0, 0x7F, 0xFE, 0xFF], 5).tolist())
        for length in range(1, 7):
            low, high = truncate_min(text, length), truncate_max(text, length)
            assert isinstance(low, str)
            assert low.encode() <= text.encode()
            assert high is None or (isinstance(high, str) and high.encode() >= text.encode())
            assert high is None or len(high) <= max(length, 5)
            top = truncate_max(data, length)
            assert top is None or top >= data  # type: ignore[operator]


def test_a_cut_maximum_is_made_larger() -> None:
    text = "abcdefghijklmnopqrs"

    assert bounds(pa.array([text]), "STRING", "truncate(16)") == (
        "abcdefghijklmnop",
        "abcdefghijklmnoq",
        (0,),
    )


def test_a_maximum_that_cannot_be_made_larger_leaves_both_bounds_unknown() -> None:
    assert bounds(pa.array([b"\xff" * 9, None]), "BYTES", "truncate(4)") == (None, None, (1,))


def test_modes_keep_more_or_less() -> None:
    values = pa.array([3, None, 1], pa.int32())

    assert bounds(values, "INT", "full") == (1, 3, (1,))
    assert bounds(values, "INT", "truncate(1)") == (1, 3, (1,))
    assert bounds(values, "INT", "counts") == (None, None, (1,))
    assert bounds(values, "INT", "none") == (None, None, (None,))


def test_nan_makes_bounds_unknown_and_zeros_count_as_equal() -> None:
    assert bounds(pa.array([1.0, float("nan")]), "DOUBLE") == (None, None, (0,))
    low, high, _ = bounds(pa.array([0.0]), "DOUBLE")
    assert (str(low), str(high)) == ("-0.0", "0.0")
    low, high, _ = bounds(pa.array([-0.0], pa.float32()), "FLOAT")
    assert (str(low), str(high)) == ("-0.0", "0.0")


@pytest.mark.parametrize("text", NESTED_TYPES)
def test_nested_columns_have_no_statistics(text: str, rng: np.random.Generator) -> None:
    column = random_column(parse_type(text), 20, rng)

    low, high, null_counts = bounds(column, text)

    assert (low, high, null_counts) == (None, None, (None,))


def test_columns_without_statistics_are_left_out_of_a_dense_store() -> None:
    fields = [field_of("INT", "a"), field_of("INT", "b"), field_of("INT", "c")]
    rows = pa.table({name: pa.array([1], pa.int32()) for name in "abc"})
    modes = [StatsMode.parse(text) for text in ("none", "counts", "full")]

    dense, names = collect_stats(rows, fields, modes, dense=True)
    sparse, all_names = collect_stats(rows, fields, modes, dense=False)
    nothing, no_names = collect_stats(rows, fields[:1], modes[:1], dense=True)

    assert names == ("b", "c")
    assert dense.null_counts == (0, 0)
    assert len(dense.min_values) == 4 + 8 + 2 * 8
    assert all_names is None
    assert sparse.null_counts == (None, 0, 0)
    assert no_names == ()
    assert nothing == SimpleStats(EMPTY_ROW, EMPTY_ROW, ())


def test_no_rows_have_no_bounds() -> None:
    assert bounds(pa.array([], pa.int32()), "INT") == (None, None, (0,))


def test_options_give_each_column_its_mode() -> None:
    fields = [field_of("INT", name) for name in "abc"]
    options = Options(
        {
            "metadata.stats-mode": "counts",
            "fields.c.stats-mode": "truncate(3)",
            "metadata.stats-keep-first-n-columns": "1",
            "metadata.stats-dense-store": "false",
        }
    )

    stats = StatsOptions.of(fields, options)

    assert stats.modes == tuple(map(StatsMode.parse, ("counts", "none", "truncate(3)")))
    assert not stats.dense
    assert StatsOptions.of(fields, Options({})).modes[0] == StatsMode.parse("truncate(16)")
    assert StatsOptions.of(fields, Options({})).dense


@pytest.mark.parametrize("text", ["", "truncate", "truncate(0)", "all", "truncate(-1)"])
def test_an_unknown_mode_is_refused(text: str) -> None:
    with pytest.raises(SchemaError, match="none, counts, truncate"):
        StatsMode.parse(text)


@pytest.mark.parametrize("text", ALL_TYPES)
@pytest.mark.parametrize("mode", ["full", "truncate(2)", "counts"])
def test_many_files_together_have_the_statistics_of_each(
    text: str, mode: str, rng: np.random.Generator
) -> None:
    fields, modes = [field_of(text, name) for name in "ab"], [StatsMode.parse(mode)] * 2
    collectors, alone = [], []
    for size in (1, 0, 30, 2000, *rng.integers(0, 5, 40).tolist()):
        columns = {name: random_column(parse_type(text), size, rng) for name in "ab"}
        rows = pa.table(columns)
        collectors.append(StatsCollector(fields, modes))
        for start in range(0, max(size, 1), 900):  # in pieces
            collectors[-1].add(rows.slice(start, 900))
        alone.append(collect_stats(rows, fields, modes, dense=False))

    assert finish_each(collectors, dense=False) == alone


@pytest.mark.parametrize("text", ALL_TYPES)
def test_slices_of_one_table_have_the_statistics_of_each(
    text: str, rng: np.random.Generator
) -> None:
    fields, modes = [field_of(text, name) for name in "ab"], [StatsMode.parse("full")] * 2
    rows = pa.table({name: random_column(parse_type(text), 300, rng) for name in "ab"})
    rows = rows.slice(2)
    ends = [3, 3, 4, 118, 298]
    slices = [rows.slice(start, end - start) for start, end in zip([0, *ends], ends, strict=False)]

    found = stats_of_slices(rows, np.diff(ends, prepend=0), fields, modes, dense=False)

    assert found == [collect_stats(part, fields, modes, dense=False) for part in slices]


@pytest.mark.parametrize("precision", [4, 18, 19, 38])
def test_bounds_of_decimals_are_those_of_arrow(precision: int, rng: np.random.Generator) -> None:
    values = random_column(parse_type(f"DECIMAL({precision}, 2)"), 400, rng)
    slices = [values.slice(start, 50) for start in range(7, 350, 50)]

    low, high = extremes(slices, np.arange(len(slices)), len(slices))

    expected = [pc.min_max(part).as_py() for part in slices]
    assert low.to_pylist() == [bounds["min"] for bounds in expected]
    assert high.to_pylist() == [bounds["max"] for bounds in expected]


def test_slices_of_one_array_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    def concat_arrays(_: object) -> None:
        raise AssertionError("copied")

    whole = pa.array([5, None, 1, 7, 3, 2])
    monkeypatch.setattr(pa, "concat_arrays", concat_arrays)

    low, high = extremes([whole.slice(1, 2), whole.slice(3, 2)], np.array([0, 1]), 2)

    assert (low.to_pylist(), high.to_pylist()) == ([1, 3], [1, 7])


def test_extremes_of_slices_whose_buffers_end_with_them() -> None:
    whole = pa.array(np.arange(10), pa.int64())
    values = whole.buffers()[1]
    first = pa.Array.from_buffers(pa.int64(), 4, [None, values.slice(0, 4 * 8)])

    low, high = extremes([first, whole.slice(4, 6)], np.array([0, 0]), 1)

    assert (low.to_pylist(), high.to_pylist()) == ([0], [9])


def test_files_of_many_columns_are_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = list[str]()

    def counted(name: str, function: Callable[..., Any]) -> None:
        def called(*arguments: Any) -> Any:
            calls.append(name)
            return function(*arguments)

        monkeypatch.setattr(columns, name, called)

    counted("encode", encode)
    counted("extremes", extremes)
    fields = [field_of("INT", "a"), field_of("INT", "b"), field_of("STRING", "c")]
    collectors = [StatsCollector(fields, [FULL] * 3) for _ in range(100)]
    for number, collector in enumerate(collectors):
        number_of = pa.array([number], pa.int32())
        collector.add(pa.table({"a": number_of, "b": number_of, "c": ["x"]}))

    stats = finish_each(collectors, dense=True)

    assert calls == ["extremes", "extremes", "encode"]  # two types, all bounds at once
    types = [field.type for field in fields]
    low = decode(pa.array([simple.min_values for simple, _ in stats]), types)
    assert low[1].to_pylist() == list(range(100))


def test_a_long_column_is_looked_at_when_it_comes() -> None:
    collector = StatsCollector([field_of("BIGINT")], [FULL])
    rows = pa.table({"c": np.arange(100_000)})
    before = pa.total_allocated_bytes()

    collector.add(rows)
    del rows

    assert pa.total_allocated_bytes() < before + 10_000
    low, high = (
        side[0].as_py() for side in (collector.columns()[0].min, collector.columns()[0].max)
    )
    assert (low, high) == (0, 99_999)


@pytest.mark.parametrize("count", [1, 5, 300])
def test_values_of_an_in_are_looked_up_in_each_range(count: int, rng: np.random.Generator) -> None:
    low = rng.integers(0, 1_000, 200)
    high = low + rng.integers(0, 5, 200)
    is_known = rng.random(200) < 0.9
    values = rng.integers(-10, 1_010, count).tolist()
    stats = ColumnStats(
        pa.array(low, pa.int32(), mask=~is_known),
        pa.array(high, pa.int32(), mask=~is_known),
        pa.array([0] * 200, pa.int64()),
        pa.array([9] * 200, pa.int64()),
    )
    predicate = bind(col("a").is_in(values), [DataField(0, "a", parse_type("INT"))], "t")

    found = may_match_stats(predicate, {"a": stats})

    assert found.tolist() == [
        not known or any(first <= value <= last for value in values)
        for first, last, known in zip(low, high, is_known, strict=True)
    ]
