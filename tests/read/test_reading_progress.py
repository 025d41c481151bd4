from __future__ import annotations

from pathlib import Path

import pyarrow as pa

import paimonlab
from paimonlab.read.reading_progress import FileSource, told

BATCH = pa.RecordBatch.from_pydict({"a": [1]})


def test_files_are_done_when_all_their_shares_are() -> None:
    said: list[tuple[int, int, str]] = []
    sources = [FileSource(lambda: [BATCH, BATCH], 1 / 3)] * 3 + [FileSource(list, 2)]

    telling = told(sources, 4, lambda *one: said.append(one))

    assert [len(list(source())) for source in telling] == [2, 2, 2, 0]
    assert said == [(1, 4, "files"), (1, 4, "files"), (2, 4, "files"), (4, 4, "files")]


def test_nobody_is_told_unless_asked() -> None:
    sources = [FileSource(lambda: [BATCH], 1)]

    assert told(sources, 1, None) == [sources[0].read]


def test_a_scan_tells_how_many_files_are_read(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"a": "BIGINT"})
    for number in range(3):
        table.write(pa.table({"a": [number]}))
    said: list[tuple[int, int, str]] = []

    rows = table.scan().to_batches(progress=lambda *one: said.append(one)).read_all()

    assert sorted(rows["a"].to_pylist()) == [0, 1, 2]
    assert said[-1] == (3, 3, "files")
    assert [done for done, *_ in said] == sorted(done for done, *_ in said)
