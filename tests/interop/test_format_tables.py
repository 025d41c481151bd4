"""Format tables that Java Paimon and paimonlab write and read in turn, through our server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.catalog.rest.catalog import RestCatalog
from paimonlab.catalog.rest_server.authorising import User
from paimonlab.catalog.rest_server.serving import ServeOptions, Server
from paimonlab.errors import DataError
from paimonlab.storage import LocalFileIO
from tests.catalog.kept import KeepingCatalog
from tests.interop.conftest import without_java
from tests.interop.java_build import NEWEST, JavaMissingError, JavaTools
from tests.interop.oracle import Oracle

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def newest(java_tools: JavaTools, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    try:
        started = Oracle(java_tools, tmp_path_factory.mktemp("java"), NEWEST)
    except JavaMissingError as missing:
        without_java(missing)
    yield started
    started.close()


class Both:
    """Java Paimon and paimonlab, clients of one server."""

    def __init__(self, oracle: Oracle, server: Server) -> None:
        self._oracle = oracle
        opened = pl.connect(server.options)
        assert isinstance(opened, RestCatalog)
        self.ours = opened
        self._options = {**server.options, "cache-enabled": "false"}

    def java(self, op: str, **arguments: Any) -> Any:
        return self._oracle.ask(op, catalog=self._options, **arguments)

    def java_rows(self, name: str = "db.t", **arguments: Any) -> list[Any]:
        found = self.java("read", table=name, **arguments)
        return sorted((row for _, row in found), key=repr)

    def our_rows(self, name: str = "db.t") -> list[Any]:
        found = self.ours.format_table(name).to_arrow().to_pylist()
        return sorted(([_spelled(one) for one in row.values()] for row in found), key=repr)

    def make(
        self, columns: Mapping[str, Any], file_format: str, *keys: str, java: bool, **options: str
    ) -> None:
        given = {key.replace("__", "."): value for key, value in options.items()}
        given = {key.replace("_", "-"): value for key, value in given.items()}
        if java:
            fields = [[name, kind] for name, kind in columns.items()]
            given |= {"type": "format-table", "file.format": file_format}
            self.java("create_table", table="db.t", fields=fields, partition=keys, options=given)
        else:
            self.ours.create_format_table(
                "db.t", columns, file_format=file_format, partition_keys=keys, options=given
            )


def _spelled(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list):
        return [_spelled(one) for one in value]
    if isinstance(value, dict):
        return [_spelled(one) for one in value.values()]
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    text = value.isoformat() if hasattr(value, "isoformat") else str(value)
    return text.replace("+00:00", "Z")


@pytest.fixture
def both(newest: Oracle, tmp_path: Path) -> Iterator[Both]:
    served = KeepingCatalog(str(tmp_path / "warehouse"), LocalFileIO())
    served.create_database("db")
    with Server(served, [User(name="me", token="a-token")], ServeOptions()) as running:
        yield Both(newest, running)


WAYS: Mapping[str, dict[str, str]] = {
    "csv": {},
    "csv with other signs": {
        "csv__field_delimiter": "\t",
        "csv__quote_character": "'",
        "csv__escape_character": "/",
        "csv__include_header": "true",
        "csv__null_literal": "\\N",
        "file__compression": "gzip",
    },
    "csv with lines of its own": {"csv__line_delimiter": "||", "csv__null_literal": "-"},
    "csv by other names": {"seq": "|", "lineSep": "\r\n", "header": "true", "quote": "~"},
    "json": {"file__compression": "bzip2"},
    "json with lines of its own": {"json__line_delimiter": "%%"},
    "text": {},
    "text with lines of its own": {"text__line_delimiter": "?", "file__compression": "none"},
    "parquet": {},
    "orc": {"file__compression": "zlib"},
}
TEXTS = ["plain", "'a/b'", 'say "x"', "tab\there", "ü漢, ;", "back\\slash", " x ", "a|b|", "%", "~"]


@pytest.mark.parametrize("java", [True, False], ids=["made by Java", "made here"])
@pytest.mark.parametrize("way", WAYS)
def test_texts_and_options_of_lines(both: Both, way: str, java: bool) -> None:
    file_format = way.partition(" ")[0]
    columns = {"v": "STRING", "p": "INT"}
    if file_format != "text":
        columns = {"id": "INT", **columns, "w": "STRING"}
    both.make(columns, file_format, "p", java=java, **WAYS[way])
    texts = [None, *TEXTS]
    rows: list[list[Any]] = [[text, 1] for text in texts]
    if file_format != "text":
        rows = [[number, text, 1 + number % 2, text] for number, text in enumerate(texts)]

    table = both.ours.format_table("db.t")
    ours = pa.Table.from_pylist(
        [dict(zip(table.arrow_schema.names, row, strict=True)) for row in rows],
        schema=table.arrow_schema,
    )
    table.write(ours)

    expected = rows
    if file_format == "text":  # a text says no NULL
        expected = [["" if row[0] is None else row[0], 1] for row in rows]
    expected = sorted(expected, key=repr)
    assert both.java_rows() == both.our_rows() == expected

    both.java("write", table="db.t", rows=[["+I", row] for row in rows])
    assert both.our_rows() == both.java_rows()


TYPES: dict[str, Any] = {
    "a": "BOOLEAN NOT NULL",
    "b": "CHAR(5)",
    "c": "VARCHAR(5)",
    "d": "TIMESTAMP(6)",
    "e": "TIMESTAMP(9)",
    "f": "TIMESTAMP(3) WITH LOCAL TIME ZONE",
    "g": "BINARY(2)",
    "h": "TIME(3)",
    "i": "DECIMAL(38, 10)",
}
VALUES = [
    [
        *(True, "abc  ", "ab", "2024-01-02T03:04:05.678901", "2024-01-02T03:04:05.678901234"),
        *("2024-01-02T03:04:05.678Z", "00ff", "01:02:03.004", "1234567890123456789012345678.5"),
    ],
    [False] + [None] * 8,
]
NESTED: dict[str, Any] = {
    "n": {"type": "ARRAY", "element": "INT"},
    "m": {"type": "MAP", "key": "STRING", "value": {"type": "ARRAY", "element": "DATE"}},
    "r": {"type": "ROW", "fields": [{"name": "x", "type": "INT"}, {"name": "y", "type": "STRING"}]},
}
NESTED_TEXT = {"n": "ARRAY<INT>", "m": "MAP<STRING, ARRAY<DATE>>", "r": "ROW<x INT, y STRING>"}


@pytest.mark.parametrize("file_format", ["csv", "json", "parquet"])
def test_types(both: Both, file_format: str) -> None:
    both.make(TYPES, file_format, java=True)
    both.java("write", table="db.t", rows=[["+I", row] for row in VALUES])
    javas = both.java_rows()
    table = both.ours.format_table("db.t")
    found = table.to_arrow()
    assert len(javas) == found.num_rows == 2

    table.overwrite(found)

    assert both.java_rows() == javas
    assert table.to_arrow().equals(found)
    ours = both.our_rows()
    assert [row[:3] for row in ours] == [row[:3] for row in javas]


@pytest.mark.parametrize("file_format", ["json", "parquet"])
def test_nested_types(both: Both, file_format: str) -> None:
    both.make(NESTED, file_format, java=True)
    values = [
        [[1, None, 3], [["k", ["2024-01-02"]], ["ü", []]], [1, "y"]],
        [[], [], [None, None]],
        [None, None, None],
    ]
    both.java("write", table="db.t", rows=[["+I", row] for row in values])
    javas = both.java_rows()
    table = both.ours.format_table("db.t")
    found = table.to_arrow()
    assert found.column("n").to_pylist() == [[1, None, 3], [], None]

    table.overwrite(found)

    assert both.java_rows() == javas
    assert table.to_arrow().equals(found)


@pytest.mark.parametrize("java", [True, False], ids=["made by Java", "made here"])
@pytest.mark.parametrize("only_values", ["true", "false"])
@pytest.mark.parametrize("kind", ["STRING", "DATE", "BOOLEAN", "TINYINT", "BIGINT"])
def test_partitions(both: Both, kind: str, only_values: str, java: bool) -> None:
    both.make(
        {"id": "INT", "p": kind, "q": "STRING"},
        "json",
        "p",
        "q",
        java=java,
        **{"format-table.partition-path-only-value": only_values},
    )
    values = {
        "STRING": "x",
        "DATE": "2024-02-29",
        "BOOLEAN": True,
        "TINYINT": -3,
        "BIGINT": 2**40,
    }
    rows = [[1, values[kind], "a"], [2, None, "a"], [3, values[kind], None]]
    both.java("write", table="db.t", rows=[["+I", row] for row in rows])
    table = both.ours.format_table("db.t")
    assert both.our_rows() == sorted(rows, key=repr)
    if only_values == "true":  # Java takes the folder of NULL for a hidden one
        assert both.java_rows() == [rows[0]]
        with pytest.raises(DataError, match="default-name"):
            table.overwrite(table.to_arrow())
        return

    table.overwrite(table.to_arrow())

    assert both.java_rows() == both.our_rows() == sorted(rows, key=repr)
