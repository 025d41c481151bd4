from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from paimonlab.spec.binary_row.rows import decode
from paimonlab.spec.manifests.data_file import EMPTY_ROW
from paimonlab.spec.schema.definition import Schema, TableSchema, new_table_schema
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.text import parse_type
from paimonlab.write.buckets import groups, picked_rows, positions_of


def schema_of(buckets: int, *, partitioned: bool = True) -> TableSchema:
    definition = Schema(
        {"dt": "STRING", "h": "INT", "id": "BIGINT"},
        partition_keys=("dt", "h") if partitioned else (),
        options={"bucket": str(buckets)} | ({"bucket-key": "id"} if buckets > 0 else {}),
    )
    return new_table_schema(definition, time_millis=0)


def table_of(count: int, seed: int) -> pa.Table:
    random = np.random.default_rng(seed)
    days = [("a", "b", None)[pick] for pick in random.integers(0, 3, count)]
    hours = [(1, 2, None)[pick] for pick in random.integers(0, 3, count)]
    return pa.table(
        {"dt": pa.array(days, pa.string()), "h": pa.array(hours, pa.int32()), "id": range(count)}
    )


@pytest.mark.parametrize("buckets", [-1, 1, 4])
def test_every_row_is_in_exactly_one_group(buckets: int) -> None:
    seed = 7
    rows = table_of(1000, seed)

    found = list(groups(rows, schema_of(buckets), buckets))

    positions = np.concatenate([group.rows for group in found if group.rows is not None])
    assert sorted(positions) == list(range(1000)), f"seed {seed}"
    assert len({(group.partition, group.bucket) for group in found}) == len(found)
    assert {group.bucket for group in found} == set(range(max(buckets, 1)))


def test_rows_of_a_group_share_the_partition_and_keep_their_order() -> None:
    seed = 8
    rows = table_of(500, seed)

    for group in groups(rows, schema_of(2), 2):
        assert group.rows is not None
        picked = rows.take(pa.array(group.rows))
        values = set(zip(*(picked.column(name).to_pylist() for name in ("dt", "h")), strict=True))
        assert len(values) == 1, f"seed {seed}"
        assert (np.diff(group.rows) > 0).all()


@pytest.mark.parametrize("kinds", [1, 3, 300, 70_000], ids=str)
def test_groups_come_in_order_of_appearance(kinds: int, rng: np.random.Generator) -> None:
    definition = Schema({"p": "INT", "id": "BIGINT"}, partition_keys=("p",))
    schema = new_table_schema(definition, time_millis=0)
    values = rng.integers(0, kinds, 2000)
    known = pa.array(values, pa.int32(), mask=values == 0)
    rows = pa.table({"p": known, "id": range(2000)})
    expected: dict[int | None, list[int]] = {}
    for row, value in enumerate(known.to_pylist()):
        expected.setdefault(value, []).append(row)

    found = list(groups(rows, schema, -1))

    positions = [range(2000) if group.rows is None else group.rows.tolist() for group in found]
    assert [*map(list, positions)] == list(expected.values())


@pytest.mark.parametrize(
    ("kind", "least", "span"),
    [
        ("TINYINT", -128, 256),
        ("SMALLINT", 32_700, 68),
        ("INT", -2000, 4096),
        ("INT", 5, 4097),
        ("BIGINT", 2**63 - 300, 300),
        ("DATE", -50, 90),
    ],
)
def test_many_rows_of_integers_and_days_come_in_order_of_appearance(
    kind: str, least: int, span: int, rng: np.random.Generator
) -> None:
    definition = Schema({"p": kind, "id": "BIGINT"}, partition_keys=("p",))
    schema = new_table_schema(definition, time_millis=0)
    offsets = [0, span - 1, *rng.integers(0, span, 5000).tolist()]
    column = pa.array([least + offset for offset in offsets], pa.int64())
    values = column.cast(pa.int32()).cast(pa.date32()) if kind == "DATE" else column
    typed = values.cast(to_arrow(parse_type(kind)))
    expected: dict[object, list[int]] = {}
    for row, value in enumerate(typed.to_pylist()):
        expected.setdefault(value, []).append(row)

    found = list(groups(pa.table({"p": typed, "id": range(len(typed))}), schema, -1))

    positions = [group.rows.tolist() for group in found if group.rows is not None]
    assert positions == list(expected.values())
    partitions = pa.array([group.partition for group in found], pa.binary())
    [decoded] = decode(partitions, [schema.field("p").type])
    assert decoded.to_pylist() == list(expected)


def test_partitions_of_several_columns_come_in_order_of_appearance() -> None:
    rows = table_of(500, 3)
    expected: dict[tuple[object, object], list[int]] = {}
    pairs = zip(rows["dt"].to_pylist(), rows["h"].to_pylist(), strict=True)
    for row, pair in enumerate(pairs):
        expected.setdefault(pair, []).append(row)
    types = [field.type for field in schema_of(-1).fields[:2]]

    found = list(groups(rows, schema_of(-1), -1))

    decoded = decode(pa.array([group.partition for group in found], pa.large_binary()), types)
    assert [*zip(*(column.to_pylist() for column in decoded), strict=True)] == list(expected)
    assert [group.rows.tolist() for group in found if group.rows is not None] == list(
        expected.values()
    )


def test_a_table_without_partitions_and_buckets_is_one_group() -> None:
    (group,) = groups(table_of(3, 1), schema_of(-1, partitioned=False), -1)

    assert (group.partition, group.bucket, group.rows) == (EMPTY_ROW, 0, None)


def test_no_rows_make_no_group() -> None:
    assert list(groups(table_of(0, 1), schema_of(2), 2)) == []
    assert list(groups(table_of(0, 1), schema_of(-1, partitioned=False), -1)) == []


@pytest.mark.parametrize("count", [2, 8, 9, 300, 5000, 1 << 17])
def test_positions_are_those_of_each_code_that_occurs(count: int, rng: np.random.Generator) -> None:
    codes = rng.choice(rng.integers(0, count, max(count // 2, 1)), 2000)

    found = dict(positions_of(codes, count))

    assert [*found] == np.unique(codes).tolist()
    for code, positions in found.items():
        every = np.arange(len(codes)) if positions is None else positions
        assert every.tolist() == [i for i, given in enumerate(codes.tolist()) if given == code]


@pytest.mark.parametrize("count", [1, 2, 300, 1 << 17])
def test_positions_of_the_only_code_are_all(count: int) -> None:
    assert [*positions_of(np.full(5, count - 1), count)] == [(count - 1, None)]


@pytest.mark.parametrize("buckets", [-1, 4])
@pytest.mark.parametrize("keys", [("dt",), ("dt", "h"), ("h", "x"), ("x",)])
def test_rows_of_groups_are_those_at_their_places(buckets: int, keys: tuple[str, ...]) -> None:
    rows = table_of(300, 8).append_column("x", pa.array([0.0, -0.0, None] * 100))
    columns = {"dt": "STRING", "h": "INT", "id": "BIGINT", "x": "DOUBLE"}
    bucket_key = {"bucket-key": "id"} if buckets > 0 else {}
    schema = new_table_schema(
        Schema(columns, partition_keys=keys, options={"bucket": str(buckets), **bucket_key}),
        time_millis=0,
    )
    found = list(groups(rows, schema, buckets))[:7]

    picked = picked_rows(rows, found, keys)

    places = [group.rows for group in found if group.rows is not None]
    expected = rows.take(pa.array(np.concatenate(places)))
    assert picked.rows.equals(expected)
    assert str(picked.rows) == str(expected), "signs of zeros too"
    assert picked.lengths == [*map(len, places)]
