"""Schema changes by either: old files read through new schemas agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import paimonlab as pl
from paimonlab.errors import PaimonError
from paimonlab.spec.schema.schema_changes import apply_changes
from paimonlab.spec.types.json import type_to_json
from paimonlab.spec.types.text import format_type, parse_type
from tests.interop.oracle import JavaError
from tests.interop.pair import KIND, SIDES, Pair, Side, random_rows
from tests.java_values import normal_rows, unordered

pytestmark = pytest.mark.interop

COLUMNS = {"k": "INT NOT NULL", "a": "INT", "b": "STRING", "c": "DOUBLE", "d": "DECIMAL(9, 2)"}
CHANGES: list[tuple[Any, list[Any]]] = [
    (pl.RenameColumn("b", "bb"), ["rename", "b", "bb"]),
    (pl.UpdateColumnType("a", "BIGINT"), ["type", "a", "BIGINT"]),
    (pl.DropColumn("c"), ["drop", "c"]),
    (pl.AddColumn("c", "STRING"), ["add", "c", "STRING"]),  # another column of the old name
    (pl.AddColumn("e", "DATE", after="a"), ["add", "e", "DATE", ["after", "a"]]),
    (pl.UpdateColumnType("d", "DECIMAL(20, 4)"), ["type", "d", "DECIMAL(20, 4)"]),
    (pl.RenameColumn("a", "b"), ["rename", "a", "b"]),  # takes the name of a renamed one
    (pl.UpdateColumnType("b", "STRING"), ["type", "b", "STRING"]),
    (pl.AddColumn("f", "INT", first=True), ["add", "f", "INT", ["first"]]),
]
SHAPES: Mapping[str, tuple[list[str], dict[str, str]]] = {
    "append": ([], {}),
    "bucketed": ([], {"bucket": "2", "bucket-key": "k"}),
    "keyed": (["k"], {"bucket": "2", "write-only": "true"}),
}


@pytest.mark.parametrize("first", SIDES)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_table_changed_and_written_by_both_in_turn(
    pair: Pair, shape: tuple[list[str], dict[str, str]], first: Side, rng: np.random.Generator
) -> None:
    pk, options = shape
    pair.create(first, "db.t", COLUMNS, pk=pk, options=options)
    second: Side = "java" if first == "us" else "us"
    states = dict([write_some(pair, first, rng)])

    for turn, (ours, javas) in enumerate(CHANGES):
        changer, writer = (first, second) if turn % 2 else (second, first)
        pair.alter(changer, "db.t", ours, javas)
        pair.assert_same("db.t")
        snapshot, rows = write_some(pair, writer, rng)
        states[snapshot] = rows

    schemas = [schema.to_json() for schema in pair.open("db.t").schemas.list()]
    assert len(schemas) == len(CHANGES) + 1
    for snapshot, rows in states.items():
        assert unordered(pair.our_rows("db.t", snapshot=snapshot)) == rows
    pair.java("compact", table="db.t")
    pair.assert_same("db.t")


def write_some(pair: Pair, side: Side, rng: np.random.Generator) -> tuple[int, list[str]]:
    """Write ten rows, and return the snapshot with all that are there."""
    schema = pair.open("db.t").schema
    columns = {field.name: field.type for field in schema.fields}
    rows = random_rows({name: format_type(type_) for name, type_ in columns.items()}, 10, rng)
    keys = pa.array(rng.integers(0, 12, 10), pa.int32())
    place = schema.field_names.index("k")
    rows = rows.set_column(place, rows.field(place), keys)
    if schema.primary_keys:
        kinds = pa.array(rng.choice(["+I", "-D"], 10, p=[0.8, 0.2]))
        rows = rows.append_column(KIND, kinds)
    pair.write(side, "db.t", rows)
    pair.assert_same("db.t")
    snapshot = pair.open("db.t").snapshot
    assert snapshot is not None
    return snapshot.id, unordered(pair.our_rows("db.t"))


TYPES = [
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL(9, 2)",
    "DECIMAL(20, 4)",
    "CHAR(5)",
    "STRING",
    "BINARY(4)",
    "BYTES",
    "DATE",
    "TIME(3)",
    "TIMESTAMP(3)",
    "TIMESTAMP(6)",
    "TIMESTAMP(6) WITH LOCAL TIME ZONE",
]


@pytest.mark.parametrize("source", TYPES)
def test_changes_of_type_are_allowed_by_both_and_read_alike(
    pair: Pair, source: str, rng: np.random.Generator
) -> None:
    targets = {f"c{number}": text for number, text in enumerate(TYPES) if text != source}
    pair.create("us", "db.t", dict.fromkeys(targets, source))
    pair.write("us", "db.t", tame(random_rows(dict.fromkeys(targets, source), 20, rng)))
    before = pair.open("db.t").schema

    allowed = [name for name, target in targets.items() if java_changes(pair, name, target)]

    assert [targets[name] for name in targets if we_change(before, name, targets[name])] == [
        targets[name] for name in allowed
    ]
    for name in allowed:
        assert column(pair, "us", name) == column(pair, "java", name), targets[name]


def tame(rows: pa.Table) -> pa.Table:
    """Keep to seconds that are dates, and to bytes that are text: else only printing differs."""

    def tamed(array: pa.ChunkedArray) -> pa.ChunkedArray:
        if array.type == pa.int64():
            return pc.if_else(pc.less(pc.abs(pc.shift_right(array, 1)), 10**11), array, 10**10)
        if array.type == pa.binary():
            return pc.binary_slice(
                pc.cast(pc.cast(pc.binary_length(array), pa.string()), pa.binary()), 0, 4
            )
        return array

    columns = [tamed(column) for column in rows.columns]
    return pa.table(columns, names=rows.column_names)


def java_changes(pair: Pair, name: str, target: str) -> bool:
    change = ["type", name, type_to_json(parse_type(target))]
    try:
        pair.java("alter_table", table="db.t", changes=[change])
    except JavaError:
        return False
    return True


def we_change(schema: pl.TableSchema, name: str, target: str) -> bool:
    changes = [pl.UpdateColumnType(name, target)]
    try:
        apply_changes(schema, changes, has_snapshots=True, time_millis=0)
    except PaimonError:
        return False
    return True


def column(pair: Pair, side: Side, name: str) -> list[str]:
    """Read one column: its values, or that it cannot be read."""
    try:
        if side == "us":
            return [str(row) for row in pair.our_rows("db.t", columns=[name])]
        rows = pair.java.rows("db.t", projection=[name])
    except (PaimonError, JavaError):
        return ["cannot be read"]
    return [str(row) for row in normal_rows(rows, [pair.open("db.t").schema.field(name)])]


NESTED: list[tuple[Any, list[Any]]] = [
    (pl.AddColumn("r.z", "BIGINT"), ["add", ["r", "z"], "BIGINT"]),
    (pl.RenameColumn("r.x", "w"), ["rename", ["r", "x"], "w"]),
    (pl.DropColumn("r.y"), ["drop", ["r", "y"]]),
    (pl.UpdateColumnType("r.w", "BIGINT"), ["type", ["r", "w"], "BIGINT"]),
    (pl.AddColumn("l.element.n", "STRING"), ["add", ["l", "element", "n"], "STRING"]),
    (pl.AddColumn("m.value.n", "STRING"), ["add", ["m", "value", "n"], "STRING"]),
]


@pytest.mark.parametrize("first", SIDES)
def test_nested_fields_changed_by_both_in_turn(
    pair: Pair, first: Side, rng: np.random.Generator
) -> None:
    columns = {
        "k": "INT NOT NULL",
        "r": "ROW<x INT, y STRING>",
        "l": "ARRAY<ROW<x INT>>",
        "m": "MAP<STRING, ROW<x INT>>",
    }
    pair.create(first, "db.t", columns)
    second: Side = "java" if first == "us" else "us"
    write_some(pair, first, rng)

    for turn, (ours, javas) in enumerate(NESTED):
        changer, writer = (first, second) if turn % 2 else (second, first)
        pair.alter(changer, "db.t", ours, javas)
        pair.assert_same("db.t")
        write_some(pair, writer, rng)


@pytest.mark.parametrize("side", SIDES)
def test_missing_columns_take_their_defaults(pair: Pair, side: Side) -> None:
    pair.create(side, "db.t", {"a": "INT", "b": "STRING"})
    pair.alter(side, "db.t", pl.UpdateColumnDefault("b", "none"), ["default", "b", "none"])

    pair.open("db.t").write(pa.table({"a": pa.array([1], pa.int32())}))
    pair.java.write("db.t", [[2, None]])

    pair.assert_same("db.t")
    assert sorted(row[0] for row in pair.our_rows("db.t")) == [1, 2]
