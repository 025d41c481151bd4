"""Records of Java's manifests, decoded and encoded again, are the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import pytest

from paimonlab.formats.manifest_avro import (
    read_entries,
    read_manifest_list,
    write_entries,
    write_manifest_list,
)
from tests.golden import golden

OTHER_FORMATS = {"mani_orc", "mani_parquet"}
SAME: dict[str, Callable[[bytes, str], bytes]] = {
    "manifest-list-": lambda data, path: write_manifest_list(read_manifest_list(data, path=path)),
    "manifest-": lambda data, path: write_entries(read_entries(data, path=path)),
}


def records(data: bytes) -> bytes:
    """Return the encoded records of a container file, whatever its blocks and compression."""
    blocks: Any = fastavro.block_reader(BytesIO(data))
    return b"".join(block.bytes_.getvalue() for block in blocks)


def field_names(data: bytes) -> Any:
    """Return the names of the fields, nested ones too, in order."""

    def names(schema: Any) -> Any:
        if isinstance(schema, list):
            return [names(branch) for branch in schema if branch != "null"]
        if isinstance(schema, dict) and schema["type"] == "record":
            return [(field["name"], names(field["type"])) for field in schema["fields"]]
        if isinstance(schema, dict) and schema["type"] == "array":
            return names(schema["items"])
        return None

    return names(fastavro.reader(BytesIO(data)).writer_schema)


@pytest.mark.parametrize("kind", SAME)
def test_records_of_java_keep_their_bytes(kind: str) -> None:
    compared = 0
    for path in sorted((golden("java-1.3.1") / "wh").glob("**/manifest/manifest-*")):
        if path.parts[-3] in OTHER_FORMATS or kind_of(path) != kind:
            continue
        data = path.read_bytes()

        again = SAME[kind](data, str(path))

        assert field_names(again) == field_names(data), path
        assert records(again) == records(data), path
        compared += 1
    assert compared > 300


def kind_of(path: Path) -> str:
    return next(kind for kind in SAME if path.name.startswith(kind))
