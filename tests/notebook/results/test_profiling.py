"""Sums of columns agree with pandas, numpy and a dict, and are the same however rows come."""

from __future__ import annotations

import collections
import datetime as dt
import itertools
import math
import pickle
import statistics
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import types as spark_types

from paimonlab.notebook.results.profiling import ColumnSketch, RowSketch, sketch_batches
from paimonlab.notebook.results.profiling import bins as bins_module
from paimonlab.notebook.results.profiling.bins import Bins, Scale
from paimonlab.notebook.results.profiling.distinct import SIZE as DISTINCT_SIZE
from paimonlab.notebook.results.profiling.frequent import SIZE as FREQUENT_SIZE
from paimonlab.notebook.results.profiling.on_spark import arrow_kind
from paimonlab.notebook.results.profiling.sample import SIZE as SAMPLE_SIZE
from paimonlab.notebook.views.profile.profile_columns import profile_column
from tests.notebook.hostile import strings

SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
EPOCH = dt.datetime(1970, 1, 1)


@pytest.fixture
def random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture
def column(name: str, random: np.random.Generator) -> pa.Array:
    return random_columns(random)[name]


def sketched(column: pa.Array | pa.ChunkedArray, *, batch_rows: int = 7) -> ColumnSketch:
    table = pa.table({"c": column})
    return sketch_batches(table.to_batches(batch_rows), table.schema.types).columns[0]


def in_parts(column: pa.Array, cuts: list[int]) -> ColumnSketch:
    """Sketch pieces of a column apart and add them up."""
    ends = [0, *sorted(cuts), len(column)]
    kind = [column.type]
    rows = RowSketch.empty(kind)
    for part, (start, end) in enumerate(itertools.pairwise(ends)):
        piece = pa.table({"c": column.slice(start, end - start)})
        rows += pickle.loads(pickle.dumps(sketch_batches(piece.to_batches(), kind, stream=part)))
    assert rows.row_count == len(column)
    return rows.columns[0]


def with_nulls(values: list[Any], random: np.random.Generator) -> list[Any]:
    return [None if random.random() < 0.2 else value for value in values]


def random_columns(random: np.random.Generator) -> dict[str, pa.Array]:
    n = 400
    big = [int(one) for one in random.integers(-(2**63), 2**63 - 1, n)]
    close = [2**53 + int(one) for one in random.integers(0, 40, n)]
    floats = [
        *random.normal(scale=1e3, size=n - 6).tolist(),
        *(float("nan"), float("nan"), float("inf"), float("-inf"), 0.0, -0.0),
    ]
    moments = [
        EPOCH + dt.timedelta(microseconds=int(one))
        for one in random.integers(-(6 * 10**16), 10**17, n)
    ]
    moments[:2] = [dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999_999)]
    days = [
        dt.date(1, 1, 1) + dt.timedelta(days=int(one)) for one in random.integers(0, 3_652_058, n)
    ]
    cents = [Decimal(int(one)).scaleb(-2) for one in random.integers(-(10**6), 10**6, n)]
    wide = [Decimal(int(one)) * 10**19 + 7 for one in random.integers(-(2**60), 2**60, n)]
    texts = [str(one) for one in random.choice(strings(), n)]
    columns = {
        "big": (big, pa.int64()),
        "close": (close, pa.int64()),
        "tiny": ([int(one) for one in random.integers(-128, 128, n)], pa.int8()),
        "floats": (floats, pa.float64()),
        "singles": ([float(np.float32(one)) for one in floats], pa.float32()),
        "moments": (moments, pa.timestamp("us")),
        "days": (days, pa.date32()),
        "times": ([dt.time(int(one)) for one in random.integers(0, 24, n)], pa.time32("ms")),
        "cents": (cents, pa.decimal128(12, 2)),
        "wide": (wide, pa.decimal128(38, 0)),
        "texts": (texts, pa.string()),
        "bytes": ([one.encode("utf-8", "replace") for one in texts], pa.binary()),
        "flags": ([bool(one) for one in random.integers(0, 2, n)], pa.bool_()),
    }
    return {
        name: pa.array(with_nulls(values, random), kind) for name, (values, kind) in columns.items()
    }


