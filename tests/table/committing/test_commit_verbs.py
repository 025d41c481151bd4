"""Callbacks, marks and statistics through the table object."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spec.snapshot import CommitKind, Snapshot
from paimonlab.spec.statistics.table import ColumnStatistics, Statistics
from paimonlab.table.table import Table


def new_table(folder: Path, **options: str) -> Table:
    catalog = pl.connect(str(folder))
    catalog.create_database("db", exist_ok=True)
    schema = {"dt": "STRING", "id": "INT"}
    return catalog.create_table("db.t", schema, partition_keys=["dt"], options=options)


ROWS = pa.table({"dt": ["a", "b"], "id": pa.array([1, 2], pa.int32())})


def test_callbacks_go_with_the_table(tmp_path: Path) -> None:
    seen: list[int] = []

    def note(snapshot: Snapshot, changes: pa.Table) -> None:
        seen.append(changes.num_rows)

    table = new_table(tmp_path).with_commit_callbacks(note)
    table.write(ROWS)
    table.overwrite(ROWS.slice(1))
    writer = table.new_writer()
    writer.write(ROWS)
    table.commit(writer.prepare_commit(), user=writer.user, callbacks=[note])

    assert seen == [2, 2, 2, 2]


def test_callbacks_named_by_option_are_refused_and_the_message_says_what_to_do(
    tmp_path: Path,
) -> None:
    with pytest.raises(UnsupportedError, match=r"table\.commit\(…, callbacks="):
        new_table(tmp_path, **{"commit.callbacks": "org.example.Callback"})


def test_partitions_are_marked_as_java_does(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    table.write(ROWS)

    assert table.mark_partitions_done([{"dt": "a"}, {"dt": "b"}]) == ["dt=a/", "dt=b/"]
    first = json.loads((Path(table.path) / "dt=a/_SUCCESS").read_text())
    table.mark_partitions_done([{"dt": "a"}])
    second = json.loads((Path(table.path) / "dt=a/_SUCCESS").read_text())

    assert set(first) == {"creationTime", "modificationTime"}
    assert first["creationTime"] == first["modificationTime"] == second["creationTime"]
    assert second["modificationTime"] >= first["modificationTime"]
    assert table.scan().count() == 2


def test_marking_takes_whole_partitions_and_known_actions(tmp_path: Path) -> None:
    table = new_table(tmp_path, **{"partition.mark-done-action": "success-file,done-partition"})

    with pytest.raises(UnsupportedError, match="'done-partition'"):
        table.mark_partitions_done([{"dt": "a"}])
    table = new_table(tmp_path / "other")
    with pytest.raises(SchemaError, match="a value of each partition column"):
        table.mark_partitions_done([{}])


def test_statistics_are_committed_by_themselves(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    table.write(ROWS)
    columns = {"id": ColumnStatistics(id=1, distinct_count=2, min="1", max="2", null_count=0)}
    statistics = Statistics(snapshot_id=1, schema_id=0, merged_record_count=2, columns=columns)

    snapshot = table.commit([], statistics=statistics)

    assert snapshot is not None
    assert snapshot.commit_kind is CommitKind.ANALYZE
    assert snapshot.statistics is not None
    text = (Path(table.path) / "statistics" / snapshot.statistics).read_text()
    assert json.loads(text)["colStats"]["id"]["distinctCount"] == 2
    with pytest.raises(ValueError, match="by themselves"):
        table.commit([], statistics=statistics, watermark=1)


def test_an_empty_write_makes_a_snapshot_if_it_is_forced(tmp_path: Path) -> None:
    table = new_table(tmp_path, **{"commit.force-create-snapshot": "true"})

    snapshot = table.write(ROWS.slice(0, 0))

    assert snapshot is not None
    assert snapshot.id == 1
