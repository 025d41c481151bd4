"""An overwrite has no changelog, and leaves no files of one."""

from __future__ import annotations

import logging
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.commit.scope import OverwriteScope


def rows(*keys: int, value: int) -> pa.Table:
    return pa.table({"dt": ["a"] * len(keys), "k": list(keys), "v": [value] * len(keys)})


def new_table(path: Path, producer: str) -> pl.Table:
    catalog = pl.connect(str(path))
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        {"dt": "STRING NOT NULL", "k": "BIGINT NOT NULL", "v": "BIGINT"},
        primary_keys=["dt", "k"],
        partition_keys=["dt"],
        options={"bucket": "1", "changelog-producer": producer},
    )
    assert isinstance(table, pl.Table)
    table.write(rows(1, 2, value=1))
    return table


def changelogs(path: Path) -> set[str]:
    return {file.name for file in path.glob("db.db/t/dt=a/bucket-0/changelog-*")}


@pytest.mark.parametrize("producer", ["input", "lookup", "full-compaction"])
def test_an_overwrite_leaves_no_changelog_that_nothing_refers_to(
    producer: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    table = new_table(tmp_path, producer)
    before = changelogs(tmp_path)

    with caplog.at_level(logging.WARNING):
        table.overwrite(rows(2, 3, value=2), partition={"dt": "a"})

    assert changelogs(tmp_path) == before
    assert table.scan().to_arrow().sort_by("k").to_pylist() == rows(2, 3, value=2).to_pylist()
    assert ("streaming-read-overwrite" in caplog.text) == (producer != "full-compaction")


def test_messages_that_replace_all_lose_their_changelog(tmp_path: Path) -> None:
    table = new_table(tmp_path, "input")
    before = changelogs(tmp_path)
    writer = table.new_writer()
    writer.write(rows(2, 3, value=2))
    messages = writer.prepare_commit()
    assert any(message.changelog_files for message in messages)

    table.commit(messages, overwrite=OverwriteScope.whole_table())

    assert changelogs(tmp_path) == before
    assert table.scan().to_arrow().sort_by("k").to_pylist() == rows(2, 3, value=2).to_pylist()
