"""Values of all types: what is copied and what is streamed is what the server itself says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paimonlab.ingest.changes import RowChanges, Unreadable
from paimonlab.spec.types.text import format_type
from tests.ingest.postgres.reading import Reader, rows_of
from tests.ingest.postgres.server import Database

COLUMNS = {
    "i2 int2": "SMALLINT",
    "i4 int4": "INT",
    "i8 int8": "BIGINT",
    "o oid": "BIGINT",
    "f4 float4": "FLOAT",
    "f8 float8": "DOUBLE",
    "b bool": "BOOLEAN",
    "t text": "STRING",
    "v varchar(7)": "VARCHAR(7)",
    "v0 varchar": "STRING",
    "c char(5)": "CHAR(5)",
    "n name": "STRING",
    'ch "char"': "STRING",
    "ci citext": "STRING",
    "by bytea": "BYTES",
    "n1 numeric(20,4)": "DECIMAL(20, 4)",
    "n38 numeric(38,0)": "DECIMAL(38, 0)",
    "n39 numeric(39,2)": "STRING",
    "nn numeric": "STRING",
    "neg numeric(10,-2)": "STRING",
    "d date": "DATE",
    "ti time(3)": "TIME(3)",
    "tz timetz": "STRING",
    "ts timestamp": "TIMESTAMP(6)",
    "ts0 timestamp(0)": "TIMESTAMP(0)",
    "ts3 timestamp(3)": "TIMESTAMP(3)",
    "tt timestamptz": "TIMESTAMP(6) WITH LOCAL TIME ZONE",
    "tt3 timestamptz(3)": "TIMESTAMP(3) WITH LOCAL TIME ZONE",
    "iv interval": "STRING",
    "u uuid": "STRING",
    "js json": "STRING",
    "jb jsonb": "STRING",
    "e mood": "STRING",
    "dom positive": "INT",
    "dv short": "VARCHAR(4)",
    "ip inet": "STRING",
    "cd cidr": "STRING",
    "ma macaddr": "STRING",
    "bi bit(3)": "STRING",
    "vb bit varying": "STRING",
    "mo money": "STRING",
    "x xml": "STRING",
    "pt point": "STRING",
    "bx box": "STRING",
    "po polygon": "STRING",
    "hs hstore": "MAP<STRING, STRING>",
    "ra int4range": "STRING",
    "rt tstzrange": "STRING",
    "tv tsvector": "STRING",
    "co pair": "STRING",
    "ai int4[]": "ARRAY<INT>",
    "at text[]": "ARRAY<STRING>",
    "an numeric(6,2)[]": "ARRAY<DECIMAL(6, 2)>",
    "ad timestamp[]": "ARRAY<TIMESTAMP(6)>",
    "ab bytea[]": "ARRAY<BYTES>",
    "ax box[]": "ARRAY<STRING>",
    "a2 int4[][]": "STRING",
    "iv2 int2vector": "STRING",
    "em mood[]": "ARRAY<STRING>",
    "dd tiny": "INT",
    "da ints": "ARRAY<INT>",
    "dm grade": "STRING",
    "dc couple": "STRING",
    "ap positive[]": "ARRAY<INT>",
    "ac pair[]": "ARRAY<STRING>",
    "ah hstore[]": "STRING",
    "ne nested": "STRING",
    "mr int4multirange": "STRING",
    "ci2 circle": "STRING",
    "ls pg_lsn": "STRING",
    "lt ltree": "STRING",
}
"""Each with the type of Paimon."""

_NORMAL = (
    "12, -5, 1234567890123, 7, 1.5, -2.25, true, 'text', 'short', 'any', 'ab', 'nam', 'x', 'CiTe', "
    r"'\x00ff10', 12.3400, 123, 4.5, 1.000, 1234, '2024-02-29', '12:34:56.789', '12:00:00+02', "
    "'2024-01-02 03:04:05.678901', '2024-01-02 03:04:05', '2024-01-02 03:04:05.678', "
    "'2024-01-02 03:04:05.678901+03', '2024-01-02 03:04:05.6+00', '1 year 2 days 03:04:05.5', "
    "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{\"a\": [1,  2]}', '{\"b\": 1, \"a\": null}', 'ok', "
    "3, 'ab', '192.168.0.1', '10.0.0.0/8', '08:00:2b:01:02:03', B'101', B'1', 12.5, '<a>b</a>', "
    "'(1,2)', '(1,1),(0,0)', '((0,0),(1,1),(1,0))', 'a=>1, \"b c\"=>NULL, \"q\\\"\"=>\"x, y\"', "
    "'[1,5)', '[2024-01-01 00:00:00+00,)', 'a:1 fat:2', '(1,\"a b\")', '{1,NULL,3}', "
    '\'{a,NULL,"NULL","b c","q\\""}\', \'{1.5,-2.25}\', \'{"2024-01-02 03:04:05"}\', '
    r"""'{"\\x00ff","\\x"}', '{(1,1),(0,0);(2,2),(1,1)}', '{{1,2},{3,4}}', '1 2', """
    r"""'{ok,NULL,"it''s"}', 7, '{1,NULL}', 'ok', '(1,"x, y")', '{1,2}', """
    r"""'{"(1,\"a b\")",NULL,"(,)"}', '{"a=>1",NULL}', '("{1,2}","(3,""a,b"")")', """
    "'{[1,3),[5,7)}', '<(1,2),3>', '16/B374D848', 'Top.Science'"
)
_EXTREME = (
    "-32768, -2147483648, -9223372036854775808, 4294967295, '-Infinity', 'NaN', false, '', '', "
    "E'\\U0001F600\\\\\\n\"', '', '', '', 'ÄÖ', '', -9999999999999999.9999, "
    "-99999999999999999999999999999999999999, 0.01, 'NaN', -9900, '0001-01-01', '00:00:00', "
    "'24:00:00+00', '0001-01-01 00:00:00', '9999-12-31 23:59:59', '1969-12-31 23:59:59.999', "
    "'9999-12-31 23:59:59.999999+00', '0001-01-01 00:00:00+00', '-1 mon -3 days 00:00:00.000001', "
    "'00000000-0000-0000-0000-000000000000', 'null', '\"\"', 'it''s', 2147483647, '', "
    "'::1/64', '::/0', 'ff:ff:ff:ff:ff:ff', B'000', B'', -0.01, '', '(Infinity,NaN)', "
    "'(0,0),(0,0)', '((1,1))', '', 'empty', '(,)', '', '(,)', '{}', '{}', '{NULL}', '{}', '{}', "
    "'{}', '{}', '', '{}', 1, '{}', 'it''s', '(,)', '{}', '{}', '{}', '(,)', '{}', '<(0,0),0>', "
    "'0/0', ''"
)
_MOST = (
    "32767, 2147483647, 9223372036854775807, 0, 3.4028235e38, 1.7976931348623157e308, false, "
    "repeat('x', 70000), 'ÄÖÜäöüß', 'a', 'abcde', repeat('n', 63), 'y', 'a', "
    "decode(repeat('ab', 30000), 'hex'), 9999999999999999.9999, "
    "99999999999999999999999999999999999999, -9999999999999999999999999999999999999.99, "
    "'-Infinity', 0, '9999-12-31', '23:59:59.999', '00:00:00-15:59:59', "
    "'9999-12-31 23:59:59.999999', '0001-01-01 00:00:00', '9999-12-31 23:59:59.999', "
    "'1582-10-10 00:00:00+00', '2038-01-19 03:14:08+00', '178000000 years', "
    "'ffffffff-ffff-ffff-ffff-ffffffffffff', '[1e400]', '[1e400, 0.10]', 'ok', 1, 'abcd', "
    "'255.255.255.255', '1.2.3.4', '00:00:00:00:00:00', B'111', B'10101', 92233720368547758.07, "
    "'<?xml version=\"1.0\"?><b/>', '(1e-300,-0)', '(1,1),(-1,-1)', '((0,0),(0,1))', "
    "'\"\"=>\"\"', '[,]', 'empty', 'a', '(,x)', '[0:1]={5,6}', "
    "'{\"{}\",\"a,b\",\"\\\\\"}', '{9999.99}', '{NULL,\"0001-01-01 00:00:00.000001\"}', '{NULL}', "
    "'{(0,0),(0,0)}', '[1:1][0:1]={{1,NULL}}', '32767', "
    "'{ok}', 2147483647, '[0:0]={5}', 'ok', '(-1,)', '{1}', '{NULL}', '{NULL}', "
    '\'("{NULL}","(,"""""""")")\', \'{(,)}\', \'<(1e300,-1),0.5>\', '
    "'FFFFFFFF/FFFFFFFF', 'a_b.c'"
)


def _create(database: Database, *tables: str) -> None:
    database.run(
        "CREATE EXTENSION citext",
        "CREATE EXTENSION hstore",
        "CREATE EXTENSION ltree",
        "CREATE TYPE mood AS ENUM ('ok', 'it''s')",
        "CREATE TYPE pair AS (a int, b text)",
        "CREATE DOMAIN positive AS int CHECK (VALUE > 0)",
        "CREATE DOMAIN short AS varchar(4)",
        "CREATE DOMAIN tiny AS positive CHECK (VALUE <> 4)",
        "CREATE DOMAIN ints AS int[]",
        "CREATE DOMAIN grade AS mood",
        "CREATE DOMAIN couple AS pair",
        "CREATE TYPE nested AS (a int[], p pair)",
        *(f"CREATE TABLE {table} (id int PRIMARY KEY, {', '.join(COLUMNS)})" for table in tables),
    )


def _fill(database: Database, table: str) -> None:
    nulls = ", ".join(["NULL"] * len(COLUMNS))
    database.run(
        "SET xmloption = content",
        *(
            f"INSERT INTO {table} VALUES ({number}, {values})"
            for number, values in enumerate((_NORMAL, _EXTREME, _MOST, nulls))
        ),
    )


_CAST = {"em": "text[]", "ap": "int[]", "ac": "text[]"}
"""Columns of types that psycopg does not know."""
_PRINTED = ("STRING", "VARCHAR", "CHAR")


def _said_by_server(database: Database, table: str) -> list[dict[str, Any]]:
    """Return the rows: what is stored as text as the server prints it, the rest by psycopg."""
    names = ["id", *(column.split()[0] for column in COLUMNS)]
    shown = []
    for name, kind in zip(names, ["INT", *COLUMNS.values()], strict=True):
        if name == "hs":
            shown.append("hstore_to_json(hs)")
        elif name in _CAST:
            shown.append(f"{name}::{_CAST[name]}")
        elif kind.startswith(_PRINTED) and name != "c":
            shown.append(f"CASE WHEN num_nulls({name}) = 0 THEN concat({name}) END")
        else:
            shown.append(name)
    rows = database.run(
        "SET timezone = 'UTC'", f"SELECT {', '.join(shown)} FROM {table} ORDER BY id"
    )
    return [dict(zip(names, row, strict=True)) for row in rows]


def _plain(value: Any) -> Any:
    """Make values of Arrow and of psycopg comparable."""
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value


def _same(found: list[dict[str, Any]], said: list[dict[str, Any]]) -> None:
    assert len(found) == len(said)
    for row, wanted in zip(found, said, strict=True):
        for name, value in row.items():
            expected = wanted[name]
            if name == "f4" and expected is not None:
                expected = np.float32(expected).item()
            if name == "hs" and expected is not None:
                expected = list(expected.items())
            assert _plain(value) == _plain(expected), (row["id"], name)


def test_each_type_is_what_the_server_says(database: Database) -> None:
    _create(database, "copied", "streamed")
    _fill(database, "copied")
    source = database.source().tables("copied", "streamed")
    schema = source.tables()["public.copied"]
    types = [format_type(column.type) for column in schema.columns]
    assert types == ["INT NOT NULL", *COLUMNS.values()]

    with Reader(source) as reader:
        copied = reader.caught_up()
        _fill(database, "streamed")
        streamed = reader.until(lambda found: len(rows_of(found)) == 4)

    _same([row for _, row in rows_of(copied)], _said_by_server(database, "copied"))
    _same([row for _, row in rows_of(streamed)], _said_by_server(database, "streamed"))
    for event in (*copied, *streamed):
        assert isinstance(event, RowChanges)
        event.rows.validate(full=True)
        assert event.schema.columns == schema.columns


SPECIALS = {
    "n numeric(10,2)": ["NaN"],
    "d date": ["infinity", "-infinity", "0044-03-15 BC", "10000-01-01"],
    "ts timestamp": ["infinity", "-infinity", "0044-03-15 00:00:00 BC", "294276-12-31 00:00:00"],
    "tt timestamptz": ["infinity", "0044-03-15 00:00:00+00 BC", "20000-01-01 00:00:00+00"],
    "ti time": ["24:00:00", "00:00:00.000001"],
    "a int[]": ["{{1,2},{3,4}}"],
}


def test_what_the_types_do_not_have_is_set_aside_both_ways(database: Database) -> None:
    columns = ", ".join(SPECIALS)
    rows = [
        f"(id, {column.split()[0]}) VALUES (@, '{value}')"
        for column, values in SPECIALS.items()
        for value in values
    ]
    database.run(
        *(f"CREATE TABLE {table} (id int PRIMARY KEY, {columns})" for table in ("a", "b")),
        *(f"INSERT INTO a {row.replace('@', str(number))}" for number, row in enumerate(rows)),
        "INSERT INTO a VALUES (99)",
    )
    with Reader(database.source().tables("a", "b")) as reader:
        copied = reader.caught_up()
        database.run(
            *(f"INSERT INTO b {row.replace('@', str(number))}" for number, row in enumerate(rows)),
            "INSERT INTO b VALUES (99)",
        )
        streamed = reader.until(lambda found: bool(rows_of(found)))

    for events in (copied, streamed):
        assert [row["id"] for _, row in rows_of(events)] == [99]
        bad = [event for event in events if isinstance(event, Unreadable)]
        assert sum(event.count for event in bad) == len(rows)
        for event, row in zip(bad, rows, strict=True):
            name = row.partition("(id, ")[2].partition(")")[0]
            assert f"column '{name}'" in event.errors[0].as_py()


@pytest.mark.parametrize("word", ["special-to-null", "to-string"])
def test_specials_become_null_or_text(database: Database, word: str) -> None:
    database.run(
        "CREATE TABLE t (id int PRIMARY KEY, n numeric(10,2), d date, tt timestamptz)",
        "INSERT INTO t VALUES (1, 'NaN', 'infinity', '-infinity')",
    )
    with Reader(database.source().tables("t", type_mapping=[word])) as reader:
        copied = reader.caught_up()
        database.run("INSERT INTO t VALUES (2, 'NaN', 'infinity', '-infinity')")
        streamed = reader.rows(1)
    wanted = ("NaN", "infinity", "-infinity") if word == "to-string" else (None, None, None)
    for (_, row), number in zip((*rows_of(copied), *streamed), (1, 2), strict=True):
        key = str(number) if word == "to-string" else number
        assert tuple(row.values()) == (key, *wanted)


def test_chosen_columns_are_as_the_server_prints_them(database: Database) -> None:
    database.run(
        "CREATE TABLE t (id int PRIMARY KEY, a time, b time(0))",
        "INSERT INTO t VALUES (1, '24:00:00', '12:00:00')",
    )
    with Reader(database.source().tables("t", as_text=[r".*\.t\.a"])) as reader:
        copied = rows_of(reader.caught_up())
        database.run("INSERT INTO t VALUES (2, '00:00:00.000001', NULL)")
        streamed = reader.rows(1)
    assert copied[0][1]["a"] == "24:00:00"
    assert streamed == [("+I", {"id": 2, "a": "00:00:00.000001", "b": None})]
