"""What lies between two snapshots, beside the system tables of each."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.errors import SnapshotNotFoundError, TagNotFoundError
from paimonlab.notebook import commands, views
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.kernel.determinism import VARIABLE
from paimonlab.notebook.views.diff.drawing import draw
from paimonlab.table.table import Table
from tests.golden.expected import expected
from tests.notebook.display.test_drawing import EVIL, KEPT_ATTRIBUTES, KEPT_TAGS, Page
from tests.notebook.views.test_timeline import READ, golden_table
from tests.support import partition_by_name

NAMES = (
    *("append_part", "append_dv", "branches", "evo_nested_orc", "incr", "lookup_dv", "lsm", "ow"),
    *("part_date", "pk_part", "rescale", "travel"),
)
CASES = [case for case in READ if case.table in NAMES]
FILE = tuple[str, str | None, int, int, int, int]


def diff_of(table: Table, start: Any, end: Any) -> views.Diff:
    value = commands.diff(table, start, end).value
    assert isinstance(value, views.Diff)
    return value


def files_of(case: Any, snapshot: int) -> set[FILE]:
    """Read ``$files`` as of a snapshot."""
    answers = expected(case)
    table: Any = paimonlab.connect(answers.warehouse).system_table(
        f"{answers.document['table']}$files"
    )
    names = ["file_path", "partition", "bucket", "level", "record_count", "file_size_in_bytes"]
    found = table.scan(names, snapshot=snapshot).to_arrow().to_pylist()
    return {tuple(row[name] for name in names) for row in found}


def summed(files: set[FILE]) -> tuple[int, int, int]:
    return len(files), sum(file[4] for file in files), sum(file[5] for file in files)


def numbers(sums: views.Sums) -> tuple[int, int, int]:
    return sums.file_count, sums.row_count, sums.file_bytes


@pytest.mark.parametrize("case", CASES, ids=str)
def test_files_are_those_of_the_system_tables(case: Any) -> None:
    table = golden_table(case)
    ids = table.snapshots.ids()
    for start, end in {(ids[0], ids[-1]), (ids[-1], ids[0]), (ids[len(ids) // 2], ids[-1])}:
        found = diff_of(table, start, end)

        before, after = files_of(case, start), files_of(case, end)
        assert numbers(found.before.live) == summed(before)
        assert numbers(found.after.live) == summed(after)
        assert numbers(found.added) == summed(after - before)
        assert numbers(found.removed) == summed(before - after)
        assert numbers(found.kept) == summed(before & after)
        assert found.file_count == len(before ^ after)
        assert {(file.name, file.is_added, file.level) for file in found.files} == {
            (file[0].rpartition("/")[2], file in after, file[3] if table.primary_keys else None)
            for file in before ^ after
        }
        for kind, names in (("added", after - before), ("removed", before - after)):
            wanted = Counter(
                (
                    partition_by_name(file[1] or "", table),
                    file[2],
                    file[3] if table.primary_keys else None,
                )
                for file in names
            )
            ours = {
                (group.partition, group.bucket, group.level): getattr(group, kind).file_count
                for group in found.groups
            }
            assert {key: number for key, number in ours.items() if number} == wanted
        partitions = [{file[1] for file in one} for one in (before, after)]
        assert found.partitions_added_count == len(partitions[1] - partitions[0])
        assert found.partitions_removed_count == len(partitions[0] - partitions[1])


@pytest.fixture
def table(tmp_path: Any) -> Table:
    """Make a table of four snapshots in two partitions; it got a column on the way."""
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    schema = pa.schema([("dt", pa.string()), ("id", pa.int64())])
    made = catalog.create_table("db.t", schema, partition_keys=["dt"])
    for number in range(2):
        made.write(pa.table({"dt": ["a"], "id": [number]}))
    made.tags.create("two")
    altered = catalog.alter_table("db.t", paimonlab.AddColumn("x", "INT"))
    made = altered
    made.write(pa.table({"dt": ["b"], "id": [7], "x": pa.array([1], pa.int32())}))
    made.write(pa.table({"dt": ["b"], "id": [8], "x": pa.array([1], pa.int32())}))
    return made


def test_ids_tags_and_times_name_snapshots(table: Table) -> None:
    third = table.snapshots.get(3)
    moment = dt.datetime.fromtimestamp(third.time_millis / 1000, dt.UTC)

    found = [diff_of(table, start, 4) for start in (2, "2", "two")]

    assert {json.dumps(repr(one)) for one in found} == {json.dumps(repr(found[0]))}
    assert diff_of(table, 1, moment).after.snapshot_id == 3
    assert diff_of(table, "two", 4).partitions_added == ("dt=b",)
    assert [(one.aspect, one.name, one.after) for one in diff_of(table, "two", 4).schema] == [
        ("column", "x", "INT")
    ]


def test_a_tag_outlives_its_snapshot(table: Table) -> None:
    table.maintenance.expire_snapshots(retain_max=1, retain_min=1)

    assert diff_of(table, "two", 4).added.file_count == 2
    assert diff_of(table, 2, 4).removed.file_count == 0
    with pytest.raises(SnapshotNotFoundError):
        commands.diff(table, 1, 4)


def test_what_is_neither_a_tag_nor_a_time_is_told(table: Table) -> None:
    with pytest.raises(TagNotFoundError, match="tow"):
        commands.diff(table, "tow", 4)


def test_the_same_snapshot_has_the_same_files(table: Table) -> None:
    text = repr(commands.diff(table, 4, 4))

    assert "The same files" in text
    assert "from snapshot 4 to 4" in text


def test_text_says_the_numbers(table: Table) -> None:
    text = repr(commands.diff(table, 1, 4))

    assert "level" not in text  # an append table has none

    assert "partitions added: dt=b" in text
    (rows,) = [line.split() for line in text.splitlines() if line.startswith("rows")]
    assert rows == ["rows", "1", "4", "+3", "3", "0", "1"]


def test_it_is_the_same_after_another_run(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "1")

    view = commands.diff(table, 1, 4)

    assert isinstance(view, Drawn)
    assert "data-" not in json.dumps(view.data())
    assert "data#3" in repr(view)
    assert " B" not in repr(view)


def test_hostile_names_are_only_text(tmp_path: Any) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    schema = pa.schema([("dt", pa.string()), ("id", pa.int64())])
    made = catalog.create_table("db.t", schema, partition_keys=["dt"])
    for name in ("a", EVIL):
        made.write(pa.table({"dt": [name], "id": [1]}))

    drawn = draw(diff_of(made, 1, 2))
    page = Page(drawn.to_html())

    assert page.tags <= KEPT_TAGS
    assert page.attributes <= KEPT_ATTRIBUTES
    assert "\u202e" not in repr(drawn)
