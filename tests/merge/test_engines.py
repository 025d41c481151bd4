"""Every merge engine against a model that merges row by row.

Rows are drawn from numbers that repeat with the seed. A failure is about as few of them as fail.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Context, Decimal
from random import Random
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pytest

from paimonlab.errors import DataError
from paimonlab.merge.engines import merge
from paimonlab.merge.groups import Members
from paimonlab.spec.merge_engine import MergeEngine
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import format_type, parse_type
from tests.merge.row_model import RETRACTS, Function, RefusedError, Row, merged
from tests.repetitions import times

Rows: TypeAlias = list[tuple[int, Row]]
Draw: TypeAlias = Callable[[Random], Any]
LISTS = times(60)
"""Lists of rows for each case, more than there are combinations of options and kinds of rows."""
WIDE = Context(prec=60)
FLOATS = (0.0, -0.0, 0.1, 0.2, 0.3, 1.0, -1.5, 1e308, -1e308, 5e-324, *map(float, ("inf", "nan")))


def whole(limit: int) -> Draw:
    """Draw whole numbers from -limit to limit - 1, often small ones or the outermost."""

    def draw(random: Random) -> int:
        match random.randrange(4):
            case 0:
                return random.randrange(-limit, limit)
            case 1:
                return random.choice((-limit, limit - 1, 1 - limit))
        return random.randint(-3, 3)

    return draw


def decimal(precision: int, scale: int) -> Draw:
    digits = whole(10**precision)
    return lambda random: Decimal(max(digits(random), 1 - 10**precision)).scaleb(-scale, WIDE)


def _float(random: Random) -> float:
    if random.randrange(3):
        return random.choice(FLOATS)
    drawn: float = struct.unpack("<d", random.randbytes(8))[0]
    return drawn


def some(value: Draw, most: int) -> Draw:
    """Draw lists."""
    return lambda random: [value(random) for _ in range(random.randint(0, most))]


def maybe(value: Draw) -> Draw:
    """Draw nulls, too."""
    return lambda random: value(random) if random.randrange(3) else None


def one_of(*values: Any) -> Draw:
    return lambda random: random.choice(values)


def upto(last: int) -> Draw:
    """Draw whole numbers from 0."""
    return lambda random: random.randint(0, last)


VALUES: Mapping[str, Draw] = {
    "TINYINT": whole(2**7),
    "INT": whole(2**31),
    "BIGINT": whole(2**63),
    "DOUBLE": _float,
    "DECIMAL(4,2)": decimal(4, 2),
    "DECIMAL(18,0)": decimal(18, 0),
    "DECIMAL(38,2)": decimal(38, 2),
    "STRING": one_of("", "a", "b", "é", "zz" * 40),
    "BOOLEAN": one_of(False, True),
    "DATE": lambda random: date.fromordinal(random.randint(1, date.max.toordinal())),
    "ARRAY<INT>": some(maybe(upto(3)), 4),
    "MAP<STRING, INT>": lambda random: {
        key: maybe(upto(9))(random) for key in random.sample("abc", random.randint(0, 3))
    },
    "ARRAY<ROW<id INT, q INT>>": some(
        maybe(lambda random: {"id": maybe(upto(2))(random), "q": upto(9)(random)}), 4
    ),
}
FUNCTIONS = [
    *(
        (name, kind)
        for name in ("sum", "product")
        for kind in ("TINYINT", "INT", "BIGINT", "DOUBLE")
    ),
    *((name, kind) for name in ("sum", "product") for kind in VALUES if kind.startswith("DECIMAL")),
    *(
        (name, kind)
        for name in ("max", "min")
        for kind in ("INT", "BIGINT", "DOUBLE", "DECIMAL(38,2)", "STRING", "DATE")
    ),
    *(
        (name, kind)
        for name in ("last_value", "last_non_null_value", "first_value", "first_non_null_value")
        for kind in ("INT", "STRING", "MAP<STRING, INT>")
    ),
    ("listagg", "STRING"),
    ("bool_and", "BOOLEAN"),
    ("bool_or", "BOOLEAN"),
    ("collect", "ARRAY<INT>"),
    ("merge_map", "MAP<STRING, INT>"),
    ("nested_update", "ARRAY<ROW<id INT, q INT>>"),
]
REMOVES = "aggregation.remove-record-on-delete"
KIND = one_of(0, 0, 0, 2, 1, 3)
IS_SO = one_of(False, True)


def columns(**types: str) -> list[DataField]:
    return [
        DataField(number, name, parse_type(text))
        for number, (name, text) in enumerate(types.items())
    ]


def result(
    rows: Sequence[tuple[int, Row]], fields: Sequence[DataField], options: Mapping[str, str]
) -> list[Any] | None:
    """Merge with the engine; None: refused."""
    engine = MergeEngine.of(fields, ["k"], options)
    table = pa.Table.from_pylist(
        [row for _, row in rows],
        pa.schema([(field.name, to_arrow(field.type)) for field in fields]),
    )
    kinds = np.array([kind for kind, _ in rows], np.int8)
    try:
        found = merge(
            table,
            [field.name for field in fields],
            Members.of(table["k"].to_numpy()),
            kinds=kinds if np.isin(kinds, RETRACTS).any() else None,
            engine=engine,
            required={field.name for field in fields if not field.type.nullable},
        )
    except DataError:
        return None
    made = [found.columns[field.name].to_pylist() for field in fields]
    merged_kinds = [0] * len(made[0]) if found.kinds is None else found.kinds.tolist()
    merged_kinds = [kind in RETRACTS for kind in merged_kinds]
    return [
        (kind, dict(zip([field.name for field in fields], map(shown, row), strict=True)))
        for kind, *row in zip(merged_kinds, *made, strict=True)
    ]


def expected(
    rows: Sequence[tuple[int, Row]], fields: Sequence[DataField], options: Mapping[str, str]
) -> list[Any] | None:
    """Merge with the model; None: refused."""
    engine = MergeEngine.of(fields, ["k"], options)
    functions = {
        name: Function(
            how.function,
            next(text for field, text in _texts(fields) if field == name),
            ignore_retract=how.ignore_retract,
            delimiter=how.delimiter,
            distinct=how.is_distinct,
            nested_key=how.nested_key,
            limit=how.count_limit,
        )
        for name, how in engine.aggregates.items()
    }
    required = frozenset(field.name for field in fields if not field.type.nullable)
    keys: dict[Any, list[tuple[int, Row]]] = {}
    for kind, row in rows:
        in_order = {field.name: row[field.name] for field in fields}
        keys.setdefault(row["k"], []).append((kind, in_order))
    try:
        found = [merged(keys[key], engine, functions, required) for key in sorted(keys)]
    except RefusedError:
        return None
    return [
        (kind in RETRACTS, {name: shown(value) for name, value in row.items()})
        for kind, row in found
    ]


def _texts(fields: Sequence[DataField]) -> list[tuple[str, str]]:
    return [
        (field.name, format_type(field.type).removesuffix(" NOT NULL").replace(", ", ","))
        for field in fields
    ]


def shown(value: Any) -> Any:
    """Make values comparable: NaN equals itself, maps and floats show their bits."""
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, dict):
        return sorted(value.items(), key=repr)
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return sorted(value, key=repr)
    return value


def drawn_rows(random: Random, most: int, kind: Draw, **columns: Draw) -> Rows:
    """Draw one row at least."""
    return [
        (kind(random), {name: value(random) for name, value in columns.items()})
        for _ in range(random.randint(1, most))
    ]


def check(rows: Rows, fields: Sequence[DataField], options: Mapping[str, str]) -> None:
    """Compare the engine with the model, if need be also without some of the rows."""

    def agrees(rows: Rows) -> bool:
        wanted = expected(rows, fields, options)
        if wanted is None and "product" in options.values() and REMOVES in options:
            return True  # a quotient that is not one before a -D is not even looked for
        return result(rows, fields, options) == wanted

    if agrees(rows):
        return
    for number in reversed(range(len(rows))):
        fewer = rows[:number] + rows[number + 1 :]
        if fewer and not agrees(fewer):
            rows = fewer
    assert result(rows, fields, options) == expected(rows, fields, options), (options, rows)


@pytest.mark.parametrize(("function", "kind"), FUNCTIONS)
def test_an_aggregate_function_agrees_with_the_model(function: str, kind: str, seed: int) -> None:
    random = Random(seed)
    for _ in range(LISTS):
        is_required = IS_SO(random)
        options = {"merge-engine": "aggregation", "fields.v.aggregate-function": function}
        if IS_SO(random):
            options[REMOVES] = "true"
        elif IS_SO(random):
            options["fields.v.ignore-retract"] = "true"
        if function == "collect" and IS_SO(random):
            options["fields.v.distinct"] = "true"
        if function == "listagg":
            options["fields.v.list-agg-delimiter"] = random.choice((";", "", ", "))
        if function == "nested_update":
            if IS_SO(random):
                options["fields.v.nested-key"] = "id"
            if IS_SO(random):
                options["fields.v.count-limit"] = "3"
        fields = columns(k="INT NOT NULL", v=kind + (" NOT NULL" if is_required else ""))
        value = VALUES[kind] if is_required else maybe(VALUES[kind])
        row_kind = KIND if IS_SO(random) else one_of(0)

        check(drawn_rows(random, 12, row_kind, k=upto(2), v=value), fields, options)


GROUPED = [
    ("x", "sum", "INT"),
    ("x", "max", "INT"),
    ("x", "product", "INT"),
    *(("x", name, "STRING") for name in ("last_value", "last_non_null_value", "listagg")),
    *(("x", name, "STRING") for name in ("first_value", "first_non_null_value")),
    ("x", "collect", "ARRAY<INT>"),
    ("x", "merge_map", "MAP<STRING, INT>"),
    ("x", "nested_update", "ARRAY<ROW<id INT, q INT>>"),
    ("x", None, "INT"),
]
GROUP_OPTIONS = ("fields.g.sequence-group", "fields.g,h.sequence-group")


@pytest.mark.parametrize(("column", "function", "kind"), GROUPED)
def test_partial_update_with_sequence_groups_agrees_with_the_model(
    column: str, function: str | None, kind: str, seed: int
) -> None:
    random = Random(seed)
    types = {"k": "INT NOT NULL", "a": "INT", "n": "INT NOT NULL", "g": "INT", "h": "INT"}
    types |= {"p": "STRING", "q": "INT", "x": kind}
    drawn: dict[str, Draw] = {
        "k": upto(1),
        "a": upto(9),
        "n": upto(9),
        "g": upto(3),
        "h": upto(3),
        "p": one_of(*"abc"),
        "q": upto(9),
        "x": VALUES[kind],
    }
    for _ in range(LISTS):
        required = {"k", "n", *(random.sample("ghpx", random.choice((0, 0, 0, 1, 2))))}
        fields = columns(
            **{n: f"{t} NOT NULL" if n in required - {"k", "n"} else t for n, t in types.items()}
        )
        values = {n: value if n in required else maybe(value) for n, value in drawn.items()}
        options = {"merge-engine": "partial-update"}
        options[random.choice(GROUP_OPTIONS)] = f"{column},p"
        is_pair = "fields.g,h.sequence-group" in options
        if not is_pair and IS_SO(random):
            options["fields.h.sequence-group"] = "q"
        if function is not None:
            options[f"fields.{column}.aggregate-function"] = function
            if IS_SO(random):
                options[f"fields.{column}.ignore-retract"] = "true"
        if function == "collect" and IS_SO(random):
            options[f"fields.{column}.distinct"] = "true"
        if IS_SO(random):
            options["ignore-delete"] = "true"
        elif IS_SO(random):
            options["partial-update.remove-record-on-sequence-group"] = "g"
        row_kind = KIND if IS_SO(random) else one_of(0)

        check(drawn_rows(random, 9, row_kind, **values), fields, options)


@pytest.mark.parametrize(
    "options",
    [
        {"merge-engine": "partial-update"},
        {"merge-engine": "partial-update", "ignore-delete": "true"},
        {"merge-engine": "partial-update", "partial-update.remove-record-on-delete": "true"},
        {
            "merge-engine": "partial-update",
            "fields.default-aggregate-function": "last_non_null_value",
        },
        {"merge-engine": "first-row"},
        {"merge-engine": "first-row", "ignore-delete": "true"},
        {"merge-engine": "deduplicate"},
        {"merge-engine": "deduplicate", "ignore-delete": "true"},
        {"merge-engine": "aggregation"},
        {"merge-engine": "aggregation", "aggregation.remove-record-on-delete": "true"},
        {"merge-engine": "aggregation", "fields.default-aggregate-function": "last_value"},
        {"merge-engine": "aggregation", "sequence.field": "a"},
        {
            "merge-engine": "aggregation",
            "aggregation.remove-record-on-delete": "true",
            "sequence.field": "a,b",
        },
        {
            "merge-engine": "partial-update",
            "partial-update.remove-record-on-delete": "true",
            "sequence.field": "a,b",
        },
    ],
    ids=str,
)
def test_engines_without_groups_agree_with_the_model(options: dict[str, str], seed: int) -> None:
    random = Random(seed)
    fields = columns(k="INT NOT NULL", n="INT NOT NULL", a="INT", b="STRING")
    values: dict[str, Draw] = {"k": upto(2), "n": upto(9), "a": maybe(upto(9))}
    values["b"] = maybe(one_of("", "x", "y"))
    for _ in range(LISTS):
        check(drawn_rows(random, 15, KIND, **values), fields, options)
