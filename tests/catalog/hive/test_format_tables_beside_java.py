"""Format tables that Java Paimon and paimonlab write and read in turn, in one Hive metastore."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from paimonlab.catalog.hive.catalog import HiveCatalog
from paimonlab.spec.schema.definition import Schema
from tests.catalog.hive.metastores import client_jar
from tests.catalog.hive.test_beside_java import Both
from tests.interop.conftest import java_tools as java_tools  # noqa: PLC0414 - a fixture
from tests.interop.conftest import without_java
from tests.interop.java_build import NEWEST, JavaMissingError, JavaTools
from tests.interop.oracle import Oracle

pytestmark = pytest.mark.interop
FORMATS = ("csv", "json", "parquet", "orc")
COLUMNS = {
    "a": "BOOLEAN",
    "b": "TINYINT",
    "c": "SMALLINT",
    "i": "INT",
    "l": "BIGINT",
    "f": "FLOAT",
    "d": "DOUBLE",
    "e": "DECIMAL(12, 3)",
    "s": "STRING",
    "x": "BYTES",
    "day": "DATE",
    "t3": "TIMESTAMP(3)",
    "p": "STRING",
    "q": "INT",
}
VALUES: list[list[Any]] = [
    [
        *(True, -128, 32767, 7, -(2**63), 1.5, -1e300, "-12.345", 'a,"b"\\c ü漢 ', "0001ff"),
        *("2024-02-29", "2024-01-02T03:04:05.678", "x/y=z", 1),
    ],
    [None] * 12 + [None, 2],
    [
        *(False, 127, -1, -7, 2**63 - 1, 3.4e38, 0.1, "999999999.999", "\\N", ""),
        *("0001-01-01", "1969-12-31T23:59:59.999", "x/y=z", None),
    ],
    [
        *(None, 0, 0, 0, 0, 1e-10, 1e16, "0.000", '"', "61"),
        *("9999-12-31", "2024-01-02T00:00", "ü %", 2),
    ],
]


@pytest.fixture(scope="module")
def java(java_tools: JavaTools, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    try:
        jars = [client_jar(java_tools)]
        started = Oracle(java_tools, tmp_path_factory.mktemp("java"), NEWEST, more_jars=jars)
    except JavaMissingError as missing:
        without_java(missing)
    yield started
    started.close()


@pytest.fixture
def both(java: Oracle, hive_uri: str, tmp_path: Path) -> Both:
    made = Both(java, hive_uri, tmp_path / "w")
    made.ours.create_database("db")
    return made


def our_rows(both: Both, name: str) -> list[list[Any]]:
    assert isinstance(both.ours, HiveCatalog)
    return sorted_rows(
        [list(one.values()) for one in both.ours.format_table(name).to_arrow().to_pylist()]
    )


def java_rows(both: Both, name: str) -> list[list[Any]]:
    return sorted_rows([row for _, row in both.java("read", table=name)])


def sorted_rows(rows: list[list[Any]]) -> list[list[Any]]:
    return sorted(rows, key=repr)


def as_java(table: pa.Table) -> list[list[Any]]:
    """Return rows as the oracle spells them."""

    def spelled(value: Any) -> Any:
        if isinstance(value, bytes):
            return value.hex()
        if isinstance(value, bool | int | float | str) or value is None:
            return value
        return value.isoformat() if hasattr(value, "isoformat") else str(value)

    rows = [[spelled(value) for value in row.values()] for row in table.to_pylist()]
    for row in rows:
        for place, text in enumerate(row):
            if isinstance(text, str) and text.endswith(":00") and text.count(":") == 2:
                row[place] = text.removesuffix(":00")
            elif isinstance(text, str) and len(text) == 26 and text.endswith("000"):
                row[place] = text.removesuffix("000")
    return sorted_rows(rows)


def values_of(file_format: str) -> list[list[Any]]:
    """Return the rows that files can hold: ORC is not written with fractions before 1970."""
    broken = "1969-12-31T23:59:59.999"
    other = "1969-12-31T23:59:59" if file_format == "orc" else broken
    return [[other if value == broken else value for value in row] for row in VALUES]


def expected(file_format: str) -> list[list[Any]]:
    single = values_of(file_format)
    for row in single:
        if row[5] is not None:
            row[5] = pa.array([row[5]], pa.float32())[0].as_py()
    return sorted_rows(single)


def given(schema: pa.Schema, file_format: str) -> pa.Table:
    """Return the values as Arrow has them."""
    columns = []
    rows = values_of(file_format)
    for field, values in zip(schema, zip(*rows, strict=True), strict=True):
        if pa.types.is_binary(field.type):
            decoded = [None if one is None else bytes.fromhex(one) for one in values]
            columns.append(pa.array(decoded, field.type))
        elif isinstance(next(one for one in values if one is not None), str):
            columns.append(pa.array(values, pa.string()).cast(field.type))
        else:
            columns.append(pa.array(values, field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def floats_as_ours(rows: list[list[Any]]) -> list[list[Any]]:
    """Return rows with the floats that Java's shortest texts stand for."""
    found = [list(row) for row in rows]
    for row in found:
        if row[5] is not None:
            row[5] = pa.array([row[5]], pa.float32())[0].as_py()
    return sorted_rows(found)


def created(both: Both, file_format: str, maker: str, **more: str) -> str:
    name = f"db.{maker}_{file_format}"
    options = {
        "type": "format-table",
        "file.format": file_format,
        "csv.null-literal": "NULL",
        **more,
    }
    if file_format != "csv":
        options.pop("csv.null-literal")
    keys = ["p", "q"]
    if maker == "java":
        fields = [[column, text] for column, text in COLUMNS.items()]
        both.java("create_table", table=name, fields=fields, partition=keys, options=options)
    else:
        both.ours.create_table(name, COLUMNS, partition_keys=keys, options=options)
    return name


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize("maker", ["java", "ours"])
def test_rows_of_one_are_read_by_the_other(both: Both, file_format: str, maker: str) -> None:
    name = created(both, file_format, maker)

    both.java("write", table=name, rows=[["+I", row] for row in values_of(file_format)])
    javas = java_rows(both, name)
    assert as_java(both.ours.format_table(name).to_arrow()) == floats_as_ours(javas)

    table = both.ours.format_table(name)
    table.overwrite(given(table.arrow_schema, file_format), dynamic=False)

    assert (
        floats_as_ours(java_rows(both, name)) == as_java(table.to_arrow()) == expected(file_format)
    )
    assert all("data-" in one.path for one in table.scan().files())


@pytest.mark.parametrize("file_format", [*FORMATS, "text"])
def test_objects_are_those_of_a_java_made_twin(both: Both, file_format: str) -> None:
    columns = COLUMNS if file_format != "text" else {"line": "STRING", "p": "STRING"}
    options = {"type": "format-table", "file.format": file_format}
    if file_format == "csv":
        options |= {"csv.field-delimiter": ";"}
    fields = [[column, text] for column, text in columns.items()]
    both.java(
        "create_table",
        table="db.twin",
        fields=fields,
        partition=["p"],
        options=options,
        comment="c",
    )
    theirs = both.objects("db").pop("twin")
    both.java("drop_table", table="db.twin")

    both.ours.create_table("db.twin", Schema(columns, ("p",), (), options, comment="c"))

    assert both.objects("db").pop("twin") == theirs
