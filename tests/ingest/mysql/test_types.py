"""Each type, read as a row and from the log, against what the server itself says of the row."""

from __future__ import annotations

import datetime as dt
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paimonlab as pm
from paimonlab.errors import PaimonError, SourceError, UnsupportedError
from paimonlab.ingest.sources.mysql.source import MySql
from paimonlab.spec.types.text import format_type
from tests.ingest.mysql.server import Server

COLUMNS = {
    "t1": ("TINYINT", "TINYINT"),
    "t1u": ("TINYINT UNSIGNED", "SMALLINT"),
    "t2": ("SMALLINT", "SMALLINT"),
    "t2u": ("SMALLINT UNSIGNED", "INT"),
    "t3": ("MEDIUMINT", "INT"),
    "y": ("YEAR", "INT"),
    "t3u": ("MEDIUMINT UNSIGNED", "BIGINT"),
    "t4": ("INT", "INT"),
    "t4u": ("INT UNSIGNED ZEROFILL", "BIGINT"),
    "t8": ("BIGINT", "BIGINT"),
    "t8u": ("BIGINT UNSIGNED", "DECIMAL(20, 0)"),
    "b": ("BOOL", "BOOLEAN"),
    "bit1": ("BIT(1)", "BOOLEAN"),
    "bit13": ("BIT(13)", "BINARY(2)"),
    "bit64": ("BIT(64)", "BINARY(8)"),
    "f": ("FLOAT", "FLOAT"),
    "d": ("DOUBLE", "DOUBLE"),
    "dec1": ("DECIMAL(10,2)", "DECIMAL(10, 2)"),
    "dec2": ("DECIMAL(18,18) UNSIGNED", "DECIMAL(18, 18)"),
    "dec3": ("DECIMAL(38,10)", "DECIMAL(38, 10)"),
    "dec4": ("DECIMAL(65,30)", "STRING"),
    "dec5": ("DECIMAL(22,0)", "DECIMAL(22, 0)"),
    "day": ("DATE", "DATE"),
    "t": ("TIME", "TIME(3)"),
    "t3f": ("TIME(3)", "TIME(3)"),
    "dt": ("DATETIME", "TIMESTAMP(0)"),
    "dt1": ("DATETIME(1)", "TIMESTAMP(1)"),
    "dt6": ("DATETIME(6)", "TIMESTAMP(6)"),
    "ts": ("TIMESTAMP NULL", "TIMESTAMP(0)"),
    "ts3": ("TIMESTAMP(3) NULL", "TIMESTAMP(3)"),
    "ts6": ("TIMESTAMP(6) NULL", "TIMESTAMP(6)"),
    "c": ("CHAR(10)", "CHAR(10)"),
    "cl": ("CHAR(100) CHARACTER SET latin1", "CHAR(100)"),
    "v": ("VARCHAR(300)", "VARCHAR(300)"),
    "vl": ("VARCHAR(20) CHARACTER SET latin1", "VARCHAR(20)"),
    "vg": ("VARCHAR(20) CHARACTER SET gbk", "VARCHAR(20)"),
    "vw": ("VARCHAR(20) CHARACTER SET utf16", "VARCHAR(20)"),
    "v3": ("VARCHAR(20) CHARACTER SET utf8mb3", "VARCHAR(20)"),
    "vu": ("VARCHAR(20) COLLATE utf8mb4_uca1400_ai_ci", "VARCHAR(20)"),
    "tx1": ("TINYTEXT", "STRING"),
    "tx": ("TEXT", "STRING"),
    "tx3": ("MEDIUMTEXT", "STRING"),
    "tx4": ("LONGTEXT", "STRING"),
    "bin": ("BINARY(4)", "VARBINARY(4)"),
    "vb": ("VARBINARY(300)", "VARBINARY(300)"),
    "bl1": ("TINYBLOB", "BYTES"),
    "bl": ("BLOB", "BYTES"),
    "bl4": ("LONGBLOB", "BYTES"),
    "e": ("ENUM('small','it''s','größer')", "STRING"),
    "el": ("ENUM('a','ä') CHARACTER SET latin1", "STRING"),
    "s": ("SET('a','b','ü')", "ARRAY<STRING>"),
    "s64": (f"SET({', '.join(repr(f'm{number}') for number in range(64))})", "ARRAY<STRING>"),
    "j": ("JSON", "STRING"),
    "g": ("GEOMETRY", "STRING"),
    "p": ("POINT", "STRING"),
}
_WIDE = "x" * 70_000
ROWS: list[dict[str, Any]] = [
    {},
    {
        "t1": -128, "t1u": 255, "t2": -32768, "t2u": 65535, "t3": -8388608, "t3u": 16777215,
        "t4": -(2**31), "t4u": 2**32 - 1, "t8": -(2**63), "t8u": 2**64 - 1, "y": 1901, "b": 1,
        "bit1": b"\1", "bit13": b"\x1f\xff", "bit64": b"\xff" * 8, "s64": "m63,m0,m31",
        "f": 1.17549e-38, "d": -1.7976931348623157e308,
        "dec1": Decimal("-99999999.99"), "dec2": Decimal("0.999999999999999999"),
        "dec3": Decimal("-9999999999999999999999999999.9999999999"),
        "dec4": Decimal("-" + "9" * 35 + "." + "9" * 30), "dec5": Decimal(-(10**22) + 1),
        "day": "1000-01-01", "t": "23:59:59", "t3f": "23:59:59.999",
        "dt": "1000-01-01 00:00:00", "dt1": "9999-12-31 23:59:59.9",
        "dt6": "9999-12-31 23:59:59.999999", "ts": "1970-01-02 00:00:01",
        "ts3": "2038-01-19 03:14:07.999", "ts6": "2000-02-29 12:00:00.000001",
        "c": "😀é", "cl": "€ÿ\x81", "v": "ß" * 300, "vl": "Straße", "vg": "中文", "vw": "😀a",
        "v3": "é中", "vu": "😀", "tx1": "", "tx": "a\tb\n", "tx3": _WIDE, "tx4": "é" * 40_000,
        "bin": b"\1\0", "vb": b"\0" * 3, "bl1": b"", "bl": bytes(range(256)),
        "bl4": b"\xff" * 70_000, "e": "it's", "el": "ä", "s": "ü,a", "j": '{"b": 1.0, "a": [null]}',
    },
    {
        "t1": 127, "t1u": 0, "t2": 32767, "t2u": 0, "t3": 8388607, "t3u": 0, "t4": 2**31 - 1,
        "t4u": 0, "t8": 2**63 - 1, "t8u": 2**63, "y": 2155, "b": 0, "bit1": b"\0",
        "bit13": b"\0\0", "bit64": b"\x80" + b"\0" * 7, "s64": "m63", "f": 16777217.0,
        "d": 5e-324, "dec1": Decimal("0.01"),
        "dec2": Decimal(0), "dec3": Decimal("0.0000000001"),
        "dec4": Decimal("0." + "0" * 29 + "1"), "dec5": Decimal(10**22 - 1), "day": "9999-12-31",
        "t": "00:00:00", "t3f": "00:00:00.001", "dt": "9999-12-31 23:59:59",
        "dt1": "1000-01-01 00:00:00.1", "dt6": "1969-12-31 23:59:59.000001",
        "ts": "2038-01-19 03:14:07", "ts3": "2026-07-01 01:02:03.004",
        "ts6": "2026-07-01 01:02:03.000004", "c": "", "cl": "", "v": "", "vl": "", "vg": "",
        "vw": "", "v3": "", "bin": b"\0\0\0\0", "vb": b"", "e": "größer", "el": "a", "s": "",
        "j": '"ä"',
    },
    {
        "y": 0, "day": "0000-00-00", "dt": "0000-00-00 00:00:00", "dt6": "2024-00-10 00:00:00",
        "ts": "0000-00-00 00:00:00", "ts6": "0000-00-00 00:00:00", "dec1": Decimal("-0.00"),
        "d": -0.0, "f": -0.0, "e": "no member", "s": "a,b,ü",
    },
]  # fmt: skip
_MANY = "MULTIPOINT(0 0,1 1),MULTILINESTRING((0 0,1 1)),MULTIPOLYGON(((0 0,1 0,1 1,0 0)))"
_GEOMETRY = {
    1: ("ST_GeomFromText('POLYGON((0 0,1.5 0,1 1,0 0))', 4326)", "POINT(1, -2.25)"),
    2: ("ST_GeomFromText('GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1))')", "POINT(0, 0)"),
    3: (f"ST_GeomFromText('GEOMETRYCOLLECTION({_MANY})')", "NULL"),
}
GEOMETRIES = {
    1: (
        {
            "type": "Polygon",
            "coordinates": [[[0, 0], [1.5, 0], [1, 1], [0, 0]]],
            "srid": 4326,
        },
        {"type": "Point", "coordinates": [1, -2.25], "srid": 0},
    ),
    2: (
        {
            "type": "GeometryCollection",
            "geometries": [
                {"type": "Point", "coordinates": [1, 2]},
                {"type": "LineString", "coordinates": [[0, 0], [1, 1]]},
            ],
            "srid": 0,
        },
        {"type": "Point", "coordinates": [0, 0], "srid": 0},
    ),
    3: (
        {
            "type": "GeometryCollection",
            "geometries": [
                {"type": "MultiPoint", "coordinates": [[0, 0], [1, 1]]},
                {"type": "MultiLineString", "coordinates": [[[0, 0], [1, 1]]]},
                {"type": "MultiPolygon", "coordinates": [[[[0, 0], [1, 0], [1, 1], [0, 0]]]]},
            ],
            "srid": 0,
        },
        None,
    ),
}