COLUMNS = tuple(random_columns(np.random.default_rng(0)))


@pytest.mark.parametrize("name", COLUMNS)
def test_counts_ends_and_frequencies_are_those_of_a_dict(column: pa.Array) -> None:

    found = sketched(column)

    values = [one for one in column.to_pylist() if one is not None]
    numbers = [one for one in values if not (isinstance(one, float) and np.isnan(one))]
    counted = collections.Counter(numbers)
    assert found.null_count == len(column) - len(values)
    assert found.nan_count == len(values) - len(numbers)
    assert found.distinct is not None
    assert found.distinct.is_exact
    assert found.distinct.count == len(counted) + (found.nan_count > 0)
    assert found.ends is not None
    assert found.ends.to_pylist() == [min(numbers), max(numbers)]
    assert found.frequent is not None
    assert found.frequent.error == 0
    told = dict(
        zip(found.frequent.values.to_pylist(), found.frequent.counts.to_pylist(), strict=True)
    )
    assert told == {one: n for one, n in counted.items() if _size(one) <= 256}
    top = [count for _, count in found.frequent.top(5)]
    assert (
        top
        == sorted((n for one, n in counted.items() if n > 1 and _size(one) <= 256), reverse=True)[
            :5
        ]
    )


def _size(value: Any) -> int:
    return (
        len(value.encode())
        if isinstance(value, str)
        else len(value)
        if isinstance(value, bytes)
        else 0
    )


@pytest.mark.parametrize("name", ["big", "close", "tiny", "floats", "singles", "cents", "wide"])
def test_mean_and_deviation_are_those_of_exact_fractions(column: pa.Array, name: str) -> None:
    found = sketched(column)

    values = [one for one in column.to_pylist() if one is not None and np.isfinite(float(one))]
    exact = [Fraction(one) for one in values]
    mean = statistics.mean(exact)
    variance = sum((one - mean) ** 2 for one in exact) / (len(exact) - 1)
    assert found.infinite_count + found.nan_count + len(exact) == len(column) - found.null_count
    assert found.moments.known_mean == pytest.approx(float(mean), rel=1e-9, abs=1e-6)
    # The numbers themselves are rounded to 64-bit floats: of close and huge ones that is seen.
    within = 0.05 if name == "close" else 1e-9
    assert found.moments.standard_deviation == pytest.approx(math.sqrt(variance), rel=within)


@pytest.mark.parametrize("name", ["floats", "cents", "tiny"])
def test_mean_and_deviation_are_those_of_pandas(column: pa.Array) -> None:
    found = sketched(column)

    series = pd.Series([float(one) for one in column.to_pylist() if one is not None])
    series = series[np.isfinite(series)]
    assert found.moments.known_mean == pytest.approx(series.mean(), rel=1e-9, abs=1e-6)
    assert found.moments.standard_deviation == pytest.approx(series.std(), rel=1e-9)


@pytest.mark.parametrize(
    "name", ["big", "close", "floats", "moments", "days", "times", "cents", "wide"]
)
def test_quantiles_are_values_and_those_of_numpy(column: pa.Array) -> None:
    found = sketched(column)

    values = [one for one in column.to_pylist() if one is not None]
    ordered = sorted(one for one in values if not (isinstance(one, float) and not np.isfinite(one)))
    places = np.quantile(np.arange(len(ordered)), SHARES, method="inverted_cdf").astype(int)
    assert found.sample is not None
    assert found.sample.is_exact
    told = [one.as_py() for one in found.sample.quantiles(SHARES)]
    assert told == [ordered[place] for place in places]


@pytest.mark.parametrize(
    "name", ["big", "close", "tiny", "floats", "moments", "days", "times", "cents"]
)
def test_each_value_is_in_the_range_that_holds_it(column: pa.Array) -> None:
    found = sketched(column).bins

    assert found is not None
    assert 1 < len(found.counts) <= bins_module.MOST
    numbers = [_position(one, column.type) for one in column.to_pylist() if one is not None]
    numbers = [one for one in numbers if np.isfinite(float(one))]
    expected = collections.Counter(
        one // found.width if isinstance(one, int) else float(np.floor(one / found.width))
        for one in numbers
    )
    told = {found.first + place: int(count) for place, count in enumerate(found.counts) if count}
    assert told == expected
    edges = [found.starts[0], found.starts[-1]]
    assert edges[0] <= min(numbers)
    assert edges[1] <= max(numbers) < edges[1] + found.width


