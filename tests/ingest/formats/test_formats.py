"""Each format against what its messages say, written down by hand."""

from __future__ import annotations

import json

import pytest

from paimonlab.errors import UnsupportedError
from paimonlab.ingest.formats import FORMATS, FormatSettings, decoder_of
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
