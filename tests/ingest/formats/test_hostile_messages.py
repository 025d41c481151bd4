"""Messages that are broken, odd or both, drawn at random: each is its row, or a dead letter.

The models are Python's csv and json, fastavro, and dicts of what a table has.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import fastavro
import pytest

from paimonlab.ingest.changes import Event, RowChanges, Unreadable
from paimonlab.ingest.formats import FormatSettings, decoder_of
from paimonlab.ingest.formats.messages import messages_of
from paimonlab.ingest.formats.registry import Registry
from paimonlab.spec.row_kind import RowKind
from tests.ingest.formats.schema_registry import schema_registry
from tests.repetitions import times

Row: TypeAlias = dict[str, Any]
Taken: TypeAlias = dict[int, list[tuple[int, Row]]]
_DEEP = b"[" * 50_000
_MARK = b"\xef\xbb\xbf"


def _events(form: str, values: Sequence[bytes | None], **settings: Any) -> list[Event]:
    keys = settings.pop("keys", None)
    return [*decoder_of(form, FormatSettings(**settings))(messages_of(values, keys=keys))]


def _taken(events: Iterable[Event]) -> tuple[Taken, dict[int, str]]:
    """Return the rows of each message, and what is wrong with the others."""
    rows: Taken = {}
    errors: dict[int, str] = {}
    for event in events:
        assert isinstance(event, RowChanges | Unreadable), event
        assert event.positions is not None
        places = [position["offset"] for position in event.positions.to_pylist()]
        if isinstance(event, Unreadable):
            errors |= dict(zip(places, event.errors.to_pylist(), strict=True))
            continue
        kinds = [0] * len(places) if event.kinds is None else event.kinds.to_pylist()
        for place, kind, row in zip(places, kinds, event.rows.to_pylist(), strict=True):
            rows.setdefault(place, []).append((kind, row))
    assert not rows.keys() & errors.keys()
    return rows, errors


def _values(taken: Taken, place: int) -> Row | None:
    """Return the only row of a message without its nulls; None: it has none."""
    found = taken.get(place)
    if found is None:
        return None
    ((kind, row),) = found
    assert kind == RowKind.INSERT
    return {name: value for name, value in row.items() if value is not None}


_CELLS = (
    *("", "1", "é", "\U0001f600", '"q"', '""', '"a,b"', '"a""b"', '"a\nb"', " x ", "null", "\\N"),
    *('"', 'a"b', '"a"b', "'", "\0", '"open', "a\rb", '"\r\n"', '"x\n""'),
)
_ODD_LINES = (b"\xff,1,2", b"", b"\n", b",,", b"1,2", b"1,2,3,4", b"1,2,3\n4,5,6", b"1,2,3\r\n")


def test_csv_is_what_python_reads(seed: int) -> None:
    draw = random.Random(seed)
    columns = dict.fromkeys("abc", "STRING")
    for _ in range(times(60)):
        lines: list[bytes | None] = []
        for _ in range(draw.randint(1, 9)):
            cells = ",".join(draw.choices(_CELLS, k=3)).encode()
            odd = draw.choice((None, *_ODD_LINES, _MARK + cells))
            lines.append(odd if draw.random() < 0.3 else cells)
        taken, errors = _taken(_events("csv", lines, columns=columns))
        for place, line in enumerate(lines):
            wanted = None if line is None else _row_of_csv(line)
            assert _values(taken, place) == wanted, (line, lines, errors)
            assert (place in errors) == (line is not None and wanted is None), line


def _row_of_csv(line: bytes) -> Row | None:
    try:
        text = line.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        return None
    try:
        rows = _csv(text, strict=True)
    except csv.Error:
        return None
    is_open = len(_csv(f"{text}\nx")) == len(rows)
    if is_open or len(rows) != 1 or len(rows[0]) != 3:
        return None
    # Python takes an empty text in quotes for none at all.
    quoted = _csv(text.replace('""', '"\1"'))[0]
    cells = [
        cell if cell or mark == "\1" else None for cell, mark in zip(rows[0], quoted, strict=False)
    ]
    return {name: cell for name, cell in zip("abc", cells, strict=True) if cell is not None}


def _csv(text: str, *, strict: bool = False) -> list[list[str]]:
    return [*csv.reader(io.StringIO(text, newline=""), strict=strict)]


_JSON = (
    *(b"null", b"1", b"1.50", b"-0", b"1e400", b"9" * 60, b"true", b'""', b'"a"', b'"\\u0000"'),
    *(b'"\\ud83d\\ude00"', b'"\xc3\xa9"', b"[]", b'{"a":[1,2.50,null]}', b'[ 1 , "x" ]'),
)
_BROKEN = (b'"\xff"', b'"\\ud800"', b'"\\x"', b"01", b"+1", b"nan", b"'a'", b"1,", b"", _DEEP)
_NAMES = (b"id", b"v", b"a b", b"\xc3\xa9", b"\\u0061")
_NO_OBJECTS = (
    *(b"", b" ", b"{", b"[]", b"1", b"null", b"\xff", _DEEP, b"{}{}", b'{"\xff":1}', b"{}"),
    *(b'{"\\ud800":1}', _MARK + b'{"id":1}'),
)


def test_json_is_what_python_reads(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(times(60)):
        values: list[bytes | None] = []
        for _ in range(draw.randint(1, 9)):
            some = draw.sample(_NAMES, draw.randint(1, 4))
            cells = [draw.choice(_BROKEN if draw.random() < 0.05 else _JSON) for _ in some]
            inner = b", ".join(b'"%b": %b' % one for one in zip(some, cells, strict=True))
            odd = draw.choice((None, *_NO_OBJECTS))
            values.append(odd if draw.random() < 0.3 else b"{%b}" % inner)
        keys = draw.choices((None, b"\xff", _DEEP, b'{"\xff":1}', b"7"), k=len(values))
        taken, errors = _taken(_events("json", values, keys=keys))
        for place, value in enumerate(values):
            wanted = None if value is None else _row_of_json(value)
            assert _values(taken, place) == wanted, (value, errors.get(place))
            assert (place in errors) == (value is not None and wanted is None), value


def _row_of_json(value: bytes) -> Row | None:
    """Return texts as they are written, and nested values as JSON; None: it is no row."""
    try:
        found = json.loads(value.decode(), parse_int=_Number, parse_float=_Number)
        (json.dumps(found, ensure_ascii=False)).encode()
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not found or b"nan" in value:
        return None
    return {name: _text(item) for name, item in found.items() if item is not None}


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


def _text(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return str(value)
        case list() | dict():
            return _nested(value)
    raise AssertionError(value)


def _nested(value: Any) -> str:
    match value:
        case dict():
            return "{" + ",".join(f'"{name}":{_nested(item)}' for name, item in value.items()) + "}"
        case list():
            return "[" + ",".join(map(_nested, value)) + "]"
        case _Number():
            return value
        case _:
            return json.dumps(value)


_AVRO = {
    "type": "record",
    "name": "Row",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "v", "type": ["null", "string"]},
        {"name": "b", "type": ["null", "bytes"]},
        {"name": "n", "type": {"type": "array", "items": ["null", "int"]}},
        {"name": "m", "type": ["null", {"type": "map", "values": "double"}]},
    ],
}


def test_avro_is_what_fastavro_reads(seed: int) -> None:
    draw = random.Random(seed)
    parsed = fastavro.parse_schema(dict(_AVRO))

    def one() -> bytes:
        row = {
            "id": draw.choice((0, -1, 2**63 - 1, -(2**63), draw.getrandbits(40))),
            "v": draw.choice((None, "", "é", "null", "\0", "__debezium_unavailable_value")),
            "b": draw.choice((None, b"", b"\xff\0", draw.randbytes(9))),
            "n": draw.choices((None, 0, -(2**31), 2**31 - 1), k=draw.randrange(3)),
            "m": draw.choice((None, {}, {"": 0.5}, {"a": 5e-324, "é": float("inf")})),
        }
        written = io.BytesIO()
        fastavro.schemaless_writer(written, parsed, row)
        data = written.getvalue()
        at = draw.randrange(len(data))
        kinds = (data[:-1], data + b"\0", data[:at] + draw.randbytes(1) + data[at + 1 :])
        return draw.choice(kinds) if draw.random() < 0.3 else data

    with schema_registry({3: _AVRO}) as registry:
        for _ in range(times(40)):
            records = [one() for _ in range(draw.randint(1, 9))]
            values = [b"\0\0\0\0\3" + data for data in records]
            known = Registry(url=registry)
            taken, errors = _taken(_events("avro", [*values, b"", b"\1{}"], registry=known))
            assert {len(values), len(values) + 1} <= errors.keys()
            for place, data in enumerate(records):
                wanted = _row_of_avro(parsed, data)
                # NaN is not equal to itself, but written alike.
                assert repr(_values(taken, place)) == repr(wanted), (data, errors.get(place))
                assert (place in errors) == (wanted is None), data


def _row_of_avro(parsed: Any, data: bytes) -> Row | None:
    stream = io.BytesIO(data)
    try:
        found = fastavro.schemaless_reader(stream, parsed, None)
    except Exception:  # noqa: BLE001 - fastavro raises whatever comes up
        return None
    assert isinstance(found, dict)
    is_whole = stream.tell() == len(data)
    fits = all(one is None or -(2**31) <= one < 2**31 for one in found["n"])
    if not is_whole or not fits:
        return None
    found["m"] = None if found["m"] is None else [*found["m"].items()]
    return {name: value for name, value in found.items() if value is not None}


_MEMBERS = (
    (None, None),
    ("é", "é"),
    (7, "7"),
    (True, "true"),
    (10**25, str(10**25)),
    ({"$numberLong": "9223372036854775807"}, "9223372036854775807"),
    ({"$oid": "67ab"}, "67ab"),
    ({"$date": "2020-01-01T00:00:00.001"}, "1577836800001"),
    ({"a": [1, None, {"$numberInt": "2"}]}, '{"a":[1,null,2]}'),
)
_NO_DOCUMENTS = (
    *("", "[]", "{", '{"_id":1,"v":{"$numberLong":"x"}}', '{"v":{"$date":"never"}}'),
    *('{"_id":1,"v":{"$binary":{"base64":"!","subType":"04"}}}', _DEEP.decode()),
)


def test_documents_are_those_of_the_model(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(times(30)):
        model: dict[str, Row] = {}
        here: dict[str, Row] = {}
        values: list[bytes | None] = []
        keys: list[bytes | None] = []
        bad = 0
        for _ in range(draw.randint(1, 30)):
            key = str(draw.randrange(5))
            member, text = draw.choice(_MEMBERS)
            old, document = model.get(key), json.dumps({"_id": key, "v": member})
            event = {"op": "c" if old is None else "u", "before": None, "after": document}
            if old is not None and draw.random() < 0.5:
                event["before"] = json.dumps({"_id": key, "v": old["v"]})
            source: Any = {"db": "d", "collection": "c", "ts_ms": 1}
            odd = draw.random()
            if odd < 0.2:
                event["after"] = draw.choice(_NO_DOCUMENTS)
            elif odd < 0.3:
                source["ts_ms"] = draw.choice((10**30, -(2**63), "x", 1.5))
            elif odd < 0.5 and old is not None:
                event = {"op": "d", "before": None, "after": None}
                del model[key]
            else:
                model[key] = {"_id": key, "v": text}
            bad += odd < 0.3
            values.append(json.dumps({**event, "source": source}).encode())
            keys.append(json.dumps({"id": json.dumps(key)}).encode())
        taken, errors = _taken(_events("debezium-bson", values, keys=keys))
        _apply(here, taken, "_id")
        assert {key: row.get("v") for key, row in here.items()} == {
            key: row["v"] for key, row in model.items()
        }
        assert len(errors) == bad


def _apply(here: dict[Any, Row], taken: Taken, key: str) -> None:
    """Do what rows say, in the order of their messages."""
    for place in sorted(taken):
        for kind, row in taken[place]:
            if kind in (RowKind.UPDATE_BEFORE, RowKind.DELETE):
                here.pop(row[key], None)
            else:
                here[row[key]] = row


_TYPES = ("INT", "DECIMAL(5,2)", "VARCHAR(3)", "DATE", "BIT(8)", "SET('a','b')")
_FITTING: dict[str, tuple[tuple[Any, str], ...]] = {
    "INT": ((1, "1"), ("2", "2"), (None, "None")),
    "DECIMAL(5,2)": (("1.005", "1.01"), (-999.99, "-999.99")),
    "VARCHAR(3)": (("é\n", "é\n"), (12, "12")),
    "DATE": (("2020-02-29", "2020-02-29"), (86_400_000 * 20_000, "2024-10-04")),
    "BIT(8)": ((255, repr(b"\xff")),),
    "SET('a','b')": (("b,a", "['a', 'b']"), (0, "[]")),
}
_UNFIT: dict[str, tuple[Any, ...]] = {
    "INT": ("x", 2**31, "1_0", "\u0661", 10**60, [1]),
    "DECIMAL(5,2)": (1000, "1e99999", "NaN", {}),
    "VARCHAR(3)": ("four", "\ud800"),
    "DATE": ("2020-02-30", -(2**63), 86_400_000 * 2**34, 2**62),
    "BIT(8)": (256, -1, "x"),
    "SET('a','b')": ("c", 4, "a,"),
}


@pytest.mark.parametrize("kind", _TYPES)
def test_rows_of_aliyun_are_those_of_the_model(seed: int, kind: str) -> None:
    draw = random.Random(seed)
    schema = {
        "dataColumn": [{"name": "id", "type": "LONG"}, {"name": "v", "type": kind}],
        "primaryKey": ["id"],
        "source": {"dbType": "MySQL", "dbName": "d", "tableName": "t"},
    }
    model: dict[int, tuple[Any, str]] = {}
    values: list[bytes | None] = []
    bad = 0
    for _ in range(times(60)):
        key = draw.randrange(8)
        old = model.get(key)
        fitting, text = draw.choice(_FITTING[kind])
        is_bad = draw.random() < 0.2
        value: Any = draw.choice(_UNFIT[kind]) if is_bad else fitting
        bad += is_bad
        row = {"dataColumn": {"id": key, "v": value}}
        before = None if old is None else {"dataColumn": {"id": key, "v": old[0]}}
        op = "INSERT" if old is None else "UPDATE_AFTER"
        payload = {"op": op, "before": before, "after": row, "timestamp": {"eventTime": 1}}
        if old is not None and not is_bad and draw.random() < 0.3:
            payload |= {"op": "DELETE", "after": None}
            del model[key]
        elif not is_bad:
            model[key] = value, text
        values.append(json.dumps({"schema": schema, "payload": payload}).encode())
    huge = {**schema, "dataColumn": [{"name": "v", "type": "VARCHAR(99999999999)"}]}
    refused = json.dumps({"schema": huge, "payload": {"op": "INSERT", "after": {}}}).encode()
    assert "1..2147483647" in str(_events("aliyun-json", [refused])[0].after)  # type: ignore[union-attr]
    taken, errors = _taken(_events("aliyun-json", values))
    here: dict[int, Row] = {}
    _apply(here, taken, "id")
    assert {key: str(row["v"]) for key, row in here.items()} == {
        key: text for key, (_, text) in model.items()
    }
    assert len(errors) == bad
