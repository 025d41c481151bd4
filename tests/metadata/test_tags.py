from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from paimonlab.errors import (
    AlreadyExistsError,
    CorruptMetadataError,
    SnapshotExpiredError,
    TagNotFoundError,
)
from paimonlab.metadata.tags import TagManager
from tests.small_tables import UNSYNCED, SmallTable


@pytest.fixture
def table(tmp_path: Path) -> SmallTable:
    return SmallTable(tmp_path).create()


def _tags(table: SmallTable) -> TagManager:
    now = datetime(2026, 1, 2, 3, 4, 5, 6).astimezone()
    return TagManager(UNSYNCED, table.layout, table_name="db.t", now=lambda: now)


def test_a_tag_keeps_its_snapshot(table: SmallTable) -> None:
    snapshot, tags = table.append("a"), _tags(table)

    tags.create("good", snapshot)
    table.append("b")

    assert table.live_names(tags.get("good")) == ["a"]
    assert [name for name, _ in tags.list()] == ["good"]
    document = json.loads(Path(table.layout.tag("good")).read_text(encoding="utf-8"))
    assert "tagCreateTime" not in document


def test_a_tag_with_an_end_says_so_as_java_does(table: SmallTable) -> None:
    tags = _tags(table)

    made = tags.create("short", table.append("a"), time_retained=timedelta(hours=1, seconds=1.5))

    document = json.loads(Path(table.layout.tag("short")).read_text(encoding="utf-8"))
    assert document["tagCreateTime"] == [2026, 1, 2, 3, 4, 5, 6000]
    assert document["tagTimeRetained"] == 3601.5
    assert tags.get("short") == made


def test_names_are_taken_once_and_given_back(table: SmallTable) -> None:
    snapshot, tags = table.append("a"), _tags(table)
    tags.create("x", snapshot)

    with pytest.raises(AlreadyExistsError, match=r"tag 'x' of db.t"):
        tags.create("x", snapshot)
    tags.delete("x")
    tags.create("x", snapshot)

    assert [name for name, _ in tags.list()] == ["x"]


@pytest.mark.parametrize("name", ["", "  ", "a/b", "..", "../../x", "a\nb", "a\\b"])
def test_names_that_cannot_be(table: SmallTable, name: str) -> None:
    snapshot, tags = table.append("a"), _tags(table)

    if name == "..":  # `tag-..` is a harmless file name
        tags.create(name, snapshot)
        return
    with pytest.raises(ValueError, match="cannot be the name of a tag"):
        tags.create(name, snapshot)
    with pytest.raises(TagNotFoundError):
        tags.get(name)


def test_an_unknown_tag_shows_close_ones(table: SmallTable) -> None:
    tags = _tags(table)
    tags.create("release-1", table.append("a"))

    with pytest.raises(TagNotFoundError, match="Did you mean 'release-1'"):
        tags.get("relase-1")
    with pytest.raises(TagNotFoundError, match=r"no tag 'other'\. Its tags are release-1\."):
        tags.delete("other")
    tags.delete("release-1")
    with pytest.raises(TagNotFoundError, match=r"no tag 'release-1'\. It has none\."):
        tags.get("release-1")


def test_a_snapshot_that_expires_meanwhile_is_not_tagged(table: SmallTable) -> None:
    snapshot, tags = table.append("a"), _tags(table)
    table.append("b")
    Path(table.layout.snapshot(1)).unlink()

    with pytest.raises(SnapshotExpiredError, match="before tag 'late' was created"):
        tags.create("late", snapshot)

    assert tags.list() == []


def test_a_damaged_tag_is_named(table: SmallTable) -> None:
    tags = _tags(table)
    tags.create("x", table.append("a"))
    Path(table.layout.tag("x")).write_bytes(b'{"id": "one"}')

    with pytest.raises(CorruptMetadataError, match="tag-x"):
        tags.list()


def test_a_retention_of_nothing_is_refused(table: SmallTable) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        _tags(table).create("x", table.append("a"), time_retained=timedelta(0))
