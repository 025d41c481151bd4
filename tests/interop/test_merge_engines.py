"""Merge engines in the hands of both: either writes, both read the same after every commit.

A twin gets the same rows from Java alone, so that what writers merge is compared, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from datasketches import hll_sketch, tgt_hll_type, update_theta_sketch
from pyroaring import BitMap

from paimonlab.errors import DataError
from paimonlab.merge.bitmap64 import decode, encode
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.text import parse_type
from tests.interop.java_build import is_since_1_4
from tests.interop.oracle import JavaError
from tests.interop.pair import (
    KIND,
    SIDES,
    Pair,
    Side,
    difference,
    skip_where_values_stay,
    with_kinds,
)
from tests.java_values import unordered
from tests.repetitions import times

pytestmark = pytest.mark.interop

TABLE, TWIN = "db.t", "db.twin"
COMMITS = times(4)
ROWS = 12
Make = Callable[[np.random.Generator], Any]


def bitmap(rng: np.random.Generator) -> bytes:
    made = BitMap(rng.integers(0, 1 << int(rng.integers(4, 32)), 9).tolist())
    return bytes(made.serialize())


def bitmap_64(rng: np.random.Generator) -> bytes:
    numbers = rng.integers(0, 1 << int(rng.choice([5, 20, 63])), int(rng.choice([3, 100])))
    keys = {
        key.to_bytes(6, "big"): numbers[numbers >> 16 == key]
        for key in set((numbers >> 16).tolist())
    }
    return encode({key: np.unique(low).astype(np.uint16) for key, low in keys.items()})


def hll(rng: np.random.Generator) -> bytes:
    made = hll_sketch(12, tgt_hll_type.HLL_4)
    for number in rng.integers(0, 10**6, int(rng.choice([1, 20, 900]))).tolist():
        made.update(number)
    return bytes(made.serialize_compact())


def theta(rng: np.random.Generator) -> bytes:
    made = update_theta_sketch(12)
    for number in rng.integers(0, 10**6, int(rng.choice([1, 20, 9000]))).tolist():
        made.update(number)
    return bytes(made.compact().serialize())


def word(rng: np.random.Generator) -> str:
    """Return a text that is not empty."""
    return str(rng.choice(["a", "b", "é", "zz"]))


def text(rng: np.random.Generator) -> str:
    return str(rng.choice(["", "a", "b", "é", "zz"]))


def number(low: int, high: int) -> Make:
    return lambda rng: int(rng.integers(low, high, endpoint=True))


def decimal(digits: int, scale: int) -> Make:
    return lambda rng: Decimal(int(rng.integers(-(10**digits) + 1, 10**digits))).scaleb(-scale)


def array(rng: np.random.Generator) -> list[int]:
    return [int(value) for value in rng.integers(0, 4, int(rng.integers(0, 4)))]


def mapping(rng: np.random.Generator) -> list[tuple[str, int]]:
    return [(key, int(rng.integers(0, 9))) for key in "abc" if rng.random() < 0.5]


def nested(rng: np.random.Generator) -> list[dict[str, int]]:
    count = int(rng.integers(0, 3))
    return [{"id": int(rng.integers(0, 3)), "q": int(rng.integers(0, 9))} for _ in range(count)]


FUNCTIONS: list[tuple[str, str, Make, Mapping[str, str], str]] = [
    ("sum", "TINYINT", number(-128, 127), {}, "retracts"),
    ("sum", "BIGINT", number(-(2**63), 2**63 - 1), {}, "retracts"),
    ("sum", "DOUBLE", lambda rng: float(rng.normal()), {}, "retracts"),
    ("sum", "FLOAT", lambda rng: float(np.float32(rng.normal())), {}, "retracts"),
    ("sum", "DECIMAL(18, 4)", decimal(17, 4), {}, "retracts"),
    ("sum", "DECIMAL(22, 3)", decimal(18, 3), {}, "retracts"),
    ("product", "INT", number(1, 5), {}, "retracts"),
    ("product", "DOUBLE", lambda rng: float(rng.normal()), {}, "retracts"),
    ("product", "DECIMAL(10, 2)", decimal(4, 2), {}, ""),
    ("max", "DOUBLE", lambda rng: float(rng.choice([0.0, -0.0, np.nan, 1.5, -np.inf])), {}, ""),
    ("min", "DOUBLE", lambda rng: float(rng.choice([0.0, -0.0, np.nan, 1.5, -np.inf])), {}, ""),
    ("max", "STRING", text, {}, "ignores"),
    ("min", "DECIMAL(22, 3)", decimal(18, 3), {}, "ignores"),
    ("max", "TIMESTAMP(3)", lambda rng: int(rng.integers(0, 10**12)), {}, ""),
    ("last_value", "STRING", text, {}, "retracts"),
    ("last_non_null_value", "STRING", text, {}, "retracts"),
    ("first_value", "STRING", text, {}, "ignores"),
    ("first_non_null_value", "STRING", text, {}, "ignores"),
    ("listagg", "STRING", text, {"list-agg-delimiter": ";"}, "ignores"),
    ("bool_and", "BOOLEAN", lambda rng: bool(rng.random() < 0.7), {}, "ignores"),
    ("bool_or", "BOOLEAN", lambda rng: bool(rng.random() < 0.3), {}, ""),
    ("collect", "ARRAY<INT>", array, {}, "retracts"),
    ("collect", "ARRAY<INT>", array, {"distinct": "true"}, "retracts"),
    ("merge_map", "MAP<STRING, INT>", mapping, {}, "retracts"),
    ("nested_update", "ARRAY<ROW<id INT, q INT>>", nested, {"nested-key": "id"}, "retracts"),
    ("nested_update", "ARRAY<ROW<id INT, q INT>>", nested, {}, "retracts"),
    ("rbm32", "BYTES", bitmap, {}, ""),
    ("rbm64", "BYTES", bitmap_64, {}, ""),
    ("hll_sketch", "BYTES", hll, {}, ""),
    ("theta_sketch", "BYTES", theta, {}, ""),
]


def name_of(case: Sequence[Any]) -> str:
    return f"{case[0]}-{case[1]}-{','.join(case[3])}"


@pytest.mark.parametrize("removes", [False, True], ids=["", "removes"])
@pytest.mark.parametrize("case", FUNCTIONS, ids=name_of)
def test_an_aggregate_function_agrees_with_java(
    pair: Pair, rng: np.random.Generator, case: Any, removes: bool
) -> None:
    function, kind, make, more, deletes = case
    if function == "listagg" and not is_since_1_4(pair.java.release):
        make = word
    options = {"merge-engine": "aggregation", "fields.v.aggregate-function": function}
    options |= {f"fields.v.{key}": value for key, value in more.items()}
    kinds = ["+I", "+U"]
    if removes:
        options["aggregation.remove-record-on-delete"] = "true"
        skip_where_values_stay(pair, options)
        kinds += ["-D"]
    elif deletes == "ignores":
        options["fields.v.ignore-retract"] = "true"
        kinds += ["-D", "-U"]
    elif deletes == "retracts":
        kinds += ["-D", "-U"]
    walk(pair, rng, {"k": "INT NOT NULL", "v": kind}, {"v": make}, kinds, options)


PARTIAL: list[tuple[str, Mapping[str, str], Sequence[str]]] = [
    ("plain", {}, ["+I", "+U"]),
    ("ignores", {"ignore-delete": "true"}, ["+I", "-U", "-D"]),
    ("removes", {"partial-update.remove-record-on-delete": "true"}, ["+I", "+U", "-U", "-D"]),
    ("group", {"fields.g.sequence-group": "x,y"}, ["+I", "-U", "-D"]),
    ("two", {"fields.g.sequence-group": "x", "fields.h.sequence-group": "y"}, ["+I", "-D"]),
    ("pair", {"fields.g,h.sequence-group": "x,y"}, ["+I", "+U", "-U", "-D"]),
    (
        "removing group",
        {
            "fields.g.sequence-group": "x",
            "fields.h.sequence-group": "y",
            "partial-update.remove-record-on-sequence-group": "h",
        },
        ["+I", "+I", "-D", "-U"],
    ),
    ("ordered", {"sequence.field": "g"}, ["+I"]),
    *(
        (
            f"{function} in a group",
            {"fields.g.sequence-group": "x,y", "fields.y.aggregate-function": function},
            ["+I", "-D"] if function.startswith("last") else ["+I"],
        )
        for function in (
            *("last_value", "last_non_null_value", "first_value", "first_non_null_value"),
            *("listagg", "max", "min"),
        )
    ),
    (
        "sum in a group",
        {"fields.g,h.sequence-group": "x,y", "fields.x.aggregate-function": "sum"},
        ["+I", "-D", "-U"],
    ),
]


@pytest.mark.parametrize(("title", "options", "kinds"), PARTIAL, ids=[case[0] for case in PARTIAL])
def test_partial_update_agrees_with_java(
    pair: Pair,
    rng: np.random.Generator,
    title: str,
    options: Mapping[str, str],
    kinds: Sequence[str],
) -> None:
    columns = {
        "k": "INT NOT NULL",
        "a": "INT",
        "n": "INT NOT NULL",
        "g": "INT",
        "h": "INT",
        "x": "INT",
        "y": "STRING",
    }
    makes = {
        "a": number(0, 9),
        "n": number(0, 9),
        "g": number(0, 4),
        "h": number(0, 4),
        "x": number(-5, 5),
        "y": text,
    }
    if {"-U", "-D"} & set(kinds):
        skip_where_values_stay(pair, options)
    if title.startswith("listagg") and not is_since_1_4(pair.java.release):
        makes["y"] = word
    walk(pair, rng, columns, makes, kinds, {"merge-engine": "partial-update", **options})


@pytest.mark.parametrize("ignores", [False, True])
def test_the_first_row_agrees_with_java(
    pair: Pair, rng: np.random.Generator, ignores: bool
) -> None:
    options = {"merge-engine": "first-row", "ignore-delete": str(ignores).lower()}
    kinds = ["+I", "+U", "-D"] if ignores else ["+I"]
    columns = {"k": "INT NOT NULL", "v": "STRING"}
    walk(pair, rng, columns, {"v": text}, kinds, options, compacts=True)


def walk(
    pair: Pair,
    rng: np.random.Generator,
    columns: Mapping[str, str],
    makes: Mapping[str, Make],
    kinds: Sequence[str],
    options: Mapping[str, str],
    *,
    compacts: bool = False,
) -> None:
    """Write commits, each by one of the two, and compare after each."""
    options = {"bucket": "1", "write-only": "true", **options}
    pair.create(SIDES[int(rng.integers(2))], TABLE, columns, pk=["k"], options=options)
    pair.create("java", TWIN, columns, pk=["k"], options=options)
    schema = pair.open(TABLE).schema
    for _ in range(COMMITS):
        data: dict[str, Any] = {"k": pa.array(rng.integers(0, 6, ROWS), pa.int32())}
        for name, make in makes.items():
            type_ = parse_type(columns[name])
            missing = rng.random(ROWS) < (0.3 if type_.nullable else 0)
            values = [None if is_null else make(rng) for is_null in missing]
            data[name] = pa.array(values, to_arrow(type_))
        data[KIND] = rng.choice(list(kinds), ROWS).tolist()
        rows = pa.table({name: data[name] for name in [*columns, KIND]})
        pair.write(SIDES[int(rng.integers(2))], TABLE, rows)
        pair.java("write", table=TWIN, rows=with_kinds(rows, schema.fields))
        if compacts:
            for name in (TABLE, TWIN):
                pair.java("compact", table=name)
        is_64 = options.get("fields.v.aggregate-function") == "rbm64"
        ours, javas = (shown(read(TABLE), is_64) for read in (pair.our_rows, pair.java_rows))
        twins = shown(pair.java_rows(TWIN), is_64)
        assert ours == javas, difference(ours, javas)
        assert ours == twins, difference(ours, twins)
        assert pair.open(TABLE).scan().count() == len(ours)


def shown(rows: Sequence[Sequence[Any]], is_64: bool) -> list[str]:
    """Forget the order of rows, and that of elements, which Java leaves to a hash table."""
    return unordered([_unhashed(value, is_64) for value in row] for row in rows)


def _unhashed(value: Any, is_64: bool) -> Any:
    if is_64 and isinstance(value, str):
        containers = decode(bytes.fromhex(value))
        return sorted((key.hex(), low.tolist()) for key, low in containers.items())
    if isinstance(value, list):
        return sorted(value, key=str)
    # The fifth byte says how many exceptions to its small counters a sketch has room for.
    is_united_hll = isinstance(value, str) and re.match(r"0a01070c..180002", value) is not None
    return f"{value[:16]}{value[32:]}" if is_united_hll else value


IGNORED = {"fields.v.aggregate-function": "max", "fields.v.ignore-retract": "true"}
SUMMED = {"fields.v.aggregate-function": "sum"}
GROUPED = {"merge-engine": "partial-update", "fields.g.sequence-group": "v"}
RETRACTED: list[tuple[Mapping[str, str], str, Sequence[str]]] = [
    (IGNORED, "INT NOT NULL", ["-D -D"]),
    (IGNORED, "INT NOT NULL", ["-D", "+I"]),
    (IGNORED, "INT NOT NULL", ["+I -D -D"]),
    (IGNORED, "INT", ["-D -D"]),
    ({}, "INT NOT NULL", ["+I -D"]),
    ({}, "INT NOT NULL", ["+I -U +U"]),
    (SUMMED, "INT NOT NULL", ["-D -D", "+I"]),
    ({**SUMMED, "aggregation.remove-record-on-delete": "true"}, "INT NOT NULL", ["-D -D", "+I"]),
    (GROUPED, "INT NOT NULL", ["+I -D"]),
    (GROUPED, "INT NOT NULL", ["-D -D"]),
    ({**GROUPED, **IGNORED}, "INT NOT NULL", ["-D -D"]),
    ({**GROUPED, **IGNORED}, "INT NOT NULL", ["-D -D", "+I"]),
    ({**GROUPED, **IGNORED}, "INT NOT NULL", ["+I", "-D -D"]),
    ({**GROUPED, **SUMMED}, "INT NOT NULL", ["-D -D", "+I"]),
]


@pytest.mark.every_release
@pytest.mark.parametrize(("options", "type_", "commits"), RETRACTED, ids=str)
def test_what_retracts_a_value_that_must_be_there(
    pair: Pair, options: Mapping[str, str], type_: str, commits: Sequence[str]
) -> None:
    """Both refuse the rows, or both read the same."""
    is_grouped = "fields.g.sequence-group" in options
    columns = {"k": "INT NOT NULL", "g": "INT NOT NULL" if is_grouped else "INT", "v": type_}
    options = {"bucket": "1", "write-only": "true", "merge-engine": "aggregation", **options}
    pair.create("us", TABLE, columns, pk=["k"], options=options)
    pair.create("java", TWIN, columns, pk=["k"], options=options)
    number = 0
    for kinds in commits:
        numbers = [number + place for place in range(len(kinds.split()))]
        number = numbers[-1] + 1
        data = {"k": [1] * len(numbers), "g": numbers, "v": [10 + each for each in numbers]}
        table = pa.table({name: pa.array(values, pa.int32()) for name, values in data.items()})
        table = table.append_column(KIND, pa.array(kinds.split()))
        try:
            pair.write("java", TWIN, table)
        except JavaError:
            if is_grouped and "+" not in kinds:  # to us the key is gone, whatever its values are
                pair.write("us", TABLE, table)
                assert pair.our_rows(TABLE) == []
                return
            with pytest.raises(DataError, match=r"column 'v' is NOT NULL, and .*'fields\..*'"):
                pair.write("us", TABLE, table)
            return
        pair.write("us", TABLE, table)

    assert pair.our_rows(TABLE) == pair.java_rows(TWIN)
    pair.assert_same(TABLE)


@pytest.mark.every_release
@pytest.mark.parametrize("side", SIDES)
def test_sums_of_a_group_after_an_overwrite_with_deletion_vectors(
    pair: Pair, rng: np.random.Generator, side: Side
) -> None:
    """Both read the same files alike; rows with a sequence are those of a dict.

    Without one (odd keys) the sum of a key's only row is forgotten when the row is merged.
    """
    columns = {"k": "INT NOT NULL", "g": "INT", "v": "INT"}
    options = {
        "bucket": "1",
        "deletion-vectors.enabled": "true",
        "num-sorted-run.compaction-trigger": "2",
        **GROUPED,
        **SUMMED,
    }
    pair.create(side, TABLE, columns, pk=["k"], options=options)
    model: dict[int, tuple[int, int]] = {}
    for turn in range(6):
        keys = rng.choice(8, 5, replace=False).tolist()
        orders = [None if key % 2 else int(rng.integers(4)) for key in keys]
        values = rng.integers(1, 9, 5).tolist()
        data = {"k": keys, "g": orders, "v": values}
        table = pa.table({name: pa.array(column, pa.int32()) for name, column in data.items()})
        if turn % 3:
            pair.write(SIDES[int(rng.integers(2))], TABLE, table)
        elif side == "us":
            pair.open(TABLE).overwrite(table)
        else:
            pair.java.write(TABLE, list(zip(*data.values(), strict=True)), overwrite={})
        model = model if turn % 3 else {}
        for key, order, value in zip(keys, orders, values, strict=True):
            if order is not None:
                newest, total = model.get(key, (order, 0))
                model[key] = max(newest, order), total + value

        pair.assert_same(TABLE)
        found = {key: (g, v) for key, g, v in pair.our_rows(TABLE) if key % 2 == 0}
        assert found == model, turn
