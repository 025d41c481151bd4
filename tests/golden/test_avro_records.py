"""Records of Java's manifests, decoded and encoded again, are the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import pytest

from paimonlab.formats.manifests.manifest import (
    read_entries,
    read_manifest_list,
    write_entries,
    write_manifest_list,
)
from tests.golden import RELEASES, golden

OTHER_FORMATS = {"mani_orc", "mani_parquet"}
SAME: dict[str, Callable[[bytes, str], bytes]] = {
    "manifest-list-": lambda data, path: write_manifest_list(read_manifest_list(data, path=path)),
    "manifest-": lambda data, path: write_entries(read_entries(data, path=path)),
}


ROW_IDS = ("_MIN_ROW_ID", "_MAX_ROW_ID")
"""Fields of a manifest list that are written here only where rows have ids."""


def values(data: bytes) -> list[dict[str, Any]]:
    """Return the records of a container file."""
    found: Any = fastavro.reader(BytesIO(data))
    return list(found)


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
@pytest.mark.parametrize("writer", RELEASES)
def test_records_of_java_keep_their_bytes(writer: str, kind: str) -> None:
    compared = same = 0
    for path in sorted((golden(writer) / "wh").glob("**/manifest/manifest-*")):
        if path.parts[-3] in OTHER_FORMATS or kind_of(path) != kind:
            continue
        data = path.read_bytes()

        again = SAME[kind](data, str(path))

        if has_empty_row_ids(data):
            assert field_names(data) == [*field_names(again), *((name, [None]) for name in ROW_IDS)]
            assert values(data) == [one | dict.fromkeys(ROW_IDS) for one in values(again)], path
        else:
            assert field_names(again) == field_names(data), path
            assert records(again) == records(data), path
            same += 1
        compared += 1
    assert compared > 300
    assert same > (300 if "1.3" in writer or kind == "manifest-" else 10)


def has_empty_row_ids(data: bytes) -> bool:
    """Whether a manifest list has room for row ids, as all have since 1.4, and none in it."""
    found = [[one.get(name, 0) for name in ROW_IDS] for one in values(data)]
    return all(ids == [None, None] for ids in found) and "_MIN_ROW_ID" in str(field_names(data))


def kind_of(path: Path) -> str:
    return next(kind for kind in SAME if path.name.startswith(kind))
