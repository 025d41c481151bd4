"""Every BinaryRow in the manifests of Java is encoded again to the same bytes."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pytest

from paimonlab.formats.manifests.manifest import read_entries
from paimonlab.spec.binary_row.rows import decode, encode
from paimonlab.spec.manifests.data_file import EMPTY_ROW
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.types.data_types import DataField
from tests.golden import RELEASES, golden
from tests.golden.expected import Expected, cases, expected
from tests.java_values import java_rows, normal_rows

Fields: TypeAlias = tuple[DataField, ...]
OTHER_FORMATS = {"mani_orc", "mani_parquet"}
BEYOND_ARROW = {"types_orc", "types_parquet", "types_pk_orc", "types_pk_parquet"}
"""They have a TIMESTAMP(9) of the year 1600; Arrow's nanoseconds begin in 1677."""


def reencoded(rows: list[bytes], fields: Sequence[DataField]) -> list[bytes]:
    types = [field.type for field in fields]
    encoded = encode(decode(pa.array(rows, pa.large_binary()), types), types)
    return encoded.to_pylist() if types else [EMPTY_ROW] * len(rows)


@pytest.mark.parametrize("writer", RELEASES)
def test_rows_in_manifests_keep_their_bytes(writer: str) -> None:
    found: defaultdict[Fields, list[tuple[bytes, Path]]] = defaultdict(list)
    for table in sorted((golden(writer) / "wh/db.db").iterdir()):
        if table.name in OTHER_FORMATS | BEYOND_ARROW:
            continue
        schemas = {schema.id: schema for schema in map(read_schema, table.glob("schema/*-*"))}
        for path in table.glob("manifest/manifest-*"):
            if path.name.startswith("manifest-list"):
                continue
            for entry in read_entries(path.read_bytes(), path=str(path)).to_pylist():
                for row, fields in binary_rows(entry, schemas[entry["schema_id"]]):
                    found[fields].append((row, path))
    for fields, rows in found.items():
        again = reencoded([row for row, _ in rows], fields)
        for (row, path), bytes_again in zip(rows, again, strict=True):
            assert bytes_again == row, (path, fields)
    assert sum(map(len, found.values())) > 4000


def read_schema(path: Path) -> TableSchema:
    return TableSchema.from_json(path.read_bytes(), path=str(path))


def binary_rows(entry: dict[str, Any], schema: TableSchema) -> list[tuple[bytes, Fields]]:
    """Return every row of a manifest entry with the columns it has."""
    keys = tuple(schema.field(name) for name in schema.trimmed_primary_keys)
    partition = tuple(schema.field(name) for name in schema.partition_keys)
    with_stats = entry["value_stats_cols"]
    values = tuple(f for f in schema.fields if with_stats is None or f.name in with_stats)
    if entry["write_cols"] is not None:
        values = ()
    found: list[tuple[bytes, Fields]] = [
        (entry["partition"], partition),
        (entry["min_key"], keys),
        (entry["max_key"], keys),
    ]
    for name, fields in (("key_stats", keys), ("value_stats", values)):
        for bound in ("min_values", "max_values"):
            row = entry[f"{name}_{bound}"]
            if int.from_bytes(row[:4]) == len(fields):  # changelog files may have none
                found.append((row, fields))
    return found


@pytest.mark.parametrize("writer", RELEASES)
def test_keys_and_statistics_have_the_values_java_shows(writer: str) -> None:
    compared = 0
    for case in cases():
        if case.writer == writer and case.table not in BEYOND_ARROW:
            compared += compare_files(expected(case))
    assert compared > 200


def compare_files(answers: Expected) -> int:
    schemas = {s["id"]: s for s in answers.document["schemas"]}
    for entry in answers.document["files"]:
        file = entry["file"]
        data = json.dumps(schemas[file["schema"]]).encode()
        schema = TableSchema.from_json(data, path="expected")
        keys = [schema.field(name) for name in schema.trimmed_primary_keys]
        names = file.get("valueStatsCols", file.get("writeCols", schema.field_names))
        columns = [schema.field(name) for name in names if name in schema.field_names]
        for stats, fields in ((file["keyStats"], keys), (file["valueStats"], columns)):
            if not fields or len(fields) != len(stats["min"]):
                continue
            for bound in ("min", "max"):
                row = pa.array([bytes.fromhex(stats[f"{bound}_hex"])], pa.large_binary())
                found = pa.table(
                    decode(row, [field.type for field in fields]), [f.name for f in fields]
                )
                assert java_rows(found, fields) == normal_rows([stats[bound]], fields)
    return len(answers.document["files"])
