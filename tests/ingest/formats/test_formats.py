"""Each format against what its messages say, written down by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

from paimonlab.errors import UnsupportedError
from paimonlab.ingest.changes import Event, RowChanges, Truncated, Unreadable
from paimonlab.ingest.formats import FORMATS, FormatSettings, decoder_of
from paimonlab.ingest.formats.messages import messages_of
from paimonlab.spec.types.text import format_type
from tests.ingest.formats.drawing import drawn, messages
from tests.support import cases

_FORMATS = [name for name in FORMATS if "avro" not in name]
_CSV_COLUMNS = {"id": "BIGINT", "name": "STRING", "price": "DECIMAL(10, 2)"}


def _settings(name: str) -> FormatSettings:
    return FormatSettings(columns=_CSV_COLUMNS if name == "csv" else {})


@pytest.mark.parametrize(
    ("name", "title", "given", "expected"),
    [
        pytest.param(name, *case, id=f"{name}: {case[0]}")
        for name in _FORMATS
        for case in cases(f"messages/{name.replace('-', '_')}")
    ],
)
def test_messages_are_these_rows(name: str, title: str, given: str, expected: str) -> None:
    decode = decoder_of(name, _settings(name))

    assert drawn(decode(messages(given))) == expected, title


def _with_schema(given: str) -> str:
    fields, rows = given.split("====\n")
    inside = json.loads(f"[{fields.strip()}]")
    schema = json.dumps(
        {
            "type": "struct",
            "fields": [{"field": side, "fields": inside} for side in ("before", "after")],
        }
    )
    lines = [
        f'{{"schema":{schema},"payload":{{"before":null,"after":{row.strip()},'
        '"source":{"db":"d","table":"t"},"op":"c"}}'
        for row in rows.splitlines()
        if row.strip()
    ]
    return "\n".join(lines)


@pytest.mark.parametrize(("title", "given", "expected"), cases("messages/debezium_json_schema"))
def test_debezium_with_schema_has_types(title: str, given: str, expected: str) -> None:
    decode = decoder_of("debezium-json", FormatSettings())

    assert drawn(decode(messages(_with_schema(given)))) == expected, title


@pytest.mark.parametrize(("title", "given", "expected"), cases("messages/debezium_json_schema"))
def test_a_schema_after_the_payload_is_as_good(title: str, given: str, expected: str) -> None:
    turned = []
    for line in _with_schema(given).splitlines():
        schema, payload = line.removeprefix('{"schema":').removesuffix("}").split(',"payload":')
        turned.append(f'{{"payload":{payload},"schema":{schema}}}')

    decode = decoder_of("debezium-json", FormatSettings())

    assert drawn(decode(messages("\n".join(turned)))) == expected, title


def test_unknown_formats_are_refused_by_name() -> None:
    with pytest.raises(
        UnsupportedError, match=r"format = 'debezium-jsn' is not supported.*Did you mean"
    ):
        decoder_of("debezium-jsn", FormatSettings())
    with pytest.raises(UnsupportedError, match="format = 'protobuf'"):
        decoder_of("protobuf", FormatSettings())


def test_declared_types_win_over_text() -> None:
    settings = FormatSettings(columns={"id": "BIGINT", "p": "DECIMAL(10, 2)", "at": "TIMESTAMP(3)"})
    decode = decoder_of("json", settings)

    found = drawn(
        decode(
            messages(
                '{"id":"7","p":1.005,"at":"2024-01-02 03:04:05.678"}\n'
                '{"id":8,"p":"2","at":1704164645678,"x":true}\n'
                '{"id":9.5}'
            )
        )
    )

    assert "unreadable kafka.topic @2: column 'id': '9.5' is not a whole number" in found
    assert "(id BIGINT, p DECIMAL(10, 2), at TIMESTAMP(3), x STRING)" in found
    assert "+I[7, 1.01, 2024-01-02 03:04:05.678000, null]" in found


def test_times_are_cut_to_their_digits_and_numbers_have_bounds() -> None:
    """Java's action cuts times the same way; what is beyond a DOUBLE it takes for infinity."""
    times = {f"t{digits}": f"TIMESTAMP({digits})" for digits in (0, 1, 3, 6)}
    settings = FormatSettings(columns={**times, "d": "DOUBLE", "f": "FLOAT"})
    cells = ",".join(f'"{name}":"2024-01-02 03:04:05.987654321"' for name in times)
    lines = f'{{{cells},"d":1e308}}\n{{"d":1e400}}\n{{"f":-1e39}}\n{{"d":"-Infinity","f":"inf"}}'
    found = drawn(decoder_of("json", settings)(messages(lines)))
    at = "2024-01-02 03:04:05"
    assert f"+I[{at}, {at}.900000, {at}.987000, {at}.987654, 1e+308, null]" in found
    assert "@1: column 'd': '1e400' is beyond DOUBLE" in found
    assert "@2: column 'f': '-1e39' is beyond FLOAT" in found
    assert "null, null, null, null, -inf, inf]" in found
    with pytest.raises(UnsupportedError, match="type_mapping = 'to-text' of Kafka"):
        FormatSettings(type_mapping=frozenset(("to-text",)))


