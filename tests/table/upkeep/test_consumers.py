from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import ConsumerNotFoundError, CorruptMetadataError
from paimonlab.metadata.consumers import ConsumerManager
from paimonlab.table.inside import store_of
from tests.golden import RELEASES
from tests.golden.expected import Case
from tests.golden.test_rows import open_table


@pytest.fixture
def table(tmp_path: Path) -> pl.Table:
    catalog = pl.connect(tmp_path / "warehouse")
    catalog.create_database("db")
    return catalog.create_table("db.t", {"id": "INT"})


@pytest.mark.parametrize("writer", [*RELEASES, "java-0.9"])
def test_a_consumer_of_java_is_read(writer: str) -> None:
    _, table = open_table(Case(writer, "consumer"))

    (next_snapshot,) = table.consumers.list().values()
    assert next_snapshot == 2


def test_consumers_move_and_go(table: pl.Table) -> None:
    table.consumers.reset("a", 3)
    table.consumers.reset("b", 1)
    table.consumers.reset("a", 4)

    path = Path(table.path) / "consumer" / "consumer-a"
    assert path.read_text() == '{\n  "nextSnapshot": 4\n}'
    assert table.consumers.list() == {"a": 4, "b": 1}
    table.consumers.delete("a")
    with pytest.raises(ConsumerNotFoundError, match="no consumer 'a'"):
        table.consumers.get("a")
    with pytest.raises(ConsumerNotFoundError):
        table.consumers.delete("a")
    for name, next_snapshot in ((" ", 1), ("a/b", 1), ("c", 0)):
        with pytest.raises(ValueError, match=r"name|numbered"):
            table.consumers.reset(name, next_snapshot)


def test_consumers_are_cleared_by_pattern(table: pl.Table) -> None:
    for name in ("job-1", "job-2", "other"):
        table.consumers.reset(name, 1)

    assert table.consumers.clear(including="job-.*", excluding=".*2") == ["job-1"]
    assert list(table.consumers.list()) == ["job-2", "other"]
    assert table.consumers.clear() == ["job-2", "other"]


def test_a_pattern_matches_what_it_matches_in_java(table: pl.Table) -> None:
    for name in ("job1", "jöb1", "job\u0661"):
        table.consumers.reset(name, 1)

    assert table.consumers.clear(including=r"\w+\d") == ["job1"]
    assert sorted(table.consumers.list()) == ["job\u0661", "jöb1"]


def test_consumers_that_stand_still_expire(table: pl.Table) -> None:
    table.consumers.reset("a", 1)

    assert table.consumers.expire(timedelta(hours=1)) == []
    assert table.consumers.expire(datetime.now(UTC) + timedelta(minutes=1)) == ["a"]


def test_a_commit_lets_consumers_expire(tmp_path: Path) -> None:
    catalog = pl.connect(tmp_path / "warehouse")
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t", {"id": "INT"}, options={"consumer.expiration-time": "0 ms"}
    )
    table.consumers.reset("a", 1)

    table.write(pa.table({"id": pa.array([1], pa.int32())}))

    assert table.consumers.list() == {}


def test_a_file_that_is_being_written_is_read_again(table: pl.Table) -> None:
    path = Path(table.path) / "consumer" / "consumer-a"
    path.parent.mkdir()
    path.write_text("")
    waits = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            path.write_text('{"nextSnapshot" : 7}')

    store = store_of(table)
    assert ConsumerManager(store.file_io, store.layout, wait=wait).get("a") == 7
    assert waits == [0.2, 0.2]
    path.write_text("{")
    with pytest.raises(CorruptMetadataError, match="consumer-a"):
        ConsumerManager(store.file_io, store.layout, wait=lambda _: None).get("a")


def test_a_branch_has_consumers_of_its_own(table: pl.Table) -> None:
    table.branches.create("dev")
    table.on_branch("dev").consumers.reset("a", 1)

    assert table.consumers.list() == {}
    assert table.on_branch("dev").consumers.list() == {"a": 1}
