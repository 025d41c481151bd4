"""Every JSON document of the golden tables is written again as it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.snapshot import Snapshot, Tag
from tests.golden import RELEASES, ROOTS, golden

JAVA = [*RELEASES, "java-0.9"]
OBSOLETE = {"logOffsets"}  # of engines before Paimon 1.0; gone from the format since 1.4


def documents(writer: str, pattern: str) -> Iterator[Path]:
    paths = sorted((golden(writer) / "wh").glob(f"**/{pattern}"))
    assert paths
    yield from paths


def meaning(document: Any) -> Any:
    """Leave out nulls, which are absent keys, and obsolete keys."""
    return {
        key: value for key, value in document.items() if value is not None and key not in OBSOLETE
    }


@pytest.mark.parametrize("writer", ROOTS)
def test_snapshots_are_written_as_they_were_read(writer: str) -> None:
    for path in documents(writer, "snapshot/snapshot-*"):
        data = path.read_bytes()
        again = Snapshot.from_json(data, path=str(path)).to_json()
        assert meaning(json.loads(again)) == meaning(json.loads(data)), path


@pytest.mark.parametrize("writer", JAVA)
def test_tags_are_written_as_they_were_read(writer: str) -> None:
    for path in documents(writer, "tag/tag-*"):
        data = path.read_bytes()
        again = Tag.from_json(data, path=str(path)).to_json()
        assert meaning(json.loads(again)) == meaning(json.loads(data)), path


@pytest.mark.parametrize("writer", JAVA)
def test_schemas_are_written_as_they_were_read(writer: str) -> None:
    for path in documents(writer, "schema/schema-*"):
        data = path.read_bytes()
        again = TableSchema.from_json(data, path=str(path)).to_json()
        assert json.loads(again) == json.loads(data), path