def test_type_mapping_is_that_of_the_actions() -> None:
    message = (
        '{"data":[{"a":"2","b":"18446744073709551615","c":"x"}],"database":"d","table":"t",'
        '"mysqlType":{"a":"tinyint(1)","b":"bigint unsigned","c":"char(3)"},"type":"INSERT"}'
    )

    def types(*mapping: str) -> str:
        decode = decoder_of("canal-json", FormatSettings(type_mapping=frozenset(mapping)))
        return drawn(decode(messages(message)))

    assert types("tinyint1-not-bool", "char-to-string") == (
        "d.t (a TINYINT, b DECIMAL(20, 0), c STRING) +I[2, 18446744073709551615, x]"
    )
    assert types("to-string") == "d.t (a STRING, b STRING, c STRING) +I[2, 18446744073709551615, x]"


def test_what_is_after_the_payload_is_passed_over() -> None:
    line = _with_schema('{"field":"id","type":"int32"}\n====\n{"id":1}\n')
    more = line[:-1] + ',"headers":{}}'

    found = drawn(
        decoder_of("debezium-json", FormatSettings())(messages(f"{line}\n{more}\n{line}"))
    )

    assert found == "d.t (id INT NOT NULL) +I[1] +I[1] +I[1]"


def test_a_message_that_names_no_table_is_unreadable_behind_one_that_does() -> None:
    named = '{"op":"c","after":{"id":1},"source":{"db":"d","table":"t"}}'
    unnamed = '{"op":"c","after":{"id":2},"source":{}}'

    found = drawn(
        decoder_of("debezium-json", FormatSettings())(messages(f"{named}\n{unnamed}\n{named}"))
    )

    assert "@1: a change event without 'source.db' and 'source.table'" in found
    assert found.count("+I[1]") == 2


def test_a_message_of_debezium_says_the_same_whatever_comes_before_it(
    rng: np.random.Generator,
) -> None:
    """Most are alike, and are read together; beside them all that there may be."""
    values = [*_some_messages(rng, 250)]
    decode = decoder_of("debezium-json", FormatSettings())

    found: list[Any] = []
    for start in range(0, len(values), 90):
        part = messages_of(values[start : start + 90], first_offset=start)
        found += _told(decode(part))
    alone: list[Any] = []
    for place, value in enumerate(values):
        decode = decoder_of("debezium-json", FormatSettings())
        alone += _told(decode(messages_of([value], first_offset=place)))

    assert sorted(found, key=lambda one: one[0]) == alone


def _some_messages(rng: np.random.Generator, count: int) -> Iterator[bytes | None]:
    form, table = "plain", "a"
    for number in range(count):
        if rng.random() < 0.05:
            form = rng.choice(["plain", "narrow", "wide", "no types", "last"])
        if rng.random() < 0.2:
            table = rng.choice(["a", "b"])
        new = {"id": number, "v": f"{number} \\ ü"}
        op = str(
            rng.choice(
                ["c", "r", "u", "u", "d", "t", "m", "x"], p=[0.5, *[0.07] * 4, *[0.22 / 3] * 3]
            )
        )
        has_old = op == "d" or (op == "u" and rng.random() < 0.7)
        event: dict[str, Any] = {
            "before": {"id": number, "v": None} if has_old else None,
            "after": None if op == "d" or rng.random() < 0.02 else new,
            "source": {"db": "d", "table": table},
            "op": op,
        }
        if rng.random() < 0.03:
            event["source"] = {}
        if rng.random() < 0.5:
            event["source"]["ts_ms"] = number
        yield _written(event, str(form), float(rng.random()))


def _written(event: dict[str, Any], form: str, drawn: float) -> bytes | None:
    """Write a change event, with the types of its columns or without; some of them are broken."""
    fields = [{"field": "id", "type": "int64" if form == "wide" else "int32"}]
    fields.append({"field": "v", "type": "string"})
    sides = [{"field": side, "fields": fields} for side in ("before", "after")]
    schema = None if form == "no types" else {"type": "struct", "fields": sides}
    match form:
        case "plain":
            value = json.dumps(event)
        case "last":
            value = json.dumps({"payload": event, "schema": schema})
        case _:
            value = json.dumps({"schema": schema, "payload": event})
    if drawn < 0.05:
        odd: list[str | None] = [None, "", "null", "[1]", value[:-1], value + value]
        odd += [value[:-1] + ',"more":1}', '{"schema":null,"payload":null}', '{"ddl":"ALTER"}']
        odd.append(value.replace('"d"', "1"))
        found = odd[int(drawn * 200)]
        return None if found is None else found.encode()
    return value.encode()


def _told(events: Iterable[Event]) -> Iterator[tuple[Any, ...]]:
    for event in events:
        match event:
            case RowChanges():
                assert event.positions is not None
                places = event.positions.field("offset").to_pylist()
                kinds = [0] * len(places) if event.kinds is None else event.kinds.to_pylist()
                types = {one.name: format_type(one.type) for one in event.schema.columns}
                times = event.metadata["op_ts"].to_pylist()
                for place, kind, row, time in zip(
                    places, kinds, event.rows.to_pylist(), times, strict=True
                ):
                    said = {
                        name: (types[name], value)
                        for name, value in row.items()
                        if value is not None
                    }
                    yield place, event.table, kind, said, time
            case Unreadable():
                assert event.positions is not None
                places = event.positions.field("offset").to_pylist()
                for place, error in zip(places, event.errors.to_pylist(), strict=True):
                    yield place, event.table, error
            case Truncated():
                yield event.position["offset"], event.table, "truncated"  # type: ignore[index,call-overload]
            case _:
                raise AssertionError(event)
