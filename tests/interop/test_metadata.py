"""Manifests: the same rows written by both are described in the same way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from paimonlab.formats.manifests.entry_rows import table_to_entries
from paimonlab.maintenance.fsck.check import fsck
from paimonlab.storage import LocalFileIO
from paimonlab.table.inside import store_of
from paimonlab.table.system import SystemTable
from tests.golden.test_system_tables import SINCE_1_4, SINCE_2
from tests.interop.java_build import COMPILED_WITH, is_since_1_4
from tests.interop.pair import KIND, Pair, random_rows
from tests.interop.test_types import DECIMALS, NESTED, PRIMITIVES
from tests.support import partition_by_name

pytestmark = [pytest.mark.interop, pytest.mark.every_release]

OF_THE_WRITER = {"name", "size"}
WITHOUT_STATISTICS_OF_JAVA = {
    "f_binary",
    "f_varbinary",
    "f_bytes",
    *(f"f_{kind}{precision}" for kind in ("ts", "ltz") for precision in (7, 8, 9)),
}
"""Java's Parquet writer keeps no minimum and maximum of these; we do."""
COMMON = {name: text for name, text in PRIMITIVES.items() if name not in WITHOUT_STATISTICS_OF_JAVA}
SHAPES: Mapping[str, tuple[dict[str, str], list[str], list[str], dict[str, str]]] = {
    "append": ({**COMMON, **NESTED}, [], [], {}),
    "decimals": (DECIMALS, [], [], {}),
    "bucketed": (COMMON, [], [], {"bucket": "3", "bucket-key": "f_int"}),
    "partitioned": (COMMON, [], ["f_date", "f_ts6", "f_dec"], {}),
    "keyed": ({**COMMON, **NESTED}, ["f_bigint", "f_ts6"], [], {"bucket": "2"}),
    "keyed partitions": (COMMON, ["f_boolean", "f_string"], ["f_boolean"], {"bucket": "1"}),
    "full statistics": (COMMON, [], [], {"metadata.stats-mode": "full"}),
    "no statistics": (COMMON, ["f_int"], [], {"bucket": "1", "metadata.stats-mode": "none"}),
    "counts": (COMMON, [], [], {"metadata.stats-mode": "counts"}),
    "short texts": (COMMON, [], [], {"metadata.stats-mode": "truncate(3)"}),
    "one column": (
        COMMON,
        [],
        [],
        {"metadata.stats-mode": "none", "fields.f_string.stats-mode": "full"},
    ),
    "sparse statistics": (
        {**COMMON, **NESTED},
        [],
        [],
        {"metadata.stats-dense-store": "false"},
    ),
    "first columns": (COMMON, [], [], {"metadata.stats-keep-first-n-columns": "2"}),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_files_are_described_as_java_describes_them(
    pair: Pair,
    shape: tuple[dict[str, str], list[str], list[str], dict[str, str]],
    rng: np.random.Generator,
) -> None:
    columns, pk, partition, options = shape
    columns = {**columns, "f_dec": "DECIMAL(20, 2)"}
    columns |= {name: f"{columns[name]} NOT NULL" for name in pk}
    rows = random_rows(columns, 40, rng)
    if is_since_1_4(pair.java.release):
        rows = without_zeros(rows)
    if partition:
        rows = pa.concat_tables([rows.slice(0, 4)] * 10)
    kinds = pa.array(rng.choice(["+I", "-D"], 40)) if pk else pa.array(["+I"] * 40)
    rows = rows.append_column(KIND, kinds)
    if pk:
        options = {**options, "write-only": "true"}

    for side, name in (("us", "db.ours"), ("java", "db.javas")):
        pair.create("us", name, columns, pk=pk, partition=partition, options=options)
        pair.write("us" if side == "us" else "java", name, rows)

    ours, javas = described(pair, "db.ours"), described(pair, "db.javas")
    assert [entry["partition"] for entry in ours] == [entry["partition"] for entry in javas]
    for our, java in zip(ours, javas, strict=True):
        assert our == java
    assert manifests(pair, "db.ours") == manifests(pair, "db.javas")


def without_zeros(rows: pa.Table) -> pa.Table:
    """Statistics of zeros are -0.0 to 0.0 here and in Java 1.3; Java 1.4 keeps their sign."""
    for place, field in enumerate(rows.schema):
        if pa.types.is_floating(field.type):
            column, one = rows.column(place), pa.scalar(1, field.type)
            rows = rows.set_column(place, field, pc.if_else(pc.equal(column, 0), one, column))
    return rows


def described(pair: Pair, name: str) -> list[dict[str, Any]]:
    """Return what Java sees of the live files, but for what differs from run to run."""
    entries = pair.java("files", table=name)
    for entry in entries:
        for key in OF_THE_WRITER:
            entry["file"].pop(key)
    return sorted(entries, key=lambda entry: (str(entry["partition"]), entry["bucket"]))


def manifests(pair: Pair, name: str) -> list[dict[str, Any]]:
    snapshot = pair.java("snapshots", table=name)[-1]
    found = pair.java("manifest_list", table=name, file=snapshot["deltaManifestList"])
    for manifest in found:
        manifest.pop("file")
        manifest.pop("size")
    return list(found)


def test_our_snapshot_has_the_fields_of_javas(pair: Pair, rng: np.random.Generator) -> None:
    columns = {"k": "INT NOT NULL", "v": "STRING"}
    for side, name in (("us", "db.ours"), ("java", "db.javas")):
        pair.create("us", name, columns)
        for number in range(2):
            rows = pa.table({"k": pa.array([number], pa.int32()), "v": ["x"]})
            pair.write("us" if side == "us" else "java", name, rows)

    ours, javas = (pair.java("snapshots", table=name)[-1] for name in ("db.ours", "db.javas"))

    said_by_absence: dict[str, Any] = {"logOffsets": {}}
    if is_since_1_4(pair.java.release):
        said_by_absence = {}
        assert ours.pop("changelogRecordCount") == 0, "left out by Java 1.4"
    of_the_run = {key for key in javas if "anifestList" in key} | {"commitUser", "timeMillis"}
    for key in of_the_run:
        assert (ours.pop(key) is None) == (javas.pop(key) is None), key
    assert ours == {k: v for k, v in javas.items() if k not in said_by_absence}
    assert javas.items() >= said_by_absence.items()


@pytest.mark.parametrize(
    "name",
    [
        *("snapshots", "schemas", "options", "files", "manifests", "partitions", "buckets"),
        "aggregation_fields",
    ],
)
def test_system_tables_show_what_java_shows(
    pair: Pair, name: str, rng: np.random.Generator
) -> None:
    columns = {"p": "DATE", "k": "INT", "v": "STRING", "d": "DECIMAL(20, 2)"}
    options = {"bucket": "-1", "write-only": "true"}
    pair.create("us", "db.t", columns, partition=["p"], options=options)
    pair.write("us", "db.t", random_rows(columns, 5, rng))
    pair.write("java", "db.t", random_rows(columns, 5, rng))

    table = pair.catalog.system_table(f"db.t${name}")
    assert isinstance(table, SystemTable)
    javas = pair.java.rows(f"db.t${name}")

    ours = table.scan().to_arrow()
    assert ours.num_rows == len(javas) > 0
    later = SINCE_2.get(name, set())
    if pair.java.release == COMPILED_WITH:
        later = later | SINCE_1_4.get(name, set())
        if name == "partitions":
            javas = [[partition_by_name(row[0], table.table), *row[1:]] for row in javas]
    assert set(ours.column_names[len(javas[0]) :]) == later
    ours = ours.drop_columns(list(later))
    texts = [i for i, field in enumerate(ours.schema) if not pa.types.is_timestamp(field.type)]
    assert sorted(
        str([list(row.values())[i] for i in texts]) for row in ours.to_pylist()
    ) == sorted(str([row[i] for i in texts]) for row in javas)


@pytest.mark.parametrize("name", ["ro", "audit_log", "binlog", "table_indexes"])
def test_system_tables_of_keyed_rows_show_what_java_shows(pair: Pair, name: str) -> None:
    columns = {"k": "INT NOT NULL", "v": "STRING"}
    pair.create("us", "db.t", columns, pk=["k"], options={"bucket": "1", "write-only": "true"})
    keys = pa.array([1, 2, 3], pa.int32())
    pair.write("us", "db.t", pa.table({"k": keys, "v": ["a", None, "c"]}))
    pair.java("compact", table="db.t")
    kinds = {"k": keys, "v": ["A", None, "C"], KIND: ["+U", "-D", "+I"]}
    pair.write("us", "db.t", pa.table(kinds))

    table = pair.catalog.system_table(f"db.t${name}")
    ours = table.scan().to_arrow()
    javas = pair.java.rows(f"db.t${name}")

    assert sorted(str(list(row.values())) for row in ours.to_pylist()) == sorted(map(str, javas))
    assert ours.num_rows == (0 if name == "table_indexes" else 3)


def test_entries_keep_their_meaning_when_java_writes_them_anew(
    pair: Pair, rng: np.random.Generator
) -> None:
    pair.create("us", "db.t", PRIMITIVES, options={"manifest.merge-min-count": "2"})
    for _ in range(3):
        pair.write("us", "db.t", random_rows(PRIMITIVES, 5, rng))
    before = entries(pair)

    for _ in range(3):
        pair.write("java", "db.t", random_rows(PRIMITIVES, 0, rng))
    pair.write("java", "db.t", random_rows(PRIMITIVES, 5, rng))

    after = {entry.file.file_name: entry for entry in entries(pair)}
    assert [after[entry.file.file_name] for entry in before] == before


def entries(pair: Pair) -> list[Any]:
    return table_to_entries(pair.open("db.t").scan().plan().files)


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
@pytest.mark.parametrize("pk", [[], ["s"]], ids=["append", "keyed"])
def test_java_files_with_long_values_are_sound(pair: Pair, pk: list[str], file_format: str) -> None:
    """Of values above some kilobytes their Parquet files count no nulls: -1, that is unknown."""
    columns = {"s": "STRING", "y": "BYTES", "n": "STRING"}
    options = {"file.format": file_format, "metadata.stats-mode": "full"}
    options |= {"bucket": "1"} if pk else {}
    pair.create("java", "db.t", columns, pk=pk, options=options)
    texts = [chr(97 + number) * 9_000 for number in range(4)] + ["\uffff" * 3_000]
    data = {"s": texts, "y": [text.encode() for text in texts], "n": [None, *texts[1:]]}
    pair.write("java", "db.t", pa.table(data))
    if pk:
        pair.java("compact", table="db.t")
    table = pair.open("db.t")

    report = fsck("db.t", LocalFileIO(), store_of(table).layout, deep=True)

    assert report.is_clean, str(report)
    assert table.scan(["n"], where="n IS NULL").count() == 1
    assert table.scan(["n"], where="n IS NOT NULL").count() == 4


def test_bytes_are_hex_in_files_where_java_shows_addresses(pair: Pair) -> None:
    columns = {"k": "BYTES", "b": "BINARY(2)"}
    pair.create("java", "db.t", columns, pk=["k", "b"], options={"bucket": "1"})
    data = {"k": [b"\x00\xff", b"\x01ab"], "b": pa.array([b"\xc3\x28"] * 2, pa.binary(2))}
    pair.write("java", "db.t", pa.table(data))
    ours = pair.catalog.system_table("db.t$files").scan().to_arrow().to_pylist()
    javas = pair.java.rows("db.t$files")

    assert [(row["min_key"], row["max_key"]) for row in ours] == [
        ("[00ff, c328]", "[016162, c328]")
    ]
    assert all(text.count("[B@") == 2 for row in javas for text in row[8:10]), javas