def _position(value: Any, kind: pa.DataType) -> Any:
    if isinstance(value, int | float):
        return value
    if isinstance(value, Decimal):
        return float(value)
    scalar = pa.scalar(value, kind)
    return int(scalar.value)


@pytest.mark.parametrize("name", COLUMNS)
def test_parts_add_up_to_the_same_in_any_cut(column: pa.Array, random: np.random.Generator) -> None:
    whole = sketched(column, batch_rows=1_000)

    for _ in range(5):
        parts = in_parts(column, random.integers(0, len(column), 4).tolist())

        assert parts.ends == whole.ends
        assert (parts.bins is None) == (whole.bins is None)
        if parts.bins is not None and whole.bins is not None:
            assert parts.bins.starts == whole.bins.starts
            assert parts.bins.counts.tolist() == whole.bins.counts.tolist()
        assert parts.distinct is not None
        assert whole.distinct is not None
        assert parts.distinct.hashes.tolist() == whole.distinct.hashes.tolist()
        assert parts.frequent is not None
        assert whole.frequent is not None
        assert parts.frequent.top(5) == whole.frequent.top(5)
        assert parts.lengths == whole.lengths
        assert parts.moments.count == whole.moments.count
        assert parts.moments.mean == pytest.approx(whole.moments.mean, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("name", ["texts"])
def test_lengths_are_characters_of_texts_and_bytes_of_binaries(column: pa.Array) -> None:
    texts = sketched(column).lengths
    values = [one for one in column.to_pylist() if one is not None]
    assert texts is not None
    assert (texts.shortest, texts.longest) == (min(map(len, values)), max(map(len, values)))
    assert texts.total == sum(map(len, values))
    assert len(texts.longest_value.as_py()) == texts.longest

    binaries = sketched(pa.array([b"a", "é".encode(), None])).lengths
    assert binaries is not None
    assert (binaries.shortest, binaries.longest, binaries.total) == (1, 2, 3)


def test_of_many_values_an_estimate_is_close_and_says_so(random: np.random.Generator) -> None:
    for count in (DISTINCT_SIZE - 1, 50_000, 300_000):
        values = random.permutation(np.arange(count)).astype(np.int64)
        found = sketched(
            pa.array(np.concatenate([values, values[:1_000]])), batch_rows=50_000
        ).distinct
        assert found is not None
        assert found.is_exact == (count < DISTINCT_SIZE)
        assert found.count == pytest.approx(count, rel=0.055)


def test_frequent_values_survive_many_rare_ones_with_a_bound_that_holds(
    random: np.random.Generator,
) -> None:
    rare = np.char.add("rare", np.arange(60_000).astype(str))
    often = np.repeat(["a", "b"], [5_000, 3_000])
    values = random.permutation(np.concatenate([rare, often]))

    found = sketched(pa.array(values), batch_rows=10_000).frequent

    assert found is not None
    assert 0 < found.error <= len(values) / FREQUENT_SIZE
    (first, one), (second, two) = found.top(2)
    assert (first.as_py(), second.as_py()) == ("a", "b")
    assert one <= 5_000 <= one + found.error
    assert two <= 3_000 <= two + found.error
    assert len(found.top(5)) == 2


def test_a_sample_is_bounded_and_close(random: np.random.Generator) -> None:
    values = random.permutation(np.arange(200_000))

    found = sketched(pa.array(values), batch_rows=20_000).sample

    assert found is not None
    assert len(found.keys) == SAMPLE_SIZE
    assert not found.is_exact
    for share, one in zip(SHARES, found.quantiles(SHARES), strict=True):
        assert one.as_py() / 200_000 == pytest.approx(share, abs=0.025)


@pytest.mark.parametrize(
    "values",
    [
        [1e308, -1e308],
        [-1.7976931348623157e308, 1.7976931348623157e308],
        [5e-324, 1e308],
        [5e-324, 0.0],
        [1e16, 1e16 + 2],
        [0.1, 0.2, 0.30000000000000004],
        [-1.0],
    ],
)
def test_ranges_of_extreme_floats(values: list[float]) -> None:
    found = Bins.of(np.array(values), Scale.FLOAT)
    one_by_one = [Bins.of(np.array([one]), Scale.FLOAT) for one in values]

    assert found is not None
    assert len(found.counts) <= bins_module.MOST
    assert found.counts.sum() == len(values)
    total = one_by_one[0]
    for one in one_by_one[1:]:
        assert total is not None
        assert one is not None
        total += one
    assert total is not None
    assert (total.step, total.first, total.counts.tolist()) == (
        *(found.step, found.first),
        found.counts.tolist(),
    )


@pytest.mark.parametrize(
    ("values", "scale", "width"),
    [
        ([0, 30], Scale.WHOLE, 1),
        ([0, 99], Scale.WHOLE, 5),
        ([-(2**63), 2**63 - 1], Scale.WHOLE, 10**18),
        ([0, 59_000_000], Scale.MICROS, 10_000_000),
        ([0, 86_400_000_000 * 20], Scale.MICROS, 86_400_000_000),
        ([0, 86_400 * 20], Scale.SECONDS, 86_400),
        ([-(2**63), 2**63 - 1], Scale.NANOS, 86_400 * 10**9 * 10_000),
    ],
)
def test_widths_are_round(values: list[int], scale: Scale, width: int) -> None:
    found = Bins.of(np.array(values, np.int64), scale)

    assert found is not None
    assert found.width == width
    assert len(found.counts) <= bins_module.MOST


def test_of_nested_columns_only_the_nulls_are_counted() -> None:
    nested = pa.array([[1], None, []], pa.list_(pa.int32()))

    found = in_parts(nested, [1])

    assert found == ColumnSketch(1)


@pytest.mark.parametrize("kind", [pa.int32(), pa.float64(), pa.string(), pa.list_(pa.int8())])
def test_no_rows_and_no_values_have_no_facts(kind: pa.DataType) -> None:
    for column in (pa.nulls(0, kind), pa.nulls(3, kind)):
        found = sketched(column)

        assert found.null_count == len(column)
        assert found.ends is None
        assert found.moments.known_mean is None
        assert found.moments.standard_deviation is None
        assert found.sample is None or found.sample.quantiles(SHARES) == []


@pytest.mark.parametrize("name", COLUMNS)
def test_a_row_repeated_is_as_many_rows(column: pa.Array) -> None:
    column = column.drop_null().slice(10, 1)
    wanted = sketched(pa.concat_arrays([column] * 9))

    found = sketched(column).repeated(9)

    assert found.ends == wanted.ends
    assert found.moments == wanted.moments
    assert found.lengths == wanted.lengths
    assert found.frequent is not None
    assert wanted.frequent is not None
    assert found.frequent.top(1) == wanted.frequent.top(1)
    assert (found.bins and found.bins.counts.tolist()) == (
        wanted.bins and wanted.bins.counts.tolist()
    )


def test_decimals_are_counted_where_they_are_not_a_little_below() -> None:
    cents = pa.array([Decimal(100 * number).scaleb(-2) for number in range(1_000)])

    found = sketched(cents).bins

    assert found is not None
    assert found.width == 32
    assert found.counts.tolist() == [32] * 31 + [8]


@pytest.mark.parametrize("zone", ["UTC", "Etc/UTC", "Europe/Berlin", "+02:00"])
def test_moments_that_spark_sends_with_the_zone_of_its_session_are_told_in_it(zone: str) -> None:
    sent = pa.timestamp("us", zone)
    column = pa.array([0, 1_767_225_600_000_000, 1_767_225_600_000_000], pa.int64()).cast(sent)
    (rows,) = sketch_batches([pa.record_batch([column], ["t"])], [sent]).columns

    kind = arrow_kind(spark_types.TimestampType(), zone)
    told = profile_column("t", "timestamp", kind, rows, 3)

    there = str(column[-1].as_py().replace(tzinfo=None))
    assert told.quantiles[-1] == told.high == told.top[0][0] == there