def _create(server: Server, database: str, table: str) -> None:
    columns = ", ".join(f"`{name}` {kind}" for name, (kind, _) in COLUMNS.items())
    server.run(f"CREATE TABLE {database}.{table} (id INT PRIMARY KEY, {columns})")


def _insert(server: Server, database: str, table: str) -> None:
    with server.connect(database) as connection, connection.cursor() as cursor:
        cursor.execute("SET sql_mode = '', time_zone = '+08:00'")
        for number, row in enumerate(ROWS):
            geometry = _GEOMETRY.get(number, ("NULL", "NULL"))
            names = ["id", "g", "p", *row]
            values = [str(number), *geometry, *["%s"] * len(row)]
            listed = ", ".join(f"`{name}`" for name in names)
            cursor.execute(
                f"INSERT INTO {table} ({listed}) VALUES ({', '.join(values)})", list(row.values())
            )


def _said(server: Server, database: str, table: str) -> list[dict[str, Any]]:
    """Return what the server says of the rows, as values of the types here."""
    columns = [
        f"`{name}` * 1e0" if kind == "FLOAT" else f"`{name}`" for name, (kind, _) in COLUMNS.items()
    ]
    with server.connect(database) as connection, connection.cursor() as cursor:
        cursor.execute("SET time_zone = '+08:00'")
        cursor.execute(f"SELECT id, {', '.join(columns)} FROM {table} ORDER BY id")
        rows = cursor.fetchall()
    return [
        {"id": row[0]}
        | {
            name: _meant(name, here, value, row[0])
            for (name, (_, here)), value in zip(COLUMNS.items(), row[1:], strict=True)
        }
        for row in rows
    ]


def _meant(name: str, here: str, value: Any, number: int) -> Any:  # noqa: PLR0911 - one a type
    if value is None or (isinstance(value, str) and value[4:7] == "-00"):
        return None
    if name in ("g", "p"):
        return GEOMETRIES[number][name == "p"]
    if here == "BOOLEAN":
        return value in (1, b"\1")
    if here.startswith("DECIMAL"):
        return Decimal(value)
    if here == "FLOAT":
        return float(np.float32(value))
    if here == "STRING" and isinstance(value, Decimal):
        return f"{value:f}"
    if here == "ARRAY<STRING>":
        return value.split(",") if value else []
    if isinstance(value, dt.timedelta):
        return (dt.datetime(2000, 1, 1) + value).time()
    if name.startswith("dt") and isinstance(value, str):
        return dt.datetime.fromisoformat(value)
    return value


def _found(table: pm.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.scan().to_arrow().to_pylist()
    for row in rows:
        for name in ("g", "p"):
            row[name] = None if row[name] is None else json.loads(row[name])
    return sorted(rows, key=lambda row: int(row["id"]))


def _check(found: list[dict[str, Any]], said: list[dict[str, Any]]) -> None:
    assert len(found) == len(said)
    for mine, wanted in zip(found, said, strict=True):
        for name, value in wanted.items():
            assert (mine[name], type(mine[name])) == (value, type(value)), (mine["id"], name)
            if isinstance(value, float):
                assert np.signbit(mine[name]) == np.signbit(value), (mine["id"], name)


def test_each_type_is_what_the_server_says(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql
) -> None:
    catalog = pm.connect(tmp_path)
    for table in ("old", "new"):
        _create(mysql_server, database, table)
    _insert(mysql_server, database, "old")
    job = catalog.ingest(shop.database(database), into="ods", name="types", options={"bucket": 1})
    job.run()
    _insert(mysql_server, database, "new")
    job.run()

    said = _said(mysql_server, database, "old")
    assert said == _said(mysql_server, database, "new")
    for name in ("old", "new"):
        made = catalog.table(f"ods.{name}")
        _check(_found(made), said)
        types = {field.name: format_type(field.type) for field in made.schema.fields[1:]}
        assert types == {name: here for name, (_, here) in COLUMNS.items()}


@pytest.mark.parametrize("is_first", [True, False])
def test_what_no_type_holds_is_a_dead_letter(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql, is_first: bool
) -> None:
    table = f"{database}.odd"
    mysql_server.run(f"CREATE TABLE {table} (id INT PRIMARY KEY, t TIME(6), b BOOL)")
    catalog = pm.connect(tmp_path)
    job = catalog.ingest(
        shop.database(database), into="ods", name="odd", max_dead=4, options={"bucket": 1}
    )
    if not is_first:
        job.run()
    mysql_server.run(
        f"INSERT INTO {table} VALUES (1, '30:00:00', 1), (2, '01:00:00', 0), (3, '-00:00:01', 1)",
        f"INSERT INTO {table} VALUES (4, '10:00:00', 2), (5, '10:00:00.0001', 1)",
    )
    job.run()
    (row,) = catalog.table("ods.odd").scan().to_arrow().to_pylist()
    assert row == {"id": 2, "t": dt.time(1), "b": False}
    dead = str(catalog.table("ods.odd__dead").scan().to_arrow().to_pylist())
    assert all(f'"id": {number},' in dead for number in (1, 3, 4, 5))
    assert "tinyint1-not-bool" in dead

    # What was wrong with the old row does not matter.
    mysql_server.run(
        f"UPDATE {table} SET t = '02:00:00', b = 1 WHERE id IN (1, 4)",
        f"DELETE FROM {table} WHERE id = 3",
    )
    job.run()
    rows = catalog.table("ods.odd").scan().to_arrow().to_pylist()
    assert {row["id"]: row["t"].hour for row in rows} == {1: 2, 2: 1, 4: 2}


def test_timestamps_stay_instants_where_that_is_chosen(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql
) -> None:
    table = f"{database}.t"
    mysql_server.run(
        f"CREATE TABLE {table} (id INT PRIMARY KEY, ts TIMESTAMP(3) NULL)",
        "SET time_zone = '+02:00'",
        f"INSERT INTO {table} VALUES (1, '2026-01-01 02:00:00.5')",
    )
    catalog = pm.connect(tmp_path)
    source = shop.database(database, type_mapping=["timestamp-as-ltz"])
    job = catalog.ingest(source, into="ods", name="j", options={"bucket": 1})
    job.run()
    mysql_server.run(
        "SET time_zone = '+02:00'", f"INSERT INTO {table} VALUES (2, '2026-01-01 02:00:00.5')"
    )
    job.run()
    rows = catalog.table("ods.t").scan().to_arrow().to_pylist()
    moment = dt.datetime(2026, 1, 1, 0, 0, 0, 500_000, tzinfo=dt.UTC)
    assert {row["id"]: row["ts"] for row in rows} == {1: moment, 2: moment}


_TEXTS = {
    "BOOL": ("2", "2"),
    "BIGINT UNSIGNED": ("18446744073709551615", "18446744073709551615"),
    "DECIMAL(10,3)": ("100", "100.000"),
    "FLOAT": ("0.1", "0.1"),
    "DATE": ("'2026-01-02'", "2026-01-02"),
    "TIME": ("'10:13:00'", "10:13"),
    "TIME(3)": ("'10:13:23.5'", "10:13:23.500"),
    "DATETIME": ("'2026-01-02 03:04:05'", "2026-01-02 03:04:05.000"),
    "DATETIME(4)": ("'2026-01-02 03:04:05.5'", "2026-01-02 03:04:05.500000"),
    "TIMESTAMP(3) NULL": ("'2026-01-02 03:04:05.5'", "2026-01-02 03:04:05.500000"),
    "BIT(1)": ("b'1'", "true"),
    "BIT(9)": ("b'100000001'", "0000000100000001"),
    "ENUM('a','b')": ("'b'", "b"),
    "SET('x','y','z')": ("'z,x'", "x,z"),
    "VARBINARY(9)": ("'añb'", "añb"),
    "VARCHAR(9)": ("'text'", "text"),
    "JSON": ("""'{"a": 1}'""", '{"a": 1}'),
}
"""What is written, and what Paimon's action makes a text of it: see test_java_action.py."""


def test_all_types_become_texts_where_that_is_chosen(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql
) -> None:
    columns = ", ".join(f"c{place} {kind}" for place, kind in enumerate(_TEXTS))
    values = ", ".join(value for value, _ in _TEXTS.values())
    nulls = ", ".join(["NULL"] * len(_TEXTS))
    zone = "SET time_zone = '+08:00'"  # as the job's
    mysql_server.run(
        zone,
        f"CREATE TABLE t (id INT PRIMARY KEY, {columns}, b BINARY(2))",
        f"INSERT INTO t VALUES (1, {values}, 'ab'), (2, {nulls}, NULL)",
        database=database,
    )
    catalog = pm.connect(tmp_path)
    source = shop.database(database, type_mapping=["to-string", "timestamp-as-ltz"])
    job = catalog.ingest(source, into="ods", name="j", max_dead=1, options={"bucket": 1})
    job.run()
    mysql_server.run(
        zone,
        f"INSERT INTO t VALUES (3, {values}, 'ab'), (4, {nulls}, x'ff00')",
        database=database,
    )
    job.run()

    table = catalog.table("ods.t")
    assert {format_type(field.type) for field in table.schema.fields[1:]} == {"STRING"}
    texts = [text for _, text in _TEXTS.values()]
    rows = sorted(tuple(row.values()) for row in table.scan().to_arrow().to_pylist())
    assert rows == [
        ("1", *texts, "ab"),
        ("2", *[None] * len(texts), None),
        ("3", *texts, "ab"),
    ]
    (dead,) = catalog.table("ods.j__dead").scan().to_arrow().to_pylist()
    assert "is not UTF-8" in dead["error"]


def test_tables_take_what_their_words_say(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql
) -> None:
    mysql_server.run(
        "CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL, d DECIMAL(8,2) NOT NULL)",
        "INSERT INTO t VALUES (1, 7, 1.25)",
        database=database,
    )
    late = "INSERT INTO t VALUES (4, 8, 1)"  # its schema is old when it is read
    catalog = pm.connect(tmp_path)
    words = ["to-nullable", "decimal-no-change", "allow-non-string-to-string"]
    source = shop.database(database, type_mapping=words)
    job = catalog.ingest(source, into="ods", name="j", max_dead=1, options={"bucket": 1})
    job.run()
    mysql_server.run(
        late,
        "ALTER TABLE t MODIFY d DECIMAL(12,2) NOT NULL, MODIFY n VARCHAR(9) NOT NULL",
        "INSERT INTO t VALUES (2, 'seven', 2.5), (3, 'large', 123456789.5)",
        database=database,
    )
    job.run()

    table = catalog.table("ods.t")
    types = [format_type(field.type) for field in table.schema.fields]
    assert types == ["INT NOT NULL", "VARCHAR(9)", "DECIMAL(8, 2)"]
    rows = sorted(tuple(row.values()) for row in table.scan().to_arrow().to_pylist())
    assert rows == [
        (1, "7", Decimal("1.25")),
        (2, "seven", Decimal("2.50")),
        (4, "8", Decimal("1.00")),
    ]
    assert any("keeps DECIMAL(8, 2)" in event.text for event in job.events)
    plain = catalog.ingest(shop.database(database), into="plain", name="plain")
    assert "DECIMAL(12, 2) NOT NULL" in str(plain.plan())


def test_small_transactions_before_a_statement_may_be_more_than_waits_in_memory(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql
) -> None:
    mysql_server.run("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(200))", database=database)
    catalog = pm.connect(tmp_path)
    source = shop.database(database)
    job = catalog.ingest(source, into="ods", name="j", max_bytes=2000, options={"bucket": 1})
    job.run()
    rows = [f"INSERT INTO t VALUES ({number}, REPEAT('x', 150))" for number in range(30)]
    mysql_server.run(
        *rows, "ALTER TABLE t ADD n INT", "INSERT INTO t VALUES (30, 'y', 1)", database=database
    )
    job.run()
    found = catalog.table("ods.t").scan().to_arrow().to_pylist()
    assert sorted((row["id"], row["n"]) for row in found) == [
        *((number, None) for number in range(30)),
        (30, 1),
    ]


def test_what_cannot_be_read_is_refused_by_name(
    mysql_server: Server, database: str, shop: MySql
) -> None:
    mysql_server.run(f"CREATE TABLE {database}.a (id INT PRIMARY KEY, v VARCHAR(3))")
    for kind in (
        *("INET4", "INET6", "VARCHAR(9) COMPRESSED", "BLOB COMPRESSED", "UUID"),
        "CHAR(9) CHARACTER SET swe7",
    ):
        mysql_server.run(f"CREATE OR REPLACE TABLE {database}.u (id INT PRIMARY KEY, v {kind})")
        found = shop.database(database).tables()
        told = rf"(?i)column 'v' \(.*{kind.split()[-1]}.*\) of {database}\.u cannot be read"
        assert re.match(told, found[f"{database}.u"].refusal or "")
        assert found[f"{database}.a"].refusal is None
    assert list(shop.database(database, excluding="u").tables()) == [f"{database}.a"]
    mysql_server.run(
        f"CREATE TABLE {database}.u2 (id UUID PRIMARY KEY)",
        f"CREATE TABLE {database}.m (id INT PRIMARY KEY) ENGINE = MyISAM",
        f"CREATE TABLE {database}.m2 (id INT PRIMARY KEY) ENGINE = MEMORY",
    )
    refused = {name: one.refusal for name, one in shop.database(database).tables().items()}
    assert refused.pop(f"{database}.a") is None
    assert all(refused.values())
    assert "engine MEMORY" in str(refused[f"{database}.m2"])
    with pytest.raises(UnsupportedError, match=r"type_mapping = 'to-text' of MySQL.*to-string"):
        shop.database(database, type_mapping=["to-text"])
    mysql_server.run(f"CREATE TABLE {database}.z (id INT PRIMARY KEY, ts TIMESTAMP)")
    no_zone = pm.mysql(
        port=mysql_server.port, user=shop.login.user, password_env=shop.login.password_env
    )
    with pytest.raises(SourceError, match="time_zone="):
        no_zone.database(database, including="z").tables()
    with pytest.raises(PaimonError, match="PAIMONLAB_NOT_THERE"):
        pm.mysql(port=mysql_server.port, user="lake", password_env="PAIMONLAB_NOT_THERE").database(
            database
        ).tables()


@pytest.mark.parametrize(
    "columns",
    [
        "p POINT, t VARCHAR(9) CHARACTER SET latin1, u VARCHAR(9), b VARBINARY(9)",
        "t TEXT CHARACTER SET latin1, p POINT, q POINT, u TEXT CHARACTER SET utf16, b BLOB",
        "p POINT, u VARCHAR(9), t CHAR(9), w TEXT, x TEXT, b BLOB, q POINT",
        "u TEXT, p POINT, t TEXT CHARACTER SET koi8r, s SET('я') CHARACTER SET koi8r",
    ],
)
def test_texts_beside_geometries_have_their_own_character_sets(
    tmp_path: Path, mysql_server: Server, database: str, shop: MySql, columns: str
) -> None:
    """MariaDB tells a character set of geometries, too."""
    names = [part.split(" ")[0] for part in columns.split(", ")]
    texts = {"t": "я" if "koi8r" in columns else "é", "u": "ж", "w": "w", "x": "ü", "s": "я"}
    values = {"p": "POINT(1, 2)", "q": "POINT(3, 4)", "b": "X'ff00'"}
    values |= {name: f"'{text}'" for name, text in texts.items()}
    mysql_server.run(f"CREATE TABLE t (id INT PRIMARY KEY, {columns})", database=database)
    job = pm.connect(tmp_path).ingest(
        shop.database(database), into="ods", name="j", options={"bucket": 1}
    )
    job.run()
    row = ", ".join(values[name] for name in names)
    mysql_server.run(f"INSERT INTO t VALUES (1, {row})", database=database)

    job.run()

    (found,) = pm.connect(tmp_path).table("ods.t").scan().to_arrow().to_pylist()
    for name in names:
        if name in ("p", "q"):
            assert json.loads(found[name])["coordinates"] == ([1, 2] if name == "p" else [3, 4])
        elif name == "b":
            assert found[name] == b"\xff\x00"
        else:
            assert found[name] == ([texts[name]] if name == "s" else texts[name])
